//! Fitted base measures, against densities that are known.

use mad_core::Points;
use mad_core::catalogue::{
    BuildContext, build,
    datasets::{so3_mixture::So3Mixture, vmf_mixture::vmf_mixture},
};
use mad_core::estimate::{BaseChoice, FitError, FitOptions, fit_kde, fit_mixture, mean_log_weight};
use mad_core::manifold::{FiniteSet, Manifold, PointTable};
use mad_core::measure::{BaseMeasure, Component, MixtureError, VonMisesFisherMixture};
use mad_core::rng::{Purpose, Rng, stream};
use rand::RngExt;
use std::sync::Arc;

fn manifold(spec: &str) -> Arc<dyn Manifold> {
    build(spec, &BuildContext::without_files()).unwrap()
}

fn draw(n: usize, dim: usize, index: u64, mut sample: impl FnMut(&mut Rng, &mut [f64])) -> Points {
    let mut rng = stream(9, Purpose::Data, index);
    let mut points = Points::zeros(n, dim);
    points.rows_mut().for_each(|x| sample(&mut rng, x));
    points
}

/// Training, validation and test points.
fn parts(n: [usize; 3], dim: usize, mut sample: impl FnMut(&mut Rng, &mut [f64])) -> [Points; 3] {
    [0, 1, 2].map(|i| draw(n[i], dim, i as u64, &mut sample))
}

/// Few sizes, so that tests are quick.
fn options(stacked: bool) -> FitOptions {
    let options = if stacked { FitOptions::default() } else { FitOptions::plain() };
    FitOptions { sizes: vec![5, 10, 20], ..options }
}

/// How much lower the mean log-density of the test points is than the true one.
fn gap(choice: &BaseChoice, m: &dyn Manifold, test: &Points, truth: impl Fn(&[f64]) -> f64) -> f64 {
    let exact = test.rows().map(truth).sum::<f64>() / test.len() as f64;
    exact - mean_log_weight(choice.build(m).unwrap().as_ref(), test)
}

fn size(choice: &BaseChoice) -> usize {
    let BaseChoice::Mixture { components } = choice else { panic!("{choice:?} is no mixture") };
    components.len()
}

#[test]
fn mixtures_and_kernels_come_near_a_known_density_on_the_sphere() {
    let truth = vmf_mixture(2, 8, 60.0, 3);
    let m = manifold("sphere:2");
    let [train, validation, test] = parts([4000, 500, 4000], 3, |rng, x| truth.sample(rng, x));
    // A free parameter costs 1/2n nats: 4 for each of 20 components are 0.01.
    for stacked in [false, true] {
        let fitted = fit_mixture(m.as_ref(), &train, &validation, &options(stacked)).unwrap();
        let gap = gap(&fitted.choice, m.as_ref(), &test, |x| truth.log_weight(x));
        assert!((-0.005..0.02).contains(&gap), "stacked {stacked}: {gap}");
        let again = mean_log_weight(fitted.choice.build(m.as_ref()).unwrap().as_ref(), &validation);
        assert!((fitted.validation - again).abs() < 1e-12, "{} and {again}", fitted.validation);
    }
    let fitted = fit_kde(m.as_ref(), &train, &validation, &options(false)).unwrap();
    let kernels = gap(&fitted.choice, m.as_ref(), &test, |x| truth.log_weight(x));
    assert!((0.01..0.08).contains(&kernels), "kernels: {kernels}");
    assert_eq!(size(&fitted.choice), 4000);
}

#[test]
fn mixtures_and_kernels_come_near_a_known_density_on_rotations() {
    let truth = So3Mixture::new(8, 1);
    let m = manifold("so3");
    let [train, validation, test] = parts([4000, 500, 4000], 4, |rng, q| truth.sample(rng, q));
    for stacked in [false, true] {
        let fitted = fit_mixture(m.as_ref(), &train, &validation, &options(stacked)).unwrap();
        let mixture = gap(&fitted.choice, m.as_ref(), &test, |q| truth.log_density(q));
        assert!((-0.005..0.03).contains(&mixture), "stacked {stacked}: {mixture}");
    }
    let fitted = fit_kde(m.as_ref(), &train, &validation, &options(false)).unwrap();
    let kernels = gap(&fitted.choice, m.as_ref(), &test, |q| truth.log_density(q));
    assert!((0.01..0.15).contains(&kernels), "kernels: {kernels}");
    // A rotation is both of its quaternions.
    let base = fitted.choice.build(m.as_ref()).unwrap();
    let q = test.row(0);
    let opposite: Vec<f64> = q.iter().map(|x| -x).collect();
    assert!((base.log_weight(q) - base.log_weight(&opposite)).abs() < 1e-12);
}

/// Then the score behind the weights is that of the fit itself; with folds it is that of other fits.
#[test]
fn enough_spare_validation_rows_set_the_weights() {
    let (m, target) = (manifold("so3"), So3Mixture::new(4, 1));
    let [train, validation, test] = parts([3000, 3000, 4000], 4, |rng, x| target.sample(rng, x));
    // As many rows, but of few places: what suits these need not suit others.
    let repeated: Vec<usize> = (0..3000).map(|row| row % 2499).collect();
    for (validation, alone) in
        [(validation.clone(), true), (validation.head(2500), true), (validation.select(&repeated), false)]
    {
        let fitted = fit_mixture(m.as_ref(), &train, &validation, &options(true)).unwrap();
        let difference = (fitted.tried[0].validation - fitted.validation).abs();
        assert_eq!(difference < 1e-9, alone, "{} rows: {difference}", validation.len());
        let gap = gap(&fitted.choice, m.as_ref(), &test, |x| target.log_density(x));
        assert!((-0.005..0.02).contains(&gap), "{} rows: {gap}", validation.len());
    }
}

#[test]
fn rows_reserved_for_early_stopping_do_not_change_the_fit() {
    let (m, target) = (manifold("so3"), So3Mixture::new(4, 1));
    let [train, validation, other] = parts([1000, 2800, 300], 4, |rng, x| target.sample(rng, x));
    let mut changed = other.clone();
    changed.extend(&validation.select(&(300..2800).collect::<Vec<_>>()));
    let fit = |validation: &Points, reserved: usize| {
        let options = FitOptions { reserved, ..options(true) };
        fit_mixture(m.as_ref(), &train, validation, &options).unwrap().choice
    };
    assert_eq!(fit(&validation, 300), fit(&changed, 300));
    assert_ne!(fit(&validation, 0), fit(&changed, 0), "spare rows set the weights");
    // With too few spare rows the training part alone decides.
    assert_eq!(fit(&validation, 301), fit(&other, 301));
}

/// Half of the rows repeat another one, as in catalogues of events at known places.
#[test]
fn copies_do_not_make_the_prediction_of_new_places_worse() {
    let (m, truth) = (manifold("sphere:2"), vmf_mixture(2, 8, 60.0, 3));
    let [places, new, test] = parts([2000, 200, 4000], 3, |rng, x| truth.sample(rng, x));
    let mut rng = stream(3, Purpose::Data, 0);
    let mut copies =
        |count: usize| -> Points { places.select(&(0..count).map(|_| rng.random_range(0..2000)).collect::<Vec<_>>()) };
    let (mut train, mut validation) = (places.clone(), new);
    train.extend(&copies(2000));
    validation.extend(&copies(200));
    for stacked in [false, true] {
        let fitted = fit_mixture(m.as_ref(), &train, &validation, &options(stacked)).unwrap();
        let gap = gap(&fitted.choice, m.as_ref(), &test, |x| truth.log_weight(x));
        assert!((-0.005..0.05).contains(&gap), "stacked {stacked}: {gap}");
    }
    let fitted = fit_kde(m.as_ref(), &train, &validation, &options(true)).unwrap();
    let kernels = gap(&fitted.choice, m.as_ref(), &test, |x| truth.log_weight(x));
    assert!((0.0..0.15).contains(&kernels), "kernels: {kernels}");
}

#[test]
fn mixtures_see_how_spheres_of_a_product_depend_on_each_other() {
    let m = manifold("product(sphere:2,torus:2)");
    let mut rng = stream(4, Purpose::Data, 0);
    let component = |i: usize| {
        let mut mean = vec![0.0; 7];
        m.uniform().sample(&mut rng, &mut mean);
        Component { weight: 1.0 + i as f64, mean, concentrations: vec![30.0, 8.0 + 10.0 * i as f64, 50.0] }
    };
    let truth = VonMisesFisherMixture::on(m.as_ref(), (0..4).map(component).collect()).unwrap();
    let [train, validation, test] = parts([3000, 500, 3000], 7, |rng, x| truth.sample(rng, x));
    let [mixture, _] = [false, true].map(|stacked| {
        let fitted = fit_mixture(m.as_ref(), &train, &validation, &options(stacked)).unwrap();
        let mixture = gap(&fitted.choice, m.as_ref(), &test, |x| truth.log_weight(x));
        assert!((-0.005..0.04).contains(&mixture), "stacked {stacked}: {mixture}");
        mixture
    });
    let fitted = fit_kde(m.as_ref(), &train, &validation, &options(false)).unwrap();
    let kernels = gap(&fitted.choice, m.as_ref(), &test, |x| truth.log_weight(x));
    assert!((mixture..0.8).contains(&kernels), "kernels: {kernels}");
}

#[test]
fn layers_help_where_points_are_dense_and_sparse() {
    // Half of the points lie in a thousandth of the area: no single width suits both.
    let component = |mean: [f64; 3], kappa: f64| Component::new(1.0, mean.to_vec(), kappa);
    let coarse = (0..6).map(|i| component(unit([(i as f64).sin(), (2.0 * i as f64).cos(), 0.5]), 5.0));
    let fine = (0..40).map(|i| component(unit([1.0, 0.02 * (i as f64).sin(), 0.02 * (1.7 * i as f64).cos()]), 3e5));
    let parts_of = |c: Component, n: usize| Component { weight: 1.0 / n as f64, ..c };
    let all = coarse.map(|c| parts_of(c, 6)).chain(fine.map(|c| parts_of(c, 40))).collect();
    let m = manifold("sphere:2");
    let truth = VonMisesFisherMixture::on(m.as_ref(), all).unwrap();
    let [train, validation, test] = parts([2400, 400, 4000], 3, |rng, x| truth.sample(rng, x));
    let fit = |stacked: bool, kernels: usize| {
        let sizes = vec![12, 50, 200, 800];
        let options = FitOptions { sizes, stacked, kernels, ..FitOptions::default() };
        let fitted = fit_mixture(m.as_ref(), &train, &validation, &options).unwrap();
        // Four fits with a background each, sharp and wide, and one more background.
        assert!(size(&fitted.choice) <= 2 * 1066 + 1 + 5 * kernels * 2400, "{} components", size(&fitted.choice));
        gap(&fitted.choice, m.as_ref(), &test, |x| truth.log_weight(x))
    };
    let (plain, stacked, with_kernels) = (fit(false, 0), fit(true, 0), fit(true, 2));
    assert!(stacked < plain && stacked < 0.2, "plain {plain}, stacked {stacked}");
    assert!(with_kernels < stacked - 0.01, "stacks of fits {stacked}, and of kernels {with_kernels}");
}

/// Every place is read again and again, a hundred metres off: no mixture of one width for several places can represent that.
#[test]
fn kernels_know_that_rows_come_again_where_rows_were() {
    let m = manifold("sphere:2");
    let places = draw(600, 3, 7, |rng, x| m.uniform().sample(rng, x));
    let kernel = |x: &[f64]| Component::new(1.0, x.to_vec(), 1e7);
    let truth = VonMisesFisherMixture::on(m.as_ref(), places.rows().map(kernel).collect()).unwrap();
    let [train, validation, test] = parts([2400, 300, 2000], 3, |rng, x| truth.sample(rng, x));
    let fit = |kernels: usize| {
        let fitted = fit_mixture(m.as_ref(), &train, &validation, &FitOptions { kernels, ..options(true) }).unwrap();
        // What cross-validation promises is what comes.
        let (promised, found) = (fitted.tried[0].validation, fitted.validation);
        assert!((promised - found).abs() < 0.35, "{kernels} kernels: {promised} and {found}");
        gap(&fitted.choice, m.as_ref(), &test, |x| truth.log_weight(x))
    };
    let (without, with) = (fit(0), fit(4));
    assert!(with < 1.0 && with < without - 4.0, "without kernels {without}, with them {with}");
}

fn unit(x: [f64; 3]) -> [f64; 3] {
    let length = x.iter().map(|x| x * x).sum::<f64>().sqrt();
    x.map(|x| x / length)
}

#[test]
fn fits_do_not_depend_on_the_number_of_threads() {
    let truth = vmf_mixture(2, 5, 200.0, 1);
    let m = manifold("sphere:2");
    let [train, validation, _] = parts([1500, 200, 0], 3, |rng, x| truth.sample(rng, x));
    let fit = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mixture = fit_mixture(m.as_ref(), &train, &validation, &options(true)).unwrap();
            (mixture, fit_kde(m.as_ref(), &train, &validation, &options(true)).unwrap())
        })
    };
    let one = fit(1);
    assert_eq!(one, fit(3));
    let other = FitOptions { seed: 1, ..options(true) };
    assert_ne!(one.0, fit_mixture(m.as_ref(), &train, &validation, &other).unwrap(), "the seed is used");
}

#[test]
fn repeated_points_make_no_spike_even_if_validation_repeats_them() {
    let m = manifold("sphere:2");
    let uniform = m.uniform();
    let mut rng = stream(2, Purpose::Data, 0);
    let mut points = draw(400, 3, 5, |rng, x| uniform.sample(rng, x));
    for row in 0..200 {
        points.row_mut(row).copy_from_slice(&[0.0, 0.6, 0.8]);
    }
    let [train, repeating] = [0, 1].map(|_| {
        let rows: Vec<usize> = (0..400).map(|_| rng.random_range(0..400)).collect();
        points.select(&rows)
    });
    let new = draw(400, 3, 6, |rng, x| uniform.sample(rng, x));
    for stacked in [false, true] {
        for validation in [&repeating, &new] {
            let fitted = fit_mixture(m.as_ref(), &train, validation, &options(stacked)).unwrap();
            let BaseChoice::Mixture { components } = &fitted.choice else { panic!("no mixture") };
            // 200 copies and c imagined points of spread s: κ = (200 + c)/(c s), with s a few hundredths for 5 to 20 starts.
            let sharp: f64 = components.iter().filter(|c| c.concentrations[0] > 1e6).map(|c| c.weight).sum();
            assert!(sharp < 1e-3, "stacked {stacked}: {sharp} of the mass is in spikes");
            assert!(components.iter().all(|c| c.weight.is_finite() && c.weight > 0.0));
            let base = fitted.choice.build(m.as_ref()).unwrap();
            assert!(base.log_weight(&[0.0, -0.6, -0.8]).is_finite());
        }
    }
    let fitted = fit_kde(m.as_ref(), &train, &repeating, &options(false)).unwrap();
    let BaseChoice::Mixture { components } = &fitted.choice else { panic!("no mixture") };
    assert!(components[0].concentrations[0] < 1e3, "kernels of concentration {}", components[0].concentrations[0]);
}

#[test]
fn frequencies_are_smoothed_as_the_closed_form_says() {
    let points = Points::from_vec(vec![0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 1.0], 2);
    let set = FiniteSet::new("corners.csv", PointTable { points: points.clone(), weights: None }).unwrap();
    // 12, 3, 1 and 0 of 16 in training.
    let rows = |counts: [usize; 4]| -> Vec<usize> { (0..4).flat_map(|i| vec![i; counts[i]]).collect() };
    let (train, validation) = (points.select(&rows([12, 3, 1, 0])), points.select(&rows([5, 3, 1, 1])));
    let fitted = fit_mixture(&set, &train, &validation, &FitOptions::default()).unwrap();
    let BaseChoice::Frequencies { weights } = &fitted.choice else { panic!("{:?}", fitted.choice) };
    // (n + α)/(16 + 4α), from the point that was not seen.
    let alpha = 16.0 * weights[0][3] / (1.0 - 4.0 * weights[0][3]);
    for (w, n) in weights[0].iter().zip([12.0, 3.0, 1.0, 0.0]) {
        assert!((w - (n + alpha) / (16.0 + 4.0 * alpha)).abs() < 1e-12, "{weights:?}");
    }
    // d/dα of 12 ln(11+α) + 3 ln(2+α) + ln α − 16 ln(15+4α) vanishes at the best α, whatever the validation rows.
    let slope = 12.0 / (11.0 + alpha) + 3.0 / (2.0 + alpha) + 1.0 / alpha - 64.0 / (15.0 + 4.0 * alpha);
    assert!(slope.abs() < 1e-2, "α = {alpha}: slope {slope}");
    assert_eq!(fitted.choice, fit_mixture(&set, &train, &train, &FitOptions::default()).unwrap().choice);
    let base = fitted.choice.build(&set).unwrap();
    assert!((base.log_weight(&[0.0, 1.0]) - weights[0][2].ln()).abs() < 1e-12);
    assert_eq!(fitted, fit_kde(&set, &train, &validation, &FitOptions::default()).unwrap());
    // Weights of another set are refused.
    let other = BaseChoice::Frequencies { weights: vec![vec![0.5, 0.5]] };
    assert!(matches!(other.build(&set), Err(MixtureError::Frequencies { .. })));
    assert!(matches!(fitted.choice.build(manifold("sphere:2").as_ref()), Err(MixtureError::Frequencies { .. })));
}

#[test]
fn tables_of_categories_get_a_product_of_frequencies() {
    let table = manifold("categorical:3,2");
    let probabilities = [[0.7, 0.2, 0.1], [0.4, 0.6, 0.0]];
    let [train, validation, _] = parts([20_000, 2000, 0], 5, |rng, x| {
        x.fill(0.0);
        for (column, start) in [(0, 0), (1, 3)] {
            let u: f64 = rng.random();
            let level =
                if u < probabilities[column][0] { 0 } else { 1 + usize::from(u > 1.0 - probabilities[column][2]) };
            x[start + level] = 1.0;
        }
    });
    let fitted = fit_mixture(table.as_ref(), &train, &validation, &FitOptions::default()).unwrap();
    let base = fitted.choice.build(table.as_ref()).unwrap();
    // Standard errors of frequencies are below 0.0035.
    let probability = base.log_weight(&[0.0, 1.0, 0.0, 0.0, 1.0]).exp();
    assert!((probability - 0.2 * 0.6).abs() < 0.012, "{probability}");
    assert!((fitted.validation - mean_log_weight(base.as_ref(), &validation)).abs() < 1e-12);
    assert_eq!(fitted.choice.name(), "mixture");
}

#[test]
fn what_cannot_be_fitted_is_said() {
    let points = Points::zeros(5, 3);
    let refused = |spec: &str, train: &Points, validation: &Points| {
        let options = FitOptions::default();
        let errors =
            [fit_mixture, fit_kde].map(|fit| fit(manifold(spec).as_ref(), train, validation, &options).unwrap_err());
        assert_eq!(errors[0], errors[1]);
        errors[0].clone()
    };
    for spec in ["euclid:3", "so3/C4", "product(so3,euclid:3)", "product(categorical:2,sphere:2)"] {
        let error = refused(spec, &points, &points);
        assert_eq!(error, FitError::Manifold { spec: spec.into() });
        assert!(error.to_string().contains("use the uniform base"), "{error}");
    }
    let nothing = Points::new(3);
    assert_eq!(refused("sphere:2", &nothing, &points), FitError::Empty { part: "training" });
    assert_eq!(refused("sphere:2", &points, &nothing), FitError::Empty { part: "validation" });
    assert_eq!(refused("categorical:3", &points, &nothing), FitError::Empty { part: "validation" });
}

#[test]
fn few_points_are_enough_for_something() {
    let m = manifold("sphere:2");
    let one = Points::from_vec(vec![0.0, 0.6, 0.8], 3);
    for stacked in [false, true] {
        let fitted = fit_mixture(m.as_ref(), &one, &one, &options(stacked)).unwrap();
        assert!(fitted.validation.is_finite(), "{fitted:?}");
        assert!(fitted.choice.build(m.as_ref()).is_ok());
    }
    assert!(fit_kde(m.as_ref(), &one, &one, &options(true)).unwrap().validation.is_finite());
}
