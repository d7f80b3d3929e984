//! What the result of a job depends on beside its settings: the rows, the file of a base measure, the way bases are fitted.

use super::ExperimentError;
use crate::error::CliError;
use mad_core::base::fit;
use mad_core::data::Loaded;
use mad_nn::Config;

/// Base measures and methods that are fitted to the data.
const FITTED: [&str; 2] = ["mixture", "kde"];

/// Hash of a manifold and points on it.
pub fn of_rows(loaded: &Loaded) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(loaded.manifold.spec().as_bytes());
    loaded.points.as_slice().iter().for_each(|v| {
        hasher.update(&v.to_le_bytes());
    });
    hasher.finalize().to_hex().to_string()
}

/// The file that a base measure is read from, if it is.
pub fn base_file(base: &str) -> Option<&str> {
    base.strip_prefix("mixture:")
}

/// Hash of the file that a base measure is read from; `None` if there is none.
pub fn of_base(base: &str) -> Result<Option<String>, CliError> {
    let Some(path) = base_file(base) else { return Ok(None) };
    let mut hasher = blake3::Hasher::new();
    std::fs::File::open(path)
        .and_then(|file| hasher.update_reader(file).map(|_| ()))
        .map_err(|e| CliError::io(path, e))?;
    Ok(Some(hasher.finalize().to_hex().to_string()))
}

/// Version of the fit that a run rests on; `None` if nothing is fitted before its first step.
pub fn of_fit(config: &Config) -> Option<u32> {
    let fitted = [&config.base, &config.method].iter().any(|name| FITTED.contains(&name.as_str()));
    // As a method of its own a mixture is of one size.
    let layered = config.base == "mixture" && !config.is_plain_mixture();
    fitted.then(|| fit::version(layered))
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
    use mad_core::data::manifold_named;
    use mad_nn::Partial;

    #[test]
    fn only_fitted_runs_depend_on_how_bases_are_fitted() {
        let sphere = manifold_named("sphere:2").unwrap();
        let version = |settings: &str| {
            let partial = Partial::from_toml(settings, "test").unwrap();
            of_fit(&Config::resolve_for(&partial, sphere.as_ref(), Some(5000)).unwrap())
        };
        for layered in ["", "base = 'mixture'"] {
            assert_eq!(version(layered), Some(fit::version(true)), "{layered}");
        }
        for single in ["base = 'kde'", "method = 'kde'", "method = 'mixture'", "method = 'mixture:'"] {
            assert_eq!(version(single), Some(fit::version(false)), "{single}");
        }
        for plain in ["base = 'default'", "base = 'uniform'", "base = 'mixture:mine.csv'", "method = 'dsm'"] {
            assert_eq!(version(plain), None, "{plain}");
        }
    }

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
    fn what_has_changed_is_named() {
        let error = check("quakes.csv", "a", "b").unwrap_err().to_string();
        assert!(error.contains("quakes.csv") && error.contains("start `mad reproduce` again"), "{error}");
        assert!(check("quakes.csv", "a", "a").is_ok() && check("quakes.csv", "", "a").is_ok());
    }
}
