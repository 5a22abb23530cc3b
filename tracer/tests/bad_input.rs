//! Damaged files, programs that go wrong, marks that make no sense: each gives its own
//! error, which names the place; nothing panics, nothing hangs.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panic, with the case's name"
)]
#![allow(
    clippy::single_range_in_vec_init,
    reason = "lists of one range are meant"
)]

mod support;

use dmo_analysis::profile::Profile;
use dmo_analysis::trace::{AccessKind, Address, Exit};
use dmo_trace::elf::attributes::Attributes;
use dmo_trace::elf::image::{Image, ImageError};
use dmo_trace::mcu::boot::BootError;
use dmo_trace::mcu::cpu::{CPUS, CpuError, choose};
use dmo_trace::mcu::machine::{EngineKind, FaultCause, Limits, Observation, Pause};
use dmo_trace::mcu::memory::{MemoryError, MemoryOptions};
use dmo_trace::mcu::system::Exception;
use dmo_trace::program::fault::Fault;
use dmo_trace::program::marks::{MAX_BUFFERS, MarkError};
use dmo_trace::program::record::RecordError;
use dmo_trace::program::run::{RunError, RunOutcome};
use dmo_trace::program::target::{Target, TargetError, TargetOptions};
use proptest::prelude::*;
use std::sync::mpsc;
use std::time::Duration;
use support::firmware::{
    Buffer, CODE, EM_AARCH64, ET_DYN, ET_REL, ElfFile, Firmware, HANDLER, INPUT, OUTPUT, RAM,
    SCRATCH, STACK_TOP, Segment,
};
use support::{elf, profile, run_options, target};

/// Enough for each program here.
const SMALL: Limits = Limits {
    max_instructions: 200_000,
    timeout: Duration::from_secs(20),
};

// ---- Files ----------------------------------------------------------------------------

fn image_error(bytes: &[u8]) -> ImageError {
    match Target::new(bytes, &TargetOptions::default()) {
        Err(TargetError::Image(error)) => error,
        other => panic!("{other:?}"),
    }
}

/// Reads and runs whatever these bytes are. It must come to an end by itself, and without
/// a panic.
fn survive(bytes: Vec<u8>) {
    let (done, waiting) = mpsc::channel();
    let worker = std::thread::spawn(move || {
        if let Ok(target) = Target::new(&bytes, &TargetOptions::default()) {
            let result = profile(&target, run_options(false, SMALL));
            if let Err(error) = &result {
                // The message too is made from the damaged file.
                assert!(!error.to_string().is_empty());
            }
            assert!(!matches!(result, Err(RunError::Panic)), "a panic");
        }
        // Not heard when the wait is over.
        let _ = done.send(());
    });
    let waited = waiting.recv_timeout(Duration::from_secs(60));
    assert_ne!(waited, Err(mpsc::RecvTimeoutError::Timeout), "it hangs");
    if let Err(panic) = worker.join() {
        std::panic::resume_unwind(panic);
    }
}

#[test]
fn truncated_file() {
    let whole = elf("cortex-m4", "conv2d");
    for length in (0..whole.len()).step_by(64) {
        survive(whole[..length].to_vec());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Anywhere in the file.
    #[test]
    fn damaged_file(flips in prop::collection::vec((any::<prop::sample::Index>(), 1_u8..), 1..16)) {
        let mut bytes = elf("cortex-m4", "conv2d");
        for (place, flip) in flips {
            let place = place.index(bytes.len());
            bytes[place] ^= flip;
        }
        survive(bytes);
    }

    /// In the headers, and in the code: that is where the damage tells.
    #[test]
    fn damaged_header_and_code(flips in prop::collection::vec((any::<prop::sample::Index>(), 1_u8..), 1..4)) {
        let mut bytes = elf("cortex-m4", "conv2d");
        let headers = 0..52 + 4 * 32;
        let code = 0x1000..0x1000 + 0xd00;
        let sections = bytes.len() - 20 * 40..bytes.len();
        let places: Vec<usize> = headers.chain(code).chain(sections).collect();
        for (place, flip) in flips {
            bytes[places[place.index(places.len())]] ^= flip;
        }
        survive(bytes);
    }
}

#[test]
fn not_an_elf_file() {
    for (what, bytes) in [
        ("an empty file", &b""[..]),
        ("one byte", b"\x7f"),
        ("text", b"int main(void) { return 0; }\n"),
        ("an Intel HEX file", b":020000040800F2\n"),
    ] {
        let error = image_error(bytes);
        let start = bytes[..bytes.len().min(8)].to_vec();
        assert!(
            matches!(&error, ImageError::NotElf { start: given } if *given == start),
            "{what}: {error:?}"
        );
        assert!(error.to_string().contains("not an ELF file"), "{error}");
    }
    let error = image_error(b"\x7fELF");
    assert!(
        matches!(error, ImageError::Damaged { length: 4, .. }),
        "{error:?}"
    );
}

#[test]
fn not_a_linked_program() {
    let error = image_error(b"!<arch>\n/               0           0     0     0       0\n");
    let message = error.to_string();
    assert!(message.contains("a static library"), "{message}");
    for (file_type, what) in [
        (ET_REL, "an object file"),
        (ET_DYN, "a shared object"),
        (0, "of an unknown ELF type"),
    ] {
        let file = ElfFile {
            file_type,
            ..Firmware::new().elf_file()
        };
        let error = image_error(&file.bytes());
        let ImageError::NotExecutable { given, .. } = error else {
            panic!("{error:?}");
        };
        assert!(given.starts_with(what), "{given}");
    }
}

#[test]
fn wrong_architecture() {
    let wrong = |bytes: &[u8], what: &str| {
        let error = image_error(bytes);
        let ImageError::WrongArchitecture { given } = &error else {
            panic!("{what}: {error:?}");
        };
        assert!(given.contains(what), "{given}");
    };
    let firmware = Firmware::new().elf_file();
    let big_endian = ElfFile {
        big_endian: true,
        ..firmware.clone()
    };
    wrong(&big_endian.bytes(), "big-endian");
    let risc_v = ElfFile {
        machine: 243,
        ..firmware.clone()
    };
    wrong(&risc_v.bytes(), "RISC");
    // An empty 64-bit file: a header of 64 bytes, and nothing that it points to.
    let mut arm64 = ElfFile {
        class: 2,
        machine: EM_AARCH64,
        ..firmware.clone()
    }
    .bytes();
    arm64.truncate(24);
    arm64.resize(64, 0);
    arm64[52] = 64;
    wrong(&arm64, "AARCH64");
    arm64[18] = 40;
    wrong(&arm64, "64-bit Arm");
    if cfg!(target_os = "linux") {
        let this_test = std::env::current_exe().expect("path");
        let bytes = std::fs::read(this_test).expect("this program");
        let machine = if cfg!(target_arch = "x86_64") {
            "X86_64"
        } else {
            ""
        };
        wrong(&bytes, machine);
    }
}

#[test]
fn wrong_cpu() {
    let bytes = elf("cortex-m7", "conv2d");
    let with = |cpu: &str| {
        let options = TargetOptions {
            cpu: Some(cpu.to_owned()),
            ..TargetOptions::default()
        };
        match Target::new(&bytes, &options) {
            Err(TargetError::Cpu(error)) => error,
            other => panic!("{other:?}"),
        }
    };
    for cpu in ["cortex-m3", "cortex-m4"] {
        let error = with(cpu);
        assert!(
            matches!(&error, CpuError::Lacks { cpu: given, hint: "cortex-m7", .. } if *given == cpu),
            "{error:?}"
        );
        assert!(error.to_string().contains("--cpu cortex-m7"), "{error}");
    }
    let error = with("cortex-a53");
    let given = "cortex-a53".to_owned();
    assert_eq!(error, CpuError::Unknown { given });
    assert!(error.to_string().contains("cortex-m4"), "{error}");
}

#[test]
fn hostile_segments() {
    let with = |change: &dyn Fn(&mut Vec<Segment>)| {
        let mut file = Firmware::new().elf_file();
        change(&mut file.segments);
        image_error(&file.bytes())
    };
    let error = with(&|segments| segments[0].file_bytes = Some(u32::MAX));
    assert!(
        matches!(error, ImageError::SegmentBeyondFile { index: 0, .. }),
        "{error:?}"
    );
    let error = with(&|segments| segments[0].offset = Some(u32::MAX));
    let ImageError::SegmentBeyondFile {
        index: 0,
        start: 0xffff_ffff,
        end,
        length,
    } = error
    else {
        panic!("{error:?}");
    };
    assert!(end > 0xffff_ffff && length < 0x1_0000, "{error}");
    let error = with(&|segments| segments[1].memory_bytes = u32::MAX);
    let ImageError::SegmentBeyondMemory { index: 1, end } = error else {
        panic!("{error:?}");
    };
    assert_eq!(end, u64::from(RAM) + u64::from(u32::MAX));
    let error = with(&|segments| segments[0].physical_address = 0xffff_ff00);
    assert!(
        matches!(error, ImageError::SegmentBeyondMemory { index: 0, .. }),
        "{error:?}"
    );
    let error = with(&|segments| segments.clear());
    assert!(matches!(error, ImageError::NothingToLoad), "{error:?}");
    let error = with(&|segments| {
        segments.iter_mut().for_each(|segment| {
            segment.memory_bytes = 0;
        });
    });
    assert!(matches!(error, ImageError::NothingToLoad), "{error:?}");
}

/// Headers that all name the same bytes of a small file must not fill the host's memory.
#[test]
fn many_segments_of_the_same_bytes() {
    let mut file = Firmware::new().elf_file();
    let flash = Segment {
        content: vec![0; 4 << 20],
        memory_bytes: 4 << 20,
        ..file.segments[0].clone()
    };
    let shared = Segment {
        content: Vec::new(),
        offset: Some(4096),
        file_bytes: Some(4 << 20),
        ..flash.clone()
    };
    file.segments = vec![shared; 512];
    file.segments.push(flash);
    let content: usize = match Image::parse(&file.bytes()) {
        Ok(image) => image.segments.iter().map(|s| s.content.len()).sum(),
        Err(_) => 0,
    };
    assert!(content <= 1 << 30, "{content} bytes from a file of 4 MiB");
}

fn memory_error(file: &ElfFile, options: &MemoryOptions) -> MemoryError {
    let options = TargetOptions {
        memory: options.clone(),
        ..TargetOptions::default()
    };
    match Target::new(&file.bytes(), &options) {
        Err(TargetError::Memory(error)) => error,
        other => panic!("{other:?}"),
    }
}

#[test]
fn impossible_memory() {
    let firmware = Firmware::new().elf_file();
    let by_itself = MemoryOptions::default();

    let mut huge = firmware.clone();
    huge.segments[1].memory_bytes = 0x6000_0000;
    let error = memory_error(&huge, &by_itself);
    assert!(
        matches!(&error, MemoryError::TooLarge { given, limit, .. } if given > limit),
        "{error:?}"
    );

    let mut over_peripherals = firmware.clone();
    over_peripherals
        .segments
        .push(Segment::ram(0xe000_e000, 16));
    let error = memory_error(&over_peripherals, &by_itself);
    assert!(
        matches!(error, MemoryError::OverPeripherals { .. }),
        "{error:?}"
    );

    let outside = MemoryOptions {
        ram: vec![0x2000_0000..0x2000_1000],
        ..by_itself.clone()
    };
    let error = memory_error(&firmware, &outside);
    assert!(
        matches!(
            error,
            MemoryError::SegmentOutside {
                start: 0x2000_0000,
                end: 0x2001_0000,
                ..
            }
        ),
        "{error:?}"
    );

    let overlapping = MemoryOptions {
        device: vec![0x2000_f000..0x2001_0000],
        ..by_itself
    };
    let error = memory_error(&firmware, &overlapping);
    assert!(matches!(error, MemoryError::Overlap { .. }), "{error:?}");
}

/// Segments over each other: the later one's bytes count, as a loader does it.
#[test]
fn overlapping_segments() {
    let mut firmware = Firmware::new();
    let block = firmware.data(&[0; 8]);
    firmware.set(0, 0x20).set(1, block).code(&[0xbeab]);
    let mut file = firmware.elf_file();
    let mut over = Segment::code(block, [0x2_0026, 3_u32].map(u32::to_le_bytes).concat());
    file.segments.push(over.clone());
    over.content = [0x2_0026, 4_u32].map(u32::to_le_bytes).concat();
    file.segments.push(over);
    let target = target(&file.bytes());
    let result = profile(&target, run_options(false, SMALL));
    let how = "exit status 4".to_owned();
    assert!(
        matches!(&result, Err(RunError::Marks(MarkError::NoLayers { how: given })) if *given == how),
        "{result:?}"
    );
}

#[test]
fn wild_vector_table() {
    let with = |stack_top: u32, reset: u32| {
        let mut file = Firmware::new().elf_file();
        let table = [stack_top, reset].map(u32::to_le_bytes).concat();
        file.segments[0].content[..8].copy_from_slice(&table);
        file
    };
    let refused = |file: &ElfFile, vectors| {
        let options = TargetOptions {
            vectors,
            ..TargetOptions::default()
        };
        match Target::new(&file.bytes(), &options) {
            Err(TargetError::Boot(error)) => error,
            other => panic!("{other:?}"),
        }
    };
    for (stack_top, reset) in [
        (0, CODE | 1),
        (u32::MAX, CODE | 1),
        (STACK_TOP + 1, CODE | 1),
        (0xe000_0000, CODE | 1),
        // Even, in RAM, nowhere.
        (STACK_TOP, CODE),
        (STACK_TOP, RAM | 1),
        (STACK_TOP, u32::MAX),
    ] {
        let file = with(stack_top, reset);
        let error = refused(&file, None);
        assert!(matches!(error, BootError::NoStack { .. }), "{error:?}");
        assert!(error.to_string().contains("--vectors"), "{error}");
        let error = refused(&file, Some(0));
        let address = Address(0);
        assert_eq!(
            error,
            BootError::NoTable {
                address,
                stack_top,
                reset
            }
        );
        // A linker script's name for the stack helps, unless the entry is nowhere.
        let mut named = file.clone();
        named
            .functions
            .push(("__StackTop".to_owned(), STACK_TOP - 1, 0));
        let options = TargetOptions::default();
        let target = Target::new(&named.bytes(), &options).expect("a start by e_entry");
        assert_eq!(target.boot.pc, CODE);
        named.entry = 0x4000_0001;
        let error = refused(&named, None);
        assert_eq!(error, BootError::BadEntry { entry: 0x4000_0001 });
    }
    let address = Address(0x0100_0000);
    let error = refused(&with(STACK_TOP, CODE | 1), Some(address.0));
    assert_eq!(error, BootError::NothingThere { address });
}

// ---- Programs that go wrong --------------------------------------------------------------

fn run(firmware: &Firmware) -> Result<(Profile, RunOutcome), RunError> {
    run_with(firmware, SMALL)
}

/// With and without the self-check, which must come to the same.
fn run_with(firmware: &Firmware, limits: Limits) -> Result<(Profile, RunOutcome), RunError> {
    let target = firmware.target();
    let result = profile(&target, run_options(false, limits));
    let checked = profile(&target, run_options(true, limits));
    let text = |result: &Result<(Profile, RunOutcome), RunError>| match result {
        Ok(result) => format!("{result:?}"),
        Err(error) => error.to_string(),
    };
    assert_eq!(text(&result), text(&checked), "without and with self-check");
    result
}

fn fault_of(firmware: &Firmware) -> Fault {
    match run(firmware) {
        Err(RunError::Fault(fault)) => *fault,
        other => panic!("{other:?}"),
    }
}

/// The input and the output of the layer that the programs below are in.
const INPUT_AT: u32 = RAM + 0x100;
const OUTPUT_AT: u32 = RAM + 0x200;

fn buffers() -> [Buffer<'static>; 2] {
    [
        Buffer::new("in", INPUT, INPUT_AT, 64),
        Buffer::new("out", OUTPUT, OUTPUT_AT, 64),
    ]
}

/// A program inside its layer `conv_1`.
fn in_layer() -> Firmware {
    let mut firmware = Firmware::new();
    firmware.begin("conv_1", &buffers());
    firmware
}

/// Ends the layer and the program.
fn finish(mut firmware: Firmware) -> Firmware {
    firmware.end().exit(0);
    firmware
}

/// The program faults with `cause` at `pc`, and says so: the address, the function, the
/// layer.
fn assert_fault(firmware: &Firmware, pc: u32, cause: &FaultCause) -> String {
    let fault = fault_of(firmware);
    let message = fault.to_string();
    assert_eq!(fault.cause, *cause, "{message}");
    assert_eq!(fault.pc, Address(pc), "{message}");
    assert_eq!(fault.layer.as_deref(), Some("conv_1"), "{message}");
    assert!(message.starts_with(&cause.to_string()), "{message}");
    assert!(message.contains("layer    'conv_1'"), "{message}");
    assert!(
        message.contains(&format!("at       {pc:#010x}")),
        "{message}"
    );
    message
}

/// The same, in the function `main`.
fn assert_fault_in_main(firmware: &Firmware, pc: u32, cause: &FaultCause) -> String {
    let message = assert_fault(firmware, pc, cause);
    let place = format!("in main+{:#x}", pc - CODE);
    assert!(message.contains(&place), "{message}");
    message
}

/// The words of an instruction before the one that is refused are no difference between engines.
#[test]
fn several_stores_that_leave_memory() {
    let end = STACK_TOP;
    let mut firmware = in_layer();
    // str r0, [r1] before, so that the check looks there; stm r1, {r0, r2, r3, r4}
    firmware
        .set(0, 0x55)
        .set(1, end - 8)
        .code(&[STR])
        .set(0, 0xaa);
    let pc = firmware.here();
    let firmware = finish(firmware.code(&[0xe881, 0x001d]).clone());
    let cause = FaultCause::Access {
        kind: AccessKind::Store,
        address: Address(end),
        size_bytes: 4,
        mapped: false,
    };
    assert_fault_in_main(&firmware, pc, &cause);
}

#[test]
fn loads_and_stores_where_nothing_is() {
    use AccessKind::{Load, Store};
    const NOWHERE: u32 = 0x4000_0000;
    for (instruction, kind, address, size_bytes, mapped) in [
        (0x6808, Load, NOWHERE, 4, false),      // ldr r0, [r1]
        (0x8808, Load, NOWHERE, 2, false),      // ldrh r0, [r1]
        (0x7008, Store, NOWHERE, 1, false),     // strb r0, [r1]
        (0x6008, Store, 0xffff_fffc, 4, false), // str r0, [r1]
        (0x6808, Load, STACK_TOP, 4, false),    // ldr r0, [r1]
        (0x6008, Store, 0x100, 4, true),        // str r0, [r1], to flash
        (0x7008, Store, CODE, 1, true),         // strb r0, [r1], to flash
    ] {
        let mut firmware = in_layer();
        firmware.set(1, address);
        let pc = firmware.here();
        let firmware = finish(firmware.code(&[instruction]).clone());
        let cause = FaultCause::Access {
            kind,
            address: Address(address),
            size_bytes,
            mapped,
        };
        let message = assert_fault_in_main(&firmware, pc, &cause);
        assert!(message.contains(&Address(address).to_string()), "{message}");
        assert!(
            message.contains("RAM [0x20000000, 0x20010000)"),
            "{message}"
        );
        // A store to flash needs RAM there, no peripheral.
        assert!(message.contains("--ram"), "{message}");
        assert_eq!(message.contains("--device"), !mapped, "{message}");
    }
}

/// Each word of the alias is one bit of a buffer. Where it is not emulated, an access to it must not
/// go unnoticed, whatever memory the user names there.
#[test]
fn bit_band_alias() {
    // Bit 3 of the input's byte 1.
    const ALIAS: u32 = 0x2200_0000 + 32 * (INPUT_AT + 1 - RAM) + 4 * 3;
    let mut firmware = in_layer();
    firmware.set(1, ALIAS);
    let pc = firmware.here();
    // ldr r0, [r1]
    let firmware = finish(firmware.code(&[0x6808]).clone());
    let cause = FaultCause::Access {
        kind: AccessKind::Load,
        address: Address(ALIAS),
        size_bytes: 4,
        mapped: false,
    };
    let message = assert_fault_in_main(&firmware, pc, &cause);
    assert!(
        message.contains("bit 3 of the byte at 0x20000101"),
        "{message}"
    );
    assert!(!message.contains("--device"), "{message}");

    let over = vec![0x2200_0000..0x2200_4000];
    let device = MemoryOptions {
        device: over.clone(),
        ..MemoryOptions::default()
    };
    let ram = MemoryOptions {
        ram: vec![0x2000_0000..0x2400_0000],
        ..MemoryOptions::default()
    };
    for (memory, cpu, refused) in [
        (&device, "cortex-m3", true),
        (&device, "cortex-m4", true),
        (&ram, "cortex-m4", true),
        // These cores have no alias.
        (&device, "cortex-m7", false),
        (&device, "cortex-m33", false),
    ] {
        let options = TargetOptions {
            cpu: Some(cpu.to_owned()),
            memory: memory.clone(),
            ..TargetOptions::default()
        };
        let result = Target::new(&firmware.elf_file().bytes(), &options);
        let over_alias = matches!(
            &result,
            Err(TargetError::Memory(MemoryError::OverBitBand { .. }))
        );
        assert_eq!(over_alias, refused, "{cpu}: {result:?}");
        assert_eq!(result.is_err(), refused, "{cpu}: {result:?}");
    }
}

fn with_device(firmware: &Firmware) -> Target {
    let options = TargetOptions {
        memory: MemoryOptions {
            device: vec![0x4000_0000..0x4000_1000],
            ..MemoryOptions::default()
        },
        ..TargetOptions::default()
    };
    Target::new(&firmware.elf_file().bytes(), &options).expect("target")
}

/// Where the user names a device, its registers can be used.
#[test]
fn named_device() {
    let mut firmware = in_layer();
    // str r1, [r1]; ldr r0, [r1]; str r0, [r2]
    firmware.set(1, 0x4000_0000).set(2, OUTPUT_AT);
    firmware.code(&[0x6009, 0x6808, 0x6010]);
    let firmware = finish(firmware);
    let target = with_device(&firmware);
    let (profile, outcome) = profile(&target, run_options(true, SMALL)).expect("run");
    assert_eq!(outcome.exit, Exit::Status(0));
    assert_eq!(profile.layers[0].stores(), 1);
}

/// Registers of several peripherals, of one page and of neighbours, and a range around some.
#[test]
fn named_devices_that_share_pages() {
    let mut firmware = in_layer();
    // str r1, [r1]; ldr r0, [r1]; str r0, [r2]
    firmware.set(1, 0x4002_3c00).set(2, OUTPUT_AT);
    firmware.code(&[0x6009, 0x6808, 0x6010]);
    let firmware = finish(firmware);
    for device in [
        vec![0x4002_3800..0x4002_3c00, 0x4002_3c00..0x4002_4000],
        vec![0x4002_4000..0x4002_4400, 0x4002_3c00..0x4002_3c04],
        vec![0x4002_3800..0x4002_3804, 0x4000_0000..0x4010_0000],
    ] {
        let options = TargetOptions {
            memory: MemoryOptions {
                device,
                ..MemoryOptions::default()
            },
            ..TargetOptions::default()
        };
        let target = Target::new(&firmware.elf_file().bytes(), &options).expect("target");
        let (profile, _) = profile(&target, run_options(true, SMALL)).expect("run");
        assert_eq!(profile.layers[0].stores(), 1);
    }
}

#[test]
fn instructions_that_do_not_exist() {
    for code in [
        &[0xde00_u16][..], // udf #0
        &[0xf7f0, 0xa000], // udf.w #0
        &[0xfaf0, 0xf000], // of no instruction
    ] {
        let mut firmware = in_layer();
        let pc = firmware.here();
        let firmware = finish(firmware.code(code).clone());
        assert_fault_in_main(&firmware, pc, &FaultCause::Undefined);
    }
    let mut firmware = in_layer();
    let pc = firmware.here();
    let firmware = finish(firmware.code(&[0xe8d1, 0x2faf]).clone()); // lda r2, [r1]
    let message = fault_of(&firmware).to_string();
    assert!(message.starts_with("LDA needs Armv8-M"), "{message}");
    let firmware = finish(in_layer().code(&[0xef22, 0x0844]).clone()); // vadd.i32 q0, q1, q2
    let message = fault_of(&firmware).to_string();
    assert!(message.contains("Helium"), "{message}");
    assert!(
        message.contains(&format!("at       {pc:#010x}")),
        "{message}"
    );
}

/// An undefined instruction stays one where a hint lies before it, executed or not. (The
/// emulator tells both in one way.)
#[test]
fn undefined_instruction_behind_a_hint() {
    const UDF: u16 = 0xde00;
    const YIELD: u16 = 0xbf10;
    // b over the next halfword
    const OVER: u16 = 0xe000;
    for code in [
        &[YIELD, UDF][..],
        &[OVER, YIELD, UDF],
        &[OVER, 0xbf20, UDF],           // wfe
        &[OVER, 0xbf30, UDF],           // wfi
        &[0xe001, 0xf3af, 0x8002, UDF], // b over wfe.w
    ] {
        let mut firmware = in_layer();
        let pc = firmware.here() + 2 * (code.len() as u32 - 1);
        let firmware = finish(firmware.code(code).clone());
        assert_fault_in_main(&firmware, pc, &FaultCause::Undefined);
    }
}

/// `bx r1`
const BX: u16 = 0x4708;

#[test]
fn jumps_to_where_no_code_is() {
    let jump = |to: u32| finish(in_layer().set(1, to).code(&[BX]).clone());
    // The last one is behind the code: the flash is no larger than the image needs.
    for address in [0x1fff_fffe, 0x0800_0000, 0x2001_0000, 0x7000] {
        let cause = FaultCause::Fetch {
            address: Address(address),
        };
        let message = assert_fault(&jump(address | 1), address, &cause);
        assert!(
            message.contains(&format!("{address:#010x}, where no code is")),
            "{message}"
        );
    }
}

/// Peripherals and the addresses of exception returns are never executed.
#[test]
fn jumps_to_where_no_code_may_be() {
    for address in [0x4000_0000, 0xa000_0000, 0xe000_0000, 0xffff_fff8] {
        let firmware = finish(in_layer().set(1, address | 1).code(&[BX]).clone());
        let cause = FaultCause::Fetch {
            address: Address(address),
        };
        assert_fault(&firmware, address, &cause);
    }
}

/// To Arm code, which these cores do not have.
#[test]
fn jump_to_an_even_address() {
    let fault = fault_of(&finish(in_layer().set(1, HANDLER).code(&[BX]).clone()));
    let message = fault.to_string();
    assert!(message.contains("even address"), "{message}");
    assert!(message.contains("in handler"), "{message}");
    assert_eq!(fault.pc, Address(HANDLER), "{message}");
}

#[test]
fn breakpoint_instructions() {
    for (code, cause) in [
        (0xbe00, FaultCause::Breakpoint { number: 0 }),
        (0xbe17, FaultCause::Breakpoint { number: 0x17 }),
    ] {
        let mut firmware = in_layer();
        let pc = firmware.here();
        let firmware = finish(firmware.code(&[code]).clone());
        assert_fault_in_main(&firmware, pc, &cause);
    }
}

#[test]
fn supervisor_call() {
    let mut firmware = in_layer();
    let pc = firmware.here();
    let firmware = finish(firmware.code(&[0xdf00]).clone());
    assert_fault_in_main(&firmware, pc, &FaultCause::SupervisorCall);
}

#[test]
fn endless_loops() {
    // A loop of two blocks: b to the next instruction, b back.
    let mut firmware = in_layer();
    let start = firmware.here();
    let firmware = finish(firmware.code(&[0xe7ff, 0xe7fd]).clone());
    let fault = fault_of(&firmware);
    let limit = SMALL.max_instructions;
    assert_eq!(fault.cause, FaultCause::InstructionLimit { limit });
    assert!((start..start + 4).contains(&fault.pc.0), "{fault}");
    assert!(fault.to_string().contains("--max-instructions"), "{fault}");
    assert!(fault.to_string().contains("layer    'conv_1'"), "{fault}");
    assert!(
        (limit..limit + 10).contains(&fault.time),
        "{} of {limit}",
        fault.time
    );

    let limits = Limits {
        max_instructions: u64::MAX,
        timeout: Duration::from_millis(100),
    };
    let result = profile(&firmware.target(), run_options(false, limits));
    let Err(RunError::Fault(fault)) = result else {
        panic!("{result:?}");
    };
    let limit = limits.timeout;
    assert_eq!(fault.cause, FaultCause::Timeout { limit });
    assert!(fault.to_string().contains("--timeout"), "{fault}");

    // A branch to itself ends the program, as many do; but not inside a layer,
    for code in [&[0xe7fe_u16][..], &[0xbf00, 0xbf40, 0xe7fc]] {
        let mut firmware = in_layer();
        let at = Address(firmware.here());
        let inside = firmware.clone().code(code).clone();
        let result = profile(&inside.target(), run_options(false, SMALL));
        assert_never_ends(&result, &format!("endless loop at {at}, main+"));
        // nor in an exception handler.
        firmware.end();
        let handled = firmware.clone().call(HANDLER).clone();
        let cause = FaultCause::Handler {
            address: Address(HANDLER),
        };
        assert_eq!(fault_of(&handled).cause, cause);
        let at = Address(firmware.here());
        let ended = firmware.code(code).target();
        let (_, outcome) = profile(&ended, run_options(false, SMALL)).expect("a loop at the end");
        assert_eq!(outcome.exit, Exit::Loop(at));
    }
}

/// The end of a program in an endless loop is no error of the self-check.
#[test]
fn endless_loop_under_self_check() {
    let mut firmware = in_layer();
    firmware.end().code(&[0xe7fe]);
    let (_, outcome) = run(&firmware).expect("a loop after the last layer");
    assert!(matches!(outcome.exit, Exit::Loop(_)));
}

/// A program that ends, after a layer or inside of it, in `code`, which sleeps.
fn check_sleep(code: &[u16], self_check: bool) {
    let mut firmware = in_layer();
    let at = Address(firmware.here());
    let inside = finish(firmware.clone().code(code).clone());
    let result = profile(&inside.target(), run_options(self_check, SMALL));
    assert_never_ends(&result, &format!("asleep at {at}, main+"));
    firmware.end();
    let at = Address(firmware.here());
    let ended = finish(firmware.code(code).clone());
    let (_, outcome) = profile(&ended.target(), run_options(self_check, SMALL)).expect("sleep");
    assert_eq!(outcome.exit, Exit::Sleep(at));
}

const WFI: u16 = 0xbf30;

#[test]
fn sleep() {
    check_sleep(&[WFI], false);
    // In a loop, as programs have it.
    check_sleep(&[WFI, 0xe7fd], false);
}

#[test]
fn sleep_under_self_check() {
    check_sleep(&[WFI], true);
}

/// `wfi.w`
#[test]
fn sleep_by_a_wide_instruction() {
    check_sleep(&[0xf3af, 0x8003], false);
}

/// WFE sleeps too: no event will ever come.
#[test]
fn sleep_until_an_event() {
    check_sleep(&[0xbf20], false);
}

/// SEV lets the next WFE, and no other, go on.
#[test]
fn an_event_ends_one_wait() {
    for [sev, wfe] in [
        [&[0xbf40_u16][..], &[0xbf20][..]],
        [&[0xf3af, 0x8004], &[0xf3af, 0x8002]],
    ] {
        let firmware = finish(in_layer().code(sev).code(wfe).clone());
        let (_, outcome) = run(&firmware).expect("an event");
        assert_eq!(outcome.exit, Exit::Status(0));
        let again = in_layer().code(sev).code(wfe).clone();
        let at = Address(again.here());
        let again = finish(again.clone().code(wfe).clone());
        let result = profile(&again.target(), run_options(true, SMALL));
        assert_never_ends(&result, &format!("asleep at {at}, main+"));
    }
}

/// A SEV that lies before a YIELD, and is not executed, is no event.
#[test]
fn no_event_of_a_hint_that_is_jumped_over() {
    // b over the next halfword; sev; yield; wfe
    let mut firmware = in_layer();
    firmware.code(&[0xe000, 0xbf40, 0xbf10]);
    let at = Address(firmware.here());
    let firmware = finish(firmware.code(&[0xbf20]).clone());
    let result = profile(&firmware.target(), run_options(false, SMALL));
    assert_never_ends(&result, &format!("asleep at {at}, main+"));
}

/// A WFE in an IT block takes one of its conditions with it.
#[test]
fn a_wait_in_an_it_block_goes_on_with_the_next_condition() {
    // sev; cmp r0, r0; ite eq; wfeeq; udfne: were the condition not passed, UDF would execute.
    let mut firmware = in_layer();
    firmware.code(&[0xbf40, 0x4280, 0xbf0c, 0xbf20, 0xde00]);
    let (_, outcome) = run(&finish(firmware)).expect("an event");
    assert_eq!(outcome.exit, Exit::Status(0));
}

const CCR: u32 = 0xe000_ed14;

/// A program may ask for unaligned accesses, and for divisions by zero, to be faults.
#[test]
fn what_the_program_wants_to_be_a_fault_is_one() {
    const LDR: u16 = 0x6808;
    const UDIV: [u16; 2] = [0xfbb0, 0xf2f1];
    let trapped = |bits: u32| {
        let mut firmware = in_layer();
        firmware.set(0, bits).set(1, CCR).code(&[STR]);
        firmware
    };
    let unaligned = FaultCause::Unaligned {
        what: "LDR",
        address: Address(INPUT_AT + 1),
        alignment: 4,
    };
    for (bits, fault) in [(0, None), (0x10, None), (8, Some(unaligned))] {
        let mut firmware = trapped(bits);
        firmware.set(1, INPUT_AT + 1);
        let pc = firmware.here();
        let firmware = finish(firmware.code(&[LDR]).clone());
        match fault {
            Some(cause) => drop(assert_fault_in_main(&firmware, pc, &cause)),
            None => assert_eq!(run(&firmware).expect("a load").1.exit, Exit::Status(0)),
        }
    }
    for (bits, is_fault) in [(0, false), (8, false), (0x10, true)] {
        let mut firmware = trapped(bits);
        firmware.set(1, 0);
        let pc = firmware.here();
        let firmware = finish(firmware.code(&UDIV).clone());
        if is_fault {
            assert_fault_in_main(&firmware, pc, &FaultCause::DivisionByZero);
        } else {
            assert_eq!(run(&firmware).expect("a division").1.exit, Exit::Status(0));
        }
    }
}

/// What was translated before holds no longer.
#[test]
fn translated_code_knows_what_is_a_fault_now() {
    let mut firmware = in_layer();
    firmware.set(0, 8).set(1, INPUT_AT + 1).set(4, CCR);
    let pass = firmware.here();
    firmware.set(2, 1000);
    let load = firmware.here();
    // ldr r5, [r1]; subs r2, #1; bne to the load; str r0, [r4]
    firmware.code(&[0x680d, 0x3a01, 0xd1fc, 0x6020]);
    let back = (pass.wrapping_sub(firmware.here() + 4) >> 1) as u16 & 0x7ff;
    let firmware = finish(firmware.code(&[0xe000 | back]).clone());
    for self_check in [false, true] {
        let result = profile(&firmware.target(), run_options(self_check, SMALL));
        let Err(RunError::Fault(fault)) = result else {
            panic!("{result:?}");
        };
        assert!(
            matches!(fault.cause, FaultCause::Unaligned { .. }),
            "{fault}"
        );
        assert_eq!(fault.pc, Address(load), "{fault}");
        assert!(fault.time > 3000, "{fault}");
    }
}

/// YIELD is a hint: the program goes on.
#[test]
fn yield_goes_on() {
    let (_, outcome) = run(&finish(in_layer().code(&[0xbf10]).clone())).expect("YIELD");
    assert_eq!(outcome.exit, Exit::Status(0));
}

type RunResult = Result<(Profile, RunOutcome), RunError>;

fn assert_never_ends(result: &RunResult, how: &str) {
    let Err(RunError::Marks(MarkError::NeverEnds { layer, how: given })) = result else {
        panic!("{result:?}");
    };
    assert_eq!(layer, "conv_1");
    assert!(given.starts_with(how), "{given}");
}

/// The instructions of a block count when the program has left it.
#[test]
fn time_of_a_bad_jump() {
    let mut firmware = in_layer();
    firmware.set(1, 0x0800_0001);
    let instructions = {
        let mut up_to_here = firmware.clone();
        let fault = fault_of(&finish(up_to_here.code(&[0xde00]).clone()));
        // The undefined instruction counts as the one that is being executed.
        fault.time
    };
    let fault = fault_of(&finish(firmware.code(&[BX]).clone()));
    assert_eq!(fault.time, instructions, "{fault}");
}

/// `vmov s0, r0`
const VMOV: [u16; 2] = [0xee00, 0x0a10];
/// `str r0, [r1]`
const STR: u16 = 0x6008;
const CPACR: u32 = 0xe000_ed88;

#[test]
fn floating_point_that_is_off() {
    let mut firmware = in_layer();
    let pc = firmware.here();
    firmware.code(&VMOV);
    firmware.code(&[0xe7ff]); // a new block
    let firmware = finish(firmware);
    let fault = fault_of(&firmware);
    assert_eq!(fault.cause, FaultCause::FloatingPointOff);
    assert_eq!(fault.pc, Address(pc));
    assert!(fault.to_string().contains("CPACR"), "{fault}");
    assert!(fault.to_string().contains("layer    'conv_1'"), "{fault}");

    let mut firmware = in_layer();
    firmware.set(0, 0xf << 20).set(1, CPACR).code(&[STR]);
    firmware.code(&VMOV);
    let (_, outcome) = run(&finish(firmware)).expect("the unit is on");
    assert_eq!(outcome.exit, Exit::Status(0));

    // Only one of the two coprocessors that are the unit.
    let mut firmware = in_layer();
    firmware.set(0, 0x3 << 20).set(1, CPACR).code(&[STR]);
    firmware.code(&VMOV);
    let fault = fault_of(&finish(firmware));
    assert_eq!(fault.cause, FaultCause::FloatingPointOff);
}

/// The last block of a program is checked as well.
#[test]
fn floating_point_that_is_off_just_before_the_exit() {
    let mut firmware = in_layer();
    firmware.end();
    firmware.code(&VMOV).exit(0);
    assert_eq!(fault_of(&firmware).cause, FaultCause::FloatingPointOff);
}

/// On each engine that has the core; Unicorn refuses too, but does not know by which name.
#[test]
fn small_cores_refuse_what_they_lack_by_its_name() {
    let cases: [(&str, &[u16], &str); 6] = [
        (
            "cortex-m0plus",
            &[0xb108],
            "CBZ needs Armv8-M Baseline or Armv7-M",
        ),
        (
            "cortex-m0",
            &[0xbf08],
            "IT needs Armv7-M or Armv8-M Mainline",
        ),
        (
            "cortex-m23",
            &[0xfb80, 0x1203],
            "SMULL needs Armv7-M or Armv8-M Mainline",
        ),
        (
            "cortex-m3",
            &[0xfa81, 0xf082],
            "QADD needs the DSP extension",
        ),
        ("cortex-m33", &[0xea52, 0x8113], "CSEL needs Armv8.1-M"),
        (
            "cortex-m55",
            &[0xef22, 0x0844],
            "the instruction needs Helium",
        ),
    ];
    for (cpu, code, expected) in cases {
        for engine in [EngineKind::Interpreter, EngineKind::Translator] {
            let mut target = Firmware::new().code(code).target_for(cpu);
            target.engine = engine;
            let mut machine = target.machine(Observation::Watch, SMALL).expect("machine");
            let Pause::Fault(cause) = machine.run() else {
                panic!("{cpu} {code:x?}");
            };
            assert!(cause.to_string().starts_with(expected), "{cpu}: {cause}");
        }
    }
}

/// Where other cores access any address: ldrh r2, [r1]; str r2, [r1].
#[test]
fn unaligned_accesses_of_small_cores() {
    let mut seen = 0;
    for (cpu, engine) in ["cortex-m0", "cortex-m0plus", "cortex-m23", "cortex-m33"]
        .into_iter()
        .flat_map(|cpu| EngineKind::ALL.iter().map(move |&engine| (cpu, engine)))
    {
        for (code, offset, what, alignment) in [
            (0x880a, 1, "LDRH", 2),
            (0x600a, 2, "STR", 4),
            (0x680a, 1, "LDR", 4),
        ] {
            let mut target = Firmware::new().code(&[code, 0xbe00]).target_for(cpu);
            target.engine = engine;
            let Ok(mut machine) = target.machine(Observation::Watch, SMALL) else {
                assert_eq!((cpu, engine.name()), ("cortex-m23", "unicorn"));
                continue;
            };
            let address = INPUT_AT + offset;
            machine.set_register(1, address).expect("a register");
            let cause = FaultCause::Unaligned {
                what,
                address: Address(address),
                alignment,
            };
            let expected = match cpu {
                "cortex-m33" => Pause::SoftwareBreakpoint(0),
                _ => Pause::Fault(cause),
            };
            assert_eq!(machine.run(), expected, "{cpu}, {engine:?}");
            seen += 1;
        }
    }
    let engines = EngineKind::ALL.len();
    let lacking = usize::from(engines == 4);
    assert_eq!(seen, 3 * (4 * engines - lacking));
}

/// The engine to take is in the message.
#[cfg(feature = "unicorn")]
#[test]
fn a_core_that_unicorn_lacks() {
    for cpu in ["cortex-m23", "cortex-m55", "cortex-m85"] {
        let mut target = Firmware::new().target_for(cpu);
        target.engine = EngineKind::Unicorn;
        let Err(error) = target.machine(Observation::Watch, SMALL) else {
            panic!("{cpu}");
        };
        let error = error.to_string();
        assert!(error.contains(&format!("Unicorn has no {cpu}")), "{error}");
        assert!(error.contains("hint: --engine translator"), "{error}");
    }
}

/// A Cortex-M3 has no such instructions.
#[test]
fn floating_point_without_a_unit() {
    let mut firmware = in_layer();
    let pc = firmware.here();
    firmware.code(&VMOV);
    let target = finish(firmware).target_for("cortex-m3");
    let result = profile(&target, run_options(false, SMALL));
    let Err(RunError::Fault(fault)) = result else {
        panic!("{result:?}");
    };
    let message = fault.to_string();
    assert_eq!(fault.pc, Address(pc), "{message}");
    assert!(!message.contains("even address"), "{message}");
}

#[test]
fn unaligned_words() {
    for (code, what, address) in [
        (&[0xe9d1_u16, 0x2300][..], "LDRD", INPUT_AT + 2), // ldrd r2, r3, [r1]
        (&[0xe9c1, 0x2300], "STRD", INPUT_AT + 1),         // strd r2, r3, [r1]
        (&[0xc90c], "LDM", INPUT_AT + 3),                  // ldm r1!, {r2, r3}
        (&[0xed91, 0x0a00], "VLDR or VSTR", INPUT_AT + 2), // vldr s0, [r1]
    ] {
        let mut firmware = Firmware::new();
        firmware.set(0, 0xf << 20).set(1, CPACR).code(&[STR]);
        // The buffers are 'out' and 'in', so that the stores are no fault.
        let mut buffers = buffers();
        buffers[0].role = OUTPUT;
        firmware.begin("conv_1", &buffers).set(1, address);
        let pc = firmware.here();
        let firmware = finish(firmware.code(code).clone());
        let cause = FaultCause::Unaligned {
            what,
            address: Address(address),
            alignment: 4,
        };
        let message = assert_fault_in_main(&firmware, pc, &cause);
        assert!(message.contains("multiple of 4"), "{message}");
    }
    // A single word may lie anywhere: ldr r2, [r1]; ldrh r2, [r1, #1]...
    let firmware = finish(
        in_layer()
            .set(1, INPUT_AT + 1)
            .code(&[0x680a, 0x880a])
            .clone(),
    );
    let (profile, _) = run(&firmware).expect("unaligned words");
    assert_eq!(profile.layers[0].loads(), 2);
}

/// The emulator itself knows that this one must be aligned.
#[test]
fn unaligned_exclusive() {
    let mut firmware = in_layer();
    firmware.set(1, INPUT_AT + 2);
    let pc = firmware.here();
    // ldrex r2, [r1]
    let fault = fault_of(&finish(firmware.code(&[0xe851, 0x2f00]).clone()));
    assert!(
        matches!(fault.cause, FaultCause::Unaligned { .. }),
        "{fault}"
    );
    assert_eq!(fault.pc, Address(pc), "{fault}");
}

#[test]
fn system_reset() {
    let mut firmware = in_layer();
    firmware.set(0, 0x05fa_0004).set(1, 0xe000_ed0c);
    let pc = firmware.here();
    firmware.code(&[STR]);
    // A write without the key is ignored.
    let firmware = finish(firmware);
    let message = assert_fault_in_main(&firmware, pc, &FaultCause::Reset);
    assert!(message.contains("AIRCR"), "{message}");
    let mut firmware = in_layer();
    firmware
        .set(0, 0x1234_0004)
        .set(1, 0xe000_ed0c)
        .code(&[STR]);
    run(&finish(firmware)).expect("no reset");
}

/// Exceptions are not emulated: a layer whose handler would run is refused, and a request between
/// layers is reported.
#[test]
fn requested_exceptions() {
    for (register, value, number) in [
        (0xe000_ed04, 1 << 28, 14_u32), // ICSR, PENDSVSET
        (0xe000_ed04, 1 << 31, 2),      // ICSR, NMIPENDSET
        (0xe000_ed04, 1 << 26, 15),     // ICSR, PENDSTSET
        (0xe000_e204, 1 << 5, 16 + 37), // NVIC_ISPR1
        (0xe000_ef00, 7, 16 + 7),       // STIR
    ] {
        let exception = Exception(number);
        let mut firmware = in_layer();
        firmware.set(0, value).set(1, register);
        let pc = firmware.here();
        let firmware = finish(firmware.code(&[STR]).clone());
        let cause = FaultCause::ExceptionRequested { exception };
        assert_fault_in_main(&firmware, pc, &cause);

        let mut firmware = Firmware::new();
        firmware.set(0, value).set(1, register).code(&[STR]);
        firmware.begin("conv_1", &buffers());
        let (_, outcome) = run(&finish(firmware)).expect("run");
        assert_eq!(outcome.requested_exception, Some(exception));
    }
    // ICSR, PENDSVCLR
    let mut firmware = in_layer();
    firmware.set(0, 1 << 27).set(1, 0xe000_ed04).code(&[STR]);
    let (_, outcome) = run(&finish(firmware)).expect("run");
    assert_eq!(outcome.requested_exception, None);
}

/// Semihosting calls of every number, with arguments that point anywhere: the program goes
/// on, or it ends with an error.
#[test]
fn semihosting_with_wild_arguments() {
    for operation in 0..0x40 {
        for argument in [0, 0x40, RAM, RAM + 2, STACK_TOP - 4, 0x4000_0000, u32::MAX] {
            let mut firmware = in_layer();
            // Blocks of arguments that say 'everything, at the end of the address space'.
            firmware.set(0, u32::MAX).set(1, RAM).code(&[STR, 0x6048]);
            firmware.set(0, operation).set(1, argument).code(&[0xbeab]);
            let result = profile(&finish(firmware).target(), run_options(false, SMALL));
            match result {
                Ok((_, outcome)) => assert_eq!(outcome.exit, Exit::Status(0)),
                // What exits, exits inside the layer.
                Err(RunError::Marks(MarkError::NeverEnds { .. }) | RunError::Machine(_)) => {}
                Err(error) => panic!("operation {operation:#x}, {argument:#x}: {error}"),
            }
        }
    }
}

/// Start-up code and benchmarks read these; a counter that stands still hangs some.
#[test]
fn private_peripherals_answer() {
    let read = |machine: &mut dmo_trace::mcu::machine::Machine| {
        assert_eq!(machine.run(), Pause::SoftwareBreakpoint(0));
        let pc = machine.register(15);
        machine.skip_to(pc + 2).expect("skip");
        machine.register(0)
    };
    // ldr r0, [r1]; bkpt #0; three times with time between.
    let reader = |address: u32| {
        let mut firmware = Firmware::new();
        // Switched on: SysTick with a reload value, the cycle counter.
        for (register, value) in [
            (0xe000_e014, 0xffff_u32),
            (0xe000_e018, 0),
            (0xe000_e010, 5),
            (0xe000_edfc, 1 << 24),
            (0xe000_1000, 1),
        ] {
            firmware.set(0, value).set(1, register).code(&[STR]);
        }
        firmware.set(1, address);
        for _ in 0..3 {
            firmware.code(&[0x6808, 0xbe00]).code(&[0xbf00; 40]);
            firmware.code(&[0xe7ff]);
        }
        firmware
    };
    // By the technical reference manuals.
    let parts = [
        ("cortex-m0", 0xc20),
        ("cortex-m0plus", 0xc60),
        ("cortex-m3", 0xc23),
        ("cortex-m4", 0xc24),
        ("cortex-m7", 0xc27),
        ("cortex-m23", 0xd20),
        ("cortex-m33", 0xd21),
        ("cortex-m55", 0xd22),
        ("cortex-m85", 0xd23),
    ];
    for (cpu, part) in parts {
        // ldr r0, [r1]; bkpt #0.
        let target = Firmware::new().code(&[0x6808, 0xbe00]).target_for(cpu);
        let mut machine = target.machine(Observation::Watch, SMALL).expect("machine");
        machine.set_register(1, 0xe000_ed00).expect("a register");
        assert_eq!(read(&mut machine) >> 4 & 0xfff, part, "{cpu}: CPUID");
    }
    let untested = CPUS.iter().map(|cpu| cpu.name);
    let untested = untested.filter(|name| parts.iter().all(|(cpu, _)| cpu != name));
    assert_eq!(
        untested.collect::<Vec<_>>(),
        [""; 0],
        "give them a part number above"
    );
    for (name, address, upwards) in [
        ("SYST_CVR", 0xe000_e018, false),
        ("CYCCNT", 0xe000_1004, true),
    ] {
        for observation in [Observation::Watch, Observation::SelfCheck] {
            let mut machine = reader(address).machine(observation);
            let values = [(); 3].map(|()| read(&mut machine));
            let ascending = values.is_sorted_by(|a, b| if upwards { a < b } else { a > b });
            assert!(ascending, "{name}: {values:?}");
            assert!(values[0].abs_diff(values[2]) < 1000, "{name}: {values:?}");
            assert_eq!(machine.finish_check(), Ok(()));
        }
    }
}

/// Bytes and halfwords of a register.
#[test]
fn private_peripherals_answer_in_parts() {
    let mut firmware = Firmware::new();
    // ldrb r2, [r1, #1]; ldrh r3, [r1, #2]; bkpt #0
    firmware.set(1, 0xe000_ed00).code(&[0x784a, 0x884b, 0xbe00]);
    let mut machine = firmware.machine(Observation::SelfCheck);
    assert_eq!(machine.run(), Pause::SoftwareBreakpoint(0));
    assert_eq!((machine.register(2), machine.register(3)), (0xc2, 0x410f));
    assert_eq!(machine.finish_check(), Ok(()));
}

// ---- Marks that make no sense ------------------------------------------------------------

fn mark_error(firmware: &Firmware) -> MarkError {
    match run(firmware) {
        Err(RunError::Marks(error)) => error,
        other => panic!("{other:?}"),
    }
}

#[test]
fn image_without_marks() {
    let firmware = finish(in_layer());
    let file = firmware.elf_file();
    for unmarked in [&b"DMO-TRACE-BEGIN1"[..], b"DMO-TRACE-END..1"] {
        let mut file = file.clone();
        let content = &mut file.segments[0].content;
        let at = content.windows(16).position(|window| window == unmarked);
        content[at.expect("mark")] = b'd';
        let result = profile(&target(&file.bytes()), run_options(false, SMALL));
        let Err(RunError::Marks(MarkError::NoMarks)) = &result else {
            panic!("{result:?}");
        };
    }
    let message = MarkError::NoMarks.to_string();
    assert!(message.contains("dmo_trace.c"), "{message}");
}

#[test]
fn marks_out_of_order() {
    let mut nested = in_layer();
    nested.begin("conv_2", &buffers()).end().end().exit(0);
    assert_eq!(
        mark_error(&nested),
        MarkError::Nested {
            outer: "conv_1".to_owned(),
            inner: "conv_2".to_owned(),
        }
    );

    let mut unbegun = Firmware::new();
    unbegun.end().exit(0);
    assert_eq!(
        mark_error(&unbegun),
        MarkError::EndWithoutBegin { layers: 0 }
    );

    let mut ended_twice = in_layer();
    ended_twice.end().end().exit(0);
    assert_eq!(
        mark_error(&ended_twice),
        MarkError::EndWithoutBegin { layers: 1 }
    );

    let mut exits_inside = in_layer();
    exits_inside.exit(7);
    assert_never_ends(&run(&exits_inside), "exit status 7");

    let mut markless = Firmware::new();
    markless.exit(0);
    let how = "exit status 0".to_owned();
    assert_eq!(mark_error(&markless), MarkError::NoLayers { how });
}

/// A layer with these buffers, and the error that it gives.
fn buffer_error(buffers: &[Buffer<'_>]) -> MarkError {
    let mut firmware = Firmware::new();
    firmware.begin("conv_1", buffers);
    mark_error(&finish(firmware))
}

/// How errors name that layer.
const LAYER: &str = "0 'conv_1'";

#[test]
fn buffers_that_make_no_sense() {
    let layer = LAYER.to_owned();
    let overlapping = [
        Buffer::new("in", INPUT, INPUT_AT, 64),
        Buffer::new("apart", SCRATCH, OUTPUT_AT, 64),
        Buffer::new("out", OUTPUT, INPUT_AT + 63, 64),
    ];
    let error = buffer_error(&overlapping);
    assert_eq!(
        error,
        MarkError::Overlap {
            layer: layer.clone(),
            a: "in".to_owned(),
            a_start: INPUT_AT.into(),
            a_end: u64::from(INPUT_AT) + 64,
            b: "out".to_owned(),
            b_start: u64::from(INPUT_AT) + 63,
            b_end: u64::from(INPUT_AT) + 127,
        }
    );
    let message = error.to_string();
    for part in ["0 'conv_1'", "'in'", "'out'", "0x2000013f"] {
        assert!(message.contains(part), "{message}");
    }

    let buffer = "in".to_owned();
    let error = buffer_error(&[Buffer::new("in", INPUT, INPUT_AT, 0)]);
    assert_eq!(
        error,
        MarkError::EmptyBuffer {
            layer: layer.clone(),
            buffer: buffer.clone(),
        }
    );
    for (address, size_bytes) in [
        (0x4000_0000, 64),
        (STACK_TOP - 63, 64),
        (RAM - 1, 64),
        (RAM, u32::MAX),
        (u32::MAX, u32::MAX),
        (0xe000_e000, 4),
    ] {
        let error = buffer_error(&[Buffer::new("in", INPUT, address, size_bytes)]);
        let MarkError::OutsideMemory { start, end, .. } = &error else {
            panic!("{error:?}");
        };
        let given = u64::from(address);
        assert_eq!((*start, *end), (given, given + u64::from(size_bytes)));
        let message = error.to_string();
        for part in ["0 'conv_1'", "'in'", "RAM [0x20000000, 0x20010000)"] {
            assert!(message.contains(part), "{message}");
        }
    }
    for role in [OUTPUT, SCRATCH, 4] {
        let error = buffer_error(&[Buffer::new("in", role, 0x40, 4)]);
        assert_eq!(
            error,
            MarkError::ReadOnly {
                layer: layer.clone(),
                buffer: buffer.clone(),
            }
        );
    }
    let with = |role, element_type| {
        buffer_error(&[Buffer {
            element_type,
            ..Buffer::new("in", role, INPUT_AT, 4)
        }])
    };
    for (error, field, given) in [
        (with(5, 0), "role", 5),
        (with(255, 255), "role", 255),
        (with(INPUT, 7), "element type", 7),
    ] {
        assert_eq!(
            error,
            MarkError::BadField {
                layer: layer.clone(),
                buffer: buffer.clone(),
                field,
                given,
            }
        );
    }
}

/// Registers of a device are no place for a buffer: they keep nothing of its content.
#[test]
fn buffer_in_a_device() {
    let mut firmware = Firmware::new();
    let buffer = Buffer::new("in", INPUT, 0x4000_0000, 4);
    firmware.begin("conv_1", &[buffer]);
    let target = with_device(&finish(firmware));
    let result = profile(&target, run_options(false, SMALL));
    assert!(
        matches!(
            &result,
            Err(RunError::Marks(MarkError::OutsideMemory {
                start: 0x4000_0000,
                ..
            }))
        ),
        "{result:?}"
    );
}

#[test]
fn more_buffers_than_a_layer_may_have() {
    let buffers: Vec<Buffer> = (0..=MAX_BUFFERS)
        .map(|index| Buffer::new("in", INPUT, RAM + 4 * index, 4))
        .collect();
    let error = buffer_error(&buffers);
    assert_eq!(
        error,
        MarkError::TooManyBuffers {
            layer: LAYER.to_owned(),
            given: MAX_BUFFERS + 1,
        }
    );
    // As many as it may have; each with a name of its own.
    let mut firmware = Firmware::new();
    firmware.begin("conv_1", &buffers[1..]);
    let (profile, _) = run(&finish(firmware)).expect("64 buffers");
    let tensors = &profile.layers[0].tensors;
    let names: std::collections::BTreeSet<&str> = tensors
        .iter()
        .map(|tensor| tensor.tensor.name.as_str())
        .collect();
    assert_eq!(names.len(), MAX_BUFFERS as usize);
    assert!(names.contains("in") && names.contains("in#64"), "{names:?}");
}

#[test]
fn names_that_cannot_be_read() {
    const NOWHERE: u32 = 0x4000_0000;
    let with = |arguments: [u32; 4]| {
        let mut firmware = Firmware::new();
        firmware.begin_raw(arguments);
        mark_error(&finish(firmware))
    };
    let mut firmware = Firmware::new();
    // The same addresses in every program that begins like this.
    let text = firmware.data(b"conv_1\0");
    let unreadable = |layer: &str, what, address| MarkError::Unreadable {
        layer: layer.to_owned(),
        what,
        address: Address(address),
    };
    assert_eq!(
        with([NOWHERE, text, 0, 0]),
        unreadable("0", "its name", NOWHERE)
    );
    let with = |change: &dyn Fn(&mut [u32; 4])| {
        let mut firmware = firmware.clone();
        let mut arguments = [text, text, RAM, 1];
        change(&mut arguments);
        firmware.begin_raw(arguments);
        mark_error(&finish(firmware))
    };
    let error = with(&|arguments| arguments[1] = NOWHERE);
    assert_eq!(error, unreadable(LAYER, "its operator", NOWHERE));
    for address in [NOWHERE, STACK_TOP - 8, u32::MAX - 3] {
        let error = with(&|arguments| arguments[2] = address);
        assert_eq!(error, unreadable(LAYER, "a buffer's description", address));
        assert!(error.to_string().contains("not readable memory"), "{error}");
    }
    // The description is all zeros: its name is at 0, the vector table, whose first
    // byte is 0.
    let error = with(&|_| ());
    let (layer, buffer) = (LAYER.to_owned(), String::new());
    assert_eq!(error, MarkError::EmptyBuffer { layer, buffer });
}

#[test]
fn names_that_are_not_text() {
    let layer = LAYER.to_owned();
    let long = [b'x'; 129];
    for name in [&b"\xff\xfe"[..], b"caf\xc3", &long] {
        let error = buffer_error(&[Buffer {
            name,
            ..Buffer::new("", INPUT, INPUT_AT, 4)
        }]);
        let MarkError::NotText {
            layer: given, what, ..
        } = &error
        else {
            panic!("{error:?}");
        };
        assert_eq!((given, *what), (&layer, "a buffer's name"));
        let mut firmware = Firmware::new();
        let text = firmware.data(&[name, &[0]].concat());
        firmware.begin_raw([text, text, 0, 0]);
        let error = mark_error(&finish(firmware));
        let (layer, what, address) = ("0".to_owned(), "its name", Address(text));
        assert_eq!(
            error,
            MarkError::NotText {
                layer,
                what,
                address,
            }
        );
    }
    // The longest name there may be, and one that is not ASCII.
    for name in [&long[1..], "größe".as_bytes()] {
        let mut firmware = Firmware::new();
        let name = Buffer {
            name,
            ..Buffer::new("", INPUT, INPUT_AT, 4)
        };
        firmware.begin("conv_1", &[name]);
        let (profile, _) = run(&finish(firmware)).expect("a good name");
        assert_eq!(
            profile.layers[0].tensors[0].tensor.name.as_bytes(),
            name.name
        );
    }
}

#[test]
fn store_over_the_end_of_a_tensor() {
    for (address, start) in [
        (OUTPUT_AT + 62, "over the end"),
        (OUTPUT_AT - 2, "over the start"),
    ] {
        let mut firmware = in_layer();
        firmware.set(1, address);
        let pc = Address(firmware.here());
        let firmware = finish(firmware.code(&[STR]).clone());
        let result = run(&firmware);
        let Err(RunError::Record(error)) = result else {
            panic!("{start}: {result:?}");
        };
        assert_eq!(
            error,
            RecordError::StoreCrosses {
                layer: "conv_1".to_owned(),
                size_bytes: 4,
                address: Address(address),
                tensor: "out".to_owned(),
                start: OUTPUT_AT.into(),
                end: u64::from(OUTPUT_AT) + 64,
                pc,
            },
            "{start}"
        );
        let message = error.to_string();
        for part in ["'conv_1'", "'out'", &pc.to_string(), "4-byte store"] {
            assert!(message.contains(part), "{message}");
        }
    }
}

/// A load over the end is no error: kernels load whole words. Only the part inside
/// counts, and the outcome says that there was one.
#[test]
fn load_over_the_end_of_a_tensor() {
    let mut firmware = in_layer();
    firmware.set(1, INPUT_AT + 62);
    let pc = Address(firmware.here());
    // ldr r0, [r1]; ldr r0, [r1]; strb r0, [r2], at the output's end
    firmware.code(&[0x6808, 0x6808]);
    firmware.set(2, OUTPUT_AT + 63).code(&[0x7010]);
    let (profile, outcome) = run(&finish(firmware)).expect("a crossing load");
    let [crossing] = &outcome.crossing_loads[..] else {
        panic!("{outcome:?}");
    };
    assert_eq!(
        (crossing.layer.as_str(), crossing.tensor.as_str()),
        ("conv_1", "in")
    );
    assert_eq!((crossing.count, crossing.pc), (2, pc));
    let input = &profile.layers[0].tensors[0];
    assert_eq!((input.loads, input.never_loaded_bytes), (2, 62));
}

/// The recorder's error ends a program that would run on.
#[test]
fn store_over_the_end_stops_the_program() {
    let mut firmware = in_layer();
    firmware.set(1, OUTPUT_AT + 62).code(&[STR]);
    firmware.end();
    // An endless loop that stores to the output, as a layer after the bad one.
    firmware.begin("conv_2", &buffers()).set(1, OUTPUT_AT);
    firmware.code(&[STR, 0xe7ff, 0xe7fc]);
    let limits = Limits {
        max_instructions: 100_000_000_000,
        timeout: Duration::from_secs(60),
    };
    let start = std::time::Instant::now();
    let result = profile(&firmware.target(), run_options(false, limits));
    assert!(
        matches!(
            result,
            Err(RunError::Record(RecordError::StoreCrosses { .. }))
        ),
        "{result:?}"
    );
    assert!(start.elapsed() < Duration::from_secs(30));
}

/// A name could end a line of a report and begin another.
#[test]
fn names_have_no_control_characters() {
    let mut firmware = Firmware::new();
    firmware.begin("layer", &[]).end().exit(0);
    let mut elf = firmware.elf_file();
    let names = ["evil\n\r\u{1b}[2Kall is safe", "\u{9b}2J", "\n"];
    let functions = names.iter().zip([CODE, CODE + 2, CODE + 4]);
    let functions = functions.map(|(name, address)| ((*name).to_owned(), address, 2));
    elf.functions = functions.collect();
    let image = Image::parse(&elf.bytes()).expect("an image");
    let name = |address| Some(image.symbols.function_at(address)?.0.name.as_str());
    assert_eq!(name(CODE), Some("evil[2Kall is safe"));
    assert_eq!(name(CODE + 2), Some("2J"));
    assert_eq!(name(CODE + 4), None);
}

/// A report of each layer takes memory, whatever the limits of instructions and time allow.
#[test]
fn so_many_layers_and_no_more() {
    let mut firmware = Firmware::new();
    let start = firmware.here();
    firmware.begin("layer", &[]).end();
    // b start: counts halfwords from its own address plus 4.
    let back = (i64::from(start) - i64::from(firmware.here()) - 4) / 2;
    firmware.code(&[0xe000 | (back as u16 & 0x7ff)]);
    let limits = Limits {
        max_instructions: 1_000_000_000,
        timeout: Duration::from_secs(600),
    };
    let error = profile(&firmware.target(), run_options(false, limits)).expect_err("a limit");
    assert!(
        matches!(error, RunError::TooManyLayers { limit: 65_536 }),
        "{error}"
    );
}

/// Firmware as most is: layers in an endless loop. The runs on other inputs end too.
#[test]
fn layers_in_an_endless_loop() {
    let mut firmware = Firmware::new();
    let start = firmware.here();
    firmware.begin("layer", &[]).end();
    // b start: counts halfwords from its own address plus 4.
    let back = (i64::from(start) - i64::from(firmware.here()) - 4) / 2;
    firmware.code(&[0xe000 | (back as u16 & 0x7ff)]);
    let limits = Limits {
        max_instructions: 20_000,
        timeout: Duration::from_secs(60),
    };
    let target = firmware.target();
    let error =
        dmo_trace::program::run::try_other_inputs(&target, limits, 3, None).expect_err("a limit");
    assert!(error.to_string().contains("limit of 20000"), "{error}");
}

#[test]
fn an_image_without_attributes_runs_on_a_cortex_m4() {
    let chosen = choose(None, &Attributes::default()).expect("a CPU");
    assert_eq!(chosen.name, "cortex-m4");
}

#[test]
fn an_image_that_names_no_cpu_runs_on_the_least_that_has_what_it_needs() {
    for (architecture, floating_point, expected) in [
        (11, 0, "cortex-m0plus"),
        (12, 0, "cortex-m0plus"),
        (13, 0, "cortex-m4"),
        (13, 6, "cortex-m4"),
        (13, 8, "cortex-m7"),
        (16, 0, "cortex-m23"),
        (17, 0, "cortex-m33"),
        (17, 8, "cortex-m55"),
        (21, 0, "cortex-m55"),
    ] {
        let attributes = Attributes {
            architecture: Some(architecture),
            floating_point: Some(floating_point),
            ..Attributes::default()
        };
        let chosen = choose(None, &attributes).expect("a CPU");
        assert_eq!(chosen.name, expected, "Tag_CPU_arch {architecture}");
    }
}
