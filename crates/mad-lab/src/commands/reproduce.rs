//! `mad-lab reproduce`: the paper's tables and figures, each by one command.

use crate::args::{Reproduce, ReproduceJob};
use crate::error::LabError;
use crate::reproduce::{
    ALL, EXPERIMENTS, Experiment, ExperimentError, Ledger, Only, Outcomes, Plan, Report, Schedule, Summary, Wanted,
    machine, needs_runs, plan, program, run_worker, write_results,
};
use mad_cli::Interrupt;
use mad_cli::output;
use mad_cli::quoted;
use mad_cli::require_apart;
use mad_cli::{Common, Failure};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::Instant;

pub fn run(common: &Common, args: &Reproduce) -> Result<(), LabError> {
    let begun = Instant::now();
    if let Some(path) = args.results.as_deref().filter(|path| path.extension().is_none()) {
        let (path, better) = (path.display(), path.with_extension("md"));
        let why = "figures go to a folder of the document's name without it";
        return Err(LabError::usage(format!("--results {path}: give an ending, as in {}; {why}", better.display())));
    }
    if let Some(results) = &args.results {
        let inputs: Vec<&Path> = [&args.file, &args.scores].into_iter().flatten().map(PathBuf::as_path).collect();
        require_apart(results, None, &inputs)?;
        // Figures go next to it, into a folder of its name.
        require_apart(&results.with_extension(""), None, &[])?;
    }
    if let Some(scores) = &args.scores {
        require_apart(scores, None, args.file.as_deref().as_slice())?;
    }
    let mut plans: Vec<Plan> =
        experiments(args)?.into_iter().map(|e| plan(common, e, args.search)).collect::<Result<_, _>>()?;
    // An experiment without methods has a figure that needs no runs.
    plans.retain(|plan| !plan.runs.is_empty() || plan.experiment.methods.is_empty());
    if plans.is_empty() {
        return Err(ExperimentError::NothingLeft { command: command(args, None) }.into());
    }
    for folder in plans.iter().map(|plan| args.out.join(plan.experiment.output())) {
        require_apart(&folder, None, &[])?;
    }
    let program = program()?;
    let mut ledger = Ledger::open(args.scores.as_deref())?;
    ledger.notices().for_each(|notice| output::notice(common, notice));
    let jobs = wanted(&plans);
    let threads = common.threads.unwrap_or(1);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let workers = args.jobs.map_or_else(|| (cores / usize::from(threads)).max(1), usize::from);
    let schedule = Schedule { common, program: &program, out: &args.out, workers, threads, run_nothing: args.finished };
    let done = |wanted: &Wanted| schedule.finished(&wanted.job, &ledger, wanted.folder_needed).is_some();
    let finished = jobs.iter().filter(|wanted| done(wanted)).count();
    output::notice(common, format!("{} runs, {finished} of them done already, {workers} at once", jobs.len()));
    if args.dry_run {
        return list(common, &jobs, done);
    }
    // Places that cannot be written to are found now, not after hours.
    let files = [args.results.as_deref(), args.scores.as_deref()].into_iter().flatten();
    let parents = files.filter_map(Path::parent).filter(|folder| *folder != Path::new(""));
    for folder in std::iter::once(args.out.as_path()).chain(parents) {
        std::fs::create_dir_all(folder).map_err(|e| LabError::io(folder, e))?;
    }
    let interrupt = Interrupt::listen()?;
    let mut conclusions: Vec<Option<Conclusion>> = plans.iter().map(|_| None).collect();
    let outcomes = schedule.run(&jobs, &mut ledger, &interrupt, |outcomes| {
        for (plan, conclusion) in plans.iter().zip(&mut conclusions).filter(|(_, conclusion)| conclusion.is_none()) {
            if args.finished || plan.runs.iter().all(|run| outcomes.settled(&run.job.id)) {
                *conclusion = Some(Conclusion::new(common, args, plan, outcomes));
            }
        }
    })?;
    let (reports, problems): (Vec<_>, Vec<_>) =
        conclusions.into_iter().flatten().map(|c| (c.report, c.problem)).unzip();
    let reports: Vec<Report> = reports.into_iter().flatten().collect();
    let mut problems: Vec<LabError> = problems.into_iter().flatten().collect();
    let seconds = begun.elapsed().as_secs_f64();
    if let Some(path) = &args.results {
        write_results(path, &args.out, &reports)?;
    }
    if common.json {
        let all: Vec<_> = reports.iter().map(|report| &report.json).collect();
        let fields = json!({
            "machine": machine(), "ran": outcomes.ran, "skipped": finished, "failed": outcomes.failures.len(),
            "done_elsewhere": (outcomes.scores.len() + outcomes.failures.len()).saturating_sub(outcomes.ran + finished),
            "seconds": seconds, "experiments": all,
            "problems": problems.iter().map(LabError::to_string).collect::<Vec<_>>(),
        });
        output::result(common, "reproduce", fields, String::new)?;
    }
    // All of them have been printed; the exit code is that of one, and a closed pipe is the least of them.
    problems.sort_by_key(Failure::is_broken_pipe);
    match outcomes.failures.len() {
        0 => problems.into_iter().next().map_or(Ok(()), Err),
        failed => Err(LabError::RunsFailed { failed, total: jobs.len() }),
    }
}

/// Does one job; started by `run`.
pub fn work(common: &Common, args: &ReproduceJob) -> Result<(), LabError> {
    run_worker(common, &args.folder)
}

/// The jobs of all plans, each once.
fn wanted(plans: &[Plan]) -> Vec<Wanted> {
    let mut jobs: Vec<Wanted> = Vec::new();
    for plan in plans {
        let folder_needed = needs_runs(&plan.experiment.name);
        for run in &plan.runs {
            match jobs.iter_mut().find(|known| known.job.id == run.job.id) {
                Some(known) => known.folder_needed |= folder_needed,
                None => jobs.push(Wanted { name: run.place.to_string(), job: run.job.clone(), folder_needed }),
            }
        }
    }
    jobs
}

/// The experiments that were named, each once, and of each the parts asked for.
fn experiments(args: &Reproduce) -> Result<Vec<Experiment>, LabError> {
    let list = |names: &[String]| (!names.is_empty()).then(|| names.to_vec());
    let only = Only {
        seeds: (!args.seeds.is_empty()).then(|| args.seeds.clone()),
        data: list(&args.data),
        methods: list(&args.methods),
        protocols: list(&args.protocols),
    };
    let mut experiments = named(args)?;
    Experiment::keep_of_all(&mut experiments, &only)?;
    Ok(experiments)
}

fn named(args: &Reproduce) -> Result<Vec<Experiment>, LabError> {
    if let Some(path) = &args.file {
        return Ok(vec![Experiment::from_file(path, args.quick)?]);
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

/// How an experiment ended. What goes wrong with one of them does not stop the others.
struct Conclusion {
    report: Option<Report>,
    problem: Option<LabError>,
}

impl Conclusion {
    /// Writes and prints the report of an experiment whose runs are all there.
    fn new(common: &Common, args: &Reproduce, plan: &Plan, outcomes: &Outcomes) -> Self {
        let name = &plan.experiment.name;
        let written = Report::write(&Summary::new(plan, outcomes), &command(args, Some(name)), &args.out);
        let (report, problem) = match written {
            Ok(report) => {
                let problem = print(common, &report).err();
                (Some(report), problem)
            }
            Err(error) => (None, Some(error)),
        };
        if let Some(error) = problem.as_ref().filter(|error| !error.is_broken_pipe()) {
            output::say(format!("{name}: report: {error}"));
        }
        Self { report, problem }
    }
}

fn print(common: &Common, report: &Report) -> Result<(), LabError> {
    match common.json {
        true => Ok(()),
        false => Ok(output::result(common, "reproduce", json!({}), || report.text.clone() + "\n")?),
    }
}

/// The command that was typed, for all experiments or one of them.
fn command(args: &Reproduce, name: Option<&str>) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let mut words = vec!["mad-lab reproduce".to_owned()];
    match (&args.file, name) {
        (Some(path), _) => words.push(format!("--file {}", typed(path, &here))),
        (None, Some(name)) => words.push(quoted(name)),
        (None, None) => words.extend(args.names.iter().map(|name| quoted(name))),
    }
    for (flag, given) in [("--quick", args.quick), ("--search", args.search), ("--finished", args.finished)] {
        if given {
            words.push(flag.to_owned());
        }
    }
    if !args.seeds.is_empty() {
        let seeds: Vec<String> = args.seeds.iter().map(u64::to_string).collect();
        words.push(format!("--seeds {}", seeds.join(",")));
    }
    for (flag, names) in [("--data", &args.data), ("--methods", &args.methods), ("--protocols", &args.protocols)] {
        words.extend(names.iter().map(|name| format!("{flag} {}", quoted(name))));
    }
    if let Some(path) = &args.scores {
        words.push(format!("--scores {}", typed(path, &here)));
    }
    words.join(" ")
}

/// A path as it was typed, for a shell; without the way to the current folder if it is below that.
fn typed(path: &Path, here: &Path) -> String {
    let below = path.strip_prefix(here).ok().filter(|_| !here.as_os_str().is_empty());
    quoted(&below.unwrap_or(path).display().to_string())
}

/// Lists what would be done.
fn list(common: &Common, jobs: &[Wanted], done: impl Fn(&Wanted) -> bool) -> Result<(), LabError> {
    let rows = jobs.iter().map(|wanted| {
        let Wanted { name, job, .. } = wanted;
        json!({ "run": name, "id": job.id, "steps": job.steps, "done": done(wanted) })
    });
    let fields = json!({ "runs": rows.collect::<Vec<_>>() });
    Ok(output::result(common, "reproduce", fields, || {
        let rows = jobs.iter().map(|wanted| {
            let state = if done(wanted) { "done" } else { "" };
            vec![wanted.name.clone(), wanted.job.steps.to_string(), state.to_owned()]
        });
        output::table(&["run", "steps", ""], rows)
    })?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Command};
    use clap::Parser;

    fn words(line: &[&str], name: Option<&str>) -> String {
        let cli = Cli::parse_from(["mad-lab", "reproduce"].iter().chain(line));
        let Command::Reproduce(args) = &cli.command else { panic!("another command") };
        command(args, name)
    }

    #[test]
    fn the_command_has_all_that_the_numbers_come_from() {
        let line = ["table-earth", "table-so3", "--finished", "--scores", "docs/scores.jsonl"];
        assert_eq!(
            words(&line, Some("table-so3")),
            "mad-lab reproduce table-so3 --finished --scores docs/scores.jsonl"
        );
        let line = "--file|my table.toml|--seeds|0,2|--methods|MAD, orbit|--methods|it's mine|--scores|my scores.jsonl";
        assert_eq!(
            words(&line.split('|').collect::<Vec<_>>(), None),
            r"mad-lab reproduce --file 'my table.toml' --seeds 0,2 --methods 'MAD, orbit' --methods 'it'\''s mine' --scores 'my scores.jsonl'"
        );
    }

    #[test]
    fn paths_below_the_current_folder_are_relative() {
        let typed = |path: &str, here: &str| typed(Path::new(path), Path::new(here));
        assert_eq!(typed("/here/a/b.toml", "/here"), "a/b.toml");
        assert_eq!(typed("/there/b.toml", "/here"), "/there/b.toml");
        assert_eq!((typed("a/b.toml", "/here"), typed("../b.toml", "/here")), ("a/b.toml".into(), "../b.toml".into()));
        assert_eq!(typed("a.toml", ""), "a.toml");
    }
}
