//! `mad sample`: points from a trained model, streamed to a file.

use super::opened::{Opened, SamplerChoice};
use crate::args::{Common, DataOut, Given, Sample, Seed};
use crate::error::CliError;
use crate::interrupt::Interrupt;
use crate::number::significant;
use crate::output;
use crate::overwrite::require_apart;
use crate::progress::Meter;
use mad_core::Points;
use mad_core::table::{Cell, Table, TextStyle, Time, writer_like};
use mad_nn::method::{SampleRequest, Sampled};
use serde_json::json;
use std::ops::ControlFlow;
use std::path::Path;

pub fn run(common: &Common, args: &Sample) -> Result<(), CliError> {
    let Sample { samples: n, out: DataOut { path: out }, seed: Seed { value: seed }, .. } = args;
    output::require_apart_from_json(common, out)?;
    require_apart(out, Some(&args.run), &args.given.pictures())?;
    let opened = Opened::given(common, &args.run, &args.given)?;
    let request = SampleRequest { projected: !args.unprojected, ..SamplerChoice::from(&args.sampling).request(*seed) };
    // A request that cannot be met is refused before a file is created.
    opened.model.sample(&request, 0, &mut |_| ControlFlow::Break(()))?;
    let header = match args.unprojected {
        true => (0..opened.run.manifold().ambient_dim()).map(|i| format!("x{i}")).collect(),
        false => opened.columns().encode_header(),
    };
    let interrupt = Interrupt::listen()?;
    // Raw coordinates are not in the form of the training file.
    let style = if args.unprojected { TextStyle::default() } else { opened.columns().style().clone() };
    let mut file = writer_like(out, &header, &style)?;
    let mut meter = Meter::start(common, "sampling", 0, *n as u64);
    let (mut done, mut failure) = (0, None);
    let mut write = |block: Points| {
        let rows: Vec<Vec<Cell>> = match args.unprojected {
            true => block.rows().map(|x| x.iter().copied().map(Cell::Number).collect()).collect(),
            false => opened.columns().encode(&block),
        };
        if let Some(signal) = interrupt.signal() {
            return Err(CliError::Stopped { signal });
        }
        file.write(&rows)?;
        done += block.len() as u64;
        meter.advance(done, String::new);
        Ok(())
    };
    let Sampled { drift, sampler, nfe } = opened.model.sample(&request, *n, &mut |block| match write(block) {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => {
            failure = Some(error);
            ControlFlow::Break(())
        }
    })?;
    if let Some(error) = failure {
        return Err(error);
    }
    file.finish()?;
    meter.finish();
    let fields = json!({
        "samples": n, "seed": seed, "sampler": sampler, "nfe": nfe, "out": output::shown(out), "drift": drift,
        "training": opened.training(), "outside": opened.outside(),
    });
    let text = || {
        format!(
            "{n} samples with seed {seed}, sampler {sampler} with {nfe} evaluations each, drift before projection {} \
             (largest {})",
            significant(drift.mean),
            significant(drift.max)
        )
    };
    output::result_of_data(common, "sample", out, fields, text)
}

impl Given {
    /// The picture files among the values.
    pub fn pictures(&self) -> Vec<&Path> {
        self.values.iter().filter_map(|word| word.strip_prefix("picture=")).map(Path::new).collect()
    }
}

/// The condition in the units of the training file, from `name=value` words.
pub(super) fn condition(opened: &Opened, given: &[String]) -> Result<Option<Vec<f64>>, CliError> {
    let columns = opened.run.columns().condition.as_ref();
    let names = columns.map(|c| c.encode_header()).unwrap_or_default();
    let mut values = vec![None; names.len()];
    for word in given {
        let (name, value) =
            word.split_once('=').ok_or_else(|| CliError::Usage(format!("--given {word}: write name=value")))?;
        let place = names.iter().position(|n| n == name.trim()).ok_or_else(|| {
            let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            CliError::Usage(format!("--given {word}: the run has no condition `{}`; it has: {known}", name.trim()))
        })?;
        // Dates are decimal years, as in the columns of a file.
        let number = value.trim().parse().ok().or_else(|| Time::parse(value).map(Time::decimal_year));
        let Some(number) = number.filter(|x: &f64| x.is_finite()) else {
            return Err(CliError::Usage(format!(
                "--given {word}: `{}` is not a number or an ISO 8601 date",
                value.trim()
            )));
        };
        if values[place].replace(number.to_string()).is_some() {
            return Err(CliError::Usage(format!("--given {word}: `{}` is given twice", name.trim())));
        }
    }
    let Some(columns) = columns.filter(|_| !given.is_empty()) else { return Ok(None) };
    let missing = names.iter().zip(&values).find(|(_, v)| v.is_none()).map(|(n, _)| n);
    if let Some(name) = missing {
        return Err(CliError::Usage(format!("--given {name}=VALUE is missing; give all conditions or none")));
    }
    let mut table = Table::text("--given", Some(names.clone()), names.len());
    table.push(1, values.into_iter().flatten());
    Ok(Some(columns.decode(&table)?.points.into_vec()))
}
