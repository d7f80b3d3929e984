//! The settings of pose runs: name, meaning, domain.

use super::method::POSE_METHODS;
use crate::{
    config::{Domain, Key, key, neutral},
    vision::ENCODERS,
};
use mad_core::pose::SOLIDS;

/// All keys of a pose run, in the order in which they are written.
pub const POSE_KEYS: &[Key] = &[
    key("solid", Domain::Choice(|| SOLIDS.iter().map(|s| s.name()).collect()), "the solid in the pictures"),
    key("archive", Domain::Text, "folder or zip in the layout of SymSol; empty for pictures rendered on the way"),
    key("method", Domain::Choice(|| POSE_METHODS.iter().map(|m| m.name).collect()), "how poses are learned"),
    key(
        "targets",
        Domain::Choice(|| vec!["canonical", "orbit"]),
        "what a denoising method is held to: one representative of the poses that look the same, or all of them",
    ),
    key("head", Domain::Choice(|| vec!["equivariant", "modulated"]), "what sees the noised pose"),
    key("size", Domain::Count(16, 512), "pixels of a side"),
    key("encoder", Domain::Choice(|| ENCODERS.iter().map(|e| e.name).collect()), "the network that sees the picture"),
    key(
        "weights",
        Domain::Text,
        "weights of a torchvision ResNet to begin with, .safetensors or .pth; empty for random",
    ),
    key("features", Domain::Count(1, 4096), "numbers that the encoder hands on"),
    key("width", Domain::Count(1, 4096), "numbers in a hidden layer of the head"),
    key("depth", Domain::Count(1, 64), "hidden layers of the head; couplings of a flow"),
    key("images", Domain::Count(1, 65_536), "pictures in a step"),
    key(
        "draws",
        Domain::Count(1, 65_536),
        "noise draws or queries per picture; components of a mixture; centres of a flow's circle maps",
    ),
    key("steps", Domain::Count(0, 100_000_000), "training steps"),
    key("seed", Domain::Count(0, i64::MAX as u64), "seed of weights, pictures and noise"),
    key("learning_rate", Domain::Number(0.0, 1.0), "largest learning rate; it falls to zero like half a cosine wave"),
    key("warmup", Domain::Count(0, 100_000_000), "steps in which the learning rate grows"),
    key("weight_decay", Domain::Number(0.0, 1.0), "share of the rate by which weights shrink"),
    key("clip", Domain::Number(0.0, 1e9), "largest norm of a gradient; 0 for no limit"),
    key("ema", Domain::Number(0.0, 1.0 - 1e-9), "memory of the averaged weights; 0 for none"),
    key("sigma_min", Domain::Number(1e-8, 1e6), "smallest noise level; poses nearer than about twice that are one"),
    key("sigma_max", Domain::Number(1e-8, 1e6), "largest noise level"),
    key("auxiliary", Domain::Number(0.0, 1e9), "weight of the regression of the invariant embedding in the loss"),
    neutral("nfe", Domain::Count(2, 10_000), "calls of the denoiser per sample"),
    neutral("symmetrised", Domain::Flag, "whether answers are averaged over moved copies of the picture"),
    neutral("checkpoint_every", Domain::Count(1, 100_000_000), "steps between checkpoints"),
    neutral("keep_checkpoints", Domain::Count(1, 10_000), "checkpoints kept"),
    neutral("log_every", Domain::Count(1, 100_000_000), "steps between logged losses"),
];
