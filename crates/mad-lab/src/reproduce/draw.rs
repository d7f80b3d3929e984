//! Figures from finished jobs. Another figure is a function and a line in [`FIGURES`].

use super::{
    Planned, Score, Summary,
    expand::Place,
    figures::{
        base_s2, discrete, earth, front,
        grid::GridSet,
        intro, loss,
        mmd_vs_time::{self, Pair},
        seeds::{Crossing, MethodCurves},
        so3, symsol,
    },
    job::TimePoint,
};
use crate::error::LabError;
use mad_cli::plot::Figure;
use mad_nn::Run;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Most points of one panel.
const MOST_POINTS: usize = 4000;

/// Samples of the base score alone.
const BASE_SAMPLES: usize = 2000;

/// A job that has a score.
pub struct Finished<'a> {
    /// Protocol, data set, method, seed.
    pub place: &'a Place,
    /// The run folder.
    pub folder: PathBuf,
    pub score: &'a Score,
}

impl Finished<'_> {
    /// Opens its run.
    pub fn open(&self) -> Result<Run, LabError> {
        Ok(Run::open(&self.folder)?)
    }
}

/// What a figure is drawn from: the experiment, and its finished jobs in the order of the plan.
pub struct Drawing<'a> {
    pub title: &'a str,
    /// Keys and titles of the data sets.
    pub data: Vec<(&'a str, &'a str)>,
    /// Labels of the methods that were run.
    pub methods: Vec<&'a str>,
    /// Which of them are compared.
    pub pairs: Vec<Pair>,
    pub finished: Vec<Finished<'a>>,
}

impl<'a> Drawing<'a> {
    /// Jobs of a method on a data set, by seed.
    fn of(&self, data: &str, method: &str) -> impl Iterator<Item = &Finished<'a>> {
        self.finished.iter().filter(move |job| job.place.data == data && job.place.method == method)
    }

    /// The curves of all methods on a data set by seed, of some methods none.
    fn curves(&self, data: &str, point: impl Fn(&TimePoint) -> Option<(f64, f64)>) -> Vec<SeedCurves> {
        let curve = |job: &Finished| (job.place.seed, job.score.times.iter().filter_map(&point).collect::<Vec<_>>());
        let of = |method: &&str| self.of(data, method).map(curve).filter(|(_, curve)| curve.len() > 1).collect();
        self.methods.iter().map(of).collect()
    }

    /// The same, with the same seeds for the two methods of a pair: another seed may be another distribution, and means over unequal seeds
    /// are not to be compared.
    fn paired_curves(&self, data: &str, point: impl Fn(&TimePoint) -> Option<(f64, f64)>) -> Vec<SeedCurves> {
        let mut curves = self.curves(data, point);
        let place = |label: &String| self.methods.iter().position(|method| method == label);
        for Pair { fast, slow } in &self.pairs {
            let (Some(fast), Some(slow)) = (place(fast), place(slow)) else { continue };
            let shared: BTreeSet<u64> =
                curves[fast].keys().filter(|seed| curves[slow].contains_key(seed)).copied().collect();
            if !curves[fast].is_empty() && !curves[slow].is_empty() {
                [fast, slow].into_iter().for_each(|i| curves[i].retain(|seed, _| shared.contains(seed)));
            }
        }
        curves
    }

    fn labelled(&self, curves: Vec<SeedCurves>) -> Vec<MethodCurves> {
        let labelled = |(label, curves): (&&str, SeedCurves)| MethodCurves {
            label: (*label).to_owned(),
            seeds: curves.into_values().collect(),
        };
        self.methods.iter().zip(curves).map(labelled).collect()
    }

    /// Methods with a finished job on every data set; a figure has no gaps.
    fn complete(&self) -> Vec<&'a str> {
        let everywhere = |method: &&&str| self.data.iter().all(|(data, _)| self.of(data, method).next().is_some());
        self.methods.iter().filter(everywhere).copied().collect()
    }

    /// The runs of the first seed on a data set, by method.
    fn first_runs(&self, data: &str) -> Result<Vec<(&'a str, Run)>, LabError> {
        let first = |method: &'a str| self.of(data, method).next().map(|job| Ok((method, job.open()?)));
        self.complete().into_iter().filter_map(first).collect()
    }

    /// Data next to samples of the first seed, for every data set.
    fn grid(&self) -> Result<Vec<GridSet>, LabError> {
        let set = |(data, title): &(&str, &str)| {
            let runs = self.first_runs(data)?;
            let runs: Vec<(&str, &Run)> = runs.iter().map(|(label, run)| (*label, run)).collect();
            let rows = runs.iter().map(|(_, run)| run.info().rows.train).min().unwrap_or(0).min(MOST_POINTS);
            let mut set = GridSet::from_runs(title, &runs, rows, 0)?;
            set.data = set.data.head(rows);
            for method in &mut set.methods {
                let mmd = self.of(data, &method.label).next().and_then(|job| job.score.get("mmd_mean"));
                method.note = mmd.map_or(String::new(), |mmd| format!("MMD {mmd:.4}"));
            }
            Ok(set)
        };
        self.data.iter().map(set).collect()
    }
}

/// One curve for each seed.
type SeedCurves = BTreeMap<u64, Vec<(f64, f64)>>;

/// Takes finished figures.
pub trait Easel {
    /// Keeps a figure under a name.
    fn keep(&mut self, name: &str, figure: &Figure) -> Result<(), LabError>;
}

/// Draws the figures of an experiment; returns sentences to print with them.
pub type Draw = fn(&Drawing, &mut dyn Easel) -> Result<Vec<String>, LabError>;

/// What a figure is drawn from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Material {
    /// No jobs.
    Nothing,
    /// Scores, wherever they are kept.
    Scores,
    /// Run folders: a method must have them on every data set.
    Runs,
}

/// Figures by name of the experiment.
pub const FIGURES: &[(&str, Material, Draw)] = &[
    ("figure-front", Material::Runs, draw_front),
    ("figure-intro", Material::Runs, draw_intro),
    ("figure-earth", Material::Runs, draw_earth),
    ("figure-so3", Material::Runs, draw_so3),
    ("figure-mmd-vs-time", Material::Scores, draw_mmd_vs_time),
    ("figure-discrete", Material::Runs, draw_discrete),
    ("figure-base-s2", Material::Nothing, draw_base_s2),
    ("figure-loss", Material::Runs, draw_loss),
    ("figure-symsol", Material::Runs, draw_symsol),
    ("figure-symsol-training", Material::Scores, draw_symsol_training),
];

/// Whether the figures of an experiment are drawn from run folders, so that scores alone are not enough.
pub fn needs_runs(name: &str) -> bool {
    FIGURES.iter().any(|(figure, material, _)| *figure == name && *material == Material::Runs)
}

/// Draws what belongs to an experiment, if anything does.
pub fn draw(summary: &Summary, out: &Path, easel: &mut dyn Easel) -> Result<Vec<String>, LabError> {
    let experiment = &summary.plan.experiment;
    let Some((_, material, draw)) = FIGURES.iter().find(|(name, ..)| *name == experiment.name) else {
        return Ok(Vec::new());
    };
    let usable = |run: &&Planned| {
        summary.counts(run) && (*material != Material::Runs || run.job.finished_with_run(out).is_some())
    };
    let finished = summary.plan.runs.iter().filter(usable).filter_map(|run| {
        let folder = run.job.folder(out).join("run");
        Some(Finished { place: &run.place, folder, score: summary.score(run)? })
    });
    let drawing = Drawing {
        title: &experiment.title,
        data: experiment.data.iter().map(|data| (data.key.as_str(), data.title())).collect(),
        methods: experiment.methods.iter().filter(|m| m.run).map(|m| m.label.as_str()).collect(),
        pairs: experiment.methods.iter().filter_map(Pair::of).collect(),
        finished: finished.collect(),
    };
    match material {
        Material::Runs if drawing.complete().is_empty() => {
            Ok(vec!["Not drawn: no method has a finished run on every data set.".into()])
        }
        _ => draw(&drawing, easel),
    }
}

fn draw_intro(drawing: &Drawing, easel: &mut dyn Easel) -> Result<Vec<String>, LabError> {
    let runs = drawing.first_runs(drawing.data.first().map_or("", |data| data.0))?;
    let runs: Vec<(&str, &Run)> = runs.iter().map(|(label, run)| (*label, run)).collect();
    easel.keep("intro", &intro::draw(&intro::Input::from_runs(&runs)?)?)?;
    Ok(Vec::new())
}

fn draw_front(drawing: &Drawing, easel: &mut dyn Easel) -> Result<Vec<String>, LabError> {
    let run = |data: &str| Ok::<_, LabError>(drawing.first_runs(data)?.pop());
    let title = |data: &str| drawing.data.iter().find(|(key, _)| *key == data).map_or("", |(_, title)| title);
    let shading = |data: &str| run(data)?.map_or(Ok(None), |(_, run)| front::Shading::of(&run));
    let (Some(earth), Some(torsions), Some(cube)) = (shading("earthquake")?, shading("torsions")?, run("cube")?) else {
        return Ok(vec!["Not drawn: it shows one run of each data set.".into()]);
    };
    let input = front::Input {
        earth: (title("earthquake"), earth),
        torsions: (title("torsions"), torsions),
        poses: mad_cli::PoseRow { title: title("cube"), runs: vec![cube] },
    };
    easel.keep("front", &front::draw(&input)?)?;
    Ok(Vec::new())
}

fn draw_base_s2(_: &Drawing, easel: &mut dyn Easel) -> Result<Vec<String>, LabError> {
    easel.keep("base-s2", &base_s2::draw(&base_s2::Input::sampled(BASE_SAMPLES, 0)?)?)?;
    Ok(Vec::new())
}

fn draw_earth(drawing: &Drawing, easel: &mut dyn Easel) -> Result<Vec<String>, LabError> {
    let volcano = drawing.data.iter().position(|(data, _)| *data == "volcano");
    let close_up = volcano.map(|place| (place, earth::PACIFIC_NORTH));
    let input = earth::Input { title: drawing.title.to_owned(), sets: drawing.grid()?, close_up };
    easel.keep("earth", &earth::draw(&input)?)?;
    Ok(Vec::new())
}

fn draw_so3(drawing: &Drawing, easel: &mut dyn Easel) -> Result<Vec<String>, LabError> {
    let input = so3::Input { title: drawing.title.to_owned(), sets: drawing.grid()? };
    easel.keep("so3", &so3::draw(&input)?)?;
    Ok(Vec::new())
}

/// MMD over training time of the methods that have runs, and how much sooner one reaches what the other ends with, for every pair.
fn draw_mmd_vs_time(drawing: &Drawing, easel: &mut dyn Easel) -> Result<Vec<String>, LabError> {
    let mut notes = Vec::new();
    for (data, title) in &drawing.data {
        let curves = drawing.paired_curves(data, |time| Some((time.step as f64, time.mmd?)));
        let clocks = drawing.paired_curves(data, |time| time.mmd.map(|_| (time.step as f64, time.step_seconds)));
        let seeds: BTreeSet<u64> = curves.iter().flat_map(BTreeMap::keys).copied().collect();
        if seeds.is_empty() {
            notes.push(not_drawn(title));
            continue;
        }
        let (curves, clocks) = (drawing.labelled(curves), drawing.labelled(clocks));
        let methods = curves.iter().zip(&clocks).map(|(method, clock)| method.timed_by(clock)).collect();
        let floors: Vec<f64> = drawing
            .finished
            .iter()
            .filter(|job| job.place.data == *data && seeds.contains(&job.place.seed))
            .filter_map(|job| job.score.get("mmd_curve_floor"))
            .collect();
        let floor = (!floors.is_empty()).then(|| floors.iter().sum::<f64>() / floors.len() as f64);
        let pairs = drawing.pairs.clone();
        let input = mmd_vs_time::Input { title: drawing.title.to_owned(), methods, pairs, floor };
        for pair in input.drawn_pairs() {
            let times = input.crossing(pair).map_or(String::new(), |crossing| format!(": {}", said(&crossing)));
            notes.push(format!("{title}: {}{times}.", input.crossing_text(pair)));
        }
        easel.keep(&format!("mmd-vs-time-{data}"), &mmd_vs_time::draw(&input)?)?;
    }
    Ok(notes)
}

/// The times of a crossing, the first ones and those after which the curves stay.
fn said(crossing: &Crossing) -> String {
    let Crossing { fast, slow, stays, .. } = crossing;
    let stays = match stays {
        Some((fast, slow)) => format!("for good {:.1}× sooner, {fast:.1} s against {slow:.1} s", slow / fast),
        None => "but rises above it again".to_owned(),
    };
    format!("first {fast:.1} s against {slow:.1} s, {stays}")
}

/// The remark on a data set whose finished runs have no points over training.
fn not_drawn(title: &str) -> String {
    format!("Not drawn: {title}: no finished run has a curve.")
}

fn draw_discrete(drawing: &Drawing, easel: &mut dyn Easel) -> Result<Vec<String>, LabError> {
    let (uniform, skewed) = (drawing.first_runs("uniform")?, drawing.first_runs("skewed")?);
    let uniform: Vec<(&str, &Run)> = uniform.iter().map(|(label, run)| (*label, run)).collect();
    let skewed: Vec<(&str, &Run)> = skewed.iter().map(|(label, run)| (*label, run)).collect();
    easel.keep("discrete", &discrete::draw(&discrete::Input::from_runs(&uniform, &skewed, MOST_POINTS, 0)?)?)?;
    Ok(Vec::new())
}

fn draw_loss(drawing: &Drawing, easel: &mut dyn Easel) -> Result<Vec<String>, LabError> {
    for (data, _) in &drawing.data {
        let mut methods: Vec<(&str, Vec<Run>)> = Vec::new();
        for method in drawing.complete() {
            let runs = drawing.of(data, method).map(Finished::open).collect::<Result<_, _>>()?;
            methods.push((method, runs));
        }
        let methods: Vec<(&str, &[Run])> = methods.iter().map(|(label, runs)| (*label, runs.as_slice())).collect();
        easel.keep(&format!("loss-{data}"), &loss::draw(&loss::Input::from_runs(drawing.title, &methods)?)?)?;
    }
    Ok(Vec::new())
}

fn draw_symsol(drawing: &Drawing, easel: &mut dyn Easel) -> Result<Vec<String>, LabError> {
    let mut rows = Vec::new();
    for (data, title) in &drawing.data {
        let first = |method: &&'_ str| drawing.of(data, method).next().map(|job| Run::open(&job.folder));
        let mut runs = Vec::new();
        for method in drawing.complete() {
            if let Some(run) = first(&method) {
                runs.push((method, run?));
            }
        }
        rows.push(mad_cli::PoseRow { title, runs });
    }
    easel.keep("symsol", &symsol::draw(drawing.title, &rows)?)?;
    Ok(Vec::new())
}

fn draw_symsol_training(drawing: &Drawing, easel: &mut dyn Easel) -> Result<Vec<String>, LabError> {
    let (mut solids, mut notes) = (Vec::new(), Vec::new());
    let present = |curves| {
        let mut methods = drawing.labelled(curves);
        methods.retain(|method| !method.seeds.is_empty());
        methods
    };
    for (data, title) in &drawing.data {
        let curves = symsol::Curves {
            title: (*title).to_owned(),
            drift: present(drawing.curves(data, |time| Some((time.step as f64, time.drift?)))),
            spread: present(drawing.curves(data, |time| Some((time.step as f64, time.spread?)))),
        };
        match curves.drift.is_empty() && curves.spread.is_empty() {
            true => notes.push(not_drawn(title)),
            false => solids.push(curves),
        }
    }
    if !solids.is_empty() {
        easel.keep("symsol-training", &symsol::draw_training(drawing.title, &solids)?)?;
    }
    Ok(notes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::{Experiment, Outcomes, Plan, testing};

    /// Keeps the text of figures.
    #[derive(Default)]
    struct Pile(Vec<(String, String)>);

    impl Easel for Pile {
        fn keep(&mut self, name: &str, figure: &Figure) -> Result<(), LabError> {
            self.0.push((name.to_owned(), figure.to_svg()));
            Ok(())
        }
    }

    /// Scores with curves of the jobs that are wanted, `rate` times as fast, with this floor.
    fn finish(plan: &Plan, outcomes: &mut Outcomes, wanted: impl Fn(&Place) -> Option<(f64, f64)>) {
        for run in &plan.runs {
            let Some((rate, floor)) = wanted(&run.place) else { continue };
            let point = |i: u64| TimePoint {
                step: 10 * i,
                step_seconds: i as f64 / rate,
                mmd: Some(0.5 / i as f64),
                drift: Some(0.1 / i as f64),
                spread: Some(1.0 / i as f64),
                ..TimePoint::default()
            };
            let score = testing::score(&run.job.id, &[("mmd_curve_floor", floor)]);
            outcomes.scores.insert(run.job.id.clone(), Score { times: (1..=16).map(point).collect(), ..score });
        }
    }

    fn drawn(plan: &Plan, outcomes: &Outcomes) -> (Vec<String>, Pile) {
        let mut pile = Pile::default();
        // No run folder is there.
        let notes = draw(&Summary::new(plan, outcomes), Path::new("no such folder"), &mut pile).unwrap();
        (notes, pile)
    }

    #[test]
    fn only_figures_that_open_runs_need_them() {
        let opened = [
            "figure-front",
            "figure-intro",
            "figure-earth",
            "figure-so3",
            "figure-discrete",
            "figure-loss",
            "figure-symsol",
        ];
        assert!(opened.iter().all(|name| needs_runs(name)));
        for name in ["figure-mmd-vs-time", "figure-symsol-training", "figure-base-s2", "table-earth"] {
            assert!(!needs_runs(name), "{name}");
        }
    }

    #[test]
    fn mmd_over_time_compares_the_pairs_that_are_there() {
        let plan = testing::plan_of(Experiment::named("figure-mmd-vs-time", false).unwrap());
        let mut outcomes = Outcomes::default();
        finish(&plan, &mut outcomes, |place| match place.method.as_str() {
            "MAD, uniform base" => Some((4.0, 0.03)),
            "DSM, same settings" => Some((1.0, 0.03)),
            _ => None,
        });
        let (notes, pile) = drawn(&plan, &outcomes);
        let words = "“MAD, uniform base” reaches the final MMD of “DSM, same settings” (0.031) 4.0× sooner";
        let times = "first 4.0 s against 16.0 s, for good 4.0× sooner, 4.0 s against 16.0 s";
        assert_eq!(notes, [format!("K = 64: {words}: {times}.")]);
        assert_eq!(pile.0[0].0, "mmd-vs-time-K64");
        assert!(pile.0[0].1.contains(words), "{}", pile.0[0].1);

        // One method alone is drawn without a comparison; a second pair has a line of its own.
        let mut one = Outcomes::default();
        finish(&plan, &mut one, |place| (place.method == "DSM (paper)").then_some((1.0, 0.03)));
        let (notes, pile) = drawn(&plan, &one);
        assert_eq!((notes.len(), pile.0.len()), (0, 1));
        finish(&plan, &mut outcomes, |place| match place.method.as_str() {
            "MAD (paper)" => Some((2.0, 0.03)),
            "DSM (paper)" => Some((1.0, 0.03)),
            _ => None,
        });
        let (notes, pile) = drawn(&plan, &outcomes);
        let words = "“MAD (paper)” reaches the final MMD of “DSM (paper)” (0.031) 2.0× sooner";
        assert!(notes.len() == 2 && notes[1].contains(words), "{notes:?}");
        assert_eq!(pile.0[0].1.matches("× sooner").count(), 2);
    }

    #[test]
    fn methods_are_compared_over_the_same_seeds_with_their_own_partner() {
        let plan = testing::plan_of(Experiment::named("figure-mmd-vs-time", false).unwrap());
        let mut outcomes = Outcomes::default();
        // Seed 4 of MAD would make it eight times as slow.
        finish(&plan, &mut outcomes, |place| match (place.method.as_str(), place.seed) {
            ("MAD, uniform base", 4) => Some((0.1, 0.5)),
            ("MAD, uniform base", _) => Some((4.0, 0.03)),
            ("DSM, same settings", 0..=2) => Some((1.0, 0.03)),
            _ => None,
        });
        let (notes, pile) = drawn(&plan, &outcomes);
        assert!(notes.len() == 1 && notes[0].contains("4.0× sooner"), "{notes:?}");
        assert!(pile.0[0].1.contains("over 3 seeds") && pile.0[0].1.contains("floor 0.030"), "{}", pile.0[0].1);

        // A method of another pair has its own seeds and takes none away.
        finish(&plan, &mut outcomes, |place| match (place.method.as_str(), place.seed) {
            ("MAD (paper)", 0) => Some((1.0, 0.03)),
            _ => None,
        });
        let (notes, pile) = drawn(&plan, &outcomes);
        assert!(notes.len() == 1 && notes[0].contains("4.0× sooner"), "{notes:?}");
        assert!(pile.0[0].1.contains("over 1 to 3 seeds"), "{}", pile.0[0].1);

        let mut others = Outcomes::default();
        finish(&plan, &mut others, |place| match place.method.as_str() {
            "MAD, uniform base" | "DSM (paper)" => Some((1.0, 0.03)),
            _ => None,
        });
        let (notes, pile) = drawn(&plan, &others);
        assert_eq!((notes.len(), pile.0.len()), (0, 1), "MAD and DSM with other settings are no pair: {notes:?}");
    }

    #[test]
    fn floors_belong_to_the_data_set_that_is_drawn() {
        let mut experiment = Experiment::named("figure-mmd-vs-time", false).unwrap();
        let other = experiment.data[0].clone();
        experiment.data.push(crate::reproduce::experiment::DataSet { key: "other".into(), ..other.clone() });
        experiment.data.push(crate::reproduce::experiment::DataSet { key: "none".into(), title: None, ..other });
        let plan = testing::plan_of(experiment);
        let mut outcomes = Outcomes::default();
        finish(&plan, &mut outcomes, |place| match place.data.as_str() {
            "K64" => Some((1.0, 0.03)),
            "other" => Some((1.0, 0.05)),
            _ => None,
        });
        let (notes, pile) = drawn(&plan, &outcomes);
        assert!(pile.0.len() == 2 && pile.0[0].1.contains("floor 0.030") && pile.0[1].1.contains("floor 0.050"));
        assert!(notes.contains(&not_drawn("none")), "{notes:?}");
    }

    #[test]
    fn curves_of_solids_need_no_runs() {
        let plan = testing::plan_of(Experiment::named("figure-symsol-training", false).unwrap());
        let mut outcomes = Outcomes::default();
        let (notes, pile) = drawn(&plan, &outcomes);
        assert_eq!((notes.len(), pile.0.len()), (2, 0));
        finish(&plan, &mut outcomes, |place| (place.data == "cone").then_some((1.0, 0.0)));
        let (notes, pile) = drawn(&plan, &outcomes);
        assert_eq!((notes.len(), pile.0.len()), (1, 1));
        assert!(pile.0[0].1.contains("Cone: drift") && !pile.0[0].1.contains("Cube: drift"));
    }

    #[test]
    fn figures_of_runs_are_not_drawn_from_scores_alone() {
        let plan = testing::plan_of(Experiment::named("figure-loss", false).unwrap());
        let mut outcomes = Outcomes::default();
        finish(&plan, &mut outcomes, |_| Some((1.0, 0.03)));
        let (notes, pile) = drawn(&plan, &outcomes);
        assert!(notes[0].starts_with("Not drawn: no method has a finished run") && pile.0.is_empty(), "{notes:?}");
    }
}
