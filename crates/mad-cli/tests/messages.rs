//! What commands print: tables, closing lines, JSON and errors, as snapshots.

mod common;
use common::{Desk, TINY, text};
use serde_json::Value;
use std::fmt::Write;

/// A command and all that it prints, with paths and machines left out.
fn session(desk: &Desk, words: &str) -> String {
    let output = desk.command(words).env("COLUMNS", "110").env_remove("MAD_DATA").output().expect("program started");
    let mut shown = format!("$ mad {words}\n");
    for (name, bytes) in [("", &output.stdout), ("stderr: ", &output.stderr)] {
        text(bytes).lines().for_each(|line| writeln!(shown, "{name}{line}").expect("a string"));
    }
    match output.status.code() {
        Some(0) => {}
        code => writeln!(shown, "exit {}", code.unwrap_or(-1)).expect("a string"),
    }
    shown
}

fn sessions(desk: &Desk, all: &[&str]) -> String {
    all.iter().map(|words| session(desk, words)).collect::<Vec<_>>().join("\n")
}

/// A JSON object as lines of path and type, so that numbers that depend on the processor do not matter.
fn shape(path: &str, value: &Value, lines: &mut String) {
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(key, value)| shape(&format!("{path}.{key}"), value, lines));
        }
        Value::Array(items) => items.iter().take(1).for_each(|item| shape(&format!("{path}[]"), item, lines)),
        Value::String(_) => writeln!(lines, "{path}: text").expect("a string"),
        Value::Number(_) => writeln!(lines, "{path}: number").expect("a string"),
        other => writeln!(lines, "{path}: {other}").expect("a string"),
    }
}

/// Digits of seconds, sizes and other numbers that differ between machines.
fn without_digits(text: &str) -> String {
    let mut shown = String::new();
    let mut before = false;
    for c in text.chars() {
        let digit = c.is_ascii_digit() || before && c == '.';
        if !(digit && before) {
            shown.push(if digit { '#' } else { c });
        }
        before = digit;
    }
    shown
}

/// Places and a run on them whose model is exact.
fn desk_with_run() -> Desk {
    let desk = Desk::new();
    desk.ok("data make earthquakes-week -o quakes.csv");
    desk.ok("fit quakes.csv --manifold sphere:2 --method kde -o run");
    desk
}

#[test]
fn scores_and_checks() {
    let desk = desk_with_run();
    desk.ok("data make vmf-mixture -n 300 --seed 1 -o samples.csv");
    desk.ok("data make vmf-mixture -n 300 --seed 2 --target-seed 1 -o test.csv");
    desk.write("bad.csv", "name,lat,lon\na,1,2\nb,north,4\nc,95,6\nc,1,2\n");
    let all = [
        "eval run --metrics nll,closest",
        "eval samples.csv --against test.csv --manifold sphere:2 --metrics mmd,two-sample",
        "data check test.csv",
        "data check bad.csv",
    ];
    insta::assert_snapshot!(sessions(&desk, &all));
}

#[test]
fn registries() {
    insta::assert_snapshot!(sessions(&Desk::new(), &["list samplers", "list bases", "list solids", "list devices"]));
}

/// What a run is and how it went, for people and for programs: after all steps, after some, and without any.
#[test]
fn a_run_tells_what_it_is() {
    let desk = desk_with_run();
    desk.ok(&format!("fit quakes.csv --manifold sphere:2 --base uniform -o steps {TINY} --set checkpoint_every=20"));
    let mut shown = ["run", "steps"].map(|run| session(&desk, &format!("info {run}"))).join("\n");
    std::fs::remove_dir_all(desk.path("steps/checkpoints/step-00000040")).expect("removed");
    shown += &format!("\n{}", session(&desk, "info steps"));
    let line = |line: &str| match line.split_once("  ") {
        Some(("Score" | "Files", _)) => without_digits(line) + "\n",
        _ => format!("{line}\n"),
    };
    insta::assert_snapshot!("info", shown.lines().map(line).collect::<String>());
    let mut lines = String::new();
    shape("", &desk.json("info steps"), &mut lines);
    insta::assert_snapshot!("info-json", lines);
}

/// One name for the likelihood bound, one object on standard output.
#[test]
fn objects_have_one_form() {
    let desk = Desk::new();
    desk.ok("data make earthquakes-week -o quakes.csv");
    let fit = format!("fit quakes.csv --manifold sphere:2 --base uniform -o run {TINY}");
    let all = [
        fit.as_str(),
        "eval run -n 50",
        "sample run -n 5 -o s.csv",
        "density run --at s.csv -o d.csv",
        "plot run -n 20 -o p.svg --progress none",
        "report run -n 20",
        "data make circle8-skewed -n 5 -o c.csv",
        "--version",
    ];
    let mut shown = String::new();
    for words in all {
        writeln!(shown, "$ mad {words} --json").expect("a string");
        shape("", &desk.json(words), &mut shown);
    }
    insta::assert_snapshot!(shown);
}

/// Defaults, short flags and the seed in closing lines.
#[test]
fn closing_lines() {
    let desk = desk_with_run();
    let all = [
        "sample run -o s.csv --progress none",
        "sample run -n 3 -o s.csv --seed 7 --progress none",
        "density run --grid 50 -o d.csv --progress none",
        "fit quakes.csv -m sphere:2 --base uniform -o steps --steps 2 --set width=8 --set depth=2 --progress none",
        "plot run -n 20 -o p.svg --progress none",
        "data make circle8-skewed -n 5 -o c.csv",
        "--version",
    ];
    let shown = all.map(|words| match words {
        words if words.starts_with("data") => session(&desk, words),
        words => {
            let shown = session(&desk, words);
            let (command, rest) = shown.split_once('\n').expect("a line");
            format!("{command}\n{}", without_digits(rest))
        }
    });
    let machine = |line: &str| match line.split_once("  ") {
        Some((name @ ("commit" | "instructions" | "features"), _)) => format!("{name}  …\n"),
        _ => format!("{line}\n"),
    };
    insta::assert_snapshot!(shown.join("\n").lines().map(machine).collect::<String>());
}

#[test]
fn mistakes() {
    let desk = desk_with_run();
    desk.write("p.csv", "lat,lon\n1,2\n3,4\n");
    desk.write("bad.csv", "lat,lon\n1,2\n95,4\n");
    desk.write("unnamed.csv", "a,b,c\n1,2,3\n4,5,6\n");
    let all = [
        "fti p.csv",
        "fit p.csv",
        "fit p.csv --manifold shpere:2 -o new",
        "fit p.csv --manifold sphere:2 -o new --method magic",
        "fit p.csv --manifold sphere:2 -o new --method fff:bta=3",
        "fit p.csv --manifold sphere:2 -o new --device gpu",
        "fit p.csv --manifold sphere:2 -o new --base mixtrue",
        "fit p.csv --manifold sphere:2 -o new --set learnin_rate=1",
        "fit p.csv --manifold sphere:2 -o new --targets orbit",
        "fit p.csv --manifold sphere:2 -o run",
        "fit missing.csv --manifold sphere:2 -o new",
        "fit bad.csv --manifold sphere:2 -o new",
        "fit unnamed.csv -o new",
        "fit symsol:teapot -o new",
        "sample nowhere",
        "sample run --sampler huen",
        "sample run --json",
        "sample run --guidance 2",
        "sample run -o run/run.json",
        "eval run --manifold sphere:2",
        "eval run --metrics mdd",
        "eval run --pictures 3",
        "eval p.csv --against p.csv",
        "eval p.csv --manifold sphere:2",
        "density run --at p.csv --steps 5",
        "density run --at p.csv --json",
        "density run",
        "plot run --grid 50 -o p.svg",
        "plot run -o p.pdf",
        "data make circel8",
        "data make symsol -o new",
        "data render teapot -o new",
        "list methds",
    ];
    let mut shown = String::new();
    for words in all {
        writeln!(shown, "{}", session(&desk, words)).expect("a string");
        let words = if words.contains("--json") { words.to_owned() } else { format!("{words} --json") };
        let output = desk.command(&words).output().expect("program started");
        let object: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("mad {words}: {e}"));
        assert_eq!(object["exit_code"].as_i64(), output.status.code().map(i64::from), "{object}");
        writeln!(shown, "{object}\n").expect("a string");
    }
    insta::assert_snapshot!(shown);
    assert!(!desk.path("new").exists(), "something was written");
}
