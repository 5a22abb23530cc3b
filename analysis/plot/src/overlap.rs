//! One input placed on the end of one output (Blacker et al., figure 4).

use super::callout::callouts;
use super::canvas::LayerView;
use super::chart::{self, key};
use super::name::{figure_stem, file_part};
use super::paint::{PLAIN, Panel, Patch, Patches, Source, Tint, flag};
use super::sheet::{Area, Colour, Drawn, Sheet, Type, draw as draw_sheet};
use super::text::{shorten, wrap};
use super::{DrawError, Figure, Subject};
use dmo_analysis::profile::Pair;
use dmo_analysis::profile::overlap::{Access, Binding};
use dmo_analysis::trace::Locations;
use dmo_analysis::wording::{bytes, grouped};
use std::collections::HashSet;

/// Right of the panel: the extents of the buffers and the dimensions.
const RIGHT: i32 = 190;
const HEIGHT: i32 = 440;
const LINE: i32 = 17;
const MAX_VERDICT_LINES: usize = 3;
const HATCH: usize = 14;

/// The output's loads are left out: what it loads is its own, at any displacement.
const OUTPUT_FLAGS: [u8; 4] = [0, flag::STORE, flag::UPDATE, flag::OUTPUT_IN_USE];

const AREA: Area = chart::panel(chart::HEADER, HEIGHT);

pub(super) fn draw(subject: &Subject<'_>) -> Result<Vec<Figure>, DrawError> {
    let count = subject.canvas.profile().layers.len();
    let mut figures = Vec::new();
    for layer in subject.canvas.layers() {
        // Different tensors may come to the same part of a file name.
        let mut names = HashSet::new();
        for pair in &layer.profile.pairs {
            let view = PairView::new(&layer, pair);
            let stem = format!(
                "{}-overlap-{}-{}",
                figure_stem(&layer, count),
                file_part(view.input_name, 24),
                file_part(view.output_name, 24)
            );
            let mut name = stem.clone();
            let mut copy = 2;
            while !names.insert(name.to_ascii_lowercase()) {
                name = format!("{stem}-{copy}");
                copy += 1;
            }
            let svg = view.picture(subject)?;
            figures.push(Figure { name, svg });
        }
    }
    Ok(figures)
}

/// A pair and its geometry: everything in bytes from the start of the output.
struct PairView<'a> {
    layer: &'a LayerView<'a>,
    pair: &'a Pair,
    input_name: &'a str,
    output_name: &'a str,
    output_size: u64,
    /// The displacement S.
    input_start: u64,
    input_end: u64,
    extent: u64,
}

impl<'a> PairView<'a> {
    fn new(layer: &'a LayerView<'a>, pair: &'a Pair) -> Self {
        let input = &layer.profile.tensors[pair.input].tensor;
        let output = &layer.profile.tensors[pair.output].tensor;
        let input_start = u64::from(pair.displacement_bytes);
        let input_end = input_start + u64::from(input.size_bytes);
        let output_size = u64::from(output.size_bytes);
        Self {
            layer,
            pair,
            input_name: &input.name,
            output_name: &output.name,
            output_size,
            input_start,
            input_end,
            extent: output_size.max(input_end),
        }
    }

    /// End of the bytes that both buffers cover.
    fn band_end(&self) -> u64 {
        self.output_size.min(self.input_end)
    }

    fn y(&self, byte: u64) -> i32 {
        chart::y_of(AREA, byte as f64, self.extent)
    }

    fn x(&self, access: Access) -> i32 {
        let window = self.layer.window;
        let since = access.time.saturating_sub(window.begin());
        let part = (since as f64 - 0.5) / window.length() as f64;
        let x = (part.clamp(0.0, 1.0) * f64::from(AREA.width)) as i32;
        AREA.x + x
    }

    fn picture(&self, subject: &Subject<'_>) -> Result<String, DrawError> {
        let part = |byte: u64| byte as f64 / self.extent as f64;
        let panel = Panel {
            area: AREA,
            sources: vec![
                Source {
                    raster: self.layer.raster(self.pair.output),
                    span: (0.0, part(self.output_size)),
                    flags: OUTPUT_FLAGS,
                },
                Source {
                    raster: self.layer.raster(self.pair.input),
                    span: (part(self.input_start), part(self.input_end)),
                    flags: PLAIN,
                },
            ],
        };
        let patches = Patches::of(&[panel]);
        let caption = self.caption(subject.locations);
        let right = AREA.right() + RIGHT;
        let bottom = AREA.bottom() + chart::FOOTER;
        let size = (right, bottom + LINE * caption.len() as i32 + 6);
        draw_sheet(size, |sheet| {
            let title = format!(
                "{}: layer {}, {} ({}) on {}: {} on {}",
                subject.program.name,
                self.layer.number,
                self.layer.profile.name,
                self.layer.profile.operator,
                subject.program.cpu,
                called("input", self.input_name),
                called("output", self.output_name),
            );
            chart::header(sheet, &title, &legend(&patches), "", right - 12)?;
            chart::grid(sheet, AREA, self.extent, 30)?;
            let band = self.band();
            sheet.fill_through(band, Colour::BAND, 0.08)?;
            chart::patches(sheet, &patches.in_use)?;
            hatch(sheet, band)?;
            for y in [band.y, band.bottom()] {
                sheet.dashes((AREA.x, AREA.right()), y, Colour::BAND)?;
            }
            chart::patches(sheet, &patches.accesses)?;
            sheet.frame(AREA, Colour::FRAME)?;
            if let Some(binding) = self.pair.binding {
                self.mark(sheet, binding, &patches.accesses)?;
            }
            self.dimensions(sheet)?;
            let name = "time since the layer began [executed instructions]";
            chart::time_axis(sheet, AREA, 0, self.layer.window.length(), name)?;
            let name = "bytes from the start of the output";
            chart::vertical_name(sheet, AREA.y, AREA.bottom(), name)?;
            let mut y = bottom + LINE / 2;
            for line in &caption {
                sheet.text(line, (AREA.x, y), Type::left(chart::BODY))?;
                y += LINE;
            }
            Ok(())
        })
    }

    /// The part of the panel that both buffers cover; flat where there is none.
    fn band(&self) -> Area {
        let (low, high) = (self.y(self.input_start), self.y(self.band_end()));
        Area {
            y: high,
            height: low - high,
            ..AREA
        }
    }

    /// Points out the binding store and load.
    fn mark(&self, sheet: &mut Sheet<'_>, binding: Binding, shown: &[Patch]) -> Drawn {
        let Binding { store, load } = binding;
        let store_end = u64::from(store.offset) + u64::from(store.size_bytes);
        let load_start = self.input_start + u64::from(load.offset);
        let points = [
            ((self.x(store), self.y(store_end)), "binding store"),
            ((self.x(load), self.y(load_start)), "binding load"),
        ];
        callouts(sheet, AREA, points, "binding store and load", shown)
    }

    /// The extents of the buffers, O_s and S, right of the panel.
    fn dimensions(&self, sheet: &mut Sheet<'_>) -> Drawn {
        let x = AREA.right() + 14;
        let buffers = [
            (
                x,
                0,
                self.output_size,
                "output",
                self.output_name,
                Tint::Store,
            ),
            (
                x + 26,
                self.input_start,
                self.input_end,
                "input",
                self.input_name,
                Tint::Load,
            ),
        ];
        for (x, from, to, role, name, tint) in buffers {
            let (low, high) = (self.y(from), self.y(to));
            let height = (low - high).max(2);
            let bar = Area {
                x,
                y: low - height,
                width: 5,
                height,
            };
            sheet.fill(bar, tint.colour())?;
            let name = called(role, name);
            let room = f64::from(height);
            if room >= 44.0 {
                let set = Type::centred(chart::BODY).turned();
                let name = shorten(&name, chart::BODY, room);
                sheet.text(&name, (x + 13, (low + high) / 2), set)?;
            }
        }
        let x = x + 58;
        let overlap = u64::from(self.pair.observed_overlap_bytes);
        let (low, high) = (self.band().bottom(), self.band().y);
        let middle = ((low + high) / 2).clamp(AREA.y + 16, AREA.bottom() - 16);
        if overlap > 0 {
            arrow(sheet, x, high, low, Colour::BAND)?;
        }
        let label = if self.pair.refusals.is_empty() {
            "O_s ="
        } else {
            "not granted:"
        };
        self.dimension_label(sheet, (x + 12, middle), label, overlap)?;
        let bottom = self.y(0);
        let lower_middle = (low + bottom) / 2;
        if self.input_start > 0 && lower_middle - middle >= 40 && bottom - low >= 24 {
            arrow(sheet, x, low, bottom, Colour::FAINT)?;
            self.dimension_label(sheet, (x + 12, lower_middle), "S =", self.input_start)?;
        }
        Ok(())
    }

    fn dimension_label(
        &self,
        sheet: &mut Sheet<'_>,
        (x, y): (i32, i32),
        label: &str,
        count: u64,
    ) -> Drawn {
        let set = Type::left(chart::BODY);
        sheet.text(label, (x, y - 8), set)?;
        sheet.text(&bytes(count), (x, y + 8), set)
    }

    /// The verdict and its evidence, in lines that fit.
    fn caption(&self, locations: &Locations) -> Vec<String> {
        let room = f64::from(AREA.width + RIGHT - 12);
        let pair = self.pair;
        let observed = u64::from(pair.observed_overlap_bytes);
        let displacement = bytes(self.input_start);
        let mut lines = if pair.refusals.is_empty() {
            let verdict = format!(
                "Safe overlap O_s = {}, {:.1} % of the smaller buffer: the input starts {displacement} after the output (S).",
                bytes(u64::from(pair.safe_overlap_bytes)),
                pair.percent(self.layer.profile),
            );
            vec![verdict]
        } else {
            let reasons: Vec<String> = pair.refusals.iter().map(ToString::to_string).collect();
            let verdict = format!("no overlap granted: {}.", reasons.join("; "));
            let mut lines = wrap(&verdict, chart::BODY, room, MAX_VERDICT_LINES);
            lines.push(format!(
                "Drawn with the overlap of this trace, {} (S = {displacement}).",
                bytes(observed)
            ));
            lines
        };
        match &pair.binding {
            Some(Binding { store, load }) => {
                lines.push(self.evidence("store", "output", *store, locations));
                lines.push(self.evidence("load", "input", *load, locations));
            }
            None => lines.push(
                "No load of the input comes after a store that would hit it, even at S = 0."
                    .to_owned(),
            ),
        }
        lines
            .iter()
            .map(|line| shorten(line, chart::BODY, room).into_owned())
            .collect()
    }

    fn evidence(&self, verb: &str, role: &str, access: Access, locations: &Locations) -> String {
        let since = access.time.saturating_sub(self.layer.window.begin());
        let first = u64::from(access.offset);
        let last = (first + u64::from(access.size_bytes)).saturating_sub(1);
        let place = if last > first {
            format!("bytes {} to {}", grouped(first), grouped(last))
        } else {
            format!("byte {}", grouped(first))
        };
        let mut text = format!(
            "Binding {verb}: {role} {place} at instruction {}, pc {}",
            grouped(since),
            access.pc,
        );
        if let Some(location) = locations.get(&access.pc) {
            text.push_str(&format!(": {location}"));
            if let (Some(function), Some(_)) = (&location.function, &location.file) {
                text.push_str(&format!(" in {function}"));
            }
            if let Some(disassembly) = &location.disassembly {
                text.push_str(&format!(": {disassembly}"));
            }
        }
        text
    }
}

/// The role, and the name where that says more.
fn called(role: &str, name: &str) -> String {
    if name == role {
        role.to_owned()
    } else {
        format!("{role} {name}")
    }
}

fn legend(patches: &Patches) -> Vec<chart::Key> {
    let mut legend = vec![
        key(Tint::InUse, "input in use"),
        key(Tint::Load, "input loaded"),
        key(Tint::OutputInUse, "output in use"),
        key(Tint::Store, "output stored"),
    ];
    if patches.contain(Tint::Update) {
        legend.push(key(Tint::Update, "updated"));
    }
    if patches.contain(Tint::LoadAndStore) {
        legend.push(key(Tint::LoadAndStore, "load and store"));
    }
    legend.push((Colour::BAND.into(), "bytes of both buffers"));
    legend
}

/// Slanting lines.
fn hatch(sheet: &mut Sheet<'_>, band: Area) -> Drawn {
    let (low, height) = (band.bottom(), band.height);
    if height <= 0 {
        return Ok(());
    }
    for start in (band.x - height..band.right()).step_by(HATCH) {
        let (left, right) = (start.max(band.x), (start + height).min(band.right()));
        let (from, to) = ((left, low - (left - start)), (right, low - (right - start)));
        sheet.line(from, to, Colour::BAND, 0.5)?;
    }
    Ok(())
}

/// A dimension: a vertical line with bars at its ends, and heads where there is room.
fn arrow(sheet: &mut Sheet<'_>, x: i32, top: i32, bottom: i32, colour: Colour) -> Drawn {
    let stroke = Area {
        x: x - 1,
        y: top,
        width: 2,
        height: (bottom - top).max(1),
    };
    sheet.fill(stroke, colour)?;
    for y in [top, bottom] {
        sheet.line((x - 6, y), (x + 6, y), colour, 1.0)?;
    }
    if bottom - top >= 24 {
        sheet.polygon(&[(x, top), (x - 5, top + 10), (x + 5, top + 10)], colour)?;
        sheet.polygon(
            &[(x, bottom), (x - 5, bottom - 10), (x + 5, bottom - 10)],
            colour,
        )?;
    }
    Ok(())
}
