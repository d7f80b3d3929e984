//! Readers of `mad-nn`: checkpoints, run folders, settings and weights of other programs.

use super::target::Target;
use mad_core::{
    catalogue::{BuildContext, build, datasets},
    load::load,
    manifold::Manifold,
    table::ColumnOptions,
};
use mad_nn::{
    Config, Contents, Fit, Part, Partial, Run,
    checkpoint::{self, Identity, Manifest, Progress, State},
    disk::RealDisk,
    net::Model,
    optim::Weights,
    vision::weights,
};
use std::{
    fmt::Display,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

const JSON: &[&[u8]] = &[
    b"null",
    b"{}",
    b"[]",
    b"-1",
    b"1e309",
    b"18446744073709551616",
    b"\"\"",
    b"\"\\ud800\"",
    b"true",
    b",",
    b"[[[[[[[[",
    b"\"shape\"",
    b"\"hash\"",
    b"\"step\"",
    b"\"schema\"",
    b"\"F32\"",
    b"\"data_offsets\"",
    b"\"__metadata__\"",
];

/// The manifest of a checkpoint.
pub const MANIFEST: Target = Target {
    name: "manifest",
    run: |bytes, folder| {
        let (checkpoints, model) = (folder.join("manifest"), small());
        let (place, _) = saved(&checkpoints, &model);
        fs::write(place.join("manifest.json"), bytes).expect("a file");
        match checkpoint::read_manifest(&place) {
            // What belongs to another run is not the manifest's fault.
            Ok(found) => {
                let identity = Identity { config_hash: found.config_hash, data_hash: found.data_hash };
                told(checkpoint::load(&checkpoints, 0, model.layout(), &identity).map(|_| "a checkpoint"))
            }
            Err(error) => error.to_string(),
        }
    },
    words: JSON,
};

/// The tensors of a checkpoint, with a manifest that agrees with their bytes, so that only the reader stands in the way.
pub const TENSORS: Target = Target {
    name: "tensors",
    run: |bytes, folder| {
        let (checkpoints, model) = (folder.join("tensors"), small());
        let (place, identity) = saved(&checkpoints, &model);
        let mut manifest: Manifest = checkpoint::read_manifest(&place).expect("a manifest");
        manifest.file.bytes = bytes.len() as u64;
        manifest.file.hash = blake3::hash(bytes).to_hex().to_string();
        if let Ok(file) = safetensors::SafeTensors::deserialize(bytes) {
            for record in &mut manifest.tensors {
                if let Ok(tensor) = file.tensor(&record.name) {
                    record.hash = blake3::hash(tensor.data()).to_hex().to_string();
                }
            }
        }
        fs::write(place.join("manifest.json"), serde_json::to_vec(&manifest).expect("JSON")).expect("a file");
        fs::write(place.join("tensors.safetensors"), bytes).expect("a file");
        told(checkpoint::load(&checkpoints, 0, model.layout(), &identity).map(|_| "a checkpoint"))
    },
    words: JSON,
};

/// Settings.
pub const CONFIG: Target = Target {
    name: "config",
    run: |bytes, _| {
        let text = String::from_utf8_lossy(bytes);
        let resolved = Partial::from_toml(&text, "input").and_then(|p| Config::resolve(&p, sphere().as_ref()));
        // Settings that are accepted are read back as they are.
        if let Ok(config) = &resolved {
            let again = Config::from_toml(&config.to_toml(), "written");
            assert!(again.as_ref().is_ok_and(|again| again == config), "{again:?}");
        }
        told(resolved.map(|_| "settings")) + &told(Config::from_toml(&text, "input").map(|_| "all settings"))
    },
    words: &[
        b"steps",
        b"width",
        b"depth",
        b"seed",
        b"levels",
        b"method",
        b"base",
        b"network",
        b"sigma_min",
        b"= -1",
        b"= 1e309",
        b"= nan",
        b"= \"",
        b"[",
        b"{",
        b"'''",
        b"9223372036854775808",
        b"condition",
        b"\n",
    ],
};

/// The files next to the checkpoints of a run, with hashes that agree. The first byte says which.
pub const RUN: Target = Target {
    name: "run",
    run: |bytes, folder| {
        const FILES: [&str; 4] = ["run.json", "columns.json", "base.json", "config.toml"];
        let Some((first, bytes)) = bytes.split_first() else { return "nothing".into() };
        let name = FILES[usize::from(*first) % FILES.len()];
        let run = folder.join("run");
        let originals = folder.join("originals");
        if !run.exists() {
            make_run(&run);
            fs::create_dir(&originals).expect("a folder");
            for file in FILES {
                fs::copy(run.join(file), originals.join(file)).expect("a copy");
            }
        }
        for file in FILES {
            fs::copy(originals.join(file), run.join(file)).expect("a copy");
        }
        fs::write(run.join(name), bytes).expect("a file");
        if name.ends_with(".json") && name != "run.json" {
            let text = fs::read_to_string(run.join("run.json")).expect("run.json");
            let mut info: mad_nn::run::RunInfo = serde_json::from_str(&text).expect("run.json");
            info.data.insert(name.into(), blake3::hash(bytes).to_hex().to_string());
            let lines: String = info.data.iter().map(|(name, hash)| format!("{name} {hash}\n")).collect();
            info.data_hash = blake3::hash(lines.as_bytes()).to_hex().to_string();
            fs::write(run.join("run.json"), serde_json::to_vec(&info).expect("JSON")).expect("a file");
        }
        let opened = match Run::open(&run) {
            Ok(opened) => opened,
            Err(error) => return error.to_string(),
        };
        let table = datasets::make("earthquakes-week", None, 0, 0, None).expect("a table");
        let points = opened.part(Part::Test);
        if let Ok(points) = &points
            && points.dim() == opened.manifold().ambient_dim()
        {
            opened.columns().points.encode(points);
        }
        told(points.map(|p| format!("{} coordinates", p.dim()))) + &told(opened.decode(&table).map(|_| "points"))
    },
    words: JSON,
};

/// Weights that other programs trained: safetensors and pickles.
pub const WEIGHTS: Target = Target {
    name: "weights",
    run: |bytes, folder| {
        let path = folder.join("input.pth");
        fs::write(&path, bytes).expect("a file");
        told(weights::load(&path).map(|tensors| format!("{} tensors", tensors.len())))
    },
    words: &[
        b"PK\x01\x02",
        b"PK\x03\x04",
        b"\x80\x02",
        b"ctorch._utils\n_rebuild_tensor_v2\n",
        b"cos\nsystem\n",
        b"FloatStorage",
        b"R",
        b"Q",
        b"(",
        b"t",
        b"\x85",
        b"\x86",
        b"\x87",
        b"q\x01",
        b"h\x01",
        b"}",
        b"u",
        b"s",
        b".",
        b"\xff\xff\xff\x7f",
    ],
};

fn sphere() -> Arc<dyn Manifold> {
    build("sphere:2", &BuildContext::without_files()).expect("a sphere")
}

/// A network of the fewest weights.
fn small() -> Model {
    let settings = Partial::from_toml("width = 4\ndepth = 1\nsteps = 1", "small").expect("settings");
    Config::resolve(&settings, sphere().as_ref()).expect("settings").model(3, 0)
}

/// A checkpoint of step 0 in `folder`; gives its place and what it belongs to.
fn saved(folder: &Path, model: &Model) -> (PathBuf, Identity) {
    let identity = Identity { config_hash: "config".into(), data_hash: "data".into() };
    let place = checkpoint::path_of(folder, 0);
    let kept = folder.join("manifest.json");
    if !kept.exists() {
        let state = State { weights: Weights::new(vec![0.5; model.layout().len()]), progress: Progress::default() };
        checkpoint::save(&RealDisk, folder, model.layout(), &state, &identity).expect("a checkpoint");
        fs::copy(place.join("manifest.json"), &kept).expect("a copy");
    }
    fs::copy(&kept, place.join("manifest.json")).expect("a copy");
    (place, identity)
}

fn make_run(path: &Path) {
    let table = datasets::make("earthquakes-week", None, 0, 0, None).expect("a table");
    let loaded = load(&table, "sphere:2", &ColumnOptions::default()).expect("points");
    let settings =
        Partial::from_toml("steps = 1\nwidth = 4\ndepth = 1\nbatch = 8\nseed = 1", "small").expect("settings");
    let contents = Contents::new(&table, loaded, &settings).expect("contents");
    Fit::new(&contents).out(path).train().expect("a run");
}

/// The words of an outcome.
fn told<T: Display>(outcome: Result<T, impl Display>) -> String {
    match outcome {
        Ok(value) => value.to_string(),
        Err(error) => error.to_string(),
    }
}
