//! Dates and times of day in ISO 8601, as numbers.
//!
//! Wherever a date is used as a number, it is in decimal years (UTC): the year plus the fraction of it that has passed.
//! Doubles resolve that to about ten microseconds.

/// Days from 1970-01-01 to the last year that is read.
const LAST_DAY: i64 = 2_932_896;

/// Days from 1970-01-01 back to 0000-01-01.
const FIRST_DAY: i64 = -719_528;

const SECONDS_PER_DAY: i64 = 86_400;

/// A moment: seconds since 1970-01-01T00:00:00Z, leap seconds not counted.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Time {
    /// Whole seconds, rounded down.
    seconds: i64,
    /// The rest, from 0 to 1.
    fraction: f64,
}

impl Time {
    /// Reads an ISO 8601 date or timestamp: `2016-05-01`, `2016-05-01T12:30`, `2016-05-01 12:30:59.25+02:00`. Without an
    /// offset the time is taken as UTC. `None` for anything else, impossible dates included.
    ///
    /// ```
    /// use mad_core::table::Time;
    /// let noon = Time::parse("2016-05-01T12:00:00Z").unwrap();
    /// assert_eq!(noon, Time::parse("2016-05-01 14:00+02:00").unwrap());
    /// assert_eq!(noon.unix_seconds(), 1_462_104_000.0);
    /// assert_eq!(Time::parse("2017-07-02T12:00").unwrap().decimal_year(), 2017.5);
    /// assert!(Time::parse("2015-02-29").is_none());
    /// ```
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        // Rejects ordinary numbers and words at once.
        if text.len() < 10 || text.as_bytes()[4] != b'-' || !text.is_ascii() {
            return None;
        }
        let (date, clock) = text.split_at(10);
        let days = parse_date(date)?;
        let midnight = Self { seconds: days * SECONDS_PER_DAY, fraction: 0.0 };
        match clock.bytes().next() {
            None => Some(midnight),
            Some(b'T' | b't' | b' ') => midnight.at(clock[1..].trim_start()),
            Some(_) => None,
        }
    }

    /// The moment `count` parts of a second after 1970-01-01T00:00:00Z, of which there are `per_second`; `None` outside the
    /// years 0 to 9999.
    pub(super) fn since_epoch(count: i64, per_second: i64) -> Option<Self> {
        let seconds = count.div_euclid(per_second);
        let fraction = count.rem_euclid(per_second) as f64 / per_second as f64;
        let days = seconds.div_euclid(SECONDS_PER_DAY);
        (FIRST_DAY..=LAST_DAY).contains(&days).then_some(Self { seconds, fraction })
    }

    /// This day at a time such as `12:30:59.25Z`.
    fn at(self, clock: &str) -> Option<Self> {
        let (clock, offset) = match clock.find(['Z', 'z', '+', '-']) {
            Some(at) => (&clock[..at], parse_offset(&clock[at..])?),
            None => (clock, 0),
        };
        let mut parts = clock.trim_end().split(':');
        let hours = digits(parts.next()?, 2)?;
        let minutes = digits(parts.next()?, 2)?;
        let (seconds, fraction) = match parts.next() {
            None => (0, 0.0),
            Some(text) => {
                let (whole, decimals) = text.split_once(['.', ',']).unwrap_or((text, "0"));
                let decimals = Some(decimals).filter(|d| !d.is_empty() && d.bytes().all(|b| b.is_ascii_digit()))?;
                (digits(whole, 2)?, format!("0.{decimals}").parse::<f64>().ok()?)
            }
        };
        // 60 is a leap second, and 24:00 the end of a day.
        let day_ends = hours == 24 && minutes == 0 && seconds == 0 && fraction == 0.0;
        if parts.next().is_some() || (hours > 23 && !day_ends) || minutes > 59 || seconds > 60 {
            return None;
        }
        let seconds = self.seconds + 3600 * hours + 60 * minutes + seconds - offset;
        Some(Self { seconds, fraction })
    }

    /// Seconds since 1970-01-01T00:00:00Z.
    pub fn unix_seconds(self) -> f64 {
        self.seconds as f64 + self.fraction
    }

    /// The year, with the fraction of it that has passed.
    pub fn decimal_year(self) -> f64 {
        let (year, _, _) = civil(self.seconds.div_euclid(SECONDS_PER_DAY));
        let start = days_from_civil(year, 1, 1);
        let length = days_from_civil(year + 1, 1, 1) - start;
        let passed = (self.seconds - start * SECONDS_PER_DAY) as f64 + self.fraction;
        year as f64 + passed / (length * SECONDS_PER_DAY) as f64
    }

    /// The moment as ISO 8601 with at most nine decimals of a second; midnight is the date alone if `date_only`.
    pub(super) fn to_iso(self, date_only: bool) -> String {
        let (days, rest) = (self.seconds.div_euclid(SECONDS_PER_DAY), self.seconds.rem_euclid(SECONDS_PER_DAY));
        let (year, month, day) = civil(days);
        let date = format!("{year:04}-{month:02}-{day:02}");
        if date_only {
            return date;
        }
        let decimals = format!("{:.9}", self.fraction);
        let decimals = decimals.trim_start_matches('0').trim_end_matches('0').trim_end_matches('.');
        format!("{date}T{:02}:{:02}:{:02}{decimals}Z", rest / 3600, rest / 60 % 60, rest % 60)
    }
}

/// Days from 1970-01-01 to a date such as `2016-05-01`.
fn parse_date(date: &str) -> Option<i64> {
    let mut parts = date.split('-');
    let (year, month, day) = (digits(parts.next()?, 4)?, digits(parts.next()?, 2)?, digits(parts.next()?, 2)?);
    let days = days_from_civil(year, month, day);
    // An impossible date comes back as another one.
    (parts.next().is_none() && (1..=12).contains(&month) && civil(days) == (year, month, day)).then_some(days)
}

/// Seconds east of Greenwich of `Z`, `+02`, `+0200` or `-03:30`.
fn parse_offset(text: &str) -> Option<i64> {
    let sign = match text.bytes().next()? {
        b'Z' | b'z' => return (text.len() == 1).then_some(0),
        b'-' => -1,
        _ => 1,
    };
    let (hours, minutes) = match text[1..].split_once(':') {
        Some(parts) => parts,
        None if text.len() == 5 => text[1..].split_at(2),
        None => (&text[1..], "00"),
    };
    let (hours, minutes) = (digits(hours, 2)?, digits(minutes, 2)?);
    (hours <= 18 && minutes < 60).then_some(sign * (3600 * hours + 60 * minutes))
}

/// A number of exactly this many digits.
fn digits(text: &str, count: usize) -> Option<i64> {
    (text.len() == count && text.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse().ok()).flatten()
}

/// Days from 1970-01-01 to a date of the Gregorian calendar.
///
/// # Reference
/// Hinnant (2013), chrono-compatible low-level date algorithms: years begin in March, so that leap days end them.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Year, month and day of a number of days from 1970-01-01.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_offsets_are_seconds_since_1970() {
        for (text, seconds) in [
            ("1970-01-01", 0.0),
            ("2000-02-29", 951_782_400.0),
            ("1969-12-31T23:59:59.5Z", -0.5),
            ("2016-12-31T23:59:60Z", 1_483_228_800.0),
            ("2020-06-01T00:30:00+01:00", 1_590_967_800.0),
            ("2020-06-01 00:30 -0330", 1_590_984_000.0),
            (" 2020-06-01t24:00 ", 1_591_056_000.0),
        ] {
            assert_eq!(Time::parse(text).map(Time::unix_seconds), Some(seconds), "{text}");
        }
    }

    #[test]
    fn what_is_no_date_is_refused() {
        for text in [
            "",
            "2020",
            "2020-13-01",
            "2020-00-10",
            "2021-02-29",
            "2020-06-31",
            "20-06-2020",
            "2020-06-01X",
            "2020-06-01T25:00",
            "2020-06-01T12",
            "2020-06-01T12:61",
            "2020-06-01T12:00:00.",
            "2020-06-01T12:00+99:00",
            "2020-06-01T12:00ZZ",
            "2020-06-1é",
            "-020-06-01",
            "2020-06-01T24:30",
        ] {
            assert_eq!(Time::parse(text), None, "{text}");
        }
    }

    #[test]
    fn decimal_years_grow_and_begin_with_the_year() {
        assert_eq!(Time::parse("2020-01-01").map(Time::decimal_year), Some(2020.0));
        let leap = Time::parse("2020-12-31").map(Time::decimal_year).unwrap();
        assert!((leap - (2020.0 + 365.0 / 366.0)).abs() < 1e-12);
        let days: Vec<f64> = (FIRST_DAY..LAST_DAY)
            .step_by(97)
            .map(|day| Time::since_epoch(day * SECONDS_PER_DAY, 1).unwrap().decimal_year())
            .collect();
        assert!(days.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn moments_come_back_from_their_text() {
        for count in [0, -1, 1_590_967_800_123_456, -62_167_219_200_000_000, 253_402_300_799_999_999] {
            let time = Time::since_epoch(count, 1_000_000).unwrap();
            let back = Time::parse(&time.to_iso(false)).unwrap();
            assert_eq!(back.seconds, time.seconds, "{}", time.to_iso(false));
            assert!((back.fraction - time.fraction).abs() < 1e-9, "{}", time.to_iso(false));
        }
        assert_eq!(Time::since_epoch(i64::MAX, 1), None);
        assert_eq!(Time::since_epoch(i64::MIN, 1_000), None);
        assert_eq!(Time::since_epoch(86_400, 1).unwrap().to_iso(true), "1970-01-02");
    }
}
