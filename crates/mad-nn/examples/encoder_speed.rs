//! Images per second of every encoder on one thread, forward and with the gradient of all weights.
//!
//! `cargo run --release -p mad-nn --example encoder_speed [NAME SIZE [IMAGES]]`
#![allow(clippy::print_stdout)]

use burn::tensor::{Device, Tensor, TensorData};
use mad_nn::bridge::differentiate;
use mad_nn::kernel::recycle;
use mad_nn::vision::{ENCODERS, Encoder, EncoderShape};
use std::time::Instant;

/// Seconds of the fastest of several rounds: the machine may be busy with other things, never faster than it is.
fn seconds(mut work: impl FnMut()) -> f64 {
    work();
    let begun = Instant::now();
    let mut best = f64::INFINITY;
    for round in 0.. {
        let start = Instant::now();
        work();
        best = best.min(start.elapsed().as_secs_f64());
        if round >= 4 && begun.elapsed().as_secs_f64() > 2.0 {
            break;
        }
    }
    best
}

fn measure(name: &str, size: usize, count: usize) -> Result<(), Box<dyn std::error::Error>> {
    let encoder = Encoder::new(name, EncoderShape { size, channels: 1, features: 256 })?;
    let mut weights = encoder.initialise(1);
    let pixels: Vec<f32> = (0..count * encoder.inputs()).map(|i| ((i * 7919) % 1000) as f32 / 1000.0).collect();
    let forward = seconds(|| {
        std::hint::black_box(encoder.encode_host(&pixels, &weights));
    });
    let device = Device::flex().autodiff();
    let training = seconds(|| {
        let images = Tensor::<2>::from_data(TensorData::new(pixels.clone(), [count, encoder.inputs()]), &device);
        let (_, gradient) = differentiate(&mut weights, &device, |weights| encoder.encode(images, weights).sum());
        recycle(std::hint::black_box(gradient));
    });
    let work = encoder.multiply_adds() as f64;
    let rate = |seconds: f64, passes: f64| passes * 2.0 * work * count as f64 / seconds / 1e9;
    println!(
        "{name:15} {size:4} {count:6} {:8.1} {:9.0} {:7.1} {:9.0} {:7.1}",
        work / 1e6,
        count as f64 / forward,
        rate(forward, 1.0),
        count as f64 / training,
        rate(training, 3.0),
    );
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global()?;
    println!("encoder           px images     MMAC forward/s GFLOP/s training/s GFLOP/s");
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [name, size, rest @ ..] = &arguments[..] {
        return measure(name, size.parse()?, rest.first().map_or(Ok(128), |count| count.parse())?);
    }
    for spec in ENCODERS {
        let sizes: &[usize] = if spec.torchvision { &[224] } else { &[32, 48, 64] };
        for &size in sizes {
            measure(spec.name, size, if spec.torchvision { 2 } else { 128 })?;
        }
    }
    Ok(())
}
