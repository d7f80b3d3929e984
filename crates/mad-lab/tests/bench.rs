//! `mad-lab bench` as a user runs it.

#[path = "../../mad-cli/tests/common/mod.rs"]
mod common;
use common::Desk;

#[test]
fn benches_report_every_round() {
    let desk = Desk::new();
    let found = desk.json("bench base-sphere batch-sphere --rounds 2");
    let names: Vec<_> = found["times"].as_array().expect("a list").iter().map(|row| row["bench"].clone()).collect();
    assert_eq!(names, ["batch-sphere", "base-sphere"]);
    for row in found["times"].as_array().expect("a list") {
        let rounds = row["rounds"].as_array().expect("rounds");
        assert!(rounds.len() == 2 && rounds.iter().all(|s| s.as_f64().is_some_and(|s| s > 0.0)), "{row}");
    }
    let error = desk.fails(2, "bench nonsense");
    assert!(error.contains("`nonsense`") && error.contains("train-sphere"), "{error}");
}

/// A peer that is a shell script: one job that takes a known time, and one that cannot be done.
#[cfg(unix)]
#[test]
fn peers_are_measured_in_the_same_rounds() {
    use std::os::unix::fs::PermissionsExt;
    let desk = Desk::new();
    let error = desk.fails(2, "bench base-sphere --peers .");
    assert!(error.contains("setup"), "{error}");
    std::fs::create_dir_all(desk.path(".venv/bin")).expect("folder made");
    let python = desk.write(
        ".venv/bin/python",
        r#"#!/bin/sh
echo '{"peer": "Shell 1", "jobs": {"base-sphere": ["slow", "broken"]}}'
while read job repeats; do
    case $job in
        slow) echo '{"seconds": [1000.0]}' ;;
        *) echo '{"error": "cannot"}' ;;
    esac
done
"#,
    );
    std::fs::set_permissions(&python, std::fs::Permissions::from_mode(0o755)).expect("made executable");
    desk.write("shell_peer.py", "");
    let found = desk.json("bench base-sphere --rounds 3 --peers .");
    let ratios = found["ratios"].as_array().expect("a list");
    assert_eq!((ratios.len(), &ratios[0]["against"]), (1, &"Shell 1 slow".into()), "{found}");
    let rounds = ratios[0]["rounds"].as_array().expect("rounds");
    assert!(rounds.len() == 3 && rounds.iter().all(|r| r.as_f64().is_some_and(|r| r > 0.0 && r < 0.01)), "{found}");
}

#[test]
fn instructions_can_be_limited() {
    let desk = Desk::new();
    let run = |limit: &str| {
        desk.command("bench base-sphere --rounds 1 --json").env("MAD_SIMD", limit).output().expect("program started")
    };
    let found: serde_json::Value = serde_json::from_slice(&run("portable").stdout).expect("JSON");
    assert_eq!(found["machine"]["instructions"], "portable");
    let wrong = run("avx");
    let error = String::from_utf8_lossy(&wrong.stderr);
    assert!(wrong.status.code() == Some(2) && error.contains("MAD_SIMD") && error.contains("avx2"), "{error}");
}

#[test]
fn a_drawing_without_a_format_costs_nothing() {
    let desk = Desk::new();
    assert!(desk.fails(2, "bench --growth map.pdf").contains("map.pdf: pictures are written as"));
}
