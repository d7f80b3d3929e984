//! One job: a folder with a run and its score, filled by a worker process of its own.
//!
//! ```text
//! OUT/runs/ID/
//! ├─ job.json      what to do
//! ├─ job.lock      held by the worker that is at it
//! ├─ run/          the run folder, as `mad fit` makes it
//! ├─ run.partial   there while the run is not at its end
//! ├─ times.jsonl   time at every checkpoint and, if asked for, MMD
//! ├─ errors.txt    messages of the worker
//! └─ score.json    written last, whole or not at all
//! ```
//!
//! A worker prints `step N` on its standard output now and then. It stops, with a checkpoint, when its standard input ends,
//! which also happens if the process that started it dies.

use super::claim::{Claim, TAKEN};
use super::{identity, pictures, plan, score};
use crate::error::LabError;
use mad_cli::Common;
use mad_cli::output::write_whole;
use mad_core::load;
use mad_core::metrics::Kernel;
use mad_core::table::ColumnOptions;
use mad_nn::config::Partial;
use mad_nn::train::{Observer, Outcome, StepReport};
use mad_nn::{Contents, Fit, Run};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Version of the form and the meaning of scores; part of every id.
const SCHEMA: u32 = 1;

/// Most characters of an id before its seed and hash, which are 35 at most. Built-in jobs have up to 118; names of folders end at
/// 255.
const MAX_WORDS: usize = 200;

/// How often a worker reports its step.
const REPORT_INTERVAL: Duration = Duration::from_millis(200);

/// Exit code of a worker that had to stop.
pub const STOPPED: u8 = 75;

/// What a worker does. Equal jobs have equal ids.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// Name of the folder: what it is, in words, and a hash of everything it is made from.
    pub id: String,
    pub data: JobData,
    pub seed: u64,
    /// Settings as the text of a config file.
    pub settings: String,
    pub score: JobScore,
    /// Training steps.
    pub steps: u64,
    /// Hash of the file of the base measure, if it is read from one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_hash: Option<String>,
}

/// Where the rows come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobData {
    /// Data set or file.
    pub source: String,
    pub manifold: Option<String>,
    pub rows: Option<usize>,
    /// Hash of all rows; empty for pictures, which are made from the settings.
    #[serde(default)]
    pub hash: String,
}

/// How the run is scored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobScore {
    pub samples: usize,
    pub fresh: Option<usize>,
    pub kernels: Vec<Kernel>,
    /// Steps between points of a curve of MMD over training time.
    pub curve: Option<u64>,
}

/// A line of `times.jsonl`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct TimePoint {
    /// Steps done.
    pub step: u64,
    /// Seconds spent on drawing batches, loss and update: an upper bound of the paper's rule, which leaves out the batches.
    pub step_seconds: f64,
    /// Seconds with the fit of the base, validation and checkpoints, without the MMD of this file.
    pub seconds: f64,
    /// MMD to training points, if asked for.
    pub mmd: Option<f64>,
    /// Mean distance of samples to true poses in degrees, for runs on pictures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<f64>,
    /// Mean distance of samples from the set before projection, for runs on pictures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift: Option<f64>,
}

/// What the settings of a job resolve to.
pub struct Made<'a> {
    /// Name of the method or recipe.
    pub name: &'a str,
    /// All settings as text.
    pub text: &'a str,
    pub steps: u64,
    /// Hash of the file of the base measure, if it is read from one.
    pub base_hash: Option<String>,
    /// Version of the fit that it rests on, if it does.
    pub fit: Option<u32>,
}

impl Job {
    /// A job with its id.
    pub fn new(data: JobData, seed: u64, settings: String, score: JobScore, made: &Made) -> Self {
        let mut hasher = blake3::Hasher::new();
        let scoring = serde_json::to_string(&score).expect("numbers and names can be written as JSON");
        // Further parts only where they matter: other ids stay what they were.
        let base = made.base_hash.iter().map(|hash| format!("base {hash}"));
        let place = identity::of_place(&data.source, made.text).map(|place| format!("file {place}"));
        let curve = score.curve.filter(|_| data.manifold.is_some());
        let curve = curve.map(|_| format!("curve over {} draws", score::CURVE_DRAWS));
        let further = base.chain(made.fit.map(|version| format!("fit {version}"))).chain(place).chain(curve);
        let parts = [format!("{SCHEMA}"), made.text.to_owned(), data.hash.clone(), scoring];
        for part in parts.into_iter().chain(further) {
            hasher.update(part.as_bytes());
            hasher.update(b"\n");
        }
        let hash = hasher.finalize().to_hex();
        let words = format!("{}-{}", identity::name_of(&data.source), made.name);
        let safe = words.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' });
        let safe: String = safe.take(MAX_WORDS).collect();
        let (id, base_hash) = (format!("{safe}-s{seed}-{}", &hash[..12]), made.base_hash.clone());
        Self { id, data, seed, settings, score, steps: made.steps, base_hash }
    }

    /// Its folder.
    pub fn folder(&self, out: &Path) -> PathBuf {
        out.join("runs").join(&self.id)
    }

    /// Its score, if it is finished.
    pub fn finished(&self, out: &Path) -> Option<score::Score> {
        self.score_in(&self.folder(out))
    }

    /// Its score, if it is finished and its run is there as well. A run may be gone, and may be on the way to be made again.
    pub fn finished_with_run(&self, out: &Path) -> Option<score::Score> {
        self.score_of_run_in(&self.folder(out))
    }

    fn score_in(&self, folder: &Path) -> Option<score::Score> {
        let text = std::fs::read(folder.join("score.json")).ok()?;
        serde_json::from_slice::<score::Score>(&text).ok().filter(|score| score.id == self.id)
    }

    fn score_of_run_in(&self, folder: &Path) -> Option<score::Score> {
        let run = folder.join("run");
        let is_there = run.join("run.json").is_file();
        (is_there && !partial(folder).exists()).then(|| self.score_in(folder)).flatten()
    }
}

/// The file that marks a run which is not at its end.
fn partial(folder: &Path) -> PathBuf {
    folder.join("run.partial")
}

/// Reads a JSON file of a job.
pub fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, LabError> {
    let text = std::fs::read(path).map_err(|e| LabError::io(path, e))?;
    serde_json::from_slice(&text).map_err(|e| LabError::io(path, e.into()))
}

/// Does the job of a folder: trains or resumes training, then scores.
pub fn run_worker(common: &Common, folder: &Path) -> Result<(), LabError> {
    let Some(_claim) = Claim::take(folder).map_err(|e| LabError::io(folder, e))? else {
        std::process::exit(TAKEN.into());
    };
    let job: Job = read_json(&folder.join("job.json"))?;
    if job.score_of_run_in(folder).is_some() {
        // Another process has done it since it was looked at.
        std::process::exit(TAKEN.into());
    }
    write_whole(&partial(folder), b"")?;
    let control = Control::listen();
    if let Some(solid) = mad_cli::solid_of(&job.data.source) {
        return run_on_pictures(&job, folder, solid, &control);
    }
    let (table, own) = plan::table(common, &job.data.source, job.data.rows, job.seed)?;
    let mut settings = Partial::from_toml(&job.settings, "job.json")?;
    settings.put("seed", job.seed as i64, "job.json")?;
    let spec = job.data.manifold.clone().or(own).unwrap_or_default();
    let loaded = load::load(&table, &spec, &ColumnOptions::default())?;
    identity::check(&job.data.source, &job.data.hash, &identity::of_rows(&loaded))?;
    let preparing = Instant::now();
    let run = folder.join("run");
    let kept_base = Run::open(&run).and_then(|run| run.base_choice()).ok();
    let contents = Contents::with_base(&table, loaded, &settings, kept_base)?;
    if let Some(planned) = &job.base_hash {
        let base = contents.config.base.as_str();
        let found = identity::of_base(base)?.unwrap_or_default();
        identity::check(identity::base_file(base).unwrap_or(base), planned, &found)?;
    }
    let mut watcher = Watcher::new(&job, folder, preparing.elapsed().as_secs_f64());
    control.save_first();
    let fit = Fit::new(&contents).out(&run).resume(true).observer(&mut watcher).stop(control.stop).train();
    let fit = fit.map_err(|error| watcher.reason(error.into()))?;
    if fit.outcome == Outcome::Interrupted {
        std::process::exit(STOPPED.into());
    }
    let times = watcher.end(fit.step);
    control.end_at_once();
    write_score(folder, &score::score(common, &job, &run, times)?)
}

fn run_on_pictures(job: &Job, folder: &Path, solid: &str, control: &Control) -> Result<(), LabError> {
    let run = folder.join("run");
    let mut watcher = Watcher::new(job, folder, 0.0);
    control.save_first();
    let trained = pictures::train(job, solid, &run, &mut watcher, control.stop);
    let Some(step) = trained.map_err(|error| watcher.reason(error))? else {
        std::process::exit(STOPPED.into());
    };
    let times = watcher.end(step);
    control.end_at_once();
    let mut score = pictures::score(job, &run)?;
    score.values.extend(score::of_times(&times).into_iter().map(|(name, value)| (name.to_owned(), Some(value))));
    score.times = times;
    write_score(folder, &score)
}

fn write_score(folder: &Path, score: &score::Score) -> Result<(), LabError> {
    let text = serde_json::to_string_pretty(score).expect("numbers and names can be written as JSON");
    write_whole(&folder.join("score.json"), (text + "\n").as_bytes())?;
    let partial = partial(folder);
    std::fs::remove_file(&partial).map_err(|e| LabError::io(partial, e))
}

/// Listens for the end of standard input. Only while steps are made is there something to save; before and after, a stop ends the
/// process at once.
struct Control {
    stop: &'static AtomicBool,
    training: &'static AtomicBool,
}

impl Control {
    fn listen() -> Self {
        static STOP: AtomicBool = AtomicBool::new(false);
        static TRAINING: AtomicBool = AtomicBool::new(false);
        std::thread::spawn(|| {
            let mut rest = Vec::new();
            // However reading ends, nobody is there any more.
            let _ = std::io::stdin().read_to_end(&mut rest);
            STOP.store(true, Ordering::SeqCst);
            if !TRAINING.load(Ordering::SeqCst) {
                std::process::exit(STOPPED.into());
            }
        });
        Self { stop: &STOP, training: &TRAINING }
    }

    /// From here on a stop is left to the trainer, which saves its step.
    fn save_first(&self) {
        self.training.store(true, Ordering::SeqCst);
    }

    /// From here on a stop ends the process.
    fn end_at_once(&self) {
        self.training.store(false, Ordering::SeqCst);
        if self.stop.load(Ordering::SeqCst) {
            std::process::exit(STOPPED.into());
        }
    }
}

/// Measures time, reports steps, and scores checkpoints.
///
/// The time of a checkpoint is written before it, its score after it. What cannot be written or scored ends the training there, so
/// that every checkpoint that the job resumes from has its time, and its score if it is one of the curve: a time without its
/// checkpoint is forgotten, a score that was not taken is taken at the next start.
pub struct Watcher<'a> {
    job: &'a Job,
    folder: &'a Path,
    reported: Instant,
    started: Instant,
    /// Time of earlier sessions, or of preparation.
    before: TimePoint,
    step_seconds: f64,
    scoring_seconds: f64,
    points: Vec<TimePoint>,
    failed: Option<LabError>,
}

impl<'a> Watcher<'a> {
    /// `prepared` seconds were spent before the first step, on fitting the base measure.
    fn new(job: &'a Job, folder: &'a Path, prepared: f64) -> Self {
        let now = Instant::now();
        let before = TimePoint { step: 0, step_seconds: 0.0, seconds: prepared, ..TimePoint::default() };
        let (step_seconds, scoring_seconds) = (0.0, 0.0);
        Self {
            job,
            folder,
            reported: now,
            started: now,
            before,
            step_seconds,
            scoring_seconds,
            points: Vec::new(),
            failed: None,
        }
    }

    fn file(&self) -> PathBuf {
        self.folder.join("times.jsonl")
    }

    /// The points that were written; a line that was cut off is none.
    fn written(&self) -> Vec<TimePoint> {
        let text = std::fs::read_to_string(self.file()).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// Why training ended with `error`: what went wrong here, if anything did.
    fn reason(&mut self, error: LabError) -> LabError {
        self.failed.take().unwrap_or(error)
    }

    fn now(&self, step: u64) -> TimePoint {
        TimePoint {
            step,
            step_seconds: self.before.step_seconds + self.step_seconds,
            seconds: self.before.seconds + self.started.elapsed().as_secs_f64() - self.scoring_seconds,
            ..TimePoint::default()
        }
    }

    /// All points, the last of them at the end of training.
    fn end(mut self, step: u64) -> Vec<TimePoint> {
        if self.points.last().is_none_or(|last| last.step < step) {
            self.points.push(self.now(step));
        }
        self.points
    }

    fn write(&self) -> Result<(), LabError> {
        let lines =
            self.points.iter().map(|p| serde_json::to_string(p).expect("numbers can be written as JSON") + "\n");
        Ok(write_whole(&self.file(), lines.collect::<String>().as_bytes())?)
    }

    /// Scores the last checkpoint, if it is one of the curve and has no score yet.
    fn score_last(&mut self) -> Result<(), LabError> {
        let (job, run) = (self.job, self.folder.join("run"));
        let wanted = |step: u64| job.score.curve.is_some_and(|every| step.is_multiple_of(every) || step == job.steps);
        let open = |point: &&mut TimePoint| wanted(point.step) && point.mmd.is_none() && point.spread.is_none();
        let Some(point) = self.points.last_mut().filter(open) else { return Ok(()) };
        let begun = Instant::now();
        if mad_cli::solid_of(&job.data.source).is_some() {
            let report = pictures::score_at(job, &run, point.step)?;
            (point.spread, point.drift) = (Some(report.score.spread), report.drift.map(|drift| drift.mean));
        } else {
            point.mmd = Some(score::mmd_at(job, &run, point.step)?);
        }
        self.scoring_seconds += begun.elapsed().as_secs_f64();
        self.write()
    }
}

impl Observer for Watcher<'_> {
    fn started(&mut self, step: u64, _steps: u64) {
        self.points = self.written();
        // Points after this step will be made again.
        self.points.retain(|point| point.step <= step);
        self.before = self.points.last().copied().unwrap_or(self.before);
        self.started = Instant::now();
        if self.points.last().is_some_and(|last| last.step == step) {
            self.failed = self.score_last().err();
        }
    }

    fn stepped(&mut self, report: &StepReport) {
        self.step_seconds += report.seconds;
        if self.reported.elapsed() >= REPORT_INTERVAL {
            self.reported = Instant::now();
            let mut out = std::io::stdout().lock();
            // If nobody listens, standard input ends as well.
            let _ = writeln!(out, "step {}", report.step).and_then(|()| out.flush());
        }
    }

    fn saving(&mut self, step: u64) {
        self.points.push(self.now(step));
        self.failed = self.write().err();
    }

    fn saved(&mut self, step: u64, _path: &Path) {
        // With the time that saving took, which the next point or the score writes.
        let now = self.now(step);
        self.points.last_mut().expect("it was about to be saved").seconds = now.seconds;
        self.failed = self.score_last().err();
    }

    fn gives_up(&self) -> bool {
        self.failed.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job_on(source: &str, seed: u64, made: &Made) -> Job {
        let data = JobData { source: source.into(), manifold: None, rows: None, hash: "rows".into() };
        let score = JobScore { samples: 7, fresh: None, kernels: Vec::new(), curve: None };
        Job::new(data, seed, "steps = 1".into(), score, made)
    }

    fn job(base_hash: Option<&str>, fit: Option<u32>) -> Job {
        let made = Made { name: "mad", text: "steps = 1\n", steps: 1, base_hash: base_hash.map(str::to_owned), fit };
        job_on("a set", 3, &made)
    }

    #[test]
    fn ids_know_fits_and_base_files_and_stay_what_they_were_without() {
        let scoring = r#"{"samples":7,"fresh":null,"kernels":[],"curve":null}"#;
        let hash = blake3::hash(format!("1\nsteps = 1\n\nrows\n{scoring}\n").as_bytes()).to_hex();
        assert_eq!(job(None, None).id, format!("a-set-mad-s3-{}", &hash[..12]));
        let ids = [job(None, None), job(None, Some(1)), job(None, Some(2)), job(Some("x"), None), job(Some("y"), None)];
        let ids: std::collections::BTreeSet<String> = ids.into_iter().map(|job| job.id).collect();
        assert_eq!(ids.len(), 5);
    }

    #[test]
    fn ids_know_files_by_name_and_are_names_of_folders() {
        let id = |source: &str, name: &str, text: &str| {
            let made = Made { name, text, steps: 1, base_hash: None, fit: None };
            job_on(source, u64::MAX, &made).id
        };
        let mine = id("mine.csv", "mad", "steps = 1\n");
        assert!(mine.starts_with("mine-csv-mad-s18446744073709551615-"), "{mine}");
        for path in ["./mine.csv", "a/mine.csv", "/a/b/mine.csv"] {
            assert_eq!(id(path, "mad", "steps = 1\n"), mine);
        }
        assert!(id("so3-mixture:64", "fff:blocks=2", "").starts_with("so3-mixture-64-fff-blocks-2-s"));
        let conditioned = |path: &str| id(path, "mad", "condition = \"depth\"\n");
        assert_ne!(conditioned("a/mine.csv"), conditioned("b/mine.csv"), "columns without a hash");

        let long = |name: &str, text: &str| id(&"ü".repeat(150), &name.repeat(150), text);
        assert_eq!(long("x", "").len(), 235);
        assert!(long("x", "").starts_with(&format!("{}-{}-s", "-".repeat(150), "x".repeat(49))));
        assert_ne!(long("x", "steps = 1\n"), long("x", "steps = 2\n"), "cut off, they are still different jobs");
    }

    #[test]
    fn job_files_keep_the_hashes() {
        let job = job(Some("x"), None);
        let text = serde_json::to_string(&job).unwrap();
        assert!(text.contains(r#""hash":"rows""#) && text.contains(r#""base_hash":"x""#), "{text}");
        assert_eq!(serde_json::from_str::<Job>(&text).unwrap(), job);
    }

    #[test]
    fn times_come_before_checkpoints_and_scores_after_them() {
        let folder = tempfile::tempdir().unwrap();
        let mut job = job(None, None);
        job.score.curve = Some(10);
        let steps = |watcher: &Watcher| watcher.written().iter().map(|point| point.step).collect::<Vec<u64>>();
        let mut watcher = Watcher::new(&job, folder.path(), 0.0);
        watcher.started(0, 30);
        watcher.saving(5);
        assert_eq!(steps(&watcher), [5], "written before the checkpoint");
        watcher.saved(5, Path::new(""));
        assert!(!watcher.gives_up(), "not a point of the curve");
        // There is no run to score.
        watcher.saving(10);
        watcher.saved(10, Path::new(""));
        assert!(watcher.gives_up());
        assert!(matches!(watcher.reason(LabError::usage("late")), LabError::Cli(mad_cli::CliError::Run(_))));

        // Killed after the time of step 20 and before its checkpoint: the next worker forgets that time.
        let mut next = Watcher::new(&job, folder.path(), 0.0);
        next.points = [5, 10, 20].map(|step| TimePoint { step, mmd: Some(0.1), ..TimePoint::default() }).to_vec();
        next.write().unwrap();
        next.started(10, 30);
        assert!(!next.gives_up(), "step 10 has its score");
        next.saving(20);
        assert_eq!(steps(&next), [5, 10, 20]);
        // A line that was cut off is as good as none.
        let text = std::fs::read_to_string(next.file()).unwrap();
        std::fs::write(next.file(), &text[..text.len() - 4]).unwrap();
        assert_eq!(steps(&next), [5, 10]);
    }
}
