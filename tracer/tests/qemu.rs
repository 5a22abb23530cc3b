//! QEMU as a second opinion: every recorded program, and the small examples built for cores that
//! have no recorded ones, end on a board with their CPU with
//! the same status, and at the end of each layer has the same bytes in each buffer.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panic, with the program's name"
)]

mod support;

use dmo_analysis::trace::{Address, Layer};
use dmo_trace::mcu::machine::Observation;
use dmo_trace::program::marks::{Mark, Marks};
use dmo_trace::program::target::Target;
use libtest_mimic::Failed;
use std::path::Path;
use support::cross::{CORES, Core, SMALL_EXAMPLES, compiler};
use support::expected::layers_of;
use support::gdb::{QEMU, Qemu, Stop};
use support::guest::{self, Guest};
use support::{CPUS, programs, recorded, tools, traces_elf};

fn main() {
    let tool = tools::version(QEMU).map(|_| ());
    let mut trials = Vec::new();
    for cpu in CPUS {
        for program in programs() {
            let name = format!("{cpu} {program}");
            let test = move || check_recorded(cpu, &program);
            trials.push(tools::trial(name, &tool, test));
        }
    }
    let tools = tool.clone().and_then(|()| compiler());
    for core in CORES {
        let Some(board) = core.board.qemu else {
            continue;
        };
        for program in SMALL_EXAMPLES {
            let name = format!("{} {program}", core.name);
            let test = move || check_built(core, board, program);
            trials.push(tools::trial(name, &tools, test));
        }
    }
    tools::main(&tool, trials)
}

fn board(cpu: &str) -> &'static str {
    match cpu {
        "cortex-m3" => "mps2-an385",
        "cortex-m4" => "mps2-an386",
        "cortex-m7" => "mps2-an500",
        other => panic!("no board with a {other}"),
    }
}

fn check_recorded(cpu: &'static str, program: &str) -> Result<(), Failed> {
    let elf = traces_elf().join(cpu).join(program).with_extension("elf");
    check(&recorded(cpu, program), board(cpu), &elf, program)
}

fn check_built(core: Core, board: &str, program: &str) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("program.elf");
    let elf = core.example(program)?;
    std::fs::write(&path, &elf)?;
    check(&core.target(&elf), board, &path, program)
}

fn check(target: &Target, board: &str, elf: &Path, program: &str) -> Result<(), Failed> {
    let marks = Marks::find(&target.image).expect("marks");
    let mut qemu = Qemu::start(board, elf)?;
    for address in marks.addresses() {
        qemu.break_at(address)?;
    }
    let mut guest = Guest::new(target, Observation::Watch, true);
    let mut layer: Option<Layer> = None;
    let mut compared = 0;
    loop {
        let (ours, theirs) = (guest.advance(), qemu.resume()?);
        let mark = match theirs {
            Stop::Breakpoint => marks.at(Address(qemu.register(15)?)),
            Stop::Exit(_) => None,
        };
        match (ours, mark, theirs) {
            (guest::Stop::Begin(begun), Some(Mark::Begin), _) => {
                guest.watch_tensors(&begun);
                layer = Some(begun);
            }
            (guest::Stop::End, Some(Mark::End), _) => {
                let layer = layer.take().ok_or("the end of no layer")?;
                compare(&layer, &guest, &mut qemu)?;
                compared += 1;
                guest.watch(&[]);
                guest.take_accesses();
            }
            (guest::Stop::Exit(ours), None, Stop::Exit(theirs)) => {
                assert_eq!((ours, theirs), (0, 0), "exit status: ours, QEMU's");
                assert_eq!(compared, layers_of(program).len(), "layers");
                assert_eq!(qemu.finish()?, Some(0), "exit status of QEMU's process");
                return Ok(());
            }
            other => return Err(format!("the programs part: {other:?}").into()),
        }
    }
}

fn compare(layer: &Layer, guest: &Guest, qemu: &mut Qemu) -> Result<(), Failed> {
    for tensor in &layer.tensors {
        let length = tensor.size_bytes as usize;
        let ours = guest.machine.read(tensor.address, length).expect("buffer");
        let theirs = qemu.read(tensor.address.0, length)?;
        if let Some(at) = (0..length).find(|&at| ours[at] != theirs[at]) {
            let (layer, name) = (&layer.name, &tensor.name);
            let (ours, theirs) = (ours[at], theirs[at]);
            let message = format!(
                "layer '{layer}', buffer '{name}', byte {at}: ours {ours:#04x}, QEMU's {theirs:#04x}"
            );
            return Err(message.into());
        }
    }
    Ok(())
}
