//! A PNG from the SVG, with a font that comes along: no font need be installed.

use super::text;
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};
use std::sync::{Arc, LazyLock};

/// Pixels of the PNG for each of the SVG: text and single accesses stay sharp in print.
const PIXEL_RATIO: f32 = 2.0;

static FONTS: LazyLock<Arc<fontdb::Database>> = LazyLock::new(|| {
    let mut fonts = fontdb::Database::new();
    fonts.load_font_source(fontdb::Source::Binary(Arc::new(text::font())));
    fonts.set_sans_serif_family("DejaVu Sans");
    Arc::new(fonts)
});

/// Why there is no PNG.
#[derive(Debug, thiserror::Error)]
#[error("cannot make a PNG of the picture: {0}")]
pub struct PngError(#[source] Cause);

#[derive(Debug, thiserror::Error)]
enum Cause {
    #[error("{0}")]
    Svg(#[from] resvg::usvg::Error),
    #[error("{width} x {height} pixels are too many")]
    Size { width: u32, height: u32 },
    #[error("{0}")]
    Encoding(String),
}

pub(super) fn png(svg: &str) -> Result<Vec<u8>, PngError> {
    render(svg).map_err(PngError)
}

fn render(svg: &str) -> Result<Vec<u8>, Cause> {
    let options = Options {
        fontdb: Arc::clone(&FONTS),
        ..Options::default()
    };
    let tree = Tree::from_str(svg, &options)?;
    let scale = |length: f32| (length * PIXEL_RATIO).ceil() as u32;
    let (width, height) = (scale(tree.size().width()), scale(tree.size().height()));
    let mut pixels = Pixmap::new(width, height).ok_or(Cause::Size { width, height })?;
    let transform = Transform::from_scale(PIXEL_RATIO, PIXEL_RATIO);
    resvg::render(&tree, transform, &mut pixels.as_mut());
    pixels
        .encode_png()
        .map_err(|error| Cause::Encoding(error.to_string()))
}
