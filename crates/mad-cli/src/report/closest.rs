//! The section about distances to the closest training rows.

use super::html::{Html, figure, paragraph, table};
use super::tables::shown;
use crate::commands::scores::{closest_heading, closest_rows};
use crate::plot::{CurvePanel, Figure, Scale, Series, curves};
use mad_core::metrics::{Closest, Distances};

/// Points of a drawn distribution function.
const DRAWN: usize = 400;

/// Table and plot of the distances of samples and test rows to their closest training rows.
pub fn section(closest: &Closest) -> Html {
    // Another name than that of the section: both are landmarks of the page.
    let caption = format!("Quantiles and shares of the {}", closest_heading(closest));
    let rows = closest_rows(closest, shown);
    let about = "Samples of a model that has memorised its training rows are closer to them than test rows are. Samples \
                 farther away than test rows mean that the model blurs the data.";
    let text = "Share of samples and of test rows with a training row within the distance on the horizontal axis. The \
                lines agree if samples are as close to training rows as new data are.";
    let title = "Distribution of the distance to the closest training row, for samples and test rows.";
    let picture = picture(closest).to_inline_svg("closest-figure", title);
    paragraph(about)
        .and(table(&caption, &["quantile or share", "samples", "test rows"], &rows))
        .and(figure(picture, text))
}

/// The empirical distribution functions of both.
pub fn picture(closest: &Closest) -> Figure<'static> {
    let Closest { samples, reference, .. } = closest;
    let positive = |d: &&f64| **d > 0.0;
    let first = |d: &Distances| d.sorted.iter().find(positive).copied();
    let least = [first(samples), first(reference)].into_iter().flatten().fold(f64::INFINITY, f64::min);
    let series = |label: &str, distances: &Distances, dashed: bool| Series {
        label: label.into(),
        points: steps(distances, least),
        dashed,
        ..Series::default()
    };
    let heading = closest_heading(closest);
    let panel = CurvePanel {
        x: (heading, Scale::Log),
        y: ("share of points".into(), Scale::Linear),
        y_range: Some((0.0, 1.0)),
        series: vec![series("samples", samples, false), series("test rows", reference, true)],
        ..CurvePanel::default()
    };
    curves("", vec![panel])
}

/// The distribution function at distances that share the points evenly; equal points begin at `least`, as zero has no place on
/// a logarithmic axis.
fn steps(distances: &Distances, least: f64) -> Vec<(f64, f64)> {
    let sorted = &distances.sorted;
    let n = sorted.len();
    let stride = n.div_ceil(DRAWN).max(1);
    let mut points = vec![];
    if distances.equal > 0.0 && least.is_finite() {
        points.push((least, distances.equal));
    }
    let places = (0..n).filter(|i| i % stride == stride - 1 || *i == n - 1);
    points.extend(places.filter(|i| sorted[*i] > 0.0).map(|i| (sorted[i], (i + 1) as f64 / n as f64)));
    points
}

#[cfg(test)]
mod tests {
    use super::*;
    use mad_core::Unit;

    fn distances(sorted: Vec<f64>) -> Distances {
        let equal = sorted.iter().filter(|d| **d == 0.0).count() as f64 / sorted.len() as f64;
        Distances { n: sorted.len(), quantiles: [0.0; 5], equal, within: [0.0; 3], sorted }
    }

    #[test]
    fn distribution_functions_rise_from_the_share_of_copies_to_one() {
        let copied = distances(vec![0.0, 0.0, 1.0, 3.0]);
        assert_eq!(steps(&copied, 0.5), [(0.5, 0.5), (1.0, 0.75), (3.0, 1.0)]);
        let many = distances((1..=10_000).map(f64::from).collect());
        let drawn = steps(&many, 1.0);
        assert!(drawn.len() <= DRAWN + 1 && drawn.last() == Some(&(10_000.0, 1.0)));
        assert!(drawn.iter().all(|(x, y)| (y - x / 10_000.0).abs() < 1e-12));
        // All samples are copies: there is no distance to draw, but no reason to fail either.
        let closest =
            Closest { unit: Unit::Degree, radii: [0.1, 1.0, 5.0], samples: distances(vec![0.0]), reference: many };
        assert!(!section(&closest).is_empty());
    }
}
