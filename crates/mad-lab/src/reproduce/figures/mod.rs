//! The figures of the paper. Each file has an `Input` of plain numbers, `draw`, which makes the picture of it and touches no
//! file, and where it is simple a way to get the input from run folders.

pub mod base_s2;
mod colours;
pub mod discrete;
pub mod earth;
pub mod front;
pub mod grid;
pub mod intro;
pub mod loss;
pub mod mmd_vs_time;
pub mod seeds;
pub mod so3;
pub mod symsol;
#[cfg(test)]
mod tests;
