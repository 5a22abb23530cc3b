//! The emulator's hooks, against the bugs that are known of them: they must not change
//! what the program computes, and must report every access of a watched range once.
//!
//! The numbers are those of the emulator's issue tracker. The code under test is what
//! GCC made of `kernels-c/examples/it_block.c`, the library's `memcpy` in it included.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panic, with the program's name"
)]
#![allow(
    clippy::single_range_in_vec_init,
    reason = "lists of one range are meant"
)]

mod support;

use dmo_analysis::trace::AccessKind::{self, Load, Store};
use dmo_analysis::trace::{Address, Layer, Role};
use dmo_trace::mcu::disassembly::Disassembler;
use dmo_trace::mcu::machine::{Machine, Observation, Pause, RawAccess, Watch};
use dmo_trace::program::target::Target;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::rc::Rc;
use support::firmware::{Firmware, RAM};
use support::guest::{Guest, State, Stop};
use support::{CPUS, recorded, small_programs};

#[test]
fn watching_changes_nothing_on_cortex_m3() {
    check_corpus("cortex-m3", &WATCHING);
}

#[test]
fn watching_changes_nothing_on_cortex_m4() {
    check_corpus("cortex-m4", &WATCHING);
}

#[test]
fn watching_changes_nothing_on_cortex_m7() {
    check_corpus("cortex-m7", &WATCHING);
}

#[test]
fn self_check_changes_nothing_on_cortex_m3() {
    check_programs("cortex-m3", &short_programs(), &CHECKING);
}

#[test]
fn self_check_changes_nothing_on_cortex_m4() {
    let mut programs = short_programs();
    if support::tools::are_all_cases_wanted() {
        programs = small_programs();
    } else {
        programs.push("conv2d".to_owned());
    }
    check_programs("cortex-m4", &programs, &CHECKING);
}

#[test]
fn self_check_changes_nothing_on_cortex_m7() {
    check_programs("cortex-m7", &short_programs(), &CHECKING);
}

const WATCHING: [(Observation, Watched); 2] = [
    (Observation::Watch, Watched::LayerByLayer),
    (Observation::Watch, Watched::Everything),
];

const CHECKING: [(Observation, Watched); 1] = [(Observation::SelfCheck, Watched::LayerByLayer)];

/// What a run is made to watch.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Watched {
    Nothing,
    LayerByLayer,
    Everything,
}

/// All addresses but the core's private peripherals.
const EVERYTHING: Range<u64> = 0..0xe000_0000;

/// A self-check stops at each instruction: of the programs of more than four million one core has it on one, and on
/// all with `DMO_TRACE_CASES=all`.
fn short_programs() -> Vec<String> {
    let mut names = small_programs();
    let all = names.len();
    let long = [
        "conv2d",
        "conv2d_variants",
        "depthwise_conv2d",
        "depthwise_in_place",
        "network",
        "softmax",
    ];
    names.retain(|name| !long.contains(&name.as_str()));
    assert_eq!(names.len(), all - long.len());
    names
}

fn check_corpus(cpu: &str, runs: &[(Observation, Watched)]) {
    check_programs(cpu, &small_programs(), runs);
}

/// Every program ends with the registers and the RAM that it has without memory hooks.
fn check_programs(cpu: &str, programs: &[String], runs: &[(Observation, Watched)]) {
    for program in programs {
        let target = recorded(cpu, program);
        let expected = final_state(&target, Observation::None, Watched::Nothing);
        assert!(cpu == "cortex-m3" || expected.has_fpu(), "{cpu}");
        for &(observation, watched) in runs {
            let observed = final_state(&target, observation, watched);
            let difference = expected.difference(&observed);
            let how = format!("{cpu} {program}: without hooks and under {observation:?}");
            assert_eq!(difference, None, "{how}, {watched:?}");
        }
    }
}

fn final_state(target: &Target, observation: Observation, watched: Watched) -> State {
    let mut guest = Guest::new(target, observation, watched == Watched::LayerByLayer);
    if watched == Watched::Everything {
        guest.watch(&[EVERYTHING]);
    }
    loop {
        match guest.advance() {
            Stop::Begin(layer) => guest.watch_tensors(&layer),
            Stop::End => guest.watch(&[]),
            Stop::Exit(status) => {
                assert_eq!(status, 0, "exit status");
                break;
            }
        }
        guest.take_accesses();
    }
    assert_eq!(guest.machine.finish_check(), Ok(()));
    guest.state()
}

/// `it_block` on each CPU.
fn it_blocks() -> impl Iterator<Item = (&'static str, Target)> {
    CPUS.into_iter().map(|cpu| (cpu, recorded(cpu, "it_block")))
}

/// What a layer did to its buffers.
struct Observed {
    layer: Layer,
    accesses: Vec<RawAccess>,
    input: Vec<u8>,
    output: Vec<u8>,
}

/// Load or store, tensor, offset in it, size in bytes.
type Access = (AccessKind, Role, u32, u8);

impl Observed {
    fn of(target: &Target, name: &str) -> Self {
        let mut guest = Guest::new(target, Observation::Watch, true);
        let layer = guest.advance_to(name);
        guest.watch_tensors(&layer);
        assert_eq!(guest.advance(), Stop::End);
        let content = |role: Role| {
            let tensor = layer.tensors.iter().find(|tensor| tensor.role == role);
            let tensor = tensor.expect("tensor");
            let bytes = guest
                .machine
                .read(tensor.address, tensor.size_bytes as usize);
            bytes.expect("content")
        };
        Self {
            input: content(Role::Input),
            output: content(Role::Output),
            accesses: guest.take_accesses(),
            layer,
        }
    }

    fn resolve(&self, access: &RawAccess) -> Access {
        let tensor = self.layer.tensors.iter().find(|tensor| {
            (u64::from(tensor.address.0)..tensor.end()).contains(&access.address.into())
        });
        let tensor = tensor.unwrap_or_else(|| panic!("{access:x?} is outside the tensors"));
        let offset = access.address - tensor.address.0;
        (access.kind, tensor.role, offset, access.size_bytes)
    }

    fn all(&self) -> Vec<Access> {
        self.accesses
            .iter()
            .map(|access| self.resolve(access))
            .collect()
    }

    fn of_kind(&self, kind: AccessKind) -> Vec<Access> {
        let mut all = self.all();
        all.retain(|access| access.0 == kind);
        all
    }
}

fn load_input(offset: usize, size_bytes: u8) -> Access {
    (Load, Role::Input, offset as u32, size_bytes)
}

fn load_output(offset: usize, size_bytes: u8) -> Access {
    (Load, Role::Output, offset as u32, size_bytes)
}

fn store_output(offset: usize, size_bytes: u8) -> Access {
    (Store, Role::Output, offset as u32, size_bytes)
}

/// 2309: a memory hook on an access inside an IT block leaks the IT state into the next
/// block. Registers and RAM at each mark are those of a run without memory hooks.
#[test]
fn issue_2309_it_state_does_not_leak() {
    for (cpu, target) in it_blocks() {
        for watched in [Watched::LayerByLayer, Watched::Everything] {
            let mut plain = Guest::new(&target, Observation::None, true);
            let mut hooked = Guest::new(&target, Observation::Watch, true);
            loop {
                let (expected, actual) = (plain.advance(), hooked.advance());
                let difference = plain.state().difference(&hooked.state());
                assert_eq!(difference, None, "{cpu}, {watched:?}, at {expected:?}");
                assert_eq!(expected, actual, "{cpu}, {watched:?}");
                match (watched, actual) {
                    (Watched::Everything, _) => hooked.watch(&[EVERYTHING]),
                    (_, Stop::Begin(layer)) => hooked.watch_tensors(&layer),
                    _ => hooked.watch(&[]),
                }
                if let Stop::Exit(status) = expected {
                    assert_eq!(status, 0, "{cpu}");
                    break;
                }
            }
        }
    }
}

/// Loads inside IT blocks are reported when the condition holds, and only then.
#[test]
fn conditional_loads() {
    for (cpu, target) in it_blocks() {
        let observed = Observed::of(&target, "conditional_load");
        let expected: Vec<Access> = (0..203)
            .flat_map(|i| {
                let load = (i & 5 != 0).then(|| load_input(i, 1));
                load.into_iter().chain([store_output(i, 1)])
            })
            .collect();
        assert_eq!(observed.all(), expected, "{cpu}");
    }
}

/// The same for stores, and their values.
#[test]
fn conditional_stores() {
    for (cpu, target) in it_blocks() {
        let observed = Observed::of(&target, "conditional_store");
        let stores = |i: usize| observed.input[i] as i8 > 10;
        let cleared = (0..203).map(|i| store_output(i, 1));
        let selected = (0..203).flat_map(|i| {
            let store = stores(i).then(|| store_output(i, 1));
            [load_input(i, 1)].into_iter().chain(store)
        });
        let expected: Vec<Access> = cleared.chain(selected).collect();
        assert_eq!(observed.all(), expected, "{cpu}");
        let content: Vec<u8> = (0..203)
            .map(|i| if stores(i) { observed.input[i] } else { 0 })
            .collect();
        assert_eq!(observed.output, content, "{cpu}");

        let observed = Observed::of(&target, "maximum");
        let input = |i: usize| observed.input[i] as i8;
        let copied = (0..101).flat_map(|i| [load_input(2 * i, 1), store_output(i, 1)]);
        let compared = (0..101).flat_map(|i| {
            let store = (input(2 * i + 1) > input(2 * i)).then(|| store_output(i, 1));
            let loads = [load_input(2 * i + 1, 1), load_output(i, 1)];
            loads.into_iter().chain(store)
        });
        let expected: Vec<Access> = copied.chain(compared).collect();
        assert_eq!(observed.all(), expected, "{cpu}");
    }
}

/// The library's memcpy with its last bytes in IT blocks: each byte once.
#[test]
fn conditional_tails_of_memcpy() {
    for (cpu, target) in it_blocks() {
        let observed = Observed::of(&target, "memcpy_tails");
        let bytes = |kind| {
            let mut bytes: Vec<u32> = observed
                .of_kind(kind)
                .into_iter()
                .flat_map(|(_, _, offset, size_bytes)| offset..offset + u32::from(size_bytes))
                .collect();
            bytes.sort_unstable();
            bytes
        };
        // One byte of the input is left out.
        let loaded: Vec<u32> = (0..190).chain(191..203).collect();
        assert_eq!(bytes(Load), loaded, "{cpu}");
        assert_eq!(bytes(Store), (0..202).collect::<Vec<_>>(), "{cpu}");
    }
}

/// Whatever the hooks report layer by layer is what they report under the self-check,
/// which compares each access with a decode of its own.
#[test]
fn watching_reports_what_the_self_check_does() {
    for (cpu, target) in it_blocks() {
        let accesses = |observation| {
            let mut guest = Guest::new(&target, observation, true);
            loop {
                match guest.advance() {
                    Stop::Begin(layer) => guest.watch_tensors(&layer),
                    Stop::End => guest.watch(&[]),
                    Stop::Exit(status) => {
                        assert_eq!(status, 0, "{cpu}");
                        assert_eq!(guest.machine.finish_check(), Ok(()), "{cpu}");
                        return guest.take_accesses();
                    }
                }
            }
        };
        let watched = accesses(Observation::Watch);
        assert!(watched.len() > 2000, "{cpu}: {} accesses", watched.len());
        assert!(watched == accesses(Observation::SelfCheck), "{cpu}");
    }
}

/// Calls of the library's memcpy at addresses of our choice.
struct Memcpy<'a> {
    guest: Guest<'a>,
    entry: u32,
    /// A breakpoint, to return to.
    back: u32,
}

impl<'a> Memcpy<'a> {
    fn new(target: &'a Target, observation: Observation) -> Self {
        let marks = dmo_trace::program::marks::Marks::find(&target.image).expect("marks");
        let memcpy = target.image.symbols.named("memcpy").expect("memcpy");
        let mut guest = Guest::new(target, observation, true);
        let pattern: Vec<u8> = (0..0x1_0000)
            .map(|byte: u32| (7 * byte / 4) as u8)
            .collect();
        guest
            .machine
            .write(Address(0x2000_0000), &pattern)
            .expect("RAM");
        Self {
            guest,
            entry: memcpy.address,
            back: marks.addresses()[0],
        }
    }

    /// Copies, and returns what was reported.
    fn copy(&mut self, to: u32, from: u32, size_bytes: u32) -> Vec<RawAccess> {
        let machine = &mut self.guest.machine;
        let before = machine.read(Address(from), size_bytes as usize);
        for (register, value) in [
            (0, to),
            (1, from),
            (2, size_bytes),
            (13, 0x2040_0000),
            (14, self.back | 1),
            (15, self.entry),
        ] {
            machine.set_register(register, value).expect("register");
        }
        assert_eq!(machine.run(), Pause::Breakpoint(Address(self.back)));
        machine.skip_to(self.entry).expect("skip");
        let after = machine.read(Address(to), size_bytes as usize);
        assert!(before.is_some() && before == after, "a wrong copy");
        self.guest.take_accesses()
    }

    fn watch(&mut self, range: Range<u32>) {
        self.guest
            .watch(&[u64::from(range.start)..u64::from(range.end)]);
    }
}

/// The bytes of these accesses, in order.
fn bytes(accesses: &[RawAccess], kind: AccessKind) -> Vec<u32> {
    accesses
        .iter()
        .filter(|access| access.kind == kind)
        .flat_map(|access| access.address..access.address + u32::from(access.size_bytes))
        .collect()
}

/// 1737: loads are missed in code that was translated before the hook came, or while
/// another range was hooked.
#[test]
fn issue_1737_no_load_is_missed_in_code_that_ran_before() {
    let (from, to, size_bytes) = (0x2000_1003, 0x2000_8001, 203);
    for (cpu, target) in it_blocks() {
        let mut memcpy = Memcpy::new(&target, Observation::Watch);
        for round in 0..3 {
            assert_eq!(memcpy.copy(to, from, size_bytes), [], "{cpu}: unwatched");
            memcpy.watch(from..from + size_bytes);
            let accesses = memcpy.copy(to, from, size_bytes);
            let all: Vec<u32> = (from..from + size_bytes).collect();
            assert_eq!(bytes(&accesses, Load), all, "{cpu}, round {round}: loads");
            assert!(bytes(&accesses, Store).is_empty(), "{cpu}, round {round}");
            memcpy.watch(to..to + size_bytes);
            let accesses = memcpy.copy(to, from, size_bytes);
            let all: Vec<u32> = (to..to + size_bytes).collect();
            assert_eq!(bytes(&accesses, Store), all, "{cpu}, round {round}: stores");
            assert!(bytes(&accesses, Load).is_empty(), "{cpu}, round {round}");
            memcpy.guest.watch(&[]);
        }
    }
}

/// 1354, 1908: of several hooks only the first fires. Ranges so far apart that each has
/// a hook of its own, in flash, RAM and stack: each reports what it reports when everything
/// is watched.
#[test]
fn issues_1354_and_1908_every_range_reports() {
    for (cpu, target) in it_blocks() {
        let everything = accesses_of_program(&target, &[EVERYTHING]);
        let input = Observed::of(&target, "recursion").layer.tensors[0].clone();
        let end = target
            .image
            .segments
            .iter()
            .map(|segment| segment.load_range().end)
            .max();
        let middle = end.expect("segments") / 2;
        let ranges = [
            u64::from(input.address.0)..input.end(),
            // Of the code: literal pools.
            0..middle - 200,
            middle + 200..0x1_0000,
            // Of the stack.
            0x203f_ff00..0x203f_ffe0,
            0x203f_fff0..0x2040_0000,
            // Nothing is here.
            0x2020_0000..0x2020_1000,
        ];
        let mut reversed = ranges.clone();
        reversed.reverse();
        for ranges in [&ranges, &reversed] {
            let watched = accesses_of_program(&target, ranges);
            let touches = |access: &RawAccess, range: &Range<u64>| {
                let start = u64::from(access.address);
                start < range.end && range.start < start + u64::from(access.size_bytes)
            };
            let expected: Vec<RawAccess> = everything
                .iter()
                .filter(|access| ranges.iter().any(|range| touches(access, range)))
                .copied()
                .collect();
            for range in ranges {
                let count = |accesses: &[RawAccess]| {
                    let inside = accesses.iter().filter(|access| touches(access, range));
                    inside.count()
                };
                assert_eq!(count(&watched), count(&expected), "{cpu}: {range:x?}");
            }
            assert!(watched == expected, "{cpu}: order, instructions or times");
        }
        let touched = ranges
            .iter()
            .filter(|range| {
                everything
                    .iter()
                    .any(|access| range.contains(&access.address.into()))
            })
            .count();
        assert_eq!(touched, 5, "{cpu}: the test is about five ranges");
    }
}

fn accesses_of_program(target: &Target, ranges: &[Range<u64>]) -> Vec<RawAccess> {
    let mut guest = Guest::new(target, Observation::Watch, false);
    guest.watch(ranges);
    assert_eq!(guest.advance(), Stop::Exit(0));
    guest.take_accesses()
}

/// 1041, 2063: an unaligned access is reported twice, or in pieces.
#[test]
fn issues_1041_and_2063_unaligned_access_is_reported_once() {
    for (cpu, target) in it_blocks() {
        let observed = Observed::of(&target, "unaligned");
        // A word behind one byte, 24 times.
        let expected: Vec<Access> = (0..24)
            .flat_map(|i| {
                let (byte, word) = (5 * i, 5 * i + 1);
                let loads = [load_input(word, 4), load_input(byte, 1)];
                loads
                    .into_iter()
                    .chain([store_output(word, 4), store_output(byte, 1)])
            })
            .collect();
        assert_eq!(observed.all(), expected, "{cpu}");
    }
}

/// A word over the end of a page is loaded in two pieces by the emulator; it is still one
/// access.
#[test]
fn page_crossing_access_is_reported_once() {
    for (cpu, target) in it_blocks() {
        // Pages of the emulator's memory, of its translation and of the smallest MPU.
        for page in [0x2000_1000, 0x2000_1400, 0x2000_1020] {
            for before in 1..4 {
                // An aligned destination: words, whatever the source's alignment.
                let (from, to, size_bytes) = (page - 16 - before, 0x2000_8000, 40);
                let mut memcpy = Memcpy::new(&target, Observation::Watch);
                memcpy.watch(from..from + size_bytes);
                let loads = memcpy.copy(to, from, size_bytes);
                let places: Vec<_> = loads
                    .iter()
                    .map(|access| (access.address, access.size_bytes))
                    .collect();
                let words: Vec<_> = (0..10).map(|word| (from + 4 * word, 4)).collect();
                assert_eq!(places, words, "{cpu}: {before} bytes before {page:#x}");
            }
        }
    }
}

/// Instructions that access several words: one event a register, of one time, in
/// ascending order of addresses.
#[test]
fn multiple_transfers_report_each_register() {
    for (cpu, target) in it_blocks() {
        let disassembler = Disassembler::default();
        let mut by_instruction: BTreeMap<(u64, u32), Vec<RawAccess>> = BTreeMap::new();
        for access in accesses_of_program(&target, &[EVERYTHING]) {
            by_instruction
                .entry((access.time, access.pc))
                .or_default()
                .push(access);
        }
        let mut seen = BTreeSet::new();
        for ((time, pc), accesses) in by_instruction {
            let text = target.location(Address(pc), &disassembler).disassembly;
            let text = text.unwrap_or_default();
            // What a semihosting call accesses is the host's doing.
            if text.starts_with("bkpt") {
                continue;
            }
            let (count, size_bytes) = transfers(&text);
            let expected: Vec<(AccessKind, u32, u8)> = (0..count)
                .map(|index| {
                    let first = accesses[0];
                    let address = first.address + index * u32::from(size_bytes.unwrap_or(0));
                    let size_bytes = size_bytes.unwrap_or(first.size_bytes);
                    (first.kind, address, size_bytes)
                })
                .collect();
            let actual: Vec<_> = accesses
                .iter()
                .map(|access| (access.kind, access.address, access.size_bytes))
                .collect();
            assert_eq!(actual, expected, "{cpu}: {text} at {pc:#x}, time {time}");
            if count > 1 {
                let mnemonic = text.split([' ', '.']).next().unwrap_or_default();
                seen.insert(mnemonic.to_owned());
            }
        }
        let mut must = vec!["ldm", "ldrd", "pop", "push", "stm", "strd"];
        if cpu != "cortex-m3" {
            must.extend(["vldmia", "vpop", "vpush", "vstmia"]);
        }
        let seen: Vec<&str> = seen.iter().map(String::as_str).collect();
        assert_eq!(seen, must, "{cpu}: the instructions that the test is about");
    }
}

/// How many registers an instruction transfers, and of which size where it says so.
fn transfers(text: &str) -> (u32, Option<u8>) {
    if let Some((_, list)) = text.split_once('{') {
        let size_bytes = if list.starts_with('d') { 8 } else { 4 };
        return (list.split(',').count() as u32, Some(size_bytes));
    }
    if text.starts_with("ldrd") || text.starts_with("strd") {
        return (2, Some(4));
    }
    (1, None)
}

/// An access that starts before a watched range and reaches into it, by any number of
/// bytes up to the longest access there is.
#[test]
fn access_from_before_a_range_is_reported() {
    for (cpu, target) in it_blocks() {
        let (from, to) = (0x2000_1001, 0x2000_8000);
        for byte in 0..4 {
            let mut memcpy = Memcpy::new(&target, Observation::Watch);
            memcpy.watch(from + 8 + byte..from + 9 + byte);
            let loads = memcpy.copy(to, from, 40);
            let places: Vec<_> = loads
                .iter()
                .map(|access| (access.kind, access.address, access.size_bytes))
                .collect();
            assert_eq!(
                places,
                [(Load, from + 8, 4)],
                "{cpu}: byte {byte} of a word"
            );
        }
    }
    // Both registers of `vpush {d8-d9}` and `vpop {d8-d9}`.
    for cpu in ["cortex-m4", "cortex-m7"] {
        let target = recorded(cpu, "it_block");
        let mut guest = Guest::new(&target, Observation::Watch, true);
        guest.advance_to("float_neighbours");
        guest.watch(&[EVERYTHING]);
        assert_eq!(guest.advance(), Stop::End);
        let doubles: Vec<_> = guest
            .take_accesses()
            .into_iter()
            .filter(|access| access.size_bytes == 8)
            .collect();
        assert_eq!(doubles.len(), 4, "{cpu}: {doubles:x?}");
        for byte in 0..8 {
            let mut guest = Guest::new(&target, Observation::Watch, true);
            guest.advance_to("float_neighbours");
            let watched = u64::from(doubles[1].address) + byte;
            guest.watch(&[watched..watched + 1]);
            assert_eq!(guest.advance(), Stop::End);
            let expected = [doubles[1], doubles[3]];
            assert_eq!(guest.take_accesses(), expected, "{cpu}: byte {byte}");
        }
    }
}

/// What is not watched is not reported, however near.
#[test]
fn only_watched_bytes_are_reported() {
    let target = recorded("cortex-m4", "it_block");
    let mut memcpy = Memcpy::new(&target, Observation::Watch);
    let (from, to) = (0x2000_1000, 0x2000_1100);
    // Two ranges that share a hook, with the destination's start between them.
    let stores_only = |range| Watch {
        range,
        loads: false,
    };
    let machine = &mut memcpy.guest.machine;
    let watches = [0x2000_1000..0x2000_1010, 0x2000_1110..0x2000_1114];
    let watches = watches.map(stores_only).to_vec();
    machine.watch(watches).expect("watch");
    let accesses = memcpy.copy(to, from, 40);
    let places: Vec<_> = accesses
        .iter()
        .map(|access| (access.kind, access.address, access.size_bytes))
        .collect();
    assert_eq!(places, [(Store, to + 16, 4)]);
    // The hook of the other range is on loads too.
    let machine = &mut memcpy.guest.machine;
    let watches = vec![
        stores_only(0x2000_1000..0x2000_1010),
        Watch {
            range: 0x2000_1020..0x2000_1024,
            loads: true,
        },
    ];
    machine.watch(watches).expect("watch");
    let accesses = memcpy.copy(to, from, 40);
    assert_eq!(
        bytes(&accesses, Load),
        [0x2000_1020, 0x2000_1021, 0x2000_1022, 0x2000_1023]
    );
    assert!(bytes(&accesses, Store).is_empty());
}

/// A block of code ends inside an IT block where a page does. The next one then begins
/// inside it, which its code alone does not show.
#[test]
fn it_block_over_the_end_of_a_page() {
    let buffer = RAM + 0x100;
    let mut firmware = Firmware::new();
    firmware.set(4, buffer).code(&[0x2600]); // movs r6, #0
    firmware.pad_to(0x1000 - 4).code(&[
        0x2000, // movs r0, #0
        0xbf01, // itttt eq
        0x6821, // ldreq r1, [r4], in the next page
        0x6862, // ldreq r2, [r4, #4]
        0x68a3, // ldreq r3, [r4, #8]
        0x68e5, // ldreq r5, [r4, #12]
        0x2801, // cmp r0, #1: not equal
        0xe7ff, // b to the next instruction, which begins a block
        0x3601, // adds r6, #1
        0x3601, // adds r6, #1
        0x3601, // adds r6, #1
        0x6026, // str r6, [r4]
        0xbe00, // bkpt #0
    ]);
    for observation in [
        Observation::None,
        Observation::Watch,
        Observation::SelfCheck,
    ] {
        let mut machine = firmware.machine(observation);
        let words: Vec<u8> = [0x11, 0x22, 0x33, 0x55].map(u32::to_le_bytes).concat();
        machine.write(Address(buffer), &words).expect("RAM");
        machine
            .watch(vec![Watch {
                range: buffer.into()..u64::from(buffer) + 16,
                loads: true,
            }])
            .expect("watch");
        assert_eq!(machine.run(), Pause::SoftwareBreakpoint(0));
        assert_eq!(machine.finish_check(), Ok(()), "{observation:?}");
        let registers: Vec<u32> = (1..=6).map(|index| machine.register(index)).collect();
        let expected = [0x11, 0x22, 0x33, buffer, 0x55, 3];
        assert_eq!(registers, expected, "{observation:?}");
        assert_eq!(machine.read_word(Address(buffer)), Some(3));
    }
}

/// A store-exclusive that succeeds: the emulator compares the old content first, which is
/// no load of the program.
#[test]
fn store_exclusive_is_only_a_store() {
    let buffer = RAM + 0x100;
    let mut firmware = Firmware::new();
    firmware.set(1, buffer).code(&[
        0xe851, 0x2f00, // ldrex r2, [r1]
        0x3201, // adds r2, #1
        0xe841, 0x2300, // strex r3, r2, [r1]
        0xbe00, // bkpt #0
    ]);
    for observation in [Observation::Watch, Observation::SelfCheck] {
        let mut machine = firmware.machine(observation);
        let accesses = Rc::<RefCell<Vec<RawAccess>>>::default();
        let delivered = Rc::clone(&accesses);
        machine.deliver_to(Box::new(move |batch| {
            delivered.borrow_mut().extend(batch.iter());
            true
        }));
        let range = buffer.into()..u64::from(buffer) + 4;
        let watch = Watch { range, loads: true };
        machine.watch(vec![watch]).expect("watch");
        let pause = machine.run();
        assert_eq!(pause, Pause::SoftwareBreakpoint(0), "{observation:?}");
        assert_eq!(machine.register(3), 0, "it has stored");
        assert_eq!(machine.read_word(Address(buffer)), Some(1));
        let kinds: Vec<_> = accesses.take().iter().map(|access| access.kind).collect();
        assert_eq!(kinds, [Load, Store], "{observation:?}");
        assert_eq!(machine.finish_check(), Ok(()), "{observation:?}");
    }
}

/// Where the machine stops inside an IT block and goes on, the rest of the block still executes
/// as its conditions say: BKPT always stops, a hint where its own condition holds.
#[test]
fn stops_inside_it_blocks_change_nothing() {
    const STOPS: [&[u16]; 4] = [&[0xbeab], &[0xbf10], &[0xbf40], &[0xf3af, 0x8001]];
    let observations = [Observation::Watch, Observation::SelfCheck];
    let mut cases = 0;
    for (observation, stop) in observations.into_iter().flat_map(|o| STOPS.map(|s| (o, s))) {
        for (condition, mask, zero) in (0..2_u16)
            .flat_map(|condition| (1..16_u16).map(move |mask| (condition, mask)))
            .flat_map(|(condition, mask)| [0, 1].map(|zero| (condition, mask, zero)))
        {
            let length = 4 - mask.trailing_zeros() as usize;
            let inverted = |slot: usize| slot > 0 && mask >> (4 - slot) & 1 != condition & 1;
            for stopped in 0..length {
                let mut firmware = Firmware::new();
                // r0: the operation; movs r2, #zero; cmp r2, #1; it
                firmware.set(0, 0x10).code(&[0x2200 | zero, 0x2a01]);
                firmware.code(&[0xbf00 | condition << 4 | mask]);
                for slot in 0..length {
                    // add r4.., #1
                    let add = [0x3401 | (slot as u16) << 8];
                    firmware.code(if slot == stopped { stop } else { &add });
                }
                // add r3, #1: no longer conditional
                firmware.code(&[0x3301]).exit(0);
                let mut machine = firmware.machine(observation);
                for register in 3..8 {
                    machine.set_register(register, 0).expect("a register");
                }
                let place = format!(
                    "{observation:?}: it {condition} {mask:04b}, Z {zero}, {stop:04x?} at {stopped}"
                );
                run_to_exit(&mut machine, &place);
                let holds = |slot: usize| (zero == 1) != ((condition == 1) != inverted(slot));
                let expected =
                    |slot: usize| u32::from(slot != stopped && slot < length && holds(slot));
                let found: Vec<u32> = (4..8).map(|register| machine.register(register)).collect();
                assert_eq!(found, [0, 1, 2, 3].map(expected), "{place}");
                assert_eq!(machine.register(3), 1, "{place}");
                assert_eq!(machine.finish_check(), Ok(()), "{place}");
                cases += 1;
            }
        }
    }
    assert_eq!(cases, 2 * 4 * 2 * 2 * (8 * 4 + 4 * 3 + 2 * 2 + 1));
}

/// Answers nothing, and passes hints.
fn run_to_exit(machine: &mut Machine, place: &str) {
    loop {
        let passed = match machine.run() {
            Pause::SoftwareBreakpoint(_) if machine.register(0) == 0x20 => return,
            Pause::SoftwareBreakpoint(_) => machine.pass_software_breakpoint(),
            Pause::Hint(next) => machine.skip_to(next.0),
            other => panic!("{place}: {other:?}"),
        };
        passed.expect("the machine goes on");
    }
}
