//! Kill, interrupt, resume: the same bytes as an unbroken run.
#![cfg(unix)]

mod common;
use common::{Desk, bytes};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const SETTINGS: &str = "--base uniform --steps 800 --batch 32 --seed 4 --set width=64 --set depth=2 --set checkpoint_every=20 \
                        --set evaluate_every=100 --progress none";

fn start(desk: &Desk, words: &str) -> Child {
    Command::new(assert_cmd::cargo::cargo_bin!("mad"))
        .current_dir(desk.path("."))
        .args(words.split_whitespace())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("program started")
}

fn wait_for_checkpoint(desk: &Desk, run: &str) {
    let folder = desk.path(run).join("checkpoints");
    let started = Instant::now();
    while !folder.is_dir() || std::fs::read_dir(&folder).map(|d| d.count()).unwrap_or(0) < 2 {
        assert!(started.elapsed() < Duration::from_secs(120), "no checkpoint was written");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn final_checkpoint(desk: &Desk, run: &str) -> Vec<(String, Vec<u8>)> {
    let newest = desk.names(&format!("{run}/checkpoints")).pop().expect("a checkpoint");
    let folder = format!("{run}/checkpoints/{newest}");
    desk.names(&folder).into_iter().map(|f| (format!("{newest}/{f}"), bytes(&desk.path(&folder).join(&f)))).collect()
}

fn assert_same(a: &[(String, Vec<u8>)], b: &[(String, Vec<u8>)]) {
    assert_eq!(a.iter().map(|f| &f.0).collect::<Vec<_>>(), b.iter().map(|f| &f.0).collect::<Vec<_>>());
    for (a, b) in a.iter().zip(b) {
        assert!(a.1 == b.1, "{} differs", a.0);
    }
}

#[test]
fn killed_and_resumed_equals_unbroken() {
    let desk = Desk::new();
    desk.ok("data make earthquakes-week --out d.csv");
    let fit = |run: &str| format!("fit d.csv --manifold sphere:2 --out {run} {SETTINGS}");
    desk.ok(&fit("whole"));
    let mut child = start(&desk, &fit("broken"));
    wait_for_checkpoint(&desk, "broken");
    child.kill().expect("killed");
    child.wait().expect("ended");
    let last = "step-00000800".to_owned();
    assert!(!desk.names("broken/checkpoints").contains(&last), "the kill came too late to test anything");
    desk.ok(&format!("{} --resume", fit("broken")));
    assert_same(&final_checkpoint(&desk, "whole"), &final_checkpoint(&desk, "broken"));
    assert_eq!(desk.read("whole/metrics.jsonl"), desk.read("broken/metrics.jsonl"));
    assert_eq!(desk.ok("sample whole -n 30 --seed 1"), desk.ok("sample broken -n 30 --seed 1"));
}

/// Settings of runs that take a fraction of a second and write a checkpoint every 20 steps.
const QUICK: &str = "--base uniform --steps 400 --batch 16 --seed 4 --set width=8 --set depth=1 --set log_every=10 \
                     --set checkpoint_every=20 --set evaluate_every=100 --progress none";

/// Numbers that look random, by the generator SplitMix64.
struct Moments(u64);

impl Moments {
    /// A moment between zero and `longest`.
    fn next(&mut self, longest: Duration) -> Duration {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        longest.mul_f64((z ^ (z >> 31)) as f64 / u64::MAX as f64)
    }
}

/// Kills training `wanted` times at random moments. After every kill the newest checkpoint must answer; every run that is
/// resumed to its end must have the bytes of one that was never killed.
fn kill_at_random(wanted: usize, seed: u64) {
    let desk = Desk::new();
    desk.ok("data make earthquakes-week --out d.csv");
    let fit = |run: &str| format!("fit d.csv --manifold sphere:2 --out {run} {QUICK}");
    let started = Instant::now();
    desk.ok(&fit("whole"));
    let longest = started.elapsed();
    let (expected, lines) = (final_checkpoint(&desk, "whole"), desk.read("whole/metrics.jsonl"));
    let answer = desk.ok("sample whole -n 20 --seed 1");
    let check = || {
        assert_same(&expected, &final_checkpoint(&desk, "broken"));
        assert_eq!(lines, desk.read("broken/metrics.jsonl"));
        assert_eq!(answer, desk.ok("sample broken -n 20 --seed 1"));
        let hidden: Vec<_> = [".", "broken", "broken/checkpoints"].iter().flat_map(|f| desk.names(f)).collect();
        assert!(hidden.iter().all(|name| !name.starts_with('.')), "left behind: {hidden:?}");
        std::fs::remove_dir_all(desk.path("broken")).expect("removed");
    };
    let resume = format!("{} --resume", fit("broken"));
    let mut moments = Moments(seed);
    let (mut kills, mut answered, mut half_written, mut compared) = (0, 0, 0, 0);
    while kills < wanted {
        let mut child = start(&desk, &resume);
        std::thread::sleep(moments.next(longest));
        if let Some(status) = child.try_wait().expect("asked") {
            assert!(status.success(), "{status} after {kills} kills");
            check();
            compared += 1;
            continue;
        }
        child.kill().expect("killed");
        let status = child.wait().expect("ended");
        // It may have ended of its own accord in the last moment.
        kills += usize::from(!status.success());
        if desk.path("broken/checkpoints").is_dir() {
            let names = desk.names("broken/checkpoints");
            half_written += usize::from(names.iter().any(|name| name.starts_with('.')));
            if names.iter().any(|name| name.starts_with("step-")) {
                desk.ok("sample broken -n 1 --seed 1");
                answered += 1;
            }
        }
    }
    desk.ok(&resume);
    check();
    eprintln!(
        "{kills} kills: {half_written} left a half-written checkpoint, {answered} checkpoints answered, {} runs ended \
         with the bytes of an unbroken one, none with others",
        compared + 1
    );
}

#[test]
fn kills_at_random_moments_lose_nothing() {
    kill_at_random(8, 1);
}

/// `cargo test --release --workspace --test survival two_hundred -- --ignored --nocapture`
#[test]
#[ignore = "slow: minutes"]
fn two_hundred_kills_at_random_moments_lose_nothing() {
    kill_at_random(200, 2);
}

#[test]
fn thread_count_does_not_matter() {
    let desk = Desk::new();
    desk.ok("data make earthquakes-week --out d.csv");
    for threads in [1, 2] {
        let words = "--steps 30 --batch 512 --seed 4 --set width=128 --set depth=3";
        desk.ok(&format!("fit d.csv --manifold sphere:2 --out run{threads} {words} --threads {threads}"));
    }
    assert_same(&final_checkpoint(&desk, "run1"), &final_checkpoint(&desk, "run2"));
}

#[test]
fn interrupt_saves_and_says_so() {
    let desk = Desk::new();
    desk.ok("data make earthquakes-week --out d.csv");
    let fit = format!("fit d.csv --manifold sphere:2 --out run {SETTINGS} --steps 100000");
    let mut child = start(&desk, &fit.replace("--steps 800 ", ""));
    wait_for_checkpoint(&desk, "run");
    let status = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
    assert!(status.success());
    assert_eq!(child.wait().expect("ended").code(), Some(130));
    desk.ok("sample run -n 5 --seed 1");
}

#[test]
fn a_broken_pipe_is_quiet_and_has_the_code_of_its_signal() {
    let desk = Desk::new();
    desk.ok("data make earthquakes-week --out d.csv");
    desk.ok(&format!("fit d.csv --manifold sphere:2 --out run {}", common::TINY));
    let binary = assert_cmd::cargo::cargo_bin!("mad");
    let script = format!("'{}' sample run -n 20000 --seed 1 | head -n 3; exit ${{PIPESTATUS[0]}}", binary.display());
    let output =
        Command::new("bash").args(["-c", &script]).current_dir(desk.path(".")).output().expect("shell started");
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(141), "{error}");
    assert!(!error.contains("error") && !error.contains("panicked"), "{error}");
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 3);
}

#[test]
fn damaged_checkpoint_is_refused() {
    let desk = Desk::new();
    desk.ok("data make earthquakes-week --out d.csv");
    desk.ok(&format!("fit d.csv --manifold sphere:2 --out run {} --set select=last", common::TINY));
    let newest = desk.names("run/checkpoints").pop().expect("a checkpoint");
    let file = desk.path("run/checkpoints").join(newest).join("tensors.safetensors");
    let good = bytes(&file);
    let mut flipped = good.clone();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 1;
    for bad in [&flipped[..], &good[..good.len() - 7]] {
        std::fs::write(&file, bad).expect("written");
        let error = desk.fails(4, "sample run -n 5 --seed 1");
        assert!(error.contains("tensors.safetensors"), "{error}");
    }
    desk.fails(4, "sample no-such-run -n 5 --seed 1");
}

#[test]
fn a_run_is_not_overwritten_and_not_resumed_with_other_settings() {
    let desk = Desk::new();
    desk.ok("data make earthquakes-week --out d.csv");
    let fit = format!("fit d.csv --manifold sphere:2 --out run {}", common::TINY);
    desk.ok(&fit);
    let error = desk.fails(2, &fit);
    assert!(error.contains("--resume"), "{error}");
    let error = desk.fails(4, &format!("{fit} --resume --set width=33"));
    assert!(error.contains("width"), "{error}");
}

/// A fitted base is not fitted again, and aliases and lists of levels do not make another manifold of the same one.
#[test]
fn a_resumed_run_keeps_its_fitted_base() {
    let desk = Desk::new();
    desk.ok("data make earthquakes-week --out d.csv");
    desk.ok("data make categorical-toy -n 400 --seed 1 --out t.csv");
    for (run, fit) in
        [("globe", "fit d.csv --manifold s2"), ("table", "fit t.csv --manifold categorical --base mixture")]
    {
        let fit = format!("{fit} --out {run} --steps 30 --batch 16 --seed 4 --set width=8 --set depth=1");
        desk.ok(&fit);
        let config = desk.read(&format!("{run}/config.toml"));
        assert!(config.contains("base = \"mixture\""), "{config}");
        let before = desk.read(&format!("{run}/base.json"));
        desk.ok(&format!("{fit} --resume"));
        assert!(before == desk.read(&format!("{run}/base.json")), "{run}: another base");
    }
}
