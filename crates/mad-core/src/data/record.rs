//! Rows of delimited text, cut into cells.

use super::{DataError, ReadOptions, table::parse_number, text_lines::TextLines};

/// Rows of a file, one at a time. Blank lines and lines that start with `#` are left out.
pub(super) struct Records<'a> {
    name: &'a str,
    lines: TextLines<'a>,
    /// Longest row, in bytes.
    limit: usize,
    /// Known after the first row.
    delimiter: Option<u8>,
    /// The lines of the current row.
    raw: Vec<u8>,
    /// Its cells, one after another.
    text: String,
    ends: Vec<usize>,
}

/// Where in a row a byte stands.
#[derive(Clone, Copy, PartialEq)]
enum State {
    /// At the start of a field.
    Start,
    /// In a field without quotes.
    Plain,
    /// In a quoted field.
    Quoted,
    /// After a quote in a quoted field: its end, or half of a doubled quote.
    Closing,
}

impl<'a> Records<'a> {
    pub(super) fn new(name: &'a str, lines: TextLines<'a>, options: &ReadOptions) -> Self {
        let (limit, delimiter) = (options.max_line, options.delimiter);
        Self { name, lines, limit, delimiter, raw: Vec::new(), text: String::new(), ends: Vec::new() }
    }

    /// Reads the next row and gives the line it starts on.
    pub(super) fn next(&mut self) -> Result<Option<usize>, DataError> {
        let file = || self.name.to_owned();
        let offset = loop {
            self.raw.clear();
            let Some(offset) = self.lines.read(&mut self.raw)? else { return Ok(None) };
            if !self.raw.trim_ascii().is_empty() && self.raw[0] != b'#' {
                break offset;
            }
        };
        let line = self.lines.line();
        let delimiter = *self.delimiter.get_or_insert_with(|| detect_delimiter(&self.raw));
        let mut scanned = 0;
        let mut state = State::Start;
        loop {
            if self.raw[scanned..].contains(&b'"') || state != State::Start {
                state = self.raw[scanned..].iter().fold(state, |state, byte| state.after(*byte, delimiter));
            }
            if state != State::Quoted {
                break;
            }
            self.raw.push(b'\n');
            scanned = self.raw.len();
            if self.raw.len() > self.limit || self.lines.read(&mut self.raw)?.is_none() {
                return Err(DataError::UnclosedQuote { file: file(), line });
            }
        }
        match std::str::from_utf8(&self.raw) {
            Ok(text) => cut(text, delimiter, &mut self.text, &mut self.ends),
            Err(e) => {
                let at = e.valid_up_to();
                let line = line + self.raw[..at].iter().filter(|b| **b == b'\n').count();
                return Err(DataError::NotUtf8 { file: file(), line, offset: offset + at });
            }
        }
        Ok(Some(line))
    }

    /// Number of cells of the row.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The cells of the row.
    pub(super) fn cells(&self) -> impl Iterator<Item = &str> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| &self.text[start..*end])
    }
}

impl State {
    fn after(self, byte: u8, delimiter: u8) -> Self {
        match (self, byte) {
            (State::Start, b'"') | (State::Closing, b'"') => State::Quoted,
            (State::Quoted, b'"') => State::Closing,
            (State::Quoted, _) => State::Quoted,
            (_, byte) if byte == delimiter => State::Start,
            _ => State::Plain,
        }
    }
}

/// Cuts a row into cells.
fn cut(row: &str, delimiter: u8, text: &mut String, ends: &mut Vec<usize>) {
    text.clear();
    ends.clear();
    let mut add = |cell: &str| {
        text.push_str(cell);
        ends.push(text.len());
    };
    if delimiter == b' ' {
        row.split_ascii_whitespace().for_each(add);
    } else if !row.contains('"') {
        row.split(char::from(delimiter)).for_each(add);
    } else {
        let mut cell = String::new();
        let mut state = State::Start;
        for c in row.chars() {
            // A character beyond ASCII is neither quote nor delimiter.
            let next = state.after(u8::try_from(c).ok().filter(u8::is_ascii).unwrap_or(b'x'), delimiter);
            match (state, next) {
                (_, State::Start) => add(&std::mem::take(&mut cell)),
                (State::Start, State::Quoted) | (_, State::Closing) => {}
                _ => cell.push(c),
            }
            state = next;
        }
        add(&cell);
    }
}

/// The delimiter of the first line of content: tab before semicolon before comma before bar, outside quotes. Blanks separate
/// if nothing else does and all words are numbers.
fn detect_delimiter(line: &[u8]) -> u8 {
    let mut quoted = false;
    let mut seen = [false; 4];
    for byte in line {
        match byte {
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'\t' => seen[0] = true,
            b';' => seen[1] = true,
            b',' => seen[2] = true,
            b'|' => seen[3] = true,
            _ => {}
        }
    }
    if let Some(i) = seen.iter().position(|s| *s) {
        return b"\t;,|"[i];
    }
    let words: Vec<_> = std::str::from_utf8(line).unwrap_or("").split_ascii_whitespace().collect();
    if words.len() > 1 && words.iter().all(|w| parse_number(w).is_ok()) { b' ' } else { b',' }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(row: &str, delimiter: u8) -> Vec<String> {
        let (mut text, mut ends) = (String::new(), Vec::new());
        cut(row, delimiter, &mut text, &mut ends);
        let mut start = 0;
        ends.iter().map(|&end| text[std::mem::replace(&mut start, end)..end].to_owned()).collect()
    }

    #[test]
    fn quotes_hold_delimiters_line_ends_and_quotes() {
        assert_eq!(cells("a,b,", b','), ["a", "b", ""]);
        assert_eq!(cells("\"a,b\",\"c\nd\",\"e\"\"f\"", b','), ["a,b", "c\nd", "e\"f"]);
        assert_eq!(cells("5\"; \"x\"; ü", b';'), ["5\"", " \"x\"", " ü"]);
        assert_eq!(cells("\"\",\"a\"b", b','), ["", "ab"]);
        assert_eq!(cells("  1   -2.5  3 ", b' '), ["1", "-2.5", "3"]);
    }

    #[test]
    fn delimiters_are_found_outside_quotes() {
        assert_eq!(detect_delimiter(b"\"a;b\",c"), b',');
        assert_eq!(detect_delimiter(b"1,5;2,5"), b';');
        assert_eq!(detect_delimiter(b"a b\tc"), b'\t');
        assert_eq!(detect_delimiter(b"lat|lon"), b'|');
        assert_eq!(detect_delimiter(b"0.5 1 -2e3"), b' ');
        assert_eq!(detect_delimiter(b"New York"), b',');
    }
}
