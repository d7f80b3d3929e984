//! Activation functions, vectorised, with their derivatives.

use burn_tensor::{
    Tensor,
    activation::{sigmoid as plain_sigmoid, silu as plain_silu},
};

use super::simd::multiply_add;

/// The function applied to each unit of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Activation {
    /// y = z.
    Identity,
    /// y = sin z.
    Sin,
    /// y = z / (1 + e⁻ᶻ).
    Silu,
}

impl Activation {
    /// The plain composition of Burn operations, for every backend.
    pub fn apply<const D: usize>(self, z: Tensor<D>) -> Tensor<D> {
        match self {
            Self::Identity => z,
            Self::Sin => z.sin(),
            Self::Silu => plain_silu(z),
        }
    }

    /// The derivative as a plain composition of Burn operations.
    pub fn slope<const D: usize>(self, z: Tensor<D>) -> Tensor<D> {
        match self {
            Self::Identity => z.ones_like(),
            Self::Sin => z.cos(),
            Self::Silu => {
                let sigmoid = plain_sigmoid(z.clone());
                sigmoid.clone() * (z * (sigmoid.neg() + 1.0) + 1.0)
            }
        }
    }
}

/// Arguments beyond this lose digits in the reduction modulo π and take the standard library's sine instead.
const SINE_LIMIT: f32 = 30_000.0;

/// (sin x, cos x).
///
/// # Numerics
/// x = k π + r with |r| ≤ π/2 and π split in four parts whose products with k are exact, then one polynomial for
/// each function. Below 30 000 the sine is good to 2 ulp and the cosine to 2e-7 in absolute value.
#[expect(clippy::excessive_precision, reason = "parts of π and fitted coefficients, written as computed")]
#[inline(always)]
fn sine_cosine<const FMA: bool>(x: f32) -> (f32, f32) {
    /// 1.5 · 2²³: adding it rounds to an integer held in the low bits.
    const ROUND: f32 = 12_582_912.0;
    let shifted = multiply_add::<FMA>(x, std::f32::consts::FRAC_1_PI, ROUND);
    let sign = shifted.to_bits() << 31;
    let k = shifted - ROUND;
    let r = multiply_add::<FMA>(k, -3.140_625, x);
    let r = multiply_add::<FMA>(k, -0.000_967_025_756_835_937_5, r);
    // So far nothing was rounded. The error of the third subtraction is kept, so that r is rounded once.
    let third = k * 6.277_114_152_908_325_2e-7;
    let rounded = r - third;
    let error = (r - rounded) - third;
    let r = rounded + multiply_add::<FMA>(k, -1.215_420_125_655_342e-10, error);
    let s = r * r;
    let p = multiply_add::<FMA>(2.608_316e-6, s, -0.000_198_106_907);
    let p = multiply_add::<FMA>(p, s, 0.008_333_078_6);
    let p = multiply_add::<FMA>(p, s, -0.166_666_597);
    let sine = multiply_add::<FMA>(s * p, r, r);
    let q = multiply_add::<FMA>(-2.607_566_2e-7, s, 2.476_180_8e-5);
    let q = multiply_add::<FMA>(q, s, -0.001_388_840_3);
    let q = multiply_add::<FMA>(q, s, 0.041_666_642);
    let q = multiply_add::<FMA>(q, s, -0.5);
    let cosine = multiply_add::<FMA>(q, s, 1.0);
    (f32::from_bits(sine.to_bits() ^ sign), f32::from_bits(cosine.to_bits() ^ sign))
}

/// eˣ for x ≤ 0; zero below -87.
#[inline(always)]
fn exponential<const FMA: bool>(x: f32) -> f32 {
    const ROUND: f32 = 12_582_912.0;
    let clamped = if x < -87.0 { -87.0 } else { x };
    let shifted = multiply_add::<FMA>(clamped, std::f32::consts::LOG2_E, ROUND);
    let k = shifted - ROUND;
    let r = multiply_add::<FMA>(k, -0.693_145_75, clamped);
    let r = multiply_add::<FMA>(k, -1.428_606_8e-6, r);
    let p = multiply_add::<FMA>(0.000_198_527_62, r, 0.001_393_043_6);
    let p = multiply_add::<FMA>(p, r, 0.008_333_361);
    let p = multiply_add::<FMA>(p, r, 0.041_666_485);
    let p = multiply_add::<FMA>(p, r, 0.166_666_67);
    let p = multiply_add::<FMA>(p, r, 0.5);
    let value = 1.0 + multiply_add::<FMA>(r * r, p, r);
    // The low bits of `shifted` hold k; moved into the exponent they multiply by 2ᵏ.
    let scaled = f32::from_bits(value.to_bits().wrapping_add(shifted.to_bits() << 23));
    if x < -87.0 { 0.0 } else { scaled }
}

/// (z σ(z), σ(z) + z σ(z) (1 - σ(z))) with σ the logistic function.
///
/// # Numerics
/// e^{-|z|} never overflows and gives σ and 1 - σ without cancellation. Below z = -87, where |z σ(z)| < 2e-36, the value
/// is zero.
#[inline(always)]
pub(super) fn silu_slope<const FMA: bool>(z: f32) -> (f32, f32) {
    let e = exponential::<FMA>(-z.abs());
    let larger = 1.0 / (1.0 + e);
    let smaller = e * larger;
    let (sigmoid, complement) = if z < 0.0 { (smaller, larger) } else { (larger, smaller) };
    let value = z * sigmoid;
    (value, multiply_add::<FMA>(value, complement, sigmoid))
}

/// σ(z) (1 - σ(z)) (2 + z (1 - 2 σ(z))), the second derivative of z σ(z).
#[inline(always)]
fn silu_curvature<const FMA: bool>(z: f32) -> f32 {
    let e = exponential::<FMA>(-z.abs());
    let larger = 1.0 / (1.0 + e);
    let product = e * larger * larger;
    // z (1 - 2 σ(z)) = -|z| (1 - e)/(1 + e)
    product * (2.0 - z.abs() * (1.0 - e) * larger)
}

/// Replaces every z by the first result of `function`, and writes the second to `slopes` unless there are none.
#[inline(always)]
fn map(values: &mut [f32], slopes: &mut [f32], function: impl Fn(f32) -> (f32, f32)) {
    if slopes.is_empty() {
        for z in values {
            *z = function(*z).0;
        }
    } else {
        for (z, slope) in values.iter_mut().zip(slopes) {
            (*z, *slope) = function(*z);
        }
    }
}

/// The standard library's sine and cosine, for all rows of a block of which one has a huge argument. Kept apart: calls inside the fast loops would keep these from being vectorised.
#[cold]
#[inline(never)]
fn map_huge_sines(values: &mut [f32], slopes: &mut [f32]) {
    map(values, slopes, f32::sin_cos);
}

/// act(z + b) in place for the rows of a panel.
#[inline(always)]
pub(super) fn activate<const P: usize, const FMA: bool>(
    activation: Activation,
    rows: &mut [[f32; P]],
    bias: &[f32; P],
) {
    activate_slope::<P, FMA>(activation, rows, bias, &mut []);
}

/// As [`activate`], and writes act'(z + b) to `slopes`, unless that is empty.
#[inline(always)]
pub(super) fn activate_slope<const P: usize, const FMA: bool>(
    activation: Activation,
    rows: &mut [[f32; P]],
    bias: &[f32; P],
    slopes: &mut [[f32; P]],
) {
    assert!(slopes.is_empty() || slopes.len() == rows.len(), "one slope for each number");
    for row in rows.iter_mut() {
        for (z, b) in row.iter_mut().zip(bias) {
            *z += b;
        }
    }
    let (values, slopes) = (rows.as_flattened_mut(), slopes.as_flattened_mut());
    match activation {
        Activation::Identity => slopes.fill(1.0),
        Activation::Sin => {
            let beyond = values.iter().fold(0, |beyond, z| beyond | u32::from(z.abs() > SINE_LIMIT)) != 0;
            match beyond {
                true => map_huge_sines(values, slopes),
                false => map(values, slopes, sine_cosine::<FMA>),
            }
        }
        Activation::Silu => map(values, slopes, silu_slope::<FMA>),
    }
}

/// As [`activate_slope`], and writes act''(z + b) to `curvatures`.
#[inline(always)]
pub(super) fn activate_curved<const P: usize, const FMA: bool>(
    activation: Activation,
    rows: &mut [[f32; P]],
    bias: &[f32; P],
    slopes: &mut [[f32; P]],
    curvatures: &mut [[f32; P]],
) {
    if activation == Activation::Silu {
        for (curvature, z) in curvatures.iter_mut().zip(&*rows) {
            for j in 0..P {
                curvature[j] = silu_curvature::<FMA>(z[j] + bias[j]);
            }
        }
    }
    activate_slope::<P, FMA>(activation, rows, bias, slopes);
    match activation {
        Activation::Identity => curvatures.as_flattened_mut().fill(0.0),
        Activation::Sin => {
            for (curvature, y) in curvatures.as_flattened_mut().iter_mut().zip(rows.as_flattened()) {
                *curvature = -y;
            }
        }
        Activation::Silu => {}
    }
}

#[cfg(test)]
mod tests {
    use super::super::{
        lanes::Lanes,
        simd::{Simd, for_each_simd},
    };
    use super::*;

    fn apply_body<L: Lanes, const M: usize, const P: usize, const FMA: bool>(
        activation: Activation,
        values: &mut [f32],
    ) {
        activate::<P, FMA>(activation, values.as_chunks_mut().0, &[0.0; P]);
    }

    fn apply_slope_body<L: Lanes, const M: usize, const P: usize, const FMA: bool>(
        activation: Activation,
        values: &mut [f32],
        slopes: &mut [f32],
    ) {
        activate_slope::<P, FMA>(activation, values.as_chunks_mut().0, &[0.0; P], slopes.as_chunks_mut().0);
    }

    // Lengths are multiples of 32, the widest panel.
    for_each_simd! {
        tiled fn apply(activation: Activation, values: &mut [f32]) = apply_body
    }
    for_each_simd! {
        tiled fn apply_slope(activation: Activation, values: &mut [f32], slopes: &mut [f32]) = apply_slope_body
    }

    /// Distance in units of the last place of the f32 nearest to `exact`.
    fn ulp_error(value: f32, exact: f64) -> f64 {
        let nearest = (exact as f32).abs().max(f32::MIN_POSITIVE);
        let unit = f64::from(f32::from_bits(nearest.to_bits() + 1)) - f64::from(nearest);
        (f64::from(value) - exact).abs() / unit
    }

    /// About 480 000 arguments: [-1000, 1000], more of them near zero, and those nearest to multiples of π/2 up to 29 800.
    fn arguments() -> Vec<f32> {
        let mut all = vec![0.0];
        for i in 1..100_000 {
            let t = i as f32 / 100_000.0;
            all.extend([1000.0 * t, -1000.0 * t, 10.0 * t * t * t, -10.0 * t * t * t]);
        }
        for k in 1..19_000 {
            let near = (f64::from(k) * std::f64::consts::FRAC_PI_2) as f32;
            all.extend([near, -near, f32::from_bits(near.to_bits() + 1), f32::from_bits(near.to_bits() - 1)]);
        }
        all.truncate(all.len() / 32 * 32);
        all
    }

    fn worst(activation: Activation, value: impl Fn(f64) -> f64, slope: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
        let x = arguments();
        let check = |simd| {
            let (mut y, mut slopes) = (x.clone(), vec![0.0; x.len()]);
            apply_slope(simd, activation, &mut y, &mut slopes);
            let mut again = x.clone();
            apply(simd, activation, &mut again);
            assert_eq!(y, again, "both passes must agree");
            let value_error = x.iter().zip(&y).map(|(&x, &y)| ulp_error(y, value(f64::from(x)))).fold(0.0, f64::max);
            let slope_error =
                x.iter().zip(&slopes).map(|(&x, &s)| (f64::from(s) - slope(f64::from(x))).abs()).fold(0.0, f64::max);
            (value_error, slope_error)
        };
        Simd::available().into_iter().map(check).collect()
    }

    #[test]
    fn sine_is_accurate_to_two_ulp() {
        for (value, slope) in worst(Activation::Sin, f64::sin, f64::cos) {
            assert!(value < 2.0 && slope < 2e-7, "sine {value} ulp, cosine {slope}");
        }
    }

    #[test]
    fn silu_is_accurate_to_four_ulp() {
        let sigmoid = |z: f64| 1.0 / (1.0 + (-z).exp());
        let flushed = |z: f64| if z < -87.0 { 0.0 } else { z * sigmoid(z) };
        let slope = |z: f64| sigmoid(z) * (1.0 + z * (1.0 - sigmoid(z)));
        for (value, slope) in worst(Activation::Silu, flushed, slope) {
            assert!(value < 4.0 && slope < 3e-7, "value {value} ulp, slope {slope}");
        }
    }

    #[test]
    fn huge_and_invalid_arguments_follow_the_standard_library() {
        for simd in Simd::available() {
            let applied = |activation, arguments: &[f32]| {
                let mut values = vec![0.0; 64];
                values[..arguments.len()].copy_from_slice(arguments);
                apply(simd, activation, &mut values);
                values
            };
            let y = applied(Activation::Sin, &[1e8, -3e30, 0.5, 31_000.0]);
            assert_eq!(y[..4], [1e8f32.sin(), (-3e30f32).sin(), 0.5f32.sin(), 31_000f32.sin()]);
            let y = applied(Activation::Sin, &[f32::NAN, 1.0]);
            assert!(y[0].is_nan() && y[1].is_finite());
            let y = applied(Activation::Silu, &[f32::NAN, f32::INFINITY, -1e30]);
            assert!(y[0].is_nan() && y[1] == f32::INFINITY && y[2] == 0.0);
        }
    }
}
