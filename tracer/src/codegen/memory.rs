//! The arrays that an application provides: the arena, or one for each memory of a plan of several.

use dmo_analysis::handover::PlannedRegion;
use dmo_planner::regions::RegionOffset;
use std::ops::Range;

/// An array that the application provides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Memory {
    /// Its name in C: `arena`, or `tcm_memory` of a region `tcm`.
    pub name: String,
    /// The region that it lies in; `None` of the arena of a plan of one memory.
    pub region: Option<String>,
    /// Its bytes in the arena of the plan, in which memories follow each other.
    pub extent: Range<u32>,
    /// It begins at a multiple of this many bytes.
    pub alignment: u32,
    /// What an access takes there, in cycles.
    pub access_cycles: u32,
}

/// A byte of one of the arrays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Place {
    /// Which of them.
    pub memory: usize,
    /// Where in it, in bytes.
    pub offset_bytes: u32,
}

/// The memories that a model was planned in; none if it is one arena.
#[derive(Debug, Clone, Default)]
pub struct PlannedMemories {
    /// The memories.
    pub regions: Vec<PlannedRegion>,
    /// Where in them the states lie; `None` if there are none.
    pub states: Option<RegionOffset>,
}

/// Why a memory cannot be an array in C.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum MemoryError {
    #[error("regions {one} and {other} have the same name in C, {name}\n  hint: other names")]
    SameName {
        one: String,
        other: String,
        name: String,
    },
    #[error(
        "region {name} begins at multiples of {alignment} bytes, and compilers align arrays to powers of \
         2\n  hint: another align="
    )]
    Alignment { name: String, alignment: u64 },
}

/// Longer names are cut.
const MOST_NAME: usize = 24;

impl Memory {
    /// The arena of a plan of one memory.
    pub fn arena(bytes: u32) -> Self {
        Self {
            name: "arena".to_owned(),
            region: None,
            extent: 0..bytes,
            alignment: crate::call::ALIGNMENT,
            access_cycles: 1,
        }
    }

    /// An array for each region in which something lies.
    ///
    /// # Errors
    /// When C has no such array.
    pub fn of_regions(regions: &[PlannedRegion]) -> Result<Vec<Self>, MemoryError> {
        let mut memories: Vec<Self> = Vec::new();
        for known in regions.iter().filter(|known| known.used_bytes > 0) {
            let called = &known.region.name;
            let name = format!("{}_memory", identifier(called));
            if let Some(other) = memories.iter().find(|other| other.name == name) {
                return Err(MemoryError::SameName {
                    one: other.region.clone().unwrap_or_default(),
                    other: called.clone(),
                    name,
                });
            }
            let alignment = u32::try_from(known.alignment).ok();
            let alignment = alignment.filter(|alignment| alignment.is_power_of_two());
            memories.push(Self {
                name,
                region: Some(called.clone()),
                extent: known.start as u32..known.end() as u32,
                alignment: alignment.ok_or_else(|| MemoryError::Alignment {
                    name: called.clone(),
                    alignment: known.alignment,
                })?,
                access_cycles: known.region.access_cost,
            });
        }
        if memories.is_empty() {
            memories.push(Self::arena(0));
        }
        Ok(memories)
    }

    /// Size of the array in bytes.
    pub fn bytes(&self) -> u32 {
        self.extent.end - self.extent.start
    }

    /// Which array a byte of the plan's arena lies in, and where in it.
    pub fn locate(memories: &[Self], offset: u32) -> Option<Place> {
        let memory = memories.iter().position(|it| it.extent.contains(&offset))?;
        let offset_bytes = offset - memories[memory].extent.start;
        Some(Place {
            memory,
            offset_bytes,
        })
    }
}

/// What of a region's name can be a part of one in C.
pub(super) fn identifier(name: &str) -> String {
    let allowed = |character: char| match character {
        'a'..='z' | 'A'..='Z' | '0'..='9' => character.to_ascii_lowercase(),
        _ => '_',
    };
    let name: String = name.chars().take(MOST_NAME).map(allowed).collect();
    // No name in C begins with a digit.
    if name.starts_with(|first: char| first.is_ascii_digit()) {
        format!("m{name}")
    } else {
        name
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

    use super::{Memory, Place};
    use dmo_analysis::handover::PlannedRegion;
    use dmo_planner::regions::ArenaRegion;

    #[test]
    fn bytes_lie_in_the_memory_that_uses_them() {
        let region = |name: &str, alignment| ArenaRegion {
            name: name.to_owned(),
            capacity_bytes: 1 << 20,
            access_cost: 1,
            alignment,
        };
        let given = [region("a", 1), region("b", 32), region("c", 1)];
        let regions = PlannedRegion::in_one_arena(&given, &[50, 0, 7], 16).unwrap();
        let memories = Memory::of_regions(&regions).unwrap();
        let at = |memory, offset_bytes| {
            Some(Place {
                memory,
                offset_bytes,
            })
        };
        let cases = [
            (0, at(0, 0)),
            (49, at(0, 49)),
            (50, None),
            // What is empty has no array.
            (64, at(1, 0)),
            (70, at(1, 6)),
            (71, None),
        ];
        for (offset, expected) in cases {
            assert_eq!(Memory::locate(&memories, offset), expected, "{offset}");
        }
    }
}
