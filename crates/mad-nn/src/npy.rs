//! Points of a run folder as NumPy arrays: little-endian `f64`, two axes, row-major, nothing else.

use mad_core::Points;

const MAGIC: &[u8] = b"\x93NUMPY\x01\x00";

/// The bytes of a `.npy` file.
pub(crate) fn encode(points: &Points) -> Vec<u8> {
    let mut header =
        format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({}, {}), }}", points.len(), points.dim());
    // The format asks for a header that ends in a newline and fills 64-byte blocks.
    while !(MAGIC.len() + 2 + header.len() + 1).is_multiple_of(64) {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = MAGIC.to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(points.as_slice().iter().flat_map(|v| v.to_le_bytes()));
    bytes
}

/// Reads what [`encode`] wrote; anything else is refused with a sentence.
pub(crate) fn decode(bytes: &[u8]) -> Result<Points, String> {
    let rest = bytes.strip_prefix(MAGIC).ok_or("it does not start like the NPY files of a run")?;
    let (length, rest) = rest.split_first_chunk::<2>().ok_or("it ends in its header")?;
    let length = usize::from(u16::from_le_bytes(*length));
    let header = rest.get(..length).and_then(|h| std::str::from_utf8(h).ok()).ok_or("it ends in its header")?;
    let shape = header
        .trim()
        .strip_prefix("{'descr': '<f8', 'fortran_order': False, 'shape': (")
        .and_then(|rest| rest.strip_suffix("), }"))
        .and_then(|shape| shape.split_once(", "))
        .and_then(|(n, d)| Some((n.parse::<usize>().ok()?, d.parse::<usize>().ok()?)))
        .ok_or("its header is not that of a run's file")?;
    let size = shape.0.checked_mul(shape.1).and_then(|n| n.checked_mul(8)).ok_or("its shape is too large")?;
    let body = &rest[length..];
    if shape.1 == 0 || body.len() != size {
        return Err(format!("{} bytes of numbers, {size} expected", body.len()));
    }
    let numbers = body.as_chunks::<8>().0.iter().map(|chunk| f64::from_le_bytes(*chunk)).collect();
    Ok(Points::from_vec(numbers, shape.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trip_is_exact_and_damage_is_seen() {
        let points = Points::from_vec(vec![0.1, -2.5, f64::MIN_POSITIVE, 1e300, 0.0, -0.0], 3);
        let bytes = encode(&points);
        assert!(bytes.len().is_multiple_of(8));
        assert_eq!(decode(&bytes).unwrap(), points);
        for cut in 0..bytes.len() {
            assert!(decode(&bytes[..cut]).is_err(), "cut at {cut}");
        }
    }
}
