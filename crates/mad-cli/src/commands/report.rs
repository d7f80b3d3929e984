//! `mad report`: a page about a run.

use super::eval::as_json;
use super::facts::facts;
use super::opened::{Opened, SamplerChoice};
use super::plot::{GridDensity, Look, training};
use super::scores::Scores;
use crate::args::{Common, Report};
use crate::error::CliError;
use crate::input::quoted;
use crate::output;
use crate::overwrite::require_apart;
use crate::report::closest;
use crate::report::html::{Html, Section, code, figure, paragraph, table};
use crate::report::page::{Page, Tile};
use crate::report::settings::Settings;
use crate::report::tables::{self, Rows, shown};
use crate::source::Source;
use crate::version;
use mad_core::Points;
use mad_core::table::duplicates;
use mad_nn::config::Setting;
use mad_nn::train::TrainingStatus;
use mad_nn::{Part, Run};
use serde_json::{Map, Value, json};
use std::path::Path;

/// Samples drawn unless another number is given.
const SAMPLES: usize = 5000;

/// How the paper is cited.
const CITATION: &str = "Alona Levy-Jurgenson, Alvaro Prat, James Cuin and Yee Whye Teh. \
    Manifold Aware Denoising Score Matching (MAD). Preprint, 2026.";

/// The same for BibTeX.
const BIBTEX: &str = "@article{mad2026,
  title  = {Manifold Aware Denoising Score Matching (MAD)},
  author = {Levy-Jurgenson, Alona and Prat, Alvaro and Cuin, James and Teh, Yee Whye},
  note   = {Preprint},
  year   = {2026}
}";

pub fn run(common: &Common, args: &Report) -> Result<(), CliError> {
    let out = args.out.clone().unwrap_or_else(|| args.run.join("report.html"));
    if !out.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("html") || ending.eq_ignore_ascii_case("htm"))
    {
        return Err(CliError::Usage(format!("--out {}: a page is a file that ends with .html", out.display())));
    }
    require_apart(&out, Some(&args.run), &[])?;
    args.out.as_deref().map_or(Ok(()), output::require_place)?;
    let Written { page, samples, mut fields } = match Run::open(&args.run)?.config().is_on_pictures() {
        true => super::report_pose::page(common, args)?,
        false => page(common, args)?,
    };
    let text = page.html();
    output::write_whole(&out, text.as_bytes())?;
    let about = json!({ "out": output::shown(&out), "bytes": text.len(), "samples": samples, "seed": args.seed.value });
    fields.extend(about.as_object().cloned().unwrap_or_default());
    let fields = Value::Object(fields);
    output::result(common, "report", fields, || format!("wrote {} ({} kB)", out.display(), text.len().div_ceil(1000)))
}

/// A page, how many samples it is made of, and the fields of `--json` about the run.
pub struct Written {
    pub page: Page,
    pub samples: usize,
    pub fields: Map<String, Value>,
}

/// The page about a run.
fn page(common: &Common, args: &Report) -> Result<Written, CliError> {
    if args.pictures.is_some() {
        return Err(CliError::Usage("--pictures is for runs on pictures; -n is the number of samples".into()));
    }
    let opened = Opened::unconditional(common, &args.run)?;
    let subject = Subject::gather(common, &opened, args)?;
    let scores = subject.scores.as_ref().ok();
    let mut fields = Map::new();
    fields.insert("metrics".into(), json!(scores.map(|scores| as_json(&scores.measurements))));
    fields.insert("likelihood".into(), json!(scores.and_then(|scores| Some(scores.likelihood.as_ref()?.to_json()))));
    fields.insert("closest".into(), json!(scores.map(|scores| &scores.closest)));
    fields.insert("training".into(), opened.training());
    Ok(Written { page: subject.page()?, samples: subject.samples.len(), fields })
}

/// Everything the page is about.
struct Subject<'a> {
    common: &'a Common,
    args: &'a Report,
    opened: &'a Opened,
    source: Option<Source>,
    settings: Settings,
    data: Points,
    samples: Points,
    scores: Result<Scores, String>,
}

impl<'a> Subject<'a> {
    fn gather(common: &'a Common, opened: &'a Opened, args: &'a Report) -> Result<Self, CliError> {
        let (data, test) = (opened.run.part(Part::Train)?, opened.run.part(Part::Test)?);
        let mut all = data.clone();
        for part in [&opened.run.part(Part::Validation)?, &test] {
            part.rows().for_each(|row| all.push(row));
        }
        let settings = Settings::of(opened.run.config(), opened.run.manifold().as_ref(), duplicates(&all).distinct);
        drop(all);
        let n = args.samples.map_or_else(|| data.len().clamp(1, SAMPLES), |n| n as usize);
        output::detail(common, format!("drawing {n} samples"));
        let samples = opened.sample(SamplerChoice::default(), args.seed.value, n)?.0;
        output::detail(common, format!("scoring on {} test rows", test.len()));
        let scored = || Scores::of(opened, &test, &[], SamplerChoice::default(), None, args.seed.value);
        let scores = match test.is_empty() {
            true => Err("The run has no test rows to be judged by.".to_owned()),
            false => match scored() {
                Err(CliError::Metric(error)) => Err(format!("There are no scores: {error}.")),
                found => Ok(found?),
            },
        };
        Ok(Self { common, args, opened, source: Source::of(&args.run), settings, data, samples, scores })
    }

    fn page(&self) -> Result<Page, CliError> {
        let config = self.opened.run.config();
        let name = self.source.as_ref().map_or_else(|| self.run_name(), Source::name);
        let rows = self.opened.run.info().rows;
        let lead = format!(
            "A model of {} rows on {}, trained with {} for {}. Everything on this page can be repeated with the \
             commands at its end.",
            rows.train + rows.validation + rows.test,
            config.manifold,
            config.method.as_str().to_uppercase(),
            self.steps()
        );
        let mut sections = vec![
            Section { id: "samples", title: "Data and samples", body: self.beside()? },
            Section { id: "scores", title: "Scores", body: self.score_table() },
        ];
        if let Some(closest) = self.scores.as_ref().ok().and_then(|scores| scores.closest.as_ref()) {
            let title = "Distance to the closest training row";
            sections.push(Section { id: "closest", title, body: closest::section(closest) });
        }
        if let Some(body) = self.density()? {
            sections.push(Section { id: "density", title: "Density", body });
        }
        sections.push(Section { id: "fitted", title: "What was fitted", body: self.fitted()? });
        sections.push(Section { id: "columns", title: "Columns", body: self.column_tables() });
        sections.push(Section { id: "training", title: "Training", body: self.curves()? });
        sections.push(Section { id: "settings", title: "Settings", body: self.setting_tables() });
        sections.push(Section { id: "repeat", title: "Repeat it", body: self.commands() });
        sections.push(Section { id: "origin", title: "Hashes and versions", body: self.origin() });
        sections.push(Section { id: "cite", title: "Citation", body: citation() });
        Ok(Page {
            title: format!("{name} on {}", config.manifold),
            lead,
            tiles: self.tiles(),
            sections,
            foot: foot(self.args),
        })
    }

    fn run_name(&self) -> String {
        run_name(&self.args.run)
    }

    fn method(&self) -> String {
        self.opened.run.config().method.as_str().to_uppercase()
    }

    /// How long the run was trained, which may be less than was planned.
    fn steps(&self) -> String {
        let TrainingStatus { step, steps, finished } = self.opened.status;
        match (finished, step < steps) {
            (true, true) => format!("{step} of {steps} steps"),
            (true, false) => format!("{steps} steps"),
            (false, _) => format!("{step} of {steps} steps, unfinished"),
        }
    }

    fn tiles(&self) -> Vec<Tile> {
        let config = self.opened.run.config();
        let rows = self.opened.run.info().rows;
        let tile = |name: &str, value: String, note: String| Tile { name: name.into(), value, note };
        let mut tiles = vec![
            tile(
                "Rows",
                (rows.train + rows.validation + rows.test).to_string(),
                format!("{} for training", rows.train),
            ),
            tile("Set", config.manifold.clone(), format!("{} dimensions", self.opened.run.manifold().intrinsic_dim())),
            tile("Method", self.method(), self.steps()),
        ];
        let scores = self.scores.as_ref().map(|scores| scores.measurements.as_slice()).unwrap_or_default();
        let found = |name: &str| scores.iter().find(|m| m.name == name);
        for (name, title) in [("nll_bound", "NLL bound, nats"), ("nll", "NLL, nats")] {
            if let Some(m) = found(name) {
                tiles.push(tile(title, shown(m.value), "test rows; lower is better".into()));
            }
        }
        let floors = scores.iter().filter_map(|m| Some((m.name.strip_suffix("_floor")?, m.value)));
        if let Some((name, floor, m)) = floors.into_iter().find_map(|(name, floor)| Some((name, floor, found(name)?))) {
            let note = format!("floor {}; lower is better", shown(floor));
            tiles.push(tile(&name.replace('_', " ").to_uppercase(), shown(m.value), note));
        }
        tiles
    }

    fn fitted(&self) -> Result<Html, CliError> {
        let mut facts = facts(&self.opened.run, self.source.as_ref())?;
        if self.opened.run.columns().condition.is_some() {
            facts.push(("On this page", "the model is averaged over the condition".into()));
        }
        facts.push(("Samples here", format!("{}, seed {}", self.samples.len(), self.args.seed.value)));
        let rows: Vec<Vec<String>> = facts.into_iter().map(|(name, text)| vec![name.to_owned(), text]).collect();
        let columns = self.opened.columns();
        let roles: Vec<Vec<String>> = columns.roles().into_iter().map(|(name, role)| vec![name, role]).collect();
        let assumed: Html = columns.assumptions().iter().map(|text| Html::element("li", text.as_str())).collect();
        let assumed = if assumed.is_empty() {
            assumed
        } else {
            paragraph("Noted when the columns were chosen:").and(Html::element("ul", assumed))
        };
        Ok(table("The run", &["what", "value"], &rows)
            .and(table("Columns that hold the points", &["column", "holds"], &roles))
            .and(assumed))
    }

    fn score_table(&self) -> Html {
        let note = "Computed from as many samples as there are test rows, which the model was not trained on. A floor is the \
                    value that training rows themselves reach in place of the samples: no model is expected to do better.";
        match &self.scores {
            Ok(scores) => tables::scores(&scores.measurements).and(paragraph(note)),
            Err(why) => paragraph(why.as_str()),
        }
    }

    fn beside(&self) -> Result<Html, CliError> {
        let look = Look::of(self.opened);
        let method = self.method();
        let spec = &self.opened.run.config().manifold;
        let columns = self.opened.columns();
        let (data, samples) = (columns.in_file_units(&self.data), columns.in_file_units(&self.samples));
        let picture = look.beside("", &data, &[(&method, &samples)])?;
        let (n, m) = (self.data.len(), self.samples.len());
        let title = format!("Training data next to samples of the model on {spec}: {n} rows and {m} samples.");
        let caption = format!("{n} training rows next to {m} samples of the model.");
        Ok(figure(picture.to_inline_svg("samples-figure", &title), &caption))
    }

    fn density(&self) -> Result<Option<Html>, CliError> {
        let Some(density) = GridDensity::of(self.common, self.opened, None) else { return Ok(None) };
        let look = Look::of(self.opened);
        let mut body = Html::default();
        if let Some(picture) = look.shading("", &density, &self.data)? {
            let title = "Density of the model as shading, alone and with the training data as dots.";
            let caption = "Density of the model. Darker is denser, on a logarithmic scale. Its integral is estimated by importance \
                           sampling from samples of the model and should be 1 within a few standard errors. Density and samples \
                           of a weakly trained model may differ; the share of mass that they have in common is a lower bound.";
            body = body.and(figure(picture.to_inline_svg("density-figure", title), caption));
        }
        if let Some(picture) = look.globes(&density, &self.data)? {
            let title = "The same density on both sides of the globe, with the training data as dots.";
            let caption = "The same density on the globe, with the training rows as dots.";
            body = body.and(figure(picture.to_inline_svg("globe-figure", title), caption));
        }
        Ok(if body.is_empty() { None } else { Some(body) })
    }

    fn column_tables(&self) -> Html {
        let rows = Rows::new(self.opened.columns(), &self.data, &self.samples);
        rows.categories(self.opened.columns()).and(rows.numbers())
    }

    fn curves(&self) -> Result<Html, CliError> {
        let Some(picture) = training(self.opened, "")? else {
            let steps = self.opened.run.config().steps;
            return Ok(paragraph(format!("There are no curves: {steps} training steps.")));
        };
        let title = "Training loss and likelihood on the validation rows over the training steps.";
        let caption = "Loss of the training steps, and the likelihood of the validation rows, or a bound on it, per unit of \
                       the file. The weights with the best score are used unless the settings choose the last ones.";
        Ok(figure(picture.to_inline_svg("training-figure", title), caption))
    }

    fn setting_tables(&self) -> Html {
        let rows = |settings: &[(&Setting, String)]| -> Vec<Vec<String>> {
            settings.iter().map(|(key, value)| vec![key.name.into(), value.clone(), key.summary.into()]).collect()
        };
        let header = ["key", "value", "meaning"];
        let Settings { chosen, implied } = &self.settings;
        let first = match chosen.is_empty() {
            true => paragraph("All settings have their default values."),
            false => table("Settings that differ from the defaults", &header, &rows(chosen)),
        };
        let rest = table("Settings that follow from defaults, set and data", &header, &rows(implied));
        let summary = Html::element("summary", format!("The other {} settings", implied.len()));
        first.and(Html::element("details", summary.and(rest)))
    }

    fn commands(&self) -> Html {
        let run = quoted(&self.args.run.display().to_string());
        let config = self.opened.run.config();
        let words =
            self.source.as_ref().map_or_else(|| format!("DATA --manifold {}", quoted(&config.manifold)), Source::words);
        let fit = format!("mad fit {words} -o {run}{} --seed {}", self.settings.flags(), config.seed);
        let seed = self.args.seed.value;
        let lines = [
            fit,
            format!("mad eval {run} --seed {seed}"),
            format!("mad sample {run} -n {} --seed {seed} -o samples.csv", self.samples.len()),
            format!("mad report {run} -n {} --seed {seed}", self.samples.len()),
        ];
        let mut body = paragraph("The same data and seed give the same weights, samples and scores.");
        body = body.and(code(&lines.join("\n")));
        if self.source.is_none() {
            body = body.and(paragraph("The run folder has no record of its data: put the file for DATA."));
        } else if self.source.as_ref().is_some_and(|source| source.data == "-") {
            body = body.and(paragraph("The data came on standard input."));
        }
        body
    }

    fn origin(&self) -> Html {
        let run = &self.opened.run;
        let info = run.info();
        let mut facts: Vec<Vec<String>> = vec![
            vec!["Program".into(), format!("mad {}", info.version)],
            vec!["Form of the folder".into(), format!("schema {}", info.schema)],
            vec![
                "Machine".into(),
                format!("{}; {} threads, which change no result", info.features.join(", "), info.threads),
            ],
            vec!["Seed".into(), info.seed.to_string()],
            vec!["Settings".into(), run.config().hash()],
            vec!["Data".into(), info.data_hash.clone()],
        ];
        facts.extend(info.revision.iter().map(|revision| vec!["Revision".into(), revision.clone()]));
        facts.extend(info.data.iter().map(|(name, hash)| vec![format!("data: {name}"), hash.clone()]));
        table("Hashes are BLAKE3", &["what", "value"], &facts)
    }
}

/// The last part of the path of a run.
pub fn run_name(path: &Path) -> String {
    path.canonicalize()
        .ok()
        .as_deref()
        .unwrap_or(path)
        .file_name()
        .map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

/// The last line of a page.
pub fn foot(args: &Report) -> String {
    format!("Written by mad {}; samples with seed {}.", version::NUMBER, args.seed.value)
}

/// How the paper is cited.
pub fn citation() -> Html {
    paragraph(CITATION).and(code(BIBTEX))
}
