//! Rotation groups that objects may be symmetric under.

use super::Quaternion;
use std::{f64::consts::PI, fmt, str::FromStr};

/// A closed group of rotations about fixed axes, acting on orientations from the right: q ↦ q g.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// C_n: n rotations about z.
    Cyclic(usize),
    /// D_n: C_n and n half turns about axes in the xy plane, the first of them x.
    Dihedral(usize),
    /// T: the 12 rotations of the tetrahedron.
    Tetrahedral,
    /// O: the 24 rotations of the cube.
    Octahedral,
    /// I: the 60 rotations of the icosahedron.
    Icosahedral,
    /// SO(2): all rotations about z.
    Axial,
    /// O(2): all rotations about z and all half turns about axes in the xy plane.
    AxialFlip,
}

impl Group {
    /// The elements, one quaternion for each rotation; `None` for the continuous groups.
    pub fn elements(&self) -> Option<Vec<Quaternion>> {
        match *self {
            Group::Cyclic(n) => Some(cyclic(n)),
            Group::Dihedral(n) => {
                let half_turns = (0..n).map(|i| PI * i as f64 / n as f64).map(|a| [a.cos(), a.sin(), 0.0, 0.0]);
                Some(cyclic(n).into_iter().chain(half_turns).collect())
            }
            Group::Tetrahedral => Some(tetrahedral()),
            Group::Octahedral => Some(octahedral()),
            Group::Icosahedral => Some(icosahedral()),
            Group::Axial | Group::AxialFlip => None,
        }
    }

    /// Log of the number of elements, or of the group's length in rotation angle: 2π for SO(2), 4π for O(2).
    pub(crate) fn log_size(&self) -> f64 {
        match *self {
            Group::Cyclic(n) => (n as f64).ln(),
            Group::Dihedral(n) => (2.0 * n as f64).ln(),
            Group::Tetrahedral => 12.0_f64.ln(),
            Group::Octahedral => 24.0_f64.ln(),
            Group::Icosahedral => 60.0_f64.ln(),
            Group::Axial => (2.0 * PI).ln(),
            Group::AxialFlip => (4.0 * PI).ln(),
        }
    }

    /// Dimension of the group: 1 for the continuous ones.
    pub fn dimension(&self) -> usize {
        usize::from(matches!(self, Group::Axial | Group::AxialFlip))
    }
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Group::Cyclic(n) => write!(f, "C{n}"),
            Group::Dihedral(n) => write!(f, "D{n}"),
            Group::Tetrahedral => f.write_str("T"),
            Group::Octahedral => f.write_str("O"),
            Group::Icosahedral => f.write_str("I"),
            Group::Axial => f.write_str("SO2"),
            Group::AxialFlip => f.write_str("O2"),
        }
    }
}

/// How groups are written.
pub(crate) const GROUP_NAMES: &str = "C1, C2, …, D1, D2, …, T, O, I, SO2, O2";

impl FromStr for Group {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let fold = |digits: &str| digits.parse::<usize>().ok().filter(|n| (1..=10_000).contains(n)).ok_or(());
        match text.to_ascii_uppercase().as_str() {
            "T" => Ok(Group::Tetrahedral),
            "O" => Ok(Group::Octahedral),
            "I" => Ok(Group::Icosahedral),
            "SO2" => Ok(Group::Axial),
            "O2" => Ok(Group::AxialFlip),
            name if name.starts_with('C') => fold(&name[1..]).map(Group::Cyclic),
            name if name.starts_with('D') => fold(&name[1..]).map(Group::Dihedral),
            _ => Err(()),
        }
    }
}

fn cyclic(n: usize) -> Vec<Quaternion> {
    (0..n).map(|i| PI * i as f64 / n as f64).map(|a| [0.0, 0.0, a.sin(), a.cos()]).collect()
}

fn tetrahedral() -> Vec<Quaternion> {
    let mut list = vec![[0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]];
    for bits in 0..8 {
        let sign = |i: usize| if (bits >> i) & 1 == 0 { 0.5 } else { -0.5 };
        list.push([sign(0), sign(1), sign(2), 0.5]);
    }
    list
}

fn octahedral() -> Vec<Quaternion> {
    let mut list = tetrahedral();
    let half = std::f64::consts::FRAC_1_SQRT_2;
    for axis in 0..3 {
        for sign in [half, -half] {
            let mut quarter_turn = [0.0, 0.0, 0.0, half];
            quarter_turn[axis] = sign;
            list.push(quarter_turn);
            let mut half_turn = [0.0; 4];
            half_turn[axis] = half;
            half_turn[(axis + 1) % 3] = sign;
            list.push(half_turn);
        }
    }
    list
}

/// T and the 48 rotations among the even permutations of (±φ, ±1, ±1/φ, 0)/2.
fn icosahedral() -> Vec<Quaternion> {
    let mut list = tetrahedral();
    let golden = (1.0 + 5.0_f64.sqrt()) / 2.0;
    let values = [golden / 2.0, 0.5, 0.5 / golden, 0.0];
    for permutation in even_permutations() {
        for bits in 0..4 {
            // The zero has no sign, and one overall sign is free: φ stays positive.
            let signs = [1.0, 1.0 - 2.0 * f64::from(bits & 1), 1.0 - f64::from(bits & 2), 1.0];
            let mut q = [0.0; 4];
            for (i, &place) in permutation.iter().enumerate() {
                q[place] = signs[i] * values[i];
            }
            list.push(q);
        }
    }
    list
}

fn even_permutations() -> Vec<[usize; 4]> {
    let mut list = Vec::new();
    for code in 0..256usize {
        let p = [code & 3, (code >> 2) & 3, (code >> 4) & 3, code >> 6];
        let distinct = (0..4).all(|i| (0..i).all(|j| p[i] != p[j]));
        let inversions = (0..4).flat_map(|i| (0..i).map(move |j| (j, i))).filter(|&(j, i)| p[j] > p[i]).count();
        if distinct && inversions.is_multiple_of(2) {
            list.push(p);
        }
    }
    list
}

#[cfg(test)]
mod tests {
    use super::super::{conjugate, multiply};
    use super::*;

    fn position(list: &[Quaternion], q: &Quaternion) -> Option<usize> {
        list.iter().position(|g| g.iter().zip(q).map(|(a, b)| a * b).sum::<f64>().abs() > 1.0 - 1e-12)
    }

    #[test]
    fn finite_groups_are_closed_and_have_their_size() {
        let groups = [
            (Group::Cyclic(1), 1),
            (Group::Cyclic(4), 4),
            (Group::Dihedral(3), 6),
            (Group::Dihedral(6), 12),
            (Group::Tetrahedral, 12),
            (Group::Octahedral, 24),
            (Group::Icosahedral, 60),
        ];
        for (group, size) in groups {
            let list = group.elements().unwrap();
            assert_eq!(list.len(), size, "{group}");
            assert!((group.log_size() - (size as f64).ln()).abs() < 1e-15);
            for (i, a) in list.iter().enumerate() {
                assert_eq!(position(&list, a), Some(i), "{group} lists an element twice");
                assert!(position(&list, &conjugate(a)).is_some(), "{group} lacks an inverse");
                assert!(list.iter().all(|b| position(&list, &multiply(a, b)).is_some()), "{group} is not closed");
            }
        }
    }

    #[test]
    fn names_are_read_back() {
        for name in ["C4", "D3", "T", "O", "I", "SO2", "O2"] {
            assert_eq!(name.parse::<Group>().unwrap().to_string(), name);
        }
        assert!(["C0", "C", "D-1", "X", ""].iter().all(|name| name.parse::<Group>().is_err()));
    }
}
