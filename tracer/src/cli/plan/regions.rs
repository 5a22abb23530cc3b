//! `dmo-trace plan --region`: a model's buffers in several memories.

use super::{Arguments, Verdict};
use crate::cli::output;
use dmo_analysis::arena::Layout;
use dmo_analysis::graph::{OperatorId, TensorId};
use dmo_analysis::handover::PlannedKernels;
use dmo_analysis::wording::{grouped, parse_size};
use dmo_planner::regions::{ArenaRegion, RegionOffset};
use dmo_trace::study::error::EmitReason;
use dmo_trace::study::plan::Planned;
use dmo_trace::study::regions::{RegionPlan, place};
use dmo_trace::study::source::Source;
use dmo_trace::words::report::Report;
use dmo_trace::words::{names, table};
use schemars::JsonSchema;
use serde::Serialize;

/// `sram=64K`.
pub fn parse(text: &str) -> Result<ArenaRegion, String> {
    let (name, size) = text
        .split_once('=')
        .filter(|(name, _)| !name.is_empty())
        .ok_or_else(|| format!("'{text}' is not NAME=BYTES, for instance sram=64K"))?;
    Ok(ArenaRegion {
        name: name.to_owned(),
        capacity_bytes: parse_size(size)?,
    })
}

#[derive(JsonSchema, Serialize)]
pub struct RegionReport<'a> {
    model: &'a str,
    model_sha256: Option<&'a str>,
    overlap: &'static str,
    /// The kernels that the overlaps were measured on.
    #[serde(skip_serializing_if = "Option::is_none")]
    kernels: Option<&'a PlannedKernels>,
    layout: Layout,
    /// What one memory would need.
    arena_bytes: u64,
    order: &'a [OperatorId],
    regions: Vec<Used<'a>>,
    tensors: Vec<Placed<'a>>,
    scratch: Vec<PlacedScratch>,
}

#[derive(JsonSchema, Serialize)]
struct Used<'a> {
    #[serde(flatten)]
    region: &'a ArenaRegion,
    used_bytes: u64,
    tensors: usize,
}

#[derive(JsonSchema, Serialize)]
struct Placed<'a> {
    tensor: TensorId,
    name: &'a str,
    size_bytes: u64,
    #[serde(flatten)]
    place: RegionOffset,
}

#[derive(JsonSchema, Serialize)]
struct PlacedScratch {
    operator: OperatorId,
    index: usize,
    size_bytes: u64,
    #[serde(flatten)]
    place: RegionOffset,
}

/// Places the buffers of a planned order.
pub fn run(arguments: &Arguments, source: &Source, planned: &Planned) -> anyhow::Result<Verdict> {
    for path in &arguments.emit {
        if path.extension().is_none_or(|extension| extension != "json") {
            return Err(EmitReason::Regions.of(path).into());
        }
    }
    let regions = &arguments.region;
    let found = match place(source, planned, regions, arguments.time.0)? {
        Ok(found) => found,
        Err(error) => {
            output::message(&format!("dmo-trace: {}: {error}", source.name));
            return Ok(Verdict::Fails);
        }
    };
    let report = report(regions, source, planned, &found);
    let json = report.json()?;
    let files = arguments.emit.iter();
    output::write_all(files.map(|path| (path.as_path(), json.as_bytes())))?;
    output::report(&report, arguments.json)?;
    Ok(Verdict::Holds)
}

fn report<'a>(
    regions: &'a [ArenaRegion],
    source: &'a Source,
    planned: &'a Planned,
    found: &RegionPlan,
) -> RegionReport<'a> {
    let (graph, arena) = (&planned.overlaps.graph, &planned.plan.arena);
    let tensors = arena.buffer_of.iter().zip(&graph.tensors).enumerate();
    let tensors = tensors.filter_map(|(index, (buffer, tensor))| {
        Some(Placed {
            tensor: TensorId(index),
            name: &tensor.name,
            size_bytes: tensor.size_bytes,
            place: found.places[(*buffer)?],
        })
    });
    let tensors: Vec<Placed<'_>> = tensors.collect();
    let scratch = arena.scratch.iter().map(|scratch| PlacedScratch {
        operator: scratch.operator,
        index: scratch.index,
        size_bytes: graph.operators[scratch.operator.0].scratch_bytes[scratch.index],
        place: found.places[scratch.buffer],
    });
    let used = regions.iter().zip(&found.used_bytes).enumerate();
    let used = used.map(|(index, (region, &used_bytes))| {
        let inside = |tensor: &&Placed<'_>| tensor.place.region == index;
        Used {
            region,
            used_bytes,
            tensors: tensors.iter().filter(inside).count(),
        }
    });
    RegionReport {
        model: &source.name,
        model_sha256: source.sha256.as_deref(),
        overlap: planned.overlaps.kind.name(),
        kernels: planned.file.kernels.as_ref(),
        layout: planned.file.layout,
        arena_bytes: planned.plan.arena_bytes,
        order: &planned.plan.order,
        regions: used.collect(),
        scratch: scratch.collect(),
        tensors,
    }
}

impl Report for RegionReport<'_> {
    const SCHEMA: &'static str = "dmo-trace/regions/1";

    fn text(&self) -> String {
        let rows = self.regions.iter().map(|used| {
            [
                used.region.name.clone(),
                grouped(used.region.capacity_bytes),
                grouped(used.used_bytes),
                used.tensors.to_string(),
            ]
        });
        let mut text = format!(
            "{}: {} bytes if all were in one region\n\n{}\n",
            self.model,
            grouped(self.arena_bytes),
            table(["region", "bytes", "used", "tensors"], 1..4, rows)
        );
        let elsewhere = |tensor: &&Placed<'_>| tensor.place.region > 0;
        for tensor in self.tensors.iter().filter(elsewhere) {
            text += &format!(
                "\n{}: tensor {} {:?}, {} bytes at {}",
                self.regions[tensor.place.region].region.name,
                tensor.tensor.0,
                tensor.name,
                grouped(tensor.size_bytes),
                tensor.place.offset
            );
        }
        // Where kernels were measured their name is always worth knowing.
        if self.kernels.is_some() || self.overlap != "none" {
            text += &format!(
                "\n\n{}",
                names::safe_with(self.overlap, self.kernels, false)
            );
        }
        text + "\n"
    }
}
