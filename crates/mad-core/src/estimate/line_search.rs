//! Line search: the largest value of a function of one number.

use super::constants::{REFINEMENTS, SEARCH_PATIENCE, STEP};

/// The place between `low` and `high` where `score` is largest, and the value there: uphill from `start` in unit steps, then
/// refined between the neighbours of the best.
pub(super) fn maximise<E>(
    (low, start, high): (f64, f64, f64),
    mut score: impl FnMut(f64) -> Result<f64, E>,
) -> Result<(f64, f64), E> {
    let start = start.clamp(low, high);
    let mut best = (start, score(start)?);
    for step in [STEP, -STEP] {
        let (mut place, mut worse) = (start, 0);
        while worse < SEARCH_PATIENCE && place != if step > 0.0 { high } else { low } {
            place = (place + step).clamp(low, high);
            let value = score(place)?;
            worse = if value > best.1 { 0 } else { worse + 1 };
            if value > best.1 {
                best = (place, value);
            }
        }
    }
    let (mut low, mut high) = ((best.0 - STEP).max(low), (best.0 + STEP).min(high));
    let ratio = 0.5 * (5.0_f64.sqrt() - 1.0);
    let mut at = |place: f64| -> Result<f64, E> {
        let value = score(place)?;
        if value > best.1 {
            best = (place, value);
        }
        Ok(value)
    };
    let (mut left, mut right) = (high - ratio * (high - low), low + ratio * (high - low));
    let (mut at_left, mut at_right) = (at(left)?, at(right)?);
    for _ in 0..REFINEMENTS {
        if at_left > at_right {
            (high, right, at_right) = (right, left, at_left);
            left = high - ratio * (high - low);
            at_left = at(left)?;
        } else {
            (low, left, at_left) = (left, right, at_right);
            right = low + ratio * (high - low);
            at_right = at(right)?;
        }
    }
    Ok(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn largest_values_are_found_also_at_the_ends() {
        let find = |centre: f64| {
            let score = |x: f64| Ok::<_, ()>(-(x - centre) * (x - centre) + (3.0 * x).sin());
            maximise((-5.0, 1.0, 12.0), score).unwrap()
        };
        // 2(c − x) + 3 cos 3x = 0 at the top.
        let (x, _) = find(2.5);
        assert!((2.0 * (2.5 - x) + 3.0 * (3.0 * x).cos()).abs() < 1e-2, "{x}");
        assert_eq!(maximise((-5.0, 1.0, 12.0), Ok::<_, ()>).unwrap().0, 12.0);
        assert_eq!(maximise((-5.0, 1.0, 12.0), |x| Ok::<_, ()>(-x)).unwrap().0, -5.0);
    }
}
