//! A canvas as PNG bytes, with the embedded font only, so that pictures are the same on every machine.

use super::{
    PlotError,
    canvas::{Anchor, Canvas, DASHES, Element, Path, Place, Segment, Style, Text},
    colour::Rgb,
    font,
};
use tiny_skia::{Color, FillRule, LineCap, LineJoin, Mask, Paint, PathBuilder, Pixmap, Stroke, StrokeDash, Transform};

/// Most pixels in a picture; larger figures are drawn at a smaller scale.
const MOST_PIXELS: f64 = 6e7;

/// Paints a canvas of the given size on a white ground, at `scale` pixels per unit.
pub fn render(canvas: &Canvas, width: f64, height: f64, scale: f64) -> Result<Vec<u8>, PlotError> {
    let (width, height) = (width.ceil(), height.ceil());
    let scale = scale.min((MOST_PIXELS / (width * height)).sqrt());
    let (columns, rows) = ((width * scale).ceil() as u32, (height * scale).ceil() as u32);
    let mut pixels = Pixmap::new(columns, rows)
        .ok_or_else(|| PlotError::Render { reason: format!("cannot hold {columns} × {rows} pixels") })?;
    pixels.fill(Color::WHITE);
    paint(&mut pixels, &canvas.elements, Transform::from_scale(scale as f32, scale as f32), None);
    pixels.encode_png().map_err(|error| PlotError::Render { reason: error.to_string() })
}

/// Paints elements where the mask, if there is one, lets them through.
fn paint(pixels: &mut Pixmap, elements: &[Element], transform: Transform, mask: Option<&Mask>) {
    for element in elements {
        match element {
            Element::Path(path, style) => paint_path(pixels, path, style, transform, mask),
            Element::Text(text) => paint_text(pixels, text, transform, mask),
            Element::Clipped(shape, inside) => {
                let Some(shape) = outline(shape) else { continue };
                let within = match mask {
                    Some(mask) => {
                        let mut within = mask.clone();
                        within.intersect_path(&shape, FillRule::Winding, true, transform);
                        Some(within)
                    }
                    None => Mask::new(pixels.width(), pixels.height()).map(|mut within| {
                        within.fill_path(&shape, FillRule::Winding, true, transform);
                        within
                    }),
                };
                paint(pixels, inside, transform, within.as_ref());
            }
        }
    }
}

fn paint_path(pixels: &mut Pixmap, path: &Path, style: &Style, transform: Transform, mask: Option<&Mask>) {
    let Some(path) = outline(path) else { return };
    if let Some(colour) = style.fill {
        pixels.fill_path(&path, &solid(colour, style.opacity), FillRule::Winding, transform, mask);
    }
    if let Some((colour, width)) = style.stroke {
        let dash = if style.dashed { StrokeDash::new(DASHES.map(f32::from).to_vec(), 0.0) } else { None };
        let (line_cap, line_join) = (LineCap::Round, LineJoin::Round);
        let stroke = Stroke { width: width as f32, line_cap, line_join, dash, ..Stroke::default() };
        pixels.stroke_path(&path, &solid(colour, style.opacity), &stroke, transform, mask);
    }
}

fn paint_text(pixels: &mut Pixmap, text: &Text, transform: Transform, mask: Option<&Mask>) {
    let (Some(path), width) = font::outlines(&text.text, text.font.size) else { return };
    let before = match text.anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => 0.5 * width,
        Anchor::End => width,
    };
    let (x, y) = (text.x as f32, text.y as f32);
    let transform = transform.pre_rotate_at(text.degrees as f32, x, y).pre_translate(x - before, y);
    pixels.fill_path(&path, &solid(text.font.colour, 1.0), FillRule::Winding, transform, mask);
}

fn solid(Rgb(red, green, blue): Rgb, opacity: f64) -> Paint<'static> {
    let mut paint = Paint::default();
    paint.set_color_rgba8(red, green, blue, (255.0 * opacity).round() as u8);
    paint
}

fn outline(path: &Path) -> Option<tiny_skia::Path> {
    let unit = 10f64.powi(path.decimals as i32);
    let length = |steps: i64| (steps as f64 / unit) as f32;
    let mut at: Place = (0, 0);
    let mut builder = PathBuilder::new();
    for &segment in &path.segments {
        match segment {
            Segment::Move(place) => {
                at = place;
                builder.move_to(length(place.0), length(place.1));
            }
            Segment::Line(place) => builder.line_to(length(place.0), length(place.1)),
            Segment::Dot => builder.line_to(length(at.0.saturating_add(1)), length(at.1)),
            Segment::Circle((x, y), radius) => builder.push_circle(length(x), length(y), length(radius)),
            Segment::Close => builder.close(),
        }
    }
    builder.finish()
}
