//! When the bytes of each tensor are stored and loaded, of a given order.

use crate::graph::{Graph, OperatorId, Storage, TensorId, TensorView};
use crate::schedule::dataflow::Dataflow;
use crate::schedule::{CountedEnds, ScheduleError};
use crate::trace::AccessKind;
use std::ops::Range;

/// Bytes of a tensor that a step stores or loads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Use {
    /// 0 is when the application stores the graph's inputs, operators follow from 1 on, the
    /// last is when the application reads the graph's outputs.
    pub step: usize,
    /// Load or store.
    pub kind: AccessKind,
    /// The tensor that the operator knows: it, or a view of it.
    pub tensor: TensorId,
    /// The bytes, from the first to the last; of a view with gaps not all of them.
    pub bytes: Range<u64>,
}

/// The uses of all tensors in the arena, those of views among those of the tensors that they lie
/// in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Uses {
    /// For each tensor, in the order of steps, a step's loads before its stores; none of a view.
    of: Vec<Vec<Use>>,
    /// When the application reads the graph's outputs.
    end: usize,
}

impl Uses {
    /// Those of running the operators in this order. What nothing loads is in use in the step
    /// that stores it, an input of the graph that nothing loads in the first one.
    ///
    /// # Errors
    /// When the order is not one of the graph's.
    pub fn new(
        graph: &Graph,
        order: &[OperatorId],
        keep_inputs: bool,
    ) -> Result<Self, ScheduleError> {
        Dataflow::new(graph, CountedEnds::default())?.steps(order)?;
        check_views(graph)?;
        let mut uses = Self {
            of: vec![Vec::new(); graph.tensors.len()],
            end: order.len() + 1,
        };
        for &input in &graph.inputs {
            uses.add(graph, 0, AccessKind::Store, input);
        }
        for (step, operator) in (1..).zip(order) {
            let node = &graph.operators[operator.0];
            for input in graph.arena_inputs(node) {
                uses.add(graph, step, AccessKind::Load, input);
            }
            for output in graph.arena_outputs(node) {
                uses.add(graph, step, AccessKind::Store, output);
            }
        }
        for &output in &graph.outputs {
            uses.add(graph, uses.end, AccessKind::Load, output);
        }
        for &input in graph.inputs.iter().filter(|_| keep_inputs) {
            uses.check_kept(graph, input)?;
            uses.add(graph, uses.end, AccessKind::Load, input);
        }
        uses.begin_what_nothing_stores();
        uses.check_pieces(graph, order)?;
        Ok(uses)
    }

    /// What is stored through views is stored before it is loaded.
    fn check_pieces(&self, graph: &Graph, order: &[OperatorId]) -> Result<(), ScheduleError> {
        let mut roots: Vec<TensorId> = graph.views.values().map(|view| view.of).collect();
        roots.sort_unstable();
        roots.dedup();
        for root in roots {
            let loads = self.of(root).iter();
            for load in loads.filter(|known| known.kind == AccessKind::Load) {
                let stored = self.held_before(root, load.step);
                let covered = stored.start <= load.bytes.start && load.bytes.end <= stored.end;
                let operator = load.step.checked_sub(1).and_then(|at| order.get(at));
                if let (false, Some(&operator)) = (covered, operator) {
                    let tensor = load.tensor;
                    return Err(ScheduleError::NotYetStored { operator, tensor });
                }
            }
        }
        Ok(())
    }

    /// Nothing else is stored in the bytes of an input that is a view, when all but the loads at
    /// the end are known.
    fn check_kept(&self, graph: &Graph, input: TensorId) -> Result<(), ScheduleError> {
        let kept = graph.extent(input);
        let lost = self.of(graph.root(input)).iter().any(|known| {
            let stored = known.kind == AccessKind::Store && known.tensor != input;
            stored && known.bytes.start < kept.end && kept.start < known.bytes.end
        });
        if lost && graph.views.contains_key(&input) {
            return Err(ScheduleError::Overwritten { input });
        }
        Ok(())
    }

    fn add(&mut self, graph: &Graph, step: usize, kind: AccessKind, tensor: TensorId) {
        let bytes = graph.extent(tensor);
        if graph.in_arena(tensor) && !bytes.is_empty() {
            self.of[graph.root(tensor).0].push(Use {
                step,
                kind,
                tensor,
                bytes,
            });
        }
    }

    /// What is loaded and never stored is taken for an input of the graph, and what the
    /// application stores for something that the first step might want.
    fn begin_what_nothing_stores(&mut self) {
        for uses in &mut self.of {
            let Some(first) = uses.first().cloned() else {
                continue;
            };
            let is_load = |known: &Use| known.kind == AccessKind::Load;
            if uses.iter().all(is_load) {
                let whole = uses.iter().map(|known| known.bytes.end).max();
                let bytes = 0..whole.unwrap_or(0);
                let stored = Use {
                    step: 0,
                    kind: AccessKind::Store,
                    bytes,
                    ..first
                };
                uses.insert(0, stored);
            } else if first.step == 0 && !uses.iter().any(is_load) {
                uses.push(Use {
                    step: 1,
                    kind: AccessKind::Load,
                    ..first
                });
            }
        }
    }

    /// Those of a tensor that is no view.
    pub fn of(&self, root: TensorId) -> &[Use] {
        &self.of[root.0]
    }

    /// When the application reads the graph's outputs: one past the last operator's step.
    pub fn end(&self) -> usize {
        self.end
    }

    /// From the first step that uses the tensor to the last, half-open; empty where none does.
    pub fn life(&self, root: TensorId) -> Range<usize> {
        let steps = || self.of(root).iter().map(|known| known.step);
        match (steps().min(), steps().max()) {
            (Some(first), Some(last)) => first..last + 1,
            _ => 0..0,
        }
    }

    /// The bytes of a tensor that is no view that have been stored before this step and are
    /// loaded in it or later: from the first to the last.
    pub fn held_before(&self, root: TensorId, step: usize) -> Range<u64> {
        self.held(root, |known| match known.kind {
            AccessKind::Store => known.step < step,
            AccessKind::Load => known.step >= step,
        })
    }

    /// The bytes that have been stored up to this step, or in it, and are loaded later.
    pub fn held_after(&self, root: TensorId, step: usize) -> Range<u64> {
        self.held_before(root, step + 1)
    }

    /// The bytes that have been stored before this step and are loaded after it.
    pub fn held_through(&self, root: TensorId, step: usize) -> Range<u64> {
        self.held(root, |known| match known.kind {
            AccessKind::Store => known.step < step,
            AccessKind::Load => known.step > step,
        })
    }

    /// What lies between the first and the last of these stores and of these loads.
    fn held(&self, root: TensorId, counts: impl Fn(&Use) -> bool) -> Range<u64> {
        let mut stored = (u64::MAX, 0);
        let mut loaded = (u64::MAX, 0);
        for known in self.of(root).iter().filter(|known| counts(known)) {
            let range = match known.kind {
                AccessKind::Store => &mut stored,
                AccessKind::Load => &mut loaded,
            };
            range.0 = range.0.min(known.bytes.start);
            range.1 = range.1.max(known.bytes.end);
        }
        let (start, end) = (stored.0.max(loaded.0), stored.1.min(loaded.1));
        if start < end { start..end } else { 0..0 }
    }
}

/// A view lies inside of a tensor that is no view, and lies where that does: in the arena, or with
/// the application.
fn check_views(graph: &Graph) -> Result<(), ScheduleError> {
    let limit = graph.tensors.len();
    for (&view, &TensorView { of, .. }) in &graph.views {
        let known = view.0 < limit && of.0 < limit;
        let inside = || graph.extent(view).end <= graph.tensor(of).size_bytes;
        let storage = || [view, of].map(|id| graph.tensor(id).storage);
        let together = || {
            matches!(
                storage(),
                [Storage::Arena, Storage::Arena] | [Storage::Application, Storage::Application]
            )
        };
        if !known || graph.views.contains_key(&of) || !together() || !inside() {
            return Err(ScheduleError::View { view, of });
        }
    }
    Ok(())
}
