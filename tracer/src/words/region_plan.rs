//! The plan of a model in several memories in words, as JSON and as C.

use super::integer_io;
use super::regions::remarks;
use super::report::Report;
use super::{names, table};
use crate::study::placed::PlacedModel;
use crate::study::plan::Planned;
use crate::study::source::Source;
use dmo_analysis::arena::Layout;
use dmo_analysis::graph::{OperatorId, TensorId};
use dmo_analysis::handover::{PlannedKernels, RegionHeader};
use dmo_analysis::transform::Recipe;
use dmo_analysis::transform::integer_io::IntegerIoReport;
use dmo_analysis::wording::grouped;
use dmo_planner::regions::{ArenaRegion, RegionOffset};
use schemars::JsonSchema;
use serde::Serialize;

/// A model's tensors in several memories.
#[derive(JsonSchema, Serialize)]
pub struct RegionReport<'a> {
    model: &'a str,
    model_sha256: Option<&'a str>,
    overlap: &'static str,
    /// The kernels that the overlaps were measured on.
    #[serde(skip_serializing_if = "Option::is_none")]
    kernels: Option<&'a PlannedKernels>,
    /// SHA-256 of the model's file without the conversions at its ends, where they are left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    integer_io_sha256: Option<&'a String>,
    /// Which ends of the model are integers and were floats.
    #[serde(skip_serializing_if = "Option::is_none")]
    integer_io: Option<&'a IntegerIoReport>,
    /// SHA-256 of the file that pruning makes of the model's, where it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pruned_sha256: Option<&'a String>,
    /// What is done to the model first: order and tensors are those of what comes of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    recipe: Option<&'a Recipe>,
    layout: Layout,
    /// What one memory would need.
    arena_bytes: u64,
    /// What all accesses cost, in cycles.
    cost: u64,
    /// No plan for this order costs less.
    cost_bound: u64,
    /// Operators whose accesses are assumed.
    assumed: &'a [OperatorId],
    order: &'a [OperatorId],
    regions: Vec<Used<'a>>,
    tensors: Vec<Placed<'a>>,
    scratch: Vec<PlacedScratch>,
    /// The files that were written.
    #[serde(skip)]
    pub written: Vec<String>,
    /// What to do with the plan, a sentence without its full stop.
    #[serde(skip)]
    pub next: Option<String>,
}

#[derive(JsonSchema, Serialize)]
struct Used<'a> {
    #[serde(flatten)]
    region: &'a ArenaRegion,
    used_bytes: u64,
    /// Where it has to begin: at a multiple of this many bytes.
    #[serde(skip)]
    alignment_bytes: u64,
    tensors: usize,
    accesses: u64,
}

#[derive(JsonSchema, Serialize)]
struct Placed<'a> {
    tensor: TensorId,
    name: &'a str,
    size_bytes: u64,
    /// It lies within another tensor.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_part: bool,
    /// To the buffer that it lies in.
    accesses: u64,
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

impl<'a> RegionReport<'a> {
    /// The report of a plan whose tensors were placed.
    pub fn new(source: &'a Source, planned: &'a Planned, found: &'a PlacedModel) -> Self {
        let graph = &planned.overlaps.graph;
        let known = found.tensors.iter().zip(&found.accesses_of).enumerate();
        let tensors = known.filter_map(|(index, (place, accesses))| {
            let tensor = &graph.tensors[index];
            Some(Placed {
                tensor: TensorId(index),
                name: &tensor.name,
                size_bytes: tensor.size_bytes,
                is_part: graph.views.contains_key(&TensorId(index)),
                accesses: (*accesses)?,
                place: (*place)?,
            })
        });
        let tensors: Vec<Placed<'_>> = tensors.collect();
        let scratch = found.scratch.iter();
        let scratch = scratch.map(|&(operator, index, place, size_bytes)| PlacedScratch {
            operator,
            index,
            size_bytes,
            place,
        });
        let used = found.regions.iter().enumerate().map(|(index, known)| {
            let inside = |tensor: &&Placed<'_>| tensor.place.region == index;
            Used {
                region: &known.region,
                used_bytes: known.used_bytes,
                alignment_bytes: known.alignment,
                tensors: tensors.iter().filter(inside).count(),
                accesses: found.accesses[index],
            }
        });
        Self {
            model: &source.name,
            model_sha256: source.sha256.as_deref(),
            overlap: planned.overlaps.kind.name(),
            kernels: planned.file.kernels.as_ref(),
            integer_io_sha256: planned.file.integer_io_sha256.as_ref(),
            integer_io: source.integer_io(),
            pruned_sha256: planned.file.pruned_sha256.as_ref(),
            recipe: planned.file.recipe.as_ref(),
            layout: planned.file.layout,
            arena_bytes: planned.plan.arena_bytes,
            cost: found.cost,
            cost_bound: found.bound,
            assumed: &found.assumed,
            order: &planned.plan.order,
            regions: used.collect(),
            scratch: scratch.collect(),
            tensors,
            written: Vec::new(),
            next: None,
        }
    }
}

impl RegionReport<'_> {
    /// The plan as C: an array for each memory, and the tensors' offsets.
    pub fn header(&self, planned: &Planned, found: &PlacedModel) -> String {
        let regions = self.regions.iter();
        let regions = regions.map(|used| (used.region, used.used_bytes, used.alignment_bytes));
        let tensors = planned.overlaps.graph.tensors.iter().zip(&found.tensors);
        let safe = names::safe_with(self.overlap, self.kernels, false);
        let header = RegionHeader {
            model: self.model,
            safe: &safe,
            regions: regions.collect(),
            tensors: tensors.map(|(it, place)| (&*it.name, *place)).collect(),
            order: self.order,
            scratch: found.scratch.clone(),
        };
        header.text()
    }

    /// What the accesses cost, and what of that is proven.
    fn cost(&self) -> String {
        let cost = grouped(self.cost);
        if self.cost == self.cost_bound {
            return format!(
                "{cost} cycles for all accesses, proven: none for this order needs less"
            );
        }
        let gap = (self.cost - self.cost_bound) as f64 / self.cost_bound.max(1) as f64;
        format!(
            "{cost} cycles for all accesses, the best found; at least {} are needed, {:.1} % less",
            grouped(self.cost_bound),
            100.0 * gap / (1.0 + gap)
        )
    }
}

impl Report for RegionReport<'_> {
    const SCHEMA: &'static str = "dmo-trace/regions/2";

    fn text(&self) -> String {
        let rows = self.regions.iter().map(|used| {
            [
                used.region.name.clone(),
                grouped(used.region.capacity_bytes),
                grouped(used.region.access_cost.into()),
                grouped(used.used_bytes),
                grouped(used.tensors as u64),
                grouped(used.accesses),
            ]
        });
        let mut text = format!(
            "{}: {} bytes if all were in one region\n\n{}\n\nCost: {}\n",
            self.model,
            grouped(self.arena_bytes),
            table(
                ["region", "bytes", "cycles", "used", "tensors", "accesses"],
                1..6,
                rows
            ),
            self.cost()
        );
        let elsewhere = |tensor: &&Placed<'_>| tensor.place.region > 0;
        for tensor in self.tensors.iter().filter(elsewhere) {
            text += &format!(
                "\n{}: tensor {} {:?}, {} bytes at {}, {} accesses",
                self.regions[tensor.place.region].region.name,
                tensor.tensor.0,
                tensor.name,
                grouped(tensor.size_bytes),
                grouped(tensor.place.offset),
                grouped(tensor.accesses)
            );
        }
        let ends = self.integer_io.map(integer_io::sentence);
        let remarks = remarks(self.overlap, self.kernels, self.assumed.len());
        for sentence in ends.into_iter().chain(remarks) {
            let gap = if text.ends_with('\n') { "\n" } else { "\n\n" };
            text += &format!("{gap}{sentence}");
        }
        text += "\n";
        let written = self.written.iter().map(|path| format!("Written: {path}"));
        let next = self.next.iter().map(|step| format!("Next: {step}."));
        let lines: Vec<String> = written.chain(next).collect();
        if !lines.is_empty() {
            text += &format!("\n{}\n", lines.join("\n"));
        }
        text
    }
}
