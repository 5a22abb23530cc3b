//! One operator in the layout by itself: what data decide in it, and what it accesses.
//!
//! The replay moves what an operator accesses with its buffers apart. That is what it accesses in the
//! layout unless it looks at where they lie; and what it accesses in the layout, on whichever input,
//! if nothing that data decide is found there.

use crate::mcu::machine::{Limits, Observation};
use crate::measure::MeasureError;
use crate::measure::sequence::AccessSequence;
use crate::model::tracing::{Contents, ModelBuffer};
use crate::model::{Deployment, Inference, Placement};
use crate::program::data_decision::DataDecision;
use dmo_analysis::graph::OperatorId;
use std::cell::RefCell;
use std::rc::Rc;

/// What the arena holds before the call, beside the operator's tensors.
const POISON: u8 = 0xa7;

/// The operator on a machine of its own, with its buffers where the layout has them.
pub(super) struct InLayout<'a> {
    inference: Inference<'a>,
    operator: OperatorId,
}

/// What a call in the layout has shown.
pub(super) struct Followed {
    /// Where data decide what is accessed.
    pub decisions: Vec<DataDecision>,
    /// What was accessed.
    pub accesses: AccessSequence,
}

impl<'a> InLayout<'a> {
    /// `None` if the engine cannot follow data.
    ///
    /// # Errors
    /// When the buffers do not fit into memory, or no kernel can be called for the operator.
    pub(super) fn new(
        deployment: &'a Deployment<'a>,
        placement: &Placement,
        operator: OperatorId,
        limits: Limits,
    ) -> Result<Option<Self>, MeasureError> {
        let steps = [deployment.step(operator)];
        let watch = Observation::Watch;
        let mut inference =
            Inference::of_steps(deployment, &steps, placement, POISON, watch, limits)?;
        let follows = inference.follow_data();
        Ok(follows.then_some(Self {
            inference,
            operator,
        }))
    }

    /// Where the buffers lie; `None` for what lies nowhere.
    pub(super) fn addresses(&self, buffers: &[ModelBuffer]) -> Vec<Option<u32>> {
        let (_, tensors) = self.inference.addresses_of(self.operator).unzip();
        let address = |buffer: &ModelBuffer| match buffer {
            ModelBuffer::Tensor(id) => tensors.and_then(|it| *it.get(id.0)?),
            ModelBuffer::Scratch => self.inference.scratch_of(self.operator),
            ModelBuffer::Beside => None,
        };
        let addresses = buffers.iter().map(address);
        addresses.map(|address| address.map(|it| it.0)).collect()
    }

    /// Runs the operator on tensors that hold this.
    ///
    /// # Errors
    /// When the kernel faults, does not come back, or does not take its arguments.
    pub(super) fn follow(mut self, contents: &Contents) -> Result<Followed, MeasureError> {
        self.inference.begin(contents)?;
        let accesses = Rc::new(RefCell::new(AccessSequence::default()));
        let into = Rc::clone(&accesses);
        self.inference
            .watch_buffers(move |access| into.borrow_mut().extend(&access))?;
        self.inference.run(self.operator)?;
        let accesses = *accesses.borrow();
        Ok(Followed {
            decisions: self.inference.decisions(),
            accesses,
        })
    }
}
