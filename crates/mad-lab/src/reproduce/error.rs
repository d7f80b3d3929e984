//! What can be wrong with an experiment.

use mad_nn::ConfigError;

/// An experiment that cannot be run; every message names the file and the key.
#[derive(Debug, thiserror::Error)]
pub enum ExperimentError {
    /// No experiment of this name is built in.
    #[error("unknown experiment `{name}`{hint}; there are {known} and all; `--file FILE.toml` takes one's own")]
    Unknown { name: String, hint: String, known: String },
    /// The text is not TOML of the expected form.
    #[error("{origin}{}: {problem}", line.map_or(String::new(), |line| format!(", line {line}")))]
    Syntax { origin: String, line: Option<usize>, problem: String },
    /// A name that the file does not define.
    #[error("{origin}: {key}: there is no {what} `{name}`; known: {known}")]
    Name { origin: String, key: String, what: &'static str, name: String, known: String },
    /// Two entries of the same name.
    #[error("{origin}: {key}: `{name}` occurs twice")]
    Twice { origin: String, key: &'static str, name: String },
    /// Something that must be there is not.
    #[error("{origin}: {key}: {problem}")]
    Value { origin: String, key: String, problem: String },
    /// A method with settings that `mad fit` would refuse.
    #[error("{origin}: method `{method}` on `{data}`: {problem}")]
    Settings { origin: String, method: String, data: String, problem: Box<ConfigError> },
    /// Fresh rows asked of something that has no more of them.
    #[error(
        "{origin}: score.fresh: `{data}` is {what}, of which no fresh rows can be drawn; leave score.fresh out, or use one of \
         {distributions}"
    )]
    NoFreshRows { origin: String, data: String, what: &'static str, distributions: String },
    /// Names that are all known, but of nothing that there is together.
    #[error(
        "`{command}` leaves no run; `--dry-run` with fewer of --seeds, --data, --methods and --protocols lists what there is"
    )]
    NothingLeft { command: String },
    /// A worker read something else than its job was planned for.
    #[error("{file} has changed since this job was planned; start `mad-lab reproduce` again, which plans it anew")]
    Changed { file: String },
}
