//! Special functions and small vector sums that keep their accuracy where the plain formula loses it.

mod bessel;
mod exp;
mod norm;
mod tilt;

pub use bessel::{bessel_ratio, bessel_ratio_complement, ln_bessel_i, ln_mean_exp, ln_mean_exp_scaled};
pub(crate) use exp::exp_all;
pub(crate) use norm::norm_minus_one;
pub use norm::{distance_squared, dot, log_sum_exp, norm};
pub use tilt::TiltTable;
