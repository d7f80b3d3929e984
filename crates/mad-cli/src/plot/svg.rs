//! A canvas that writes SVG text: paths, dots, text and clipped groups.

use super::colour::Rgb;
use crate::printable::is_obeyed;
use std::fmt::Write;

/// Font families in order of choice; the first one is embedded for PNG output, the second has nearly the same widths.
pub const FONT_FAMILY: &str = "DejaVu Sans, Verdana, sans-serif";

/// A rectangle in canvas units (pixels at scale 1), y pointing down.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rect {
    /// Left edge.
    pub left: f64,
    /// Top edge.
    pub top: f64,
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
}

impl Rect {
    /// Right edge.
    pub fn right(&self) -> f64 {
        self.left + self.width
    }

    /// Bottom edge.
    pub fn bottom(&self) -> f64 {
        self.top + self.height
    }

    /// Middle between the left and the right edge.
    pub fn middle(&self) -> f64 {
        self.left + 0.5 * self.width
    }

    /// The four edges as a closed path.
    pub fn path(&self) -> Path {
        let mut path = Path::new();
        let (left, top, right, bottom) = (self.left, self.top, self.right(), self.bottom());
        path.polygon(&[(left, top), (right, top), (right, bottom), (left, bottom)]);
        path
    }
}

/// Path data in relative coordinates. Positions are rounded first and differences taken after, so that errors do not add up.
#[derive(Debug, Clone)]
pub struct Path {
    data: String,
    decimals: u32,
    last: (i64, i64),
}

impl Path {
    /// An empty path, precise to 0.01.
    pub fn new() -> Self {
        Self { data: String::new(), decimals: 2, last: (0, 0) }
    }

    /// An empty path, precise to 0.1: for thousands of dots.
    pub fn coarse() -> Self {
        Self { decimals: 1, ..Self::new() }
    }

    /// Whether nothing has been drawn.
    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    /// Begins a new stroke at (x, y).
    pub fn move_to(&mut self, x: f64, y: f64) {
        let command = if self.data.is_empty() { 'M' } else { 'm' };
        self.step(command, x, y);
    }

    /// Draws a line to (x, y).
    pub fn line_to(&mut self, x: f64, y: f64) {
        self.step('l', x, y);
    }

    /// An open line through the points.
    pub fn line(&mut self, points: &[(f64, f64)]) {
        for (i, &(x, y)) in points.iter().enumerate() {
            if i == 0 { self.move_to(x, y) } else { self.line_to(x, y) }
        }
    }

    /// A closed polygon. The pen stays at the first point, as SVG says.
    pub fn polygon(&mut self, points: &[(f64, f64)]) {
        let Some(&(x, y)) = points.first() else { return };
        self.move_to(x, y);
        let start = self.last;
        for &(x, y) in &points[1..] {
            self.line_to(x, y);
        }
        self.data.push('z');
        self.last = start;
    }

    /// A stroke of hardly any length: with round ends it shows as a dot, at 15 bytes instead of an element each.
    pub fn dot(&mut self, x: f64, y: f64) {
        self.move_to(x, y);
        self.data.push('h');
        write_scaled(&mut self.data, 1, self.decimals);
        self.last.0 += 1;
    }

    /// A full circle.
    pub fn circle(&mut self, x: f64, y: f64, radius: f64) {
        self.move_to(x - radius, y);
        let ticks = (radius * 10f64.powi(self.decimals as i32)).round() as i64;
        let mut size = String::new();
        write_scaled(&mut size, ticks, self.decimals);
        for across in [2 * ticks, -2 * ticks] {
            let _ = write!(self.data, "a{size} {size} 0 1 1 ");
            write_scaled(&mut self.data, across, self.decimals);
            self.data.push_str(" 0");
        }
        self.data.push('z');
    }

    fn step(&mut self, command: char, x: f64, y: f64) {
        let scale = 10f64.powi(self.decimals as i32);
        // A cast saturates and turns NaN into 0, so the text is always well formed.
        let next = ((x * scale).round() as i64, (y * scale).round() as i64);
        let (dx, dy) = (next.0.saturating_sub(self.last.0), next.1.saturating_sub(self.last.1));
        self.data.push(command);
        write_scaled(&mut self.data, dx, self.decimals);
        if dy >= 0 {
            self.data.push(' ');
        }
        write_scaled(&mut self.data, dy, self.decimals);
        self.last = next;
    }
}

/// Writes `value / 10^decimals` without needless zeros.
fn write_scaled(out: &mut String, value: i64, decimals: u32) {
    let unit = 10u64.pow(decimals);
    let (whole, mut part) = (value.unsigned_abs() / unit, value.unsigned_abs() % unit);
    if value < 0 {
        out.push('-');
    }
    if whole > 0 || part == 0 {
        let _ = write!(out, "{whole}");
    }
    if part > 0 {
        let mut digits = decimals as usize;
        while part % 10 == 0 {
            part /= 10;
            digits -= 1;
        }
        let _ = write!(out, ".{part:0digits$}");
    }
}

/// A number with at most two decimals.
fn number(value: f64) -> String {
    let mut out = String::new();
    write_scaled(&mut out, (value * 100.0).round() as i64, 2);
    out
}

/// How a path is painted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Style {
    fill: Option<Rgb>,
    stroke: Option<(Rgb, f64)>,
    opacity: f64,
    dashed: bool,
}

impl Style {
    /// Filled, no edge.
    pub fn fill(colour: Rgb) -> Self {
        Self { fill: Some(colour), stroke: None, opacity: 1.0, dashed: false }
    }

    /// A line with round ends and corners, no filling.
    pub fn line(colour: Rgb, width: f64) -> Self {
        Self { fill: None, stroke: Some((colour, width)), opacity: 1.0, dashed: false }
    }

    /// Opacity of filling and edge, 0 to 1.
    pub fn opacity(self, opacity: f64) -> Self {
        Self { opacity, ..self }
    }

    /// Dashes the line.
    pub fn dashed(self) -> Self {
        Self { dashed: true, ..self }
    }
}

/// Where text stands relative to its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// The text begins there.
    Start,
    /// The text is centred there.
    Middle,
    /// The text ends there.
    End,
}

/// Size and colour of text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Font {
    /// Height in canvas units.
    pub size: f64,
    /// Colour.
    pub colour: Rgb,
}

/// Collects SVG elements.
#[derive(Debug, Default)]
pub struct Canvas {
    body: String,
    clips: usize,
    /// What the names of clip paths begin with.
    prefix: String,
}

impl Canvas {
    /// An empty canvas.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty canvas for a page with several pictures: names of its parts begin with `prefix`, so that no two pictures
    /// share one.
    pub fn named(prefix: &str) -> Self {
        Self { prefix: format!("{prefix}-"), ..Self::default() }
    }

    /// Draws a path; an empty one leaves nothing.
    pub fn path(&mut self, path: &Path, style: Style) {
        if path.is_empty() {
            return;
        }
        let _ = write!(self.body, "<path d=\"{}\"", path.data);
        match style.fill {
            Some(colour) => {
                let _ = write!(self.body, " fill=\"{colour}\"");
            }
            None => self.body.push_str(" fill=\"none\""),
        }
        if let Some((colour, width)) = style.stroke {
            let width = number(width);
            let _ = write!(self.body, " stroke=\"{colour}\" stroke-width=\"{width}\"");
            self.body.push_str(" stroke-linecap=\"round\" stroke-linejoin=\"round\"");
        }
        if style.dashed {
            self.body.push_str(" stroke-dasharray=\"5 4\"");
        }
        if style.opacity < 1.0 {
            let _ = write!(self.body, " opacity=\"{}\"", number(style.opacity));
        }
        self.body.push_str("/>\n");
    }

    /// Writes one line of text with its base line at (x, y).
    pub fn text(&mut self, x: f64, y: f64, text: &str, font: Font, anchor: Anchor) {
        self.write_text(x, y, text, font, anchor, 0.0);
    }

    /// Writes text turned by `degrees` clockwise about (x, y).
    pub fn turned_text(&mut self, x: f64, y: f64, text: &str, font: Font, anchor: Anchor, degrees: f64) {
        self.write_text(x, y, text, font, anchor, degrees);
    }

    fn write_text(&mut self, x: f64, y: f64, text: &str, font: Font, anchor: Anchor, degrees: f64) {
        let (x, y, size) = (number(x), number(y), number(font.size));
        let _ = write!(self.body, "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" fill=\"{}\"", font.colour);
        match anchor {
            Anchor::Start => {}
            Anchor::Middle => self.body.push_str(" text-anchor=\"middle\""),
            Anchor::End => self.body.push_str(" text-anchor=\"end\""),
        }
        if degrees != 0.0 {
            let _ = write!(self.body, " transform=\"rotate({} {x} {y})\"", number(degrees));
        }
        let _ = writeln!(self.body, ">{}</text>", escape(text));
    }

    /// Draws with `draw` what is then cut off outside the closed path `shape`.
    pub fn clipped(&mut self, shape: &Path, draw: impl FnOnce(&mut Canvas)) {
        let id = format!("{}clip{}", self.prefix, self.clips);
        self.clips += 1;
        let _ = writeln!(self.body, "<clipPath id=\"{id}\"><path d=\"{}\"/></clipPath>", shape.data);
        let _ = writeln!(self.body, "<g clip-path=\"url(#{id})\">");
        draw(self);
        self.body.push_str("</g>\n");
    }

    /// The whole document on a white ground.
    pub fn finish(self, width: f64, height: f64) -> String {
        let (w, h) = (number(width.ceil()), number(height.ceil()));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" \
             font-family=\"{FONT_FAMILY}\">\n<rect width=\"{w}\" height=\"{h}\" fill=\"#ffffff\"/>\n{}</svg>\n",
            self.body
        )
    }

    /// The element for a page of HTML, with a title for those who do not see it.
    pub fn finish_inline(self, width: f64, height: f64, title: &str) -> String {
        let (w, h, prefix) = (number(width.ceil()), number(height.ceil()), &self.prefix);
        format!(
            "<svg role=\"img\" aria-labelledby=\"{prefix}title\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" \
             font-family=\"{FONT_FAMILY}\">\n<title id=\"{prefix}title\">{}</title>\n{}</svg>\n",
            escape(title),
            self.body
        )
    }
}

/// Makes text safe inside an element; characters that XML does not allow are left out.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\t' | '\n' | '\r' => out.push(' '),
            '\u{fffe}' | '\u{ffff}' => {}
            c if is_obeyed(c) => {}
            c => out.push(c),
        }
    }
    out
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
    fn numbers_are_short() {
        let cases =
            [(0.0, "0"), (0.5, ".5"), (-0.25, "-.25"), (12.0, "12"), (-3.1, "-3.1"), (1e-9, "0"), (0.05, ".05")];
        for (value, text) in cases {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn relative_steps_do_not_drift() {
        let mut path = Path::new();
        let points: Vec<_> = (0..1000).map(|i| (f64::from(i) * 0.003_3, f64::from(i) * 0.004_7)).collect();
        path.line(&points);
        assert_eq!(path.last, (330, 470));
        assert!(!path.data.contains("NaN"));
    }

    #[test]
    fn numbers_that_are_not_finite_do_not_spoil_the_text() {
        let mut path = Path::new();
        path.line(&[(f64::NAN, f64::INFINITY), (1.0, f64::NEG_INFINITY)]);
        assert!(path.data.chars().all(|c| c.is_ascii_digit() || "Ml.- ".contains(c)), "{}", path.data);
    }

    #[test]
    fn text_is_escaped_and_fitted() {
        assert_eq!(escape("a<b & \u{1}c\n"), "a&lt;b &amp; c ");
        let cut = fit_text("a rather long category name", 10.0, 60.0);
        assert!(cut.ends_with('…') && text_width(&cut, 10.0) <= 60.0 && cut.len() > 6, "{cut}");
        assert_eq!(fit_text("short", 10.0, 60.0), "short");
    }
}
