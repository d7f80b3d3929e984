//! What training minimises.

use super::{
    super::{Graded, MethodSpec, Objective, Validation, field_run::FieldRun},
    Model,
    fitted::FreeFormFlow,
};
use crate::{
    bridge,
    net::Layout,
    run::{Run, RunError},
};
use burn_tensor::{Device, Tensor};
use mad_core::{
    Points,
    measure::SphereBlock,
    riemannian::{Spheres, is_rotation},
    rng::{Purpose, Rng, stream},
    special::norm,
};
use rand_distr::{Distribution, StandardNormal};

/// Weights of the terms of the loss.
#[derive(Debug, Clone, Copy)]
struct Terms {
    nll: f64,
    reconstruction: f64,
    z_sample: f64,
    x_sample: f64,
    z_reconstruction: f64,
    z_projection: f64,
    x_projection: f64,
}

impl Terms {
    fn of(spec: &MethodSpec) -> Self {
        Self {
            nll: spec.number("nll"),
            reconstruction: spec.number("reconstruction"),
            z_sample: spec.number("z_sample"),
            x_sample: spec.number("x_sample"),
            z_reconstruction: spec.number("z_reconstruction"),
            z_projection: spec.number("z_projection"),
            x_projection: spec.number("x_projection"),
        }
    }
}

/// The length of probes: the root of the dimension in which they are said to lie. In the published code rotations are matrices.
pub(super) fn probe_length(spec: &MethodSpec, spheres: &Spheres) -> f64 {
    let published = |block: &SphereBlock| if is_rotation(block) { 9 } else { block.range.len() };
    let dimension = match spec.word("volume") {
        "ambient" => spheres.blocks().iter().map(published).sum(),
        _ => spheres.intrinsic_dim(),
    };
    (dimension as f64).sqrt()
}

/// A run of a free-form flow.
pub(super) struct Training<'a> {
    model: Model,
    data: FieldRun<'a>,
    terms: Terms,
    length: f64,
    noise: f64,
}

impl<'a> Training<'a> {
    pub fn open(model: Model, run: &'a Run) -> Result<Self, RunError> {
        let spec = &run.config().method;
        let length = probe_length(spec, &model.spheres);
        let (terms, noise) = (Terms::of(spec), spec.number("noise"));
        Ok(Self { model, data: FieldRun::open(run)?, terms, length, noise })
    }

    fn blurred(&self, x: &mut Points, rng: &mut Rng) {
        if self.noise == 0.0 {
            return;
        }
        for x in x.rows_mut() {
            x.iter_mut()
                .for_each(|x| *x += self.noise * <StandardNormal as Distribution<f64>>::sample(&StandardNormal, rng));
            self.model.spheres.normalise(x);
        }
    }
}

/// Random tangent vectors of this length at each row of `z`.
pub(super) fn probes(spheres: &Spheres, z: &Points, length: f64, rng: &mut Rng) -> Points {
    let mut probes = Points::zeros(z.len(), z.dim());
    for (z, v) in z.rows().zip(probes.rows_mut()) {
        spheres.tangent_normal(z, rng, v);
        let factor = length / norm(v);
        v.iter_mut().for_each(|v| *v *= factor);
    }
    probes
}

/// Mean over rows of the squared distance.
fn apart(a: Tensor<2>, b: Tensor<2>) -> Tensor<1> {
    let n = a.dims()[0] as f32;
    (a - b).square().sum() / n
}

impl Objective for Training<'_> {
    fn layout(&self) -> &Layout {
        &self.model.layout
    }

    fn initialise(&self, seed: u64) -> Vec<f32> {
        self.model.initialise(self.data.config, seed)
    }

    fn gradient(&self, weights: &mut Vec<f32>, step: u64, device: &Device) -> Graded {
        let Self { model, terms, .. } = self;
        let mut rng = stream(self.data.config.seed, Purpose::Train, step);
        let mut x = self.data.rows().draw(self.data.config.batch as usize, &mut rng).0;
        self.blurred(&mut x, &mut rng);
        let n = x.len();
        let latent = model.latent.distribution(&weights[model.latent_range()]);
        let mut drawn = || {
            let mut z = Points::zeros(n, x.dim());
            z.rows_mut().for_each(|z| latent.sample(&mut rng, z));
            bridge::tensor(&z, device)
        };
        let (z_drawn, x_drawn) = (drawn(), drawn());
        let x = bridge::tensor(&x, device);
        let (loss, gradient) = bridge::differentiate(weights, device, |weights| {
            let map = &model.map;
            let (fixed, learned) = (model.split(&weights.clone().detach()), model.split(&weights));
            let z = map.points(x.clone(), &fixed.encoder).points();
            let v = probes(&model.spheres, &bridge::points(z.clone()), self.length, &mut rng);
            let v = bridge::tensor(&v, device);
            let u = map.along(z, v.clone(), &fixed.decoder).tangents();
            let code = map.along(x.clone(), u, &learned.encoder);
            let z = code.points();
            let volume = (v * code.tangents()).sum();
            let likelihood = model.latent.log_density(z.clone(), &learned.latent).sum() + volume;
            let back = map.points(z.clone(), &learned.decoder);
            let mut loss = likelihood * (-terms.nll / n as f64) + apart(x, back.points()) * terms.reconstruction;
            let mut add = |weight: f64, term: &dyn Fn() -> Tensor<1>| {
                if weight > 0.0 {
                    loss = loss.clone() + term() * weight;
                }
            };
            add(terms.z_projection, &|| code.off_set() / n as f32);
            add(terms.x_projection, &|| back.off_set() / n as f32);
            add(terms.z_reconstruction, &|| apart(z.clone(), map.points(back.points(), &learned.encoder).points()));
            let (f, g) = (&learned.encoder, &learned.decoder);
            let around = |x: &Tensor<2>, first: &[Tensor<1>], second: &[Tensor<1>]| {
                apart(x.clone(), map.points(map.points(x.clone(), first).points(), second).points())
            };
            add(terms.z_sample, &|| around(&z_drawn, g, f));
            add(terms.x_sample, &|| around(&x_drawn, f, g));
            loss
        });
        Graded { loss, gradient, levels: Vec::new() }
    }

    fn validate(&self, weights: &[f32], step: u64) -> Option<Validation> {
        let newton = self.data.config.method.number("newton") as usize;
        let flow = FreeFormFlow::new(self.model.clone(), weights, self.data.run.manifold().clone(), newton);
        self.data.validate(step, |points| flow.read(points).per_point)
    }
}
