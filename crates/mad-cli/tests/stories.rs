//! One run of the real program per user story, from a file to samples, scores, densities and pictures.

mod common;
use common::{Desk, TINY, columns};
use std::collections::HashSet;

/// A geoscientist: latitudes and longitudes in, the same columns out, a score, a density and a map.
#[test]
fn events_on_the_globe() {
    let desk = Desk::new();
    desk.ok("data make vmf-mixture -n 600 --seed 3 --out xyz.csv");
    desk.ok("data make earthquakes-week --out quakes.csv");
    desk.ok(&format!("fit quakes.csv --manifold sphere:2 --out run {TINY}"));
    for name in ["config.toml", "run.json", "metrics.jsonl", "checkpoints"] {
        assert!(desk.path("run").join(name).exists(), "run/{name} is missing");
    }

    let (header, rows) = columns(&desk.ok("sample run -n 50 --seed 5"));
    assert_eq!(header, ["latitude", "longitude"]);
    assert_eq!(rows.len(), 50);
    assert!(rows.iter().all(|r| r[0].abs() <= 90.0 && (-180.0..180.0).contains(&r[1])), "{rows:?}");
    assert_eq!(desk.ok("sample run -n 50 --seed 5"), desk.ok("sample run -n 50 --seed 5 --threads 1"));
    let (header, rows) = columns(&desk.ok("sample run -n 5 --seed 5 --unprojected"));
    assert_eq!((header.join(","), rows.len()), ("x0,x1,x2".to_owned(), 5));
    assert_eq!(desk.ok("sample run -n 0 --seed 5"), "latitude,longitude\n");

    let scores = desk.json("eval run --against test -n 100");
    for metric in ["nll_bound", "mmd", "mmd_floor", "mmd2_unbiased", "nn_accuracy", "drift_mean", "drift_far"] {
        assert!(scores["metrics"][metric].is_object(), "{metric} is missing in {scores}");
    }
    assert!(scores["metrics"]["mmd_floor"]["value"].as_f64().is_some_and(|floor| floor > 0.0), "{scores}");

    let seen = desk.command("eval run --against quakes.csv --metrics nll").output().expect("program started");
    assert!(String::from_utf8_lossy(&seen.stderr).contains("the model was trained on"), "{seen:?}");
    let other = desk.fails(2, "eval run --manifold so3 --metrics nll");
    assert!(other.contains("run is a run on sphere:2"), "{other}");
    assert!(desk.fails(5, "eval runn --against test").contains("runn"));
    assert!(
        desk.fails(2, &format!("fit nowhere.csv --out run {TINY}")).contains("already holds"),
        "before the data are read"
    );

    desk.ok("sample run -n 40 --seed 5 --out samples.csv");
    let scores = desk.json("eval samples.csv --against quakes.csv --manifold sphere:2 --metrics mmd");
    assert!(scores["metrics"]["mmd"]["value"].as_f64().is_some_and(|v| v > 0.0), "{scores}");

    // By default the base measure is fitted, and few steps add little to it.
    assert!(desk.read("run/config.toml").contains("base = \"mixture\""), "{}", desk.read("run/config.toml"));
    let (header, rows) = columns(&desk.ok("density run --at samples.csv --flow-steps 10"));
    assert_eq!(header, ["latitude", "longitude", "log_density", "log_ratio"]);
    assert!(rows.iter().all(|r| r[2].is_finite() && r[3].abs() < 1.0), "{rows:?}");
    desk.ok(&format!("fit quakes.csv --manifold sphere:2 --base uniform --out uniform {TINY}"));
    let (_, rows) = columns(&desk.ok("density uniform --at samples.csv --flow-steps 10"));
    let area = (4.0 * std::f64::consts::PI).ln();
    assert!(rows.iter().all(|r| (r[3] - r[2] - area).abs() < 1e-9), "{rows:?}");
    // A handful of points and a coarse grid have the same integral: it is not a sum over them.
    for words in ["density run --at samples.csv", "density run --grid 200", "density uniform --grid 200"] {
        let said = desk.json(&format!("{words} --out some.csv"));
        let number = |key: &str| said[key].as_f64().unwrap_or_else(|| panic!("{key} is missing in {said}"));
        let doubt = number("integral_standard_error").hypot(number("normaliser_standard_error"));
        assert!((number("integral") - 1.0).abs() < 4.0 * doubt + 1e-9 && doubt < 0.1, "{words}: {said}");
    }
    let output =
        desk.command("density run --grid 2000 --out grid.csv --progress plain").output().expect("program started");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.lines().any(|line| line == "density 0/2000"), "progress begins at once: {said}");

    for file in ["map.svg", "map.png"] {
        desk.ok(&format!("plot run -n 50 --out {file}"));
        assert!(common::bytes(&desk.path(file)).len() > 10_000, "{file} is nearly empty");
    }
    desk.ok("plot run --what curves --out curves.svg");
    desk.ok("plot run --what density --out density.svg");
}

/// Events that depend on a third column: samples follow the value that is asked for.
#[test]
fn events_given_a_condition() {
    let desk = Desk::new();
    let spot = |i: i32, kind: i32| format!("{},{},{kind}\n", i % 7 - 3, 120 * kind - 60 + i % 11 - 5);
    let rows: String = (0..400).map(|i| spot(i, i % 2)).collect();
    desk.write("d.csv", &format!("lat,lon,kind\n{rows}"));
    let words = "fit d.csv --manifold sphere:2 --out run --steps 300 --batch 128 --seed 1 --set width=64 --set depth=2 \
                 --set split=random --set condition=kind";
    let output = desk.command(words).output().expect("program started");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !said.contains("not used"), "{said}");
    for (kind, east) in [(0, false), (1, true)] {
        let (_, rows) = columns(&desk.ok(&format!("sample run -n 200 --seed 5 --given kind={kind} --guidance 1.5")));
        let right = rows.iter().filter(|row| (row[1] > 0.0) == east).count();
        assert!(right > 160, "kind {kind}: {right} of 200 on its side");
    }
    let east = desk.write("east.csv", "lat,lon\n0,60\n");
    let density = |kind: i32| {
        let words = format!("density run --at {} --given kind={kind}", east.display());
        columns(&desk.ok(&words)).1[0][2]
    };
    assert!(density(1) > density(0) + 2.0, "{} {}", density(1), density(0));
    assert!(desk.fails(2, "sample run -n 5 --given kind=big").contains("`big` is not a number"));
    assert!(desk.fails(2, "sample run -n 5 --given size=1").contains("it has: kind"));
    assert!(desk.fails(2, "sample run -n 5 --given kind=0 --given kind=1").contains("given twice"));
    let error = desk.fails(2, "fit d.csv --manifold sphere:2 --out other --set condition=lon --seed 1");
    assert!(error.contains("`lon` holds the points themselves"), "{error}");
    let error = desk
        .fails(2, "fit d.csv --manifold sphere:2 --out other --set condition=kind --set condition_dropout=1 --seed 1");
    assert!(error.contains("condition_dropout") && error.contains("less than 1"), "{error}");
    desk.fails(2, "sample run -n 5 --guidance 2");
    for (words, told) in [
        ("sample run -n 5 --seed 5 --out s.csv", true),
        ("sample run -n 5 --seed 5 --given kind=1 --out s.csv", false),
        ("plot run -n 5 --out plot.svg", true),
        ("plot run --what curves --out plot.svg", false),
    ] {
        let output = desk.command(words).output().expect("program started");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{words}: {said}");
        assert_eq!(said.contains("no value of kind is given"), told, "{words}: {said}");
    }
}

/// A run reads files in other units and columns, with bad rows, and beside a folder that is called like one of its parts.
#[test]
fn other_files_of_the_same_points() {
    let desk = Desk::new();
    let places: Vec<(f64, f64)> = (0..200).map(|i| (f64::from(i % 17) - 8.0, f64::from(i * 7 % 90))).collect();
    let rows =
        |unit: f64| places.iter().map(|(lat, lon)| format!("{},{}\n", lat * unit, lon * unit)).collect::<String>();
    desk.write("d.csv", &format!("lat,lon\n{}", rows(1.0)));
    desk.ok(&format!("fit d.csv --out run --base uniform {TINY}"));
    let nll = |words: &str| {
        let scores = desk.json(&format!("eval run --metrics nll --against {words}"));
        scores["metrics"]["nll_bound"]["value"].as_f64().expect("a number")
    };
    let own = nll("d.csv");
    desk.write("r.csv", &format!("lat,lon\n{}", rows(1f64.to_radians())));
    assert!((nll("r.csv --angle-unit rad") - own).abs() < 1e-6, "radians are read as radians");
    desk.write("bare.csv", &places.iter().map(|(lat, lon)| format!("{lon},{lat},x\n")).collect::<String>());
    assert!((nll("bare.csv --columns 2,1") - own).abs() < 1e-9, "columns without names are found by number");
    desk.write("bad.csv", &format!("lat,lon\n{}north,5\n", rows(1.0)));
    assert!(desk.fails(3, "eval run --metrics nll --against bad.csv").contains("--skip-bad-rows"));
    assert!((nll("bad.csv --skip-bad-rows") - own).abs() < 1e-9, "bad rows are left out");
    desk.ok("density run --at bad.csv --skip-bad-rows --flow-steps 4 --out density.csv");
    assert_eq!(desk.read("density.csv").lines().count(), 201);
    let error = desk.fails(2, "density run --at density.csv --flow-steps 4 --out again.csv");
    assert!(error.contains("`log_density` would be written twice"), "{error}");
    let error = desk.fails(2, "eval run --metrics nll --against d.csv --quat-order wxyz");
    assert!(error.contains("--quat-order wxyz"), "{error}");

    let part = nll("test");
    std::fs::create_dir(desk.path("test")).expect("a folder");
    assert_eq!(nll("test"), part, "a folder of the name is no part of the run");
    assert!(desk.fails(2, "eval run --against test --angle-unit rad").contains("`test` is a part of the run"));
    assert!(desk.fails(5, "eval rnu --against test").contains("rnu: there is no run folder"));
    let output = desk.command("eval rnu --against test --json").output().expect("program started");
    let failure: serde_json::Value = serde_json::from_slice(&output.stdout).expect("an object");
    assert_eq!((&failure["exit_code"], failure["error"].is_string()), (&5.into(), true));
}

/// Robotics: poses as quaternion and position, in the file's own order and units.
#[test]
fn poses_in_a_product() {
    let desk = Desk::new();
    let rows: String = (0..200)
        .map(|i| {
            let (half, x) = (0.1 * (i % 7) as f64, 100.0 + (i % 11) as f64);
            format!("{},{},{},{},0,0,{}\n", x, -x, 0.5 * x, half.cos(), half.sin())
        })
        .collect();
    desk.write("poses.csv", &format!("tx,ty,tz,qw,qx,qy,qz\n{rows}"));
    desk.ok(&format!("fit poses.csv --manifold product(so3,euclid:3) --out run {TINY} --set steps=400")
        .replace("--steps 40 ", ""));
    let (header, rows) = columns(&desk.ok("sample run -n 20 --seed 1"));
    assert_eq!(header, ["tx", "ty", "tz", "qw", "qx", "qy", "qz"]);
    for row in &rows {
        let norm: f64 = row[3..7].iter().map(|q| q * q).sum();
        assert!((norm - 1.0).abs() < 1e-12, "{row:?}");
    }
    let mean = rows.iter().map(|row| row[0]).sum::<f64>() / rows.len() as f64;
    assert!((mean - 105.0).abs() < 10.0, "positions come back in the file's units: mean {mean}");
    let scores = desk.json("eval run --against test -n 50");
    assert!(scores["metrics"]["nll_bound"]["value"].as_f64().is_some(), "{scores}");
    desk.ok("plot run -n 50 --out poses.svg");
}

/// Robotics: rotation matrices in, rotation matrices out.
#[test]
fn rotation_matrices() {
    let desk = Desk::new();
    desk.ok("data make so3-mixture:4 -n 300 --seed 2 --out q.csv");
    desk.ok(&format!("fit q.csv --manifold so3 --out run {TINY}"));
    let (header, rows) = columns(&desk.ok("sample run -n 20 --seed 1"));
    assert_eq!(header, ["qx", "qy", "qz", "qw"]);
    assert!(rows.iter().all(|r| r[3] >= 0.0), "canonical sign");

    let rows: String = (0..100)
        .map(|i| {
            let (s, c) = (0.06 * f64::from(i)).sin_cos();
            format!("{c},{},0,{s},{c},0,0,0,1\n", -s)
        })
        .collect();
    desk.write("r.csv", &format!("r00,r01,r02,r10,r11,r12,r20,r21,r22\n{rows}"));
    desk.ok(&format!("fit r.csv --manifold so3 --out run-r {TINY}"));
    let (header, rows) = columns(&desk.ok("sample run-r -n 5 --seed 1"));
    assert_eq!(header[0..2], ["r00", "r01"]);
    assert!(rows.iter().all(|r| (r[0] * r[0] + r[3] * r[3] + r[6] * r[6] - 1.0).abs() < 1e-12));
}

/// Chemistry: torsions in degrees in, degrees out.
#[test]
fn torsion_angles() {
    let desk = Desk::new();
    desk.ok("data make checkerboard-t2 -n 400 --seed 2 --out t2.csv");
    desk.ok(&format!("fit t2.csv --manifold torus:2 --out run {TINY}"));
    let rows: String = (0..100).map(|i| format!("ALA,{},{}\n", -60 + i % 20, 130 - i % 30)).collect();
    desk.write("phipsi.csv", &format!("residue,phi,psi\n{rows}"));
    let error = desk.fails(2, "fit phipsi.csv --manifold torus:2 --out no --steps 5");
    assert!(error.contains("--angle-unit"), "{error}");
    desk.ok(&format!("fit phipsi.csv --manifold torus:2 --columns phi,psi --angle-unit deg --out run-deg {TINY}"));
    let (header, rows) = columns(&desk.ok("sample run-deg -n 30 --seed 1"));
    assert_eq!(header, ["phi", "psi"]);
    assert!(rows.iter().flatten().all(|a| a.abs() <= 180.0) && rows.iter().any(|r| r[0].abs() > 7.0), "{rows:?}");
    desk.ok("plot run-deg -n 30 --out rama.svg");
}

/// Files that are not part of the repository: `MAD_DATA` names their folder.
mod with_data {
    use super::*;

    /// The seven torsions of RNA, as published: no header, text columns first.
    #[test]
    #[ignore = "needs MAD_DATA"]
    fn torus_of_seven_angles() {
        let (desk, data) = (Desk::new(), common::data_dir());
        std::fs::copy(data.join("torus/rna.tsv"), desk.path("rna.tsv")).expect("copy");
        desk.ok(&format!("fit rna.tsv --manifold torus:7 --columns 3-9 --angle-unit deg --out run {TINY}"));
        let (_, rows) = columns(&desk.ok("sample run -n 10 --seed 1"));
        assert!(rows.iter().all(|r| r.len() == 7 && r.iter().all(|a| a.abs() <= 180.0)), "{rows:?}");
        let scores = desk.json("eval run --against validation -n 100");
        assert!(scores["metrics"]["nll_bound"]["value"].as_f64().is_some(), "{scores}");
    }
}

/// A table of strings: strings in, strings out, never a value that was not there.
#[test]
fn categories() {
    let desk = Desk::new();
    desk.ok("data make categorical-toy -n 400 --seed 2 --out table.csv");
    desk.ok(&format!("fit table.csv --manifold categorical --out run {TINY}"));
    let data = desk.read("table.csv");
    let samples = desk.ok("sample run -n 200 --seed 1");
    assert_eq!(samples.lines().next(), data.lines().next());
    let known = |text: &str, column: usize| -> HashSet<String> {
        text.lines().skip(1).map(|l| l.split(',').nth(column).expect("column").to_owned()).collect()
    };
    for column in 0..3 {
        assert!(known(&samples, column).is_subset(&known(&data, column)), "column {column}");
    }
    desk.ok("plot run -n 50 --out bars.svg");
    let scores = desk.json("eval run --against table.csv -n 200 --metrics tv");
    let value = |name: &str| scores["metrics"][name]["value"].as_f64().expect("a number");
    assert!(value("tv_floor") > 0.0 && value("tv_floor") < value("tv"), "few steps: {scores}");

    let numbered = data.lines().enumerate().map(|(i, line)| match i {
        0 => format!("id,{line}\n"),
        _ => format!("row{i},{line}\n"),
    });
    desk.write("numbered.csv", &numbered.collect::<String>());
    let output = desk.command(&format!("fit numbered.csv --manifold categorical --out numbered {TINY}")).output();
    let said = String::from_utf8_lossy(&output.expect("program started").stderr).into_owned();
    assert!(said.contains("id: 400 different values in 400 rows"), "{said}");
}

/// A known finite set, given as a file.
#[test]
fn points_of_a_finite_set() {
    let desk = Desk::new();
    desk.write("support.csv", "x0,x1\n1,0\n0,1\n-1,0\n0,-1\n");
    let rows: String = (0..90).map(|i| ["1,0\n", "0,1\n", "-1,0\n"][i % 3]).collect();
    desk.write("data.csv", &format!("x0,x1\n{rows}"));
    desk.ok(&format!("fit data.csv --manifold points:support.csv --out run --set split=random {TINY}"));
    std::fs::remove_file(desk.path("support.csv")).expect("removed");
    let (_, rows) = columns(&desk.ok("sample run -n 100 --seed 1"));
    assert!(rows.iter().all(|r| r.iter().map(|v| v.abs()).sum::<f64>() == 1.0), "{rows:?}");
    let (header, rows) = columns(&desk.ok("density run --at data.csv --flow-steps 20"));
    assert_eq!(header, ["x0", "x1", "log_density", "log_ratio"]);
    assert!(rows.iter().all(|r| (r[3] - r[2] - 4f64.ln()).abs() < 1e-9), "counting measure: {:?}", rows[0]);
}

/// The base measure alone, without any training.
#[test]
fn base_posterior_mean() {
    let desk = Desk::new();
    desk.write("x.csv", "x0,x1,x2\n0,0,0\n0,0,2\n0.3,-0.4,0\n");
    let (header, rows) = columns(&desk.ok("base --manifold sphere:2 --sigma 0.5 --at x.csv"));
    assert_eq!(header.join(","), "x0,x1,x2,mean0,mean1,mean2,score0,score1,score2,log_density");
    let k = 2.0_f64 / 0.25;
    assert!((rows[1][5] - (1.0 / k.tanh() - 1.0 / k)).abs() < 1e-14, "{rows:?}");
    assert!((rows[1][8] - (rows[1][5] - 2.0) / 0.25).abs() < 1e-12, "{rows:?}");
    assert!(rows[0].iter().all(|v| v.is_finite()) && rows[0][3..9].iter().all(|v| *v == 0.0), "{rows:?}");
}

/// The data check says what was understood before any training.
#[test]
fn data_check_reports() {
    let desk = Desk::new();
    desk.write("d.csv", "Latitude,LONG\n10,20\n10,20\n-5,180\n");
    let report = desk.json("data check d.csv --manifold sphere:2");
    assert_eq!((report["rows"].as_u64(), report["duplicates"].as_u64()), (Some(3), Some(1)), "{report}");
    for kind in ["manifolds", "samplers", "methods", "networks", "datasets", "metrics", "settings"] {
        assert!(desk.ok(&format!("list {kind}")).lines().count() > 2, "{kind}");
    }
    assert!(desk.ok("completions bash").contains("mad"));
    desk.ok("man --out man1");
    assert!(desk.names("man1").contains(&"mad-fit.1".to_owned()));
}

/// The first command of the README, cut short.
#[test]
fn demo_needs_nothing() {
    let desk = Desk::new();
    let report = desk.json("demo --out demo --steps 30");
    for method in ["mad", "mad-uniform", "dsm"] {
        for key in ["nll_bound", "mmd", "mmd_floor", "drift", "seconds"] {
            assert!(report["methods"][method][key].as_f64().is_some(), "{method} {key}: {report}");
        }
    }
    for name in ["map.svg", "map.png", "mad", "mad-uniform", "dsm", "samples-mad-uniform.csv", "samples-dsm.csv"] {
        assert!(desk.path("demo").join(name).exists(), "{name} is missing");
    }
}
