//! What is to be placed in several regions.

use super::{ArenaRegion, MOST_REGIONS, RegionPlan, RegionsError};
use crate::problem::Problem;

/// Buffers, regions, and how often each buffer is accessed.
#[derive(Debug, Clone)]
pub struct RegionProblem {
    problem: Problem,
    regions: Vec<ArenaRegion>,
    /// The buffers as they have to lie in each region.
    within: Vec<Problem>,
    accesses: Vec<u64>,
    /// Of each buffer, one bit for each region in which it may lie.
    allowed: Vec<u16>,
}

impl RegionProblem {
    /// The buffers of a problem in these regions. Each buffer is accessed `accesses` times, in
    /// the order of the problem's buffers.
    ///
    /// # Errors
    /// When there is no region, too many, two of one name, one with a cost or an alignment of 0
    /// or a far too large one, or the accesses are of other buffers or do not fit in 64 bits.
    pub fn new(
        problem: Problem,
        regions: Vec<ArenaRegion>,
        accesses: Vec<u64>,
    ) -> Result<Self, RegionsError> {
        if regions.is_empty() || regions.len() > MOST_REGIONS {
            let given = regions.len();
            return Err(RegionsError::Count { given });
        }
        let (given, buffers) = (accesses.len(), problem.buffers().len());
        if given != buffers {
            return Err(RegionsError::Accesses { given, buffers });
        }
        let mut within = Vec::with_capacity(regions.len());
        for (index, region) in regions.iter().enumerate() {
            let name = || region.name.clone();
            if regions[..index].iter().any(|it| it.name == region.name) {
                return Err(RegionsError::Twice { name: name() });
            }
            if region.access_cost == 0 {
                return Err(RegionsError::NoCost { name: name() });
            }
            let aligned = problem.aligned_to(region.alignment);
            within.push(aligned.map_err(|error| RegionsError::Alignment {
                name: name(),
                alignment: region.alignment,
                error,
            })?);
        }
        let dearest = regions.iter().map(|region| region.access_cost).max();
        let most = accesses.iter().try_fold(0_u64, |sum, &accesses| {
            sum.checked_add(accesses.checked_mul(dearest.unwrap_or(1).into())?)
        });
        if most.is_none() {
            return Err(RegionsError::TooManyAccesses);
        }
        Ok(Self {
            allowed: vec![u16::MAX >> (MOST_REGIONS - regions.len()); buffers],
            problem,
            regions,
            within,
            accesses,
        })
    }

    /// From now on the buffer has to lie in one of these regions.
    ///
    /// # Errors
    /// When there is no such region, or an earlier pin leaves none.
    pub fn pin(&mut self, buffer: usize, regions: &[usize]) -> Result<(), RegionsError> {
        let mut mask = 0;
        for &region in regions {
            if region >= self.regions.len() {
                let regions = self.regions.len();
                return Err(RegionsError::NoRegion { region, regions });
            }
            mask |= 1 << region;
        }
        if self.allowed[buffer] & mask == 0 {
            let buffer = self.problem.buffers()[buffer].name.clone();
            return Err(RegionsError::PinnedApart { buffer });
        }
        self.allowed[buffer] &= mask;
        Ok(())
    }

    /// The buffers, without the regions' alignments.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// The regions.
    pub fn regions(&self) -> &[ArenaRegion] {
        &self.regions
    }

    /// How often each buffer is accessed.
    pub fn accesses(&self) -> &[u64] {
        &self.accesses
    }

    /// Whether the buffer may lie in the region, as far as it is pinned.
    pub fn is_allowed(&self, buffer: usize, region: usize) -> bool {
        self.allowed[buffer] & (1 << region) != 0
    }

    /// What the accesses of the buffer cost in the region.
    pub fn cost(&self, buffer: usize, region: usize) -> u64 {
        self.accesses[buffer] * u64::from(self.regions[region].access_cost)
    }

    /// What all accesses of a plan cost.
    pub fn total_cost(&self, plan: &RegionPlan) -> u64 {
        let places = plan.places.iter().enumerate();
        places
            .map(|(buffer, place)| self.cost(buffer, place.region))
            .sum()
    }

    /// How much of each region a plan uses: the highest end of a buffer in it, in bytes.
    pub fn used_bytes(&self, plan: &RegionPlan) -> Vec<u64> {
        let mut used = vec![0; self.regions.len()];
        for (buffer, place) in self.problem.buffers().iter().zip(&plan.places) {
            used[place.region] = (place.offset + buffer.size_bytes).max(used[place.region]);
        }
        used
    }

    /// The buffers as they have to lie in the region.
    pub(super) fn within(&self, region: usize) -> &Problem {
        &self.within[region]
    }

    /// The regions in which the buffer may lie, the cheapest first.
    pub(super) fn choices(&self, buffer: usize) -> Vec<usize> {
        let regions = 0..self.regions.len();
        let size = self.problem.buffers()[buffer].size_bytes;
        let mut choices: Vec<usize> = regions
            .filter(|&region| self.is_allowed(buffer, region))
            .filter(|&region| size <= self.regions[region].capacity_bytes)
            .collect();
        choices.sort_by_key(|&region| self.regions[region].access_cost);
        choices
    }

    /// Whether two regions are the same but for their names: whatever fits into one of them fits
    /// into the other, at the same cost.
    pub(super) fn are_alike(&self, one: usize, other: usize) -> bool {
        let same = |of: fn(&ArenaRegion) -> u64| of(&self.regions[one]) == of(&self.regions[other]);
        let mut allowed = 0..self.problem.buffers().len();
        same(|region| region.capacity_bytes)
            && same(|region| region.access_cost.into())
            && same(|region| region.alignment)
            && allowed.all(|buffer| self.is_allowed(buffer, one) == self.is_allowed(buffer, other))
    }
}
