//! Flags on how a data file is read.

use clap::{Args, ValueEnum};
use mad_core::table::EulerSequence;

/// How the columns of a data file are read
#[derive(Debug, Clone, Default, PartialEq, Args)]
#[command(next_help_heading = "Reading the file")]
pub struct Reading {
    /// Columns to use, by name or number: `phi,psi` or `3-9`
    #[arg(long, value_name = "LIST")]
    pub columns: Option<String>,
    /// Unit of angles whose column names do not end in `_deg` or `_rad`
    #[arg(long, value_enum, value_name = "UNIT")]
    pub angle_unit: Option<AngleUnit>,
    /// Order of quaternion columns whose names leave it open
    #[arg(long, value_enum, value_name = "ORDER", hide_short_help = true)]
    pub quat_order: Option<QuatOrder>,
    /// What three columns of a rotation hold where their names (`rx`, `ry`, `rz`) leave it open
    #[arg(long, value_enum, value_name = "FORM", hide_short_help = true)]
    pub rotation: Option<RotationForm>,
    /// Sequence of Euler angles as scipy writes it: `zyx` about fixed axes, `ZYX` about turning axes
    #[arg(long, value_name = "AXES", hide_short_help = true)]
    pub euler: Option<EulerSequence>,
    /// Column separator: a character, `tab` or `space`; detected automatically if absent
    #[arg(long, value_name = "CHAR", hide_short_help = true)]
    pub delimiter: Option<String>,
    /// Whether the first row of a text file holds column names; detected automatically if absent
    #[arg(long, value_enum, value_name = "WHETHER", hide_short_help = true)]
    pub header: Option<Header>,
    /// The array of an NPZ file; the only one if absent
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    pub array: Option<String>,
    /// Leave out rows that cannot be read, and report how many and why
    #[arg(long)]
    pub skip_bad_rows: bool,
    /// Accept quaternions of any length but zero, and project points onto the set from any distance
    #[arg(long, hide_short_help = true)]
    pub normalize: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AngleUnit {
    Deg,
    Rad,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Header {
    Yes,
    No,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RotationForm {
    /// A rotation vector: the axis times the angle
    Rotvec,
    /// Euler angles; `--euler` gives their sequence
    Euler,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum QuatOrder {
    Xyzw,
    Wxyz,
}
