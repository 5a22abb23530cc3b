//! What a program can do to the host by semihosting: print so much, use files in one folder
//! when the user names it, and nothing else.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may fail loudly"
)]

mod support;

use dmo_analysis::profile::Profiler;
use dmo_analysis::trace::{AccessKind, Address, Exit};
use dmo_trace::mcu::machine::{FaultCause, Limits, Machine, Observation, Pause, Watch};
use dmo_trace::program::run::{RunError, run, try_other_inputs};
use dmo_trace::program::semihosting::folder::{
    Folder, MAX_FILE_BYTES, MAX_NEW_FILES, MAX_OPEN_FILES,
};
use dmo_trace::program::semihosting::{Host, MAX_OUTPUT_BYTES, Semihosting};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::ops::Range;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::Duration;
use support::firmware::{Buffer, Firmware, INPUT, OUTPUT, RAM};
use support::run_options;
use tempfile::TempDir;

const OPEN: u32 = 0x01;
const CLOSE: u32 = 0x02;
const WRITE0: u32 = 0x04;
const WRITE: u32 = 0x05;
const READ: u32 = 0x06;
const ISTTY: u32 = 0x09;
const SEEK: u32 = 0x0a;
const FLEN: u32 = 0x0c;
const TMPNAM: u32 = 0x0d;
const REMOVE: u32 = 0x0e;
const RENAME: u32 = 0x0f;
const ERRNO: u32 = 0x13;
const ELAPSED: u32 = 0x30;

const FAILED: u32 = u32::MAX;
const ENOENT: u32 = 2;

/// Where the calls of a [`Guest`] have their blocks, names and data.
const BLOCK: u32 = RAM;
const NAME: u32 = RAM + 0x100;
const OTHER_NAME: u32 = RAM + 0x800;
const DATA: u32 = RAM + 0x1000;

/// A machine of which only registers and memory are used: the calls are made by hand.
struct Guest {
    machine: Machine<'static>,
    semihosting: Semihosting<'static>,
}

impl Guest {
    fn new(folder: Option<&Path>) -> Self {
        let folder = folder.map(|path| Folder::open(path).expect("folder"));
        Self {
            machine: Firmware::new().machine(Observation::Watch),
            semihosting: Semihosting::new(Host {
                console: Box::new(|_| ()),
                folder,
            }),
        }
    }

    fn call(&mut self, operation: u32, block: &[u32]) -> u32 {
        let bytes: Vec<u8> = block.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.put(BLOCK, &bytes);
        self.machine.set_register(0, operation).unwrap();
        self.machine.set_register(1, BLOCK).unwrap();
        self.semihosting.call(&mut self.machine).unwrap();
        self.machine.register(0)
    }

    fn put(&mut self, address: u32, bytes: &[u8]) {
        self.machine.write(Address(address), bytes).unwrap();
    }

    fn open(&mut self, name: &[u8], mode: u32) -> u32 {
        self.put(NAME, name);
        self.call(OPEN, &[NAME, mode, name.len() as u32])
    }

    fn write(&mut self, handle: u32, bytes: &[u8]) -> u32 {
        self.put(DATA, bytes);
        self.call(WRITE, &[handle, DATA, bytes.len() as u32])
    }

    fn read(&mut self, handle: u32, length: u32) -> Vec<u8> {
        let missing = self.call(READ, &[handle, DATA, length]);
        let length = (length - missing) as usize;
        self.machine.read(Address(DATA), length).unwrap()
    }

    fn remove(&mut self, name: &[u8]) -> u32 {
        self.put(NAME, name);
        self.call(REMOVE, &[NAME, name.len() as u32])
    }

    fn rename(&mut self, from: &[u8], to: &[u8]) -> u32 {
        self.put(NAME, from);
        self.put(OTHER_NAME, to);
        let block = [NAME, from.len() as u32, OTHER_NAME, to.len() as u32];
        self.call(RENAME, &block)
    }
}

#[test]
fn files_of_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("sub")).unwrap();
    let mut guest = Guest::new(Some(folder.path()));
    // "w+", then back to the start.
    let file = guest.open(b"sub/a.txt", 6);
    assert_eq!(guest.write(file, b"hello, world"), 0);
    assert_eq!(guest.call(FLEN, &[file]), 12);
    assert_eq!(guest.call(ISTTY, &[file]), 0);
    assert_eq!(guest.call(SEEK, &[file, 7]), 0);
    assert_eq!(guest.read(file, 100), b"world");
    assert_eq!(guest.call(CLOSE, &[file]), 0);
    assert_eq!(guest.call(CLOSE, &[file]), FAILED);
    assert_eq!(guest.call(ERRNO, &[]), 9, "EBADF");
    // "a", "r": what is only for one does not do the other.
    let file = guest.open(b"./sub/a.txt", 8);
    assert_eq!(guest.write(file, b"!"), 0);
    assert_eq!(guest.call(READ, &[file, DATA, 4]), 4);
    guest.call(CLOSE, &[file]);
    let file = guest.open(b"sub/a.txt", 0);
    assert_eq!(guest.write(file, b"?"), 1);
    assert_eq!(guest.read(file, 100), b"hello, world!");
    // "r+" keeps what is there, "w" does not.
    let changed = guest.open(b"sub/a.txt", 2);
    assert_eq!(guest.write(changed, b"J"), 0);
    assert_eq!(
        std::fs::read(folder.path().join("sub/a.txt")).unwrap(),
        b"Jello, world!"
    );
    assert_ne!(guest.open(b"sub/a.txt", 4), FAILED);
    assert_eq!(std::fs::read(folder.path().join("sub/a.txt")).unwrap(), b"");
    assert_eq!(guest.rename(b"sub/a.txt", b"b"), 0);
    assert!(folder.path().join("b").is_file());
    assert_eq!(guest.remove(b"b"), 0);
    assert_eq!(guest.open(b"b", 0), FAILED);
    assert_eq!(guest.call(ERRNO, &[]), ENOENT);
    // No modes beyond "a+b".
    assert_eq!(guest.open(b"c", 12), FAILED);
    assert_eq!(guest.call(TMPNAM, &[NAME, 7, 64]), 0);
    let name = guest.machine.read(Address(NAME), 15).unwrap();
    assert_ne!(guest.open(&name, 4), FAILED, "{name:?}");
}

#[test]
fn no_folder_no_files() {
    let mut guest = Guest::new(None);
    for mode in 0..12 {
        assert_eq!(guest.open(b"a", mode), FAILED);
        assert_eq!(guest.call(ERRNO, &[]), ENOENT);
        assert_ne!(guest.open(b":tt", mode), FAILED);
    }
    assert_eq!(guest.remove(b"a"), FAILED);
    assert_eq!(guest.rename(b"a", b"b"), FAILED);
    for handle in [0, 4, 5, 1000, u32::MAX] {
        assert_eq!(guest.write(handle, b"x"), 1, "handle {handle}");
        assert_eq!(guest.call(READ, &[handle, DATA, 3]), 3, "handle {handle}");
    }
}

/// Two folders side by side: one for the guest, with every way out that there is, and one that
/// it must not reach.
struct Prison {
    root: TempDir,
}

const PARTS: [&str; 13] = [
    "..",
    ".",
    "",
    "a",
    "file",
    "link",
    "folder_link",
    "sub",
    "up",
    "pipe",
    "outside",
    "secret",
    "socket",
];

impl Prison {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let (inside, outside) = (root.path().join("inside"), root.path().join("outside"));
        for folder in [&inside, &outside, &inside.join("sub")] {
            std::fs::create_dir(folder).unwrap();
        }
        std::fs::write(outside.join("secret"), "secret").unwrap();
        std::fs::write(inside.join("file"), "file").unwrap();
        symlink(outside.join("secret"), inside.join("link")).unwrap();
        symlink(&outside, inside.join("folder_link")).unwrap();
        symlink("../..", inside.join("sub/up")).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            inside.join("pipe"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
        std::os::unix::net::UnixListener::bind(inside.join("socket")).unwrap();
        Self { root }
    }

    fn inside(&self) -> std::path::PathBuf {
        self.root.path().join("inside")
    }

    /// All that is outside the guest's folder.
    fn outside(&self) -> BTreeMap<String, String> {
        let list = |folder: &Path| {
            let entries = std::fs::read_dir(folder).unwrap();
            entries
                .map(|entry| {
                    let path = entry.unwrap().path();
                    let content = std::fs::read_to_string(&path).unwrap_or_default();
                    (path.display().to_string(), content)
                })
                .collect::<Vec<_>>()
        };
        let outside = list(&self.root.path().join("outside"));
        outside.into_iter().chain(list(self.root.path())).collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// Names made of all that leads out of a folder: nothing outside is read or changed.
    #[test]
    fn there_is_no_way_out(
        names in prop::collection::vec(
            (prop::collection::vec(prop::sample::select(&PARTS[..]), 1..6), any::<bool>(), 0..14_u32),
            1..12,
        ),
    ) {
        let prison = Prison::new();
        let before = prison.outside();
        let mut guest = Guest::new(Some(&prison.inside()));
        let mut last = b"file".to_vec();
        for (parts, absolute, what) in names {
            let root = if absolute { format!("{}/", prison.root.path().display()) } else { String::new() };
            let name = format!("{root}{}", parts.join("/")).into_bytes();
            match what {
                mode @ 0..12 => {
                    let file = guest.open(&name, mode);
                    prop_assert!(file == FAILED || !absolute);
                    if file != FAILED {
                        let content = guest.read(file, 64);
                        prop_assert!(!content.starts_with(b"secret"));
                        guest.write(file, b"changed");
                        guest.call(CLOSE, &[file]);
                    }
                }
                12 => drop(guest.remove(&name)),
                _ => drop(guest.rename(&last, &name)),
            }
            last = name;
        }
        prop_assert_eq!(prison.outside(), before);
    }
}

#[test]
fn each_way_out_by_itself() {
    let prison = Prison::new();
    let mut guest = Guest::new(Some(&prison.inside()));
    let secret = prison.root.path().join("outside/secret");
    let names = [
        secret.to_str().unwrap(),
        "../outside/secret",
        "sub/../../outside/secret",
        "sub/up/outside/secret",
        "link",
        "folder_link/secret",
        "folder_link",
        "sub",
        "sub/..",
        "pipe",
        "socket",
        "file/",
        "file\0",
        "",
        ".",
        "..",
        "/",
        "/dev/null",
    ];
    for name in names {
        for mode in 0..12 {
            assert_eq!(
                guest.open(name.as_bytes(), mode),
                FAILED,
                "{name:?}, {mode}"
            );
        }
    }
    // A name that is longer than the guest's memory.
    assert_eq!(guest.call(OPEN, &[NAME, 0, u32::MAX]), FAILED);
    assert_eq!(guest.call(OPEN, &[u32::MAX - 2, 0, 64]), FAILED);
    assert_eq!(std::fs::read_to_string(secret).unwrap(), "secret");
}

#[test]
fn so_many_files_and_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let mut guest = Guest::new(Some(folder.path()));
    let count = || std::fs::read_dir(folder.path()).unwrap().count();
    let opened = (0..1000)
        .map(|number| guest.open(format!("a{number}").as_bytes(), 4))
        .filter(|&handle| handle != FAILED)
        .collect::<Vec<_>>();
    assert_eq!(opened.len(), MAX_OPEN_FILES);
    assert_eq!(count(), MAX_OPEN_FILES);
    for handle in opened {
        assert_eq!(guest.call(CLOSE, &[handle]), 0);
    }
    for number in 0..1000 {
        let file = guest.open(format!("b{number}").as_bytes(), 4);
        guest.call(CLOSE, &[file]);
    }
    assert_eq!(count(), MAX_NEW_FILES);
    // Those that are there can still be used.
    assert_ne!(guest.open(b"a0", 4), FAILED);
}

#[test]
fn so_many_bytes_and_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let mut guest = Guest::new(Some(folder.path()));
    let sparse = guest.open(b"sparse", 4);
    assert_eq!(guest.call(SEEK, &[sparse, MAX_FILE_BYTES as u32 - 1]), 0);
    assert_eq!(guest.write(sparse, b"abc"), 2);
    assert_eq!(guest.call(SEEK, &[sparse, u32::MAX]), 0);
    assert_eq!(guest.write(sparse, b"abc"), 3);
    let piece = vec![b'x'; 0xe000];
    let mut written = 1;
    loop {
        let file = guest.open(b"large", 8);
        let missing = guest.write(file, &piece) as usize;
        guest.call(CLOSE, &[file]);
        written += (piece.len() - missing) as u64;
        if missing > 0 {
            break;
        }
    }
    assert_eq!(written, MAX_FILE_BYTES);
    let bytes = std::fs::metadata(folder.path().join("large"))
        .unwrap()
        .len();
    assert_eq!(bytes, MAX_FILE_BYTES - 1);
    let file = guest.open(b"another", 4);
    assert_eq!(guest.write(file, b"abc"), 3);
}

const LIMITS: Limits = Limits {
    max_instructions: 3_000_000,
    timeout: Duration::from_secs(60),
};

/// A call whose block is in flash.
fn call(firmware: &mut Firmware, operation: u32, block: &[u32]) {
    let bytes: Vec<u8> = block.iter().flat_map(|word| word.to_le_bytes()).collect();
    let block = firmware.data(&bytes);
    firmware.set(0, operation).set(1, block).code(&[0xbeab]);
}

/// Prints without end: the run ends by itself, and so much was printed, once with a message.
#[test]
fn output_is_limited() {
    for (operation, piece) in [(WRITE0, 0x4000), (WRITE, 0xc000)] {
        let mut firmware = Firmware::new();
        firmware
            .begin("a", &[Buffer::new("in", INPUT, RAM, 4)])
            .end();
        let text = firmware.data(&vec![b'x'; piece]);
        firmware.data(&[0]);
        let again = firmware.here();
        match operation {
            WRITE0 => {
                firmware.set(0, operation).set(1, text).code(&[0xbeab]);
            }
            _ => call(&mut firmware, operation, &[2, text, piece as u32]),
        }
        // b again
        let back = (again as i32 - firmware.here() as i32 - 4) / 2;
        firmware.code(&[0xe000 | (back & 0x7ff) as u16]);
        let mut printed = Vec::new();
        let host = Host::console(Box::new(|bytes: &[u8]| printed.extend_from_slice(bytes)));
        let limits = Limits {
            max_instructions: 10_000,
            ..LIMITS
        };
        let target = firmware.target();
        let mut sink = Profiler::<()>::default();
        let result = run(
            &target,
            run_options(false, limits),
            host,
            &mut sink,
            &mut |_| (),
        );
        match result {
            Err(RunError::Fault(fault)) => {
                assert!(
                    matches!(fault.cause, FaultCause::InstructionLimit { .. }),
                    "{fault}"
                );
            }
            other => panic!("{other:?}"),
        }
        let (text, message) = printed.split_at(MAX_OUTPUT_BYTES);
        assert!(text.iter().all(|&byte| byte == b'x'));
        let message = String::from_utf8(message.to_vec()).unwrap();
        assert_eq!(message.matches("dropped").count(), 1, "{message}");
        assert!(message.len() < 200);
    }
}

/// A layer that moves four bytes, and then has them printed or written, or read from a file.
fn layer_with_call(operation: u32, buffer: u32) -> Firmware {
    copy_with_call(Firmware::new(), operation, buffer)
}

fn copy_with_call(mut firmware: Firmware, operation: u32, buffer: u32) -> Firmware {
    let (input, output) = (RAM + 0x100, RAM + 0x200);
    firmware.begin(
        "copy",
        &[
            Buffer::new("in", INPUT, input, 4),
            Buffer::new("out", OUTPUT, output, 4),
        ],
    );
    // ldr r3, [r2]; str r3, [r2]
    firmware.set(2, input).code(&[0x6813]);
    firmware.set(2, output).code(&[0x6013]);
    if operation != 0 {
        call(&mut firmware, operation, &[buffer, input, 4]);
    }
    firmware.end().exit(0);
    firmware
}

fn overlap(firmware: &Firmware, self_check: bool) -> u32 {
    let (profile, outcome) =
        support::profile(&firmware.target(), run_options(self_check, LIMITS)).expect("a run");
    assert_eq!(outcome.exit, Exit::Status(0));
    profile.layers[0].pairs[0].safe_overlap_bytes
}

/// What the host reads of a tensor is a load: the tensor is in use until then.
#[test]
fn what_is_printed_is_loaded() {
    for self_check in [false, true] {
        assert_eq!(overlap(&layer_with_call(0, 0), self_check), 4);
        assert_eq!(overlap(&layer_with_call(WRITE, 2), self_check), 0);
        // Nothing is printed to what is no file.
        assert_eq!(overlap(&layer_with_call(WRITE, 77), self_check), 4);
    }
}

/// Of output that is dropped, too: on another host it would not be.
#[test]
fn what_is_dropped_is_loaded() {
    let mut firmware = Firmware::new();
    let piece = 0x4000;
    let text = firmware.data(&vec![b'x'; piece]);
    for _ in 0..=MAX_OUTPUT_BYTES / piece {
        call(&mut firmware, WRITE, &[2, text, piece as u32]);
    }
    assert_eq!(overlap(&copy_with_call(firmware, WRITE, 2), false), 0);
}

/// Time, as the host stores it, is the output; then the input is loaded.
#[test]
fn what_the_host_fills_is_stored() {
    for self_check in [false, true] {
        let mut firmware = Firmware::new();
        let (input, output) = (RAM + 0x100, RAM + 0x200);
        firmware.begin(
            "time",
            &[
                Buffer::new("in", INPUT, input, 8),
                Buffer::new("out", OUTPUT, output, 8),
            ],
        );
        firmware.set(0, ELAPSED).set(1, output).code(&[0xbeab]);
        // ldr r3, [r2]
        firmware.set(2, input).code(&[0x6813]);
        firmware.end().exit(0);
        let target = firmware.target();
        let (profile, _) = support::profile(&target, run_options(self_check, LIMITS)).unwrap();
        assert_eq!(profile.layers[0].stores(), 1);
        assert_eq!(profile.layers[0].pairs[0].safe_overlap_bytes, 0);
    }
}

/// The user's folders and links stay where they are.
#[test]
fn only_plain_files_are_renamed() {
    let prison = Prison::new();
    let inside = prison.inside();
    let mut guest = Guest::new(Some(&inside));
    for name in ["sub", "link", "folder_link", "pipe", "nothing"] {
        assert_eq!(guest.rename(name.as_bytes(), b"moved"), FAILED, "{name}");
    }
    assert!(std::fs::symlink_metadata(inside.join("moved")).is_err());
    assert_eq!(guest.rename(b"file", b"sub/moved"), 0);
    assert!(inside.join("sub/moved").is_file());
}

/// A block, a name: what a call is given is loaded.
#[test]
fn what_a_call_is_given_is_loaded() {
    let mut guest = Guest::new(None);
    let loads = std::rc::Rc::<std::cell::RefCell<Vec<Range<u32>>>>::default();
    let seen = std::rc::Rc::clone(&loads);
    guest.machine.deliver_to(Box::new(move |batch| {
        assert!(batch.iter().all(|it| it.kind == AccessKind::Load));
        let ranges = batch.iter();
        let ranges = ranges.map(|it| it.address..it.address + u32::from(it.size_bytes));
        seen.borrow_mut().extend(ranges);
        true
    }));
    let range = u64::from(BLOCK)..u64::from(DATA);
    let watch = Watch { range, loads: true };
    guest.machine.watch(vec![watch]).unwrap();
    guest.rename(b"some name", b"another");
    let is_loaded = |byte| loads.borrow().iter().any(|range| range.contains(&byte));
    let given = [
        BLOCK..BLOCK + 16,
        NAME..NAME + 9,
        OTHER_NAME..OTHER_NAME + 7,
    ];
    for byte in BLOCK..DATA {
        let is_given = given.iter().any(|range| range.contains(&byte));
        assert_eq!(is_loaded(byte), is_given, "{byte:#x}");
    }
}

/// A program may spend all its time in the host.
#[test]
fn time_between_two_instructions_counts() {
    let mut machine = Firmware::new()
        .code(&[0xbeab, 0xbeab])
        .machine(Observation::Watch);
    machine.renew_limits(Limits {
        timeout: Duration::from_millis(50),
        ..LIMITS
    });
    assert_eq!(machine.run(), Pause::SoftwareBreakpoint(0xab));
    std::thread::sleep(Duration::from_millis(100));
    let pc = machine.register(15);
    machine.skip_to(pc + 2).unwrap();
    let pause = machine.run();
    assert!(
        matches!(pause, Pause::Fault(FaultCause::Timeout { .. })),
        "{pause:?}"
    );
}

/// The program's own run changes the folder; the runs on other inputs change a copy.
#[test]
fn runs_on_other_inputs_have_a_copy() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("log"), "before\n").unwrap();
    let mut firmware = Firmware::new();
    let (input, output) = (RAM + 0x100, RAM + 0x200);
    let name = firmware.data(b"log");
    let text = firmware.data(b"run\n");
    call(&mut firmware, OPEN, &[name, 8, 3]);
    // The handle goes into a block in RAM: str r0, [r1]; str r2, [r1, #4]; str r3, [r1, #8]
    firmware.set(1, RAM).set(2, text).set(3, 4);
    firmware.code(&[0x6008, 0x604a, 0x608b]);
    firmware.set(0, WRITE).set(1, RAM).code(&[0xbeab]);
    firmware.begin(
        "copy",
        &[
            Buffer::new("in", INPUT, input, 4),
            Buffer::new("out", OUTPUT, output, 4),
        ],
    );
    firmware.set(2, input).code(&[0x6813]);
    firmware.set(2, output).code(&[0x6013]);
    firmware.end().exit(0);
    let copy = Folder::copy(folder.path()).expect("a copy");
    try_other_inputs(&firmware.target(), LIMITS, 2, Some(copy)).expect("a run");
    let content = || std::fs::read_to_string(folder.path().join("log")).unwrap();
    assert_eq!(content(), "before\n");

    let elf = folder.path().join("firmware.elf");
    std::fs::write(&elf, firmware.elf_file().bytes()).unwrap();
    let status = |options: &[&str]| {
        std::process::Command::new(env!("CARGO_BIN_EXE_dmo-trace"))
            .arg("run")
            .arg(&elf)
            .args(["--cpu", "cortex-m4"])
            .args(options)
            .output()
            .unwrap()
            .status
            .code()
    };
    assert_eq!(status(&[]), Some(0));
    assert_eq!(content(), "before\n");
    assert_eq!(
        status(&["--semihosting-dir", folder.path().to_str().unwrap()]),
        Some(0)
    );
    assert_eq!(content(), "before\nrun\n");
    assert_eq!(status(&["--semihosting-dir", "/nonexistent"]), Some(2));
}
