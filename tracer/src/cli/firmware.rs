//! Options that say which model a firmware runs, and in which arena.

use super::plan::source::Source;
use anyhow::Context;
use dmo_analysis::firmware::{ArenaUse, Observed, Overlapped, Placed, overlaps};
use dmo_analysis::optimise::{Task, optimise};
use dmo_analysis::profile::Profile;
use dmo_analysis::{arena::Layout, graph::tflite::offline_plan};
use dmo_trace::mcu::memory::RegionKind;
use dmo_trace::program::target::Target;
use std::ops::Range;
use std::time::Duration;

/// A model in a firmware.
#[derive(clap::Args)]
pub struct FirmwareOptions {
    /// The .tflite model that the program runs with TensorFlow Lite Micro; its operators become the
    /// layers (docs/firmware.md)
    #[arg(long, value_name = "FILE", requires = "arena", conflicts_with_all = ["one", "files"])]
    model: Option<String>,
    /// The interpreter's tensor arena: a symbol of the program, or addresses, for example
    /// 0x20000000..0x20010000
    #[arg(long, value_name = "SYMBOL", requires = "model")]
    arena: Option<String>,
}

impl FirmwareOptions {
    /// The model in the program's arena; none where no option names one.
    pub fn placed(&self, target: &Target) -> anyhow::Result<Option<Placed>> {
        let (Some(model), Some(arena)) = (&self.model, &self.arena) else {
            return Ok(None);
        };
        let source = Source::load(model)?;
        anyhow::ensure!(
            source.model.graphs.len() == 1,
            "{} has several subgraphs, whose operators run inside one another: that is not supported",
            source.name
        );
        let carries = match &source.file {
            Some(file) => offline_plan(file)
                .with_context(|| source.name.clone())?
                .is_some(),
            None => false,
        };
        let offsets = source.carried_offsets();
        anyhow::ensure!(
            offsets.is_some() || !carries,
            "{}: the plan that it carries does not fit its tensors",
            source.name
        );
        let arena = find_arena(arena, target)?;
        let placed = Placed::new(source.graph(), offsets.as_deref(), arena);
        Ok(Some(placed.with_context(|| source.name.clone())?))
    }
}

/// A symbol's bytes, or `START..END`.
fn find_arena(given: &str, target: &Target) -> anyhow::Result<Range<u64>> {
    const HINT: &str = "hint: --arena START..END takes addresses";
    let range = match given.split_once("..") {
        Some((start, end)) => {
            let parse = |text| super::run::parse_address(text).map_err(anyhow::Error::msg);
            let (start, end) = (parse(start)?, parse(end)?);
            u64::from(start)..u64::from(end)
        }
        None => {
            let symbols = &target.image.symbols;
            match symbols.objects_in_any_namespace(given).as_slice() {
                [symbol] => {
                    anyhow::ensure!(
                        symbol.size_bytes > 0,
                        "the program does not say the size of {given:?}\n  {HINT}"
                    );
                    let start = u64::from(symbol.address);
                    start..start + u64::from(symbol.size_bytes)
                }
                [] => {
                    let similar = symbols.similar_objects(given);
                    let similar = if similar.is_empty() {
                        String::new()
                    } else {
                        format!(" (it has {})", similar.join(", "))
                    };
                    anyhow::bail!("the program has no object {given:?}{similar}\n  {HINT}")
                }
                several => anyhow::bail!("{} objects are named {given:?}\n  {HINT}", several.len()),
            }
        }
    };
    anyhow::ensure!(!range.is_empty(), "arena {given:?} has no bytes");
    let region = target.map.region_of(&range);
    anyhow::ensure!(
        region.is_some_and(|region| region.kind == RegionKind::Ram),
        "arena {given:?}, [{:#010x}, {:#010x}), is not in RAM: {}",
        range.start,
        range.end,
        target.map
    );
    Ok(range)
}

/// What the search for an overlapped plan may take.
const SEARCH: Duration = Duration::from_secs(10);

/// What is reported of an arena.
///
/// # Errors
/// When the firmware did something that the simulated plan cannot explain.
pub fn arena_use(
    placed: &Placed,
    observed: &Observed,
    profile: &Profile,
) -> anyhow::Result<ArenaUse> {
    if let Some(contradiction) = &observed.contradiction {
        anyhow::bail!(
            "the firmware's plan is not the one simulated: {contradiction}\n  hint: is it the model that the firmware runs, its arena ({:#010x} to {:#010x}), and are its kernels those whose scratch memory is known? (docs/firmware.md)",
            placed.arena.start,
            placed.arena.end
        );
    }
    let allowed = overlaps(placed, profile);
    let task = Task {
        graph: &placed.graph,
        overlaps: &allowed,
        layout: Layout::tflm(),
        reorder: false,
        fixed: &[],
    };
    let overlapped = match placed.has_overlaps() {
        // What shares memory was not measured.
        true => None,
        false => {
            let planned = optimise(task, SEARCH, &mut |_| ())?;
            Some(Overlapped {
                head_bytes: planned.arena_bytes,
                certificate: planned.certificate(),
            })
        }
    };
    Ok(ArenaUse::new(placed, observed, overlapped))
}
