//! Fuzzing without a fuzzer: files of a corpus, changed at random, for some seconds.
//!
//! `MAD_FUZZ_SECONDS` says how many seconds each target runs (2), `MAD_FUZZ_SEED` with which seed (0). Inputs whose outcome has
//! a new message are changed further, so that readers are entered step by step.

use super::target::Target;
use mad_core::rng::{Purpose, Rng, stream};
use rand::Rng as _;
use std::{
    collections::HashSet,
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

/// Longest input.
const LONGEST: usize = 1 << 16;

/// Most inputs that are kept to be changed further.
const MOST_KEPT: usize = 4096;

/// Time after which an input counts as a hang, on a busy machine.
const SLOW: Duration = Duration::from_secs(20);

/// Numbers at the edges of their types.
const EDGES: [u64; 12] =
    [0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fff_ffff, 0xffff_ffff, 1 << 32, i64::MAX as u64, u64::MAX];

fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// Runs a target; a panic or a hang fails, with the input kept under `findings`.
pub fn drive(target: &Target, findings: &Path) {
    let corpus: PathBuf = [env!("CARGO_MANIFEST_DIR"), "../../fuzz/corpus", target.name].iter().collect();
    let mut files: Vec<PathBuf> =
        fs::read_dir(&corpus).expect("a corpus").map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    let mut kept: Vec<Vec<u8>> = files.iter().map(|file| fs::read(file).expect("a file")).collect();
    assert!(!kept.is_empty(), "{}: no files", corpus.display());
    // In memory where that is possible: files are written for every input.
    let memory = Path::new("/dev/shm");
    let place = if memory.is_dir() { memory.to_path_buf() } else { std::env::temp_dir() };
    let folder = tempfile::tempdir_in(place).expect("a folder");
    let mut seen = HashSet::new();
    for bytes in &kept {
        seen.insert(words_of(&attempt(target, bytes, folder.path(), findings)));
    }
    let given = kept.len();
    let (limit, seed) = (Duration::from_secs(number("MAD_FUZZ_SECONDS", 2)), number("MAD_FUZZ_SEED", 0));
    let (started, mut count) = (Instant::now(), 0);
    while started.elapsed() < limit {
        let mut rng = stream(seed, Purpose::Data, count);
        let bytes = changed(&kept, target.words, &mut rng);
        let outcome = attempt(target, &bytes, folder.path(), findings);
        if kept.len() < MOST_KEPT && seen.insert(words_of(&outcome)) {
            kept.push(bytes);
        }
        count += 1;
    }
    eprintln!(
        "{}: {count} inputs in {} s from {given} files, {} kinds of outcomes, no panic",
        target.name,
        started.elapsed().as_secs(),
        seen.len()
    );
}

fn attempt(target: &Target, bytes: &[u8], folder: &Path, findings: &Path) -> String {
    let started = Instant::now();
    let outcome = catch_unwind(AssertUnwindSafe(|| (target.run)(bytes, folder)));
    let taken = started.elapsed();
    if outcome.is_err() || taken > SLOW {
        fs::create_dir_all(findings).expect("a folder");
        let hash =
            bytes.iter().fold(0xcbf2_9ce4_8422_2325u64, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x100_0000_01b3));
        let file = findings.join(format!("{}-{hash:016x}", target.name));
        fs::write(&file, bytes).expect("a file");
        panic!("{}: panic, or {taken:?}, on {}", target.name, file.display());
    }
    outcome.unwrap_or_default()
}

/// An outcome without its numbers and quoted pieces of the input.
fn words_of(outcome: &str) -> String {
    let said = outcome.split('`').step_by(2).flat_map(str::chars);
    let mut words: String = said.filter(|c| c.is_ascii_alphabetic() || *c == ' ').collect();
    words.truncate(400);
    words
}

fn below(rng: &mut Rng, end: usize) -> usize {
    (rng.next_u64() % end.max(1) as u64) as usize
}

/// One of the inputs with a few changes.
fn changed(kept: &[Vec<u8>], words: &[&[u8]], rng: &mut Rng) -> Vec<u8> {
    let mut bytes = kept[below(rng, kept.len())].clone();
    for _ in 0..1 + below(rng, 5) {
        let (length, at) = (bytes.len(), below(rng, bytes.len()));
        let piece = at..(at + 1 + below(rng, 64)).min(length);
        match below(rng, 11) {
            _ if length == 0 => bytes.extend((0..below(rng, 64)).map(|_| rng.next_u64() as u8)),
            0 | 1 => bytes[at] ^= 1 << below(rng, 8),
            2 => bytes[at] = rng.next_u64() as u8,
            3 => bytes.truncate(at),
            4 => drop(bytes.drain(piece)),
            5 => {
                let copy = bytes[piece].to_vec();
                let to = below(rng, length);
                bytes.splice(to..to, copy);
            }
            6 => {
                let edge = EDGES[below(rng, EDGES.len())];
                let edge = if below(rng, 2) == 0 { edge.to_le_bytes() } else { edge.to_be_bytes() };
                let width = [1, 2, 4, 8][below(rng, 4)].min(length - at);
                bytes[at..at + width].copy_from_slice(&edge[..width]);
            }
            7 => {
                // The end of another input.
                let other = &kept[below(rng, kept.len())];
                bytes.truncate(at);
                bytes.extend(&other[below(rng, other.len())..]);
            }
            8 | 9 if !words.is_empty() => {
                let word = words[below(rng, words.len())];
                let end = if below(rng, 2) == 0 { at } else { (at + word.len()).min(length) };
                bytes.splice(at..end, word.iter().copied());
            }
            _ => {
                // A number in text becomes another one.
                let digits = bytes[at..].iter().position(u8::is_ascii_digit).map_or(at, |i| at + i);
                let end = digits + bytes[digits..].iter().take_while(|b| b.is_ascii_digit()).count();
                let edge = EDGES[below(rng, EDGES.len())].to_string();
                bytes.splice(digits..end, edge.into_bytes());
            }
        }
    }
    bytes.truncate(LONGEST);
    bytes
}
