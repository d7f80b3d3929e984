//! Scores of finished jobs in one file, so that a table can go on on another machine, or without the folders of its runs.

use super::Score;
use crate::error::CliError;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

/// A file with one score per line. A line belongs to the job whose id it holds, and the id is a hash of everything the job is
/// made from: a line of other settings or other data is never taken for it.
#[derive(Debug, Default)]
pub struct Ledger {
    path: Option<PathBuf>,
    scores: BTreeMap<String, Score>,
}

impl Ledger {
    /// Reads the file; an absent one is empty.
    pub fn open(path: Option<&Path>) -> Result<Self, CliError> {
        let Some(path) = path else { return Ok(Self::default()) };
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(e) => return Err(CliError::io(path, e)),
        };
        let mut scores = BTreeMap::new();
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let score: Score = serde_json::from_str(line).map_err(|e| {
                CliError::Usage(format!("{}, line {}: not a score ({e}); remove the line", path.display(), number + 1))
            })?;
            scores.insert(score.id.clone(), score);
        }
        Ok(Self { path: Some(path.to_path_buf()), scores })
    }

    /// The score of a job, if the file has it.
    pub fn get(&self, id: &str) -> Option<&Score> {
        self.scores.get(id)
    }

    /// Adds a score to the file, unless it is there.
    pub fn add(&mut self, score: &Score) -> Result<(), CliError> {
        let Some(path) = self.path.as_ref().filter(|_| !self.scores.contains_key(&score.id)) else { return Ok(()) };
        let line = serde_json::to_string(score).expect("numbers and names can be written as JSON") + "\n";
        let mut file =
            std::fs::OpenOptions::new().append(true).create(true).open(path).map_err(|e| CliError::io(path, e))?;
        file.write_all(line.as_bytes()).map_err(|e| CliError::io(path, e))?;
        self.scores.insert(score.id.clone(), score.clone());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(id: &str, nll: f64) -> Score {
        Score {
            id: id.into(),
            version: "1".into(),
            data_hash: String::new(),
            values: [("nll".to_owned(), Some(nll))].into(),
            bounds: Vec::new(),
            kernels: BTreeMap::new(),
            samples: 1,
            times: Vec::new(),
            seconds: 0.5,
        }
    }

    #[test]
    fn scores_are_found_again_and_kept_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("scores.jsonl");
        let mut ledger = Ledger::open(Some(&path)).unwrap();
        ledger.add(&score("a", 0.25)).unwrap();
        ledger.add(&score("a", 0.5)).unwrap();
        ledger.add(&score("b", -1.5)).unwrap();
        let again = Ledger::open(Some(&path)).unwrap();
        assert_eq!(again.get("a"), Some(&score("a", 0.25)));
        assert_eq!(again.get("b"), Some(&score("b", -1.5)));
        assert_eq!((again.get("c"), again.scores.len()), (None, 2));
    }

    #[test]
    fn a_damaged_line_is_named_and_nothing_is_lost() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("scores.jsonl");
        std::fs::write(&path, "\n{\"id\": 3}\n").unwrap();
        let error = Ledger::open(Some(&path)).unwrap_err().to_string();
        assert!(error.contains("scores.jsonl, line 2"), "{error}");
        assert!(Ledger::open(None).unwrap().get("a").is_none());
    }
}
