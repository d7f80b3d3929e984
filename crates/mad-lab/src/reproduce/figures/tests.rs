//! Whole figures: what they say, how much is drawn, and that they are well formed. With `MAD_FIGURES=FOLDER` the pictures are
//! written there to be looked at.

use super::{
    base_s2, discrete, earth, front,
    grid::{GridSet, Labelled},
    intro, loss, mmd_vs_time,
    seeds::MethodCurves,
    so3,
};
use mad_cli::plot::{Figure, PlotError};
use mad_core::{
    Points,
    catalogue::datasets::circle,
    load::manifold_named,
    measure::BaseMeasure,
    rng::{Purpose, stream},
};

/// SVG text of a figure that is well formed; also written as PNG where asked for.
fn drawn(name: &str, figure: &Figure<'_>) -> String {
    let svg = figure.to_svg();
    roxmltree::Document::parse(&svg).unwrap();
    assert!(!svg.contains("NaN") && !svg.contains("inf\""), "{name}");
    if let Some(folder) = std::env::var_os("MAD_FIGURES") {
        figure.save(&std::path::Path::new(&folder).join(format!("{name}.png"))).unwrap();
    }
    svg
}

fn texts(svg: &str) -> Vec<&str> {
    svg.lines()
        .filter(|l| l.starts_with("<text"))
        .filter_map(|l| l.split_once('>')?.1.strip_suffix("</text>"))
        .collect()
}

#[track_caller]
fn says(svg: &str, expected: &[&str]) {
    let all = texts(svg);
    for text in expected {
        assert!(all.iter().any(|t| t.contains(text)), "no `{text}` among {all:?}");
    }
}

fn uniform(spec: &str, n: usize, seed: u64) -> Points {
    let base = manifold_named(spec).unwrap().uniform();
    let mut points = Points::zeros(n, base.ambient_dim());
    let mut rng = stream(seed, Purpose::Data, 0);
    points.rows_mut().for_each(|row| base.sample(&mut rng, row));
    points
}

fn labelled(label: &str, points: Points) -> Labelled {
    Labelled { label: label.into(), note: String::new(), points }
}

#[test]
fn the_front_shows_a_density_with_unseen_points_and_one_of_angles() {
    let shading = |spec: &str, names: [&str; 2]| {
        let grid = manifold_named(spec).unwrap().grid(400).unwrap();
        let log_density = (0..grid.len()).map(|cell| -(cell as f64) / 100.0).collect();
        front::Shading { log_density, grid, test: uniform(spec, 123, 0), names: names.map(str::to_owned).to_vec() }
    };
    let input = front::Input {
        earth: ("Earthquakes", shading("sphere:2", ["lat", "lon"])),
        torsions: ("Torsions", shading("torus:2", ["phi_deg", "psi_deg"])),
        poses: mad_cli::PoseRow { title: "Cube", runs: Vec::new() },
    };
    let svg = drawn("figure-front", &front::draw(&input).unwrap());
    says(&svg, &["Earthquakes", "n = 123", "density per steradian", "Torsions", "phi (°)", "psi (°)"]);
    assert_eq!(svg.matches("n = ").count(), 1, "test points of the map alone");
}

#[test]
fn intro_shows_three_fields_three_sections_and_magnitudes() {
    let learned = intro::Learned { label: "MAD".into(), points: vec![(0.3, 0.01), (1.0, 0.8), (5.0, 0.03)] };
    let svg = drawn(
        "figure-intro",
        &intro::draw(&intro::Input { learned: vec![learned], ..intro::Input::default() }).unwrap(),
    );
    says(
        &svg,
        &["score s", "base score", "difference", "σ = 0.8", "target of DSM", "MAD network", "dashed at (−1, 0)"],
    );
    assert_eq!(svg.matches("<clipPath").count(), 8, "one per panel");
}

#[test]
fn base_s2_samples_lie_on_the_sphere_without_projection() {
    let input = base_s2::Input::sampled(2000, 0).unwrap();
    // The base mean of a point within a few σ of the sphere is 1 − σ² from the centre.
    for (sigma, drift) in input.earlier.iter().filter(|level| level.0 < 0.02).chain([&input.drift]) {
        assert!((drift.mean / (sigma * sigma) - 1.0).abs() < 0.05, "{sigma}: {drift:?}");
    }
    let svg = drawn("figure-base-s2", &base_s2::draw(&input).unwrap());
    says(&svg, &["σ = 0.05", "Samples of the base score alone", "n = 2000", "not projected"]);
    let flat = base_s2::Input { samples: Points::new(2), ..input };
    assert!(matches!(base_s2::draw(&flat), Err(PlotError::Coordinates { expected: 3, found: 2, .. })));
}

fn discrete_input() -> discrete::Input {
    let support = circle::support();
    let mut rng = stream(3, Purpose::Data, 1);
    let mut noised = |probabilities: &[f64], sigma: f64| {
        let base = mad_core::measure::Finite::weighted(circle::support(), probabilities).unwrap();
        let mut points = Points::zeros(3000, 2);
        points.rows_mut().for_each(|row| base.sample_prior(sigma, &mut rng, row));
        points
    };
    let mut target = |title: &str, probabilities: &[f64]| discrete::Target {
        title: title.into(),
        probabilities: probabilities.to_vec(),
        methods: vec![labelled("MAD", noised(probabilities, 0.002)), labelled("DSM", noised(probabilities, 0.04))],
    };
    let targets = vec![target("uniform", &[0.125; 8]), target("skewed", &circle::skewed_probabilities())];
    discrete::Input { title: "Eight points on the circle".into(), support, targets }
}

#[test]
fn discrete_shows_samples_beside_targets() {
    let input = discrete_input();
    let svg = drawn("figure-discrete", &discrete::draw(&input).unwrap());
    // P(|ε| > 1.25) in the plane = exp(−0.78) = 0.458.
    says(&svg, &["uniform: target", "skewed: MAD", "skewed: DSM", "far 0.0 %", "far 4", "n = 3000", "270°", "target"]);
    assert!(!texts(&svg).iter().any(|t| t.contains("n = 0")), "targets are not samples");
    let short = discrete::Target { probabilities: vec![1.0], ..input.targets[0].clone() };
    let input = discrete::Input { targets: vec![short], ..input };
    assert!(matches!(discrete::draw(&input), Err(PlotError::Count { expected: 8, found: 1, .. })));
}

fn sets(spec: &str, titles: &[&str], methods: &[&str]) -> Vec<GridSet> {
    let set = |(i, title): (usize, &&str)| GridSet {
        title: (*title).into(),
        data: uniform(spec, 900, i as u64),
        methods: methods.iter().enumerate().map(|(k, m)| labelled(m, uniform(spec, 900, 10 + k as u64))).collect(),
    };
    titles.iter().enumerate().map(set).collect()
}

#[test]
fn earth_is_a_grid_that_turns_when_there_are_many_methods() {
    let titles = ["volcano", "earthquake", "flood", "fire"];
    let mut input = earth::Input {
        title: "Earth".into(),
        sets: sets("sphere:2", &titles, &["MAD", "DSM"]),
        close_up: Some((0, earth::PACIFIC_NORTH)),
    };
    let svg = drawn("figure-earth-random", &earth::draw(&input).unwrap());
    says(&svg, &["volcano: data", "fire: DSM", "earthquake: MAD", "volcano: MAD, close up", "longitude (°)"]);
    let size = |svg: &str| svg.split('"').nth(3).and_then(|w| w.parse::<f64>().ok()).unwrap();
    assert_eq!(size(&svg), 3.0 * 440.0 + 2.0 * 22.0 + 32.0);
    input = earth::Input { sets: sets("sphere:2", &titles, &["MAD", "DSM", "RSGM", "FFF", "KDE"]), ..input };
    input.close_up = None;
    assert_eq!(size(&earth::draw(&input).unwrap().to_svg()), 4.0 * 440.0 + 3.0 * 22.0 + 32.0);
    input.sets[1].methods.pop();
    let error = earth::draw(&input).err().unwrap().to_string();
    assert!(error.contains("earthquake: KDE"), "{error}");
}

#[test]
fn so3_has_a_wheel_in_every_row() {
    let input = so3::Input { title: "SO(3)".into(), sets: sets("so3", &["K = 16", "K = 64"], &["MAD", "DSM"]) };
    let svg = drawn("figure-so3-random", &so3::draw(&input).unwrap());
    says(&svg, &["K = 16: data", "K = 64: DSM"]);
    assert_eq!(texts(&svg).iter().filter(|t| **t == "tilt").count(), 2);
}

/// Falls from 0.6 to `end` with time constant `rate`, with some wobble by seed.
fn falling(label: &str, rate: f64, end: f64) -> MethodCurves {
    let seed = |s: i32| {
        (0..40)
            .map(|i| {
                let t = (1.0 + 0.02 * f64::from(s)) * 120f64.powf(f64::from(i) / 39.0);
                let wobble = 0.006 * (3.0 * f64::from(s) + 0.7 * f64::from(i)).sin();
                (t, end + (0.6 - end) * (-t / rate).exp() + wobble)
            })
            .collect()
    };
    MethodCurves { label: label.into(), seeds: (0..5).map(seed).collect() }
}

#[test]
fn mmd_vs_time_prints_the_factor() {
    let methods = vec![falling("MAD", 5.0, 0.04), falling("DSM", 25.0, 0.05), falling("RSGM", 40.0, 0.08)];
    let title = "MMD against training time, SO(3), K = 64".to_owned();
    let pair = |fast: &str, slow: &str| mmd_vs_time::Pair { fast: fast.into(), slow: slow.into() };
    let pairs = vec![pair("MAD", "DSM"), pair("MAD", "FFF")];
    let mut input = mmd_vs_time::Input { title, methods, pairs, floor: Some(0.032) };
    let pair = pair("MAD", "DSM");
    assert_eq!(input.drawn_pairs().collect::<Vec<_>>(), [&pair], "FFF has no curve");
    let factor = input.crossing(&pair).unwrap().factor();
    assert!(factor > 2.0, "{factor}");
    let svg = drawn("figure-mmd-vs-time", &mmd_vs_time::draw(&input).unwrap());
    says(&svg, &[&format!("{factor:.1}× sooner"), "floor 0.032", "training time (s)", "over 5 seeds", "RSGM"]);
    assert_eq!(svg.matches("opacity=\".18\"").count(), 3, "one band per method");
    input.methods.remove(0);
    assert_eq!((input.crossing(&pair), input.drawn_pairs().count()), (None, 0));
    input.methods.clear();
    assert!(matches!(mmd_vs_time::draw(&input), Err(PlotError::Empty { .. })));
}

#[test]
fn loss_has_a_panel_for_what_was_logged() {
    let input = loss::Input {
        title: "SO(3), K = 64".into(),
        loss: vec![falling("MAD", 20.0, 0.3), falling("DSM", 30.0, 0.45)],
        validation: vec![],
    };
    let svg = drawn("figure-loss-one", &loss::draw(&input).unwrap());
    says(&svg, &["Training loss", "MAD", "DSM", "step"]);
    assert!(!svg.contains("Validation"));
    let input = loss::Input { validation: input.loss.clone(), ..input };
    says(&drawn("figure-loss", &loss::draw(&input).unwrap()), &["Validation", "bound on NLL (nats)"]);
    let input = loss::Input { loss: vec![], validation: vec![], ..input };
    assert!(matches!(loss::draw(&input), Err(PlotError::Empty { .. })));
}

fn quick_run(folder: &std::path::Path, data: &str, method: &str, seed: u64) -> mad_nn::Run {
    let table = mad_core::catalogue::datasets::make(data, Some(200), seed, 0, None).unwrap();
    let manifold = if data.starts_with("circle") { "points:circle8-support" } else { "sphere:2" };
    let loaded = mad_core::load::load(&table, manifold, &mad_core::table::ColumnOptions::default()).unwrap();
    let settings = format!(
        "method = \"{method}\"\nsteps = 8\nbatch = 16\nwidth = 8\ndepth = 1\nseed = {seed}\nlog_every = 2\n\
         evaluate_every = 4\ncheckpoint_every = 2\nkeep_checkpoints = 9\nnfe = 8"
    );
    let settings = mad_nn::Partial::from_toml(&settings, "test").unwrap();
    let contents = mad_nn::Contents::new(&table, loaded, &settings).unwrap();
    let out = folder.join(format!("{data}-{method}-{seed}"));
    mad_nn::Fit::new(&contents).out(&out).train().unwrap().run
}

#[test]
fn runs_give_the_inputs() {
    let folder = tempfile::tempdir().unwrap();
    let run = |method: &str, seed: u64| quick_run(folder.path(), "circle8-skewed", method, seed);
    let (mad, dsm) = ([run("mad", 0), run("mad", 1)], [run("dsm", 0)]);

    let input = loss::Input::from_runs("loss", &[("MAD", &mad), ("DSM", &dsm)]).unwrap();
    assert_eq!((input.loss[0].seeds.len(), input.loss[1].seeds.len()), (2, 1));
    let steps = |curve: &[(f64, f64)]| curve.iter().map(|p| p.0).collect::<Vec<_>>();
    assert_eq!(steps(&input.loss[0].seeds[1]), [2.0, 4.0, 6.0, 8.0]);
    assert_eq!(steps(&input.validation[1].seeds[0]).last(), Some(&8.0));
    loss::draw(&input).unwrap();

    let pairs = [("MAD", &mad[0]), ("DSM", &dsm[0])];
    let input = discrete::Input::from_runs(&pairs, &pairs, 300, 0).unwrap();
    let deviation = |points: &Points| points.rows().map(|x| mad[0].manifold().deviation(x)).fold(0.0, f64::max);
    assert!(deviation(&input.targets[1].methods[1].points) > 1e-6, "samples must not be projected");
    assert_eq!(input.targets[0].methods[0].points.len(), 300);
    discrete::draw(&input).unwrap();

    let input = intro::Input::from_runs(&pairs).unwrap();
    assert_eq!(input.learned.len(), 2);
    assert!(input.learned[0].points.len() > 30 && input.learned[0].points.iter().all(|p| p.1.is_finite()));

    let map = quick_run(folder.path(), "vmf-mixture", "mad", 0);
    let set = GridSet::from_runs("mixture", &[("MAD", &map)], 40, 0).unwrap();
    assert_eq!((set.methods[0].points.len(), set.data.dim()), (40, 3));
    assert!(set.methods[0].points.rows().all(|x| map.manifold().deviation(x) < 1e-12), "samples must be projected");
    assert!(GridSet::from_runs("none", &[], 1, 0).is_err());
}
