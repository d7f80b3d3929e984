//! SVG text to PNG bytes, with the embedded font only, so that pictures are the same on every machine.

use super::PlotError;
use resvg::{
    tiny_skia::{Pixmap, Transform},
    usvg::{Options, Tree, fontdb::Database},
};
use std::sync::{Arc, LazyLock};

/// DejaVu Sans: Latin-1, Greek, mathematical signs, raised and lowered digits.
const FONT: &[u8] = include_bytes!("../../assets/DejaVuSans-subset.ttf");

static FONTS: LazyLock<Arc<Database>> = LazyLock::new(|| {
    let mut fonts = Database::new();
    fonts.load_font_data(FONT.to_vec());
    fonts.set_sans_serif_family("DejaVu Sans");
    Arc::new(fonts)
});

/// Reads SVG text; also the check that it is well formed.
fn parse(svg: &str) -> Result<Tree, PlotError> {
    let options = Options { font_family: "DejaVu Sans".to_owned(), fontdb: FONTS.clone(), ..Options::default() };
    Tree::from_str(svg, &options).map_err(|error| PlotError::Render { reason: error.to_string() })
}

/// Most pixels in a picture; larger figures are drawn at a smaller scale.
const MOST_PIXELS: f32 = 6e7;

/// Draws SVG text at `scale` pixels per unit.
pub fn render(svg: &str, scale: f32) -> Result<Vec<u8>, PlotError> {
    let tree = parse(svg)?;
    let size = tree.size();
    let scale = scale.min((MOST_PIXELS / (size.width() * size.height())).sqrt());
    let (width, height) = ((size.width() * scale).ceil() as u32, (size.height() * scale).ceil() as u32);
    let mut pixels = Pixmap::new(width, height)
        .ok_or_else(|| PlotError::Render { reason: format!("cannot hold {width} × {height} pixels") })?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| PlotError::Render { reason: error.to_string() })
}
