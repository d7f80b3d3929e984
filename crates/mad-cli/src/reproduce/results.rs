//! One document with all tables and figures.

use super::{Outcomes, Report};
use crate::error::CliError;
use crate::output::write_whole;
use std::path::Path;

const LEGEND: &str = "“paper” is what the paper prints, “ours” is this program; mean ± standard deviation over seeds, and how \
    many of them there are where some are missing. The least of ours with all seeds is bold. The floor is the MMD between the test set and as many other points of the same law: differences below it mean \
    nothing.";

/// The machine in words.
pub fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let memory = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("MemTotal:"))?;
        line.split_whitespace().nth(1)?.parse::<f64>().ok()
    });
    let memory = memory.map_or(String::new(), |kib| format!(", {:.0} GiB", kib / f64::from(1 << 20)));
    format!("{cores} cores{memory}, {} instructions", mad_nn::kernel::Simd::best().name())
}

/// What stands in the document before this line was written by hand and is kept.
const FROM_HERE: &str = "<!-- what follows is written by mad reproduce -->";

/// Writes all reports into the document `path`, below what was written by hand, and their figures into a folder of its name beside
/// it.
pub fn write_results(
    path: &Path,
    out: &Path,
    reports: &[Report],
    outcomes: &Outcomes,
    command: &str,
) -> Result<(), CliError> {
    let stem = path.file_stem().map_or("results".into(), |stem| stem.to_string_lossy());
    let folder = path.with_file_name(stem.as_ref());
    let time = outcomes.cost().words().map_or(String::new(), |words| format!(", {words}"));
    let before = match std::fs::read_to_string(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => "# Results".to_owned(),
        found => found.map_err(|e| CliError::io(path, e))?,
    };
    let by_hand = before[..before.find(FROM_HERE).unwrap_or(before.len())].trim_end();
    let mut parts = vec![
        by_hand.to_owned(),
        FROM_HERE.to_owned(),
        "## All tables".to_owned(),
        format!(
            "Written by `{command}`, version {}, on {}: {} runs{time}.",
            env!("CARGO_PKG_VERSION"),
            machine(),
            outcomes.scores.len()
        ),
        LEGEND.to_owned(),
    ];
    for report in reports {
        let mut text = report.markdown.trim_end().to_owned();
        for picture in &report.pictures {
            std::fs::create_dir_all(&folder).map_err(|e| CliError::io(&folder, e))?;
            let name = format!("{}-{picture}", report.name);
            let (from, to) = (out.join(&report.name).join(picture), folder.join(&name));
            std::fs::copy(&from, &to).map_err(|e| CliError::io(&to, e))?;
            text = text.replace(&format!("]({picture})"), &format!("]({stem}/{name})"));
        }
        parts.push(text);
    }
    Ok(write_whole(path, (parts.join("\n\n") + "\n").as_bytes())?)
}
