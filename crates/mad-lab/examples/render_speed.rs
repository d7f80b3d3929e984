//! Pictures per second and core of each solid, and a sheet of them if a file is named.
//!
//! `cargo run --release --example render_speed -- SIZE [SHEET.png]`

#![allow(clippy::print_stdout, reason = "a table is what this program is for")]

use mad_core::measure::orbit::orbit_mean;
use mad_core::rng::{Purpose, stream};
use mad_core::rotation;
use mad_core::rotation::Embedding;
use mad_core::solids::{SOLIDS, View};
use std::{error::Error, fs::File, hint::black_box, io::BufWriter, time::Instant};

/// Pictures, or calls, of one timing.
const COUNT: usize = 2000;

/// Pictures of one run.
const RUN: usize = 20;

/// Columns of the sheet.
const COLUMNS: usize = 8;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let size = arguments.next().map_or(Ok(32), |text| text.parse())?;
    let view = View { size, ..View::default() };
    let mut picture = vec![0.0f32; size * size];
    println!("solid     pictures/s  embedding ns  orbit mean ns");
    for &solid in SOLIDS {
        let mut rng = stream(1, Purpose::Data, 0);
        let poses: Vec<_> = (0..COUNT).map(|_| rotation::uniform(&mut rng)).collect();
        view.grey(solid, &poses[0], &mut picture);
        // The best of many short runs: the machine may have other things to do.
        let best = |work: &mut dyn FnMut(&[f64; 4])| {
            let seconds = |run: &[[f64; 4]]| {
                let start = Instant::now();
                run.iter().for_each(&mut *work);
                start.elapsed().as_secs_f64() / run.len() as f64
            };
            poses.chunks(RUN).map(seconds).fold(f64::INFINITY, f64::min)
        };
        let drawing = best(&mut |q| view.grey(solid, black_box(q), &mut picture));
        let embedding = Embedding::new(solid.symmetry());
        let (mut value, mut jacobian) = (vec![0.0; embedding.dim()], vec![0.0; 4 * embedding.dim()]);
        let embedded = best(&mut |q| embedding.with_jacobian(black_box(q), &mut value, &mut jacobian));
        let mut mean = [0.0; 4];
        let averaged =
            best(&mut |q| orbit_mean(solid.symmetry(), black_box(q), &[0.3, 0.5, -0.4, 0.8], 0.2, &mut mean));
        black_box((&picture, &value, &jacobian, &mean));
        println!("{:8} {:11.0} {:13.0} {:14.0}", solid.name(), 1.0 / drawing, 1e9 * embedded, 1e9 * averaged);
    }
    match arguments.next() {
        Some(path) => sheet(&path),
        None => Ok(()),
    }
}

/// One row of poses for each solid.
fn sheet(path: &str) -> Result<(), Box<dyn Error>> {
    let view = View { size: 112, ..View::default() };
    let width = COLUMNS * view.size;
    let mut pixels = vec![0u8; 3 * width * SOLIDS.len() * view.size];
    for (row, &solid) in SOLIDS.iter().enumerate() {
        let mut rng = stream(2, Purpose::Data, 0);
        for column in 0..COLUMNS {
            let q = if column == 0 { [0.0, 0.0, 0.0, 1.0] } else { rotation::uniform(&mut rng) };
            for (y, line) in view.rgb(solid, &q).chunks_exact(3 * view.size).enumerate() {
                let at = 3 * ((row * view.size + y) * width + column * view.size);
                pixels[at..at + line.len()].copy_from_slice(line);
            }
        }
    }
    let mut encoder =
        png::Encoder::new(BufWriter::new(File::create(path)?), width as u32, (pixels.len() / 3 / width) as u32);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    Ok(encoder.write_header()?.write_image_data(&pixels)?)
}
