//! Jobs on the cores there are: worker processes, their progress, their end.

use super::claim::{Claim, TAKEN};
use super::queue::Queue;
use super::{Job, Ledger, Score};
use crate::args::Common;
use crate::error::CliError;
use crate::interrupt::Interrupt;
use crate::output;
use crate::output::write_whole;
use crate::progress::Meter;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// How often the meter is refreshed and signals are looked at.
const TICK: Duration = Duration::from_millis(100);

/// Lines of a failed worker's last words that are shown.
const LAST_WORDS: usize = 5;

/// Scoring a run takes about as long as this part of its steps.
const SCORING_SHARE: u64 = 8;

/// What came of every job, by id.
#[derive(Debug, Default)]
pub struct Outcomes {
    pub scores: BTreeMap<String, Score>,
    /// Why jobs failed.
    pub failures: BTreeMap<String, String>,
    /// Jobs that were done in this call.
    pub ran: usize,
}

impl Outcomes {
    /// Whether nothing is left to do for this job.
    pub fn settled(&self, id: &str) -> bool {
        self.scores.contains_key(id) || self.failures.contains_key(id)
    }
}

/// A job, what it is called, and whether its score is not enough.
#[derive(Debug, Clone)]
pub struct Wanted {
    pub name: String,
    pub job: Job,
    /// Whether its run folder is looked into afterwards.
    pub folder_needed: bool,
}

/// How jobs are done, each once.
pub struct Schedule<'a> {
    pub common: &'a Common,
    /// The program that workers run; see [`program`].
    pub program: &'a Path,
    pub out: &'a Path,
    /// Worker processes at a time.
    pub workers: usize,
    /// Threads of each.
    pub threads: u16,
    /// Leave what is not finished.
    pub run_nothing: bool,
}

/// This very program. Where the system has a name for it, that one stays right if the file is replaced or removed; elsewhere the
/// path is the one at the start.
pub fn program() -> Result<PathBuf, CliError> {
    let running = Path::new("/proc/self/exe");
    match cfg!(target_os = "linux") && running.exists() {
        true => Ok(running.to_path_buf()),
        false => std::env::current_exe().map_err(|e| CliError::io("mad", e)),
    }
}

impl Schedule<'_> {
    /// The score of a job that is finished: from its folder or from the ledger. If its run is looked into afterwards, the score
    /// alone is not enough, unless nothing is to be run: then it serves the tables.
    pub fn finished(&self, job: &Job, ledger: &Ledger, folder_needed: bool) -> Option<Score> {
        match folder_needed && !self.run_nothing {
            true => job.finished_with_run(self.out),
            false => job.finished(self.out).or_else(|| ledger.get(&job.id).cloned()),
        }
    }
}

struct Worker {
    child: Child,
    /// Dropped to make the worker stop.
    input: Option<ChildStdin>,
    index: usize,
    step: u64,
}

enum Event {
    Step(usize, u64),
    Ended(usize),
}

impl Schedule<'_> {
    /// Does all jobs that are not finished yet. `settled` is told whenever one of them is, and once before the first.
    pub fn run(
        &self,
        jobs: &[Wanted],
        ledger: &mut Ledger,
        interrupt: &Interrupt,
        mut settled: impl FnMut(&Outcomes),
    ) -> Result<Outcomes, CliError> {
        let mut outcomes = Outcomes::default();
        let mut waiting = Queue::default();
        for (index, Wanted { job, folder_needed, .. }) in jobs.iter().enumerate() {
            match self.finished(job, ledger, *folder_needed) {
                Some(score) => {
                    ledger.add(&score)?;
                    outcomes.scores.insert(job.id.clone(), score);
                }
                None => waiting.push(index),
            }
        }
        settled(&outcomes);
        if waiting.is_empty() || self.run_nothing {
            return Ok(outcomes);
        }
        let total: u64 = jobs.iter().map(|wanted| units(&wanted.job)).sum();
        let mut done = total - waiting.indices().map(|index| units(&jobs[index].job)).sum::<u64>();
        let mut meter = Meter::start(self.common, "steps", done, total);
        let (sender, events) = channel();
        let mut workers: Vec<Worker> = Vec::new();
        let (mut stopping, mut told) = (false, false);
        loop {
            if interrupt.signal().is_some() && !stopping {
                stopping = true;
                waiting.clear();
                output::notice(self.common, "stopping: runs in training save their step first");
                workers.iter_mut().for_each(|worker| drop(worker.input.take()));
            }
            while workers.len() < self.workers
                && let Some(index) = waiting.pop(Instant::now())
            {
                let Wanted { name, job, folder_needed } = &jobs[index];
                // By now another process may be at it, or have done it. In this order: who let go of it has left its score.
                let held = Claim::is_held(&job.folder(self.out));
                ledger.read_again();
                if let Some(score) = self.finished(job, ledger, *folder_needed) {
                    output::detail(self.common, format!("{name}: done by another process"));
                    ledger.add(&score)?;
                    outcomes.scores.insert(job.id.clone(), score);
                    done += units(job);
                    settled(&outcomes);
                } else if held {
                    if !std::mem::replace(&mut told, true) {
                        output::notice(self.common, "another process works on some of these runs: they are waited for");
                    }
                    waiting.put_off(index, Instant::now());
                } else {
                    workers.push(self.start(job, index, sender.clone())?);
                }
            }
            if workers.is_empty() && waiting.is_empty() {
                break;
            }
            let Some(index) = self.wait(&events, &mut workers) else {
                let running: u64 = workers.iter().map(|worker| worker.step).sum();
                let settled = outcomes.scores.len() + outcomes.failures.len();
                meter.advance(done + running, || format!("{settled} of {} runs done,", jobs.len()));
                continue;
            };
            let place = workers.iter().position(|worker| worker.index == index).expect("a running worker ended");
            let mut worker = workers.swap_remove(place);
            let status = worker.child.wait().map_err(|e| CliError::io("worker", e))?;
            let Wanted { name, job, .. } = &jobs[index];
            match (status.success().then(|| job.finished(self.out)).flatten(), stopping) {
                (Some(score), _) => {
                    output::detail(self.common, format!("{name}: done"));
                    ledger.add(&score)?;
                    outcomes.scores.insert(job.id.clone(), score);
                }
                (None, true) => continue,
                (None, false) if status.code() == Some(TAKEN.into()) => {
                    waiting.put_off(index, Instant::now());
                    continue;
                }
                (None, false) => {
                    let words = self.last_words(job, status);
                    output::say(format!("{name}: failed: {words}"));
                    outcomes.failures.insert(job.id.clone(), words);
                }
            }
            outcomes.ran += 1;
            done += units(job);
            settled(&outcomes);
        }
        meter.finish();
        match interrupt.signal() {
            Some(signal) => {
                let (done, total) = (outcomes.scores.len(), jobs.len());
                Err(CliError::ReproduceStopped { signal, done, total })
            }
            None => Ok(outcomes),
        }
    }

    fn start(&self, job: &Job, index: usize, events: Sender<Event>) -> Result<Worker, CliError> {
        let folder = job.folder(self.out);
        std::fs::create_dir_all(&folder).map_err(|e| CliError::io(&folder, e))?;
        let text = serde_json::to_string_pretty(job).expect("numbers and names can be written as JSON");
        write_whole(&folder.join("job.json"), (text + "\n").as_bytes())?;
        let words = words_file(&folder);
        let errors = std::fs::File::create(&words).map_err(|e| CliError::io(&words, e))?;
        let mut command = Command::new(self.program);
        command.arg("reproduce-job").arg(&folder).args(["--quiet", "--threads", &self.threads.to_string()]);
        if let Some(path) = self.common.data_dir() {
            command.arg("--data-dir").arg(path);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(errors);
        // Ctrl-C on a terminal reaches this process only, which then stops its workers in its own way.
        #[cfg(unix)]
        {
            use std::os::unix::process::CommandExt;
            command.process_group(0).arg0("mad");
        }
        let mut child = command.spawn().map_err(|e| CliError::io(self.program, e))?;
        let (input, lines) = (child.stdin.take(), child.stdout.take());
        std::thread::spawn(move || {
            for line in lines.into_iter().flat_map(|out| BufReader::new(out).lines()).map_while(Result::ok) {
                let step = line.strip_prefix("step ").and_then(|number| number.parse().ok());
                let _ = step.map_or(Ok(()), |step| events.send(Event::Step(index, step)));
            }
            let _ = events.send(Event::Ended(index));
        });
        Ok(Worker { child, input, index, step: 0 })
    }

    /// Takes note of steps for a tick; the job whose worker ended, if one did.
    fn wait(&self, events: &Receiver<Event>, workers: &mut [Worker]) -> Option<usize> {
        let until = Instant::now() + TICK;
        loop {
            match events.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(Event::Ended(index)) => return Some(index),
                Ok(Event::Step(index, step)) => {
                    workers.iter_mut().filter(|w| w.index == index).for_each(|w| w.step = step);
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return None,
            }
        }
    }

    /// The end of what a worker wrote to standard error.
    fn last_words(&self, job: &Job, status: ExitStatus) -> String {
        let text = std::fs::read_to_string(words_file(&job.folder(self.out))).unwrap_or_default();
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        match lines.len() {
            0 => format!("{status}, without a word"),
            n => lines[n.saturating_sub(LAST_WORDS)..].join("\n"),
        }
    }
}

fn words_file(folder: &Path) -> PathBuf {
    folder.join("errors.txt")
}

/// How much work a job is, in steps.
fn units(job: &Job) -> u64 {
    job.steps + job.steps / SCORING_SHARE + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::testing;

    #[test]
    fn scores_of_the_ledger_count_unless_the_run_is_needed() {
        let folder = tempfile::tempdir().unwrap();
        let (out, path) = (folder.path().join("out"), folder.path().join("scores.jsonl"));
        let (job, common) = (testing::job("a", 0), testing::common());
        let mut ledger = Ledger::open(Some(&path)).unwrap();
        let program = Path::new("none");
        let schedule = Schedule { common: &common, program, out: &out, workers: 1, threads: 1, run_nothing: false };
        let finished = |ledger: &Ledger| [false, true].map(|needed| schedule.finished(&job, ledger, needed).is_some());
        assert_eq!(finished(&ledger), [false, false]);
        ledger.add(&testing::score("a", &[("nll", 1.0)])).unwrap();
        assert_eq!(finished(&ledger), [true, false], "the ledger alone");

        // A run that is not at its end has no score in its folder.
        std::fs::create_dir_all(job.folder(&out).join("run")).unwrap();
        std::fs::write(job.folder(&out).join("run/run.json"), "{}").unwrap();
        assert_eq!(finished(&ledger), [true, false], "a run without its score");
        let score = serde_json::to_string(&testing::score("a", &[])).unwrap();
        std::fs::write(job.folder(&out).join("score.json"), score).unwrap();
        assert_eq!(finished(&Ledger::default()), [true, true], "both");
        std::fs::remove_file(job.folder(&out).join("run/run.json")).unwrap();
        assert_eq!(finished(&Ledger::default()), [true, false], "a score without its run");
        std::fs::write(job.folder(&out).join("run/pose.json"), "{}").unwrap();
        assert_eq!(finished(&Ledger::default()), [true, true], "a run on pictures");
    }

    #[test]
    fn tables_of_what_is_finished_take_scores_without_runs() {
        let folder = tempfile::tempdir().unwrap();
        let (job, common) = (testing::job("a", 0), testing::common());
        let mut ledger = Ledger::open(Some(&folder.path().join("scores.jsonl"))).unwrap();
        ledger.add(&testing::score("a", &[("nll", 1.0)])).unwrap();
        let (program, out) = (Path::new("none"), folder.path());
        let schedule = Schedule { common: &common, program, out, workers: 1, threads: 1, run_nothing: true };
        assert!(schedule.finished(&job, &ledger, true).is_some());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn workers_run_this_very_program() {
        assert_eq!(program().unwrap(), Path::new("/proc/self/exe"));
    }
}
