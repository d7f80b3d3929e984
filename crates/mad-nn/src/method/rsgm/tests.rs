use super::{
    fitted::log_densities,
    loss::{implicit, probes, square_and_divergence},
    *,
};
use crate::{
    bridge,
    config::{Config, Partial},
    device,
};
use mad_core::{
    Points,
    catalogue::{BuildContext, build},
    riemannian::{TangentField, heat_score, walk},
    rng::{Purpose, stream},
    special::dot,
};

const CASES: [(&str, &str); 6] = [
    ("sphere:2", "div-free"),
    ("sphere:2", "ambient"),
    ("so3", "lie-algebra"),
    ("so3", "div-free"),
    ("torus:3", "div-free"),
    ("product(so3,sphere:2)", "div-free"),
];

const TIME: f64 = 0.4;

/// Units of [`Case::linear`]: nine numbers of a rotation, its time, and 1.
const UNITS: usize = 11;

/// Number, unit and factor.
type Term = (usize, usize, f32);

/// A small network with its weights, and points to ask it at.
struct Case {
    network: FieldNetwork,
    noise: Noise,
    weights: Vec<f32>,
    x: Points,
}

impl Case {
    fn new(spec: &str, generator: &str) -> Self {
        Self::sized(spec, generator, "width = 24\ndepth = 2")
    }

    fn sized(spec: &str, generator: &str, size: &str) -> Self {
        let manifold = build(spec, &BuildContext::without_files()).expect("a known manifold");
        let text = format!("method = 'rsgm:generator={generator}'\n{size}");
        let settings = Partial::from_toml(&text, "test").expect("valid");
        let config = Config::resolve(&settings, manifold.as_ref()).expect("valid");
        let network = FieldNetwork::new(&config, manifold.as_ref(), generator).expect("made of spheres");
        let weights = network.layout().initialise_plainly(5);
        let mut x = Points::zeros(5, manifold.ambient_dim());
        let mut rng = stream(2, Purpose::Data, 0);
        x.rows_mut().for_each(|x| manifold.uniform().sample(&mut rng, x));
        Self { network, noise: Noise::of(&config.method), weights, x }
    }

    /// A network whose numbers are linear: number i has `factor` times unit j for each (i, j, factor) of `terms`. The first units are
    /// what the network is fed, the last one is 1.
    fn linear(spec: &str, generator: &str, terms: &[Term]) -> Self {
        let size = format!("width = {UNITS}\ndepth = 1\nactivation = 'identity'");
        let mut case = Self::sized(spec, generator, &size);
        case.weights.fill(0.0);
        let [fed, bias, output, _] = case.network.layout().slots() else { unreachable!("it has two layers") };
        (0..fed.shape[0]).for_each(|j| case.weights[fed.range.start + j * UNITS + j] = 1.0);
        case.weights[bias.range.end - 1] = 1.0;
        for &(i, j, factor) in terms {
            case.weights[output.range.start + j * output.shape[1] + i] = factor;
        }
        case
    }

    /// |s|² and div s of each row as the losses see them: along the whole basis, or along one direction by `signs`.
    fn seen(&self, signs: Option<&[f64]>) -> (Vec<f64>, Vec<f64>) {
        let (device, n) = (device::inference(), self.x.len());
        let places = self.network.places(&self.x, &device);
        let probes = signs.map(|signs| probes(&places.bases, signs, self.x.dim()));
        let directions = probes.as_ref().unwrap_or(&places.bases);
        let weights = bridge::vector_f32(self.weights.clone(), &device);
        let answer = self.network.answer(weights, &self.x, &vec![TIME; n], directions, &device);
        let signs = signs.map(|signs| bridge::matrix(signs, n, &device));
        let (square, divergence) = square_and_divergence(places, answer, signs);
        let scale = self.noise.scale(self.network.spheres(), TIME);
        let scaled = |tensor, factor: f64| bridge::numbers_f64::<2>(tensor).into_iter().map(|v| factor * v).collect();
        (scaled(square, scale * scale), scaled(divergence, scale))
    }
}

fn assert_close(found: f64, expected: f64, name: &str) {
    assert!((found - expected).abs() < 1e-4 * (1.0 + expected.abs()), "{name}: {found} {expected}");
}

/// What `ism` minimises is made of the score that samples and densities follow.
#[test]
fn the_implicit_loss_sees_the_divergence_of_the_score() {
    for (spec, generator) in CASES {
        let case = Case::new(spec, generator);
        let (squares, divergences) = case.seen(None);
        let (vectors, expected) = learned(&case.network, case.noise, &case.weights).with_divergence(&case.x, TIME);
        for (i, vector) in vectors.rows().enumerate() {
            assert_close(squares[i], dot(vector, vector), spec);
            assert_close(divergences[i], expected[i], spec);
        }
        assert!(divergences.iter().any(|v| v.abs() > 0.01), "{spec} {generator}: the test network is flat");
    }
}

/// |∇g|² and Δg of a function g at a point.
type Slopes = fn(&[f64]) -> (f64, f64);

/// The height g = z on S², whose densities exp(k g) are von Mises-Fisher's.
fn height(x: &[f64]) -> (f64, f64) {
    let z = x[2];
    (1.0 - z * z, -2.0 * z)
}

/// The trace g = 4w² − 1 of rotation matrices, whose densities exp(k g) are matrix Fisher's, in the Frobenius norm of matrices.
///
/// # Formula
/// By the rotation vector, which has √2 times its length in that norm, the first derivatives are −4w (x, y, z), and the second ones
/// along the axes sum to −2g: |∇g|² = 8w² (1 − w²), Δg = −g.
fn trace(q: &[f64]) -> (f64, f64) {
    let square = q[3] * q[3];
    (8.0 * square * (1.0 - square), 1.0 - 4.0 * square)
}

/// The whole of `ism` in the published units, for networks that are the score k ∇g of a known distribution with k = C/std.
///
/// # Formula
/// β (k² |∇g|²/2 + k Δg). Along the weights of the last layer, with which X grows, the derivative is β (k² |∇g|² + k Δg).
#[test]
fn the_implicit_loss_of_known_scores_is_the_published_one() {
    const C: f32 = 0.3;
    // As rotation vector ∇g is −2w (x, y, z), and the entries of R − Rᵀ are ±4w (x, y, z).
    let half = 0.5 * C;
    let turned: [Term; 6] = [(0, 7, -half), (0, 5, half), (1, 2, -half), (1, 6, half), (2, 3, -half), (2, 1, half)];
    let cases: [(&str, &str, &[Term], Slopes); 3] = [
        ("sphere:2", "ambient", &[(2, UNITS - 1, C)], height),
        // ∇z = x (x e_z − z e_x) + y (y e_z − z e_y): turns in two of the three planes.
        ("sphere:2", "div-free", &[(1, 0, C), (2, 1, C)], height),
        ("so3", "lie-algebra", &turned, trace),
    ];
    let times = [0.05, 0.2, 0.4, 0.7, 1.0];
    for (spec, generator, terms, slopes) in cases {
        let case = Case::linear(spec, generator, terms);
        let found = |x: &Points, t: &[f64]| {
            let (mut weights, device) = (case.weights.clone(), device::training());
            let (loss, gradient) = implicit(&case.network, case.noise, &mut weights, x, t, None, &device);
            let output = case.network.layout().slots()[2].range.clone();
            let along = gradient[output.clone()].iter().zip(&weights[output]).map(|(g, w)| f64::from(g * w));
            (loss, along.sum::<f64>())
        };
        let known = |x: &[f64], t: f64| {
            let (rate, elapsed) = (0.001 + 4.999 * t, 0.001 * t + 2.4995 * t * t);
            let k = f64::from(C) / (1.0 - (-elapsed).exp()).sqrt();
            let (square, laplacian) = slopes(x);
            (rate * (0.5 * k * k * square + k * laplacian), rate * (k * k * square + k * laplacian))
        };
        let mut mean = 0.0;
        for (x, t) in case.x.rows().zip(times) {
            let (found, known) = (found(&Points::from_vec(x.to_vec(), x.len()), &[t]), known(x, t));
            assert_close(found.0, known.0, &format!("{spec} {generator} after {t}"));
            assert_close(found.1, known.1, &format!("{spec} {generator} after {t}, gradient"));
            mean += known.0 / times.len() as f64;
        }
        assert_close(found(&case.x, &times).0, mean, &format!("{spec} {generator}, mean"));
    }
}

/// One direction is right on average: over all signs exactly.
#[test]
fn the_sliced_loss_is_the_implicit_one_on_average() {
    for (spec, generator) in CASES {
        let case = Case::new(spec, generator);
        let (n, d) = (case.x.len(), case.network.spheres().intrinsic_dim());
        let (squares, divergences) = case.seen(None);
        let (mut mean, mut apart) = (vec![0.0; n], 0.0f64);
        for pattern in 0..1 << d {
            let sign = |a: usize| if pattern >> a & 1 == 1 { 1.0 } else { -1.0 };
            let signs: Vec<f64> = (0..d).flat_map(|a| vec![sign(a); n]).collect();
            let (seen, sliced) = case.seen(Some(&signs));
            for i in 0..n {
                assert_close(seen[i], squares[i], spec);
                mean[i] += sliced[i] / f64::from(1 << d);
                apart = apart.max((sliced[i] - divergences[i]).abs());
            }
        }
        for (mean, expected) in mean.into_iter().zip(divergences) {
            assert_close(mean, expected, spec);
        }
        assert!(apart > 0.01, "{spec} {generator}: one direction tells everything");
    }
}

/// The published noise on rotations has unit variance in the Frobenius norm: the trace of R₀ᵀR_t, 3 in the beginning, decays as
/// exp(−B/2), so that the walk is not yet uniform when it ends. Its small-time score has the rotation vector from y to x₀ over B as
/// coefficients.
#[test]
fn noise_on_rotations_is_the_published_one() {
    let case = Case::new("so3", "lie-algebra");
    let (noise, spheres) = (case.noise, case.network.spheres());
    let elapsed = noise.time.elapsed(1.0);
    assert!((elapsed - 2.5005).abs() < 1e-12);
    let mut rng = stream(4, Purpose::Train, 0);
    let n = 20_000;
    let trace = |_| {
        let mut q = [0.0, 0.0, 0.0, 1.0];
        walk(spheres, &mut q, noise.on_sphere(spheres), (0.0, 1.0), noise.walk, &mut rng);
        4.0 * q[3] * q[3] - 1.0
    };
    let mean = (0..n).map(trace).sum::<f64>() / f64::from(n);
    // The trace has a deviation below 1.2; the walk of 100 steps is 1 % off.
    assert!((mean / 3.0 - (-elapsed / 2.0).exp()).abs() < 0.012, "{} {}", mean / 3.0, (-elapsed / 2.0).exp());

    let (angle, t) = (0.3f64, 0.1);
    let y = [(0.5 * angle).sin(), 0.0, 0.0, (0.5 * angle).cos()];
    let mut target = [0.0; 4];
    Loss::Varadhan.target(noise, spheres, &[0.0, 0.0, 0.0, 1.0], &y, t, &mut target);
    // The field of the network's first number there is q ⊗ i; its factor turns numbers into the score.
    let number = dot(&target, &[y[3], 0.0, 0.0, -y[0]]) / noise.scale(spheres, t);
    assert_close(number / noise.deviation(t), -angle / noise.time.elapsed(t), "coefficient of the score");
}

/// The heat kernel of rotations after time `elapsed` against the uniform distribution, where unit quaternions are `angle` apart.
///
/// # Formula
/// √(2π/e) exp(e/2)/4e Σ_j (−1)^j (θ + jπ) exp(−(θ + jπ)²/2e)/sin θ, which is the series of characters by Poisson's formula.
fn kernel_of_rotations(angle: f64, elapsed: f64) -> f64 {
    let term = |j: i32| {
        let around = angle + f64::from(j) * std::f64::consts::PI;
        let sign = if j % 2 == 0 { 1.0 } else { -1.0 };
        sign * around * (-0.5 * around * around / elapsed).exp()
    };
    let factor = (std::f64::consts::TAU / elapsed).sqrt() * (0.5 * elapsed).exp() / (4.0 * elapsed);
    factor * (-6..=6).map(term).sum::<f64>() / angle.sin()
}

/// The heat kernel of S² after time `elapsed` against the uniform distribution, where points are `angle` apart.
///
/// # Formula
/// Σ_k (2k + 1) exp(−k (k + 1) e/2) P_k(cos θ) with (k + 1) P_{k+1} = (2k + 1) c P_k − k P_{k−1}.
fn kernel_of_the_sphere(angle: f64, elapsed: f64) -> f64 {
    let (mut before, mut legendre, mut sum) = (0.0, 1.0, 0.0);
    for k in (0..40).map(f64::from) {
        sum += (2.0 * k + 1.0) * (-0.5 * k * (k + 1.0) * elapsed).exp() * legendre;
        (before, legendre) = (legendre, ((2.0 * k + 1.0) * angle.cos() * legendre - k * before) / (k + 1.0));
    }
    sum
}

/// A heat kernel by angle and time.
type Kernel = fn(f64, f64) -> f64;

/// The score of noise that started at one point.
struct Heat<'a> {
    spheres: &'a Spheres,
    start: &'a [f64],
    time: TimeChange,
    kernel: Kernel,
}

impl Heat<'_> {
    /// Log-density against the uniform distribution.
    fn log_ratio(&self, x: &[f64], elapsed: f64) -> f64 {
        (self.kernel)(dot(x, self.start).acos(), elapsed).ln()
    }
}

impl TangentField for Heat<'_> {
    fn at(&self, x: &Points, t: f64) -> Points {
        let mut scores = x.clone();
        for (score, x) in scores.rows_mut().zip(x.rows()) {
            heat_score(self.spheres, self.start, x, self.time.elapsed(t), 40, score);
        }
        scores
    }

    /// ∂p/∂B = Δp/2, so div ∇ log p = 2 ∂ log p/∂B − |∇ log p|².
    fn with_divergence(&self, x: &Points, t: f64) -> (Points, Vec<f64>) {
        let scores = self.at(x, t);
        let (elapsed, h) = (self.time.elapsed(t), 1e-4 * self.time.elapsed(t));
        let divergence = |(x, s): (&[f64], &[f64])| {
            (self.log_ratio(x, elapsed + h) - self.log_ratio(x, elapsed - h)) / h - dot(s, s)
        };
        let divergences = x.rows().zip(scores.rows()).map(divergence).collect();
        (scores, divergences)
    }
}

/// With the exact score of one point the probability flow finds the heat kernel at the earliest time.
#[test]
fn densities_of_the_exact_score_are_the_heat_kernel() {
    // Slow in the beginning, and uniform up to 9 exp(−20) in the end, on rotations, whose time is B/8.
    let noise = Noise { time: TimeChange { start: 4.0, end: 76.0 }, time_min: 0.1, walk: 1 };
    let kernels: [(&str, Kernel); 2] = [("sphere:2", kernel_of_the_sphere), ("so3", kernel_of_rotations)];
    for (spec, kernel) in kernels {
        let manifold = build(spec, &BuildContext::without_files()).expect("known");
        let spheres = Spheres::of(manifold.as_ref()).expect("made of spheres");
        let mut points = Points::zeros(21, manifold.ambient_dim());
        let mut rng = stream(2, Purpose::Data, 0);
        points.rows_mut().for_each(|x| manifold.uniform().sample(&mut rng, x));
        let (start, x) = (points.row(20).to_vec(), points.head(20));
        let time = noise.on_sphere(&spheres);
        let score = Heat { spheres: &spheres, start: &start, time, kernel };
        let found = log_densities(&score, &spheres, noise, manifold.as_ref(), &x, 200);
        for (found, x) in found.into_iter().zip(x.rows()) {
            let expected = score.log_ratio(x, time.elapsed(noise.time_min)) - manifold.log_volume();
            // Twice as many steps make the error 16 times less; half as many are 7e-4 off.
            assert!((found - expected).abs() < 1e-4, "{spec}: {found} {expected}");
        }
    }
}

/// From B = 1/2 on `dsm0` aims at the score of the heat kernel, on rotations too, where the sphere's own time is B/8.
#[test]
fn heat_targets_on_rotations_are_scores_of_the_heat_kernel() {
    let case = Case::new("so3", "lie-algebra");
    let (noise, spheres) = (case.noise, case.network.spheres());
    let x0 = [1.0, 0.0, 0.0, 0.0];
    let along = |loss: Loss, angle: f64, t: f64| {
        let mut target = [0.0; 4];
        loss.target(noise, spheres, &x0, &[angle.cos(), angle.sin(), 0.0, 0.0], t, &mut target);
        dot(&target, &[-angle.sin(), angle.cos(), 0.0, 0.0])
    };
    for angle in [0.1, 0.7, 1.3, 1.5, 2.2] {
        for t in [0.5, 0.7, 1.0] {
            assert!(noise.time.elapsed(t) > 0.5);
            let (elapsed, h) = (noise.on_sphere(spheres).elapsed(t), 1e-5);
            let log = |angle: f64| kernel_of_rotations(angle, elapsed).ln();
            let expected = (log(angle + h) - log(angle - h)) / (2.0 * h);
            assert_close(along(Loss::Heat, angle, t), expected, &format!("{angle} after {t}"));
        }
        assert!(noise.time.elapsed(0.4) < 0.5);
        assert_eq!(along(Loss::Heat, angle, 0.4), along(Loss::Varadhan, angle, 0.4));
    }
    // Half a turn away the kernel is nearly flat in the end, where Varadhan's formula is steepest.
    assert!(along(Loss::Heat, 1.5, 1.0).abs() < 0.5 * along(Loss::Varadhan, 1.5, 1.0).abs());
}
