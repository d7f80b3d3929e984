//! Names from the registries as values of flags: listed in help and completions, and checked when they are typed.

use crate::commands::scores::OF_RUNS;
use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, Error};
use mad_core::catalogue::{METRICS, datasets::DATASETS};
use mad_core::registry::nearest;
use mad_core::sample::SAMPLERS;
use mad_core::solids::SOLIDS;
use mad_nn::method::METHODS;
use std::ffi::OsStr;

/// A name with a line about it.
type Entry = (&'static str, &'static str);

/// Base measures by name; `mixture` may be followed by a file.
pub const BASES: [Entry; 4] = [
    ("default", "the manifold's own: uniform, or the weights of a finite set"),
    ("uniform", "uniform on the manifold"),
    ("mixture", "fitted to the training rows before training; with `mixture:FILE` read from a table of components"),
    ("kde", "a kernel at every training row, with a fitted width"),
];

/// Devices, with what they need.
pub const DEVICES: [Entry; 3] = [
    ("cpu", "the processor; in every build"),
    ("wgpu", "a GPU through Vulkan, Metal or Direct3D; in builds with the feature `wgpu`"),
    ("cuda", "an NVIDIA GPU; in builds with the feature `cuda`"),
];

/// Values of a flag that name an entry of a registry.
#[derive(Clone)]
pub struct Known {
    entries: fn() -> Vec<Entry>,
    /// Names that are understood and not listed.
    aliases: fn() -> Vec<&'static str>,
    /// Whether a name may be followed by `:` and more, as in `fff:newton=20`.
    is_open: bool,
}

impl Known {
    /// These names alone.
    const fn closed(entries: fn() -> Vec<Entry>) -> Self {
        Self { entries, aliases: Vec::new, is_open: false }
    }

    /// These names, perhaps followed by `:` and more, which the command checks.
    const fn open(entries: fn() -> Vec<Entry>) -> Self {
        Self { is_open: true, ..Self::closed(entries) }
    }

    /// Methods, with or without options.
    pub const fn method() -> Self {
        Self::open(|| METHODS.iter().map(|entry| (entry.name, entry.summary)).collect())
    }

    /// Base measures.
    pub const fn base() -> Self {
        Self::open(|| BASES.to_vec())
    }

    /// Devices, in this build or not.
    pub const fn device() -> Self {
        Self::closed(|| DEVICES.to_vec())
    }

    /// Samplers.
    pub const fn sampler() -> Self {
        let aliases = || SAMPLERS.iter().flat_map(|entry| entry.aliases).copied().collect();
        Self { aliases, ..Self::closed(|| SAMPLERS.iter().map(|entry| (entry.name, entry.summary)).collect()) }
    }

    /// Metrics, those that need a run among them.
    pub const fn metric() -> Self {
        Self::closed(|| OF_RUNS.into_iter().chain(METRICS.iter().map(|entry| (entry.name, entry.summary))).collect())
    }

    /// Named data sets, with or without parameters.
    pub const fn dataset() -> Self {
        Self::open(|| DATASETS.iter().map(|entry| (entry.name, entry.summary)).collect())
    }

    /// Solids.
    pub const fn solid() -> Self {
        Self::closed(|| SOLIDS.iter().map(|solid| (solid.name(), solid.summary())).collect())
    }
}

impl TypedValueParser for Known {
    type Value = String;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<String, Error> {
        let text = value.to_string_lossy();
        let name = if self.is_open { text.split(':').next().unwrap_or_default() } else { &text };
        let names: Vec<&'static str> = (self.entries)().into_iter().map(|(name, _)| name).collect();
        let aliases = (self.aliases)();
        if names.iter().chain(&aliases).any(|known| *known == name) {
            return Ok(text.into_owned());
        }
        let mut error = Error::new(ErrorKind::InvalidValue).with_cmd(command);
        if let Some(arg) = arg {
            error.insert(ContextKind::InvalidArg, ContextValue::String(arg.to_string()));
        }
        if let Some(nearest) = nearest(name, names.iter().chain(&aliases).copied()) {
            error.insert(ContextKind::SuggestedValue, ContextValue::String(nearest.to_owned()));
        }
        error.insert(ContextKind::InvalidValue, ContextValue::String(text.into_owned()));
        let names = names.into_iter().map(str::to_owned).collect();
        error.insert(ContextKind::ValidValue, ContextValue::Strings(names));
        Err(error)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let value = |(name, summary): Entry| PossibleValue::new(name).help(summary);
        Some(Box::new((self.entries)().into_iter().map(value)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mad_nn::config::Partial;
    use mad_nn::device::DeviceChoice;

    #[test]
    fn every_base_is_accepted_as_a_setting() {
        for (name, _) in BASES {
            let mut settings = Partial::new();
            settings.put("base", name, "--base").expect(name);
        }
        assert_eq!(DEVICES.map(|(name, _)| name), DeviceChoice::ALL.map(DeviceChoice::name));
    }

    #[test]
    fn options_follow_open_names_only() {
        let arg = Arg::new("name").long("name").num_args(1);
        let parse = |known: Known, text: &str| known.parse_ref(&Command::new("mad"), Some(&arg), OsStr::new(text));
        assert_eq!(parse(Known::method(), "fff:newton=20").expect("a method"), "fff:newton=20");
        assert_eq!(parse(Known::sampler(), "ddpm").expect("an alias"), "ddpm");
        assert!(parse(Known::device(), "cpu:1").is_err() && parse(Known::method(), "ffff").is_err());
        let error = parse(Known::sampler(), "huen").expect_err("a slip").to_string();
        assert!(error.contains("'heun'") && error.contains("dpm-sde"), "{error}");
    }
}
