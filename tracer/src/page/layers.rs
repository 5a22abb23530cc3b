//! The model's operators as rows: an operator that is computed in tiles is one row.

use super::map::ArenaMap;
use super::text;
use dmo_analysis::graph::{Graph, OperatorId};
use dmo_analysis::transform::macs;
use serde::Serialize;
use std::collections::HashMap;

/// An operator of the model.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct LayerRow {
    /// The model's operator.
    pub operator: usize,
    /// What it computes.
    pub kind: String,
    /// The function that computes it; `None` if no kernel was asked.
    pub function: Option<String>,
    /// First and last step in which it runs.
    pub steps: [u32; 2],
    /// In how many parts it is computed.
    pub parts: u64,
    /// Multiply-accumulates of all parts.
    pub macs: u64,
    /// Most bytes of the arena that are in use while it runs.
    pub in_use_bytes: u64,
    /// It runs while the arena is in use up to its end.
    pub is_at_end: bool,
    /// Most bytes of scratch memory of a part.
    pub scratch_bytes: u64,
    /// Instructions of all parts; `None` if they were not counted.
    pub instructions: Option<u64>,
    /// Estimated cycles of all parts, in words; `None` if they are not known.
    pub cycles: Option<String>,
    /// The deepest stack, in bytes; `None` if it is not known.
    pub stack_bytes: Option<u64>,
}

/// What was measured of one part of an operator.
#[derive(Debug, Clone, Default)]
pub struct MeasuredPart {
    /// The function that computes it.
    pub function: Option<String>,
    /// Instructions of one call.
    pub instructions: Option<u64>,
    /// Estimated cycles of one call.
    pub cycles: Option<crate::mcu::cycles::Cycles>,
    /// The deepest stack, in bytes.
    pub stack_bytes: Option<u64>,
}

/// A row for each operator of the model; `measured` says what is known of its parts.
pub fn rows(
    graph: &Graph,
    map: &ArenaMap,
    measured: &HashMap<OperatorId, MeasuredPart>,
) -> Vec<LayerRow> {
    let usage = usage(map);
    let mut rows: Vec<LayerRow> = Vec::new();
    let mut row_of: HashMap<usize, usize> = HashMap::new();
    let mut cycles: HashMap<usize, crate::mcu::cycles::Cycles> = HashMap::new();
    for (index, &[operator, kind, of]) in map.operators.iter().enumerate() {
        let Some(node) = graph.operators.get(operator) else {
            continue;
        };
        let step = index + 1;
        let place = *row_of.entry(of).or_insert_with(|| {
            rows.push(LayerRow {
                operator: of,
                kind: map.kinds[kind].clone(),
                steps: [step as u32; 2],
                ..LayerRow::default()
            });
            rows.len() - 1
        });
        let row = &mut rows[place];
        let kernel = node.kernel.as_ref();
        row.parts += 1;
        row.steps[1] = step as u32;
        row.macs += kernel.map_or(0, |kernel| macs::of_operator(&kernel.operator));
        let (bytes, end) = usage.get(step).copied().unwrap_or_default();
        row.in_use_bytes = row.in_use_bytes.max(bytes);
        row.is_at_end |= end == map.arena_bytes;
        let scratch: u64 = node.scratch_bytes.iter().sum();
        row.scratch_bytes = row.scratch_bytes.max(scratch);
        if let Some(part) = measured.get(&OperatorId(operator)) {
            row.add(part);
            if let Some(of_part) = &part.cycles {
                let all = cycles.entry(place).or_insert(crate::mcu::cycles::Cycles {
                    total: 0,
                    base: 0,
                    ..*of_part
                });
                all.total += of_part.total;
                all.rough |= of_part.rough;
            }
        }
    }
    for (place, cycles) in cycles {
        let words = crate::words::cycles::total(Some(&cycles));
        rows[place].cycles = Some(words);
    }
    rows
}

impl LayerRow {
    fn add(&mut self, part: &MeasuredPart) {
        let function = part.function.as_deref().map(text::name);
        self.function = function.or(self.function.take());
        if let Some(instructions) = part.instructions {
            self.instructions = Some(self.instructions.unwrap_or(0) + instructions);
        }
        self.stack_bytes = self.stack_bytes.max(part.stack_bytes);
    }
}

/// For each step how many bytes are in use, those that two buffers have once, and where the last of
/// them ends.
fn usage(map: &ArenaMap) -> Vec<(u64, u64)> {
    let mut by_step: Vec<Vec<(u64, u64)>> = vec![Vec::new(); map.steps];
    for buffer in &map.buffers {
        let extent = (
            buffer.offset,
            buffer.offset.saturating_add(buffer.size_bytes),
        );
        let [first, last] = buffer.steps.map(|step| step as usize);
        for step in by_step.iter_mut().take(last + 1).skip(first) {
            step.push(extent);
        }
    }
    let used = |mut extents: Vec<(u64, u64)>| {
        extents.sort_unstable();
        let (mut bytes, mut reach) = (0, 0);
        for (start, end) in extents {
            bytes += end.saturating_sub(start.max(reach));
            reach = reach.max(end);
        }
        (bytes, reach)
    };
    by_step.into_iter().map(used).collect()
}
