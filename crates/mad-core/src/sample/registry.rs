//! The list of samplers.

use super::{
    SampleError, Sampler, ancestral::Ancestral, dpm::DpmSolver, edm::Edm, euler_maruyama::EulerMaruyama, heun::Heun,
};
use crate::noise::Schedule;
use crate::registry::{Named, find};

/// One line of [`SAMPLERS`].
#[derive(Debug, Clone, Copy)]
pub struct SamplerEntry {
    /// Name in settings.
    pub name: &'static str,
    /// Other names by which it is known.
    pub aliases: &'static [&'static str],
    /// What it is, in one line.
    pub summary: &'static str,
    /// Default number of network calls per sample, the last denoising included.
    pub nfe: usize,
    /// Default spacing of the noise levels.
    pub schedule: Schedule,
    /// Makes the sampler.
    pub build: fn() -> Box<dyn Sampler>,
}

/// All samplers. The first one is the default.
///
/// Measured on a mixture of 12 von Mises-Fisher distributions on S² (σ from .003 to 5, geometric, 16 384 samples): error of E log p in
/// nats (noise .013) with the exact denoiser, and with one whose bound lies about .2 nats below the truth.
///
/// | calls | dpm-sde | ancestral | paper | dpm | heun | edm |
/// |---|---|---|---|---|---|---|
/// | exact, 15 | −.04 | +.13 | −1.00 | −.15 | −.12 | −.33 |
/// | exact, 25 | −.01 | +.14 | −.54 | −.09 | −.06 | −.15 |
/// | exact, 41 | +.02 | +.13 | −.28 | −.06 | −.04 | −.05 |
/// | exact, 101 | +.01 | +.06 | −.10 | −.03 | −.03 | +.01 |
/// | inexact, 25 | −.04 | +.13 | −.53 | −.18 | −.14 | −.18 |
/// | inexact, 41 | −.01 | +.10 | −.30 | −.14 | −.13 | −.08 |
///
/// The default number of calls of `dpm-sde` is from trained models (docs/lab/0010-sampler-defaults.md); a manifold may ask
/// for more in its hints.
pub const SAMPLERS: &[SamplerEntry] = &[
    SamplerEntry {
        name: "dpm-sde",
        aliases: &["dpm++2m-sde"],
        summary: "DPM-Solver++(2M) on the reverse SDE: ancestral with extrapolation; stochastic, one call per step",
        nfe: 16,
        schedule: Schedule::Geometric,
        build: || Box::new(DpmSolver { stochastic: true }),
    },
    SamplerEntry {
        name: "ancestral",
        aliases: &["ddpm"],
        summary: "Gaussian posterior between two levels with x0 = D; stochastic, one call per step",
        nfe: 50,
        schedule: Schedule::Geometric,
        build: || Box::new(Ancestral),
    },
    SamplerEntry {
        name: "paper",
        aliases: &["euler-maruyama"],
        summary: "Euler-Maruyama on the reverse VE-SDE over 100 geometric scales, as in the MAD paper",
        nfe: 100,
        schedule: Schedule::Geometric,
        build: || Box::new(EulerMaruyama),
    },
    SamplerEntry {
        name: "dpm",
        aliases: &["dpm++2m"],
        summary: "DPM-Solver++(2M): multistep exponential integrator of the probability flow in log sigma",
        nfe: 25,
        schedule: Schedule::Geometric,
        build: || Box::new(DpmSolver { stochastic: false }),
    },
    SamplerEntry {
        name: "heun",
        aliases: &[],
        summary: "Heun on the probability flow (Karras et al. 2022, Algorithm 1); two calls per step",
        nfe: 41,
        schedule: Schedule::Geometric,
        build: || Box::new(Heun),
    },
    SamplerEntry {
        name: "edm",
        aliases: &[],
        summary: "Heun with fresh noise before each step (Karras et al. 2022, Algorithm 2); two calls per step",
        nfe: 81,
        schedule: Schedule::Geometric,
        build: || Box::new(Edm::default()),
    },
];

impl Named for SamplerEntry {
    const KIND: &'static str = "sampler";

    fn name(&self) -> &'static str {
        self.name
    }

    fn aliases(&self) -> &'static [&'static str] {
        self.aliases
    }
}

/// The sampler called `name`, or an error that names the nearest one.
pub fn lookup(name: &str) -> Result<&'static SamplerEntry, SampleError> {
    Ok(find(SAMPLERS, name)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_found() {
        let mut names: Vec<_> =
            SAMPLERS.iter().flat_map(|e| std::iter::once(e.name).chain(e.aliases.iter().copied())).collect();
        for name in &names {
            assert!(lookup(name).is_ok());
        }
        names.sort_unstable();
        let before = names.len();
        names.dedup();
        assert_eq!(names.len(), before, "two samplers share a name");
    }

    #[test]
    fn a_misspelt_name_gets_a_suggestion() {
        let message = lookup("ancestrl").unwrap_err().to_string();
        assert!(message.contains("did you mean `ancestral`"), "{message}");
        let message = lookup("zzz").unwrap_err().to_string();
        assert!(!message.contains("did you mean") && message.contains("heun"), "{message}");
    }

    #[test]
    fn calls_are_counted_as_promised() {
        for entry in SAMPLERS {
            let sampler = (entry.build)();
            let levels = sampler.levels_for(entry.nfe);
            assert!(levels >= 2);
            assert_eq!(sampler.calls(levels) + 1, entry.nfe, "{}: default nfe is not reached exactly", entry.name);
        }
    }
}
