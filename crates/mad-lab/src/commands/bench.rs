//! `mad-lab bench`: how long things take here, and against others.

use crate::args::Bench as Args;
use crate::bench::{BENCHES, Bench, Peer, PeerError, Ratio, Row, growth, median, ratios, time, times};
use crate::error::LabError;
use mad_cli::Common;
use mad_cli::Meter;
use mad_cli::output;
use mad_cli::plot::Format;
use mad_cli::require_apart;
use mad_nn::kernel::Simd;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

/// Pairs of our own benches whose ratio is of interest: a training step over its matrix products.
const OWN_RATIOS: &[(&str, &str)] = &[("train-sphere", "products")];

/// Pause before every measurement, so that threads of the one before have gone to sleep.
const PAUSE: Duration = Duration::from_millis(250);

pub fn run(common: &Common, args: &Args) -> Result<(), LabError> {
    if let Some(path) = &args.growth {
        return draw_growth(common, path);
    }
    let chosen = choose(&args.names)?;
    let threads = rayon::current_num_threads();
    let peers = args.peers.as_deref().map(|folder| Peer::start_all(folder, threads)).transpose()?;
    let rows = measure(common, &chosen, args.rounds, peers.unwrap_or_default())?;
    let found = |bench: &str, program: &str| rows.iter().find(|row| row.bench == bench && row.program == program);
    let mut compared = Vec::new();
    for (bench, base) in OWN_RATIOS {
        compared.extend(found(bench, "mad").zip(found(base, "mad")).map(|(ours, base)| Ratio::new(ours, base)));
    }
    for bench in &chosen {
        let Some(ours) = found(bench.name, "mad") else { continue };
        let mut theirs: Vec<&Row> = rows.iter().filter(|row| row.bench == bench.name && row.program != "mad").collect();
        // The best job of each program.
        theirs.sort_by(|a, b| median(&a.rounds).total_cmp(&median(&b.rounds)));
        theirs.sort_by(|a, b| a.program.cmp(&b.program));
        theirs.dedup_by(|a, b| a.program == b.program);
        compared.extend(theirs.into_iter().map(|theirs| Ratio::new(ours, theirs)));
    }
    let fields = json!({ "machine": machine(), "times": rows, "ratios": compared });
    Ok(output::result(common, "bench", fields, || {
        let about = format!("{}, medians of {} rounds", about_machine(), args.rounds);
        let mut parts = vec![about, times(&rows)];
        if !compared.is_empty() {
            parts.push(ratios(&compared));
        }
        parts.join("\n")
    })?)
}

fn machine() -> Value {
    json!({
        "threads": rayon::current_num_threads(),
        "cores": std::thread::available_parallelism().map_or(0, usize::from),
        "instructions": Simd::best().name(),
        "version": env!("CARGO_PKG_VERSION"),
    })
}

fn about_machine() -> String {
    format!("{} threads, {} instructions", rayon::current_num_threads(), Simd::best().name())
}

/// Measures how cost grows and draws it.
fn draw_growth(common: &Common, path: &Path) -> Result<(), LabError> {
    Format::of(path)?;
    require_apart(path, None, &[])?;
    let mut meter = None;
    let grown = growth::measure(|done, total| {
        meter.get_or_insert_with(|| Meter::start(common, "growth", 0, total as u64)).advance(done as u64, String::new);
    });
    meter.into_iter().for_each(Meter::finish);
    growth::figure(&grown, &format!("Cost on {}", about_machine())).save(path)?;
    let fields = json!({ "machine": machine(), "growth": grown, "out": output::shown(path) });
    Ok(output::result(common, "bench", fields, || {
        let cells = grown.iter().flat_map(|line| {
            line.points.iter().map(|(size, seconds)| {
                let (size, time) = (format!("{size}"), format!("{:.3}", 1e3 * seconds));
                vec![line.work.to_owned(), line.size.to_owned(), line.line.to_owned(), size, time]
            })
        });
        output::table(&["work", "growing", "line", "size", "ms"], cells)
    })?)
}

/// The benches with these names; a name that is none stands for all that start with it. All if there are no names.
fn choose(names: &[String]) -> Result<Vec<&'static Bench>, LabError> {
    let meant = |name: &str, bench: &Bench| match BENCHES.iter().any(|bench| bench.name == name) {
        true => bench.name == name,
        false => bench.name.starts_with(name),
    };
    if let Some(name) = names.iter().find(|name| !BENCHES.iter().any(|bench| meant(name, bench))) {
        let known: Vec<&str> = BENCHES.iter().map(|bench| bench.name).collect();
        return Err(LabError::usage(format!("unknown bench `{name}`: there are {}", known.join(", "))));
    }
    Ok(BENCHES.iter().filter(|bench| names.is_empty() || names.iter().any(|name| meant(name, bench))).collect())
}

/// Round after round, each program once in every round.
fn measure(
    common: &Common,
    chosen: &[&'static Bench],
    rounds: u32,
    mut peers: Vec<Peer>,
) -> Result<Vec<Row>, LabError> {
    let mut rows = Vec::new();
    let mut meter = Meter::start(common, "bench", 0, u64::from(rounds) * chosen.len() as u64);
    for (done, bench) in chosen.iter().enumerate() {
        let mut work = (bench.prepare)();
        work();
        let row = |program: &str, job: &str| Row {
            bench: bench.name,
            program: program.to_owned(),
            job: job.to_owned(),
            rounds: Vec::new(),
        };
        let mut ours = row("mad", "");
        let mut theirs: Vec<(usize, Row)> = Vec::new();
        for (index, peer) in peers.iter_mut().enumerate() {
            for job in peer.jobs(bench.name).to_vec() {
                // The first request builds and warms up the job.
                match peer.time(&job, 1)? {
                    Ok(_) => theirs.push((index, row(peer.name(), &job))),
                    Err(text) => output::notice(common, format!("{} cannot do {job}: {text}", peer.name())),
                }
            }
        }
        for round in 0..rounds {
            meter.advance(done as u64 * u64::from(rounds) + u64::from(round), || bench.name.to_owned());
            std::thread::sleep(PAUSE);
            ours.rounds.push(median(&time(&mut work, bench.repeats)));
            for (index, row) in &mut theirs {
                std::thread::sleep(PAUSE);
                match peers[*index].time(&row.job, bench.repeats)? {
                    Ok(seconds) => row.rounds.push(median(&seconds)),
                    Err(problem) => return Err(PeerError::Job { job: row.job.clone(), problem }.into()),
                }
            }
        }
        rows.push(ours);
        rows.extend(theirs.into_iter().map(|(_, row)| row));
    }
    meter.finish();
    Ok(rows)
}
