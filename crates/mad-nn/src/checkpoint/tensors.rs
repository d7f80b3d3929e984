//! Weights to and from safetensors.

use super::{CheckpointError, Manifest, TensorRecord};
use crate::{net::Layout, optim::Weights};
use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use std::path::Path;

/// The four lists of numbers, by the first part of their names.
fn lists(weights: &Weights) -> [(&'static str, &[f32]); 4] {
    [("model", &weights.model), ("ema", &weights.ema), ("adam.first", &weights.first), ("adam.second", &weights.second)]
}

/// Names and shapes of all tensors in a checkpoint.
pub(super) fn names(layout: &Layout) -> Vec<(String, Vec<usize>)> {
    let lists = ["model", "ema", "adam.first", "adam.second"];
    let slots = lists.iter().flat_map(|list| layout.slots().iter().map(move |slot| (list, slot)));
    slots.map(|(list, slot)| (format!("{list}.{}", slot.name), slot.shape.clone())).collect()
}

/// Most bytes a tensor file of this network can have: four numbers of four bytes for each weight, and a generous header.
pub(super) fn largest_file(layout: &Layout) -> u64 {
    let header =
        (1 << 16) + names(layout).iter().map(|(name, shape)| 256 + name.len() + 24 * shape.len()).sum::<usize>();
    (16 * layout.len() + header) as u64
}

fn bytes_of(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|v| v.to_le_bytes()).collect()
}

pub(super) fn records(layout: &Layout, weights: &Weights) -> Vec<TensorRecord> {
    let slots = lists(weights).into_iter().flat_map(|list| layout.slots().iter().map(move |slot| (list, slot)));
    slots
        .map(|((list, numbers), slot)| TensorRecord {
            name: format!("{list}.{}", slot.name),
            shape: slot.shape.clone(),
            hash: blake3::hash(&bytes_of(&numbers[slot.range.clone()])).to_hex().to_string(),
        })
        .collect()
}

/// The bytes of `tensors.safetensors`.
pub(super) fn encode(layout: &Layout, weights: &Weights, path: &Path) -> Result<Vec<u8>, CheckpointError> {
    let bad =
        |name: &str, problem: String| CheckpointError::Tensor { path: path.to_path_buf(), name: name.into(), problem };
    let mut data = Vec::new();
    for (list, numbers) in lists(weights) {
        for slot in layout.slots() {
            data.push((format!("{list}.{}", slot.name), slot.shape.clone(), bytes_of(&numbers[slot.range.clone()])));
        }
    }
    let mut views = Vec::with_capacity(data.len());
    for (name, shape, bytes) in &data {
        let view = TensorView::new(Dtype::F32, shape.clone(), bytes).map_err(|e| bad(name, e.to_string()))?;
        views.push((name.as_str(), view));
    }
    safetensors::serialize(views, None).map_err(|e| bad("all", e.to_string()))
}

/// Weights from the bytes of `tensors.safetensors`; the manifest has been checked against the layout.
pub(super) fn decode(
    bytes: &[u8],
    layout: &Layout,
    manifest: &Manifest,
    path: &Path,
) -> Result<Weights, CheckpointError> {
    let bad = |name: &str, problem: &str| CheckpointError::Tensor {
        path: path.into(),
        name: name.into(),
        problem: problem.into(),
    };
    let file = SafeTensors::deserialize(bytes).map_err(|e| bad("all", &e.to_string()))?;
    if file.len() != manifest.tensors.len() {
        return Err(bad("all", &format!("{} tensors, {} expected", file.len(), manifest.tensors.len())));
    }
    let mut lists: [Vec<f32>; 4] = std::array::from_fn(|_| Vec::with_capacity(layout.len()));
    for (i, record) in manifest.tensors.iter().enumerate() {
        let name = record.name.as_str();
        let tensor = file.tensor(name).map_err(|_| bad(name, "it is missing"))?;
        if tensor.dtype() != Dtype::F32 || tensor.shape() != record.shape {
            let found = format!("{:?} {:?}, F32 {:?} expected", tensor.dtype(), tensor.shape(), record.shape);
            return Err(bad(name, &found));
        }
        if blake3::hash(tensor.data()).to_hex().as_str() != record.hash {
            return Err(bad(name, "hash mismatch"));
        }
        let numbers = tensor.data().as_chunks::<4>().0.iter().map(|chunk| f32::from_le_bytes(*chunk));
        if numbers.clone().any(|v| !v.is_finite()) {
            return Err(bad(name, "it holds numbers that are not finite"));
        }
        lists[i / layout.slots().len()].extend(numbers);
    }
    let [model, ema, first, second] = lists;
    Ok(Weights { model, ema, first, second, step: manifest.optimiser_step })
}
