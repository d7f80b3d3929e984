//! Pictures and poses in the layout of SymSol: written, read back as folder and as ZIP, and refused where they are broken.

use mad_core::rng::{Purpose, stream};
use mad_core::rotation::{Quaternion, Symmetry, angle, matrix, multiply, uniform};
use mad_core::solids::{
    Action, Answer, Archive, Picture, PoseError, PoseScore, SOLIDS, Solid, Split, View, score, write,
};
use std::fs;
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use tempfile::TempDir;
use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

fn solid(name: &str) -> Solid {
    name.parse().unwrap()
}

fn request(shapes: &[&str]) -> write::Request {
    let shapes = shapes.iter().map(|name| solid(name)).collect();
    write::Request { shapes, train: 3, test: 2, view: View { size: 28, ..View::default() }, seed: 5 }
}

/// A folder with a small data set.
fn made(shapes: &[&str]) -> (TempDir, PathBuf) {
    let desk = TempDir::new().unwrap();
    let folder = desk.path().join("symsol");
    let mut heard = 0;
    write::write(&folder, &request(shapes), &AtomicBool::new(false), |done| heard = done).unwrap();
    assert_eq!(heard, 5 * shapes.len());
    (desk, folder)
}

fn stored() -> SimpleFileOptions {
    SimpleFileOptions::default().compression_method(CompressionMethod::Stored)
}

fn packed() -> SimpleFileOptions {
    SimpleFileOptions::default().compression_method(CompressionMethod::Deflated)
}

fn zip_of(members: &[(String, Vec<u8>)], options: SimpleFileOptions) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in members {
        writer.start_file(name, options).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// All files below a folder, as members of an archive.
fn members(folder: &Path, prefix: &str) -> Vec<(String, Vec<u8>)> {
    let mut list = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = format!("{prefix}{}", path.file_name().unwrap().to_str().unwrap());
        if path.is_dir() {
            list.extend(members(&path, &format!("{name}/")));
        } else {
            list.push((name, fs::read(&path).unwrap()));
        }
    }
    list.sort();
    list
}

/// An NPY file of matrices.
fn npy(descr: &str, shape: &str, numbers: &[f64]) -> Vec<u8> {
    let dict = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    let length = (10 + dict.len() + 1).next_multiple_of(64) - 10;
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((length as u16).to_le_bytes());
    bytes.extend(format!("{dict:<width$}\n", width = length - 1).bytes());
    for v in numbers {
        match descr {
            "<f8" => bytes.extend(v.to_le_bytes()),
            ">f4" => bytes.extend((*v as f32).to_be_bytes()),
            "<f4" => bytes.extend((*v as f32).to_le_bytes()),
            "<f2" => bytes.extend(half(*v).to_le_bytes()),
            _ => bytes.extend((*v as i32).to_le_bytes()),
        }
    }
    bytes
}

/// Half precision by rounding; normal numbers and zero only.
fn half(v: f64) -> u16 {
    let sign = if v < 0.0 { 0x8000 } else { 0 };
    let size = v.abs();
    if size < 6.2e-5 {
        return sign;
    }
    let exponent = size.log2().floor();
    let fraction = ((size / exponent.exp2() - 1.0) * 1024.0).round() as u16;
    sign + (((exponent as i32 + 15) as u16) << 10) + fraction
}

/// A folder whose training part has these arrays, and a picture of each solid.
fn with_arrays(arrays: &[(&str, Vec<u8>)], options: SimpleFileOptions) -> (TempDir, Archive) {
    let desk = TempDir::new().unwrap();
    let images = desk.path().join("train/images");
    fs::create_dir_all(&images).unwrap();
    let picture = Picture { width: 4, height: 4, pixels: vec![90; 48] }.to_png().unwrap();
    for solid in SOLIDS {
        fs::write(images.join(format!("{solid}_00000.png")), &picture).unwrap();
    }
    let members: Vec<_> = arrays.iter().map(|(name, bytes)| (format!("{name}.npy"), bytes.clone())).collect();
    fs::write(desk.path().join("train/rotations.npz"), zip_of(&members, options)).unwrap();
    let archive = Archive::open(desk.path()).unwrap();
    (desk, archive)
}

fn numbers(lists: &[Vec<Quaternion>]) -> Vec<f64> {
    lists.iter().flatten().flat_map(|q| matrix(q).as_flattened().to_vec()).collect()
}

fn orbits(symmetry: Symmetry, pictures: usize, right: bool) -> Vec<Vec<Quaternion>> {
    let mut rng = stream(3, Purpose::Metric, 0);
    let orbit = |q: Quaternion| {
        symmetry.listed().iter().map(|g| if right { multiply(&q, g) } else { multiply(g, &q) }).collect()
    };
    (0..pictures).map(|_| orbit(uniform(&mut rng))).collect()
}

#[test]
fn a_data_set_is_read_back_from_folder_and_archives() {
    let names: Vec<_> = SOLIDS.iter().map(|s| s.name()).collect();
    let (desk, folder) = made(&names);
    let mut places = vec![folder.clone(), desk.path().to_path_buf()];
    for (name, options, prefix) in
        [("a.zip", stored(), ""), ("b.zip", packed(), ""), ("c.zip", packed(), "symsol_dataset/")]
    {
        let path = desk.path().join(name);
        fs::write(&path, zip_of(&members(&folder, prefix), options)).unwrap();
        places.push(path);
    }
    let sizes = [12, 24, 60, 360, 720, 1, 1, 1];
    for place in places {
        let archive = Archive::open(&place).unwrap();
        assert_eq!(archive.ignored(), 0);
        for (split, count) in [(Split::Train, 3), (Split::Test, 2)] {
            assert_eq!(archive.shapes(split), SOLIDS);
            for (&solid, size) in SOLIDS.iter().zip(sizes) {
                assert_eq!(archive.len(split, solid), count, "{solid}");
                let lists = archive.rotations(split, solid).unwrap();
                assert_eq!((lists.len(), lists[0].len()), (count, size), "{solid}");
                assert_eq!(archive.labels(split, solid).unwrap(), lists.iter().map(|l| l[0]).collect::<Vec<_>>());
                for (index, list) in lists.iter().enumerate() {
                    let q = write::pose(5, split, solid, index);
                    assert!(angle(&list[0], &q) < 1e-6, "{solid}: entry 0 is the pose of the picture");
                    assert!(list.iter().all(|p| solid.symmetry().distance(p, &q) < 1e-6), "{solid}");
                    let picture = archive.image(split, solid, index).unwrap();
                    assert_eq!((picture.width, picture.height), (28, 28));
                    assert_eq!(picture.pixels, request(&[]).view.rgb(solid, &q), "{solid}");
                }
            }
        }
        assert_eq!(archive.check_action().unwrap(), Action::Right);
        let missing = archive.image(Split::Test, solid("cube"), 7).unwrap_err();
        assert!(missing.to_string().contains("test/images/cube_00007.png"), "{missing}");
    }
}

#[test]
fn written_bytes_do_not_depend_on_threads_or_on_other_solids() {
    let (_a, one) = made(&["cube", "cyl", "cone"]);
    let desk = TempDir::new().unwrap();
    let two = desk.path().join("new");
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    pool.install(|| write::write(&two, &request(&["cube", "cyl", "cone"]), &AtomicBool::new(false), |_| ()).unwrap());
    assert_eq!(members(&one, ""), members(&two, ""));
    let (_c, alone) = made(&["cone"]);
    let name = "test/images/cone_00001.png";
    assert_eq!(fs::read(one.join(name)).unwrap(), fs::read(alone.join(name)).unwrap());
    assert!(!members(&one, "").iter().any(|(name, _)| name.ends_with(".part")));
}

#[test]
fn requests_that_make_no_sense_are_refused() {
    let (_desk, folder) = made(&["cube"]);
    let go = |request: &write::Request, folder: &Path| write::write(folder, request, &AtomicBool::new(false), |_| ());
    assert!(matches!(go(&request(&["cube"]), &folder), Err(PoseError::Occupied { .. })));
    let new = folder.join("new");
    for bad in [
        request(&[]),
        request(&["cube", "cube"]),
        write::Request { train: 0, test: 0, ..request(&["cube"]) },
        write::Request { train: 100_001, ..request(&["cube"]) },
        write::Request { view: View { size: 0, ..View::default() }, ..request(&["cube"]) },
    ] {
        assert!(go(&bad, &new).unwrap_err().is_usage());
        assert!(!new.exists());
    }
    let stopped = write::write(&new, &request(&["cube"]), &AtomicBool::new(true), |_| ());
    assert!(matches!(stopped, Err(PoseError::Stopped { done: 0, total: 5 })));
    assert!(!new.join("train/rotations.npz").exists(), "poses come after their pictures");
}

/// Names that differ before the last underscore only, missing arrays, arrays without pictures.
#[test]
fn names_are_split_at_the_last_underscore_and_keys_may_be_missing() {
    let cyl = npy("<f4", "(1, 720, 3, 3)", &numbers(&orbits(Symmetry::AxialFlip, 1, true)));
    let dotted = npy("<f4", "(1, 1, 3, 3)", &numbers(&orbits(Symmetry::Trivial, 1, true)));
    let (desk, archive) = with_arrays(&[("cyl", cyl), ("cylO", dotted)], stored());
    assert_eq!(archive.rotations(Split::Train, solid("cyl")).unwrap()[0].len(), 720);
    assert_eq!(archive.rotations(Split::Train, solid("cylO")).unwrap()[0].len(), 1);
    assert_eq!(archive.len(Split::Train, solid("cyl")), 1);
    let missing = archive.rotations(Split::Train, solid("cube")).unwrap_err();
    assert!(matches!(missing, PoseError::NoRotations { shape: "cube", .. }), "{missing}");
    assert!(archive.shapes(Split::Test).is_empty() && archive.is_empty(Split::Test, solid("cube")));
    for name in ["cyl_0.png", "cyl_000000.png", "cyl_-0001.png", "ball_00000.png", "cyl00000.png", "notes.txt"] {
        fs::write(desk.path().join("train/images").join(name), b"").unwrap();
    }
    let again = Archive::open(desk.path()).unwrap();
    assert_eq!((again.ignored(), again.len(Split::Train, solid("cyl"))), (6, 1));
}

#[test]
fn all_precisions_are_read_packed_or_not() {
    let lists = orbits(Symmetry::octahedral(), 3, true);
    for options in [stored(), packed()] {
        for (descr, precision) in [("<f8", 1e-12), ("<f4", 1e-6), (">f4", 1e-6), ("<f2", 3e-3)] {
            let cube = npy(descr, "(3, 24, 3, 3)", &numbers(&lists));
            let (_desk, archive) = with_arrays(&[("cube", cube)], options);
            let read = archive.rotations(Split::Train, solid("cube")).unwrap();
            for (a, b) in read.iter().flatten().zip(lists.iter().flatten()) {
                assert!(angle(a, b) < precision, "{descr}");
            }
            assert_eq!(archive.check_action().unwrap(), Action::Right, "{descr}");
        }
    }
}

#[test]
fn broken_arrays_say_which_and_where() {
    let good = numbers(&orbits(Symmetry::octahedral(), 3, true));
    let problem = |array: Vec<u8>| {
        let (_desk, archive) = with_arrays(&[("cube", array)], packed());
        archive.rotations(Split::Train, solid("cube")).unwrap_err()
    };
    let mut stretched = good.clone();
    stretched[(24 + 5) * 9] += 0.1;
    let error = problem(npy("<f4", "(3, 24, 3, 3)", &stretched));
    assert!(matches!(error, PoseError::NotARotation { shape: "cube", row: 1, entry: 5, .. }), "{error}");
    let mut mirrored = good.clone();
    mirrored[..3].iter_mut().for_each(|v| *v = -*v);
    assert!(matches!(
        problem(npy("<f4", "(3, 24, 3, 3)", &mirrored)),
        PoseError::NotARotation { row: 0, entry: 0, .. }
    ));
    let mut nothing = good.clone();
    nothing[9] = f64::NAN;
    assert!(matches!(problem(npy("<f8", "(3, 24, 3, 3)", &nothing)), PoseError::NotARotation { row: 0, entry: 1, .. }));
    for array in [
        npy("<f4", "(3, 24, 9)", &good),
        npy("<i4", "(3, 24, 3, 3)", &good),
        npy("<f4", "(4, 24, 3, 3)", &good),
        npy("<f4", "(9999999999, 24, 3, 3)", &good),
        npy("<f4", "(3, 24, 3, 3)", &good[..100]),
        npy("<f4", "(3, 0, 3, 3)", &[]),
        b"\x93NUMPY\x01\x00".to_vec(),
        b"not an array at all".to_vec(),
        Vec::new(),
    ] {
        let error = problem(array);
        assert!(matches!(error, PoseError::Array { shape: "cube", .. }), "{error}");
    }
    // A megabyte that packs to almost nothing.
    let zeros = npy("<f4", "(1, 100000, 3, 3)", &vec![0.0; 900_000]);
    assert!(matches!(problem(zeros), PoseError::TooLarge { .. }));
}

#[test]
fn the_side_of_the_action_is_found_or_refused() {
    let symmetries = [("tet", Symmetry::tetrahedral()), ("icosa", Symmetry::icosahedral()), ("cone", Symmetry::Axial)];
    let array = |symmetry: Symmetry, pictures: usize, right: bool| {
        let lists = orbits(symmetry, pictures, right);
        npy("<f4", &format!("({pictures}, {}, 3, 3)", lists[0].len()), &numbers(&lists))
    };
    for (right, action) in [(true, Action::Right), (false, Action::Left)] {
        let arrays = symmetries.map(|(name, symmetry)| (name, array(symmetry, 4, right)));
        let (_desk, archive) = with_arrays(&arrays, stored());
        assert_eq!(archive.check_action().unwrap(), action);
    }
    let contradiction = [("tet", array(symmetries[0].1, 4, true)), ("icosa", array(symmetries[1].1, 4, false))];
    let error = with_arrays(&contradiction, stored()).1.check_action().unwrap_err();
    assert!(matches!(error, PoseError::UnclearAction { .. }), "{error}");
    let error = with_arrays(&[("tet", array(symmetries[0].1, 1, true))], stored()).1.check_action().unwrap_err();
    assert!(matches!(error, PoseError::UnclearAction { .. }), "one picture fits both: {error}");
    let mut rng = stream(4, Purpose::Metric, 0);
    let random: Vec<Vec<Quaternion>> = (0..4).map(|_| (0..12).map(|_| uniform(&mut rng)).collect()).collect();
    let error = with_arrays(&[("tet", npy("<f4", "(4, 12, 3, 3)", &numbers(&random)))], stored()).1.check_action();
    assert!(matches!(error, Err(PoseError::NoAction { shape: "tet", .. })), "{error:?}");
}

#[test]
fn names_that_leave_the_archive_and_links_are_passed_over() {
    let picture = Picture { width: 4, height: 4, pixels: vec![90; 48] }.to_png().unwrap();
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for name in [
        "../train/images/cube_00001.png",
        "/train/images/cube_00002.png",
        "a/../train/images/cube_00003.png",
        "train/./images/cube_00004.png",
        "train\\images\\cube_00005.png",
        "a/b/train/images/cube_00006.png",
        "train/images/cube_00000.png",
    ] {
        writer.start_file(name, packed()).unwrap();
        writer.write_all(&picture).unwrap();
    }
    writer.add_symlink("train/images/cube_00007.png", "/etc/passwd", packed()).unwrap();
    let desk = TempDir::new().unwrap();
    let path = desk.path().join("odd.zip");
    fs::write(&path, writer.finish().unwrap().into_inner()).unwrap();
    let archive = Archive::open(&path).unwrap();
    assert_eq!((archive.len(Split::Train, solid("cube")), archive.ignored()), (1, 7));
    assert!(archive.image(Split::Train, solid("cube"), 0).is_ok());
    assert!(matches!(archive.labels(Split::Train, solid("cube")), Err(PoseError::NoRotations { .. })));
}

#[test]
fn bad_pictures_and_archives_are_refused() {
    let desk = TempDir::new().unwrap();
    let images = desk.path().join("test/images");
    fs::create_dir_all(&images).unwrap();
    fs::write(images.join("cone_00000.png"), b"\x89PNG\r\n\x1a\nnonsense").unwrap();
    fs::write(images.join("cone_00002.png"), b"").unwrap();
    let archive = Archive::open(desk.path()).unwrap();
    assert_eq!(archive.len(Split::Test, solid("cone")), 3);
    for index in [0, 2] {
        let error = archive.image(Split::Test, solid("cone"), index).unwrap_err();
        assert!(matches!(error, PoseError::Picture { .. }), "{error}");
    }
    assert!(matches!(archive.image(Split::Test, solid("cone"), 1), Err(PoseError::Missing { index: 1, .. })));
    let file = desk.path().join("broken.zip");
    fs::write(&file, b"PK\x03\x04 and then nothing").unwrap();
    assert!(matches!(Archive::open(&file), Err(PoseError::Zip { .. })));
    fs::write(&file, zip_of(&[("readme.txt".into(), b"hello".to_vec())], stored())).unwrap();
    assert!(matches!(Archive::open(&file), Err(PoseError::NoPictures { .. })));
    assert!(matches!(Archive::open(&images), Err(PoseError::NoPictures { .. })));
    assert!(Archive::open(&desk.path().join("absent")).unwrap_err().is_io());
}

#[test]
fn scores_of_known_answers() {
    let cube = Symmetry::octahedral();
    let mut rng = stream(6, Purpose::Metric, 0);
    let tilt = |q: &Quaternion, degrees: f64| {
        let half = degrees.to_radians() / 2.0;
        multiply(&[half.sin(), 0.0, 0.0, half.cos()], q)
    };
    // Two samples at one degree, one at three, one far away; the second is the mode.
    let answers: Vec<Answer> = (0..50)
        .map(|_| {
            let truth = uniform(&mut rng);
            let samples = [1.0, 1.0, 3.0, 30.0].map(|d| tilt(&cube.lift(&truth, &mut rng), d)).to_vec();
            Answer { truth, samples, mode: Some(1) }
        })
        .collect();
    let result = score(cube, &answers).unwrap();
    assert_eq!((result.images, result.samples), (50, 200));
    assert!((result.spread - 8.75).abs() < 1e-9 && result.spread_error < 1e-9);
    assert!((result.median - 2.0).abs() < 1e-9 && (result.percentile95 - 30.0).abs() < 1e-9);
    assert!((result.misses - 0.25).abs() < 1e-12 && (result.mode_error.unwrap() - 1.0).abs() < 1e-9);
    assert!(result.recall > 20.0, "four samples do not cover 24 modes: {}", result.recall);
    assert!(score(cube, &[]).is_none());
}

/// Modes drawn evenly, one mode for each picture, and always the representative.
#[test]
fn recall_and_counts_tell_full_from_collapsed_laws() {
    let mut rng = stream(7, Purpose::Metric, 0);
    for symmetry in [Symmetry::tetrahedral(), Symmetry::octahedral(), Symmetry::icosahedral()] {
        let mut model = |kind: usize| {
            let answers: Vec<Answer> = (0..200)
                .map(|_| {
                    let truth = uniform(&mut rng);
                    let fixed = symmetry.lift(&truth, &mut rng);
                    let mut sample = || match kind {
                        0 => symmetry.lift(&truth, &mut rng),
                        1 => fixed,
                        _ => symmetry.canonical(&truth),
                    };
                    let samples = (0..16).map(|_| sample()).collect();
                    Answer { truth, samples, mode: None }
                })
                .collect();
            score(symmetry, &answers).unwrap()
        };
        let (even, stuck, canonical) = (model(0), model(1), model(2));
        for result in [&even, &stuck, &canonical] {
            assert!(result.spread < 1e-5 && result.mode_error.is_none(), "all are exact: {result:?}");
        }
        let counts = |result: &PoseScore| result.modes.clone().unwrap();
        let degrees = counts(&even).degrees as f64;
        assert!((counts(&even).chi_square - degrees).abs() < 6.0 * (2.0 * degrees).sqrt(), "{even:?}");
        assert!(counts(&even).within_excess.abs() < 5.0, "{even:?}");
        assert!(counts(&stuck).within_excess > 50.0 && counts(&canonical).within_excess > 50.0);
        assert!(counts(&canonical).chi_square > 100.0 * degrees, "{canonical:?}");
        assert!(even.recall < 0.75 * stuck.recall, "{} {}", even.recall, stuck.recall);
    }
    let truth = uniform(&mut rng);
    let samples: Vec<Quaternion> = (0..2000).map(|_| Symmetry::AxialFlip.lift(&truth, &mut rng)).collect();
    let result = score(Symmetry::AxialFlip, &[Answer { truth, samples, mode: None }]).unwrap();
    assert!(result.spread < 1e-5 && result.recall < 0.3 && result.modes.is_none(), "{result:?}");
}
