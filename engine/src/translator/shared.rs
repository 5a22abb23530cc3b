//! The translations of the whole process. The code of a unit depends on the guest's code and the
//! core alone, so that all machines that execute it share it.

use super::cycles::Counted;
use super::translation::{Stretch, Translation};
use crate::features::Features;
use crate::memory::Memory;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

/// Beyond this many all are forgotten, and stay with the machines that have them.
const MOST: usize = 4096;
/// The most translations that are kept for an address: of other code, or of other cores.
const MOST_AT_AN_ADDRESS: usize = 16;

/// How many instructions are interpreted for each that is translated: about as many as can be in
/// the same time, so that translating takes no more time than interpreting.
const INTERPRETED_FOR_ONE: u64 = 2000;

/// Instructions that all machines have interpreted, less those that translations have cost.
static INTERPRETED: AtomicU64 = AtomicU64::new(0);

/// This many instructions were interpreted.
pub(super) fn add_interpreted(instructions: u64) {
    INTERPRETED.fetch_add(instructions, Ordering::Relaxed);
}

/// Whether so much has been interpreted that translating this many instructions is worth it.
pub(super) fn affords(instructions: u64) -> bool {
    INTERPRETED.load(Ordering::Relaxed) >= instructions * INTERPRETED_FOR_ONE
}

/// The same; if it is, that much is spent.
pub(super) fn spend(instructions: u64) -> bool {
    let cost = instructions * INTERPRETED_FOR_ONE;
    let spent = |had: u64| had.checked_sub(cost);
    INTERPRETED
        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, spent)
        .is_ok()
}

#[derive(Default)]
struct Known {
    /// By where they can be entered.
    translations: HashMap<u32, Vec<Arc<Translation>>>,
    count: usize,
}

static KNOWN: LazyLock<Mutex<Known>> = LazyLock::new(Mutex::default);

fn known() -> MutexGuard<'static, Known> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A translation of the code in this memory that can be entered at an address and has none of the
/// instructions that `excluded` asks about, of each stretch of code.
pub(super) fn find(
    address: u32,
    features: &Features,
    counted: Option<&Counted>,
    memory: &Memory,
    excluded: impl Fn(std::ops::Range<u32>) -> bool,
) -> Option<Arc<Translation>> {
    let known = known();
    let mut candidates = known.translations.get(&address)?.iter();
    let fits = |translation: &&Arc<Translation>| {
        translation.features == *features
            && translation.counted.as_ref() == counted
            && translation.stretches.iter().all(|stretch| {
                !excluded(stretch.range()) && memory.has_code(stretch.start, &stretch.bytes)
            })
    };
    let found = candidates.find(fits)?;
    Some(Arc::clone(found.better().unwrap_or(found)))
}

/// One of the same code that counts cycles otherwise: what is worth translating for others is worth
/// it again.
pub(super) fn find_otherwise(
    address: u32,
    features: &Features,
    counted: Option<&Counted>,
    memory: &Memory,
) -> Option<Arc<Translation>> {
    let known = known();
    let mut candidates = known.translations.get(&address)?.iter();
    let fits = |translation: &&Arc<Translation>| {
        let has_code = |stretch: &Stretch| memory.has_code(stretch.start, &stretch.bytes);
        translation.features == *features
            && translation.counted.as_ref() != counted
            && translation.stretches.iter().all(has_code)
    };
    candidates.find(fits).map(Arc::clone)
}

/// Keeps a translation for all machines.
pub(super) fn keep(translation: &Arc<Translation>) {
    let mut known = known();
    if known.count >= MOST {
        *known = Known::default();
    }
    known.count += 1;
    for &entry in &translation.entries {
        let here = known.translations.entry(entry).or_default();
        if here.len() >= MOST_AT_AN_ADDRESS {
            here.remove(0);
        }
        here.push(Arc::clone(translation));
    }
}
