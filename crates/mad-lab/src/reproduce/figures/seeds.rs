//! Curves of several seeds as one curve with a band.

use super::colours;
use mad_cli::plot::{Rgb, Scale, Series};
use mad_core::Moments;

/// The curves of one method, one per seed, each in rising order of its first number.
#[derive(Debug, Clone, PartialEq)]
pub struct MethodCurves {
    /// Name of the method.
    pub label: String,
    /// For each seed the points (time or step, value).
    pub seeds: Vec<Vec<(f64, f64)>>,
}

impl MethodCurves {
    /// Curves over steps as curves over time, given the time of each seed over steps: every step stands at its mean time.
    ///
    /// Averaged over their own times instead, curves would end where the fastest seed ends, before the last steps of the others.
    pub fn timed_by(&self, clock: &Self) -> Self {
        let clock = summarise(Scale::Linear, clock).points;
        let time = |p: &(f64, f64)| value_at(Scale::Linear, &clock, p.0).map(|time| (time, p.1));
        let seeds = self.seeds.iter().map(|curve| curve.iter().filter_map(time).collect()).collect();
        Self { label: self.label.clone(), seeds }
    }
}

/// Mean over seeds, and the standard deviation of a single seed where there are several.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// Points (x, mean).
    pub points: Vec<(f64, f64)>,
    /// Standard deviation at each point; empty for a single seed.
    pub deviation: Vec<f64>,
}

/// Place on an axis of this scale.
fn along(scale: Scale, x: f64) -> f64 {
    match scale {
        Scale::Linear => x,
        Scale::Log => x.ln(),
    }
}

fn back(scale: Scale, place: f64) -> f64 {
    match scale {
        Scale::Linear => place,
        Scale::Log => place.exp(),
    }
}

/// The place between two points of a curve whose value is `y`, on a line that is straight on this scale.
fn between(scale: Scale, a: (f64, f64), b: (f64, f64), y: f64) -> f64 {
    let share = (y - a.1) / (b.1 - a.1);
    let (from, to) = (along(scale, a.0), along(scale, b.0));
    back(scale, from + share * (to - from))
}

/// Value at `x` of a curve drawn with straight lines on this scale; `None` outside it.
fn value_at(scale: Scale, curve: &[(f64, f64)], x: f64) -> Option<f64> {
    let next = curve.partition_point(|p| p.0 < x);
    let b = *curve.get(next)?;
    if b.0 == x {
        return Some(b.1);
    }
    let a = *curve.get(next.checked_sub(1)?)?;
    let share = (along(scale, x) - along(scale, a.0)) / (along(scale, b.0) - along(scale, a.0));
    Some(a.1 + share * (b.1 - a.1))
}

/// Mean and deviation of all seeds where all have values, at every x that any of them has: between these the mean is a
/// straight line too, so nothing is lost.
pub fn summarise(scale: Scale, curves: &MethodCurves) -> Summary {
    let usable = |p: &&(f64, f64)| p.0.is_finite() && p.1.is_finite() && (scale == Scale::Linear || p.0 > 0.0);
    let seeds: Vec<Vec<(f64, f64)>> = curves.seeds.iter().map(|s| s.iter().filter(usable).copied().collect()).collect();
    let mut places: Vec<f64> = seeds.iter().flatten().map(|p| p.0).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    let mut summary = Summary { points: Vec::new(), deviation: Vec::new() };
    for x in places {
        let Some(values) = seeds.iter().map(|s| value_at(scale, s, x)).collect::<Option<Vec<f64>>>() else { continue };
        let moments = Moments::of(&values);
        summary.points.push((x, moments.mean));
        summary.deviation.extend(moments.deviation());
    }
    summary
}

/// The methods as lines with bands of one standard deviation, in the colours of the methods.
pub fn bands(scale: Scale, methods: &[MethodCurves]) -> Vec<Series> {
    let colours: Vec<Rgb> = colours::of_methods(methods.iter().map(|m| m.label.as_str()));
    let series = |(method, colour): (&MethodCurves, Rgb)| {
        let Summary { points, deviation } = summarise(scale, method);
        let band = points.iter().zip(&deviation).map(|(p, d)| (p.1 - d, p.1 + d)).collect();
        Series { label: method.label.clone(), points, band, dashed: false, colour: Some(colour) }
    };
    methods.iter().zip(colours).map(series).collect()
}

/// What lines and bands are.
pub fn seeds_note(methods: &[MethodCurves]) -> String {
    let counts = || methods.iter().map(|method| method.seeds.len()).filter(|seeds| *seeds > 0);
    match (counts().min().unwrap_or(0), counts().max().unwrap_or(0)) {
        (_, 0 | 1) => "one seed".to_owned(),
        (fewest, most) if fewest == most => format!("mean and standard deviation over {most} seeds"),
        (fewest, most) => format!("mean and standard deviation over {fewest} to {most} seeds"),
    }
}

/// How much sooner one curve gets to where another ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Crossing {
    /// Last value of the slower curve.
    pub value: f64,
    /// When the faster curve is first at or below it.
    pub fast: f64,
    /// When the slower curve is first at or below it: at its end, or before, if it rose again.
    pub slow: f64,
    /// From when on the faster and the slower curve are at or below it for good; `None` if the faster one ends above it.
    pub stays: Option<(f64, f64)>,
}

impl Crossing {
    /// How many times sooner.
    pub fn factor(&self) -> f64 {
        self.slow / self.fast
    }
}

/// Where the curve is first at or below `value`; `None` if it never is.
pub fn first_reach(scale: Scale, curve: &[(f64, f64)], value: f64) -> Option<f64> {
    let next = curve.iter().position(|p| p.1 <= value)?;
    match next.checked_sub(1) {
        None => Some(curve[0].0),
        Some(before) => Some(between(scale, curve[before], curve[next], value)),
    }
}

/// From where on the curve is at or below `value` to its end; `None` if it ends above.
fn last_reach(scale: Scale, curve: &[(f64, f64)], value: f64) -> Option<f64> {
    match curve.iter().rposition(|p| p.1 > value) {
        None => Some(curve.first()?.0),
        Some(above) => Some(between(scale, curve[above], *curve.get(above + 1)?, value)),
    }
}

/// When `fast` gets to the last value of `slow`; `None` if it never does.
///
/// A lucky low point at the end of `slow` makes its last value hard to reach for both, an unlucky one easy for both: both
/// curves are held to the same value from their beginning.
pub fn crossing(scale: Scale, fast: &[(f64, f64)], slow: &[(f64, f64)]) -> Option<Crossing> {
    let value = slow.last()?.1;
    let stays = last_reach(scale, fast, value).zip(last_reach(scale, slow, value));
    Some(Crossing { value, fast: first_reach(scale, fast, value)?, slow: first_reach(scale, slow, value)?, stays })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curves(seeds: &[&[(f64, f64)]]) -> MethodCurves {
        MethodCurves { label: "MAD".into(), seeds: seeds.iter().map(|s| s.to_vec()).collect() }
    }

    #[test]
    fn means_are_taken_where_all_seeds_have_values() {
        // 2 − x and x on [0, 2] and [1, 3]: mean 1 everywhere, deviation |2 − 2x|/√2.
        let summary = summarise(
            Scale::Linear,
            &curves(&[&[(0.0, 2.0), (2.0, 0.0)], &[(1.0, 1.0), (1.5, 1.5), (3.0, 3.0), (4.0, f64::NAN)]]),
        );
        assert_eq!(summary.points, [(1.0, 1.0), (1.5, 1.0), (2.0, 1.0)]);
        for (x, d) in [1.0, 1.5, 2.0f64].iter().zip(&summary.deviation) {
            assert!((d - (2.0 - 2.0 * x).abs() / 2f64.sqrt()).abs() < 1e-12, "{x}: {d}");
        }
    }

    #[test]
    fn seeds_of_unequal_speed_end_together() {
        let steps = [(10.0, 4.0), (20.0, 2.0)];
        let clock = curves(&[&[(10.0, 1.0), (20.0, 2.0)], &[(10.0, 3.0), (20.0, 6.0)]]);
        let timed = curves(&[&steps, &[(10.0, 6.0), (20.0, 0.0)]]).timed_by(&clock);
        assert_eq!(timed.seeds, [[(2.0, 4.0), (4.0, 2.0)], [(2.0, 6.0), (4.0, 0.0)]]);
        assert_eq!(summarise(Scale::Log, &timed).points, [(2.0, 5.0), (4.0, 1.0)]);
    }

    #[test]
    fn a_single_seed_has_no_band_and_log_axes_no_zero() {
        let summary = summarise(Scale::Log, &curves(&[&[(0.0, 9.0), (1.0, 4.0), (4.0, 2.0)]]));
        assert_eq!(summary, Summary { points: vec![(1.0, 4.0), (4.0, 2.0)], deviation: vec![] });
        assert!(bands(Scale::Log, &[curves(&[])])[0].points.is_empty());
    }

    #[test]
    fn lines_are_straight_on_the_axis() {
        let curve = [(1.0, 4.0), (16.0, 0.0)];
        assert!((value_at(Scale::Log, &curve, 4.0).unwrap() - 2.0).abs() < 1e-12);
        assert!((first_reach(Scale::Log, &curve, 1.0).unwrap() - 8.0).abs() < 1e-12);
        assert!((first_reach(Scale::Linear, &curve, 1.0).unwrap() - 12.25).abs() < 1e-12);
        assert_eq!(first_reach(Scale::Log, &curve, 5.0), Some(1.0));
        assert_eq!(first_reach(Scale::Log, &curve, -1.0), None);
    }

    #[test]
    fn the_factor_is_the_ratio_of_the_times() {
        // Both fall as straight lines in log time; the fast one is exactly three times as fast.
        let slow: Vec<(f64, f64)> = (0..8).map(|i| (3.0 * 2f64.powi(i), 1.0 - 0.1 * f64::from(i))).collect();
        let fast: Vec<(f64, f64)> =
            (0..14).map(|i| (1.5f64.powi(i), 1.0 - 0.1 * f64::from(i) * 1.5f64.log2())).collect();
        let found = crossing(Scale::Log, &fast, &slow).unwrap();
        assert!((found.factor() - 3.0).abs() < 1e-9 && (found.value - 0.3).abs() < 1e-12, "{found:?}");
        assert_eq!(crossing(Scale::Log, &fast[..3], &slow), None);
        // A curve that rises again is held to the first time it was that low.
        let risen = [(1.0, 1.0), (2.0, 0.0), (8.0, 0.5)];
        let found = crossing(Scale::Linear, &[(0.5, 0.5)], &risen).unwrap();
        assert_eq!((found.slow, found.factor(), found.stays), (1.5, 3.0, Some((0.5, 1.5))));
        // One that touches the value and rises above it is there for good later, or never.
        let touches = [(1.0, 1.0), (2.0, 0.0), (3.0, 1.0), (5.0, 0.0)];
        let found = crossing(Scale::Linear, &touches, &risen).unwrap();
        assert_eq!((found.fast, found.stays), (1.5, Some((4.0, 1.5))));
        assert_eq!(crossing(Scale::Linear, &touches[..3], &risen).unwrap().stays, None);
    }
}
