//! From a manifold's view to panels.

use super::{
    Figure, PlotError,
    angles::{AnglesPanel, degrees},
    bars::BarsPanel,
    colour::category,
    figure::{LegendEntry, Panel},
    histogram::HistogramPanel,
    map::MapPanel,
    pairs::{self, Coordinate, block},
    rotations::{RotationsPanel, TiltWheel},
    scatter::{ScatterPanel, Window},
};
use mad_core::{Points, catalogue::View};
use std::borrow::Cow;

/// One set of points in a figure: the data, or the samples of a model.
#[derive(Debug, Clone, Copy)]
pub struct PointsPanel<'a> {
    /// Name of the set.
    pub title: &'a str,
    /// Its points in ambient coordinates.
    pub points: &'a Points,
}

/// What else a figure of points may say.
#[derive(Debug, Clone, Default)]
pub struct PointsOptions<'a> {
    /// Title of the figure; empty for none.
    pub title: String,
    /// Names of angles, categorical columns and scatter coordinates, in this order of the view's blocks; maps and
    /// rotations take none. Missing names are numbered.
    pub names: Vec<String>,
    /// Names of the levels of each categorical column; missing ones are numbered.
    pub levels: Vec<Vec<String>>,
    /// Points of a finite set, marked by rings in scatter plots.
    pub support: Option<&'a Points>,
    /// Longitude in the middle of world maps, degrees.
    pub centre: f64,
}

/// A figure shows at most this many pairs of coordinates.
const MOST_PAIRS: usize = 6;
/// A row has at most this many panels, unless more sets are compared.
const PER_ROW: usize = 4;
/// A row of bars is not wider than this.
const WIDEST_ROW: f64 = 1300.0;

/// Draws sets of points side by side as the view says.
pub fn points_figure<'a>(
    view: &View,
    panels: &[PointsPanel<'a>],
    options: &PointsOptions<'a>,
) -> Result<Figure<'a>, PlotError> {
    for panel in panels {
        let (expected, found) = (ambient_dim(view), panel.points.dim());
        if expected.is_some_and(|expected| expected != found) {
            return Err(PlotError::Coordinates {
                title: panel.title.to_owned(),
                expected: expected.unwrap_or(0),
                found,
            });
        }
    }
    let sets: Vec<_> = panels.iter().map(|p| Set { title: p.title, points: Cow::Borrowed(p.points) }).collect();
    let mut builder = Builder {
        figure: Figure::new(options.title.clone()),
        options,
        names: options.names.iter(),
        levels: options.levels.iter(),
        needs_legend: false,
    };
    builder.add(view, &sets);
    let Builder { figure, needs_legend, .. } = builder;
    let entry =
        |(i, p): (usize, &PointsPanel)| LegendEntry { label: p.title.to_owned(), colour: category(i), dashed: false };
    Ok(if needs_legend { figure.with_legend(panels.iter().enumerate().map(entry).collect()) } else { figure })
}

/// Adds panels in rows of at most `per_row`; four become two rows of two.
pub fn push_wrapped<'a>(figure: &mut Figure<'a>, panels: Vec<Box<dyn Panel + 'a>>, per_row: usize) {
    let per_row = per_row.min(panels.len().div_ceil(panels.len().div_ceil(per_row).max(1))).max(1);
    let mut panels = panels.into_iter().peekable();
    while panels.peek().is_some() {
        figure.push_row(panels.by_ref().take(per_row).collect());
    }
}

/// Ambient coordinates that a view needs; `None` if any number will do.
fn ambient_dim(view: &View) -> Option<usize> {
    match view {
        View::Map => Some(3),
        View::Rotations => Some(4),
        View::Angles(count) => Some(2 * count),
        View::Bars(levels) => Some(levels.iter().sum()),
        View::Scatter => None,
        View::Blocks(blocks) => Some(blocks.iter().map(|(dim, _)| dim).sum()),
    }
}

#[derive(Clone)]
struct Set<'a> {
    title: &'a str,
    points: Cow<'a, Points>,
}

struct Builder<'a, 'o> {
    figure: Figure<'a>,
    options: &'o PointsOptions<'a>,
    names: std::slice::Iter<'o, String>,
    levels: std::slice::Iter<'o, Vec<String>>,
    needs_legend: bool,
}

impl<'a> Builder<'a, '_> {
    fn add(&mut self, view: &View, sets: &[Set<'a>]) {
        match view {
            View::Map => self.maps(sets),
            View::Rotations => self.rotations(sets),
            View::Angles(count) => self.angles(*count, sets),
            View::Bars(levels) => self.bars(levels, sets),
            View::Scatter => self.scatter(sets),
            View::Blocks(blocks) => {
                let mut names = self.names.clone();
                let mut from = 0;
                for (dim, view) in blocks {
                    let part =
                        |set: &Set<'a>| Set { title: set.title, points: Cow::Owned(block(&set.points, from, *dim)) };
                    self.add(view, &sets.iter().map(part).collect::<Vec<_>>());
                    from += dim;
                }
                let points: Vec<&Points> = sets.iter().map(|set| set.points.as_ref()).collect();
                let factors = pairs::factors(blocks, &points, &mut |default, i| next_name(&mut names, default, i));
                self.pairs(sets, &pairs::across(&factors));
            }
        }
    }

    /// Adds a panel for every pair of coordinates and every set. The sets stand side by side for each pair, so that the eye
    /// compares neighbours.
    fn push_pairs(&mut self, pairs: usize, sets: usize, panel: impl Fn(usize, usize) -> Box<dyn Panel + 'a>) {
        let per_row = (PER_ROW / sets.max(1)).max(1);
        for first in (0..pairs).step_by(per_row) {
            let shown = first..pairs.min(first + per_row);
            self.figure.push_row(
                shown.flat_map(|pair| (0..sets).map(move |set| (pair, set))).map(|(p, s)| panel(p, s)).collect(),
            );
        }
    }

    /// Numbers of different factors against each other.
    fn pairs(&mut self, sets: &[Set<'a>], pairs: &[(&Coordinate, &Coordinate)]) {
        let shown = pairs.len().min(MOST_PAIRS);
        let of = |pair: &(&Coordinate, &Coordinate), set: usize| {
            let numbers = pair.0.values[set].iter().zip(&pair.1.values[set]).flat_map(|(a, b)| [*a, *b]);
            Points::from_vec(numbers.collect(), 2)
        };
        let drawn: Vec<Vec<Points>> =
            pairs[..shown].iter().map(|pair| (0..sets.len()).map(|set| of(pair, set)).collect()).collect();
        self.push_pairs(shown, sets.len(), |pair, set| {
            let (names, points) = (&pairs[pair], &drawn[pair]);
            Box::new(ScatterPanel {
                title: pair_title(sets[set].title, pair, pairs.len()),
                note: String::new(),
                points: Cow::Owned(points[set].clone()),
                colour: category(set),
                support: None,
                shares: None,
                ring: None,
                window: Window::filled(points.iter()),
                names: [names.0.name.clone(), names.1.name.clone()],
            })
        });
    }

    fn name(&mut self, default: &str, index: usize) -> String {
        next_name(&mut self.names, default, index)
    }

    fn maps(&mut self, sets: &[Set<'a>]) {
        let panel = |(i, set): (usize, &Set<'a>)| {
            Box::new(MapPanel {
                title: set.title.to_owned(),
                note: String::new(),
                points: Some(set.points.clone()),
                colour: category(i),
                density: None,
                centre: self.options.centre,
            }) as Box<dyn Panel + 'a>
        };
        let row = sets.iter().enumerate().map(panel).collect();
        push_wrapped(&mut self.figure, row, 3);
    }

    fn rotations(&mut self, sets: &[Set<'a>]) {
        let panel = |set: &Set<'a>| {
            Box::new(RotationsPanel {
                title: set.title.to_owned(),
                note: String::new(),
                points: set.points.clone(),
                marks: None,
                fan: 0.0,
            }) as Box<dyn Panel + 'a>
        };
        for chunk in sets.chunks(if sets.len() == 4 { 2 } else { 3 }) {
            let mut row: Vec<_> = chunk.iter().map(panel).collect();
            row.push(Box::new(TiltWheel));
            self.figure.push_row(row);
        }
    }

    fn angles(&mut self, count: usize, sets: &[Set<'a>]) {
        let names: Vec<String> = (0..count).map(|i| self.name("angle", i)).collect();
        if count == 1 {
            let values = |set: &Set<'a>| set.points.rows().map(|p| degrees(p, 0)).collect();
            let sets = sets.iter().map(values).collect();
            self.histogram(format!("{} (°)", names[0]), sets, true);
            return;
        }
        let pairs = count - 1;
        let panel = |first: usize, set: usize| {
            Box::new(AnglesPanel {
                title: pair_title(sets[set].title, first, pairs),
                points: sets[set].points.clone(),
                pair: (first, first + 1),
                colour: category(set),
                names: [names[first].clone(), names[first + 1].clone()],
            }) as Box<dyn Panel + 'a>
        };
        if pairs == 1 {
            let row = (0..sets.len()).map(|set| panel(0, set)).collect();
            push_wrapped(&mut self.figure, row, PER_ROW);
            return;
        }
        self.push_pairs(pairs.min(MOST_PAIRS), sets.len(), panel);
    }

    fn bars(&mut self, counts: &[usize], sets: &[Set<'a>]) {
        self.needs_legend = true;
        let (mut from, mut width) = (0, 0.0);
        let mut row: Vec<Box<dyn Panel + 'a>> = Vec::new();
        for (column, &count) in counts.iter().enumerate() {
            let title = self.name("column", column);
            let known = self.levels.next();
            let level = |i: usize| known.and_then(|names| names.get(i).cloned()).unwrap_or_else(|| (i + 1).to_string());
            let shares = sets.iter().map(|set| level_shares(&set.points, from, count)).collect();
            let panel = BarsPanel::new(title, (0..count).map(level).collect(), shares);
            if !row.is_empty() && width + panel.size().0 > WIDEST_ROW {
                self.figure.push_row(std::mem::take(&mut row));
                width = 0.0;
            }
            width += panel.size().0;
            row.push(Box::new(panel));
            from += count;
        }
        self.figure.push_row(row);
    }

    fn scatter(&mut self, sets: &[Set<'a>]) {
        let dim = sets.first().map_or(2, |set| set.points.dim());
        let names: Vec<String> = (0..dim).map(|i| self.name("coordinate", i)).collect();
        if dim == 1 {
            let sets = sets.iter().map(|set| set.points.as_slice().to_vec()).collect();
            self.histogram(names[0].clone(), sets, false);
            return;
        }
        let support = self.options.support.filter(|support| support.dim() == dim);
        let window = Window::around(sets.iter().map(|set| set.points.as_ref()).chain(support));
        let panel = |(i, set): (usize, &Set<'a>)| {
            Box::new(ScatterPanel {
                title: set.title.to_owned(),
                note: String::new(),
                points: set.points.clone(),
                colour: category(i),
                support,
                shares: None,
                ring: None,
                window,
                names: [names[0].clone(), names[1].clone()],
            }) as Box<dyn Panel + 'a>
        };
        let row = sets.iter().enumerate().map(panel).collect();
        push_wrapped(&mut self.figure, row, 4);
    }

    fn histogram(&mut self, name: String, sets: Vec<Vec<f64>>, degrees: bool) {
        self.needs_legend = true;
        self.figure.push_row(vec![Box::new(HistogramPanel { name, sets, degrees })]);
    }
}

/// The heading of a set in a panel of one pair of coordinates; the first one says if not all pairs are shown.
fn pair_title(set: &str, pair: usize, pairs: usize) -> String {
    match pairs > MOST_PAIRS && pair == 0 {
        true => format!("{set} (first {MOST_PAIRS} of {pairs} pairs)"),
        false => set.to_owned(),
    }
}

fn next_name(names: &mut std::slice::Iter<'_, String>, default: &str, index: usize) -> String {
    names.next().cloned().unwrap_or_else(|| format!("{default} {}", index + 1))
}

/// Share of the points whose largest entry in the one-hot block is each level.
fn level_shares(points: &Points, from: usize, count: usize) -> Vec<f64> {
    let mut shares = vec![0.0; count];
    for row in points.rows() {
        let block = row[from..from + count].iter().enumerate();
        if let Some((level, _)) = block.max_by(|a, b| a.1.total_cmp(b.1)) {
            shares[level] += 1.0 / points.len() as f64;
        }
    }
    shares
}
