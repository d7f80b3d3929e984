//! Text of files and names of files on their way to a terminal, which obeys some characters instead of showing them.

use std::borrow::Cow;

/// Whether a character is obeyed instead of shown: controls other than tab and line feed, marks that reverse the direction of
/// text, separators that only some programs take for the end of a line.
pub fn is_obeyed(c: char) -> bool {
    match c {
        '\t' | '\n' => false,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' => true,
        c => c.is_control(),
    }
}

/// The text with such characters written as `\u{1b}`.
pub fn printable(text: &str) -> Cow<'_, str> {
    escaped(text, |c| c.escape_unicode().to_string())
}

/// The same inside a JSON text, where they can occur in strings only: written as `\u001b`.
pub fn printable_json(text: &str) -> Cow<'_, str> {
    escaped(text, |c| format!("\\u{:04x}", u32::from(c)))
}

fn escaped(text: &str, escape: impl Fn(char) -> String) -> Cow<'_, str> {
    if !text.contains(is_obeyed) {
        return text.into();
    }
    text.chars().map(|c| if is_obeyed(c) { escape(c) } else { c.to_string() }).collect::<String>().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_shown() {
        let hostile = "a\u{1b}]0;title\u{7}b\u{9b}31m c\u{202e}txt.exe\u{2069}\r\u{7f}\u{0}";
        let shown = printable(hostile);
        assert!(!shown.contains(is_obeyed), "{shown:?}");
        assert_eq!(shown, r"a\u{1b}]0;title\u{7}b\u{9b}31m c\u{202e}txt.exe\u{2069}\u{d}\u{7f}\u{0}");
        let plain = "Höhe, широта, 経度, عرض\n\ta 👩‍🔬 b\n";
        assert!(matches!(printable(plain), Cow::Borrowed(same) if same == plain));
    }

    #[test]
    fn json_keeps_its_meaning() {
        let text = serde_json::json!({ "name": "a\u{1b}b\u{9b}c\u{202e}d\u{7f}" }).to_string();
        let shown = printable_json(&text);
        assert!(!shown.contains(is_obeyed), "{shown:?}");
        let (before, after): (serde_json::Value, serde_json::Value) =
            (serde_json::from_str(&text).unwrap(), serde_json::from_str(&shown).unwrap());
        assert_eq!(before, after);
    }
}
