//! Whole inferences of a model over its arena, one below the other (Blacker et al., figure 2).

use super::canvas::Canvas;
use super::chart;
use super::name::file_part;
use super::paint::{PLAIN, Panel, Patches, Source, Tint};
use super::plan::saving;
use super::sheet::{Area, Colour, Drawn, Sheet, Type, draw as draw_sheet};
use super::spans::Spans;
use super::text::{shorten, width};
use super::{DrawError, Figure};
use dmo_analysis::wording::{bytes, counted};

const HEIGHT: i32 = 260;
/// Between two panels.
const GAP: i32 = 14;
const LABEL: f64 = 12.0;

/// One inference.
#[derive(Debug, Clone, Copy)]
pub struct InferencePanel<'a> {
    /// What is particular to its plan, `no overlap` for instance.
    pub title: &'a str,
    /// The accesses of the inference to its arena ([`Canvas::of_memory`]).
    pub canvas: &'a Canvas<'a>,
}

impl InferencePanel<'_> {
    fn arena_bytes(&self) -> u64 {
        let regions = self.canvas.regions().iter();
        regions
            .map(super::canvas::MemoryPanel::size_bytes)
            .next()
            .unwrap_or(0)
    }

    fn instructions(&self) -> u64 {
        self.canvas.program_window().length()
    }
}

/// Offset in the arena against time, for each inference a panel: what is loaded and stored,
/// what is in use. All have the same scales, so that what the second one saves is seen; a line
/// at each arena's end says its size.
///
/// # Errors
/// When the SVG cannot be written.
pub fn draw_inferences(title: &str, panels: &[InferencePanel<'_>]) -> Result<Figure, DrawError> {
    let length = panels.iter().map(InferencePanel::instructions).max();
    let length = length.unwrap_or(1);
    let arena = panels.iter().map(InferencePanel::arena_bytes).max();
    let arena = arena.unwrap_or(0);
    let extent = arena.saturating_add(arena / 9).max(1);
    let rows = rows(panels, length, extent);
    let shown: Vec<Panel<'_>> = rows.iter().map(|row| row.panel.clone()).collect();
    let patches = Patches::of(&shown);
    let bottom = rows.last().map_or(chart::HEADER, |row| row.frame.bottom());
    let right = chart::LEFT + chart::PANEL_WIDTH;
    let svg = draw_sheet((right + chart::RIGHT, bottom + chart::FOOTER), |sheet| {
        let layers = panels
            .first()
            .map_or(0, |panel| panel.canvas.profile().layers.len());
        let facts = counted(layers as u64, "layer", "layers");
        chart::header(sheet, title, &legend(&patches), &facts, right)?;
        for row in &rows {
            row.ground(sheet, extent)?;
        }
        chart::patches(sheet, &patches.in_use)?;
        chart::patches(sheet, &patches.accesses)?;
        let first = panels
            .first()
            .map(|panel| (panel.title, panel.arena_bytes()));
        for (index, row) in rows.iter().enumerate() {
            row.spans.lines(sheet, row.frame)?;
            let other = first.filter(|_| index > 0);
            row.arena(sheet, extent, other)?;
            sheet.frame(row.frame, Colour::FRAME)?;
            if row.named {
                row.spans.names(sheet, row.frame.y - 2)?;
            }
        }
        let Some(last) = rows.last() else {
            return Ok(());
        };
        let name = "time since the inference began [executed instructions]";
        chart::time_axis(sheet, last.frame, 0, length, name)
    })?;
    Ok(Figure {
        name: format!("inferences-{}", file_part(title, 60)),
        svg,
    })
}

/// Of what is to be seen.
fn legend(patches: &Patches) -> Vec<chart::Key> {
    let keys = [
        (Tint::InUse, "in use"),
        (Tint::Load, "load"),
        (Tint::Store, "store"),
        (Tint::Update, "update"),
        (Tint::LoadAndStore, "load and store"),
    ];
    let shown = keys.into_iter().filter(|&(tint, _)| patches.contain(tint));
    shown.map(|(tint, label)| chart::key(tint, label)).collect()
}

/// An inference with its place on the sheet.
struct Row<'a> {
    inference: InferencePanel<'a>,
    frame: Area,
    panel: Panel<'a>,
    spans: Spans,
    /// The names of its layers are above it: they are not those of the row above.
    named: bool,
}

fn rows<'a>(panels: &[InferencePanel<'a>], length: u64, extent: u64) -> Vec<Row<'a>> {
    let mut rows: Vec<Row<'a>> = Vec::new();
    let mut y = chart::HEADER;
    for &inference in panels {
        let spans = Spans::of(inference.canvas.profile(), length);
        let above = rows.iter().rev().find(|row| row.named);
        let named = above.is_none_or(|row| !row.spans.look_like(&spans));
        y += if named { spans.names_height() } else { 0 };
        let frame = chart::panel(y, HEIGHT);
        y = frame.bottom() + GAP;
        let part = inference.instructions() as f64 / length.max(1) as f64;
        let area = Area {
            width: ((part * f64::from(frame.width)).round() as i32).max(1),
            ..frame
        };
        let top = inference.arena_bytes() as f64 / extent as f64;
        let source = |region: &'a super::canvas::MemoryPanel| Source {
            raster: &region.raster,
            span: (0.0, top),
            flags: PLAIN,
        };
        let sources = inference.canvas.regions().first().map(source);
        rows.push(Row {
            inference,
            frame,
            panel: Panel {
                area,
                sources: sources.into_iter().collect(),
            },
            spans,
            named,
        });
    }
    rows
}

impl Row<'_> {
    /// Ticks and grid lines.
    fn ground(&self, sheet: &mut Sheet<'_>, extent: u64) -> Drawn {
        let frame = self.frame;
        chart::grid(sheet, frame, extent, 34)?;
        let name = "offset in the arena, in bytes";
        chart::vertical_name(sheet, frame.y, frame.bottom(), name)
    }

    /// A line at the arena's end, and a faint one at that of the inference compared with.
    fn arena(&self, sheet: &mut Sheet<'_>, extent: u64, other: Option<(&str, u64)>) -> Drawn {
        let frame = self.frame;
        let arena = self.inference.arena_bytes();
        let line = |bytes: u64| chart::y_of(frame, bytes as f64, extent);
        let label = |sheet: &mut Sheet<'_>, text: &str, y: i32, colour: Colour| {
            let text = shorten(text, LABEL, f64::from(frame.width - 20));
            let middle = frame.right() - 8 - (width(&text, LABEL) / 2.0).ceil() as i32;
            let at = (middle, (y - 11).max(frame.y + 11));
            sheet.plaque(&text, at, Type::centred(LABEL).colour(colour))
        };
        let y = line(arena);
        let mut saved = String::new();
        if let Some((title, other)) = other {
            let other_y = line(other);
            if y - other_y >= 20 {
                sheet.dashes((frame.x, frame.right()), other_y, Colour::FRAME)?;
                let text = format!("{title}: {}", bytes(other));
                label(sheet, &text, other_y, Colour::FAINT)?;
            }
            saved = saving(other, arena);
        }
        sheet.dashes((frame.x, frame.right()), y, Colour::INK)?;
        let text = format!("{}: {}{saved}", self.inference.title, bytes(arena));
        label(sheet, &text, y, Colour::INK)
    }
}
