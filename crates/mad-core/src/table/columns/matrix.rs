//! Rotation and pose matrices among the columns of a table.

use crate::table::Table;

/// Names of the columns of 3x3 matrices, row by row.
pub(crate) fn rotation_names() -> Vec<String> {
    (0..9).map(|i| format!("r{}{}", i / 3, i % 3)).collect()
}

/// Names of the columns of poses as matrices of 3 or 4 rows with 4 columns, row by row: rotation, position, last row.
pub(crate) fn pose_names(rows: usize) -> Vec<String> {
    let name = |i: usize| match (i / 4, i % 4) {
        (row @ 0..3, 3) => format!("t{}", ["x", "y", "z"][row]),
        (row, column) => format!("r{row}{column}"),
    };
    (0..4 * rows).map(name).collect()
}

/// Where the entries of a matrix stand.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct MatrixColumns {
    /// The rotation, row by row.
    pub(super) rotation: Vec<usize>,
    /// The position, if it is part of the matrix.
    pub(super) position: Option<Vec<usize>>,
    /// The last row of a 4x4 matrix.
    pub(super) last_row: Vec<usize>,
}

impl MatrixColumns {
    /// Matrices of 12 or 16 columns in order.
    pub(super) fn in_order(columns: &[usize]) -> Option<Self> {
        if ![12, 16].contains(&columns.len()) {
            return None;
        }
        let (top, last_row) = columns.split_at(12);
        let rotation = top.chunks(4).flat_map(|row| row[..3].iter().copied()).collect();
        let position = Some(top.chunks(4).map(|row| row[3]).collect());
        Some(Self { rotation, position, last_row: last_row.to_vec() })
    }

    /// Matrices whose columns are called by row and column, from 0 or from 1: `r00 … r22`, `R_11 … R_33`, `m00 … m33`.
    pub(super) fn named(table: &Table, free: &[usize]) -> Option<Self> {
        let header = table.header()?;
        let entries: Vec<(String, usize, usize, usize)> = free
            .iter()
            .filter_map(|&i| entry(&header[i]).map(|(prefix, row, column)| (prefix, row, column, i)))
            .collect();
        let (prefix, ..) = entries.iter().find(|(prefix, ..)| {
            let has = |row, column| entries.iter().any(|(p, r, c, _)| p == prefix && (*r, *c) == (row, column));
            has(1, 1) && has(2, 2) && (has(0, 0) || has(3, 3))
        })?;
        let at = |row: usize, column: usize| {
            entries.iter().find(|(p, r, c, _)| p == prefix && (*r, *c) == (row, column)).map(|(.., i)| *i)
        };
        let first = usize::from(at(0, 0).is_none());
        let cells = |rows: [usize; 3], columns: &[usize]| -> Option<Vec<usize>> {
            rows.iter().flat_map(|r| columns.iter().map(|c| at(first + r, first + c)).collect::<Vec<_>>()).collect()
        };
        let rotation = cells([0, 1, 2], &[0, 1, 2])?;
        let position = cells([0, 1, 2], &[3]);
        let last_row: Option<Vec<usize>> = (0..4).map(|c| at(first + 3, first + c)).collect();
        // Without a position among its names, the last row may lack its last entry no less.
        Some(Self { rotation, position, last_row: last_row.unwrap_or_default() })
    }

    /// The columns of the rotation and of the last row.
    pub(super) fn of_rotation(&self) -> Vec<usize> {
        self.rotation.iter().chain(&self.last_row).copied().collect()
    }
}

/// What stands before a row and a column at the end of a name such as `r01`, `R_01`, `pose[0,1]` or `m_0_1`.
fn entry(name: &str) -> Option<(String, usize, usize)> {
    let name = name.trim().to_lowercase();
    let letters: Vec<char> = name.chars().filter(|c| !"_[](), ".contains(*c)).collect();
    let [start @ .., row, column] = &letters[..] else { return None };
    let digit = |c: &char| c.to_digit(10).map(|d| d as usize).filter(|d| *d < 5);
    let prefix: String = start.iter().collect();
    let ends_in_letter = prefix.chars().next_back().is_some_and(char::is_alphabetic);
    Some((prefix, digit(row)?, digit(column)?)).filter(|_| ends_in_letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(header: &[&str]) -> Option<MatrixColumns> {
        let table = Table::text("t", Some(header.iter().map(|h| h.to_string()).collect()), header.len());
        MatrixColumns::named(&table, &(0..header.len()).collect::<Vec<_>>())
    }

    #[test]
    fn matrices_are_found_by_rows_and_columns_in_their_names() {
        let zero: Vec<String> = rotation_names();
        let zero: Vec<&str> = zero.iter().map(String::as_str).collect();
        assert_eq!(named(&zero).unwrap().rotation, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
        let one = ["R_11", "R_12", "R_13", "R_21", "R_22", "R_23", "R_31", "R_32", "R_33"];
        assert_eq!(named(&one).unwrap().rotation, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
        let whole: Vec<String> = (0..16).map(|i| format!("m{}{}", i / 4, i % 4)).collect();
        let whole: Vec<&str> = whole.iter().map(String::as_str).collect();
        let found = named(&whole).unwrap();
        assert_eq!((found.position.unwrap(), found.last_row), (vec![3, 7, 11], vec![12, 13, 14, 15]));
        let ours: Vec<String> = pose_names(4);
        let ours: Vec<&str> = ours.iter().map(String::as_str).collect();
        let found = named(&ours).unwrap();
        assert_eq!((found.rotation[8], found.position, found.last_row[0]), (10, None, 12));
        assert_eq!(named(&["r00", "r01", "r11", "r22"]), None);
        assert_eq!(named(&["a", "b", "11", "22", "33"]), None);
    }
}
