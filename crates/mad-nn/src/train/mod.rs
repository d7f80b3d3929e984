//! Training: the loop over steps, validations and checkpoints, whatever is learned.

mod error;
mod fit;
mod log;
mod observer;
mod session;
mod status;
mod step;
mod validation;

pub use error::TrainError;
pub use fit::TrainedRun;
pub(crate) use fit::{fit, train_run};
pub use observer::{Observer, Silent, StepReport};
pub use session::{Outcome, Trained, Trainee, Training, train, train_with};
pub use status::TrainingStatus;
pub use step::{Stepped, Trainer};
pub use validation::Validation;
