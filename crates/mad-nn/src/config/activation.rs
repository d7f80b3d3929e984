//! The key `activation` as a word.

use crate::kernel::Activation;
use serde::{Deserialize, Deserializer, Serializer, de::Error};

/// Words and what they stand for.
pub(super) const ACTIVATIONS: [(&str, Activation); 3] =
    [("sin", Activation::Sin), ("silu", Activation::Silu), ("identity", Activation::Identity)];

pub(super) fn serialize<S: Serializer>(activation: &Activation, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(ACTIVATIONS.iter().find(|(_, a)| a == activation).map_or("", |(word, _)| word))
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Activation, D::Error> {
    let word = String::deserialize(from)?;
    let found = ACTIVATIONS.iter().find(|(known, _)| *known == word);
    found.map(|(_, activation)| *activation).ok_or_else(|| D::Error::custom(format!("unknown activation `{word}`")))
}
