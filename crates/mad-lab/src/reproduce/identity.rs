//! What the result of a job depends on besides its settings: the rows and the file of a base measure.

use super::ExperimentError;
use crate::error::LabError;
use mad_core::load::Loaded;
use std::ffi::OsStr;
use std::path::Path;

/// Hash of a manifold and points on it.
pub fn of_rows(loaded: &Loaded) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(loaded.manifold.spec().as_bytes());
    loaded.points.as_slice().iter().for_each(|v| {
        hasher.update(&v.to_le_bytes());
    });
    hasher.finalize().to_hex().to_string()
}

/// What an id calls a data set or file: a file by its name wherever it lies, as its rows have a hash.
pub fn name_of(source: &str) -> &str {
    Path::new(source).file_name().and_then(OsStr::to_str).unwrap_or(source)
}

/// What an id knows of the folder of a file: nothing, unless the model is conditioned on columns of it, which have no hash.
pub fn of_place(source: &str, settings: &str) -> Option<String> {
    let conditioned = || {
        let settings: toml::Table = settings.parse().ok()?;
        settings.get("condition")?.as_str().map(|names| !names.is_empty())
    };
    (name_of(source) != source && conditioned() == Some(true)).then(|| source.to_owned())
}

/// The file that a base measure is read from, if it is.
pub fn base_file(base: &str) -> Option<&str> {
    base.strip_prefix("mixture:")
}

/// Hash of the file that a base measure is read from; `None` if there is none.
pub fn of_base(base: &str) -> Result<Option<String>, LabError> {
    let Some(path) = base_file(base) else { return Ok(None) };
    let mut hasher = blake3::Hasher::new();
    std::fs::File::open(path)
        .and_then(|file| hasher.update_reader(file).map(|_| ()))
        .map_err(|e| LabError::io(path, e))?;
    Ok(Some(hasher.finalize().to_hex().to_string()))
}

/// Refuses what has changed since the job was planned. An empty hash is that of nothing.
pub fn check(file: &str, planned: &str, found: &str) -> Result<(), ExperimentError> {
    match planned.is_empty() || planned == found {
        true => Ok(()),
        false => Err(ExperimentError::Changed { file: file.into() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_files_count_by_their_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("base.csv");
        let hash = |text: &str| {
            std::fs::write(&path, text).unwrap();
            of_base(&format!("mixture:{}", path.display())).unwrap().unwrap()
        };
        let first = hash("1");
        assert_ne!(hash("2"), first);
        assert_eq!(hash("1"), first);
        assert_eq!(of_base("mixture").unwrap(), None);
        let error = of_base("mixture:not-there.csv").unwrap_err().to_string();
        assert!(error.contains("not-there.csv"), "{error}");
    }

    #[test]
    fn files_count_by_name_and_sets_stay_as_they_are() {
        for path in ["mine.csv", "./mine.csv", "../mine.csv", "/a/b.c/mine.csv"] {
            assert_eq!(name_of(path), "mine.csv");
        }
        let sets = mad_core::catalogue::datasets::DATASETS.iter().map(|entry| entry.name);
        for name in sets.chain(["so3-mixture:64", "vmf-mixture:k=3,dim=4", "symsol:cube", ".."]) {
            assert_eq!(name_of(name), name);
        }
    }

    #[test]
    fn files_with_conditions_count_by_their_place() {
        let conditioned = "condition = \"depth\"\n";
        assert_eq!(of_place("a/mine.csv", conditioned).as_deref(), Some("a/mine.csv"));
        assert_eq!(of_place("mine.csv", conditioned), None);
        assert_eq!((of_place("a/mine.csv", "condition = \"\"\n"), of_place("a/mine.csv", "steps = 1\n")), (None, None));
    }

    #[test]
    fn what_has_changed_is_named() {
        let error = check("quakes.csv", "a", "b").unwrap_err().to_string();
        assert!(error.contains("quakes.csv") && error.contains("start `mad-lab reproduce` again"), "{error}");
        assert!(check("quakes.csv", "a", "a").is_ok() && check("quakes.csv", "", "a").is_ok());
    }
}
