//! Training: the loop over steps, validations and checkpoints, whatever is learned.

mod error;
mod fit;
mod log;
mod observer;
mod session;
mod step;

pub use crate::checkpoint::TrainingStatus;
pub use crate::method::Validation;
pub use error::TrainError;
pub use fit::TrainedRun;
pub(crate) use fit::{fit, train_run};
pub use observer::{Observer, Silent, StepReport};
pub use session::{Outcome, Trainable, Trained, train};
pub use step::{Stepped, Trainer};
