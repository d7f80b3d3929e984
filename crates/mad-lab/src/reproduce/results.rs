//! One document with tables and figures: what was written by hand, then a part for each experiment.

use super::Report;
use crate::error::LabError;
use mad_cli::output::write_whole;
use std::ops::Range;
use std::path::Path;

const LEGEND: &str = "“paper” is what the paper prints, “ours” is this program; mean ± standard deviation over seeds, and how \
    many of them there are where some are missing. The least of ours with all seeds is bold. The floor is the MMD between the test set and an equally large sample of \
    the same distribution: differences below it mean nothing.";

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
const FROM_HERE: &str = "<!-- what follows is written by mad-lab reproduce -->";

/// How the first line of a part begins.
const PART: &str = "<!-- mad-lab reproduce: ";

/// The first and the last line of the part of an experiment, which readers of the page do not see.
fn marks(name: &str) -> (String, String) {
    (format!("{PART}{name} -->"), format!("<!-- end of {name} -->"))
}

/// Where the part of an experiment stands. If its last line is gone, it goes up to the next part.
fn place(text: &str, name: &str) -> Option<Range<usize>> {
    let (first, last) = marks(name);
    let start = text.find(&first)?;
    let inside = start + first.len();
    let next = text[inside..].find(PART).map_or(text.len(), |at| inside + at);
    let end = text[inside..next].find(&last).map_or(next, |at| inside + at + last.len());
    Some(start..start + text[start..end].trim_end().len())
}

/// Writes reports into the document `path`, below what was written by hand, and their figures into a folder of its name next to it.
///
/// A report replaces the part of its experiment, or becomes a new one at the end; all other parts stay as they are. Documents of
/// older versions have no parts: all that is below what was written by hand is replaced.
pub fn write_results(path: &Path, out: &Path, reports: &[Report]) -> Result<(), LabError> {
    if reports.is_empty() {
        return Ok(());
    }
    let before = match std::fs::read_to_string(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => "# Results".to_owned(),
        found => found.map_err(|e| LabError::io(path, e))?,
    };
    let (by_hand, below) = before.split_once(FROM_HERE).unwrap_or((before.as_str(), ""));
    let mut parts = below.find(PART).map_or("", |first| below[first..].trim_end()).to_owned();
    for report in reports {
        let (first, last) = marks(&report.name);
        let part = format!("{first}\n\n{}\n\n{last}", text_with_pictures(report, path, out)?);
        match place(&parts, &report.name) {
            Some(range) => parts.replace_range(range, &part),
            None if parts.is_empty() => parts = part,
            None => parts += &format!("\n\n{part}"),
        }
    }
    let document = [by_hand.trim_end(), FROM_HERE, "## All tables", LEGEND, parts.as_str()].join("\n\n") + "\n";
    Ok(write_whole(path, document.as_bytes())?)
}

/// The text of a report; its figures are copied into the folder of the document, where the text finds them.
fn text_with_pictures(report: &Report, path: &Path, out: &Path) -> Result<String, LabError> {
    let stem = path.file_stem().map_or("results".into(), |stem| stem.to_string_lossy());
    let folder = path.with_file_name(stem.as_ref());
    let mut text = report.markdown.trim_end().to_owned();
    for picture in &report.pictures {
        std::fs::create_dir_all(&folder).map_err(|e| LabError::io(&folder, e))?;
        let name = format!("{}-{picture}", report.name);
        let (from, to) = (out.join(&report.name).join(picture), folder.join(&name));
        std::fs::copy(&from, &to).map_err(|e| LabError::io(&to, e))?;
        text = text.replace(&format!("]({picture})"), &format!("]({stem}/{name})"));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    /// A folder with a document in it.
    struct Shelf(tempfile::TempDir);

    impl Shelf {
        fn with(document: &str) -> Self {
            let shelf = Self(tempfile::tempdir().unwrap());
            std::fs::write(shelf.0.path().join("doc.md"), document).unwrap();
            shelf
        }

        /// Writes reports of these names and texts; what the document is then.
        fn write(&self, reports: &[(&str, &str)]) -> String {
            let reports: Vec<Report> = reports.iter().map(|(name, text)| report(name, text, &[])).collect();
            let path = self.0.path().join("doc.md");
            write_results(&path, self.0.path(), &reports).unwrap();
            std::fs::read_to_string(path).unwrap()
        }
    }

    fn report(name: &str, text: &str, pictures: &[&str]) -> Report {
        Report {
            name: name.into(),
            text: String::new(),
            markdown: format!("{text}\n"),
            pictures: pictures.iter().map(|picture| (*picture).to_owned()).collect(),
            json: Value::Null,
        }
    }

    #[test]
    fn a_call_replaces_its_own_parts_and_keeps_all_others() {
        let shelf = Shelf::with("# Mine\n\nWords.\n");
        let first = shelf.write(&[("table", "One."), ("table-quick", "Two.")]);
        let parts = "<!-- mad-lab reproduce: table -->\n\nOne.\n\n<!-- end of table -->\n\n\
            <!-- mad-lab reproduce: table-quick -->\n\nTwo.\n\n<!-- end of table-quick -->\n";
        assert_eq!(first, format!("# Mine\n\nWords.\n\n{FROM_HERE}\n\n## All tables\n\n{LEGEND}\n\n{parts}"));
        assert_eq!(shelf.write(&[("table", "One.")]), first, "the same again");
        assert_eq!(shelf.write(&[]), first, "nothing to write");
        let second = shelf.write(&[("table-quick", "Other."), ("figure", "New.")]);
        let figure = "\n<!-- mad-lab reproduce: figure -->\n\nNew.\n\n<!-- end of figure -->\n";
        assert_eq!(second, first.replace("Two.", "Other.") + figure);
    }

    #[test]
    fn documents_of_older_versions_keep_what_was_written_by_hand_only() {
        let shelf = Shelf::with(&format!("Words.\n\n{FROM_HERE}\n\n## All tables\n\nWritten by nobody.\n"));
        let document = shelf.write(&[("table", "One.")]);
        let part = "<!-- mad-lab reproduce: table -->\n\nOne.\n\n<!-- end of table -->\n";
        assert_eq!(document, format!("Words.\n\n{FROM_HERE}\n\n## All tables\n\n{LEGEND}\n\n{part}"));
    }

    #[test]
    fn a_part_without_its_last_line_ends_before_the_next() {
        let shelf = Shelf::with("Words.\n");
        let whole = shelf.write(&[("a", "One."), ("b", "Two."), ("c", "Three.")]);
        for (name, text) in [("a", "One."), ("b", "Two."), ("c", "Three.")] {
            let damaged = Shelf::with(&whole.replace(&format!("\n\n<!-- end of {name} -->"), ""));
            assert_eq!(damaged.write(&[(name, text)]), whole, "{name}");
        }
    }

    #[test]
    fn figures_go_to_the_folder_of_the_document() {
        let shelf = Shelf::with("");
        let folder = shelf.0.path();
        std::fs::create_dir(folder.join("table")).unwrap();
        std::fs::write(folder.join("table/map.png"), "a picture").unwrap();
        write_results(&folder.join("doc.md"), folder, &[report("table", "![Map](map.png)", &["map.png"])]).unwrap();
        assert!(std::fs::read_to_string(folder.join("doc.md")).unwrap().contains("![Map](doc/table-map.png)"));
        assert_eq!(std::fs::read_to_string(folder.join("doc/table-map.png")).unwrap(), "a picture");
    }
}
