//! Real spherical harmonics of one degree, and how they change under rotations.
//!
//! The 2l+1 functions stand in the order c_l, s_l, c_{l−1}, s_{l−1}, …, c_0, which for l = 1 is x, y, z. They are orthogonal and
//! scaled so that the sum of their squares is 1 everywhere on the sphere; with Y the vector of them, Y(u)·Y(v) = P_l(u·v).

/// Largest degree.
pub(super) const MAX_DEGREE: usize = 6;

/// Largest number of functions.
pub(super) const MAX_DIM: usize = 2 * MAX_DEGREE + 1;

/// The harmonics of one degree.
#[derive(Debug, Clone)]
pub(super) struct Harmonics {
    degree: usize,
    /// For each order m the coefficients of N_m d^m P_l/dz^m in z², after one factor z where l − m is odd.
    polynomials: [[f64; 4]; MAX_DEGREE + 1],
    /// α_m = √(l(l+1) − m(m+1)).
    ladder: [f64; MAX_DEGREE + 1],
}

impl Harmonics {
    /// # Formula
    /// c_m + i s_m = N_m (x + iy)^m d^m P_l(z)/dz^m with N_m² = 2 (l−m)!/(l+m)!, and N_0 = 1.
    pub(super) fn new(degree: usize) -> Self {
        assert!((1..=MAX_DEGREE).contains(&degree), "degree {degree}");
        let mut derivative = legendre(degree);
        let mut polynomials = [[0.0; 4]; MAX_DEGREE + 1];
        let mut ladder = [0.0; MAX_DEGREE + 1];
        let mut square = 2.0;
        for m in 0..=degree {
            if m > 0 {
                square /= ((degree - m + 1) * (degree + m)) as f64;
                derivative = (1..derivative.len()).map(|k| k as f64 * derivative[k]).collect();
            }
            let scale = if m == 0 { 1.0 } else { f64::sqrt(square) };
            let odd = (degree - m) % 2;
            for (k, slot) in polynomials[m].iter_mut().enumerate() {
                *slot = scale * derivative.get(2 * k + odd).copied().unwrap_or(0.0);
            }
            ladder[m] = ((degree * (degree + 1) - m * (m + 1)) as f64).sqrt();
        }
        Self { degree, polynomials, ladder }
    }

    /// Number of functions.
    pub(super) fn dim(&self) -> usize {
        2 * self.degree + 1
    }

    /// Adds the harmonics at the unit vector u to `out`.
    pub(super) fn add(&self, u: &[f64; 3], out: &mut [f64]) {
        let [x, y, z] = *u;
        let square = z * z;
        let (mut re, mut im) = (1.0, 0.0);
        for m in 0..=self.degree {
            let c = &self.polynomials[m];
            let even = ((c[3] * square + c[2]) * square + c[1]) * square + c[0];
            let value = if (self.degree - m) % 2 == 1 { even * z } else { even };
            let at = 2 * (self.degree - m);
            out[at] += value * re;
            if m > 0 {
                out[at + 1] += value * im;
            }
            (re, im) = (re * x - im * y, re * y + im * x);
        }
    }

    /// The rates at which a vector e of coefficients changes when its function is turned about x, y and z.
    ///
    /// # Formula
    /// From L_± Y_m = α Y_{m±1} and d/dt = i L_k:
    /// about x: c_m′ = ½(α_m s_{m+1} + α_{m−1} s_{m−1}), s_m′ = −½(α_m c_{m+1} + α_{m−1} c_{m−1});
    /// about y: c_m′ = ½(α_{m−1} c_{m−1} − α_m c_{m+1}), likewise s_m; about z: c_m′ = −m s_m, s_m′ = m c_m.
    /// The term with c_0 in the rates of order 1 counts √2 times, that with s_0 = 0 not at all, and of c_0 itself
    /// c_0′ = α_0 s_1/√2 about x, −α_0 c_1/√2 about y.
    pub(super) fn rates(&self, e: &[f64], rates: &mut [[f64; 3]]) {
        let l = self.degree;
        let pair = |m: usize| {
            let at = 2 * (l - m);
            if m == 0 { (e[at] * std::f64::consts::SQRT_2, 0.0) } else { (e[at], e[at + 1]) }
        };
        let (mut above, mut here) = ((0.0, 0.0), pair(l));
        for m in (1..=l).rev() {
            let below = pair(m - 1);
            let (up, down) = (0.5 * self.ladder[m], 0.5 * self.ladder[m - 1]);
            let order = m as f64;
            let at = 2 * (l - m);
            rates[at] = [up * above.1 + down * below.1, down * below.0 - up * above.0, -order * here.1];
            rates[at + 1] = [-(up * above.0 + down * below.0), down * below.1 - up * above.1, order * here.0];
            (above, here) = (here, below);
        }
        let half = self.ladder[0] * std::f64::consts::FRAC_1_SQRT_2;
        rates[2 * l] = [half * above.1, -half * above.0, 0.0];
    }
}

/// P_l(t).
pub(super) fn legendre_at(degree: usize, t: f64) -> f64 {
    legendre(degree).iter().rev().fold(0.0, |sum, c| sum * t + c)
}

/// Coefficients of P_l by (k+1) P_{k+1} = (2k+1) t P_k − k P_{k−1}.
fn legendre(degree: usize) -> Vec<f64> {
    let (mut last, mut this) = (vec![1.0], vec![0.0, 1.0]);
    for k in 1..degree {
        let mut next = vec![0.0; k + 2];
        for (i, c) in this.iter().enumerate() {
            next[i + 1] += (2 * k + 1) as f64 * c;
        }
        for (i, c) in last.iter().enumerate() {
            next[i] -= k as f64 * c;
        }
        next.iter_mut().for_each(|c| *c /= (k + 1) as f64);
        (last, this) = (this, next);
    }
    if degree == 0 { last } else { this }
}
