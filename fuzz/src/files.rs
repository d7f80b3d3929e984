//! Readers of `mad-core`: tables, arrays, archives, pictures and names of manifolds.

use super::target::Target;
use mad_core::{
    load::{check, describe, load, manifold_named, suggest},
    solids::{Archive, Picture, Split},
    table::{ColumnOptions, ReadOptions, read},
};
use std::{fmt::Display, fs, path::Path};

/// Largest file, in bytes after unpacking.
const LARGEST: u64 = 16 << 20;

/// Rows of at most this many bytes are also understood on manifolds, which costs more than reading.
const UNDERSTOOD: usize = 1 << 14;

const TEXT: &[&[u8]] = &[
    b"lat",
    b"lon",
    b"qw",
    b"qx",
    b"m00",
    b"nan",
    b"1e309",
    b"-0",
    b"99999999999999999999",
    b"\"",
    b"\"\"",
    b";",
    b"\t",
    b"\r\n",
    b"\r",
    b"#",
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"\0",
    b"1,5",
    b"180",
    b"NA",
    b"phi_deg",
    b"12,5",
    b"1.234,5",
    b"19\xc2\xb015'30\"N",
    b"W 155 36.5",
    b"2016-05-01T12:30:00Z",
    b"\xe9\x80",
    b"# tx ty tz qx qy qz qw\n",
    b"rx,ry,rz",
];

/// Text tables.
pub const CSV: Target =
    Target { name: "csv", run: |bytes, folder| table(bytes, &folder.join("input.csv")), words: TEXT };

/// Packed text tables; the kind of packing follows from the first bytes.
pub const PACKED: Target = Target {
    name: "packed",
    run: |bytes, folder| table(bytes, &folder.join("input.csv.gz")),
    words: &[b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\x00\x00\xff\xff"],
};

/// Arrays.
pub const NPY: Target = Target {
    name: "npy",
    run: |bytes, folder| table(bytes, &folder.join("input.npy")),
    words: &[
        b"'descr'",
        b"'<f8'",
        b"'>f2'",
        b"'|O'",
        b"'|b1'",
        b"'<i8'",
        b"'<U5'",
        b"True",
        b"False",
        b"'shape'",
        b"(3, 3)",
        b"()",
        b"18446744073709551615",
        b"0",
        b",",
        b"{",
        b"}",
        b"\x93NUMPY\x02\x00",
    ],
};

/// Archives of arrays.
pub const NPZ: Target = Target {
    name: "npz",
    run: |bytes, folder| table(bytes, &folder.join("input.npz")),
    words: &[
        b"PK\x01\x02",
        b"PK\x03\x04",
        b"PK\x05\x06",
        b"PK\x06\x06",
        b"PK\x06\x07",
        b"\xff\xff\xff\xff",
        b"../",
        b".npy",
    ],
};

/// Parquet files.
pub const PARQUET: Target = Target {
    name: "parquet",
    run: |bytes, folder| table(bytes, &folder.join("input.parquet")),
    words: &[b"PAR1", b"PARE"],
};

/// Points on the globe.
pub const GEOJSON: Target = Target {
    name: "geojson",
    run: |bytes, folder| table(bytes, &folder.join("input.geojson")),
    words: &[
        b"\"type\":",
        b"\"FeatureCollection\"",
        b"\"features\":[",
        b"\"Feature\"",
        b"\"geometry\":",
        b"\"Point\"",
        b"\"MultiPoint\"",
        b"\"Polygon\"",
        b"\"coordinates\":[",
        b"\"properties\":{",
        b"[1.5,2]",
        b"[[[",
        b"{{",
        b"null",
        b"1e999",
        b"\\u0000",
        b"\\ud800",
        b"\xef\xbb\xbf",
        b"}\n{",
    ],
};

/// Pictures.
pub const PNG: Target = Target {
    name: "png",
    run: |bytes, _| told(Picture::from_png(bytes).map(|p| format!("{} bytes", p.pixels.len()))),
    words: &[b"IHDR", b"IDAT", b"IEND", b"PLTE", b"tRNS", b"\xff\xff\xff\xff", b"\x00\x00\xff\xff"],
};

/// Archives of pictures with poses.
pub const PICTURES: Target = Target {
    name: "pictures",
    run: |bytes, folder| {
        let path = folder.join("input.zip");
        fs::write(&path, bytes).expect("a file");
        let archive = match Archive::open(&path) {
            Ok(archive) => archive,
            Err(error) => return told::<&str>(Err(error)),
        };
        let mut all = String::new();
        for split in Split::ALL {
            for solid in archive.shapes(split) {
                all += &told(archive.image(split, solid, 0).map(|p| format!("{} bytes", p.pixels.len())));
                all += &told(archive.rotations(split, solid).map(|list| format!("{} lists", list.len())));
                all += &told(archive.labels(split, solid).map(|list| format!("{} labels", list.len())));
            }
        }
        all + &told(archive.check_action().map(|_| "an action"))
    },
    words: &[
        b"PK\x01\x02",
        b"PK\x03\x04",
        b"train/images/cube_00000.png",
        b"test/rotations.npz",
        b"../",
        b"\xff\xff\xff\xff",
    ],
};

/// Names of manifolds.
pub const SPEC: Target = Target {
    name: "spec",
    run: |bytes, _| {
        let text = String::from_utf8_lossy(bytes);
        // Names of files are left to the readers of files.
        if text.contains("points") {
            return "a file".into();
        }
        told(manifold_named(&text).map(|m| format!("{} coordinates", m.ambient_dim())))
    },
    words: &[
        b"sphere",
        b"so3",
        b"torus",
        b"euclid",
        b"categorical",
        b"product(",
        b"/C_",
        b"/SO2",
        b"/D_",
        b":",
        b"(",
        b")",
        b",",
        b"100000",
        b"18446744073709551615",
        b"-1",
        b"\xe2\x88\x9e",
    ],
};

/// Reads a table and understands it in several ways.
fn table(bytes: &[u8], path: &Path) -> String {
    fs::write(path, bytes).expect("a file");
    let options = ReadOptions { max_bytes: LARGEST, max_line: 1 << 16, ..ReadOptions::default() };
    let table = match read(path, &options) {
        Ok(table) => table,
        Err(error) => return told::<&str>(Err(error)),
    };
    let mut all = format!("{} columns", table.width());
    if bytes.len() <= UNDERSTOOD && table.len() * table.width() <= UNDERSTOOD {
        let options = ColumnOptions::default();
        all += &format!("{} reports, {} suggestions", describe(&table).len(), suggest(&table, &options).len());
        for spec in ["sphere:2", "so3", "torus:2", "categorical", "euclid:2", "product(so3,euclid:3)"] {
            all += &told(load(&table, spec, &options).map(|loaded| format!("{} points", loaded.points.len())));
            all += &told(check(&table, spec, &options).map(|_| "a report"));
        }
    }
    all
}

/// The words of an outcome.
fn told<T: Display>(outcome: Result<T, impl Display>) -> String {
    match outcome {
        Ok(value) => value.to_string(),
        Err(error) => error.to_string(),
    }
}
