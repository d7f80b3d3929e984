//! A canvas as SVG text.

use super::{
    canvas::{Anchor, Canvas, DASHES, Element, Path, Place, Segment, Style, Text},
    font::FAMILY,
};
use crate::printable::is_obeyed;
use std::fmt::Write;

/// The whole document on a white ground.
pub fn document(canvas: &Canvas, width: f64, height: f64) -> String {
    let (w, h) = (number(width.ceil()), number(height.ceil()));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" \
         font-family=\"{FAMILY}\">\n<rect width=\"{w}\" height=\"{h}\" fill=\"#ffffff\"/>\n{}</svg>\n",
        body(canvas, "")
    )
}

/// The element for a page of HTML, with a title for those who do not see it. Names of its parts begin with `name`, so that no
/// two pictures of the page share one.
pub fn inline(canvas: &Canvas, width: f64, height: f64, name: &str, title: &str) -> String {
    let (w, h) = (number(width.ceil()), number(height.ceil()));
    format!(
        "<svg role=\"img\" aria-labelledby=\"{name}-title\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" \
         font-family=\"{FAMILY}\">\n<title id=\"{name}-title\">{}</title>\n{}</svg>\n",
        escape(title),
        body(canvas, &format!("{name}-"))
    )
}

fn body(canvas: &Canvas, prefix: &str) -> String {
    let mut out = String::new();
    write_elements(&mut out, &canvas.elements, prefix, &mut 0);
    out
}

/// `clips` counts the clip paths, whose names begin with `prefix`.
fn write_elements(out: &mut String, elements: &[Element], prefix: &str, clips: &mut usize) {
    for element in elements {
        match element {
            Element::Path(path, style) => write_path(out, path, style),
            Element::Text(text) => write_text(out, text),
            Element::Clipped(shape, inside) => {
                let id = format!("{prefix}clip{clips}");
                *clips += 1;
                let _ = writeln!(out, "<clipPath id=\"{id}\"><path d=\"{}\"/></clipPath>", data(shape));
                let _ = writeln!(out, "<g clip-path=\"url(#{id})\">");
                write_elements(out, inside, prefix, clips);
                out.push_str("</g>\n");
            }
        }
    }
}

fn write_path(out: &mut String, path: &Path, style: &Style) {
    let _ = write!(out, "<path d=\"{}\"", data(path));
    match style.fill {
        Some(colour) => {
            let _ = write!(out, " fill=\"{colour}\"");
        }
        None => out.push_str(" fill=\"none\""),
    }
    if let Some((colour, width)) = style.stroke {
        let width = number(width);
        let _ = write!(out, " stroke=\"{colour}\" stroke-width=\"{width}\"");
        out.push_str(" stroke-linecap=\"round\" stroke-linejoin=\"round\"");
    }
    if style.dashed {
        let [dash, gap] = DASHES;
        let _ = write!(out, " stroke-dasharray=\"{dash} {gap}\"");
    }
    if style.opacity < 1.0 {
        let _ = write!(out, " opacity=\"{}\"", number(style.opacity));
    }
    out.push_str("/>\n");
}

fn write_text(out: &mut String, Text { x, y, text, font, anchor, degrees }: &Text) {
    let (x, y, size) = (number(*x), number(*y), number(font.size));
    let _ = write!(out, "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" fill=\"{}\"", font.colour);
    match anchor {
        Anchor::Start => {}
        Anchor::Middle => out.push_str(" text-anchor=\"middle\""),
        Anchor::End => out.push_str(" text-anchor=\"end\""),
    }
    if *degrees != 0.0 {
        let _ = write!(out, " transform=\"rotate({} {x} {y})\"", number(*degrees));
    }
    let _ = writeln!(out, ">{}</text>", escape(text));
}

/// Path data in relative coordinates. Positions are rounded first and differences taken after, so that errors do not add up.
fn data(path: &Path) -> String {
    let (mut data, mut at, mut start) = (String::new(), (0, 0), (0, 0));
    for &segment in &path.segments {
        let begin = if data.is_empty() { 'M' } else { 'm' };
        let mut step = |command: char, next: Place| {
            data.push(command);
            let (dx, dy) = (next.0.saturating_sub(at.0), next.1.saturating_sub(at.1));
            write_scaled(&mut data, dx, path.decimals);
            if dy >= 0 {
                data.push(' ');
            }
            write_scaled(&mut data, dy, path.decimals);
            at = next;
        };
        match segment {
            Segment::Move(place) => {
                step(begin, place);
                start = place;
            }
            Segment::Line(place) => step('l', place),
            Segment::Dot => {
                data.push('h');
                write_scaled(&mut data, 1, path.decimals);
                at.0 = at.0.saturating_add(1);
            }
            Segment::Circle(centre, radius) => {
                step(begin, (centre.0.saturating_sub(radius), centre.1));
                let mut size = String::new();
                write_scaled(&mut size, radius, path.decimals);
                for across in [radius.saturating_mul(2), radius.saturating_mul(-2)] {
                    let _ = write!(data, "a{size} {size} 0 1 1 ");
                    write_scaled(&mut data, across, path.decimals);
                    data.push_str(" 0");
                }
                data.push('z');
            }
            Segment::Close => {
                data.push('z');
                at = start;
            }
        }
    }
    data
}

/// Writes `value / 10^decimals` without needless zeros.
fn write_scaled(out: &mut String, value: i64, decimals: u32) {
    let unit = 10u64.pow(decimals);
    let (whole, mut part) = (value.unsigned_abs() / unit, value.unsigned_abs() % unit);
    if value < 0 {
        out.push('-');
    }
    if whole > 0 || part == 0 {
        let _ = write!(out, "{whole}");
    }
    if part > 0 {
        let mut digits = decimals as usize;
        while part % 10 == 0 {
            part /= 10;
            digits -= 1;
        }
        let _ = write!(out, ".{part:0digits$}");
    }
}

/// A number with at most two decimals.
fn number(value: f64) -> String {
    let mut out = String::new();
    write_scaled(&mut out, (value * 100.0).round() as i64, 2);
    out
}

/// Makes text safe inside an element; characters that XML does not allow are left out.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\t' | '\n' | '\r' => out.push(' '),
            '\u{fffe}' | '\u{ffff}' => {}
            c if is_obeyed(c) => {}
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let cases =
            [(0.0, "0"), (0.5, ".5"), (-0.25, "-.25"), (12.0, "12"), (-3.1, "-3.1"), (1e-9, "0"), (0.05, ".05")];
        for (value, text) in cases {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn relative_steps_do_not_drift() {
        let mut path = Path::new();
        let points: Vec<_> = (0..1000).map(|i| (f64::from(i) * 0.003_3, f64::from(i) * 0.004_7)).collect();
        path.line(&points);
        let data = data(&path);
        let steps = data[1..].split('l').map(|step| {
            let middle = step[1..].find([' ', '-']).unwrap() + 1;
            [&step[..middle], step[middle..].trim()].map(|number| number.parse::<f64>().unwrap())
        });
        let end = steps.fold([0.0, 0.0], |[x, y], [dx, dy]| [x + dx, y + dy]).map(|v| (100.0 * v).round());
        assert_eq!(end, [330.0, 470.0]);
        assert!(!data.contains("NaN"));
    }

    #[test]
    fn numbers_that_are_not_finite_do_not_spoil_the_text() {
        let mut path = Path::new();
        path.line(&[(f64::NAN, f64::INFINITY), (1.0, f64::NEG_INFINITY)]);
        let data = data(&path);
        assert!(data.chars().all(|c| c.is_ascii_digit() || "Ml.- ".contains(c)), "{data}");
    }

    #[test]
    fn text_is_escaped() {
        assert_eq!(escape("a<b & \u{1}c\n"), "a&lt;b &amp; c ");
    }
}
