//! What a run is, in a few lines: for `mad info` and the page of `mad report`.

use crate::error::CliError;
use crate::source::Source;
use mad_core::catalogue::MANIFOLDS;
use mad_nn::Run;
use mad_nn::condition::Condition;
use mad_nn::config::BaseSpec;
use mad_nn::run::RunError;

/// Names and values, each in one line.
pub fn facts(run: &Run, source: Option<&Source>) -> Result<Vec<(&'static str, String)>, CliError> {
    let (config, info) = (run.config(), run.info());
    let pictures = config.is_on_pictures();
    let base = match *config.base {
        BaseSpec::Default => "default: uniform on the set, or its weights if it is finite".to_owned(),
        spec if spec.is_fitted() => format!("{}, fitted to the training rows", config.base),
        _ => config.base.to_string(),
    };
    let network = match pictures {
        true => {
            format!("{} of {} features, {} layers of {}", config.encoder, config.features, config.depth, config.width)
        }
        false => format!("{}, {} layers of {}", config.network, config.depth, config.width),
    };
    let rows = match (&*config.condition, config.archive.as_str()) {
        (Condition::Solid(_), "") => "pictures rendered in every step".to_owned(),
        (Condition::Solid(_), archive) => format!("pictures of the archive {archive}"),
        _ => format!("{} training, {} validation, {} test", info.rows.train, info.rows.validation, info.rows.test),
    };
    let selected = run.selected_step().map_err(RunError::from)?;
    let mut facts = vec![
        ("Data", source.map_or_else(|| "not recorded".into(), |source| source.data.clone())),
        ("Rows", rows),
        ("Split", config.split.to_string()),
        ("Manifold", format!("{}: {}", config.manifold, manifold_summary(&config.manifold))),
        ("Dimensions", format!("{} in {} coordinates", run.manifold().intrinsic_dim(), info.dim)),
        ("Method", format!("{}: {}", config.method, config.method.entry.summary)),
        ("Base measure", base),
        ("Noise", format!("{} from {} to {}", config.levels, config.sigma_min, config.sigma_max)),
        ("Network", network),
        ("Weights", format!("averaged, of step {selected} of {}", config.steps)),
    ];
    if run.layout().is_empty() {
        facts.retain(|(name, _)| !["Noise", "Network", "Weights"].contains(name));
    }
    match &*config.condition {
        Condition::Nothing => {}
        Condition::Columns(names) => facts.push(("Condition", names.clone())),
        _ => {
            let size = config.size;
            facts.retain(|(name, _)| !["Base measure", "Split"].contains(name));
            facts.push(("Condition", format!("{}, {size} x {size} pixels", config.condition)));
        }
    }
    Ok(facts)
}

/// What a manifold is, in the words of its registry.
fn manifold_summary(spec: &str) -> String {
    let name = spec.split([':', '(', '/']).next().unwrap_or_default();
    MANIFOLDS.iter().find(|entry| entry.name == name).map(|entry| entry.summary.to_owned()).unwrap_or_default()
}
