//! Panels in rows under a common title, written as SVG or PNG.

use super::{
    PlotError,
    canvas::{Anchor, Canvas, Font, Path, Style},
    colour::{INK, Rgb},
    font::text_width,
    png, svg,
};
use std::path::Path as FilePath;

/// Something that fills a rectangle of a figure.
pub trait Panel {
    /// Width and height.
    fn size(&self) -> (f64, f64);

    /// Draws with the upper left corner at (left, top).
    fn draw(&self, canvas: &mut Canvas, left: f64, top: f64);
}

/// How a figure is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Vectors.
    Svg,
    /// Pixels.
    Png,
}

impl Format {
    /// The format by the ending of a file. Ask before long work, so that an ending nobody can write costs nothing.
    pub fn of(path: &FilePath) -> Result<Self, PlotError> {
        match path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase).as_deref() {
            Some("svg") => Ok(Format::Svg),
            Some("png") => Ok(Format::Png),
            _ => Err(PlotError::Format { path: path.to_owned() }),
        }
    }
}

/// A line in a legend.
#[derive(Debug, Clone, PartialEq)]
pub struct LegendEntry {
    /// Text.
    pub label: String,
    /// Colour of the sample.
    pub colour: Rgb,
    /// Whether the sample is a dashed line.
    pub dashed: bool,
}

/// Rows of panels.
#[derive(Default)]
pub struct Figure<'a> {
    title: String,
    legend: Vec<LegendEntry>,
    rows: Vec<Vec<Box<dyn Panel + 'a>>>,
}

const MARGIN: f64 = 16.0;
const GAP: f64 = 22.0;
const FIGURE_TITLE: Font = Font { size: 15.0, colour: INK };
const LEGEND: Font = Font { size: 11.0, colour: INK };
const LEGEND_LINE: f64 = 18.0;
const SWATCH: f64 = 20.0;

impl<'a> Figure<'a> {
    /// An empty figure; an empty title takes no room.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    /// Adds a legend below the title.
    pub fn with_legend(mut self, legend: Vec<LegendEntry>) -> Self {
        self.legend = legend;
        self
    }

    /// Adds a row of panels.
    pub fn push_row(&mut self, row: Vec<Box<dyn Panel + 'a>>) {
        self.rows.push(row);
    }

    /// Adds the rows of another figure below; its title and legend are dropped.
    pub fn append(&mut self, other: Figure<'a>) {
        self.rows.extend(other.rows);
    }

    /// Adds the panels of another figure at the end of the last row; its title and legend are dropped.
    pub fn extend_row(&mut self, other: Figure<'a>) {
        let panels = other.rows.into_iter().flatten();
        match self.rows.last_mut() {
            Some(row) => row.extend(panels),
            None => self.rows.push(panels.collect()),
        }
    }

    /// The figure as SVG text.
    pub fn to_svg(&self) -> String {
        let (canvas, width, height) = self.drawn();
        svg::document(&canvas, width, height)
    }

    /// The figure as an element of an HTML page. `name` is a word that no other figure of the page has; `title` says in a
    /// sentence what is seen.
    pub fn to_inline_svg(&self, name: &str, title: &str) -> String {
        let (canvas, width, height) = self.drawn();
        svg::inline(&canvas, width, height, name, title)
    }

    /// A canvas with everything on it, its width and its height.
    fn drawn(&self) -> (Canvas, f64, f64) {
        let mut canvas = Canvas::new();
        let row_size = |row: &[Box<dyn Panel + 'a>]| {
            let sizes: Vec<_> = row.iter().map(|p| p.size()).collect();
            let gaps = GAP * row.len().saturating_sub(1) as f64;
            (sizes.iter().map(|s| s.0).sum::<f64>() + gaps, sizes.iter().map(|s| s.1).fold(0.0, f64::max))
        };
        let inner = self.rows.iter().map(|row| row_size(row).0).fold(0.0, f64::max);
        let inner = inner.max(text_width(&self.title, FIGURE_TITLE.size)).max(120.0);
        let mut top = MARGIN;
        if !self.title.is_empty() {
            canvas.text(MARGIN + 0.5 * inner, top + 14.0, &self.title, FIGURE_TITLE, Anchor::Middle);
            top += 26.0;
        }
        if !self.legend.is_empty() {
            let (width, height) = legend_size(&self.legend, inner);
            draw_legend(&mut canvas, &self.legend, MARGIN + 0.5 * (inner - width), top, inner);
            top += height + 4.0;
        }
        for (index, row) in self.rows.iter().enumerate() {
            let (width, height) = row_size(row);
            let mut left = MARGIN + 0.5 * (inner - width);
            if index > 0 {
                top += 0.6 * GAP;
            }
            for panel in row {
                panel.draw(&mut canvas, left, top);
                left += panel.size().0 + GAP;
            }
            top += height;
        }
        (canvas, inner + 2.0 * MARGIN, top + MARGIN)
    }

    /// The figure as PNG bytes, two pixels per unit.
    pub fn to_png(&self) -> Result<Vec<u8>, PlotError> {
        let (canvas, width, height) = self.drawn();
        png::render(&canvas, width, height, 2.0)
    }

    /// Writes the figure; the ending `.svg` or `.png` decides the format. The file appears whole or not at all.
    pub fn save(&self, path: &FilePath) -> Result<(), PlotError> {
        let bytes = match Format::of(path)? {
            Format::Svg => self.to_svg().into_bytes(),
            Format::Png => self.to_png()?,
        };
        Ok(crate::output::write_whole(path, &bytes)?)
    }
}

/// Entries with their positions when lines are broken at `room`.
fn flow(entries: &[LegendEntry], room: f64) -> Vec<(f64, f64, &LegendEntry)> {
    let (mut x, mut y) = (0.0, 0.0);
    let mut placed = Vec::with_capacity(entries.len());
    for entry in entries {
        let width = SWATCH + 6.0 + text_width(&entry.label, LEGEND.size) + 16.0;
        if x > 0.0 && x + width - 16.0 > room {
            (x, y) = (0.0, y + LEGEND_LINE);
        }
        placed.push((x, y, entry));
        x += width;
    }
    placed
}

/// Width and height of a legend at most `room` wide.
pub fn legend_size(entries: &[LegendEntry], room: f64) -> (f64, f64) {
    flow(entries, room).iter().fold((0.0, 0.0), |(width, height), (x, y, entry)| {
        (f64::max(width, x + SWATCH + 6.0 + text_width(&entry.label, LEGEND.size)), f64::max(height, y + LEGEND_LINE))
    })
}

/// Draws a legend with its upper left corner at (left, top).
pub fn draw_legend(canvas: &mut Canvas, entries: &[LegendEntry], left: f64, top: f64, room: f64) {
    for (x, y, entry) in flow(entries, room) {
        let (x, y) = (left + x, top + y + 0.5 * LEGEND_LINE);
        let mut sample = Path::new();
        sample.line(&[(x, y), (x + SWATCH, y)]);
        let style = Style::line(entry.colour, if entry.dashed { 1.6 } else { 3.0 });
        canvas.path(&sample, if entry.dashed { style.dashed() } else { style });
        canvas.text(x + SWATCH + 6.0, y + 4.0, &entry.label, LEGEND, Anchor::Start);
    }
}
