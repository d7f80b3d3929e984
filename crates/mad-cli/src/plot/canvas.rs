//! A canvas that keeps what is drawn on it: paths, dots, text and clipped groups. [`super::svg`] writes it as text and
//! [`super::png`] paints it in pixels.

use super::colour::Rgb;

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

/// A position in steps of the path's precision.
pub(super) type Place = (i64, i64);

/// A piece of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Segment {
    /// A new stroke begins.
    Move(Place),
    /// A line to a position.
    Line(Place),
    /// A line of one step to the right: hardly any length.
    Dot,
    /// A full circle with its centre and radius.
    Circle(Place, i64),
    /// A line back to where the stroke began, where the pen stays.
    Close,
}

/// A path whose positions are rounded to a fixed number of decimals.
#[derive(Debug, Clone)]
pub struct Path {
    pub(super) segments: Vec<Segment>,
    pub(super) decimals: u32,
}

impl Path {
    /// An empty path, precise to 0.01.
    pub fn new() -> Self {
        Self { segments: Vec::new(), decimals: 2 }
    }

    /// An empty path, precise to 0.1: for thousands of dots.
    pub fn coarse() -> Self {
        Self { decimals: 1, ..Self::new() }
    }

    /// Whether nothing has been drawn.
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Begins a new stroke at (x, y).
    pub fn move_to(&mut self, x: f64, y: f64) {
        self.segments.push(Segment::Move(self.place(x, y)));
    }

    /// Draws a line to (x, y).
    pub fn line_to(&mut self, x: f64, y: f64) {
        self.segments.push(Segment::Line(self.place(x, y)));
    }

    /// An open line through the points.
    pub fn line(&mut self, points: &[(f64, f64)]) {
        for (i, &(x, y)) in points.iter().enumerate() {
            if i == 0 { self.move_to(x, y) } else { self.line_to(x, y) }
        }
    }

    /// A closed polygon.
    pub fn polygon(&mut self, points: &[(f64, f64)]) {
        if !points.is_empty() {
            self.line(points);
            self.segments.push(Segment::Close);
        }
    }

    /// A stroke of hardly any length: with round ends it shows as a dot, at 15 bytes of SVG instead of an element each.
    pub fn dot(&mut self, x: f64, y: f64) {
        self.move_to(x, y);
        self.segments.push(Segment::Dot);
    }

    /// A full circle.
    pub fn circle(&mut self, x: f64, y: f64, radius: f64) {
        // The leftmost point is rounded, not the centre, which follows from it.
        let ((left, middle), (radius, _)) = (self.place(x - radius, y), self.place(radius, 0.0));
        self.segments.push(Segment::Circle((left.saturating_add(radius), middle), radius));
    }

    fn place(&self, x: f64, y: f64) -> Place {
        let scale = 10f64.powi(self.decimals as i32);
        // A cast saturates and turns NaN into 0, so there is a position for every number.
        ((x * scale).round() as i64, (y * scale).round() as i64)
    }
}

/// Lengths of the strokes and gaps of a dashed line.
pub(super) const DASHES: [u8; 2] = [5, 4];

/// How a path is painted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Style {
    pub(super) fill: Option<Rgb>,
    pub(super) stroke: Option<(Rgb, f64)>,
    pub(super) opacity: f64,
    pub(super) dashed: bool,
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

/// What stands on a canvas.
#[derive(Debug, Clone)]
pub(super) enum Element {
    /// A path and how it is painted.
    Path(Path, Style),
    /// A line of text.
    Text(Text),
    /// Elements that are cut off outside a closed path.
    Clipped(Path, Vec<Element>),
}

/// A line of text with its base line at (x, y), turned about that point.
#[derive(Debug, Clone)]
pub(super) struct Text {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) text: String,
    pub(super) font: Font,
    pub(super) anchor: Anchor,
    /// Clockwise.
    pub(super) degrees: f64,
}

/// Collects what is drawn, from back to front.
#[derive(Debug, Default)]
pub struct Canvas {
    pub(super) elements: Vec<Element>,
}

impl Canvas {
    /// An empty canvas.
    pub fn new() -> Self {
        Self::default()
    }

    /// Draws a path; an empty one leaves nothing.
    pub fn path(&mut self, path: &Path, style: Style) {
        if !path.is_empty() {
            self.elements.push(Element::Path(path.clone(), style));
        }
    }

    /// Writes one line of text with its base line at (x, y).
    pub fn text(&mut self, x: f64, y: f64, text: &str, font: Font, anchor: Anchor) {
        self.turned_text(x, y, text, font, anchor, 0.0);
    }

    /// Writes text turned by `degrees` clockwise about (x, y).
    pub fn turned_text(&mut self, x: f64, y: f64, text: &str, font: Font, anchor: Anchor, degrees: f64) {
        self.elements.push(Element::Text(Text { x, y, text: text.to_owned(), font, anchor, degrees }));
    }

    /// Draws with `draw` what is then cut off outside the closed path `shape`.
    pub fn clipped(&mut self, shape: &Path, draw: impl FnOnce(&mut Canvas)) {
        let mut inside = Canvas::new();
        draw(&mut inside);
        self.elements.push(Element::Clipped(shape.clone(), inside.elements));
    }
}
