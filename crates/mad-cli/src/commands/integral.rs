//! The integral of a density over cells of equal volume, with a sign of whether the cells are small enough.

use std::fmt;

/// Doubt above which cells are called too coarse.
const COARSE: f64 = 0.05;

/// An integral, and by how much the cells leave it open.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Integral {
    /// The sum over all cells.
    pub value: f64,
    /// Half of the difference between the integrals over every second cell: large if peaks are narrower than cells.
    pub doubt: f64,
}

impl Integral {
    /// From the value of the density in each cell times the whole volume; every second cell must be spread as evenly as all.
    pub fn over(cells: &[f64]) -> Self {
        let mean = |from: usize, step: usize| {
            let part = cells.iter().skip(from).step_by(step);
            part.clone().sum::<f64>() / part.len().max(1) as f64
        };
        let doubt = if cells.len() < 2 { 0.0 } else { 0.5 * (mean(0, 2) - mean(1, 2)).abs() };
        Self { value: mean(0, 1), doubt }
    }
}

impl fmt::Display for Integral {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { value, doubt } = self;
        match *doubt <= COARSE {
            true => write!(f, "integral {value:.3}"),
            false => write!(f, "integral {value:.2} ± {doubt:.2} (peaks narrower than cells)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peaks_between_cells_raise_doubt() {
        let wide: Vec<f64> = (0..1000).map(|i| 1.0 + (f64::from(i) / 50.0).sin()).collect();
        let wide = Integral::over(&wide);
        assert!((wide.value - 1.0).abs() < 0.05 && wide.doubt < 0.01 && !wide.to_string().contains('±'), "{wide}");
        let mut narrow = vec![0.0; 1000];
        narrow[500] = 1300.0;
        let narrow = Integral::over(&narrow);
        assert!(
            (narrow.value - 1.3).abs() < 1e-12 && narrow.doubt > 1.0 && narrow.to_string().contains('±'),
            "{narrow}"
        );
        assert_eq!(Integral::over(&[2.0]), Integral { value: 2.0, doubt: 0.0 });
    }
}
