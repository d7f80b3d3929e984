//! Colours: an even sequential map, a cyclic map for angles, and categories that colour-blind readers can tell apart.

use std::f64::consts::TAU;

/// An sRGB colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rgb(pub u8, pub u8, pub u8);

impl Rgb {
    const fn hex(code: u32) -> Self {
        Self((code >> 16) as u8, (code >> 8) as u8, code as u8)
    }
}

impl std::fmt::Display for Rgb {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }
}

/// Text and frames.
pub const INK: Rgb = Rgb::hex(0x262626);
/// Secondary text.
pub const GREY: Rgb = Rgb::hex(0x6b6b6b);
/// Grid lines and graticules.
pub const FAINT: Rgb = Rgb::hex(0xdcdcdc);
/// Land on maps.
pub const LAND: Rgb = Rgb::hex(0xebe8e2);
/// Coastlines.
pub const COAST: Rgb = Rgb::hex(0xaaa59b);
/// Paper.
pub const WHITE: Rgb = Rgb::hex(0xffffff);

/// Eight colours that stay apart for the common kinds of colour blindness.
///
/// # Reference
/// M. Okabe, K. Ito, Color Universal Design (2008); yellow is left out as too faint on white.
pub fn category(index: usize) -> Rgb {
    const COLOURS: [u32; 8] = [0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7, 0xe69f00, 0x56b4e9, 0x7f7f7f, 0x000000];
    Rgb::hex(COLOURS[index % COLOURS.len()])
}

/// A perceptually even map from nearly white (t = 0) to deep violet (t = 1).
///
/// # Formula
/// OKLCH with L = 0.99 − 0.705 t, C = 0.004 + 0.14 t(2 − t), h = 210° + 90° t: equal steps of t are equal steps of lightness.
pub fn sequential(t: f64) -> Rgb {
    let t = if t.is_finite() { t.clamp(0.0, 1.0) } else { 0.0 };
    oklch(0.99 - 0.705 * t, 0.004 + 0.14 * t * (2.0 - t), (210.0 + 90.0 * t).to_radians())
}

/// A closed map for angles in radians: hue goes once round, lightness swings gently so that opposite angles also differ
/// in grey.
///
/// # Formula
/// OKLCH with h = angle + 25°, C = 0.12 + 0.025 cos(h − 20°) (less where screens have less), L = 0.65 + 0.10 cos(h − 125°).
pub fn cyclic(angle: f64) -> Rgb {
    let angle = if angle.is_finite() { angle.rem_euclid(TAU) } else { 0.0 };
    let hue = angle + 25f64.to_radians();
    let chroma = 0.12 + 0.025 * (hue - 20f64.to_radians()).cos();
    oklch(0.65 + 0.10 * (hue - 125f64.to_radians()).cos(), chroma, hue)
}

/// The sRGB colour of lightness, chroma and hue (radians); what a screen cannot show is clipped.
///
/// # Reference
/// B. Ottosson, A perceptual color space for image processing (2020).
fn oklch(lightness: f64, chroma: f64, hue: f64) -> Rgb {
    let (a, b) = (chroma * hue.cos(), chroma * hue.sin());
    let l = (lightness + 0.396_337_777_4 * a + 0.215_803_757_3 * b).powi(3);
    let m = (lightness - 0.105_561_345_8 * a - 0.063_854_172_8 * b).powi(3);
    let s = (lightness - 0.089_484_177_5 * a - 1.291_485_548 * b).powi(3);
    let encode = |v: f64| {
        let v = v.clamp(0.0, 1.0);
        let v = if v <= 0.003_130_8 { 12.92 * v } else { 1.055 * v.powf(1.0 / 2.4) - 0.055 };
        (255.0 * v).round() as u8
    };
    Rgb(
        encode(4.076_741_662_1 * l - 3.307_711_591_3 * m + 0.230_969_929_2 * s),
        encode(-1.268_438_004_6 * l + 2.609_757_401_1 * m - 0.341_319_396_5 * s),
        encode(-0.004_196_086_3 * l - 0.703_418_614_7 * m + 1.707_614_701 * s),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn luminance(c: Rgb) -> f64 {
        0.2126 * f64::from(c.0) + 0.7152 * f64::from(c.1) + 0.0722 * f64::from(c.2)
    }

    #[test]
    fn sequential_map_gets_darker_all_the_way() {
        // 1.0 white and 0.0 black are fixed points of the conversion.
        assert_eq!((oklch(1.0, 0.0, 0.0), oklch(0.0, 0.0, 0.0)), (Rgb(255, 255, 255), Rgb(0, 0, 0)));
        let values: Vec<f64> = (0..=100).map(|i| luminance(sequential(f64::from(i) / 100.0))).collect();
        assert!(values.windows(2).all(|w| w[1] < w[0] + 0.5), "{values:?}");
        assert!(values[0] - values[100] > 150.0);
        assert_eq!(sequential(f64::NAN), sequential(0.0));
    }

    #[test]
    fn cyclic_map_closes_and_opposite_angles_differ() {
        assert_eq!(cyclic(0.0), cyclic(TAU));
        for i in 0..360 {
            let (a, b) = (cyclic(f64::from(i).to_radians()), cyclic(f64::from(i + 1).to_radians()));
            let step = [(a.0, b.0), (a.1, b.1), (a.2, b.2)].iter().map(|&(a, b)| a.abs_diff(b)).max();
            assert!(step <= Some(6), "jump at {i}°: {a} {b}");
            let c = cyclic(f64::from(i + 180).to_radians());
            let far = u32::from(a.0.abs_diff(c.0)) + u32::from(a.1.abs_diff(c.1)) + u32::from(a.2.abs_diff(c.2));
            assert!(far > 90, "opposite colours {a} {c}");
        }
    }
}
