//! The engine as the companion of another, under the self-check.

use crate::mcu::cpu::Cpu;
use crate::mcu::machine::{MachineError, watch};
use crate::mcu::memory::MemoryMap;
use crate::mcu::self_check::{Companion, CoreState, Executed, Reported};
use crate::mcu::system;
use dmo_engine::engine::{Engine, Execution, Stop};
use dmo_engine::features::FloatingPoint;
use dmo_engine::memory::{Attention, Memory, Moment, Peripherals, Watch};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::ops::Range;
use std::rc::Rc;

/// What loads from the private peripherals are going to give.
type Answers = Rc<RefCell<VecDeque<u32>>>;

/// The engine as the companion of another.
pub(in crate::mcu::machine) struct OwnCompanion {
    engine: Engine,
    execution: Execution,
    answers: Answers,
    regions: Vec<Range<u64>>,
    executed: Vec<Executed>,
}

impl OwnCompanion {
    /// One with empty memory.
    ///
    /// # Errors
    /// When the engine refuses the memory map.
    pub(in crate::mcu::machine) fn new(
        cpu: &Cpu,
        execution: Execution,
        map: &MemoryMap,
    ) -> Result<Self, MachineError> {
        let regions = super::construction::regions(map);
        let refused = super::construction::refused;
        let mut memory = Memory::new(regions.iter().cloned()).map_err(refused)?;
        let answers = Answers::default();
        let private = system::START..system::START + system::SIZE_BYTES;
        let replayed = Box::new(Replayed(Rc::clone(&answers)));
        memory.map_peripherals(private, replayed).map_err(refused)?;
        let regions: Vec<_> = regions.into_iter().map(|(range, _)| range).collect();
        let watches = regions.iter().map(|range| Watch {
            range: range.clone(),
            loads: true,
        });
        memory.watch(&watches.collect::<Vec<_>>());
        let mut engine = Engine::new(cpu.features, memory, execution);
        // The engine that is checked finds out when it is off.
        engine.enable_floating_point();
        Ok(Self {
            engine,
            execution,
            answers,
            regions,
            executed: Vec::new(),
        })
    }

    fn keep_accesses(&mut self) {
        for event in self.engine.memory.take_events().as_slice() {
            let access = Reported {
                kind: watch::kind(event.kind()),
                address: event.address(),
                size_bytes: event.size_bytes().into(),
                value: 0,
            };
            match self.executed.last_mut() {
                Some(last) if last.time == event.time() => last.accesses.push(access),
                _ => self.executed.push(Executed {
                    time: event.time(),
                    pc: event.pc(),
                    accesses: vec![access],
                }),
            }
        }
    }
}

impl Companion for OwnCompanion {
    fn name(&self) -> &'static str {
        match self.execution {
            Execution::Interpreter => "interpreter",
            Execution::Translator => "translator",
        }
    }

    fn regions(&self) -> Vec<Range<u64>> {
        self.regions.clone()
    }

    fn take_over(&mut self, state: &CoreState, floats: Option<&[u32; 32]>, time: u64) {
        self.keep_accesses();
        self.executed.clear();
        self.answers.borrow_mut().clear();
        let core = &mut self.engine.core;
        core.r[..15].copy_from_slice(&state.registers);
        core.r[15] = state.pc;
        core.set_status(state.status);
        if let Some(floats) = floats {
            core.s = *floats;
        }
        core.time = time;
    }

    fn advance(&mut self, time: u64) -> Result<(), String> {
        loop {
            let stop = self.engine.run(time);
            self.keep_accesses();
            match stop {
                Stop::Until => return Ok(()),
                Stop::Events => {}
                Stop::Fault(fault) => return Err(fault.to_string()),
                other => return Err(format!("it stops: {other:?}")),
            }
        }
    }

    fn take_accesses(&mut self) -> Vec<Executed> {
        std::mem::take(&mut self.executed)
    }

    fn state(&self) -> CoreState {
        let core = &self.engine.core;
        CoreState {
            pc: core.r[15],
            registers: std::array::from_fn(|index| core.r[index]),
            status: core.status(),
        }
    }

    fn floats(&self) -> Option<[u32; 32]> {
        let has_them = self.engine.features().floating_point != FloatingPoint::None;
        has_them.then_some(self.engine.core.s)
    }

    fn answer(&mut self, value: u32) {
        self.answers.borrow_mut().push_back(value);
    }

    fn read(&self, address: u32, size_bytes: usize) -> Option<Vec<u8>> {
        self.engine.memory.read(address, size_bytes)
    }

    fn write(&mut self, address: u32, bytes: &[u8]) {
        // What has no memory there does not have it in the engine that is checked either.
        let _ = self.engine.write(address, bytes);
    }
}

/// The private peripherals, as they have answered the engine that is checked.
struct Replayed(Answers);

impl Peripherals for Replayed {
    fn load(&mut self, _moment: Moment, _address: u32, _size_bytes: u32) -> u32 {
        self.0.borrow_mut().pop_front().unwrap_or_default()
    }

    fn store(&mut self, _moment: Moment, _address: u32, _size: u32, _value: u32) -> Attention {
        Attention::Continue
    }

    fn floating_point_enabled(&self) -> bool {
        true
    }
}
