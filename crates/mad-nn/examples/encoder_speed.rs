//! Images per second of processor time of every encoder on one thread, forward and with the gradient of all weights.
//!
//! `cargo run --release --example encoder_speed [NAME SIZE [IMAGES]]`
#![allow(clippy::print_stdout)]

use burn_tensor::{Device, Tensor, TensorData};
use mad_nn::bridge::differentiate;
use mad_nn::kernel::recycle;
use mad_nn::vision::{ENCODERS, Encoder, EncoderShape};
use std::time::Instant;

/// Seconds this thread has worked, where the system says so: others may keep the processor busy meanwhile.
fn worked() -> Option<f64> {
    let line = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    line.split_whitespace().next()?.parse().ok().map(|nanoseconds: f64| nanoseconds * 1e-9)
}

/// Seconds of one round, in the fastest of several spells of many rounds: the machine may be busy with other things, never faster
/// than it is. A spell is long enough for the clocks of systems that count in ticks.
fn seconds(mut work: impl FnMut()) -> f64 {
    work();
    let spell = || -> f64 {
        let (start, worked_before) = (Instant::now(), worked());
        let mut rounds = 0.0;
        while rounds == 0.0 || start.elapsed().as_secs_f64() < 0.5 {
            work();
            rounds += 1.0;
        }
        let elapsed = worked().zip(worked_before).map(|(after, before)| after - before);
        elapsed.unwrap_or(start.elapsed().as_secs_f64()) / rounds
    };
    std::iter::repeat_with(spell).take(5).fold(f64::INFINITY, f64::min)
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
