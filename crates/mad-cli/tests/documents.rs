//! Documents keep up with the source, and both with the words of the field.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

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

/// Words and phrases that the sources and documents do without; the second column is what to write instead. A phrase matches
/// inside names as well: `is_told` and `IsTold` count as “is told”.
const AVOIDED: &[(&str, &str)] = &[
    ("rival", "baseline"),
    ("rivals", "baselines"),
    ("by itself", "by default, automatically"),
    ("by themselves", "by default, automatically"),
    ("goes on", "continues, resumes"),
    ("went on", "continued, resumed"),
    ("going on", "continuing, resuming"),
    ("is told", "is reported, is passed"),
    ("so many", "this many"),
    ("a little another", "slightly different"),
    ("by heart", "overfit, memorised"),
    ("found out", "detected"),
    ("mend", "fix"),
    ("mended", "fixed"),
    ("mends", "fixes"),
    ("bend", "activation"),
    ("bends", "activations"),
    ("vain", "unused, without effect"),
    ("loneliness", "isolation"),
    ("trainee", "run"),
    ("law", "distribution"),
    ("same laws", "same distribution"),
    ("equal laws", "equal distributions"),
    ("normal laws", "normal distributions"),
    ("fisher laws", "Fisher distributions"),
    ("bingham laws", "Bingham distributions"),
];

/// Files in which a law is a property that every entry of a registry has, and the changelog, which has earlier names.
const WITH_LAWS: &[&str] = &["laws", "CHANGELOG.md", "mad-core/src/manifold/mod.rs", "mad-core/src/catalogue/mod.rs"];

/// Every word of a text with its line, in lower case; `snake_case` and `CamelCase` are several words.
fn words(text: &str) -> Vec<(usize, String)> {
    let mut words: Vec<(usize, String)> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let mut before = ' ';
        for c in line.chars() {
            if c.is_alphabetic() {
                let begins = !before.is_alphabetic() || (c.is_uppercase() && before.is_lowercase());
                if begins {
                    words.push((number + 1, String::new()));
                }
                words.last_mut().expect("a word has begun").1.extend(c.to_lowercase());
            }
            before = c;
        }
    }
    words
}

/// The sources and documents of the project below a folder.
fn texts(folder: &Path, found: &mut Vec<PathBuf>) {
    for path in fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_text = [".rs", ".md", ".toml", ".py"].iter().any(|ending| name.ends_with(ending));
        if path.is_dir() {
            let others = ["target", "corpus", "files", "assets", "values"];
            if !others.contains(&name.as_str()) && !name.starts_with('.') {
                texts(&path, found);
            }
        } else if is_text && name != "documents.rs" {
            found.push(path);
        }
    }
}

#[test]
fn sources_and_documents_use_the_words_of_the_field() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    texts(&root, &mut files);
    assert!(files.len() > 300, "only {} files", files.len());
    let mut faults = Vec::new();
    for file in &files {
        let path = file.strip_prefix(&root).expect("below the root").to_string_lossy().replace('\\', "/");
        let words = words(&fs::read_to_string(file).expect("a text file"));
        for (phrase, better) in AVOIDED {
            if *phrase == "law" && WITH_LAWS.iter().any(|part| path.contains(part)) {
                continue;
            }
            let parts: Vec<&str> = phrase.split(' ').collect();
            for window in words.windows(parts.len()).filter(|found| found.iter().map(|word| &word.1).eq(&parts)) {
                faults.push(format!("{path}:{}: “{phrase}”, better {better}", window[0].0));
            }
        }
    }
    assert!(faults.is_empty(), "{} places:\n{}", faults.len(), faults.join("\n"));
}

/// A link to a file that has moved is found here, not by readers.
#[test]
fn links_between_documents_lead_to_files() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    texts(&root, &mut files);
    let mut links = 0;
    for file in files.iter().filter(|file| file.extension().is_some_and(|ending| ending == "md")) {
        let text = fs::read_to_string(file).expect("a text file");
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let path = target.split('#').next().unwrap_or_default().trim();
            if path.is_empty() || path.contains("://") || path.contains(' ') {
                continue;
            }
            links += 1;
            let place = file.parent().expect("a folder").join(path);
            assert!(place.exists(), "{}: the link to {path} leads nowhere", file.display());
        }
    }
    assert!(links > 100, "only {links} links");
}
