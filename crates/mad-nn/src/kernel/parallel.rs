//! Running a fixed list of jobs on the threads of the current rayon pool.

use std::sync::{Mutex, PoisonError};

/// Runs `job` on every item, on the calling thread and on the threads of the current pool.
///
/// Which thread takes which item is left open, so a job must write only to what its item owns.
pub(crate) fn for_each<T, I>(items: I, job: impl Fn(T) + Sync)
where
    T: Send,
    I: ExactSizeIterator<Item = T> + Send,
{
    let threads = rayon::current_num_threads().min(items.len());
    if threads <= 1 {
        items.for_each(job);
        return;
    }
    let queue = Mutex::new(items);
    let take = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || {
        while let Some(item) = take() {
            job(item);
        }
    };
    rayon::in_place_scope(|scope| {
        for _ in 1..threads {
            scope.spawn(|_| work());
        }
        work();
    });
}
