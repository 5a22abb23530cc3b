//! A machine of Unicorn, from its parts.

use super::session::Session;
use super::{UnicornEngine, callbacks, refused};
use crate::mcu::clock::Clock;
use crate::mcu::cpu::{Cpu, Model};
use crate::mcu::machine::{Limits, MachineError, Observation};
use crate::mcu::memory::{MemoryMap, RegionKind};
use crate::mcu::system::{self, SystemControl};
use unicorn_engine::{Arch, ArmCpuModel, HookType, Mode, Prot, Unicorn, uc_error};

impl<'a> UnicornEngine<'a> {
    /// A machine with empty memory.
    ///
    /// # Errors
    /// When the emulator refuses the memory map.
    pub(in crate::mcu::machine) fn new(
        cpu: Cpu,
        map: &MemoryMap,
        observation: Observation,
        limits: Limits,
    ) -> Result<Self, MachineError> {
        let code = map
            .regions()
            .iter()
            .filter(|region| region.kind != RegionKind::Device)
            .map(|region| {
                let range = region.range.start as u32..(region.range.end - 1) as u32;
                (range, region.kind == RegionKind::Ram)
            });
        let system = SystemControl::new(cpu.cpu_id);
        let session = Session::new(Clock::new(code), system, limits);
        let mut core =
            Unicorn::new_with_data(Arch::ARM, Mode::THUMB, session).map_err(refused("start"))?;
        // The model must be set before any memory is mapped.
        let model = model_of(&cpu)?;
        core.ctl_set_cpu_model(model as i32)
            .map_err(refused("select the CPU model"))?;
        for region in map.regions() {
            let protection = match region.kind {
                RegionKind::Flash => Prot::READ | Prot::EXEC,
                RegionKind::Ram => Prot::ALL,
                RegionKind::Device => Prot::READ | Prot::WRITE,
            };
            core.mem_map(
                region.range.start,
                region.range.end - region.range.start,
                protection,
            )
            .map_err(refused("map memory"))?;
        }
        core.mmio_map(
            system::START,
            system::SIZE_BYTES,
            Some(callbacks::load_system),
            Some(callbacks::store_system),
        )
        .map_err(refused("map the private peripherals"))?;
        let mut machine = Self {
            core,
            observation,
            memory_hooks: Vec::new(),
            breakpoints: Vec::new(),
            companions: Vec::new(),
        };
        machine.add_hooks().map_err(refused("add a hook"))?;
        Ok(machine)
    }

    fn add_hooks(&mut self) -> Result<(), uc_error> {
        let core = &mut self.core;
        core.add_intr_hook(callbacks::on_interrupt)?;
        core.add_insn_invalid_hook(callbacks::on_undefined)?;
        core.add_mem_hook(HookType::MEM_INVALID, 1, 0, callbacks::on_bad_access)?;
        if self.observation != Observation::None {
            core.add_block_hook(1, 0, callbacks::on_block)?;
        }
        if self.observation == Observation::SelfCheck {
            core.add_code_hook(1, 0, callbacks::on_instruction)?;
            core.add_mem_hook(
                HookType::MEM_READ | HookType::MEM_WRITE,
                1,
                0,
                callbacks::on_access,
            )?;
        }
        Ok(())
    }
}

/// Unicorn's model. A Cortex-M0+ has the instructions of a Cortex-M0.
fn model_of(cpu: &Cpu) -> Result<ArmCpuModel, MachineError> {
    Ok(match cpu.model {
        Model::CortexM0 | Model::CortexM0Plus => ArmCpuModel::CORTEX_M0,
        Model::CortexM3 => ArmCpuModel::CORTEX_M3,
        Model::CortexM4 => ArmCpuModel::CORTEX_M4,
        Model::CortexM7 => ArmCpuModel::CORTEX_M7,
        Model::CortexM33 => ArmCpuModel::CORTEX_M33,
        Model::CortexM23 | Model::CortexM55 | Model::CortexM85 => {
            return Err(MachineError {
                what: "select the CPU model",
                reason: format!("Unicorn has no {}\n  hint: --engine translator", cpu.name),
            });
        }
    })
}
