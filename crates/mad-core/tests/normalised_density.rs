//! Densities by the normalised bound: exact denoisers have the known density, wrong ones a density that still integrates to 1.

mod exact;

use exact::{Exact, Mixture, dot, mean_and_error, norm};
use mad_core::{
    Points,
    catalogue::{BuildContext, MANIFOLDS, build},
    likelihood::{
        BoundConfig, DensityModel, Effort, FlowConfig, FlowModel, NormalisedBound, Normaliser, Remainder,
        likelihood_bound, log_ratio,
    },
    manifold::{Manifold, Sphere},
    measure::{BaseMeasure, UniformSphere},
    noise::{Anchor, NoiseRange},
    rng::{Purpose, stream},
    sample::{Denoiser, Generate, SAMPLERS},
};
use std::sync::Arc;

const RANGE: NoiseRange = NoiseRange { min: 0.003, max: 10.0 };

/// Three components that a grid of a few thousand points resolves.
fn target() -> Mixture {
    Mixture::random(3, 5.0, 60.0, 4)
}

/// Mean of exp(log-ratio) over points that share the volume equally.
fn integral(ratios: &[f64]) -> f64 {
    ratios.iter().map(|r| r.exp()).sum::<f64>() / ratios.len() as f64
}

/// The exact denoiser of a distribution on the sphere plus σ times a push along the normal, to which training errors are equal in kind.
struct Pushed {
    exact: Exact,
    push: f64,
}

impl Denoiser for Pushed {
    fn ambient_dim(&self) -> usize {
        3
    }

    fn denoise(&self, x: &Points, sigma: f64) -> Points {
        let mut denoised = self.exact.denoise(x, sigma);
        for (d, x) in denoised.rows_mut().zip(x.rows()) {
            let length = norm(x);
            d.iter_mut().zip(x).for_each(|(d, x)| *d += sigma * self.push * x / length);
        }
        denoised
    }
}

impl FlowModel for Pushed {
    fn anchor(&self) -> &Anchor {
        self.exact.anchor()
    }

    /// The push has the divergence 2/|x|.
    fn remainder(&self, x: &Points, sigma: f64) -> Remainder {
        let Remainder { mut value, mut divergence } = self.exact.remainder(x, sigma);
        for ((f, divergence), x) in value.rows_mut().zip(&mut divergence).zip(x.rows()) {
            let length = norm(x);
            f.iter_mut().zip(x).for_each(|(f, x)| *f += self.push * x / length);
            *divergence += 2.0 * self.push / length;
        }
        Remainder { value, divergence }
    }
}

fn normalised(denoiser: &dyn Denoiser, base: &dyn BaseMeasure, target: &Mixture) -> NormalisedBound {
    let sphere = Sphere::new(2).expect("a sphere");
    let model = DensityModel { denoiser, base, manifold: &sphere, range: RANGE };
    NormalisedBound::new(model, &|n| Some(target.draw(n, 21)))
}

fn grid() -> Points {
    Sphere::new(2).ok().and_then(|sphere| sphere.grid(4000)).expect("a grid of the sphere")
}

fn pushed(push: f64) -> (Pushed, Mixture, Arc<UniformSphere>) {
    let (target, base) = (target(), Arc::new(UniformSphere::new(3)));
    (Pushed { exact: Exact::new(target.clone(), Anchor::Base(base.clone())), push }, target, base)
}

#[test]
fn exact_and_slightly_wrong_denoisers_have_the_known_density() {
    for push in [0.0, 0.1] {
        let (model, target, base) = pushed(push);
        let density = normalised(&model, base.as_ref(), &target);
        let x0 = target.draw(1000, 5);
        let found = density.log_ratio(&model, base.as_ref(), &x0);
        let errors: Vec<f64> = found.iter().zip(x0.rows()).map(|(f, x)| f - target.log_ratio(x)).collect();
        let bias = mean_and_error(&errors).0;
        assert!(bias.abs() < 0.03, "push {push}: mean log-density off by {bias}");
        let total = integral(&density.log_ratio(&model, base.as_ref(), &grid()));
        assert!((total - 1.0).abs() < 0.01, "push {push}: integral {total}");
    }
}

#[test]
fn a_wrong_normal_component_does_not_change_the_integral() {
    let (model, target, base) = pushed(0.25);
    // The flow, read at the manifold alone, loses more than half of the mass.
    let read = integral(&log_ratio(&model, base.as_ref(), &grid(), &FlowConfig::new(RANGE)));
    assert!(read < 0.5, "the flow at the manifold integrates to {read}");
    let density = normalised(&model, base.as_ref(), &target);
    let total = integral(&density.log_ratio(&model, base.as_ref(), &grid()));
    assert!((total - 1.0).abs() < 0.01, "integral {total}");
    // Each unit of log σ takes push² from the mean of the bound; by Jensen's inequality log Z is not below that, and not above 0.
    let (lost, log_z) = (model.push.powi(2) * RANGE.log_length(), density.normaliser().log_value);
    assert!(-lost - 0.03 < log_z && log_z < -0.2, "log Z {log_z}, the bound loses {lost}");
}

/// The posterior mean of a base plus σ times waves that belong to no distribution.
struct Wavy(Arc<dyn BaseMeasure>);

impl Denoiser for Wavy {
    fn ambient_dim(&self) -> usize {
        self.0.ambient_dim()
    }

    fn denoise(&self, x: &Points, sigma: f64) -> Points {
        let mut denoised = mad_core::measure::posterior_means(self.0.as_ref(), x, &vec![sigma; x.len()]);
        let scale = sigma / (1.0 + sigma) / (x.dim() as f64).sqrt();
        for (d, x) in denoised.rows_mut().zip(x.rows()) {
            // Lebesgue measure leaves x where it is; a normal distribution takes its place.
            d.iter_mut().zip(x).filter(|(d, x)| **d == **x).for_each(|(d, x)| *d = x / (1.0 + sigma * sigma));
            let phase: f64 = x.iter().enumerate().map(|(i, x)| x * (1.0 + i as f64).sqrt()).sum();
            let shrink = (1.0 + dot(x, x)).sqrt();
            // Odd in x, as scores of rotations are.
            d.iter_mut().enumerate().for_each(|(i, d)| *d += scale * (2.0 * phase / shrink + i as f64 * phase).sin());
        }
        denoised
    }
}

#[test]
fn any_denoiser_has_a_density_that_integrates_to_one_and_is_no_worse_than_its_bound() {
    let context: BuildContext<'_> = mad_core::catalogue::context();
    let specs = MANIFOLDS.iter().flat_map(|entry| entry.examples);
    let mut tried = 0;
    for spec in specs {
        let manifold = build(spec, &context).expect("an example");
        if manifold.is_quotient() || manifold.ambient_dim() > 12 {
            continue;
        }
        tried += 1;
        let base = manifold.default_base();
        let range = NoiseRange { min: 0.02, max: 5.0 };
        let denoiser = Wavy(base.clone());
        let model = DensityModel { denoiser: &denoiser, base: base.as_ref(), manifold: manifold.as_ref(), range };
        let samples = |seed: u64| {
            let (denoiser, base, manifold) = (&denoiser, base.clone(), manifold.clone());
            move |n: usize| {
                let generate = Generate::new(&SAMPLERS[0], range, seed);
                Some(generate.collect(denoiser, base.as_ref(), manifold.as_ref(), n).ok()?.points)
            }
        };
        let effort = Effort { relative_error: 0.01, draws: 2048, seed: 9 };
        let density = NormalisedBound::with_effort(model, &samples(0), Effort { seed: 0, ..effort });
        let ratio = |x: &Points| density.log_ratio(&denoiser, base.as_ref(), x);
        let check =
            Normaliser::estimate(manifold.as_ref(), base.as_ref(), &ratio, &samples(7), effort).expect("an estimate");
        let error = check.relative_error.hypot(density.normaliser().relative_error);
        assert!((check.value() - 1.0).abs() < 4.0 * error + 1e-9, "{spec}: integral {} ± {error}", check.value());
        assert!(error < 0.15, "{spec}: the integral is known to ± {error} only");

        let mut x0 = Points::zeros(200, manifold.ambient_dim());
        let mut rng = stream(3, Purpose::Data, 0);
        x0.rows_mut().for_each(|x| base.sample(&mut rng, x));
        let config = BoundConfig { levels: 32, repeats: 2, seed: 5 };
        let bound = likelihood_bound(&denoiser, base.as_ref(), range, &x0, &config);
        let gaps: Vec<f64> = ratio(&x0).iter().zip(&bound.per_point).map(|(p, b)| p - b).collect();
        let (gap, spread) = mean_and_error(&gaps);
        assert!(gap > -2.0 * spread.hypot(error), "{spec}: density {gap} ± {spread} below the bound");
    }
    assert!(tried > 8, "{tried} manifolds");
}
