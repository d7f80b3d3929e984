//! Ctrl-C and termination: the first signal asks for a clean end; another one, later than [`GRACE`], ends at once.

use crate::error::{CliError, ENDED_AT_ONCE};
use signal_hook::consts::{SIGINT, SIGTERM};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// Signals that follow the first one within this time are part of it: `timeout` signals the process and its group, and a
/// shell and a terminal may both pass on Ctrl-C.
const GRACE: Duration = Duration::from_secs(1);

/// How often a signal is looked for in order to start the time above.
const LOOK: Duration = Duration::from_millis(50);

/// Lets a write beyond the largest allowed file size fail with a message instead of ending the program.
pub fn survive_limits() -> Result<(), CliError> {
    #[cfg(unix)]
    signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::new(AtomicBool::new(false)))
        .map_err(|source| CliError::io("signal handler", source))?;
    Ok(())
}

/// Whether, and by which signal, the user wants the program to end.
#[derive(Debug, Clone)]
pub struct Interrupt {
    stop: Arc<AtomicBool>,
    signal: Arc<AtomicUsize>,
}

impl Interrupt {
    /// Starts to listen.
    pub fn listen() -> Result<Self, CliError> {
        let (stop, signal) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let impatient = Arc::new(AtomicBool::new(false));
        for number in [SIGINT, SIGTERM] {
            signal_hook::flag::register_conditional_shutdown(number, ENDED_AT_ONCE.into(), Arc::clone(&impatient))
                .and_then(|_| signal_hook::flag::register_usize(number, Arc::clone(&signal), number as usize))
                .and_then(|_| signal_hook::flag::register(number, Arc::clone(&stop)))
                .map_err(|source| CliError::io("signal handler", source))?;
        }
        let stopped = Arc::clone(&stop);
        let watch = move || {
            while !stopped.load(Ordering::SeqCst) {
                thread::sleep(LOOK);
            }
            thread::sleep(GRACE);
            impatient.store(true, Ordering::SeqCst);
        };
        thread::Builder::new()
            .name("signals".into())
            .spawn(watch)
            .map_err(|source| CliError::io("signal handler", source))?;
        Ok(Self { stop, signal })
    }

    /// The flag that a trainer watches.
    pub fn flag(&self) -> &AtomicBool {
        &self.stop
    }

    /// The signal that arrived, if any.
    pub fn signal(&self) -> Option<i32> {
        match self.signal.load(Ordering::SeqCst) {
            0 => None,
            number => i32::try_from(number).ok(),
        }
    }
}
