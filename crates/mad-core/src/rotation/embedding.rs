//! Smooth coordinates of poses modulo symmetry.
//!
//! E(R) turns the lowest harmonic that a symmetry group leaves alone. It takes the same value on all of an orbit and different
//! values on different orbits, without seams: what a network can regress, and a function of noisy poses that is
//! equivariant by construction.
//!
//! # Reference
//! Arnold, Jupp and Schaeben, Statistics of ambiguous rotations, arXiv 1701.01579; Hielscher and Lippert, arXiv 2007.09664.

use super::harmonics::{Harmonics, MAX_DIM, legendre_at};
use super::{IDENTITY, Quaternion, Symmetry, canonical_sign, matrix, multiply, turn, uniform, unit};
use crate::rng::{Purpose, stream};
use nalgebra::{Matrix3, Matrix4, SymmetricEigen, Vector3};
use std::sync::{Arc, OnceLock};

/// Poses in the table that decoding starts from.
const TABLE: usize = 3000;

/// Most steps of one decoding.
const STEPS: usize = 40;

/// A step shorter than this, in radians, ends a decoding.
const CONVERGED: f64 = 1e-11;

/// E: poses modulo a symmetry group → unit vectors.
///
/// | group | numbers | what they are |
/// |---|---|---|
/// | SO(2) | 3 | the axis R e_z |
/// | O(2) | 5 | harmonics of degree 2 at the axis |
/// | T | 7 | degree 3, xyz in the frame of the cube |
/// | O | 9 | degree 4, x⁴ + y⁴ + z⁴ − 3/5 |
/// | I | 13 | degree 6, summed over the six axes through vertices |
/// | trivial | 9 | the rows of R, divided by √3 |
///
/// # Formula
/// E(R) = k Σ_a Y_l(R a) over the axes a of the group, k = (Σ_ab P_l(a·b))^{−½}, in an orthonormal basis Y_l. Under R ↦ exp(ω) R
/// it changes by Σ_k ω_k L_k E with fixed antisymmetric matrices L_k, and ω = 2 Im(dq q̄)/|q|².
#[derive(Debug, Clone)]
pub struct Embedding {
    symmetry: Symmetry,
    kind: Kind,
}

#[derive(Debug, Clone)]
enum Kind {
    Matrix,
    Axes(Arc<Axes>),
}

#[derive(Debug)]
struct Axes {
    harmonics: Harmonics,
    /// Directions whose harmonics are added, in the frame of the solid.
    directions: Vec<[f64; 3]>,
    scale: f64,
    /// Poses and their embeddings, where decoding starts; filled on first use.
    table: OnceLock<(Vec<Quaternion>, Vec<f64>)>,
}

/// The embeddings of the known groups, made once so that they share their tables.
fn shared(symmetry: Symmetry) -> Arc<Axes> {
    static ALL: OnceLock<[Arc<Axes>; 5]> = OnceLock::new();
    let golden = (1.0 + 5f64.sqrt()) / 2.0;
    let third = 1.0 / 3f64.sqrt();
    let all = ALL.get_or_init(|| {
        let axes = |degree, directions: Vec<[f64; 3]>| Arc::new(Axes::new(degree, directions));
        let long = 2f64.sqrt() * third;
        let edge = (1.0 + golden * golden).sqrt();
        let (short, tall) = (1.0 / edge, golden / edge);
        [
            axes(1, vec![[0.0, 0.0, 1.0]]),
            axes(2, vec![[0.0, 0.0, 1.0]]),
            axes(3, vec![[0.0, long, third], [0.0, -long, third], [long, 0.0, -third], [-long, 0.0, -third]]),
            axes(4, vec![[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
            axes(
                6,
                vec![
                    [short, tall, 0.0],
                    [short, -tall, 0.0],
                    [0.0, short, tall],
                    [0.0, short, -tall],
                    [tall, 0.0, short],
                    [-tall, 0.0, short],
                ],
            ),
        ]
    });
    let number = match symmetry {
        Symmetry::Axial => 0,
        Symmetry::AxialFlip => 1,
        Symmetry::Finite(list) => match list.len() {
            12 => 2,
            24 => 3,
            60 => 4,
            other => unreachable!("no solid has a group of {other} rotations"),
        },
        Symmetry::Trivial => unreachable!("the trivial group is embedded by its matrix"),
    };
    Arc::clone(&all[number])
}

impl Embedding {
    /// The embedding for one of the groups of the solids.
    pub fn new(symmetry: Symmetry) -> Self {
        let kind = if symmetry == Symmetry::Trivial { Kind::Matrix } else { Kind::Axes(shared(symmetry)) };
        Self { symmetry, kind }
    }

    /// The group.
    pub fn symmetry(&self) -> Symmetry {
        self.symmetry
    }

    /// Number of coordinates.
    pub fn dim(&self) -> usize {
        match &self.kind {
            Kind::Matrix => 9,
            Kind::Axes(axes) => axes.harmonics.dim(),
        }
    }

    /// E(q/|q|) for any q but zero; `out` has [`Embedding::dim`] numbers.
    pub fn value(&self, q: &[f64], out: &mut [f64]) {
        let rotation = matrix(q);
        match &self.kind {
            Kind::Matrix => {
                let scale = 1.0 / 3f64.sqrt();
                for (slot, entry) in out.iter_mut().zip(rotation.as_flattened()) {
                    *slot = scale * entry;
                }
            }
            Kind::Axes(axes) => {
                out.fill(0.0);
                for direction in &axes.directions {
                    axes.harmonics.add(&turn(&rotation, direction), out);
                }
                out.iter_mut().for_each(|v| *v *= axes.scale);
            }
        }
    }

    /// The rates of e = E(R) under turns of R about x, y and z of the camera: L_k e.
    fn rates(&self, e: &[f64], rates: &mut [[f64; 3]]) {
        match &self.kind {
            Kind::Matrix => {
                for j in 0..3 {
                    let [x, y, z] = [e[j], e[3 + j], e[6 + j]];
                    rates[j] = [0.0, z, -y];
                    rates[3 + j] = [-z, 0.0, x];
                    rates[6 + j] = [y, -x, 0.0];
                }
            }
            Kind::Axes(axes) => axes.harmonics.rates(e, rates),
        }
    }

    /// E(q/|q|) and its derivatives by the four numbers of q: `jacobian` holds dim rows of four.
    ///
    /// # Formula
    /// dE = Σ_k ω_k L_k E with ω = 2 Im(dq q̄)/|q|²; the derivative along q itself is zero.
    pub fn with_jacobian(&self, q: &[f64], out: &mut [f64], jacobian: &mut [f64]) {
        self.value(q, out);
        let mut rates = [[0.0; 3]; MAX_DIM];
        self.rates(out, &mut rates);
        let [x, y, z, w] = [q[0], q[1], q[2], q[3]];
        let s = 2.0 / (x * x + y * y + z * z + w * w);
        // Rows: ω_x, ω_y, ω_z; columns: by x, y, z, w.
        let m = [[s * w, -s * z, s * y, -s * x], [s * z, s * w, -s * x, -s * y], [-s * y, s * x, s * w, -s * z]];
        for (row, rate) in jacobian.chunks_exact_mut(4).zip(&rates) {
            for (j, slot) in row.iter_mut().enumerate() {
                *slot = rate[0] * m[0][j] + rate[1] * m[1][j] + rate[2] * m[2][j];
            }
        }
    }

    /// The pose whose embedding is nearest to e, as the representative of its orbit. The identity if e is zero or not finite.
    ///
    /// # Numerics
    /// SO(2), O(2) and the trivial group: an axis, a leading eigenvector of 3 × 3, one of 4 × 4. The others: the best of a table
    /// of poses, then Newton's method on e·E(R), whose second derivatives by ω are −(L_j e)·(L_k E) made symmetric; where these
    /// are not negative definite the Gauss–Newton matrix takes their place.
    pub fn decode(&self, e: &[f64]) -> Quaternion {
        let norm = crate::special::norm(e);
        if !(norm > 0.0 && norm.is_finite()) {
            return IDENTITY;
        }
        let mut target = [0.0; MAX_DIM];
        let target = &mut target[..self.dim()];
        target.iter_mut().zip(e).for_each(|(slot, v)| *slot = v / norm);
        let q = match (&self.kind, self.symmetry) {
            (Kind::Matrix, _) => nearest_rotation(target),
            (_, Symmetry::Axial) => from_axis(&[target[0], target[1], target[2]]),
            (_, Symmetry::AxialFlip) => from_axis(&leading_axis(target)),
            (Kind::Axes(axes), _) => self.climb(axes, target),
        };
        self.symmetry.canonical(&q)
    }

    fn climb(&self, axes: &Axes, target: &[f64]) -> Quaternion {
        let (poses, values) = axes.table.get_or_init(|| self.table());
        let dim = self.dim();
        let (mut best, mut most) = (0, f64::NEG_INFINITY);
        for (i, row) in values.chunks_exact(dim).enumerate() {
            let product: f64 = row.iter().zip(target).map(|(a, b)| a * b).sum();
            if product > most {
                (best, most) = (i, product);
            }
        }
        let mut q = poses[best];
        let (mut value, mut at_value, mut at_target) = ([0.0; MAX_DIM], [[0.0; 3]; MAX_DIM], [[0.0; 3]; MAX_DIM]);
        self.rates(target, &mut at_target);
        for _ in 0..STEPS {
            self.value(&q, &mut value[..dim]);
            self.rates(&value[..dim], &mut at_value);
            let mut gradient = Vector3::<f64>::zeros();
            let (mut newton, mut gauss) = (Matrix3::<f64>::zeros(), Matrix3::<f64>::zeros());
            for i in 0..dim {
                for j in 0..3 {
                    gradient[j] += target[i] * at_value[i][j];
                    for k in 0..3 {
                        newton[(j, k)] += 0.5 * (at_target[i][j] * at_value[i][k] + at_target[i][k] * at_value[i][j]);
                        gauss[(j, k)] += at_value[i][j] * at_value[i][k];
                    }
                }
            }
            let Some(factor) = newton.cholesky().or_else(|| gauss.cholesky()) else { break };
            let mut step = factor.solve(&gradient);
            let length = step.norm();
            if length > 0.3 {
                step *= 0.3 / length;
            }
            q = multiply(&[0.5 * step[0], 0.5 * step[1], 0.5 * step[2], 1.0], &q);
            unit(&mut q);
            if length < CONVERGED {
                break;
            }
        }
        q
    }

    fn table(&self) -> (Vec<Quaternion>, Vec<f64>) {
        let mut rng = stream(0, Purpose::Evaluate, 0);
        let poses: Vec<Quaternion> = (0..TABLE).map(|_| uniform(&mut rng)).collect();
        let mut values = vec![0.0; TABLE * self.dim()];
        for (row, q) in values.chunks_exact_mut(self.dim()).zip(&poses) {
            self.value(q, row);
        }
        (poses, values)
    }
}

impl Axes {
    fn new(degree: usize, directions: Vec<[f64; 3]>) -> Self {
        let cosine = |a: &[f64; 3], b: &[f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
        let square: f64 =
            directions.iter().flat_map(|a| directions.iter().map(move |b| legendre_at(degree, cosine(a, b)))).sum();
        Self { harmonics: Harmonics::new(degree), directions, scale: 1.0 / square.sqrt(), table: OnceLock::new() }
    }
}

/// The shortest rotation that takes e_z to the direction of `axis`.
fn from_axis(axis: &[f64; 3]) -> Quaternion {
    let norm = crate::special::norm(axis);
    let [x, y, z] = axis.map(|v| v / norm);
    if z < -1.0 + 1e-15 {
        return [1.0, 0.0, 0.0, 0.0];
    }
    // Half-angle: (e_z × a, 1 + e_z·a); near −e_z the sine carries the digits.
    let w = if z > 0.0 { 1.0 + z } else { (x * x + y * y) / (1.0 - z) };
    let mut q = [-y, x, 0.0, w];
    unit(&mut q);
    q
}

/// The axis u with the largest e·Y₂(u) = uᵀ Q u.
fn leading_axis(e: &[f64]) -> [f64; 3] {
    let half = 3f64.sqrt() / 2.0;
    let [c2, s2, c1, s1, c0] = [half * e[0], half * e[1], half * e[2], half * e[3], e[4]];
    let form = Matrix3::new(c2 - c0 / 2.0, s2, c1, s2, -c2 - c0 / 2.0, s1, c1, s1, c0);
    let eigen = SymmetricEigen::new(form);
    let axis = eigen.eigenvectors.column(eigen.eigenvalues.imax());
    [axis[0], axis[1], axis[2]]
}

/// The rotation R with the largest ⟨M, R⟩, M nine numbers row by row.
///
/// # Formula
/// ⟨M, R(q)⟩ = qᵀ K q with K linear in M (Davenport's q-method): its leading eigenvector.
fn nearest_rotation(m: &[f64]) -> Quaternion {
    let m = |i: usize, j: usize| m[3 * i + j];
    let trace = m(0, 0) + m(1, 1) + m(2, 2);
    let form = Matrix4::from_fn(|i, j| match (i.min(j), i.max(j)) {
        (3, 3) => trace,
        (0, 3) => m(2, 1) - m(1, 2),
        (1, 3) => m(0, 2) - m(2, 0),
        (2, 3) => m(1, 0) - m(0, 1),
        (a, b) if a == b => 2.0 * m(a, a) - trace,
        (a, b) => m(a, b) + m(b, a),
    });
    let eigen = SymmetricEigen::new(form);
    let leading = eigen.eigenvectors.column(eigen.eigenvalues.imax());
    let mut q = [leading[0], leading[1], leading[2], leading[3]];
    unit(&mut q);
    canonical_sign(&mut q);
    q
}
