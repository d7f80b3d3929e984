//! From data to a trained model in one expression.

use crate::{
    Contents, Error, Model, Partial, Run,
    config::ConfigError,
    device::DeviceChoice,
    disk::{Disk, RealDisk},
    run::RunError,
    train::{self, Observer, Silent, TrainedRun},
};
use mad_core::{
    Points,
    estimate::BaseChoice,
    load::{coordinates, coordinates_on, load},
    manifold::Manifold,
    measure::BaseMeasure,
    table::{ColumnOptions, ReadOptions, Table, read},
};
use std::{
    path::PathBuf,
    sync::{Arc, atomic::AtomicBool},
};
use tempfile::TempDir;
use toml::Value;

/// A fit that is about to be made: data, settings, and where the run is kept.
///
/// ```
/// use mad_nn::prelude::*;
///
/// let table = datasets::make("earthquakes-week", None, 0, 0, None)?;
/// let model = Fit::table(&table, "sphere:2").steps(5).set("width", 16).seed(1).run()?;
/// assert_eq!(model.sample(10, 1)?.len(), 10);
/// # Ok::<(), mad_nn::Error>(())
/// ```
///
/// Settings that are not given get the default of the manifold; [`SETTINGS`](crate::config::SETTINGS) lists them all. Rows are
/// divided into training, validation and test rows on the way, so that [`Model::run`] has some to judge the model by.
pub struct Fit<'a> {
    source: Source<'a>,
    settings: Result<Partial, ConfigError>,
    base: Option<Arc<dyn BaseMeasure>>,
    out: Option<PathBuf>,
    resume: bool,
    device: DeviceChoice,
    observer: Option<&'a mut dyn Observer>,
    stop: Option<&'a AtomicBool>,
    disk: &'a dyn Disk,
}

/// Where the data are.
enum Source<'a> {
    File(PathBuf, String),
    Table(&'a Table, String),
    Points(&'a Points, On),
    Contents(&'a Contents),
    Folder(PathBuf),
}

/// A manifold by its name, or as a value.
enum On {
    Named(String),
    Given(Arc<dyn Manifold>),
}

impl<'a> Fit<'a> {
    /// A fit to the rows of a file; `manifold` is a name such as `sphere:2` or `product(so3,euclid:3)`.
    pub fn file(path: impl Into<PathBuf>, manifold: &str) -> Self {
        Self::of(Source::File(path.into(), manifold.into()))
    }

    /// A fit to the rows of a table.
    pub fn table(table: &'a Table, manifold: &str) -> Self {
        Self::of(Source::Table(table, manifold.into()))
    }

    /// A fit to points in ambient coordinates, such as unit vectors, or quaternions x, y, z, w.
    pub fn points(points: &'a Points, manifold: &str) -> Self {
        Self::of(Source::Points(points, On::Named(manifold.into())))
    }

    /// A fit to points on a manifold of the program's own. Its [`spec`](Manifold::spec) must not be that of a known one;
    /// [`Run::open_with`] opens the run again.
    pub fn on(manifold: Arc<dyn Manifold>, points: &'a Points) -> Self {
        Self::of(Source::Points(points, On::Given(manifold)))
    }

    /// A fit to contents, whose settings are made already.
    pub fn new(contents: &'a Contents) -> Self {
        Self::of(Source::Contents(contents))
    }

    /// Continues the run in this folder with its own settings and data.
    pub fn continued(path: impl Into<PathBuf>) -> Self {
        Self::of(Source::Folder(path.into()))
    }

    fn of(source: Source<'a>) -> Self {
        Self {
            source,
            settings: Ok(Partial::new()),
            base: None,
            out: None,
            resume: false,
            device: DeviceChoice::Cpu,
            observer: None,
            stop: None,
            disk: &RealDisk,
        }
    }

    /// Gives a setting; a later value replaces an earlier one. What is wrong with it is said when the fit is made.
    pub fn set(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.settings = self.settings.and_then(|mut settings| {
            settings.put(key, value, "Fit::set")?;
            Ok(settings)
        });
        self
    }

    /// Gives several settings, such as those of a TOML file.
    pub fn settings(mut self, settings: Partial) -> Self {
        self.settings = self.settings.map(|own| own.merge(settings));
        self
    }

    /// Training steps.
    pub fn steps(self, steps: u64) -> Self {
        self.set("steps", whole(steps))
    }

    /// Random seed of the division of rows, of the initial weights and of training.
    pub fn seed(self, seed: u64) -> Self {
        self.set("seed", whole(seed))
    }

    /// A base measure of the program's own. [`Run::open_with`] opens the run again.
    pub fn base(mut self, measure: Arc<dyn BaseMeasure>) -> Self {
        self.base = Some(measure);
        self.set("base", "own")
    }

    /// Keeps the run in this folder, which must be empty or absent. Otherwise it is kept in a temporary one, as long as the run
    /// is in use.
    pub fn out(mut self, folder: impl Into<PathBuf>) -> Self {
        self.out = Some(folder.into());
        self
    }

    /// Whether to continue the run that is in the folder already. Data and settings must be the same, apart from settings that
    /// leave the weights alone. Where there is no run yet, one begins.
    pub fn resume(mut self, resume: bool) -> Self {
        self.resume = resume;
        self
    }

    /// Computes gradients on this device. A run may continue on another device than it began on; its last bits then differ from
    /// those of an unbroken run.
    pub fn device(mut self, device: DeviceChoice) -> Self {
        self.device = device;
        self
    }

    /// Reports every step, validation and checkpoint to `observer`.
    pub fn observer(mut self, observer: &'a mut dyn Observer) -> Self {
        self.observer = Some(observer);
        self
    }

    /// Ends training once `stop` is true: the step at hand is finished and a checkpoint written.
    pub fn stop(mut self, stop: &'a AtomicBool) -> Self {
        self.stop = Some(stop);
        self
    }

    /// Writes everything through `disk`.
    #[doc(hidden)]
    pub fn disk(mut self, disk: &'a dyn Disk) -> Self {
        self.disk = disk;
        self
    }

    /// Trains, and opens the model.
    pub fn run(self) -> Result<Model, Error> {
        Ok(Model::of(self.train()?.run)?)
    }

    /// Trains, and says how that ended.
    pub fn train(self) -> Result<TrainedRun, Error> {
        let Self { source, settings, base, out, resume, device, observer, stop, disk } = self;
        let settings = settings?;
        let keys: Vec<_> = settings.keys().collect();
        if matches!(source, Source::Contents(_) | Source::Folder(_)) && !keys.is_empty() {
            return Err(Error::Settled { keys: keys.join(", ") });
        }
        if matches!(source, Source::Folder(_)) && out.is_some() {
            return Err(Error::Settled { keys: "out".into() });
        }
        let (mut silent, never) = (Silent, AtomicBool::new(false));
        let observer: &mut dyn Observer = match observer {
            Some(observer) => observer,
            None => &mut silent,
        };
        let stop = stop.unwrap_or(&never);
        let made;
        let contents = match source {
            Source::Folder(path) => {
                return Ok(train::train_run(disk, device, Run::open(&path)?, observer, stop)?);
            }
            Source::Contents(contents) => contents,
            Source::File(path, manifold) => {
                let table = read(&path, &ReadOptions::default())?;
                made = from_table(&table, &manifold, &settings, base)?;
                &made
            }
            Source::Table(table, manifold) => {
                made = from_table(table, &manifold, &settings, base)?;
                &made
            }
            Source::Points(points, on) => {
                made = from_points(points, on, &settings, base)?;
                &made
            }
        };
        let Some(out) = out else {
            let place = TempDir::new().map_err(|e| RunError::io("make", &std::env::temp_dir(), e))?;
            let out = place.path().join("run");
            let mut trained = train::fit(disk, device, contents, &out, false, observer, stop)?;
            trained.run.keep(place);
            return Ok(trained);
        };
        Ok(train::fit(disk, device, contents, &out, resume, observer, stop)?)
    }
}

/// A number as settings have it; larger ones are refused by their domain.
fn whole(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn from_table(
    table: &Table,
    manifold: &str,
    settings: &Partial,
    base: Option<Arc<dyn BaseMeasure>>,
) -> Result<Contents, Error> {
    let loaded = load(table, manifold, &ColumnOptions::default())?;
    Ok(Contents::with_base(table, loaded, settings, base.map(BaseChoice::own))?)
}

fn from_points(
    points: &Points,
    on: On,
    settings: &Partial,
    base: Option<Arc<dyn BaseMeasure>>,
) -> Result<Contents, Error> {
    let table = Table::numbers("points", None, points.dim(), points.as_slice().to_vec()).require_rows()?;
    let loaded = match on {
        On::Named(spec) => coordinates(&table, &spec)?,
        On::Given(manifold) => coordinates_on(&table, manifold)?,
    };
    Ok(Contents::with_base(&table, loaded, settings, base.map(BaseChoice::own))?)
}
