//! Where settings come from that nobody gave.

use super::{BaseSpec, ConfigError, METHODS, MethodSpec, Partial, SETTINGS, hints::Hints};
use crate::condition::Condition;
use mad_core::{manifold::Manifold, sample};
use toml::{Table, Value};

/// A named set of settings.
#[derive(Debug, Clone, Copy)]
pub struct Recipe {
    /// Name in configs.
    pub name: &'static str,
    /// One line for lists.
    pub summary: &'static str,
    /// Whether it is for runs on pictures; `None` if it is for all.
    pictures: Option<bool>,
    /// Its settings as TOML; keys not named come from the manifold or from defaults.
    settings: &'static str,
}

/// The paper's training: 100 geometric scales, constant rate, its own sampler. It does not name its activation function; SiLU comes
/// nearer to its numbers than RSGM's sine (docs/paper-map.md).
const PAPER: &str = "
    learning_rate = 7e-4
    schedule = 'constant'
    warmup = 0
    ema = 0.0
    clip = 0.0
    sigma_min = 1e-6
    sigma_max = 10.0
    levels = 'scales:100'
    targets = 'single'
    activation = 'silu'
    input_gain = 1.0
    select = 'last'
    sampler = 'paper'
    nfe = 100
";

/// The paper's training on pictures of solids: its table of hyperparameters, with the sampler's levels even in σ^¼ and 40 steps
/// before the last denoising. Single precision, and no loss on the encoder alone.
const SYMSOL: &str = "
    targets = 'canonical'
    steps = 128000
    batch = 64
    draws = 1
    learning_rate = 4e-4
    warmup = 12800
    learning_rate_start = 1e-6
    learning_rate_end = 1e-4
    optimizer = 'adamw'
    weight_decay = 1e-3
    clip = 10.0
    ema = 0.999
    ema_start = 'cold'
    sigma_min = 0.002
    sigma_max = 20.0
    levels = 'log-uniform'
    head = 'modulated'
    level_features = 64
    width = 128
    depth = 4
    auxiliary = 0.0
    symmetrised = false
    size = 224
    encoder = 'resnet50'
    features = 128
    select = 'last'
    sampler = 'paper'
    nfe = 41
    rho = 4.0
";

/// All recipes. The first one is the default.
pub const RECIPES: &[Recipe] = &[
    Recipe {
        name: "default",
        summary: "what measured best at 2000 steps of 512 points, or 10000 steps of 64 pictures",
        pictures: None,
        settings: "",
    },
    Recipe {
        name: "paper-mad",
        summary: "MAD as in its paper: 100 scales, constant rate",
        pictures: Some(false),
        settings: PAPER,
    },
    Recipe {
        name: "paper-dsm",
        summary: "the paper's baseline: the same with denoising score matching",
        pictures: Some(false),
        settings: PAPER,
    },
    Recipe {
        name: "paper-symsol",
        summary: "poses from pictures as in the paper: ResNet-50 at 224 pixels, 128000 steps of 64 pictures",
        pictures: Some(true),
        settings: SYMSOL,
    },
];

/// Fewer distinct points than these are soon overfit: inputs stay coarse and validations are frequent.
const FEW_POINTS: usize = 2000;

/// Largest input gain for few points.
const GAIN_OF_FEW: f64 = 2.0;

/// From this many distinct points on a base is fitted by default: fewer do not tell sizes of mixtures apart.
const FITTED_BY_DEFAULT: usize = 200;

/// A complete table of settings.
pub(super) fn fill(asked: &Partial, manifold: &dyn Manifold, distinct: Option<usize>) -> Result<Table, ConfigError> {
    let recipe = recipe_of(asked)?;
    let condition = asked.condition();
    if condition.is_pictures() {
        return on_pictures(asked, recipe, &condition);
    }
    let (hints, odd) = (Hints::of(manifold), manifold.is_odd());
    let few = manifold.intrinsic_dim() > 0 && distinct.is_some_and(|points| points < FEW_POINTS);
    let mut settings = defaults(false);
    settings.insert("sigma_min", hints.sigma.0, "manifold");
    settings.insert("sigma_max", hints.sigma.1, "manifold");
    settings.insert("activation", hints.activation, "manifold");
    let gain = if few { hints.input_gain.min(GAIN_OF_FEW) } else { hints.input_gain };
    settings.insert("input_gain", gain, "manifold");
    settings.insert("learning_rate", hints.learning_rate, "manifold");
    settings.insert("levels", hints.levels, "manifold");
    settings.insert("sampler", sample::SAMPLERS[0].name, "defaults");
    if manifold.intrinsic_dim() == 0 {
        // On a finite set equal rows are the data, not duplicates.
        settings.insert("split", "random", "manifold");
    }
    if odd {
        settings.insert("network", "odd-mlp", "manifold");
    }
    if is_best_fitted(asked, distinct) && hints.fitted.is_some() {
        settings.insert("base", "mixture", "manifold");
    }
    let base = asked.get("base").or(settings.get("base")).and_then(Value::as_str);
    let fits_base = base.and_then(|base| base.parse().ok()).is_some_and(BaseSpec::is_fitted);
    // A base that knows no condition leaves the coarse part to the network, too.
    let fitted = hints.fitted.filter(|_| fits_base && word(asked, "condition").is_none());
    if let Some(fitted) = fitted {
        settings.insert("sigma_max", fitted.sigma_max, "fitted base");
        settings.insert("input_gain", fitted.input_gain, "fitted base");
        settings.insert("learning_rate", fitted.learning_rate, "fitted base");
        // Patience is counted in sixteenths of the usual training. Rows that never come again are not overfit.
        if is_usual(asked)
            && word(asked, "fresh").is_none()
            && asked.get("select").is_none()
            && asked.get("evaluate_every").is_none()
        {
            settings.insert("patience", fitted.patience as i64, "fitted base");
        }
    }
    let spec = method(asked);
    let name = recipe.name;
    settings = settings.merge(Partial::from_toml(spec.entry.settings, spec.entry.name)?);
    settings = settings.merge(Partial::from_toml(recipe.settings, recipe.name)?);
    if name == "paper-dsm" {
        settings.insert("method", "dsm", name);
    }
    if odd && name.starts_with("paper") {
        settings.insert("network", "antisymmetric-mlp", name);
    }
    settings = settings.merge(asked.clone());
    if spec.entry.own_base.is_some() {
        // Nothing is learned, so that steps would be idle ones: none of them whatever was asked, as an experiment asks the same of
        // all its methods.
        settings.insert("steps", 0i64, spec.entry.name);
        settings.insert("warmup", 0i64, spec.entry.name);
    }
    let steps = limit_warmup(&mut settings, asked);
    // An eighth of the run between validations, a quarter between checkpoints. With a fitted base the best step comes early.
    let validations = if few || fits_base { 16 } else { 8 };
    let parts = [("evaluate_every", (steps / validations).max(1)), ("checkpoint_every", (steps / 4).max(1))];
    for (key, value) in parts {
        if settings.get(key).is_none() {
            settings.insert(key, value, "defaults");
        }
    }
    if settings.get("nfe").is_none() {
        let sampler = settings.get("sampler").and_then(Value::as_str).unwrap_or_default();
        let (nfe, source) = match sample::lookup(sampler) {
            Ok(entry) if entry.name != sample::SAMPLERS[0].name => (entry.nfe, "sampler"),
            _ => (fitted.map_or(hints.nfe, |fitted| fitted.nfe), "manifold"),
        };
        settings.insert("nfe", nfe as i64, source);
    }
    debug_assert!(SETTINGS.iter().all(|setting| settings.get(setting.name).is_some()), "a setting has no default");
    Ok(settings.into_table())
}

/// The method asked for, or the default one.
fn method(asked: &Partial) -> MethodSpec {
    let text = asked.get("method").and_then(Value::as_str).unwrap_or(METHODS[0].name);
    text.parse().expect("checked when it was set")
}

/// Shortens a warm-up that nobody asked for to the steps of the run, and returns these.
fn limit_warmup(settings: &mut Partial, asked: &Partial) -> i64 {
    let integer = |key: &str| settings.get(key).and_then(Value::as_integer).unwrap_or(0);
    let (steps, warmup) = (integer("steps"), integer("warmup"));
    if asked.get("warmup").is_none() {
        settings.insert("warmup", warmup.min(steps), "defaults");
    }
    steps
}

/// Defaults of the table, for runs on points or on pictures.
fn defaults(pictures: bool) -> Partial {
    let mut settings = Partial::new();
    for setting in SETTINGS {
        if let Some(value) = setting.default_value(pictures).or_else(|| setting.unwritten(pictures)) {
            settings.insert(setting.name, value, "defaults");
        }
    }
    settings
}

/// The chosen recipe, which must be for the kind of run.
fn recipe_of(asked: &Partial) -> Result<&'static Recipe, ConfigError> {
    let name = asked.get("recipe").and_then(Value::as_str).unwrap_or(RECIPES[0].name);
    let pictures = asked.condition().is_pictures();
    let fits = |recipe: &&Recipe| recipe.pictures.is_none_or(|kind| kind == pictures);
    RECIPES.iter().filter(fits).find(|recipe| recipe.name == name).ok_or_else(|| {
        let names: Vec<_> = RECIPES.iter().filter(fits).map(|recipe| recipe.name).collect();
        let allowed = format!("{} for runs on {}", names.join(", "), if pictures { "pictures" } else { "points" });
        ConfigError::Value { origin: asked.origin("recipe"), key: "recipe", value: name.into(), allowed }
    })
}

/// A complete table of settings for a run on pictures.
fn on_pictures(asked: &Partial, recipe: &Recipe, condition: &Condition) -> Result<Table, ConfigError> {
    let mut settings = defaults(true);
    if matches!(condition, Condition::Solid(_)) {
        // Rendered pictures are new in every step, so that nothing is overfit; archives have no validation part.
        settings.insert("evaluate_every", 0i64, "pictures of solids");
        settings.insert("select", "last", "pictures of solids");
    } else {
        // Nothing is known of the light in other pictures, so that moved ones need not be pictures of moved poses.
        settings.insert("symmetrised", false, "pictures of files");
    }
    let entry = method(asked).entry;
    settings = settings.merge(Partial::from_toml(entry.settings, entry.name)?);
    let wanted = asked.get("targets").and_then(Value::as_str);
    if wanted == Some("canonical") {
        // Single points look uniform only under much more noise than whole orbits.
        settings.insert("sigma_max", 5.0, "targets");
    }
    let chosen = Partial::from_toml(recipe.settings, recipe.name)?.merge(asked.clone());
    if let Some(Ok(entry)) = chosen.get("sampler").and_then(Value::as_str).map(sample::lookup)
        && entry.name != sample::SAMPLERS[0].name
    {
        settings.insert("nfe", entry.nfe as i64, "sampler");
    }
    settings = settings.merge(chosen);
    let steps = limit_warmup(&mut settings, asked);
    if settings.get("evaluate_every").is_none() {
        settings.insert("evaluate_every", (steps / 8).max(1), "defaults");
    }
    Ok(settings.into_table())
}

/// Whether nobody chose a base, and the run is of the kind that a fitted one was measured to be best for: MAD with its usual
/// settings on rows of a file.
fn is_best_fitted(asked: &Partial, distinct: Option<usize>) -> bool {
    asked.get("base").is_none()
        && is_usual(asked)
        && word(asked, "condition").is_none()
        && word(asked, "fresh").is_none()
        && distinct.is_some_and(|points| points >= FITTED_BY_DEFAULT)
}

/// Whether the first method is trained by the first recipe.
fn is_usual(asked: &Partial) -> bool {
    let is = |key: &str, usual: &str| word(asked, key).is_none_or(|name| name == usual);
    is("method", METHODS[0].name) && is("recipe", RECIPES[0].name)
}

/// A word that was asked for, unless it is empty.
fn word<'a>(asked: &'a Partial, key: &str) -> Option<&'a str> {
    asked.get(key).and_then(Value::as_str).filter(|value| !value.is_empty())
}
