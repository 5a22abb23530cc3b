//! A plan of several memories, as `plan --region` writes it, read as one of a single arena: one
//! memory after the other. Tensors in different memories share no bytes in either.

use super::error::PlanToCheckError;
use dmo_analysis::arena::Layout;
use dmo_analysis::graph::{OperatorId, TensorId};
use dmo_analysis::handover::{
    PlanFile, PlannedKernels, PlannedRegion, PlannedScratch, PlannedTensor, SCHEMA,
};
use dmo_analysis::optimise::Certificate;
use dmo_analysis::transform::Recipe;
use dmo_planner::regions::{ArenaRegion, RegionOffset};
use serde::Deserialize;

/// Name of the form and its version.
pub const REGIONS_SCHEMA: &str = "dmo-trace/regions/2";
/// The form and the one before, which had neither costs nor alignments.
pub(super) const REGIONS_SCHEMAS: [&str; 2] = ["dmo-trace/regions/1", REGIONS_SCHEMA];

#[derive(Deserialize)]
pub(super) struct RegionFile {
    model: String,
    model_sha256: Option<String>,
    overlap: String,
    #[serde(default)]
    kernels: Option<PlannedKernels>,
    #[serde(default)]
    integer_io_sha256: Option<String>,
    #[serde(default)]
    pruned_sha256: Option<String>,
    #[serde(default)]
    recipe: Option<Recipe>,
    layout: Layout,
    order: Vec<OperatorId>,
    regions: Vec<Region>,
    tensors: Vec<Tensor>,
    scratch: Vec<Scratch>,
}

#[derive(Deserialize)]
struct Region {
    #[serde(flatten)]
    region: ArenaRegion,
    /// What its array is made of.
    #[serde(default)]
    used_bytes: Option<u64>,
}

#[derive(Deserialize)]
struct Tensor {
    tensor: TensorId,
    name: String,
    size_bytes: u64,
    #[serde(default)]
    is_part: bool,
    #[serde(flatten)]
    place: RegionOffset,
}

#[derive(Deserialize)]
struct Scratch {
    operator: OperatorId,
    index: usize,
    size_bytes: u64,
    #[serde(flatten)]
    place: RegionOffset,
}

impl RegionFile {
    /// The same in one arena.
    ///
    /// # Errors
    /// When something does not lie in its memory.
    pub(super) fn in_one_arena(self) -> Result<PlanFile, PlanToCheckError> {
        let (regions, used): (Vec<ArenaRegion>, Vec<Option<u64>>) = self
            .regions
            .into_iter()
            .map(|it| (it.region, it.used_bytes))
            .unzip();
        ensure_plausible(&regions)?;
        let tensors = self.tensors.iter().map(|it| (it.place, it.size_bytes));
        let scratch = self.scratch.iter().map(|it| (it.place, it.size_bytes));
        let mut ends = vec![0; regions.len()];
        for (RegionOffset { region, offset }, bytes) in tensors.chain(scratch) {
            let end = offset.saturating_add(bytes);
            let known = regions.get(region);
            let known = known.ok_or(PlanToCheckError::NoRegion { region })?;
            // Whoever makes an array of it makes it this long.
            let limit =
                used[region].map_or(known.capacity_bytes, |it| it.min(known.capacity_bytes));
            if end > limit {
                return Err(PlanToCheckError::BeyondRegion {
                    name: known.name.clone(),
                    end,
                    limit,
                });
            }
            ends[region] = end.max(ends[region]);
        }
        if self.layout.round_sizes {
            // As it was planned: the last tensor is rounded up, too.
            for (end, known) in ends.iter_mut().zip(&regions) {
                let rounded = end.checked_next_multiple_of(self.layout.alignment);
                *end = rounded.map_or(*end, |rounded| rounded.min(known.capacity_bytes));
            }
        }
        // A part of a tensor lies where its elements may; what is a buffer by itself is aligned.
        let scratch = self.scratch.iter().map(|it| it.place);
        let aligned = self.tensors.iter().filter(|it| !it.is_part);
        for RegionOffset { region, offset } in aligned.map(|it| it.place).chain(scratch) {
            let ArenaRegion {
                name, alignment, ..
            } = &regions[region];
            if !offset.is_multiple_of(*alignment) {
                return Err(PlanToCheckError::MisalignedInRegion {
                    name: name.clone(),
                    offset,
                    alignment: *alignment,
                });
            }
        }
        let aligned = self.layout.alignment;
        let regions = PlannedRegion::in_one_arena(&regions, &ends, aligned);
        let regions = regions.ok_or(PlanToCheckError::Alignment)?;
        let arena_bytes = regions.iter().map(PlannedRegion::end).max().unwrap_or(0);
        let starts: Vec<u64> = regions.iter().map(|known| known.start).collect();
        let offset = |place: RegionOffset| starts[place.region].saturating_add(place.offset);
        let tensors = self.tensors.into_iter().map(|it| PlannedTensor {
            tensor: it.tensor,
            name: it.name,
            offset: offset(it.place),
            size_bytes: it.size_bytes,
        });
        let scratch = self.scratch.into_iter().map(|it| PlannedScratch {
            operator: it.operator,
            index: it.index,
            offset: offset(it.place),
            size_bytes: it.size_bytes,
        });
        Ok(PlanFile {
            schema: SCHEMA.to_owned(),
            model: self.model,
            model_sha256: self.model_sha256,
            overlap: self.overlap,
            kernels: self.kernels,
            integer_io_sha256: self.integer_io_sha256,
            pruned_sha256: self.pruned_sha256,
            recipe: self.recipe,
            layout: self.layout,
            arena_bytes,
            order_bound_bytes: 0,
            bound_bytes: 0,
            certificate: Certificate::BestFound,
            fixed: Vec::new(),
            order: self.order,
            tensors: tensors.collect(),
            scratch: scratch.collect(),
            overlaps: Vec::new(),
            regions,
        })
    }
}

/// Memories that a device can have.
fn ensure_plausible(regions: &[ArenaRegion]) -> Result<(), PlanToCheckError> {
    for (index, region) in regions.iter().enumerate() {
        let name = region.name.clone();
        let zeros = [
            ("access cost", region.access_cost == 0),
            ("alignment", region.alignment == 0),
        ];
        if let Some((what, _)) = zeros.into_iter().find(|(_, is_zero)| *is_zero) {
            return Err(PlanToCheckError::ZeroOfRegion { name, what });
        }
        let capacity_bytes = region.capacity_bytes;
        if u32::try_from(capacity_bytes).is_err() {
            return Err(PlanToCheckError::LargeRegion {
                name,
                capacity_bytes,
            });
        }
        if regions[..index].iter().any(|other| other.name == name) {
            return Err(PlanToCheckError::SameRegion { name });
        }
    }
    Ok(())
}
