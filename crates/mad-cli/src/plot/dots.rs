//! Thousands of points as few path elements.

use super::{
    axis::grouped,
    canvas::{Canvas, Path, Style},
    colour::Rgb,
};

/// No panel draws more points than this.
pub const MOST: usize = 20_000;

/// Overlapping dots of one path do not add up, so they are dealt out to this many layers.
const LAYERS: usize = 12;

/// The rows to draw out of `n`: all, or [`MOST`] at equal steps.
pub fn thinned(n: usize) -> impl Iterator<Item = usize> {
    let shown = n.min(MOST);
    (0..shown).map(move |i| i * n / shown.max(1))
}

/// The line below a panel's title: how many points there are and how many are drawn.
pub fn count_note(n: usize) -> String {
    if n > MOST { format!("n = {}, {} shown", grouped(n), grouped(MOST)) } else { format!("n = {}", grouped(n)) }
}

/// A note, if there is one, before the number of points.
pub fn note_and_count(note: &str, n: usize) -> String {
    if note.is_empty() { count_note(n) } else { format!("{note}, {}", count_note(n)) }
}

/// Diameter and opacity of each of `n` dots: many dots are small and faint.
fn look(n: usize) -> (f64, f64) {
    let magnitude = (n.max(1) as f64).log10();
    ((5.6 - 0.95 * magnitude).clamp(1.6, 4.2), (1.25 - 0.21 * magnitude).clamp(0.38, 0.85))
}

/// Draws dots in one colour.
pub fn draw(canvas: &mut Canvas, places: &[(f64, f64)], colour: Rgb) {
    let (diameter, opacity) = look(places.len());
    for layer in 0..LAYERS.min(places.len()) {
        let mut path = Path::coarse();
        for &(x, y) in places.iter().skip(layer).step_by(LAYERS) {
            if x.is_finite() && y.is_finite() {
                path.dot(x, y);
            }
        }
        canvas.path(&path, Style::line(colour, diameter).opacity(opacity));
    }
}

/// Draws dots in several colours, given as an index into `palette`; layers keep any colour from always lying on top.
pub fn draw_coloured(canvas: &mut Canvas, places: &[(f64, f64, usize)], palette: &[Rgb]) {
    let (diameter, opacity) = look(places.len());
    for layer in 0..LAYERS / 3 {
        let mut paths = vec![Path::coarse(); palette.len()];
        for &(x, y, colour) in places.iter().skip(layer).step_by(LAYERS / 3) {
            if x.is_finite() && y.is_finite() {
                paths[colour % palette.len()].dot(x, y);
            }
        }
        for (path, &colour) in paths.iter().zip(palette) {
            canvas.path(path, Style::line(colour, diameter).opacity(opacity.max(0.7)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinning_keeps_the_spread_and_is_stated() {
        assert_eq!(thinned(5).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
        assert_eq!(thinned(0).count(), 0);
        let kept: Vec<usize> = thinned(1_000_000).collect();
        assert_eq!((kept.len(), kept[0], kept[MOST / 2]), (MOST, 0, 500_000));
        assert!(count_note(1_000_000).contains("shown") && !count_note(10).contains("shown"));
    }
}
