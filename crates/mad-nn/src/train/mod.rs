//! Training: batches in, weights out, checkpoints on the way.

mod averaging;
mod error;
mod fit;
mod log;
mod observer;
mod rows;
mod session;
mod status;
mod step;
mod validate;

pub(crate) use averaging::{Block, Blocks, law_of, most_averaged};
pub use error::TrainError;
pub use fit::{Fit, fit, fit_on, fit_with, resume};
pub use observer::{Observer, Silent, StepReport};
pub(crate) use rows::require_law;
pub use rows::{Fresh, Rows};
pub use session::{Outcome, Trained, Trainee, Training, train, train_with};
pub use status::TrainingStatus;
pub use step::{Batch, BatchSource, Stepped, Trainer, gradient};
pub use validate::Validation;
pub(crate) use validate::{Validator, summary};
