//! One pass over a trace: what each layer did to its buffers, and how far each input
//! may overlap each output.

use crate::lifetime::{ByteLife, Lifetimes};
use crate::overlap::{
    Access, Binding, SafeDisplacements, Sweep, overlap_bytes, safe_displacements,
};
use crate::trace::{AccessKind, Address, Event, Layer, Role, Span, Tensor, Time, TraceSink};
use serde::{Deserialize, Serialize};

/// What a whole program did.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Profile {
    /// The layers, in program order.
    pub layers: Vec<LayerProfile>,
}

/// What one layer did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LayerProfile {
    /// Name, as the firmware gives it.
    pub name: String,
    /// Operator.
    pub operator: String,
    /// Time of the begin mark.
    pub begin: Time,
    /// Time of the end mark.
    pub end: Time,
    /// Its buffers, in the order of the mark.
    pub tensors: Vec<TensorProfile>,
    /// One entry for each (input, output) pair.
    pub pairs: Vec<Pair>,
    /// Hash of the sequence of accesses without their times and instructions: equal
    /// for two runs that touched the same bytes in the same order.
    pub pattern: u64,
    /// Whether the sequence of accesses depends on the values of the inputs; none
    /// where only one input was tried.
    pub data_dependent: Option<bool>,
}

impl LayerProfile {
    /// Executed instructions between the two marks.
    pub fn instructions(&self) -> u64 {
        self.end - self.begin
    }

    /// Loads of all tensors.
    pub fn loads(&self) -> u64 {
        self.tensors.iter().map(|tensor| tensor.loads).sum()
    }

    /// Stores to all tensors.
    pub fn stores(&self) -> u64 {
        self.tensors.iter().map(|tensor| tensor.stores).sum()
    }
}

/// What a layer did to one of its buffers. Loads and stores are counted as events: an
/// instruction that accesses several words counts several times.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TensorProfile {
    /// The buffer.
    #[serde(flatten)]
    pub tensor: Tensor,
    /// Loads.
    pub loads: u64,
    /// Stores, updates included.
    pub stores: u64,
    /// Stores over bytes that the layer has loaded since it stored them last:
    /// read-modify-write.
    pub updates: u64,
    /// Bytes that the layer never loads.
    pub never_loaded_bytes: u64,
    /// Bytes that the layer never stores.
    pub never_stored_bytes: u64,
    /// The first load of a byte that this layer has not stored yet. In an output it
    /// means that the old content matters.
    pub load_before_store: Option<Access>,
    /// The first store.
    pub first_store: Option<Access>,
    /// A later layer that loads the same content again.
    pub used_again_by: Option<String>,
}

/// Why an input must not overlap an output, whatever the sweep says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind", content = "detail")]
pub enum Refusal {
    /// The layer stores to its input.
    StoresToInput,
    /// The layer loads bytes of its output before it stores them.
    LoadsOldOutput,
    /// A later layer, named here, loads the input again.
    InputUsedAgain(String),
    /// The accesses depend on the data: another input may need a larger displacement.
    DataDependent,
    /// The layer never loads the input or never stores the output: there is no
    /// evidence for any overlap (is the buffer's address right?).
    NoEvidence,
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::StoresToInput => write!(f, "the layer stores to its input"),
            Self::LoadsOldOutput => write!(f, "the layer loads its output before it stores it"),
            Self::InputUsedAgain(layer) => write!(f, "layer '{layer}' loads the input again"),
            Self::DataDependent => write!(f, "the accesses depend on the data"),
            Self::NoEvidence => write!(f, "the input is never loaded or the output never stored"),
        }
    }
}

/// How far one input may overlap one output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pair {
    /// Position of the input in the layer's tensors.
    pub input: usize,
    /// Position of the output in the layer's tensors.
    pub output: usize,
    /// O_s in bytes: what may be relied on. 0 where `refusals` is not empty.
    pub safe_overlap_bytes: u32,
    /// Why no overlap is granted, empty when it is.
    pub refusals: Vec<Refusal>,
    /// What the sweep over this trace found in bytes, before any refusal.
    pub observed_overlap_bytes: u32,
    /// The least displacement `input_start - output_start` in bytes that is safe
    /// together with all larger ones, on this trace.
    pub displacement_bytes: u32,
    /// What forbids a smaller displacement.
    pub binding: Option<Binding>,
    /// The whole set of safe displacements on this trace.
    pub safe_displacements: SafeDisplacements,
}

impl Pair {
    /// O_s in per cent of the smaller of the two buffers.
    pub fn percent(&self, layer: &LayerProfile) -> f64 {
        let smaller = layer.tensors[self.input]
            .tensor
            .size_bytes
            .min(layer.tensors[self.output].tensor.size_bytes);
        100.0 * f64::from(self.safe_overlap_bytes) / f64::from(smaller)
    }
}

/// How an access relates to what was there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessClass {
    /// A load.
    Load,
    /// A store.
    Store,
    /// A store over bytes that were loaded since they were stored last.
    Update,
}

/// Sees each access and each stretch of use as the profiler learns of them. For
/// pictures; `()` sees nothing.
pub trait Observer {
    /// An access of the current layer (or gap).
    fn access(&mut self, _address: Address, _event: &Event, _class: AccessClass) {}
    /// `size_bytes` bytes from `address` held a needed value from time `from` to `to`.
    /// Reported when the value dies, so not in order of time.
    fn in_use(&mut self, _address: Address, _size_bytes: u32, _from: Time, _to: Time) {}
}

impl Observer for () {}

/// Builds a [`Profile`] from a trace.
#[derive(Debug, Default)]
pub struct Profiler<O: Observer = ()> {
    observer: O,
    lifetimes: Lifetimes,
    layers: Vec<LayerProfile>,
    current: Option<Current>,
}

#[derive(Debug)]
struct Current {
    span: Span,
    profile: LayerProfile,
    sweeps: Vec<Sweep>,
}

impl<O: Observer> Profiler<O> {
    /// A profiler that also tells `observer` of all it sees.
    pub fn with_observer(observer: O) -> Self {
        Self {
            observer,
            lifetimes: Lifetimes::default(),
            layers: Vec::new(),
            current: None,
        }
    }

    /// What has been learned, once the trace has ended; a layer that has begun and not
    /// ended is left out.
    pub fn finish(mut self) -> (Profile, O) {
        let mut run: Option<InUseRun> = None;
        for (address, life) in self.lifetimes.all() {
            InUseRun::extend(&mut run, address.0, life, &mut self.observer);
        }
        InUseRun::close(&mut run, &mut self.observer);
        for layer in &mut self.layers {
            refuse(layer);
        }
        (
            Profile {
                layers: self.layers,
            },
            self.observer,
        )
    }

    fn load(&mut self, event: &Event) {
        let Some(current) = &mut self.current else {
            return;
        };
        let tensor = &mut current.profile.tensors[event.tensor as usize];
        let (begin, role) = (current.profile.begin, tensor.tensor.role);
        let address = tensor.tensor.address.0 + event.offset;
        tensor.loads += 1;
        let mut used_before = 0;
        for byte in 0..u32::from(event.size_bytes) {
            let life = self.lifetimes.byte(address + byte);
            if life.first_store < begin && tensor.load_before_store.is_none() {
                tensor.load_before_store = Some(access(event));
            }
            if life.last_use < begin && life.last_use > life.last_store {
                used_before = life.last_use;
            }
            life.last_use = event.time;
        }
        if role == Role::Input {
            for (pair, sweep) in current.profile.pairs.iter().zip(&mut current.sweeps) {
                if pair.input == event.tensor as usize {
                    sweep.load(access(event));
                }
            }
        }
        self.observer
            .access(Address(address), event, AccessClass::Load);
        if used_before > 0 && current.span == Span::Layer {
            let name = current.profile.name.clone();
            self.mark_used_again(Address(address), used_before, &name);
        }
    }

    /// The content at `address`, last used at `time` by an earlier layer, is needed by
    /// layer `name` too.
    fn mark_used_again(&mut self, address: Address, time: Time, name: &str) {
        let after = self.layers.partition_point(|layer| layer.begin < time);
        let Some(layer) = after
            .checked_sub(1)
            .and_then(|index| self.layers.get_mut(index))
        else {
            return;
        };
        for tensor in &mut layer.tensors {
            let range = u64::from(tensor.tensor.address.0)..tensor.tensor.end();
            if tensor.tensor.role == Role::Input
                && range.contains(&u64::from(address.0))
                && tensor.used_again_by.is_none()
            {
                tensor.used_again_by = Some(name.to_owned());
            }
        }
    }

    fn store(&mut self, event: &Event) {
        let Some(current) = &mut self.current else {
            return;
        };
        let tensor = &mut current.profile.tensors[event.tensor as usize];
        let (begin, role) = (current.profile.begin, tensor.tensor.role);
        let address = tensor.tensor.address.0 + event.offset;
        tensor.stores += 1;
        tensor.first_store.get_or_insert(access(event));
        let mut update = true;
        let mut run = None;
        for byte in 0..u32::from(event.size_bytes) {
            let life = self.lifetimes.byte(address + byte);
            update &= life.last_use > life.last_store && life.last_use > begin;
            InUseRun::extend(&mut run, address + byte, life, &mut self.observer);
            if life.first_store < begin {
                life.first_store = event.time;
            }
            life.last_store = event.time;
        }
        InUseRun::close(&mut run, &mut self.observer);
        tensor.updates += u64::from(update);
        if role == Role::Output {
            for (pair, sweep) in current.profile.pairs.iter().zip(&mut current.sweeps) {
                if pair.output == event.tensor as usize {
                    sweep.store(access(event));
                }
            }
        }
        let class = if update {
            AccessClass::Update
        } else {
            AccessClass::Store
        };
        self.observer.access(Address(address), event, class);
    }
}

fn access(event: &Event) -> Access {
    Access {
        pc: event.pc,
        time: event.time,
        offset: event.offset,
        size_bytes: u32::from(event.size_bytes),
    }
}

/// Adjacent bytes whose values lived equally long.
#[derive(Debug, Clone, Copy)]
struct InUseRun {
    address: u32,
    size_bytes: u32,
    from: Time,
    to: Time,
}

impl InUseRun {
    fn extend(run: &mut Option<Self>, address: u32, life: &ByteLife, observer: &mut impl Observer) {
        let Some((from, to)) = life.in_use() else {
            return Self::close(run, observer);
        };
        if let Some(run) = run
            && run.address + run.size_bytes == address
            && (run.from, run.to) == (from, to)
        {
            run.size_bytes += 1;
            return;
        }
        Self::close(run, observer);
        *run = Some(Self {
            address,
            size_bytes: 1,
            from,
            to,
        });
    }

    fn close(run: &mut Option<Self>, observer: &mut impl Observer) {
        if let Some(run) = run.take() {
            observer.in_use(Address(run.address), run.size_bytes, run.from, run.to);
        }
    }
}

impl<O: Observer> TraceSink for Profiler<O> {
    fn begin_layer(&mut self, layer: &Layer, time: Time) {
        for tensor in &layer.tensors {
            self.lifetimes.cover(tensor);
            if matches!(tensor.role, Role::Input | Role::Constant | Role::State)
                && layer.span == Span::Layer
            {
                let bytes = u64::from(tensor.address.0)..tensor.end();
                for address in bytes {
                    let life = self.lifetimes.byte(address as u32);
                    if life.last_store == 0 {
                        life.last_store = time;
                    }
                }
            }
        }
        let pairs = pairs_of(layer);
        self.current = Some(Current {
            span: layer.span,
            sweeps: vec![Sweep::default(); pairs.len()],
            profile: LayerProfile {
                name: layer.name.clone(),
                operator: layer.operator.clone(),
                begin: time,
                end: time,
                tensors: layer.tensors.iter().cloned().map(untouched).collect(),
                pairs,
                pattern: PATTERN_SEED,
                data_dependent: None,
            },
        });
    }

    fn events(&mut self, events: &[Event]) {
        for event in events {
            if let Some(current) = &mut self.current {
                current.profile.pattern = extend_pattern(current.profile.pattern, event);
            }
            match event.kind {
                AccessKind::Load => self.load(event),
                AccessKind::Store => self.store(event),
            }
        }
    }

    fn end_layer(&mut self, time: Time) {
        let Some(mut current) = self.current.take() else {
            return;
        };
        if current.span == Span::Gap {
            return;
        }
        let profile = &mut current.profile;
        profile.end = time;
        for tensor in &mut profile.tensors {
            for life in self.lifetimes.tensor(&tensor.tensor) {
                tensor.never_loaded_bytes += u64::from(life.last_use <= profile.begin);
                tensor.never_stored_bytes += u64::from(life.first_store <= profile.begin);
            }
        }
        for (pair, sweep) in profile.pairs.iter_mut().zip(&current.sweeps) {
            let (input, output) = (
                &profile.tensors[pair.input].tensor,
                &profile.tensors[pair.output].tensor,
            );
            let within = |time: Time| if time > profile.begin { time } else { 0 };
            let last_load: Vec<Time> = self
                .lifetimes
                .tensor(input)
                .map(|life| within(life.last_use))
                .collect();
            let first_store: Vec<Time> = self
                .lifetimes
                .tensor(output)
                .map(|life| within(life.first_store))
                .collect();
            pair.safe_displacements = safe_displacements(&last_load, &first_store);
            pair.displacement_bytes = sweep.displacement();
            pair.binding = sweep.binding();
            pair.observed_overlap_bytes =
                overlap_bytes(sweep.displacement(), input.size_bytes, output.size_bytes);
        }
        // What the layer produced is in use until it is handed over.
        for tensor in &profile.tensors {
            if matches!(tensor.tensor.role, Role::Output | Role::State) {
                for address in u64::from(tensor.tensor.address.0)..tensor.tensor.end() {
                    let life = self.lifetimes.byte(address as u32);
                    if life.first_store > profile.begin {
                        life.last_use = time;
                    }
                }
            }
        }
        self.layers.push(current.profile);
    }
}

fn pairs_of(layer: &Layer) -> Vec<Pair> {
    let of_role = |role| {
        layer
            .tensors
            .iter()
            .enumerate()
            .filter(move |(_, tensor)| tensor.role == role)
            .map(|(index, _)| index)
    };
    of_role(Role::Input)
        .flat_map(|input| of_role(Role::Output).map(move |output| (input, output)))
        .map(|(input, output)| Pair {
            input,
            output,
            safe_overlap_bytes: 0,
            refusals: Vec::new(),
            observed_overlap_bytes: 0,
            displacement_bytes: 0,
            binding: None,
            safe_displacements: SafeDisplacements {
                ranges: Vec::new(),
                complete: true,
            },
        })
        .collect()
}

fn untouched(tensor: Tensor) -> TensorProfile {
    TensorProfile {
        tensor,
        loads: 0,
        stores: 0,
        updates: 0,
        never_loaded_bytes: 0,
        never_stored_bytes: 0,
        load_before_store: None,
        first_store: None,
        used_again_by: None,
    }
}

/// Grants each pair its observed overlap, or says why not.
fn refuse(layer: &mut LayerProfile) {
    let data_dependent = layer.data_dependent == Some(true);
    for pair in &mut layer.pairs {
        let (input, output) = (&layer.tensors[pair.input], &layer.tensors[pair.output]);
        pair.refusals.clear();
        if input.stores > 0 {
            pair.refusals.push(Refusal::StoresToInput);
        }
        if output.load_before_store.is_some() {
            pair.refusals.push(Refusal::LoadsOldOutput);
        }
        if input.loads == 0 || output.stores == 0 {
            pair.refusals.push(Refusal::NoEvidence);
        }
        if let Some(layer) = &input.used_again_by {
            pair.refusals.push(Refusal::InputUsedAgain(layer.clone()));
        }
        if data_dependent {
            pair.refusals.push(Refusal::DataDependent);
        }
        pair.safe_overlap_bytes = if pair.refusals.is_empty() {
            pair.observed_overlap_bytes
        } else {
            0
        };
    }
}

/// Runs of one program on other inputs do not have its structure.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("run {run} on other inputs has {other} layers where the first run has {first}")]
pub struct StructureDiffers {
    /// Which run, counted from 2.
    pub run: usize,
    /// Layers of that run.
    pub other: usize,
    /// Layers of the first run.
    pub first: usize,
}

impl Profile {
    /// Compares with runs of the same program on other inputs: notes for each layer
    /// whether its accesses depend on the data, and takes overlap away where they do.
    ///
    /// # Errors
    /// When a run has another number of layers.
    pub fn compare_inputs(&mut self, others: &[Profile]) -> Result<(), StructureDiffers> {
        for (run, other) in others.iter().enumerate() {
            if other.layers.len() != self.layers.len() {
                return Err(StructureDiffers {
                    run: run + 2,
                    other: other.layers.len(),
                    first: self.layers.len(),
                });
            }
            for (layer, other) in self.layers.iter_mut().zip(&other.layers) {
                let differs = !same_buffers(layer, other) || layer.pattern != other.pattern;
                layer.data_dependent = Some(differs || layer.data_dependent == Some(true));
            }
        }
        for layer in &mut self.layers {
            refuse(layer);
        }
        Ok(())
    }
}

fn same_buffers(a: &LayerProfile, b: &LayerProfile) -> bool {
    a.tensors.len() == b.tensors.len()
        && a.tensors
            .iter()
            .zip(&b.tensors)
            .all(|(a, b)| a.tensor == b.tensor)
}

const PATTERN_SEED: u64 = 0xcbf2_9ce4_8422_2325;

/// One step of the pattern hash: which bytes, in which order, by load or store.
fn extend_pattern(hash: u64, event: &Event) -> u64 {
    let access = u64::from(event.offset)
        | u64::from(event.tensor) << 32
        | u64::from(event.size_bytes) << 48
        | u64::from(event.kind == AccessKind::Store) << 56;
    (hash ^ access)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .rotate_left(29)
}
