//! A small grey picture as squares.

use super::{
    canvas::{Canvas, Path, Rect, Style},
    colour::Rgb,
    figure::Panel,
    frame::{HEADING, heading},
    globe::WIDTH,
};

/// Shades into which pixels are sorted.
const SHADES: usize = 128;

/// A square picture, as large as the network sees it.
#[derive(Debug, Clone)]
pub struct PicturePanel {
    /// Heading.
    pub title: String,
    /// Pixels of a side.
    pub size: usize,
    /// Numbers from 0 (black) to 1 (white), row by row.
    pub pixels: Vec<f32>,
}

impl Panel for PicturePanel {
    fn size(&self) -> (f64, f64) {
        (0.5 * WIDTH, HEADING + 0.5 * WIDTH + 4.0)
    }

    fn draw(&self, canvas: &mut Canvas, left: f64, top: f64) {
        let side = 0.5 * WIDTH;
        let area = Rect { left, top: top + HEADING, width: side, height: side };
        heading(canvas, area, &self.title, &format!("{0} × {0} pixels", self.size));
        let step = side / self.size as f64;
        let mut shades: Vec<Path> = (0..SHADES).map(|_| Path::new()).collect();
        for (i, &value) in self.pixels.iter().enumerate() {
            let (x, y) = (left + (i % self.size) as f64 * step, area.top + (i / self.size) as f64 * step);
            let shade = (f64::from(value.clamp(0.0, 1.0)) * (SHADES - 1) as f64).round() as usize;
            // Squares end within pixels; an overlap of one pixel at twice the size hides the seams.
            let over = step + 0.5;
            shades[shade].polygon(&[(x, y), (x + over, y), (x + over, y + over), (x, y + over)]);
        }
        for (i, path) in shades.iter().enumerate().filter(|(_, path)| !path.is_empty()) {
            let level = (255.0 * i as f64 / (SHADES - 1) as f64).round() as u8;
            canvas.path(path, Style::fill(Rgb(level, level, level)));
        }
        canvas.path(&area.path(), Style::line(super::GREY, 0.8));
    }
}
