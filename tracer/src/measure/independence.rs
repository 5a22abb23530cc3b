//! Whether what a kernel accesses depends on data at all: shown for all inputs at once, by following
//! what is computed from them.

use super::{Bench, MeasureError, Stale, call, caller, varied};
use crate::program::data_decision::DataDecision;

impl Bench<'_> {
    /// What data decide in the kernel's first calls, of which the second may find state of the first;
    /// `None` where the engine cannot tell.
    pub(super) fn follow_data(
        &self,
        calls: u64,
    ) -> Result<Option<Vec<DataDecision>>, MeasureError> {
        let mut caller = caller(self.library, self.limits)?;
        if !caller.follow_data() {
            return Ok(None);
        }
        for number in 0..calls {
            let (layer, mut frame) = self.apart()?;
            let calls = self.prepare(&layer.tensors, &mut frame, Stale::Other, varied(number))?;
            caller.fill(&frame)?;
            call(self.contract, &mut caller, &frame, &calls)?;
        }
        Ok(Some(caller.decisions()))
    }
}
