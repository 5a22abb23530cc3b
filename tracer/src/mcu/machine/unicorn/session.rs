//! What the callbacks share.

use crate::mcu::clock::Clock;
use crate::mcu::machine::limits::Allowance;
use crate::mcu::machine::{Batch, Deliver, Limits, Pause, RawAccess, Watch};
use crate::mcu::self_check::Checker;
use crate::mcu::system::{Exception, SystemControl};
use dmo_analysis::trace::AccessKind;
use std::ops::Range;
use unicorn_engine::RegisterARM;

/// Accesses per batch.
const BATCH: usize = 1 << 15;

/// The state that all callbacks share.
pub(super) struct Session<'a> {
    pub(super) clock: Clock,
    pub(super) watches: Vec<Watch>,
    pub(super) batch: Batch,
    pub(super) deliver: Option<Deliver<'a>>,
    pub(super) pause: Option<Pause>,
    /// Functions that were entered, of those to be noted.
    pub(super) entered: Vec<u32>,
    pub(super) system: SystemControl,
    /// An exception that the program requests is a fault, not only noted.
    pub(super) exceptions_are_faults: bool,
    /// The first exception that the program has requested where that is no fault.
    pub(super) requested_exception: Option<Exception>,
    pub(super) checker: Option<Checker>,
    pub(super) allowance: Allowance,
    pub(super) blocks_until_look: u32,
    /// As far as known: it is checked when a floating-point instruction comes.
    pub(super) floating_point_on: bool,
    /// The previous block has floating-point instructions, and the unit was off.
    pub(super) floating_point_used_off: bool,
}

pub(super) const REGISTERS: [RegisterARM; 15] = [
    RegisterARM::R0,
    RegisterARM::R1,
    RegisterARM::R2,
    RegisterARM::R3,
    RegisterARM::R4,
    RegisterARM::R5,
    RegisterARM::R6,
    RegisterARM::R7,
    RegisterARM::R8,
    RegisterARM::R9,
    RegisterARM::R10,
    RegisterARM::R11,
    RegisterARM::R12,
    RegisterARM::SP,
    RegisterARM::LR,
];

impl Session<'_> {
    /// The state before the program starts.
    pub(super) fn new(clock: Clock, system: SystemControl, limits: Limits) -> Self {
        Self {
            clock,
            watches: Vec::new(),
            batch: Batch::default(),
            deliver: None,
            pause: None,
            entered: Vec::new(),
            system,
            exceptions_are_faults: true,
            requested_exception: None,
            checker: None,
            allowance: Allowance::new(limits),
            blocks_until_look: 0,
            floating_point_on: false,
            floating_point_used_off: false,
        }
    }

    /// Hands the batch over; false when nobody listens any more.
    pub(super) fn deliver_batch(&mut self) -> bool {
        if self.batch.is_empty() {
            return true;
        }
        let batch = std::mem::take(&mut self.batch);
        match &mut self.deliver {
            Some(deliver) => deliver(batch),
            None => true,
        }
    }

    /// Adds an access to the batch; false when nobody listens any more.
    pub(super) fn report(&mut self, access: RawAccess) -> bool {
        self.batch.push(access);
        self.batch.len() < BATCH || self.deliver_batch()
    }

    /// Whether an access is to be reported.
    pub(super) fn watched(&self, kind: AccessKind, range: &Range<u64>) -> bool {
        let mut watches = self.watches.iter();
        watches.any(|watch| watch.wants_any_of(kind, range))
    }
}
