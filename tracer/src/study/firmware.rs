//! The arena of a firmware that runs a model by TensorFlow Lite Micro.

use super::SEARCH_TIME;
use super::error::{About, ArenaPlaceError, StudyError};
use super::search_time::within_time;
use super::source::Source;
use crate::mcu::memory::RegionKind;
use crate::program::target::Target;
use dmo_analysis::arena::{ArenaError, Layout};
use dmo_analysis::firmware::{ArenaUse, Observed, Overlapped, Placed, overlaps};
use dmo_analysis::optimise::{Task, optimise};
use dmo_analysis::profile::Profile;
use std::ops::Range;

/// Where a program's arena is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArenaPlace {
    /// As the user says it: the name of an object of the program, where there are no addresses.
    pub given: String,
    /// Its addresses, where they are given.
    pub addresses: Option<Range<u64>>,
}

/// A model in a program's arena, as TensorFlow Lite Micro places it.
///
/// # Errors
/// When the model has several subgraphs or carries a plan that does not fit it, or there is no
/// such arena.
pub fn placed(source: &Source, arena: &ArenaPlace, target: &Target) -> Result<Placed, StudyError> {
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
    let arena = find_arena(arena, target)?;
    Placed::new(source.graph(), offsets.as_deref(), arena).about(&source.name)
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

/// Why nothing can be said of an arena.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ArenaUseError {
    #[error(
        "the firmware's plan is not the one simulated: {contradiction}\n  hint: is it the model that the firmware runs, its arena ({start:#010x} to {end:#010x}), and are its kernels those whose scratch memory is known? (docs/firmware.md)"
    )]
    Contradiction {
        contradiction: String,
        start: u64,
        end: u64,
    },
    Plan(#[from] ArenaError),
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
    if let Some(contradiction) = &observed.contradiction {
        return Err(ArenaUseError::Contradiction {
            contradiction: contradiction.to_string(),
            start: placed.arena.start,
            end: placed.arena.end,
        });
    }
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
