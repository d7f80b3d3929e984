//! Pictures as bytes: read from PNG and JPEG files without trust, written, and made smaller.

use std::io::{Cursor, Write};
use zune_jpeg::{
    JpegDecoder,
    zune_core::{bytestream::ZCursor, colorspace::ColorSpace, options::DecoderOptions},
};

/// Most pixels of a picture that is read.
const MAX_PIXELS: u64 = 1 << 24;

/// Most memory that decoding one picture may take, in bytes.
const MAX_BYTES: usize = 1 << 27;

/// A picture of red, green and blue bytes, row by row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// Pixels of a row.
    pub width: usize,
    /// Number of rows.
    pub height: usize,
    /// Three bytes for each pixel.
    pub pixels: Vec<u8>,
}

impl Picture {
    /// Reads a PNG or JPEG file, by its first bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        match bytes {
            [0xff, 0xd8, ..] => Self::from_jpeg(bytes),
            _ => Self::from_png(bytes),
        }
    }

    /// Reads a JPEG file, baseline or progressive.
    pub(crate) fn from_jpeg(bytes: &[u8]) -> Result<Self, String> {
        let options = DecoderOptions::default().jpeg_set_out_colorspace(ColorSpace::RGB);
        let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
        decoder.decode_headers().map_err(|e| e.to_string())?;
        let (width, height) = decoder.dimensions().ok_or("no size")?;
        require_few(width as u64, height as u64)?;
        let pixels = decoder.decode().map_err(|e| e.to_string())?;
        if pixels.len() != 3 * width * height {
            return Err(format!("{} bytes for {width} × {height} pixels", pixels.len()));
        }
        Ok(Self { width, height, pixels })
    }

    /// Reads a PNG file of any colour type; what is transparent shows white.
    pub fn from_png(bytes: &[u8]) -> Result<Self, String> {
        let mut decoder = png::Decoder::new_with_limits(Cursor::new(bytes), png::Limits { bytes: MAX_BYTES });
        decoder.set_transformations(png::Transformations::normalize_to_color8());
        let mut reader = decoder.read_info().map_err(|e| e.to_string())?;
        let (width, height) = reader.info().size();
        require_few(width.into(), height.into())?;
        let size = reader.output_buffer_size().filter(|size| *size <= MAX_BYTES).ok_or("too large")?;
        let mut buffer = vec![0; size];
        let frame = reader.next_frame(&mut buffer).map_err(|e| e.to_string())?;
        buffer.truncate(frame.buffer_size());
        let over_white = |value: u8, alpha: u8| {
            let (value, alpha) = (u32::from(value), u32::from(alpha));
            ((value * alpha + 255 * (255 - alpha) + 127) / 255) as u8
        };
        let pixels: Vec<u8> = match frame.color_type {
            png::ColorType::Rgb => buffer,
            png::ColorType::Grayscale => buffer.iter().flat_map(|v| [*v; 3]).collect(),
            png::ColorType::GrayscaleAlpha => {
                buffer.chunks_exact(2).flat_map(|p| [over_white(p[0], p[1]); 3]).collect()
            }
            png::ColorType::Rgba => {
                buffer.chunks_exact(4).flat_map(|p| [0, 1, 2].map(|k| over_white(p[k], p[3]))).collect()
            }
            png::ColorType::Indexed => return Err("a palette that was not expanded".into()),
        };
        let (width, height) = (width as usize, height as usize);
        if pixels.len() != 3 * width * height {
            return Err(format!("{} bytes for {width} × {height} pixels", pixels.len()));
        }
        Ok(Self { width, height, pixels })
    }

    /// The bytes of a PNG file.
    pub fn to_png(&self) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        write_png(&mut bytes, self.width, self.height, &self.pixels).map_err(|e| e.to_string())?;
        Ok(bytes)
    }

    /// The picture in grey at another size: `size`² numbers from 0 to 1, each the mean over its part of the picture.
    pub fn grey(&self, size: usize, out: &mut [f32]) {
        assert_eq!(out.len(), size * size, "a picture of {size} × {size} pixels");
        let (across, down) = (shares(self.width, size), shares(self.height, size));
        for (line, rows) in out.chunks_exact_mut(size).zip(&down) {
            for (pixel, columns) in line.iter_mut().zip(&across) {
                let mut sum = 0.0;
                for &(y, weight) in rows {
                    for &(x, share) in columns {
                        let at = 3 * (y * self.width + x);
                        let total: u32 = self.pixels[at..at + 3].iter().map(|v| u32::from(*v)).sum();
                        sum += weight * share * f64::from(total);
                    }
                }
                *pixel = (sum / (3.0 * 255.0)) as f32;
            }
        }
    }
}

/// Refuses more pixels than are read.
fn require_few(width: u64, height: u64) -> Result<(), String> {
    match width.checked_mul(height) {
        Some(pixels) if pixels <= MAX_PIXELS => Ok(()),
        _ => Err(format!("{width} × {height} pixels; at most {MAX_PIXELS} are read")),
    }
}

/// For each of `to` equal parts of `from` pixels: which pixels lie in it, with shares that add up to one.
fn shares(from: usize, to: usize) -> Vec<Vec<(usize, f64)>> {
    let step = from as f64 / to as f64;
    (0..to)
        .map(|i| {
            let (start, end) = (i as f64 * step, (i + 1) as f64 * step);
            let last = (end.ceil() as usize).min(from);
            let part = |p: usize| (p, (end.min((p + 1) as f64) - start.max(p as f64)) / step);
            (start.floor() as usize..last).map(part).filter(|(_, share)| *share > 1e-12).collect()
        })
        .collect()
}

/// Writes red, green and blue bytes as a PNG file.
pub(super) fn write_png(
    out: &mut impl Write,
    width: usize,
    height: usize,
    pixels: &[u8],
) -> Result<(), png::EncodingError> {
    let mut encoder = png::Encoder::new(out, width as u32, height as u32);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels)?;
    writer.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_survive_a_file_and_shrink_by_area() {
        let pixels: Vec<u8> = (0..3 * 6 * 4).map(|i| (7 * i % 256) as u8).collect();
        let picture = Picture { width: 6, height: 4, pixels };
        assert_eq!(Picture::from_png(&picture.to_png().unwrap()).unwrap(), picture);
        let mean = picture.pixels.iter().map(|v| f32::from(*v)).sum::<f32>() / 72.0 / 255.0;
        for size in [1, 2, 3, 5] {
            let mut small = vec![0.0; size * size];
            picture.grey(size, &mut small);
            let sum: f32 = small.iter().sum();
            assert!((sum / (size * size) as f32 - mean).abs() < 1e-6, "{size}: {small:?}");
        }
    }

    #[test]
    fn broken_files_are_refused() {
        let good = Picture { width: 8, height: 8, pixels: vec![200; 192] }.to_png().unwrap();
        for end in [0, 7, 20, 40, good.len() - 20] {
            assert!(Picture::from_png(&good[..end]).is_err(), "cut at {end}");
        }
        let mut huge = good.clone();
        huge[16..20].copy_from_slice(&1_000_000u32.to_be_bytes());
        assert!(Picture::from_png(&huge).is_err());
        assert!(Picture::from_png(b"GIF89a").is_err());
    }
}
