//! Models, and plans of them.

use dmo_analysis::arena::{Arena, Layout};
use dmo_analysis::graph::tflite::{RuntimeKernels, offline_plan, parameters, read, with_plan};
use dmo_analysis::graph::zoo::{self, Element};
use dmo_analysis::graph::{Graph, overlaps};
use dmo_analysis::handover::{PlanFile, on_device};
use dmo_analysis::tflm::whole_arena;
use dmo_analysis::verify::{Positions, clashes};
use std::sync::LazyLock;

/// A `.tflite`: its graphs, parameters, carried plan, overlaps by formula, arena, and the
/// same model with a plan put in.
pub fn tflite(bytes: &[u8]) {
    let _ = offline_plan(bytes).map_err(|error| error.to_string());
    for kernels in [RuntimeKernels::Reference, RuntimeKernels::CmsisNn] {
        let _ = whole_arena(bytes, kernels).map_err(|error| error.to_string());
    }
    for subgraph in 0..2 {
        let _ = parameters(bytes, subgraph).map_err(|error| error.to_string());
    }
    let Ok(model) = read(bytes).map_err(|error| error.to_string()) else {
        return;
    };
    for graph in &model.graphs {
        for entry in &model.metadata {
            let _ = &bytes[entry.bytes.clone()];
        }
        let granted = overlaps::analytic(graph);
        let order = graph.file_order();
        let arena = Arena::new(graph, &order, &granted, Layout::tflm());
        let _ = arena.map(|arena| arena.problem.lower_bound());
        let _ = on_device(graph, &order, &vec![None; graph.tensors.len()], false);
    }
    let tensors = model.graphs.iter().map(|graph| graph.tensors.len()).sum();
    let offsets = vec![16; tensors];
    if let Ok(planned) = with_plan(bytes, None, &offsets) {
        let carried = offline_plan(&planned).expect("a model").expect("a plan");
        assert_eq!(carried.offsets, offsets);
    }
}

static GRAPH: LazyLock<Graph> = LazyLock::new(|| {
    let network = zoo::find("liberis_lane_figure_1").expect("a network");
    network.build(Element::Int8)
});

/// A plan.json: what is checked of it, and the C header that it makes, of which no text can
/// get out of its comment.
pub fn plan(bytes: &[u8]) {
    let graph = &*GRAPH;
    let Ok(plan) = serde_json::from_slice::<PlanFile>(bytes) else {
        return;
    };
    let tensors = graph.tensors.len();
    let (offsets, scratch) = (plan.offsets(tensors), plan.scratch_positions());
    let positions = Positions {
        tensors: &offsets,
        scratch: &scratch,
        keep_inputs: plan.layout.keep_inputs,
    };
    for granted in [overlaps::none(graph), overlaps::analytic(graph)] {
        let found = clashes(graph, &plan.order, &granted, positions, 100);
        let _ = found.map_err(|error| error.to_string());
    }
    let _ = on_device(graph, &plan.order, &offsets, plan.layout.keep_inputs)
        .map_err(|error| error.to_string());
    let header = plan.c_header(tensors);
    for part in header.split("/*").skip(1) {
        assert_eq!(part.matches("*/").count(), 1, "{header}");
    }
    assert!(
        !header.contains("??/") && !header.contains("\\\n"),
        "{header}"
    );
}
