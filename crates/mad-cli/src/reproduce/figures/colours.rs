//! The same colour for the same method in every figure.

use crate::plot::{GREY, Rgb, category};

/// Colour of data, targets and floors.
pub const DATA: Rgb = GREY;

/// One colour per method: MAD blue, DSM orange, the others by their place among the others. Plain names decide, so that
/// `MAD (fitted base)` has a colour of its own.
pub fn of_methods<'l>(labels: impl IntoIterator<Item = &'l str>) -> Vec<Rgb> {
    // The seventh is the grey of the data.
    let mut others = [2, 3, 4, 5, 7].into_iter().cycle();
    labels
        .into_iter()
        .map(|label| match label.to_ascii_lowercase().as_str() {
            "mad" => category(0),
            "dsm" => category(1),
            _ => category(others.next().expect("a cycle has no end")),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mad_and_dsm_keep_their_colours() {
        let colours = of_methods(["RSGM", "DSM", "FFF", "mad"]);
        assert_eq!((colours[1], colours[3]), (category(1), category(0)));
        assert_eq!((colours[0], colours[2]), (category(2), category(3)));
    }
}
