//! The two kinds of maps that a flow is made of, on single quaternions in double precision, forth and back.

use mad_core::{
    rotation,
    rotation::{Quaternion, multiply},
};

/// Largest distance of a centre from the middle of the circle: no centre moves a point by more than 2 asin 0.7 = 89°, so that
/// means of angles are never ambiguous.
pub(super) const REACH: f64 = 0.7;

/// Half of the interval in which an angle is looked for when a circle map is undone: 2 asin 0.7 and a little.
pub(super) const BRACKET: f64 = 1.56;

/// Numbers of a projective map.
pub(super) const MAP: usize = 16;

/// Axes (c, a, b) of coupling number `index`.
pub(super) fn axes(index: usize) -> [usize; 3] {
    [index % 3, (index + 1) % 3, (index + 2) % 3]
}

/// q ↦ Wq/|Wq|.
#[derive(Debug, Clone)]
pub(super) struct Projective {
    numbers: [f64; MAP],
}

impl Projective {
    pub(super) fn new(numbers: &[f32]) -> Self {
        Self { numbers: std::array::from_fn(|i| f64::from(numbers[i])) }
    }

    fn at(&self, i: usize, j: usize) -> f64 {
        self.numbers[4 * i + j]
    }

    /// ln of the stretch at a point with |Wq| = norm.
    fn stretch(&self, norm: f64) -> f64 {
        (0..4).map(|i| self.at(i, i)).sum::<f64>() - 4.0 * norm.ln()
    }

    pub(super) fn apply(&self, q: &Quaternion) -> (Quaternion, f64) {
        let up: Quaternion = std::array::from_fn(|i| {
            (q[i] + (i + 1..4).map(|j| self.at(i, j) * q[j]).sum::<f64>()) * self.at(i, i).exp()
        });
        let down: Quaternion = std::array::from_fn(|i| up[i] + (0..i).map(|j| self.at(i, j) * up[j]).sum::<f64>());
        let norm = mad_core::special::norm(&down);
        (down.map(|v| v / norm), self.stretch(norm))
    }

    /// The point that is mapped to `q`, and ln of the stretch there.
    pub(super) fn undo(&self, q: &Quaternion) -> (Quaternion, f64) {
        let mut x = *q;
        for i in 0..4 {
            x[i] -= (0..i).map(|j| self.at(i, j) * x[j]).sum::<f64>();
        }
        for i in (0..4).rev() {
            x[i] = x[i] * (-self.at(i, i)).exp() - (i + 1..4).map(|j| self.at(i, j) * x[j]).sum::<f64>();
        }
        let norm = mad_core::special::norm(&x);
        // W(x/|x|) = q/|x|.
        (x.map(|v| v / norm), self.stretch(1.0 / norm))
    }
}

/// Centres in the plane of a circle, with their weights.
pub(super) struct Circle {
    /// Weight, real and imaginary part.
    pub(super) centres: Vec<[f64; 3]>,
}

impl Circle {
    /// What the network says of the circle around R e_c, seen from R e_a.
    pub(super) fn new(said: &[f32], q: &Quaternion, index: usize) -> Self {
        let k = said.len() / 4;
        let matrix = rotation::matrix(q);
        let [_, a, b] = axes(index);
        let soft = |v: f32| {
            let v = f64::from(v);
            v.max(0.0) + (-v.abs()).exp().ln_1p() + 1e-6
        };
        let total: f64 = said[..k].iter().map(|&v| soft(v)).sum();
        let centre = |(share, w): (&f32, &[f32])| {
            let along = |column: usize| (0..3).map(|i| f64::from(w[i]) * matrix[i][column]).sum::<f64>();
            let (u, v) = (along(a), along(b));
            let shrink = REACH / (1.0 + u * u + v * v).sqrt();
            [soft(*share) / total, shrink * u, shrink * v]
        };
        Self { centres: said[..k].iter().zip(said[k..].chunks_exact(3)).map(centre).collect() }
    }

    /// The angle by which the point at angle `t` is moved, and the stretch there.
    pub(super) fn shift(&self, t: f64) -> (f64, f64) {
        let (sin, cos) = t.sin_cos();
        self.centres.iter().fold((0.0, 0.0), |(shift, stretch), [share, u, v]| {
            // w as seen from the point.
            let (u, v) = (u * cos + v * sin, v * cos - u * sin);
            let away = (1.0 - u).powi(2) + v * v;
            (shift - 2.0 * share * (v / (1.0 - u)).atan(), stretch + share * (1.0 - u * u - v * v) / away)
        })
    }

    /// The angle t that is moved to zero: t + shift(t) = 0, by Newton's steps inside a shrinking bracket.
    pub(super) fn source(&self) -> f64 {
        let (mut low, mut high, mut t) = (-BRACKET, BRACKET, 0.0);
        for _ in 0..100 {
            let (shift, stretch) = self.shift(t);
            let off = t + shift;
            if off > 0.0 {
                high = t
            } else {
                low = t
            }
            let step = t - off / stretch;
            let next = if step > low && step < high { step } else { 0.5 * (low + high) };
            if (next - t).abs() < 1e-14 {
                return next;
            }
            t = next;
        }
        t
    }
}

/// q turned by `angle` about its own axis c.
pub(super) fn turned(q: &Quaternion, c: usize, angle: f64) -> Quaternion {
    let mut turn = [0.0, 0.0, 0.0, (0.5 * angle).cos()];
    turn[c] = (0.5 * angle).sin();
    multiply(q, &turn)
}
