//! What each layer did to its buffers, and how far each input may overlap each output.
//!
//! | module | what it holds |
//! |---|---|
//! | [`lifetime`] | per byte: first store, last store, last use |
//! | [`overlap`] | the safe overlap O_s of a pair, and all safe displacements |
//! | [`pattern`] | a fingerprint of a layer's accesses, to compare runs |

pub mod lifetime;
pub mod overlap;
pub mod pattern;
mod profiler;

pub use profiler::Profiler;

use crate::profile::overlap::{Access, Binding, SafeDisplacements};
use crate::profile::pattern::Pattern;
use crate::trace::{Address, Event, Tensor, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a whole program did.
#[derive(Debug, Clone, PartialEq, Eq, Default, JsonSchema, Serialize, Deserialize)]
pub struct Profile {
    /// The layers, in program order.
    pub layers: Vec<LayerProfile>,
}

/// What one layer did.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
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
    /// The sequence of accesses, for comparison with other runs.
    pub pattern: Pattern,
    /// Whether the sequence of accesses depends on the values of the inputs; none
    /// where only one input was tried.
    pub data_dependent: Option<bool>,
}

impl LayerProfile {
    /// Grants no overlap: data decide what is accessed, whether or not the inputs tried show it.
    pub fn refuse_as_data_dependent(&mut self) {
        self.data_dependent = Some(true);
        grant_or_refuse(self);
    }

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
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
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
    /// The first load of the same content by code between layers, later on.
    pub loaded_between_layers: Option<Access>,
}

/// Why an input must not overlap an output, whatever the sweep says.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case", tag = "kind", content = "detail")]
pub enum Refusal {
    /// The layer stores to its input.
    #[error("the layer stores to its input")]
    StoresToInput,
    /// The layer loads bytes of its output before it stores them.
    #[error("the layer loads its output before it stores it")]
    LoadsOldOutput,
    /// A later layer, named here, loads the input again.
    #[error("layer '{0}' loads the input again")]
    InputUsedAgain(String),
    /// The layer leaves bytes of its output as they were: whoever wrote them before, they
    /// would be the input's.
    #[error("the layer does not store the whole output")]
    LeavesOldOutput,
    /// The accesses depend on the data: another input may need a larger displacement.
    #[error("the accesses depend on the data")]
    DataDependent,
    /// The layer loads or stores other bytes where the two overlap than where they lie apart: it looks
    /// at where they are.
    #[error("the layer loads or stores other bytes where they overlap")]
    LayoutDependent,
    /// Input and output share memory in this run: whose bytes an access is of cannot be told.
    #[error("they share memory in this run")]
    SharedMemory,
    /// The layer never loads the input or never stores the output: there is no
    /// evidence for any overlap (is the buffer's address right?).
    #[error("the input is never loaded or the output never stored")]
    NoEvidence,
}

/// How far one input may overlap one output.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
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
    /// Displacement 0 is safe, whatever greater ones are: both buffers may start at the same
    /// byte, so that all of the smaller one is shared. False where `refusals` is not empty.
    pub in_place: bool,
    /// The same on this trace, before any refusal.
    pub observed_in_place: bool,
    /// The least displacement `input_start - output_start` in bytes that is safe
    /// together with all larger ones, on this trace.
    pub displacement_bytes: u32,
    /// What forbids a smaller displacement.
    pub binding: Option<Binding>,
    /// The whole set of safe displacements on this trace.
    pub safe_displacements: SafeDisplacements,
}

impl Pair {
    /// Grants no overlap, for this reason beside others.
    pub fn refuse(&mut self, refusal: Refusal) {
        self.refusals.push(refusal);
        self.in_place = false;
        self.safe_overlap_bytes = 0;
    }

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

/// Grants each pair its observed overlap, or says why not.
fn grant_or_refuse(layer: &mut LayerProfile) {
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
        } else if output.never_stored_bytes > 0 {
            pair.refusals.push(Refusal::LeavesOldOutput);
        }
        if let Some(layer) = &input.used_again_by {
            pair.refusals.push(Refusal::InputUsedAgain(layer.clone()));
        }
        if data_dependent {
            pair.refusals.push(Refusal::DataDependent);
        }
        let (one, other) = (&input.tensor, &output.tensor);
        if u64::from(one.address.0) < other.end() && u64::from(other.address.0) < one.end() {
            pair.refusals.push(Refusal::SharedMemory);
        }
        pair.in_place = pair.refusals.is_empty() && pair.observed_in_place;
        pair.safe_overlap_bytes = if pair.refusals.is_empty() {
            pair.observed_overlap_bytes
        } else {
            0
        };
    }
}

/// What a layer did on another input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OtherInput {
    /// Its accesses.
    Accesses(Pattern),
    /// It could not go on, for this reason.
    Failed(String),
}

impl Profile {
    /// Compares with what the layers did on other inputs, one list a layer: notes whether
    /// their accesses depend on the data, and takes overlap away where they do. A layer
    /// that fails on another input depends on its data; so does each of a program that
    /// does not have the same layers again. A layer with an empty list stays unchecked.
    pub fn compare_inputs(&mut self, others: &[Vec<OtherInput>]) {
        let same_layers = others.len() == self.layers.len();
        for (index, layer) in self.layers.iter_mut().enumerate() {
            let same = |other: &OtherInput| *other == OtherInput::Accesses(layer.pattern);
            let tried = others.get(index).map_or(&[][..], Vec::as_slice);
            if !same_layers || !tried.is_empty() {
                layer.data_dependent = Some(!same_layers || !tried.iter().all(same));
            }
        }
        self.layers.iter_mut().for_each(grant_or_refuse);
    }

    /// Takes over what an earlier comparison found, one entry a layer.
    pub fn set_data_dependent(&mut self, data_dependent: &[Option<bool>]) {
        for (layer, &data_dependent) in self.layers.iter_mut().zip(data_dependent) {
            layer.data_dependent = data_dependent;
        }
        self.layers.iter_mut().for_each(grant_or_refuse);
    }
}
