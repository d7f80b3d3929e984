//! A process that does one job, as seen by the one that started it. What it does itself is in `job.rs`.

use super::{Job, Schedule};
use crate::error::LabError;
use mad_cli::output::write_whole;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::Sender;

/// Lines of a failed worker's last words that are shown.
const LAST_WORDS: usize = 5;

/// What workers report of the job with this index.
pub enum Event {
    /// The step it is at.
    Step(usize, u64),
    Ended(usize),
}

/// A running worker.
pub struct Worker {
    pub index: usize,
    pub step: u64,
    child: Child,
    /// Dropped to make it stop.
    input: Option<ChildStdin>,
}

impl Worker {
    /// Starts one on a job.
    pub fn start(schedule: &Schedule, job: &Job, index: usize, events: Sender<Event>) -> Result<Self, LabError> {
        let folder = job.folder(schedule.out);
        std::fs::create_dir_all(&folder).map_err(|e| LabError::io(&folder, e))?;
        let text = serde_json::to_string_pretty(job).expect("numbers and names can be written as JSON");
        write_whole(&folder.join("job.json"), (text + "\n").as_bytes())?;
        let words = words_file(&folder);
        let errors = std::fs::File::create(&words).map_err(|e| LabError::io(&words, e))?;
        let mut command = Command::new(schedule.program);
        command.arg("reproduce-job").arg(&folder).args(["--quiet", "--threads", &schedule.threads.to_string()]);
        if let Some(path) = schedule.common.data_dir() {
            command.arg("--data-dir").arg(path);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(errors);
        // Ctrl-C on a terminal reaches this process only, which then stops its workers in its own way.
        #[cfg(unix)]
        {
            use std::os::unix::process::CommandExt;
            command.process_group(0).arg0("mad-lab");
        }
        let mut child = command.spawn().map_err(|e| LabError::io(schedule.program, e))?;
        let (input, lines) = (child.stdin.take(), child.stdout.take());
        std::thread::spawn(move || {
            for line in lines.into_iter().flat_map(|out| BufReader::new(out).lines()).map_while(Result::ok) {
                let step = line.strip_prefix("step ").and_then(|number| number.parse().ok());
                let _ = step.map_or(Ok(()), |step| events.send(Event::Step(index, step)));
            }
            let _ = events.send(Event::Ended(index));
        });
        Ok(Self { index, step: 0, child, input })
    }

    /// Tells it to save its step and end.
    pub fn stop(&mut self) {
        drop(self.input.take());
    }

    /// How it ended; waits until it has.
    pub fn status(mut self) -> Result<ExitStatus, LabError> {
        self.child.wait().map_err(|e| LabError::io("worker", e))
    }

    /// The end of what the worker of a job folder wrote to standard error.
    pub fn last_words(folder: &Path, status: ExitStatus) -> String {
        let text = std::fs::read_to_string(words_file(folder)).unwrap_or_default();
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
