//! Poses from pictures, from training to a picture of one's own.

mod common;
use common::Desk;
use mad_core::solids::{Archive, Solid, Split};

/// A model that is far too small, but quick.
/// A score of a run on pictures.
fn metric(score: &serde_json::Value, name: &str) -> f64 {
    score["metrics"][name]["value"].as_f64().unwrap_or_else(|| panic!("{name} is missing in {score}"))
}

const FIT: &str = "fit symsol:cone --seed 3 --batch 16 --set size=16 --set features=8 --set width=16 --set draws=4 -q";

#[test]
fn a_model_is_trained_scored_and_asked_about_a_picture() {
    let desk = Desk::new();
    desk.ok(&format!("{FIT} --steps 60 --out run"));
    let score = desk.json("eval run --against test --pictures 20");
    let spread = metric(&score, "spread");
    assert!(spread > 0.0 && spread < 180.0, "{score}");
    assert!(metric(&score, "drift_mean") < 0.1, "{score}");
    let fewer = desk.json("eval run --against test --pictures 20 --nfe 3 -n 5");
    assert_eq!(fewer["samples_per_picture"].as_u64(), Some(5));
    assert_ne!(metric(&fewer, "spread"), spread);
    let other = desk.json("eval run --against test --pictures 20 --sampler heun --nfe 5");
    assert_ne!(metric(&other, "spread"), spread, "any sampler walks");

    desk.ok("report run --pictures 10");
    let page = std::fs::read_to_string(desk.path("run/report.html")).unwrap();
    for words in ["test picture 3", "Mode error", "poses-figure", "symsol:cone", "sigma_min"] {
        assert!(page.contains(words), "{words}");
    }

    desk.ok("data render cone --train 0 --test 1 --size 48 --out pictures");
    let ask = "sample run --given picture=pictures/test/images/cone_00000.png -n 7 --seed 1";
    desk.ok(&format!("{ask} --out poses.csv"));
    desk.ok("plot run --given picture=pictures/test/images/cone_00000.png -n 20 --out poses.svg");
    let poses = std::fs::read_to_string(desk.path("poses.csv")).unwrap();
    let row = |line: &str| line.split(',').map(|v| v.parse::<f64>().unwrap()).collect::<Vec<_>>();
    let rows: Vec<Vec<f64>> = poses.lines().skip(1).map(row).collect();
    assert_eq!(rows.len(), 7);
    assert!(rows.iter().all(|q| (q.iter().map(|v| v * v).sum::<f64>() - 1.0).abs() < 1e-9));
    let density = "density run --at poses.csv --given picture=pictures/test/images/cone_00000.png";
    assert!(desk.fails(2, density).contains("has no density"));
    assert!(std::fs::read_to_string(desk.path("poses.svg")).unwrap().contains("</svg>"));
    assert_eq!(desk.ok(ask), poses, "the same seed gives the same poses");
}

#[test]
fn continued_runs_and_other_threads_give_the_same_weights() {
    let desk = Desk::new();
    desk.ok(&format!("{FIT} --steps 12 --threads 1 --out whole"));
    desk.ok(&format!("{FIT} --steps 12 --threads 2 --set checkpoint_every=5 --set keep_checkpoints=9 --out broken"));
    for step in ["step-00000010", "step-00000012"] {
        std::fs::remove_dir_all(desk.path("broken/checkpoints").join(step)).unwrap();
    }
    desk.ok(&format!("{FIT} --out broken --resume"));
    let last = "checkpoints/step-00000012/tensors.safetensors";
    assert_eq!(common::bytes(&desk.path("whole").join(last)), common::bytes(&desk.path("broken").join(last)));
    assert!(desk.fails(4, &format!("{FIT} --out broken --resume --set width=17")).contains("width was 16, now 17"));
    let other = FIT.replace("cone", "cyl");
    assert!(desk.fails(2, &format!("{other} --out broken --resume")).contains("cyl is asked for"));
}

#[test]
fn canonical_targets_are_learned_with_either_head() {
    let desk = Desk::new();
    let mut drift = Vec::new();
    for (name, settings) in [("mad", ""), ("dsm", "--method dsm"), ("plain", "--set head=modulated")] {
        desk.ok(&format!("{FIT} --steps 40 --set targets=canonical {settings} --out {name}"));
        let score = desk.json(&format!("eval {name} --against test --pictures 20"));
        assert!(metric(&score, "spread") < 180.0, "{score}");
        drift.push(metric(&score, "drift_mean"));
    }
    assert!(drift[0] < drift[1], "MAD stays nearer to the set than DSM: {drift:?}");
    assert!(
        desk.fails(2, &format!("{FIT} --steps 1 --set head=modulated --out orbit")).contains("targets = canonical")
    );
}

#[test]
fn archives_are_learned_from() {
    let desk = Desk::new();
    desk.ok("data render cone --train 6 --test 2 --size 24 --out pictures");
    desk.ok(&format!("{FIT} --steps 3 --set archive=pictures --out run"));
    let score = desk.json("eval run --against test --pictures 5");
    assert_eq!(score["pictures"].as_u64(), Some(2), "{score}");

    // Other pictures under the same name are not what the run began with.
    desk.ok("data render cone --train 6 --test 2 --size 24 --seed 9 --out others");
    std::fs::remove_dir_all(desk.path("pictures")).unwrap();
    std::fs::rename(desk.path("others"), desk.path("pictures")).unwrap();
    let error = desk.fails(4, &format!("{FIT} --steps 3 --set archive=pictures --out run --resume"));
    assert!(error.contains("data differ") && error.contains("archive"), "{error}");

    // A damaged picture is found before a folder is made.
    std::fs::write(desk.path("pictures/train/images/cone_00003.png"), b"no picture").unwrap();
    assert!(desk.fails(3, &format!("{FIT} --steps 3 --set archive=pictures --out new")).contains("cone_00003"));
    assert!(!desk.path("new").exists());
}

#[test]
fn any_number_of_poses_is_drawn_into_any_kind_of_file() {
    let desk = Desk::new();
    desk.ok(&format!("{FIT} --steps 2 --out run"));
    desk.ok("data render cone --train 0 --test 1 --size 24 --out pictures");
    let ask = "sample run --given picture=pictures/test/images/cone_00000.png --seed 1";
    desk.ok(&format!("{ask} -n 2500 --out poses.npy"));
    assert!(common::bytes(&desk.path("poses.npy")).starts_with(b"\x93NUMPY"));
    assert_eq!(desk.json(&format!("{ask} -n 3 --out three.csv"))["samples"].as_u64(), Some(3));
    let score = desk.json("eval run --against test --pictures 70 -n 20");
    assert_eq!((score["pictures"].as_u64(), score["samples_per_picture"].as_u64()), (Some(70), Some(20)));
    desk.ok(&format!("{FIT} --steps 2 --method bingham --set draws=4 --out mixture"));
    assert!(desk.fails(2, "eval mixture --against test --pictures 5 --nfe 3").contains("--nfe 3"));
    assert!(desk.fails(2, &format!("{FIT} --steps 2 --columns 1 --out other")).contains("columns"));
}

#[test]
fn mistakes_are_named_with_their_exit_codes() {
    let desk = Desk::new();
    assert!(desk.fails(2, "fit symsol:teapot --out run").contains("icosa"));
    assert!(desk.fails(2, "fit symsol:cube --out run --set stesp=3").contains("did you mean `steps`"));
    assert!(desk.fails(2, "fit symsol:cube --out run --method magic").contains("possible values: mad, dsm"));
    assert!(desk.fails(2, "fit symsol:cube --out run --base mixture").contains("--base"));
    assert!(desk.fails(5, "fit symsol:cube --out run --set archive=nowhere").contains("nowhere"));
    assert!(desk.fails(5, "fit symsol:cube --out run --set encoder=resnet18 --set weights=no.pth").contains("no.pth"));
    assert!(!desk.path("run").exists(), "nothing is written for a run that cannot begin");
    desk.ok(&format!("{FIT} --steps 1 --out run"));
    std::fs::write(desk.path("bad.png"), b"no picture").unwrap();
    assert!(desk.fails(3, "sample run -n 1 --given picture=bad.png").contains("bad.png"));
    assert!(desk.fails(5, "sample run -n 1 --given picture=absent.png").contains("absent.png"));
    assert!(desk.fails(2, "eval run --against train").contains("--against test"));
    assert!(desk.fails(2, "sample run -n 3").contains("--given picture=FILE"));
    assert!(desk.fails(2, "plot run --out x.svg").contains("--given picture=FILE"));
    std::fs::rename(desk.path("run/run.json"), desk.path("run/pose.json")).unwrap();
    assert!(desk.fails(4, "eval run --against test").contains("fit again"), "a folder of version 0.1");
}

/// Pictures rendered here and read as files, with a table that names them.
fn table_of_pictures(desk: &Desk, solid: &str, count: usize) {
    desk.ok(&format!("data render {solid} --train {count} --test 0 --size 24 --out solids"));
    let archive = Archive::open(&desk.path("solids")).unwrap();
    let poses = archive.labels(Split::Train, Solid::lookup(solid).unwrap()).unwrap();
    let row = |(i, q): (usize, &[f64; 4])| {
        format!("solids/train/images/{solid}_{i:05}.png,{},{},{},{}\n", q[0], q[1], q[2], q[3])
    };
    let rows: String = poses.iter().enumerate().map(row).collect();
    desk.write("poses.csv", &format!("file,qx,qy,qz,qw\n{rows}"));
}

const OWN: &str = "--seed 3 --batch 16 --set size=16 --set features=8 --set width=16 --set draws=4 -q";

#[test]
fn pictures_of_ones_own_are_learned_from_a_table() {
    let desk = Desk::new();
    table_of_pictures(&desk, "cube", 200);
    let fit = format!("fit poses.csv --manifold so3/O --given picture=file {OWN}");
    let done = desk.json(&format!("{fit} --steps 60 --out run"));
    assert!(done["validation"]["nll_bound"].is_number(), "{done}");
    assert_eq!(done["rows"]["train"].as_u64(), Some(160), "{done}");
    // The folder holds its pictures, and needs the files no more.
    std::fs::rename(desk.path("solids"), desk.path("elsewhere")).unwrap();
    let score = desk.json("eval run");
    assert_eq!(score["pictures"].as_u64(), Some(20), "{score}");
    assert!(metric(&score, "spread") < 60.0, "{score}");
    desk.ok("report run --pictures 10");
    desk.ok("plot run --given picture=elsewhere/train/images/cube_00007.png -n 20 -o poses.svg");
    let info = desk.json("info run");
    assert_eq!(
        (info["condition"].as_str(), info["manifold"].as_str()),
        (Some("picture=file"), Some("so3/O")),
        "{info}"
    );
    assert_eq!(info["settings"]["steps"], "60", "{info}");
    assert_eq!(info["validation"]["nll_bound"], done["validation"]["nll_bound"]);
    let poses = desk.ok("sample run --given picture=elsewhere/train/images/cube_00007.png -n 5 --seed 1");
    assert!(poses.starts_with("qx,qy,qz,qw") && poses.lines().count() == 6, "{poses}");

    // A file that is gone is found before a folder is made.
    assert!(desk.fails(5, &format!("{fit} --steps 5 --out other")).contains("cube_0"));
    assert!(!desk.path("other").exists());
}

#[test]
fn tables_of_pictures_are_refused_where_they_cannot_be_learned() {
    let desk = Desk::new();
    table_of_pictures(&desk, "cone", 20);
    let fit = |rest: &str| format!("fit poses.csv --steps 2 --out run {rest} {OWN}");
    assert!(desk.fails(2, &fit("--manifold so3 --given picture=name")).contains("name"));
    assert!(desk.fails(2, &fit("--manifold so3/D3 --given picture=file")).contains("so3/D3"));
    assert!(desk.fails(2, &fit("--manifold so3 --given picture=file --method rfm")).contains("rotation-flow"));
    assert!(desk.fails(2, "fit poses.csv --manifold so3 --method ipdf --seed 1 --out run").contains("pictures"));
    assert!(desk.fails(2, &fit("--manifold so3 --given picture=file --set symmetrised=true")).contains("symmetrised"));
    desk.ok(&fit("--manifold so3/SO2 --given picture=file --method embedding"));
}

#[test]
fn tables_are_not_dropped_for_pictures_of_a_solid() {
    let desk = Desk::new();
    table_of_pictures(&desk, "cone", 20);
    for manifold in ["so3", "so3/SO2"] {
        let fit = format!("fit poses.csv --manifold {manifold} --given picture=symsol:cone --steps 2 --out run {OWN}");
        assert!(desk.fails(2, &fit).contains("pictures of"));
        assert!(!desk.path("run").exists());
    }
}

#[test]
fn densities_of_pictures_on_quotients_are_refused() {
    let desk = Desk::new();
    table_of_pictures(&desk, "cone", 40);
    let density =
        |out: &str| format!("density {out} --at poses.csv --given picture=solids/train/images/cone_00007.png");
    for (manifold, out) in [("so3", "plain"), ("so3/SO2", "quotient")] {
        let method = "--method bingham --given picture=file --steps 2";
        desk.ok(&format!("fit poses.csv --manifold {manifold} {method} --out {out} {OWN}"));
    }
    desk.ok(&density("plain"));
    assert!(desk.fails(2, &density("quotient")).contains("no densities on quotients"));
}

#[test]
fn validation_stops_a_run_on_pictures_early() {
    let desk = Desk::new();
    let fit =
        format!("{FIT} --steps 40 --set evaluate_every=4 --set patience=2 --set select=best --set learning_rate=0");
    let done = desk.json(&format!("{fit} --out run"));
    assert_eq!(done["steps"].as_u64(), Some(8), "nothing is learned, so two validations are enough: {done}");
}

#[test]
fn the_paper_sets_every_line_of_its_table() {
    let desk = Desk::new();
    desk.ok(
        "fit symsol:cube --seed 1 --steps 0 --set recipe=paper-symsol --set encoder=cnn-small --set size=32 --out run -q",
    );
    let config = desk.read("run/config.toml");
    for line in [
        "batch = 64",
        "learning_rate = 0.0004",
        "learning_rate_start = 0.000001",
        "learning_rate_end = 0.0001",
        "weight_decay = 0.001",
        "clip = 10.0",
        "ema = 0.999",
        "level_features = 64",
        "width = 128",
        "depth = 4",
        "features = 128",
        "sigma_min = 0.002",
        "sigma_max = 20.0",
        "levels = \"log-uniform\"",
        "sampler = \"paper\"",
        "nfe = 41",
        "rho = 4.0",
    ] {
        assert!(config.lines().any(|found| found == line), "{line} is missing in\n{config}");
    }
}
