//! The real binary, driven as a user would.
#![allow(dead_code, reason = "each test file uses its own part")]

use assert_cmd::Command;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Output;
use tempfile::TempDir;

/// The program of the crate under test; `mad-lab` uses this file as well.
const PROGRAM: &str = match option_env!("CARGO_BIN_EXE_mad-lab") {
    Some(_) => "mad-lab",
    None => "mad",
};

/// A folder of its own for each test, with the program run inside it.
pub struct Desk {
    folder: TempDir,
}

impl Desk {
    pub fn new() -> Self {
        Self { folder: TempDir::new().expect("a temporary folder") }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, text).expect("file written");
        path
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).expect("file read")
    }

    /// The program with these words, separated by blanks, in this folder.
    pub fn command(&self, words: &str) -> Command {
        let mut command = Command::cargo_bin(PROGRAM).expect("binary built");
        command.current_dir(self.folder.path()).args(words.split_whitespace());
        command
    }

    /// Runs the program, which must succeed, and gives its standard output.
    pub fn ok(&self, words: &str) -> String {
        let output = self.command(words).output().expect("program started");
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{PROGRAM} {words}\nexit {:?}\n{error}", output.status.code());
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    /// Runs the program with `--json`, which must succeed, and gives the object it prints.
    pub fn json(&self, words: &str) -> Value {
        let text = self.ok(&format!("{words} --json"));
        serde_json::from_str(&text).unwrap_or_else(|e| panic!("{PROGRAM} {words}: {e}\n{text}"))
    }

    /// Runs the program, which must fail with this exit code, and gives its standard error.
    pub fn fails(&self, code: i32, words: &str) -> String {
        let output = self.command(words).output().expect("program started");
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{PROGRAM} {words}\n{error}");
        assert!(error.lines().any(|line| line.starts_with("error: ")), "{PROGRAM} {words}\n{error}");
        error
    }

    /// Runs a script of the shell with the program in `$MAD` and little memory, so that reading without end does no harm.
    pub fn shell(&self, script: &str) -> Output {
        let mut command = std::process::Command::new("bash");
        command.arg("-c").arg(format!("ulimit -v 6000000; {script}")).current_dir(self.folder.path());
        command.env("MAD", self.command("").get_program()).output().expect("shell started")
    }

    /// Names in a folder, sorted.
    pub fn names(&self, folder: &str) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(self.path(folder))
            .expect("folder read")
            .map(|entry| entry.expect("entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

/// Settings that train in a second: for tests of the way through the program, not of quality.
pub const TINY: &str = "--steps 40 --batch 64 --seed 1 --set width=32 --set depth=2 --set evaluate_every=20";

/// Columns of a CSV text as numbers.
pub fn columns(text: &str) -> (Vec<String>, Vec<Vec<f64>>) {
    let mut lines = text.lines();
    let header: Vec<String> = lines.next().expect("header").split(',').map(str::to_owned).collect();
    let rows = lines.map(|line| line.split(',').map(|cell| cell.parse().expect("number")).collect()).collect();
    (header, rows)
}

/// The folder with the earth and torus files, for tests that are ignored unless they are asked for.
pub fn data_dir() -> PathBuf {
    let named = std::env::var_os("MAD_DATA").filter(|name| !name.is_empty());
    named.expect("MAD_DATA names the folder with earth/ and torus/").into()
}

/// All bytes of a file.
pub fn bytes(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// What a program has written.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
