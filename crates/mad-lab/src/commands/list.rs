//! `mad-lab list`: the registries, as they are.

use crate::args::{List, ListKind};
use crate::bench::BENCHES;
use crate::error::LabError;
use crate::reproduce::{EXPERIMENTS, Experiment};
use mad_cli::{Common, Registry, list_registries};

const ALL: &[ListKind] = &[ListKind::Experiments, ListKind::Benches];

pub fn run(common: &Common, args: &List) -> Result<(), LabError> {
    let kinds = args.kind.as_ref().map_or(ALL, std::slice::from_ref);
    Ok(list_registries(common, kinds.iter().map(|kind| registry(*kind)))?)
}

fn registry(kind: ListKind) -> Registry {
    match kind {
        ListKind::Experiments => {
            let title = |name| Experiment::named(name, false).map_or_else(|e| e.to_string(), |e| e.title);
            let entries = EXPERIMENTS.iter().map(|(name, _)| ((*name).to_owned(), title(name))).collect();
            Registry { title: "experiments", entries }
        }
        ListKind::Benches => {
            let entries = BENCHES.iter().map(|bench| (bench.name.to_owned(), bench.summary.to_owned())).collect();
            Registry { title: "benches", entries }
        }
    }
}
