//! Whether a network can be trained in the memory that there is, before anything is written.

use std::{fs, path::Path};

/// Copies of every weight that training holds at least: weights, average, two moments and gradient, four bytes each.
const BYTES_PER_WEIGHT: u64 = 5 * 4;

/// More memory than there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "{weights} weights need at least {} to be trained and {} are available; make width or depth smaller",
    size(*needed),
    size(*available)
)]
pub struct MemoryError {
    /// Weights of the network.
    pub weights: u64,
    /// Bytes that training takes at least.
    pub needed: u64,
    /// Bytes there are.
    pub available: u64,
}

/// Refuses to train this many weights if the memory of this process cannot hold them. Where the system does not say how much
/// there is, nothing is refused.
pub(crate) fn require(weights: usize) -> Result<(), MemoryError> {
    available(Path::new("/")).map_or(Ok(()), |available| require_within(weights as u64, available))
}

fn require_within(weights: u64, available: u64) -> Result<(), MemoryError> {
    let needed = weights.saturating_mul(BYTES_PER_WEIGHT);
    if needed > available { Err(MemoryError { weights, needed, available }) } else { Ok(()) }
}

/// Bytes this process may still take: what the machine has free, what its control group leaves and what limits of the shell
/// allow. `root` is the root of the file system.
fn available(root: &Path) -> Option<u64> {
    let text = |path: &str| fs::read_to_string(root.join(path)).ok();
    let number = |path: &str| text(path)?.trim().parse::<u64>().ok();
    let machine = text("proc/meminfo").and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
        Some(line.split_whitespace().next()?.parse::<u64>().ok()? << 10)
    });
    // "max" in version 2 and a number near 2^63 in version 1 stand for no limit.
    let groups = [
        ("sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory.current"),
        ("sys/fs/cgroup/memory/memory.limit_in_bytes", "sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ];
    let groups = groups.iter().filter_map(|(limit, used)| Some(number(limit)?.saturating_sub(number(used)?)));
    let limits = text("proc/self/limits").and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("Max address space"))?;
        line.split_whitespace().next()?.parse::<u64>().ok()
    });
    machine.into_iter().chain(groups).chain(limits).min()
}

fn size(bytes: u64) -> String {
    match bytes {
        0..10_000_000_000 => format!("{} MB", bytes.div_ceil(1_000_000)),
        _ => format!("{} GB", bytes / 1_000_000_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(files: &[(&str, &str)]) -> Option<u64> {
        let root = tempfile::tempdir().expect("a folder");
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, text).expect("written");
        }
        available(root.path())
    }

    #[test]
    fn the_tightest_limit_counts() {
        let meminfo = ("proc/meminfo", "MemTotal: 9000 kB\nMemAvailable:    4000 kB\n");
        assert_eq!(machine(&[]), None);
        assert_eq!(machine(&[meminfo]), Some(4_096_000));
        let (max, current) = ("sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory.current");
        assert_eq!(machine(&[meminfo, (max, "3000000\n"), (current, "1000000\n")]), Some(2_000_000));
        assert_eq!(machine(&[meminfo, (max, "max\n"), (current, "1000000\n")]), Some(4_096_000));
        let limits = |text| machine(&[meminfo, ("proc/self/limits", text)]);
        assert_eq!(limits("Max address space         1500000    1500000   bytes\n"), Some(1_500_000));
        assert_eq!(limits("Max address space         unlimited    unlimited   bytes\n"), Some(4_096_000));
    }

    #[test]
    fn refusals_name_the_settings() {
        assert_eq!(require_within(5, 100), Ok(()));
        let error = require_within(16384 * 16384 * 64, 16 << 30).unwrap_err();
        let text = error.to_string();
        assert!(["width", "depth", "343 GB", "17 GB"].iter().all(|word| text.contains(word)), "{text}");
    }
}
