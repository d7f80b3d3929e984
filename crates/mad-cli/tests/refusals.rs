//! What must not be done: replace what a command reads, read without end, leave half a run behind, let a file speak to the
//! terminal. And what must be accepted: any file name.
#![cfg(unix)]

mod common;
use common::{Desk, TINY, bytes, text};
use std::ffi::OsStr;
use std::os::unix::{ffi::OsStrExt, fs::symlink};
use std::path::PathBuf;

/// Characters that a terminal obeys instead of showing them.
fn is_obeyed(c: char) -> bool {
    c.is_control() && c != '\n' && c != '\t' || "\u{202a}\u{202b}\u{202d}\u{202e}\u{2066}\u{2067}\u{2069}".contains(c)
}

/// A run on places, its data in `d.csv`.
fn desk_with_run() -> Desk {
    let desk = Desk::new();
    desk.ok("data make earthquakes-week --out d.csv");
    desk.ok(&format!("fit d.csv --manifold sphere:2 --base uniform --out run {TINY}"));
    desk
}

#[test]
fn outputs_replace_neither_runs_nor_inputs() {
    let desk = desk_with_run();
    let checkpoint = desk.names("run/checkpoints").pop().expect("a checkpoint");
    symlink(desk.path("run/data/train.npy"), desk.path("link.npy")).expect("a link");
    std::fs::hard_link(desk.path("run/data/test.npy"), desk.path("hard.npy")).expect("a link");
    symlink(desk.path("run/data"), desk.path("folder")).expect("a link");
    let own = ["run/data/train.npy", "run/data/test.npy", "run/metrics.jsonl", "run/run.json", "run/config.toml"];
    let before = own.map(|name| bytes(&desk.path(name)));
    let manifest = format!("run/checkpoints/{checkpoint}/manifest.json");
    for out in [
        "run/data/train.npy",
        "run/../run/data/new.csv",
        "run/checkpoints/new.csv",
        "link.npy",
        "hard.npy",
        "folder/train.npy",
    ] {
        let error = desk.fails(2, &format!("sample run -n 3 --seed 1 --out {out}"));
        assert!(error.contains("belongs to the run"), "{error}");
    }
    for out in ["run/metrics.jsonl", "run/run.json", "run/config.toml", &manifest] {
        symlink(desk.path(out), desk.path("disguised.csv")).expect("a link");
        desk.fails(2, "density run --at d.csv --out disguised.csv");
        std::fs::remove_file(desk.path("disguised.csv")).expect("removed");
    }
    // The command's own input.
    std::fs::hard_link(desk.path("d.csv"), desk.path("hard.csv")).expect("a link");
    symlink(desk.path("d.csv"), desk.path("soft.csv")).expect("a link");
    let data = bytes(&desk.path("d.csv"));
    for out in ["d.csv", "./d.csv", "hard.csv", "soft.csv"] {
        let error = desk.fails(2, &format!("density run --at d.csv --out {out}"));
        assert!(error.contains("replace the input d.csv"), "{error}");
        desk.fails(2, &format!("base --manifold sphere:2 --sigma 0.1 --at d.csv --out {out}"));
    }
    assert!(own.map(|name| bytes(&desk.path(name))) == before && bytes(&desk.path("d.csv")) == data);
    other_runs_are_as_safe(&desk);
    // Other files may stand in a run folder, and may be replaced.
    desk.ok("sample run -n 3 --seed 1 --out run/samples.csv");
    desk.ok("sample run -n 4 --seed 1 --out run/samples.csv");
}

/// No command writes into a run folder that it does not read, not even one whose data are links to another disk.
fn other_runs_are_as_safe(desk: &Desk) {
    let copied = std::process::Command::new("cp").args(["-r", "run", "other"]).current_dir(desk.path(".")).status();
    assert!(copied.expect("cp").success());
    std::fs::rename(desk.path("other/data"), desk.path("disk")).expect("moved");
    symlink(desk.path("disk"), desk.path("other/data")).expect("a link");
    let files = ["data/train.npy", "data/test.npy", "config.toml", "metrics.jsonl", "run.json"];
    let read = || ["run", "other"].map(|run| files.map(|file| bytes(&desk.path(run).join(file))));
    let (before, names) = (read(), || ["other", "other/data", "other/checkpoints"].map(|folder| desk.names(folder)));
    let there = names();
    for words in [
        "data make earthquakes-week --out run/data/train.npy",
        "data make earthquakes-week --out other/data/train.npy",
        "data render cube --train 1 --test 1 --size 32 --out other/checkpoints/deep/solids",
        "base --manifold sphere:2 --sigma 0.1 --at d.csv --out run/data/test.npy",
        "sample run -n 3 --seed 1 --out other/data/train.npy",
        "sample run -n 3 --seed 1 --out disk/../other/data/train.npy",
        "density run --at d.csv --out other/checkpoints/d.csv",
        "plot run -n 3 --out other/data/p.svg",
        "report run -n 3 --out other/checkpoints/r.html",
        "demo --steps 1 --out other/data/demo",
        "man --out other/data",
        "fit d.csv --manifold sphere:2 --out other/data/new --steps 1 --seed 1",
        "fit symsol:cube --out other/data/cube --steps 1",
    ] {
        let error = desk.fails(2, words);
        assert!(error.contains("belongs to the run"), "{words}: {error}");
    }
    assert!(read() == before, "a run was altered");
    assert_eq!(names(), there, "something was left in a run");
}

#[cfg(target_os = "linux")]
#[test]
fn links_to_devices_are_not_read() {
    let desk = desk_with_run();
    let newest = desk.names("run/checkpoints").pop().expect("a checkpoint");
    let checkpoint = format!("run/checkpoints/{newest}");
    for (file, command) in [
        ("run/config.toml".to_owned(), "sample run -n 3 --seed 1"),
        ("run/run.json".to_owned(), "sample run -n 3 --seed 1"),
        ("run/columns.json".to_owned(), "sample run -n 3 --seed 1"),
        ("run/base.json".to_owned(), "sample run -n 3 --seed 1"),
        ("run/data/train.npy".to_owned(), "plot run -n 5 --out p.svg"),
        ("run/metrics.jsonl".to_owned(), "plot run --what curves --out p.svg"),
        (format!("{checkpoint}/manifest.json"), "sample run -n 3 --seed 1"),
        (format!("{checkpoint}/tensors.safetensors"), "eval run --against test"),
    ] {
        let (path, aside) = (desk.path(&file), desk.path("aside"));
        std::fs::rename(&path, &aside).expect("moved");
        symlink("/dev/zero", &path).expect("a link");
        let output = desk.shell(&format!("\"$MAD\" {command}"));
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(4), "{file}: {error}");
        assert!(error.contains(file.rsplit('/').next().expect("a name")), "{error}");
        std::fs::rename(&aside, &path).expect("moved back");
    }
    let output = desk.shell(&format!("\"$MAD\" fit d.csv --manifold sphere:2 --out new --config /dev/zero {TINY}"));
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    // A pipe is no device without end.
    desk.write("c.toml", "width = 8\n");
    let script =
        "\"$MAD\" fit d.csv --manifold sphere:2 --base uniform --out piped --steps 2 --seed 1 --config <(cat c.toml)";
    let output = desk.shell(script);
    assert!(output.status.success(), "{}", text(&output.stderr));
}

#[test]
fn settings_that_cannot_be_leave_no_folder() {
    let desk = Desk::new();
    desk.ok("data make earthquakes-week --out d.csv");
    let fit = format!("fit d.csv --manifold sphere:2 --base uniform --out run {TINY}");
    let error = desk.fails(3, &format!("{fit} --set fresh=circle8-uniform"));
    assert!(error.contains("fresh = circle8-uniform"), "{error}");
    assert_eq!(desk.names("."), ["d.csv"], "something was left");
    // A network of a third of a terabyte, under a limit that every machine can set.
    let output = desk.shell(&format!("\"$MAD\" {fit} --set width=16384 --set depth=64"));
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(["width", "depth", "available"].iter().all(|word| error.contains(word)), "{error}");
    assert_eq!(desk.names("."), ["d.csv"], "something was left");
    // One `--set` is one setting.
    let output = desk.command(&fit).args(["--set", "steps=3\nwidth=9"]).output().expect("program started");
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    let output = desk.command("fit symsol:cube --out cube --steps 1").args(["--set", "size=32\ndraws=9"]).output();
    assert_eq!(output.expect("program started").status.code(), Some(2));
    // The corrected command is not in the way of the refused one.
    desk.ok(&fit);
}

#[test]
fn no_file_speaks_to_the_terminal() {
    const HOSTILE: &str = "\u{1b}]0;owned\u{7}\u{1b}[31m\u{9b}5m\u{202e}\r";
    let desk = Desk::new();
    let named = format!("{HOSTILE}.csv");
    desk.write(&named, "lat,lon\n1,2\nx,3\n");
    desk.write("cells.csv", &format!("lat,lon\n1,2\n{HOSTILE},3\n4,5\n"));
    desk.write("columns.csv", &format!("{HOSTILE}a,{HOSTILE}b\n1,2\n3,4\n5,6\n"));
    desk.write("words.csv", &format!("colour,way\n{HOSTILE},up\nred,down\nblue,up\n"));
    let header = format!("{{'descr': '<f8{HOSTILE}', 'fortran_order': False, 'shape': (2, 2), }}\n");
    let mut array = b"\x93NUMPY\x01\x00".to_vec();
    array.extend((header.len() as u16).to_le_bytes());
    array.extend(header.bytes());
    std::fs::write(desk.path("dtype.npy"), &array).expect("written");
    let missing = format!("{HOSTILE}missing.csv");
    for words in [
        vec!["data", "check", &named, "--manifold", "sphere:2"],
        vec!["data", "check", "cells.csv", "--manifold", "sphere:2"],
        vec!["data", "check", "cells.csv", "--manifold", "sphere:2", "--json"],
        vec!["data", "check", "columns.csv"],
        vec!["data", "check", "columns.csv", "--json"],
        vec!["data", "check", "words.csv", "--manifold", "categorical"],
        vec!["data", "check", "dtype.npy"],
        vec!["data", "check", &missing],
        vec!["fit", "cells.csv", "--manifold", "sphere:2", "--out", "run"],
        vec!["fit", "cells.csv", "--manifold", "sphere:2", "--out", "run", "--skip-bad-rows", "--steps", "1"],
        vec!["fit", "columns.csv", "--manifold", HOSTILE, "--out", "run"],
        vec!["fit", "columns.csv", HOSTILE],
        vec!["sample", HOSTILE, "-n", "1"],
    ] {
        let output = desk.command("").args(&words).output().expect("program started");
        for said in [text(&output.stdout), text(&output.stderr)] {
            assert!(!said.contains(is_obeyed), "{words:?}: {said:?}");
        }
        let said = text(&output.stdout) + &text(&output.stderr);
        // Quoted all the same, apart from what the parser of the command line removes.
        assert!(
            said.contains("1b") || words.contains(&"--steps") || words == ["fit", "columns.csv", HOSTILE],
            "{said}"
        );
    }
}

#[test]
fn exit_codes_say_what_is_wrong() {
    let desk = desk_with_run();
    let again = format!("fit d.csv --manifold sphere:2 --base uniform --out run {TINY} --resume");
    for (file, command) in [
        ("config.toml", "sample run -n 3 --seed 1"),
        ("data/train.npy", "plot run -n 3 --out p.svg"),
        ("data/test.npy", "eval run --against test"),
        ("columns.json", "sample run -n 3 --seed 1"),
    ] {
        let (path, aside) = (desk.path(&format!("run/{file}")), desk.path("aside"));
        std::fs::rename(&path, &aside).expect("moved");
        let error = desk.fails(4, command);
        assert!(error.contains(file) && error.contains("missing"), "{error}");
        std::fs::rename(&aside, &path).expect("moved back");
    }
    // Schemas begin with 1.
    let newest = desk.names("run/checkpoints").pop().expect("a checkpoint");
    for (file, schema) in [(format!("run/checkpoints/{newest}/manifest.json"), 1), ("run/run.json".to_owned(), 2)] {
        let good = desk.read(&file);
        desk.write(&file, &good.replacen(&format!("\"schema\": {schema}"), "\"schema\": 0", 1));
        let error = desk.fails(4, "sample run -n 3 --seed 1");
        assert!(error.contains("schema 0"), "{error}");
        desk.write(&file, &good);
    }
    // A folder without its most important file is no run that could be resumed, and says so.
    std::fs::rename(desk.path("run/run.json"), desk.path("aside")).expect("moved");
    let error = desk.fails(4, &again);
    assert!(error.contains("run.json") && !error.contains("add --resume"), "{error}");
    std::fs::rename(desk.path("aside"), desk.path("run/run.json")).expect("moved back");
    desk.ok(&again);
    // Settings that are not text.
    std::fs::write(desk.path("c.toml"), b"base = \"\xff\"\n").expect("written");
    for data in ["d.csv --manifold sphere:2", "symsol:cube"] {
        let error = desk.fails(2, &format!("fit {data} --out new --config c.toml"));
        assert!(error.contains("c.toml") && error.contains("UTF-8"), "{error}");
    }
}

/// The same for runs on pictures.
#[test]
fn runs_on_pictures_are_guarded_as_well() {
    let desk = Desk::new();
    let fit = "fit symsol:cube --out cube --steps 1 --seed 1 --batch 2 --set draws=1 --set size=32";
    desk.ok(fit);
    desk.ok("data render cube --train 1 --test 1 --size 32 --out solids");
    let pictures = desk.names("solids/train/images");
    std::fs::rename(desk.path("solids/train/images").join(&pictures[0]), desk.path("p.png")).expect("moved");
    let picture = bytes(&desk.path("p.png"));
    for out in ["p.png", "cube/run.json", "cube/checkpoints/x.csv"] {
        desk.fails(2, &format!("sample cube --given picture=p.png -n 3 --seed 1 --out {out}"));
    }
    desk.fails(2, "plot cube --given picture=p.png -n 3 --out p.png");
    assert!(bytes(&desk.path("p.png")) == picture && !desk.path("poses.csv").exists());
    std::fs::remove_file(desk.path("cube/run.json")).expect("removed");
    let error = desk.fails(4, &format!("{fit} --resume"));
    assert!(error.contains("run.json") && !error.contains("add --resume"), "{error}");
}

#[test]
fn data_that_are_no_file_are_told_as_what_they_are() {
    let desk = Desk::new();
    std::fs::create_dir(desk.path("fir")).expect("a folder");
    symlink("nowhere", desk.path("flod")).expect("a link");
    symlink("loop", desk.path("loop")).expect("a link");
    for (data, words) in
        [("fir", "folder"), ("flod", "symbolic link to nowhere"), ("loop", "symbolic links"), ("flod.csv", "No such")]
    {
        let error = desk.fails(5, &format!("fit {data} --manifold sphere:2 --out run {TINY}"));
        assert!(error.contains(words) && !error.contains("did you mean"), "{data}: {error}");
    }
    // What is not there may still be a misspelt data set.
    assert!(desk.fails(2, "fit floood --out run").contains("flood"));
}

#[test]
fn names_that_are_not_text_are_names() {
    let desk = Desk::new();
    let name = |bytes: &[u8]| desk.path(".").join(OsStr::from_bytes(bytes));
    let (data, run, samples) = (name(b"d\xff.csv"), name(b"run\xfe"), name(b"s\xfd.csv"));
    desk.ok("data make earthquakes-week --out d.csv");
    std::fs::rename(desk.path("d.csv"), &data).expect("renamed");
    let ok = |words: &str, more: &[(&str, &PathBuf)]| {
        let mut command = desk.command(words);
        for (flag, path) in more {
            command.args((!flag.is_empty()).then_some(flag)).arg(path);
        }
        let output = command.arg("--json").output().expect("program started");
        assert!(output.status.success(), "{words} {more:?}: {}", text(&output.stderr));
        serde_json::from_slice::<serde_json::Value>(&output.stdout).expect("JSON")
    };
    ok("data check", &[("", &data)]);
    ok(&format!("fit --manifold sphere:2 --base uniform {TINY}"), &[("", &data), ("--out", &run)]);
    ok("sample -n 20 --seed 1", &[("", &run), ("--out", &samples)]);
    assert!(samples.exists());
    ok("eval --metrics mmd", &[("", &run), ("--against", &samples)]);
    ok("eval --metrics mmd --manifold sphere:2", &[("", &samples), ("--against", &data)]);
    ok("density", &[("", &run), ("--at", &samples), ("--out", &name(b"density\xfc.csv"))]);
    ok("plot -n 5", &[("", &run), ("--out", &name(b"plot\xfb.svg"))]);
    ok("report -n 5", &[("", &run), ("--out", &name(b"page\xfa.html"))]);
}

/// Rust opens `/dev/null` in the place of a closed output, so that writing to it does not fail.
#[cfg(target_os = "linux")]
#[test]
fn a_closed_output_is_an_error() {
    let desk = Desk::new();
    let output = desk.shell("\"$MAD\" list manifolds >&-");
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(5), "{error}");
    assert!(error.contains("standard output") && error.contains("closed"), "{error}");
    let output = desk.shell("\"$MAD\" list manifolds > /dev/null && \"$MAD\" list manifolds 1<>/dev/null");
    assert!(output.status.success(), "{}", text(&output.stderr));
}
