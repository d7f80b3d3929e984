//! Every kind of file, as the programs that users have write it, and as somebody hostile would.
//!
//! `tests/files` was made by `tests/files/make.py`, which says what stands in the files.

use mad_core::{
    Points,
    data::{
        AngleUnit, Cell, ColumnOptions, Columns, DataError, Layout, LoadError, Loaded, ReadOptions, Table, check, load,
        load_skipping, read, read_watched, suggest, write_table, writer,
    },
};
use proptest::prelude::*;
use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
};

fn made(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files").join(name)
}

fn read_made(name: &str) -> Result<Table, DataError> {
    read(&made(name), &ReadOptions::default())
}

/// A folder of files for one test.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, content).unwrap();
        path
    }

    fn read(&self, name: &str, content: impl AsRef<[u8]>) -> Result<Table, DataError> {
        read(&self.write(name, content), &ReadOptions::default())
    }

    /// The refusal of a file, which must name the file and all of `parts`.
    fn refusal(&self, name: &str, content: impl AsRef<[u8]>, parts: &[&str]) -> DataError {
        let error = self.read(name, content).expect_err(name);
        contains(&error.to_string(), &[&[name], parts].concat());
        error
    }
}

fn contains(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is missing in: {text}");
    }
}

fn numbers(table: &Table, columns: &[usize]) -> Vec<Vec<f64>> {
    (0..table.len()).map(|r| columns.iter().map(|&c| table.number(r, c).unwrap()).collect()).collect()
}

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zst(bytes: &[u8]) -> Vec<u8> {
    zstd::stream::encode_all(bytes, 1).unwrap()
}

/// Latitude and longitude of point i in the made files.
fn place(i: usize) -> [f64; 2] {
    [10.0 * i as f64 - 40.0, 35.0 * i as f64 - 170.0]
}

fn on(table: &Table, spec: &str, options: &ColumnOptions) -> Loaded {
    load(table, spec, options).unwrap_or_else(|e| panic!("{e}"))
}

fn refused(table: &Table, spec: &str, options: &ColumnOptions, parts: &[&str]) -> DataError {
    match load(table, spec, options) {
        Err(LoadError::Data(error)) => {
            contains(&error.to_string(), parts);
            error
        }
        other => panic!("{other:?}"),
    }
}

/// Largest difference of the rotations in `points` from those of `scipy.csv`.
fn off_scipy(points: &Points) -> f64 {
    let reference = on(&read_made("scipy.csv").unwrap(), "so3", &ColumnOptions::default()).points;
    assert_eq!(points.len(), reference.len());
    points.as_slice().iter().zip(reference.as_slice()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn parquet_of_every_codec_and_encoding_is_read() {
    for name in ["plain", "dictionary", "small_groups"] {
        let table = read_made(&format!("{name}.parquet")).unwrap();
        assert_eq!(table.header().unwrap(), ["lat", "lon", "name", "count"], "{name}");
        let expected: Vec<_> = (0..9).map(|i| vec![place(i)[0], place(i)[1], i as f64]).collect();
        assert_eq!(numbers(&table, &[0, 1, 3]), expected, "{name}");
        assert_eq!((table.cell(4, 2).as_ref(), table.is_numeric(2)), ("s1", false), "{name}");
        assert_eq!(on(&table, "sphere:2", &ColumnOptions::default()).points.len(), 9);
    }
    let table = read_made("types.parquet").unwrap();
    let expected: Vec<_> = (0..9).map(|i| vec![place(i)[0], i as f64 + 0.25, -(i as f64)]).collect();
    assert_eq!(numbers(&table, &[0, 2, 3]), expected);
    assert_eq!([table.cell(0, 1), table.cell(1, 1)], ["true", "false"]);
    contains(&read_made("lz4.parquet").unwrap_err().to_string(), &["lz4.parquet", "packed with lz4", "snappy"]);
}

#[test]
fn nulls_of_parquet_are_bad_rows_and_nested_columns_are_named() {
    let table = read_made("nulls.parquet").unwrap();
    let error = refused(
        &table,
        "sphere:2",
        &ColumnOptions::default(),
        &["nulls.parquet: 2 bad rows", "row 3, column lat: the cell is blank", "row 6, column lat"],
    );
    assert!(!error.is_usage() && !error.is_io());
    let beside = read_made("nested_beside.parquet").unwrap();
    assert_eq!(beside.width(), 4);
    let loaded = on(&beside, "sphere:2", &ColumnOptions::default());
    assert!(loaded.notices.iter().any(|n| n.contains("nested") && n.contains("place.lat")), "{:?}", loaded.notices);
    let only = read_made("nested_only.parquet").unwrap_err();
    contains(&only.to_string(), &["nested_only.parquet", "place.lat", "nested"]);
    assert!(matches!(only, DataError::Parquet { .. }));
}

/// A number as Thrift writes it: zigzag, seven bits at a time.
fn varint(value: u64) -> Vec<u8> {
    let mut left = value << 1;
    let mut bytes = Vec::new();
    while left >= 128 {
        bytes.push((left & 127) as u8 | 128);
        left >>= 7;
    }
    bytes.push(left as u8);
    bytes
}

#[test]
fn parquet_that_claims_too_many_rows_is_refused() {
    let folder = Folder::new();
    let good = fs::read(made("plain.parquet")).unwrap();
    let length = u32::from_le_bytes(good[good.len() - 8..good.len() - 4].try_into().unwrap()) as usize;
    let start = good.len() - 8 - length;
    for rows in [10, 1 << 40, i64::MAX as u64] {
        // Every number of rows in the footer is 9: a long number, 0x16, of value 18.
        let mut footer = Vec::new();
        let mut at = start;
        while at < good.len() - 8 {
            if good[at..].starts_with(&[0x16, 18]) {
                footer.push(0x16);
                footer.extend(varint(rows));
                at += 2;
            } else {
                footer.push(good[at]);
                at += 1;
            }
        }
        let mut bytes = good[..start].to_vec();
        bytes.extend(&footer);
        bytes.extend((footer.len() as u32).to_le_bytes());
        bytes.extend(b"PAR1");
        let error = folder.refusal("many.parquet", &bytes, &[]);
        assert!(matches!(error, DataError::Parquet { .. }), "{error}");
    }
}

#[test]
fn damaged_parquet_never_panics() {
    let folder = Folder::new();
    for name in ["dictionary.parquet", "small_groups.parquet", "nulls.parquet"] {
        let good = fs::read(made(name)).unwrap();
        for length in (0..good.len()).step_by(7) {
            let error = folder.read("cut.parquet", &good[..length]).expect_err("a file that was cut off");
            assert!(matches!(error, DataError::Parquet { .. }), "{length}: {error}");
        }
        for at in 0..good.len() {
            let mut bytes = good.clone();
            bytes[at] ^= 1 << (at % 8);
            // Some flips leave a good file; none may do more than fail.
            if let Err(error) = folder.read("flip.parquet", &bytes) {
                assert!(!error.is_usage() && !error.is_io(), "{at}: {error}");
            }
        }
    }
    folder.refusal("text.parquet", "lat,lon\n1,2\n", &["bad Parquet file"]);
}

#[test]
fn arrays_as_numpy_writes_them_are_read() {
    let options = ColumnOptions::default();
    assert!(off_scipy(&on(&read_made("one.npz").unwrap(), "so3", &options).points) < 1e-15);
    assert!(off_scipy(&on(&read_made("matrices.npy").unwrap(), "so3", &options).points) < 1e-14);
    assert!(off_scipy(&on(&read_made("fortran.npy").unwrap(), "so3", &options).points) < 1e-7);
    assert!(off_scipy(&on(&read_made("savetxt.txt").unwrap(), "so3", &options).points) < 1e-15);
    assert_eq!(numbers(&read_made("flags.npy").unwrap(), &[0, 1]), [[1.0, 0.0], [0.0, 1.0]]);
    contains(&read_made("objects.npy").unwrap_err().to_string(), &["objects.npy", "pickle"]);
}

#[test]
fn an_array_of_several_is_chosen_by_name() {
    let several = made("several.npz");
    let error = read(&several, &ReadOptions::default()).unwrap_err();
    contains(&error.to_string(), &["several.npz", "2 arrays", "--array", "rotations, places"]);
    assert!(error.is_usage());
    let named = |name: &str| read(&several, &ReadOptions { array: Some(name.into()), ..Default::default() });
    assert_eq!(numbers(&named("places").unwrap(), &[0, 1])[8], place(8));
    assert!(off_scipy(&on(&named("rotations").unwrap(), "so3", &ColumnOptions::default()).points) < 1e-15);
    let unknown = named("nothing").unwrap_err();
    assert!(unknown.is_usage() && unknown.to_string().contains("`nothing`"), "{unknown}");
    let folder = Folder::new();
    let text = folder.write("a.csv", "lat,lon\n1,2\n");
    let other = read(&text, &ReadOptions { array: Some("a".into()), ..Default::default() }).unwrap_err();
    assert!(other.is_usage() && other.to_string().contains(".npz"), "{other}");
}

/// A member of a zip archive.
#[derive(Clone)]
struct Entry<'a> {
    name: &'a str,
    method: u16,
    flags: u16,
    content: Vec<u8>,
    /// Bytes when unpacked, as claimed.
    size: u32,
    crc: u32,
}

impl<'a> Entry<'a> {
    fn stored(name: &'a str, content: &[u8]) -> Self {
        let mut crc = flate2::Crc::new();
        crc.update(content);
        let size = content.len() as u32;
        Self { name, method: 0, flags: 0, content: content.to_vec(), size, crc: crc.sum() }
    }
}

fn zip(entries: &[Entry]) -> Vec<u8> {
    let (mut bytes, mut list) = (Vec::new(), Vec::new());
    for e in entries {
        let mut common = Vec::new();
        common.extend([20u16, e.flags, e.method, 0, 0].iter().flat_map(|v| v.to_le_bytes()));
        common.extend([e.crc, e.content.len() as u32, e.size].iter().flat_map(|v| v.to_le_bytes()));
        common.extend([e.name.len() as u16, 0].iter().flat_map(|v| v.to_le_bytes()));
        let start = bytes.len() as u32;
        bytes.extend(b"PK\x03\x04");
        bytes.extend(&common);
        bytes.extend(e.name.as_bytes());
        bytes.extend(&e.content);
        list.extend(b"PK\x01\x02\x14\x00");
        list.extend(&common);
        // Comment, disk, attributes of a symbolic link, place.
        list.extend([0; 6]);
        list.extend(0o120777_u32.wrapping_shl(16).to_le_bytes());
        list.extend(start.to_le_bytes());
        list.extend(e.name.as_bytes());
    }
    let start = bytes.len() as u32;
    bytes.extend(&list);
    bytes.extend(b"PK\x05\x06\0\0\0\0");
    let count = entries.len().min(0xffff) as u16;
    bytes.extend([count, count].iter().flat_map(|v| v.to_le_bytes()));
    bytes.extend([list.len() as u32, start].iter().flat_map(|v| v.to_le_bytes()));
    bytes.extend([0, 0]);
    bytes
}

fn npy(shape: &str, body: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.bytes());
    bytes.extend(body);
    bytes
}

#[test]
fn hostile_archives_are_refused_and_names_lead_nowhere() {
    let folder = Folder::new();
    let body: Vec<u8> = [1.0f64, 2.0].iter().flat_map(|v| v.to_le_bytes()).collect();
    let array = npy("(1, 2)", &body);
    for name in ["../../evil.npy", "/tmp/evil.npy", "C:\\evil.npy"] {
        let table = folder.read("names.npz", zip(&[Entry::stored(name, &array)])).unwrap();
        assert_eq!(numbers(&table, &[0, 1]), [[1.0, 2.0]], "{name}");
    }
    assert_eq!(fs::read_dir(folder.0.path()).unwrap().count(), 1, "something was unpacked");

    let encrypted = Entry { flags: 1, ..Entry::stored("a.npy", &array) };
    folder.refusal("encrypted.npz", zip(&[encrypted]), &["encrypted"]);
    let claims = Entry { size: 3 << 30, ..Entry::stored("a.npy", &array) };
    assert!(matches!(folder.refusal("bomb.npz", zip(&[claims]), &["bomb"]), DataError::Bomb { .. }));
    let wrong = Entry { crc: 7, ..Entry::stored("a.npy", &array) };
    folder.refusal("sum.npz", zip(&[wrong]), &["checksum"]);
    let odd = Entry { method: 14, ..Entry::stored("a.npy", &array) };
    folder.refusal("method.npz", zip(&[odd]), &["method 14"]);
    let cut = Entry::stored("a.npy", &npy("(1000000, 2)", &body));
    folder.refusal("short.npz", zip(&[cut]), &["array a", "16 bytes of data"]);
    let many: Vec<_> = (0..100_000).map(|_| Entry { content: Vec::new(), ..Entry::stored("a.npy", &[]) }).collect();
    folder.refusal("many.npz", zip(&many), &["members"]);
    folder.refusal("none.npz", zip(&[Entry::stored("readme.txt", b"hello")]), &["no arrays"]);

    let good = fs::read(made("several.npz")).unwrap();
    let options = ReadOptions { array: Some("places".into()), ..Default::default() };
    for length in 0..good.len() {
        let error = read(&folder.write("cut.npz", &good[..length]), &options).unwrap_err();
        assert!(matches!(error, DataError::Npz { .. }), "{length}: {error}");
    }
    for at in 0..good.len() {
        let mut bytes = good.clone();
        bytes[at] ^= 1 << (at % 8);
        if let Err(error) = read(&folder.write("flip.npz", &bytes), &options) {
            assert!(!error.is_io(), "{at}: {error}");
        }
    }
}

#[test]
fn packed_files_are_read_like_plain_ones() {
    let folder = Folder::new();
    let text = "lat,lon\n1.5,2\n-3,4\n";
    let expected = numbers(&folder.read("plain.csv", text).unwrap(), &[0, 1]);
    let twice = [gz(b"lat,lon\n1.5,2\n"), gz(b"-3,4\n")].concat();
    let tabs = text.replace(',', "\t");
    let parquet = fs::read(made("plain.parquet")).unwrap();
    for (name, bytes) in [
        ("a.csv.gz", gz(text.as_bytes())),
        ("a.csv.zst", zst(text.as_bytes())),
        ("a.tsv.GZ", gz(tabs.as_bytes())),
        ("members.csv.gz", twice),
        ("misnamed.csv", gz(text.as_bytes())),
        ("bare.gz", gz(text.as_bytes())),
    ] {
        assert_eq!(numbers(&folder.read(name, bytes).unwrap(), &[0, 1]), expected, "{name}");
    }
    assert_eq!(folder.read("p.parquet.zst", zst(&parquet)).unwrap().len(), 9);
    assert_eq!(folder.read("bare.zst", zst(&parquet)).unwrap().len(), 9);
    assert_eq!(folder.read("n.npz.gz", gz(&fs::read(made("one.npz")).unwrap())).unwrap().len(), 9);
    let cut = gz(text.as_bytes());
    assert!(matches!(folder.refusal("cut.csv.gz", &cut[..cut.len() - 9], &["unpack"]), DataError::Unpack { .. }));
    let mut damaged = zst(&text.repeat(100).into_bytes());
    let middle = damaged.len() / 2;
    damaged[middle] ^= 255;
    damaged.truncate(damaged.len() - 3);
    assert!(matches!(folder.refusal("bad.csv.zst", damaged, &["unpack"]), DataError::Unpack { .. }));
}

#[test]
fn files_that_unpack_to_far_more_than_they_are_are_refused() {
    let folder = Folder::new();
    // Three hundred comments of a million characters.
    let line = format!("#{}\n", "x".repeat(1_000_000));
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    let mut zst = zstd::stream::write::Encoder::new(Vec::new(), 3).unwrap();
    for _ in 0..300 {
        gz.write_all(line.as_bytes()).unwrap();
        zst.write_all(line.as_bytes()).unwrap();
    }
    for (name, bytes) in [("bomb.csv.gz", gz.finish().unwrap()), ("bomb.csv.zst", zst.finish().unwrap())] {
        assert!(bytes.len() < 1 << 20, "{name} has {} bytes", bytes.len());
        assert!(matches!(folder.refusal(name, bytes, &["bomb"]), DataError::Bomb { .. }), "{name}");
    }
    let small = ReadOptions { max_bytes: 1000, ..Default::default() };
    let path = folder.write("large.csv.zst", self::zst(&b"lat,lon\n1,2\n".repeat(200)));
    assert!(matches!(read(&path, &small).unwrap_err(), DataError::TooLarge { limit: 1000, .. }));
}

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
    assert_eq!(numbers(&folder.read("s.txt", "1 2.5\n -3   4 \n").unwrap(), &[0, 1]), [[1.0, 2.5], [-3.0, 4.0]]);
    assert_eq!(numbers(&folder.read("b.txt", "lat|lon\n1|2\n").unwrap(), &[0, 1]), [[1.0, 2.0]]);
    let options = ReadOptions { delimiter: Some(b' '), ..Default::default() };
    let named = read(&folder.write("n.txt", "lat  lon\n1  2\n"), &options).unwrap();
    assert_eq!((named.header().unwrap().len(), named.number(0, 1)), (2, Ok(2.0)));
}

#[test]
fn numbers_in_the_place_of_names_are_asked_about() {
    let folder = Folder::new();
    for text in ["0,1\n1.5,2.5\n", "1,2,3\n0.1,0.2,0.3\n"] {
        let error = folder.refusal("frame.csv", text, &["line 1", "--header"]);
        assert!(error.is_usage());
    }
    let path = folder.write("frame.csv", "0,1\n1.5,2.5\n");
    let told = |header| read(&path, &ReadOptions { header: Some(header), ..Default::default() }).unwrap().len();
    assert_eq!((told(true), told(false)), (1, 2));
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
        ("qx,qy,qz,qw,rx,ry,rz,rw", ["qx, qy, qz, qw and rx, ry, rz, rw", "--columns"]),
        ("qx,qy,qz,qw,q0,q1,q2,q3", ["qx, qy, qz, qw and q0, q1, q2, q3", "--columns"]),
        ("q0,q1,q2,q3", ["q0, q1, q2, q3", "--quat-order"]),
    ] {
        let row = vec!["0.5"; header.split(',').count()].join(",");
        let table = folder.read("q.csv", format!("{header}\n{row}\n")).unwrap();
        let error = refused(&table, "so3", &ColumnOptions::default(), &parts);
        assert!(error.is_usage() && error.to_string().contains("--quat-order"), "{error}");
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
    let error = refused(&fixed, "so3", &ColumnOptions::default(), &["roll_deg, pitch_deg, yaw_deg", "--euler"]);
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
    assert!(refused(&table, "so3", &options, &["--angle-unit"]).is_usage());
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
}

#[test]
fn a_column_of_fifty_thousand_values_is_refused_with_its_cost() {
    let text: String = (0..50_000).map(|i| format!("person {i},x{}\n", i % 7)).collect();
    let table = Folder::new().read("names.csv", format!("name,kind\n{text}")).unwrap();
    let error = refused(&table, "categorical", &ColumnOptions::default(), &["`name`", "4096", "MB"]);
    assert!(matches!(error, DataError::TooManyLevels { .. }));
}

#[test]
fn tables_are_written_as_parquet_and_read_back() {
    let folder = Folder::new();
    let mut table = Table::text("made", Some(vec!["x".into(), "word".into(), "code".into(), "ü, ö".into()]), 4);
    for i in 0..70_000 {
        let x = format!("{}", f64::from(i) / 7.0 - 3.0);
        table.push(i as usize + 2, [x.as_str(), ["a", "", "ü\n\"b\""][i as usize % 3], "007", "-1.50"]);
    }
    let path = folder.0.path().join("t.parquet");
    write_table(&path, &table).unwrap();
    let back = read(&path, &ReadOptions::default()).unwrap();
    assert_eq!((back.len(), back.header()), (70_000, table.header()));
    for row in [0, 1, 2, 65_535, 65_536, 69_999] {
        assert_eq!(back.number(row, 0), table.number(row, 0));
        assert_eq!([back.cell(row, 1), back.cell(row, 2)], [table.cell(row, 1), table.cell(row, 2)]);
        assert_eq!(back.number(row, 3), Ok(-1.5));
    }
    let mut late = writer(&path, &["x".to_string()]).unwrap();
    late.write(&vec![vec![Cell::Number(1.0)]; 70_000]).unwrap();
    late.write(&[vec![Cell::Text("word".into())]]).unwrap();
    let error = late.finish().unwrap_err();
    contains(&error.to_string(), &["t.parquet", "`x`", "`word`", ".csv"]);
    assert_eq!(read(&path, &ReadOptions::default()).unwrap().len(), 70_000, "the old file is still there");
    assert_eq!(fs::read_dir(folder.0.path()).unwrap().count(), 1, "no leftover");
}

#[test]
fn places_are_written_as_geojson_with_longitude_first() {
    let folder = Folder::new();
    let mut table = Table::text("made", Some(["Latitude", "name", "lon", "m"].map(String::from).to_vec()), 4);
    table.push(2, ["1.5", "say \"hi\"\n", "-170.25", "7"]);
    table.push(3, ["-90", "", "190", "NA"]);
    let path = folder.0.path().join("p.geojson");
    write_table(&path, &table).unwrap();
    let feature = |place: &str, properties: &str| {
        format!(
            "{{\"type\":\"Feature\",\"geometry\":{{\"type\":\"Point\",\"coordinates\":[{place}]}},\"properties\":{{{properties}}}}}"
        )
    };
    let expected = format!(
        "{{\"type\":\"FeatureCollection\",\"features\":[\n{},\n{}\n]}}\n",
        feature("-170.25,1.5", "\"name\":\"say \\\"hi\\\"\\u000a\",\"m\":7"),
        feature("-170,-90", "\"name\":null,\"m\":\"NA\"")
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), expected);
    let rotations = writer(&path, &["qx", "qy", "qz", "qw"].map(String::from)).err().unwrap();
    assert!(rotations.is_usage(), "{rotations}");
    contains(&rotations.to_string(), &["p.geojson", "lat and lon", "qx, qy, qz, qw"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), expected, "a refused file leaves the old one");
    let unread = read(&path, &ReadOptions::default()).unwrap_err();
    assert!(unread.is_usage() && unread.to_string().contains("GeoJSON"), "{unread}");
    assert!(writer(&folder.0.path().join("a.npz"), &["x".to_string()]).err().unwrap().is_usage());
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
    assert_eq!(first("colour,size\nred,big\nblue,small\n"), certain("categorical"));
    assert_eq!(first("phi,psi\n100,20\n"), maybe("torus:2"));
    assert_eq!(first("10.5,20.5\n"), maybe("sphere:2"));
    assert_eq!(first("height,weight\n180,75\n"), maybe("euclid:2"));
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
    contains(&report.suggestions.join("\n"), &["--skip-bad-rows", "split"]);
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
