//! Scores of finished jobs in one file, so that a table can be continued on another machine, or without the folders of its runs.

use super::Score;
use crate::error::LabError;
use mad_core::files::{ReadError, read_regular};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Most bytes of a file of scores, which is enough for a hundred thousand of them.
const MAX_SCORES: u64 = 256 << 20;

/// A file with one score per line. A line belongs to the job whose id it holds. The id is a short hash of the settings, the rows,
/// the way of scoring and the version of fitted bases, so that a line of other settings or data is not taken for it. It does not
/// know the program: a score of older code stays until its line is removed.
#[derive(Debug, Default)]
pub struct Ledger {
    path: Option<PathBuf>,
    scores: BTreeMap<String, Score>,
    cut_off: Vec<usize>,
}

impl Ledger {
    /// Reads the file; an absent one is empty. A line that was cut off while it was written is left out, and of two lines of one
    /// job the first counts.
    pub fn open(path: Option<&Path>) -> Result<Self, LabError> {
        let Some(path) = path else { return Ok(Self::default()) };
        // A regular file, since scores are added to it.
        let bytes = match read_regular(path, MAX_SCORES) {
            Ok(bytes) => bytes,
            Err(error) if error.is_missing() => Vec::new(),
            Err(ReadError::Io(source)) => return Err(LabError::io(path, source)),
            Err(other) => {
                let path = path.display();
                return Err(LabError::usage(format!("--scores {path}: {other}; give a file of scores, or a new name")));
            }
        };
        let mut ledger = Self { path: Some(path.to_path_buf()), ..Self::default() };
        for (number, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
            if line.trim_ascii().is_empty() {
                continue;
            }
            // Without its end, so that a record cut in the middle of a word ends there too.
            match serde_json::from_slice::<Score>(line.trim_ascii_end()) {
                Ok(score) => {
                    ledger.scores.entry(score.id.clone()).or_insert(score);
                }
                // The end is missing: of the file, or of a record before others were added.
                Err(e) if e.is_eof() || !line.ends_with(b"\n") => ledger.cut_off.push(number + 1),
                Err(e) => {
                    let place = format!("{}, line {}", path.display(), number + 1);
                    return Err(LabError::usage(format!("{place}: not a score ({e}); remove the line")));
                }
            }
        }
        Ok(ledger)
    }

    /// Takes up what other processes have added since. A file that cannot be read now is no reason to end runs.
    pub fn read_again(&mut self) {
        let found = Self::open(self.path.as_deref()).unwrap_or_default();
        found.scores.into_iter().for_each(|(id, score)| {
            self.scores.entry(id).or_insert(score);
        });
    }

    /// What to report about the file.
    pub fn notices(&self) -> impl Iterator<Item = String> {
        let path = self.path.as_deref().unwrap_or(Path::new("")).display();
        self.cut_off
            .iter()
            .map(move |line| format!("{path}, line {line}: cut off, so that it is left out; it can be removed"))
    }

    /// The score of a job, if the file has it.
    pub fn get(&self, id: &str) -> Option<&Score> {
        self.scores.get(id)
    }

    /// Adds a score to the file, unless the job has one there. Other processes that add wait for their turn.
    pub fn add(&mut self, score: &Score) -> Result<(), LabError> {
        let Some(path) = self.path.clone().filter(|_| !self.scores.contains_key(&score.id)) else { return Ok(()) };
        let io = |e| LabError::io(&path, e);
        let file = OpenOptions::new().read(true).append(true).create(true).open(&path).map_err(io)?;
        match file.lock() {
            Err(e) if e.kind() != ErrorKind::Unsupported => return Err(io(e)),
            _ => self.read_again(),
        }
        if !self.scores.contains_key(&score.id) {
            let line = serde_json::to_string(score).expect("numbers and names can be written as JSON") + "\n";
            append(file, line).map_err(io)?;
            self.scores.insert(score.id.clone(), score.clone());
        }
        Ok(())
    }
}

/// Adds a line of its own at the end.
fn append(mut file: File, mut line: String) -> std::io::Result<()> {
    let mut last = [b'\n'];
    if file.seek(SeekFrom::End(0))? > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    if last != *b"\n" {
        line.insert(0, '\n');
    }
    file.write_all(line.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::testing;

    fn score(id: &str, nll: f64) -> Score {
        Score { seconds: 0.5, ..testing::score(id, &[("nll", nll)]) }
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
        assert_eq!((again.get("c"), again.scores.len(), again.notices().count()), (None, 2, 0));
    }

    #[test]
    fn scores_of_other_processes_are_taken_up_and_the_first_one_counts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("scores.jsonl");
        let [mut ours, mut theirs] = [(); 2].map(|()| Ledger::open(Some(&path)).unwrap());
        theirs.add(&score("a", 0.25)).unwrap();
        ours.read_again();
        assert_eq!(ours.get("a"), Some(&score("a", 0.25)));
        // Both had begun with it before either was done.
        ours.add(&score("b", 1.0)).unwrap();
        theirs.add(&score("b", 2.0)).unwrap();
        assert_eq!((theirs.get("b"), std::fs::read_to_string(&path).unwrap().lines().count()), (ours.get("b"), 2));
        // Two files put together by hand.
        let line = |nll| serde_json::to_string(&score("c", nll)).unwrap();
        std::fs::write(&path, format!("{}\n{}\n", line(1.0), line(2.0))).unwrap();
        assert_eq!(Ledger::open(Some(&path)).unwrap().get("c"), Some(&score("c", 1.0)));
        std::fs::write(&path, "no score\n").unwrap();
        ours.read_again();
        assert!(ours.get("a").is_some(), "what was known stays");
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

    #[test]
    fn a_line_that_was_cut_off_does_not_stand_in_the_way() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("scores.jsonl");
        let line = |score: &Score| serde_json::to_string(score).unwrap();
        let (a, b) = (line(&score("a", 1.0)), line(&score("b", 2.0)));
        // However little or much of it was written.
        for kept in 1..b.len() {
            std::fs::write(&path, format!("{a}\n{}", &b[..kept])).unwrap();
            let mut ledger = Ledger::open(Some(&path)).unwrap();
            let notices: Vec<String> = ledger.notices().collect();
            assert!(notices.len() == 1 && notices[0].contains("scores.jsonl, line 2"), "{notices:?}");
            assert!(ledger.get("a").is_some() && ledger.get("b").is_none());
            ledger.add(&score("b", 2.0)).unwrap();
            let again = Ledger::open(Some(&path)).unwrap();
            assert_eq!((again.get("a"), again.get("b")), (Some(&score("a", 1.0)), Some(&score("b", 2.0))));
        }
        // Only the end of the line is missing: the score is whole.
        std::fs::write(&path, &a).unwrap();
        let mut ledger = Ledger::open(Some(&path)).unwrap();
        assert_eq!((ledger.get("a").is_some(), ledger.notices().count()), (true, 0));
        ledger.add(&score("b", 2.0)).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), format!("{a}\n{b}\n"));
    }

    #[test]
    fn several_at_a_time_leave_whole_lines() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("scores.jsonl");
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let path = &path;
                scope.spawn(move || {
                    let mut ledger = Ledger::open(Some(path)).unwrap();
                    (0..25).for_each(|i| ledger.add(&score(&format!("{writer}-{i}"), 1.0)).unwrap());
                });
            }
        });
        let ledger = Ledger::open(Some(&path)).unwrap();
        assert_eq!((ledger.scores.len(), ledger.notices().count()), (100, 0));
    }
}
