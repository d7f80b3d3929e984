//! The paper's tables and figures.

pub mod figures;
