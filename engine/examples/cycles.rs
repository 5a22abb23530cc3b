//! Calls a function of a flat binary and prints its estimated cycles: how the figures of
//! docs/cycles.md were found.
//!
//! `cycles PIPELINE FILE ENTRY TIMES [ARGUMENT...]`: the file lies at 0x08000000, RAM of 256 KB at
//! 0x20000000, the stack at its end. Numbers may begin with 0x. The function is called so many
//! times; the cycles are those of the last call, with those of BL and of its return.

use dmo_engine::engine::{Engine, Execution, Stop};
use dmo_engine::features::{Architecture, Features, FloatingPoint, Traps};
use dmo_engine::memory::{Kind, Memory};
use dmo_engine::timing::{Pipeline, Timing};
use std::error::Error;

const FLASH: u32 = 0x0800_0000;
const FLASH_BYTES: usize = 1 << 20;
const RAM: u32 = 0x2000_0000;
const RAM_BYTES: u32 = 1 << 18;
/// BL to itself plus 4, BKPT: the caller, after the file.
const CALLER: u32 = FLASH + FLASH_BYTES as u32 - 16;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [pipeline, file, entry, times, values @ ..] = &arguments[..] else {
        return Err("usage: cycles PIPELINE FILE ENTRY TIMES [ARGUMENT...]".into());
    };
    let pipeline = named(pipeline).ok_or("no such pipeline")?;
    let bytes = std::fs::read(file)?;
    let range = |start: u32, bytes: u32| u64::from(start)..u64::from(start + bytes);
    let memory = Memory::new([
        (range(FLASH, FLASH_BYTES as u32), Kind::Flash),
        (range(RAM, RAM_BYTES), Kind::Ram),
    ])?;
    let mut engine = Engine::new(features(pipeline), memory, Execution::Translator);
    let entry = number(entry)?;
    let caller = branch_link(CALLER, entry & !1);
    if !engine.write(FLASH, &bytes) || !engine.write(CALLER, &caller) {
        return Err("the file does not fit".into());
    }
    engine.enable_floating_point();
    engine.count_cycles(Timing {
        pipeline,
        flash: None,
    });
    engine.stop_at(&[(CALLER + 4, 0)]);
    for _ in 0..number(times)? {
        for (index, value) in values.iter().enumerate().take(4) {
            engine.core.r[index] = number(value)?;
        }
        let on_stack = values.iter().skip(4);
        let on_stack: Vec<u32> = on_stack.map(|it| number(it)).collect::<Result<_, _>>()?;
        let stack = RAM + RAM_BYTES - (4 * on_stack.len() as u32).next_multiple_of(8);
        for (value, address) in on_stack.iter().zip((stack..).step_by(4)) {
            if !engine.write(address, &value.to_le_bytes()) {
                return Err("the stack overflows".into());
            }
        }
        engine.core.r[13] = stack;
        engine.core.r[15] = CALLER;
        let (before, begun) = (engine.core.cycles, engine.core.time);
        let stop = engine.run(u64::MAX);
        if stop != Stop::Address(CALLER + 4) {
            return Err(format!("{stop:?} at {:#x}", engine.core.r[15]).into());
        }
        let spent = engine.core.cycles.since(&before);
        let instructions = engine.core.time - begun;
        println!("{} cycles, {instructions} instructions", spent.total());
    }
    Ok(())
}

fn number(text: &str) -> Result<u32, std::num::ParseIntError> {
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => text.parse(),
    }
}

fn named(name: &str) -> Option<Pipeline> {
    Some(match name {
        "cortex-m0plus" => Pipeline::CortexM0Plus,
        "cortex-m3" => Pipeline::CortexM3,
        "cortex-m4" => Pipeline::CortexM4,
        "cortex-m7" => Pipeline::CortexM7,
        "cortex-m33" => Pipeline::CortexM33,
        "cortex-m55" => Pipeline::CortexM55,
        _ => return None,
    })
}

fn features(pipeline: Pipeline) -> Features {
    let architecture = match pipeline {
        Pipeline::CortexM0Plus => Architecture::Armv6M,
        Pipeline::CortexM3 => Architecture::Armv7M,
        Pipeline::CortexM4 | Pipeline::CortexM7 => Architecture::Armv7EM,
        Pipeline::CortexM33 => Architecture::Armv8MMainline,
        Pipeline::CortexM55 => Architecture::Armv81MMainline,
    };
    let has_more = !matches!(pipeline, Pipeline::CortexM0Plus | Pipeline::CortexM3);
    Features {
        architecture,
        dsp: has_more,
        floating_point: match pipeline {
            Pipeline::CortexM7 | Pipeline::CortexM55 => FloatingPoint::Fpv5Double,
            Pipeline::CortexM33 => FloatingPoint::Fpv5Single,
            Pipeline::CortexM4 => FloatingPoint::Fpv4Single,
            _ => FloatingPoint::None,
        },
        traps: Traps::NONE,
    }
}

/// BL from an address to another, and BKPT.
fn branch_link(from: u32, to: u32) -> Vec<u8> {
    let offset = to.wrapping_sub(from + 4);
    let sign = offset >> 24 & 1;
    let [j1, j2] = [offset >> 23 & 1, offset >> 22 & 1].map(|bit| (bit ^ sign) ^ 1);
    let first = 0xf000 | sign << 10 | offset >> 12 & 0x3ff;
    let second = 0xd000 | j1 << 13 | j2 << 11 | offset >> 1 & 0x7ff;
    let halves = [first as u16, second as u16, 0xbe00];
    halves.iter().flat_map(|half| half.to_le_bytes()).collect()
}
