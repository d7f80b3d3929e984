//! Axes: ranges, round tick marks and their labels.

/// How values are spread along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scale {
    /// Equal steps, equal distance.
    #[default]
    Linear,
    /// Equal factors, equal distance; only values above zero can be shown.
    Log,
}

/// A labelled mark.
#[derive(Debug, Clone, PartialEq)]
pub struct Tick {
    /// Where it stands, in data units.
    pub value: f64,
    /// What it says; empty for small marks.
    pub label: String,
}

/// A range of values with tick marks.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// Smallest value shown.
    pub low: f64,
    /// Largest value shown.
    pub high: f64,
    scale: Scale,
    /// Marks in rising order.
    pub ticks: Vec<Tick>,
}

impl Axis {
    /// An axis over [low, high] with about `count` labels. Empty or impossible ranges are widened.
    pub fn new(scale: Scale, low: f64, high: f64, count: usize) -> Self {
        match scale {
            Scale::Linear => {
                let (low, high) = widened(low, high);
                Self { low, high, scale, ticks: linear_ticks(low, high, count) }
            }
            Scale::Log => {
                let high = if high.is_finite() && high > 0.0 { high } else { 1.0 };
                let low = if low.is_finite() && low > 0.0 && low <= high { low } else { high * 1e-3 };
                let (low, high) = if high / low < 1.05 { (low / 1.5, high * 1.5) } else { (low, high) };
                Self { low, high, scale, ticks: log_ticks(low, high, count) }
            }
        }
    }

    /// An axis that holds all finite `values` with a small margin.
    pub fn around(scale: Scale, values: impl Iterator<Item = f64>, count: usize) -> Self {
        let usable = values.filter(|v| v.is_finite() && (scale == Scale::Linear || *v > 0.0));
        let (low, high) = usable.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
        if low > high {
            return Self::new(scale, f64::NAN, f64::NAN, count);
        }
        match scale {
            Scale::Linear => {
                let margin = 0.05 * (high - low);
                Self::new(scale, low - margin, high + margin, count)
            }
            Scale::Log => {
                let margin = (high / low).powf(0.05);
                Self::new(scale, low / margin, high * margin, count)
            }
        }
    }

    /// Angles from −180 to 180 degrees.
    pub fn degrees() -> Self {
        let ticks = [-180, -90, 0, 90, 180].map(|v| Tick { value: f64::from(v), label: signed(&v.to_string()) });
        Self { low: -180.0, high: 180.0, scale: Scale::Linear, ticks: ticks.to_vec() }
    }

    /// Place of a value between the ends, 0 to 1 inside; NaN where a log axis has no place.
    pub fn position(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Linear => (value - self.low) / (self.high - self.low),
            Scale::Log if value > 0.0 => (value / self.low).ln() / (self.high / self.low).ln(),
            Scale::Log => f64::NAN,
        }
    }
}

/// Gives a range some width and order.
fn widened(low: f64, high: f64) -> (f64, f64) {
    if !low.is_finite() || !high.is_finite() || low > high {
        return (0.0, 1.0);
    }
    let least = 1e-9 * low.abs().max(high.abs());
    if high - low <= least {
        let margin = if low == 0.0 { 1.0 } else { 0.5 * low.abs() };
        return (low - margin, high + margin);
    }
    (low, high)
}

/// The step 1, 2, 2.5 or 5 times a power of ten that gives at most about `count` steps over `span`.
fn nice_step(span: f64, count: usize) -> f64 {
    let rough = span / count.max(1) as f64;
    let power = 10f64.powf(rough.log10().floor());
    let factor = [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().find(|f| f * power >= rough * 0.999).unwrap_or(10.0);
    factor * power
}

fn linear_ticks(low: f64, high: f64, count: usize) -> Vec<Tick> {
    let step = nice_step(high - low, count);
    let first = (low / step - 1e-9).ceil() as i64;
    let last = (high / step + 1e-9).floor() as i64;
    let largest = step * first.unsigned_abs().max(last.unsigned_abs()) as f64;
    (first..=last)
        .map(|k| Tick { value: k as f64 * step, label: linear_label(k as f64 * step, step, largest) })
        .collect()
}

/// All labels of an axis have the same number of decimals, or all are written as a·10ⁿ.
fn linear_label(value: f64, step: f64, largest: f64) -> String {
    if !(1e-3..1e6).contains(&largest) {
        let power = largest.log10().floor() as i32;
        if value == 0.0 {
            return "0".to_owned();
        }
        let decimals = decimals_of(step / 10f64.powi(power));
        return format!("{}·10{}", signed(&format!("{:.decimals$}", value / 10f64.powi(power))), superscript(power));
    }
    signed(&format!("{:.*}", decimals_of(step), value))
}

/// Decimals that a step needs.
fn decimals_of(step: f64) -> usize {
    (0..12)
        .find(|&d| {
            let s = step * 10f64.powi(d);
            (s - s.round()).abs() < 1e-6 * s
        })
        .unwrap_or(12) as usize
}

fn log_ticks(low: f64, high: f64, count: usize) -> Vec<Tick> {
    let decades = (high / low).log10();
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let every = (decades / count.max(1) as f64).ceil().max(1.0) as i32;
    let labelled: &[i32] = if decades < 1.0 {
        &[1, 2, 3, 5, 7]
    } else if decades < 2.2 {
        &[1, 2, 5]
    } else {
        &[1]
    };
    let mut ticks = Vec::new();
    for power in first..=last {
        for digit in 1..10 {
            let value = f64::from(digit) * 10f64.powi(power);
            if value < low * (1.0 - 1e-9) || value > high * (1.0 + 1e-9) || (every > 1 && digit > 1) {
                continue;
            }
            let named = labelled.contains(&digit) && power.rem_euclid(every) == 0;
            let label = if named { log_label(digit, power, first, last) } else { String::new() };
            ticks.push(Tick { value, label });
        }
    }
    if ticks.iter().filter(|t| !t.label.is_empty()).count() < 2 { linear_ticks(low, high, count) } else { ticks }
}

/// Plain numbers while they are short, powers of ten beyond.
fn log_label(digit: i32, power: i32, first: i32, last: i32) -> String {
    if first >= -3 && last <= 4 {
        let decimals = (-power).max(0) as usize;
        return format!("{:.decimals$}", f64::from(digit) * 10f64.powi(power));
    }
    if digit == 1 { format!("10{}", superscript(power)) } else { format!("{digit}·10{}", superscript(power)) }
}

/// A hyphen before a number becomes a minus sign; minus zero becomes zero.
fn signed(text: &str) -> String {
    match text.strip_prefix('-') {
        Some(rest) if rest.chars().any(|c| ('1'..='9').contains(&c)) => format!("−{rest}"),
        Some(rest) => rest.to_owned(),
        None => text.to_owned(),
    }
}

/// An integer in raised digits.
pub fn superscript(value: i32) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let raise = |c: char| c.to_digit(10).map_or('⁻', |d| DIGITS[d as usize]);
    value.to_string().chars().map(raise).collect()
}

/// An integer with thin gaps between groups of three digits.
pub fn grouped(value: usize) -> String {
    let digits = value.to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) && digits.len() > 4 {
            out.push('\u{a0}');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|t| t.label.as_str()).filter(|l| !l.is_empty()).collect()
    }

    #[test]
    fn linear_ticks_are_round_and_inside() {
        assert_eq!(labels(&Axis::new(Scale::Linear, 0.0, 1.0, 5)), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(&Axis::new(Scale::Linear, -1.3, 1.3, 5)), ["−1", "0", "1"]);
        assert_eq!(labels(&Axis::new(Scale::Linear, 0.0, 2000.0, 4)), ["0", "500", "1000", "1500", "2000"]);
        assert_eq!(labels(&Axis::new(Scale::Linear, 0.0, 0.5, 2)), ["0.00", "0.25", "0.50"]);
        assert_eq!(labels(&Axis::new(Scale::Linear, 0.0, 2e6, 2)), ["0", "1·10⁶", "2·10⁶"]);
        for (low, high) in [(3.2, 3.9), (-1e-5, 2e-5), (1e7, 9e7), (-17.0, -3.0), (0.0, 1e-12), (100.0, 100.1)] {
            let axis = Axis::new(Scale::Linear, low, high, 5);
            assert!((2..=11).contains(&axis.ticks.len()), "{low} {high}: {:?}", labels(&axis));
            assert!(axis.ticks.iter().all(|t| (-1e-6..=1.0 + 1e-6).contains(&axis.position(t.value))));
            let mut unique = labels(&axis);
            unique.dedup();
            assert_eq!(unique.len(), axis.ticks.len(), "equal labels {unique:?}");
        }
    }

    #[test]
    fn log_ticks_mark_decades() {
        assert_eq!(
            labels(&Axis::new(Scale::Log, 1e-6, 1.0, 8)),
            ["10⁻⁶", "10⁻⁵", "10⁻⁴", "10⁻³", "10⁻²", "10⁻¹", "10⁰"]
        );
        assert_eq!(labels(&Axis::new(Scale::Log, 0.1, 10.0, 5)), ["0.1", "0.2", "0.5", "1", "2", "5", "10"]);
        let wide = Axis::new(Scale::Log, 1e-12, 1e12, 6);
        assert!((4..=8).contains(&labels(&wide).len()), "{:?}", labels(&wide));
        let narrow = Axis::new(Scale::Log, 0.41, 0.44, 5);
        assert!(labels(&narrow).len() >= 2, "{:?}", labels(&narrow));
        assert!((Axis::new(Scale::Log, 1e-2, 1e2, 5).position(1.0) - 0.5).abs() < 1e-12);
        assert!(Axis::new(Scale::Log, 1e-2, 1e2, 5).position(-1.0).is_nan());
    }

    #[test]
    fn impossible_ranges_still_give_an_axis() {
        for scale in [Scale::Linear, Scale::Log] {
            for (low, high) in
                [(f64::NAN, 1.0), (2.0, 2.0), (5.0, -5.0), (0.0, 0.0), (f64::NEG_INFINITY, f64::INFINITY)]
            {
                let axis = Axis::new(scale, low, high, 5);
                assert!(axis.low < axis.high && axis.ticks.len() >= 2, "{low} {high} {axis:?}");
            }
            assert!(Axis::around(scale, std::iter::empty(), 5).ticks.len() >= 2);
        }
    }

    #[test]
    fn large_numbers_are_grouped() {
        assert_eq!([grouped(12), grouped(1707), grouped(50_000)], ["12", "1707", "50\u{a0}000"]);
    }
}
