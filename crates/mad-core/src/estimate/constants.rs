//! Every constant of the fits, with its source. Trials are in `docs/lab/`, the rule in force is `docs/fitted-base.md`; what has no
//! source was chosen and not varied.

use crate::measure::MAX_CONCENTRATION;

// Options.

/// Numbers of components to fit: doubled from 25 on. Beyond 1600 fires still gained 0.5 nats (lab 17).
pub(super) const SIZES: [usize; 12] = [1, 3, 6, 12, 25, 50, 100, 200, 400, 800, 1600, 3200];

/// Imagined points per component, and most iterations, of a fit in a stack: cross-validation drops what is overfit.
pub(super) const STACKED: (f64, usize) = (0.03, 30);

/// The same of a fit that stands alone.
pub(super) const ALONE: (f64, usize) = (0.3, 100);

/// Most kernels on a training point. Four scored as well as six; two lost 0.01 to 0.1 nats (lab 19, decision 24).
pub(super) const KERNELS_PER_POINT: usize = 4;

/// Most training and validation rows that are looked at. Rows are in random order, so that the first stand for all (lab 22).
pub(super) const MOST_ROWS: [usize; 2] = [100_000, 12_500];

// Expectation maximisation.

/// Rows whose sums are taken together; fixed, so that results do not depend on the number of threads.
pub(super) const ROWS: usize = 256;

/// Iterations end when the penalised log-likelihood per point grows by less than this.
pub(super) const GROWTH: f64 = 1e-5;

/// A mean resultant shorter than this has no direction: it is round-off of the sum.
pub(super) const LEAST_RESULTANT: f64 = 1e-12;

/// Components that stand for fewer points are dropped: they would only cost time.
pub(super) const LEAST_POINTS: f64 = 1e-9;

/// Smallest concentration of a component; one of zero is the uniform background.
pub(super) const LEAST_CONCENTRATION: f64 = 1e-9;

/// Concentration at which points belong to their nearest component alone.
pub(super) const SHARP: f64 = 1e6;

/// Smallest spread: half of 1/[`MAX_CONCENTRATION`] on the two-dimensional sphere is 5e-9.
pub(super) const LEAST_SPREAD: f64 = 1.0 / MAX_CONCENTRATION;

/// Two starts are the same point if the square of their distance is below this, which is that of round-off.
pub(super) const SAME_POINT: f64 = 1e-28;

/// A single mixture grows until this many sizes in a row gain less than [`SIZE_GAIN`] nats on the validation part.
pub(super) const SIZE_PATIENCE: usize = 2;

/// See [`SIZE_PATIENCE`].
pub(super) const SIZE_GAIN: f64 = 2e-3;

// Line search.

/// Step of the first search, in the logarithm of what is searched.
pub(super) const STEP: f64 = 1.0;

/// The first search continues in a direction until this many steps in a row are worse than the best.
pub(super) const SEARCH_PATIENCE: usize = 3;

/// Golden-section steps: they narrow two steps of the first search to 0.618¹¹ · 2 = 0.01.
pub(super) const REFINEMENTS: usize = 11;

/// Range of imagined points per category.
pub(super) const PSEUDO_COUNTS: (f64, f64) = (1e-4, 1e8);

/// Smallest concentration of the kernels of a kernel density.
pub(super) const WIDEST_KERNEL: f64 = 1e-2;

// Cross-validation.

/// Parts of which each is left out once.
pub(super) const FOLDS: usize = 5;

/// Most points of a fold that are scored in the fit of a kernel density.
pub(super) const MOST_SCORED_KDE: usize = 4000;

/// Most points of a fold that are scored in the fit of a stack; five folds have 5000 (lab 21).
pub(super) const MOST_SCORED: usize = 1000;

/// From this many distinct spare validation points on they set the weights, and no fold is fitted (lab 21, decision 24).
pub(super) const ENOUGH_SPARE: usize = 2500;

// Candidates.

/// Where there are no kernels, components of one fit are sorted by the number of points they stand for: how far sharp ones can be
/// trusted differs.
pub(super) const OCCUPANCIES: [f64; 4] = [1.5, 3.0, 6.0, 12.0];

/// A candidate is offered a second time with concentrations divided by this: the tails that a sharp component lacks.
pub(super) const TAIL: f64 = 4.0;

/// Fits of this many components altogether are started for each size, but at most [`MOST_STARTS`]: with few components a start
/// may miss a whole cluster (lab 19).
pub(super) const STARTED: usize = 200;

/// See [`STARTED`].
pub(super) const MOST_STARTS: usize = 4;

/// The largest fits on rotations and products: larger ones would take longer than the training (lab 19).
pub(super) const LARGEST: usize = 400;

/// The largest fits where kernels stand on all points, which know what larger ones know (lab 19).
pub(super) const LARGEST_WITH_KERNELS: usize = 100;

/// Most points that kernels stand on: distances between all pairs of more take too long (lab 22).
pub(super) const MOST_KERNEL_POINTS: usize = 20_000;

/// Ratio between successive concentrations of the grid of equal widths: √10.
pub(super) const WIDTH_RATIO: f64 = 3.162_277_660_168_379_5;

/// Numbers of neighbours whose distance sets the width of a round kernel.
pub(super) const NEIGHBOURS: [usize; 5] = [1, 2, 4, 8, 16];

/// Numbers of neighbours whose covariance sets the shape of an elongated kernel.
pub(super) const ALIGNED: [usize; 4] = [4, 8, 16, 32];

/// Factors on the mean squared distance to the neighbours, or on their covariance.
pub(super) const SHARES: [f64; 3] = [0.1, 0.3, 1.0];

/// Points are classified by the distance to the nearest other row, in units of the distance at which as many points would be
/// spread evenly: where rows are that close to each other, more will come as close (decision 24). The first is for equal rows.
pub(super) const ISOLATION: [f64; 3] = [1e-9, 0.03, 0.3];

/// Longest axis of an elongated kernel over its shortest (decision 24): five components in a row reach no farther.
pub(super) const LARGEST_RATIO: f64 = 3.0;

/// From this value of a²/b² − 1 on a kernel with axes a ≥ b becomes several components.
pub(super) const ELONGATED: f64 = 0.5;

/// From this value on it takes five components to keep the gaps between them small.
pub(super) const LONG: f64 = 1.7;

/// Places and weights of components along the long axis, and the variance of the places.
pub(super) type Nodes = (&'static [(f64, f64)], f64);
pub(super) const THREE: Nodes = (&[(-1.0, 0.25), (0.0, 0.5), (1.0, 0.25)], 0.5);
pub(super) const FIVE: Nodes =
    (&[(-2.0, 1.0 / 9.0), (-1.0, 2.0 / 9.0), (0.0, 3.0 / 9.0), (1.0, 2.0 / 9.0), (2.0, 1.0 / 9.0)], 4.0 / 3.0);

// Weights.

/// Iterations for the weights between two rounds of dropping candidates.
pub(super) const WEIGHT_ITERATIONS: usize = 20;

/// What a component must gain, in nats of the mean log-density: each of them takes time in every evaluation (lab 19).
pub(super) const COST_PER_COMPONENT: f64 = 1e-7;
