//! Files of PyTorch: a pickle that names tensors, and their numbers in other files.
//!
//! New files are ZIP archives with `NAME/data.pkl` and one member `NAME/data/KEY` for each storage. Old ones are five pickles (a
//! magic number, a version, a description of the machine, the tensors, the keys of the storages), then for each key the count of
//! its numbers in 8 bytes and the numbers.

use std::collections::HashMap;
use std::io::{Cursor, Read as _};
use std::path::Path;

use mad_core::archive::{Archive, ArchiveError};

use super::pickle::{Fault, LARGEST, Pickle, Storage, Value, View};
use super::{MOST_NUMBERS, NamedTensor, Tensors, WeightsError};

/// First value of an old file.
const MAGIC: i128 = 0x1950_a86a_20f9_469c_fc6c;

/// Second value of an old file.
const VERSION: i128 = 1001;

/// Keys under which training programs keep the tensors of a model among other things.
const WRAPPERS: [&str; 3] = ["state_dict", "model_state_dict", "model"];

fn fault(path: &Path, fault: Fault) -> WeightsError {
    match fault {
        Fault::Global(name) => WeightsError::Global { path: path.into(), name },
        Fault::At(at, problem) => WeightsError::Pickle { path: path.into(), at, problem },
    }
}

fn damaged(path: &Path, problem: impl ToString) -> WeightsError {
    WeightsError::Damaged { path: path.into(), problem: problem.to_string() }
}

pub(super) fn read_archive(path: &Path, bytes: &[u8]) -> Result<Tensors, WeightsError> {
    let mut archive = Archive::open(Cursor::new(bytes), usize::MAX).map_err(|e| damaged(path, e))?;
    let names: Vec<String> = archive.members().filter_map(|member| member.ok().map(|member| member.name)).collect();
    let is_pickle = |name: &&String| *name == "data.pkl" || name.ends_with("/data.pkl");
    let Some(pickle_name) = names.iter().find(is_pickle) else {
        return Err(damaged(path, "no member `data.pkl`; this is no file of PyTorch"));
    };
    let folder = pickle_name.trim_end_matches("data.pkl");
    let mut member = |name: &str, most: usize| -> Result<Vec<u8>, WeightsError> {
        let bad = |e: ArchiveError| damaged(path, format!("member `{name}`: {e}"));
        let missing = || damaged(path, format!("member `{name}`: specified file not found in archive"));
        let member = archive.named(name).ok_or_else(missing)?.map_err(bad)?;
        if member.size > most as u64 {
            return Err(damaged(path, format!("member `{name}` has more than {most} bytes")));
        }
        let mut bytes = Vec::new();
        archive.read(&member).map_err(bad)?.read_to_end(&mut bytes).map_err(|e| bad(e.into()))?;
        Ok(bytes)
    };
    let order = format!("{folder}byteorder");
    if names.contains(&order) && member(&order, 16)? != b"little" {
        return Err(damaged(path, "numbers are stored big end first; save the file on another machine"));
    }
    let mut pickle = Pickle::default();
    let (value, _) = pickle.read(&member(pickle_name, LARGEST)?).map_err(|f| fault(path, f))?;
    read_tensors(path, &pickle, value, |storage| {
        let bytes = storage_bytes(path, storage)?;
        let name = format!("{folder}data/{}", storage.key);
        let found = member(&name, bytes)?;
        if found.len() < bytes {
            return Err(damaged(path, format!("member `{name}` has {} bytes, {bytes} expected", found.len())));
        }
        Ok(storage.kind.decode(&found))
    })
}

pub(super) fn read_legacy(path: &Path, bytes: &[u8]) -> Result<Tensors, WeightsError> {
    let mut at = 0;
    let mut pickle = Pickle::default();
    let mut next = |pickle: &mut Pickle| -> Result<Value, WeightsError> {
        let (value, length) = pickle.read(&bytes[at..]).map_err(|f| fault(path, f))?;
        at += length;
        Ok(value)
    };
    if next(&mut pickle)? != Value::Int(MAGIC) || next(&mut pickle)? != Value::Int(VERSION) {
        return Err(damaged(path, "a pickle, but not one of PyTorch; save the weights with `torch.save`"));
    }
    let machine = next(&mut pickle)?;
    let big_end = match machine {
        Value::Dict(dict) => pickle.dicts[dict]
            .iter()
            .any(|&(k, v)| pickle.string(k) == Some("little_endian") && v == Value::Bool(false)),
        _ => false,
    };
    if big_end {
        return Err(damaged(path, "numbers are stored big end first; save the file on another machine"));
    }
    let value = next(&mut pickle)?;
    let keys = next(&mut pickle)?;
    let by_key: HashMap<&str, &Storage> = pickle.storages.iter().map(|s| (&*s.key, s)).collect();
    let mut places = HashMap::new();
    for &key in pickle.items(keys).unwrap_or_default() {
        let storage = pickle.string(key).and_then(|key| by_key.get(key));
        let Some(storage) = storage else {
            return Err(damaged(path, "a list of storages that does not fit the tensors"));
        };
        let length = storage_bytes(path, storage)?;
        let count = bytes.get(at..).and_then(|rest| rest.first_chunk()).map(|count| u64::from_le_bytes(*count));
        let end = (at + 8).checked_add(length);
        match end.filter(|&end| count == Some(storage.length as u64) && end <= bytes.len()) {
            Some(end) => {
                places.insert(&*storage.key, &bytes[at + 8..end]);
                at = end;
            }
            None => return Err(damaged(path, format!("storage `{}` is cut off or of another length", storage.key))),
        }
    }
    read_tensors(path, &pickle, value, |storage| match places.get(&*storage.key) {
        Some(bytes) => Ok(storage.kind.decode(bytes)),
        None => Err(damaged(path, format!("storage `{}` is missing", storage.key))),
    })
}

fn storage_bytes(path: &Path, storage: &Storage) -> Result<usize, WeightsError> {
    match storage.length.checked_mul(storage.kind.width()) {
        Some(bytes) if storage.length <= MOST_NUMBERS => Ok(bytes),
        _ => Err(damaged(path, format!("storage `{}` has more than {MOST_NUMBERS} numbers", storage.key))),
    }
}

/// All tensors of the dictionary that the pickle made. `numbers` gives those of a storage.
fn read_tensors(
    path: &Path,
    pickle: &Pickle,
    value: Value,
    mut numbers: impl FnMut(&Storage) -> Result<Vec<f32>, WeightsError>,
) -> Result<Tensors, WeightsError> {
    let pairs = |value: Value| match value {
        Value::Dict(dict) => Some(&pickle.dicts[dict][..]),
        _ => None,
    };
    let Some(mut named) = pairs(value) else {
        return Err(damaged(path, "it holds no dictionary of tensors; save `model.state_dict()`"));
    };
    let wrapped = |&(key, value): &(Value, Value)| {
        pickle.string(key).filter(|key| WRAPPERS.contains(key)).and_then(|_| pairs(value))
    };
    if let Some(inner) = named.iter().find_map(wrapped) {
        named = inner;
    }
    let mut read: HashMap<usize, Vec<f32>> = HashMap::new();
    let mut tensors = Tensors::new();
    let (mut total, mut held) = (0usize, 0usize);
    for &(key, value) in named {
        let (Some(name), Value::Tensor(view)) = (pickle.string(key), value) else { continue };
        let view = &pickle.views[view];
        let storage = &pickle.storages[view.storage];
        if matches!(storage.kind, super::Kind::Whole(_)) {
            continue;
        }
        let count = extent(view, storage.length).ok_or_else(|| {
            damaged(path, format!("tensor `{name}` of shape {:?} reaches beyond its storage", view.shape))
        })?;
        total = total.saturating_add(count);
        if !read.contains_key(&view.storage) {
            held = held.saturating_add(storage.length);
        }
        if total.max(held) > MOST_NUMBERS {
            return Err(damaged(path, format!("more than {MOST_NUMBERS} numbers")));
        }
        let source = match read.entry(view.storage) {
            std::collections::hash_map::Entry::Occupied(entry) => entry.into_mut(),
            std::collections::hash_map::Entry::Vacant(entry) => entry.insert(numbers(storage)?),
        };
        tensors.insert(name.into(), NamedTensor { shape: view.shape.clone(), numbers: gather(view, count, source) });
    }
    Ok(tensors)
}

/// How many numbers a view has, if all of them lie in its storage.
fn extent(view: &View, length: usize) -> Option<usize> {
    let count = view.shape.iter().try_fold(1usize, |count, &size| count.checked_mul(size))?;
    if count == 0 {
        return Some(0);
    }
    let axes = view.shape.iter().zip(&view.strides);
    let last = axes
        .into_iter()
        .try_fold(view.offset, |last, (&size, &stride)| last.checked_add((size - 1).checked_mul(stride)?))?;
    (last < length && count <= MOST_NUMBERS).then_some(count)
}

/// The numbers of a view, row by row.
fn gather(view: &View, count: usize, source: &[f32]) -> Vec<f32> {
    let mut numbers = Vec::with_capacity(count);
    let mut index = vec![0; view.shape.len()];
    for _ in 0..count {
        let place: usize = index.iter().zip(&view.strides).map(|(i, stride)| i * stride).sum();
        numbers.push(source[view.offset + place]);
        for (i, &size) in index.iter_mut().zip(&view.shape).rev() {
            *i += 1;
            if *i < size {
                break;
            }
            *i = 0;
        }
    }
    numbers
}
