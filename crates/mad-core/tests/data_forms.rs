//! The forms in which people keep their data: pose matrices, rotation vectors, GeoJSON, and numbers written in other ways.

mod common;
use common::{Folder, contains, npy, on, refused};
use mad_core::load::{Loaded, Suggestion, check, condition_columns, load_skipping, suggest, unusable};
use mad_core::table::{
    AngleUnit, Cell, ColumnOptions, DataError, ReadOptions, RotationForm, RowFault, Table, read, writer_like,
};
use std::f64::consts::FRAC_PI_2;

const POSE: &str = "product(so3,euclid:3)";

/// Row i of pose matrices: a turn about z, and a position.
fn pose(i: usize) -> [f64; 16] {
    let (sin, cos) = (0.1 * i as f64).sin_cos();
    let t = [i as f64, -2.0, 0.5 * i as f64];
    [cos, -sin, 0.0, t[0], sin, cos, 0.0, t[1], 0.0, 0.0, 1.0, t[2], 0.0, 0.0, 0.0, 1.0]
}

fn text(rows: impl IntoIterator<Item = Vec<f64>>, delimiter: &str) -> String {
    let line = |row: Vec<f64>| row.iter().map(f64::to_string).collect::<Vec<_>>().join(delimiter) + "\n";
    rows.into_iter().map(line).collect()
}

fn poses(columns: usize, delimiter: &str) -> String {
    text((0..30).map(|i| pose(i)[..columns].to_vec()), delimiter)
}

/// The points as a text file in the style of their file, and its content.
fn written(folder: &Folder, loaded: &Loaded, name: &str) -> String {
    let path = folder.path(name);
    let columns = &loaded.columns;
    let mut file = writer_like(&path, &columns.encode_header(), columns.style()).unwrap();
    file.write(&columns.encode(&loaded.points)).unwrap();
    file.finish().unwrap();
    String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned()
}

fn first(table: &Table) -> Option<Suggestion> {
    suggest(table, &ColumnOptions::default()).into_iter().next()
}

fn near(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12)
}

#[test]
fn pose_matrices_are_read_and_written_as_they_were() {
    let folder = Folder::new();
    let named: Vec<String> = (0..16).map(|i| format!("m{}{}", i / 4, i % 4)).collect();
    let mut all = Vec::new();
    for (name, content) in [
        ("kitti.txt", poses(12, " ")),
        ("four.csv", poses(16, ",")),
        ("named.csv", format!("{}\n{}", named.join(","), poses(16, ","))),
    ] {
        let table = folder.read(name, content).unwrap();
        let suggestion = first(&table).unwrap();
        assert_eq!((suggestion.spec.as_str(), suggestion.certain), (POSE, true), "{name}");
        let loaded = on(&table, POSE, &ColumnOptions::default());
        let back = written(&folder, &loaded, &format!("back-{name}"));
        let again = folder.read(&format!("again-{name}"), &back).unwrap();
        assert_eq!((again.header().is_some(), again.width()), (name == "named.csv", table.width()), "{back}");
        assert!(
            near(on(&again, POSE, &ColumnOptions::default()).points.as_slice(), loaded.points.as_slice()),
            "{name}"
        );
        all.push(loaded.points);
    }
    assert!(all.iter().all(|points| *points == all[0]));
    assert!(near(&all[0].row(10)[4..], &[10.0, -2.0, 5.0]) && near(&all[0].row(10)[..3], &[0.0, 0.0, 0.5f64.sin()]));
    // The position may come first in the product.
    let kitti = folder.read("kitti.txt", poses(12, " ")).unwrap();
    let turned = on(&kitti, "product(euclid:3,so3)", &ColumnOptions::default());
    assert_eq!(turned.points.row(10)[..3], all[0].row(10)[4..]);
    assert!(written(&folder, &turned, "k.txt").lines().next().unwrap().starts_with("1 0 0 0 0 1 0 -2 0 0 1 0"));
}

#[test]
fn arrays_of_matrices_keep_their_shape() {
    let folder = Folder::new();
    for (shape, columns) in [("(30, 4, 4)", 16), ("(30, 3, 4)", 12)] {
        let body: Vec<u8> = (0..30).flat_map(|i| pose(i)[..columns].to_vec()).flat_map(f64::to_le_bytes).collect();
        let table = folder.read("poses.npy", npy("'<f8'", "False", shape, &body)).unwrap();
        assert_eq!(first(&table).map(|s| (s.spec, s.certain)), Some((POSE.into(), true)));
        let loaded = on(&table, POSE, &ColumnOptions::default());
        assert_eq!(loaded.points.row(3)[4..], [3.0, -2.0, 1.5]);
        let back = written(&folder, &loaded, "back.npy");
        assert!(back.contains(&format!("'shape': {shape}")), "{back}");
    }
    let body: Vec<u8> = (0..2).flat_map(|_| [1., 0., 0., 0., 1., 0., 0., 0., 1.]).flat_map(f64::to_le_bytes).collect();
    let table = folder.read("turns.npy", npy("'<f8'", "False", "(2, 3, 3)", &body)).unwrap();
    assert!(written(&folder, &on(&table, "so3", &ColumnOptions::default()), "t.npy").contains("'shape': (2, 3, 3)"));
    folder.refusal("odd.npy", npy("'<f8'", "False", "(1, 4, 3)", &[0; 96]), &["(rows, 4, 4)"]);
}

#[test]
fn matrices_that_are_no_poses_are_bad_rows_with_their_place() {
    let folder = Folder::new();
    let spoilt = |entry: usize, value: f64| {
        let rows = (0..30).map(|i| {
            let mut row = pose(i).to_vec();
            if i == 4 {
                row[entry] = value;
            }
            row
        });
        folder.read("p.csv", text(rows, ",")).unwrap()
    };
    let options = ColumnOptions::default();
    let error = refused(&spoilt(12, 0.5), POSE, &options, &["line 5", "last row", "0.5 0 0 1"]);
    assert!(matches!(error, DataError::Rows(rows) if matches!(rows.listed[0].fault, RowFault::LastRow(_))));
    refused(&spoilt(0, 2.0), POSE, &options, &["line 5", "nearest rotation"]);
    refused(&spoilt(10, -1.0), POSE, &options, &["line 5", "determinant"]);
    refused(&spoilt(10, f64::NAN), POSE, &options, &["line 5", "NaN"]);
    // Numbers that are no poses are not proposed as such.
    let other = folder.read("other.csv", text((0..30).map(|i| vec![i as f64 + 0.5; 16]), ",")).unwrap();
    assert_eq!(first(&other).unwrap().spec, "euclid:16");
}

#[test]
fn rotation_vectors_are_not_taken_for_euler_angles() {
    let folder = Folder::new();
    let table = folder.read("v.csv", "rx,ry,rz\n1.2,-0.9,1.7\n0,0,1.5\n").unwrap();
    let question =
        refused(&table, "so3", &ColumnOptions::default(), &["rx, ry, rz", "rotation vector", "Euler angles"]);
    assert!(question.is_usage());
    let rotvec = ColumnOptions { rotation: Some(RotationForm::Rotvec), ..Default::default() };
    let loaded = on(&table, "so3", &rotvec);
    let angle = (1.2f64 * 1.2 + 0.9 * 0.9 + 1.7 * 1.7).sqrt();
    let q = loaded.points.row(0);
    assert!((q[3] - (angle / 2.0).cos()).abs() < 1e-15 && (q[0] - 1.2 / angle * (angle / 2.0).sin()).abs() < 1e-15);
    contains(&loaded.notices.join("\n"), &["rx, ry, rz: rotation vector", "radians"]);
    let Cell::Number(back) = loaded.columns.encode_row(q)[1] else { panic!("a number") };
    assert!((back + 0.9).abs() < 1e-12 && loaded.columns.encode_header() == ["rx", "ry", "rz"]);
    // The reading as Euler angles is another rotation altogether.
    let euler =
        ColumnOptions { euler: Some("ZYX".parse().unwrap()), angle_unit: Some(AngleUnit::Rad), ..Default::default() };
    let other = on(&table, "so3", &euler);
    let cosine: f64 = q.iter().zip(other.points.row(0)).map(|(a, b)| a * b).sum();
    assert!(2.0 * cosine.abs().acos() > 0.5, "{cosine}");
    // Both are proposed, and the more likely one first.
    let asked = |s: Suggestion| s.settings_in_words().replace("setting ", "");
    let specs: Vec<String> = suggest(&table, &Default::default()).into_iter().map(asked).collect();
    assert!(
        specs[0] == "`rotation` rotvec" && specs.iter().any(|settings| settings.contains("`euler` ZYX")),
        "{specs:?}"
    );
    let degrees = folder.read("d.csv", "rx,ry,rz\n170,-20,30\n").unwrap();
    assert_eq!(asked(first(&degrees).unwrap()), "`euler` ZYX `angle_unit` deg");
    refused(&table, "so3", &ColumnOptions { rotation: Some(RotationForm::Rotvec), ..euler }, &["`euler` ZYX"]);
}

#[test]
fn rotation_vectors_with_telling_names_need_no_option() {
    let folder = Folder::new();
    for header in
        ["rotvec_x,rotvec_y,rotvec_z", "axis_angle_x,axis_angle_y,axis_angle_z", "rvec0,rvec1,rvec2", "rv.x,rv.y,rv.z"]
    {
        let table = folder.read("v.csv", format!("{header}\n0,0,{FRAC_PI_2}\n")).unwrap();
        let loaded = on(&table, "so3", &ColumnOptions::default());
        assert!(near(loaded.points.row(0), &[0.0, 0.0, 0.5f64.sqrt(), 0.5f64.sqrt()]), "{header}");
        assert_eq!(first(&table).map(|s| (s.spec, s.certain)), Some(("so3".into(), true)), "{header}");
    }
    let degrees = folder.read("d.csv", "x,y,z,rotvec_x_deg,rotvec_y_deg,rotvec_z_deg\n1,2,3,0,0,90\n").unwrap();
    let loaded = on(&degrees, POSE, &ColumnOptions::default());
    assert!(near(loaded.points.row(0), &[0.0, 0.0, 0.5f64.sqrt(), 0.5f64.sqrt(), 1.0, 2.0, 3.0]));
    assert_eq!(first(&degrees).unwrap().spec, POSE);
    let quaternions = folder.read("q.csv", "qx,qy,qz,qw\n0,0,0,1\n").unwrap();
    let rotvec = ColumnOptions { rotation: Some(RotationForm::Rotvec), ..Default::default() };
    assert!(refused(&quaternions, "so3", &rotvec, &["`rotation` rotvec", "quaternion"]).is_usage());
}

#[test]
fn points_of_geojson_are_rows_with_their_properties() {
    let folder = Folder::new();
    let content = r#"{"features": [
        {"type": "Feature", "properties": {"mag": 5.5, "place": "Ñ \u00e9", "tags": [1]}, "geometry":
            {"coordinates": [179.5, -17.25, 10], "type": "Point"}, "id": 7},
        {"type": "Feature", "geometry": {"type": "MultiPoint", "coordinates": [[1, 2], [3, 4]]},
            "properties": {"mag": null, "lat": 99, "deep": true}},
        {"type": "Feature", "geometry": {"type": "Point", "coordinates": [-5, 6]}, "properties": null}
    ], "type": "FeatureCollection", "crs": {"x": [[[1]]]}}"#;
    let table = folder.read("p.geojson", format!("\u{feff}{content}")).unwrap();
    assert_eq!(table.header().unwrap(), ["lon", "lat", "altitude", "mag", "place", "deep"]);
    assert_eq!((table.len(), table.cell(0, 4), table.cell(1, 5)), (4, "Ñ é".into(), "true".into()));
    assert_eq!([0, 1, 2, 3].map(|r| table.line(r)), [1, 2, 2, 3]);
    assert_eq!((table.number(0, 0), table.number(0, 1), table.number(0, 2)), (Ok(179.5), Ok(-17.25), Ok(10.0)));
    assert_eq!((table.number(2, 1), table.number(1, 3)), (Ok(4.0), Err(RowFault::Blank)));
    contains(&table.notices().join("\n"), &["tags", "left out: lat"]);
    assert_eq!(first(&table).map(|s| (s.spec, s.certain)), Some(("sphere:2".into(), true)));
    // One feature per line, and a bare geometry.
    let lines = "{\"type\":\"Feature\",\"geometry\":{\"type\":\"Point\",\"coordinates\":[1,2]},\"properties\":{}}\n\
                 {\"type\":\"Point\",\"coordinates\":[3,4]}\r\n";
    let table = folder.read("p.geojsonl", lines).unwrap();
    assert_eq!((table.len(), table.number(1, 0), table.number(1, 1)), (2, Ok(3.0), Ok(4.0)));
    // Standard input and files without an ending are known by their first byte.
    assert_eq!(folder.read("points", lines).unwrap().len(), 2);
}

#[test]
fn other_geometries_are_counted_by_kind() {
    let folder = Folder::new();
    let feature = |kind: &str, coordinates: &str| {
        format!(r#"{{"type":"Feature","geometry":{{"type":"{kind}","coordinates":{coordinates}}},"properties":{{}}}}"#)
    };
    let point = feature("Point", "[1,2]");
    let polygon = feature("Polygon", "[[[0,0],[1,0],[1,1],[0,0]]]");
    let mut features = vec![polygon.clone(); 9];
    features.push(feature("LineString", "[[0,0],[1,1]]"));
    let collection =
        |features: &[String]| format!(r#"{{"type":"FeatureCollection","features":[{}]}}"#, features.join(","));
    folder.refusal("shapes.geojson", collection(&features), &["10 bad rows", "Polygon", "LineString", "feature 1"]);
    features.push(point.clone());
    let mut mixed = folder.read("mixed.geojson", collection(&features)).unwrap();
    let parts = ["10 bad rows", "10 rows: geometry other than points, first at feature 1"];
    refused(&mixed, "sphere:2", &ColumnOptions::default(), &parts);
    let (loaded, skipped) = load_skipping(&mut mixed, "sphere:2", &ColumnOptions::default(), "").unwrap();
    assert_eq!((loaded.points.len(), skipped.unwrap().total), (1, 10));
    // A feature without a place, and positions that are none.
    let nowhere = r#"{"type":"Feature","geometry":null,"properties":{"a":1}}"#.to_string();
    let odd =
        [point.clone(), nowhere, feature("Point", "[1]"), feature("Point", "[[1,2]]"), feature("MultiPoint", "[1,2]")];
    let table = folder.read("odd.geojson", collection(&odd)).unwrap();
    refused(
        &table,
        "sphere:2",
        &ColumnOptions::default(),
        &["feature 2", "blank", "feature 3: the position", "feature 5"],
    );
}

#[test]
fn damaged_geojson_is_refused_with_its_place() {
    let folder = Folder::new();
    let deep = format!(r#"{{"type":"Point","coordinates":{}1{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
    let deep_property = format!(
        r#"{{"type":"Feature","geometry":null,"properties":{{"a":{}{}}}}}"#,
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    for (content, parts) in [
        ("{\"type\":\"FeatureCollection\",\n\"features\":[{]}", &["GeoJSON", "line 2"][..]),
        ("{\"type\":\"FeatureCollection\"}", &["without features"]),
        ("{\"a\":1}", &["is this GeoJSON"]),
        ("[1,2]", &["FeatureCollection"]),
        ("{\"type\":\"Point\",\"coordinates\":[1e999,2]}", &["number out of range"]),
        ("{\"type\":\"Point\",\"coordinates\":[1,2]} x", &["line 1"]),
        (&deep, &["recursion limit"]),
        (&deep_property, &["bad GeoJSON"]),
    ] {
        let text = match folder.read("bad.geojson", content) {
            Err(error) => error.to_string(),
            // Values that are not used may be skipped at any depth without recursion.
            Ok(_) if content == deep_property => continue,
            Ok(table) => panic!("{content:.60}: {table:?}"),
        };
        contains(&text, parts);
    }
    assert!(matches!(folder.read("empty.geojson", ""), Err(DataError::Empty { .. })));
    assert!(matches!(
        folder.read("none.geojson", "{\"type\":\"FeatureCollection\",\"features\":[]}"),
        Err(DataError::Empty { .. })
    ));
    let wide: String = (0..1100).map(|i| format!("\"p{i}\":1,")).collect();
    let wide = format!(r#"{{"type":"Feature","geometry":null,"properties":{{{}"z":1}}}}"#, wide);
    folder.refusal("wide.geojson", wide, &["1000 different properties"]);
    // Rows times properties, not bytes, take memory.
    let names: String = (0..900).map(|i| format!("\"p{i}\":1,")).collect();
    let mut sparse = format!("{{\"type\":\"Feature\",\"geometry\":null,\"properties\":{{{names}\"z\":1}}}}\n");
    sparse.push_str(&"{\"type\":\"Feature\"}\n".repeat(40_000));
    let small = ReadOptions { max_bytes: 10 << 20, ..Default::default() };
    let path = folder.write("sparse.geojson", sparse);
    assert!(matches!(read(&path, &small), Err(DataError::TooLarge { .. })));
}

#[test]
fn decimal_commas_are_read_and_written_back() {
    let folder = Folder::new();
    let plain =
        on(&folder.read("p.csv", "lat,lon\n48.137,11.575\n-3,40.5\n").unwrap(), "sphere:2", &Default::default());
    for content in [
        "lat;lon\n48,137;11,575\n-3;40,5\n",
        "\u{feff}lat;lon\r\n48,137;11,575\r\n-3,0;40,5\r\n",
        "lat\tlon\n48,137\t11,575\n-3\t40,5\n",
        "lat,lon\n\"48,137\",\"11,575\"\n-3,\"40,5\"\n",
        "48,137;11,575\n-3;40,5\n",
    ] {
        let loaded = on(&folder.read("c.csv", content).unwrap(), "sphere:2", &Default::default());
        assert_eq!(loaded.points, plain.points, "{content}");
        contains(&loaded.notices.join("\n"), &["decimal commas"]);
    }
    let table = folder.read("c.csv", "lat;lon\n48,25;11,5\n-3;40,5\n").unwrap();
    let back = written(&folder, &on(&table, "sphere:2", &Default::default()), "back.csv");
    assert!(back.starts_with("lat;lon\n48,2") && back.lines().nth(1).unwrap().contains(";11,"), "{back}");
    // Thousands, and both marks in one column, are never guessed.
    let unclear = folder.read("u.csv", "a,b\n\"1,500\",2\n\"2,750\",3\n").unwrap();
    refused(
        &unclear,
        "euclid:2",
        &ColumnOptions { columns: Some("a,b".into()), ..Default::default() },
        &["`1,500`", "thousands"],
    );
    let mixed = folder.read("m.csv", "a;b\n1,5;2\n1.500,5;3\n1.500;4\n2,5;1\n").unwrap();
    refused(
        &mixed,
        "euclid:2",
        &ColumnOptions { columns: Some("a,b".into()), ..Default::default() },
        &["line 4", "`1.500`"],
    );
    // Integers with points between thousands in a file of decimal commas are not one and a half.
    let thousands = folder.read("t.csv", "a;b\n1,5;1.500\n2,5;2.750\n3,5;1\n").unwrap();
    let both = ColumnOptions { columns: Some("a,b".into()), ..Default::default() };
    refused(&thousands, "euclid:2", &both, &["line 2, column b", "`1.500`"]);
}

#[test]
fn degrees_minutes_and_hemispheres_are_decimal_degrees() {
    let folder = Folder::new();
    let plain = on(&folder.read("p.csv", "lat,lon\n19.25,-155.5\n-0.5,30\n").unwrap(), "sphere:2", &Default::default());
    for content in [
        "lat,lon\n19.25N,155.5W\n0.5S,30E\n",
        "lat,lon\n19°15'N,155°30'W\n0°30'S,30°E\n",
        "lat,lon\nN 19 15,W 155 30.0\nS 0 30,E 30 0\n",
        "lat;lon\n19,25 N;155,5 W\n0,5 S;30 E\n",
        "lat,lon\n19 15 0,-155 30\n-0 30,30\n",
        "lat,lon\n\"19°15'00\"\"N\",\"155°30'00\"\"W\"\n\"0°30'00\"\"S\",30\n",
        "19.25N,155.5W\n0.5S,30.0E\n",
    ] {
        let loaded = on(&folder.read("d.csv", content).unwrap(), "sphere:2", &Default::default());
        assert!(near(loaded.points.as_slice(), plain.points.as_slice()), "{content}");
        contains(&loaded.notices.join("\n"), &["decimal degrees"]);
    }
    let latin = b"lat,lon\n19\xb015'N,155\xb030'W\n0\xb030'S,30\xb0E\n";
    let loaded = on(&folder.read("latin.csv", latin).unwrap(), "sphere:2", &Default::default());
    assert!(near(loaded.points.as_slice(), plain.points.as_slice()));
    contains(&loaded.notices.join("\n"), &["Windows-1252"]);
    // Letters of the other axis are bad rows, in one cell and in a whole column.
    let mixed = folder.read("m.csv", "lat,lon\n19.25N,155.5W\n0.5S,30E\n5.5E,3W\n").unwrap();
    refused(&mixed, "sphere:2", &Default::default(), &["line 4, column lat", "`5.5E`", "other axis"]);
    let swapped = folder.read("s.csv", "lat,lon\n15.5W,1.5N\n30.5E,0.5S\n").unwrap();
    refused(&swapped, "sphere:2", &Default::default(), &["line 2, column lat", "`15.5W`"]);
    let odd = folder.read("o.csv", "lat,lon\n19°15'N,5\n19°75'N,5\n8°S,5\n").unwrap();
    refused(&odd, "sphere:2", &Default::default(), &["line 3, column lat", "`19°75'N`"]);
    // A label that looks like half a coordinate stays text.
    let labels = folder.read("l.csv", "x,y,code\n1,2,5E\n3,4,6N\n").unwrap();
    assert!(!labels.is_numeric(2));
}

#[test]
fn text_in_windows_1252_is_read_with_a_word_about_it() {
    let folder = Folder::new();
    let table = folder.read("w.csv", b"st\xe4dte,preis\nK\xf6ln,\x80 5\nM\xfcnchen,6\n").unwrap();
    assert_eq!(
        (table.column_name(0), table.cell(0, 0), table.cell(0, 1)),
        ("städte".into(), "Köln".into(), "€ 5".into())
    );
    contains(&table.notices().join("\n"), &["Windows-1252"]);
    let utf8 = folder.read("u.csv", "städte\nKöln\n").unwrap();
    assert!(utf8.notices().is_empty());
    folder.refusal("binary.csv", b"a,b\n1,\xff\x01\n", &["line 2", "UTF-8"]);
    folder.refusal("marked.csv", b"\xef\xbb\xbfa,b\n1,\xe9\n", &["line 2", "UTF-8"]);
}

#[test]
fn dates_are_decimal_years_where_numbers_are_asked_for() {
    let folder = Folder::new();
    let table = folder
        .read("t.csv", "time,lat,lon,day\n2017-07-02T12:00:00Z,1,2,2020-01-01\n2019-01-01 00:00,3,4,2021-01-01\n")
        .unwrap();
    assert_eq!((table.number(0, 0), table.number(1, 0), table.number(0, 3)), (Ok(2017.5), Ok(2019.0), Ok(2020.0)));
    assert!(table.is_time(0) && !table.is_numeric(0) && table.is_time(3));
    let columns = condition_columns(&table, "time").unwrap();
    let decoded = columns.decode(&table).unwrap();
    assert_eq!(decoded.points.as_slice(), [2017.5, 2019.0]);
    contains(&decoded.notices.join("\n"), &["time: dates are read as decimal years (UTC)"]);
    // Dates beside numbers do not change what the numbers are.
    let other = folder.read("o.csv", "x,y,day\n1,2,2020-01-01\n3,4,2020-06-01\n").unwrap();
    assert_eq!(on(&other, "euclid:2", &Default::default()).points.dim(), 2);
    let report = &check(&other, "euclid:2", &Default::default()).unwrap().columns[2];
    assert_eq!((report.kind, report.min), ("dates", Some(2020.0)));
    let holes = folder.read("h.csv", format!("t\n{}soon\n\n", "2020-01-01\n".repeat(20))).unwrap();
    let columns = condition_columns(&holes, "t").unwrap();
    contains(&columns.decode(&holes).unwrap_err().to_string(), &["line 22, column t", "`soon`", "ISO 8601"]);
}

#[test]
fn text_conditions_are_refused_once_with_what_to_do() {
    let folder = Folder::new();
    let rows: String = (0..500).map(|i| format!("1,2,{}\n", ["G", "F", "H", "K"][i % 4])).collect();
    let table = folder.read("c.csv", format!("lat,lon,class\n{rows}")).unwrap();
    let error = condition_columns(&table, "class").unwrap_err();
    assert!(error.is_usage());
    contains(
        &error.to_string(),
        &["`class`", "4 values", "`F` in 125 rows", "not supported yet", "one column of 0 and 1"],
    );
    assert_eq!(error.to_string().lines().count(), 1);
}

#[test]
fn columns_without_numbers_are_not_proposed() {
    let folder = Folder::new();
    let rows: String = (0..2000).map(|i| if i < 2 { "1,2,3\n" } else { "NA,,-\n" }).collect();
    let table = folder.read("bad.csv", format!("a,b,c\n{rows}")).unwrap();
    assert!(suggest(&table, &Default::default()).is_empty());
    let why = unusable(&table, &Default::default());
    assert_eq!(why.len(), 3);
    contains(&why[0], &["column a", "2 of 2000"]);
    let good = folder.read("good.csv", "a,b,c\n1,2,3\nNA,5,6\n").unwrap();
    assert!(unusable(&good, &Default::default()).is_empty());
    assert_eq!(first(&good).unwrap().spec, "euclid:3");
}

#[test]
fn names_in_a_comment_are_read_and_written_back() {
    let folder = Folder::new();
    let rows: String = (0..30).map(|i| format!("{i}.5 1 2 {i} 0 0 0 1\n")).collect();
    let head = "# ground truth trajectory\n# file: 'rgbd.bag'\n# timestamp tx ty tz qx qy qz qw\n";
    let table = folder.read("groundtruth.txt", format!("{head}{rows}")).unwrap();
    assert_eq!(table.header().unwrap()[..3], ["timestamp", "tx", "ty"]);
    assert_eq!((table.len(), table.line(0)), (30, 4));
    assert_eq!(first(&table).map(|s| (s.spec, s.certain)), Some((POSE.into(), true)));
    let loaded = on(&table, POSE, &ColumnOptions::default());
    let back = written(&folder, &loaded, "samples.txt");
    assert!(back.starts_with("# tx ty tz qx qy qz qw\n1 2 0 0 0 0 1\n"), "{back}");
    assert_eq!(on(&folder.read("again.txt", back).unwrap(), POSE, &Default::default()).points, loaded.points);
    // A sentence with as many words as there are columns names nothing.
    let sentence = folder.read("s.csv", "# two columns\n1.5,2.5\n").unwrap();
    assert!(sentence.header().is_none());
    let apart = folder.read("a.csv", "# lat lon\n# made today\n1.5,2.5\n").unwrap();
    assert!(apart.header().is_none());
}
