//! What must not be done: replace a file of a run, or read without end.
#![cfg(unix)]

#[path = "../../mad-cli/tests/common/mod.rs"]
mod common;
use common::{Desk, text};

#[test]
fn outputs_replace_no_part_of_a_run() {
    let desk = Desk::new();
    std::fs::create_dir_all(desk.path("run/data")).expect("folders made");
    for file in ["run/run.json", "run/config.toml", "run/metrics.jsonl"] {
        desk.write(file, "{}");
    }
    let rows: String = (0..40).map(|i| format!("{},{}\n", 2 * i - 40, 7 * i)).collect();
    desk.write("d.csv", &format!("lat,lon\n{rows}"));
    desk.write("data.toml", "title = 't'\nseeds = [0]\n[[data]]\nkey = 'd.csv'\n[[method]]\nlabel = 'm'\n");
    for words in [
        "bench --growth run/data/g.svg",
        "reproduce figure-base-s2 --out r --results run/config.toml",
        "reproduce figure-base-s2 --out r --results run/data.md",
        "reproduce figure-base-s2 --out r --scores run/metrics.jsonl",
        "reproduce --file data.toml --out run --dry-run",
    ] {
        let error = desk.fails(2, words);
        assert!(error.contains("belongs to the run"), "{words}: {error}");
    }
    assert_eq!(desk.names("run"), ["config.toml", "data", "metrics.jsonl", "run.json"]);
    assert!(desk.names("run/data").is_empty() && !desk.path("r").exists());
}

/// Experiments and scores are read up to a limit, and what is wrong with them is reported before anything runs.
#[cfg(target_os = "linux")]
#[test]
fn experiments_and_scores_are_files_within_a_limit() {
    let desk = Desk::new();
    std::fs::write(desk.path("latin.toml"), b"title = \"\xfc\"\n").expect("written");
    std::fs::create_dir(desk.path("folder")).expect("a folder");
    for (words, said) in [
        ("--file /dev/zero", ["--file /dev/zero", "limit"]),
        ("--file folder", ["--file folder", "a folder instead of a regular file"]),
        ("--file latin.toml", ["latin.toml", "UTF-8"]),
        ("figure-base-s2 --scores /dev/zero", ["--scores /dev/zero", "a pipe or device"]),
        ("figure-base-s2 --scores folder", ["--scores folder", "a folder"]),
    ] {
        let output = desk.shell(&format!("\"$MAD\" reproduce {words} --out r"));
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words}: {error}");
        assert!(said.iter().all(|word| error.contains(word)), "{words}: {error}");
    }
    assert!(!desk.path("r").exists(), "something was left");
}
