//! `figure-loss`: training loss and likelihood bound over steps.

use super::seeds::{MethodCurves, bands, seeds_note};
use crate::error::LabError;
use mad_cli::plot::{CurvePanel, Figure, Panel, PlotError, Scale};
use mad_nn::Run;

/// What the figure shows.
#[derive(Debug, Clone)]
pub struct Input {
    /// Heading; empty for none.
    pub title: String,
    /// Training loss |F − target|² over steps.
    pub loss: Vec<MethodCurves>,
    /// Bound on the negative log-likelihood of the validation rows, in nats, over steps; may be empty.
    pub validation: Vec<MethodCurves>,
}

impl Input {
    /// The curves that the runs of each method have logged.
    pub fn from_runs(title: &str, methods: &[(&str, &[Run])]) -> Result<Self, LabError> {
        let curves = |key: &str| -> Result<Vec<MethodCurves>, LabError> {
            let method = |(label, runs): &(&str, &[Run])| {
                let seeds = runs.iter().map(|run| logged(run, key)).collect::<Result<_, _>>()?;
                Ok(MethodCurves { label: (*label).to_owned(), seeds })
            };
            methods.iter().map(method).collect()
        };
        Ok(Self { title: title.to_owned(), loss: curves("loss")?, validation: curves("nll")? })
    }
}

/// Points (step, value) of the lines that have this key.
fn logged(run: &Run, key: &str) -> Result<Vec<(f64, f64)>, LabError> {
    let lines = run.metrics()?;
    Ok(lines.iter().filter_map(|line| Some((line["step"].as_f64()?, line[key].as_f64()?))).collect())
}

/// Draws one panel for the loss and one for the bound.
pub fn draw(input: &Input) -> Result<Figure<'static>, PlotError> {
    let panel = |title: &str, y: (&str, Scale), methods: &[MethodCurves]| CurvePanel {
        title: title.to_owned(),
        note: seeds_note(methods),
        x: ("step".to_owned(), Scale::Linear),
        y: (y.0.to_owned(), y.1),
        series: bands(Scale::Linear, methods),
        area: Some((420.0, 260.0)),
        ..CurvePanel::default()
    };
    let mut row: Vec<Box<dyn Panel>> = Vec::new();
    for (title, y, methods) in [
        ("Training loss", ("mean squared error of F", Scale::Log), &input.loss),
        ("Validation", ("bound on NLL (nats)", Scale::Linear), &input.validation),
    ] {
        if methods.iter().flat_map(|m| &m.seeds).any(|seed| !seed.is_empty()) {
            row.push(Box::new(panel(title, y, methods)));
        }
    }
    if row.is_empty() {
        return Err(PlotError::Empty { title: input.title.clone(), what: "logged losses" });
    }
    let mut figure = Figure::new(input.title.clone());
    figure.push_row(row);
    Ok(figure)
}
