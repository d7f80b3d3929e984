//! Settings that messages ask for.
//!
//! A message of this library names a setting by the field or argument that holds it. A program that calls settings by other
//! names, as a command line does, puts these in their place with [`Setting::reword`].

use std::fmt;

/// A setting that a message asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as the fields and arguments that hold them")]
pub enum Setting {
    AngleUnit,
    Array,
    Columns,
    DataDir,
    Delimiter,
    Euler,
    Header,
    Nfe,
    Normalize,
    QuatOrder,
    Rotation,
    Sampler,
    SkipBadRows,
}

/// Every setting with its name.
const NAMES: [(Setting, &str); 13] = [
    (Setting::AngleUnit, "angle_unit"),
    (Setting::Array, "array"),
    (Setting::Columns, "columns"),
    (Setting::DataDir, "data_dir"),
    (Setting::Delimiter, "delimiter"),
    (Setting::Euler, "euler"),
    (Setting::Header, "header"),
    (Setting::Nfe, "nfe"),
    (Setting::Normalize, "normalize"),
    (Setting::QuatOrder, "quat_order"),
    (Setting::Rotation, "rotation"),
    (Setting::Sampler, "sampler"),
    (Setting::SkipBadRows, "skip_bad_rows"),
];

impl Setting {
    /// Its name.
    pub fn name(self) -> &'static str {
        NAMES[self as usize].1
    }

    /// A message with other names for its settings.
    ///
    /// ```
    /// use mad_core::Setting;
    /// let text = format!("choose two columns with {}", Setting::Columns);
    /// assert_eq!(text, "choose two columns with setting `columns`");
    /// let flag = |setting: Setting| format!("--{}", setting.name());
    /// assert_eq!(Setting::reword(&text, flag), "choose two columns with --columns");
    /// ```
    pub fn reword(message: &str, name: impl Fn(Self) -> String) -> String {
        NAMES.iter().fold(message.to_owned(), |text, (setting, _)| text.replace(&setting.to_string(), &name(*setting)))
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "setting `{}`", self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_has_its_name() {
        assert!(NAMES.iter().enumerate().all(|(place, (setting, _))| *setting as usize == place));
    }
}
