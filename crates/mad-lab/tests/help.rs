//! Help of every command on a terminal of 110 columns.

#[path = "../../mad-cli/tests/common/mod.rs"]
mod common;
use common::{Desk, text};

#[test]
fn help_fits_the_terminal_and_short_help_a_screen() {
    let desk = Desk::new();
    for command in ["", "reproduce", "bench", "list"] {
        for (flag, most) in [("-h", 50), ("--help", usize::MAX)] {
            let mut program = desk.command(&format!("{command} {flag}"));
            let output = program.env("COLUMNS", "110").env_remove("MAD_DATA").output().expect("program started");
            assert!(output.status.success() && output.stderr.is_empty(), "{command}: {}", text(&output.stderr));
            let help = text(&output.stdout);
            let widest = help.lines().map(|line| line.chars().count()).max();
            assert!(widest <= Some(110) && help.lines().count() <= most, "mad-lab {command} {flag}\n{help}");
        }
    }
    assert!(desk.fails(2, "reproduce table-so3 --seeds 0;1").contains("0;1"));
}

#[test]
fn parts_of_experiments_are_named_one_by_one() {
    let desk = Desk::new();
    let words = ["reproduce", "table-symsol", "--dry-run", "--json", "--seeds", "0,2", "--data", "cone"];
    let mut program = desk.command("");
    program.args(words).args(["--methods", "MAD, orbit", "--methods", "MAD (paper)"]);
    let output = program.output().expect("program started");
    let listed: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let runs: Vec<_> = listed["runs"].as_array().expect("runs").iter().map(|run| run["run"].clone()).collect();
    assert_eq!(runs, ["MAD (paper) on cone, seed 0", "MAD, orbit on cone, seed 0", "MAD (paper) on cone, seed 2"],);
}
