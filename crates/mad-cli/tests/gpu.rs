//! The real binary trains on a GPU. Run by `.ci/gpu`.
#![cfg(feature = "wgpu")]

mod common;
use common::{Desk, columns};

/// Small enough for a software driver.
const SMALL: &str = "--manifold points:two.csv --seed 1 --batch 1024 --set width=32 --set depth=2 --set learning_rate=0.02 \
                     --set ema=0.98 --set split=random --set evaluate_every=0";

/// 600 rows at −1, 1400 at +1.
fn two_points() -> Desk {
    let desk = Desk::new();
    desk.write("two.csv", "x0\n-1\n1\n");
    desk.write("data.csv", &format!("x0\n{}{}", "-1\n".repeat(600), "1\n".repeat(1400)));
    desk
}

/// Share of samples at +1. All samples must be at one of the points.
fn share(desk: &Desk, run: &str) -> f64 {
    let (_, rows) = columns(&desk.ok(&format!("sample {run} -n 20000 --seed 1")));
    assert!(rows.iter().all(|row| row[0].abs() == 1.0));
    rows.iter().filter(|row| row[0] == 1.0).count() as f64 / rows.len() as f64
}

/// The uniform base alone gives 0.5.
#[test]
#[ignore = "needs a Vulkan driver: .ci/gpu"]
fn two_points_are_learned_on_wgpu() {
    let desk = two_points();
    for device in ["cpu", "wgpu"] {
        let done = desk.json(&format!("fit data.csv --out {device} --device {device} --steps 400 {SMALL}"));
        assert_eq!(done["device"], device);
        assert!(desk.read(&format!("{device}/timing.jsonl")).contains(&format!("\"device\":\"{device}\"")));
        let share = share(&desk, device);
        println!("{device}: share at +1 {share:.4}, {:.1} s", done["seconds"].as_f64().expect("seconds"));
        assert!((share - 0.7).abs() < 0.03, "{device}: {share}");
    }
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "needs a Vulkan driver: .ci/gpu"]
fn a_missing_driver_is_named_before_anything_is_written() {
    let desk = two_points();
    let mut command = desk.command(&format!("fit data.csv --out run --device wgpu --steps 20 {SMALL}"));
    // No Vulkan, and no OpenGL to take its place.
    for variable in ["VK_DRIVER_FILES", "VK_ICD_FILENAMES", "__EGL_VENDOR_LIBRARY_FILENAMES"] {
        command.env(variable, "/nowhere.json");
    }
    let output = command.output().expect("program started");
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains("error: device `wgpu` cannot be opened") && error.contains("Vulkan driver"), "{error}");
    assert_eq!(desk.names("."), ["data.csv", "two.csv"], "something was written");
}
