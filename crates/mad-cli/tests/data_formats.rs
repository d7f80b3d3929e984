//! Files of every kind at the command line: what is read, what is written, and with which exit code the rest is refused.

mod common;
use common::{Desk, TINY};
use serde_json::Value;

fn contains(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is missing in: {text}");
    }
}

/// A file that was made by another program; see `mad-core/tests/files`.
fn made(desk: &Desk, name: &str) {
    let from = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../mad-core/tests/files").join(name);
    std::fs::copy(from, desk.path(name)).expect("file copied");
}

#[test]
fn every_format_is_written_and_read() {
    let desk = Desk::new();
    let mut reports = Vec::new();
    for ending in ["csv", "tsv", "parquet"] {
        desk.ok(&format!("data make earthquakes-week --out week.{ending}"));
        let report = desk.json(&format!("data check week.{ending}"));
        assert_eq!(report["manifold"], "sphere:2");
        assert_eq!(report["next"], format!("mad fit week.{ending} --manifold sphere:2 -o run"));
        reports.push((report["rows"].clone(), report["distinct"].clone(), report["mean"].clone()));
    }
    assert!(reports.iter().all(|r| *r == reports[0]), "{reports:?}");
    desk.ok("data make vmf-mixture:dim=3 -n 50 --out points.npy");
    assert_eq!(desk.json("data check points.npy --manifold sphere:3")["rows"], 50);
    made(&desk, "one.npz");
    assert_eq!(desk.json("data check one.npz --manifold so3")["rows"], 9);
    desk.ok("data make earthquakes-week -n 20 --out week.geojson");
    let map: Value = serde_json::from_str(&desk.read("week.geojson")).expect("JSON");
    let features = map["features"].as_array().expect("features");
    assert_eq!(features.len(), 20);
    for feature in features {
        let place = feature["geometry"]["coordinates"].as_array().expect("place");
        let (lon, lat) = (place[0].as_f64().expect("number"), place[1].as_f64().expect("number"));
        assert!((-180.0..=180.0).contains(&lon) && (-90.0..=90.0).contains(&lat), "{feature}");
        assert!(feature["properties"].is_object());
    }
    // Longitudes beyond 90 show that the order is not the other one.
    assert!(features.iter().any(|f| f["geometry"]["coordinates"][0].as_f64().is_some_and(|lon| lon.abs() > 90.0)));
}

#[test]
fn bad_files_have_exit_code_3_and_open_questions_2() {
    let desk = Desk::new();
    desk.write("text.parquet", "lat,lon\n1,2\n");
    desk.write("text.npz", "lat,lon\n1,2\n");
    desk.write("text.csv.gz", "\u{1f}x");
    std::fs::write(desk.path("cut.csv.gz"), b"\x1f\x8b\x08\x00\x00").expect("file written");
    for name in ["nested_only.parquet", "nulls.parquet", "several.npz", "objects.npy", "euler_fixed.csv"] {
        made(&desk, name);
    }
    for (code, file, spec, parts) in [
        (3, "text.parquet", "sphere:2", &["bad Parquet"][..]),
        (3, "nested_only.parquet", "sphere:2", &["nested", "place.lat"]),
        (3, "nulls.parquet", "sphere:2", &["row 3, column lat"]),
        (3, "text.npz", "so3", &["bad NPZ"]),
        (3, "objects.npy", "so3", &["pickle"]),
        (3, "cut.csv.gz", "sphere:2", &["unpack"]),
        (2, "several.npz", "so3", &["--array", "rotations, places"]),
        (2, "euler_fixed.csv", "so3", &["--euler"]),
        (5, "missing.parquet", "so3", &["missing.parquet"]),
    ] {
        contains(&desk.fails(code, &format!("fit {file} --manifold {spec} --out run")), &[&[file], parts].concat());
    }
    desk.write("frame.csv", "0,1\n1.5,2.5\n");
    contains(&desk.fails(2, "data check frame.csv --manifold sphere:2"), &["--header"]);
    assert_eq!(desk.json("data check frame.csv --manifold sphere:2 --header no")["rows"], 2);
    assert_eq!(desk.json("data check frame.csv --manifold sphere:2 --header yes --columns 0,1")["rows"], 1);
    desk.write("q.csv", "qx,qy,qz,n\n0,0,1,4\n");
    contains(&desk.fails(2, "data check q.csv --manifold so3"), &["qw is missing", "--quat-order"]);
    contains(&desk.fails(2, "data check q.csv --manifold so3 --euler zz"), &["zz", "zyx"]);
    contains(&desk.fails(2, "data make so3-mixture -n 5 --out q.geojson"), &["q.geojson", "lat and lon"]);
    contains(&desk.fails(2, "data make so3-mixture -n 5 --out q.npz"), &[".npz", ".parquet"]);
    contains(&desk.fails(2, "data check q.xlsx --manifold so3"), &[".xlsx", ".parquet"]);
    assert!(!desk.path("run").exists() && !desk.path("q.geojson").exists(), "something was written");
    assert_eq!(desk.json("data check several.npz --manifold so3 --array rotations")["rows"], 9);
    let euler = desk.json("data check euler_fixed.csv --manifold so3 --euler zyx");
    assert_eq!(euler["columns"], serde_json::json!(["qx", "qy", "qz", "qw"]));
}

#[test]
fn a_check_lists_bad_rows_and_says_how_to_go_on() {
    let desk = Desk::new();
    let bad = "id,lat,lon\na,1,2\nb,1,2\nc,x,4\nd,91,0\ne,5\nf,7,190\n";
    let good: String = (10..20).map(|i| format!("g,{i},{i}\n")).collect();
    desk.write("d.csv", &(bad.to_owned() + &good));
    let output = desk.command("data check d.csv").output().expect("program started");
    assert_eq!(output.status.code(), Some(3));
    let report = String::from_utf8(output.stdout).expect("UTF-8");
    contains(
        &report,
        &[
            "d.csv: 16 rows, 3 columns",
            "manifold sphere:2 (columns of latitude and longitude",
            "latitude, degrees",
            "by its name",
            "not used",
            "13 good points, 12 different: 1 (7.7 %) repeat",
            "3 bad rows",
            "line 4, column lat: `x` is not a number",
            "line 5, column lat",
            "line 6: 2 fields",
            "suggestion: 3 of 16 rows are bad",
            "next: mad fit d.csv --manifold sphere:2 --skip-bad-rows -o run",
        ],
    );
    contains(&String::from_utf8_lossy(&output.stderr), &["error: d.csv: 3 bad rows", "--skip-bad-rows"]);
    let report = desk.json("data check d.csv --skip-bad-rows");
    assert_eq!(
        (&report["bad_rows"]["total"], &report["rows"], &report["duplicates"]),
        (&3.into(), &16.into(), &1.into())
    );
    assert_eq!(report["next"], "mad fit d.csv --manifold sphere:2 --skip-bad-rows -o run");
    assert_eq!(report["column_reports"][1]["role"], "latitude, degrees");
    // Too few rows for the three parts: no command is offered.
    desk.write("few.csv", bad);
    let report = desk.json("data check few.csv --skip-bad-rows");
    assert!(report["next"].is_null(), "{report}");
    desk.fails(2, "data check d.csv --columns nope");
    // Nothing tells what two columns of numbers are: both ways are offered, none is taken.
    desk.write("n.csv", "1.5,2\n3,4.5\n");
    contains(
        &desk.ok("data check n.csv"),
        &["2 rows", "mad fit n.csv --manifold sphere:2 -o run", "mad fit n.csv --manifold euclid:2 -o run"],
    );
    assert_eq!(desk.json("data check n.csv")["manifold"], Value::Null);
}

#[test]
fn fit_skips_bad_rows_when_told_to() {
    let desk = Desk::new();
    let rows: String = (0..80).map(|i| format!("{},{},{}\n", i - 40, 4 * i - 160, i % 5)).collect();
    desk.write("d.csv", &format!("lat,lon,mag\n{rows}95,0,1\n1,2\nx,1,1\n3,4,strong\n"));
    let refused = desk.fails(3, &format!("fit d.csv --manifold sphere:2 --out run {TINY}"));
    contains(&refused, &["3 bad rows", "line 82", "line 83", "line 84", "--skip-bad-rows"]);
    let words = format!("fit d.csv --manifold sphere:2 --out run --skip-bad-rows --set condition=mag {TINY}");
    let output = desk.command(&words).output().expect("program started");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    contains(&said, &["skipped 4 of 84 rows", "2 not a number", "1 wrong number of fields", "line 82"]);
    let trained = desk.json(&words.replace("--out run", "--out again"));
    let rows = |part: &str| trained["rows"][part].as_u64().expect("a number of rows");
    assert_eq!(rows("train") + rows("validation") + rows("test"), 80);
}

#[test]
fn blanks_and_letters_of_all_alphabets_work_in_names() {
    let desk = Desk::new();
    let rows: String = (0..60).map(|i| format!("{},{}\n", i, 3 * i - 90)).collect();
    desk.write("Erdbeben 2024 – ü.csv", &format!("Breite ü,Länge ö\n{rows}"));
    let mut command = desk.command("data check --manifold sphere:2 --columns");
    let output = command.args(["Breite ü,Länge ö", "Erdbeben 2024 – ü.csv"]).output().expect("program started");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(output.status.success(), "{text}");
    contains(&text, &["next: mad fit 'Erdbeben 2024 – ü.csv' --manifold sphere:2 --columns 'Breite ü,Länge ö' -o run"]);
    let mut fit = desk.command(&format!("fit --manifold sphere:2 --out run {TINY} --columns"));
    assert!(
        fit.args(["Breite ü,Länge ö", "Erdbeben 2024 – ü.csv"]).output().expect("program started").status.success()
    );
    let mut sample = desk.command("sample run -n 5 --seed 1 --out");
    assert!(sample.arg("Proben ß.csv").output().expect("program started").status.success());
    assert!(desk.read("Proben ß.csv").starts_with("Breite ü,Länge ö\n"));
}

#[test]
fn one_row_and_equal_rows_are_refused_by_the_split() {
    let desk = Desk::new();
    desk.write("one.csv", "lat,lon\n1,2\n");
    desk.write("equal.csv", &format!("lat,lon\n{}", "1,2\n".repeat(50)));
    for file in ["one.csv", "equal.csv"] {
        let error = desk.fails(3, &format!("fit {file} --manifold sphere:2 --out run {TINY}"));
        contains(&error, &["cannot split", "1 distinct"]);
    }
    contains(&desk.ok("data check equal.csv"), &["all points are equal", "lat: every value is 1"]);
    // Fewer rows than a batch holds are drawn again and again.
    let rows: String = (0..30).map(|i| format!("{i},{}\n", 2 * i)).collect();
    desk.write("few.csv", &format!("lat,lon\n{rows}"));
    desk.ok(&format!("fit few.csv --manifold sphere:2 --out run {TINY}"));
    contains(&desk.ok("data check few.csv"), &["30 different points are few"]);
}

#[test]
fn files_of_other_programs_need_no_flags() {
    let desk = Desk::new();
    for name in ["scipy.csv", "mujoco.csv"] {
        made(&desk, name);
        assert_eq!(desk.json(&format!("data check {name}"))["manifold"], "so3", "{name}");
    }
    made(&desk, "ros.csv");
    assert_eq!(desk.json("data check ros.csv")["manifold"], "product(so3,euclid:3)");
}

/// Files that are not part of the repository: `MAD_DATA` names their folder.
mod with_data {
    use super::*;

    #[test]
    #[ignore = "needs MAD_DATA"]
    fn the_earth_files_need_no_flags() {
        let (desk, data) = (Desk::new(), common::data_dir());
        for (file, rows) in [("volerup", 827), ("quakes_all", 6120), ("flood", 4875), ("fire", 12809)] {
            let path = data.join(format!("earth/{file}.csv"));
            // The names of its columns say which set they belong to; a file without names has to be told.
            let flags = if file == "fire" { " --manifold sphere:2" } else { "" };
            let report = desk.json(&format!("data check {}{flags}", path.display()));
            assert_eq!((&report["rows"], &report["bad_rows"]), (&rows.into(), &Value::Null), "{file}");
            let fit = desk.json(&format!("fit {}{flags} --out {file} {TINY}", path.display()));
            assert_eq!(fit["manifold"], "sphere:2", "{file}");
        }
    }
}

/// 80 and 200 bytes per row and 100 MB are what `docs/data-files.md` promises.
#[cfg(target_os = "linux")]
#[test]
#[ignore = "slow: writes and reads a file of 200 MB"]
fn ten_million_rows_are_checked_and_fitted_in_bounded_memory() {
    use std::io::Write;
    let desk = Desk::new();
    let rows = 10_000_000u64;
    let mut file = std::io::BufWriter::new(std::fs::File::create(desk.path("large.csv")).expect("file"));
    writeln!(file, "lat,lon").expect("written");
    let mut state = 1u64;
    let mut next = || {
        // SplitMix64.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z >> 11) as f64 / (1u64 << 53) as f64
    };
    for _ in 0..rows {
        writeln!(file, "{:.5},{:.5}", 180.0 * next() - 90.0, 360.0 * next() - 180.0).expect("written");
    }
    file.into_inner().expect("flushed");
    let (report, peak) = peak_of(&desk, "data check large.csv");
    assert_eq!(report["rows"], rows);
    assert!(peak > 9 * 2 * rows && peak < 80 * rows + (100 << 20), "{peak} bytes");
    let (fit, peak) = peak_of(&desk, "fit large.csv --out run --steps 2 --seed 1 --set width=8 --set depth=1");
    assert_eq!(fit["steps"], 2);
    assert!(peak < 200 * rows + (100 << 20), "{peak} bytes");
}

/// What the program answers as JSON, and the most memory it had.
#[cfg(target_os = "linux")]
fn peak_of(desk: &Desk, words: &str) -> (Value, u64) {
    let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin("mad"))
        .args(words.split(' ').chain(["--json", "--quiet"]))
        .current_dir(desk.path(""))
        .stdout(std::fs::File::create(desk.path("answer.json")).expect("file"))
        .spawn()
        .expect("program started");
    // The system keeps the peak as long as the program runs.
    let status_file = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    let status = loop {
        let status = std::fs::read_to_string(&status_file).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let now = line.and_then(|text| text.split_whitespace().next()?.parse::<u64>().ok());
        peak = peak.max(now.unwrap_or(0) * 1024);
        if let Some(status) = child.try_wait().expect("program watched") {
            break status;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    };
    assert!(status.success(), "{words}");
    (serde_json::from_str(&desk.read("answer.json")).expect("JSON"), peak)
}
