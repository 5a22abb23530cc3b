//! The picture of a whole inference over its arena, without overlaps and in the plan.

use crate::cli::{pictures, progress};
use anyhow::Context;
use dmo_analysis::arena::Layout;
use dmo_analysis::graph::{OperatorId, overlaps};
use dmo_analysis::optimise::{Task, optimise};
use dmo_analysis::profile::{Observer, Profile, Profiler};
use dmo_analysis::wording::grouped;
use dmo_plot::{Canvas, InferencePanel, draw_inferences};
use dmo_trace::mcu::machine::Limits;
use dmo_trace::model::recording::{ARENA, RecordedLayout, record};
use dmo_trace::model::verify::Subject;
use dmo_trace::model::{Deployment, Placement};
use dmo_trace::study::search_time::within_time;
use dmo_trace::study::verify::Verified;
use indicatif::ProgressBar;
use std::path::Path;
use std::time::Duration;

/// What the search for the smallest arena without overlaps may take.
const TIME: Duration = Duration::from_secs(2);

/// Draws both, one below the other.
pub fn draw(name: &str, verified: &Verified, limits: Limits, folder: &Path) -> anyhow::Result<()> {
    let (deployment, subject) = (verified.deployed.model(), &verified.subject());
    let safe = !verified.has_objections();
    let before = smallest_without_overlaps(deployment, subject, verified.plan.layout)?;
    let after = subject.placement;
    let bar = progress::bar("drawing");
    bar.set_length(2 * subject.order.len() as u64);
    let pass = Pass {
        deployment,
        order: subject.order,
        placements: [&before, after],
        limits,
        bar: &bar,
    };
    let mut profilers = [Profiler::<()>::default(), Profiler::default()];
    pass.run(&mut profilers)?;
    let profiles: [Profile; 2] = profilers.map(|profiler| profiler.finish().0);
    let canvas = |profile, placement: &Placement| -> anyhow::Result<Canvas<'_>> {
        let bytes = u32::try_from(placement.arena_bytes).context("the arena is too large")?;
        Ok(Canvas::of_memory(profile, ARENA, bytes))
    };
    let canvases = [canvas(&profiles[0], &before)?, canvas(&profiles[1], after)?];
    let mut profilers = canvases.map(Profiler::with_observer);
    pass.run(&mut profilers)?;
    bar.finish_and_clear();
    let canvases = profilers.map(|profiler| profiler.finish().1);
    let titles = if safe {
        ["no overlap", "this plan"]
    } else {
        ["no overlap", "UNSAFE plan"]
    };
    let panels = canvases.iter().zip(titles);
    let panels: Vec<InferencePanel> = panels
        .map(|(canvas, title)| InferencePanel { title, canvas })
        .collect();
    let title = format!(
        "{name} on {}: {} bytes without overlaps, {} in this plan{}",
        verified.kernels.cpu,
        grouped(before.arena_bytes),
        grouped(after.arena_bytes),
        if safe { "" } else { ", which is UNSAFE" }
    );
    let mut figure = draw_inferences(&title, &panels)?;
    "inference".clone_into(&mut figure.name);
    pictures::write_all(&[figure], folder)
}

/// One inference, seen in both layouts.
struct Pass<'a> {
    deployment: &'a Deployment<'a>,
    order: &'a [OperatorId],
    placements: [&'a Placement; 2],
    limits: Limits,
    bar: &'a ProgressBar,
}

impl Pass<'_> {
    fn run<O: Observer>(&self, profilers: &mut [Profiler<O>; 2]) -> anyhow::Result<()> {
        let views = profilers.iter_mut().zip(self.placements);
        let mut views: Vec<RecordedLayout> = views
            .map(|(sink, placement)| RecordedLayout { placement, sink })
            .collect();
        let mut reach = |_| self.bar.inc(1);
        record(
            self.deployment,
            self.order,
            &mut views,
            self.limits,
            &mut reach,
        )?;
        Ok(())
    }
}

fn smallest_without_overlaps(
    deployment: &Deployment,
    subject: &Subject,
    layout: Layout,
) -> anyhow::Result<Placement> {
    let graph = &deployment.graph;
    // In the plan's order, which is that of both pictures.
    let operators = subject.order.iter();
    let reordered = dmo_analysis::graph::Graph {
        operators: operators.map(|id| graph.operators[id.0].clone()).collect(),
        ..graph.clone()
    };
    let task = Task {
        graph: &reordered,
        overlaps: &overlaps::none(&reordered),
        layout,
        reorder: false,
        fixed: &[],
    };
    let plan = within_time(TIME, |budget| optimise(task, budget, &mut |_| ()))?;
    let mut scratch = vec![None; graph.operators.len()];
    for buffer in &plan.arena.scratch {
        let operator = subject.order[buffer.operator.0];
        scratch[operator.0] = Some(plan.plan.offsets[buffer.buffer]);
    }
    Ok(Placement {
        tensors: plan.arena.tensor_offsets(&plan.plan),
        scratch,
        arena_bytes: plan.arena_bytes,
    })
}
