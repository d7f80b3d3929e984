//! The integral of a density over cells of equal volume, with a sign of whether the cells are small enough.

use mad_core::manifold::{Manifold, View};
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
        let mean = |cells: &mut dyn Iterator<Item = &f64>| {
            let (sum, count) = cells.fold((0.0, 0_usize), |(sum, count), cell| (sum + cell, count + 1));
            sum / count.max(1) as f64
        };
        let half = |parity: usize| {
            let chosen = cells.iter().enumerate().filter(|(i, _)| (i / row + i % row) % 2 == parity);
            mean(&mut chosen.map(|(_, cell)| cell))
        };
        let doubt = if cells.len() < 2 { 0.0 } else { 0.5 * (half(0) - half(1)).abs() };
        Self { value: mean(&mut cells.iter()), doubt }
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
        let wide = Integral::over(&wide, 1);
        assert!((wide.value - 1.0).abs() < 0.05 && wide.doubt < 0.01 && !wide.to_string().contains('±'), "{wide}");
        let mut narrow = vec![0.0; 1000];
        narrow[500] = 1300.0;
        let narrow = Integral::over(&narrow, 1);
        assert!(
            (narrow.value - 1.3).abs() < 1e-12 && narrow.doubt > 1.0 && narrow.to_string().contains('±'),
            "{narrow}"
        );
        // One row of a square of 10 × 10 is a peak in one direction: a checkerboard takes half of it each time.
        let mut ridge = vec![0.0; 100];
        ridge[30..40].fill(10.0);
        assert!(Integral::over(&ridge, 10).doubt < 1e-12);
        ridge[30..40].fill(0.0);
        ridge[35] = 100.0;
        assert!(Integral::over(&ridge, 10).doubt > 0.9);
        assert_eq!(Integral::over(&[2.0], 1), Integral { value: 2.0, doubt: 0.0 });
    }
}
