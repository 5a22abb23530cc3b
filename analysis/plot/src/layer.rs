//! One layer: its tensors above each other, over the layer's time (Blacker et al.,
//! figure 3).

use super::canvas::LayerView;
use super::chart::{self, key};
use super::name::{element_type_name, figure_stem, role_name};
use super::paint::{Panel, Patches, Tint};
use super::sheet::{Area, Colour, Drawn, Sheet, draw as draw_sheet};
use super::{DrawError, Figure, Subject};
use dmo_analysis::profile::TensorProfile;
use dmo_analysis::trace::Role;
use dmo_analysis::wording::{bytes, counted};

/// Tensors in the picture, at most.
const MAX_PANELS: usize = 40;
/// Panels of inputs and outputs together, where there are few tensors.
const USUAL_HEIGHT: i32 = 520;
const LEAST_HEIGHT: i32 = 90;
/// Heights of the other panels.
const SMALL_HEIGHT: (i32, i32) = (36, 110);

pub(super) fn draw(subject: &Subject<'_>) -> Result<Vec<Figure>, DrawError> {
    let count = subject.canvas.profile().layers.len();
    subject
        .canvas
        .layers()
        .map(|layer| {
            Ok(Figure {
                name: figure_stem(&layer, count),
                svg: picture(subject, &layer)?,
            })
        })
        .collect()
}

fn picture(subject: &Subject<'_>, layer: &LayerView<'_>) -> Result<String, DrawError> {
    let shown = order(&layer.profile.tensors);
    let areas = stack(&shown, &layer.profile.tensors);
    let panels: Vec<Panel> = shown
        .iter()
        .zip(&areas)
        .map(|(&tensor, &area)| Panel::full(area, layer.raster(tensor)))
        .collect();
    let patches = Patches::of(&panels);
    let panels_wanted = layer
        .profile
        .tensors
        .iter()
        .filter(|tensor| has_panel(tensor));
    let left_out = panels_wanted.count() - shown.len();
    let lowest = areas.last().copied().unwrap_or(EMPTY);
    let note_height = if left_out > 0 { 20 } else { 0 };
    let size = (
        lowest.right() + chart::RIGHT,
        lowest.bottom() + chart::FOOTER + note_height,
    );
    draw_sheet(size, |sheet| {
        let title = format!(
            "{}: layer {}, {} ({}) on {}",
            subject.program.name,
            layer.number,
            layer.profile.name,
            layer.profile.operator,
            subject.program.cpu
        );
        let facts = format!(
            "{}, {}, {}",
            counted(layer.profile.instructions(), "instruction", "instructions"),
            counted(layer.profile.loads(), "load", "loads"),
            counted(layer.profile.stores(), "store", "stores"),
        );
        chart::header(sheet, &title, &legend(&patches), &facts, lowest.right())?;
        if areas.is_empty() {
            chart::remark(sheet, lowest, "the layer has no tensors")?;
        }
        for (&tensor, &area) in shown.iter().zip(&areas) {
            ground(sheet, area, &layer.profile.tensors[tensor])?;
        }
        chart::patches(sheet, &patches.in_use)?;
        chart::patches(sheet, &patches.accesses)?;
        for (&tensor, &area) in shown.iter().zip(&areas) {
            sheet.frame(area, Colour::FRAME)?;
            let tensor = &layer.profile.tensors[tensor];
            if tensor.loads + tensor.stores == 0 {
                chart::remark(sheet, area, "never accessed by this layer")?;
            }
        }
        let name = "time since the layer began [executed instructions]";
        chart::time_axis(sheet, lowest, 0, layer.window.length(), name)?;
        let top = areas.first().copied().unwrap_or(EMPTY).y;
        chart::vertical_name(sheet, top, lowest.bottom(), "offset in the buffer [bytes]")?;
        if left_out > 0 {
            let note = format!(
                "{} not shown",
                counted(left_out as u64, "further tensor", "further tensors")
            );
            let area = Area {
                y: lowest.bottom() + chart::FOOTER + chart::HEADING,
                ..lowest
            };
            chart::heading(sheet, area, "", &note)?;
        }
        Ok(())
    })
}

/// Where the panels of a layer without tensors would be.
const EMPTY: Area = chart::panel(chart::HEADER + chart::HEADING, LEAST_HEIGHT);

/// What the colours of [`Tint`] mean in most pictures.
pub(super) fn legend(patches: &Patches) -> Vec<chart::Key> {
    let mut legend = vec![
        key(Tint::InUse, "in use"),
        key(Tint::Load, "load"),
        key(Tint::Store, "store"),
        key(Tint::Update, "update"),
    ];
    if patches.contain(Tint::LoadAndStore) {
        legend.push(key(Tint::LoadAndStore, "load and store"));
    }
    legend
}

/// What a layer does not list is shown only where it was touched all the same.
fn has_panel(tensor: &TensorProfile) -> bool {
    tensor.tensor.role != Role::Unlisted || tensor.loads + tensor.stores > 0
}

/// Inputs, outputs, scratch, constants, state; within a role in the layer's order.
fn order(tensors: &[TensorProfile]) -> Vec<usize> {
    let rank = |role| match role {
        Role::Input => 0,
        Role::Output => 1,
        Role::Scratch => 2,
        Role::Constant => 3,
        Role::State => 4,
        Role::Unlisted => 5,
    };
    let mut order: Vec<usize> = (0..tensors.len())
        .filter(|&index| has_panel(&tensors[index]))
        .collect();
    order.sort_by_key(|&index| rank(tensors[index].tensor.role));
    order.truncate(MAX_PANELS);
    order
}

/// Places the panels. Inputs and outputs share most of the height; larger tensors get
/// higher panels, by the square root of their size.
fn stack(shown: &[usize], tensors: &[TensorProfile]) -> Vec<Area> {
    let weight = |index: usize| f64::from(tensors[index].tensor.size_bytes).sqrt();
    let is_main = |index: usize| matches!(tensors[index].tensor.role, Role::Input | Role::Output);
    let largest = shown.iter().map(|&index| weight(index)).fold(1.0, f64::max);
    let small = |index: usize| {
        let (least, most) = SMALL_HEIGHT;
        least + (f64::from(most - least) * weight(index) / largest) as i32
    };
    let others = shown.iter().filter(|&&index| !is_main(index));
    let others_height: i32 = others.map(|&index| small(index)).sum();
    let main: Vec<usize> = shown
        .iter()
        .copied()
        .filter(|&index| is_main(index))
        .collect();
    let main_weight: f64 = main.iter().map(|&index| weight(index)).sum();
    let spare = (USUAL_HEIGHT - others_height - LEAST_HEIGHT * main.len() as i32).max(0);
    let mut y = chart::HEADER;
    shown
        .iter()
        .map(|&index| {
            let height = if is_main(index) {
                LEAST_HEIGHT + (f64::from(spare) * weight(index) / main_weight) as i32
            } else {
                small(index)
            };
            let area = chart::panel(y + chart::HEADING, height);
            y = area.bottom() + 6;
            area
        })
        .collect()
}

/// Heading, ticks and grid lines of a tensor's panel.
fn ground(sheet: &mut Sheet<'_>, area: Area, profile: &TensorProfile) -> Drawn {
    let tensor = &profile.tensor;
    let size = u64::from(tensor.size_bytes);
    let facts = format!(
        " ({}, {}, {}): {}, {}",
        role_name(tensor.role),
        bytes(size),
        element_type_name(tensor.element_type),
        counted(profile.loads, "load", "loads"),
        counted(profile.stores, "store", "stores"),
    );
    chart::heading(sheet, area, &tensor.name, &facts)?;
    chart::grid(sheet, area, size, 28)
}
