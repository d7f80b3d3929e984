//! Help of every command, short and long, as it is printed on a terminal of 110 columns.

mod common;
use common::{Desk, text};

/// Columns of the terminal, and lines of it that the short help may take.
const COLUMNS: usize = 110;
const LINES: usize = 50;

const COMMANDS: &[&str] = &[
    "",
    "demo",
    "fit",
    "sample",
    "eval",
    "density",
    "info",
    "plot",
    "report",
    "data",
    "data list",
    "data make",
    "data render",
    "data check",
    "base",
    "list",
    "completions",
    "man",
];

fn help(words: &str) -> String {
    let desk = Desk::new();
    let mut command = desk.command(words);
    let output = command.env("COLUMNS", COLUMNS.to_string()).env_remove("MAD_DATA").output().expect("program started");
    assert!(output.status.success() && output.stderr.is_empty(), "mad {words}: {}", text(&output.stderr));
    text(&output.stdout)
}

/// The commands that a help text lists.
fn listed(help: &str) -> Vec<&str> {
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help").collect()
}

#[test]
fn every_command_explains_itself() {
    let below = |parent: &str| -> Vec<&str> {
        let names = COMMANDS.iter().filter_map(|name| name.strip_prefix(parent));
        names.filter(|name| !name.is_empty() && !name.contains(' ')).collect()
    };
    assert_eq!(listed(&help("-h")), below(""));
    assert_eq!(listed(&help("data -h")), below("data "));
    for command in COMMANDS {
        let [short, long] = ["-h", "--help"].map(|flag| help(&format!("{command} {flag}")));
        let widest = short.lines().chain(long.lines()).map(|line| line.chars().count()).max();
        assert!(widest <= Some(COLUMNS), "mad {command}: {widest:?} columns");
        assert!(short.lines().count() <= LINES, "mad {command} -h: {} lines", short.lines().count());
        let name = if command.is_empty() { "mad".to_owned() } else { command.replace(' ', "-") };
        let text = format!("$ mad {command} -h\n{short}\n$ mad {command} --help\n{long}");
        insta::assert_snapshot!(name, text);
    }
}

#[test]
fn registries_are_offered_by_completions() {
    let script = help("completions bash");
    for name in ["rotation-flow", "mixture", "cuda", "dpm-sde", "two-sample", "tetX", "so3-mixture"] {
        assert!(script.contains(name), "{name}");
    }
}
