//! Every kind of file, as the programs that users have write it, and as somebody hostile would.
//!
//! `tests/files` was made by `tests/files/make.py`, which lists what stands in the files.

mod common;

use common::{Folder, cells, contains, made, npy, off_scipy, on, read_made, refused};
use mad_core::table::{Cell, ColumnOptions, DataError, ReadOptions, Table, read, write_table, writer};
use std::{fs, io::Write};

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

#[test]
fn parquet_of_every_codec_and_encoding_is_read() {
    for name in ["plain", "dictionary", "small_groups"] {
        let table = read_made(&format!("{name}.parquet")).unwrap();
        assert_eq!(table.header().unwrap(), ["lat", "lon", "name", "count"], "{name}");
        let expected: Vec<_> = (0..9).map(|i| vec![place(i)[0], place(i)[1], i as f64]).collect();
        assert_eq!(cells(&table, &[0, 1, 3]), expected, "{name}");
        assert_eq!((table.cell(4, 2).as_ref(), table.is_numeric(2)), ("s1", false), "{name}");
        assert_eq!(on(&table, "sphere:2", &ColumnOptions::default()).points.len(), 9);
    }
    let table = read_made("types.parquet").unwrap();
    let expected: Vec<_> = (0..9).map(|i| vec![place(i)[0], i as f64 + 0.25, -(i as f64)]).collect();
    assert_eq!(cells(&table, &[0, 2, 3]), expected);
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
    assert!(matches!(only, DataError::Damaged { format: "Parquet", .. }));
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
        assert!(matches!(error, DataError::Damaged { format: "Parquet", .. }), "{error}");
    }
}

#[test]
fn damaged_parquet_never_panics() {
    let folder = Folder::new();
    for name in ["dictionary.parquet", "small_groups.parquet", "nulls.parquet"] {
        let good = fs::read(made(name)).unwrap();
        for length in (0..good.len()).step_by(7) {
            let error = folder.read("cut.parquet", &good[..length]).expect_err("a file that was cut off");
            assert!(matches!(error, DataError::Damaged { format: "Parquet", .. }), "{length}: {error}");
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

/// Pages, their headers and the first bytes of a file that was written here: everything before the footer.
#[test]
fn every_flipped_bit_in_the_data_of_our_parquet_is_noticed() {
    let folder = Folder::new();
    let mut table = Table::text("made", Some(vec!["lat".into(), "lon".into(), "name".into()]), 3);
    for row in 0..30 {
        table.push(row + 2, [format!("{}.25", row), format!("-{}.5", 3 * row), format!("n{}", row % 4)]);
    }
    write_table(&folder.path("good.parquet"), &table).unwrap();
    let good = fs::read(folder.path("good.parquet")).unwrap();
    assert_eq!(folder.read("same.parquet", &good).unwrap().len(), 30);
    let footer = u32::from_le_bytes(good[good.len() - 8..good.len() - 4].try_into().unwrap()) as usize;
    let (mut flips, end) = (0, good.len() - 8 - footer);
    for at in 0..end {
        for bit in 0..8 {
            let mut bytes = good.clone();
            bytes[at] ^= 1 << bit;
            folder.refusal("flip.parquet", &bytes, &["bad Parquet file"]);
            flips += 1;
        }
    }
    assert!(flips > 3000, "{flips}");
}

#[test]
fn arrays_as_numpy_writes_them_are_read() {
    let options = ColumnOptions::default();
    assert!(off_scipy(&on(&read_made("one.npz").unwrap(), "so3", &options).points) < 1e-15);
    assert!(off_scipy(&on(&read_made("matrices.npy").unwrap(), "so3", &options).points) < 1e-14);
    assert!(off_scipy(&on(&read_made("fortran.npy").unwrap(), "so3", &options).points) < 1e-7);
    assert!(off_scipy(&on(&read_made("savetxt.txt").unwrap(), "so3", &options).points) < 1e-15);
    assert_eq!(cells(&read_made("flags.npy").unwrap(), &[0, 1]), [[1.0, 0.0], [0.0, 1.0]]);
    contains(&read_made("objects.npy").unwrap_err().to_string(), &["objects.npy", "pickle"]);
}

#[test]
fn an_array_of_several_is_chosen_by_name() {
    let several = made("several.npz");
    let error = read(&several, &ReadOptions::default()).unwrap_err();
    contains(&error.to_string(), &["several.npz", "2 arrays", "`array`", "rotations, places"]);
    assert!(error.is_usage());
    let named = |name: &str| read(&several, &ReadOptions { array: Some(name.into()), ..Default::default() });
    assert_eq!(cells(&named("places").unwrap(), &[0, 1])[8], place(8));
    assert!(off_scipy(&on(&named("rotations").unwrap(), "so3", &ColumnOptions::default()).points) < 1e-15);
    let unknown = named("nothing").unwrap_err();
    assert!(unknown.is_usage() && unknown.to_string().contains("`nothing`"), "{unknown}");
    let folder = Folder::new();
    let text = folder.write("a.csv", "lat,lon\n1,2\n");
    let other = read(&text, &ReadOptions { array: Some("a".into()), ..Default::default() }).unwrap_err();
    assert!(other.is_usage() && other.to_string().contains(".npz"), "{other}");
    // Only text has a delimiter, or a header or none.
    for (options, option) in [
        (ReadOptions { delimiter: Some(b';'), ..Default::default() }, "`delimiter`"),
        (ReadOptions { header: Some(false), ..Default::default() }, "`header`"),
    ] {
        let refused = read(&several, &options).unwrap_err();
        assert!(refused.is_usage() && refused.to_string().contains(option), "{refused}");
    }
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

#[test]
fn hostile_archives_are_refused_and_names_lead_nowhere() {
    let folder = Folder::new();
    let body: Vec<u8> = [1.0f64, 2.0].iter().flat_map(|v| v.to_le_bytes()).collect();
    let array = npy("'<f8'", "False", "(1, 2)", &body);
    for name in ["../../evil.npy", "/evil.npy", "C:\\evil.npy"] {
        let table = folder.read("names.npz", zip(&[Entry::stored(name, &array)])).unwrap();
        assert_eq!(cells(&table, &[0, 1]), [[1.0, 2.0]], "{name}");
    }
    assert_eq!(folder.count(), 1, "something was unpacked");

    let encrypted = Entry { flags: 1, ..Entry::stored("a.npy", &array) };
    folder.refusal("encrypted.npz", zip(&[encrypted]), &["encrypted"]);
    let claims = Entry { size: 3 << 30, ..Entry::stored("a.npy", &array) };
    assert!(matches!(folder.refusal("bomb.npz", zip(&[claims]), &["bomb"]), DataError::Bomb { .. }));
    let wrong = Entry { crc: 7, ..Entry::stored("a.npy", &array) };
    folder.refusal("sum.npz", zip(&[wrong]), &["checksum"]);
    let odd = Entry { method: 14, ..Entry::stored("a.npy", &array) };
    folder.refusal("method.npz", zip(&[odd]), &["method 14"]);
    let cut = Entry::stored("a.npy", &npy("'<f8'", "False", "(1000000, 2)", &body));
    folder.refusal("short.npz", zip(&[cut]), &["array a", "16 bytes of data"]);
    let names: Vec<String> = (0..5000).map(|i| format!("a{i}.npy")).collect();
    let many: Vec<_> = names.iter().map(|name| Entry::stored(name, &[])).collect();
    folder.refusal("many.npz", zip(&many), &["members"]);
    folder.refusal("none.npz", zip(&[Entry::stored("readme.txt", b"hello")]), &["no arrays"]);

    let good = fs::read(made("several.npz")).unwrap();
    let options = ReadOptions { array: Some("places".into()), ..Default::default() };
    for length in 0..good.len() {
        let error = read(&folder.write("cut.npz", &good[..length]), &options).unwrap_err();
        assert!(matches!(error, DataError::Damaged { format: "NPZ", .. }), "{length}: {error}");
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
    let expected = cells(&folder.read("plain.csv", text).unwrap(), &[0, 1]);
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
        assert_eq!(cells(&folder.read(name, bytes).unwrap(), &[0, 1]), expected, "{name}");
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
fn tables_are_written_as_parquet_and_read_back() {
    let folder = Folder::new();
    let mut table = Table::text("made", Some(vec!["x".into(), "word".into(), "code".into(), "ü, ö".into()]), 4);
    for i in 0..70_000 {
        let x = format!("{}", f64::from(i) / 7.0 - 3.0);
        table.push(i as usize + 2, [x.as_str(), ["a", "", "ü\n\"b\""][i as usize % 3], "007", "-1.50"]);
    }
    let path = folder.path("t.parquet");
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
    assert_eq!(folder.count(), 1, "no leftover");
}

#[test]
fn places_are_written_as_geojson_with_longitude_first() {
    let folder = Folder::new();
    let mut table = Table::text("made", Some(["Latitude", "name", "lon", "m"].map(String::from).to_vec()), 4);
    table.push(2, ["1.5", "say \"hi\"\n", "-170.25", "7"]);
    table.push(3, ["-90", "", "190", "NA"]);
    let path = folder.path("p.geojson");
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
    let back = read(&path, &ReadOptions::default()).unwrap();
    assert_eq!(back.header().unwrap(), ["lon", "lat", "name", "m"]);
    assert_eq!((back.number(1, 0), back.number(1, 1), back.cell(0, 2)), (Ok(-170.0), Ok(-90.0), "say \"hi\"\n".into()));
    let lines = folder.path("p.geojsonl");
    write_table(&lines, &table).unwrap();
    assert_eq!(fs::read_to_string(&lines).unwrap().lines().count(), 2);
    assert_eq!(read(&lines, &ReadOptions::default()).unwrap().len(), 2);
    assert!(writer(&folder.path("a.npz"), &["x".to_string()]).err().unwrap().is_usage());
}
