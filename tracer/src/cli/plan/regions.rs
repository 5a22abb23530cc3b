//! `dmo-trace plan --region`: a model's buffers in several memories.

use super::source::Source;
use super::{Arguments, Verdict};
use crate::cli::output;
use anyhow::Context;
use dmo_analysis::arena::Layout;
use dmo_analysis::graph::{OperatorId, TensorId};
use dmo_analysis::handover::PlannedKernels;
use dmo_analysis::optimise::{ModelPlan, Task};
use dmo_analysis::verify::{Positions, clashes};
use dmo_analysis::wording::{grouped, parse_size};
use dmo_planner::plan::exact::Budget;
use dmo_planner::regions::{Place, Region, assign};
use dmo_trace::words::report::Report;
use dmo_trace::words::{names, table};
use serde::Serialize;
use std::time::{Duration, Instant};

/// `sram=64K`.
pub fn parse(text: &str) -> Result<Region, String> {
    let (name, size) = text
        .split_once('=')
        .filter(|(name, _)| !name.is_empty())
        .ok_or_else(|| format!("'{text}' is not NAME=BYTES, for instance sram=64K"))?;
    Ok(Region {
        name: name.to_owned(),
        capacity_bytes: parse_size(size)?,
    })
}

#[derive(Serialize)]
struct RegionReport<'a> {
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

#[derive(Serialize)]
struct Used<'a> {
    #[serde(flatten)]
    region: &'a Region,
    used_bytes: u64,
    tensors: usize,
}

#[derive(Serialize)]
struct Placed<'a> {
    tensor: TensorId,
    name: &'a str,
    size_bytes: u64,
    #[serde(flatten)]
    place: Place,
}

#[derive(Serialize)]
struct PlacedScratch {
    operator: OperatorId,
    index: usize,
    size_bytes: u64,
    #[serde(flatten)]
    place: Place,
}

/// Places the buffers of a planned order.
pub fn run(
    arguments: &Arguments,
    source: &Source,
    kernels: Option<&PlannedKernels>,
    task: Task<'_>,
    planned: &ModelPlan,
) -> anyhow::Result<Verdict> {
    for path in &arguments.emit {
        anyhow::ensure!(
            path.extension()
                .is_some_and(|extension| extension == "json"),
            "cannot emit {}: a plan of several regions is .json only",
            path.display()
        );
    }
    let problem = &planned.arena.problem;
    let start = Instant::now();
    let time = Duration::from_secs_f64(arguments.time);
    let mut stop = || start.elapsed() >= time;
    let regions = &arguments.region;
    for (index, region) in regions.iter().enumerate() {
        let same = |other: &Region| other.name == region.name;
        anyhow::ensure!(
            !regions[..index].iter().any(same),
            "--region {}: given twice",
            region.name
        );
    }
    let fits = planned.arena_bytes <= regions[0].capacity_bytes;
    let places = if fits {
        let offsets = planned.plan.offsets.iter();
        let place = |&offset: &u64| Place { region: 0, offset };
        Ok(offsets.map(place).collect())
    } else {
        assign(problem, regions, &mut Budget::new(&mut stop))
    };
    let places = match places {
        Ok(places) => places,
        Err(error) => {
            output::message(&format!("dmo-trace: {}: {error}", source.name));
            return Ok(Verdict::Fails);
        }
    };
    let report = RegionReport {
        kernels,
        ..report(arguments, source, task, planned, &places)
    };
    ensure_safe(task, regions, &report).with_context(|| source.name.clone())?;
    for path in &arguments.emit {
        output::write(path, report.json()?.as_bytes())?;
    }
    output::report(&report, arguments.json)?;
    Ok(Verdict::Holds)
}

fn report<'a>(
    arguments: &'a Arguments,
    source: &'a Source,
    task: Task<'a>,
    planned: &'a ModelPlan,
    places: &[Place],
) -> RegionReport<'a> {
    let arena = &planned.arena;
    let tensors = arena.buffer_of.iter().enumerate();
    let tensors: Vec<Placed<'_>> = tensors
        .filter_map(|(index, buffer)| {
            let tensor = &task.graph.tensors[index];
            Some(Placed {
                tensor: TensorId(index),
                name: &tensor.name,
                size_bytes: tensor.size_bytes,
                place: places[(*buffer)?],
            })
        })
        .collect();
    let scratch = arena.scratch.iter().map(|scratch| PlacedScratch {
        operator: scratch.operator,
        index: scratch.index,
        size_bytes: task.graph.operators[scratch.operator.0].scratch_bytes[scratch.index],
        place: places[scratch.buffer],
    });
    let regions = arguments.region.iter().enumerate().map(|(index, region)| {
        let buffers = arena.problem.buffers().iter().zip(places);
        let ends = buffers
            .filter(|(_, place)| place.region == index)
            .map(|(buffer, place)| place.offset + buffer.size_bytes);
        Used {
            region,
            used_bytes: ends.max().unwrap_or(0),
            tensors: tensors
                .iter()
                .filter(|tensor| tensor.place.region == index)
                .count(),
        }
    });
    RegionReport {
        model: &source.name,
        model_sha256: source.sha256.as_deref(),
        overlap: arguments.kernels.overlap().name(),
        kernels: None,
        layout: task.layout,
        arena_bytes: planned.arena_bytes,
        order: &planned.order,
        regions: regions.collect(),
        scratch: scratch.collect(),
        tensors,
    }
}

/// As for one arena, with the regions one above the other.
fn ensure_safe(
    task: Task<'_>,
    regions: &[Region],
    report: &RegionReport<'_>,
) -> anyhow::Result<()> {
    let mut bases = Vec::with_capacity(regions.len());
    let mut end = 0_u64;
    for region in &report.regions {
        anyhow::ensure!(
            region.used_bytes <= region.region.capacity_bytes,
            "region {} overflows, please report this",
            region.region.name
        );
        bases.push(end);
        end = end.saturating_add(region.used_bytes);
    }
    let address = |place: Place| bases[place.region] + place.offset;
    let mut tensors = vec![None; task.graph.tensors.len()];
    for tensor in &report.tensors {
        tensors[tensor.tensor.0] = Some(address(tensor.place));
    }
    let scratch: Vec<_> = report
        .scratch
        .iter()
        .map(|scratch| (scratch.operator, address(scratch.place), scratch.size_bytes))
        .collect();
    let positions = Positions {
        tensors: &tensors,
        scratch: &scratch,
        keep_inputs: task.layout.keep_inputs,
    };
    let found = clashes(task.graph, report.order, task.overlaps, positions, 1)?;
    anyhow::ensure!(
        found.is_empty(),
        "the plan found does not pass its check, please report this: {found:?}"
    );
    Ok(())
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
            text += &format!("\n\n{}", names::safe_with(self.kernels, false));
        }
        text + "\n"
    }
}
