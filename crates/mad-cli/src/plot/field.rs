//! A function on the sphere known at scattered points, read off anywhere in between.

use std::collections::HashMap;

/// Values at points of the unit sphere, sorted into cubes of space for quick search.
#[derive(Debug)]
pub struct SphereField<'a> {
    points: Vec<[f64; 3]>,
    values: &'a [f64],
    cells: HashMap<[i32; 3], Vec<u32>>,
    spacing: f64,
}

impl<'a> SphereField<'a> {
    /// Points (normalised here) and one value each. Points without direction are left out.
    pub fn new<'p>(points: impl Iterator<Item = &'p [f64]>, values: &'a [f64]) -> Self {
        let points: Vec<[f64; 3]> = points.take(values.len()).map(|p| unit(p).unwrap_or([f64::NAN; 3])).collect();
        let spacing = (4.0 * std::f64::consts::PI / points.len().max(1) as f64).sqrt();
        let mut field = Self { points, values, cells: HashMap::new(), spacing };
        for (i, p) in field.points.iter().enumerate().filter(|(_, p)| p[0].is_finite()) {
            field.cells.entry(cell(p, field.spacing)).or_default().push(i as u32);
        }
        field
    }

    /// Mean of the values near `at`, weighted by a Gaussian of 0.5 times the mean spacing of the points; NaN where no point
    /// is near.
    pub fn at(&self, at: [f64; 3]) -> f64 {
        let [cx, cy, cz] = cell(&at, self.spacing);
        let rate = -0.5 / (0.5 * self.spacing).powi(2);
        let (mut sum, mut total) = (0.0, 0.0);
        for dx in -1..=1 {
            for dy in -1..=1 {
                for dz in -1..=1 {
                    for &i in self.cells.get(&[cx + dx, cy + dy, cz + dz]).into_iter().flatten() {
                        let p = &self.points[i as usize];
                        let square: f64 = p.iter().zip(at).map(|(a, b)| (a - b) * (a - b)).sum();
                        let weight = (rate * square).exp();
                        sum += weight * self.values[i as usize];
                        total += weight;
                    }
                }
            }
        }
        sum / total
    }
}

/// Cubes have an edge of 1.5 spacings, so a neighbour is never more than one cube away.
fn cell(p: &[f64; 3], spacing: f64) -> [i32; 3] {
    p.map(|v| (v / (1.5 * spacing)).floor() as i32)
}

/// The first three coordinates, scaled to length 1; `None` for the centre and for numbers that are not finite.
pub fn unit(p: &[f64]) -> Option<[f64; 3]> {
    let &[x, y, z, ..] = p else { return None };
    let norm = x.hypot(y).hypot(z);
    (norm > 0.0 && norm.is_finite()).then(|| [x / norm, y / norm, z / norm])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smooth_functions_are_recovered_everywhere() {
        let n = 4000;
        let golden = std::f64::consts::PI * (3.0 - 5f64.sqrt());
        let points: Vec<[f64; 3]> = (0..n)
            .map(|i| {
                let z = 1.0 - (2.0 * f64::from(i) + 1.0) / f64::from(n);
                let r = (1.0 - z * z).sqrt();
                [r * (golden * f64::from(i)).cos(), r * (golden * f64::from(i)).sin(), z]
            })
            .collect();
        let function = |p: &[f64; 3]| 2.0 * p[0] - p[1] * p[2];
        let values: Vec<f64> = points.iter().map(function).collect();
        let field = SphereField::new(points.iter().map(|p| &p[..]), &values);
        for p in [[1.0, 0.0, 0.0], [-1.0, 1e-9, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, -1.0], [0.6, -0.64, 0.48]] {
            assert!((field.at(p) - function(&p)).abs() < 0.02, "{p:?}: {} {}", field.at(p), function(&p));
        }
        assert!(
            SphereField::new([[0.0; 3], [f64::NAN; 3]].iter().map(|p| &p[..]), &[1.0, 1.0])
                .at([1.0, 0.0, 0.0])
                .is_nan()
        );
    }
}
