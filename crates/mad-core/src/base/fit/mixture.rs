//! Mixtures whose size and prior are chosen on the validation part.

use super::em::{Prior, Stop, maximise, spread};
use super::seeds::seeds;
use super::{FitError, FitOptions, Fitted, Tried, distinct, mean_log_weight, spheres};
use crate::Points;
use crate::base::{BaseChoice, Component, MAX_CONCENTRATION, VonMisesFisherMixture};
use crate::manifold::{Manifold, SphereBlock};
use crate::rng::{Purpose, stream};

/// Iterations end when the penalised log-likelihood per point grows by less than this.
const GROWTH: f64 = 1e-4;

/// Training points as the fits see them.
struct Data<'a> {
    blocks: &'a [SphereBlock],
    points: Points,
    counts: Vec<f64>,
}

/// A mixture of von Mises–Fisher products by expectation maximisation.
///
/// Sizes are tried with the middle prior, priors with the best size. Fits from several starts are then averaged, since a
/// mean of mixtures is a mixture, as long as `max_components` allows and the validation points gain.
pub fn fit_mixture(
    manifold: &dyn Manifold,
    train: &Points,
    validation: &Points,
    options: &FitOptions,
) -> Result<Fitted, FitError> {
    let blocks = spheres(manifold, train, validation)?;
    let (points, counts) = distinct(train);
    let data = Data { blocks: &blocks, points, counts };
    let mut best = Best { manifold, validation, tried: Vec::new(), value: f64::NEG_INFINITY, components: Vec::new() };

    let most = (data.points.len() / 2).clamp(1, options.max_components);
    let mut sizes: Vec<usize> = options.sizes.iter().copied().filter(|k| *k <= most).collect();
    if sizes.is_empty() {
        sizes.push(most);
    }
    let middle = options.priors.get(options.priors.len() / 2).copied().unwrap_or(0.3);
    let (mut size, mut prior) = (sizes[0], middle);
    for &k in &sizes {
        if best.offer(data.fit(k, middle, 0, options), format!("{k} components, prior {middle}"))? {
            size = k;
        }
    }
    for &strength in options.priors.iter().filter(|p| **p != middle) {
        if best.offer(data.fit(size, strength, 0, options), format!("{size} components, prior {strength}"))? {
            prior = strength;
        }
    }
    for k in [size, size / 2, size / 4].into_iter().filter(|k| *k > 0) {
        let mut together = data.fit(k, prior, 0, options);
        let mut fits = 1;
        while together.len() + k < options.max_components && fits < 16 {
            together.extend(data.fit(k, prior, fits, options));
            fits += 1;
            if [2, 4, 8, 16].contains(&fits) {
                best.offer(together.clone(), format!("{fits} fits of {k} components, prior {prior}"))?;
            }
        }
    }
    let Best { tried, value, components, .. } = best;
    Ok(Fitted { choice: BaseChoice::Mixture { components }, tried, validation: value })
}

/// The best mixture so far.
struct Best<'a> {
    manifold: &'a dyn Manifold,
    validation: &'a Points,
    tried: Vec<Tried>,
    value: f64,
    components: Vec<Component>,
}

impl Best<'_> {
    /// Keeps these components if the validation points like them better.
    fn offer(&mut self, components: Vec<Component>, what: String) -> Result<bool, FitError> {
        let mixture = VonMisesFisherMixture::on(self.manifold, components)?;
        let value = mean_log_weight(&mixture, self.validation);
        self.tried.push(Tried { what, validation: value });
        let better = value > self.value;
        if better {
            self.value = value;
            self.components = mixture.components().to_vec();
        }
        Ok(better)
    }
}

impl Data<'_> {
    /// A fit of `count` components and a uniform background, from start number `start`.
    fn fit(&self, count: usize, strength: f64, start: u64, options: &FitOptions) -> Vec<Component> {
        let mut rng = stream(options.seed, Purpose::Init, start << 32 | count as u64);
        let means = seeds(self.blocks, &self.points, &self.counts, count, &mut rng);
        let component = |kappas: &[f64], row: usize| {
            let mean = self.points.row(row).to_vec();
            Component { weight: 1.0 / (means.len() + 1) as f64, mean, concentrations: kappas.to_vec() }
        };
        let ones = vec![1.0; self.blocks.len()];
        let starts: Vec<Component> = means.iter().map(|&row| component(&ones, row)).collect();
        let spread = spread(&starts, self.blocks, &self.points, &self.counts);
        let typical = |(block, spread): (&SphereBlock, &f64)| {
            ((block.range.len() - 1) as f64 / 2.0 / spread).min(MAX_CONCENTRATION)
        };
        let kappas: Vec<f64> = self.blocks.iter().zip(&spread).map(typical).collect();
        let mut components: Vec<Component> = means.iter().map(|&row| component(&kappas, row)).collect();
        components.push(component(&vec![0.0; self.blocks.len()], means[0]));
        let prior = Prior { count: strength, spread, weight: 0.0 };
        let stop = Stop { iterations: options.iterations, growth: GROWTH };
        maximise(&mut components, self.blocks, &self.points, &self.counts, &prior, stop);
        components
    }
}
