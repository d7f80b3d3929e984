//! Finds the commit this program is built from, for `mad --version`. Without one, as in a source archive, it is unknown.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=MAD_REVISION");
    let folder = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("Cargo names the package's folder"));
    let commit = std::env::var("MAD_REVISION").ok().or_else(|| of_package(&folder)).or_else(|| of_checkout(&folder));
    if let Some(commit) = commit {
        println!("cargo::rustc-env=MAD_COMMIT={commit}");
    }
}

/// The commit that Cargo noted when it made a package.
fn of_package(folder: &Path) -> Option<String> {
    let text = std::fs::read_to_string(folder.join(".cargo_vcs_info.json")).ok()?;
    let (_, rest) = text.split_once("\"sha1\": \"")?;
    Some(rest.split('"').next()?.chars().take(10).collect())
}

/// The commit of the checkout, if this file belongs to it and not to a folder that merely lies in one.
fn of_checkout(folder: &Path) -> Option<String> {
    git(folder, &["ls-files", "--error-unmatch", "build.rs"])?;
    // One line is added to this log with every commit, so that it is enough to watch; a file that is not there would run
    // this script again and again.
    let log = folder.join(git(folder, &["rev-parse", "--git-path", "logs/HEAD"])?);
    if log.exists() {
        println!("cargo::rerun-if-changed={}", log.display());
    }
    git(folder, &["rev-parse", "--short=10", "HEAD"])
}

/// The first line that git prints, if it succeeds.
fn git(folder: &Path, words: &[&str]) -> Option<String> {
    let output = Command::new("git").arg("-C").arg(folder).args(words).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.lines().next().map(str::to_owned))?
}
