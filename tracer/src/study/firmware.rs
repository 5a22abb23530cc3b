//! The arena of a firmware that runs a model by TensorFlow Lite Micro.

use super::SEARCH_TIME;
use super::error::{About, ArenaPlaceError, ArenaUseError, StudyError};
use super::search_time::within_time;
use super::source::Source;
use crate::mcu::machine::Limits;
use crate::mcu::memory::RegionKind;
use crate::program::allocation::{
    Allocated, AllocationError, AtInference, first_inference, first_inference_of,
};
use crate::program::interpreter::{EventError, EventKind, Events, Interpreted};
use crate::program::runtime::Runtime;
use crate::program::structures::{self, StructureError, Structures};
use crate::program::target::Target;
use dmo_analysis::arena::Layout;
use dmo_analysis::firmware::{
    ArenaUse, Contradiction, Observed, Overlapped, Placed, Placement, overlaps,
};
use dmo_analysis::graph::{Graph, TensorId};
use dmo_analysis::handover::on_device;
use dmo_analysis::optimise::{Task, optimise};
use dmo_analysis::profile::Profile;
use dmo_planner::plan::tflm::ALIGNMENT;
use std::fmt::Display;
use std::ops::Range;

/// Where a program's arena is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArenaPlace {
    /// As the user says it: the name of an object of the program, where there are no addresses.
    pub given: String,
    /// Its addresses, where they are given.
    pub addresses: Option<Range<u64>>,
}

/// What is to be followed in a firmware.
#[derive(Default)]
pub struct FirmwareRequest {
    /// The model; `None` takes the first that the firmware runs.
    pub model: Option<Source>,
    /// The arena; `None` takes the one that the firmware hands to its interpreter.
    pub arena: Option<ArenaPlace>,
    /// Inferences after which the run ends; `None` runs to the program's end.
    pub inferences: Option<usize>,
    /// Bounds on the run to the first inference.
    pub limits: Option<Limits>,
}

/// The model that a program's interpreter runs, in its arena. Where the program has the functions
/// of TensorFlow Lite Micro ([`Runtime`]), the runtime is asked where it has put everything;
/// otherwise its planner is simulated, with the scratch memory of the reference kernels.
///
/// # Errors
/// When the model has several subgraphs or carries a plan that does not fit it, there is no such
/// arena, the program does not run the model, or nothing tells when an operator begins.
pub fn interpreted(
    request: &FirmwareRequest,
    target: &Target,
    runtime: Option<&Runtime>,
) -> Result<Interpreted, StudyError> {
    if let Some(runtime) = runtime {
        return followed(request, target, runtime);
    }
    let limits = request.limits.unwrap_or(super::KERNEL_LIMITS);
    let wanted = |file: &[u8]| match &request.model {
        Some(wanted) => is_model(wanted, file),
        None => read_model(&"the model", file).is_ok(),
    };
    let unseen = match structures::find(target, &wanted, limits) {
        Ok(structures) => return by_structures(request, target, &structures),
        Err(StructureError::Run(error)) => {
            return Err(Box::new(AllocationError::from(error)).into());
        }
        Err(unseen) => Box::new(unseen),
    };
    let (Some(source), Some(arena)) = (&request.model, &request.arena) else {
        return Err(ArenaPlaceError::NoRuntime { unseen }.into());
    };
    let events = Events::find(&target.image);
    let events = events.map_err(|events| ArenaPlaceError::NoEvents { events, unseen })?;
    Ok(Interpreted {
        placed: simulated(source, source.graph(), find_arena(arena, target)?)?,
        events,
    })
}

/// The program has no names, and its memory has what the runtime says of the model.
fn by_structures(
    request: &FirmwareRequest,
    target: &Target,
    structures: &Structures,
) -> Result<Interpreted, StudyError> {
    let limits = request.limits.unwrap_or(super::KERNEL_LIMITS);
    let arena = request.arena.as_ref().ok_or(ArenaPlaceError::NoArena)?;
    let arena = find_arena(arena, target)?;
    let found = first_inference_of(target, structures, &arena, limits).map_err(Box::new)?;
    let source = read_model(
        &format_args!("at {}", found.model.address),
        &found.model.file,
    )?;
    let offsets = planned_offsets(&source)?;
    let graph = with_scratch(source.graph(), &found.model);
    let placement = with_planned_scratch(&graph, offsets.as_deref(), &found, &arena);
    let placement = placement.about(&source.name)?;
    let taken = found.taken(&arena);
    let placed = Placed::read(&graph, offsets.as_deref(), &placement, arena);
    let first = structures.nodes;
    Ok(Interpreted {
        placed: Placed {
            taken,
            ..placed.about(&source.name)?
        },
        events: Events::of_nodes(&structures.invoked(), first, request.inferences),
    })
}

/// Where the runtime says that it has the tensors. The scratch memory lies where its planner puts
/// it, if that planner puts the tensors where they are.
fn with_planned_scratch(
    graph: &Graph,
    offline: Option<&[Option<u64>]>,
    found: &AtInference,
    arena: &Range<u64>,
) -> Result<Placement, StudyError> {
    let tensors = described_tensors(graph, found).ok_or(ArenaPlaceError::OtherStructures)?;
    let open = vec![None; graph.tensors.len()];
    let offline = offline.unwrap_or(&open);
    let device = on_device(graph, &graph.file_order(), offline, false)?;
    let start = arena.start.next_multiple_of(ALIGNMENT);
    let placement = Placement {
        tensors,
        scratch: device
            .scratch
            .iter()
            .map(|&(operator, offset, bytes)| (operator, start + offset, bytes))
            .collect(),
    };
    let planned = needed_tensors(graph).all(|id| {
        let planned = device.tensors[id.0].map(|offset| start + offset);
        planned == Some(placement.tensors[id.0])
    });
    if planned {
        Ok(placement)
    } else {
        Err(ArenaPlaceError::OtherPlanner.into())
    }
}

/// The runtime's planner is simulated. `graph` is the source's, with the scratch buffers of the
/// firmware's kernels.
fn simulated(source: &Source, graph: &Graph, arena: Range<u64>) -> Result<Placed, StudyError> {
    let offsets = planned_offsets(source)?;
    Placed::new(graph, offsets.as_deref(), arena).about(&source.name)
}

/// The offsets that the model carries.
fn planned_offsets(source: &Source) -> Result<Option<Vec<Option<u64>>>, StudyError> {
    let model = || source.name.clone();
    if source.model.graphs.len() != 1 {
        return Err(ArenaPlaceError::Subgraphs { model: model() }.into());
    }
    let carried = source.offline_plan.as_ref().map_err(Clone::clone);
    let carries = carried.about(&source.name)?.is_some();
    let offsets = source.carried_offsets();
    if offsets.is_none() && carries {
        return Err(ArenaPlaceError::Carried { model: model() }.into());
    }
    Ok(offsets)
}

/// The program is run to the first inference of the model, and asked there.
fn followed(
    request: &FirmwareRequest,
    target: &Target,
    runtime: &Runtime,
) -> Result<Interpreted, StudyError> {
    let wanted = |found: &Allocated| match &request.model {
        Some(wanted) => is_model(wanted, &found.file),
        None => true,
    };
    let limits = request.limits.unwrap_or(super::KERNEL_LIMITS);
    let found = first_inference(target, runtime, limits, None, &mut { wanted }).map_err(Box::new);
    let found = match &request.model {
        Some(source) => found.about(&source.name)?,
        None => found?,
    };
    read_interpreted(request, target, runtime, &found)
}

/// What the runtime says of a model whose first inference begins.
pub(super) fn read_interpreted(
    request: &FirmwareRequest,
    target: &Target,
    runtime: &Runtime,
    found: &AtInference,
) -> Result<Interpreted, StudyError> {
    let source = read_model(
        &format_args!("at {}", found.model.address),
        &found.model.file,
    )?;
    let offsets = planned_offsets(&source)?;
    let graph = with_scratch(source.graph(), &found.model);
    let placed = match placement(&graph, found) {
        Some(placement) => {
            let arena = match &request.arena {
                Some(arena) => find_arena(arena, target)?,
                None => handed_over(&placement, &graph, &in_ram(&found.model.arenas, target))?,
            };
            let taken = found.taken(&arena);
            let placed = Placed::read(&graph, offsets.as_deref(), &placement, arena);
            Placed {
                taken,
                ..placed.about(&source.name)?
            }
        }
        None => {
            let arena = request.arena.as_ref().ok_or(ArenaPlaceError::NoArena)?;
            simulated(&source, &graph, find_arena(arena, target)?)?
        }
    };
    let marks = runtime.marks().ok_or(EventError::NoEvents)?;
    let kind = EventKind::Loop {
        graph: found.model.graph,
        inferences: request.inferences,
    };
    Ok(Interpreted {
        placed,
        events: Events { marks, kind },
    })
}

/// The model that lies in the firmware, and where: its file, and what follows it.
pub(super) fn read_model(place: &dyn Display, file: &[u8]) -> Result<Source, StudyError> {
    let name = format!("the model {place} of the firmware");
    Source::of_bytes(&name, file.to_vec()).about(&name)
}

/// Whether the firmware's model is this one, whatever plan and whatever names it carries.
pub(super) fn is_model(wanted: &Source, found: &[u8]) -> bool {
    let file = wanted.file.as_deref().unwrap_or_default();
    if !file.is_empty() && found.starts_with(file) {
        return true;
    }
    let Ok(found) = read_model(&"in the image", found) else {
        return false;
    };
    let (a, b) = (wanted.graph(), found.graph());
    let tensors = a.tensors.iter().zip(&b.tensors);
    let operators = a.operators.iter().zip(&b.operators);
    (a.tensors.len(), a.operators.len()) == (b.tensors.len(), b.operators.len())
        && tensors.into_iter().all(|(a, b)| {
            (&a.shape, a.element_type, a.size_bytes, a.storage)
                == (&b.shape, b.element_type, b.size_bytes, b.storage)
        })
        && operators
            .into_iter()
            .all(|(a, b)| (&a.kind, &a.inputs, &a.outputs) == (&b.kind, &b.inputs, &b.outputs))
}

/// The graph with the scratch buffers that the firmware's kernels have asked for.
fn with_scratch(graph: &Graph, found: &Allocated) -> Graph {
    let mut graph = graph.clone();
    for node in &mut graph.operators {
        node.scratch_bytes.clear();
    }
    for &(operator, bytes) in &found.scratch {
        if let Some(node) = graph.operators.get_mut(operator.0) {
            node.scratch_bytes.push(bytes);
        }
    }
    graph
}

/// Where the runtime has everything; `None` if what it says of a tensor is not what the model says,
/// or is no place in an arena, as of a version with other structures.
pub(super) fn placement(graph: &Graph, found: &AtInference) -> Option<Placement> {
    let tensors = described_tensors(graph, found)?;
    let scratch = found.model.scratch.iter().enumerate();
    let scratch = scratch.map(|(position, &(operator, bytes))| {
        let address = found.scratch_buffer(position)?;
        Some((operator, u64::from(address), bytes))
    });
    let placement = Placement {
        tensors,
        scratch: scratch.collect::<Option<_>>()?,
    };
    let arenas = &found.model.arenas;
    let is_place = |address: u64| match arenas[..] {
        [] => address != 0,
        _ => arenas.iter().any(|arena| arena.contains(&address)),
    };
    let credible = needed_addresses(graph, &placement).all(is_place);
    credible.then_some(placement)
}

/// The address of each tensor as the runtime describes it, if it describes those of the model.
pub(super) fn described_tensors(graph: &Graph, found: &AtInference) -> Option<Vec<u64>> {
    let tensors = graph.tensors.iter().enumerate().map(|(index, tensor)| {
        let described = found.tensor(index)?;
        (described.shape == tensor.shape).then_some(u64::from(described.address))
    });
    tensors.collect()
}

/// The tensors in the arena that an operator has.
fn needed_tensors(graph: &Graph) -> impl Iterator<Item = TensorId> + '_ {
    let operators = graph.operators.iter();
    let tensors = operators.flat_map(|node| node.inputs.iter().chain(&node.outputs));
    let planned = tensors.filter(|&&id| graph.in_arena(id) && graph.tensor(id).size_bytes > 0);
    planned.copied()
}

/// Their addresses.
fn needed_addresses<'a>(
    graph: &'a Graph,
    placement: &'a Placement,
) -> impl Iterator<Item = u64> + 'a {
    needed_tensors(graph).map(|id| placement.tensors[id.0])
}

/// Of what was handed over as an arena, what is RAM.
fn in_ram(arenas: &[Range<u64>], target: &Target) -> Vec<Range<u64>> {
    let is_ram = |arena: &&Range<u64>| {
        let region = target.map.region_of(arena);
        !arena.is_empty() && region.is_some_and(|region| region.kind == RegionKind::Ram)
    };
    arenas.iter().filter(is_ram).cloned().collect()
}

/// The arena that holds the model's tensors; of several that do, the last that was handed over.
fn handed_over(
    placement: &Placement,
    graph: &Graph,
    arenas: &[Range<u64>],
) -> Result<Range<u64>, ArenaPlaceError> {
    let first = needed_addresses(graph, placement).next();
    let holds = |arena: &&Range<u64>| first.is_some_and(|address| arena.contains(&address));
    let found = arenas.iter().rev().find(holds);
    found.cloned().ok_or(ArenaPlaceError::NoArena)
}

/// The arena's addresses.
fn find_arena(place: &ArenaPlace, target: &Target) -> Result<Range<u64>, ArenaPlaceError> {
    let range = match &place.addresses {
        Some(range) => range.clone(),
        None => bytes_of(&place.given, target)?,
    };
    let (arena, Range { start, end }) = (place.given.clone(), range.clone());
    if range.is_empty() {
        return Err(ArenaPlaceError::Empty { arena });
    }
    let region = target.map.region_of(&range);
    if region.is_none_or(|region| region.kind != RegionKind::Ram) {
        return Err(ArenaPlaceError::NotRam {
            arena,
            start,
            end,
            map: target.map.to_string(),
        });
    }
    Ok(range)
}

/// The bytes of an object.
fn bytes_of(name: &str, target: &Target) -> Result<Range<u64>, ArenaPlaceError> {
    let symbols = &target.image.symbols;
    let symbol = name.to_owned();
    match symbols.objects_in_any_namespace(name).as_slice() {
        [found] if found.size_bytes == 0 => Err(ArenaPlaceError::NoSize { symbol }),
        [found] => {
            let start = u64::from(found.address);
            Ok(start..start + u64::from(found.size_bytes))
        }
        [] => {
            let similar = symbols.similar_objects(name);
            let similar = if similar.is_empty() {
                String::new()
            } else {
                format!(" (it has {})", similar.join(", "))
            };
            Err(ArenaPlaceError::NoObject { symbol, similar })
        }
        several => Err(ArenaPlaceError::Several {
            symbol,
            count: several.len(),
        }),
    }
}

/// Whether the firmware did what its plan says.
///
/// # Errors
/// When it did something that the plan cannot explain.
pub(super) fn ensure_explained(placed: &Placed, observed: &Observed) -> Result<(), ArenaUseError> {
    match &observed.contradiction {
        None => Ok(()),
        &Some(Contradiction::Unfinished { given, operators }) => {
            Err(ArenaUseError::Incomplete { given, operators })
        }
        Some(contradiction) if !placed.simulated => Err(ArenaUseError::Unexplained {
            contradiction: contradiction.to_string(),
        }),
        Some(contradiction) => Err(ArenaUseError::Contradiction {
            contradiction: contradiction.to_string(),
            start: placed.arena.start,
            end: placed.arena.end,
        }),
    }
}

/// What is reported of an arena.
///
/// # Errors
/// When the firmware did something that the simulated plan cannot explain.
pub fn arena_use(
    placed: &Placed,
    observed: &Observed,
    profile: &Profile,
) -> Result<ArenaUse, ArenaUseError> {
    ensure_explained(placed, observed)?;
    let allowed = overlaps(placed, profile);
    let task = Task {
        graph: &placed.graph,
        overlaps: &allowed,
        layout: Layout::tflm(),
        reorder: false,
        fixed: &[],
    };
    // What shares memory was not measured.
    let overlapped = if placed.has_overlaps() {
        None
    } else {
        let planned = within_time(SEARCH_TIME, |budget| optimise(task, budget, &mut |_| ()))?;
        Some(Overlapped {
            head_bytes: planned.arena_bytes,
            certificate: planned.certificate(),
        })
    };
    Ok(ArenaUse::new(placed, observed, overlapped))
}
