//! Which program this is: version, commit, features, and the instruction set in use.

use mad_nn::device::DeviceChoice;
use mad_nn::kernel::Simd;
use serde_json::{Value, json};
use std::sync::LazyLock;

/// Version of the package.
pub const NUMBER: &str = env!("CARGO_PKG_VERSION");

/// The commit, if it was known when the program was built.
const COMMIT: Option<&str> = option_env!("MAD_COMMIT");

/// The text of `mad --version`, without the name of the program.
pub fn long() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        let features = if features().is_empty() { "none".to_owned() } else { features().join(", ") };
        format!(
            "{NUMBER}\ncommit        {}\nfeatures      {features}\ninstructions  {} ({})",
            COMMIT.unwrap_or("unknown"),
            Simd::best().name(),
            std::env::consts::ARCH
        )
    });
    &TEXT
}

/// The same for `--json`.
pub fn fields() -> Value {
    json!({
        "version": NUMBER, "commit": COMMIT, "features": features(), "instructions": Simd::best().name(),
        "architecture": std::env::consts::ARCH,
    })
}

/// Cargo features beyond the default: devices other than the CPU.
fn features() -> Vec<&'static str> {
    let built = DeviceChoice::ALL.into_iter().filter(|device| *device != DeviceChoice::Cpu && device.is_built());
    built.map(DeviceChoice::name).collect()
}
