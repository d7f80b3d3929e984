//! Whether there is a standard output. Rust opens `/dev/null` in place of a closed one before `main` begins, and results would
//! vanish without an error; so it is looked at earlier.

use crate::error::CliError;

/// Refuses to work for nobody.
pub fn require_open() -> Result<(), CliError> {
    match closed() {
        true => Err(CliError::io("standard output", std::io::Error::other("it is closed; results would be lost"))),
        false => Ok(()),
    }
}

#[cfg(not(target_os = "linux"))]
fn closed() -> bool {
    false
}

#[cfg(target_os = "linux")]
fn closed() -> bool {
    at_start::CLOSED.load(std::sync::atomic::Ordering::SeqCst)
}

#[cfg(target_os = "linux")]
#[allow(unsafe_code, reason = "only an entry of .init_array runs before the standard library replaces a closed output")]
mod at_start {
    use std::ffi::c_int;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// Whether file descriptor 1 was closed.
    pub static CLOSED: AtomicBool = AtomicBool::new(false);

    /// Called by the loader before `main`.
    #[used]
    #[unsafe(link_section = ".init_array")]
    static LOOK: extern "C" fn() = look;

    extern "C" fn look() {
        const F_GETFD: c_int = 1;
        unsafe extern "C" {
            fn fcntl(descriptor: c_int, command: c_int, ...) -> c_int;
        }
        // Safety: F_GETFD takes no argument and changes nothing.
        CLOSED.store(unsafe { fcntl(1, F_GETFD) } == -1, Ordering::SeqCst);
    }
}
