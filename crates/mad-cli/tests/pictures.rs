//! `mad data render`, from the command line to files that the loader understands.

mod common;
use common::Desk;
use mad_core::solids::{Action, Archive, Solid, Split};

#[test]
fn pictures_and_poses_of_solids() {
    let desk = Desk::new();
    let result = desk.json("data render cube cylO --train 3 --test 2 --size 24 --seed 4 --out solids --threads 2");
    assert_eq!((result["pictures"].as_u64(), result["size"].as_u64()), (Some(10), Some(24)), "{result}");
    assert_eq!(desk.names("solids"), ["test", "train"]);
    assert_eq!(desk.names("solids/test"), ["images", "rotations.npz"]);
    assert_eq!(
        desk.names("solids/test/images"),
        ["cube_00000.png", "cube_00001.png", "cylO_00000.png", "cylO_00001.png"]
    );
    let archive = Archive::open(&desk.path("solids")).expect("the layout");
    let cube = Solid::lookup("cube").expect("a cube");
    assert_eq!(archive.len(Split::Train, cube), 3);
    assert_eq!(archive.rotations(Split::Train, cube).expect("poses")[2].len(), 24);
    assert_eq!(archive.check_action().expect("a side"), Action::Right);
    desk.ok("data render cube cylO --train 3 --test 2 --size 24 --seed 4 --out again --threads 1");
    for name in ["train/rotations.npz", "train/images/cube_00002.png"] {
        let bytes = |folder: &str| common::bytes(&desk.path(folder).join(name));
        assert_eq!(bytes("solids"), bytes("again"), "{name}");
    }
}

#[test]
fn what_cannot_be_drawn_is_refused_with_advice() {
    let desk = Desk::new();
    desk.ok("data render tet --train 1 --test 0 --size 16 --out solids");
    assert!(desk.fails(2, "data render tet --train 1 --out solids").contains("not empty"));
    assert!(desk.fails(2, "data render cubes --out new").contains("a similar value exists: 'cube'"));
    assert!(desk.fails(2, "data render --train 1").contains("--out <DIR>"));
    assert!(desk.fails(2, "data render --train 1 --out -").contains("--out DIR"));
    assert!(desk.fails(2, "data render --size 0 --train 1 --test 1 --out new").contains("size"));
    assert!(!desk.path("new").exists());
    assert!(desk.ok("list solids").contains("symsol:cube"));
}
