//! The key `levels`: how training draws noise levels.

use mad_core::noise::LevelDraw;
use std::{ops::Deref, str::FromStr};

/// A way of drawing noise levels: `log-uniform`, `scales:N` or `log-normal:MEAN,STD`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Levels(pub LevelDraw);

impl Levels {
    /// What is allowed, in words.
    pub const KNOWN: &str = "log-uniform, scales:N (N from 2 to 100000), log-normal:MEAN,STD (STD > 0)";

    fn parse(text: &str) -> Option<LevelDraw> {
        if text == "log-uniform" {
            return Some(LevelDraw::LogUniform);
        }
        let (kind, rest) = text.split_once(':')?;
        match kind {
            "scales" => rest.parse().ok().filter(|n| (2..=100_000).contains(n)).map(|n| LevelDraw::Scales { n }),
            "log-normal" => {
                let (mean, std) = rest.split_once(',')?;
                let (mean, std): (f64, f64) = (mean.trim().parse().ok()?, std.trim().parse().ok()?);
                (mean.abs() <= 20.0 && 0.0 < std && std <= 20.0).then_some(LevelDraw::LogNormal { mean, std })
            }
            _ => None,
        }
    }
}

impl FromStr for Levels {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::parse(text).map(Self).ok_or_else(|| Self::KNOWN.into())
    }
}

impl Deref for Levels {
    type Target = LevelDraw;

    fn deref(&self) -> &LevelDraw {
        &self.0
    }
}
