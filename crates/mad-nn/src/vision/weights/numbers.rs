//! Numbers of files as `f32`.

/// How numbers are stored, little end first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Single,
    Double,
    /// IEEE half precision.
    Half,
    /// The upper half of single precision.
    Brain,
    /// Whole numbers or truth values of this many bytes, which no encoder needs.
    Whole(usize),
}

impl Kind {
    /// Bytes of a number.
    pub(super) fn width(self) -> usize {
        match self {
            Kind::Single => 4,
            Kind::Double => 8,
            Kind::Half | Kind::Brain => 2,
            Kind::Whole(width) => width,
        }
    }

    /// All numbers in `bytes`; none if they are whole.
    pub(super) fn decode(self, bytes: &[u8]) -> Vec<f32> {
        match self {
            Kind::Single => bytes.as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)).collect(),
            Kind::Double => bytes.as_chunks().0.iter().map(|b| f64::from_le_bytes(*b) as f32).collect(),
            Kind::Half => bytes.as_chunks().0.iter().map(|b| half(u16::from_le_bytes(*b))).collect(),
            Kind::Brain => {
                bytes.as_chunks().0.iter().map(|b| f32::from_bits(u32::from(u16::from_le_bytes(*b)) << 16)).collect()
            }
            Kind::Whole(_) => Vec::new(),
        }
    }
}

/// A number in IEEE half precision: sign, 5 bits of exponent, 10 bits of fraction.
fn half(bits: u16) -> f32 {
    let (sign, exponent, fraction) = (bits >> 15, (bits >> 10) & 31, u32::from(bits & 1023));
    let magnitude = match exponent {
        // 2⁻²⁴ is the smallest number.
        0 => fraction as f32 / 16_777_216.0,
        31 => f32::from_bits(0x7f80_0000 | (fraction << 13)),
        _ => f32::from_bits(((u32::from(exponent) + 112) << 23) | (fraction << 13)),
    };
    if sign == 1 { -magnitude } else { magnitude }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_exact() {
        for (bits, value) in
            [(0x3c00, 1.0), (0xc000, -2.0), (0x3555, 0.333_251_95), (0x0001, 5.960_464_5e-8), (0x7bff, 65504.0)]
        {
            assert_eq!(half(bits), value);
        }
        assert!(half(0x7c00).is_infinite() && half(0x7e00).is_nan());
        assert_eq!(Kind::Brain.decode(&[0x80, 0x3f, 0x00, 0xc0]), [1.0, -2.0]);
    }
}
