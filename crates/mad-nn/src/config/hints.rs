//! Training settings that suit a manifold.

use mad_core::{manifold::Manifold, sample::SAMPLERS};

/// Training settings that suit a manifold; a config may change each.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Hints {
    /// Smallest and largest noise level.
    pub sigma: (f64, f64),
    /// `sin` or `silu`.
    pub activation: &'static str,
    /// Factor on the scaled input before the first layer.
    pub input_gain: f64,
    /// Peak learning rate.
    pub learning_rate: f64,
    /// How training draws noise levels: `log-uniform` or `log-normal:MEAN,STD`.
    pub levels: &'static str,
    /// Network calls per sample of the default sampler.
    pub nfe: usize,
    /// What changes if the base measure is fitted to the data, so that only fine structure is left to learn. Where this is
    /// known, a base is fitted by default.
    pub fitted: Option<FittedHints>,
}

/// Training settings for the remainder with a fitted base measure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct FittedHints {
    /// Largest noise level.
    pub sigma_max: f64,
    /// Factor on the scaled input before the first layer.
    pub input_gain: f64,
    /// Peak learning rate.
    pub learning_rate: f64,
    /// Validations without progress, of sixteen, after which training stops.
    pub patience: u64,
    /// Network calls per sample of the default sampler, whose way is shorter.
    pub nfe: usize,
}

impl Default for Hints {
    fn default() -> Self {
        Self {
            sigma: (3e-3, 5.0),
            activation: "silu",
            input_gain: 1.0,
            learning_rate: 1e-3,
            levels: "log-uniform",
            nfe: SAMPLERS[0].nfe,
            fitted: None,
        }
    }
}

impl Hints {
    /// The settings that suit `manifold`, by its kind.
    pub(super) fn of(manifold: &dyn Manifold) -> Self {
        let spec = manifold.spec();
        match spec.split([':', '/', '(']).next().unwrap_or_default() {
            "sphere" if manifold.intrinsic_dim() == 2 => globe(),
            "so3" => rotations(manifold),
            "points" => finite_set(manifold),
            // As for finite sets: the corners of a simplex stand √2 apart.
            "categorical" => Self { sigma: (1e-2, 10.0), learning_rate: 7e-4, ..Self::default() },
            "product" => product(manifold),
            _ => Self::default(),
        }
    }
}

/// Measured at 2000 steps of 512 on the earth sets: sine layers beat SiLU, and a high gain resolves clusters. A fitted base
/// leaves only what is narrower than 130 km, and soon that is noise.
fn globe() -> Hints {
    let fitted = FittedHints { sigma_max: 0.02, input_gain: 8.0, learning_rate: 5e-4, patience: 4, nfe: 8 };
    Hints { activation: "sin", input_gain: 8.0, fitted: Some(fitted), ..Hints::default() }
}

/// Measured on mixtures of 64 components (decision 16). Narrow components over a wide range of levels: 16 calls leave too many
/// samples between the components (decision 10).
fn rotations(manifold: &dyn Manifold) -> Hints {
    let (sigma, input_gain, nfe) = ((1e-3, 10.0), 3.0, 24);
    let hints = Hints { sigma, activation: "sin", input_gain, levels: "log-normal:-2,1.3", nfe, ..Hints::default() };
    // The same with a fitted base; only training stops early (measured, decision 18). No mixture is fitted modulo a group.
    let learning_rate = hints.learning_rate;
    let fitted = FittedHints { sigma_max: sigma.1, input_gain, learning_rate, patience: 4, nfe };
    Hints { fitted: (!manifold.is_quotient()).then_some(fitted), ..hints }
}

/// From 1/100 of the smallest spacing s to 10 times the radius of the set.
///
/// At σ = s/20 a noised point is nearer to a wrong point with probability erfc(10/√2) < 1e-22, so below that the base
/// mean is already the answer; another factor of 5 keeps undenoised samples within a few percent of s. At ten radii
/// the prior no longer shows where the set is.
fn finite_set(manifold: &dyn Manifold) -> Hints {
    let Some(extent) = manifold.extent() else { return Hints::default() };
    let spacing = if extent.spacing.is_finite() { extent.spacing } else { 1.0 };
    let radius = if extent.radius > 0.0 { extent.radius } else { 1.0 };
    let sigma = ((1e-2 * spacing).clamp(1e-6, 1e2), (10.0 * radius).clamp(1e-4, 1e3));
    Hints { sigma, learning_rate: 7e-4, ..Hints::default() }
}

/// The widest range of noise, the most cautious learning rate and gain, the most calls, `silu` if any factor asks for it.
/// Levels are drawn evenly, as factors differ in the levels that tell most.
fn product(manifold: &dyn Manifold) -> Hints {
    let hints: Vec<Hints> = manifold.factors().iter().map(|(_, factor)| Hints::of(factor.as_ref())).collect();
    let least = |value: fn(&Hints) -> f64| hints.iter().map(value).fold(f64::INFINITY, f64::min);
    let sigma_max = hints.iter().map(|h| h.sigma.1).fold(0.0, f64::max);
    Hints {
        sigma: (least(|h| h.sigma.0), sigma_max),
        activation: if hints.iter().any(|h| h.activation == "silu") { "silu" } else { "sin" },
        input_gain: least(|h| h.input_gain),
        learning_rate: least(|h| h.learning_rate),
        nfe: hints.iter().map(|h| h.nfe).max().unwrap_or(SAMPLERS[0].nfe),
        ..Hints::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mad_core::catalogue::{BuildContext, build};

    #[test]
    fn products_take_the_most_cautious_of_their_factors() {
        let nested = build("product(sphere:2,product(euclid:3,so3))", &BuildContext::without_files()).unwrap();
        let hints = Hints::of(nested.as_ref());
        assert_eq!((hints.sigma, hints.activation, hints.nfe), ((1e-3, 10.0), "silu", 24));
    }
}
