//! The two moves of which every sampler is made.

use crate::{Points, rng::Rng};
use rand_distr::{Distribution, StandardNormal};

/// x ← D + keep (x − D): pulls every row towards its denoised point.
pub(super) fn pull(x: &mut Points, denoised: &Points, keep: f64) {
    for (x, d) in x.as_mut_slice().iter_mut().zip(denoised.as_slice()) {
        *x = d + keep * (*x - d);
    }
}

/// x ← x + std ε with fresh ε ~ N(0, I).
pub(super) fn add_noise(x: &mut Points, std: f64, rng: &mut Rng) {
    for x in x.as_mut_slice() {
        let z: f64 = StandardNormal.sample(rng);
        *x += std * z;
    }
}
