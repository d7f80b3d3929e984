//! The table of settings: name, meaning, domain, and what each is where nobody chooses it.

use super::{
    ConfigError, RECIPES,
    activation::ACTIVATIONS,
    domain::{Domain, Form},
};
use crate::{net::NETWORKS, vision::ENCODERS};
use mad_core::{
    registry::{self, Named},
    sample::SAMPLERS,
};
use toml::Value;

/// What a setting is if neither the user nor the recipe chooses it.
#[derive(Debug, Clone, Copy)]
enum Default {
    /// This value, as TOML.
    Is(&'static str),
    /// It follows from the manifold, the data or other settings.
    Derived,
    /// The setting means nothing to such runs: it is neither accepted nor written, and holds this value.
    Unused(&'static str),
}

/// One line of [`SETTINGS`].
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// Name in config files and assignments.
    pub name: &'static str,
    /// What it decides.
    pub summary: &'static str,
    /// Values it may have.
    pub domain: Domain,
    /// Whether it leaves the weights alone, so that a resumed run may change it.
    pub neutral: bool,
    /// Whether it is left out of files and hashes at its default. Settings that are younger than version 0.1 are, so that
    /// earlier runs keep their hashes.
    optional: bool,
    points: Default,
    pictures: Default,
}

impl Setting {
    /// A setting whose default, if any, follows from others.
    pub(crate) const fn new(name: &'static str, domain: Domain, summary: &'static str) -> Self {
        let (points, pictures) = (Default::Derived, Default::Derived);
        Setting { name, summary, domain, neutral: false, optional: false, points, pictures }
    }

    /// With this default.
    const fn usually(self, value: &'static str) -> Self {
        Setting { points: Default::Is(value), pictures: Default::Is(value), ..self }
    }

    /// With another default for runs on pictures.
    const fn on_pictures(self, value: &'static str) -> Self {
        Setting { pictures: Default::Is(value), ..self }
    }

    /// Without meaning on pictures.
    const fn not_on_pictures(self, value: &'static str) -> Self {
        Setting { pictures: Default::Unused(value), ..self }
    }

    /// With meaning, and this default, on pictures alone.
    const fn only_on_pictures(self, value: &'static str) -> Self {
        Setting { points: Default::Unused(value), pictures: Default::Is(value), ..self }
    }

    const fn neutral(self) -> Self {
        Setting { neutral: true, ..self }
    }

    const fn optional(self) -> Self {
        Setting { optional: true, ..self }
    }

    /// Its domain in words.
    pub fn allowed(&self) -> String {
        self.domain.allowed()
    }

    fn default(&self, pictures: bool) -> Default {
        if pictures { self.pictures } else { self.points }
    }

    /// Whether it means anything to runs on points, or on pictures.
    pub fn applies(&self, pictures: bool) -> bool {
        !matches!(self.default(pictures), Default::Unused(_))
    }

    /// The default on points, or on pictures, unless it follows from other settings.
    pub fn default_value(&self, pictures: bool) -> Option<Value> {
        match self.default(pictures) {
            Default::Is(text) => Some(literal(text)),
            Default::Derived | Default::Unused(_) => None,
        }
    }

    /// The value that a file which does not name the setting stands for; `None` if every file must name it.
    pub(super) fn unwritten(&self, pictures: bool) -> Option<Value> {
        match self.default(pictures) {
            Default::Unused(text) => Some(literal(text)),
            Default::Is(text) => self.optional.then(|| literal(text)),
            Default::Derived => None,
        }
    }

    /// Whether a file names the setting when it has this value.
    pub(super) fn is_written(&self, pictures: bool, value: &Value) -> bool {
        self.unwritten(pictures).is_none_or(|unwritten| self.applies(pictures) && unwritten != *value)
    }
}

/// A value of the table.
fn literal(text: &str) -> Value {
    let table: toml::Table = format!("v = {text}").parse().expect("values of the table are TOML");
    table["v"].clone()
}

const fn count(name: &'static str, min: u64, max: u64, summary: &'static str) -> Setting {
    Setting::new(name, Domain::Count(min, max), summary)
}

const fn number(name: &'static str, min: f64, max: f64, summary: &'static str) -> Setting {
    Setting::new(name, Domain::Number(min, max), summary)
}

const fn words(name: &'static str, words: fn() -> Vec<&'static str>, summary: &'static str) -> Setting {
    Setting::new(name, Domain::Choice(words), summary)
}

const fn text(name: &'static str, summary: &'static str) -> Setting {
    Setting::new(name, Domain::Text, summary)
}

const fn form(name: &'static str, form: Form, summary: &'static str) -> Setting {
    Setting::new(name, Domain::Form(form), summary)
}

/// All settings, in the order in which they are written.
pub const SETTINGS: &[Setting] = &[
    text("manifold", "the set the data lie on, such as sphere:2"),
    form("method", Form::METHOD, "what is learned and how").usually("'mad'"),
    form(
        "base",
        Form::BASE,
        "base measure: default (the manifold's own), uniform, mixture or kde (fitted to the data), mixture:FILE",
    )
    .usually("'default'")
    .not_on_pictures("'default'"),
    words("recipe", || RECIPES.iter().map(|r| r.name).collect(), "where settings not given come from")
        .usually("'default'"),
    count("steps", 0, 100_000_000, "training steps").usually("2000").on_pictures("10000"),
    count("batch", 1, 1 << 20, "points or pictures in a step, drawn with replacement").usually("512").on_pictures("64"),
    count("seed", 0, i64::MAX as u64, "seed of weights, batches and noise").usually("0"),
    number("learning_rate", 0.0, 10.0, "largest learning rate").on_pictures("0.002"),
    words("schedule", || vec!["cosine", "constant"], "learning rate after the warm-up").usually("'cosine'"),
    count("warmup", 0, 100_000_000, "steps in which the learning rate grows").usually("50").on_pictures("200"),
    number("learning_rate_start", 0.0, 10.0, "learning rate from which the warm-up grows").usually("0.0").optional(),
    number("learning_rate_end", 0.0, 10.0, "learning rate to which the cosine falls").usually("0.0").optional(),
    words("optimizer", || vec!["adam", "adamw"], "how weights follow gradients")
        .usually("'adam'")
        .on_pictures("'adamw'"),
    number("weight_decay", 0.0, 10.0, "share of the rate by which weights shrink").usually("0.0").on_pictures("0.0001"),
    number("beta1", 0.0, 0.999_999, "memory of the mean gradient").usually("0.9"),
    number("beta2", 0.0, 0.999_999_9, "memory of the mean squared gradient").usually("0.999"),
    number("clip", 0.0, 1e9, "largest norm of a gradient; 0 for no limit").usually("10.0").on_pictures("1.0"),
    number("ema", 0.0, 0.999_999_9, "memory of the averaged weights; 0 for none").usually("0.99").on_pictures("0.999"),
    words("ema_start", || vec!["warm", "cold"], "warm soon forgets the initial weights, cold does not")
        .usually("'warm'"),
    number("sigma_min", 1e-8, 1e6, "smallest noise level").on_pictures("0.005"),
    number("sigma_max", 1e-8, 1e6, "largest noise level").on_pictures("0.7"),
    form("levels", Form::LEVELS, "how training draws noise levels").on_pictures("'log-uniform'"),
    words(
        "targets",
        || vec!["single", "averaged", "auto", "canonical", "orbit"],
        "on points: single, or averaged over all training points that fit the noised one; auto takes blocks of rows where \
         there are very many. On pictures: canonical, one representative of the poses that look the same, or orbit, all \
         of them",
    )
    .usually("'auto'")
    .on_pictures("'orbit'"),
    words("network", || NETWORKS.iter().map(|n| n.name).collect(), "kind of network")
        .usually("'mlp'")
        .not_on_pictures("'mlp'"),
    count("width", 1, 16_384, "numbers in a hidden layer").usually("512").on_pictures("128"),
    count("depth", 1, 64, "hidden layers; couplings of a rotation flow").usually("5").on_pictures("3"),
    words("activation", || ACTIVATIONS.iter().map(|a| a.0).collect(), "activation function of the hidden layers")
        .not_on_pictures("'silu'"),
    number("input_gain", 1e-3, 1e3, "factor on the scaled point before the first layer").not_on_pictures("1.0"),
    form(
        "condition",
        Form::CONDITION,
        "columns the model is conditioned on, separated by commas; picture=COLUMN for pictures whose files a column \
         names, picture=symsol:SOLID for pictures of a solid",
    )
    .usually("''"),
    number("condition_dropout", 0.0, 1.0, "share of training rows that do not see their condition")
        .usually("0.1")
        .not_on_pictures("0.0"),
    text(
        "archive",
        "folder or zip of pictures of solids in the layout of SymSol; empty for pictures rendered in every step",
    )
    .only_on_pictures("''"),
    count("size", 16, 512, "pixels of a side").only_on_pictures("32"),
    words("encoder", || ENCODERS.iter().map(|e| e.name).collect(), "the network that sees the picture")
        .only_on_pictures("'cnn-small'"),
    text("weights", "weights of a torchvision ResNet to begin with, .safetensors or .pth; empty for random ones")
        .only_on_pictures("''"),
    count("features", 1, 4096, "features that the encoder returns").only_on_pictures("64"),
    words(
        "head",
        || vec!["equivariant", "modulated"],
        "what sees the noised pose: a network that knows the symmetry, or residual blocks modulated by the picture",
    )
    .only_on_pictures("'equivariant'"),
    count("level_features", 1, 1024, "features of the noise level that the head sees, sines and cosines")
        .only_on_pictures("9"),
    count(
        "draws",
        1,
        65_536,
        "noise draws or queries per picture; components of a mixture; centres of a flow's circle maps",
    )
    .only_on_pictures("32"),
    number("auxiliary", 0.0, 1e9, "weight of the regression of the invariant embedding in the loss")
        .only_on_pictures("0.3"),
    Setting::new(
        "symmetrised",
        Domain::Flag,
        "whether outputs are averaged over moved copies of the picture; for pictures of solids, lit from the camera",
    )
    .only_on_pictures("true")
    .neutral(),
    count("checkpoint_every", 1, 100_000_000, "steps between checkpoints").on_pictures("1000").neutral(),
    count("keep_checkpoints", 1, 10_000, "checkpoints kept besides the selected one")
        .usually("2")
        .on_pictures("1")
        .neutral(),
    count("log_every", 1, 100_000_000, "steps over which a logged loss is averaged").usually("20").on_pictures("100"),
    count("evaluate_every", 0, 100_000_000, "steps between validations; 0 for none"),
    count("validation_rows", 1, 1 << 24, "most rows used in a validation").usually("2048").on_pictures("256"),
    count("bound_levels", 1, 10_000, "noise levels in a validation").usually("32"),
    count("bound_repeats", 1, 1000, "repeats of a validation with fresh noise").usually("1"),
    words("select", || vec!["best", "last"], "weights that a finished run uses").usually("'best'"),
    count("patience", 0, 1_000_000, "validations without progress before stopping; 0 for never").usually("0"),
    form("split", Form::SPLIT, "how rows are divided into training, validation and test part").usually("'distinct'"),
    text("fresh", "named data set that makes new rows for every step; empty for the rows of the file")
        .usually("''")
        .not_on_pictures("''"),
    words("sampler", || SAMPLERS.iter().map(|s| s.name).collect(), "sampler that is used by default")
        .on_pictures("'dpm-sde'")
        .neutral(),
    count("nfe", 1, 1_000_000, "network calls per sample by default").on_pictures("24").neutral(),
    number("rho", 0.0, 100.0, "spacing of the sampler's noise levels, even in the power 1/rho; 0 for the sampler's own")
        .usually("0.0")
        .neutral()
        .optional(),
];

impl Named for Setting {
    const KIND: &'static str = "setting";

    fn name(&self) -> &'static str {
        self.name
    }
}

/// The setting called `name` and the value in its usual form.
pub(super) fn admit(name: &str, value: &Value, origin: &str) -> Result<(&'static str, Value), ConfigError> {
    let setting = registry::find(SETTINGS, name).map_err(|_| ConfigError::UnknownKey {
        origin: origin.into(),
        key: name.into(),
        nearest: registry::nearest(&name.replace('-', "_"), SETTINGS.iter().map(|setting| setting.name)),
    })?;
    let checked = setting.domain.check(value).map_err(|allowed| {
        let shown = value.to_string();
        let value = if shown.len() > 80 { format!("{}…", shown.chars().take(80).collect::<String>()) } else { shown };
        ConfigError::Value { origin: origin.into(), key: setting.name, value, allowed }
    })?;
    Ok((setting.name, checked))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_defaults_are_allowed() {
        let mut names: Vec<_> = SETTINGS.iter().map(|setting| setting.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), SETTINGS.len());
        for setting in SETTINGS {
            for pictures in [false, true] {
                let value = setting.default_value(pictures).or_else(|| setting.unwritten(pictures));
                assert!(value.is_none_or(|value| setting.domain.check(&value) == Ok(value)), "{}", setting.name);
            }
        }
    }
}
