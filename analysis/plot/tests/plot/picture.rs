//! What holds for each picture, and how to look at one.

use dmo_plot::Figure;
use resvg::tiny_skia::Pixmap;

/// Saves the picture where the tester wants to look at it.
pub fn keep(program: &str, figure: &Figure) {
    let Some(folder) = std::env::var_os("DMO_PLOT_DIR") else {
        return;
    };
    let folder = std::path::Path::new(&folder);
    let program: String = program
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .take(20)
        .collect();
    let stem = format!("{program}-{}", figure.name);
    std::fs::create_dir_all(folder).unwrap();
    std::fs::write(folder.join(format!("{stem}.svg")), &figure.svg).unwrap();
    std::fs::write(folder.join(format!("{stem}.png")), figure.png().unwrap()).unwrap();
}

/// What holds for each figure: a small, well-formed file, and nothing outside its frame.
pub fn check(figure: &Figure) {
    assert!(figure.svg.len() < 2_000_000, "{}", figure.svg.len());
    assert!(!figure.svg.contains("<image"));
    let document = roxmltree::Document::parse(&figure.svg).unwrap();
    let number = |node: roxmltree::Node<'_, '_>, name: &str| -> f64 {
        node.attribute(name).unwrap_or("0").parse().unwrap()
    };
    let (width, height) = (
        number(document.root_element(), "width"),
        number(document.root_element(), "height"),
    );
    assert!(width <= 1200.0 && height <= 6000.0, "{width} x {height}");
    for node in document.descendants() {
        match node.tag_name().name() {
            "rect" => {
                let (x, y) = (number(node, "x"), number(node, "y"));
                assert!(x >= 0.0 && y >= 0.0);
                assert!(x + number(node, "width") <= width);
                assert!(y + number(node, "height") <= height);
            }
            "line" => {
                for (end, limit) in [("x1", width), ("x2", width), ("y1", height), ("y2", height)] {
                    assert!((0.0..=limit).contains(&number(node, end)));
                }
            }
            _ => {}
        }
    }
    assert!(
        figure.name.len() < 150
            && figure
                .name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)),
        "{}",
        figure.name
    );
    check_texts(figure, width as f32, height as f32);
}

/// Texts as the renderer lays them out: within the frame, and none over another.
fn check_texts(figure: &Figure, width: f32, height: f32) {
    use resvg::usvg::{Node, Options, TextChunk, Tree, fontdb};
    let mut fonts = fontdb::Database::new();
    fonts.load_font_data(dejavu::sans::regular().to_vec());
    fonts.set_sans_serif_family("DejaVu Sans");
    let options = Options {
        fontdb: fonts.into(),
        ..Options::default()
    };
    let tree = Tree::from_str(&figure.svg, &options).unwrap();
    let mut boxes = Vec::new();
    for node in tree.root().children() {
        if let Node::Text(text) = node {
            let content: String = text.chunks().iter().map(TextChunk::text).collect();
            boxes.push((text.abs_bounding_box(), content));
        }
    }
    assert!(!boxes.is_empty(), "no text");
    for (index, (bounds, text)) in boxes.iter().enumerate() {
        assert!(
            bounds.left() >= 0.0
                && bounds.top() >= 0.0
                && bounds.right() <= width
                && bounds.bottom() <= height,
            "{}: {text:?} leaves the frame: {bounds:?}",
            figure.name
        );
        for (other_bounds, other) in &boxes[..index] {
            // Boxes are as high as the font, not as the letters.
            let apart = bounds.left() >= other_bounds.right()
                || other_bounds.left() >= bounds.right()
                || bounds.top() + 3.0 >= other_bounds.bottom()
                || other_bounds.top() + 3.0 >= bounds.bottom();
            assert!(apart, "{}: {text:?} over {other:?}", figure.name);
        }
    }
}

/// Colour of the PNG at a place of the SVG.
pub struct Pixels(Pixmap);

impl Pixels {
    pub fn of(figure: &Figure) -> Self {
        Self(Pixmap::decode_png(&figure.png().unwrap()).unwrap())
    }

    /// As `#RRGGBB`.
    pub fn at(&self, x: u32, y: u32) -> String {
        let pixel = self.0.pixel(2 * x + 1, 2 * y + 1).unwrap();
        format!(
            "#{:02X}{:02X}{:02X}",
            pixel.red(),
            pixel.green(),
            pixel.blue()
        )
    }

    /// Whether the colour is within two pixels of a place.
    pub fn near(&self, x: u32, y: u32, colour: &str) -> bool {
        (x - 2..=x + 2).any(|x| (y - 2..=y + 2).any(|y| self.at(x, y) == colour))
    }

    pub fn dark(&self, (left, right): (u32, u32), (top, bottom): (u32, u32)) -> usize {
        (top..bottom)
            .flat_map(|y| (left..right).map(move |x| (x, y)))
            .filter(|&(x, y)| self.0.pixel(2 * x, 2 * y).unwrap().red() < 100)
            .count()
    }
}

/// The panels of a figure: the framed rectangles, from top to bottom.
pub fn panels(figure: &Figure) -> Vec<(u32, u32, u32, u32)> {
    let document = roxmltree::Document::parse(&figure.svg).unwrap();
    document
        .descendants()
        .filter(|node| node.has_tag_name("rect") && node.attribute("fill") == Some("none"))
        .map(|node| {
            let number = |name| node.attribute(name).unwrap().parse().unwrap();
            (number("x"), number("y"), number("width"), number("height"))
        })
        .collect()
}
