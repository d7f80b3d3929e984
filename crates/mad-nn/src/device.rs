//! Where tensors live: the only place that names a backend.

use burn_tensor::Device;
use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    str::FromStr,
};

/// The device for asking a trained network: Burn's CPU backend `flex`, without gradients.
pub(crate) fn inference() -> Device {
    Device::flex()
}

/// The CPU as a device for training: the same, recording operations for the backward pass.
pub fn training() -> Device {
    Device::flex().autodiff()
}

/// Where the loss and its gradient are computed.
///
/// Batches, the optimiser, validation and all answers stay on the host, whatever the device: each step uploads the weights and
/// downloads them with the gradient. The last bits of a result differ between devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DeviceChoice {
    /// The host, with the fused operations of [`crate::kernel`]. In every build.
    #[default]
    Cpu,
    /// A GPU through Vulkan, Metal or Direct3D. Needs the Cargo feature `wgpu`.
    Wgpu,
    /// An NVIDIA GPU. Needs the Cargo feature `cuda`.
    Cuda,
}

impl DeviceChoice {
    /// All devices, in this build or not.
    pub const ALL: [DeviceChoice; 3] = [DeviceChoice::Cpu, DeviceChoice::Wgpu, DeviceChoice::Cuda];

    /// Name in files and lists; for a GPU also that of the Cargo feature.
    pub fn name(self) -> &'static str {
        match self {
            DeviceChoice::Cpu => "cpu",
            DeviceChoice::Wgpu => "wgpu",
            DeviceChoice::Cuda => "cuda",
        }
    }

    /// Whether this build knows how to use it.
    pub fn is_built(self) -> bool {
        match self {
            DeviceChoice::Cpu => true,
            DeviceChoice::Wgpu => cfg!(feature = "wgpu"),
            DeviceChoice::Cuda => cfg!(feature = "cuda"),
        }
    }

    /// Opens the device for training. A GPU must answer a small question before it is believed to work.
    pub fn open(self) -> Result<Device, DeviceError> {
        match self {
            DeviceChoice::Cpu => Ok(training()),
            #[cfg(feature = "wgpu")]
            DeviceChoice::Wgpu => self.probe(wgpu()),
            #[cfg(feature = "cuda")]
            DeviceChoice::Cuda => self.probe(cuda()),
            #[allow(unreachable_patterns, reason = "a build can have all devices")]
            _ => Err(DeviceError::NotBuilt { device: self }),
        }
    }

    #[cfg(any(feature = "wgpu", feature = "cuda"))]
    fn probe(self, found: Result<Device, String>) -> Result<Device, DeviceError> {
        let answered = found.and_then(|device| {
            let ask = || burn_tensor::Tensor::<1>::ones([2], &device).sum().try_into_data();
            caught(ask)?.map_err(|e| e.to_string())?;
            Ok(device.autodiff())
        });
        answered.map_err(|problem| DeviceError::Unavailable { device: self, problem })
    }

    /// Does work on the opened device. Burn panics where a GPU fails, as when its memory is full; that becomes an error.
    pub(crate) fn run<T>(self, work: impl FnOnce() -> T) -> Result<T, DeviceError> {
        match self {
            DeviceChoice::Cpu => Ok(work()),
            _ => caught(work).map_err(|problem| DeviceError::Failed { device: self, problem }),
        }
    }
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for DeviceChoice {
    type Err = DeviceError;

    fn from_str(name: &str) -> Result<Self, DeviceError> {
        let found = Self::ALL.into_iter().find(|device| device.name() == name);
        let device = found.ok_or_else(|| DeviceError::Unknown { name: name.into() })?;
        if device.is_built() { Ok(device) } else { Err(DeviceError::NotBuilt { device }) }
    }
}

/// A device that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "fields are what the messages show")]
pub enum DeviceError {
    /// No device has this name.
    #[error("unknown device `{name}`; known are {}", DeviceChoice::ALL.map(DeviceChoice::name).join(", "))]
    Unknown { name: String },
    /// The device was left out when this program was compiled.
    #[error("this build has no device `{device}`; build with the Cargo feature `{device}`")]
    NotBuilt { device: DeviceChoice },
    /// There is no such device here, or its driver is missing or does not work.
    #[error("device `{device}` cannot be opened: {problem}; {}, or train with the device cpu", driver(*.device))]
    Unavailable { device: DeviceChoice, problem: String },
    /// The device stopped working.
    #[error(
        "device `{device}` failed; use a smaller batch if its memory was full, and resume from the newest \
         checkpoint. It said: {problem}"
    )]
    Failed { device: DeviceChoice, problem: String },
}

/// What a device needs to be there.
fn driver(device: DeviceChoice) -> &'static str {
    match device {
        DeviceChoice::Cpu => "nothing is needed",
        DeviceChoice::Wgpu => "install a Vulkan driver (Debian: apt-get install mesa-vulkan-drivers)",
        DeviceChoice::Cuda => "install the NVIDIA driver and CUDA 12 or newer",
    }
}

/// The result of `work`, or the message of its panic.
fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_else(|| "no message".into())
    })
}

/// The GPU that wgpu prefers. It can be opened only once, so it is kept.
#[cfg(feature = "wgpu")]
fn wgpu() -> Result<Device, String> {
    static OPENED: std::sync::OnceLock<Result<Device, String>> = std::sync::OnceLock::new();
    OPENED.get_or_init(|| Device::wgpu_options().init().map_err(|e| e.to_string())).clone()
}

/// The first CUDA device. Asking for the list, unlike opening one, does not panic without a driver.
#[cfg(feature = "cuda")]
fn cuda() -> Result<Device, String> {
    let found = Device::enumerate(burn_tensor::DeviceType::Cuda).into_iter().next();
    found.ok_or_else(|| "no CUDA driver or no device was found".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_to_their_devices() {
        for device in DeviceChoice::ALL {
            let expected = if device.is_built() { Ok(device) } else { Err(DeviceError::NotBuilt { device }) };
            assert_eq!(device.name().parse(), expected);
        }
        assert_eq!("cpu".parse(), Ok(DeviceChoice::default()));
        let error = "gpu".parse::<DeviceChoice>().unwrap_err().to_string();
        assert!(DeviceChoice::ALL.iter().all(|device| error.contains(device.name())), "{error}");
    }

    #[test]
    fn a_panic_on_a_gpu_is_an_error() {
        let error = DeviceChoice::Wgpu.run(|| panic!("out of {}", "memory")).unwrap_err();
        assert!(error.to_string().contains("It said: out of memory"), "{error}");
        assert_eq!(DeviceChoice::Wgpu.run(|| 1), Ok(1));
    }
}
