//! Methods as settings know them: names, options, and what each takes. How they learn stands in [`crate::method`].
//!
//! Denoising methods differ in their anchor alone. The baselines of the MAD paper have a loss and answers of their own; run
//! folders, optimiser, checkpoints, metrics and commands are the same for all.

use super::{BaseSpec, Config, Domain, Head, Setting, Targets};
use crate::condition::Kind;
use mad_core::{
    manifold::Manifold,
    registry::{self, Named},
    riemannian::{Generator, Spheres},
};
use std::{collections::BTreeMap, str::FromStr};
use toml::Value;

/// What is learned; [`crate::method`] has an implementation of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Learner {
    Mad,
    Dsm,
    Skip,
    Rsgm,
    FlowMatching,
    FreeForm,
    BaseOnly,
    Embedding,
    ImplicitPdf,
    RotationFlow,
    Bingham,
}

/// One line of [`METHODS`].
#[derive(Debug, Clone, Copy)]
pub struct MethodEntry {
    /// Name in commands and configs.
    pub name: &'static str,
    /// One line for lists.
    pub summary: &'static str,
    /// Options of the method, written as `name:option=value,…`.
    pub options: &'static [MethodOption],
    /// The conditions it takes.
    pub conditions: &'static [Kind],
    /// The base measure that is the whole model, for methods without a network. Their runs have no steps.
    pub own_base: Option<BaseSpec>,
    pub(crate) learner: Learner,
    /// Settings that suit the method better than the manifold's own, as TOML.
    pub(super) settings: &'static str,
    /// Returns why the method cannot be used on a manifold, if it cannot.
    pub(super) refuses: fn(&MethodSpec, &dyn Manifold) -> Option<String>,
    /// Returns the setting of a run on pictures that the method cannot work with, and why.
    pub(super) refuses_settings: fn(&Config) -> Option<(&'static str, String)>,
}

impl MethodEntry {
    /// A method for points, without options.
    const fn new(name: &'static str, learner: Learner, summary: &'static str, settings: &'static str) -> Self {
        Self {
            name,
            summary,
            options: &[],
            conditions: &[Kind::Nothing],
            own_base: None,
            learner,
            settings,
            refuses: |_, _| None,
            refuses_settings: |_| None,
        }
    }

    /// A method that learns poses from pictures alone.
    const fn of_poses(name: &'static str, learner: Learner, summary: &'static str, settings: &'static str) -> Self {
        let single_view = |config: &Config| {
            config.symmetrised.then(|| ("symmetrised", "the method sees each picture once; set it to false".into()))
        };
        Self {
            conditions: &[Kind::Pictures],
            refuses_settings: single_view,
            ..Self::new(name, learner, summary, settings)
        }
    }

    /// Whether it learns a denoiser D = m + σ F; other methods build on no base measure.
    pub(crate) fn is_denoiser(&self) -> bool {
        matches!(self.learner, Learner::Mad | Learner::Dsm | Learner::Skip)
    }
}

impl Named for MethodEntry {
    const KIND: &'static str = "method";

    fn name(&self) -> &'static str {
        self.name
    }
}

/// Without a base measure the network has to learn where the set is, at the smallest levels as much as at any other.
const EVEN_LEVELS: &str = "levels = 'log-uniform'";

const DENOISED: &[Kind] = &[Kind::Nothing, Kind::Columns, Kind::Pictures];

/// All methods. The first one is the default.
pub const METHODS: &[MethodEntry] = &[
    MethodEntry {
        conditions: DENOISED,
        refuses_settings: modulated_orbit,
        ..MethodEntry::new(
            "mad",
            Learner::Mad,
            "manifold aware denoising: the network adds to the posterior mean of the base measure",
            "",
        )
    },
    MethodEntry {
        conditions: DENOISED,
        refuses_settings: modulated_orbit,
        ..MethodEntry::new(
            "dsm",
            Learner::Dsm,
            "denoising score matching: the network adds to the noised point",
            EVEN_LEVELS,
        )
    },
    MethodEntry {
        conditions: &[Kind::Nothing, Kind::Columns],
        ..MethodEntry::new(
            "skip",
            Learner::Skip,
            "skip connection of Karras et al. (2022): the network adds to the shrunk noised point",
            EVEN_LEVELS,
        )
    },
    MethodEntry {
        options: RSGM_OPTIONS,
        refuses: no_tangent_field,
        ..MethodEntry::new(
            "rsgm",
            Learner::Rsgm,
            "Riemannian score-based modelling: the score of Brownian motion on the set, geodesic random walks",
            "nfe = 100\nactivation = 'sin'\ninput_gain = 1.0\nclip = 0.0\nselect = 'last'",
        )
    },
    MethodEntry {
        options: RFM_OPTIONS,
        refuses: no_tangent_field,
        ..MethodEntry::new(
            "rfm",
            Learner::FlowMatching,
            "Riemannian flow matching: a tangent field that carries the uniform distribution to the data along geodesics",
            "nfe = 100",
        )
    },
    MethodEntry {
        options: FFF_OPTIONS,
        refuses: |spec, manifold| {
            let problem = "needs a set made of unit spheres: spheres, so3, tori and products of these";
            manifold.spheres().is_none().then(|| format!("{} {problem}", spec.entry.name))
        },
        ..MethodEntry::new(
            "fff",
            Learner::FreeForm,
            "free-form flow: an encoder and a decoder that learn to be inverse; one network call per sample",
            // The likelihood of an encoder that is not yet inverse to the decoder means nothing, so it selects nothing.
            "nfe = 1\nwidth = 256\ndepth = 2\ninput_gain = 2.0\nselect = 'last'",
        )
    },
    MethodEntry {
        own_base: Some(BaseSpec::Kde),
        ..MethodEntry::new(
            "kde",
            Learner::BaseOnly,
            "kernel density estimate: a von Mises-Fisher kernel at every training point, bandwidth by cross-validation",
            "base = 'kde'",
        )
    },
    MethodEntry {
        own_base: Some(BaseSpec::Mixture),
        ..MethodEntry::new(
            "mixture",
            Learner::BaseOnly,
            "mixture of von Mises-Fisher densities by expectation maximisation, size by validation; no network",
            "base = 'mixture'",
        )
    },
    MethodEntry {
        refuses_settings: |_| None,
        ..MethodEntry::of_poses(
            "embedding",
            Learner::Embedding,
            "regression of an embedding that is invariant under the symmetry, with a normal distribution on the orbit around it",
            "",
        )
    },
    MethodEntry {
        refuses_settings: |config| {
            if config.draws < 2 {
                return Some(("draws", "it counts the rotations that are scored for a picture; at least 2".into()));
            }
            (MethodEntry::of_poses("", Learner::ImplicitPdf, "", "").refuses_settings)(config)
        },
        ..MethodEntry::of_poses(
            "ipdf",
            Learner::ImplicitPdf,
            "implicit density: a network scores rotations for an image, against `draws` random ones in training",
            "learning_rate = 0.001\ndraws = 512\nsymmetrised = false",
        )
    },
    MethodEntry::of_poses(
        "rotation-flow",
        Learner::RotationFlow,
        "normalising flow: `depth` Möbius couplings of `draws` centres with projective maps of quaternions between them",
        "batch = 128\nlearning_rate = 0.001\ndepth = 12\ndraws = 16\nwidth = 64\nsymmetrised = false",
    ),
    MethodEntry::of_poses(
        "bingham",
        Learner::Bingham,
        "mixture of `draws` Bingham distributions of quaternions, trained by likelihood and by the winner taking most",
        "batch = 128\nlearning_rate = 0.001\ndraws = 50\nwidth = 256\ndepth = 2\nsymmetrised = false",
    ),
];

fn modulated_orbit(config: &Config) -> Option<(&'static str, String)> {
    let orbit = config.head == Head::Modulated && config.targets == Targets::Orbit;
    orbit.then(|| ("head", "modulated does not know which poses look the same; set targets = canonical".into()))
}

/// How the network's numbers become a tangent vector.
fn generators() -> Vec<&'static str> {
    std::iter::once("auto").chain(Generator::ALL.map(|(name, _)| name)).collect()
}

/// Why there is no tangent field of this kind on `manifold`.
fn no_tangent_field(spec: &MethodSpec, manifold: &dyn Manifold) -> Option<String> {
    let Some(spheres) = Spheres::of(manifold) else {
        let name = spec.entry.name;
        return Some(format!("{name} needs geodesics, which are known on spheres, so3, tori and products of these"));
    };
    let chosen = Generator::ALL.iter().find(|(known, _)| *known == spec.word("generator"));
    chosen.filter(|(_, generator)| !generator.suits(&spheres)).map(|(word, _)| match *word {
        "ambient" => {
            "generator ambient does not know that q and -q are one rotation; use lie-algebra or div-free".into()
        }
        word => format!("generator {word} is defined on rotations only"),
    })
}

const RFM_OPTIONS: &[MethodOption] = &[MethodOption::new(
    "generator",
    Domain::Choice(generators),
    "auto",
    "how the network's numbers become a tangent vector; auto is lie-algebra on rotations, div-free on their products with others, else ambient",
)];

const RSGM_OPTIONS: &[MethodOption] = &[
    MethodOption::new(
        "generator",
        Domain::Choice(generators),
        "auto",
        "how the network's numbers become a tangent vector; auto is lie-algebra on rotations, else div-free",
    ),
    MethodOption::new(
        "loss",
        Domain::Choice(|| vec!["ism", "ssm", "dsmv", "dsm0"]),
        "ism",
        "implicit, sliced, or denoising by Varadhan's formula, everywhere or at small times only",
    ),
    MethodOption::new("beta_min", Domain::Number(1e-6, 1e3), "0.001", "speed of the noise at time 0"),
    MethodOption::new("beta_max", Domain::Number(1e-6, 1e3), "5", "speed of the noise at time 1"),
    MethodOption::new("time_min", Domain::Number(1e-9, 0.5), "0.001", "earliest time"),
    MethodOption::new("walk", Domain::Count(1, 100_000), "100", "steps of the random walk that adds noise"),
];

const WEIGHT: Domain = Domain::Number(0.0, 1e9);

/// Published: earth `reconstruction=10000,z_sample=200,x_sample=200,latent=mixture,noise=0.0015,volume=ambient`; rotations
/// `blocks=2,reconstruction=4000,z_sample=80,x_sample=80,z_projection=10,x_projection=10,volume=ambient` with width 512, depth 5,
/// activation silu. There the published weights 500, 10 and 10 are of distances between matrices, whose squares are eight times
/// those between quaternions for a small turn.
const FFF_OPTIONS: &[MethodOption] = &[
    MethodOption::new("blocks", Domain::Count(1, 64), "4", "residual blocks in each of the two networks"),
    MethodOption::new(
        "latent",
        Domain::Choice(|| vec!["uniform", "mixture"]),
        "uniform",
        "distribution of the codes: uniform, or a learned mixture of five von Mises-Fisher densities",
    ),
    MethodOption::new("nll", WEIGHT, "1", "weight of the likelihood"),
    MethodOption::new("reconstruction", WEIGHT, "500", "weight of |x - g(f(x))|^2 on data"),
    MethodOption::new("z_sample", WEIGHT, "10", "weight of |z - f(g(z))|^2 on draws of the latent distribution"),
    MethodOption::new("x_sample", WEIGHT, "10", "weight of |x - g(f(x))|^2 on draws of the latent distribution"),
    MethodOption::new("z_reconstruction", WEIGHT, "0", "weight of |z - f(g(z))|^2 on codes of data"),
    MethodOption::new("z_projection", WEIGHT, "0", "weight of the encoder's distance from the set before projection"),
    MethodOption::new("x_projection", WEIGHT, "0", "weight of the decoder's distance from the set before projection"),
    MethodOption::new(
        "volume",
        Domain::Choice(|| vec!["tangent", "ambient"]),
        "tangent",
        "dimension that scales the estimate of the volume: tangent has no bias, ambient (9 for a rotation) is published",
    ),
    MethodOption::new("noise", Domain::Number(0.0, 10.0), "0", "deviation of noise on inputs, before projection"),
    MethodOption::new(
        "newton",
        Domain::Count(0, 100),
        "10",
        "most Newton steps from f(x) towards g(z) = x before a density is read; 0 is published",
    ),
];

/// A choice that only one method has.
#[derive(Debug, Clone, Copy)]
pub struct MethodOption {
    /// Name, meaning and domain.
    pub key: Setting,
    /// Value if not given, as written.
    pub default: &'static str,
}

impl MethodOption {
    const fn new(name: &'static str, domain: Domain, default: &'static str, summary: &'static str) -> Self {
        Self { key: Setting::new(name, domain, summary), default }
    }

    fn check(&self, text: &str) -> Result<Value, String> {
        let value = text.parse::<i64>().map(Value::Integer).or_else(|_| text.parse::<f64>().map(Value::Float));
        let value = value.unwrap_or_else(|_| Value::String(text.into()));
        self.key.domain.check(&value).map_err(|allowed| format!("{} = {allowed}", self.key.name))
    }
}

/// A method with the values of all its options.
#[derive(Debug, Clone)]
pub struct MethodSpec {
    /// The method.
    pub entry: &'static MethodEntry,
    values: BTreeMap<&'static str, Value>,
}

/// Reads `name` or `name:option=value,…`; the error says what is allowed.
impl FromStr for MethodSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let entry = registry::find(METHODS, name).map_err(|unknown| {
            let nearest = unknown.nearest.map_or(String::new(), |name| format!(" (did you mean `{name}`?)"));
            format!("{}, perhaps with options such as rsgm:loss=dsmv{nearest}", unknown.known)
        })?;
        let options = entry.options;
        let mut values = BTreeMap::new();
        for option in options {
            values.insert(option.key.name, option.check(option.default)?);
        }
        for part in rest.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            let option = options.iter().find(|option| option.key.name == key.trim()).ok_or_else(|| {
                let known: Vec<_> = options.iter().map(|option| option.key.name).collect();
                match known[..] {
                    [] => format!("{name} without options"),
                    _ => format!("{name} with options {}", known.join(", ")),
                }
            })?;
            values.insert(option.key.name, option.check(value.trim())?);
        }
        Ok(Self { entry, values })
    }
}

impl MethodSpec {
    /// A number among the options. Panics if the method has no such option.
    pub fn number(&self, name: &str) -> f64 {
        match &self.values[name] {
            Value::Integer(v) => *v as f64,
            Value::Float(v) => *v,
            other => panic!("option {name} is {other}, not a number"),
        }
    }

    /// A word among the options. Panics if the method has no such option.
    pub fn word(&self, name: &str) -> &str {
        self.values[name].as_str().unwrap_or_else(|| panic!("option {name} is not a word"))
    }
}
