//! Three columns of strings that depend strongly on each other, with a known joint distribution.

use super::{BLOCK, DatasetEntry, Request, draw};
use crate::{
    rng::{Purpose, stream},
    table::Table,
};

/// The data set.
pub const ENTRY: DatasetEntry = DatasetEntry {
    name: "categorical-toy",
    summary: "three string columns (sky, ground, transport) with strong dependence and a known joint distribution",
    parameters: &[],
    manifold: |_| "categorical".into(),
    is_distribution: true,
    make: |request| Ok(make(request)),
};

/// Column names.
pub const COLUMNS: [&str; 3] = ["sky", "ground", "transport"];

const SKY: [(&str, f64); 3] = [("clear", 0.5), ("cloudy", 0.3), ("rain", 0.2)];
const GROUND: [&str; 2] = ["dry", "wet"];
const TRANSPORT: [&str; 4] = ["bike", "bus", "car", "walk"];

/// Probability that the ground is dry, given the sky.
const DRY: [f64; 3] = [0.95, 0.7, 0.02];

/// Probabilities of the transport, given sky and ground.
const BY_WEATHER: [[[f64; 4]; 2]; 3] = [
    [[0.6, 0.05, 0.05, 0.3], [0.2, 0.3, 0.3, 0.2]],
    [[0.4, 0.25, 0.15, 0.2], [0.1, 0.4, 0.4, 0.1]],
    [[0.25, 0.25, 0.25, 0.25], [0.02, 0.48, 0.48, 0.02]],
];

/// All combinations with their probabilities, which sum to 1.
pub fn joint() -> Vec<([&'static str; 3], f64)> {
    let mut table = Vec::new();
    for (s, (sky, p_sky)) in SKY.iter().enumerate() {
        for (g, ground) in GROUND.iter().enumerate() {
            let p_ground = if g == 0 { DRY[s] } else { 1.0 - DRY[s] };
            for (t, transport) in TRANSPORT.iter().enumerate() {
                table.push(([*sky, *ground, *transport], p_sky * p_ground * BY_WEATHER[s][g][t]));
            }
        }
    }
    table
}

fn make(request: &Request) -> Table {
    let joint = joint();
    let mut table = Table::text("categorical-toy", Some(COLUMNS.map(String::from).to_vec()), COLUMNS.len());
    for block in 0..request.count().div_ceil(BLOCK) {
        let mut rng = stream(request.seed, Purpose::Data, 1 + block as u64);
        for row in block * BLOCK..request.count().min((block + 1) * BLOCK) {
            table.push(row + 2, joint[draw(joint.iter().map(|(_, p)| *p), &mut rng)].0);
        }
    }
    table
}
