//! Other programs that do the same work: started once, then asked for one round after the other.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A program that does jobs on request.
///
/// It reads lines `JOB REPEATS` and returns a line of JSON for each: `{"seconds": [...]}`, or `{"error": "..."}`. Its first
/// line names it and which of its jobs do the work of which of our benches: `{"peer": "...", "jobs": {"bench": ["job", ...]}}`.
pub struct Peer {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    path: PathBuf,
    hello: Hello,
}

#[derive(Deserialize)]
struct Hello {
    peer: String,
    jobs: BTreeMap<String, Vec<String>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Reply {
    Seconds(Vec<f64>),
    Error(String),
}

/// Why a peer did not reply.
#[derive(Debug, thiserror::Error)]
pub enum PeerError {
    /// There is no Python environment next to the scripts.
    #[error("{}: no such program; run {}/setup first, which installs the peers there", path.display(), folder.display())]
    NotInstalled {
        /// The program that was looked for.
        path: PathBuf,
        /// The folder of the peers.
        folder: PathBuf,
    },
    /// There are no scripts.
    #[error("{}: no file named *_peer.py in this folder; it is bench/peers in the source tree", folder.display())]
    NoPeers {
        /// The folder that was searched.
        folder: PathBuf,
    },
    /// The program could not be started or stopped answering.
    #[error("{}: {source}", path.display())]
    Io {
        /// The script.
        path: PathBuf,
        /// What happened.
        source: std::io::Error,
    },
    /// A job that it could do before failed.
    #[error("the peer's job `{job}` failed: {problem}")]
    Job {
        /// The job.
        job: String,
        /// What the peer reports.
        problem: String,
    },
    /// The reply makes no sense.
    #[error("{}: answered `{line}`, which is not understood: {source}", path.display())]
    Reply {
        /// The script.
        path: PathBuf,
        /// What it sent.
        line: String,
        /// Why it is not understood.
        source: serde_json::Error,
    },
}

impl Peer {
    /// Starts every `*_peer.py` of a folder with the Python of its virtual environment.
    pub fn start_all(folder: &Path, threads: usize) -> Result<Vec<Self>, PeerError> {
        let python = folder.join(".venv/bin/python");
        if !python.is_file() {
            return Err(PeerError::NotInstalled { path: python, folder: folder.into() });
        }
        let io = |source| PeerError::Io { path: folder.into(), source };
        let entries = std::fs::read_dir(folder).map_err(io)?.collect::<Result<Vec<_>, _>>().map_err(io)?;
        let is_peer = |path: &PathBuf| path.to_string_lossy().ends_with("_peer.py");
        let mut scripts: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).filter(is_peer).collect();
        scripts.sort();
        if scripts.is_empty() {
            return Err(PeerError::NoPeers { folder: folder.into() });
        }
        scripts.into_iter().map(|script| Self::start(&python, script, threads)).collect()
    }

    fn start(python: &Path, path: PathBuf, threads: usize) -> Result<Self, PeerError> {
        let io = |source| PeerError::Io { path: path.clone(), source };
        let mut child = Command::new(python)
            .arg(&path)
            .env("MAD_THREADS", threads.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(io)?;
        let (to, from) = (child.stdin.take(), child.stdout.take());
        let (Some(to), Some(from)) = (to, from) else {
            return Err(io(std::io::Error::other("no pipe to the program")));
        };
        let mut from = BufReader::new(from);
        let line = next_line(&mut from).map_err(io)?;
        let hello =
            serde_json::from_str(&line).map_err(|source| PeerError::Reply { path: path.clone(), line, source })?;
        Ok(Self { child, to, from, path, hello })
    }

    /// Who it is, with its version.
    pub fn name(&self) -> &str {
        &self.hello.peer
    }

    /// Its jobs that do the work of a bench; any of them may stand for it.
    pub fn jobs(&self, bench: &str) -> &[String] {
        self.hello.jobs.get(bench).map_or(&[], Vec::as_slice)
    }

    /// Seconds of each repetition of a job, or what the program reports as wrong.
    pub fn time(&mut self, job: &str, repeats: usize) -> Result<Result<Vec<f64>, String>, PeerError> {
        let io = |source| PeerError::Io { path: self.path.clone(), source };
        writeln!(self.to, "{job} {repeats}").and_then(|()| self.to.flush()).map_err(io)?;
        let line = next_line(&mut self.from).map_err(io)?;
        match serde_json::from_str(&line) {
            Ok(Reply::Seconds(seconds)) => Ok(Ok(seconds)),
            Ok(Reply::Error(text)) => Ok(Err(text)),
            Err(source) => Err(PeerError::Reply { path: self.path.clone(), line, source }),
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn next_line(from: &mut impl BufRead) -> std::io::Result<String> {
    let mut line = String::new();
    match from.read_line(&mut line)? {
        0 => Err(std::io::Error::other("the program ended; start it by hand to see why")),
        _ => Ok(line),
    }
}
