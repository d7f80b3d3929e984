//! Activation functions, vectorised, with their derivatives.

use std::mem::MaybeUninit;

use burn::tensor::{Tensor, activation::silu as plain_silu};

use super::simd::{for_each_simd, multiply_add};

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
fn silu_slope<const FMA: bool>(z: f32) -> (f32, f32) {
    let e = exponential::<FMA>(-z.abs());
    let larger = 1.0 / (1.0 + e);
    let smaller = e * larger;
    let (sigmoid, complement) = if z < 0.0 { (smaller, larger) } else { (larger, smaller) };
    let value = z * sigmoid;
    (value, multiply_add::<FMA>(value, complement, sigmoid))
}

/// Whether some z + b in the row is beyond the reach of the fast sine.
#[inline(always)]
fn beyond_sine_limit(row: &[f32], bias: &[f32]) -> bool {
    let mut beyond = 0;
    for (z, b) in row.iter().zip(bias) {
        beyond |= u32::from((z + b).abs() > SINE_LIMIT);
    }
    beyond != 0
}

#[inline(always)]
fn activate_body<const FMA: bool>(activation: Activation, rows: &mut [f32], bias: &[f32]) {
    for row in rows.chunks_exact_mut(bias.len()) {
        match activation {
            Activation::Identity => {
                for (z, b) in row.iter_mut().zip(bias) {
                    *z += b;
                }
            }
            Activation::Sin if beyond_sine_limit(row, bias) => {
                for (z, b) in row.iter_mut().zip(bias) {
                    *z = (*z + b).sin();
                }
            }
            Activation::Sin => {
                for (z, b) in row.iter_mut().zip(bias) {
                    *z = sine_cosine::<FMA>(*z + b).0;
                }
            }
            Activation::Silu => {
                for (z, b) in row.iter_mut().zip(bias) {
                    *z = silu_slope::<FMA>(*z + b).0;
                }
            }
        }
    }
}

#[inline(always)]
fn activate_slope_body<const FMA: bool>(
    activation: Activation,
    rows: &mut [f32],
    bias: &[f32],
    slopes: &mut [MaybeUninit<f32>],
) {
    assert_eq!(rows.len(), slopes.len(), "one slope for each number");
    let width = bias.len();
    for (row, slopes) in rows.chunks_exact_mut(width).zip(slopes.chunks_exact_mut(width)) {
        match activation {
            Activation::Identity => {
                for ((z, b), slope) in row.iter_mut().zip(bias).zip(slopes) {
                    *z += b;
                    slope.write(1.0);
                }
            }
            Activation::Sin if beyond_sine_limit(row, bias) => {
                for ((z, b), slope) in row.iter_mut().zip(bias).zip(slopes) {
                    let argument = *z + b;
                    *z = argument.sin();
                    slope.write(argument.cos());
                }
            }
            Activation::Sin => {
                for ((z, b), slope) in row.iter_mut().zip(bias).zip(slopes) {
                    let (sine, cosine) = sine_cosine::<FMA>(*z + b);
                    *z = sine;
                    slope.write(cosine);
                }
            }
            Activation::Silu => {
                for ((z, b), slope) in row.iter_mut().zip(bias).zip(slopes) {
                    let (value, derivative) = silu_slope::<FMA>(*z + b);
                    *z = value;
                    slope.write(derivative);
                }
            }
        }
    }
}

for_each_simd! {
    /// act(z + b) in place, row by row; rows have the length of `bias`.
    pub(super) fn activate(activation: Activation, rows: &mut [f32], bias: &[f32]) = activate_body
}

for_each_simd! {
    /// As [`activate`], and writes act'(z + b) to every element of `slopes`.
    pub(super) fn activate_slope(
        activation: Activation,
        rows: &mut [f32],
        bias: &[f32],
        slopes: &mut [MaybeUninit<f32>],
    ) = activate_slope_body
}

#[inline(always)]
fn scale_body<const FMA: bool>(target: &mut [f32], factors: &[f32]) {
    for (value, factor) in target.iter_mut().zip(factors) {
        *value *= factor;
    }
}

for_each_simd! {
    /// Multiplies `target` by `factors`, element by element.
    pub(super) fn scale(target: &mut [f32], factors: &[f32]) = scale_body
}

#[inline(always)]
fn column_sums_body<const FMA: bool>(rows: &[f32], sums: &mut [f32]) {
    sums.fill(0.0);
    for row in rows.chunks_exact(sums.len()) {
        for (sum, value) in sums.iter_mut().zip(row) {
            *sum += value;
        }
    }
}

for_each_simd! {
    /// Sums of the columns, first row first.
    pub(super) fn column_sums(rows: &[f32], sums: &mut [f32]) = column_sums_body
}

#[cfg(test)]
mod tests {
    use super::super::simd::Simd;
    use super::*;

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
        all
    }

    fn worst(activation: Activation, value: impl Fn(f64) -> f64, slope: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
        let x = arguments();
        let bias = vec![0.0; x.len()];
        let check = |simd| {
            let (mut y, mut slopes) = (x.clone(), vec![0.0; x.len()]);
            activate_slope(simd, activation, &mut y, &bias, super::super::matrix::as_unwritten(&mut slopes));
            let mut again = x.clone();
            activate(simd, activation, &mut again, &bias);
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
            let mut y = vec![1e8, -3e30, 0.5, 31_000.0];
            activate(simd, Activation::Sin, &mut y, &[0.0; 4]);
            assert_eq!(y, [1e8f32.sin(), (-3e30f32).sin(), 0.5f32.sin(), 31_000f32.sin()]);
            let mut y = vec![f32::NAN, 1.0];
            activate(simd, Activation::Sin, &mut y, &[0.0; 2]);
            assert!(y[0].is_nan() && y[1].is_finite());
            let mut y = vec![f32::NAN, f32::INFINITY, -1e30];
            activate(simd, Activation::Silu, &mut y, &[0.0; 3]);
            assert!(y[0].is_nan() && y[1] == f32::INFINITY && y[2] == 0.0);
        }
    }
}
