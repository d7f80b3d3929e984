//! On which line of a file each row stands.

/// Line numbers of rows. Rows on consecutive lines take no memory of their own.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Lines {
    len: usize,
    /// First row and its line, wherever a row does not stand on the line after the row before it.
    runs: Vec<(usize, usize)>,
}

impl Lines {
    /// `len` rows on consecutive lines from `first` on.
    pub(super) fn consecutive(first: usize, len: usize) -> Self {
        Self { len, runs: if len > 0 { vec![(0, first)] } else { Vec::new() } }
    }

    pub(super) fn push(&mut self, line: usize) {
        let expected = self.runs.last().map(|(row, first)| first + (self.len - row));
        if expected != Some(line) {
            self.runs.push((self.len, line));
        }
        self.len += 1;
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn get(&self, row: usize) -> usize {
        assert!(row < self.len, "row {row} of {}", self.len);
        let (first, line) = self.runs[self.runs.partition_point(|(first, _)| *first <= row) - 1];
        line + (row - first)
    }

    pub(super) fn select(&self, rows: &[usize]) -> Self {
        let mut chosen = Self::default();
        rows.iter().for_each(|&row| chosen.push(self.get(row)));
        chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_back_in_any_order() {
        let expected = [2, 3, 4, 7, 8, 8, 20, 21, 5];
        let mut lines = Lines::default();
        expected.iter().for_each(|&line| lines.push(line));
        assert_eq!((0..lines.len()).map(|r| lines.get(r)).collect::<Vec<_>>(), expected);
        let chosen = lines.select(&[8, 0, 1, 5]);
        assert_eq!((0..4).map(|r| chosen.get(r)).collect::<Vec<_>>(), [5, 2, 3, 8]);
        let many = Lines::consecutive(5, 1_000_000);
        assert_eq!((many.runs.len(), many.get(999_999)), (1, 1_000_004));
    }
}
