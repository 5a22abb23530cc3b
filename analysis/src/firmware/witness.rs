//! Watches a firmware's arena: does it do what the simulated layout says, and is that safe?

use super::contradiction::Contradiction;
use super::placed::{Placed, PlacedLayer};
use super::touched::Touched;
use crate::graph::{OperatorId, TensorId};
use crate::replay::{Finding, FindingKind, Replay, ReplayError, ReplayReport};
use crate::trace::{AccessKind, Address, Event, Layer, Role, Span, Time, TraceSink};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// At most this many findings are kept of one operator in one inference.
const MOST_FINDINGS: usize = 8;

/// At most this many findings are kept of all inferences.
const MOST_KEPT: usize = 256;

/// Something that is wrong with an operator.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Wrong {
    /// Number of the inference, from 0.
    pub inference: usize,
    /// The operator.
    pub operator: OperatorId,
    /// What.
    #[serde(flatten)]
    pub finding: Finding,
}

impl Wrong {
    /// Whether content was lost, rather than never there.
    pub fn is_clobber(&self) -> bool {
        matches!(
            self.finding.kind,
            FindingKind::Clobber | FindingKind::Destroyed | FindingKind::SharedAtBegin
        )
    }
}

/// Code between two operators of an inference that stores to a tensor that is needed later.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct StoreBetween {
    /// Number of the inference, from 0.
    pub inference: usize,
    /// The operator that comes next.
    pub operator: OperatorId,
    /// The tensor.
    pub tensor: TensorId,
    /// The first store's instruction.
    pub pc: Address,
    /// How many stores.
    pub count: u64,
}

/// An operator that stores to what another model keeps.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct ForeignStore {
    /// Number of the inference, from 0.
    pub inference: usize,
    /// The operator.
    pub operator: OperatorId,
    /// Where it stores first.
    pub address: Address,
    /// The first store's instruction.
    pub pc: Address,
    /// How many stores.
    pub count: u64,
}

/// What a witness has seen.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Observed {
    /// Whole inferences.
    pub inferences: usize,
    /// What contradicts the simulated layout, the first. Then nothing else means anything.
    pub contradiction: Option<Contradiction>,
    /// What is wrong, in program order.
    pub wrong: Vec<Wrong>,
    /// Bytes that are wrong and not among these.
    pub further_bytes: u64,
    /// Stores between operators.
    pub between: Vec<StoreBetween>,
    /// Stores to what other models keep.
    pub foreign: Vec<ForeignStore>,
    /// The longest run of addresses above the head that were never touched.
    pub untouched: Range<u64>,
}

impl Observed {
    /// No content was lost.
    pub fn is_safe(&self) -> bool {
        !self.wrong.iter().any(Wrong::is_clobber)
            && self.between.is_empty()
            && self.foreign.is_empty()
            && self.further_bytes == 0
    }
}

/// Watches the layers of a [`Placed`] firmware. A trace's layers have its tensors first, and the
/// rest of the arena behind them as unlisted memory; gaps have the whole arena. Only the layer's
/// own part is handed on to `inner`.
pub struct Witness<'a> {
    placed: &'a Placed,
    inner: &'a mut dyn TraceSink,
    /// Layers that have begun.
    begun: usize,
    /// What is running.
    current: Option<Layer>,
    replay: Option<Replay>,
    loads_of_inputs: u64,
    stores: u64,
    /// Of an operator that has an input of the model, which nobody is seen to store: the
    /// instructions that load it, and those that load memory behind the head.
    reads_model_input: bool,
    input_loads: BTreeSet<Address>,
    loads_behind: BTreeMap<Address, u64>,
    own: Vec<Event>,
    touched: Touched,
    observed: Observed,
    error: Option<ReplayError>,
}

impl<'a> Witness<'a> {
    /// Watches, and hands the layers on.
    pub fn new(placed: &'a Placed, inner: &'a mut dyn TraceSink) -> Self {
        Self {
            touched: Touched::new(placed.arena.clone()),
            placed,
            inner,
            begun: 0,
            current: None,
            replay: None,
            loads_of_inputs: 0,
            stores: 0,
            reads_model_input: false,
            input_loads: BTreeSet::new(),
            loads_behind: BTreeMap::new(),
            own: Vec::new(),
            observed: Observed::default(),
            error: None,
        }
    }

    /// What it has seen, once the trace has ended.
    ///
    /// # Errors
    /// When the layout cannot be replayed.
    pub fn finish(mut self) -> Result<Observed, ReplayError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        let operators = self.placed.layers.len();
        self.observed.inferences = self.begun / operators;
        if !self.begun.is_multiple_of(operators) {
            let given = self.begun;
            let unfinished = Contradiction::Unfinished { given, operators };
            self.observed.contradiction.get_or_insert(unfinished);
        }
        self.observed.untouched = self.touched.longest_untouched(self.placed.head.end);
        Ok(self.observed)
    }

    /// The layer that began last: its operator, and what the layout says of it.
    fn running(&self) -> (OperatorId, &'a PlacedLayer) {
        let operator = self.placed.operator(self.begun.saturating_sub(1));
        (operator, self.placed.layer(operator))
    }

    fn contradict(&mut self, contradiction: impl FnOnce(usize, String) -> Contradiction) {
        let (operator, placed) = self.running();
        let found = contradiction(operator.0, placed.layer.operator.clone());
        self.observed.contradiction.get_or_insert(found);
    }

    fn layer_event(&mut self, event: &Event, address: u64, role: Role, beside: bool) {
        match (role, event.kind) {
            (Role::Input, AccessKind::Load) => {
                self.loads_of_inputs += 1;
                if self.reads_model_input {
                    self.input_loads.insert(event.pc);
                }
            }
            (Role::Input, AccessKind::Store) => {
                let tensor = usize::from(event.tensor);
                let tensor = self.running().1.layer.tensors[tensor].name.clone();
                self.contradict(|operator, name| Contradiction::StoreToInput {
                    operator,
                    name,
                    tensor,
                    pc: event.pc,
                });
            }
            (Role::Unlisted, access) if address < self.placed.head.end && !beside => {
                self.contradict(|operator, name| Contradiction::Stray {
                    operator,
                    name,
                    access,
                    address: Address(address as u32),
                    pc: event.pc,
                });
            }
            (Role::Unlisted, AccessKind::Load) if self.reads_model_input && !beside => {
                self.loads_behind.entry(event.pc).or_insert(address);
            }
            (Role::Unlisted, _) | (_, AccessKind::Load) => {}
            (_, AccessKind::Store) => self.stores += 1,
        }
    }

    fn layer_events(&mut self, layer: &Layer, events: &[Event]) {
        let own_tensors = self.running().1.layer.tensors.len();
        let is_own = |event: &Event| usize::from(event.tensor) < own_tensors;
        self.own.clear();
        for (index, event) in events.iter().enumerate() {
            let tensor = &layer.tensors[usize::from(event.tensor)];
            let address = u64::from(tensor.address.0) + u64::from(event.offset);
            // A load may reach beyond its tensor: only the part inside is the operator's.
            let same = |other: Option<&Event>| {
                other.is_some_and(|other| {
                    is_own(other) && (other.time, other.pc) == (event.time, event.pc)
                })
            };
            let before = index.checked_sub(1).and_then(|before| events.get(before));
            let beside =
                event.kind == AccessKind::Load && (same(before) || same(events.get(index + 1)));
            self.layer_event(event, address, tensor.role, beside);
            if !self.placed.foreign.is_empty() {
                self.note_foreign(event, address);
            }
            if is_own(event) {
                self.own.push(*event);
            } else {
                self.touch(event, address);
            }
        }
        if let Some(replay) = &mut self.replay {
            replay.events(&self.own);
        }
        self.inner.events(&self.own);
    }

    /// Notes a store to what another model keeps.
    fn note_foreign(&mut self, event: &Event, address: u64) {
        let end = address + u64::from(event.size_bytes);
        let foreign = &self.placed.foreign;
        let is_foreign = foreign
            .iter()
            .any(|kept| address < kept.end && kept.start < end);
        if event.kind != AccessKind::Store || !is_foreign {
            return;
        }
        let operator = self.running().0;
        let inference = self.begun.saturating_sub(1) / self.placed.layers.len();
        let foreign = &mut self.observed.foreign;
        let known = foreign.iter_mut();
        let mut known = known.filter(|it| (it.inference, it.operator) == (inference, operator));
        if let Some(known) = known.next() {
            known.count += 1;
        } else if foreign.len() < MOST_KEPT {
            foreign.push(ForeignStore {
                inference,
                operator,
                address: Address(address as u32),
                pc: event.pc,
                count: 1,
            });
        } else {
            self.observed.further_bytes += u64::from(event.size_bytes);
        }
    }

    fn touch(&mut self, event: &Event, address: u64) {
        let bytes = address..address + u64::from(event.size_bytes);
        match event.kind {
            AccessKind::Load => self.touched.load(bytes),
            AccessKind::Store => self.touched.store(bytes, self.begun == 0),
        }
    }

    fn gap_events(&mut self, layer: &Layer, events: &[Event]) {
        for event in events {
            let tensor = &layer.tensors[usize::from(event.tensor)];
            let address = u64::from(tensor.address.0) + u64::from(event.offset);
            self.touch(event, address);
            let inside = !self.begun.is_multiple_of(self.placed.layers.len());
            if inside && event.kind == AccessKind::Store {
                self.store_between(event, address);
            }
        }
    }

    fn store_between(&mut self, event: &Event, address: u64) {
        let operators = self.placed.layers.len();
        let operator = self.placed.operator(self.begun);
        let end = address + u64::from(event.size_bytes);
        let start = self.placed.head.start;
        for resident in &self.placed.layer(operator).before {
            let first = start + resident.offset;
            if address >= first + resident.size_bytes || end <= first {
                continue;
            }
            let inference = self.begun / operators;
            let key = (inference, operator, resident.tensor);
            let between = &mut self.observed.between;
            let same =
                |known: &StoreBetween| (known.inference, known.operator, known.tensor) == key;
            match between.iter().position(same) {
                Some(known) => between[known].count += 1,
                None if between.len() < MOST_KEPT => between.push(StoreBetween {
                    inference,
                    operator,
                    tensor: resident.tensor,
                    pc: event.pc,
                    count: 1,
                }),
                None => self.observed.further_bytes += u64::from(event.size_bytes),
            }
        }
    }

    /// Where input and output are the same memory, the runtime leaves out the copy.
    fn pass_content(&mut self) -> bool {
        let (operator, placed) = self.running();
        let tensors = &placed.layer.tensors;
        let of = |role| tensors.iter().position(|tensor| tensor.role == role);
        let (Some(input), Some(output)) = (of(Role::Input), of(Role::Output)) else {
            return false;
        };
        let place = |index: usize| (tensors[index].address, tensors[index].size_bytes);
        let silent = self.loads_of_inputs == 0 && self.stores == 0;
        let passes = silent
            && place(input) == place(output)
            && self.placed.node(operator).kind.keeps_bytes();
        if let (true, Some(replay)) = (passes, &mut self.replay) {
            replay.pass_content(input, output);
        }
        passes
    }

    fn check_use(&mut self) {
        let (operator, placed) = self.running();
        // A shape is known without a look at the tensor.
        let blind = self.placed.node(operator).kind.reads_shape_only();
        let mut tensors = placed.layer.tensors.iter();
        let reads = tensors.any(|tensor| tensor.role == Role::Input) && !blind;
        if reads && self.loads_of_inputs == 0 {
            self.contradict(|operator, name| Contradiction::NotLoaded { operator, name });
        }
        let behind = self.loads_behind.iter();
        let mut behind = behind.filter(|(pc, _)| self.input_loads.contains(pc));
        if let Some((&pc, &address)) = behind.next() {
            let address = Address(address as u32);
            self.contradict(|operator, name| Contradiction::InputReachesBehind {
                operator,
                name,
                address,
                pc,
            });
        }
    }

    /// What the replay of the operator that ends has found.
    fn note(&mut self, report: ReplayReport) {
        let inference = (self.begun - 1) / self.placed.layers.len();
        let (operator, placed) = self.running();
        self.observed.further_bytes += report.further_bytes + report.foreign_events;
        for finding in report.findings {
            let tensor = finding.subject.layer_tensor;
            let tensor = tensor.and_then(|tensor| placed.layer.tensors.get(tensor));
            if let (FindingKind::NotStored, Some(tensor)) = (finding.kind, tensor) {
                let (output, address) = (tensor.name.clone(), tensor.address);
                self.contradict(|operator, name| Contradiction::NotStored {
                    operator,
                    name,
                    tensor: output,
                    address,
                    bytes: finding.count,
                });
            } else if let (FindingKind::UninitialisedRead, Some(tensor), Some(access)) =
                (finding.kind, tensor, finding.access)
            {
                let loaded = tensor.name.clone();
                self.contradict(|operator, name| Contradiction::LoadedUnstored {
                    operator,
                    name,
                    tensor: loaded,
                    pc: access.pc,
                });
            } else if self.observed.wrong.len() < MOST_KEPT {
                self.observed.wrong.push(Wrong {
                    inference,
                    operator,
                    finding,
                });
            } else {
                self.observed.further_bytes += finding.count;
            }
        }
    }
}

impl TraceSink for Witness<'_> {
    fn begin_layer(&mut self, layer: &Layer, time: Time) {
        self.current = Some(layer.clone());
        if layer.span == Span::Gap {
            self.inner.begin_layer(layer, time);
            return;
        }
        self.begun += 1;
        let (_, placed) = self.running();
        self.replay = match Replay::new(&placed.layer, &placed.step(), MOST_FINDINGS) {
            Ok(replay) => Some(replay),
            Err(error) => {
                self.error.get_or_insert(error);
                None
            }
        };
        self.loads_of_inputs = 0;
        self.stores = 0;
        self.input_loads.clear();
        self.loads_behind.clear();
        let inputs = &self.placed.graph.inputs;
        let node = self.placed.node(self.running().0);
        self.reads_model_input =
            self.placed.simulated && node.inputs.iter().any(|input| inputs.contains(input));
        if let Some(replay) = &mut self.replay {
            replay.begin_layer(&placed.layer, time);
        }
        self.inner.begin_layer(&placed.layer, time);
    }

    fn events(&mut self, events: &[Event]) {
        let Some(layer) = self.current.take() else {
            return;
        };
        match layer.span {
            Span::Layer => self.layer_events(&layer, events),
            Span::Gap => {
                self.gap_events(&layer, events);
                self.inner.events(events);
            }
        }
        self.current = Some(layer);
    }

    fn end_layer(&mut self, time: Time) {
        if let Some(layer) = self.current.take()
            && layer.span == Span::Layer
        {
            if !self.pass_content() {
                self.check_use();
            }
            if let Some(mut replay) = self.replay.take() {
                replay.end_layer(time);
                self.note(replay.finish());
            }
        }
        self.inner.end_layer(time);
    }
}
