//! Weights that were trained elsewhere: files of PyTorch and safetensors, hostile ones, and the way into an encoder.

use mad_nn::vision::weights::{NamedTensor, Tensors, WeightsError, fill, load};
use mad_nn::vision::{Encoder, EncoderShape};
use std::path::PathBuf;

fn file(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests/values/torch", name].iter().collect()
}

/// The tensors that `make.py` writes.
fn check(tensors: &Tensors) {
    let names: Vec<_> = tensors.keys().map(String::as_str).collect();
    assert_eq!(names, ["double", "half", "plain", "turned"], "whole numbers are left out");
    let plain: Vec<f32> = (0..12).map(|i| i as f32 / 4.0).collect();
    assert_eq!(tensors["plain"], NamedTensor { shape: vec![2, 3, 2], numbers: plain });
    let turned = vec![0.25, 1.25, 2.25, 0.5, 1.5, 2.5];
    assert_eq!(tensors["turned"], NamedTensor { shape: vec![2, 3], numbers: turned });
    assert_eq!(tensors["half"].numbers, [0.5, -2.0]);
    assert_eq!(tensors["double"].numbers, [2.0, 3.0]);
}

#[test]
fn files_of_pytorch_are_read_in_every_form() {
    for name in ["archive.pth", "archive-protocol4.pth", "legacy.pth"] {
        check(&load(&file(name)).unwrap_or_else(|e| panic!("{name}: {e}")));
    }
}

#[test]
fn pickles_that_call_other_things_are_refused_by_name() {
    match load(&file("evil.pth")) {
        Err(WeightsError::Global { name, .. }) => assert!(name == "posix.system" || name == "nt.system", "{name}"),
        other => panic!("{other:?}"),
    }
    let message = load(&file("beyond.pth")).expect_err("it reaches beyond").to_string();
    assert!(message.contains("conv1.weight") && message.contains("beyond"), "{message}");
}

/// Every prefix of a file, and every file with one byte changed, is read or refused, without a panic or much memory.
#[test]
fn damaged_files_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("damaged.pth");
    let attempt = |bytes: &[u8]| {
        std::fs::write(&path, bytes).expect("a file");
        load(&path)
    };
    for name in ["archive.pth", "legacy.pth"] {
        let bytes = std::fs::read(file(name)).expect("it is there");
        for end in 0..bytes.len() - 1 {
            assert!(attempt(&bytes[..end]).is_err(), "{name} cut off at {end}");
        }
        for at in 0..bytes.len() {
            for change in [0x01, 0x80, 0xff] {
                let mut changed = bytes.clone();
                changed[at] ^= change;
                let _ = attempt(&changed);
            }
        }
    }
    assert!(matches!(attempt(b"GIF89a"), Err(WeightsError::Unknown { .. })));
    assert!(matches!(attempt(b""), Err(WeightsError::Unknown { .. })));
    assert!(matches!(load(&folder.path().join("none.pth")), Err(WeightsError::Io { .. })));
    let huge = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, b'{'];
    assert!(matches!(attempt(&huge), Err(WeightsError::Damaged { .. })));
}

/// A pickle by hand: instructions that the format has and lists of tensors do not need.
#[test]
fn other_instructions_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("odd.pth");
    for program in [
        &b"\x80\x02cos\nsystem\nX\x04\x00\x00\x00true\x85R."[..],
        b"\x80\x02cbuiltins\neval\nX\x01\x00\x00\x001\x85R.",
        b"\x80\x02(X\x04\x00\x00\x00trueios\nsystem\n.",
        b"\x80\x04\x8c\x05posix\x8c\x06system\x93\x8c\x04true\x85R.",
        b"\x80\x02ccollections\nOrderedDict\n)\x81.",
        b"\x80\x02\x82\x01.",
        b"\x80\x02ctorch\nFloatStorage\n)R.",
        b"\x80\x02N)b.",
        b"\x80\x02(((",
        b"\x80\x02h\x05.",
        b"\x80\x02.",
        b"\x80\x02]\xff.",
    ] {
        std::fs::write(&path, program).expect("a file");
        let found = load(&path).expect_err("refused");
        assert!(matches!(found, WeightsError::Global { .. } | WeightsError::Pickle { .. }), "{program:?}: {found}");
    }
}

/// Numbers that tell tensors and places apart, small enough for a deep network.
fn numbers(length: usize, seed: usize) -> Vec<f32> {
    (0..length).map(|i| (((i + 1) * (2 * seed + 7919)) % 1009) as f32 / 1009.0 - 0.5).collect()
}

/// A list of tensors as torchvision names them.
fn torchvision(encoder: &Encoder, colours: usize) -> Tensors {
    let mut tensors = Tensors::new();
    let mut add = |name: String, shape: Vec<usize>| {
        let seed = tensors.len();
        let mut numbers = numbers(shape.iter().product(), seed);
        if name.ends_with("running_var") {
            numbers.iter_mut().for_each(|v| *v += 1.0);
        }
        tensors.insert(name, NamedTensor { shape, numbers });
    };
    for slot in encoder.layout().slots().iter().filter(|slot| slot.name.ends_with(".weight")) {
        let layer = slot.name.trim_end_matches(".weight");
        let [kernel, _, inputs, outputs] = slot.shape[..] else { continue };
        let inputs = if layer == "conv1" { colours } else { inputs };
        let (convolution, norm) = match layer.strip_suffix("downsample") {
            Some(block) => (format!("{block}downsample.0"), format!("{block}downsample.1")),
            None => (layer.to_string(), layer.replace("conv", "bn")),
        };
        add(format!("{convolution}.weight"), vec![outputs, inputs, kernel, kernel]);
        for part in ["weight", "bias", "running_mean", "running_var"] {
            add(format!("{norm}.{part}"), vec![outputs]);
        }
    }
    add("fc.weight".into(), vec![1000, 512]);
    tensors
}

#[test]
fn torchvision_networks_are_folded_into_encoders() {
    for (name, size) in [("resnet18", 64), ("resnet50", 64)] {
        let encoder = Encoder::new(name, EncoderShape { size, channels: 3, features: 4 }).expect("it is registered");
        let tensors = torchvision(&encoder, 3);
        let mut weights = vec![f32::NAN; encoder.layout().len()];
        fill(&encoder, &tensors, &mut weights).expect("it fits");
        for slot in encoder.layout().slots() {
            let kept = slot.name.starts_with("features");
            assert!(weights[slot.range.clone()].iter().all(|w| w.is_nan() == kept), "{}", slot.name);
        }
        let slot = |name: &str| {
            let slot = encoder.layout().slots().iter().find(|slot| slot.name == name).expect("it is there");
            (slot.shape.clone(), weights[slot.range.clone()].to_vec())
        };
        for (layer, convolution, norm) in [
            ("conv1", "conv1", "bn1"),
            ("layer2.0.downsample", "layer2.0.downsample.0", "layer2.0.downsample.1"),
            ("layer3.1.conv2", "layer3.1.conv2", "layer3.1.bn2"),
        ] {
            let of = |part: &str, o: usize| tensors[&format!("{norm}.{part}")].numbers[o];
            let (shape, found) = slot(&format!("{layer}.weight"));
            let bias = slot(&format!("{layer}.bias")).1;
            let [kernel, _, inputs, outputs] = shape[..] else { panic!("a convolution has four axes") };
            let stored = &tensors[&format!("{convolution}.weight")].numbers;
            for (y, x, i, o) in [(0, 0, 0, 0), (kernel - 1, 0, inputs - 1, 3), (0, kernel - 1, 1, outputs - 1)] {
                let scale = of("weight", o) / (of("running_var", o) + 1e-5).sqrt();
                let expected = scale * stored[((o * inputs + i) * kernel + y) * kernel + x];
                let value = found[((y * kernel + x) * inputs + i) * outputs + o];
                assert!((value - expected).abs() <= 1e-6 * expected.abs(), "{layer}: {value} {expected}");
                let expected = of("bias", o) - scale * of("running_mean", o);
                assert!((bias[o] - expected).abs() <= 1e-6, "{layer}: {} {expected}", bias[o]);
            }
        }
    }
}

/// A grey picture is one whose colours are equal.
#[test]
fn grey_encoders_answer_as_coloured_ones_do_on_grey_pictures() {
    let shape = |channels| EncoderShape { size: 33, channels, features: 4 };
    let coloured = Encoder::new("resnet18", shape(3)).expect("it is registered");
    let grey = Encoder::new("resnet18", shape(1)).expect("it is registered");
    let tensors = torchvision(&coloured, 3);
    // Names as training on several devices writes them.
    let prefixed: Tensors = tensors.iter().map(|(name, tensor)| (format!("module.{name}"), tensor.clone())).collect();
    let answer = |encoder: &Encoder, tensors: &Tensors, image: &[f32]| {
        let mut weights = vec![0.01; encoder.layout().len()];
        fill(encoder, tensors, &mut weights).expect("it fits");
        encoder.encode_host(image, &weights)
    };
    let pixels = numbers(33 * 33, 3);
    let colours: Vec<f32> = pixels.iter().flat_map(|&v| [v; 3]).collect();
    let (one, three) = (answer(&grey, &prefixed, &pixels), answer(&coloured, &tensors, &colours));
    for (a, b) in one.iter().zip(&three) {
        assert!((a - b).abs() < 1e-4 * b.abs() && b.abs() > 0.0, "{a} {b}");
    }
}

#[test]
fn weights_of_other_networks_are_refused_and_change_nothing() {
    let shape = |size| EncoderShape { size, channels: 3, features: 4 };
    let encoder = Encoder::new("resnet18", shape(64)).expect("it is registered");
    let fifty = Encoder::new("resnet50", shape(64)).expect("it is registered");
    let mut tensors = torchvision(&encoder, 3);
    let mut weights = vec![0.5; fifty.layout().len()];
    let error = fill(&fifty, &tensors, &mut weights).expect_err("another network");
    assert!(matches!(error, WeightsError::Shape { .. } | WeightsError::Missing { .. }), "{error}");
    assert!(weights.iter().all(|w| *w == 0.5));
    let mut weights = vec![0.5; encoder.layout().len()];
    tensors.get_mut("layer4.1.bn2.bias").expect("it is there").numbers[7] = f32::INFINITY;
    let error = fill(&encoder, &tensors, &mut weights).expect_err("infinite");
    assert!(matches!(&error, WeightsError::NotFinite { name } if name == "layer4.1.bn2.bias"), "{error}");
    tensors.remove("layer4.1.bn2.bias");
    let error = fill(&encoder, &tensors, &mut weights).expect_err("missing");
    assert!(matches!(&error, WeightsError::Missing { name, .. } if name == "layer4.1.bn2.bias"), "{error}");
    assert!(weights.iter().all(|w| *w == 0.5));
    let small = Encoder::new("cnn-small", shape(32)).expect("it is registered");
    let error = fill(&small, &tensors, &mut small.initialise(1)).expect_err("no counterpart");
    assert!(matches!(error, WeightsError::NoCounterpart { .. }), "{error}");
}

#[test]
fn safetensors_of_all_precisions_are_read() {
    use safetensors::{Dtype, serialize, tensor::TensorView};
    let bytes: Vec<u8> = [1.5f32, -2.0].iter().flat_map(|v| v.to_le_bytes()).collect();
    let view = |kind, shape: &[usize], data| TensorView::new(kind, shape.to_vec(), data).expect("it fits");
    let halves = [0x00u8, 0x3e, 0x00, 0xc0];
    let views = [
        ("single", view(Dtype::F32, &[2, 1], &bytes)),
        ("half", view(Dtype::F16, &[2], &halves)),
        ("count", view(Dtype::I32, &[2], &bytes)),
    ];
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("tiny.safetensors");
    std::fs::write(&path, serialize(views, None).expect("bytes")).expect("a file");
    let tensors = load(&path).expect("it is whole");
    assert_eq!(tensors.len(), 2);
    assert_eq!(tensors["single"], NamedTensor { shape: vec![2, 1], numbers: vec![1.5, -2.0] });
    assert_eq!(tensors["half"], NamedTensor { shape: vec![2], numbers: vec![1.5, -2.0] });
}
