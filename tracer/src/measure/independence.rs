//! Whether what a kernel accesses depends on data at all: shown for all inputs at once, by following
//! what is computed from them, with the buffers apart and where they overlap.

use super::proof::{Outcome, outcome};
use super::sequence::AccessSequence;
use super::{Bench, MeasureError, Placement, Stale, call, caller, varied, watches};
use crate::call::Caller;
use crate::mcu::machine::RawAccess;
use crate::program::data_decision::DataDecision;
use dmo_analysis::profile::{LayerProfile, Pair, Refusal};
use dmo_analysis::trace::{Address, Role, Tensor};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

impl Bench<'_> {
    /// What data decide in the kernel, beside the conditional instructions that `outcomes` names, with its
    /// buffers apart and where they may overlap; `None` where the engine cannot tell. Refuses each pair
    /// in whose overlapped buffers the kernel accesses other bytes than in separate ones: it may compare
    /// addresses, and look at the data only where they overlap.
    pub(super) fn follow_data(
        &self,
        layer: &mut LayerProfile,
        outcomes: &BTreeSet<u32>,
    ) -> Result<Option<Vec<DataDecision>>, MeasureError> {
        if !caller(self.library, self.limits)?.follow_data() {
            return Ok(None);
        }
        let tensors: Vec<Tensor> = layer.tensors.iter().map(|it| it.tensor.clone()).collect();
        let granted = layer.pairs.iter().any(|pair| pair.safe_overlap_bytes > 0);
        let mut found = match (granted, self.in_detail) {
            (true, _) => Found::default(),
            (false, false) => Found::of(self.follow_apart(1)?),
            (false, true) => Found::of(self.follow_apart(2)?),
        };
        for pair in &mut layer.pairs {
            for (displacement, follows_data) in displacements(pair, &tensors) {
                let mut at = |displacement| {
                    let found = follows_data.then_some(&mut found);
                    self.compare_at(pair, displacement, found)
                };
                let outcome = match at(displacement)? {
                    // A plan moves the buffers apart by so much.
                    Outcome::Misaligned => at(displacement.next_multiple_of(8))?,
                    outcome => outcome,
                };
                if outcome != Outcome::Equal {
                    pair.refuse(Refusal::LayoutDependent);
                    break;
                }
            }
        }
        let mut found = found.all;
        found.retain(|it| !outcomes.contains(&it.address.0));
        found.sort_by_key(|it| it.address);
        found.dedup();
        Ok(Some(found))
    }

    /// What data decide in the kernel's first calls, of which the second may find state of the first.
    fn follow_apart(&self, calls: u64) -> Result<Vec<DataDecision>, MeasureError> {
        let mut caller = caller(self.library, self.limits)?;
        let _ = caller.follow_data();
        for number in 0..calls {
            let (layer, mut frame) = self.apart()?;
            let calls = self.prepare(&layer.tensors, &mut frame, Stale::Other, varied(number))?;
            caller.fill(&frame)?;
            call(self.contract, &mut caller, &frame, &calls)?;
        }
        Ok(caller.decisions())
    }

    /// Whether a call accesses the same with the input `displacement` bytes after the output's start as
    /// with both apart; adds what data decide in both to `found`, if that is given. What they decide apart
    /// they have to decide there, too. In detail it may find state of an earlier call.
    fn compare_at(
        &self,
        pair: &Pair,
        displacement: u32,
        found: Option<&mut Found>,
    ) -> Result<Outcome, MeasureError> {
        let (input, output) = (pair.input, pair.output);
        let overlapped = Placement::Overlapped {
            input,
            output,
            displacement,
        };
        let apart = Placement::Aligned {
            input,
            residue: displacement,
        };
        let (there, _) = self.place(overlapped)?;
        let there: Vec<Address> = there.iter().map(|tensor| tensor.address).collect();
        let is_same = || {
            let mut caller = caller(self.library, self.limits)?;
            let residue = displacement % PLAN_ALIGNMENT;
            let is_new = found
                .as_ref()
                .is_some_and(|it| !it.apart.contains_key(&residue));
            let follows_apart = is_new && caller.follow_data();
            let apart = self.accesses(&mut caller, apart, &there)?;
            let decided_apart = follows_apart.then(|| caller.decisions());
            if !self.in_detail {
                caller = super::caller(self.library, self.limits)?;
            }
            let follows_data = found.is_some() && caller.follow_data();
            let overlapped = self.accesses(&mut caller, overlapped, &there)?;
            let mut is_same = overlapped.is_as(Some(apart), &self.case.operator);
            if let Some(found) = found.filter(|_| follows_data) {
                found.add_apart(residue, decided_apart);
                is_same &= found.add(residue, caller.decisions());
            }
            Ok(is_same)
        };
        outcome(is_same())
    }

    /// The accesses of a call with its buffers placed so, as if they were at `addresses`.
    fn accesses(
        &self,
        caller: &mut Caller,
        placement: Placement,
        addresses: &[Address],
    ) -> Result<AccessSequence, MeasureError> {
        let sequence = Rc::new(RefCell::new(AccessSequence::default()));
        let (tensors, mut frame) = self.place(placement)?;
        let calls = self.prepare(&tensors, &mut frame, Stale::Other, varied(0))?;
        let moved: Vec<Tensor> = match placement {
            Placement::Overlapped { .. } => Vec::new(),
            _ => tensors.clone(),
        };
        let (to, addresses) = (Rc::clone(&sequence), addresses.to_vec());
        caller.machine.deliver_to(Box::new(move |batch| {
            let mut sequence = to.borrow_mut();
            for access in batch.iter() {
                sequence.extend(&relocated(access, &moved, &addresses));
            }
            true
        }));
        let watched = tensors.iter().filter(|tensor| tensor.role != Role::Scratch);
        caller.machine.watch(watches(watched))?;
        caller.fill(&frame)?;
        call(self.contract, caller, &frame, &calls)?;
        caller.machine.flush();
        let sequence = *sequence.borrow();
        Ok(sequence)
    }
}

/// What data decide in a kernel.
#[derive(Default)]
struct Found {
    all: Vec<DataDecision>,
    /// The instructions with the buffers apart, by what the input's offset leaves of a plan's alignment:
    /// a kernel may take another way by that.
    apart: BTreeMap<u32, BTreeSet<Address>>,
}

impl Found {
    fn of(all: Vec<DataDecision>) -> Self {
        Self {
            all,
            apart: BTreeMap::new(),
        }
    }

    fn add_apart(&mut self, residue: u32, decisions: Option<Vec<DataDecision>>) {
        if let Some(decisions) = decisions {
            let addresses = decisions.iter().map(|it| it.address).collect();
            self.apart.insert(residue, addresses);
            self.all.extend(decisions);
        }
    }

    /// Adds those of overlapped buffers; whether all of those apart are among them.
    fn add(&mut self, residue: u32, decisions: Vec<DataDecision>) -> bool {
        let addresses: BTreeSet<Address> = decisions.iter().map(|it| it.address).collect();
        self.all.extend(decisions);
        let apart = self.apart.get(&residue);
        apart.is_none_or(|apart| apart.is_subset(&addresses))
    }
}

/// The same access with the buffers at other addresses.
fn relocated(access: RawAccess, tensors: &[Tensor], addresses: &[Address]) -> RawAccess {
    let holds = |tensor: &Tensor| {
        (u64::from(tensor.address.0)..tensor.end()).contains(&u64::from(access.address))
    };
    match tensors.iter().position(holds) {
        None => access,
        Some(index) => RawAccess {
            address: access.address - tensors[index].address.0 + addresses[index].0,
            ..access
        },
    }
}

/// Offsets in plans are multiples of this many bytes unless something else is asked for.
const PLAN_ALIGNMENT: u32 = 16;

/// Displacements that are granted, and whether data are followed there: that of O_s, the next that is
/// aligned as in most plans, one of half the overlap, and 0 where that is; none where no overlap is.
fn displacements(pair: &Pair, tensors: &[Tensor]) -> BTreeMap<u32, bool> {
    let overlap = pair.safe_overlap_bytes;
    if overlap == 0 && !pair.in_place {
        return BTreeMap::new();
    }
    let output = tensors[pair.output].size_bytes;
    let element = tensors[pair.input].element_type.size_bytes();
    let least = output - overlap;
    let half = least + overlap / 2 / element * element;
    let mut displacements = BTreeMap::from([(half, false), (least, true)]);
    let aligned = least.next_multiple_of(PLAN_ALIGNMENT);
    if aligned < output {
        displacements.insert(aligned, true);
    }
    if pair.in_place {
        displacements.insert(0, true);
    }
    displacements
}
