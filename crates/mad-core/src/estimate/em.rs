//! Expectation maximisation for mixtures of von Mises–Fisher products, with priors.

use super::concentration::concentration;
use super::constants::{LEAST_CONCENTRATION, LEAST_POINTS, LEAST_RESULTANT, LEAST_SPREAD, ROWS, SHARP};
use crate::Points;
use crate::measure::{Component, LANES, Lanes, Packed, Scratch, SphereBlock, shares};
use crate::special::{ln_mean_exp_scaled, norm};
use rayon::prelude::*;

/// The prior on a component: what is assumed before there are data.
///
/// # Formula
/// On each sphere `count` (a₀ κ − ln J(κ)), a₀ = 1 − `spread`: as if `count` further points had the mean resultant a₀.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Prior {
    /// Number of imagined points per component.
    pub count: f64,
    /// 1 − A(κ₀) on each sphere, their spread.
    pub spread: Vec<f64>,
}

impl Prior {
    /// Log-density of the prior at these components, up to a constant.
    pub fn log_density(&self, components: &[Component], blocks: &[SphereBlock]) -> f64 {
        let of_sphere = |kappa: f64, dim: usize, spread: f64| {
            // a₀ κ − ln J = −(1 − a₀) κ − ln(e^{−κ}J).
            -self.count * (spread * kappa + ln_mean_exp_scaled(dim, kappa))
        };
        let of_component = |c: &Component| -> f64 {
            let spheres = c.concentrations.iter().zip(blocks).zip(&self.spread);
            spheres.map(|((k, b), s)| of_sphere(*k, b.range.len(), *s)).sum()
        };
        components.iter().filter(|c| !is_background(c)).map(of_component).sum()
    }
}

/// Whether a component is the uniform one, which keeps its concentration.
pub(super) fn is_background(component: &Component) -> bool {
    component.concentrations.iter().all(|k| *k == 0.0)
}

/// Sums over rows: per component the expected number of points, per sphere their sum.
#[derive(Clone)]
pub(super) struct Sums {
    counts: Vec<Lanes>,
    /// Per sphere as in [`Packed`]: group by group, coordinate by coordinate.
    sums: Vec<Vec<Lanes>>,
    /// Σ of log-densities with respect to the uniform measure.
    pub log_likelihood: f64,
}

impl Sums {
    fn zero(packed: &Packed) -> Self {
        let sums = packed.blocks.iter().map(|b| vec![[0.0; LANES]; b.means.len()]).collect();
        Self { counts: vec![[0.0; LANES]; packed.groups()], sums, log_likelihood: 0.0 }
    }

    fn add(&mut self, other: &Sums) {
        let pairs = self.counts.iter_mut().zip(&other.counts);
        let sums = self.sums.iter_mut().flatten().zip(other.sums.iter().flatten());
        pairs.chain(sums).for_each(|(a, b)| a.iter_mut().zip(b).for_each(|(a, b)| *a += b));
        self.log_likelihood += other.log_likelihood;
    }

    /// Adds one point, shared between the components.
    fn add_point(&mut self, packed: &Packed, x: &[f64], weight: f64, scratch: &mut Scratch) {
        let scale = packed.log_terms(x, scratch);
        let mut total = [0.0; LANES];
        for term in &mut scratch.terms {
            *term = shares(term, scale);
            total.iter_mut().zip(&*term).for_each(|(t, s)| *t += s);
        }
        let total: f64 = total.iter().sum();
        self.log_likelihood += weight * (scale + total.ln());
        let factor = weight / total;
        for (&group, share) in scratch.groups.iter().zip(&scratch.terms) {
            let share = share.map(|s| s * factor);
            self.counts[group].iter_mut().zip(&share).for_each(|(c, s)| *c += s);
            for (block, sums) in packed.blocks.iter().zip(&mut self.sums) {
                let x = &x[block.sphere.range.clone()];
                let mut signed = share;
                if block.sphere.antipodal {
                    // The share of the side at μ less that of the side at −μ.
                    let cosines = block.cosines(group, x);
                    for lane in 0..LANES {
                        signed[lane] *= (block.concentrations[group][lane] * cosines[lane]).tanh();
                    }
                }
                let sums = &mut sums[group * x.len()..(group + 1) * x.len()];
                for (sum, x) in sums.iter_mut().zip(x) {
                    sum.iter_mut().zip(&signed).for_each(|(s, w)| *s += w * x);
                }
            }
        }
    }

    /// Sums over all rows, in fixed blocks and in order; row i counts `weights[i]` times.
    pub fn over(packed: &Packed, points: &Points, weights: &[f64]) -> Self {
        let blocks: Vec<Sums> = points
            .as_slice()
            .par_chunks(ROWS * points.dim())
            .zip(weights.par_chunks(ROWS))
            .map(|(rows, weights)| {
                let (mut sums, mut scratch) = (Sums::zero(packed), Scratch::default());
                for (x, weight) in rows.chunks_exact(points.dim()).zip(weights) {
                    sums.add_point(packed, x, *weight, &mut scratch);
                }
                sums
            })
            .collect();
        let mut total = Sums::zero(packed);
        blocks.iter().for_each(|b| total.add(b));
        total
    }

    /// The components that make the expected log-posterior largest.
    ///
    /// # Formula
    /// μ = R/|R|, 1 − A(κ) = (N − |R| + c (1 − a₀))/(N + c), w ∝ N, with N the number of points and R their sum.
    pub(crate) fn maximise(
        &self,
        components: &mut Vec<Component>,
        order: &[usize],
        blocks: &[SphereBlock],
        prior: &Prior,
    ) {
        for (place, &j) in order.iter().enumerate() {
            let (group, lane, component) = (place / LANES, place % LANES, &mut components[j]);
            let n = self.counts[group][lane];
            component.weight = n;
            if is_background(component) {
                continue;
            }
            for (b, block) in blocks.iter().enumerate() {
                let dim = block.range.len();
                let mean = &mut component.mean[block.range.clone()];
                let sum: Vec<f64> = (0..dim).map(|i| self.sums[b][group * dim + i][lane]).collect();
                let length = norm(&sum);
                if length > LEAST_RESULTANT * n && length > 0.0 {
                    mean.iter_mut().zip(&sum).for_each(|(m, s)| *m = s / length);
                }
                let complement = ((n - length).max(0.0) + prior.count * prior.spread[b]) / (n + prior.count);
                let kappa = concentration(dim, complement);
                // A component of concentration zero would be the background.
                component.concentrations[b] = kappa.max(LEAST_CONCENTRATION);
            }
        }
        components.retain(|c| c.weight > LEAST_POINTS);
        let total: f64 = components.iter().map(|c| c.weight).sum();
        components.iter_mut().for_each(|c| c.weight /= total);
    }
}

/// How long to iterate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Stop {
    /// Most iterations.
    pub iterations: usize,
    /// Stop when the penalised log-likelihood per point grows by less than this.
    pub growth: f64,
}

/// Improves `components` until the penalised log-likelihood per point hardly grows; returns its values.
pub(super) fn maximise(
    components: &mut Vec<Component>,
    blocks: &[SphereBlock],
    points: &Points,
    weights: &[f64],
    prior: &Prior,
    stop: Stop,
) -> Vec<f64> {
    let total: f64 = weights.iter().sum();
    let mut trace: Vec<f64> = Vec::new();
    for _ in 0..stop.iterations {
        let packed = Packed::new(components, blocks);
        let sums = Sums::over(&packed, points, weights);
        let value = (sums.log_likelihood + prior.log_density(components, blocks)) / total;
        let grown = trace.last().map_or(f64::INFINITY, |last| value - last);
        trace.push(value);
        if grown < stop.growth {
            break;
        }
        sums.maximise(components, &packed.order, blocks, prior);
    }
    trace
}

/// The spread 1 − |R|/N of points around the nearest of `components`, on each sphere.
pub(super) fn spread(components: &[Component], blocks: &[SphereBlock], points: &Points, weights: &[f64]) -> Vec<f64> {
    let sharp: Vec<Component> = components
        .iter()
        .map(|c| Component { weight: 1.0, concentrations: vec![SHARP; blocks.len()], ..c.clone() })
        .collect();
    let packed = Packed::new(&sharp, blocks);
    let sums = Sums::over(&packed, points, weights);
    let total: f64 = weights.iter().sum();
    let mut lengths = vec![0.0; blocks.len()];
    for j in 0..components.len() {
        for (b, block) in blocks.iter().enumerate() {
            let dim = block.range.len();
            let (group, lane) = (j / LANES, j % LANES);
            let sum: Vec<f64> = (0..dim).map(|i| sums.sums[b][group * dim + i][lane]).collect();
            lengths[b] += norm(&sum);
        }
    }
    lengths.iter().map(|l| (1.0 - l / total).max(LEAST_SPREAD)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{BuildContext, build};
    use crate::measure::{BaseMeasure, VonMisesFisherMixture};
    use crate::rng::{Purpose, stream};

    #[test]
    fn the_penalised_likelihood_never_falls() {
        for (spec, kappa) in [("sphere:2", 40.0), ("so3", 15.0), ("torus:3", 6.0), ("product(so3,sphere:1)", 9.0)] {
            let m = build(spec, &BuildContext::without_files()).unwrap();
            let blocks = m.spheres().unwrap();
            let mut rng = stream(1, Purpose::Data, 0);
            let mut component = |kappa: f64| {
                let mut mean = vec![0.0; m.ambient_dim()];
                m.uniform().sample(&mut rng, &mut mean);
                Component { weight: 1.0 / 7.0, mean, concentrations: vec![kappa; blocks.len()] }
            };
            let truth = [kappa, kappa, kappa, kappa, 0.0].map(&mut component).to_vec();
            let truth = VonMisesFisherMixture::on(m.as_ref(), truth).unwrap();
            let mut components: Vec<Component> = (0..6).map(|_| component(2.0)).collect();
            components.push(component(0.0));
            let mut points = Points::zeros(400, m.ambient_dim());
            let mut rng = stream(1, Purpose::Data, 1);
            points.rows_mut().for_each(|x| truth.sample(&mut rng, x));
            let weights: Vec<f64> = (0..400).map(|i| 1.0 + f64::from(i % 3)).collect();
            let prior = Prior { count: 0.5, spread: vec![0.02; blocks.len()] };
            let stop = Stop { iterations: 60, growth: f64::NEG_INFINITY };
            let trace = maximise(&mut components, &blocks, &points, &weights, &prior, stop);
            assert_eq!(trace.len(), 60);
            for (step, pair) in trace.windows(2).enumerate() {
                assert!(pair[1] >= pair[0] - 1e-12, "{spec}, step {step}: {} to {}", pair[0], pair[1]);
            }
            assert!(trace[59] > trace[0] + 0.3, "{spec}: {} to {}", trace[0], trace[59]);
            assert_eq!(components.iter().filter(|c| is_background(c)).count(), 1, "{spec}");
        }
    }
}
