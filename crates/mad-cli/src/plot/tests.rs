//! Whole figures: well formed, of bounded size, with ink where the points are.

use super::*;
use mad_core::catalogue::View;
use tiny_skia::Pixmap;

fn direction(lat: f64, lon: f64) -> [f64; 3] {
    let (lat, lon) = (lat.to_radians(), lon.to_radians());
    [lat.cos() * lon.cos(), lat.cos() * lon.sin(), lat.sin()]
}

fn fibonacci(n: u32) -> Points {
    let golden = std::f64::consts::PI * (3.0 - 5f64.sqrt());
    let mut points = Points::new(3);
    for i in 0..n {
        let z = 1.0 - (2.0 * f64::from(i) + 1.0) / f64::from(n);
        let (r, a) = ((1.0 - z * z).sqrt(), golden * f64::from(i));
        points.push(&[r * a.cos(), r * a.sin(), z]);
    }
    points
}

fn on_circles(n: u32, circles: usize) -> Points {
    let mut points = Points::new(2 * circles);
    for i in 0..n {
        let row: Vec<f64> = (1..=circles)
            .flat_map(|k| {
                let a = f64::from(i) * k as f64 * 0.37;
                [a.cos(), a.sin()]
            })
            .collect();
        points.push(&row);
    }
    points
}

fn well_formed(svg: &str) {
    roxmltree::Document::parse(svg).unwrap_or_else(|e| panic!("{e}: {}", &svg[..svg.len().min(300)]));
    assert!(!svg.contains("NaN") && !svg.contains("inf"));
}

#[test]
fn every_view_gives_well_formed_svg() {
    let mut hot = Points::new(5);
    (0..50).for_each(|i| hot.push(&[0, 1, 2, 3, 4].map(|k| if k == i % 2 || k == 2 + i % 3 { 1.0 } else { 0.0 })));
    let quaternions = Points::from_vec((0..400).map(|i| f64::from(i * i % 37) - 18.2).collect(), 4);
    let mut poses = Points::new(7);
    quaternions.rows().for_each(|q| poses.push(&[q[0], q[1], q[2], q[3], 1.0, q[0], q[1]]));
    let cases = [
        (View::Map, fibonacci(100)),
        (View::Rotations, quaternions),
        (View::Angles(1), on_circles(50, 1)),
        (View::Angles(2), on_circles(50, 2)),
        (View::Angles(9), on_circles(50, 9)),
        (View::Bars(vec![2, 3]), hot),
        (View::Scatter, on_circles(50, 1)),
        (View::Scatter, Points::from_vec(vec![1.0, 2.0, f64::NAN], 1)),
        (View::Scatter, Points::new(3)),
        (View::Blocks(vec![(4, View::Rotations), (3, View::Scatter)]), poses),
    ];
    for (view, points) in &cases {
        let panels = [PointsPanel { title: "data <&>", points }, PointsPanel { title: "model", points }];
        let options = PointsOptions { title: "σ ≤ 10⁻³ & more".into(), ..PointsOptions::default() };
        well_formed(&points_figure(view, &panels, &options).unwrap().to_svg());
    }
}

#[test]
fn data_and_model_stand_side_by_side_for_every_pair() {
    let angles = on_circles(30, 7);
    let poses = Points::from_vec([0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 4.0].repeat(9), 7);
    let cases =
        [(View::Angles(7), &angles, 12), (View::Blocks(vec![(4, View::Rotations), (3, View::Scatter)]), &poses, 4)];
    for (view, points, least) in cases {
        let panels = [PointsPanel { title: "DATA", points }, PointsPanel { title: "MODEL", points }];
        let svg = points_figure(&view, &panels, &PointsOptions::default()).unwrap().to_svg();
        let mut titles: Vec<(usize, &str)> =
            ["DATA", "MODEL"].into_iter().flat_map(|t| svg.match_indices(t).collect::<Vec<_>>()).collect();
        titles.sort();
        let order: Vec<&str> = titles.into_iter().map(|(_, title)| title).collect();
        assert!(order.len() >= least && order.chunks(2).all(|pair| pair == ["DATA", "MODEL"]), "{order:?}");
    }
}

#[test]
fn wrong_shapes_are_refused() {
    let points = on_circles(5, 2);
    let panels = [PointsPanel { title: "data", points: &points }];
    let error = points_figure(&View::Map, &panels, &PointsOptions::default()).err().unwrap();
    assert!(error.to_string().contains("4 coordinates, the view needs 3"), "{error}");
    let grid = fibonacci(10);
    let panel = DensityPanel { title: "p", note: "integral 1.00", grid: &grid, log_density: &[0.0; 9], points: None };
    assert!(matches!(density_map("", &[panel], Scale::Log), Err(PlotError::Densities { expected: 10, found: 9, .. })));
}

#[test]
fn files_are_chosen_by_their_ending() {
    let folder = tempfile::tempdir().unwrap();
    let figure = curves(
        "loss",
        vec![CurvePanel {
            series: vec![Series { points: vec![(0.0, 1.0), (1.0, 2.0)], ..Series::default() }],
            ..CurvePanel::default()
        }],
    );
    let (svg, png) = (folder.path().join("a.svg"), folder.path().join("a.PNG"));
    figure.save(&svg).unwrap();
    figure.save(&png).unwrap();
    assert!(std::fs::read_to_string(svg).unwrap().starts_with("<svg"));
    assert!(std::fs::read(png).unwrap().starts_with(b"\x89PNG"));
    assert!(matches!(figure.save(&folder.path().join("a.pdf")), Err(PlotError::Format { .. })));
    assert!(matches!(figure.save(&folder.path().join("none/a.svg")), Err(PlotError::Write { .. })));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "no temporary file may stay");
}

#[test]
fn ink_is_where_the_points_are() {
    // Places on both sides of the dateline and near both poles; the margins of the figure are 16, of the heading 38 units.
    let places = [(0.0, 0.0), (50.0, 179.5), (-50.0, -179.5), (89.0, 30.0), (-89.0, -100.0), (10.0, -140.0)];
    let mut points = Points::new(3);
    places.iter().for_each(|&(lat, lon)| points.push(&direction(lat, lon)));
    let render = |points: &Points| {
        let panels = [PointsPanel { title: "data", points }];
        Pixmap::decode_png(&points_figure(&View::Map, &panels, &PointsOptions::default()).unwrap().to_png().unwrap())
            .unwrap()
    };
    let picture = render(&points);
    let globe = globe::Globe::at(16.0, 16.0 + 38.0, 0.0);
    let is_blue = |x: f64, y: f64| {
        let pixel = picture.pixel((2.0 * x) as u32, (2.0 * y) as u32).unwrap();
        i32::from(pixel.blue()) > i32::from(pixel.red()) + 60
    };
    for row in points.rows() {
        let (x, y) = globe.place(row).unwrap();
        let near = [(0.0, 0.0), (1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)];
        assert!(near.iter().any(|(dx, dy)| is_blue(x + dx, y + dy)), "no ink at {row:?} ({x}, {y})");
    }
    for (lat, lon) in [(0.0, 60.0), (-30.0, -30.0), (50.0, 150.0)] {
        let (x, y) = globe.place(&direction(lat, lon)).unwrap();
        assert!(!is_blue(x, y), "ink at {lat} {lon}");
    }
    let (width, height) = (picture.width() as f64 / 2.0, picture.height() as f64 / 2.0);
    assert_eq!((width, height), (440.0 + 32.0, 38.0 + 220.0 + 4.0 + 32.0));
}

/// Area painted in black, in square units, and the middle of the ink.
fn ink(draw: impl FnOnce(&mut canvas::Canvas)) -> (f64, f64, f64) {
    let mut canvas = canvas::Canvas::new();
    draw(&mut canvas);
    let picture = Pixmap::decode_png(&png::render(&canvas, 100.0, 80.0, 2.0).unwrap()).unwrap();
    let (mut area, mut x, mut y) = (0.0, 0.0, 0.0);
    for (i, pixel) in picture.pixels().iter().enumerate() {
        let dark = 0.25 * (1.0 - f64::from(pixel.green()) / 255.0);
        area += dark;
        x += dark * ((i % 200) as f64 + 0.5) / 2.0;
        y += dark * ((i / 200) as f64 + 0.5) / 2.0;
    }
    (area, x / area, y / area)
}

#[test]
fn shapes_are_painted_in_their_sizes_and_places() {
    use canvas::{Path, Rect, Style};
    use std::f64::consts::PI;
    let black = Rgb(0, 0, 0);
    let (mut disc, mut dot, mut triangle, mut line) = (Path::new(), Path::coarse(), Path::new(), Path::new());
    disc.circle(50.0, 40.0, 30.0);
    dot.dot(20.0, 60.0);
    triangle.polygon(&[(10.0, 10.0), (70.0, 10.0), (10.0, 50.0)]);
    line.line(&[(10.0, 40.0), (91.0, 40.0)]);
    let all = Rect { left: 0.0, top: 0.0, width: 100.0, height: 80.0 }.path();
    let right = Rect { left: 50.0, top: 0.0, width: 50.0, height: 80.0 }.path();
    let quarter = ink(|canvas| {
        canvas.clipped(&disc, |canvas| {
            canvas.clipped(&right, |canvas| {
                canvas.path(&Rect { left: 0.0, top: 0.0, width: 100.0, height: 40.0 }.path(), Style::fill(black));
            });
        });
    });
    // The middle of a quarter of a disc is 4r/3π from both edges.
    let off = 40.0 / PI;
    // Area, middle, length of the outline.
    let cases = [
        (ink(|canvas| canvas.path(&disc, Style::fill(black).opacity(0.4))), (0.4 * PI * 900.0, 50.0, 40.0), 24.0 * PI),
        (ink(|canvas| canvas.path(&disc, Style::line(black, 2.0))), (PI * 120.0, 50.0, 40.0), 120.0 * PI),
        (ink(|canvas| canvas.path(&dot, Style::line(black, 6.0))), (PI * 9.0 + 0.6, 20.05, 60.0), 6.0 * PI),
        (ink(|canvas| canvas.path(&triangle, Style::fill(black))), (1200.0, 30.0, 70.0 / 3.0), 172.1),
        // Nine strokes of 5 with round ends, every 9 units.
        (ink(|canvas| canvas.path(&line, Style::line(black, 2.0).dashed())), (9.0 * (10.0 + PI), 48.5, 40.0), 146.5),
        (
            ink(|canvas| canvas.clipped(&disc, |c| c.path(&all, Style::fill(black)))),
            (PI * 900.0, 50.0, 40.0),
            60.0 * PI,
        ),
        (quarter, (PI * 225.0, 50.0 + off, 40.0 - off), 60.0 + 15.0 * PI),
    ];
    for (i, (found, expected, outline)) in cases.iter().enumerate() {
        // Edges are sampled four times per pixel, half a unit: they are off by half a sample at most.
        assert!((found.0 - expected.0).abs() < outline / 16.0, "case {i}: {found:?}, expected {expected:?}");
        let off = (found.1 - expected.1).hypot(found.2 - expected.2);
        assert!(off < 0.15, "case {i}: {found:?}, expected {expected:?}");
    }
}

#[test]
fn text_stands_where_its_anchor_says() {
    use canvas::{Anchor, Font};
    let font = Font { size: 20.0, colour: Rgb(0, 0, 0) };
    let width = font::text_width("HIIH", 20.0);
    let [start, middle, end] = [Anchor::Start, Anchor::Middle, Anchor::End]
        .map(|anchor| ink(|canvas| canvas.text(50.0, 40.0, "HIIH", font, anchor)));
    for (found, x) in [(start, 50.0 + 0.5 * width), (middle, 50.0), (end, 50.0 - 0.5 * width)] {
        // Capitals are 0.729 high.
        assert!((found.1 - x).abs() < 0.1 && (found.2 - (40.0 - 0.3645 * 20.0)).abs() < 0.1, "{found:?} at {x}");
    }
    let turned = ink(|canvas| canvas.turned_text(50.0, 40.0, "HIIH", font, Anchor::Middle, -90.0));
    assert!((turned.0 / middle.0 - 1.0).abs() < 0.02, "{turned:?} {middle:?}");
    assert!((turned.1 - (50.0 - 0.3645 * 20.0)).abs() < 0.1 && (turned.2 - 40.0).abs() < 0.1, "{turned:?}");
}

#[test]
fn huge_figures_are_drawn_smaller() {
    let picture = Pixmap::decode_png(&png::render(&canvas::Canvas::new(), 4000.0, 30_000.0, 2.0).unwrap()).unwrap();
    assert!(u64::from(picture.width()) * u64::from(picture.height()) < 61_000_000);
    assert!((f64::from(picture.height()) / f64::from(picture.width()) - 7.5).abs() < 0.01);
}

#[test]
fn shading_is_dark_where_the_density_is_high() {
    let grid = fibonacci(3000);
    let log_density: Vec<f64> = grid.rows().map(|p| 4.0 * p[0] - 2.0).collect();
    for scale in [Scale::Log, Scale::Linear] {
        let panel =
            DensityPanel { title: "p", note: "integral 1.00", grid: &grid, log_density: &log_density, points: None };
        let figure = density_map("", &[panel], scale).unwrap();
        assert!(figure.to_svg().len() < 1_000_000);
        let picture = Pixmap::decode_png(&figure.to_png().unwrap()).unwrap();
        let globe = globe::Globe::at(16.0, 16.0 + 38.0, 0.0);
        let light = |lat: f64, lon: f64| {
            let (x, y) = globe.place(&direction(lat, lon)).unwrap();
            let pixel = picture.pixel((2.0 * x) as u32, (2.0 * y) as u32).unwrap();
            0.2126 * f64::from(pixel.red()) + 0.7152 * f64::from(pixel.green()) + 0.0722 * f64::from(pixel.blue())
        };
        assert!(light(0.0, -5.0) < 60.0 && light(-10.0, -80.0) > light(0.0, -30.0) + 30.0, "{scale:?}");
        assert!(light(10.0, 170.0) > 180.0, "{scale:?}: {}", light(10.0, 170.0));
    }
}

#[test]
fn big_figures_stay_small_files() {
    let points = fibonacci(200_000);
    let panels = [1, 2, 3].map(|_| PointsPanel { title: "many", points: &points });
    let svg = points_figure(&View::Map, &panels, &PointsOptions::default()).unwrap().to_svg();
    assert!(svg.len() < 2_000_000 && svg.contains("20\u{a0}000 shown"), "{} bytes", svg.len());
    let turns = on_circles(60_000, 2);
    let panels = [1, 2].map(|_| PointsPanel { title: "many", points: &turns });
    let svg = points_figure(&View::Rotations, &panels, &PointsOptions::default()).unwrap().to_svg();
    assert!(svg.len() < 2_000_000, "{} bytes", svg.len());
}
