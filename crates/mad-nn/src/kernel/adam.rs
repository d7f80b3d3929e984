//! Adam with decoupled weight decay, exponential moving average and clipping, in one pass.

use super::parallel;
use super::simd::{Simd, for_each_simd, multiply_add};

/// Numbers in one job. Fixed, so that the norm does not depend on the number of threads.
const CHUNK: usize = 16_384;

/// The constants of an Adam optimiser. Weight decay zero is Adam, otherwise AdamW.
///
/// # Reference
/// Kingma and Ba, Adam, 2015; Loshchilov and Hutter, Decoupled weight decay regularization, 2019.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adam {
    /// Decay β₁ of the first moment.
    pub beta1: f64,
    /// Decay β₂ of the second moment.
    pub beta2: f64,
    /// ε, added to the root of the second moment.
    pub epsilon: f64,
    /// Decoupled weight decay λ.
    pub weight_decay: f64,
}

impl Default for Adam {
    fn default() -> Self {
        Self { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weight_decay: 0.0 }
    }
}

/// The numbers of one step, in the form the kernel needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepSizes {
    gradient_scale: f32,
    beta1: f32,
    one_minus_beta1: f32,
    beta2: f32,
    one_minus_beta2: f32,
    step: f32,
    inverse_root_correction2: f32,
    epsilon: f32,
    keep: f32,
    average_gain: f32,
}

impl Adam {
    /// The sizes of step number `step`, counted from one.
    ///
    /// Gradients are multiplied by `gradient_scale`, which clips them; the moving average keeps `average_decay` of itself.
    ///
    /// # Formula
    /// m ← β₁ m + (1 - β₁) g, v ← β₂ v + (1 - β₂) g², with the corrections cᵢ = 1 - βᵢᵗ:
    /// θ ← (1 - η λ) θ - (η / c₁) m / (√v / √c₂ + ε), then e ← e + (1 - d)(θ - e).
    pub fn sizes(&self, step: u64, learning_rate: f64, gradient_scale: f64, average_decay: f64) -> StepSizes {
        let correction = |beta: f64| 1.0 - beta.powf(step as f64);
        StepSizes {
            gradient_scale: gradient_scale as f32,
            beta1: self.beta1 as f32,
            one_minus_beta1: (1.0 - self.beta1) as f32,
            beta2: self.beta2 as f32,
            one_minus_beta2: (1.0 - self.beta2) as f32,
            step: (learning_rate / correction(self.beta1)) as f32,
            inverse_root_correction2: correction(self.beta2).sqrt().recip() as f32,
            epsilon: self.epsilon as f32,
            keep: (1.0 - learning_rate * self.weight_decay) as f32,
            average_gain: (1.0 - average_decay) as f32,
        }
    }
}

/// One step on slices of equal length; an empty `ema` means that no average is kept.
///
/// # Panics
/// When the lengths differ.
pub fn step(params: &mut [f32], grads: &[f32], m: &mut [f32], v: &mut [f32], ema: &mut [f32], sizes: &StepSizes) {
    step_with(Simd::best(), params, grads, m, v, ema, sizes);
}

fn step_with(
    simd: Simd,
    params: &mut [f32],
    grads: &[f32],
    m: &mut [f32],
    v: &mut [f32],
    ema: &mut [f32],
    sizes: &StepSizes,
) {
    let length = params.len();
    assert!(
        grads.len() == length && m.len() == length && v.len() == length && (ema.is_empty() || ema.len() == length),
        "parameters, gradients, moments and average must have the same length"
    );
    let averages = ema.chunks_mut(CHUNK).chain(std::iter::repeat_with(|| &mut [] as &mut [f32]));
    let chunks: Vec<_> = params
        .chunks_mut(CHUNK)
        .zip(grads.chunks(CHUNK))
        .zip(m.chunks_mut(CHUNK).zip(v.chunks_mut(CHUNK)))
        .zip(averages)
        .collect();
    parallel::for_each(chunks.into_iter(), |(((params, grads), (m, v)), ema)| {
        update(simd, params, grads, m, v, sizes);
        if !ema.is_empty() {
            average(simd, ema, params, sizes.average_gain);
        }
    });
}

#[inline(always)]
fn update_body<const FMA: bool>(params: &mut [f32], grads: &[f32], m: &mut [f32], v: &mut [f32], sizes: &StepSizes) {
    let s = *sizes;
    for (((parameter, gradient), m), v) in params.iter_mut().zip(grads).zip(m).zip(v) {
        let g = gradient * s.gradient_scale;
        *m = multiply_add::<FMA>(s.one_minus_beta1, g, s.beta1 * *m);
        *v = multiply_add::<FMA>(s.one_minus_beta2 * g, g, s.beta2 * *v);
        let direction = *m / multiply_add::<FMA>(v.sqrt(), s.inverse_root_correction2, s.epsilon);
        *parameter = multiply_add::<FMA>(-s.step, direction, s.keep * *parameter);
    }
}

for_each_simd! {
    fn update(params: &mut [f32], grads: &[f32], m: &mut [f32], v: &mut [f32], sizes: &StepSizes) = update_body
}

#[inline(always)]
fn average_body<const FMA: bool>(ema: &mut [f32], params: &[f32], gain: f32) {
    for (average, parameter) in ema.iter_mut().zip(params) {
        *average = multiply_add::<FMA>(gain, parameter - *average, *average);
    }
}

for_each_simd! {
    fn average(ema: &mut [f32], params: &[f32], gain: f32) = average_body
}

/// The Euclidean norm of all gradients together.
///
/// # Numerics
/// Squares and sums are in f64, in chunks of fixed size and 16 interleaved partial sums, added in a fixed order: the same
/// bits for any number of threads and any instruction set.
pub(crate) fn gradient_norm(gradients: &[&[f32]]) -> f64 {
    let chunks: Vec<&[f32]> = gradients.iter().flat_map(|gradient| gradient.chunks(CHUNK)).collect();
    let mut sums = vec![0.0; chunks.len()];
    let simd = Simd::best();
    let jobs: Vec<_> = sums.iter_mut().zip(&chunks).collect();
    parallel::for_each(jobs.into_iter(), |(sum, chunk)| *sum = squares(simd, chunk));
    sums.iter().sum::<f64>().sqrt()
}

/// The factor that brings a gradient of this norm down to `limit`; one when it is already below.
///
/// A norm that is infinite or not a number gives zero or not a number: check the norm before taking the step.
pub(crate) fn clip_scale(norm: f64, limit: f64) -> f64 {
    if norm <= limit { 1.0 } else { limit / norm }
}

#[inline(always)]
fn squares_body<const FMA: bool>(chunk: &[f32]) -> f64 {
    const LANES: usize = 16;
    let mut lanes = [0.0f64; LANES];
    let (groups, rest) = chunk.as_chunks::<LANES>();
    for group in groups {
        for (lane, &value) in lanes.iter_mut().zip(group) {
            *lane += f64::from(value) * f64::from(value);
        }
    }
    let tail: f64 = rest.iter().map(|&value| f64::from(value) * f64::from(value)).sum();
    lanes.iter().sum::<f64>() + tail
}

for_each_simd! {
    fn squares(chunk: &[f32]) -> f64 = squares_body
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(length: usize, seed: u32) -> Vec<f32> {
        let mut state = seed.wrapping_mul(2_654_435_761) | 1;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            state as f32 / u32::MAX as f32 - 0.5
        };
        (0..length).map(|_| next()).collect()
    }

    /// The formula in f64, element by element.
    #[test]
    fn steps_follow_the_formula() {
        let adam = Adam { weight_decay: 0.1, ..Adam::default() };
        let length = 2 * CHUNK + 37;
        let (rate, scale, decay) = (1e-2, 0.7, 0.99);
        for simd in Simd::available() {
            let mut params = series(length, 1);
            let mut exact: Vec<[f64; 4]> = params.iter().map(|&p| [p.into(), 0.0, 0.0, p.into()]).collect();
            let (mut m, mut v, mut ema) = (vec![0.0; length], vec![0.0; length], params.clone());
            for step in 1..=5 {
                let grads = series(length, 10 + step as u32);
                step_with(simd, &mut params, &grads, &mut m, &mut v, &mut ema, &adam.sizes(step, rate, scale, decay));
                for (state, gradient) in exact.iter_mut().zip(&grads) {
                    let g = f64::from(*gradient) * scale;
                    state[1] = 0.9 * state[1] + 0.1 * g;
                    state[2] = 0.999 * state[2] + 0.001 * g * g;
                    let first = state[1] / (1.0 - 0.9f64.powi(step as i32));
                    let second = state[2] / (1.0 - 0.999f64.powi(step as i32));
                    state[0] -= rate * 0.1 * state[0] + rate * first / (second.sqrt() + 1e-8);
                    state[3] = decay * state[3] + (1.0 - decay) * state[0];
                }
            }
            for (i, state) in exact.iter().enumerate() {
                assert!((f64::from(params[i]) - state[0]).abs() < 3e-7, "parameter {i}");
                assert!((f64::from(ema[i]) - state[3]).abs() < 3e-7, "average {i}");
            }
        }
    }

    #[test]
    fn without_an_average_the_parameters_are_the_same() {
        let (start, grads) = (series(1000, 3), series(1000, 4));
        let sizes = Adam::default().sizes(1, 1e-3, 1.0, 0.9);
        let run = |mut ema: Vec<f32>| {
            let mut params = start.clone();
            step(&mut params, &grads, &mut [0.0; 1000], &mut [0.0; 1000], &mut ema, &sizes);
            params
        };
        assert_eq!(run(vec![]), run(start.clone()));
    }

    #[test]
    fn norm_is_right_and_independent_of_threads() {
        let (a, b) = (series(3 * CHUNK + 5, 7), series(100, 8));
        let exact: f64 = a.iter().chain(&b).map(|&g| f64::from(g).powi(2)).sum::<f64>().sqrt();
        let norm = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            pool.install(|| gradient_norm(&[&a, &b]))
        };
        assert!((norm(1) / exact - 1.0).abs() < 1e-13);
        assert_eq!(norm(1).to_bits(), norm(2).to_bits());
        assert_eq!(norm(1).to_bits(), norm(3).to_bits());
        assert_eq!(clip_scale(2.0, 1.0), 0.5);
        assert_eq!(clip_scale(0.5, 1.0), 1.0);
    }
}
