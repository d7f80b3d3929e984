//! The order in which jobs are started.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// How soon a job that another process is at is looked at again.
const RETRY: Duration = Duration::from_secs(2);

/// Jobs that have not been started, by index; some only later, because another process is at them.
#[derive(Debug, Default)]
pub struct Queue {
    ready: VecDeque<usize>,
    taken: VecDeque<(Instant, usize)>,
}

impl Queue {
    /// Puts a job at the end.
    pub fn push(&mut self, index: usize) {
        self.ready.push_back(index);
    }

    /// The next job: first those that nobody is known to be at.
    pub fn pop(&mut self, now: Instant) -> Option<usize> {
        self.ready.pop_front().or_else(|| self.taken.pop_front_if(|(again, _)| *again <= now).map(|(_, index)| index))
    }

    /// Another process is at this job.
    pub fn put_off(&mut self, index: usize, now: Instant) {
        self.taken.push_back((now + RETRY, index));
    }

    /// Forgets all jobs.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    pub fn is_empty(&self) -> bool {
        self.ready.is_empty() && self.taken.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_of_others_come_last_and_not_at_once() {
        let mut queue = Queue::default();
        [4, 5].into_iter().for_each(|index| queue.push(index));
        let now = Instant::now();
        assert_eq!(queue.pop(now), Some(4));
        queue.put_off(4, now);
        assert_eq!((queue.pop(now), queue.pop(now), queue.is_empty()), (Some(5), None, false));
        assert_eq!((queue.pop(now + RETRY), queue.is_empty()), (Some(4), true));
    }
}
