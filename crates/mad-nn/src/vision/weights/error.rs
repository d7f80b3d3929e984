//! What can be wrong with a file of weights.

use std::{io, path::PathBuf};

/// Weights that cannot be read or do not fit.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "fields are what the messages show")]
pub enum WeightsError {
    /// The file system refused.
    #[error("cannot read {}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    /// The file is larger than any network it could hold.
    #[error("{}: more than {most} bytes; this is no file of weights of an image encoder", path.display())]
    TooLarge { path: PathBuf, most: u64 },
    /// The first bytes are of another kind of file.
    #[error("{}: neither safetensors nor a file of PyTorch; save the weights with `torch.save(model.state_dict(), ...)` or `safetensors.torch.save_file`", path.display())]
    Unknown { path: PathBuf },
    /// The file is not what its first bytes say.
    #[error("{}: {problem}", path.display())]
    Damaged { path: PathBuf, problem: String },
    /// The pickle names something that is no part of a list of tensors.
    #[error("{}: the pickle asks for `{name}`, which is not needed to store weights; refused. Save `model.state_dict()` alone", path.display())]
    Global { path: PathBuf, name: String },
    /// The pickle has an instruction that is no part of a list of tensors.
    #[error("{}: byte {at} of the pickle: {problem}", path.display())]
    Pickle { path: PathBuf, at: usize, problem: String },
    /// The encoder needs a tensor that is not there.
    #[error("tensor `{name}` is missing; encoder `{encoder}` takes the weights of torchvision's {encoder}")]
    Missing { name: String, encoder: &'static str },
    /// A tensor has another shape.
    #[error("tensor `{name}` has shape {found:?}, {expected:?} expected; are these the weights of {encoder}?")]
    Shape { name: String, found: Vec<usize>, expected: Vec<usize>, encoder: &'static str },
    /// A tensor holds infinities or numbers that are none.
    #[error("tensor `{name}` holds numbers that are not finite")]
    NotFinite { name: String },
    /// Nobody trained this encoder elsewhere.
    #[error(
        "encoder `{encoder}` has no counterpart in torchvision; use resnet18 or resnet50 to start from trained weights"
    )]
    NoCounterpart { encoder: &'static str },
}
