//! `mad-lab reproduce` as a user runs it: tables, skipped runs, interrupts, failures.

#[path = "../../mad-cli/tests/common/mod.rs"]
mod common;
use common::Desk;
use serde_json::Value;
use std::path::PathBuf;
use std::time::SystemTime;

const EXPERIMENT: &str = "
    title = 'A small table'
    seeds = [0, 1]
    tables = ['mmd', 'nll', 'step_ms', 'tv']
    settings = { steps = 30, batch = 32, width = 16, depth = 2, nfe = 8 }
    score = { samples = 100 }
    [[data]]
    key = 'week'
    title = 'A week'
    source = 'earthquakes-week'
    [[method]]
    label = 'MAD'
    paper = { mmd = { week = [0.1234, 0.0123] } }
    [[method]]
    label = 'DSM'
    settings = { method = 'dsm', learning_rate = [1e-3, 1e-4] }
    [quick]
    only = { seeds = [0] }
    settings = { steps = 5, learning_rate = 1e-3 }
";

/// All `score.json` with the time at which they were written.
fn scores(desk: &Desk, out: &str) -> Vec<(PathBuf, SystemTime)> {
    let runs = desk.path(out).join("runs");
    let folders = std::fs::read_dir(runs).into_iter().flatten().filter_map(Result::ok);
    let files = folders.map(|entry| entry.path().join("score.json")).filter(|path| path.is_file());
    let mut found: Vec<_> =
        files.map(|path| (path.clone(), path.metadata().and_then(|m| m.modified()).expect("a time"))).collect();
    found.sort();
    found
}

#[test]
fn a_table_is_made_once_and_finished_runs_are_skipped() {
    let desk = Desk::new();
    desk.write("small.toml", EXPERIMENT);
    let report = desk.json("reproduce --file small.toml --out out --results doc/results.md");
    assert_eq!((&report["ran"], &report["skipped"], &report["failed"]), (&6.into(), &0.into(), &0.into()));
    let cells = report["experiments"][0]["cells"].as_array().expect("cells");
    let cell = |method: &str, metric: &str| {
        cells.iter().find(|c| c["method"] == method && c["metric"] == metric).expect("a cell")
    };
    let mad = cell("MAD", "mmd");
    assert_eq!((&mad["runs"], &mad["paper"][0]), (&2.into(), &0.1234.into()));
    let number = |value: &Value| value.as_f64().expect("a number");
    assert!(number(&mad["mean"]) > 0.0 && number(&mad["deviation"]) > 0.0 && number(&mad["ideal"]) > 0.0);
    assert_eq!(cell("MAD", "nll")["bound"], true);

    // Mean and choice from the long table, by hand.
    let values = desk.read("out/small/values.csv");
    let find = |method: &str, grid: &str, seed: usize, metric: &str| {
        let start = format!("small,,week,{method},{grid},{seed},{metric},");
        let line = values.lines().find(|line| line.starts_with(&start)).unwrap_or_else(|| panic!("{start}\n{values}"));
        line[start.len()..].parse::<f64>().expect("a number")
    };
    let mean =
        |method: &str, grid: &str, metric: &str| 0.5 * (find(method, grid, 0, metric) + find(method, grid, 1, metric));
    assert!((mean("MAD", "", "mmd") - number(&mad["mean"])).abs() < 1e-12);
    let grids = ["learning_rate=0.001", "learning_rate=0.0001"];
    let best = *grids
        .iter()
        .min_by(|a, b| mean("DSM", a, "nll_validation").total_cmp(&mean("DSM", b, "nll_validation")))
        .expect("two points");
    assert_eq!(cell("DSM", "mmd")["grid"], best);
    assert!((mean("DSM", best, "nll") - number(&cell("DSM", "nll")["mean"])).abs() < 1e-12);

    let markdown = desk.read("out/small/report.md");
    for words in ["## A small table", "| MAD | paper | 0.1234 ± 0.0123 |", "| floor |", "| A week |", "**≤ "] {
        assert!(markdown.contains(words), "{words}\n{markdown}");
    }
    assert!(!markdown.contains("total variation"), "a sphere has no total variation\n{markdown}");
    desk.write("mine.md", "precious words");
    desk.ok("reproduce --file small.toml --out out --quiet --results mine.md");
    assert!(desk.read("mine.md").starts_with("precious words\n\n<!--"), "what was written by hand is kept");
    let document = desk.read("doc/results.md");
    assert!(document.contains("6 runs") && document.contains("## A small table"), "{document}");
    let by_hand = |document: &str| document.replace("# Results\n", "# Results\n\nWhat it means.\n");
    desk.write("doc/results.md", &by_hand(&document.replace("6 runs", "many runs")));

    let before = scores(&desk, "out");
    let again = desk.json("reproduce --file small.toml --out out --results doc/results.md");
    assert_eq!(desk.read("doc/results.md"), by_hand(&document));
    assert_eq!((&again["ran"], &again["skipped"]), (&0.into(), &6.into()));
    assert_eq!(before, scores(&desk, "out"));
    assert_eq!(report["experiments"][0]["cells"], again["experiments"][0]["cells"]);

    // One run less: the table is written all the same, and reports it; what is not whole is not ranked.
    let mad = desk.json("reproduce --file small.toml --out out --methods MAD --seeds 1 --dry-run");
    std::fs::remove_file(desk.path("out/runs").join(mad["runs"][0]["id"].as_str().expect("an id")).join("score.json"))
        .expect("a score removed");
    let part = desk.json("reproduce --file small.toml --out out --finished");
    assert_eq!((&part["ran"], &part["skipped"], &part["failed"]), (&0.into(), &5.into(), &0.into()));
    let markdown = desk.read("out/small/report.md");
    let ours = markdown.lines().find(|line| line.starts_with("| MAD | ours |")).expect("a row");
    assert!(ours.ends_with(" (1 of 2) |") && !ours.contains("**"), "{ours}");
    assert!(markdown.contains("5 of 6 runs") && markdown.contains("--finished"), "{markdown}");
    desk.json("reproduce --file small.toml --out out --finished --methods MAD --seeds 1");
    let markdown = desk.read("out/small/report.md");
    assert!(!markdown.contains("| MAD | ours |") && markdown.contains("0 of 1 runs"), "{markdown}");
    assert_eq!(desk.json("reproduce --file small.toml --out out")["ran"], 1);

    // Other settings are other runs; the same ones under another name are not.
    desk.write("renamed.toml", &EXPERIMENT.replace("'MAD'", "'Ours'"));
    assert_eq!(desk.json("reproduce --file renamed.toml --out out")["ran"], 0);
    let quick = desk.json("reproduce --file small.toml --out out --quick");
    assert_eq!((&quick["ran"], &quick["skipped"]), (&2.into(), &0.into()));
    assert!(desk.path("out/small-quick/report.json").is_file());
}

#[test]
fn documents_keep_what_other_experiments_wrote() {
    let desk = Desk::new();
    desk.write("small.toml", EXPERIMENT);
    // The same runs under another name.
    desk.write("other.toml", &EXPERIMENT.replace("A small table", "Another table"));
    let call = |file: &str| {
        desk.ok(&format!("reproduce --file {file} --quick --quiet --out out --results doc.md"));
        desk.read("doc.md")
    };
    // As an older version wrote it: nobody can tell its parts apart.
    desk.write("doc.md", "By hand.\n\n<!-- what follows is written by mad-lab reproduce -->\n\n## Old tables\n");
    let first = call("small.toml");
    assert!(first.starts_with("By hand.\n\n<!--") && !first.contains("Old tables"), "{first}");
    let both = call("other.toml");
    assert!(both.starts_with(&first) && both.contains("## Another table"), "{both}");
    for file in ["small.toml", "other.toml"] {
        let written = format!("Written by `mad-lab reproduce --file {file} --quick`, version ");
        assert_eq!(both.matches(&written).count(), 1, "{both}");
    }
    // A part stays in its place.
    desk.write("doc.md", &both.replace("small.toml --quick", "small.toml"));
    assert_eq!(call("small.toml"), both);
}

#[test]
fn failed_runs_are_named_and_the_others_go_on() {
    let desk = Desk::new();
    desk.write("small.toml", EXPERIMENT);
    let jobs = desk.json("reproduce --file small.toml --out out --quick --dry-run");
    let job = &jobs["runs"][0];
    assert_eq!((&job["run"], &job["done"]), (&"MAD on week, seed 0".into(), &false.into()));
    // A run folder that nothing can be made of.
    let folder = desk.path("out/runs").join(job["id"].as_str().expect("an id")).join("run");
    std::fs::create_dir_all(&folder).expect("folder made");
    std::fs::write(folder.join("run.json"), "{").expect("file written");
    let error = desk.fails(1, "reproduce --file small.toml --out out --quick");
    assert!(error.contains("MAD on week, seed 0: failed:") && error.contains("run.json"), "{error}");
    let markdown = desk.read("out/small-quick/report.md");
    assert!(markdown.contains("| MAD | ours | failed |") && markdown.contains("Failed: MAD on week"), "{markdown}");
    assert_eq!(scores(&desk, "out").len(), 1);
    std::fs::remove_dir_all(folder).expect("folder removed");
    assert_eq!(desk.json("reproduce --file small.toml --out out --quick")["ran"], 1);
}

#[test]
fn scores_in_a_ledger_stand_for_runs_unless_a_figure_opens_them() {
    let desk = Desk::new();
    desk.write("small.toml", EXPERIMENT);
    desk.write("figure-loss.toml", EXPERIMENT);
    let made = desk.json("reproduce --file small.toml --quick --out out --scores scores.jsonl");
    assert_eq!((&made["ran"], &made["skipped"]), (&2.into(), &0.into()));
    let elsewhere = desk.json("reproduce --file small.toml --quick --out other --scores scores.jsonl");
    assert_eq!((&elsewhere["ran"], &elsewhere["skipped"]), (&0.into(), &2.into()));
    assert!(!desk.path("other/runs").exists());
    let markdown = desk.read("other/small-quick/report.md");
    assert!(markdown.contains("`mad-lab reproduce --file small.toml --quick --scores scores.jsonl`"), "{markdown}");
    let done = |out: &str| {
        let words = format!("reproduce --file figure-loss.toml --quick --dry-run --scores scores.jsonl --out {out}");
        let jobs = desk.json(&words);
        jobs["runs"].as_array().expect("runs").iter().filter(|run| run["done"] == true).count()
    };
    assert_eq!((done("out"), done("other")), (2, 0));
    // A record that was cut off is left out, reported, and made again.
    let scores = desk.read("scores.jsonl");
    desk.write("scores.jsonl", &scores[..scores.len() - 9]);
    let output =
        desk.command("reproduce --file small.toml --quick --finished --out other --scores scores.jsonl").output();
    let said = String::from_utf8_lossy(&output.expect("program started").stderr).into_owned();
    assert!(said.contains("scores.jsonl, line 2: cut off") && said.contains("2 runs, 1 of them done"), "{said}");
}

#[test]
fn one_report_that_cannot_be_written_does_not_stop_the_others() {
    let desk = Desk::new();
    std::fs::create_dir(desk.path("out")).expect("folder made");
    desk.write("out/figure-base-s2-quick", "in the way");
    let error = desk.fails(5, "reproduce figure-base-s2 figure-intro --quick --finished --out out");
    assert!(error.contains("figure-base-s2: report:"), "{error}");
    assert!(desk.read("out/figure-intro-quick/report.md").contains("Not drawn"));
}

/// Starts the worker of a job, which must fail with this exit code, and gives its standard error. Its standard input stays open,
/// as it does under `mad-lab reproduce`: where it ends, the worker stops with another code, and which comes first is chance.
fn worker_fails(desk: &Desk, code: i32, job: &str) -> String {
    let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin!("mad-lab"))
        .current_dir(desk.path("."))
        .args(["reproduce-job", job])
        .stdin(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("program started");
    let input = child.stdin.take();
    let output = child.wait_with_output().expect("ended");
    drop(input);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{error}");
    error
}

#[test]
fn files_that_change_make_other_jobs() {
    let desk = Desk::new();
    let points = |shift: usize| {
        let rows = (0..60).map(|i| format!("{},{}\n", (7 * i + shift) % 80, (13 * i) % 170)).collect::<String>();
        desk.write("mine.csv", &format!("lat,lon\n{rows}"));
    };
    let data = "source = 'mine.csv'\n    manifold = 'sphere:2'";
    let text = EXPERIMENT.replace("source = 'earthquakes-week'", data);
    desk.write("mine.toml", &text);
    let words = "reproduce --file mine.toml --quick --methods DSM --out out";
    let id = |file: &str| {
        let jobs = desk.json(&format!("reproduce --file {file} --quick --methods MAD --out out --dry-run"));
        jobs["runs"][0]["id"].as_str().expect("an id").to_owned()
    };
    points(0);
    assert_eq!(desk.json(words)["ran"], 1);
    let job = scores(&desk, "out")[0].0.parent().expect("a folder").to_owned();
    let job = job.file_name().expect("a name").to_string_lossy().into_owned();
    let before = id("mine.toml");
    std::fs::create_dir(desk.path("far")).expect("folder made");
    std::fs::copy(desk.path("mine.csv"), desk.path("far/mine.csv")).expect("a copy");
    desk.write("far.toml", &text.replace("'mine.csv'", "'./far/mine.csv'"));
    assert_eq!(id("far.toml"), before, "the same rows in another folder");
    points(1);
    std::fs::remove_file(desk.path("out/runs").join(&job).join("score.json")).expect("a score removed");
    let error = worker_fails(&desk, 2, &format!("out/runs/{job}"));
    assert!(error.contains("mine.csv has changed") && error.contains("start `mad-lab reproduce` again"), "{error}");
    assert_ne!(id("mine.toml"), before);

    // So does the file of a base measure, by what is in it.
    desk.write(
        "based.toml",
        &text.replace("label = 'MAD'", "label = 'MAD'\n    settings = { base = 'mixture:base.csv' }"),
    );
    desk.write("base.csv", "x0,x1,x2,kappa,weight\n0,0,1,5,1\n");
    let before = id("based.toml");
    desk.write("base.csv", "x0,x1,x2,kappa,weight\n0,0,1,6,1\n");
    assert_ne!(id("based.toml"), before);
}

#[cfg(target_os = "linux")]
#[test]
fn workers_do_not_mind_that_the_program_is_replaced() {
    let desk = Desk::new();
    desk.write("small.toml", EXPERIMENT);
    let program = desk.path("mad-lab");
    let built = assert_cmd::cargo::cargo_bin!("mad-lab");
    std::fs::hard_link(built, &program).or_else(|_| std::fs::copy(built, &program).map(|_| ())).expect("a copy");
    let child = std::process::Command::new(&program)
        .current_dir(desk.path("."))
        .args("reproduce --file small.toml --out out --quick --jobs 1 --quiet".split(' '))
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("program started");
    std::fs::remove_file(&program).expect("removed");
    let output = child.wait_with_output().expect("ended");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(scores(&desk, "out").len(), 2);
}

#[test]
fn mistakes_are_found_before_anything_runs() {
    let desk = Desk::new();
    let error = desk.fails(2, "reproduce table-erth");
    assert!(error.contains("did you mean `table-earth`"), "{error}");
    desk.write("bad.toml", &EXPERIMENT.replace("width = 16", "widht = 16"));
    let error = desk.fails(2, "reproduce --file bad.toml --out out");
    assert!(error.contains("bad.toml: method `MAD` on `week`") && error.contains("`width`"), "{error}");
    desk.write("bad.toml", &EXPERIMENT.replace("earthquakes-week", "earthquakes-weak"));
    let error = desk.fails(2, "reproduce --file bad.toml --out out");
    assert!(error.contains("earthquakes-weak"), "{error}");
    desk.write("bad.toml", &EXPERIMENT.replace("seeds = [0, 1]", "seeds = [0, 0]"));
    let error = desk.fails(2, "reproduce --file bad.toml --out out");
    assert!(error.contains("seeds: `0` occurs twice"), "{error}");
    desk.write("bad.toml", &EXPERIMENT.replace("label = 'MAD'", "label = 'MAD'\n    rows = 50"));
    let error = desk.fails(2, "reproduce --file bad.toml --out out");
    assert!(error.contains("method `MAD`, rows") && error.contains("another test part"), "{error}");
    desk.write("bad.toml", &EXPERIMENT.replace("label = 'MAD'", "label = 'MAD'\n    against = 'DMS'"));
    let error = desk.fails(2, "reproduce --file bad.toml --out out");
    assert!(error.contains("method `MAD`, against") && error.contains("DSM"), "{error}");
    desk.write("bad.toml", &EXPERIMENT.replace("label = 'MAD'", "label = 'MAD'\n    against = 'MAD'"));
    let error = desk.fails(2, "reproduce --file bad.toml --out out");
    assert!(error.contains("against: `MAD` occurs twice"), "{error}");
    desk.write("few.csv", "lat,lon\n1,2\n3,4\n");
    let file = EXPERIMENT.replace("source = 'earthquakes-week'", "source = 'few.csv'\n    rows = 50");
    desk.write("bad.toml", &file);
    let error = desk.fails(2, "reproduce --file bad.toml --out out");
    assert!(error.contains("bad.toml: data `week`, rows: few.csv is a file"), "{error}");
    desk.write("bad.toml", "title = 'nothing'");
    assert!(desk.fails(2, "reproduce --file bad.toml --out out").contains("nothing would run"));
    // A table has no rows that training has not seen.
    desk.write("bad.toml", &EXPERIMENT.replace("samples = 100", "samples = 100, fresh = 50"));
    let error = desk.fails(2, "reproduce --file bad.toml --out out");
    assert!(error.contains("bad.toml: score.fresh") && error.contains("`earthquakes-week` is a table"), "{error}");
    // Known names all of them, but no experiment knows them together.
    let error = desk.fails(2, "reproduce table-so3 figure-discrete --data skewed --methods KDE --out out");
    assert!(error.contains("--data skewed --methods KDE` leaves no run"), "{error}");
    // The folder of its figures would be in its place.
    let error = desk.fails(2, "reproduce table-so3 --out out --results results");
    assert!(error.contains("--results results: give an ending, as in results.md"), "{error}");
    assert!(!desk.path("out").exists() && !desk.path("results").exists());
    let listed = desk.json("list experiments");
    assert!(listed["experiments"].as_array().expect("a list").iter().any(|e| e["name"] == "table-earth"));
}

#[cfg(unix)]
#[test]
fn interrupted_and_started_again_repeats_no_finished_run() {
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};
    let desk = Desk::new();
    // The first run is short; the second one would take long.
    let settings = "settings = { steps = 30, batch = 32, width = 16, depth = 2, nfe = 8 }";
    let text = EXPERIMENT
        .replace(
            settings,
            "settings = { steps = 30, batch = 32, width = 16, depth = 2, nfe = 8, checkpoint_every = 200 }",
        )
        .replace("learning_rate = [1e-3, 1e-4]", "steps = STEPS")
        .replace("seeds = [0, 1]", "seeds = [0]");
    desk.write("small.toml", &text.replace("STEPS", "100000"));
    let child = Command::new(assert_cmd::cargo::cargo_bin!("mad-lab"))
        .current_dir(desk.path("."))
        .args("reproduce --file small.toml --out out --jobs 1".split(' '))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("program started");
    let started = Instant::now();
    let long = || {
        let folders = std::fs::read_dir(desk.path("out/runs")).into_iter().flatten().filter_map(Result::ok);
        folders.map(|entry| entry.path()).find(|path| path.to_string_lossy().contains("-dsm-"))
    };
    let checkpoint = || long().is_some_and(|path| path.join("times.jsonl").is_file());
    while !checkpoint() {
        assert!(started.elapsed() < Duration::from_secs(120), "the second run did not start");
        std::thread::sleep(Duration::from_millis(5));
    }
    let before = scores(&desk, "out");
    assert_eq!(before.len(), 1);
    let status = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
    assert!(status.success());
    let output = child.wait_with_output().expect("ended");
    assert_eq!(output.status.code(), Some(130));
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(words.contains("1 of 2 runs are done"), "{words}");

    // The worker saved the step at which it had to stop, and continues from there.
    let folder = long().expect("the long run");
    let newest = |folder: &PathBuf| {
        let names = std::fs::read_dir(folder.join("run/checkpoints")).expect("checkpoints").filter_map(Result::ok);
        names.map(|e| e.file_name().to_string_lossy().into_owned()).max().expect("a checkpoint")
    };
    let saved = newest(&folder);
    let at: u64 = saved.trim_start_matches("step-").parse().expect("a number");
    assert!((200..100_000).contains(&at), "{saved}");
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("mad-lab"))
        .current_dir(desk.path("."))
        .args("reproduce --file small.toml --out out --jobs 1 --quiet".split(' '))
        .stdout(Stdio::null())
        .spawn()
        .expect("program started");
    while newest(&folder) == saved {
        assert!(started.elapsed() < Duration::from_secs(120), "the second run did not continue");
        std::thread::sleep(Duration::from_millis(5));
    }
    let status = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().expect("kill");
    assert!(status.success());
    assert_eq!(child.wait().expect("ended").code(), Some(143));
    let times = std::fs::read_to_string(folder.join("times.jsonl")).expect("times");
    let steps: Vec<u64> = times
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON")["step"].as_u64().expect("a step"))
        .collect();
    assert!(steps.contains(&at) && steps.windows(2).all(|pair| pair[0] < pair[1]), "{steps:?}");
    assert_eq!(before, scores(&desk, "out"));
}

/// A worker that dies while it scores a checkpoint leaves the time of the checkpoint without a score.
#[test]
fn a_checkpoint_whose_score_was_lost_is_scored_when_the_run_resumes() {
    let desk = Desk::new();
    let text = EXPERIMENT
        .replace("seeds = [0, 1]", "seeds = [0]")
        .replace("label = 'MAD'", "label = 'MAD'\n    settings = { base = 'uniform' }")
        .replace("source = 'earthquakes-week'", "source = 'earthquakes-week'\n    curve = 3");
    desk.write("small.toml", &text);
    let command = "reproduce --file small.toml --out out --methods MAD --quiet";
    desk.ok(command);
    let folder = scores(&desk, "out")[0].0.parent().expect("a folder").to_owned();
    let times = folder.join("times.jsonl");
    let whole = std::fs::read_to_string(&times).expect("times");
    let points: Vec<Value> = whole.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let scored: Vec<&Value> = points.iter().filter(|point| point["mmd"].is_f64()).map(|point| &point["step"]).collect();
    assert_eq!(scored, [10, 20, 30], "{whole}");

    let mut cut = points.clone();
    cut.last_mut().expect("step 30")["mmd"] = Value::Null;
    let lines: String = cut.iter().map(|point| format!("{point}\n")).collect();
    std::fs::write(&times, lines).expect("written");
    std::fs::remove_file(folder.join("score.json")).expect("removed");
    desk.ok(command);
    assert_eq!(std::fs::read_to_string(&times).expect("times"), whole);
}

#[test]
fn two_at_a_time_share_the_work() {
    let desk = Desk::new();
    desk.write("small.toml", EXPERIMENT);
    let start = || {
        std::process::Command::new(assert_cmd::cargo::cargo_bin!("mad-lab"))
            .current_dir(desk.path("."))
            .args("reproduce --file small.toml --out out --scores s.jsonl --jobs 1 --json --quiet".split(' '))
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .expect("program started")
    };
    let both = [start(), start()];
    let reports = both.map(|child| {
        let output = child.wait_with_output().expect("ended");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice::<Value>(&output.stdout).expect("one object")
    });
    let ran = reports.each_ref().map(|report| report["ran"].as_u64().expect("a number"));
    assert_eq!(ran.iter().sum::<u64>(), 6, "no run is made twice: {ran:?}");
    for report in &reports {
        assert_eq!((&report["failed"], report["experiments"][0]["cells"][0]["scored"].as_u64()), (&0.into(), Some(2)));
    }
    assert_eq!(desk.read("s.jsonl").lines().count(), 6);
}
