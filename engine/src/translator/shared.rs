//! The translations of the whole process. The code of a unit depends on the unit and the core
//! alone, so that all machines that execute it share it.

use super::translation::Translation;
use super::unit::Unit;
use crate::features::Features;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

/// Beyond this many they are forgotten, and stay with the machines that have them.
const MOST: usize = 4096;

#[derive(Default)]
struct Known {
    /// By the hash of core and unit.
    translations: HashMap<u64, Vec<(Features, Arc<Translation>)>>,
    entries: HashSet<u32>,
    count: usize,
}

static KNOWN: LazyLock<Mutex<Known>> = LazyLock::new(Mutex::default);

fn known() -> MutexGuard<'static, Known> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn hash(unit: &Unit, features: &Features) -> u64 {
    let mut hasher = DefaultHasher::new();
    (unit, features).hash(&mut hasher);
    hasher.finish()
}

/// Whether any translation can be entered at an address.
pub(super) fn may_know(address: u32) -> bool {
    known().entries.contains(&address)
}

/// The translation of a unit, where there is one.
pub(super) fn find(unit: &Unit, features: &Features) -> Option<Arc<Translation>> {
    let known = known();
    let alike = known.translations.get(&hash(unit, features))?;
    let mut alike = alike.iter();
    let same = alike.find(|(core, translation)| core == features && translation.unit == *unit);
    same.map(|(_, translation)| Arc::clone(translation))
}

/// Translates a unit, for all machines; `None` where the host cannot execute it.
pub(super) fn translate(unit: Unit, features: &Features) -> Option<Arc<Translation>> {
    let hash = hash(&unit, features);
    let translation = Arc::new(Translation::of(unit, features)?);
    let mut known = known();
    if known.count >= MOST {
        *known = Known::default();
    }
    known.count += 1;
    known.entries.extend(&translation.entries);
    let alike = known.translations.entry(hash).or_default();
    alike.push((*features, Arc::clone(&translation)));
    Some(translation)
}
