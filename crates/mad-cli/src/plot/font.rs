//! The embedded font: how wide lines of text are, and the outlines of their letters, the same on every machine.

use crate::printable::is_obeyed;
use std::sync::LazyLock;
use tiny_skia::{Path, PathBuilder};
use ttf_parser::{
    Face, GlyphId, OutlineBuilder,
    gpos::{PairAdjustment, PositioningSubtable},
};

/// Font families in order of choice; the first one is embedded, the second has nearly the same widths.
pub const FAMILY: &str = "DejaVu Sans, Verdana, sans-serif";

/// DejaVu Sans: Latin-1, Greek, mathematical signs, raised and lowered digits.
static FACE: LazyLock<Face<'static>> = LazyLock::new(|| {
    Face::parse(include_bytes!("../../assets/DejaVuSans-subset.ttf"), 0).expect("the embedded font is whole")
});

/// Outlines of one line of text that begins at (0, 0), y pointing down, and its width. Characters that SVG text leaves out or
/// takes for one space are left out or taken for one space.
pub fn outlines(text: &str, size: f64) -> (Option<Path>, f32) {
    let shown: String = text.chars().filter(|&c| c.is_ascii_whitespace() || !is_obeyed(c)).collect();
    let line = shown.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
    let scale = size as f32 / f32::from(FACE.units_per_em());
    let mut pen = Pen { builder: PathBuilder::new(), x: 0.0, scale };
    let mut before = None;
    for c in line.chars() {
        let glyph = FACE.glyph_index(c).unwrap_or_default();
        pen.x += f32::from(before.map_or(0, |before| kerning(before, glyph)));
        FACE.outline_glyph(glyph, &mut pen);
        pen.x += f32::from(FACE.glyph_hor_advance(glyph).unwrap_or(0));
        before = Some(glyph);
    }
    (pen.builder.finish(), pen.x * scale)
}

/// How much closer, or further if positive, than by its width a letter stands to the one before it, in units of the font.
fn kerning(left: GlyphId, right: GlyphId) -> i16 {
    let pairs = FACE.tables().gpos.into_iter().flat_map(|table| table.lookups).flat_map(|l| l.subtables.into_iter());
    let mut adjustments = pairs.filter_map(|subtable| match subtable {
        PositioningSubtable::Pair(PairAdjustment::Format1 { coverage, sets }) => {
            sets.get(coverage.get(left)?)?.get(right)
        }
        PositioningSubtable::Pair(PairAdjustment::Format2 { coverage, classes, matrix }) => {
            coverage.get(left)?;
            matrix.get((classes.0.get(left), classes.1.get(right)))
        }
        _ => None,
    });
    adjustments.next().map_or(0, |(first, _)| first.x_advance)
}

/// Draws glyphs one after the other.
struct Pen {
    builder: PathBuilder,
    /// Where the next glyph begins, in units of the font.
    x: f32,
    scale: f32,
}

impl Pen {
    fn place(&self, x: f32, y: f32) -> (f32, f32) {
        ((self.x + x) * self.scale, -y * self.scale)
    }
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.place(x, y);
        self.builder.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.place(x, y);
        self.builder.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.place(x1, y1), self.place(x, y));
        self.builder.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) = (self.place(x1, y1), self.place(x2, y2), self.place(x, y));
        self.builder.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.builder.close();
    }
}

/// Widths of the characters from space to tilde in DejaVu Sans, in thousandths of the font size.
#[rustfmt::skip]
const WIDTHS: [u16; 95] = [
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636, 636, 636, 636, 636, 636,
    636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632, 575, 775, 752, 295, 295, 656, 557, 863,
    748, 787, 603, 787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635,
    615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636,
    337, 636, 838,
];

/// Width of one line of text. Letters outside ASCII count as a typical letter.
pub fn text_width(text: &str, size: f64) -> f64 {
    let units: u32 = text
        .chars()
        .map(|c| match c {
            ' '..='~' => u32::from(WIDTHS[c as usize - 32]),
            '²' | '³' | '¹' | '⁰'..='₎' => 401,
            '−' => 838,
            _ => 640,
        })
        .sum();
    f64::from(units) * size / 1000.0
}

/// Cuts text that is wider than `width` and marks the cut.
pub fn fit_text(text: &str, size: f64, width: f64) -> String {
    if text_width(text, size) <= width {
        return text.to_owned();
    }
    let mut kept: Vec<char> = text.chars().collect();
    while kept.len() > 1 {
        kept.pop();
        let candidate = format!("{}…", kept.iter().collect::<String>().trim_end());
        if text_width(&candidate, size) <= width {
            return candidate;
        }
    }
    "…".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_fitted() {
        let cut = fit_text("a rather long category name", 10.0, 60.0);
        assert!(cut.ends_with('…') && text_width(&cut, 10.0) <= 60.0 && cut.len() > 6, "{cut}");
        assert_eq!(fit_text("short", 10.0, 60.0), "short");
    }

    #[test]
    fn letters_are_as_wide_as_the_layout_takes_them_to_be() {
        for c in '!'..='~' {
            let (outline, width) = outlines(&c.to_string(), 1000.0);
            assert!((f64::from(width) - text_width(&c.to_string(), 1000.0)).abs() <= 0.51, "{c}: {width}");
            let bounds = outline.unwrap().bounds();
            // Capitals are 729 thousandths high; letters hang over their width and below the base line a little.
            assert!(bounds.left() > -120.0 && bounds.right() < width + 120.0, "{c}: {bounds:?}");
            assert!(bounds.top() > -800.0 && bounds.bottom() < 250.0, "{c}: {bounds:?}");
        }
    }

    #[test]
    fn pairs_are_kerned_and_spaces_are_taken_as_one() {
        let width = |text: &str| outlines(text, 1000.0).1;
        assert!(width("AV") < width("A") + width("V") - 40.0);
        assert_eq!(width("HH"), 2.0 * width("H"));
        assert_eq!(width(" a \t\n b \u{1} "), width("a b"));
    }
}
