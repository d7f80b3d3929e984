//! Colours of methods within a figure.

use mad_cli::plot::{GREY, Rgb, category};

/// Colour of data, targets and floors.
pub const DATA: Rgb = GREY;

/// One colour per method: the first kind of MAD blue, the first kind of DSM orange, all others by their place among the others.
pub fn of_methods<'l>(labels: impl IntoIterator<Item = &'l str>) -> Vec<Rgb> {
    // The seventh is the grey of the data.
    let mut others = [2, 3, 4, 5, 7].into_iter().cycle();
    let mut named = vec![("mad", 0), ("dsm", 1)];
    let colour = |label: &str| {
        let label = label.to_ascii_lowercase();
        let found = named.iter().position(|(name, _)| label.starts_with(name));
        category(found.map_or_else(|| others.next().expect("a cycle has no end"), |found| named.remove(found).1))
    };
    labels.into_iter().map(colour).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mad_and_dsm_keep_their_colours() {
        let colours = of_methods(["RSGM", "DSM", "FFF", "mad"]);
        assert_eq!((colours[1], colours[3]), (category(1), category(0)));
        assert_eq!((colours[0], colours[2]), (category(2), category(3)));
        let kinds = of_methods(["MAD, uniform base", "DSM, same settings", "MAD + fitted base", "RFM"]);
        assert_eq!(kinds, [0, 1, 2, 3].map(category));
    }
}
