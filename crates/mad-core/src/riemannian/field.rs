//! Flows along tangent fields: points moved, densities followed.

use super::Spheres;
use crate::Points;

/// A field of tangent vectors that changes over time.
pub trait TangentField: Send + Sync {
    /// The vectors at all rows of `x`.
    fn at(&self, x: &Points, t: f64) -> Points;

    /// The vectors at all rows of `x`, and the divergence of the field on the set there.
    fn with_divergence(&self, x: &Points, t: f64) -> (Points, Vec<f64>);
}

/// How to follow dx/dt = v(x, t).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Flow {
    /// Time at the start.
    pub from: f64,
    /// Time at the end; may be earlier.
    pub to: f64,
    /// Steps of equal length.
    pub steps: usize,
}

impl Flow {
    /// Moves all rows of `x` along geodesics, one call of the field per step.
    ///
    /// # Formula
    /// x ← exp_x(v dt), Euler's method on the set.
    pub fn euler(&self, spheres: &Spheres, field: &dyn TangentField, x: &mut Points) {
        let dt = (self.to - self.from) / self.steps as f64;
        for i in 0..self.steps {
            let mut v = field.at(x, self.from + dt * i as f64);
            v.as_mut_slice().iter_mut().for_each(|v| *v *= dt);
            x.rows_mut().zip(v.rows()).for_each(|(x, v)| spheres.exp(x, v));
        }
    }

    /// Moves all rows of `x` and returns ∫ div v dt along the way of each, which is how much log p falls.
    ///
    /// # Numerics
    /// Classical fourth-order Runge-Kutta on the field extended by x/|x|, put back onto the set after each step; four calls per
    /// step.
    pub fn follow(&self, spheres: &Spheres, field: &dyn TangentField, x: &mut Points) -> Vec<f64> {
        let dt = (self.to - self.from) / self.steps as f64;
        let mut total = vec![0.0; x.len()];
        let moved = |x: &Points, v: &Points, size: f64| {
            let mut there = x.clone();
            there.as_mut_slice().iter_mut().zip(v.as_slice()).for_each(|(x, v)| *x += size * v);
            there.rows_mut().for_each(|x| spheres.normalise(x));
            there
        };
        for i in 0..self.steps {
            let t = self.from + dt * i as f64;
            let (k1, d1) = field.with_divergence(x, t);
            let (k2, d2) = field.with_divergence(&moved(x, &k1, 0.5 * dt), t + 0.5 * dt);
            let (k3, d3) = field.with_divergence(&moved(x, &k2, 0.5 * dt), t + 0.5 * dt);
            let (k4, d4) = field.with_divergence(&moved(x, &k3, dt), t + dt);
            let mut slope = k1;
            for (((a, b), c), d) in
                slope.as_mut_slice().iter_mut().zip(k2.as_slice()).zip(k3.as_slice()).zip(k4.as_slice())
            {
                *a = (*a + 2.0 * b + 2.0 * c + d) / 6.0;
            }
            for (j, total) in total.iter_mut().enumerate() {
                *total += dt * (d1[j] + 2.0 * d2[j] + 2.0 * d3[j] + d4[j]) / 6.0;
            }
            *x = moved(x, &slope, dt);
        }
        total
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{BuildContext, build};

    /// The field of Möbius maps towards the north pole, v = ∇z, whose flow is known.
    struct North;

    impl TangentField for North {
        fn at(&self, x: &Points, _t: f64) -> Points {
            let mut v = x.clone();
            v.rows_mut().for_each(|x| {
                let z = x[2];
                x.iter_mut().for_each(|x| *x *= -z);
                x[2] += 1.0;
            });
            v
        }

        fn with_divergence(&self, x: &Points, t: f64) -> (Points, Vec<f64>) {
            (self.at(x, t), x.rows().map(|x| -2.0 * x[2]).collect())
        }
    }

    /// z = tanh(t + artanh z₀); areas change as (1 − z²)/(1 − z₀²).
    #[test]
    fn follows_a_known_flow() {
        let sphere =
            Spheres::of(build("sphere:2", &BuildContext::without_files()).expect("known").as_ref()).expect("spheres");
        let start = Points::from_vec(vec![0.8, 0.0, -0.6, 0.0, 1.0, 0.0], 3);
        let mut x = start.clone();
        let change = Flow { from: 0.0, to: 1.5, steps: 20 }.follow(&sphere, &North, &mut x);
        let mut rough = start.clone();
        Flow { from: 0.0, to: 1.5, steps: 2000 }.euler(&sphere, &North, &mut rough);
        for (i, (start, x)) in start.rows().zip(x.rows()).enumerate() {
            let z = (1.5 + start[2].atanh()).tanh();
            let log_area = ((1.0 - z * z) / (1.0 - start[2] * start[2])).ln();
            assert!((x[2] - z).abs() < 1e-6 && (change[i] - log_area).abs() < 1e-5, "{} {z}", x[2]);
            assert!((rough.row(i)[2] - z).abs() < 1e-3);
        }
        Flow { from: 1.5, to: 0.0, steps: 20 }.follow(&sphere, &North, &mut x);
        assert!(x.as_slice().iter().zip(start.as_slice()).all(|(a, b)| (a - b).abs() < 1e-5), "the way back");
    }
}
