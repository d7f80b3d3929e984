//! The Mollweide projection: the whole sphere in an ellipse twice as wide as high, areas kept.

use std::f64::consts::{FRAC_PI_2, PI, SQRT_2};

/// Plane coordinates of (longitude, latitude) in radians: x in [−2√2, 2√2], y in [−√2, √2], area as on the unit sphere.
///
/// # Formula
/// x = (2√2/π) λ cos θ, y = √2 sin θ with 2θ + sin 2θ = π sin φ. With ψ = π − 2|θ| this reads ψ − sin ψ = π(1 − sin|φ|).
///
/// # Reference
/// J. P. Snyder, Map Projections: A Working Manual (1987), eq. 31-1 to 31-4.
///
/// # Numerics
/// The usual Newton step in θ stalls at the poles, where its derivative vanishes. In ψ the equation is monotone and convex
/// on [0, π], starts from the exact small-angle root (6c)^{1/3}, and both sides are computed without cancellation.
pub fn forward(longitude: f64, latitude: f64) -> (f64, f64) {
    let half_colatitude = 0.5 * (FRAC_PI_2 - latitude.abs()).max(0.0);
    let half = 0.5 * solve(2.0 * PI * half_colatitude.sin().powi(2));
    (2.0 * SQRT_2 / PI * longitude * half.sin(), (SQRT_2 * half.cos()).copysign(latitude))
}

/// Longitude and latitude in radians of a point in the plane; `None` outside the ellipse.
///
/// # Numerics
/// y alone fixes the latitude to 1e-14 even at the poles. The width there is known to 1e-8 only, because y rounds, so points
/// up to 1e-7 outside count as on the edge.
pub fn inverse(x: f64, y: f64) -> Option<(f64, f64)> {
    let half = (y.abs() / SQRT_2).min(1.0).acos();
    let width = 2.0 * SQRT_2 * half.sin();
    if !(y.abs() <= SQRT_2 + 1e-7 && x.abs() <= width + 1e-7) {
        return None;
    }
    let colatitude = 2.0 * (excess(2.0 * half) / (2.0 * PI)).clamp(0.0, 1.0).sqrt().asin();
    let longitude = if width > 0.0 { (PI * x / width).clamp(-PI, PI) } else { 0.0 };
    Some((longitude, (FRAC_PI_2 - colatitude).copysign(y)))
}

/// Half the width of the ellipse at height y.
pub fn half_width(y: f64) -> f64 {
    2.0 * (2.0 - y * y).max(0.0).sqrt()
}

/// Root ψ in [0, π] of ψ − sin ψ = c for c in [0, π].
fn solve(c: f64) -> f64 {
    let mut psi = (6.0 * c).cbrt().min(PI);
    if psi == 0.0 {
        return 0.0;
    }
    for _ in 0..30 {
        let step = (excess(psi) - c) / (2.0 * (0.5 * psi).sin().powi(2));
        psi = (psi - step).clamp(0.0, PI);
        if step.abs() <= 2e-16 * psi {
            break;
        }
    }
    psi
}

/// ψ − sin ψ to full relative accuracy.
fn excess(psi: f64) -> f64 {
    if psi > 0.7 {
        return psi - psi.sin();
    }
    let q = psi * psi;
    let tail = 1.0 - q / 72.0 * (1.0 - q / 110.0 * (1.0 - q / 156.0 * (1.0 - q / 210.0)));
    psi * q / 6.0 * (1.0 - q / 20.0 * (1.0 - q / 42.0 * tail))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(longitude: f64, latitude: f64) -> [f64; 3] {
        [latitude.cos() * longitude.cos(), latitude.cos() * longitude.sin(), latitude.sin()]
    }

    #[test]
    fn round_trip_is_exact_up_to_the_poles() {
        let latitudes = [0.0, 1e-9, 12.3, 45.0, 60.0, 80.0, 89.0, 89.1, 89.9, 89.99, 89.9999, 89.999_999, 90.0];
        for latitude in latitudes.iter().flat_map(|&l| [l, -l]) {
            for longitude in [-180.0, -179.999, -90.0, -1e-7, 0.0, 33.3, 120.0, 179.999, 180.0f64] {
                let (lambda, phi) = (longitude.to_radians(), f64::to_radians(latitude));
                let (x, y) = forward(lambda, phi);
                let (l, p) = inverse(x, y).unwrap_or_else(|| panic!("{longitude} {latitude} fell off the map"));
                let (a, b) = (vector(lambda, phi), vector(l, p));
                let chord = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
                assert!(chord <= 1e-12, "{longitude} {latitude}: off by {chord:e}");
            }
        }
    }

    #[test]
    fn defining_equation_holds_near_the_pole() {
        // Around the pole the equation reads ψ³/6 ≈ π δ²/2 with colatitude δ; the ordinary iteration snaps to the pole here.
        for delta in [1e-3f64, 1e-5, 1e-7] {
            let (x, _) = forward(1.0, FRAC_PI_2 - delta);
            let delta = FRAC_PI_2 - (FRAC_PI_2 - delta);
            let psi = 2.0 * (x * PI / (2.0 * SQRT_2)).asin();
            let expected = (3.0 * PI * delta * delta).cbrt();
            assert!((psi / expected - 1.0).abs() < 0.01 * delta.powf(0.5) + 1e-9, "{delta}: {psi} {expected}");
        }
    }

    #[test]
    fn areas_are_kept() {
        let h = 1e-5;
        for latitude in [-85.0, -60.0, -10.0, 0.0, 30.0, 75.0, 89.0f64] {
            let (lambda, phi) = (1.1, latitude.to_radians());
            let (e, w) = (forward(lambda + h, phi), forward(lambda - h, phi));
            let (n, s) = (forward(lambda, phi + h), forward(lambda, phi - h));
            let area = ((e.0 - w.0) * (n.1 - s.1) - (e.1 - w.1) * (n.0 - s.0)) / (4.0 * h * h);
            assert!((area / phi.cos() - 1.0).abs() < 1e-5, "{latitude}: {area} instead of {}", phi.cos());
        }
        // Whole ellipse: π · 2√2 · √2 = 4π.
        let steps = 20_000;
        let dy = 2.0 * SQRT_2 / f64::from(steps);
        let total: f64 = (0..steps).map(|i| 2.0 * half_width(-SQRT_2 + (f64::from(i) + 0.5) * dy) * dy).sum();
        assert!((total - 4.0 * PI).abs() < 1e-4);
    }

    #[test]
    fn outside_the_ellipse_there_is_nothing() {
        for (x, y) in [(2.9, 0.0), (0.0, 1.5), (2.0, 1.2), (f64::NAN, 0.0), (0.0, f64::NAN)] {
            assert_eq!(inverse(x, y), None, "{x} {y}");
        }
    }
}
