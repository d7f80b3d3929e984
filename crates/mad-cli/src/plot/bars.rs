//! How often each category occurs, set beside set.

use super::{
    axis::{Axis, Scale},
    canvas::{Anchor, Canvas, Path, Rect, Style},
    colour::{Rgb, category},
    figure::Panel,
    font::{fit_text, text_width},
    frame::{Frame, HEADING, TICK, heading},
};

/// Shares of the levels of one column in several sets.
#[derive(Debug, Clone)]
pub struct BarsPanel {
    /// Heading: the name of the column.
    pub title: String,
    /// Names of the levels.
    pub levels: Vec<String>,
    /// For each set, in the order of the figure's legend, the share of each level.
    pub shares: Vec<Vec<f64>>,
    /// Colours of the sets; those without one have the colour of their place.
    pub colours: Vec<Rgb>,
    /// Line below the heading; may be empty.
    pub note: String,
    /// Height of the plotting area.
    pub height: f64,
}

/// Usual height of the plotting area.
const HEIGHT: f64 = 200.0;
/// More levels than this are gathered into one.
const MOST_LEVELS: usize = 24;
/// Longest slanted name.
const LONGEST_NAME: f64 = 84.0;

impl BarsPanel {
    /// The panel of one column; of very many levels the most frequent ones are kept and the rest is added up.
    pub fn new(title: String, levels: Vec<String>, shares: Vec<Vec<f64>>) -> Self {
        if levels.len() <= MOST_LEVELS {
            return Self { title, levels, shares, colours: Vec::new(), note: String::new(), height: HEIGHT };
        }
        let mut order: Vec<usize> = (0..levels.len()).collect();
        let total = |level: usize| shares.iter().map(|set| set[level]).sum::<f64>();
        order.sort_by(|&a, &b| total(b).total_cmp(&total(a)).then(a.cmp(&b)));
        let (kept, rest) = order.split_at(MOST_LEVELS - 1);
        let pick = |set: &Vec<f64>| {
            let rest: f64 = rest.iter().map(|&i| set[i]).sum();
            kept.iter().map(|&i| set[i]).chain([rest]).collect()
        };
        let names = kept.iter().map(|&i| levels[i].clone()).chain([format!("{} others", rest.len())]).collect();
        let shares = shares.iter().map(pick).collect();
        Self { title, levels: names, shares, colours: Vec::new(), note: String::new(), height: HEIGHT }
    }

    fn group_width(&self) -> f64 {
        (self.shares.len() as f64 * 14.0 + 10.0).max(30.0)
    }

    fn plot_width(&self) -> f64 {
        (self.levels.len() as f64 * self.group_width()).max(120.0)
    }

    fn slanted(&self) -> bool {
        let room = self.plot_width() / self.levels.len() as f64 - 4.0;
        self.levels.iter().any(|name| text_width(name, TICK.size) > room)
    }
}

impl Panel for BarsPanel {
    fn size(&self) -> (f64, f64) {
        let names = if self.slanted() { 0.8 * LONGEST_NAME + 8.0 } else { 24.0 };
        (self.plot_width() + 62.0, HEADING + self.height + names)
    }

    fn draw(&self, canvas: &mut Canvas, left: f64, top: f64) {
        let area = Rect { left: left + 54.0, top: top + HEADING, width: self.plot_width(), height: self.height };
        let count = self.levels.len();
        heading(canvas, area, &self.title, &self.note);
        let highest = self.shares.iter().flatten().copied().fold(0.0, f64::max);
        let mut frame = Frame {
            area,
            x: Axis::new(Scale::Linear, 0.0, count.max(1) as f64, 1),
            y: Axis::new(Scale::Linear, 0.0, 1.08 * highest.max(1e-3), 5),
        };
        frame.x.ticks.clear();
        frame.draw_ground(canvas);
        let sets = self.shares.len().max(1) as f64;
        for (set, shares) in self.shares.iter().enumerate() {
            let mut bars = Path::new();
            for (level, &share) in shares.iter().enumerate() {
                let from = level as f64 + 0.1 + 0.8 * set as f64 / sets;
                let (a, b) = (frame.place(from, share), frame.place(from + 0.8 / sets, 0.0));
                bars.polygon(&[a, (b.0, a.1), b, (a.0, b.1)]);
            }
            let colour = self.colours.get(set).copied().unwrap_or_else(|| category(set));
            canvas.path(&bars, Style::fill(colour).opacity(0.88));
        }
        let slanted = self.slanted();
        for (level, name) in self.levels.iter().enumerate() {
            let x = frame.place(level as f64 + 0.5, 0.0).0;
            if slanted {
                let name = fit_text(name, TICK.size, LONGEST_NAME);
                canvas.turned_text(x + 4.0, area.bottom() + 12.0, &name, TICK, Anchor::End, -45.0);
            } else {
                canvas.text(x, area.bottom() + 15.0, name, TICK, Anchor::Middle);
            }
        }
        frame.draw_axes(canvas, "", "share");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_levels_are_gathered_without_losing_mass() {
        let n = 100;
        let share: Vec<f64> = (0..n).map(|i| 2.0 * f64::from(i) / f64::from(n * (n - 1))).collect();
        let panel = BarsPanel::new("c".into(), (0..n).map(|i| format!("v{i}")).collect(), vec![share]);
        assert_eq!((panel.levels.len(), panel.levels[0].as_str()), (MOST_LEVELS, "v99"));
        assert!((panel.shares[0].iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert_eq!(panel.levels[MOST_LEVELS - 1], "77 others");
    }
}
