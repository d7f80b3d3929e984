//! A trained model with the run it came from.

use crate::{
    Error, Run,
    condition::picture_from,
    method::{Fitted, Likelihood, SampleRequest},
    run::RunError,
};
use mad_core::{
    Points,
    table::{Cell, Columns, DataError, Table, writer_like},
};
use std::path::Path;

/// Steps with which a flow is followed to the density of a point.
pub const FLOW_STEPS: usize = 30;

/// A trained model: it draws samples, evaluates densities, and knows the columns of the data.
///
/// A model conditional on columns is averaged over them until it is [given](Model::given) values; one conditional on pictures
/// answers nothing until it [sees](Model::see) one. [`Model::fitted`] has samplers by name and samples block by block.
pub struct Model {
    run: Run,
    fitted: Box<dyn Fitted>,
}

impl Model {
    /// The model of a run folder.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        Ok(Self::of(Run::open(path.as_ref())?)?)
    }

    /// The model of an open run.
    pub fn of(run: Run) -> Result<Self, RunError> {
        Ok(Self { fitted: run.fitted()?, run })
    }

    /// The run: settings, data, checkpoints, log.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// All that the model answers, whatever method it was trained by.
    pub fn fitted(&self) -> &dyn Fitted {
        self.fitted.as_ref()
    }

    /// Conditions the model on these values of the columns that the setting `condition` names, in the units of the training data.
    pub fn given(&mut self, values: &[f64]) -> Result<(), Error> {
        let columns = self.run.columns().condition.as_ref();
        let names = columns.map(Columns::encode_header).unwrap_or_default();
        let Some(columns) = columns.filter(|_| names.len() == values.len()) else {
            let wanted = if names.is_empty() { "none".into() } else { names.join(", ") };
            return Err(Error::Condition { wanted, got: format!("{} numbers", values.len()) });
        };
        let table = Table::numbers("condition", Some(names), values.len(), values.to_vec());
        self.fitted.condition(columns.decode(&table)?.points.into_vec(), 1.0);
        Ok(())
    }

    /// Conditions the model on the picture in this file.
    pub fn see(&mut self, file: impl AsRef<Path>) -> Result<(), Error> {
        let config = self.run.config();
        if !config.is_on_pictures() {
            return Err(Error::Condition { wanted: "none".into(), got: "a picture".into() });
        }
        let mut pixels = vec![0.0; config.size * config.size];
        picture_from(file.as_ref(), config.size, &mut pixels).map_err(RunError::from)?;
        self.fitted.see(pixels);
        Ok(())
    }

    /// Draws `n` points on the manifold. The same seed gives the same points, whatever the number of threads.
    pub fn sample(&self, n: usize, seed: u64) -> Result<Points, Error> {
        Ok(self.fitted.draw(&SampleRequest::new(seed), n)?.0)
    }

    /// Log-density at points, in nats, with respect to volume and per unit of real columns.
    pub fn log_density(&self, points: &Points) -> Result<Vec<f64>, Error> {
        if !self.fitted.has_density() {
            return Err(self.no_density());
        }
        Ok(self.fitted.log_density(points, FLOW_STEPS))
    }

    /// The likelihood of points that the model has not seen, or a bound on it.
    pub fn likelihood(&self, points: &Points) -> Result<Likelihood, Error> {
        if self.run.config().is_on_pictures() && !self.fitted.has_density() {
            return Err(self.no_density());
        }
        Ok(self.fitted.likelihood(points))
    }

    fn no_density(&self) -> Error {
        Error::NoDensity { model: format!("{} on {}", self.run.config().method, self.run.config().manifold) }
    }

    /// The points of a table with the columns of the training data.
    pub fn decode(&self, table: &Table) -> Result<Points, Error> {
        Ok(self.run.decode(table)?)
    }

    /// Points in the columns and units of the training data, such as latitudes and longitudes; their names are in
    /// [`Model::header`].
    pub fn encode(&self, points: &Points) -> Vec<Vec<Cell>> {
        self.run.columns().points.encode(points)
    }

    /// The names of the columns of the training data.
    pub fn header(&self) -> Vec<String> {
        self.run.columns().points.encode_header()
    }

    /// Writes points to a file in the columns and units of the training data; the name says in which format.
    pub fn write(&self, path: impl AsRef<Path>, points: &Points) -> Result<(), DataError> {
        let mut file = writer_like(path.as_ref(), &self.header(), self.run.columns().points.style())?;
        file.write(&self.encode(points))?;
        file.finish()
    }
}
