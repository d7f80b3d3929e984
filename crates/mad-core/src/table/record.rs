//! Rows of delimited text, cut into cells.

use super::{
    DataError, ReadOptions,
    encoding::Encoding,
    text_lines::TextLines,
    value::{SHEET_ERRORS, is_missing, parse_number},
};
use std::collections::VecDeque;

/// Lines that are inspected to detect whether blanks separate columns.
const LOOKED_AT: usize = 20;

/// Rows of a file, one at a time. Blank lines and lines that start with `#` are left out.
pub(super) struct Records<'a> {
    name: &'a str,
    lines: TextLines<'a>,
    /// Longest row, in bytes.
    limit: usize,
    /// Known after the first row.
    delimiter: Option<u8>,
    /// Lines that were looked at and are still to come, with their numbers and places.
    ahead: VecDeque<(Vec<u8>, usize, usize)>,
    /// Number of the current line.
    line: usize,
    /// The lines of the current row.
    raw: Vec<u8>,
    /// The last comment before the first row.
    comment: Option<Vec<u8>>,
    /// Whether a row has been read.
    begun: bool,
    /// Comments from here on: their number and the line of the first; `None` while they are not counted.
    comments: Option<(usize, usize)>,
    encoding: Encoding,
    /// The text of the current row.
    row: String,
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
        // A byte order mark is that of UTF-8.
        let encoding = if lines.is_marked() { Encoding::Utf8 } else { Encoding::Ascii };
        Self {
            name,
            lines,
            limit,
            delimiter,
            ahead: VecDeque::new(),
            line: 0,
            raw: Vec::new(),
            comment: None,
            begun: false,
            comments: None,
            encoding,
            row: String::new(),
            text: String::new(),
            ends: Vec::new(),
        }
    }

    /// What separates the cells; known after the first row.
    pub(super) fn delimiter(&self) -> u8 {
        self.delimiter.unwrap_or(b',')
    }

    /// Whether letters were read as Windows-1252.
    pub(super) fn is_windows(&self) -> bool {
        self.encoding == Encoding::Windows1252
    }

    /// Counts comments from now on.
    pub(super) fn count_comments(&mut self) {
        self.comments = self.comments.or(Some((0, 0)));
    }

    /// The number of comments that were counted, and the line of the first; `None` if there are none.
    pub(super) fn comments(&self) -> Option<(usize, usize)> {
        self.comments.filter(|(count, _)| *count > 0)
    }

    /// The words of the comment right above the first row, cut like the row.
    pub(super) fn comment(&self) -> Vec<String> {
        let text = self.comment.as_deref().map(String::from_utf8_lossy).unwrap_or_default();
        let text = text.trim_start_matches('#').trim();
        let delimiter = char::from(self.delimiter());
        match delimiter == ' ' || !text.contains(delimiter) {
            true => text.split_ascii_whitespace().map(String::from).collect(),
            false => text.split(delimiter).map(|word| word.trim().to_owned()).collect(),
        }
    }

    /// Reads the next row and gives the line it starts on.
    pub(super) fn next(&mut self) -> Result<Option<usize>, DataError> {
        let name = self.name;
        let file = || name.to_owned();
        let offset = loop {
            self.raw.clear();
            let Some(offset) = self.read_line()? else { return Ok(None) };
            if has_content(&self.raw) {
                break offset;
            }
            if self.raw.first() == Some(&b'#') {
                if !self.begun {
                    self.comment = Some(self.raw.clone());
                }
                let line = self.line;
                self.comments = self.comments.map(|(count, first)| (count + 1, if count == 0 { line } else { first }));
            }
        };
        let line = self.line;
        let delimiter = match self.delimiter {
            Some(delimiter) => delimiter,
            None => self.detect()?,
        };
        self.delimiter = Some(delimiter);
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
            if self.raw.len() > self.limit || self.read_line()?.is_none() {
                return Err(DataError::UnclosedQuote { file: file(), line });
            }
        }
        self.begun = true;
        if self.encoding.decode(&self.raw, &mut self.row).is_none() {
            let at = std::str::from_utf8(&self.raw).map_or_else(|e| e.valid_up_to(), str::len);
            let line = line + self.raw[..at].iter().filter(|b| **b == b'\n').count();
            return Err(DataError::NotUtf8 { file: file(), line, offset: offset + at });
        }
        cut(&self.row, delimiter, &mut self.text, &mut self.ends);
        Ok(Some(line))
    }

    /// Appends the next line to the current row and gives the place of its first byte.
    fn read_line(&mut self) -> Result<Option<usize>, DataError> {
        if let Some((text, line, offset)) = self.ahead.pop_front() {
            self.raw.extend(text);
            self.line = line;
            return Ok(Some(offset));
        }
        let offset = self.lines.read(&mut self.raw)?;
        self.line = self.lines.line();
        Ok(offset)
    }

    /// The delimiter of the file, whose first line of content is the current one.
    fn detect(&mut self) -> Result<u8, DataError> {
        if let Some(delimiter) = detect_delimiter(&self.raw) {
            return Ok(delimiter);
        }
        let mut count = 0;
        // Comments and blank lines are kept, too, and must not be kept without end.
        while count < LOOKED_AT && self.ahead.len() < 10 * LOOKED_AT {
            let mut text = Vec::new();
            let Some(offset) = self.lines.read(&mut text)? else { break };
            count += usize::from(has_content(&text));
            self.ahead.push_back((text, self.lines.line(), offset));
        }
        let below: Vec<&[u8]> =
            self.ahead.iter().map(|(text, ..)| &text[..]).filter(|text| has_content(text)).collect();
        Ok(if blanks_separate(&self.raw, &below) { b' ' } else { b',' })
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

/// Whether a line holds more than blanks or a comment.
fn has_content(line: &[u8]) -> bool {
    !line.trim_ascii().is_empty() && (line[0] != b'#' || begins_with_sheet_error(line))
}

/// Whether the first cell of a line is an error value of a spreadsheet, such as `#N/A`, which looks like a comment.
fn begins_with_sheet_error(line: &[u8]) -> bool {
    let cut = |error: &&str| line.get(..error.len()).filter(|start| start.eq_ignore_ascii_case(error.as_bytes()));
    let Some(error) = SHEET_ERRORS.iter().find(|error| cut(error).is_some()) else { return false };
    let rest = &line[error.len()..];
    match rest.trim_ascii_start().first() {
        None | Some(b',' | b';' | b'\t' | b'|') => true,
        // Among blanks a cell follows, and in a sentence a word.
        Some(_) => {
            let next = words(rest).first().copied().unwrap_or_default();
            rest[0].is_ascii_whitespace() && (is_missing(next) || parse_number(next).is_ok())
        }
    }
}

/// The delimiter of the first line of content, as far as that line shows: tab before semicolon before comma before bar, outside
/// quotes. Blanks separate if nothing else does and all words are numbers; a single word needs no delimiter.
fn detect_delimiter(line: &[u8]) -> Option<u8> {
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
        return Some(b"\t;,|"[i]);
    }
    let words = words(line);
    if words.len() < 2 || line.contains(&b'"') {
        return Some(b',');
    }
    words.iter().all(|w| parse_number(w).is_ok()).then_some(b' ')
}

/// Whether blanks separate the columns of a file whose first line holds several words and no other delimiter. They do if
/// nearly all lines below have as many words, most of which are numbers, and no other delimiter either.
fn blanks_separate(first: &[u8], below: &[&[u8]]) -> bool {
    let width = words(first).len();
    let alike: Vec<_> = below.iter().map(|line| words(line)).filter(|words| words.len() == width).collect();
    let numbers = alike.iter().flatten().filter(|w| parse_number(w).is_ok()).count();
    let other = below.iter().any(|line| line.iter().any(|byte| b"\t;,|\"".contains(byte)));
    !other && 5 * alike.len() >= 4 * below.len() && 2 * numbers > alike.len() * width
}

fn words(line: &[u8]) -> Vec<&str> {
    let words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    // Words in another encoding are no numbers.
    words.map(|word| std::str::from_utf8(word).unwrap_or("?")).collect()
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
        assert_eq!(detect_delimiter(b"\"a;b\",c"), Some(b','));
        assert_eq!(detect_delimiter(b"1,5;2,5"), Some(b';'));
        assert_eq!(detect_delimiter(b"a b\tc"), Some(b'\t'));
        assert_eq!(detect_delimiter(b"lat|lon"), Some(b'|'));
        assert_eq!(detect_delimiter(b"0.5 1 -2e3"), Some(b' '));
        assert_eq!(detect_delimiter(b"city"), Some(b','));
        assert_eq!(detect_delimiter(b"New York"), None);
    }

    #[test]
    fn error_values_of_spreadsheets_are_no_comments() {
        for cells in
            ["#N/A,,-", "#REF!;1", "#DIV/0!", "#name?\t2", "#NULL! |3", "#NUM! 4 5", "#VALUE! #N/A 1", "#N/A -"]
        {
            assert!(has_content(cells.as_bytes()), "{cells}");
        }
        for comment in ["# lat,lon", "#", "#N", "#N/A values are left out", "#N/Another", "#REFERENCE,1", "# N/A,1"] {
            assert!(!has_content(comment.as_bytes()), "{comment}");
        }
    }

    #[test]
    fn blanks_separate_numbers_below_as_many_words() {
        assert!(blanks_separate(b"id lat lon", &[b"a1 1.5  2", b" a2 -3 4e1"]));
        assert!(!blanks_separate(b"home town", &[b"New York", b"San Jose"]));
        assert!(!blanks_separate(b"street address", &[b"12 Elm", b"7 Oak"]));
        assert!(!blanks_separate(b"id lat lon", &[]));
        assert!(!blanks_separate(b"my values", &[b"1 2", b"3,5 4"]));
        assert!(!blanks_separate(b"some values", &[b"1", b"2", b"3"]));
    }
}
