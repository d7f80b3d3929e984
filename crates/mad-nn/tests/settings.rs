//! Settings: read, filled from recipes and manifolds, and checked against each other.

mod common;

use mad_core::{estimate::version, noise::LevelDraw};
use mad_nn::config::{Config, ConfigError, Levels, METHODS, MethodSpec, Partial};
use toml::Value;

#[test]
fn errors_name_place_key_value_and_domain() {
    let error = Partial::from_toml("steps = 10\nbatch = \"many\"\n", "run.toml").unwrap_err().to_string();
    assert_eq!(error, "run.toml: batch = \"many\"; allowed: a whole number from 1 to 1048576");
    let error = Partial::from_toml("steps = 10\nbatch = \n", "run.toml").unwrap_err().to_string();
    assert!(error.starts_with("run.toml, line 2: "), "{error}");
    let mut partial = Partial::new();
    let error = partial.assign("activation=relu", "test").unwrap_err().to_string();
    assert_eq!(error, "test: activation = \"relu\"; allowed: sin, silu, identity");
    assert!(partial.assign("steps", "test").is_err());
    assert!(partial.assign("sigma_min=nan", "test").is_err());
    assert!(partial.assign("sigma_min=-1", "test").is_err());
    assert!(partial.assign("steps=1.5", "test").is_err());
}

#[test]
fn one_assignment_sets_one_key() {
    for text in ["steps=10\nwidth=20", "steps=10\rwidth=20", "base=uniform\nsteps = 3"] {
        let mut partial = Partial::new();
        assert!(matches!(partial.assign(text, "test"), Err(ConfigError::LineBreak { .. })), "{text:?}");
        assert_eq!(partial, Partial::new(), "{text:?}");
    }
    // Blanks around it are no second line.
    assert_eq!(Partial::new().assign("steps=10\n", "test"), Ok(()));
}

#[test]
fn later_settings_win_and_numbers_may_lack_a_point() {
    let mut partial = Partial::from_toml("learning_rate = 1\n", "a").unwrap();
    assert_eq!(partial.get("learning_rate"), Some(&Value::Float(1.0)));
    partial.assign("learning_rate = 2e-3", "test").unwrap();
    assert_eq!(partial.get("learning_rate"), Some(&Value::Float(2e-3)));
}

#[test]
fn large_or_deep_files_are_refused() {
    let large = format!("base = \"{}\"", "x".repeat(2 << 20));
    assert!(matches!(Partial::from_toml(&large, "a"), Err(ConfigError::TooLarge { .. })));
    let deep = format!("steps = {}1{}", "[".repeat(5000), "]".repeat(5000));
    assert!(Partial::from_toml(&deep, "a").is_err());
}

#[test]
fn every_default_is_allowed_and_every_name_once() {
    for entry in METHODS {
        let spec: MethodSpec = entry.name.parse().unwrap_or_else(|problem| panic!("{}: {problem}", entry.name));
        assert_eq!(spec.entry.summary, entry.summary);
    }
}

#[test]
fn options_are_read_and_mistakes_named() {
    let spec: MethodSpec = "rsgm:loss=dsmv, beta_max=6".parse().expect("both exist");
    assert_eq!((spec.word("loss"), spec.number("beta_max")), ("dsmv", 6.0));
    let refused = |text: &str| text.parse::<MethodSpec>().unwrap_err();
    assert!(refused("rsgm:los=ism").contains("generator"));
    assert!(refused("rsgm:loss=isn").contains("dsmv"));
    assert!(refused("mad:x=1").contains("without options"));
    assert!(refused("nonsense").contains("rfm") && refused("mda").contains("`mad`"));
}

#[test]
fn levels_are_read_in_all_forms_and_refused_in_others() {
    let read = |text: &str| text.parse::<Levels>().map(|levels| levels.0).ok();
    assert_eq!(read("log-uniform"), Some(LevelDraw::LogUniform));
    assert_eq!(read("scales:100"), Some(LevelDraw::Scales { n: 100 }));
    assert_eq!(read("log-normal:-1.2,1.2"), Some(LevelDraw::LogNormal { mean: -1.2, std: 1.2 }));
    for bad in ["", "scales", "scales:1", "scales:x", "log-normal:1", "log-normal:0,0", "log-normal:nan,1", "karras"] {
        assert_eq!(read(bad), None, "{bad}");
    }
}

/// The key and the message of a conflict between settings.
fn conflict(spec: &str, settings: &str) -> (&'static str, String) {
    match resolve(spec, settings).unwrap_err() {
        error @ ConfigError::Conflict { key, .. } => (key, error.to_string()),
        error => panic!("{error}"),
    }
}

fn resolve(spec: &str, settings: &str) -> Result<Config, ConfigError> {
    Config::resolve(&Partial::from_toml(settings, "test")?, common::manifold(spec).as_ref())
}

#[test]
fn new_rows_come_from_distributions_and_have_no_condition() {
    assert!(resolve("so3", "fresh = 'so3-mixture:16'").is_ok());
    let (key, text) = conflict("so3", "fresh = 'so3-mixture:16'\ncondition = 'depth'");
    assert!(key == "fresh" && text.contains("condition = depth"), "{text}");
    for table in ["earthquake", "volcano", "earthquakes-week", "nonsense"] {
        let (key, text) = conflict("sphere:2", &format!("fresh = '{table}'"));
        assert!(key == "fresh" && text.contains(table), "{text}");
    }
}

#[test]
fn conditions_are_for_denoisers() {
    for entry in METHODS {
        let settings = format!("method = '{}'\ncondition = 'depth'", entry.name);
        match entry.name {
            "mad" | "dsm" | "skip" => assert!(resolve("sphere:2", &settings).is_ok(), "{}", entry.name),
            _ => assert_eq!(conflict("sphere:2", &settings).0, "condition", "{}", entry.name),
        }
    }
}

#[test]
fn bases_that_make_another_method_or_nothing_are_refused() {
    for (method, base) in [
        ("kde", "uniform"),
        ("kde", "default"),
        ("kde", "mixture"),
        ("mixture", "kde"),
        ("mixture:", "uniform"),
        ("rsgm", "mixture"),
        ("rsgm:loss=dsmv", "kde"),
        ("rfm", "mixture"),
        ("fff", "mixture:means.csv"),
    ] {
        let (key, text) = conflict("sphere:2", &format!("method = '{method}'\nbase = '{base}'"));
        assert!(key == "base" && text.starts_with("test: base = "), "{text}");
    }
}

/// Settings of the experiments, and every method with the bases that mean something to it.
#[test]
fn bases_that_belong_to_the_method_stay() {
    for settings in ["method = 'kde'\nsteps = 2000", "method = 'mixture'\nsteps = 2000", "method = 'mixture:'"] {
        let config = resolve("sphere:2", settings).expect("its own base");
        assert_eq!(config.base.as_str(), config.method.entry.name);
    }
    assert!(resolve("so3", "method = 'mad'\nbase = 'mixture'\nsteps = 0").is_ok());
    assert!(resolve("sphere:2", "method = 'kde'\nbase = 'kde'").is_ok());
    assert!(resolve("sphere:2", "method = 'kde'\nrecipe = 'paper-mad'").is_ok());
    for method in ["mad", "dsm", "skip", "rsgm", "rfm", "fff"] {
        for base in ["default", "uniform"] {
            assert!(resolve("sphere:2", &format!("method = '{method}'\nbase = '{base}'")).is_ok(), "{method} {base}");
        }
    }
    // Denoisers start samples from the base and measure densities against it, whatever their anchor is.
    for method in ["mad", "dsm", "skip"] {
        assert!(resolve("sphere:2", &format!("method = '{method}'\nbase = 'mixture'")).is_ok(), "{method}");
    }
}

fn config(spec: &str, settings: &str, distinct: Option<usize>) -> Config {
    let asked = Partial::from_toml(settings, "test").expect("known keys");
    Config::resolve_for(&asked, common::manifold(spec).as_ref(), distinct).expect("settings that fit")
}

/// All other settings are the same as well, and with them the ids of jobs.
#[test]
fn methods_without_a_network_have_no_steps_whatever_is_asked() {
    let without = METHODS.iter().filter(|entry| entry.own_base.is_some());
    let names: Vec<_> = without.map(|entry| entry.name).collect();
    assert!(["kde", "mixture"].iter().all(|name| names.contains(name)), "{names:?}");
    for name in names {
        let made = |rest: &str| config("sphere:2", &format!("method = '{name}'\n{rest}"), Some(5000));
        let none = made("steps = 0");
        assert_eq!((none.steps, none.warmup), (0, 0));
        for asked in ["", "steps = 2000", "steps = 2000\nwarmup = 100", "warmup = 100"] {
            assert_eq!(made(asked), none, "{name}: {asked}");
        }
    }
    assert_eq!(config("sphere:2", "base = 'mixture'\nsteps = 7", None).steps, 7);
}

#[test]
fn only_fitted_runs_depend_on_how_bases_are_fitted() {
    let found = |settings: &str| config("sphere:2", settings, Some(5000)).fit_version();
    for stacked in ["", "base = 'mixture'"] {
        assert_eq!(found(stacked), Some(version(true)), "{stacked}");
    }
    for single in ["base = 'kde'", "method = 'kde'", "method = 'mixture'", "method = 'mixture:'"] {
        assert_eq!(found(single), Some(version(false)), "{single}");
    }
    for plain in ["base = 'default'", "base = 'uniform'", "base = 'mixture:mine.csv'", "method = 'dsm'"] {
        assert_eq!(found(plain), None, "{plain}");
    }
}

#[test]
fn a_base_is_fitted_where_that_was_measured_to_be_best() {
    let base = |spec: &str, settings: &str, distinct| config(spec, settings, distinct).base.to_string();
    assert_eq!(base("sphere:2", "", Some(5000)), "mixture");
    assert_eq!(base("sphere:2", "method = 'mad'\nsteps = 3", Some(267)), "mixture");
    assert_eq!(base("so3", "", Some(5000)), "mixture");
    assert_eq!(base("sphere:2", "", Some(1_000_000)), "mixture");
    for (spec, settings, distinct) in [
        ("sphere:2", "", None),
        ("sphere:2", "", Some(100)),
        ("sphere:2", "base = 'default'", Some(5000)),
        ("sphere:2", "method = 'dsm'", Some(5000)),
        ("sphere:2", "recipe = 'paper-mad'", Some(5000)),
        ("sphere:2", "condition = 'depth'", Some(5000)),
        ("sphere:2", "fresh = 'vmf-mixture'", Some(5000)),
        ("so3", "fresh = 'so3-mixture'", Some(5000)),
        ("so3/O", "", Some(5000)),
        ("torus:2", "", Some(5000)),
    ] {
        assert_eq!(base(spec, settings, distinct), "default", "{spec} {settings} {distinct:?}");
    }
}
