//! Seeds turned into named random streams.
//!
//! Every use of chance names its purpose and an index (a training step, a block of rows), so that adding one draw never
//! shifts another, a resumed run continues where it stopped, and results do not depend on the number of threads.

use rand::SeedableRng;

/// The generator used everywhere: its values are specified and do not change between versions.
pub type Rng = rand_chacha::ChaCha8Rng;

/// What a stream of random numbers is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Purpose {
    /// Synthetic data.
    Data = 1,
    /// Division of the rows into training, validation and test part.
    Split = 2,
    /// Initial weights of a network.
    Init = 3,
    /// Batches and noise of one training step.
    Train = 4,
    /// Noise levels and noise of one evaluation.
    Evaluate = 5,
    /// Prior draws and noise of one block of samples.
    Sample = 6,
    /// Subsets and permutations inside a metric.
    Metric = 7,
    /// Rows of a block that several training steps draw from.
    Block = 8,
}

/// The stream for `purpose` number `index` under `seed`.
///
/// ```
/// use mad_core::rng::{stream, Purpose};
/// use rand::Rng as _;
/// let a = stream(7, Purpose::Train, 3).next_u64();
/// assert_eq!(a, stream(7, Purpose::Train, 3).next_u64());
/// assert_ne!(a, stream(7, Purpose::Train, 4).next_u64());
/// ```
pub fn stream(seed: u64, purpose: Purpose, index: u64) -> Rng {
    assert!(index < 1 << 56, "stream index {index} is too large");
    let mut rng = Rng::seed_from_u64(seed);
    rng.set_stream(((purpose as u64) << 56) | index);
    rng
}
