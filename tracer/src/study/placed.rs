//! Where a model's tensors lie in several memories.

use dmo_analysis::arena::Arena;
use dmo_analysis::graph::OperatorId;
use dmo_analysis::handover::{PlanFile, PlannedRegion, PlannedScratch};
use dmo_analysis::optimise::Task;
use dmo_planner::regions::RegionOffset;

/// A planned model in several memories.
#[derive(Debug, Clone)]
pub struct PlacedModel {
    /// The memories, how much of each is used, and where they lie in the arena that they make.
    pub regions: Vec<PlannedRegion>,
    /// Where each tensor of the model lies; `None` if it is in no region.
    pub tensors: Vec<Option<RegionOffset>>,
    /// Where the scratch buffers lie: the operator, which of its own, the place, the size in bytes.
    pub scratch: Vec<(OperatorId, usize, RegionOffset, u64)>,
    /// Where the states lie, one after the other; `None` if there are none or they were not placed.
    pub states: Option<RegionOffset>,
    /// Accesses to all that lies in each region.
    pub accesses: Vec<u64>,
    /// Those to states among them.
    pub state_accesses: u64,
    /// Accesses to the buffer in which each tensor lies.
    pub accesses_of: Vec<Option<u64>>,
    /// What all accesses cost.
    pub cost: u64,
    /// No plan for this order costs less.
    pub bound: u64,
    /// The operators whose accesses are assumed: each element once.
    pub assumed: Vec<OperatorId>,
    /// The tensors and scratch buffers as buffers of a planning problem.
    pub arena: Arena,
    /// Offset of each of them in the arena that the regions make.
    pub offsets: Vec<u64>,
}

impl PlacedModel {
    /// Whether the plan is proven to be the best for its order.
    pub fn is_optimal(&self) -> bool {
        self.cost == self.bound
    }

    /// Cycles that the core waits for memory: all that an access takes but the first.
    pub fn wait_cycles(&self) -> u64 {
        self.cost - self.accesses.iter().sum::<u64>().min(self.cost)
    }

    /// First byte of something in the arena in which the memories follow each other.
    pub fn offset_of(&self, place: RegionOffset) -> u64 {
        self.regions[place.region].start + place.offset
    }

    /// The plan of the task, as one of that arena.
    pub fn in_one_arena(&self, task: Task<'_>, file: PlanFile) -> PlanFile {
        let tensors = self.tensors.iter();
        let tensors: Vec<_> = tensors
            .map(|place| place.map(|place| self.offset_of(place)))
            .collect();
        let scratch = self.scratch.iter();
        let scratch = scratch.map(|&(operator, index, place, size_bytes)| PlannedScratch {
            operator,
            index,
            offset: self.offset_of(place),
            size_bytes,
        });
        file.in_regions(task, self.regions.clone(), &tensors, scratch.collect())
    }
}
