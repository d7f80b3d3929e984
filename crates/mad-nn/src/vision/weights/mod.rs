//! Weights of encoders that were trained elsewhere.
//!
//! [`load`] reads named tensors from safetensors and from the files that PyTorch writes; [`fill`] puts those of a torchvision ResNet
//! into an encoder.
//!
//! PyTorch's files hold pickles, which are programs. The reader here knows the few instructions and names that lists of tensors
//! are made of and refuses everything else by its name: no file can run code.

mod error;
mod numbers;
mod pickle;
mod reader;
mod torch;
mod torchvision;

pub use error::WeightsError;
pub use torchvision::fill;
pub(crate) use torchvision::{IMAGENET_DEVIATION, IMAGENET_MEAN};

use mad_core::files::{ReadError, read_regular};
use safetensors::{Dtype, SafeTensors};
use std::collections::BTreeMap;
use std::path::Path;

use numbers::Kind;

/// Largest file that is read. ResNet-152, the largest of its family, has 230 megabytes.
const LARGEST_FILE: u64 = 2 << 30;

/// Most numbers of all tensors of a file together.
const MOST_NUMBERS: usize = 1 << 28;

/// A tensor of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedTensor {
    /// Row-major shape.
    pub shape: Vec<usize>,
    /// Its numbers, in single precision whatever the file holds.
    pub numbers: Vec<f32>,
}

/// The tensors of a file by name. Whole numbers, such as counters, are left out.
pub type Tensors = BTreeMap<String, NamedTensor>;

/// Reads all tensors of a safetensors file or of a file of PyTorch, new (ZIP) or old.
pub fn load(path: &Path) -> Result<Tensors, WeightsError> {
    let bytes = read_regular(path, LARGEST_FILE).map_err(|error| match error {
        ReadError::TooLarge { limit } => WeightsError::TooLarge { path: path.into(), most: limit },
        other => WeightsError::Io { path: path.into(), source: other.into() },
    })?;
    match bytes.as_slice() {
        [b'P', b'K', 3, 4, ..] => torch::read_archive(path, &bytes),
        [0x80, 2..=5, ..] => torch::read_legacy(path, &bytes),
        [_, _, _, _, _, _, _, _, b'{', ..] => read_safetensors(path, &bytes),
        _ => Err(WeightsError::Unknown { path: path.into() }),
    }
}

fn read_safetensors(path: &Path, bytes: &[u8]) -> Result<Tensors, WeightsError> {
    let damaged = |problem: String| WeightsError::Damaged { path: path.into(), problem };
    let file = SafeTensors::deserialize(bytes).map_err(|e| damaged(e.to_string()))?;
    let mut tensors = Tensors::new();
    for (name, view) in file.iter() {
        let kind = match view.dtype() {
            Dtype::F32 => Kind::Single,
            Dtype::F64 => Kind::Double,
            Dtype::F16 => Kind::Half,
            Dtype::BF16 => Kind::Brain,
            _ => continue,
        };
        tensors.insert(name.into(), NamedTensor { shape: view.shape().to_vec(), numbers: kind.decode(view.data()) });
    }
    Ok(tensors)
}
