//! `mad reproduce`: the paper's tables and figures, each by one command.

use crate::args::{Common, Reproduce, ReproduceJob};
use crate::error::CliError;
use crate::interrupt::Interrupt;
use crate::output;
use crate::reproduce::{
    ALL, EXPERIMENTS, Experiment, Job, Outcomes, Plan, Report, Schedule, Summary, machine, plan, run_worker,
    write_results,
};
use serde_json::json;
use std::path::Path;
use std::time::Instant;

pub fn run(common: &Common, args: &Reproduce) -> Result<(), CliError> {
    let begun = Instant::now();
    let plans: Vec<Plan> =
        experiments(args)?.into_iter().map(|e| plan(common, e, args.grid)).collect::<Result<_, _>>()?;
    let mut jobs: Vec<(String, Job)> = Vec::new();
    for run in plans.iter().flat_map(|plan| &plan.runs) {
        if jobs.iter().all(|(_, job)| job.id != run.job.id) {
            jobs.push((run.place.to_string(), run.job.clone()));
        }
    }
    let threads = common.threads.unwrap_or(1);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let workers = args.jobs.map_or_else(|| (cores / usize::from(threads)).max(1), usize::from);
    let finished = jobs.iter().filter(|(_, job)| job.finished(&args.out).is_some()).count();
    output::notice(common, format!("{} runs, {finished} of them done already, {workers} at once", jobs.len()));
    if args.dry_run {
        return list(common, args, &jobs);
    }
    // Places that cannot be written to are found now, not after hours.
    let document = args.results.as_deref().and_then(Path::parent).filter(|folder| *folder != Path::new(""));
    for folder in std::iter::once(args.out.as_path()).chain(document) {
        std::fs::create_dir_all(folder).map_err(|e| CliError::io(folder, e))?;
    }
    let interrupt = Interrupt::listen()?;
    let schedule = Schedule { common, out: &args.out, workers, threads };
    let mut reports: Vec<Option<Report>> = plans.iter().map(|_| None).collect();
    let outcomes = schedule.run(&jobs, &interrupt, |outcomes| {
        for (plan, report) in plans.iter().zip(&mut reports).filter(|(_, report)| report.is_none()) {
            if plan.runs.iter().all(|run| outcomes.settled(&run.job.id)) {
                *report = Some(conclude(common, args, plan, outcomes)?);
            }
        }
        Ok(())
    })?;
    let reports: Vec<Report> = reports.into_iter().flatten().collect();
    let seconds = begun.elapsed().as_secs_f64();
    if let Some(path) = &args.results {
        write_results(path, &args.out, &reports, &outcomes, &command(args, None))?;
    }
    if common.json {
        let all: Vec<_> = reports.iter().map(|report| &report.json).collect();
        let fields = json!({
            "machine": machine(), "ran": outcomes.ran, "skipped": finished, "failed": outcomes.failures.len(),
            "seconds": seconds, "experiments": all,
        });
        output::result(common, "reproduce", fields, String::new)?;
    }
    match outcomes.failures.len() {
        0 => Ok(()),
        failed => Err(CliError::ReproduceFailed { failed, total: jobs.len() }),
    }
}

/// Does one job; started by `run`.
pub fn work(common: &Common, args: &ReproduceJob) -> Result<(), CliError> {
    run_worker(common, &args.folder)
}

/// The experiments that were named, each once.
fn experiments(args: &Reproduce) -> Result<Vec<Experiment>, CliError> {
    if let Some(path) = &args.file {
        let text = std::fs::read_to_string(path).map_err(|e| CliError::io(path, e))?;
        let name = path.file_stem().map_or("experiment".into(), |stem| stem.to_string_lossy().into_owned());
        return Ok(vec![Experiment::from_toml(&text, &name, args.quick)?]);
    }
    let mut names: Vec<&str> = Vec::new();
    for name in &args.names {
        let meant = match name.as_str() {
            ALL => EXPERIMENTS.iter().map(|e| e.0).collect(),
            name => vec![name],
        };
        for name in meant.into_iter().filter(|name| !names.contains(name)).collect::<Vec<_>>() {
            names.push(name);
        }
    }
    Ok(names.into_iter().map(|name| Experiment::named(name, args.quick)).collect::<Result<_, _>>()?)
}

/// Writes and prints the report of an experiment whose runs are all there.
fn conclude(common: &Common, args: &Reproduce, plan: &Plan, outcomes: &Outcomes) -> Result<Report, CliError> {
    let summary = Summary::new(plan, outcomes);
    let report = Report::write(&summary, &command(args, Some(&plan.experiment.name)), &args.out)?;
    if !common.json {
        output::result(common, "reproduce", json!({}), || report.text.clone() + "\n")?;
    }
    Ok(report)
}

/// The command that was typed, for all experiments or one of them.
fn command(args: &Reproduce, name: Option<&str>) -> String {
    let mut words = vec!["mad reproduce".to_owned()];
    match (&args.file, name) {
        (Some(path), _) => words.push(format!("--file {}", path.display())),
        (None, Some(name)) => words.push(name.to_owned()),
        (None, None) => words.extend(args.names.iter().cloned()),
    }
    for (flag, given) in [("--quick", args.quick), ("--grid", args.grid)] {
        if given {
            words.push(flag.to_owned());
        }
    }
    words.join(" ")
}

/// Says what would be done.
fn list(common: &Common, args: &Reproduce, jobs: &[(String, Job)]) -> Result<(), CliError> {
    let done = |job: &Job| job.finished(&args.out).is_some();
    let rows =
        jobs.iter().map(|(name, job)| json!({ "run": name, "id": job.id, "steps": job.steps, "done": done(job) }));
    let fields = json!({ "runs": rows.collect::<Vec<_>>() });
    output::result(common, "reproduce", fields, || {
        let rows = jobs.iter().map(|(name, job)| {
            vec![name.clone(), job.steps.to_string(), if done(job) { "done" } else { "" }.to_owned()]
        });
        output::table(&["run", "steps", ""], rows)
    })
}
