//! Scores say what they are scores of: copies, close rows, splits, units, and how far a run is trained.

mod common;
use common::{Desk, TINY};
use serde_json::Value;

/// Standard error of a command that must succeed.
fn told(desk: &Desk, words: &str) -> String {
    let output = desk.command(words).output().expect("program started");
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "mad {words}\n{error}");
    error
}

/// Places of which every second row repeats the one before it.
fn repeated_places(desk: &Desk, name: &str) {
    let mut text = "lat,lon,when,site,mag\n".to_owned();
    for i in 0..300u32 {
        let (a, b) = (f64::from(i * 37 % 97) * 0.31 - 15.0, f64::from(i * 53 % 89) * 0.47 - 20.0);
        for copy in 0..2 {
            text +=
                &format!("{a},{b},2020-{:02}-{:02},site {},{}\n", 1 + i / 28, 1 + i % 28, i % 40, 3 + (i + copy) % 5);
        }
    }
    desk.write(name, &text);
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn copies_of_training_rows_are_scored_apart() {
    let desk = Desk::new();
    repeated_places(&desk, "places.csv");
    // Exact likelihoods and bounds.
    for (run, settings) in [("kde", "--method kde --seed 1"), ("mad", TINY)] {
        desk.ok(&format!(
            "fit places.csv --manifold sphere:2 --columns lat,lon --out {run} {settings} --set split=random"
        ));
        let scores = desk.json(&format!("eval {run} --against test --metrics nll"));
        let parts = &scores["likelihood"];
        let [all, copies, new] = ["all", "copies", "new"].map(|part| parts[part]["n"].as_u64().expect("a count"));
        assert_eq!((all, copies + new), (60, 60));
        assert!(copies > 30 && new > 3, "{parts}");
        let mean = |part: &str| number(&parts[part]["mean"]);
        let together = (copies as f64 * mean("copies") + new as f64 * mean("new")) / 60.0;
        assert!((together - mean("all")).abs() < 1e-9, "{parts}");
        assert!(number(&parts["copies"]["standard_error"]) > 0.0);
        let name = parts["name"].as_str().expect("a name");
        assert_eq!(name, if run == "kde" { "nll" } else { "nll_bound" });
        assert_eq!(number(&scores["metrics"][format!("{name}_new")]["value"]), mean("new"), "{scores}");
        let text = desk.ok(&format!("eval {run} --against test --metrics nll"));
        assert!(text.contains("rows equal to a training row") && text.contains(&format!("{name}_copies")), "{text}");
        desk.ok(&format!("report {run} -n 50"));
        let page = desk.read(&format!("{run}/report.html"));
        assert!(
            page.contains(&format!("{name}_copies")) && page.contains(&format!("over {new} rows not equal")),
            "{run}"
        );
    }
    desk.ok(&format!("fit places.csv --manifold sphere:2 --columns lat,lon --out distinct {TINY}"));
    let scores = desk.json("eval distinct --against test --metrics nll");
    assert_eq!(scores["likelihood"]["copies"]["n"], 0);
    assert!(scores["likelihood"]["copies"]["mean"].is_null(), "{scores}");
    assert!(desk.ok("eval distinct --against test --metrics nll").contains("no row is a copy of a training row"));
}

#[test]
fn distances_to_the_closest_training_row_are_reported_in_units_people_read() {
    let desk = Desk::new();
    repeated_places(&desk, "places.csv");
    desk.ok(
        "fit places.csv --manifold sphere:2 --columns lat,lon --out globe --method kde --seed 1 --set split=random",
    );
    let closest = desk.json("eval globe --against test --metrics closest")["closest"].clone();
    assert_eq!((closest["unit"].as_str(), closest["radii"].as_array().map(Vec::len)), (Some("km"), Some(3)));
    assert!(number(&closest["reference"]["equal"]) > 0.5, "{closest}");
    assert_eq!(number(&closest["reference"]["quantiles"][2]), 0.0);
    let text = desk.ok("eval globe --against test --metrics closest");
    assert!(text.contains("distance to the closest training row, km") && text.contains("within 5 km"), "{text}");
    let fields = desk.json("report globe -n 50");
    assert_eq!(
        (fields["closest"]["unit"].as_str(), fields["training"]["finished"].as_bool()),
        (Some("km"), Some(true))
    );
    assert!(number(&fields["likelihood"]["copies"]["n"]) > 0.0, "{fields}");
    let page = desk.read("globe/report.html");
    assert!(page.contains("closest-figure") && page.contains("Distance to the closest training row"), "no plot");

    desk.ok(&format!("fit so3-mixture:3 --rows 300 --out so3 {TINY}"));
    assert_eq!(desk.json("eval so3 --against test --metrics closest")["closest"]["unit"], "deg");
    let error =
        desk.fails(2, "eval places.csv --against places.csv --manifold sphere:2 --columns lat,lon --metrics closest");
    assert!(error.contains("closest needs a run folder"), "{error}");
}

#[test]
fn rows_can_be_split_by_blocks_time_and_group() {
    let desk = Desk::new();
    repeated_places(&desk, "places.csv");
    let fit = |out: &str, split: &str| {
        format!(
            "fit places.csv --manifold sphere:2 --columns lat,lon --method kde --seed 1 --out {out} --set split={split}"
        )
    };
    for (split, units) in [("blocks:5km", "blocks"), ("time:when", "times"), ("group:site", "groups")] {
        let said = told(&desk, &fit(units, split));
        assert!(said.contains(&format!("split {split}: ")) && said.contains(units), "{said}");
        assert!(desk.read(&format!("{units}/config.toml")).contains(&format!("split = \"{split}\"")));
        // Rows that are equal have the same time, place and site, so that no test row is a copy.
        assert_eq!(desk.json(&format!("eval {units} --against test --metrics nll"))["likelihood"]["copies"]["n"], 0);
        told(&desk, &format!("{} --resume", fit(units, split)));
    }
    for (split, code, words) in [
        ("blocks:5deg%", 2, "blocks:DISTANCE"),
        ("blocks:0km", 2, "blocks:DISTANCE"),
        ("group:nothing", 2, "there is no column `nothing`; the columns are lat, lon, when, site, mag"),
        ("time:site", 3, "`site 0` is neither a number nor a date"),
        ("blocks:40000km", 3, "smaller distance"),
    ] {
        let error = desk.fails(code, &fit("refused", split));
        assert!(error.contains(words), "{split}: {error}");
        assert!(!desk.path("refused").exists(), "{split}");
    }
    let error = desk.fails(2, &format!("fit so3-mixture:3 --rows 300 --out refused {TINY} --set split=blocks:5km"));
    assert!(error.contains("kilometres do not measure distances on so3") && error.contains("deg"), "{error}");
    told(&desk, &format!("fit so3-mixture:3 --rows 300 --out turned {TINY} --set split=blocks:1deg"));
}

/// Metrics, the closing line and `mad eval` give the likelihood in the units of the file, also after a resumed run.
#[test]
fn a_run_has_one_unit_of_likelihood() {
    let desk = Desk::new();
    let mut text = "qx,qy,qz,qw,x,y,z\n".to_owned();
    for i in 0..300 {
        let (a, t) = (0.003 * f64::from(i), f64::from(i));
        let [x, y, z] = [200.0 * (0.7 * t).sin(), 5000.0 + 800.0 * (0.3 * t).cos(), 90.0 * (1.1 * t).sin()];
        text += &format!("0,0,{},{},{x},{y},{z}\n", a.sin(), a.cos());
    }
    desk.write("poses.csv", &text);
    let fit = "fit poses.csv --manifold product(so3,euclid:3) --out run --batch 64 --seed 1 --set width=32 --set depth=2 \
               --set evaluate_every=20 --set checkpoint_every=20 --set select=last --steps 40";
    let closing = number(&desk.json(fit)["validation"]["nll_bound"]);
    let lines = || -> Vec<Value> {
        desk.read("run/metrics.jsonl").lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    };
    let logged = |lines: &[Value]| -> Vec<f64> { lines.iter().filter_map(|line| line["nll"].as_f64()).collect() };
    let before = logged(&lines());
    assert_eq!(before.last(), Some(&closing));
    let scored = desk.json("eval run --against validation --metrics nll");
    let scored = number(&scored["likelihood"]["all"]["mean"]);
    // The bound is estimated again with other noise; in standardised units it would be 17 nats lower.
    assert!((scored - closing).abs() < 2.0, "{scored} {closing}");
    // A run that lost its last checkpoint repeats the last steps and arrives at the same numbers.
    std::fs::remove_dir_all(desk.path("run/checkpoints/step-00000040")).expect("removed");
    assert_eq!(number(&desk.json(&format!("{fit} --resume"))["validation"]["nll_bound"]), closing);
    assert_eq!(logged(&lines()), before);
    let manifest = desk.read("run/checkpoints/step-00000040/manifest.json");
    let manifest: Value = serde_json::from_str(&manifest).expect("JSON");
    let best = before.iter().copied().fold(f64::INFINITY, f64::min);
    assert_eq!(number(&manifest["progress"]["best"]["nll"]), best);
}

#[test]
fn unfinished_runs_say_so_everywhere() {
    let desk = Desk::new();
    repeated_places(&desk, "places.csv");
    // With patience, too: a run that stopped early is finished, one that was interrupted is not.
    for patience in [0, 50] {
        let run = format!("run{patience}");
        let fit = format!(
            "fit places.csv --manifold sphere:2 --columns lat,lon --out {run} --batch 64 --seed 1 --set width=32 --set depth=2 \
             --set evaluate_every=10 --set checkpoint_every=10 --set keep_checkpoints=9 --set select=last --base uniform \
             --set patience={patience} --steps"
        );
        desk.ok(&format!("{fit} 40"));
        // As if it had been interrupted after 20 steps.
        for step in [30, 40] {
            std::fs::remove_dir_all(desk.path(&format!("{run}/checkpoints/step-000000{step}"))).expect("removed");
        }
        for words in [
            format!("eval {run} --against test --metrics nll"),
            format!("sample {run} -n 5 --seed 1 --out s.csv"),
            format!("density {run} --at s.csv --flow-steps 4 --out d.csv"),
            format!("plot {run} -n 20 --out p.svg"),
            format!("report {run} -n 20"),
        ] {
            let said = told(&desk, &words);
            assert!(said.contains("20 of 40 steps are done"), "{words}: {said}");
            let fields = desk.json(&words);
            assert_eq!(fields["training"]["finished"], false, "{words}: {fields}");
            assert_eq!(
                (fields["training"]["step"].as_u64(), fields["training"]["steps"].as_u64()),
                (Some(20), Some(40))
            );
        }
        desk.ok(&format!("{fit} 40 --resume"));
        let fields = desk.json(&format!("eval {run} --against test --metrics nll"));
        assert_eq!(fields["training"]["finished"], true, "{fields}");
    }
}

#[test]
fn conditions_outside_the_data_are_warned_of() {
    let desk = Desk::new();
    repeated_places(&desk, "places.csv");
    desk.ok(&format!("fit places.csv --manifold sphere:2 --columns lat,lon --out run {TINY} --set condition=mag"));
    let said = told(&desk, "sample run -n 5 --seed 1 --given mag=12 --out s.csv");
    assert!(said.contains("warning: --given mag=12: the training rows have mag from 3 to 7"), "{said}");
    for inside in [3, 5, 7] {
        let said = told(&desk, &format!("sample run -n 5 --seed 1 --given mag={inside} --out s.csv"));
        assert!(!said.contains("warning"), "{said}");
    }
    // What is said to people is said to programs.
    let outside = |words: &str| desk.json(words)["outside"].clone();
    for words in ["sample run -n 5 --seed 1 --out s.csv", "density run --at places.csv --columns lat,lon --out d.csv"] {
        let found = outside(&format!("{words} --given mag=12"));
        assert_eq!((&found[0]["column"], found.as_array().map(Vec::len)), (&"mag".into(), Some(1)), "{words}: {found}");
        let (value, range) = (number(&found[0]["value"]), [0, 1].map(|i| number(&found[0]["range"][i])));
        assert!(
            (value - 12.0).abs() < 1e-9 && (range[0] - 3.0).abs() < 1e-9 && (range[1] - 7.0).abs() < 1e-9,
            "{found}"
        );
        assert_eq!(outside(&format!("{words} --given mag=5")), serde_json::json!([]), "{words}");
    }
    for words in ["plot run -n 5 --out p.svg", "eval run --against test --metrics mmd -n 50"] {
        assert_eq!(outside(words), serde_json::json!([]), "{words}");
    }
}

#[test]
fn plots_are_titled_with_the_data() {
    let desk = Desk::new();
    repeated_places(&desk, "places.csv");
    desk.ok("fit places.csv --manifold sphere:2 --columns lat,lon --method mixture --seed 1 --out run");
    for (what, count) in [("samples", "-n"), ("density", "--grid")] {
        desk.ok(&format!("plot run --what {what} {count} 100 --out {what}.svg"));
        assert!(desk.read(&format!("{what}.svg")).contains("places.csv on sphere:2"), "{what}");
    }
}

#[test]
fn methods_without_steps_report_the_time_of_their_fit() {
    let desk = Desk::new();
    repeated_places(&desk, "places.csv");
    let fit = "fit places.csv --manifold sphere:2 --columns lat,lon --method kde --seed 1 --out";
    let output = desk.command(&format!("{fit} run --steps 9")).output().expect("program started");
    let (text, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("kde has no training steps; steps = 9 is ignored"), "{said}");
    assert!(text.contains("run: kde fitted in ") && !text.contains("0 steps"), "{text}");
    let fields = desk.json(&format!("{fit} again"));
    assert!(number(&fields["base_seconds"]) > 0.0, "{fields}");
    assert!(!told(&desk, &format!("{fit} third")).contains("has no training steps"));
}

/// A run folder that version 0.1.0 wrote gives the samples it gave then.
#[test]
fn runs_of_earlier_versions_answer_as_before() {
    let desk = Desk::new();
    let old = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files/run-0.1.0");
    let copy = std::process::Command::new("cp").arg("-r").arg(&old).arg(desk.path("run")).status().expect("cp");
    assert!(copy.success());
    let (_, expected) = common::columns(&desk.read("run/samples.csv"));
    let (_, found) = common::columns(&desk.ok("sample run -n 20 --seed 1"));
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().flatten().zip(expected.iter().flatten()) {
        // The last bits belong to the processor.
        assert!((found - expected).abs() < 1e-2, "{found} {expected}");
    }
    desk.ok("eval run --against test --seed 1");
}

/// Files that are not part of the repository: `MAD_DATA` names their folder.
mod with_data {
    use super::*;

    #[test]
    #[ignore = "needs MAD_DATA"]
    fn fires_are_split_in_blocks() {
        let (desk, data) = (Desk::new(), common::data_dir());
        let said = told(
            &desk,
            &format!(
                "fit fire --data-dir {} --method mixture --seed 0 --out run --set split=blocks:5km",
                data.display()
            ),
        );
        assert!(said.contains("split blocks:5km: "), "{said}");
        let closest = desk.json("eval run --against test --metrics closest")["closest"].clone();
        // No test row is as close as 5 km to a training row; under the usual split most are.
        assert_eq!(number(&closest["reference"]["within"][1]), 0.0, "{closest}");
    }
}
