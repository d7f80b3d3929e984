//! Where the noise lives: the set on which the poses of one image lie, inside Euclidean space.

use crate::{
    condition::{Condition, Turn},
    config::{Config, Targets},
};
use mad_core::{
    catalogue::{BuildContext, build},
    manifold::Manifold,
    measure::orbit::orbit_mean,
    rng::Rng,
    rotation,
    rotation::{Embedding, Quaternion, Symmetry},
};
use rand::RngExt as _;
use std::{f64::consts::TAU, sync::Arc};

/// The positions in which a picture is evaluated: all that move its pose in a known way, or its own alone.
pub(super) fn positions(config: &Config) -> Vec<Turn> {
    match *config.condition {
        Condition::Solid(solid) if config.symmetrised => Turn::all(solid.is_mirror_symmetric()),
        _ => vec![Turn::NONE],
    }
}

/// A vector of the ambient space; three coordinates use the first three places.
pub(super) type State = [f64; 4];

/// What is noised, and what the clean point may have been.
///
/// With `Orbit`, x₀ is any of the points ±q g; solids with an axis have orbits that are spheres again, so that x₀ is the axis
/// a = R e_z itself, up to its sign if the solid has no tip. With `Canonical`, x₀ is ± one fixed representative.
#[derive(Debug, Clone)]
pub(super) enum Space {
    /// ±q g in R⁴.
    Orbit(Symmetry),
    /// Axes in R³.
    Axes { flip: bool },
    /// ±ψ(q) in R⁴.
    Canonical(Symmetry),
}

impl Space {
    pub fn new(symmetry: Symmetry, targets: Targets) -> Self {
        match (targets, symmetry) {
            (Targets::Canonical, symmetry) => Space::Canonical(symmetry),
            (_, Symmetry::Axial) => Space::Axes { flip: false },
            (_, Symmetry::AxialFlip) => Space::Axes { flip: true },
            (_, symmetry) => Space::Orbit(symmetry),
        }
    }

    /// Ambient coordinates.
    pub fn dim(&self) -> usize {
        if matches!(self, Space::Axes { .. }) { 3 } else { 4 }
    }

    /// The set, with its uniform base measure.
    pub fn manifold(&self) -> Arc<dyn Manifold> {
        let spec = if matches!(self, Space::Axes { .. }) { "sphere:2" } else { "so3" };
        build(spec, &BuildContext::without_files()).expect("a manifold of the registry")
    }

    /// A clean point that stands for a pose.
    pub fn clean(&self, pose: &Quaternion) -> State {
        match self {
            Space::Orbit(_) => *pose,
            Space::Canonical(symmetry) => symmetry.canonical(pose),
            Space::Axes { .. } => {
                let [x, y, z] = rotation::axis(pose);
                [x, y, z, 0.0]
            }
        }
    }

    /// E[x₀ | x] over all clean points of a pose.
    ///
    /// # Formula
    /// For two points ±u it is tanh(u·x/σ²) u.
    pub fn mean(&self, clean: &State, x: &[f64], sigma: f64) -> State {
        let both = || {
            let tilt = (dot(clean, x) / (sigma * sigma)).tanh();
            clean.map(|u| tilt * u)
        };
        match self {
            Space::Axes { flip: false } => *clean,
            Space::Axes { flip: true } | Space::Canonical(_) => both(),
            Space::Orbit(symmetry) => {
                let mut mean = [0.0; 4];
                orbit_mean(*symmetry, clean, x, sigma, &mut mean);
                mean
            }
        }
    }

    /// A rotation for a point of the set, drawn evenly from those that it stands for.
    pub fn pose(&self, x: &[f64], rng: &mut Rng) -> Quaternion {
        match self {
            Space::Orbit(_) => [x[0], x[1], x[2], x[3]],
            Space::Canonical(symmetry) => symmetry.lift(&[x[0], x[1], x[2], x[3]], rng),
            Space::Axes { flip } => {
                let sign = if *flip && rng.random::<bool>() { -1.0 } else { 1.0 };
                rotation::with_axis(&[sign * x[0], sign * x[1], sign * x[2]], TAU * rng.random::<f64>())
            }
        }
    }

    /// The point after a move of the picture; linear in x.
    pub fn turned(&self, turn: Turn, x: &[f64]) -> State {
        match self {
            Space::Axes { .. } => {
                let flipped = [if turn.flipped { -x[0] } else { x[0] }, x[1], x[2], 0.0];
                quarter_turns(flipped, turn.quarters)
            }
            _ => turn.pose(&[x[0], x[1], x[2], x[3]]),
        }
    }

    /// The point before a move of the picture.
    pub(crate) fn unturned(&self, turn: Turn, x: &[f64]) -> State {
        match self {
            Space::Axes { .. } => {
                let mut x = quarter_turns([x[0], x[1], x[2], 0.0], (4 - turn.quarters) % 4);
                x[0] = if turn.flipped { -x[0] } else { x[0] };
                x
            }
            _ => turn.undo(&[x[0], x[1], x[2], x[3]]),
        }
    }
}

/// Quarter turns about the third axis.
fn quarter_turns(mut x: State, quarters: usize) -> State {
    for _ in 0..quarters {
        x = [-x[1], x[0], x[2], x[3]];
    }
    x
}

fn dot(a: &State, b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// A smooth function of points that is the same for all clean points of a pose and tells different poses apart.
#[derive(Debug, Clone)]
pub(super) enum StateEmbedding {
    /// Of quaternions.
    Rotations(Embedding),
    /// The axis itself.
    Axis,
    /// The axis up to its sign: harmonics of degree two.
    Line,
}

impl StateEmbedding {
    pub fn new(symmetry: Symmetry) -> Self {
        match symmetry {
            Symmetry::Axial => StateEmbedding::Axis,
            Symmetry::AxialFlip => StateEmbedding::Line,
            symmetry => StateEmbedding::Rotations(Embedding::new(symmetry)),
        }
    }

    /// Numbers of the embedding.
    pub fn dim(&self) -> usize {
        match self {
            StateEmbedding::Rotations(embedding) => embedding.dim(),
            StateEmbedding::Axis => 3,
            StateEmbedding::Line => 5,
        }
    }

    /// The embedding of x/|x| and its derivative by x, row by row of the embedding.
    pub fn with_jacobian(&self, x: &[f64], value: &mut [f64], jacobian: &mut [f64]) {
        match self {
            StateEmbedding::Rotations(embedding) => embedding.with_jacobian(x, value, jacobian),
            StateEmbedding::Axis => {
                let (length, a) = direction(x);
                value.copy_from_slice(&a);
                for i in 0..3 {
                    for k in 0..3 {
                        jacobian[3 * i + k] = (f64::from(i == k) - a[i] * a[k]) / length;
                    }
                }
            }
            StateEmbedding::Line => {
                let (length, a) = direction(x);
                let [x, y, z] = a;
                let root = 3.0_f64.sqrt();
                value.copy_from_slice(&[
                    root * x * y,
                    root * y * z,
                    root * z * x,
                    0.5 * root * (x * x - y * y),
                    0.5 * (3.0 * z * z - 1.0),
                ]);
                let slopes = [
                    [root * y, root * x, 0.0],
                    [0.0, root * z, root * y],
                    [root * z, 0.0, root * x],
                    [root * x, -root * y, 0.0],
                    [0.0, 0.0, 3.0 * z],
                ];
                for (row, slope) in jacobian.chunks_exact_mut(3).zip(slopes) {
                    let along = slope.iter().zip(&a).map(|(s, a)| s * a).sum::<f64>();
                    for k in 0..3 {
                        row[k] = (slope[k] - along * a[k]) / length;
                    }
                }
            }
        }
    }

    /// Root mean square factor by which the embedding stretches steps along the set.
    pub fn stretch(&self) -> f64 {
        let x = [0.36, 0.48, 0.6, 0.53];
        let (dim, intrinsic) = if matches!(self, StateEmbedding::Rotations(_)) { (4, 3.0) } else { (3, 2.0) };
        let length = x[..dim].iter().map(|x| x * x).sum::<f64>().sqrt();
        let x: Vec<f64> = x[..dim].iter().map(|x| x / length).collect();
        let (mut value, mut jacobian) = (vec![0.0; self.dim()], vec![0.0; self.dim() * dim]);
        self.with_jacobian(&x, &mut value, &mut jacobian);
        (jacobian.iter().map(|j| j * j).sum::<f64>() / intrinsic).sqrt()
    }
}

fn direction(x: &[f64]) -> (f64, [f64; 3]) {
    let length = (x[0] * x[0] + x[1] * x[1] + x[2] * x[2]).sqrt().max(1e-12);
    (length, [x[0] / length, x[1] / length, x[2] / length])
}

#[cfg(test)]
mod tests {
    use super::*;
    use mad_core::{
        rng::{Purpose, stream},
        solids::SOLIDS,
    };

    fn spaces() -> Vec<(Symmetry, Space)> {
        let both = [Targets::Orbit, Targets::Canonical];
        SOLIDS.iter().flat_map(|s| both.map(|targets| (s.symmetry(), Space::new(s.symmetry(), targets)))).collect()
    }

    #[test]
    fn clean_points_stand_for_their_pose() {
        let mut rng = stream(1, Purpose::Data, 0);
        for (symmetry, space) in spaces() {
            for _ in 0..20 {
                let pose = rotation::uniform(&mut rng);
                let clean = space.clean(&pose);
                let back = space.pose(&clean[..space.dim()], &mut rng);
                assert!(symmetry.distance(&back, &pose) < 1e-6, "{space:?}");
                // Without noise the posterior mean is the clean point, or its other sign.
                let mean = space.mean(&clean, &clean[..space.dim()], 1e-3);
                assert!(clean.iter().zip(mean).all(|(a, b)| (a - b).abs() < 1e-9), "{space:?}");
            }
        }
    }

    #[test]
    fn moves_of_the_picture_can_be_undone_and_agree_with_poses() {
        let mut rng = stream(2, Purpose::Data, 0);
        for (symmetry, space) in spaces() {
            for turn in Turn::all(true) {
                let pose = rotation::uniform(&mut rng);
                let clean = space.clean(&pose);
                let x = &clean[..space.dim()];
                let back = space.unturned(turn, &space.turned(turn, x)[..space.dim()]);
                assert!(clean.iter().zip(back).all(|(a, b)| (a - b).abs() < 1e-12));
                if matches!(space, Space::Axes { .. }) {
                    let there = space.pose(&space.turned(turn, x)[..3], &mut rng);
                    assert!(symmetry.distance(&there, &turn.pose(&pose)) < 1e-6, "{turn:?}");
                }
            }
        }
    }

    #[test]
    fn embeddings_of_axes_have_true_derivatives_and_unit_length() {
        for embedding in [StateEmbedding::Axis, StateEmbedding::Line] {
            let (m, x) = (embedding.dim(), [0.3, -1.1, 0.4]);
            let at = |x: &[f64]| {
                let (mut value, mut jacobian) = (vec![0.0; m], vec![0.0; 3 * m]);
                embedding.with_jacobian(x, &mut value, &mut jacobian);
                (value, jacobian)
            };
            let (value, jacobian) = at(&x);
            assert!((value.iter().map(|v| v * v).sum::<f64>() - 1.0).abs() < 1e-12);
            for k in 0..3 {
                let h = 1e-6;
                let (mut up, mut down) = (x, x);
                up[k] += h;
                down[k] -= h;
                for (i, (u, d)) in at(&up).0.iter().zip(at(&down).0).enumerate() {
                    assert!(((u - d) / (2.0 * h) - jacobian[3 * i + k]).abs() < 1e-8);
                }
            }
        }
        assert!((StateEmbedding::Axis.stretch() - 1.0).abs() < 1e-12);
        assert!((StateEmbedding::Line.stretch() - 3.0_f64.sqrt()).abs() < 1e-12);
    }
}
