//! Mixtures by expectation maximisation, their size chosen on the validation part.

use super::constants::{GROWTH, MOST_ROWS, SIZE_GAIN, SIZE_PATIENCE};
use super::em::{Prior, Stop, maximise, spread};
use super::initial_means::initial_means;
use super::stack;
use super::{
    BaseChoice, FitError, FitOptions, Fitted, Tried, distinct, frequencies, mean_log_weight, new_places, spheres,
};
use crate::Points;
use crate::manifold::Manifold;
use crate::measure::{Component, MAX_CONCENTRATION, SphereBlock, VonMisesFisherMixture};
use crate::rng::{Purpose, stream};

/// A mixture of von Mises–Fisher products on spheres, rotations, tori and their products; smoothed frequencies on finite sets.
///
/// One fit is made for each of `sizes`. Either the one that predicts new places of the validation part best is returned, or, with
/// `stacked`, all of them and kernels on the training points are combined, with weights from rows that were left out. Rows must be
/// in random order: of more than 100 000 the first ones are taken.
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
    let train = &train.head(MOST_ROWS[0]);
    if options.stacked {
        let spare: Vec<usize> = (options.reserved..validation.len()).take(MOST_ROWS[1]).collect();
        // Rows that repeat a reserved one would give the weights away to early stopping.
        let spare = new_places(&validation.head(options.reserved), &new_places(train, &validation.select(&spare)));
        let mut fitted = stack::fit(manifold, &blocks, train, &spare, options)?;
        fitted.validation = mean_log_weight(fitted.choice.build(manifold)?.as_ref(), &validation.head(MOST_ROWS[1]));
        return Ok(fitted);
    }
    let data = Data::new(&blocks, train);
    let validation = &validation.head(MOST_ROWS[1]);
    let new = new_places(train, validation);
    let validation = if new.is_empty() { validation } else { &new };
    let mut best = Best { manifold, validation, tried: Vec::new(), value: f64::NEG_INFINITY, components: Vec::new() };
    let (mut highest, mut without_gain) = (f64::NEG_INFINITY, 0);
    for size in data.sizes(options) {
        let value = best.consider(&data.fit(size, 0, options).components, format!("{size} components"))?;
        without_gain = if value > highest + SIZE_GAIN { 0 } else { without_gain + 1 };
        highest = highest.max(value);
        if without_gain == SIZE_PATIENCE {
            break;
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
    /// Keeps these components if they predict the validation points better; returns how well they do.
    fn consider(&mut self, components: &[Component], what: String) -> Result<f64, FitError> {
        let mixture = VonMisesFisherMixture::on(self.manifold, components.to_vec())?;
        let value = mean_log_weight(&mixture, self.validation);
        self.tried.push(Tried { what, validation: value });
        if value > self.value || self.components.is_empty() {
            self.value = value;
            self.components = mixture.components().to_vec();
        }
        Ok(value)
    }
}

/// The result of expectation maximisation.
pub(super) struct Fit {
    pub components: Vec<Component>,
    /// Penalised log-likelihood per point.
    pub value: f64,
}

/// Distinct training points, and how often each occurs.
pub(super) struct Data<'a> {
    pub blocks: &'a [SphereBlock],
    pub points: Points,
    pub counts: Vec<f64>,
}

impl<'a> Data<'a> {
    pub fn new(blocks: &'a [SphereBlock], train: &Points) -> Self {
        let (points, counts) = distinct(train);
        Self { blocks, points, counts }
    }

    /// The sizes to fit, ascending. Larger ones would have less than two points for a component.
    pub fn sizes(&self, options: &FitOptions) -> Vec<usize> {
        let most = (self.points.len() / 2).max(1);
        let mut sizes: Vec<usize> = options.sizes.iter().copied().filter(|k| (1..=most).contains(k)).collect();
        if sizes.is_empty() {
            sizes.push(most);
        }
        sizes.sort_unstable();
        sizes
    }

    /// A fit of `size` components and a uniform background from this random start.
    pub fn fit(&self, size: usize, start: u64, options: &FitOptions) -> Fit {
        let mut rng = stream(options.seed, Purpose::Init, start << 32 | size as u64);
        let means = initial_means(self.blocks, &self.points, &self.counts, size, &mut rng);
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
        let prior = Prior { count: options.prior, spread };
        let stop = Stop { iterations: options.iterations, growth: GROWTH };
        let trace = maximise(&mut components, self.blocks, &self.points, &self.counts, &prior, stop);
        Fit { components, value: trace.last().copied().unwrap_or(f64::NEG_INFINITY) }
    }
}
