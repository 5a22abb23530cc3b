//! Why a program could not go on, with the place for its author to find.

use crate::mcu::bit_band::aliased_bit;
use crate::mcu::disassembly::Disassembler;
use crate::mcu::machine::{FaultCause, Machine};
use crate::program::target::Target;
use dmo_analysis::trace::{AccessKind, Address, Location, Time};

/// The state of the program at a fault.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    /// The kind of fault.
    pub cause: FaultCause,
    /// Address of the instruction.
    pub pc: Address,
    /// Where it comes from.
    pub location: Location,
    /// Bytes from the start of its function.
    pub function_offset: Option<u32>,
    /// r0 to r15 and the status register.
    pub registers: [u32; 17],
    /// Executed instructions.
    pub time: Time,
    /// The layer, when inside one.
    pub layer: Option<String>,
    /// How many layers have begun, where a program has such.
    pub layers: Option<usize>,
    /// The memory map.
    pub memory: String,
    /// The byte and the bit that an access to a bit-band alias stands for.
    pub aliased: Option<(Address, u32)>,
    /// Where the function was called from, by the link register.
    pub return_to: Option<String>,
    /// A function was called by itself: options for a program's memory are of no use.
    pub in_call: bool,
}

impl Fault {
    /// Looks at a machine that cannot go on, inside a layer or in none.
    pub fn new(target: &Target, machine: &Machine, cause: FaultCause, layer: Option<&str>) -> Self {
        let registers = std::array::from_fn(|index| match index {
            16 => machine.status(),
            _ => machine.register(index),
        });
        let pc = Address(match &cause {
            FaultCause::SelfCheck(crate::mcu::self_check::CheckError::Mismatch { pc, .. }) => pc.0,
            // The program counter is after it.
            FaultCause::SupervisorCall => registers[15].wrapping_sub(2),
            _ => registers[15],
        });
        Self {
            location: target.location(pc, &Disassembler::default()),
            function_offset: target
                .image
                .symbols
                .function_at(pc.0)
                .map(|(_, offset)| offset),
            pc,
            registers,
            time: machine.now(),
            layer: layer.map(str::to_owned),
            layers: None,
            memory: target.map.to_string(),
            aliased: match cause {
                FaultCause::Access { address, .. } => aliased_bit(&target.cpu, address),
                _ => None,
            },
            return_to: target
                .image
                .symbols
                .function_at(registers[14] & !1)
                .map(|(symbol, offset)| format!("{}+{offset:#x}", symbol.name)),
            in_call: false,
            cause,
        }
    }

    /// What and where, in one line.
    pub fn summary(&self) -> String {
        let mut line = format!("{}, by the instruction at {}", self.cause, self.pc);
        if let Some(function) = &self.location.function {
            line += &format!(" in {function}");
        }
        if let Some(caller) = &self.return_to {
            line += &format!(", called from {caller}");
        }
        line
    }

    /// The same of a function that was called by itself.
    #[must_use]
    pub fn in_call(self) -> Self {
        Self {
            in_call: true,
            ..self
        }
    }

    /// Which option moves the limit that a program has come to.
    fn limit_hint(&self) -> Option<&'static str> {
        match self.cause {
            _ if self.in_call => None,
            FaultCause::InstructionLimit { .. } => Some("--max-instructions"),
            FaultCause::Timeout { .. } => Some("--timeout"),
            _ => None,
        }
    }

    /// Why a program may have come to a limit, where it is known which layers it has.
    fn endless(&self) -> Option<String> {
        let limit = matches!(
            self.cause,
            FaultCause::InstructionLimit { .. } | FaultCause::Timeout { .. }
        );
        let begun = self.layers.filter(|_| limit)?;
        let ended = begun - usize::from(self.layer.is_some());
        match (begun, ended) {
            (0, _) => Some(
                "no layer has begun: code that waits for an interrupt, or for a bit in a device's register, never ends here".to_owned(),
            ),
            (_, 0) => None,
            _ => Some(format!(
                "{ended} of its layers have ended: if the program infers in an endless loop, --stop-after N ends the run after its Nth layer"
            )),
        }
    }

    /// What may help where memory is missing or of another kind.
    fn memory_hint(&self) -> Option<String> {
        if let Some((byte, bit)) = self.aliased {
            return Some(format!(
                "bit {bit} of the byte at {byte}, by the bit-band alias, which is not emulated: let the program access the byte itself"
            ));
        }
        match self.cause {
            FaultCause::Access { mapped: false, .. } if self.registers[13] == 0 => Some(
                "the stack pointer is 0: newlib's start-up code takes it from the symbol __stack"
                    .to_owned(),
            ),
            FaultCause::Access {
                kind: AccessKind::Store,
                mapped: true,
                ..
            } if !self.in_call => Some(
                "by the program's segments this is flash: --ram START:SIZE if it is RAM".to_owned(),
            ),
            FaultCause::Access { .. } | FaultCause::Fetch { .. } if !self.in_call => Some(
                "--ram START:SIZE adds memory, --device START:SIZE a peripheral's registers"
                    .to_owned(),
            ),
            _ => None,
        }
    }
}

impl std::error::Error for Fault {}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{}", self.cause)?;
        if let Some(hint) = self.limit_hint() {
            writeln!(f, "  hint: {hint}")?;
        }
        write!(f, "  at       {}", self.pc)?;
        if let Some(function) = &self.location.function {
            write!(f, " in {function}")?;
            if let Some(offset) = self.function_offset {
                write!(f, "+{offset:#x}")?;
            }
        }
        if self.location.file.is_some() {
            write!(f, " ({})", self.location)?;
        }
        writeln!(f)?;
        if let Some(disassembly) = &self.location.disassembly {
            writeln!(f, "  code     {disassembly}")?;
        }
        if let Some(layer) = &self.layer {
            writeln!(f, "  layer    '{layer}'")?;
        }
        writeln!(f, "  time     {} instructions", self.time)?;
        if let Some(caller) = &self.return_to {
            writeln!(f, "  lr in    {caller}")?;
        }
        const NAMES: [&str; 17] = [
            "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "sp",
            "lr", "pc", "xpsr",
        ];
        for (index, (name, value)) in NAMES.iter().zip(self.registers).enumerate() {
            let lead = match index {
                0 => "  regs    ",
                _ if index % 6 == 0 => "\n          ",
                _ => "",
            };
            write!(f, "{lead} {name:>4} {value:08x}")?;
        }
        if let Some(hint) = self.memory_hint() {
            write!(f, "\n  memory   {}\n  hint: {hint}", self.memory)?;
        }
        if let Some(hint) = self.endless() {
            write!(f, "\n  hint: {hint}")?;
        }
        Ok(())
    }
}
