//! What stands in a table: rows, names, units, and what is suggested and reported before anything is trained.

mod common;

use common::{Folder, cells, contains, data_dir, off_scipy, on, read_made, refused};
use mad_core::load::{check, load, load_skipping, suggest};
use mad_core::table::{
    AngleUnit, Cell, ColumnOptions, Columns, DataError, Layout, ReadOptions, Table, read, read_watched,
};
use proptest::prelude::*;

#[test]
fn rows_of_another_length_do_not_hide_other_bad_rows() {
    let folder = Folder::new();
    let table = folder.read("mixed.csv", "lat,lon\n1,2\n3\n4,NA\n5,6,7\n91,0\n").unwrap();
    let error = refused(&table, "sphere:2", &ColumnOptions::default(), &["mixed.csv: 4 bad rows"]).to_string();
    let places: Vec<_> = ["line 3: 1 fields", "line 4, column lon", "line 5: 3 fields", "line 6, column lat"]
        .iter()
        .map(|part| error.find(part).unwrap_or_else(|| panic!("`{part}` is missing in: {error}")))
        .collect();
    assert!(places.is_sorted(), "{error}");
    let only = folder.read("only.csv", "lat,lon\n3\n4,5,6\n").unwrap_err();
    assert!(matches!(only, DataError::Rows(rows) if rows.total == 2));
}

#[test]
fn bad_rows_are_skipped_and_counted_by_kind() {
    let folder = Folder::new();
    let text = "lat,lon,mag,kind\n1,2,5,a\n3\n4,NA,5,b\n91,0,5,b\n,1,5,b\n6,7,?,a\n8,9,4,a\n";
    let mut table = folder.read("mixed.csv", text).unwrap();
    let options = ColumnOptions::default();
    let (loaded, skipped) = load_skipping(&mut table, "sphere:2", &options, "mag").unwrap();
    let skipped = skipped.unwrap();
    assert_eq!((loaded.points.len(), table.len(), skipped.total), (2, 2, 5));
    assert_eq!([0, 1].map(|r| table.line(r)), [2, 8]);
    contains(&skipped.summary(), &["2 not a number", "1 blank cell", "1 wrong number of fields", "1 latitude off"]);
    assert_eq!(table.number(1, 2), Ok(4.0));
    // A value that only bad rows have is no level.
    let mut table = folder.read("levels.csv", "a,b\nx,1\ny,\nz,2\n").unwrap();
    let (loaded, _) = load_skipping(&mut table, "categorical", &options, "").unwrap();
    assert_eq!(loaded.manifold.spec(), "categorical:2,2");
    let mut hopeless = folder.read("bad.csv", "lat,lon\n91,0\n92,0\n").unwrap();
    assert!(load_skipping(&mut hopeless, "sphere:2", &options, "").is_err());
    let mut fine = folder.read("good.csv", "lat,lon\n9,0\n").unwrap();
    assert!(load_skipping(&mut fine, "sphere:2", &options, "").unwrap().1.is_none());
}

#[test]
fn quotes_without_an_end_are_refused_by_line() {
    let folder = Folder::new();
    let error = folder.refusal("q.csv", "lat,lon,note\n1,2,a\n3,4,\"b\n5,6,c\n", &["line 3", "quoted"]);
    assert!(matches!(error, DataError::UnclosedQuote { line: 3, .. }));
    let mut long = b"lat,lon,note\n1,2,\"".to_vec();
    long.extend(b"x\n".repeat(1 << 20));
    assert!(matches!(folder.refusal("l.csv", long, &["line 2"]), DataError::UnclosedQuote { line: 2, .. }));
    // A quote inside a field is a character like others.
    assert_eq!(folder.read("inch.csv", "lat,lon,size\n1,2,5\"\n3,4,6\"\n").unwrap().len(), 2);
}

#[test]
fn a_line_without_end_is_not_read_to_its_end() {
    let folder = Folder::new();
    let path = folder.write("long.csv", vec![b'1'; 64 << 20]);
    let mut seen = 0;
    let error = read_watched(&path, &ReadOptions::default(), &mut |done, total| {
        assert_eq!(total, Some(64 << 20));
        seen = done;
    })
    .unwrap_err();
    assert!(matches!(error, DataError::LineTooLong { line: 1, .. }), "{error}");
    assert!(seen < 4 << 20, "{seen} bytes were read");
}

#[test]
fn blanks_and_bars_separate_columns() {
    let folder = Folder::new();
    assert_eq!(cells(&folder.read("s.txt", "1 2.5\n -3   4 \n").unwrap(), &[0, 1]), [[1.0, 2.5], [-3.0, 4.0]]);
    assert_eq!(cells(&folder.read("b.txt", "lat|lon\n1|2\n").unwrap(), &[0, 1]), [[1.0, 2.0]]);
    let options = ReadOptions { delimiter: Some(b' '), ..Default::default() };
    let named = read(&folder.write("n.txt", "lat  lon\n1  2\n"), &options).unwrap();
    assert_eq!((named.header().unwrap().len(), named.number(0, 1)), (2, Ok(2.0)));
}

#[test]
fn blanks_separate_named_columns_of_numbers_and_no_others() {
    let folder = Folder::new();
    let places = folder.read("p.txt", "# made\nID  lat lon\n\na1 10.5   20\n# more\na2 -3 4e1\n a3 1 2 \n").unwrap();
    assert_eq!(places.header().unwrap(), ["ID", "lat", "lon"]);
    assert_eq!(cells(&places, &[1, 2]), [[10.5, 20.0], [-3.0, 40.0], [1.0, 2.0]]);
    assert_eq!([0, 1, 2].map(|r| places.line(r)), [4, 6, 7]);
    let rows: String = (0..40).map(|i| format!("{i}.5 1 2 {i} 0 0 0 1\n")).collect();
    let trajectory = folder.read("t.txt", format!("timestamp tx ty tz qx qy qz qw\n{rows}")).unwrap();
    assert_eq!((trajectory.width(), trajectory.len(), trajectory.line(39)), (8, 40, 41));
    assert_eq!(on(&trajectory, "product(so3,euclid:3)", &ColumnOptions::default()).points.len(), 40);
    // A short row is a bad row of such a table, not a sign against it.
    let short: String = (0..9).map(|i| format!("a {i} 2\n")).collect();
    let ragged = folder.read("r.txt", format!("ID lat lon\n{short}a 1\n")).unwrap();
    refused(&ragged, "sphere:2", &ColumnOptions::default(), &["line 11: 2 fields"]);
    // Values with blanks in them are one column.
    for text in ["home town\nNew York\nSan Jose\n", "town\nNew York\nParis\n", "street address\n12 Elm\n7 Oak\n"] {
        let table = folder.read("one.csv", text).unwrap();
        assert_eq!((table.width(), table.len()), (1, 2), "{text}");
    }
    // Bad lines among those looked at are named as ever.
    folder.refusal("zero.txt", b"ID lat lon\na 1 2\nb \x001 2\n", &["line 3", "zero"]);
    folder.refusal("cut.txt", b"ID lat lon\n\xc3\xa9 1 2\n\xe9 1 2\n", &["line 3", "UTF-8"]);
}

#[test]
fn numbers_in_the_place_of_names_are_asked_about() {
    let folder = Folder::new();
    for text in ["0,1\n1.5,2.5\n", "1,2,3\n0.1,0.2,0.3\n"] {
        let error = folder.refusal("frame.csv", text, &["line 1", "`header`"]);
        assert!(error.is_usage());
    }
    let path = folder.write("frame.csv", "0,1\n1.5,2.5\n");
    let with = |header| read(&path, &ReadOptions { header: Some(header), ..Default::default() }).unwrap().len();
    assert_eq!((with(true), with(false)), (1, 2));
    assert_eq!(folder.read("whole.csv", "0,1\n1,2\n2,5\n").unwrap().len(), 3);
}

#[test]
fn quaternions_are_found_by_the_names_that_programs_give_them() {
    let options = ColumnOptions::default();
    for name in ["scipy.csv", "ros.csv", "mujoco.csv"] {
        let loaded = on(&read_made(name).unwrap(), "so3", &options);
        assert!(off_scipy(&loaded.points) < 1e-15, "{name}");
    }
    let pose = on(&read_made("ros.csv").unwrap(), "product(so3,euclid:3)", &options);
    assert_eq!(pose.points.row(4)[4..], [4.5, 0.25, -1.0]);
    let mujoco = on(&read_made("mujoco.csv").unwrap(), "so3", &options).columns;
    assert_eq!(mujoco.encode_header(), ["qw", "qx", "qy", "qz"]);
    assert_eq!(mujoco.encode_row(&[0.0, 0.0, 0.0, 1.0])[0], Cell::Number(1.0));
}

#[test]
fn quaternion_columns_that_are_not_clear_are_asked_about() {
    let folder = Folder::new();
    for (header, parts) in [
        ("qx,qy,qz,other", ["qx, qy, qz are there", "qw is missing"]),
        ("a.orientation.x,a.orientation.y,a.orientation.w,t", ["a.orientation.x", "a.orientation.z is missing"]),
        ("qx,qy,qz,qw,rx,ry,rz,rw", ["qx, qy, qz, qw and rx, ry, rz, rw", "`columns`"]),
        ("qx,qy,qz,qw,q0,q1,q2,q3", ["qx, qy, qz, qw and q0, q1, q2, q3", "`columns`"]),
        ("q0,q1,q2,q3", ["q0, q1, q2, q3", "`quat_order`"]),
    ] {
        let row = vec!["0.5"; header.split(',').count()].join(",");
        let table = folder.read("q.csv", format!("{header}\n{row}\n")).unwrap();
        let error = refused(&table, "so3", &ColumnOptions::default(), &parts);
        assert!(error.is_usage() && error.to_string().contains("`quat_order`"), "{error}");
    }
    let table = folder.read("q.csv", "qx,qy,qz,qw,rx,ry,rz,rw\n1,0,0,0,0,1,0,0\n").unwrap();
    let chosen = ColumnOptions { columns: Some("rx,ry,rz,rw".into()), ..Default::default() };
    assert_eq!(on(&table, "so3", &chosen).points.row(0), [0.0, 1.0, 0.0, 0.0]);
    let both = on(&table, "product(so3,so3)", &ColumnOptions::default());
    assert_eq!(both.points.row(0), [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
}

#[test]
fn euler_angles_need_their_sequence_and_are_those_of_scipy() {
    let fixed = read_made("euler_fixed.csv").unwrap();
    let error = refused(&fixed, "so3", &ColumnOptions::default(), &["roll_deg, pitch_deg, yaw_deg", "`euler`"]);
    assert!(error.is_usage());
    for (file, sequence) in [("euler_fixed.csv", "zyx"), ("euler_turning.csv", "ZYX")] {
        let options = ColumnOptions { euler: Some(sequence.parse().unwrap()), ..Default::default() };
        let loaded = on(&read_made(file).unwrap(), "so3", &options);
        assert!(off_scipy(&loaded.points) < 1e-14, "{file}");
        assert!(loaded.notices.iter().any(|n| n.contains(sequence)), "{:?}", loaded.notices);
        assert_eq!(loaded.columns.encode_header(), ["qx", "qy", "qz", "qw"]);
        // What is written reads back with the same columns.
        let mut table = Table::text("samples", Some(loaded.columns.encode_header()), 4);
        for (i, x) in loaded.points.rows().enumerate() {
            table.push(i + 2, loaded.columns.encode_row(x).iter().map(Cell::to_string));
        }
        assert!(off_scipy(&loaded.columns.decode(&table).unwrap().points) < 1e-14);
    }
    let folder = Folder::new();
    let table = folder.read("bare.csv", "0.1,0.2,0.3\n").unwrap();
    let mut options = ColumnOptions { euler: Some("zxz".parse().unwrap()), ..Default::default() };
    assert!(refused(&table, "so3", &options, &["`angle_unit`"]).is_usage());
    options.angle_unit = Some(AngleUnit::Rad);
    // About fixed axes z, x, z: q = z(0.3) x(0.2) z(0.1), by hand.
    let (s, c) = (0.1f64.sin(), 0.1f64.cos());
    let expected = [s * 0.1f64.cos(), s * 0.1f64.sin(), c * 0.2f64.sin(), c * 0.2f64.cos()];
    let found = on(&table, "so3", &options).points;
    let off = found.row(0).iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(off < 1e-15, "{found:?} {expected:?}");
}

#[test]
fn units_that_look_wrong_are_told() {
    let folder = Folder::new();
    let rows = |scale: f64| (0..30).map(|i| format!("{},{}\n", 0.05 * scale * i as f64, scale)).collect::<String>();
    let notices = |text: String, spec: &str, unit| {
        let options = ColumnOptions { angle_unit: unit, ..Default::default() };
        on(&folder.read("a.csv", text).unwrap(), spec, &options).notices.join("\n")
    };
    let small = "are these radians?";
    contains(&notices(format!("lat,lon\n{}", rows(1.0)), "sphere:2", None), &[small]);
    assert!(!notices(format!("lat,lon\n{}", rows(40.0)), "sphere:2", None).contains(small));
    contains(&notices(format!("a,b\n{}", rows(1.0)), "torus:2", Some(AngleUnit::Deg)), &[small]);
    contains(&notices(format!("a,b\n{}", rows(100.0)), "torus:2", Some(AngleUnit::Rad)), &["are these degrees?"]);
    // A header can be declared, and rows that could not be read are no evidence.
    assert!(!notices(format!("lat,lon\n{}", rows(1.0)), "sphere:2", Some(AngleUnit::Rad)).contains(small));
    let blank: String = (0..30).map(|_| "NA,NA\n").collect();
    let report = check(&folder.read("b.csv", format!("lat,lon\n{blank}")).unwrap(), "sphere:2", &Default::default());
    assert!(!report.unwrap().notices.join("\n").contains(small));
}

#[test]
fn a_column_of_fifty_thousand_values_is_refused_with_its_cost() {
    let text: String = (0..50_000).map(|i| format!("person {i},x{}\n", i % 7)).collect();
    let table = Folder::new().read("names.csv", format!("name,kind\n{text}")).unwrap();
    let error = refused(&table, "categorical", &ColumnOptions::default(), &["`name`", "4096", "50000 values", "98 MB"]);
    assert!(matches!(error, DataError::TooManyLevels { .. }));
}

#[test]
fn manifolds_are_suggested_from_names_and_only_then_certain() {
    let folder = Folder::new();
    let first = |text: &str| {
        let found = suggest(&folder.read("a.csv", text).unwrap(), &ColumnOptions::default());
        found.into_iter().next().map(|s| (s.spec, s.certain)).unwrap()
    };
    let certain = |spec: &str| (spec.to_string(), true);
    let maybe = |spec: &str| (spec.to_string(), false);
    assert_eq!(first("id,LAT,Long\n1,2,3\n"), certain("sphere:2"));
    assert_eq!(first("qw,qx,qy,qz\n1,0,0,0\n"), certain("so3"));
    assert_eq!(first("tx,ty,tz,qw,qx,qy,qz\n1,2,3,1,0,0,0\n"), certain("product(so3,euclid:3)"));
    assert_eq!(first("phi_deg,psi_deg\n1,2\n"), certain("torus:2"));
    assert_eq!(first("colour,size\nred,big\nblue,small\nred,small\n"), certain("categorical"));
    assert_eq!(first("Latitude (deg),Longitude (deg)\n1,2\n"), certain("sphere:2"));
    assert_eq!(first("lon [deg],lat [deg]\n1,2\n"), certain("sphere:2"));
    assert_eq!(first("lat_rad,lon_rad\n1,2\n"), certain("sphere:2"));
    assert_eq!(first("phi,psi\n100,20\n"), maybe("torus:2"));
    assert_eq!(first("10.5,20.5\n"), maybe("sphere:2"));
    assert_eq!(first("height,weight\n180,75\n"), maybe("euclid:2"));
}

/// Suggestions for a file: manifold, options, reason, certain, complete.
fn suggested(content: &str, options: &ColumnOptions) -> Vec<(String, String, String, bool, bool)> {
    let found = suggest(&Folder::new().read("a.csv", content).unwrap(), options);
    found
        .into_iter()
        .map(|s| (s.spec.clone(), s.settings_in_words().replace("setting ", ""), s.reason, s.certain, s.complete))
        .collect()
}

#[test]
fn names_and_free_text_are_not_certain_categories() {
    let options = ColumnOptions::default();
    let ids: String = (0..40).map(|i| format!("person {i}\n")).collect();
    let found = suggested(&format!("name\n{ids}"), &options);
    assert_eq!((&found[0].0[..], found[0].3), ("categorical", false));
    contains(&found[0].2, &["nearly every value differs"]);
    let mixed: String = (0..40).map(|i| format!("p{i},{}\n", ["red", "blue"][i % 2])).collect();
    let found = suggested(&format!("name,colour\n{mixed}"), &options);
    assert_eq!((&found[0].0[..], &found[0].1[..], found[0].3), ("categorical", "`columns` colour", false));
}

#[test]
fn euler_angles_suggest_rotations_with_a_whole_command() {
    let options = ColumnOptions::default();
    for (content, settings) in [
        ("roll,pitch,yaw\n170,-20,30\n", "`euler` ZYX `angle_unit` deg"),
        ("t,Roll,Pitch,Yaw\n9,1.5,-0.2,3\n", "`euler` ZYX `angle_unit` rad"),
        ("roll_deg,pitch_deg,yaw_deg\n170,-20,30\n", "`euler` ZYX"),
        ("yaw (rad),pitch (rad),roll (rad)\n1,-0.2,3\n", "`euler` ZYX"),
    ] {
        let found = suggested(content, &options);
        assert_eq!((&found[0].0[..], &found[0].1[..]), ("so3", settings), "{content}");
        assert!(found.iter().all(|s| s.0 == "so3" && !s.3 && s.4), "{found:?}");
        assert_eq!(found[1].1, settings.replace("ZYX", "zyx"));
        // The words of the command are options under which the file is read.
        let unit = settings
            .contains("`angle_unit`")
            .then(|| if settings.ends_with("deg") { AngleUnit::Deg } else { AngleUnit::Rad });
        let euler = Some("ZYX".parse().unwrap());
        on(
            &Folder::new().read("a.csv", content).unwrap(),
            "so3",
            &ColumnOptions { euler, angle_unit: unit, ..Default::default() },
        );
    }
    let pose = suggested("x,y,z,roll,pitch,yaw\n1,2,3,170,-20,30\n", &options);
    assert_eq!((&pose[0].0[..], &pose[0].1[..]), ("product(so3,euclid:3)", "`euler` ZYX `angle_unit` deg"));
    // With the sequence given nothing is open.
    let given = ColumnOptions { euler: Some("zyx".parse().unwrap()), ..Default::default() };
    let found = suggested("roll_deg,pitch_deg,yaw_deg\n170,-20,30\n", &given);
    assert_eq!((&found[0].0[..], &found[0].1[..], found[0].3), ("so3", "", true));
}

#[test]
fn questions_about_quaternions_are_shown_without_being_asked_for() {
    for header in ["q0,q1,q2,q3", "qx,qy,qw,other", "qx,qy,qz,qw,rx,ry,rz,rw"] {
        let row = vec!["0.5"; header.split(',').count()].join(",");
        let content = format!("{header}\n{row}\n");
        let found = suggested(&content, &ColumnOptions::default());
        let question = refused(&Folder::new().read("a.csv", &content).unwrap(), "so3", &Default::default(), &[]);
        let question = question.to_string();
        let (_, question) = question.split_once("a.csv: ").unwrap();
        assert_eq!((&found[0].0[..], found[0].3), ("so3", false), "{header}");
        contains(&found[0].2, &[question]);
        // Only an order can be proposed; columns cannot.
        assert_eq!(found[0].4, header.starts_with("q0"), "{header}");
        assert_eq!(found[0].1, if found[0].4 { "`quat_order` wxyz" } else { "" });
        assert!(found.last().unwrap().0.starts_with("euclid:"), "{found:?}");
    }
    // Four columns chosen by the user are not certain to be a rotation.
    let chosen = ColumnOptions { columns: Some("a,b,c,d".into()), ..Default::default() };
    assert_eq!(suggested("a,b,c,d,e\n1,2,3,4,5\n", &chosen)[0].0, "euclid:4");
}

#[test]
fn columns_that_go_around_suggest_angles_in_degrees() {
    let rows: String = (0..60).map(|i| format!("p{},{},{},{i}000\n", i % 4, 6 * i - 180, (7 * i) % 360)).collect();
    let found = suggested(&rows, &ColumnOptions::default());
    let specs: Vec<_> = found.iter().map(|s| (&s.0[..], &s.1[..])).collect();
    assert_eq!(specs, [("torus:2", "`columns` 2,3 `angle_unit` deg"), ("euclid:3", "`columns` 2,3,4")]);
    // Heights and weights stay within one turn, too, but do not go around it.
    let found = suggested("height,weight\n180,75\n150,50\n", &ColumnOptions::default());
    assert_eq!(found.iter().map(|s| &s.0[..]).collect::<Vec<_>>(), ["euclid:2"]);
    // Options that the user has given are not given again.
    let given = ColumnOptions { columns: Some("2-3".into()), angle_unit: Some(AngleUnit::Deg), ..Default::default() };
    assert_eq!(suggested(&rows, &given)[0].1, "");
}

/// Files that are not part of the repository: `MAD_DATA` names their folder.
mod with_data {
    use super::*;

    #[test]
    #[ignore = "needs MAD_DATA"]
    fn torsions_of_rna_suggest_angles_in_degrees() {
        let path = data_dir().join("torus/rna.tsv");
        let found = suggest(&read(&path, &ReadOptions::default()).unwrap(), &ColumnOptions::default());
        let torus = found.iter().find(|s| s.spec == "torus:7").unwrap_or_else(|| panic!("{found:?}"));
        let settings = torus.settings_in_words().replace("setting ", "");
        assert_eq!((&settings[..], torus.certain), ("`columns` 3,4,5,6,7,8,9 `angle_unit` deg", false));
    }
}

#[test]
fn numbers_beside_text_may_be_codes() {
    let rows: String =
        (0..40).map(|i| format!("{},{},{}\n", ["cat", "dog"][i % 2], i % 3, ["s", "m"][i / 20])).collect();
    let found = suggested(&format!("animal,code,size\n{rows}"), &ColumnOptions::default());
    let specs: Vec<_> = found.iter().map(|s| (&s.0[..], &s.1[..])).collect();
    assert_eq!(specs, [("categorical", ""), ("euclid:1", "`columns` 2")]);
}

#[test]
fn a_report_says_whether_a_run_can_be_made() {
    let folder = Folder::new();
    let report = |name: &str, text: &str, spec: &str| {
        let report = check(&folder.read(name, text).unwrap(), spec, &ColumnOptions::default()).unwrap();
        (report.can_fit, report.suggestions.join("\n"))
    };
    let good: String = (0..12).map(|i| format!("{i},{i}\n")).collect();
    assert!(report("good.csv", &format!("lat,lon\n{good}"), "sphere:2").0);
    let (can, advice) = report("some.csv", &format!("lat,lon\n{good}95,0\n"), "sphere:2");
    assert!(can, "{advice}");
    contains(&advice, &["1 of 13 rows are bad", "`skip_bad_rows`"]);
    let (can, advice) = report("none.csv", "lat,lon\n95,0\n96,200\n", "sphere:2");
    assert!(!can && !advice.contains("`skip_bad_rows`"), "{advice}");
    contains(&advice, &["2 of 2 rows are bad", "none is good"]);
    let (can, advice) = report("few.csv", "lat,lon\n1,2\n3,4\n5,6\n", "sphere:2");
    assert!(!can && !advice.contains("split = random"), "{advice}");
    contains(&advice, &["cannot split 3 rows", "give more rows"]);
    let equal: String = (0..40).map(|i| format!("{},2\n", i % 3)).collect();
    let (can, advice) = report("equal.csv", &format!("lat,lon\n{equal}"), "sphere:2");
    assert!(!can, "{advice}");
    contains(&advice, &["cannot split 40 rows (3 distinct)", "`split = random`"]);
    // Equal rows of categories are the data.
    let words: String = (0..40).map(|i| format!("{}\n", ["a", "b"][i % 2])).collect();
    assert!(report("words.csv", &format!("word\n{words}"), "categorical").0);
}

#[test]
fn a_report_tells_columns_ranges_repeats_and_bad_rows() {
    let folder = Folder::new();
    let text = "id,lat,lon,depth,place\na,10,20,5,x\nb,10,20,NA,x\nc,-80,190,7,y\nd,95,0,8,y\ne,1\n";
    let table = folder.read("r.csv", text).unwrap();
    let report = check(&table, "sphere:2", &ColumnOptions::default()).unwrap();
    assert_eq!((report.rows, report.duplicates.rows, report.duplicates.distinct), (5, 3, 2));
    let [id, lat, _, depth, place] = &report.columns[..] else { panic!("{:?}", report.columns) };
    assert_eq!((lat.role.as_deref(), lat.why), (Some("latitude, degrees"), Some("by its name")));
    assert_eq!((lat.min, lat.max, lat.filled), (Some(-80.0), Some(95.0), 4));
    assert_eq!((id.role.as_deref(), id.kind, id.values), (None, "text", Some(4)));
    assert_eq!((depth.missing, depth.filled), (1, 3));
    assert_eq!(place.common[0], ("x".to_string(), 2));
    let bad = report.bad_rows.unwrap();
    assert_eq!(bad.total, 2);
    contains(&bad.first.join("\n"), &["line 5, column lat", "line 6: 2 fields"]);
    contains(&report.suggestions.join("\n"), &["`skip_bad_rows`", "split"]);
    let clean = folder.read("c.csv", "lat,lon\n1,2\n1,3\n").unwrap();
    let report = check(&clean, "sphere:2", &ColumnOptions::default()).unwrap();
    assert!(report.bad_rows.is_none());
    contains(&report.notices.join("\n"), &["lat: every value is 1"]);
}

proptest! {
    #[test]
    fn any_rotation_comes_back_from_its_matrix_and_its_quaternion(
        axis in prop::sample::select(vec![[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.6, 0.8, 0.0], [-0.48, 0.6, 0.64]]),
        angle in prop_oneof![Just(0.0), Just(std::f64::consts::PI), Just(std::f64::consts::FRAC_PI_2), -3.2f64..3.2],
    ) {
        let (s, c) = (angle / 2.0f64).sin_cos();
        let q = [axis[0] * s, axis[1] * s, axis[2] * s, c];
        let [x, y, z, w] = q;
        let matrix = [
            1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w),
            2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w),
            2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y),
        ];
        for (width, data) in [(9, matrix.to_vec()), (4, q.to_vec())] {
            let table = Table::numbers("made", None, width, data.clone());
            let columns = Columns::find(&Layout::Rotation, &table, &ColumnOptions::default()).unwrap();
            let point = columns.decode(&table).unwrap().points;
            let same: f64 = point.row(0).iter().zip(q).map(|(a, b)| a * b).sum();
            prop_assert!((same.abs() - 1.0).abs() < 1e-12, "{point:?} {q:?}");
            let back: Vec<f64> = columns.encode_row(point.row(0)).iter()
                .map(|c| if let Cell::Number(x) = c { *x } else { f64::NAN }).collect();
            let sign = if width == 4 { back.iter().zip(&data).map(|(a, b)| a * b).sum::<f64>().signum() } else { 1.0 };
            prop_assert!(back.iter().zip(&data).all(|(a, b)| (sign * a - b).abs() < 1e-12), "{back:?} {data:?}");
        }
    }

    #[test]
    fn angles_are_equal_up_to_whole_turns(turns in -1_000_000i64..1_000_000, angle in -179.0f64..180.0) {
        let text = format!("a_deg\n{angle}\n{}\n", angle + 360.0 * turns as f64);
        let table = Folder::new().read("a.csv", text).unwrap();
        let loaded = on(&table, "torus:1", &ColumnOptions::default());
        let (a, b) = (loaded.points.row(0), loaded.points.row(1));
        // The sum of angle and turns is itself rounded, to 2⁻⁵³ of at most 3.6e8 degrees.
        prop_assert!((a[0] - b[0]).hypot(a[1] - b[1]) < 1e-9, "{a:?} {b:?}");
        let wrapped = loaded.notices.iter().any(|n| n.contains("wrapped"));
        prop_assert_eq!(wrapped, angle + 360.0 * turns as f64 > 360.0 || angle + 360.0 * (turns as f64) < -180.0);
    }

    #[test]
    fn no_text_makes_the_reader_panic(bytes in prop::collection::vec(
        prop_oneof![Just(b','), Just(b'\n'), Just(b'\r'), Just(b'"'), Just(b'#'), Just(b'1'), Just(b'.'), any::<u8>()], 0..200)
    ) {
        let folder = Folder::new();
        let _ = folder.read("t.csv", &bytes).map(|table| {
            for row in 0..table.len() {
                assert_eq!(table.row(row).len(), table.width());
                assert!(table.line(row) <= 201);
            }
            let _ = load(&table, "sphere:2", &ColumnOptions::default());
            let _ = load(&table, "categorical", &ColumnOptions::default());
        });
        let mut packed = b"\x93NUMPY\x01\x00".to_vec();
        packed.extend(&bytes);
        let _ = folder.read("t.npy", &packed);
        let _ = folder.read("t.npz", &bytes);
    }
}
