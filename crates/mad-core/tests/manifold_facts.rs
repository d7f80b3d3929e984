//! Facts of single manifolds: their points, distances, groups, units and names.

use mad_core::{
    Unit,
    catalogue::{BuildContext, Spec, build},
    manifold::{Categorical, Euclid, Manifold, Product, Rotations, Sphere, Torus},
    rotation::{Group, Quaternion, multiply},
};
use std::{f64::consts::PI, sync::Arc};

#[test]
fn sign_rule_covers_half_turns() {
    let so3 = Rotations::new(None);
    let canonical = |mut q: Quaternion| {
        so3.canonicalise(&mut q);
        q
    };
    assert_eq!(canonical([0.6, 0.0, 0.0, -0.8]), [-0.6, 0.0, 0.0, 0.8]);
    assert_eq!(canonical([0.0, -1.0, 0.0, 0.0]), [0.0, 1.0, 0.0, 0.0]);
    let half_turn = canonical([-0.6, 0.8, 0.0, -0.0]);
    assert_eq!(half_turn, [0.6, -0.8, 0.0, 0.0]);
    assert!(half_turn[2].is_sign_positive() && half_turn[3].is_sign_positive(), "no minus zero");
}

#[test]
fn distances_are_rotation_angles() {
    let about_z = |angle: f64| [0.0, 0.0, (angle / 2.0).sin(), (angle / 2.0).cos()];
    let so3 = Rotations::new(None);
    assert!((so3.distance(&about_z(0.2), &about_z(1.3)) - 1.1).abs() < 1e-14);
    assert!((so3.distance(&about_z(0.0), &about_z(2.0 * PI)) - 0.0).abs() < 1e-14);
    let c4 = Rotations::new(Some(Group::Cyclic(4)));
    assert!((c4.distance(&about_z(0.2), &about_z(1.3)) - (PI / 2.0 - 1.1)).abs() < 1e-14);
    let axial = Rotations::new(Some(Group::Axial));
    assert!(axial.distance(&about_z(0.2), &about_z(1.3)) < 1e-14);
    let tilt = [(0.35_f64).sin(), 0.0, 0.0, (0.35_f64).cos()];
    assert!((axial.distance(&tilt, &about_z(2.0)) - 0.7).abs() < 1e-14);
    let flip = Rotations::new(Some(Group::AxialFlip));
    let upside_down = multiply(&tilt, &[1.0, 0.0, 0.0, 0.0]);
    assert!(flip.distance(&upside_down, &tilt) < 1e-14);
}

#[test]
fn projection_takes_the_largest_of_each_column() {
    let table = Categorical::new(vec![3, 2]).unwrap();
    let mut x = [0.2, 0.9, 0.8, -1.0, -2.0];
    table.project(&mut x);
    assert_eq!(x, [0.0, 1.0, 0.0, 1.0, 0.0]);
    assert_eq!(table.distance(&x, &[1.0, 0.0, 0.0, 1.0, 0.0]), std::f64::consts::SQRT_2);
    assert_eq!(table.distance(&x, &[1.0, 0.0, 0.0, 0.0, 1.0]), 2.0);
}

#[test]
fn grid_lists_every_combination_once() {
    let table = Categorical::new(vec![3, 4, 2]).unwrap();
    let grid = table.grid(1).unwrap();
    let mut seen: Vec<Vec<usize>> = grid.rows().map(|row| table.categories(row).collect()).collect();
    assert!(seen.is_sorted());
    seen.dedup();
    assert_eq!(seen.len(), 24);
    assert!(Categorical::new(vec![1000; 40]).unwrap().grid(10).is_none());
}

#[test]
fn units_fit_the_manifolds_whose_distances_they_measure() {
    let natural = |spec: &str, places| {
        let manifold = build(spec, &BuildContext::without_files()).unwrap();
        Unit::natural(manifold.as_ref(), places)
    };
    assert_eq!(natural("sphere:2", true), Unit::Kilometre);
    assert_eq!(natural("sphere:2", false), Unit::Degree);
    for spec in ["sphere:3", "so3", "so3/C4", "torus:7", "product(so3,torus:2)"] {
        assert_eq!(natural(spec, true), Unit::Degree, "{spec}");
    }
    for spec in ["euclid:2", "product(so3,euclid:3)", "categorical:3,2"] {
        assert_eq!(natural(spec, true), Unit::Plain, "{spec}");
    }
}

#[test]
fn a_degree_of_latitude_is_111_kilometres() {
    assert!((Unit::Degree.size() / Unit::Kilometre.size() - 111.195).abs() < 1e-3);
}

#[test]
fn distance_wraps_each_angle() {
    let at = |a: f64, b: f64| [a.cos(), a.sin(), b.cos(), b.sin()];
    let d = Torus::new(2).unwrap().distance(&at(3.0, 0.1), &at(-3.0, 0.5));
    assert!((d - (2.0 * PI - 6.0).hypot(0.4)).abs() < 1e-12, "{d}");
}

#[test]
fn blocks_keep_their_own_facts() {
    let poses: Arc<dyn Manifold> =
        Arc::new(Product::new(vec![Arc::new(Euclid::new(3).unwrap()), Arc::new(Rotations::new(None))]).unwrap());
    let nested = Product::new(vec![Arc::new(Sphere::new(2).unwrap()), poses]).unwrap();
    assert_eq!(nested.spec(), "product(sphere:2,product(euclid:3,so3))");
    assert_eq!((nested.ambient_dim(), nested.intrinsic_dim()), (10, 8));
    assert!(!nested.is_odd());
    assert_eq!(nested.odd_blocks(), std::iter::once(6..10).collect::<Vec<_>>());
}

#[test]
fn text_is_parsed_and_written_back() {
    let cases = [
        ("sphere:2", "sphere:2"),
        (" S2 ", "sphere:2"),
        ("so3/O", "so3/O"),
        ("product( so3 , euclid:3 )", "product(so3,euclid:3)"),
        ("product(categorical:3,4, 2,product(torus:1,s2))", "product(categorical:3,4, 2,product(torus:1,sphere:2))"),
        ("points:some dir/a,b(1).csv", "points:some dir/a,b(1).csv"),
    ];
    for (text, written) in cases {
        let spec: Spec = text.parse().unwrap();
        assert_eq!(spec.to_string(), written);
        assert_eq!(written.parse::<Spec>().unwrap(), spec);
    }
}
