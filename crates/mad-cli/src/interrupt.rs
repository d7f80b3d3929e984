//! Ctrl-C and termination: the first signal asks for a clean end, the second one ends at once.

use crate::error::CliError;
use signal_hook::consts::{SIGINT, SIGTERM};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

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
        for number in [SIGINT, SIGTERM] {
            // The order matters: the shutdown acts only if an earlier signal has set the flag already.
            signal_hook::flag::register_conditional_shutdown(number, 128 + number, Arc::clone(&stop))
                .and_then(|_| signal_hook::flag::register_usize(number, Arc::clone(&signal), number as usize))
                .and_then(|_| signal_hook::flag::register(number, Arc::clone(&stop)))
                .map_err(|source| CliError::io("signal handler", source))?;
        }
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
