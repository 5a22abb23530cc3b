//! A machine of the engine, from its parts.

use super::OwnEngine;
use super::inspection::Inspections;
use super::peripherals::{SharedSystem, System};
use crate::mcu::cpu::Cpu;
use crate::mcu::machine::limits::Allowance;
use crate::mcu::machine::{Batch, Limits, MachineError, Observation, Precision};
use crate::mcu::memory::{MemoryMap, RegionKind};
use crate::mcu::system;
use dmo_engine::engine::{Engine, Execution};
use dmo_engine::memory::{Kind, MapError, Memory, Watch};
use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

impl OwnEngine<'_> {
    /// A machine with empty memory.
    ///
    /// # Errors
    /// When the engine refuses the memory map.
    pub(in crate::mcu::machine) fn new(
        cpu: Cpu,
        execution: Execution,
        map: &MemoryMap,
        observation: Observation,
        limits: Limits,
    ) -> Result<Self, MachineError> {
        let regions = regions(map);
        let mut memory = Memory::new(regions.iter().cloned()).map_err(refused)?;
        let system = Rc::new(RefCell::new(System::new(cpu.cpu_id)));
        let private = system::START..system::START + system::SIZE_BYTES;
        let shared = Box::new(SharedSystem(Rc::clone(&system)));
        memory.map_peripherals(private, shared).map_err(refused)?;
        if observation == Observation::SelfCheck {
            system.borrow_mut().keep_accesses();
            let watch = |range: &Range<u64>| Watch {
                range: range.clone(),
                loads: true,
            };
            let all: Vec<_> = regions.iter().map(|(range, _)| watch(range)).collect();
            memory.watch(&all);
        }
        Ok(Self {
            engine: Engine::new(cpu.features, memory, execution),
            system,
            observation,
            allowance: Allowance::new(limits),
            next_look: 0,
            at_instruction: false,
            watches: Vec::new(),
            deliver: None,
            precision: Precision::Ranges,
            waiting: Batch::default(),
            inspections: Inspections::default(),
            regions,
            checker: None,
            companions: Vec::new(),
            timing: cpu.timing,
            pipeline: None,
        })
    }
}

/// The regions of a memory map, as the engine has them.
pub(super) fn regions(map: &MemoryMap) -> Vec<(Range<u64>, Kind)> {
    let regions = map.regions().iter().map(|region| {
        let kind = match region.kind {
            RegionKind::Flash => Kind::Flash,
            RegionKind::Ram => Kind::Ram,
            RegionKind::Device => Kind::Device,
        };
        (region.range.clone(), kind)
    });
    regions.collect()
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
pub(super) fn refused(error: MapError) -> MachineError {
    MachineError {
        what: "map memory",
        reason: error.to_string(),
    }
}
