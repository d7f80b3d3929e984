//! `mad fit`: from a file of points to a run folder with a trained model.

use super::pose;
use super::scores::validation_score;
use crate::args::{Common, Fit};
use crate::error::CliError;
use crate::input;
use crate::interrupt::Interrupt;
use crate::number::significant;
use crate::output;
use crate::overwrite::{is_run, require_apart};
use crate::progress::Meter;
use crate::source::Source;
use mad_core::estimate::BaseChoice;
use mad_core::files::{ReadError, read_any};
use mad_core::load::{Loaded, suggest};
use mad_core::table::{SplitSummary, Table, duplicates};
use mad_nn::condition::Condition;
use mad_nn::config::Partial;
use mad_nn::device::DeviceChoice;
use mad_nn::method::MethodSpec;
use mad_nn::run::{Parts, require_free, require_resumable};
use mad_nn::train::{Observer, Outcome, StepReport, TrainedRun, Validation};
use mad_nn::{Contents, Run};
use serde_json::json;
use std::path::Path;
use std::time::Instant;

/// Most bytes of a file of settings.
const MAX_CONFIG: u64 = 1 << 20;

pub fn run(common: &Common, args: &Fit) -> Result<(), CliError> {
    // A run that stands there already may be resumed wherever it is.
    if !is_run(&args.out) {
        require_apart(&args.out, None, &[])?;
    }
    let solid = args.data.to_str().and_then(crate::source::solid_of);
    let device: DeviceChoice = args.device.parse()?;
    let mut settings = given(args)?;
    let begun = args.out.join("run.json").is_file();
    // Before the data are read and a base is fitted, which may take minutes.
    if !args.resume {
        require_free(&args.out)?;
    } else if !begun {
        require_resumable(&args.out, "run.json")?;
        output::notice(common, format!("there is no run at {} to resume; a new one begins", args.out.display()));
    }
    let (mut kept_manifold, mut kept_base) = (None, None);
    if args.resume && begun {
        // A resumed run keeps the settings it began with; those given now must agree with them.
        let run = Run::open(&args.out)?;
        if let Some(text) = run.info().other_machine() {
            output::notice(common, text);
        }
        let kept = run.config().to_toml();
        (kept_manifold, kept_base) = (Some(run.config().manifold.clone()), Some(run.base_choice()?));
        let given = settings.take("manifold");
        settings = Partial::from_toml(&kept, "the run's config.toml")?.merge(settings);
        settings.take("manifold");
        if let Some(given) = given {
            settings.put("manifold", given, "--set")?;
        }
    }
    let seed = settings.integer("seed").unwrap_or(0);
    if let Some(solid) = solid {
        let contents = pose::contents(args, solid, settings)?;
        return trained(common, args, device, &contents, None, 0.0);
    }
    let (mut table, own) = input::table_of(common, &args.reading, &args.data, args.rows, seed)?;
    let typed = args.manifold.clone().or(settings.take("manifold"));
    let spec = match typed.clone().or(own).or_else(|| kept_manifold.clone()) {
        Some(spec) => spec,
        None => suggested(common, args, &table)?,
    };
    let numeric = match settings.condition() {
        Condition::Columns(names) => names,
        _ => String::new(),
    };
    let loaded = args.reading.points(common, &mut table, &spec, &numeric)?;
    if kept_manifold.is_some_and(|kept| kept != loaded.manifold.spec()) {
        // The run will be refused; its base measure may not even exist here, and its pictures have no table.
        for key in ["base", "condition"] {
            settings.take(key);
        }
    }
    let begun = Instant::now();
    let contents = contents(common, &table, loaded, &settings, kept_base)?;
    let prepared = begun.elapsed().as_secs_f64();
    drop(table);
    trained(common, args, device, &contents, typed, prepared)
}

/// Trains, keeps the words of the command in the folder, and reports; `manifold` is what was typed, and `prepared` the seconds
/// that the base took.
fn trained(
    common: &Common,
    args: &Fit,
    device: DeviceChoice,
    contents: &Contents,
    manifold: Option<String>,
    prepared: f64,
) -> Result<(), CliError> {
    let outcome = train_contents(common, device, contents, &args.out, args.resume, &Interrupt::listen()?);
    if matches!(outcome, Ok(_) | Err(CliError::Interrupted { .. })) {
        let data = args.data.to_string_lossy().into_owned();
        Source::new(data, manifold, args.rows, args.reading.flags()).keep(&args.out)?;
    }
    let fit = outcome?;
    report(common, args, contents, &fit, prepared)
}

/// The manifold, where the names of the columns leave no doubt.
fn suggested(common: &Common, args: &Fit, table: &Table) -> Result<String, CliError> {
    let options = args.reading.column_options();
    options.require_in(table)?;
    match suggest(table, &options).into_iter().next() {
        Some(first) if first.certain && first.settings.is_empty() => {
            output::notice(common, format!("manifold {}: {}; --manifold chooses another", first.spec, first.reason));
            Ok(first.spec)
        }
        Some(question) if !question.complete => {
            Err(CliError::Usage(format!("manifold {}: {}", question.spec, question.reason)))
        }
        _ => Err(CliError::Usage(format!(
            "--manifold SPEC is missing, and the names of the columns leave it open; `mad data check {}` lists what is \
             possible",
            input::quoted(&args.data.to_string_lossy())
        ))),
    }
}

/// Settings from the file, then from `--set`, then from flags; the later one wins.
fn given(args: &Fit) -> Result<Partial, CliError> {
    let mut settings = match &args.config {
        None => Partial::new(),
        Some(path) => Partial::from_toml(&config_text(path)?, &path.display().to_string())?,
    };
    for assignment in &args.set {
        settings.assign(assignment, "--set")?;
    }
    if let Some(method) = &args.method {
        let refused = |known: String| CliError::Usage(format!("--method {method}: allowed is {known}"));
        method.parse::<MethodSpec>().map_err(refused)?;
    }
    for (flag, key, value) in [("--method", "method", &args.method), ("--base", "base", &args.base)] {
        if let Some(value) = value {
            settings.put(key, value.as_str(), flag)?;
        }
    }
    if !args.given.is_empty() {
        settings.put("condition", args.given.join(","), "--given")?;
    }
    for (flag, key, value) in
        [("--steps", "steps", args.steps), ("--batch", "batch", args.batch), ("--seed", "seed", args.seed)]
    {
        if let Some(value) = value {
            settings.put(key, as_setting(flag, value)?, flag)?;
        }
    }
    Ok(settings)
}

/// A number as settings hold it.
pub fn as_setting(flag: &str, value: u64) -> Result<i64, CliError> {
    i64::try_from(value).map_err(|_| CliError::Usage(format!("{flag} {value}: at most {}", i64::MAX)))
}

/// The text of a file of settings.
fn config_text(path: &Path) -> Result<String, CliError> {
    let unusable = |problem: String| CliError::Usage(format!("--config {}: {problem}", path.display()));
    let bytes = read_any(path, MAX_CONFIG).map_err(|error| match error {
        ReadError::Io(source) => CliError::io(path, source),
        other => unusable(other.to_string()),
    })?;
    String::from_utf8(bytes).map_err(|e| unusable(format!("not UTF-8 text: {}", e.utf8_error())))
}

/// What was noticed about the columns of the points, without those that `condition` uses; `None` if nothing is left.
fn without(notice: &str, condition: &str) -> Option<String> {
    const UNUSED: &str = "columns not used: ";
    let Some(names) = notice.strip_prefix(UNUSED) else { return Some(notice.to_owned()) };
    let condition = condition.strip_prefix("picture=").unwrap_or(condition);
    let used = |name: &&str| condition.split(',').any(|used| used.trim().eq_ignore_ascii_case(name));
    let names: Vec<&str> = names.split(", ").filter(|name| !used(name)).collect();
    (!names.is_empty()).then(|| format!("{UNUSED}{}", names.join(", ")))
}

/// What the run is made from, with notices about the data.
pub fn contents(
    common: &Common,
    table: &Table,
    loaded: Loaded,
    settings: &Partial,
    kept_base: Option<BaseChoice>,
) -> Result<Contents, CliError> {
    let condition = settings.get("condition").and_then(|value| value.as_str()).unwrap_or_default();
    loaded.notices.iter().filter_map(|text| without(text, condition)).for_each(|text| output::notice(common, text));
    if let Some(text) = duplicates(&loaded.points).notice().filter(|_| loaded.manifold.intrinsic_dim() > 0) {
        output::notice(common, text);
    }
    let contents = Contents::with_base(table, loaded, settings, kept_base)?;
    let Contents { manifold, parts, config, .. } = &contents;
    if let (Some(steps @ 1..), 0) = (settings.integer("steps"), config.steps) {
        output::notice(common, format!("{} has no training steps; steps = {steps} is ignored", config.method));
    }
    if let Some(text) = contents.split.as_ref().and_then(|split| division(config.split.as_str(), split, parts)) {
        output::notice(common, text);
    }
    if let BaseChoice::Mixture { components } = &contents.base {
        output::notice(common, format!("base {}: {} components", config.base, components.len()));
    }
    output::detail(
        common,
        format!(
            "{}: {} training, {} validation, {} test rows; {} {}x{} {:?}, noise {} from {} to {}",
            manifold.spec(),
            parts.train.len(),
            parts.validation.len(),
            parts.test.len(),
            config.network,
            config.depth,
            config.width,
            config.activation,
            config.levels,
            config.sigma_min,
            config.sigma_max
        ),
    );
    Ok(contents)
}

/// What the parts of a split are made of; `None` if they are made of rows or points, which needs no word.
fn division(rule: &str, split: &SplitSummary, parts: &Parts) -> Option<String> {
    let SplitSummary { units, counts: [train, validation, test], left_out } = split;
    let rows = [&parts.train, &parts.validation, &parts.test].map(|part| part.len());
    let left_out = match left_out {
        0 => String::new(),
        n => format!("; {n} rows too close to another part are left out"),
    };
    (!["rows", "points"].contains(units)).then(|| {
        format!(
            "split {rule}: {} training rows in {train} {units}, {} validation rows in {validation}, {} test rows in \
             {test}{left_out}",
            rows[0], rows[1], rows[2]
        )
    })
}

/// Trains with progress shown; Ctrl-C saves and ends.
pub fn train_contents(
    common: &Common,
    device: DeviceChoice,
    contents: &Contents,
    out: &Path,
    resume: bool,
    interrupt: &Interrupt,
) -> Result<TrainedRun, CliError> {
    let label = contents.config.method.to_string();
    let mut watcher = Watcher::new(common, label);
    let fit = mad_nn::Fit::new(contents).out(out).resume(resume).device(device);
    let fit = fit.observer(&mut watcher).stop(interrupt.flag()).train()?;
    watcher.finish();
    match (fit.outcome, interrupt.signal()) {
        (Outcome::Interrupted, Some(signal)) => Err(CliError::Interrupted { signal, step: fit.step }),
        _ => Ok(fit),
    }
}

/// Shows the progress of a run.
pub struct Watcher<'a> {
    common: &'a Common,
    label: String,
    meter: Option<Meter>,
    loss: Option<f64>,
    nll: Option<f64>,
}

impl<'a> Watcher<'a> {
    pub fn new(common: &'a Common, label: String) -> Self {
        Self { common, label, meter: None, loss: None, nll: None }
    }

    /// Takes the bar away.
    pub fn finish(self) {
        if let Some(meter) = self.meter {
            meter.finish();
        }
    }
}

impl Observer for Watcher<'_> {
    fn started(&mut self, step: u64, steps: u64) {
        self.meter = Some(Meter::start(self.common, &self.label, step, steps));
    }

    fn stepped(&mut self, report: &StepReport) {
        // A running mean over about a hundred steps: single batches jump.
        let loss = self.loss.map_or(report.loss, |mean| mean + 0.01 * (report.loss - mean));
        self.loss = Some(loss);
        let nll = self.nll;
        if let Some(meter) = &mut self.meter {
            meter.advance(report.step, || match nll {
                Some(nll) => format!("loss {} nll {}", significant(loss), significant(nll)),
                None => format!("loss {}", significant(loss)),
            });
        }
    }

    fn validated(&mut self, validation: &Validation) {
        self.nll = Some(validation.nll);
    }
}

fn report(common: &Common, args: &Fit, contents: &Contents, fit: &TrainedRun, prepared: f64) -> Result<(), CliError> {
    let selected = fit.run.selected_step().map_err(mad_nn::run::RunError::from)?;
    let score = validation_score(&fit.run)?;
    let fields = json!({
        "run": output::shown(&args.out), "manifold": contents.manifold.spec(), "method": contents.config.method,
        "seed": contents.config.seed, "device": args.device, "steps": fit.step, "selected_step": selected,
        "validation": score.map(|score| score.to_json()), "seconds": fit.seconds, "base_seconds": prepared,
        "split": { "rule": contents.config.split, "parts": contents.split },
        "rows": {
            "train": contents.parts.train.len(), "validation": contents.parts.validation.len(),
            "test": contents.parts.test.len(),
        },
    });
    output::result(common, "fit", fields, || {
        let pictures = contents.config.is_on_pictures();
        let nll = score.map_or(String::new(), |score| format!(", {score}"));
        let remark = match contents.config.steps {
            0 if !fit.run.layout().is_empty() => " (untrained: the base measure and random weights)".to_owned(),
            steps if fit.step < steps => {
                format!(
                    " of {steps} (the validation score had not improved in {} validations)",
                    contents.config.patience
                )
            }
            _ => String::new(),
        };
        // A base that is fitted may take longer than the steps, and where there are no steps it is all there is.
        let fitted = contents.config.fit_version().is_some();
        let done = match fit.run.layout().is_empty() {
            true => format!("{} fitted in {:.1} s", contents.config.method, prepared + fit.seconds),
            false => {
                let base = if fitted { format!(", base in {prepared:.1} s") } else { String::new() };
                format!("{} steps{remark} in {:.1} s{base}, weights of step {selected}", fit.step, fit.seconds)
            }
        };
        let given = if pictures { " --given picture=FILE" } else { "" };
        format!(
            "{0}: {done}{nll}, seed {1}\nnext: mad eval {0}; mad sample {0} -n 1000{given} -o samples.csv; mad report {0}",
            input::quoted(&args.out.display().to_string()),
            contents.config.seed
        )
    })
}
