//! Files in, points out, and back: good files load as they are, bad ones are refused with file, line and column.

mod common;

use common::{Folder, contains, data_dir, npy};
use mad_core::catalogue::layout;
use mad_core::{
    Points,
    catalogue::{BuildContext, build},
    load::{LoadError, check, load, manifold_named},
    table::{
        AngleUnit, Cell, ColumnOptions, Columns, DataError, Decoded, Layout, QuaternionOrder, ReadOptions, Split,
        SplitKind, Table, duplicates, read, support, write_table, writer,
    },
};
use std::fs;

fn decode(layout: &Layout, content: &str, options: &ColumnOptions) -> Result<(Columns, Decoded), DataError> {
    let table = Folder::new().read("bad.csv", content)?;
    let columns = Columns::find(layout, &table, options)?;
    let decoded = columns.decode(&table)?;
    Ok((columns, decoded))
}

/// The refusal of a file, which must name the file and everything in `parts`.
fn refusal(layout: &Layout, content: &str, parts: &[&str]) -> DataError {
    refusal_with(layout, content, &ColumnOptions::default(), parts)
}

fn refusal_with(layout: &Layout, content: &str, options: &ColumnOptions, parts: &[&str]) -> DataError {
    let error = decode(layout, content, options).expect_err(content);
    contains(&error.to_string(), &[&["bad.csv"], parts].concat());
    error
}

fn close(a: &[f64], b: &[f64], tolerance: f64) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= tolerance)
}

fn numbers(cells: &[Cell]) -> Vec<f64> {
    cells.iter().map(|c| if let Cell::Number(x) = c { *x } else { panic!("text {c}") }).collect()
}

const POSE: fn() -> Layout = || Layout::Blocks(vec![Layout::Rotation, Layout::Real(3)]);

#[test]
fn empty_files_are_refused() {
    for content in ["", "\n\n", "# only a comment\n", "lat,lon\n", "\u{feff}"] {
        assert!(matches!(refusal(&Layout::Direction, content, &["no data rows"]), DataError::Empty { .. }));
    }
}

#[test]
fn numbers_that_are_none_are_refused_with_line_and_column() {
    let after_comments = "# one\nlat,lon\n\n1,2\n# two\n";
    for (cell, word) in [
        ("NaN", "finite"),
        ("inf", "finite"),
        ("1e999", "finite"),
        ("", "blank"),
        ("NA", "`NA`"),
        ("x", "`x`"),
        ("-1e300", "-1e300 is too large"),
    ] {
        let content = format!("{after_comments}3,{cell}\n");
        refusal(&Layout::Direction, &content, &["line 6", "column lon", word]);
    }
}

#[test]
fn coordinates_off_the_globe_are_refused() {
    refusal(&Layout::Direction, "lat,lon\n0,100\n91,0\n", &["line 3", "column lat", "91", "[-90, 90]"]);
    refusal(&Layout::Direction, "lat,lon\n0,361\n", &["line 2", "column lon", "361"]);
    refusal(&Layout::Direction, "lat,lon\n0,-180.5\n", &["line 2", "column lon"]);
    let swapped = refusal(
        &Layout::Direction,
        "lat,lon\n100,10\n-150,-80\n",
        &["2 bad rows", "swapped", "exchange the names of the two columns"],
    );
    assert!(!swapped.is_usage());
    // Without telling names the remedy is an option, which works.
    for (content, columns, remedy) in
        [("100,10\n-150,-80\n", None, "2,1"), ("a,b\n100,10\n-150,-80\n", Some("a,b"), "b,a")]
    {
        let options = |columns: Option<&str>| ColumnOptions { columns: columns.map(Into::into), ..Default::default() };
        let swapped = refusal_with(&Layout::Direction, content, &options(columns), &["swapped"]);
        assert!(swapped.to_string().contains(&format!("give setting `columns` {remedy}")), "{swapped}");
        let (columns, decoded) = decode(&Layout::Direction, content, &options(Some(remedy))).unwrap();
        assert!(close(&numbers(&columns.encode_row(decoded.points.row(0))), &[100.0, 10.0], 1e-12), "{content}");
    }
    // Nor for a slip in one latitude of many, which may be left out.
    let rows: String = (0..60).map(|i| format!("{},{i}\n", 45 + i % 9)).collect();
    let slip = decode(&Layout::Direction, &format!("lat,lon\n{rows}95,3\n"), &ColumnOptions::default()).unwrap_err();
    assert!(!slip.to_string().contains("swapped") && slip.to_string().contains("`skip_bad_rows`"), "{slip}");
    // Not said when a longitude speaks against it.
    let other = decode(&Layout::Direction, "lat,lon\n100,10\n0,120\n", &ColumnOptions::default()).unwrap_err();
    assert!(!other.to_string().contains("swapped"));
}

#[test]
fn the_edges_of_the_globe_are_fine() {
    let (columns, decoded) =
        decode(&Layout::Direction, "LAT,Lng\n90,17\n-90,0\n0,180\n0,-180\n10,270\n", &ColumnOptions::default())
            .unwrap();
    assert_eq!(decoded.points.row(0), [0.0, 0.0, 1.0]);
    assert_eq!(decoded.points.row(1), [0.0, 0.0, -1.0]);
    assert_eq!(decoded.points.row(2), decoded.points.row(3));
    assert_eq!(columns.encode_header(), ["LAT", "Lng"]);
    assert_eq!(numbers(&columns.encode_row(decoded.points.row(2))), [0.0, -180.0]);
    assert!(close(&numbers(&columns.encode_row(decoded.points.row(4))), &[10.0, -90.0], 1e-12));
}

#[test]
fn bad_quaternions_are_refused_and_near_ones_repaired() {
    let rotation = |row: &str| format!("qx,qy,qz,qw\n0,0,0,1\n{row}\n");
    refusal(&Layout::Rotation, &rotation("0,0,0,0"), &["line 3", "column qx,qy,qz,qw", "norm zero"]);
    refusal(&Layout::Rotation, &rotation("0,0,0,0.5"), &["line 3", "norm 0.5", "`normalize`"]);
    refusal(&Layout::Rotation, &rotation("0,nan,0,1"), &["line 3", "column qy"]);
    let (_, near) = decode(&Layout::Rotation, &rotation("0,0.9995,0,0"), &ColumnOptions::default()).unwrap();
    assert_eq!(near.points.row(1), [0.0, 1.0, 0.0, 0.0]);
    assert!(near.notices.iter().any(|n| n.contains("1 quaternions were rescaled")), "{:?}", near.notices);
    // Both edges belong to what is repaired, though 1 - 0.999 rounds to more than 1e-3.
    let edges = format!("{}0,0.6006,0,0.8008\n", rotation("0,0.999,0,0\n0,0,-1.001,0"));
    let (_, edges) = decode(&Layout::Rotation, &edges, &ColumnOptions::default()).unwrap();
    assert!(edges.notices.iter().any(|n| n.contains("3 quaternions were rescaled")), "{:?}", edges.notices);
    refusal(&Layout::Rotation, &rotation("0,0.9989,0,0"), &["norm 0.9989"]);
    let (_, vectors) = decode(&Layout::Direction, "x,y,z\n0.999,0,0\n0,0,1.001\n", &ColumnOptions::default()).unwrap();
    assert_eq!(vectors.points.row(1), [0.0, 0.0, 1.0]);
    assert!(vectors.notices.iter().any(|n| n.contains("2 vectors were rescaled")), "{:?}", vectors.notices);
    let options = ColumnOptions { normalize: true, ..Default::default() };
    let (_, scaled) = decode(&Layout::Rotation, &rotation("0,0,-3e100,4e100"), &options).unwrap();
    assert!(close(scaled.points.row(1), &[0.0, 0.0, -0.6, 0.8], 1e-15));
    refusal_with(&Layout::Rotation, &rotation("0,0,0,0"), &options, &["norm zero"]);
}

#[test]
fn quaternions_by_name_in_any_order_and_by_option() {
    let expected = [0.1, -0.7, 0.1, 0.7];
    let named = "qw,QZ,qy,qx\n-0.7,-0.1,0.7,-0.1\n";
    let (columns, decoded) = decode(&Layout::Rotation, named, &ColumnOptions::default()).unwrap();
    assert!(close(decoded.points.row(0), &expected, 1e-15));
    assert_eq!(columns.encode_header(), ["qw", "QZ", "qy", "qx"]);
    assert!(close(&numbers(&columns.encode_row(&[-0.1, 0.7, -0.1, -0.7])), &[0.7, 0.1, -0.7, 0.1], 1e-15));
    for names in ["w,x,y,z", "quat_w,quat_x,quat_y,quat_z", "q_w,q_x,q_y,q_z"] {
        let content = format!("{names}\n0.7,0.1,-0.7,0.1\n");
        let (_, decoded) = decode(&Layout::Rotation, &content, &ColumnOptions::default()).unwrap();
        assert!(close(decoded.points.row(0), &expected, 1e-15), "{names}");
    }
    let scalar_first = ColumnOptions { quat_order: Some(QuaternionOrder::Wxyz), ..Default::default() };
    for header in ["", "x0,x1,x2,x3\n", "q0,q1,q2,q3\n"] {
        let content = format!("{header}0.7,0.1,-0.7,0.1\n");
        let (columns, decoded) = decode(&Layout::Rotation, &content, &scalar_first).unwrap();
        assert!(close(decoded.points.row(0), &expected, 1e-15), "{header}");
        assert!(close(&numbers(&columns.encode_row(&expected)), &[0.7, 0.1, -0.7, 0.1], 1e-15));
    }
    let nameless = decode(&Layout::Rotation, "0.1,-0.7,0.1,0.7\n", &ColumnOptions::default()).unwrap().1;
    assert!(close(nameless.points.row(0), &expected, 1e-15));
    assert!(nameless.notices.iter().any(|n| n.contains("x, y, z, w")), "{:?}", nameless.notices);
    let unclear = refusal(&Layout::Rotation, "q0,q1,q2,q3\n1,0,0,0\n", &["`quat_order`", "q0, q1, q2, q3"]);
    assert!(unclear.is_usage());
}

const MATRIX: &str = "r00,r01,r02,r10,r11,r12,r20,r21,r22";

#[test]
fn bad_matrices_are_refused_and_near_ones_projected() {
    let rows = |row: &str| format!("{MATRIX}\n1,0,0,0,1,0,0,0,1\n{row}\n");
    let mirror = rows("1,0,0,0,1,0,0,0,-1");
    refusal(&Layout::Rotation, &mirror, &["line 3", "column r00,r01", "determinant -1"]);
    refusal(&Layout::Rotation, &rows("0,0,0,0,0,0,0,0,0"), &["line 3", "determinant 0"]);
    refusal(&Layout::Rotation, &rows("1,0.1,0,0,1,0,0,0,1"), &["line 3", "nearest rotation"]);
    let (_, near) = decode(&Layout::Rotation, &rows("1,1e-4,0,0,1,0,0,0,1"), &ColumnOptions::default()).unwrap();
    assert!(near.notices.iter().any(|n| n.contains("1 matrices were replaced")), "{:?}", near.notices);
    let norm: f64 = near.points.row(1).iter().map(|c| c * c).sum();
    assert!((norm - 1.0).abs() < 1e-14);
}

#[test]
fn matrices_come_back_as_matrices() {
    // A turn by 90° about z sends x to y, so that row-major r10 = 1; quaternion (0, 0, √½, √½).
    let content = format!("{MATRIX}\n0,-1,0,1,0,0,0,0,1\n");
    let (columns, decoded) = decode(&Layout::Rotation, &content, &ColumnOptions::default()).unwrap();
    let half = 0.5f64.sqrt();
    assert!(close(decoded.points.row(0), &[0.0, 0.0, half, half], 1e-15));
    assert_eq!(columns.encode_header().join(","), MATRIX);
    let back = numbers(&columns.encode_row(decoded.points.row(0)));
    assert!(close(&back, &[0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0], 1e-15));
}

#[test]
fn ragged_rows_are_refused() {
    let error = refusal(&Layout::Direction, "lat,lon\n1,2\n3\n4,5,6\n", &["line 3", "1 fields", "line 4", "3 fields"]);
    assert!(matches!(error, DataError::Rows(rows) if rows.total == 2));
    refusal(&Layout::Direction, "lat,lon\n1,5,2,5\n", &["line 2", "4 fields", "decimal commas"]);
}

#[test]
fn columns_of_another_manifold_are_refused() {
    let (geo, text) = ("lat,lon\n1,2\n", "colour,shape\nred,round\n");
    let check = |layout: &Layout, content: &str, parts: &[&str]| {
        let error = refusal(layout, content, parts);
        assert!(matches!(error, DataError::Columns { .. }), "{error}");
    };
    check(&Layout::Rotation, geo, &["line 1", "wanted quaternion", "found lat (numbers), lon", "sphere:2"]);
    check(&Layout::Direction, "# c\na,b\n1,2\n", &["line 2", "lat, lon", "a (numbers)"]);
    check(&Layout::Direction, "qx,qy,qz,qw\n0,0,0,1\n", &["so3"]);
    check(&Layout::Direction, text, &["colour (text)"]);
    check(&Layout::Direction, "x0,x1,x2,x3\n1,0,0,0\n", &["lat, lon"]);
    check(&Layout::Angles(3), "phi_deg,psi_deg\n1,2\n", &["3 angle columns"]);
    check(&Layout::Coordinates(4), "x0,x1,x2\n1,0,0\n", &["4 coordinates"]);
    check(&POSE(), "qx,qy,qz,qw,x,y\n0,0,0,1,1,2\n", &["3 columns of numbers"]);
}

#[test]
fn unknown_categories_are_refused_at_use() {
    let folder = Folder::new();
    let train = folder.read("train.csv", "colour,shape\nred,round\ngreen,square\nblue,round\n").unwrap();
    let columns = Columns::find(&Layout::Categories(None), &train, &ColumnOptions::default()).unwrap();
    assert_eq!(columns.layout(), Layout::Categories(Some(vec![3, 2])));
    assert_eq!(columns.level_counts(), [[3, 2]]);
    assert_eq!(columns.levels()[0], ("colour", &["blue".to_string(), "green".into(), "red".into()][..]));
    assert_eq!(columns.decode(&train).unwrap().points.row(0), [0.0, 0.0, 1.0, 1.0, 0.0]);
    assert_eq!(columns.encode_row(&[0.1, 0.9, 0.2, -1.0, 0.0]), ["green", "square"].map(|t| Cell::Text(t.into())));
    // Columns in another order and a new combination of known values are fine.
    let other = folder.read("other.csv", "shape,extra,colour\nsquare,1,red\n").unwrap();
    assert_eq!(columns.decode(&other).unwrap().points.row(0), [0.0, 0.0, 1.0, 0.0, 1.0]);
    let bad = folder.read("use.csv", "colour,shape\nred,round\ngren,round\n").unwrap();
    let text = columns.decode(&bad).unwrap_err().to_string();
    for part in ["use.csv", "line 3", "column colour", "`gren`", "nearest known: `green`"] {
        assert!(text.contains(part), "`{part}` is missing in: {text}");
    }
}

#[test]
fn declared_numbers_of_levels_must_be_those_of_the_file() {
    let folder = Folder::new();
    let rows = "a,b,c\nu,x,1\nv,y,2\nw,x,3\nu,y,4\n";
    let table = folder.read("levels.csv", rows).unwrap();
    let options = ColumnOptions::default();
    assert_eq!(load(&table, "categorical:3,2,4", &options).unwrap().manifold.spec(), "categorical:3,2,4");
    assert_eq!(load(&table, "categorical", &options).unwrap().manifold.spec(), "categorical:3,2,4");
    // The first has another total, the second the same one.
    for (spec, column, found, declared) in
        [("categorical:2,2,2", "`a`", "3", "2"), ("categorical:3,3,3", "`b`", "2", "3")]
    {
        let error = load(&table, spec, &options).unwrap_err();
        let text = error.to_string();
        for part in ["levels.csv", column, &format!("has {found} different"), &format!("declares {declared}")] {
            assert!(text.contains(part), "`{part}` is missing in: {text}");
        }
        assert!(matches!(error, LoadError::Data(error) if !error.is_usage() && !error.is_io()), "{text}");
    }
}

#[test]
fn categories_are_trimmed_and_blank_cells_are_bad_rows() {
    let layout = Layout::Categories(None);
    let (columns, decoded) =
        decode(&layout, "colour,size\nred,big\n red,small \nblue,\tbig\n", &ColumnOptions::default()).unwrap();
    assert_eq!(columns.level_counts(), [[2, 2]]);
    assert_eq!(decoded.points.row(1), [0.0, 1.0, 0.0, 1.0]);
    let error = refusal(
        &layout,
        "colour,size\nred,big\n ,big\nred,\nblue,small\n",
        &["line 3, column colour: the cell is blank", "line 4, column size: the cell is blank"],
    );
    assert!(matches!(error, DataError::Rows(rows) if rows.total == 2));
    refusal(&layout, "colour,size\nred,\nblue, \n", &["2 bad rows", "line 2, column size", "line 3, column size"]);
}

#[test]
fn guessed_names_of_text_columns_are_said() {
    let notices =
        |content: &str| decode(&Layout::Categories(None), content, &ColumnOptions::default()).unwrap().1.notices;
    let said = "the first row was read as column names: red, small";
    assert_eq!(notices("red,small\nblue,big\n"), [said]);
    // A number below shows that the first row holds names; declared by the user, nothing is guessed.
    assert!(notices("colour,year\nblue,1999\n").is_empty());
    assert_eq!(
        notices("red,3\nblue,big\nred,small\nblue,big\n"),
        ["no column names: the first row was read as values"]
    );
    let path = Folder::new();
    let options = ReadOptions { header: Some(false), ..Default::default() };
    let table = read(&path.write("t.csv", "red,small\nblue,big\n"), &options).unwrap();
    let columns = Columns::find(&Layout::Categories(None), &table, &ColumnOptions::default()).unwrap();
    assert!(columns.decode(&table).unwrap().notices.is_empty());
}

#[test]
fn too_many_levels_are_refused() {
    let content: String = (0..50).map(|i| format!("v{i},a\n")).collect();
    let options = ColumnOptions { max_levels: 40, ..Default::default() };
    let content = format!("name,kind\n{content}");
    let error = refusal_with(&Layout::Categories(None), &content, &options, &["line 42", "`name`", "40", "50 in all"]);
    assert!(matches!(error, DataError::TooManyLevels { .. }));
    assert!(!error.to_string().contains("max_levels") && error.to_string().contains("Group rare values"), "{error}");
}

#[test]
fn bad_rows_are_told_by_column_and_kind() {
    let rows: String =
        (0..50).map(|i| if i % 10 == 9 { "x,200\n".into() } else { format!("{},200\n", 95 + i % 2) }).collect();
    let parts = [
        "50 bad rows",
        "column lat, 45 rows: latitude off the globe, first at line 2: latitude 95",
        "line 3: latitude 96",
    ];
    let text = refusal(&Layout::Direction, &format!("lat,lon\n{rows}"), &parts).to_string();
    assert!(text.contains("column lat, 5 rows: not a number, first at line 11: `x` is not a number"), "{text}");
    // Equal faults are reported once.
    assert_eq!((text.lines().count(), text.matches("latitude 95").count()), (4, 1), "{text}");
    refusal(
        &Layout::Direction,
        "lat,lon\n95,0\n1,2\n96,0\n",
        &["line 2, column lat: latitude 95", "line 4, column lat"],
    );
}

#[test]
fn every_habit_of_writing_tables_is_read() {
    let expected = decode(&Layout::Direction, "lat,lon\n1.5,2.5\n-3,4e1\n", &ColumnOptions::default()).unwrap().1;
    for content in [
        "\u{feff}lat,lon\r\n1.5,2.5\r\n-3,4e1",
        "lat,lon\r1.5,2.5\r-3,4e1\r",
        "# c\n\nlat;lon\n1.5;2.5\n   \n# \"c\n-3;4e1\n",
        "lat\tlon\n1.5\t2.5\n-3\t4e1\n",
        "\"lat\",\"lon\"\n\"1.5\",\"2.5\"\n\"-3\",\" 4e1 \"\n",
        " Latitude , LONGITUDE \n 1.5, 2.5 \n-3,40.0\n",
        "lon,note,lat\n2.5,\"a, b\nc\",1.5\n40,,-3\n",
        "1.5,2.5\n-3,40\n",
    ] {
        let decoded = decode(&Layout::Direction, content, &ColumnOptions::default()).unwrap().1;
        assert_eq!(decoded.points, expected.points, "{content:?}");
    }
    let assumed = decode(&Layout::Direction, "1.5,2.5\n", &ColumnOptions::default()).unwrap().1;
    assert!(assumed.notices[0].contains("latitude, longitude"), "{:?}", assumed.notices);
}

#[test]
fn broken_text_is_refused_with_its_place() {
    let folder = Folder::new();
    let check = |content: &[u8], parts: &[&str]| {
        let text = folder.read("bad.csv", content).unwrap_err().to_string();
        for part in parts {
            assert!(text.contains(part), "`{part}` is missing in: {text}");
        }
    };
    check(b"lat,lon,\xc3\xa9\n1,\xff2,3\n", &["bad.csv", "line 2", "byte 13", "UTF-8"]);
    check(b"lat,lon\n1,2\n\x003,4\n", &["line 3", "byte 12", "zero"]);
    check(b"lat,lat\n1,2\n", &["line 1", "columns 1 and 2", "`lat`"]);
    let long = format!("lat,lon\n1,{}\n", "0".repeat(1 << 20));
    check(long.as_bytes(), &["line 2", "longer than 1048576 bytes"]);
    refusal(&Layout::Direction, "lat;lon\n1,5;2.5\n", &["line 2", "column lat", "decimal point"]);
    let missing = read(&folder.path("none.csv"), &ReadOptions::default()).unwrap_err();
    assert!(missing.is_io() && missing.to_string().contains("none.csv"), "{missing}");
    let sheet = folder.read("a.xlsx", "x").unwrap_err().to_string();
    assert!(sheet.contains("`.xlsx`") && sheet.contains(".parquet") && sheet.contains(".geojson"), "{sheet}");
    let small = ReadOptions { max_bytes: 10, ..Default::default() };
    assert!(matches!(read(&folder.write("c.csv", "lat,lon\n1,2\n"), &small), Err(DataError::TooLarge { .. })));
}

#[test]
fn angles_need_a_unit_and_keep_it() {
    let unclear = refusal(&Layout::Angles(2), "phi,psi\n1,2\n", &["`angle_unit`", "phi, psi"]);
    assert!(unclear.is_usage());
    let degrees = ColumnOptions { angle_unit: Some(AngleUnit::Deg), ..Default::default() };
    for content in ["phi,psi\n180,-90\n", "phi_deg,psi_deg\n-180,630\n", "180,-90\n"] {
        let (columns, decoded) = decode(&Layout::Angles(2), content, &degrees).unwrap();
        assert!(close(decoded.points.row(0), &[-1.0, 0.0, 0.0, -1.0], 1e-15), "{content}");
        assert!(close(&numbers(&columns.encode_row(decoded.points.row(0))), &[180.0, -90.0], 1e-12));
    }
    let (columns, mixed) = decode(&Layout::Angles(2), "id,a_rad,b_deg\nm,1,90\n", &ColumnOptions::default()).unwrap();
    assert!(close(mixed.points.row(0), &[1f64.cos(), 1f64.sin(), 0.0, 1.0], 1e-15));
    assert_eq!(columns.encode_header(), ["a_rad", "b_deg"]);
    let radians = decode(&Layout::Angles(2), "x0,x1\n1,2\n", &ColumnOptions::default()).unwrap().1;
    assert!(close(radians.points.row(0), &[1f64.cos(), 1f64.sin(), 2f64.cos(), 2f64.sin()], 1e-15));
    let pairs = decode(&Layout::Angles(2), "x0,x1,x2,x3\n0,1,-1,0\n", &ColumnOptions::default()).unwrap().1;
    assert_eq!(pairs.points.row(0), [0.0, 1.0, -1.0, 0.0]);
    // -1e9 degrees are 80 degrees: -1e9 = -2777778 · 360 + 80.
    let (columns, wild) = decode(&Layout::Angles(1), "a_deg\n-1e9\n", &ColumnOptions::default()).unwrap();
    assert!(close(&numbers(&columns.encode_row(wild.points.row(0))), &[80.0], 1e-9));
    assert!(wild.notices.iter().any(|n| n.contains("1 angles lay outside one turn")), "{:?}", wild.notices);
}

#[test]
fn places_in_radians_are_read_and_written_as_radians() {
    let expected = decode(&Layout::Direction, "lat,lon\n30,-90\n-90,180\n", &ColumnOptions::default()).unwrap().1;
    let rows = "0.5235987755982988,-1.5707963267948966\n-1.5707963267948966,3.141592653589793\n";
    let radians = ColumnOptions { angle_unit: Some(AngleUnit::Rad), ..Default::default() };
    for (header, options, columns) in [
        ("lat_rad,lon_rad\n", ColumnOptions::default(), None),
        ("Latitude (rad),Longitude [radians]\n", ColumnOptions::default(), None),
        ("lat,lon\n", radians.clone(), None),
        ("", radians.clone(), None),
        ("a,b\n", radians.clone(), Some("a,b")),
    ] {
        let options = ColumnOptions { columns: columns.map(Into::into), ..options };
        let (columns, decoded) = decode(&Layout::Direction, &format!("{header}{rows}"), &options).unwrap();
        assert!(close(decoded.points.as_slice(), expected.points.as_slice(), 1e-15), "{header}");
        let back = numbers(&columns.encode_row(decoded.points.row(0)));
        assert!(close(&back, &[30f64.to_radians(), -90f64.to_radians()], 1e-15), "{header} {back:?}");
        assert_eq!(
            columns.roles().iter().map(|(_, role)| &role[..]).collect::<Vec<_>>(),
            ["latitude, radians", "longitude, radians"]
        );
        // The written file names its unit, is read by the same columns, and is a map like any other.
        let folder = Folder::new();
        let mut text = columns.encode_header().join(",") + "\n";
        for x in decoded.points.rows() {
            text += &(numbers(&columns.encode_row(x)).iter().map(f64::to_string).collect::<Vec<_>>().join(",") + "\n");
        }
        assert!(text.lines().next().unwrap().contains("rad"), "{text}");
        let again = folder.read("samples.csv", text).unwrap();
        assert!(
            close(columns.decode(&again).unwrap().points.as_slice(), expected.points.as_slice(), 1e-15),
            "{header}"
        );
        if !header.starts_with('a') {
            let mut map = writer(&folder.path("map.geojson"), &columns.encode_header()).unwrap();
            map.write(&columns.encode(&decoded.points)).unwrap();
            map.finish().unwrap();
            let map = fs::read_to_string(folder.path("map.geojson")).unwrap();
            assert!(map.contains("[-90,29.99999999999") || map.contains("[-90,30"), "{map}");
        }
    }
    // Single precision passes the bounds; degrees do so by far.
    let single = format!("lat_rad,lon_rad\n{},{}\n", std::f32::consts::FRAC_PI_2, -std::f32::consts::PI);
    let pole = decode(&Layout::Direction, &single, &ColumnOptions::default()).unwrap().1;
    assert_eq!(pole.points.row(0), [0.0, 0.0, 1.0]);
    refusal(&Layout::Direction, "lat_rad,lon_rad\n45,1\n", &["line 2", "lat_rad", "is it in degrees?"]);
    // Mixed units, each by its name.
    let mixed = decode(&Layout::Direction, "lat_deg,lon_rad\n30,-1.5707963267948966\n", &ColumnOptions::default());
    assert!(close(mixed.unwrap().1.points.row(0), expected.points.row(0), 1e-15));
}

#[test]
fn options_that_no_column_needs_are_refused() {
    let wxyz = ColumnOptions { quat_order: Some(QuaternionOrder::Wxyz), ..Default::default() };
    let euler = ColumnOptions { euler: Some("zyx".parse().unwrap()), ..Default::default() };
    let radians = ColumnOptions { angle_unit: Some(AngleUnit::Rad), ..Default::default() };
    let quaternion = "qx,qy,qz,qw\n0,0,0,1\n";
    for (layout, content, options, parts) in [
        (Layout::Rotation, quaternion, &wxyz, ["`quat_order` wxyz", "qx, qy, qz, qw already tell the order"]),
        (Layout::Rotation, &format!("{MATRIX}\n1,0,0,0,1,0,0,0,1\n"), &wxyz, ["`quat_order` wxyz", "matrix"]),
        (Layout::Direction, "lat,lon\n1,2\n", &wxyz, ["`quat_order` wxyz", "no columns of this manifold"]),
        (Layout::Rotation, quaternion, &euler, ["`euler` zyx", "qx, qy, qz, qw hold a quaternion"]),
        (Layout::Real(2), "a,b\n1,2\n", &euler, ["`euler` zyx", "no columns of this manifold"]),
        (Layout::Rotation, quaternion, &radians, ["`angle_unit` rad", "hold a quaternion"]),
        (Layout::Angles(1), "phi_deg\n1\n", &radians, ["`angle_unit` rad", "phi_deg already say another unit"]),
        (Layout::Angles(2), "x0,x1,x2,x3\n1,0,1,0\n", &radians, ["`angle_unit` rad", "cosines and sines"]),
    ] {
        let error = refusal_with(&layout, content, options, &parts);
        assert!(matches!(error, DataError::UselessOption { .. }) && error.is_usage(), "{error}");
    }
    // What the names hold already does no harm.
    for content in ["qw,qx,qy,qz\n1,0,0,0\n", "q0,q1,q2,q3\n1,0,0,0\n", "1,0,0,0\n"] {
        let decoded = decode(&Layout::Rotation, content, &wxyz).unwrap().1;
        assert_eq!(decoded.points.row(0), [0.0, 0.0, 0.0, 1.0], "{content}");
    }
    assert!(decode(&Layout::Angles(2), "a_rad,b_deg\n1,2\n", &radians).is_ok());
    let nothing = folder_columns("lat,lon\n1,2\n", "lat,long").unwrap_err();
    assert!(nothing.is_usage() && nothing.to_string().contains("`long` is neither"), "{nothing}");
    assert!(folder_columns("lat,lon\n1,2\n", "lat,lon").is_ok());
}

/// Whether a file has the columns of a selection.
fn folder_columns(content: &str, columns: &str) -> Result<(), DataError> {
    let options = ColumnOptions { columns: Some(columns.into()), ..Default::default() };
    let table = Folder::new().read("c.csv", content)?;
    assert_eq!(mad_core::load::suggest(&table, &options).is_empty(), options.require_in(&table).is_err());
    options.require_in(&table)
}

#[test]
fn real_columns_are_standardised_and_come_back() {
    let folder = Folder::new();
    let content = "x,qx,qy,qz,qw,y,z,note\n1,0,0,0,1,10,5,a\n3,0,0,1,0,30,5,b\n100,1,0,0,0,500,5,c\n";
    let table = folder.read("poses.csv", content).unwrap();
    let mut columns = Columns::find(&POSE(), &table, &ColumnOptions::default()).unwrap();
    let mut points = columns.decode(&table).unwrap().points;
    columns.fit(&mut points, &[0, 1]);
    // Mean 2 and 20, standard deviation 1 and 10, by the first two rows only; z is constant.
    assert!(close(points.row(0), &[0.0, 0.0, 0.0, 1.0, -1.0, -1.0, 0.0], 1e-15));
    assert!(close(points.row(2), &[1.0, 0.0, 0.0, 0.0, 98.0, 48.0, 0.0], 1e-12));
    assert!((columns.log_jacobian() + 10f64.ln()).abs() < 1e-15);
    assert_eq!(columns.decode(&table).unwrap().points, points);
    assert_eq!(columns.encode_header(), ["x", "qx", "qy", "qz", "qw", "y", "z"]);
    let back = numbers(&columns.encode_row(points.row(2)));
    assert!(close(&back, &[100.0, 1.0, 0.0, 0.0, 0.0, 500.0, 5.0], 1e-10));
    assert!(close(columns.in_file_units(&points).row(2), &[1.0, 0.0, 0.0, 0.0, 100.0, 500.0, 5.0], 1e-10));
    // The same poses as ambient coordinates, and in another form, with the same scale.
    let matrix = format!("{MATRIX},tx,ty,tz\n1,0,0,0,1,0,0,0,1,1,10,5\n");
    let other = folder.read("matrix.csv", matrix).unwrap();
    assert!(close(columns.decode(&other).unwrap().points.row(0), points.row(0), 1e-15));
    let ambient = folder.read("ambient.csv", "x0,x1,x2,x3,x4,x5,x6\n0,0,0,1,1,10,5\n").unwrap();
    assert!(close(columns.decode(&ambient).unwrap().points.row(0), points.row(0), 1e-15));
}

#[test]
fn points_off_the_manifold_are_refused() {
    let folder = Folder::new();
    let manifold = build("sphere:3", &BuildContext::without_files()).unwrap();
    let table = folder.read("p.csv", "x0,x1,x2,x3\n1,0,0,0\n0,2,0,0\n").unwrap();
    let columns = Columns::find(&layout(manifold.as_ref()), &table, &ColumnOptions::default()).unwrap();
    let text = columns.decode_on(&table, manifold.as_ref()).unwrap_err().to_string();
    assert!(
        ["p.csv", "line 3", "column x0,x1,x2,x3", "1 away from sphere:3"].iter().all(|p| text.contains(p)),
        "{text}"
    );
    let options = ColumnOptions { normalize: true, ..Default::default() };
    let columns = Columns::find(&layout(manifold.as_ref()), &table, &options).unwrap();
    let decoded = columns.decode_on(&table, manifold.as_ref()).unwrap();
    assert_eq!(decoded.points.row(1), [0.0, 1.0, 0.0, 0.0]);
    assert!(decoded.notices.iter().any(|n| n.contains("1 points were projected")), "{:?}", decoded.notices);
}

#[test]
fn finite_sets_are_read_with_weights() {
    let folder = Folder::new();
    let set = support(&folder.read("set.csv", "x0,x1,weight\n1,0,3\n0,1,1\n").unwrap()).unwrap();
    assert_eq!(set.points, Points::from_vec(vec![1.0, 0.0, 0.0, 1.0], 2));
    assert_eq!(set.weights, Some(vec![0.75, 0.25]));
    let bad = folder.read("bad.csv", "x0,x1,weight\n1,0,3\n0,1,0\n").unwrap();
    let text = support(&bad).unwrap_err().to_string();
    assert!(["bad.csv", "line 3", "column weight"].iter().all(|p| text.contains(p)), "{text}");
}

#[test]
fn points_of_a_finite_set_that_never_occur_are_told() {
    let folder = Folder::new();
    let path = folder.write("mine.csv", "x0,x1\n0,0\n0,1\n1,0\n1,1\n2,0\n-0,3\n");
    let spec = format!("points:{}", path.display());
    let options = ColumnOptions::default();
    let some = folder.read("some.csv", "x0,x1\n1,0\n0,1\n1,0\n").unwrap();
    let notices = load(&some, &spec, &options).unwrap().notices;
    let absent = notices.iter().find(|n| n.contains("never occur")).unwrap_or_else(|| panic!("{notices:?}"));
    contains(absent, &["mine.csv", "4 of 6 points", "(0, 0), (1, 1), (2, 0), …"]);
    let all = folder.read("all.csv", "x0,x1\n1,0\n0,1\n-0,0\n1,1\n2,0\n0,3\n").unwrap();
    assert!(load(&all, &spec, &options).unwrap().notices.iter().all(|n| !n.contains("never occur")));
    // Beside other columns, and with a bad row, whose point does not count.
    let beside = folder.read("beside.csv", "lat,lon,a,b\n1,2,1,0\n3,4,0,1\n91,0,2,0\n").unwrap();
    let report = check(&beside, &format!("product(sphere:2,{spec})"), &options).unwrap();
    contains(&report.notices.join("\n"), &["4 of 6 points never occur"]);
}

#[test]
fn repeated_points_of_a_finite_set_are_refused_by_line() {
    let folder = Folder::new();
    let path = folder.write("mine.csv", "# set\nx0,x1\n1,0\n0,1\n1,0\n-0,1\n2,0\n1,0\n");
    let error = manifold_named(&format!("product(points:{},sphere:2)", path.display())).unwrap_err();
    let text = error.to_string();
    for part in [
        "mine.csv: 3 bad rows",
        "line 5: the same point as on line 3",
        "line 6: the same point as on line 4",
        "line 8: the same point as on line 3",
    ] {
        assert!(text.contains(part), "`{part}` is missing in: {text}");
    }
    assert!(!text.contains("support-0"), "{text}");
    assert!(matches!(error, LoadError::Data(DataError::Rows(_))), "{text}");
}

#[test]
fn written_files_read_back_exactly() {
    let folder = Folder::new();
    let data = vec![1.0 / 3.0, -1e-300, 6.02e23, 0.0, f64::MIN_POSITIVE, 123456789.123];
    let header = vec!["a".to_string(), "b,\"c\" ü".into()];
    let table = Table::numbers("made", Some(header), 2, data.clone());
    for name in ["out.csv", "out.tsv", "out.npy", "ü out put.csv"] {
        let path = folder.path(name);
        write_table(&path, &table).unwrap();
        let back = read(&path, &ReadOptions::default()).unwrap();
        let cells: Vec<f64> =
            (0..3).flat_map(|r| [0, 1].map(|c| (r, c))).map(|(r, c)| back.number(r, c).unwrap()).collect();
        assert_eq!(cells, data, "{name}");
        if !name.ends_with("npy") {
            assert_eq!(back.header(), table.header());
        }
    }
    let mut text = Table::text("made", Some(vec!["s".into()]), 1);
    for cell in ["# no comment", "", "a\nb", "7"] {
        text.push(0, [cell]);
    }
    write_table(&folder.path("text.csv"), &text).unwrap();
    let back = read(&folder.path("text.csv"), &ReadOptions::default()).unwrap();
    let cells: Vec<_> = (0..back.len()).map(|r| back.cell(r, 0).into_owned()).collect();
    assert_eq!(cells, ["# no comment", "", "a\nb", "7"]);
    assert_eq!([0, 1, 2, 3].map(|r| back.line(r)), [2, 3, 4, 6]);
    assert!(matches!(write_table(&folder.path("t.npy"), &text), Err(DataError::TextInNpy { .. })));
}

#[test]
fn unfinished_output_leaves_nothing() {
    let folder = Folder::new();
    let path = folder.path("samples.csv");
    let header = ["x".to_string()];
    let mut unfinished = writer(&path, &header).unwrap();
    unfinished.write(&vec![vec![Cell::Number(1.0)]; 100_000]).unwrap();
    assert!(!path.exists(), "nothing under the final name before the end");
    drop(unfinished);
    assert_eq!(folder.count(), 0, "no leftover");
    fs::write(&path, "old").unwrap();
    drop(writer(&path, &header).unwrap());
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    let mut finished = writer(&path, &header).unwrap();
    finished.write(&[vec![Cell::Number(2.5)]]).unwrap();
    finished.finish().unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "x\n2.5\n");
    let nowhere = writer(&folder.path("no/where.csv"), &header).err().unwrap();
    assert!(nowhere.is_io() && nowhere.to_string().contains("where.csv"), "{nowhere}");
}

#[test]
fn arrays_of_every_number_type_are_read() {
    let folder = Folder::new();
    let bytes = |values: &[[u8; 4]]| values.concat();
    let f4 = bytes(&[1.5f32, -2.0, 3.0, 4.0, 5.0, 6.0].map(f32::to_le_bytes));
    let f4_big = bytes(&[1.5f32, -2.0, 3.0, 4.0, 5.0, 6.0].map(f32::to_be_bytes));
    let f4_columns = bytes(&[1.5f32, 4.0, -2.0, 5.0, 3.0, 6.0].map(f32::to_le_bytes));
    let i1: Vec<u8> = [1i8, -2, 3, 4, 5, 6].iter().map(|v| *v as u8).collect();
    let f2 = [0x3e00u16, 0xc000, 0x4200, 0x4400, 0x4500, 0x4600].map(u16::to_le_bytes).concat();
    for (descr, fortran, body, first) in [
        ("'<f4'", "False", &f4, 1.5),
        ("'>f4'", "False", &f4_big, 1.5),
        ("'<f4'", "True", &f4_columns, 1.5),
        ("'|i1'", "False", &i1, 1.0),
        ("'<f2'", "False", &f2, 1.5),
    ] {
        let table = folder.read("a.npy", npy(descr, fortran, "(2, 3)", body)).unwrap();
        let row = |r| [0, 1, 2].map(|c| table.number(r, c).unwrap());
        assert_eq!((row(0), row(1)), ([first, -2.0, 3.0], [4.0, 5.0, 6.0]), "{descr} {fortran}");
    }
    let turns: Vec<u8> =
        [0.0f64, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0].iter().flat_map(|v| v.to_le_bytes()).collect();
    let table = folder.read("r.npy", npy("'<f8'", "False", "(1, 3, 3)", &turns)).unwrap();
    let columns = Columns::find(&Layout::Rotation, &table, &ColumnOptions::default()).unwrap();
    let half = 0.5f64.sqrt();
    assert!(close(columns.decode(&table).unwrap().points.row(0), &[0.0, 0.0, half, half], 1e-15));
}

#[test]
fn hostile_arrays_are_refused() {
    let folder = Folder::new();
    let good = npy("'<f8'", "False", "(2, 2)", &[0; 32]);
    let check = |bytes: &[u8], word: &str| {
        let error = folder.read("bad.npy", bytes).unwrap_err().to_string();
        assert!(error.contains("bad.npy") && error.contains(word), "`{word}` is missing in: {error}");
    };
    check(&npy("'|O'", "False", "(2, 2)", &[0; 32]), "pickle");
    check(&npy("[('a', '<f8')]", "False", "(2,)", &[0; 32]), "structured");
    check(&npy("'<c16'", "False", "(2,)", &[0; 32]), "dtype");
    check(&npy("'<f8'", "False", "()", &[0; 8]), "shape");
    check(&npy("'<f8'", "False", "(2, 2, 2)", &[0; 64]), "shape");
    check(&npy("'<f8'", "False", "(4611686018427387904, 4)", &[]), "too large");
    check(&npy("'<f8'", "False", "(99999999999999999999, 4)", &[]), "shape");
    check(&npy("'<f8'", "False", "(0, 4)", &[]), "no data rows");
    for length in 0..good.len() {
        let error = folder.read("cut.npy", &good[..length]).unwrap_err();
        assert!(
            matches!(error, DataError::Damaged { format: "NPY", .. } | DataError::Empty { .. }),
            "{length}: {error}"
        );
    }
    let nan: Vec<u8> = [1.0, 0.0, 0.0, f64::NAN, 0.0, 0.0].iter().flat_map(|v: &f64| v.to_le_bytes()).collect();
    let table = folder.read("nan.npy", npy("'<f8'", "False", "(2, 3)", &nan)).unwrap();
    let columns = Columns::find(&Layout::Direction, &table, &ColumnOptions::default()).unwrap();
    let text = columns.decode(&table).unwrap_err().to_string();
    assert!(["nan.npy", "row 2", "column x0"].iter().all(|p| text.contains(p)), "{text}");
}

/// Files that are not part of the repository: `MAD_DATA` names their folder.
mod with_data {
    use super::*;

    #[test]
    #[ignore = "needs MAD_DATA"]
    fn benchmark_files_load_as_they_are() {
        let directory = data_dir();
        for (file, rows, distinct) in
            [("volerup", 827, 267), ("quakes_all", 6120, 5447), ("flood", 4875, 4861), ("fire", 12809, 12802)]
        {
            let table = read(&directory.join(format!("earth/{file}.csv")), &ReadOptions::default()).unwrap();
            let columns = Columns::find(&Layout::Direction, &table, &ColumnOptions::default()).unwrap();
            let points = columns.decode(&table).unwrap().points;
            let counted = duplicates(&points);
            assert_eq!((counted.rows, counted.distinct), (rows, distinct), "{file}");
            Split::new(&points, SplitKind::Distinct, mad_core::table::FRACTIONS, 0).unwrap();
            for (row, x) in points.rows().enumerate() {
                let back = numbers(&columns.encode_row(x));
                let lon = table.number(row, 1).unwrap();
                let lon = if lon >= 180.0 { lon - 360.0 } else { lon };
                assert!(close(&back, &[table.number(row, 0).unwrap(), lon], 1e-11), "{file} {row} {back:?}");
            }
        }
    }

    #[test]
    #[ignore = "needs MAD_DATA"]
    fn torsion_file_loads_by_column_numbers() {
        let directory = data_dir();
        let table = read(&directory.join("torus/rna.tsv"), &ReadOptions::default()).unwrap();
        assert_eq!((table.len(), table.width(), table.header()), (9478, 9, None));
        let options =
            ColumnOptions { columns: Some("3-9".into()), angle_unit: Some(AngleUnit::Deg), ..Default::default() };
        let columns = Columns::find(&Layout::Angles(7), &table, &options).unwrap();
        let points = columns.decode(&table).unwrap().points;
        assert_eq!((points.len(), points.dim()), (9478, 14));
        let first = numbers(&columns.encode_row(points.row(0)));
        let given = [-69.168933, 173.922722, 51.484039, 80.803534, -62.903735, 10.972630, -167.619661];
        assert!(close(&first, &given, 1e-11), "{first:?}");
        // What is written is read again by the same columns, though they stand elsewhere now.
        let folder = Folder::new();
        let mut out = writer(&folder.path("samples.csv"), &columns.encode_header()).unwrap();
        out.write(&columns.encode(&points)).unwrap();
        out.finish().unwrap();
        let again = read(&folder.path("samples.csv"), &ReadOptions::default()).unwrap();
        assert!(close(columns.decode(&again).unwrap().points.as_slice(), points.as_slice(), 1e-14));
    }
}

#[test]
fn angles_are_written_in_the_turn_they_were_read_in() {
    let written = |layout: &Layout, content: &str, options: &ColumnOptions| {
        let (columns, decoded) = decode(layout, content, options).unwrap();
        numbers(&columns.encode_row(decoded.points.row(0)))
    };
    let degrees = ColumnOptions { angle_unit: Some(AngleUnit::Deg), ..ColumnOptions::default() };
    // From 0 to 360 if nothing is negative and something is beyond 180.
    for (content, expected) in [("lat,lon\n5,350\n6,10\n", [5.0, 350.0]), ("lat,lon\n5,350\n6,-10\n", [5.0, -10.0])] {
        let row = written(&Layout::Direction, content, &ColumnOptions::default());
        assert!(close(&row, &expected, 1e-12), "{row:?}");
    }
    let row = written(&Layout::Angles(2), "a,b\n200,-160\n10,20\n", &degrees);
    assert!(close(&row, &[200.0, -160.0], 1e-12), "{row:?}");
}

#[test]
fn another_file_may_say_its_own_columns() {
    let table = |content: &str| Folder::new().read("other.csv", content).unwrap();
    let known = Columns::find(&Layout::Direction, &table("lat,lon\n90,0\n10,20\n"), &ColumnOptions::default()).unwrap();
    let radians = ColumnOptions { angle_unit: Some(AngleUnit::Rad), ..ColumnOptions::default() };
    let other = table("lat,lon\n1.5707963267948966,0\n");
    let there = known.found_in(&other, &radians).unwrap();
    assert!(close(there.decode(&other).unwrap().points.row(0), &[0.0, 0.0, 1.0], 1e-12));
    // Without names, by number.
    let bare = table("20,10\n30,10\n");
    let chosen = ColumnOptions { columns: Some("2,1".into()), ..ColumnOptions::default() };
    let there = known.found_in(&bare, &chosen).unwrap().decode(&bare).unwrap().points;
    assert!(close(there.row(0), known.decode(&table("lat,lon\n10,20\n")).unwrap().points.row(0), 1e-12));
    // An option that does not apply to these columns is refused.
    let useless = ColumnOptions { quat_order: Some(QuaternionOrder::Wxyz), ..ColumnOptions::default() };
    assert!(known.found_in(&other, &useless).unwrap_err().is_usage());
}
