//! The integral of a density over cells of equal volume, with a sign of whether the cells are small enough.

use mad_core::manifold::{Manifold, View};
use std::fmt;

/// Doubt above which cells are called too coarse.
const COARSE: f64 = 0.05;

/// Distance from 1 at which an integral without doubt says that something is wrong: all cells may miss a peak.
const WRONG: f64 = 0.25;

/// Coarser grids inside a list of cells.
const PARTS: usize = 8;

/// An integral, and by how much the cells leave it open.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Integral {
    /// The sum over all cells.
    pub value: f64,
    /// Standard error of the integral from those over coarser grids inside this one: large if peaks are narrower than cells.
    pub doubt: f64,
}

impl Integral {
    /// From the value of the density in each cell of the grid of a manifold, times the whole volume.
    pub fn on(manifold: &dyn Manifold, cells: &[f64]) -> Self {
        let rows = match manifold.view() {
            View::Angles(2) => cells.len().isqrt(),
            _ => 1,
        };
        let integral = Self::over(cells, rows);
        // The points of a finite set are all there is.
        if manifold.intrinsic_dim() == 0 { Self { doubt: 0.0, ..integral } } else { integral }
    }

    /// From cells in rows of `row`, a spiral being one cell after the other.
    fn over(cells: &[f64], row: usize) -> Self {
        let class = |i: usize| if row == 1 { i % PARTS } else { i / row % 2 * 2 + i % row % 2 };
        let mut parts = [(0.0, 0_usize); PARTS];
        for (i, cell) in cells.iter().enumerate() {
            let part = &mut parts[class(i)];
            *part = (part.0 + cell, part.1 + 1);
        }
        let value = cells.iter().sum::<f64>() / cells.len().max(1) as f64;
        let means: Vec<f64> = parts.iter().filter(|part| part.1 > 0).map(|part| part.0 / part.1 as f64).collect();
        let n = means.len().max(2) as f64;
        let square = means.iter().map(|mean| (mean - value).powi(2)).sum::<f64>() / (n - 1.0);
        Self { value, doubt: (square / n).sqrt() }
    }
}

impl fmt::Display for Integral {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { value, doubt } = self;
        match *doubt {
            doubt if doubt > COARSE => write!(f, "integral {value:.2} ± {doubt:.2} (peaks narrower than cells)"),
            _ if (value - 1.0).abs() > WRONG => {
                write!(f, "integral {value:.3} (should be 1: cells or steps too few, or trained too little)")
            }
            _ => write!(f, "integral {value:.3}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peaks_between_cells_raise_doubt() {
        let wide: Vec<f64> = (0..1000).map(|i| 1.0 + (f64::from(i) / 50.0).sin()).collect();
        let wide = Integral::over(&wide, 1);
        assert!((wide.value - 1.0).abs() < 0.05 && wide.doubt < 0.01 && !wide.to_string().contains('±'), "{wide}");
        let mut narrow = vec![0.0; 1000];
        narrow[500] = 1300.0;
        let narrow = Integral::over(&narrow, 1);
        assert!(
            (narrow.value - 1.3).abs() < 1e-12 && narrow.doubt > 1.0 && narrow.to_string().contains('±'),
            "{narrow}"
        );
        let mut square = vec![1.0; 100];
        assert_eq!(Integral::over(&square, 10), Integral { value: 1.0, doubt: 0.0 });
        square[35] = 100.0;
        assert!(Integral::over(&square, 10).doubt > 0.9);
        let missed = Integral::over(&[1e-3; 200], 1);
        assert!(missed.to_string().contains("should be 1"), "{missed}");
        assert_eq!(Integral::over(&[2.0], 1), Integral { value: 2.0, doubt: 0.0 });
    }
}
