//! Where stock firmware has each tensor.

use crate::arena::ArenaError;
use crate::graph::{Graph, GraphTensor, Node, OperatorId, Storage, TensorId, TensorType};
use crate::handover::on_device;
use crate::replay::{BufferPlace, Needed, ReplayStep, Resident, alive};
use crate::trace::{Address, ElementType, Layer, Role, Span, Tensor};
use crate::verify::{Occupant, Positions};
use crate::wording::grouped;
use dmo_planner::plan::tflm::ALIGNMENT;
use schemars::JsonSchema;
use serde::Serialize;
use std::ops::Range;

/// Who has planned the arena's head.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The model carries offsets; what it leaves open is placed by the runtime.
    Offline,
    /// The runtime alone.
    Greedy,
    /// The firmware, in a way of its own.
    Firmware,
}

/// Where a runtime says that it has put the buffers of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placement {
    /// For each tensor the address of its first byte, 0 if no operator needs it; of those that are
    /// not in the arena it does not count.
    pub tensors: Vec<u64>,
    /// Scratch buffers: the operator, address and size in bytes.
    pub scratch: Vec<(OperatorId, u64, u64)>,
}

/// What a runtime has taken of an arena, as its `arena_used_bytes` says: bytes from its start, and
/// bytes down from its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
#[expect(missing_docs, reason = "said above")]
pub struct Taken {
    pub head_bytes: u64,
    pub tail_bytes: u64,
}

/// A model in the arena of a firmware.
#[derive(Debug, Clone, PartialEq)]
pub struct Placed {
    /// The model; its operators run in this order.
    pub graph: Graph,
    /// Addresses of the arena.
    pub arena: Range<u64>,
    /// Addresses of its planned part.
    pub head: Range<u64>,
    /// Who has planned it.
    pub origin: Origin,
    /// Whether the layout is simulated, and not what the runtime says of itself.
    pub simulated: bool,
    /// What the runtime has taken of the arena when the first inference begins, where it says so.
    pub taken: Option<Taken>,
    /// What other models keep from one inference to the next: no operator may store there.
    pub foreign: Vec<Range<u64>>,
    /// The operators as layers.
    pub layers: Vec<PlacedLayer>,
}

/// An operator in the arena.
#[derive(Debug, Clone, PartialEq)]
pub struct PlacedLayer {
    /// Its inputs, outputs and scratch buffers, at their addresses. Some may share memory.
    pub layer: Layer,
    /// Bytes of the arena that hold something while it runs.
    pub in_use_bytes: u64,
    /// What each of its tensors is in the model.
    pub(super) places: Vec<Option<BufferPlace>>,
    pub(super) before: Vec<Resident>,
    pub(super) after: Vec<Needed>,
}

impl PlacedLayer {
    /// What the layout says of the step in which the operator runs.
    pub fn step(&self) -> ReplayStep<'_> {
        ReplayStep {
            places: &self.places,
            before: &self.before,
            after: &self.after,
        }
    }
}

/// Why a model cannot be placed in an arena.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum PlaceError {
    #[error("the model has no operators")]
    Empty,
    #[error(transparent)]
    Arena(#[from] ArenaError),
    #[error("tensor {} {name:?} has elements of type {given}, which is not known", tensor.0)]
    ElementType {
        tensor: TensorId,
        name: String,
        given: TensorType,
    },
    #[error(
        "operator {} {kind}: its {one:?} and {other:?} share memory, so that what it stores to one destroys the other", operator.0
    )]
    OwnBuffers {
        operator: OperatorId,
        kind: String,
        one: String,
        other: String,
    },
    #[error(
        "the firmware has {name:?}, {} bytes, at {address:#010x}, which is not in the arena [{:#010x}, {:#010x})\n  hint: is that the whole array of the arena? Where it has a symbol, --arena takes its name",
        grouped(*size_bytes), arena.start, arena.end
    )]
    OutsideArena {
        name: String,
        size_bytes: u64,
        address: u64,
        arena: Range<u64>,
    },
    #[error(
        "the model's plan needs {} bytes, and the arena [{:#010x}, {:#010x}) has {} from its first multiple of {ALIGNMENT} on\n  hint: is it the arena's address, and the model that the firmware runs?",
        grouped(*needed), arena.start, arena.end, grouped(*given)
    )]
    TooSmall {
        needed: u64,
        given: u64,
        arena: Range<u64>,
    },
}

impl Placed {
    /// Simulates the runtime on an arena at these addresses. `offline` has an offset in bytes for
    /// each tensor, `None` if the runtime plans it; without it the runtime plans all.
    ///
    /// # Errors
    /// When the arena is too small or not below 4 GiB, an offset is not a multiple of 16, or a
    /// tensor's type is not known.
    pub fn new(
        graph: &Graph,
        offline: Option<&[Option<u64>]>,
        arena: Range<u64>,
    ) -> Result<Self, PlaceError> {
        if graph.operators.is_empty() {
            return Err(PlaceError::Empty);
        }
        let order = graph.file_order();
        let open = vec![None; graph.tensors.len()];
        let device = on_device(graph, &order, offline.unwrap_or(&open), false)?;
        let start = arena.start.next_multiple_of(ALIGNMENT);
        let given = arena.end.min(1 << 32).saturating_sub(start);
        if device.arena_bytes > given {
            return Err(PlaceError::TooSmall {
                needed: device.arena_bytes,
                given,
                arena,
            });
        }
        let planned = offline.is_some_and(|offsets| offsets.iter().any(Option::is_some));
        let origin = if planned {
            Origin::Offline
        } else {
            Origin::Greedy
        };
        let buffers = Buffers {
            tensors: device.tensors,
            scratch: device.scratch,
            bytes: device.arena_bytes,
        };
        Ok(Self {
            layers: buffers.layers(graph, start)?,
            graph: graph.clone(),
            head: start..start + buffers.bytes,
            arena,
            origin,
            simulated: true,
            taken: None,
            foreign: Vec::new(),
        })
    }

    /// Takes what a runtime says of itself. `graph` has the scratch buffers that the firmware's
    /// kernels ask for; `offline` as for [`Placed::new`].
    ///
    /// # Errors
    /// When a buffer does not lie in the arena, or a tensor's type is not known.
    pub fn read(
        graph: &Graph,
        offline: Option<&[Option<u64>]>,
        placement: &Placement,
        arena: Range<u64>,
    ) -> Result<Self, PlaceError> {
        if graph.operators.is_empty() {
            return Err(PlaceError::Empty);
        }
        let start = arena.start.next_multiple_of(ALIGNMENT);
        let inside = |name: &str, address: u64, size_bytes: u64| {
            let end = address.saturating_add(size_bytes);
            if address < start || end > arena.end.min(1 << 32) {
                return Err(PlaceError::OutsideArena {
                    name: name.to_owned(),
                    size_bytes,
                    address,
                    arena: arena.clone(),
                });
            }
            Ok(address - start)
        };
        let offset = |(tensor, &address): (&GraphTensor, &u64)| {
            let in_arena = tensor.storage == Storage::Arena && tensor.size_bytes > 0;
            let offset = (in_arena && address != 0)
                .then(|| inside(&tensor.name, address, tensor.size_bytes));
            offset.transpose()
        };
        let tensors = graph.tensors.iter().zip(&placement.tensors).map(offset);
        let scratch = placement.scratch.iter().map(|&(operator, address, bytes)| {
            Ok((operator, inside("scratch", address, bytes)?, bytes))
        });
        let buffers = Buffers::new(
            graph,
            tensors.collect::<Result<_, PlaceError>>()?,
            scratch.collect::<Result<_, PlaceError>>()?,
        );
        Ok(Self {
            layers: buffers.layers(graph, start)?,
            graph: graph.clone(),
            head: start..start + buffers.bytes,
            arena,
            origin: buffers.origin(graph, offline),
            simulated: false,
            taken: None,
            foreign: Vec::new(),
        })
    }

    /// The operator of the layer with this number: inferences follow one another.
    pub fn operator(&self, layer: usize) -> OperatorId {
        OperatorId(layer % self.layers.len())
    }

    /// The operator as a layer.
    pub fn layer(&self, operator: OperatorId) -> &PlacedLayer {
        &self.layers[operator.0]
    }

    /// The operator in the model.
    pub fn node(&self, operator: OperatorId) -> &Node {
        &self.graph.operators[operator.0]
    }

    /// Whether an operator's input and output share memory.
    pub fn has_overlaps(&self) -> bool {
        let overlap = |layer: &Layer| {
            let mut ranges: Vec<Range<u64>> = layer.tensors.iter().map(bytes).collect();
            ranges.sort_by_key(|range| range.start);
            ranges.windows(2).any(|pair| pair[0].end > pair[1].start)
        };
        self.layers.iter().any(|placed| overlap(&placed.layer))
    }
}

fn bytes(tensor: &Tensor) -> Range<u64> {
    u64::from(tensor.address.0)..tensor.end()
}

/// Where everything lies, by offsets in the head.
struct Buffers {
    /// One for each tensor; `None` if it is not in the arena.
    tensors: Vec<Option<u64>>,
    /// The operator, offset and size in bytes.
    scratch: Vec<(OperatorId, u64, u64)>,
    /// Size of the head.
    bytes: u64,
}

impl Buffers {
    fn new(graph: &Graph, tensors: Vec<Option<u64>>, scratch: Vec<(OperatorId, u64, u64)>) -> Self {
        let placed = graph.tensors.iter().zip(&tensors);
        let ends = placed.filter_map(|(tensor, offset)| Some((*offset)? + tensor.size_bytes));
        let scratch_ends = scratch.iter().map(|(_, offset, bytes)| offset + bytes);
        Self {
            bytes: ends.chain(scratch_ends).max().unwrap_or(0),
            tensors,
            scratch,
        }
    }

    /// The operators, in the file's order.
    fn layers(&self, graph: &Graph, start: u64) -> Result<Vec<PlacedLayer>, PlaceError> {
        let order = graph.file_order();
        let positions = Positions {
            tensors: &self.tensors,
            scratch: &self.scratch,
            keep_inputs: false,
        };
        let alive = alive(graph, &order, positions).map_err(ArenaError::from)?;
        let mut layers = Vec::new();
        for (operator, alive) in order.into_iter().zip(alive) {
            let (layer, places) = layer(graph, self, operator, start)?;
            ensure_own_apart(&layer, operator)?;
            layers.push(PlacedLayer {
                in_use_bytes: in_use_bytes(&layer, &alive.before, start),
                layer,
                places,
                before: alive.before,
                after: alive.after,
            });
        }
        Ok(layers)
    }

    /// Who has planned it: whose simulation gives the same.
    fn origin(&self, graph: &Graph, offline: Option<&[Option<u64>]>) -> Origin {
        let planned = offline.filter(|offsets| offsets.iter().any(Option::is_some));
        if let Some(offsets) = planned {
            let mut both = offsets.iter().zip(&self.tensors);
            let obeyed =
                both.all(|(given, found)| found.is_none() || given.is_none() || given == found);
            return if obeyed {
                Origin::Offline
            } else {
                Origin::Firmware
            };
        }
        let open = vec![None; graph.tensors.len()];
        match on_device(graph, &graph.file_order(), &open, false) {
            Ok(device) if device.tensors == self.tensors && device.scratch == self.scratch => {
                Origin::Greedy
            }
            _ => Origin::Firmware,
        }
    }
}

/// The operator's buffers, each once.
fn layer(
    graph: &Graph,
    buffers: &Buffers,
    operator: OperatorId,
    start: u64,
) -> Result<(Layer, Vec<Option<BufferPlace>>), PlaceError> {
    let node = &graph.operators[operator.0];
    let mut tensors: Vec<Tensor> = Vec::new();
    let mut places = Vec::new();
    let mut add = |occupant, role, name: &str, offset: u64, size_bytes: u64, element_type| {
        places.push(Some(BufferPlace::whole(occupant, offset)));
        tensors.push(Tensor {
            name: unique(name, &tensors),
            role,
            // The head ends below 4 GiB.
            address: Address((start + offset) as u32),
            size_bytes: size_bytes as u32,
            element_type,
        });
    };
    let inputs = graph.arena_inputs(node).into_iter();
    let outputs = graph.arena_outputs(node).into_iter();
    let operands = inputs.map(|id| (id, Role::Input));
    for (id, role) in operands.chain(outputs.map(|id| (id, Role::Output))) {
        let tensor = graph.tensor(id);
        // What has no bytes has no place.
        let Some(offset) = buffers.tensors[id.0] else {
            continue;
        };
        let element_type = tensor.element_type.element();
        let element_type = element_type.ok_or_else(|| PlaceError::ElementType {
            tensor: id,
            name: tensor.name.clone(),
            given: tensor.element_type,
        })?;
        let occupant = Occupant::Tensor(id);
        add(
            occupant,
            role,
            &tensor.name,
            offset,
            tensor.size_bytes,
            element_type,
        );
    }
    for &(owner, offset, size_bytes) in &buffers.scratch {
        if owner == operator {
            let (occupant, kind) = (Occupant::Scratch(operator), ElementType::Uint8);
            add(occupant, Role::Scratch, "scratch", offset, size_bytes, kind);
        }
    }
    let output = tensors.iter().find(|tensor| tensor.role == Role::Output);
    let name = output.map_or(node.kind.name(), |output| &output.name);
    let layer = Layer {
        span: Span::Layer,
        name: name.to_owned(),
        operator: node.kind.name().to_owned(),
        tensors,
    };
    Ok((layer, places))
}

/// Outputs and scratch buffers of one operator keep apart. Whose bytes an access to memory that two
/// of them share is of could not be told.
fn ensure_own_apart(layer: &Layer, operator: OperatorId) -> Result<(), PlaceError> {
    let stored = layer.tensors.iter();
    let stored = stored.filter(|tensor| matches!(tensor.role, Role::Output | Role::Scratch));
    let mut stored: Vec<&Tensor> = stored.filter(|tensor| tensor.size_bytes > 0).collect();
    stored.sort_by_key(|tensor| tensor.address.0);
    let clash = stored
        .windows(2)
        .find(|pair| pair[0].end() > u64::from(pair[1].address.0));
    match clash {
        None => Ok(()),
        Some(pair) => Err(PlaceError::OwnBuffers {
            operator,
            kind: layer.operator.clone(),
            one: pair[0].name.clone(),
            other: pair[1].name.clone(),
        }),
    }
}

/// A name that no other tensor of the layer has.
fn unique(name: &str, others: &[Tensor]) -> String {
    let taken = |name: &str| others.iter().any(|other| other.name == name);
    let mut fresh = name.to_owned();
    let mut number = 2;
    while taken(&fresh) {
        fresh = format!("{name}#{number}");
        number += 1;
    }
    fresh
}

/// Bytes that the layer's buffers and what waits for later operators cover together.
fn in_use_bytes(layer: &Layer, before: &[Resident], start: u64) -> u64 {
    let own = layer.tensors.iter().map(bytes);
    let waiting = before.iter().map(|resident| {
        let first = start + resident.offset;
        first..first + resident.size_bytes
    });
    let mut ranges: Vec<Range<u64>> = own.chain(waiting).collect();
    ranges.sort_by_key(|range| range.start);
    let mut reached = 0;
    let mut sum = 0;
    for range in ranges {
        sum += range.end.saturating_sub(reached.max(range.start));
        reached = reached.max(range.end);
    }
    sum
}
