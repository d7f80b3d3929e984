//! What can be wrong with a file of weights.

use std::{io, path::PathBuf};

/// Weights that cannot be read or do not fit.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WeightsError {
    /// The file system refused.
    #[error("cannot read {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file is larger than any network it could hold.
    #[error("{}: more than {most} bytes; this is no file of weights of an image encoder", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Largest size that is read.
        most: u64,
    },
    /// The first bytes are of another kind of file.
    #[error("{}: neither safetensors nor a file of PyTorch; save the weights with `torch.save(model.state_dict(), ...)` or `safetensors.torch.save_file`", path.display())]
    Unknown {
        /// The file.
        path: PathBuf,
    },
    /// The file is not what its first bytes say.
    #[error("{}: {problem}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// The pickle names something that is no part of a list of tensors.
    #[error("{}: the pickle asks for `{name}`, which is not needed to store weights; refused. Save `model.state_dict()` alone", path.display())]
    Global {
        /// The file.
        path: PathBuf,
        /// Module and name.
        name: String,
    },
    /// The pickle has an instruction that is no part of a list of tensors.
    #[error("{}: byte {at} of the pickle: {problem}", path.display())]
    Pickle {
        /// The file.
        path: PathBuf,
        /// Where in the pickle.
        at: usize,
        /// What is wrong.
        problem: String,
    },
    /// The encoder needs a tensor that is not there.
    #[error("tensor `{name}` is missing; encoder `{encoder}` takes the weights of torchvision's {encoder}")]
    Missing {
        /// The tensor.
        name: String,
        /// The encoder.
        encoder: &'static str,
    },
    /// A tensor has another shape.
    #[error("tensor `{name}` has shape {found:?}, {expected:?} expected; are these the weights of {encoder}?")]
    Shape {
        /// The tensor.
        name: String,
        /// Shape in the file.
        found: Vec<usize>,
        /// Shape the encoder takes.
        expected: Vec<usize>,
        /// The encoder.
        encoder: &'static str,
    },
    /// A tensor holds infinities or numbers that are none.
    #[error("tensor `{name}` holds numbers that are not finite")]
    NotFinite {
        /// The tensor.
        name: String,
    },
    /// Nobody trained this encoder elsewhere.
    #[error(
        "encoder `{encoder}` has no counterpart in torchvision; use resnet18 or resnet50 to start from trained weights"
    )]
    NoCounterpart {
        /// The encoder.
        encoder: &'static str,
    },
}
