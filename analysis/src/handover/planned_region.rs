//! Several memories as one arena, in which they follow each other. Tensors in different memories
//! share no bytes in either.

use dmo_planner::problem::common_multiple;
use dmo_planner::regions::ArenaRegion;

/// A memory may begin at a multiple of this, in bytes.
const ALIGNMENT: u64 = 16;

/// A memory of a plan, and where it lies in the arena that the memories make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedRegion {
    /// The memory.
    pub region: ArenaRegion,
    /// Its first byte in the arena.
    pub start: u64,
    /// How much of it is used, from its first byte on.
    pub used_bytes: u64,
    /// Its first byte has to be a multiple of this many bytes, for all that lies in it.
    pub alignment: u64,
}

impl PlannedRegion {
    /// Memories of which these bytes are used, one after the other; tensors in them are aligned to
    /// `alignment` at least. `None` if no offset is a multiple of all alignments.
    pub fn in_one_arena(
        regions: &[ArenaRegion],
        used_bytes: &[u64],
        alignment: u64,
    ) -> Option<Vec<Self>> {
        let common = common_multiple(alignment, ALIGNMENT)?;
        let grain = regions.iter().try_fold(common, |grain, region| {
            common_multiple(grain, region.alignment)
        })?;
        let mut end = 0_u64;
        let in_turn = regions.iter().zip(used_bytes);
        let in_turn = in_turn.map(|(region, &used_bytes)| {
            let start = end.checked_next_multiple_of(grain)?;
            end = start.saturating_add(used_bytes);
            Some(Self {
                region: region.clone(),
                start,
                used_bytes,
                alignment: common_multiple(common, region.alignment)?,
            })
        });
        in_turn.collect()
    }

    /// The byte after the last one that is used, in the arena.
    pub fn end(&self) -> u64 {
        self.start.saturating_add(self.used_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::PlannedRegion;
    use dmo_planner::regions::ArenaRegion;

    fn region(name: &str, alignment: u64) -> ArenaRegion {
        ArenaRegion {
            name: name.to_owned(),
            capacity_bytes: 1 << 20,
            access_cost: 1,
            alignment,
        }
    }

    #[test]
    fn memories_follow_each_other_where_all_are_aligned() {
        let given = [region("a", 1), region("b", 24), region("c", 1)];
        let regions = PlannedRegion::in_one_arena(&given, &[50, 0, 7], 16).unwrap_or_default();
        let starts: Vec<u64> = regions.iter().map(|it| it.start).collect();
        assert_eq!(starts, [0, 96, 96]);
        let alignments: Vec<u64> = regions.iter().map(|it| it.alignment).collect();
        assert_eq!(alignments, [16, 48, 16]);
    }

    #[test]
    fn alignments_without_a_common_multiple_are_refused() {
        let given = [region("a", (1 << 62) + 1), region("b", (1 << 62) - 1)];
        assert_eq!(PlannedRegion::in_one_arena(&given, &[1, 1], 16), None);
    }
}
