//! A white sheet to draw on: shapes and text, in SVG.

use super::DrawError;
use super::text::{FONT_FAMILIES, printable, width};
use plotters::prelude::{DrawingBackend, RGBColor, SVGBackend, ShapeStyle};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontStyle, FontTransform, IntoFont, TextStyle};

/// Red, green, blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Colour(pub(super) u8, pub(super) u8, pub(super) u8);

impl Colour {
    pub(super) const WHITE: Self = Self(255, 255, 255);
    pub(super) const INK: Self = Self(0x1a, 0x1a, 0x1a);
    pub(super) const FAINT: Self = Self(0x60, 0x60, 0x60);
    pub(super) const FRAME: Self = Self(0x80, 0x80, 0x80);
    pub(super) const GRID: Self = Self(0xee, 0xee, 0xee);
    /// The overlapped bytes.
    pub(super) const BAND: Self = Self(0xd9, 0x82, 0x00);

    fn style(self, opacity: f64, stroke_width: u32) -> ShapeStyle {
        ShapeStyle {
            color: RGBColor(self.0, self.1, self.2).mix(opacity),
            filled: true,
            stroke_width,
        }
    }
}

/// A rectangle in pixels; `y` grows downwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Area {
    pub(super) x: i32,
    pub(super) y: i32,
    pub(super) width: i32,
    pub(super) height: i32,
}

impl Area {
    pub(super) const fn right(&self) -> i32 {
        self.x + self.width
    }

    pub(super) const fn bottom(&self) -> i32 {
        self.y + self.height
    }

    /// Pixels that belong to both.
    pub(super) fn shared(&self, other: &Self) -> i32 {
        let width = self.right().min(other.right()) - self.x.max(other.x);
        let height = self.bottom().min(other.bottom()) - self.y.max(other.y);
        width.max(0) * height.max(0)
    }
}

/// How a text is set: where its anchor is, how large, in which colour.
#[derive(Clone, Copy)]
pub(super) struct Type {
    pub(super) size: f64,
    colour: Colour,
    horizontal: HPos,
    turned: bool,
}

impl Type {
    /// The anchor is at the left end, half way up.
    pub(super) const fn left(size: f64) -> Self {
        Self {
            size,
            colour: Colour::INK,
            horizontal: HPos::Left,
            turned: false,
        }
    }

    /// The anchor is in the middle.
    pub(super) const fn centred(size: f64) -> Self {
        Self {
            horizontal: HPos::Center,
            ..Self::left(size)
        }
    }

    /// The anchor is at the right end.
    pub(super) const fn right(size: f64) -> Self {
        Self {
            horizontal: HPos::Right,
            ..Self::left(size)
        }
    }

    pub(super) const fn colour(self, colour: Colour) -> Self {
        Self { colour, ..self }
    }

    /// To be read from below.
    pub(super) const fn turned(self) -> Self {
        Self {
            turned: true,
            ..self
        }
    }
}

/// Nothing, or why not.
pub(super) type Drawn = Result<(), DrawError>;

fn drawn<E: std::error::Error + Send + Sync + 'static>(result: Result<(), E>) -> Drawn {
    result.map_err(|error| DrawError(Box::new(error)))
}

/// The picture being drawn.
pub(super) struct Sheet<'a> {
    backend: SVGBackend<'a>,
}

/// Draws a picture of `width` times `height` pixels.
pub(super) fn draw(
    (width, height): (i32, i32),
    content: impl FnOnce(&mut Sheet<'_>) -> Drawn,
) -> Result<String, DrawError> {
    let mut svg = String::new();
    let size = (width.unsigned_abs(), height.unsigned_abs());
    let mut sheet = Sheet {
        backend: SVGBackend::with_string(&mut svg, size),
    };
    let all = Area {
        x: 0,
        y: 0,
        width,
        height,
    };
    sheet.fill(all, Colour::WHITE)?;
    content(&mut sheet)?;
    drawn(sheet.backend.present())?;
    drop(sheet);
    Ok(svg)
}

impl Sheet<'_> {
    pub(super) fn fill(&mut self, area: Area, colour: Colour) -> Drawn {
        self.fill_through(area, colour, 1.0)
    }

    /// Fills with a colour that lets through what is below.
    pub(super) fn fill_through(&mut self, area: Area, colour: Colour, opacity: f64) -> Drawn {
        let corners = ((area.x, area.y), (area.right(), area.bottom()));
        let style = colour.style(opacity, 1);
        drawn(self.backend.draw_rect(corners.0, corners.1, &style, true))
    }

    pub(super) fn frame(&mut self, area: Area, colour: Colour) -> Drawn {
        let corners = ((area.x, area.y), (area.right(), area.bottom()));
        let style = colour.style(1.0, 1);
        drawn(self.backend.draw_rect(corners.0, corners.1, &style, false))
    }

    pub(super) fn line(
        &mut self,
        from: (i32, i32),
        to: (i32, i32),
        colour: Colour,
        opacity: f64,
    ) -> Drawn {
        drawn(self.backend.draw_line(from, to, &colour.style(opacity, 1)))
    }

    /// A horizontal line of dashes, two pixels thick.
    pub(super) fn dashes(&mut self, (left, right): (i32, i32), y: i32, colour: Colour) -> Drawn {
        for x in (left..right).step_by(12) {
            let dash = Area {
                x,
                y: y - 1,
                width: 7.min(right - x),
                height: 2,
            };
            self.fill(dash, colour)?;
        }
        Ok(())
    }

    pub(super) fn polygon(&mut self, corners: &[(i32, i32)], colour: Colour) -> Drawn {
        let corners = corners.iter().copied();
        drawn(self.backend.fill_polygon(corners, &colour.style(1.0, 1)))
    }

    /// A ring with a white rim, to be seen on any ground.
    pub(super) fn ring(&mut self, centre: (i32, i32), radius: u32) -> Drawn {
        for (colour, stroke_width) in [(Colour::WHITE, 5), (Colour::INK, 2)] {
            let style = colour.style(1.0, stroke_width);
            drawn(self.backend.draw_circle(centre, radius, &style, false))?;
        }
        Ok(())
    }

    pub(super) fn text(&mut self, text: &str, at: (i32, i32), set: Type) -> Drawn {
        let turn = if set.turned {
            FontTransform::Rotate270
        } else {
            FontTransform::None
        };
        // The backend divides font sizes by 1.24.
        let font = (FONT_FAMILIES, set.size * 1.24, FontStyle::Normal)
            .into_font()
            .transform(turn);
        let Colour(red, green, blue) = set.colour;
        let colour = RGBColor(red, green, blue);
        let style = TextStyle::from(font)
            .color(&colour)
            .pos(Pos::new(set.horizontal, VPos::Center));
        drawn(self.backend.draw_text(&printable(text), &style, at))
    }

    /// A centred text on a white ground.
    pub(super) fn plaque(&mut self, text: &str, (x, y): (i32, i32), set: Type) -> Drawn {
        let half_width = (width(text, set.size) / 2.0).ceil() as i32 + 3;
        let half_height = (set.size * 0.7) as i32;
        let ground = Area {
            x: x - half_width,
            y: y - half_height,
            width: 2 * half_width,
            height: 2 * half_height,
        };
        self.fill_through(ground, Colour::WHITE, 0.85)?;
        self.text(text, (x, y), set)
    }
}
