//! Closed lines around the regions where a gridded function exceeds a level.

/// Values at the nodes of a rectangular grid, row by row.
#[derive(Debug, Clone)]
pub struct Raster {
    values: Vec<f64>,
    columns: usize,
    rows: usize,
}

const NONE: u32 = u32::MAX;

impl Raster {
    /// Evaluates `value(column, row)` at every node. A node without a finite value counts as below every level.
    pub fn new(columns: usize, rows: usize, mut value: impl FnMut(usize, usize) -> f64) -> Self {
        let values = (0..columns * rows).map(|i| value(i % columns, i / columns)).collect();
        Self { values, columns, rows }
    }

    /// Value at a node of the grid with one more ring of nodes around it, which lies below everything.
    fn padded(&self, column: usize, row: usize) -> f64 {
        if (1..=self.columns).contains(&column) && (1..=self.rows).contains(&row) {
            let value = self.values[(row - 1) * self.columns + column - 1];
            if value.is_nan() { f64::NEG_INFINITY } else { value }
        } else {
            f64::NEG_INFINITY
        }
    }

    /// Boundaries of {value ≥ level} in grid units, closed, with straight pieces in each cell. Regions that reach the rim
    /// run half a cell over it.
    ///
    /// # Reference
    /// Marching squares (W. Lorensen, H. Cline, 1987, in two dimensions); saddles are decided by the mean of the corners.
    pub fn above(&self, level: f64) -> Vec<Vec<(f64, f64)>> {
        let (width, height) = (self.columns + 2, self.rows + 2);
        // Edge 2k leaves node k to the right, edge 2k+1 downwards. Each crossed edge is left once and reached once.
        let mut next = vec![NONE; 2 * width * height];
        let mut starts = Vec::new();
        for row in 0..height - 1 {
            for column in 0..width - 1 {
                let corner = |dx, dy| self.padded(column + dx, row + dy) >= level;
                let inside = [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)];
                let node = (row * width + column) as u32;
                let edges = [2 * node, 2 * (node + 1) + 1, 2 * (node + width as u32), 2 * node + 1];
                let leaves: Vec<usize> = (0..4).filter(|&i| inside[i] && !inside[(i + 1) % 4]).collect();
                let joined = leaves.len() == 2 && self.mean(column, row) >= level;
                for &leave in &leaves {
                    // Go round the corners from here: backwards to the edge where this inside run began, or, when the
                    // two inside corners of a saddle are joined, forwards to where the next run begins.
                    let enter = if joined {
                        (1..4).map(|k| (leave + k) % 4).find(|&i| !inside[i] && inside[(i + 1) % 4])
                    } else {
                        (1..4).map(|k| (leave + 4 - k) % 4).find(|&i| !inside[i] && inside[(i + 1) % 4])
                    };
                    if let Some(enter) = enter {
                        next[edges[leave] as usize] = edges[enter];
                        starts.push(edges[leave]);
                    }
                }
            }
        }
        let mut loops = Vec::new();
        for start in starts {
            let mut line = Vec::new();
            let mut edge = start;
            while next[edge as usize] != NONE {
                line.push(self.crossing(edge, level));
                edge = std::mem::replace(&mut next[edge as usize], NONE);
            }
            if line.len() > 2 {
                loops.push(line);
            }
        }
        loops
    }

    fn mean(&self, column: usize, row: usize) -> f64 {
        let corner = |dx, dy| self.padded(column + dx, row + dy);
        0.25 * (corner(0, 0) + corner(1, 0) + corner(1, 1) + corner(0, 1))
    }

    /// Where the level is met on an edge, in grid units of the unpadded grid.
    fn crossing(&self, edge: u32, level: f64) -> (f64, f64) {
        let width = self.columns + 2;
        let (node, down) = (edge as usize / 2, edge % 2 == 1);
        let (column, row) = (node % width, node / width);
        let (a, b) =
            (self.padded(column, row), if down { self.padded(column, row + 1) } else { self.padded(column + 1, row) });
        let t = if a.is_finite() && b.is_finite() && a != b { ((level - a) / (b - a)).clamp(0.0, 1.0) } else { 0.5 };
        let (x, y) = (column as f64 - 1.0, row as f64 - 1.0);
        if down { (x, y + t) } else { (x + t, y) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn area(line: &[(f64, f64)]) -> f64 {
        let pairs = line.iter().zip(line.iter().cycle().skip(1));
        0.5 * pairs.map(|(a, b)| a.0 * b.1 - b.0 * a.1).sum::<f64>()
    }

    #[test]
    fn a_disc_has_one_round_boundary() {
        let raster = Raster::new(81, 81, |i, j| -(i as f64 - 40.0).hypot(j as f64 - 40.0));
        let loops = raster.above(-25.0);
        assert_eq!(loops.len(), 1);
        assert!(loops[0].iter().all(|p| ((p.0 - 40.0).hypot(p.1 - 40.0) - 25.0).abs() < 0.02));
        assert!((area(&loops[0]).abs() / (std::f64::consts::PI * 625.0) - 1.0).abs() < 0.003);
    }

    #[test]
    fn a_hole_runs_the_other_way_round() {
        let raster = Raster::new(61, 61, |i, j| -((i as f64 - 30.0).hypot(j as f64 - 30.0) - 20.0).abs());
        let loops = raster.above(-5.0);
        assert_eq!(loops.len(), 2);
        let total: f64 = loops.iter().map(|l| area(l)).sum();
        assert!((total.abs() / (std::f64::consts::PI * (625.0 - 225.0)) - 1.0).abs() < 0.01, "{total}");
    }

    #[test]
    fn saddles_close_either_way() {
        // The middle of the one cell decides whether the two high corners hang together.
        for (low, loops) in [(-0.9, 1), (-1.1, 2)] {
            let raster = Raster::new(2, 2, |i, j| if i == j { 1.0 } else { low });
            assert_eq!(raster.above(0.0).len(), loops);
        }
    }

    #[test]
    fn everything_above_gives_the_whole_rectangle_and_nan_is_below() {
        let full = Raster::new(11, 6, |_, _| 1.0).above(0.0);
        assert_eq!(full.len(), 1);
        assert!(area(&full[0]).abs() > 10.0 * 5.0 && area(&full[0]).abs() <= 11.0 * 6.0);
        assert!(Raster::new(5, 5, |_, _| f64::NAN).above(-1e300).is_empty());
    }
}
