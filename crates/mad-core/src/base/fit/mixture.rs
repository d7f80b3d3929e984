//! Mixtures by expectation maximisation, their size chosen on the validation part.

use super::em::{Prior, Stop, maximise, spread};
use super::layers::{self, Joined, join};
use super::seeds::seeds;
use super::{FitError, FitOptions, Fitted, Tried, distinct, frequencies, mean_log_weight, spheres};
use crate::Points;
use crate::base::{BaseChoice, Component, MAX_CONCENTRATION, VonMisesFisherMixture};
use crate::manifold::{Manifold, SphereBlock};
use crate::rng::{Purpose, stream};

/// Iterations end when the penalised log-likelihood per point grows by less than this.
const GROWTH: f64 = 1e-5;

/// Larger fits are tried until so many in a row gain less than [`GAIN`] nats on the validation part.
const PATIENCE: usize = 2;

/// See [`PATIENCE`].
const GAIN: f64 = 2e-3;

/// A mixture of von Mises–Fisher products on spheres, rotations, tori and their products; smoothed frequencies on finite sets.
///
/// One fit is made for each of `sizes`. Either the best of them on the validation part is the answer, or, with `layered`, all of
/// them are laid over each other with weights from the validation part. Answers from several `starts` are averaged: what each
/// of them found by chance is not in the others.
pub fn fit_mixture(
    manifold: &dyn Manifold,
    train: &Points,
    validation: &Points,
    options: &FitOptions,
) -> Result<Fitted, FitError> {
    if manifold.intrinsic_dim() == 0 {
        return frequencies::fit(manifold, train, validation);
    }
    let blocks = spheres(manifold, train, validation)?;
    let (points, counts) = distinct(train);
    let data = Data { blocks: &blocks, points, counts, rows: train.len() as f64 };
    let (mut tried, mut components) = (Vec::new(), Vec::new());
    let starts = options.starts.max(1);
    for start in 0..starts {
        let best = from_start(manifold, &data, validation, options, start)?;
        tried.extend(best.tried);
        components.extend(best.components);
    }
    let mixture = VonMisesFisherMixture::on(manifold, components)?;
    let value = mean_log_weight(&mixture, validation);
    if starts > 1 {
        tried.push(Tried { what: format!("the mean of {starts} starts"), validation: value });
    }
    Ok(Fitted { choice: BaseChoice::Mixture { components: mixture.components().to_vec() }, tried, validation: value })
}

/// The answer from one start.
fn from_start<'a>(
    manifold: &'a dyn Manifold,
    data: &Data<'_>,
    validation: &'a Points,
    options: &FitOptions,
    start: usize,
) -> Result<Best<'a>, FitError> {
    let mut best = Best { manifold, validation, tried: Vec::new(), value: f64::NEG_INFINITY, components: Vec::new() };
    let most = (data.points.len() / 2).max(1);
    let limit = if options.layered { most } else { most.min(options.max_components) };
    let mut sizes: Vec<usize> = options.sizes.iter().copied().filter(|k| (1..=limit).contains(k)).collect();
    if sizes.is_empty() {
        sizes.push(limit);
    }
    sizes.sort_unstable();
    let (mut layers, mut joined): (_, Option<Joined>) = (Vec::new(), None);
    let (mut highest, mut in_vain) = (f64::NEG_INFINITY, 0);
    for &size in &sizes {
        let components = data.fit(size, start, options);
        let mut value = best.offer(&components, options.max_components, format!("{size} components"))?;
        if options.layered {
            layers.extend(layers::layers(manifold, &components, data.rows, validation)?);
            let all = join(&layers, options.max_components);
            value = all.value;
            if joined.as_ref().is_none_or(|joined| all.value > joined.value) {
                joined = Some(all);
            }
        }
        in_vain = if value > highest + GAIN { 0 } else { in_vain + 1 };
        highest = highest.max(value);
        if in_vain == PATIENCE {
            break;
        }
    }
    // Free weights gain by chance, which must not decide.
    let chance = |joined: &Joined| 0.5 * joined.layers as f64 / validation.len() as f64;
    if let Some(joined) = joined
        && joined.value > best.value + chance(&joined)
    {
        let what = format!("{} components in {} layers", joined.components.len(), joined.layers);
        best.offer(&joined.components, options.max_components, what)?;
    }
    Ok(best)
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
    /// Keeps these components if they are not too many and the validation points like them better; answers how much these do.
    fn offer(&mut self, components: &[Component], most: usize, what: String) -> Result<f64, FitError> {
        let mixture = VonMisesFisherMixture::on(self.manifold, components.to_vec())?;
        let value = mean_log_weight(&mixture, self.validation);
        self.tried.push(Tried { what, validation: value });
        if value > self.value && (components.len() <= most + 1 || self.components.is_empty()) {
            self.value = value;
            self.components = mixture.components().to_vec();
        }
        Ok(value)
    }
}

/// Distinct training points, and how often each occurs.
struct Data<'a> {
    blocks: &'a [SphereBlock],
    points: Points,
    counts: Vec<f64>,
    /// Sum of the counts.
    rows: f64,
}

impl Data<'_> {
    /// A fit of `size` components and a uniform background.
    fn fit(&self, size: usize, start: usize, options: &FitOptions) -> Vec<Component> {
        let mut rng = stream(options.seed, Purpose::Init, (start as u64) << 32 | size as u64);
        let means = seeds(self.blocks, &self.points, &self.counts, size, &mut rng);
        let weight = 1.0 / (means.len() + 1) as f64;
        let component = |kappas: &[f64], row: usize| Component {
            weight,
            mean: self.points.row(row).to_vec(),
            concentrations: kappas.to_vec(),
        };
        let starts: Vec<Component> = means.iter().map(|&row| component(&[], row)).collect();
        let spread = spread(&starts, self.blocks, &self.points, &self.counts);
        let typical = |(block, spread): (&SphereBlock, &f64)| {
            ((block.range.len() - 1) as f64 / 2.0 / spread).min(MAX_CONCENTRATION)
        };
        let kappas: Vec<f64> = self.blocks.iter().zip(&spread).map(typical).collect();
        let mut components: Vec<Component> = means.iter().map(|&row| component(&kappas, row)).collect();
        components.push(component(&vec![0.0; self.blocks.len()], means[0]));
        let prior = Prior { count: options.prior, spread, weight: 0.0 };
        let stop = Stop { iterations: options.iterations, growth: GROWTH };
        maximise(&mut components, self.blocks, &self.points, &self.counts, &prior, stop);
        components
    }
}
