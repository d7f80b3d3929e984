//! The library as other programs use it: the builder, the model, a manifold and a base measure of one's own, and the prelude.

use mad_nn::{prelude::*, run::RunError};
use std::sync::Arc;

/// A fit that takes no time.
fn quick(fit: Fit) -> Fit {
    fit.steps(3).set("width", 4).set("depth", 1).set("batch", 8).seed(5)
}

/// Directions near the poles.
fn directions(n: usize) -> Points {
    let mut rng = stream(3, Purpose::Data, 0);
    let mut points = Points::zeros(n, 3);
    for (i, x) in points.rows_mut().enumerate() {
        UniformSphere::new(3).sample(&mut rng, x);
        x[2] += if i % 3 == 0 { -2.0 } else { 2.0 };
        Sphere::new(2).unwrap().project(x);
    }
    points
}

/// A sphere that the catalogue does not know.
#[derive(Debug)]
struct Own(Sphere);

impl Manifold for Own {
    fn spec(&self) -> String {
        "own".into()
    }
    fn ambient_dim(&self) -> usize {
        self.0.ambient_dim()
    }
    fn intrinsic_dim(&self) -> usize {
        self.0.intrinsic_dim()
    }
    fn log_volume(&self) -> f64 {
        self.0.log_volume()
    }
    fn project(&self, x: &mut [f64]) {
        self.0.project(x)
    }
    fn uniform(&self) -> Arc<dyn BaseMeasure> {
        self.0.uniform()
    }
}

#[test]
fn a_run_without_a_folder_is_gone_with_its_model() {
    let points = directions(60);
    let model = quick(Fit::points(&points, "sphere:2")).run().unwrap();
    let folder = model.run().path().to_owned();
    let clone = model.run().clone();
    let samples = model.sample(20, 1).unwrap();
    assert_eq!(samples, model.sample(20, 1).unwrap());
    assert!(model.log_density(&samples).unwrap().iter().all(|nats| nats.is_finite()));
    assert_eq!(model.encode(&samples)[0].len(), 3, "in the coordinates that were given");
    drop(model);
    assert!(folder.join("run.json").is_file(), "a clone is in use");
    assert_eq!(clone.part(Part::Train).unwrap().len() + clone.part(Part::Test).unwrap().len(), 54);
    drop(clone);
    assert!(!folder.exists());
}

#[test]
fn a_kept_run_is_opened_continued_and_written() {
    let folder = tempfile::tempdir().unwrap();
    let (out, file) = (folder.path().join("run"), folder.path().join("quakes.csv"));
    let table = datasets::make("earthquakes-week", None, 0, 0, None).unwrap();
    let fit = || quick(Fit::table(&table, "sphere:2")).set("base", "uniform").out(&out);
    let model = fit().run().unwrap();
    let samples = model.sample(30, 2).unwrap();
    assert_eq!(Model::open(&out).unwrap().sample(30, 2).unwrap(), samples);
    assert!(matches!(fit().run(), Err(Error::Train(_))), "the folder is taken");
    assert_eq!(fit().resume(true).train().unwrap().step, 3);
    assert_eq!(Fit::continued(&out).train().unwrap().outcome, Outcome::Finished);
    let elsewhere = Fit::continued(&out).out(folder.path().join("other")).train();
    assert!(matches!(elsewhere, Err(Error::Settled { keys }) if keys == "out"));

    model.write(&file, &samples).unwrap();
    let read = model.decode(&read(&file, &ReadOptions::default()).unwrap()).unwrap();
    let apart = read.as_slice().iter().zip(samples.as_slice()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(apart < 1e-12, "{apart}");
    assert_eq!(quick(Fit::file(&file, "sphere:2")).run().unwrap().header(), model.header());
}

#[test]
fn points_of_products_keep_their_coordinates_and_units() {
    let mut points = Points::new(7);
    for (i, x) in directions(60).rows().enumerate() {
        let length = (1.0 + x[0] * x[0]).sqrt();
        points.push(&[x[0] / length, 0.0, 0.0, 1.0 / length, 1000.0 + i as f64, x[1], x[2]]);
    }
    let model = quick(Fit::points(&points, "product(so3,euclid:3)")).run().unwrap();
    let part = model.run().part(Part::Test).unwrap();
    assert!(part.rows().all(|x| x[4].abs() < 5.0), "real coordinates are standardised");
    let rows = model.encode(&part);
    assert!(rows.iter().all(|row| matches!(row[4], Cell::Number(v) if (999.0..1061.0).contains(&v))), "{rows:?}");
}

#[test]
fn mistakes_are_said_when_the_fit_is_made() {
    let points = directions(30);
    let text = |fit: Fit| fit.run().err().expect("a mistake").to_string();
    let settings = text(Fit::points(&points, "sphere:2").set("step", 3).set("width", "wide"));
    assert!(settings.contains("Fit::set") && settings.contains("`steps`"), "{settings}");
    assert!(text(Fit::points(&points, "sphere:2").steps(u64::MAX)).contains("steps"));
    assert!(text(Fit::points(&points, "sphere:3")).contains("4 coordinates"));
    assert!(text(Fit::points(&Points::new(3), "sphere:2")).contains("no data rows"));
    assert!(text(Fit::points(&points, "spheer:2")).contains("sphere"));
    let off = Points::from_vec(vec![2.0; 3], 3);
    assert!(text(Fit::points(&off, "sphere:2")).contains("sphere:2"));
    assert!(text(Fit::continued("nowhere").steps(3)).contains("steps"));
    assert!(matches!(Fit::continued("nowhere").run(), Err(Error::Run(RunError::NotARun { .. }))));
}

#[test]
fn conditions_are_given_in_the_units_of_the_data() {
    let points = directions(90);
    let rows = points.rows().flat_map(|x| [x[0], x[1], x[2], 1000.0 + 5.0 * x[2].signum()]).collect();
    let header = ["x0", "x1", "x2", "side"].map(str::to_owned).to_vec();
    let table = Table::numbers("sides", Some(header), 4, rows);
    let fit = || quick(Fit::table(&table, "sphere:2").set("condition", "side"));
    let mut model = fit().run().unwrap();
    let mean = model.sample(20, 1).unwrap();
    model.given(&[1005.0]).unwrap();
    let north = model.sample(20, 1).unwrap();
    model.given(&[995.0]).unwrap();
    assert!(mean != north && north != model.sample(20, 1).unwrap());
    for (error, part) in [(model.given(&[]), "side"), (model.see("cone.png"), "a picture")] {
        assert!(error.unwrap_err().to_string().contains(part));
    }
    assert!(model.given(&[f64::NAN]).is_err());
}

#[test]
fn runs_on_ones_own_manifold_and_base_are_opened_with_them() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let points = directions(60);
    let own: Arc<dyn Manifold> = Arc::new(Own(Sphere::new(2).unwrap()));
    let peak = |z: f64| Component { weight: 1.0, mean: vec![0.0, 0.0, z], concentrations: vec![4.0] };
    let base = VonMisesFisherMixture::on(&Sphere::new(2).unwrap(), vec![peak(1.0), peak(-1.0)]).unwrap();
    let base: Arc<dyn BaseMeasure> = Arc::new(base);

    let fit = || quick(Fit::on(own.clone(), &points)).base(base.clone()).out(&out);
    let model = fit().run().unwrap();
    let samples = model.sample(20, 1).unwrap();
    assert_eq!(model.run().base().log_weight(samples.row(0)), base.log_weight(samples.row(0)));
    assert_eq!(fit().resume(true).run().unwrap().sample(20, 1).unwrap(), samples);

    assert!(Run::open(&out).unwrap_err().to_string().contains("`own`"));
    let error = Run::open_with(&out, Some(&own), None).unwrap_err().to_string();
    assert!(error.contains("base measure"), "{error}");
    let opened = Model::of(Run::open_with(&out, Some(&own), Some(&base)).unwrap()).unwrap();
    assert_eq!(opened.sample(20, 1).unwrap(), samples);

    let flat: Arc<dyn BaseMeasure> = Arc::new(UniformSphere::new(4));
    let error = quick(Fit::points(&points, "sphere:2")).base(flat).run().err().expect("a mistake").to_string();
    assert!(error.contains("4 coordinates"), "{error}");
}

/// Names are what ends a path in a `use`.
#[test]
fn the_prelude_has_at_most_sixty_names() {
    let lines = include_str!("../src/prelude.rs").lines().filter(|line| !line.trim().starts_with("//"));
    let text = lines.collect::<Vec<_>>().join(" ").replace("pub use ", "");
    let names: Vec<&str> = text.split([',', '{', '}', ';']).map(str::trim).filter(|w| !w.is_empty()).collect();
    let names: Vec<&str> = names.iter().filter_map(|w| w.rsplit("::").next().filter(|n| !n.is_empty())).collect();
    assert!((30..=60).contains(&names.len()), "{}: {names:?}", names.len());
}
