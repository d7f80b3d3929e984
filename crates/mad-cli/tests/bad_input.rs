//! Bad input: a clear error with file, line and column, exit code 3, and nothing written.

mod common;
use common::Desk;

fn refused(file: &str, text: &str, manifold: &str, expected: &[&str]) {
    let desk = Desk::new();
    desk.write(file, text);
    let error = desk.fails(3, &format!("fit {file} --manifold {manifold} --out run --steps 5 --seed 1"));
    for word in expected {
        assert!(error.contains(word), "`{word}` is not in: {error}");
    }
    assert_eq!(desk.names("."), [file], "something was written");
}

#[test]
fn empty_file() {
    refused("empty.csv", "", "sphere:2", &["empty.csv", "no data rows"]);
    refused("header.csv", "lat,lon\n", "sphere:2", &["header.csv", "no data rows"]);
}

#[test]
fn not_a_number() {
    refused("nan.csv", "lat,lon\n1,2\n3,NaN\n", "sphere:2", &["nan.csv", "line 3", "lon"]);
    refused("text.csv", "lat,lon\n1,2\nnorth,4\n5,6\n", "sphere:2", &["text.csv", "line 3", "lat", "north"]);
}

#[test]
fn latitude_beyond_the_pole() {
    refused("far.csv", "# made by hand\nlat,lon\n10,20\n91,0\n", "sphere:2", &["far.csv", "line 4", "lat", "91"]);
}

#[test]
fn zero_quaternion() {
    refused("q.csv", "qx,qy,qz,qw\n0,0,0,1\n0,0,0,0\n", "so3", &["q.csv", "line 3"]);
}

#[test]
fn mirrored_matrix() {
    let header = "r00,r01,r02,r10,r11,r12,r20,r21,r22";
    refused("r.csv", &format!("{header}\n1,0,0,0,1,0,0,0,1\n1,0,0,0,1,0,0,0,-1\n"), "so3", &["r.csv", "line 3", "det"]);
}

#[test]
fn ragged_row() {
    refused("ragged.csv", "lat,lon\n1,2\n3,4,5\n", "sphere:2", &["ragged.csv", "line 3"]);
}

#[test]
fn columns_of_another_manifold() {
    let error = ["quakes.csv", "qx", "lat"];
    refused("quakes.csv", "lat,lon\n1,2\n3,4\n", "so3", &error);
}

#[test]
fn unknown_category_at_use() {
    let desk = Desk::new();
    let rows: String = (0..60).map(|i| format!("{},{}\n", ["red", "blue"][i % 2], ["up", "down"][i / 30])).collect();
    desk.write("table.csv", &format!("colour,way\n{rows}"));
    desk.ok(&format!("fit table.csv --manifold categorical --out run --set split=random {}", common::TINY));
    desk.write("other.csv", "colour,way\nred,up\ngreen,up\n");
    let error = desk.fails(3, "density run --at other.csv --out density.csv");
    for word in ["other.csv", "line 3", "colour", "green"] {
        assert!(error.contains(word), "`{word}` is not in: {error}");
    }
    assert!(!desk.path("density.csv").exists(), "something was written");
}

#[test]
fn usage_errors_name_the_nearest_word() {
    let desk = Desk::new();
    desk.write("p.csv", "lat,lon\n1,2\n3,4\n");
    let error = desk.fails(2, "fit p.csv --manifold shpere:2 --out run");
    assert!(error.contains("sphere"), "{error}");
    let error = desk.fails(2, "fit p.csv --manifold sphere:2 --out run --set learnin_rate=1");
    assert!(error.contains("learning_rate"), "{error}");
    let error = desk.fails(2, "fit p.csv --manifold sphere:2 --out run --set sigma_min=9 --set sigma_max=1");
    assert!(error.contains("sigma"), "{error}");
    let error = desk.fails(5, "fit missing.csv --manifold sphere:2 --out run");
    assert!(error.contains("missing.csv"), "{error}");
    assert_eq!(desk.names("."), ["p.csv"], "something was written");
}

#[test]
fn devices_that_are_not_there() {
    let desk = Desk::new();
    desk.write("p.csv", "lat,lon\n1,2\n3,4\n");
    let error = desk.fails(2, "fit p.csv --manifold sphere:2 --out run --device gpu");
    assert!(error.contains("cpu, wgpu, cuda"), "{error}");
    for (device, built) in [("wgpu", cfg!(feature = "wgpu")), ("cuda", cfg!(feature = "cuda"))] {
        if !built {
            let error = desk.fails(2, &format!("fit p.csv --manifold sphere:2 --out run --device {device}"));
            assert!(error.contains(&format!("cargo build --release --features {device}")), "{error}");
        }
    }
    assert_eq!(desk.names("."), ["p.csv"], "something was written");
}

/// Endings that no picture has are refused before anything is read or drawn.
#[test]
fn pictures_without_a_format_cost_nothing() {
    let desk = Desk::new();
    let pose = "plot nowhere --given picture=nowhere.png -n 5 --out map.pdf";
    for words in ["plot nowhere --out map.pdf", pose] {
        assert!(desk.fails(2, words).contains("map.pdf: pictures are written as"), "{words}");
    }
}
