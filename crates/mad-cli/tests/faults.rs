//! What machines and people do to a running program: signals, full and read-only disks, limits, a second process.
#![cfg(unix)]

mod common;
use common::{Desk, bytes};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Training that does not end unless it is stopped.
const ENDLESS: &str = "--base uniform --steps 100000000 --batch 32 --seed 4 --set width=16 --set depth=1 --set checkpoint_every=50 \
                       --set evaluate_every=0 --progress none";

/// A short run with several checkpoints.
const SHORT: &str = "--base uniform --steps 60 --batch 32 --seed 4 --set width=64 --set depth=2 --set checkpoint_every=10 \
                     --set evaluate_every=0 --set keep_checkpoints=2 --progress none";

fn program() -> std::path::PathBuf {
    assert_cmd::cargo::cargo_bin!("mad").to_path_buf()
}

fn start(desk: &Desk, words: &str) -> Child {
    Command::new(program())
        .current_dir(desk.path("."))
        .args(words.split_whitespace())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("program started")
}

fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < Duration::from_secs(120), "{what} did not happen");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn signal(child: &Child, name: &str) {
    let status = Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status().expect("kill");
    assert!(status.success());
}

fn desk_with_data() -> Desk {
    let desk = Desk::new();
    desk.ok("data make earthquakes-week --out d.csv");
    desk
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs a script of the shell with the program in `$MAD`.
fn shell(desk: &Desk, script: &str) -> Output {
    let mut command = Command::new("bash");
    command.args(["-c", script]).env("MAD", program()).current_dir(desk.path("."));
    command.output().expect("shell started")
}

fn newest(desk: &Desk, run: &str) -> Vec<Vec<u8>> {
    let newest = desk.names(&format!("{run}/checkpoints")).pop().expect("a checkpoint");
    let folder = desk.path(run).join("checkpoints").join(newest);
    ["tensors.safetensors", "manifest.json"].iter().map(|f| bytes(&folder.join(f))).collect()
}

#[test]
fn a_second_process_is_refused_and_told_the_number_of_the_first() {
    let desk = desk_with_data();
    let fit = format!("fit d.csv --manifold sphere:2 --out run {ENDLESS}");
    let mut first = start(&desk, &fit);
    wait_until("a checkpoint", || desk.path("run/checkpoints/step-00000050").exists());
    let error = desk.fails(4, &format!("{fit} --resume"));
    assert!(error.contains(&format!("process {} is training", first.id())), "{error}");
    // Reading is free.
    desk.ok("sample run -n 3 --seed 1");
    first.kill().expect("killed");
    first.wait().expect("ended");
    // A dead process holds nothing.
    let mut next = start(&desk, &format!("{fit} --resume"));
    std::thread::sleep(Duration::from_millis(300));
    assert!(next.try_wait().expect("asked").is_none(), "the lock outlived its process");
    next.kill().expect("killed");
    next.wait().expect("ended");
}

#[test]
fn termination_saves_and_has_its_own_exit_code() {
    let desk = desk_with_data();
    let child = start(&desk, &format!("fit d.csv --manifold sphere:2 --out run {ENDLESS}"));
    wait_until("a checkpoint", || desk.path("run/checkpoints/step-00000050").exists());
    signal(&child, "TERM");
    let output = child.wait_with_output().expect("ended");
    assert_eq!(output.status.code(), Some(143));
    let error = text(&output.stderr);
    let step: u64 = error.split("saved at step ").nth(1).and_then(|t| t.split(',').next()?.parse().ok()).expect(&error);
    assert_eq!(desk.names("run/checkpoints").pop(), Some(format!("step-{step:08}")));
}

/// `timeout` signals the process and its group, so that two signals arrive where one was meant.
#[test]
fn two_signals_at_a_time_save_like_one() {
    let desk = desk_with_data();
    for pause in [0, 20, 200] {
        let run = format!("run{pause}");
        let child = start(&desk, &format!("fit d.csv --manifold sphere:2 --out {run} {ENDLESS}"));
        wait_until("a checkpoint", || desk.path(&run).join("checkpoints/step-00000050").exists());
        signal(&child, "TERM");
        std::thread::sleep(Duration::from_millis(pause));
        // It may have ended by then.
        let _ = Command::new("kill").args(["-TERM", &child.id().to_string()]).stderr(Stdio::null()).status();
        let output = child.wait_with_output().expect("ended");
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(143), "{pause} ms: {error}");
        let step: u64 =
            error.split("saved at step ").nth(1).and_then(|t| t.split(',').next()?.parse().ok()).expect(&error);
        assert_eq!(desk.names(&format!("{run}/checkpoints")).pop(), Some(format!("step-{step:08}")), "{pause} ms");
    }
}

/// The first signal waits for the step at hand, here one of many seconds; one that follows after a while does not.
#[test]
fn a_second_signal_ends_at_once() {
    let desk = desk_with_data();
    let slow = "--steps 9 --batch 100000 --seed 1 --set width=512 --set depth=6 --set evaluate_every=0 --progress none";
    let child = start(&desk, &format!("fit d.csv --manifold sphere:2 --out run {slow}"));
    wait_until("training", || desk.path("run/run.lock").exists());
    std::thread::sleep(Duration::from_millis(200));
    signal(&child, "INT");
    std::thread::sleep(Duration::from_millis(2000));
    signal(&child, "INT");
    let sent = Instant::now();
    let output = child.wait_with_output().expect("ended");
    assert_eq!(output.status.code(), Some(7));
    assert!(sent.elapsed() < Duration::from_secs(5), "{:?}", sent.elapsed());
    assert!(desk.names("run/checkpoints").is_empty(), "the second signal waited for the step");
}

#[test]
fn interrupted_sampling_leaves_no_file_and_whole_rows() {
    let desk = desk_with_data();
    desk.ok(&format!("fit d.csv --manifold sphere:2 --out run {}", common::TINY));
    let many = "sample run -n 50000000 --seed 1 --progress none";
    let child = start(&desk, &format!("{many} --out s.csv"));
    wait_until("a file", || desk.names(".").len() > 2);
    signal(&child, "INT");
    let output = child.wait_with_output().expect("ended");
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
    assert_eq!(desk.names("."), ["d.csv", "run"], "a partial file was left");

    // Rows that went to the standard output are whole.
    let file = std::fs::File::create(desk.path("rows.csv")).expect("a file");
    let mut command = Command::new(program());
    command.args(many.split_whitespace()).current_dir(desk.path(".")).stdout(file).stderr(Stdio::null());
    let mut child = command.spawn().expect("program started");
    wait_until("some rows", || desk.read("rows.csv").len() > 10_000);
    signal(&child, "INT");
    assert_eq!(child.wait().expect("ended").code(), Some(130));
    let rows = desk.read("rows.csv");
    assert!(rows.lines().count() > 10 && rows.ends_with('\n'), "{} bytes", rows.len());
    assert!(rows.lines().skip(1).all(|row| row.split(',').filter(|v| v.parse::<f64>().is_ok()).count() == 2));
}

#[test]
fn places_that_cannot_be_written_are_refused_before_training() {
    let desk = desk_with_data();
    let fit = |out: &str| format!("fit d.csv --manifold sphere:2 --out {out} {ENDLESS}");
    let error = desk.fails(5, &fit("d.csv/run"));
    assert!(error.contains("d.csv"), "{error}");
    if cfg!(target_os = "linux") {
        let error = desk.fails(5, &fit("/proc/run"));
        assert!(error.contains("/proc"), "{error}");
    }
    // Missing folders above are made.
    desk.ok(&format!("fit d.csv --manifold sphere:2 --out a/b/run {}", common::TINY));
    let error = desk.fails(5, "sample a/b/run -n 3 --seed 1 --out missing/folder/s.csv");
    assert!(error.contains("missing/folder"), "{error}");
}

/// Runs a script in a mount namespace of its own, where it may mount; `None` with a word where that is not allowed.
fn mounting(test: &str, desk: &Desk, script: &str) -> Option<Output> {
    for options in ["--mount", "--user --map-root-user --mount"] {
        let probe = format!("unshare {options} mount -t tmpfs -o size=1m tmpfs small");
        if shell(desk, &probe).status.success() {
            desk.write("script", script);
            return Some(shell(desk, &format!("unshare {options} bash script")));
        }
    }
    eprintln!("SKIPPED {test}: this system allows no mounts, not even in a namespace of its own");
    None
}

/// A disk on which some checkpoints fit and others do not.
#[test]
fn a_full_disk_is_said_and_costs_no_checkpoint() {
    let desk = desk_with_data();
    std::fs::create_dir(desk.path("small")).expect("a folder");
    desk.ok(&format!("fit d.csv --manifold sphere:2 --out whole {SHORT}"));
    let script = format!(
        "set -u
         mount -t tmpfs -o size=420k tmpfs small || exit 99
         head -c 40000 /dev/zero > small/ballast
         \"$MAD\" fit d.csv --manifold sphere:2 --out small/run {SHORT} --set keep_checkpoints=50 2> error; echo $? > code
         ls -A small/run/checkpoints > left
         \"$MAD\" sample small/run -n 3 --seed 1 > answer || exit 98
         mount -o remount,size=10m small || exit 97
         \"$MAD\" fit d.csv --manifold sphere:2 --out small/run {SHORT} --set keep_checkpoints=50 --resume 2> again || exit 96
         cp -r small/run run
         mount -o remount,ro small || exit 95
         \"$MAD\" fit d.csv --manifold sphere:2 --out small/other {SHORT} 2> refused; echo $? >> code
         \"$MAD\" sample small/run -n 3 --seed 1 --out small/s.csv 2>> refused; echo $? >> code"
    );
    let Some(output) = mounting("a_full_disk_is_said_and_costs_no_checkpoint", &desk, &script) else { return };
    assert!(output.status.success(), "{:?} {}", output.status, text(&output.stderr));
    let error = desk.read("error");
    assert!(error.contains("No space left") && error.contains("bytes of weights"), "{error}");
    assert_eq!(desk.read("code"), "5\n5\n5\n", "{error}");
    assert!(desk.read("left").contains("step-"), "{}", desk.read("left"));
    assert_eq!(desk.read("answer").lines().count(), 4);
    assert!(newest(&desk, "run") == newest(&desk, "whole"), "other bytes after the disk was full");
    let refused = desk.read("refused");
    assert!(refused.contains("small/.other") && refused.contains("Read-only"), "{refused}");
}

/// Limits of the shell end in a sentence and exit code 5, or do not matter.
#[test]
fn limits_on_files_are_said() {
    let desk = desk_with_data();
    desk.ok(&format!("fit d.csv --manifold sphere:2 --out whole {SHORT}"));
    let fit = format!("\"$MAD\" fit d.csv --manifold sphere:2 --out run {SHORT}");
    // In blocks of 1024 bytes: the data fit, the weights do not.
    let output = shell(&desk, &format!("ulimit -f 36; {fit}"));
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(5), "{:?} {error}", output.status);
    assert!(error.contains("tensors.safetensors") && error.contains("File too large"), "{error}");
    let output = shell(&desk, &format!("ulimit -n 6; {fit} --resume"));
    let error = text(&output.stderr);
    assert!(matches!(output.status.code(), Some(0 | 5)), "{:?} {error}", output.status);
    assert!(!error.contains("panicked"), "{error}");
    let output = shell(&desk, &format!("ulimit -n 20; {fit} --resume"));
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(newest(&desk, "run") == newest(&desk, "whole"));
}

#[test]
fn no_home_no_terminal_no_language_and_one_processor_are_enough() {
    let desk = desk_with_data();
    desk.ok(&format!("fit d.csv --manifold sphere:2 --out whole {SHORT}"));
    let bare = |words: &str| {
        let mut command = Command::new(program());
        command.env_clear().env("LANG", "C").env("TZ", "Nowhere/Land").current_dir(desk.path("."));
        command.args(words.split_whitespace()).stdin(Stdio::null()).output().expect("program started")
    };
    let output = bare(&format!("fit d.csv --manifold sphere:2 --out run {SHORT}"));
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(newest(&desk, "run") == newest(&desk, "whole"));
    let samples = bare("sample run -n 5 --seed 1 --threads 1");
    assert_eq!(text(&samples.stdout), desk.ok("sample whole -n 5 --seed 1"));
    assert!(!text(&output.stderr).contains('\u{1b}'), "colours without a terminal");
    // One processor, where there is a way to ask for it.
    let one = shell(&desk, &format!("taskset -c 0 \"$MAD\" fit d.csv --manifold sphere:2 --out one {SHORT}"));
    match one.status.code() {
        Some(0) => assert!(newest(&desk, "one") == newest(&desk, "whole")),
        code => assert_eq!(code, Some(127), "{}", text(&one.stderr)),
    }
}

#[test]
fn none_few_and_many_are_numbers_too() {
    let desk = desk_with_data();
    let error = |words: &str| desk.command(words).output().expect("program started");
    // No steps: the untrained model is saved.
    let said = desk.ok("fit d.csv --manifold sphere:2 --out none --steps 0 --seed 1 --set width=8 --set depth=1");
    assert!(said.contains("untrained"), "{said}");
    assert_eq!(desk.names("none/checkpoints"), ["step-00000000"]);
    let nothing = desk.ok("sample none -n 0 --seed 1");
    assert_eq!(nothing.lines().count(), 1, "a header alone: {nothing}");
    // A batch larger than the data is drawn with repetition.
    desk.ok("fit d.csv --manifold sphere:2 --out large --steps 2 --batch 5000 --seed 1 --set width=8 --set depth=1");
    // More samples than memory would hold come as they are made.
    let script = "\"$MAD\" sample none -n 1000000000 --seed 1 | head -n 2; exit ${PIPESTATUS[0]}";
    let output = shell(&desk, script);
    assert_eq!(output.status.code(), Some(141), "{}", text(&output.stderr));
    assert_eq!(text(&output.stdout).lines().count(), 2);
    for words in [
        "sample none -n -1",
        "sample none -n x",
        "plot none -n 0",
        "eval none --against test -n 1",
        "fit d.csv --manifold sphere:2 --out r --steps -1",
    ] {
        assert_eq!(error(words).status.code(), Some(2), "{words}");
    }
}

#[test]
fn a_run_that_diverges_ends_with_code_six() {
    let desk = desk_with_data();
    let wild = "--set learning_rate=10 --set schedule=constant --set warmup=0 --set clip=0 --set width=8 --seed 1";
    let fit = format!("fit d.csv --manifold sphere:2 --steps 400 {wild} --set checkpoint_every=1");
    for (name, network) in [("deep", "activation=identity --set depth=16"), ("bent", "activation=silu --set depth=8")] {
        let error = desk.fails(6, &format!("{fit} --set {network} --out {name}"));
        assert!(error.contains("diverged at step") && error.contains("learning_rate"), "{error}");
        // The checkpoint is whole and holds finite weights, though they may be too large to be of use.
        let sampled = desk.command(&format!("sample {name} -n 3 --seed 1")).output().expect("program started");
        assert!(matches!(sampled.status.code(), Some(0 | 6)), "{}", text(&sampled.stderr));
    }
}

#[test]
fn weights_that_would_answer_are_looked_at_on_resume() {
    let desk = desk_with_data();
    let fit = format!("fit d.csv --manifold sphere:2 --out run {} --set keep_checkpoints=9", common::TINY);
    let selected = desk.json(&fit)["selected_step"].as_u64().expect("a number");
    let tensors = desk.path(&format!("run/checkpoints/step-{selected:08}/tensors.safetensors"));
    std::fs::write(&tensors, b"short").expect("written");
    let error = desk.fails(4, &format!("{fit} --resume"));
    assert!(error.contains("tensors.safetensors") && error.contains("remove its folder"), "{error}");
}

#[test]
fn another_manifold_or_method_is_refused_naming_both() {
    let desk = desk_with_data();
    let fit = format!("fit d.csv --out run {} --resume", common::TINY);
    desk.ok(&format!("{fit} --manifold sphere:2 --method mad"));
    let before = newest(&desk, "run");
    let message = desk.fails(4, &format!("{fit} --manifold sphere:2 --method dsm"));
    assert!(message.contains("method was \"mad\", now \"dsm\""), "{message}");
    let output = desk
        .command(&format!("{fit} --manifold euclid:2 --columns latitude,longitude"))
        .output()
        .expect("program started");
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{message}");
    assert!(message.contains("sphere:2") && message.contains("euclid:2"), "{message}");
    assert!(newest(&desk, "run") == before, "a refusal changed the run");
}

#[test]
fn bad_settings_are_refused_with_their_key() {
    let desk = desk_with_data();
    let refused = |name: &str, content: &str, parts: &[&str]| {
        desk.write(name, content);
        let error = desk.fails(2, &format!("fit d.csv --manifold sphere:2 --out run --config {name}"));
        for part in parts {
            assert!(error.contains(part), "`{part}` is missing in: {}", error.chars().take(500).collect::<String>());
        }
    };
    refused("unknown.toml", "learning_rat = 1", &["unknown.toml", "learning_rat", "learning_rate"]);
    refused("kind.toml", "steps = \"many\"", &["kind.toml", "steps"]);
    refused("range.toml", "width = 0", &["range.toml", "width"]);
    refused("sigma.toml", "sigma_min = -1.0", &["sigma_min"]);
    refused("large.toml", &"# nothing\n".repeat(1 << 20), &["large.toml", "bytes"]);
    refused("deep.toml", &format!("steps = {}", "[".repeat(100_000)), &["deep.toml"]);
    refused("nested.toml", &format!("a{} = 1", ".a".repeat(100_000)), &["nested.toml"]);
    assert!(!desk.path("run").exists(), "something was written");
}

#[test]
fn other_instructions_than_at_the_beginning_are_told_on_resume() {
    let desk = desk_with_data();
    let fit = format!("fit d.csv --manifold sphere:2 --out run {}", common::TINY);
    desk.ok(&fit);
    let quiet = desk.command(&format!("{fit} --resume")).output().expect("program started");
    assert!(!text(&quiet.stderr).contains("was begun on"), "{}", text(&quiet.stderr));
    let mut info: serde_json::Value = serde_json::from_str(&desk.read("run/run.json")).expect("JSON");
    info["features"] = serde_json::json!(["x86_64", "sse9"]);
    desk.write("run/run.json", &info.to_string());
    let output = desk.command(&format!("{fit} --resume")).output().expect("program started");
    let error = text(&output.stderr);
    assert!(output.status.success() && error.contains("was begun on x86_64 sse9"), "{error}");
}

/// In a copy made of hard links the files of the original are its own until they are changed.
#[test]
fn a_copy_of_hard_links_is_resumed_without_touching_the_original() {
    let desk = desk_with_data();
    let train = |run: &str, enough: &dyn Fn() -> bool| {
        let child = start(&desk, &format!("fit d.csv --manifold sphere:2 --out {run} {ENDLESS} --resume"));
        wait_until("training", enough);
        signal(&child, "TERM");
        assert_eq!(child.wait_with_output().expect("ended").status.code(), Some(143));
    };
    train("run", &|| desk.path("run/checkpoints/step-00000050").exists());
    let status = Command::new("cp").args(["-al", "run", "copy"]).current_dir(desk.path(".")).status().expect("cp");
    assert!(status.success());
    let files = ["metrics.jsonl", "timing.jsonl", "run.lock", "config.toml"];
    let read = |run: &str| files.map(|file| bytes(&desk.path(run).join(file)));
    let before = read("run");
    train("copy", &|| read("copy")[0] != before[0]);
    assert!(read("run") == before, "the original was altered");
    let (ours, theirs) = (read("copy"), before);
    assert!(ours[0].len() > theirs[0].len() && ours[1].starts_with(&theirs[1]) && ours[1].len() > theirs[1].len());
}
