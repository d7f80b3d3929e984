//! A block of one point as the cells of its columns, and what these hold.

use super::{Block, Column, decode::LAST_ROW};
use crate::{
    rotation::{self, canonical_sign},
    table::{
        Cell,
        columns::{name::unit, options::AngleUnit},
    },
};

impl Block {
    /// Names of the columns the block is written to, and where they stand.
    pub(in crate::table::columns) fn written(&self) -> Vec<(usize, String)> {
        match self {
            Block::Euler { columns, .. } => ["qx", "qy", "qz", "qw"].map(|n| (columns[0].index, n.into())).to_vec(),
            other => other.columns().iter().map(|c| c.index).zip(other.written_names()).collect(),
        }
    }

    /// Name under which each column is written where it is written at all: its own, but radians of latitudes and longitudes
    /// are marked, because degrees are the default.
    pub(in crate::table::columns) fn written_names(&self) -> Vec<String> {
        let own = |c: &Column| c.name.clone();
        match self {
            Block::LatLon { columns, units } => {
                let marked = |(c, u): (&Column, &AngleUnit)| match u {
                    AngleUnit::Rad if unit(&c.name).is_none() => format!("{}_rad", c.name),
                    _ => own(c),
                };
                columns.iter().zip(units).map(marked).collect()
            }
            other => other.columns().iter().map(own).collect(),
        }
    }

    /// What each column of the block holds, in words.
    pub(in crate::table::columns) fn roles(&self) -> Vec<String> {
        let same = |text: &str| vec![text.to_owned(); self.columns().len()];
        match self {
            Block::Coordinates { .. } => same("coordinate"),
            Block::Direction { .. } => same("coordinate of a unit vector"),
            Block::LatLon { units: [lat, lon], .. } => {
                vec![format!("latitude, {}", lat.name()), format!("longitude, {}", lon.name())]
            }
            Block::Quaternion { .. } => ["x", "y", "z", "w"].map(|c| format!("quaternion {c}")).to_vec(),
            Block::Matrix { columns } => {
                let inner = (0..9).map(|i| format!("matrix row {}, column {}", i / 3, i % 3));
                inner.chain((9..columns.len()).map(|i| format!("matrix row 3, column {}", i - 9))).collect()
            }
            Block::RotationVector { units, .. } => {
                units.iter().zip(["x", "y", "z"]).map(|(u, c)| format!("rotation vector {c}, {}", u.name())).collect()
            }
            Block::Euler { sequence, units, .. } => {
                let letters = sequence.letters();
                units.iter().zip(letters).map(|(u, c)| format!("Euler angle about {c}, {}", u.name())).collect()
            }
            Block::Angles { units, .. } => units.iter().map(|u| format!("angle, {}", u.name())).collect(),
            Block::CosSin { columns } => {
                (0..columns.len()).map(|i| if i % 2 == 0 { "cosine" } else { "sine" }.to_owned()).collect()
            }
            Block::Categories { levels, .. } => {
                levels.iter().map(|l| format!("category, {} values", l.len())).collect()
            }
            Block::Indicators { .. } => same("indicator of a category"),
            Block::Real { .. } => same("real number"),
        }
    }

    /// Whether the columns of this form are known by their names.
    pub(in crate::table::columns) fn is_named(&self) -> bool {
        let named = |name: &str| name.strip_prefix('x').is_some_and(|n| n.parse::<usize>().is_ok());
        match self {
            Block::LatLon { .. } | Block::Quaternion { .. } | Block::Matrix { .. } | Block::RotationVector { .. } => {
                true
            }
            other => other.columns().iter().all(|c| named(&c.name.to_lowercase()) || unit(&c.name).is_some()),
        }
    }

    /// The block of one point as cells, in the order of [`Block::written`].
    pub(in crate::table::columns) fn encode(&self, x: &[f64]) -> Vec<Cell> {
        let numbers = |values: &[f64]| values.iter().copied().map(Cell::Number).collect();
        match self {
            Block::Coordinates { .. } | Block::Direction { .. } | Block::CosSin { .. } | Block::Indicators { .. } => {
                numbers(x)
            }
            Block::LatLon { columns, units } => {
                let lon = units[1].of_radians(x[1].atan2(x[0]));
                let lat = units[0].of_radians(x[2].atan2(x[0].hypot(x[1])));
                let half = units[1].half_turn();
                numbers(&[lat, columns[1].turned(if lon >= half { -half } else { lon + 0.0 }, units[1])])
            }
            Block::Quaternion { .. } | Block::Euler { .. } => {
                let mut q = x.to_vec();
                canonical_sign(&mut q);
                numbers(&q)
            }
            Block::Matrix { columns } => {
                let mut entries = rotation::entries(x).to_vec();
                entries.extend(&LAST_ROW[..columns.len() - 9]);
                numbers(&entries)
            }
            Block::RotationVector { units, .. } => {
                let vector = rotation::to_vector(x);
                vector.iter().zip(units).map(|(v, unit)| Cell::Number(unit.of_radians(*v))).collect()
            }
            Block::Angles { columns, units } => {
                let angle = |((pair, column), unit): ((&[f64], &Column), &AngleUnit)| {
                    let (angle, half) = (pair[1].atan2(pair[0]) / unit.radians(), unit.half_turn());
                    Cell::Number(column.turned(if angle <= -half { half } else { angle.min(half) }, *unit))
                };
                x.chunks_exact(2).zip(columns).zip(units).map(angle).collect()
            }
            Block::Categories { levels, .. } => {
                let mut rest = x;
                let text = |levels: &Vec<String>| {
                    let (own, others) = rest.split_at(levels.len());
                    rest = others;
                    let best = (1..own.len()).fold(0, |best, i| if own[i] > own[best] { i } else { best });
                    Cell::Text(levels[best].clone())
                };
                levels.iter().map(text).collect()
            }
            Block::Real { .. } => {
                let mut values = x.to_vec();
                self.restore(&mut values);
                numbers(&values)
            }
        }
    }
}
