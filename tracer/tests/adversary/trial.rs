//! One model: planned in several ways, each plan run and mutated.

use crate::generate::{Generated, model};
use crate::judge::{Case, Judge, Reference, Verdict};
use crate::mutants::Origin;
use crate::tally::Tally;
use dmo_analysis::arena::Layout;
use dmo_analysis::graph::overlaps::{self, Overlaps};
use dmo_analysis::graph::tflite::OfflinePlan;
use dmo_analysis::graph::{Graph, Kind, tflite};
use dmo_analysis::random::SplitMix64;
use dmo_analysis::schedule::CountedEnds;
use dmo_analysis::verify::{Positions, clashes, misaligned};
use dmo_trace::study::audit::Audit;
use dmo_trace::study::change::ChangeRequest;
use dmo_trace::study::emit::{Emission, Emitted};
use dmo_trace::study::overlap_source::{OverlapKind, OverlapRequest};
use dmo_trace::study::plan::{OrderKind, PlanRequest, plan};
use dmo_trace::study::plan_to_check::PlanToCheck;
use dmo_trace::study::source::Source;
use dmo_trace::study::{Session, StudyError};
use std::path::Path;
use std::time::Duration;

/// For each plan, though most searches end with a proof long before.
const SEARCH_TIME: Duration = Duration::from_millis(500);
const METADATA: &str = "OfflineMemoryAllocation";
/// Version, number of subgraphs and number of offsets come first in the metadata.
const HEADER_BYTES: usize = 12;

/// Tries the model of a seed, with this many mutants of each of its plans.
pub fn attempt(seed: u64, mutants: usize, judge: &mut Judge, tally: &mut Tally) {
    let Generated {
        file,
        inputs,
        outputs,
    } = model(seed);
    let source = Source::of_bytes("model", file.clone());
    let source = source.unwrap_or_else(|error| panic!("seed {seed}: {error:?}"));
    let reference = Reference {
        file: file.clone(),
        inputs,
        outputs,
        naive_bytes: 32 * source.graph().tensors.len() as u64 + 2 * source.graph().naive_bytes(),
        seed,
    };
    if let Err(reason) = judge.load(&reference) {
        tally.refused_model(seed, &reason);
        return;
    }
    tally.model(source.graph());
    let mut random = SplitMix64::new(!seed);
    for request in [PlanRequest::default(), any_request(&mut random)] {
        let request = PlanRequest {
            time: SEARCH_TIME,
            ..request
        };
        let emitted = match emitted(&file, &request) {
            Ok(emitted) => emitted,
            Err(error) => {
                tally.refused_plan(&error);
                continue;
            }
        };
        Planned {
            seed,
            reference: &reference,
            request: &request,
            emitted: &emitted,
        }
        .hold(mutants, &mut random, judge, tally);
    }
}

/// A request of any options that a model file can say.
fn any_request(random: &mut SplitMix64) -> PlanRequest {
    let mut once_in = |times: usize| random.below(times) == 0;
    let keep_inputs = once_in(3);
    let mut layout = Layout {
        keep_inputs,
        counted: CountedEnds {
            count_graph_inputs: keep_inputs || !once_in(4),
            count_graph_outputs: !once_in(4),
        },
        scratch: !once_in(8),
        ..Layout::tflm()
    };
    let changes = ChangeRequest {
        accumulate: once_in(4),
        split: once_in(6),
        patch: once_in(8),
        ..ChangeRequest::default()
    };
    let kind = if once_in(4) {
        OverlapKind::None
    } else {
        OverlapKind::Analytic
    };
    let order = if once_in(3) {
        OrderKind::File
    } else {
        OrderKind::Best
    };
    layout.alignment = [16, 16, 16, 32, 64, 48][random.below(6)];
    PlanRequest {
        overlap: OverlapRequest {
            kind,
            ..OverlapRequest::default()
        },
        layout,
        order,
        changes: ChangeRequest {
            most_recomputed_percent: [0.0, 10.0, 100.0][random.below(3)],
            ..changes
        },
        ..PlanRequest::default()
    }
}

/// The model's file with a plan.
fn emitted(file: &[u8], request: &PlanRequest) -> Result<Emitted, StudyError> {
    let mut source = Source::of_bytes("model", file.to_vec())?;
    let alignment = request.layout.alignment;
    let emission = Emission::new(Path::new("planned.tflite"), &source, alignment)?;
    let session = Session::default();
    let planned = plan(&mut source, request, &session)?;
    emission.of_plan(&source, &planned, &session)
}

/// A plan that was emitted.
struct Planned<'a> {
    seed: u64,
    reference: &'a Reference,
    request: &'a PlanRequest,
    emitted: &'a Emitted,
}

/// What the tool says of a mutant.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Word {
    Safe,
    Unsafe,
    /// Nothing.
    Refused,
}

impl Planned<'_> {
    /// Holds the plan and its mutants against the runtime.
    fn hold(self, mutants: usize, random: &mut SplitMix64, judge: &mut Judge, tally: &mut Tally) {
        let file = &self.emitted.content;
        let mut checker = Checker::new(file);
        let offsets = checker.offsets();
        if checker.word(&offsets) != Word::Safe {
            self.object(
                tally,
                "the plan that it emits is not SAFE by its own word",
                file,
            );
        }
        let origin = Origin {
            graph: &checker.graph.clone(),
            overlaps: &checker.overlaps.clone(),
            offsets: &offsets,
            arena_bytes: self.emitted.arena_bytes,
        };
        let found = (0..2 * mutants).filter_map(|_| origin.mutant(random));
        let found: Vec<Vec<i32>> = found.take(mutants).collect();
        let judgement = judge.judge(&Case {
            file,
            place: checker.place,
            keeps_inputs: self.request.layout.keep_inputs,
            mutants: &found,
        });
        let choice = self.emitted.choice;
        tally.plan(self.request, choice.is_some_and(|form| form.is_tiled));
        // Larger pointers go elsewhere, where the runtime does not know of inputs that are kept.
        let is_of_this_machine = self.request.layout.keep_inputs && checker.has_pointers();
        if judgement.planned != Verdict::Same && !is_of_this_machine {
            let what = format!("the emitted plan: {:?}", judgement.planned);
            self.object(tally, &what, file);
        }
        let head = judgement.head_bytes;
        if head.is_some_and(|bytes| !checker.explains(bytes, self.emitted.arena_bytes)) {
            let what = format!(
                "an arena of {} bytes, of which the runtime takes {head:?}",
                self.emitted.arena_bytes
            );
            self.object(tally, &what, file);
        }
        for (offsets, verdict) in found.iter().zip(judgement.mutants) {
            let word = checker.word(offsets);
            match word {
                Word::Safe => tally.safe(checker.overlaps_something(offsets)),
                Word::Unsafe => tally.unsafe_mutant(verdict != Verdict::Same),
                Word::Refused => tally.refused_mutants += 1,
            }
            if word == Word::Safe && verdict != Verdict::Same {
                let what = format!("a mutant that is called SAFE: {verdict:?}, {offsets:?}");
                self.object(tally, &what, file);
            }
        }
    }

    fn object(&self, tally: &mut Tally, what: &str, file: &[u8]) {
        tally.object(
            self.seed,
            &format!("{what}\n  {:?}", self.request),
            &[("model", &self.reference.file), ("planned", file)],
        );
    }
}

/// What the tool says of a model that carries a plan, as `dmo-trace audit` does.
struct Checker {
    source: Source,
    graph: Graph,
    overlaps: Overlaps,
    /// Where the offsets begin in the file.
    place: usize,
}

impl Checker {
    fn new(file: &[u8]) -> Self {
        let source = Source::of_bytes("planned", file.to_vec()).unwrap();
        let graph = source.graph().clone();
        let model = tflite::read(file).unwrap();
        Self {
            overlaps: overlaps::analytic(&graph),
            graph,
            source,
            place: model.metadata(METADATA).unwrap().bytes.start + HEADER_BYTES,
        }
    }

    fn offsets(&self) -> Vec<i32> {
        let plan = self.source.offline_plan.as_ref().unwrap().as_ref();
        plan.unwrap().offsets.clone()
    }

    fn word(&mut self, offsets: &[i32]) -> Word {
        self.source.offline_plan = Ok(Some(OfflinePlan {
            version: 1,
            subgraphs: 1,
            offsets: offsets.to_vec(),
        }));
        let is_safe = match PlanToCheck::carried(&self.source, &self.graph) {
            Ok(plan) => {
                let audit = Audit::of(&plan, &self.graph, &self.overlaps, 1);
                audit.unwrap().is_safe()
            }
            // It does not simulate the runtime on such offsets, but where nothing is left to it the
            // geometric check has all it needs.
            Err(_) if self.leaves_nothing(offsets) => {
                self.keeps_distances(offsets, &self.overlaps)
                    && misaligned(&self.graph, &given(offsets)).is_empty()
            }
            Err(_) => return Word::Refused,
        };
        if is_safe { Word::Safe } else { Word::Unsafe }
    }

    /// Whether every tensor of the arena has an offset, and there is no scratch buffer.
    fn leaves_nothing(&self, offsets: &[i32]) -> bool {
        let nodes = &self.graph.operators;
        let touched = nodes.iter().flat_map(|node| {
            let inputs = self.graph.arena_inputs(node);
            inputs.into_iter().chain(self.graph.arena_outputs(node))
        });
        let ends = self.graph.inputs.iter().chain(&self.graph.outputs).copied();
        let mut needed = touched.chain(ends.filter(|&id| self.graph.in_arena(id)));
        nodes.iter().all(|node| node.scratch_bytes.is_empty())
            && needed.all(|id| offsets[id.0] >= 0)
    }

    /// Whether a scratch buffer holds pointers, which are larger on this machine than on a
    /// microcontroller.
    fn has_pointers(&self) -> bool {
        let mut nodes = self.graph.operators.iter();
        nodes.any(|node| node.kind == Kind::AddN)
    }

    /// Whether the runtime may take so many bytes where the tool says that it takes so many: less
    /// if inputs are there that nothing loads, which count as in use in the first step.
    fn explains(&self, taken: u64, said: u64) -> bool {
        let nodes = &self.graph.operators;
        let is_read = |id| nodes.iter().any(|node| node.inputs.contains(id));
        let has_unread = !self.graph.inputs.iter().all(is_read);
        taken == said || self.has_pointers() || has_unread && taken < said
    }

    fn keeps_distances(&self, offsets: &[i32], overlaps: &Overlaps) -> bool {
        let positions = Positions {
            tensors: &given(offsets),
            scratch: &[],
            keep_inputs: false,
        };
        let order = self.graph.file_order();
        let found = clashes(&self.graph, &order, overlaps, positions, 1);
        found.unwrap().is_empty()
    }

    /// Whether tensors that are in use together share bytes.
    fn overlaps_something(&self, offsets: &[i32]) -> bool {
        !self.keeps_distances(offsets, &overlaps::none(&self.graph))
    }
}

fn given(offsets: &[i32]) -> Vec<Option<u64>> {
    let given = offsets.iter().map(|&offset| u64::try_from(offset).ok());
    given.collect()
}
