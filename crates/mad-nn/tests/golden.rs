//! Digests of small runs: config, checkpoint, samples and densities stay the same, to the byte, when code is only moved.
//!
//! Ignored by default, because the last bits depend on the processor (fused multiply-add) and on the C library's elementary
//! functions. Run it before and after a refactoring; `MAD_GOLDEN=write` records new digests, and a commit that does so says
//! which bits changed and why:
//!
//! `cargo test --release --workspace --test golden -- --ignored`

mod common;

use common::{checkpoint_bytes, prepared};
use mad_nn::{Contents, Fit, Part, Partial, condition::Condition, method::SampleRequest};
use std::{fmt::Write, fs, path::Path};

const SETTINGS: &[&str] =
    &["steps=20", "batch=32", "width=24", "depth=2", "evaluate_every=10", "bound_levels=4", "seed=3"];

/// Manifold, rows and settings of each run.
const RUNS: &[(&str, usize, &[&str])] = &[
    ("sphere:2", 400, &["method=mad"]),
    ("sphere:2", 100, &["method=dsm"]),
    ("so3", 400, &["method=mad"]),
    ("so3/O", 300, &["method=mad"]),
    ("torus:2", 300, &["method=skip"]),
    ("euclid:2", 300, &["method=mad"]),
    ("categorical:3,2", 300, &["method=mad"]),
    ("product(so3,euclid:3)", 300, &["method=dsm"]),
    ("product(sphere:1,categorical:3,2)", 300, &["method=mad"]),
    ("sphere:2", 300, &["method=rfm"]),
    ("so3", 300, &["method=rsgm"]),
    ("sphere:2", 300, &["method=kde"]),
];

fn digest(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..16].to_owned()
}

fn numbers(values: &[f64]) -> String {
    digest(&values.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>())
}

#[test]
#[ignore = "golden: bytes depend on the processor and the C library"]
fn runs_keep_their_bytes() {
    let mut found = String::from("manifold | settings | config | tensors | samples | densities\n");
    for (spec, rows, own) in RUNS {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let out = folder.path().join("run");
        let contents = prepared(spec, *rows, &[SETTINGS, own].concat());
        let done = Fit::new(&contents).out(&out).train().expect("the run trains");
        let config = fs::read(out.join("config.toml")).expect("config.toml");
        let (tensors, _) = checkpoint_bytes(&out, done.step);
        let fitted = done.run.fitted().expect("a model");
        let samples = fitted.draw(&SampleRequest::new(7), 50).expect("samples").0;
        let test = done.run.part(Part::Test).expect("test rows");
        let densities = match spec.contains('/') {
            true => "none".to_owned(),
            false => numbers(&fitted.log_density(&test, 20)),
        };
        let [config, tensors] = [digest(&config), digest(&tensors)];
        let samples = numbers(samples.as_slice());
        writeln!(found, "{spec} | {} | {config} | {tensors} | {samples} | {densities}", own.join(" "))
            .expect("a string");
    }
    compare("golden.txt", &found);
}

/// Compares digests with the recorded ones, or records them.
fn compare(name: &str, found: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/values").join(name);
    if std::env::var_os("MAD_GOLDEN").is_some_and(|word| word == "write") {
        fs::write(&file, found).expect("the digests are written");
    }
    let known = fs::read_to_string(&file).expect("the recorded digests");
    for (known, found) in known.lines().zip(found.lines()) {
        assert_eq!(known, found, "{}", known.lines().next().unwrap_or_default());
    }
    assert_eq!(known.lines().count(), found.lines().count());
}

/// Settings of the runs on pictures.
const ON_PICTURES: &[&str] =
    &["steps=3", "size=16", "features=8", "width=16", "depth=2", "draws=4", "batch=8", "seed=3"];

/// Solid and settings of each run on pictures.
const PICTURE_RUNS: &[(&str, &[&str])] = &[
    ("cube", &["method=mad"]),
    ("cyl", &["method=mad"]),
    ("cube", &["method=mad", "targets=canonical"]),
    ("tet", &["method=mad", "targets=canonical", "head=modulated"]),
    ("cone", &["method=dsm"]),
    ("cube", &["method=embedding"]),
    ("cube", &["method=ipdf"]),
    ("cube", &["method=bingham"]),
    ("cube", &["method=rotation-flow"]),
];

#[test]
#[ignore = "golden: bytes depend on the processor and the C library"]
fn runs_on_pictures_keep_their_bytes() {
    let mut found = String::from("solid | settings | tensors | samples\n");
    for (solid, own) in PICTURE_RUNS {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let out = folder.path().join("run");
        let mut settings = Partial::new();
        [ON_PICTURES, own]
            .concat()
            .into_iter()
            .for_each(|setting| settings.assign(setting, "test").expect("a setting"));
        settings.put("condition", Condition::of_solid(solid), "test").expect("a solid");
        let contents = Contents::of_solid(&settings).expect("settings that fit");
        let done = Fit::new(&contents).out(&out).train().expect("the run trains");
        let tensors = digest(&checkpoint_bytes(&out, done.step).0);
        let pictures = done.run.pictures(Part::Test, 3).expect("pictures").images;
        let (model, step) = (done.run.poses().expect("a model"), done.run.selected_step().expect("a step"));
        let weights = done.run.state(step).expect("weights").weights.ema;
        let samples = model.sample(&weights, &pictures, 5, &SampleRequest::new(7)).expect("samples").poses;
        let samples = numbers(samples.as_flattened());
        writeln!(found, "{solid} | {} | {tensors} | {samples}", own.join(" ")).expect("a string");
    }
    compare("golden-pictures.txt", &found);
}
