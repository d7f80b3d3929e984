//! The largest number in each window, and the mean over a map.

use super::graph::Frame;

/// Shape of a window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    pub(super) kernel: usize,
    pub(super) stride: usize,
    pub(super) padding: usize,
}

impl Window {
    /// Pixels of the map that the window of output pixel (y, x) covers, row by row.
    fn pixels(self, y: usize, x: usize, size: usize) -> impl Iterator<Item = (isize, isize)> {
        let range = move |v: usize| {
            let first = v * self.stride;
            let from = first.saturating_sub(self.padding) as isize;
            from..(first + self.kernel).saturating_sub(self.padding).min(size) as isize
        };
        range(y).flat_map(move |y| range(x).map(move |x| (y, x)))
    }
}

/// y = max over the window, for all images that `to` has room for.
pub(super) fn max(window: Window, from: &[f32], from_frame: Frame, to: &mut [f32], to_frame: Frame) {
    let images = from.chunks_exact(from_frame.len()).zip(to.chunks_exact_mut(to_frame.len()));
    for (from, to) in images {
        for (y, x) in pixels(to_frame.size) {
            let start = to_frame.place(y as isize, x as isize);
            let target = &mut to[start..start + to_frame.channels];
            target.fill(f32::NEG_INFINITY);
            for (v, u) in window.pixels(y, x, from_frame.size) {
                let source = &from[from_frame.place(v, u)..];
                for (target, &value) in target.iter_mut().zip(source) {
                    // Written so that a number that is not finite is not lost.
                    *target = if *target >= value { *target } else { value };
                }
            }
        }
    }
}

/// Adds the gradient of each maximum to the first pixel that has it.
pub(super) fn max_back(
    window: Window,
    values: &[f32],
    value_frame: Frame,
    to: &[f32],
    to_frame: Frame,
    from: &mut [f32],
    from_frame: Frame,
) {
    let images = values.chunks_exact(value_frame.len()).zip(to.chunks_exact(to_frame.len()));
    for ((values, to), from) in images.zip(from.chunks_exact_mut(from_frame.len())) {
        for (y, x) in pixels(to_frame.size) {
            let gradient = &to[to_frame.place(y as isize, x as isize)..];
            for channel in 0..to_frame.channels {
                let mut best = (f32::NEG_INFINITY, None);
                for (v, u) in window.pixels(y, x, value_frame.size) {
                    let value = values[value_frame.place(v, u) + channel];
                    if best.1.is_none() || value > best.0 {
                        best = (value, Some((v, u)));
                    }
                }
                if let Some((v, u)) = best.1 {
                    from[from_frame.place(v, u) + channel] += gradient[channel];
                }
            }
        }
    }
}

/// The mean over all pixels, for all images that `to` has room for.
pub(super) fn mean(from: &[f32], from_frame: Frame, to: &mut [f32], to_frame: Frame) {
    let share = 1.0 / (from_frame.size * from_frame.size) as f32;
    for (from, to) in from.chunks_exact(from_frame.len()).zip(to.chunks_exact_mut(to_frame.len())) {
        to.fill(0.0);
        for (y, x) in pixels(from_frame.size) {
            let source = &from[from_frame.place(y as isize, x as isize)..];
            to.iter_mut().zip(source).for_each(|(target, value)| *target += value);
        }
        to.iter_mut().for_each(|target| *target *= share);
    }
}

/// Adds an equal share of the gradient of the mean to every pixel.
pub(super) fn mean_back(to: &[f32], to_frame: Frame, from: &mut [f32], from_frame: Frame) {
    let share = 1.0 / (from_frame.size * from_frame.size) as f32;
    for (from, to) in from.chunks_exact_mut(from_frame.len()).zip(to.chunks_exact(to_frame.len())) {
        for (y, x) in pixels(from_frame.size) {
            let start = from_frame.place(y as isize, x as isize);
            let target = &mut from[start..start + from_frame.channels];
            target.iter_mut().zip(to).for_each(|(target, value)| *target += share * value);
        }
    }
}

fn pixels(size: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..size).flat_map(move |y| (0..size).map(move |x| (y, x)))
}
