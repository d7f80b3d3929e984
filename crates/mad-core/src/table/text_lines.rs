//! Lines of a text file with their numbers and places, one at a time.

use super::DataError;
use std::io::BufRead;

/// Reads lines; they end with `\n` or `\r\n`, or with `\r` if the first one does.
pub(super) struct TextLines<'a> {
    name: &'a str,
    source: &'a mut dyn BufRead,
    /// Longest line, in bytes.
    limit: usize,
    /// Whether `\r` alone ends lines; known after the first line.
    returns: Option<bool>,
    /// Number of the line read last, from 1.
    line: usize,
    /// Bytes before the next line.
    next: usize,
    /// Whether the text begins with a byte order mark.
    marked: bool,
}

impl<'a> TextLines<'a> {
    /// Lines of at most `limit` bytes; a byte order mark is dropped.
    pub(super) fn new(name: &'a str, source: &'a mut dyn BufRead, limit: usize) -> Result<Self, DataError> {
        let mut lines = Self { name, source, limit, returns: None, line: 0, next: 0, marked: false };
        if lines.filled()?.starts_with("\u{feff}".as_bytes()) {
            lines.consume(3);
            lines.marked = true;
        }
        Ok(lines)
    }

    /// Appends the next line, without its end, to `text`. Gives the place of its first byte, or `None` at the end of the
    /// file. Zero bytes are refused.
    pub(super) fn read(&mut self, text: &mut Vec<u8>) -> Result<Option<usize>, DataError> {
        let (start, offset) = (text.len(), self.next);
        if self.filled()?.is_empty() {
            return Ok(None);
        }
        self.line += 1;
        loop {
            let returns = self.returns;
            let chunk = self.filled()?;
            if chunk.is_empty() {
                break;
            }
            let end = match returns {
                Some(false) => chunk.iter().position(|b| *b == b'\n'),
                _ => chunk.iter().position(|b| matches!(b, b'\n' | b'\r')),
            };
            let taken = end.unwrap_or(chunk.len());
            text.extend_from_slice(&chunk[..taken]);
            let at_end = end.map(|end| chunk[end]);
            self.consume(taken + usize::from(end.is_some()));
            if text.len() - start > self.limit {
                return Err(DataError::LineTooLong { file: self.name.into(), line: self.line, limit: self.limit });
            }
            match at_end {
                None => continue,
                Some(b'\r') if returns.is_none() => {
                    // The first line shows how lines end.
                    let windows = self.filled()?.first() == Some(&b'\n');
                    self.returns = Some(!windows);
                    if windows {
                        self.consume(1);
                    }
                }
                Some(_) => {
                    self.returns = self.returns.or(Some(false));
                    if text.len() > start && text.last() == Some(&b'\r') {
                        text.pop();
                    }
                }
            }
            break;
        }
        if let Some(at) = text[start..].iter().position(|b| *b == 0) {
            return Err(DataError::NulByte { file: self.name.into(), line: self.line, offset: offset + at });
        }
        Ok(Some(offset))
    }

    /// Whether the text begins with the byte order mark of UTF-8.
    pub(super) fn is_marked(&self) -> bool {
        self.marked
    }

    /// Number of the line read last, from 1.
    pub(super) fn line(&self) -> usize {
        self.line
    }

    fn filled(&mut self) -> Result<&[u8], DataError> {
        let name = self.name;
        loop {
            match self.source.fill_buf() {
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(e) => return Err(DataError::read(name, e)),
                Ok(_) => break,
            }
        }
        // Asked again because a borrow that is returned on one way only cannot leave the loop; nothing is read twice.
        self.source.fill_buf().map_err(|e| DataError::read(name, e))
    }

    fn consume(&mut self, count: usize) {
        self.source.consume(count);
        self.next += count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufReader, Cursor};

    /// Lines with number and place, read through a buffer of `buffer` bytes.
    fn lines(text: &str, buffer: usize) -> Vec<(usize, usize, String)> {
        let mut source = BufReader::with_capacity(buffer, Cursor::new(text));
        let mut lines = TextLines::new("t", &mut source, 100).unwrap();
        let mut all = Vec::new();
        let mut line = Vec::new();
        while let Some(offset) = lines.read(&mut line).unwrap() {
            all.push((lines.line(), offset, String::from_utf8(std::mem::take(&mut line)).unwrap()));
        }
        all
    }

    #[test]
    fn every_line_end_at_every_size_of_buffer() {
        let expected = |offsets: [usize; 4]| {
            let texts = ["a,b", "", "c", "last"];
            (0..4).map(|i| (i + 1, offsets[i], texts[i].to_owned())).collect::<Vec<_>>()
        };
        for buffer in [3, 4, 5, 7, 64] {
            assert_eq!(lines("a,b\n\nc\nlast", buffer), expected([0, 4, 5, 7]), "{buffer}");
            assert_eq!(lines("a,b\r\n\r\nc\r\nlast\r\n", buffer), expected([0, 5, 7, 10]), "{buffer}");
            assert_eq!(lines("a,b\r\rc\rlast\r", buffer), expected([0, 4, 5, 7]), "{buffer}");
            assert_eq!(lines("\u{feff}a,b\n\nc\nlast\n", buffer), expected([3, 7, 8, 10]), "{buffer}");
        }
        assert!(lines("", 8).is_empty());
    }
}
