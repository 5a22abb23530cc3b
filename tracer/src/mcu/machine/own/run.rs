//! Runs, from stop to stop of the engine.

use super::{BATCH, OwnEngine};
use crate::mcu::decode::is_wide;
use crate::mcu::machine::{FaultCause, Observation, Pause, Precision, RawAccess};
use dmo_analysis::trace::{Address, Time};
use dmo_engine::engine::Stop;

/// Instructions between two looks at the real time.
const INSTRUCTIONS_PER_LOOK: Time = 1 << 22;

impl OwnEngine<'_> {
    pub(super) fn run_to_pause(&mut self) -> Pause {
        self.at_instruction = false;
        self.next_look = self.core().time;
        self.allowance.begin();
        if self.observation == Observation::SelfCheck
            && let Err(error) = self.begin_check()
        {
            return Pause::Fault(FaultCause::Emulator(error.to_string()));
        }
        let pause = self.run_until_pause();
        self.pause_check().map_or(pause, Pause::Fault)
    }

    fn run_until_pause(&mut self) -> Pause {
        loop {
            self.inspect();
            if let Some(cause) = self.out_of_limits() {
                return Pause::Fault(cause);
            }
            let stop = match self.observation {
                Observation::SelfCheck => self.step_checked(),
                _ => self.engine.run(self.until()),
            };
            let heard = self.hand_events_over();
            if let Some(cause) = self.check_error() {
                return Pause::Fault(cause);
            }
            if !heard {
                let cause = FaultCause::Emulator("nobody listens to the trace".to_owned());
                return Pause::Fault(cause);
            }
            if let Some(pause) = self.pause(stop) {
                return pause;
            }
        }
    }

    /// Where to interrupt the run.
    fn until(&self) -> Time {
        let next = self.next_look.min(self.inspections.next());
        match self.observation {
            Observation::None => next,
            _ => next.min(self.allowance.last_instruction),
        }
    }

    /// The limit that is reached.
    fn out_of_limits(&mut self) -> Option<FaultCause> {
        let now = self.core().time;
        let limited = self.observation != Observation::None;
        let look = now >= self.next_look;
        if look {
            self.next_look = now + INSTRUCTIONS_PER_LOOK;
        }
        if limited
            && look
            && let Some(cause) = self.allowance.out_of_time()
        {
            return Some(cause);
        }
        let over = limited && now >= self.allowance.last_instruction;
        over.then(|| self.allowance.out_of_instructions())
    }

    /// Hands over what is watched of the recorded accesses; false when nobody listens any more.
    fn hand_events_over(&mut self) -> bool {
        if self.observation == Observation::SelfCheck {
            self.take_checked_events();
        } else {
            let waiting = self.waiting.events_mut();
            let memory = &mut self.engine.memory;
            match self.precision {
                Precision::Ranges => memory.move_events_to(waiting),
                Precision::Pages => memory.move_all_events_to(waiting),
            }
        }
        self.waiting.len() < BATCH || self.hand_over_all()
    }

    /// The self-check records all of memory.
    fn take_checked_events(&mut self) {
        let events = self.engine.memory.take_events();
        let events = events.as_slice().iter();
        let accesses: Vec<RawAccess> = events.map(|&event| event.into()).collect();
        self.report_to_check(&accesses);
        for access in accesses {
            let start = u64::from(access.address);
            let range = start..start + u64::from(access.size_bytes);
            let mut watches = self.watches.iter();
            if watches.any(|watch| watch.wants_any_of(access.kind, &range)) {
                self.waiting.push(access);
            }
        }
    }

    /// What a stop of the engine is to the machine; `None` if it is nothing.
    fn pause(&mut self, stop: Stop) -> Option<Pause> {
        let here = Address(self.pc());
        Some(match stop {
            Stop::Until | Stop::Events => return None,
            Stop::Attention => self.requested_fault()?,
            Stop::Hint => Pause::Hint(here),
            Stop::Loop => Pause::Loop(here),
            Stop::Address(address) => {
                self.at_instruction = true;
                Pause::Breakpoint(Address(address))
            }
            Stop::Breakpoint(number) => {
                self.at_instruction = true;
                Pause::SoftwareBreakpoint(number)
            }
            Stop::Sleep => {
                self.pass();
                Pause::Sleep(here)
            }
            Stop::Fault(fault) => self.fault(fault),
        })
    }

    /// The fault that the last instruction has asked for by a store to the private peripherals.
    fn requested_fault(&mut self) -> Option<Pause> {
        let (cause, pc) = self.system.borrow_mut().fault.take()?;
        let core = &mut self.engine.core;
        core.r[15] = pc;
        core.time -= 1;
        self.at_instruction = true;
        Some(Pause::Fault(cause))
    }

    /// The instruction at the program counter is over, though the engine has not executed it.
    pub(super) fn pass(&mut self) {
        let first = self.engine.memory.fetch(self.pc()).unwrap_or(0);
        let core = &mut self.engine.core;
        core.r[15] = core.r[15].wrapping_add(if is_wide(first) { 4 } else { 2 });
        core.time += 1;
    }
}
