//! The safe overlap O_s of an input buffer with an output buffer.
//!
//! With `OB` and `IB` the sizes of output and input in bytes, the input starts
//! inside the end of the output: `input_start = output_start + displacement`,
//! `displacement = OB - O_s`. A displacement is *safe* when no byte of the output is
//! stored over a byte of the input that is loaded later.
//!
//! ```text
//! output  |<------------- OB ------------->|
//! input                |<-- O_s -->|<----- IB - O_s ----->|
//!         |<- displacement ->|
//! ```
//!
//! Two independent ways lead to it. [`Sweep`] keeps, over the stream of events, the
//! highest byte stored so far; at each load of the input the distance between the
//! two is a displacement that is needed (Blacker et al., III-C, with the bound
//! corrected). [`safe_displacements`] looks at each byte's last load and first store
//! and gives the whole set, which may have holes and also contains the layouts with
//! the input *below* the output.

use crate::trace::{Address, Event, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One access, named as evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Access {
    /// The instruction.
    pub pc: Address,
    /// When, in executed instructions.
    pub time: Time,
    /// First byte, counted from the start of its tensor.
    pub offset: u32,
    /// Number of bytes.
    pub size_bytes: u32,
}

impl From<&Event> for Access {
    fn from(event: &Event) -> Self {
        Self {
            pc: event.pc,
            time: event.time,
            offset: event.offset,
            size_bytes: u32::from(event.size_bytes),
        }
    }
}

/// The store and the later load that forbid a smaller displacement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Binding {
    /// Stores the output byte.
    pub store: Access,
    /// Loads the input byte that the store would have overwritten.
    pub load: Access,
}

/// The sweep over the events of one (input, output) pair, in program order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sweep {
    displacement: u32,
    binding: Option<Binding>,
    highest_store: Option<Access>,
    lowest_stored: u32,
    unsafe_bounds: Option<(i64, i64)>,
}

impl Sweep {
    /// The output's bytes `[offset, offset + size_bytes)` are stored.
    #[inline]
    pub fn store(&mut self, access: Access) {
        let end = access.offset + access.size_bytes;
        self.lowest_stored = match self.highest_store {
            Some(_) => self.lowest_stored.min(access.offset),
            None => access.offset,
        };
        if self
            .highest_store
            .is_none_or(|highest| end > highest.offset + highest.size_bytes)
        {
            self.highest_store = Some(access);
        }
    }

    /// The input's bytes `[offset, offset + size_bytes)` are loaded.
    #[inline]
    pub fn load(&mut self, access: Access) {
        self.loads(access, access.offset + access.size_bytes);
    }

    /// Bytes of the input are loaded, and nothing is stored meanwhile: `lowest_load` is the first of the
    /// loads of the lowest byte, and `end` one past the highest byte.
    #[inline]
    pub fn loads(&mut self, lowest_load: Access, end: u32) {
        let Some(store) = self.highest_store else {
            return;
        };
        let stored_end = store.offset + store.size_bytes;
        let lowest = i64::from(self.lowest_stored) - i64::from(end - 1);
        let highest = i64::from(stored_end) - 1 - i64::from(lowest_load.offset);
        self.unsafe_bounds = Some(match self.unsafe_bounds {
            Some((low, high)) => (low.min(lowest), high.max(highest)),
            None => (lowest, highest),
        });
        let needed = stored_end.saturating_sub(lowest_load.offset);
        if needed > self.displacement {
            self.displacement = needed;
            self.binding = Some(Binding {
                store,
                load: lowest_load,
            });
        }
    }

    /// The least displacement that is safe together with all larger ones, in bytes.
    pub fn displacement(&self) -> u32 {
        self.displacement
    }

    /// The lowest and the highest displacement that are unsafe; none when all are safe.
    pub fn unsafe_bounds(&self) -> Option<(i64, i64)> {
        self.unsafe_bounds
    }

    /// What forbids a smaller displacement; none when it is 0.
    pub fn binding(&self) -> Option<Binding> {
        self.binding
    }
}

/// `O_s = OB - displacement`, clamped to `[0, min(IB, OB)]`. All in bytes.
pub fn overlap_bytes(displacement: u32, input_bytes: u32, output_bytes: u32) -> u32 {
    output_bytes.saturating_sub(displacement).min(input_bytes)
}

/// A half-open range of displacements in bytes; `None` is unbounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct DisplacementRange {
    /// First safe displacement.
    pub from: Option<i64>,
    /// First displacement that is not safe any more.
    pub to: Option<i64>,
}

/// The safe displacements of one pair.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct SafeDisplacements {
    /// In ascending order, disjoint and not adjacent. The first range is unbounded
    /// below (input before output), the last one above (input after output).
    pub ranges: Vec<DisplacementRange>,
    /// False when the search stopped early; displacements that were not examined
    /// then count as unsafe.
    pub complete: bool,
}

/// Comparisons that [`safe_displacements`] may still make in its search for holes.
#[derive(Debug, Clone, Copy)]
pub struct ComparisonBudget(u64);

impl ComparisonBudget {
    /// Nothing is examined any more.
    pub fn exhausted() -> Self {
        Self(0)
    }
}

impl Default for ComparisonBudget {
    /// A few seconds' worth, for all layers of a program together.
    fn default() -> Self {
        Self(8_000_000_000)
    }
}

/// All safe displacements `input_start - output_start`.
///
/// `last_load[r]`: last load of input byte `r`, the least value for never; `first_store[w]`:
/// first store of output byte `w`, the greatest value for never. Displacement `s` is unsafe iff
/// for some `r` the byte `r + s` of the output is stored before the last load of `r`.
/// `bounds`: the lowest and the highest unsafe one ([`Sweep::unsafe_bounds`]).
pub fn safe_displacements<T: Copy + Ord>(
    last_load: &[T],
    first_store: &[T],
    bounds: Option<(i64, i64)>,
    budget: &mut ComparisonBudget,
) -> SafeDisplacements {
    let Some((lowest_unsafe, highest_unsafe)) = bounds else {
        return SafeDisplacements {
            ranges: vec![DisplacementRange {
                from: None,
                to: None,
            }],
            complete: true,
        };
    };
    let mut search = ClashSearch {
        last_load,
        first_store,
        witness: 0,
        budget: budget.0,
    };
    let mut ranges = vec![DisplacementRange {
        from: None,
        to: Some(lowest_unsafe),
    }];
    let mut hole = None;
    for displacement in lowest_unsafe..=highest_unsafe {
        if search.clashes(displacement) {
            ranges.extend(hole.take().map(|from| DisplacementRange {
                from: Some(from),
                to: Some(displacement),
            }));
        } else {
            hole.get_or_insert(displacement);
        }
    }
    ranges.push(DisplacementRange {
        from: Some(highest_unsafe + 1),
        to: None,
    });
    budget.0 = search.budget;
    SafeDisplacements {
        ranges,
        complete: search.budget > 0,
    }
}

/// Whether one displacement is safe, of bytes as in [`safe_displacements`].
pub fn is_safe<T: Copy + Ord>(last_load: &[T], first_store: &[T], displacement: i64) -> bool {
    let mut search = ClashSearch {
        last_load,
        first_store,
        witness: 0,
        budget: u64::MAX,
    };
    !search.clashes(displacement)
}

struct ClashSearch<'a, T> {
    last_load: &'a [T],
    first_store: &'a [T],
    /// An input byte that clashed at a neighbouring displacement. It is tried first:
    /// clashes come in long diagonal runs, and a scan is only needed at their ends.
    witness: usize,
    budget: u64,
}

impl<T: Copy + Ord> ClashSearch<'_, T> {
    /// Whether some input byte's last load comes after the store that lands on it.
    fn clashes(&mut self, displacement: i64) -> bool {
        let first = (-displacement).max(0) as usize;
        let end = (self.first_store.len() as i64 - displacement)
            .clamp(0, self.last_load.len() as i64) as usize;
        if first >= end {
            return false;
        }
        let stores = &self.first_store[(first as i64 + displacement) as usize..];
        let loads = &self.last_load[first..end];
        if (first..end).contains(&self.witness) {
            let at = self.witness - first;
            if stores[at] < loads[at] {
                return true;
            }
        }
        self.budget = self.budget.saturating_sub(loads.len() as u64);
        if self.budget == 0 {
            return true;
        }
        let clash = loads
            .iter()
            .zip(stores)
            .position(|(load, store)| store < load);
        if let Some(at) = clash {
            self.witness = first + at;
        }
        clash.is_some()
    }
}
