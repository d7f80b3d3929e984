//! Numbers that are not written like `12.5`: decimal commas, degrees with minutes or hemisphere letters, dates.
//!
//! A column has one notation, chosen from its cells when a text file has been read. Its text is kept, so that categories
//! still see the text of the file.

use super::{RowFault, Time, cells::ColumnCells, columns, value::is_missing, value::parse_number};

/// Cells of a long column of text that are looked at, spread over its rows.
const LOOKED_AT: usize = 1000;

/// How the numbers of a column are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Notation {
    /// As programs write numbers.
    #[default]
    Plain,
    /// With a decimal comma.
    DecimalComma,
    /// Degrees with minutes, seconds or a hemisphere letter; the letters of most cells belong to this axis.
    Degrees(Option<Axis>),
    /// ISO 8601 dates, as decimal years.
    Time,
}

/// What a hemisphere letter belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Axis {
    /// N or S.
    Latitude,
    /// E or W.
    Longitude,
}

/// Evidence for and against decimal commas in a whole file, in numbers of cells.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Commas {
    /// Numbers such as `12,5`, whose comma can only be a decimal one.
    decimal: usize,
    /// Numbers such as `1,500`, whose comma may separate thousands.
    unclear: usize,
    /// Numbers with a decimal point.
    points: usize,
}

impl Commas {
    /// Looks at one column.
    pub(super) fn look(&mut self, column: &ColumnCells) {
        column.sample(LOOKED_AT, |cell, count| match parse_number(cell) {
            // Points between thousands are no evidence on the decimal mark.
            Ok(_) if cell.contains('.') && !in_thousands(&cell.trim().replace('.', ",")) => self.points += count,
            Err(RowFault::DecimalComma(_)) if in_thousands(cell.trim()) => self.unclear += count,
            Err(RowFault::DecimalComma(_)) => self.decimal += count,
            _ => {}
        });
    }

    /// Whether commas are decimal: most numbers have them, or semicolons separate the columns.
    pub(super) fn are_decimal(self, delimiter: u8) -> bool {
        self.decimal > self.points || (self.points == 0 && self.unclear > 0 && delimiter == b';')
    }
}

impl Notation {
    /// The notation of a column called `name`, in a file with or without decimal commas.
    pub(super) fn of(column: &ColumnCells, name: Option<&str>, decimal_commas: bool) -> Self {
        let (mut filled, mut plain, mut pointed, mut commas, mut times) = (0, 0, 0, 0, 0);
        let (mut degrees, mut marked, mut north, mut east) = (0, 0, 0, 0);
        column.sample(LOOKED_AT, |cell, count| {
            let trimmed = cell.trim();
            if is_missing(trimmed) {
                return;
            }
            filled += count;
            match parse_number(trimmed) {
                Ok(_) => {
                    plain += count;
                    pointed += count * usize::from(trimmed.contains('.'));
                }
                Err(RowFault::DecimalComma(_)) => commas += count,
                Err(_) if Time::parse(trimmed).is_some() => times += count,
                Err(_) => {
                    if let Ok(angle) = parse_degrees(trimmed) {
                        degrees += count;
                        marked += count * usize::from(angle.marked);
                        north += count * usize::from(angle.axis == Some(Axis::Latitude));
                        east += count * usize::from(angle.axis == Some(Axis::Longitude));
                    }
                }
            }
        });
        let place = name.is_some_and(|n| columns::is_latitude(n) || columns::is_longitude(n));
        let axis = match north.cmp(&east) {
            std::cmp::Ordering::Greater => Some(Axis::Latitude),
            std::cmp::Ordering::Less => Some(Axis::Longitude),
            std::cmp::Ordering::Equal => None,
        };
        // Blanks and colons separate other things than degrees and minutes, too; a name or a mark must confirm it.
        if degrees > 0 && 2 * (degrees + plain + commas) > filled && (place || 10 * marked >= 9 * filled) {
            Self::Degrees(axis)
        } else if commas + pointed > 0 && decimal_commas && 2 * (plain + commas) > filled {
            // A point in such a file may separate thousands, and is refused.
            Self::DecimalComma
        } else if times > 0 && 10 * times >= 9 * filled {
            Self::Time
        } else {
            Self::Plain
        }
    }

    /// The number in a cell.
    pub(super) fn number(self, cell: &str) -> Result<f64, RowFault> {
        match self {
            Self::Plain => parse_number(cell),
            Self::DecimalComma => decimal_comma(cell),
            Self::Time if cell.trim().is_empty() => Err(RowFault::Blank),
            Self::Time => Time::parse(cell).map(Time::decimal_year).ok_or_else(|| RowFault::NotATime(short(cell))),
            Self::Degrees(axis) => {
                if let Ok(number) = decimal_comma(cell).or_else(|_| parse_number(cell)) {
                    return Ok(number);
                }
                let angle = parse_degrees(cell)?;
                match (angle.axis, axis) {
                    (Some(own), Some(most)) if own != most => Err(RowFault::Hemisphere(short(cell))),
                    _ => Ok(angle.degrees),
                }
            }
        }
    }
}

/// Whether a cell holds a number in a notation that no column name looks like.
pub(super) fn is_written_number(cell: &str) -> bool {
    match parse_number(cell) {
        Ok(_) | Err(RowFault::DecimalComma(_)) => true,
        Err(_) => parse_degrees(cell).is_ok_and(|angle| angle.marked),
    }
}

/// A number with a decimal comma; points may separate thousands before it.
fn decimal_comma(cell: &str) -> Result<f64, RowFault> {
    let cell = cell.trim();
    let (whole, decimals) = match cell.split_once(',') {
        Some((whole, decimals)) => (whole, Some(decimals)),
        None => (cell, None),
    };
    if !whole.contains('.') {
        return match decimals {
            None => parse_number(cell),
            Some(decimals) => {
                parse_number(&format!("{whole}.{decimals}")).map_err(|_| RowFault::NotANumber(short(cell)))
            }
        };
    }
    match decimals {
        Some(decimals) if in_thousands(&whole.replace('.', ",")) => {
            let number = format!("{}.{decimals}", whole.replace('.', ""));
            parse_number(&number).map_err(|_| RowFault::NotANumber(short(cell)))
        }
        // `1.500` below `12,5` may be one and a half or fifteen hundred.
        _ if parse_number(cell).is_ok() => Err(RowFault::MixedDecimals(short(cell))),
        _ => Err(RowFault::NotANumber(short(cell))),
    }
}

/// Whether a number looks like groups of three digits with commas between, such as `1,500`.
fn in_thousands(number: &str) -> bool {
    let mut groups = number.trim_start_matches(['-', '+']).split(',');
    let all_digits = |group: &str| group.bytes().all(|b| b.is_ascii_digit());
    let first = groups.next().is_some_and(|g| (1..=3).contains(&g.len()) && all_digits(g) && !g.starts_with('0'));
    first && groups.all(|g| g.len() == 3 && all_digits(g))
}

/// An angle that is written in degrees and more.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Angle {
    degrees: f64,
    axis: Option<Axis>,
    /// Whether this can hardly be anything else, as with a degree sign; `S1` may be a label.
    marked: bool,
}

/// Reads degrees, minutes and seconds with a sign or a hemisphere letter: `19.25N`, `19°15'30"N`, `W 155 36.5`, `19:15:30 S`.
fn parse_degrees(cell: &str) -> Result<Angle, RowFault> {
    let text = cell.trim();
    let refused = || match text.is_empty() {
        true => RowFault::Blank,
        false => RowFault::NotANumber(short(text)),
    };
    // The longest such text has three numbers, their marks and a letter.
    if text.len() > 64 || !text.bytes().any(|b| b.is_ascii_digit()) {
        return Err(refused());
    }
    let letter = |c: char| match c.to_ascii_uppercase() {
        'N' => Some((Axis::Latitude, 1.0)),
        'S' => Some((Axis::Latitude, -1.0)),
        'E' => Some((Axis::Longitude, 1.0)),
        'W' => Some((Axis::Longitude, -1.0)),
        _ => None,
    };
    let (mut rest, mut hemisphere) = (text, None);
    if let Some(found) = rest.chars().next().and_then(letter) {
        (rest, hemisphere) = (rest[1..].trim_start(), Some(found));
    }
    if let Some(found) = rest.chars().next_back().and_then(letter) {
        if hemisphere.is_some() {
            return Err(refused());
        }
        (rest, hemisphere) = (rest[..rest.len() - 1].trim_end(), Some(found));
    }
    let negative = rest.starts_with(['-', '−']);
    let unsigned = rest.strip_prefix(['-', '−', '+']).unwrap_or(rest);
    if hemisphere.is_some() && unsigned.len() < rest.len() {
        return Err(refused());
    }
    let mut parts: Vec<f64> = Vec::new();
    let (mut number, mut marked, mut fraction) = (String::new(), false, false);
    let mut finish = |number: &mut String, parts: &mut Vec<f64>| -> Option<()> {
        if number.is_empty() {
            return Some(());
        }
        // Only the last part may have decimals, and minutes and seconds end before 60.
        let value: f64 = number.parse().ok()?;
        let fits = parts.len() < 3 && !fraction && (parts.is_empty() || value < 60.0);
        fraction |= number.contains('.');
        parts.push(value);
        number.clear();
        fits.then_some(())
    };
    for c in unsigned.chars() {
        // The mark after a number must be the one of its place.
        let place = parts.len();
        let fits = match c {
            '0'..='9' => {
                number.push(c);
                continue;
            }
            '.' | ',' if !number.is_empty() && !number.contains('.') => {
                number.push('.');
                continue;
            }
            '°' | 'º' | '˚' => {
                marked = true;
                place == 0 && !number.is_empty()
            }
            // Two of these stand for one mark of seconds.
            '\'' | '′' | '’' | '´' => place >= 1,
            '"' | '″' | '”' => place == 2 && !number.is_empty(),
            ':' => !number.is_empty(),
            c => c.is_whitespace(),
        };
        if !fits || finish(&mut number, &mut parts).is_none() {
            return Err(refused());
        }
    }
    if finish(&mut number, &mut parts).is_none()
        || parts.is_empty()
        || !unsigned.starts_with(|c: char| c.is_ascii_digit())
    {
        return Err(refused());
    }
    let trailing = hemisphere.is_some() && text.starts_with(|c: char| c.is_ascii_digit());
    marked |= hemisphere.is_some() && (parts.len() > 1 || (trailing && fraction));
    let size = parts.iter().rev().fold(0.0, |smaller, part| smaller / 60.0 + part);
    let sign = if negative { -1.0 } else { hemisphere.map_or(1.0, |(_, sign)| sign) };
    Ok(Angle { degrees: sign * size, axis: hemisphere.map(|(axis, _)| axis), marked })
}

/// A text that fits in a message.
fn short(text: &str) -> String {
    text.trim().chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(cells: &[&str]) -> ColumnCells {
        cells.iter().fold(ColumnCells::default(), |mut column, cell| {
            column.push(cell);
            column
        })
    }

    #[test]
    fn degrees_are_read_in_every_common_form() {
        for (text, degrees) in [
            ("19.25N", 19.25),
            ("19,25 n", 19.25),
            ("19°15'N", 19.25),
            ("19° 15′ 00″ N", 19.25),
            ("19°15'00''S", -19.25),
            ("W 155 36.5", -(155.0 + 36.5 / 60.0)),
            ("155:36:30 W", -(155.0 + 36.5 / 60.0)),
            ("-12°30'", -12.5),
            ("−12 30", -12.5),
            ("0°30'S", -0.5),
            ("E007°30.0'", 7.5),
        ] {
            let read = parse_degrees(text).unwrap_or_else(|e| panic!("{text}: {e}"));
            assert!((read.degrees - degrees).abs() < 1e-12, "{text}: {}", read.degrees);
        }
    }

    #[test]
    fn other_texts_are_no_degrees() {
        for text in [
            "",
            "N",
            "NN 5",
            "N 5 S",
            "-5N",
            "12°60'",
            "12°30'60\"",
            "12.5°30'",
            "1 2 3 4",
            "12'30",
            "5 apples",
            "12°°",
            "é5N",
            "°5N",
            "12:30:15:2",
            "1.2.3N",
            "N5é",
            "...N1",
            "99999999999999999999999999999999999999999999999999999999999999999N",
        ] {
            assert!(parse_degrees(text).is_err(), "{text}");
        }
    }

    #[test]
    fn decimal_commas_may_follow_thousands() {
        for (text, value) in [("12,5", 12.5), ("-0,25", -0.25), ("1.234,5", 1234.5), ("7", 7.0), ("1,5e3", 1500.0)] {
            assert_eq!(decimal_comma(text), Ok(value), "{text}");
        }
        assert_eq!(decimal_comma("1.5"), Err(RowFault::MixedDecimals("1.5".into())));
        assert!(decimal_comma("1,5,5").is_err() && decimal_comma("12.34,5").is_err() && decimal_comma("x,y").is_err());
    }

    #[test]
    fn commas_that_may_separate_thousands_are_not_taken_for_decimal_ones() {
        let commas = |cells: &[&str]| {
            let mut commas = Commas::default();
            commas.look(&column(cells));
            commas
        };
        assert!(commas(&["12,5", "1,500"]).are_decimal(b','));
        assert!(!commas(&["1,500", "2,750"]).are_decimal(b',') && commas(&["1,500", "2,750"]).are_decimal(b';'));
        assert!(!commas(&["1,5", "1.5"]).are_decimal(b';'));
    }

    #[test]
    fn a_column_has_one_notation() {
        let of = |cells: &[&str], name: &str| Notation::of(&column(cells), Some(name), true);
        assert_eq!(of(&["1,5", "2", "NA"], "v"), Notation::DecimalComma);
        assert_eq!(of(&["19N", "3.5S", "bad"], "lat"), Notation::Degrees(Some(Axis::Latitude)));
        assert_eq!(of(&["19 30", "3 15"], "lat"), Notation::Degrees(None));
        assert_eq!(of(&["19 30", "3 15"], "size"), Notation::Plain);
        assert_eq!(of(&["s1", "S2", "N3"], "name"), Notation::Plain);
        assert_eq!(of(&["19.25N", "3.5S"], "where"), Notation::Degrees(Some(Axis::Latitude)));
        assert_eq!(of(&["2020-01-01", "2021-01-01T10:00Z", ""], "when"), Notation::Time);
        assert_eq!(of(&["2020-01-01", "later", "never"], "when"), Notation::Plain);
        let east = Notation::Degrees(Some(Axis::Longitude));
        assert_eq!(east.number("12.5N"), Err(RowFault::Hemisphere("12.5N".into())));
        assert_eq!((east.number("12.5W"), east.number("-3,5")), (Ok(-12.5), Ok(-3.5)));
    }
}
