//! Text that is not UTF-8.

/// Characters of the bytes 0x80 to 0x9f in Windows-1252; the five bytes without one stand for themselves.
const WINDOWS: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}', '‘', '’',
    '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// What the bytes of a text file have shown so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    /// Nothing beyond ASCII.
    Ascii,
    /// Letters in UTF-8.
    Utf8,
    /// Letters in Windows-1252, of which Latin-1 is a part.
    Windows1252,
}

impl Encoding {
    /// The text of some lines; `None` if they are damaged or no text. Letters that come first decide for the whole file.
    pub(super) fn decode(&mut self, bytes: &[u8], text: &mut String) -> Option<()> {
        text.clear();
        match std::str::from_utf8(bytes) {
            Ok(plain) if *self != Self::Windows1252 => {
                if *self == Self::Ascii && !plain.is_ascii() {
                    *self = Self::Utf8;
                }
                text.push_str(plain);
                Some(())
            }
            Err(_) if *self == Self::Utf8 => None,
            _ => {
                // Control characters do not occur in text.
                let control = |b: &u8| matches!(b, 0..=8 | 11 | 12 | 14..=31 | 0x7f | 0x81 | 0x8d | 0x8f | 0x90 | 0x9d);
                if bytes.iter().any(control) {
                    return None;
                }
                *self = Self::Windows1252;
                text.extend(bytes.iter().map(|&byte| match byte {
                    0x80..=0x9f => WINDOWS[usize::from(byte - 0x80)],
                    other => char::from(other),
                }));
                Some(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(lines: &[&[u8]]) -> (Vec<Option<String>>, Encoding) {
        let mut encoding = Encoding::Ascii;
        let texts = lines.iter().map(|line| {
            let mut text = String::new();
            encoding.decode(line, &mut text).map(|()| text)
        });
        (texts.collect(), encoding)
    }

    #[test]
    fn the_first_letter_decides() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(decoded(&[b"a", b"\xfc\x80", b"\xc3\xbc"]).0, [some("a"), some("ü€"), some("Ã¼")]);
        assert_eq!(decoded(&["ü".as_bytes(), b"\xfc"]), (vec![some("ü"), None], Encoding::Utf8));
        assert_eq!(decoded(&[b"\x01\xfc"]).0, [None]);
        assert_eq!(decoded(&[b"1", b"2"]).1, Encoding::Ascii);
    }
}
