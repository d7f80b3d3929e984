//! Jobs on the cores there are: which are done, which run, their progress, their end.

use super::claim::{Claim, TAKEN};
use super::queue::Queue;
use super::worker::{Event, Worker};
use super::{Job, Ledger, Score};
use crate::error::LabError;
use mad_cli::Common;
use mad_cli::Interrupt;
use mad_cli::Meter;
use mad_cli::output;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

/// How often the meter is refreshed and signals are looked at.
const TICK: Duration = Duration::from_millis(100);

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

impl Wanted {
    /// How much work it is, in steps.
    fn units(&self) -> u64 {
        self.job.steps + self.job.steps / SCORING_SHARE + 1
    }
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
pub fn program() -> Result<PathBuf, LabError> {
    let running = Path::new("/proc/self/exe");
    match cfg!(target_os = "linux") && running.exists() {
        true => Ok(running.to_path_buf()),
        false => std::env::current_exe().map_err(|e| LabError::io("mad-lab", e)),
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

    /// Does all jobs that are not finished yet. `settled` is called whenever one of them is, and once before the first.
    pub fn run(
        &self,
        jobs: &[Wanted],
        ledger: &mut Ledger,
        interrupt: &Interrupt,
        mut settled: impl FnMut(&Outcomes),
    ) -> Result<Outcomes, LabError> {
        let mut shift = Shift::begin(self, jobs, ledger)?;
        settled(&shift.outcomes);
        if shift.waiting.is_empty() || self.run_nothing {
            return Ok(shift.outcomes);
        }
        let total = jobs.iter().map(Wanted::units).sum();
        let mut meter = Meter::start(self.common, "steps", shift.units_done(), total);
        while !shift.is_over() {
            if interrupt.signal().is_some() && !shift.stopping {
                shift.stop();
            }
            if shift.start_workers()? {
                settled(&shift.outcomes);
            }
            match shift.wait(TICK).map(|index| shift.end_of(index)).transpose()? {
                Some(true) => settled(&shift.outcomes),
                Some(false) => {}
                None => {
                    meter.advance(shift.units_done(), || format!("{} of {} runs done,", shift.settled(), jobs.len()));
                }
            }
        }
        meter.finish();
        match interrupt.signal() {
            Some(signal) => {
                let (done, total) = (shift.outcomes.scores.len(), jobs.len());
                Err(LabError::Stopped { signal, done, total })
            }
            None => Ok(shift.outcomes),
        }
    }
}

/// Jobs under way. Jobs are known by their place in the list.
struct Shift<'s> {
    schedule: &'s Schedule<'s>,
    jobs: &'s [Wanted],
    ledger: &'s mut Ledger,
    outcomes: Outcomes,
    waiting: Queue,
    workers: Vec<Worker>,
    /// Reports of workers, and where they send them.
    events: (Sender<Event>, Receiver<Event>),
    stopping: bool,
    /// Whether the notice that others are waited for was printed.
    told: bool,
}

impl<'s> Shift<'s> {
    /// Finds what is finished already.
    fn begin(schedule: &'s Schedule, jobs: &'s [Wanted], ledger: &'s mut Ledger) -> Result<Self, LabError> {
        let (outcomes, waiting, workers) = (Outcomes::default(), Queue::default(), Vec::new());
        let events = channel();
        let mut shift =
            Self { schedule, jobs, ledger, outcomes, waiting, workers, events, stopping: false, told: false };
        for (index, Wanted { job, folder_needed, .. }) in jobs.iter().enumerate() {
            match schedule.finished(job, shift.ledger, *folder_needed) {
                Some(score) => shift.keep(score)?,
                None => shift.waiting.push(index),
            }
        }
        Ok(shift)
    }

    fn keep(&mut self, score: Score) -> Result<(), LabError> {
        self.ledger.add(&score)?;
        self.outcomes.scores.insert(score.id.clone(), score);
        Ok(())
    }

    /// Starts what there is room for; whether a job was settled by that, because another process has done it meanwhile.
    fn start_workers(&mut self) -> Result<bool, LabError> {
        let Schedule { common, out, .. } = *self.schedule;
        let mut settled = false;
        while self.workers.len() < self.schedule.workers
            && let Some(index) = self.waiting.pop(Instant::now())
        {
            let Wanted { name, job, folder_needed } = &self.jobs[index];
            // In this order: who let go of a job has left its score.
            let held = Claim::is_held(&job.folder(out));
            self.ledger.read_again();
            if let Some(score) = self.schedule.finished(job, self.ledger, *folder_needed) {
                output::detail(common, format!("{name}: done by another process"));
                self.keep(score)?;
                settled = true;
            } else if held {
                if !std::mem::replace(&mut self.told, true) {
                    output::notice(common, "another process works on some of these runs: they are waited for");
                }
                self.waiting.put_off(index, Instant::now());
            } else {
                self.workers.push(Worker::start(self.schedule, job, index, self.events.0.clone())?);
            }
        }
        Ok(settled)
    }

    /// Takes note of steps for a while; the job whose worker ended, if one did.
    fn wait(&mut self, time: Duration) -> Option<usize> {
        let until = Instant::now() + time;
        loop {
            match self.events.1.recv_timeout(until.saturating_duration_since(Instant::now())).ok()? {
                Event::Ended(index) => return Some(index),
                Event::Step(index, step) => {
                    self.workers
                        .iter_mut()
                        .filter(|worker| worker.index == index)
                        .for_each(|worker| worker.step = step);
                }
            }
        }
    }

    /// Looks at what a worker that ended has left; whether its job is settled.
    fn end_of(&mut self, index: usize) -> Result<bool, LabError> {
        let Schedule { common, out, .. } = *self.schedule;
        let place = self.workers.iter().position(|worker| worker.index == index).expect("a running worker ended");
        let status = self.workers.swap_remove(place).status()?;
        let Wanted { name, job, .. } = &self.jobs[index];
        match status.success().then(|| job.finished(out)).flatten() {
            Some(score) => {
                output::detail(common, format!("{name}: done"));
                self.keep(score)?;
            }
            None if self.stopping => return Ok(false),
            None if status.code() == Some(TAKEN.into()) => {
                self.waiting.put_off(index, Instant::now());
                return Ok(false);
            }
            None => {
                let words = Worker::last_words(&job.folder(out), status);
                output::say(format!("{name}: failed: {words}"));
                self.outcomes.failures.insert(job.id.clone(), words);
            }
        }
        self.outcomes.ran += 1;
        Ok(true)
    }

    /// Starts nothing more and tells all workers to stop.
    fn stop(&mut self) {
        self.stopping = true;
        self.waiting.clear();
        output::notice(self.schedule.common, "stopping: runs in training save their step first");
        self.workers.iter_mut().for_each(Worker::stop);
    }

    fn is_over(&self) -> bool {
        self.workers.is_empty() && self.waiting.is_empty()
    }

    /// How many jobs are settled.
    fn settled(&self) -> usize {
        self.outcomes.scores.len() + self.outcomes.failures.len()
    }

    /// How much of the work is done.
    fn units_done(&self) -> u64 {
        let settled = self.jobs.iter().filter(|wanted| self.outcomes.settled(&wanted.job.id));
        let running: u64 = self.workers.iter().map(|worker| worker.step).sum();
        settled.map(Wanted::units).sum::<u64>() + running
    }
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
        std::fs::write(job.folder(&out).join("run.partial"), "").unwrap();
        assert_eq!(finished(&Ledger::default()), [true, false], "a run that is made again");
        std::fs::remove_file(job.folder(&out).join("run.partial")).unwrap();
        std::fs::remove_file(job.folder(&out).join("run/run.json")).unwrap();
        assert_eq!(finished(&Ledger::default()), [true, false], "a score without its run");
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
