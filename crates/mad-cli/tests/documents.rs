//! Pages that name tests keep up with the tests.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// All text of the Rust files below a folder.
fn sources(folder: &Path, text: &mut String) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, text);
        } else if path.extension().is_some_and(|e| e == "rs") {
            text.push_str(&fs::read_to_string(&path).expect("a file"));
        }
    }
}

/// Names between backquotes that look like those of functions.
fn names(text: &str) -> impl Iterator<Item = &str> {
    let is_name = |name: &&str| {
        name.contains('_') && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
    };
    text.split('`').skip(1).step_by(2).filter(is_name)
}

#[test]
fn every_named_test_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut text = String::new();
    sources(&root.join("crates"), &mut text);
    let page = fs::read_to_string(root.join("docs/faults.md")).expect("docs/faults.md");
    let security = fs::read_to_string(root.join("docs/security.md")).expect("docs/security.md");
    let files = ["hostile_files", "hostile_checkpoints", "checkpoint_every"];
    let mut rows = BTreeSet::new();
    let mut promises = 0;
    for line in page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| #")) {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let number: u32 = cells[0].parse().unwrap_or_else(|_| panic!("no number: {line}"));
        match cells.len() {
            3 => promises += 1,
            _ => assert!(rows.insert(number), "row {number} stands twice"),
        }
        let tested = names(cells[cells.len() - 1]).next().is_some();
        assert!(tested || line.contains("does not concern this program"), "no test: {line}");
    }
    assert_eq!(promises, 6);
    assert_eq!(rows, (1..=rows.len() as u32).collect());
    for name in names(&page).chain(names(&security)).filter(|name| !files.contains(name)) {
        assert!(text.contains(&format!("fn {name}(")), "`{name}` is named in docs and is not there");
    }
}
