//! A program on its machine, led from mark to mark by hand: what `run` does, without its
//! threads and its recorder, so that a test sees machine and accesses at every mark.

use super::LIMITS;
use dmo_analysis::trace::{Address, Layer};
use dmo_engine::features::FloatingPoint;
use dmo_trace::mcu::machine::{Machine, Observation, Pause, RawAccess, Watch};
use dmo_trace::mcu::memory::RegionKind;
use dmo_trace::program::marks::{Mark, Marks, read_layer};
use dmo_trace::program::semihosting::{self, Host, Reply, Semihosting};
use dmo_trace::program::target::Target;
use std::cell::RefCell;
use std::rc::Rc;

pub struct Guest<'a> {
    target: &'a Target,
    pub machine: Machine<'static>,
    marks: Marks,
    semihosting: Semihosting<'static>,
    accesses: Rc<RefCell<Vec<RawAccess>>>,
    layers: usize,
}

/// Where a program has come to.
#[derive(Debug, Clone, PartialEq)]
pub enum Stop {
    Begin(Layer),
    End,
    Exit(i32),
}

impl<'a> Guest<'a> {
    /// A program at its first instruction. Unless `stop_at_marks`, only its exit stops it.
    pub fn new(target: &'a Target, observation: Observation, stop_at_marks: bool) -> Self {
        let marks = Marks::find(&target.image).expect("marks");
        let mut machine = target.machine(observation, LIMITS).expect("machine");
        if stop_at_marks {
            machine
                .set_breakpoints(&marks.addresses())
                .expect("breakpoints");
        }
        let accesses = Rc::<RefCell<Vec<RawAccess>>>::default();
        let delivered = Rc::clone(&accesses);
        machine.deliver_to(Box::new(move |batch| {
            delivered.borrow_mut().extend(batch.iter());
            true
        }));
        Self {
            target,
            machine,
            marks,
            semihosting: Semihosting::new(Host::console(Box::new(|bytes| {
                eprint!("{}", String::from_utf8_lossy(bytes));
            }))),
            accesses,
            layers: 0,
        }
    }

    /// Goes on to the next mark, and returns from it, or to the exit.
    pub fn advance(&mut self) -> Stop {
        loop {
            match self.machine.run() {
                Pause::Breakpoint(address) => return self.at_mark(address),
                Pause::SoftwareBreakpoint(semihosting::BREAKPOINT) => {
                    let reply = self.semihosting.call(&mut self.machine);
                    if let Reply::Exit(status) = reply.expect("semihosting") {
                        return Stop::Exit(status);
                    }
                    self.machine.pass_software_breakpoint().expect("pass");
                }
                other => panic!("at {:#010x}: {other:?}", self.machine.register(15)),
            }
        }
    }

    fn at_mark(&mut self, address: Address) -> Stop {
        let stop = match self.marks.at(address) {
            Some(Mark::Begin) => {
                let layer = read_layer(&self.machine, &self.target.map, self.layers);
                self.layers += 1;
                Stop::Begin(layer.expect("layer"))
            }
            Some(Mark::End) => Stop::End,
            None => panic!("breakpoint at {address}, where no mark is"),
        };
        let back = self.machine.register(14) & !1;
        self.machine.skip_to(back).expect("return from the mark");
        stop
    }

    /// Goes on to the begin of this layer.
    pub fn advance_to(&mut self, name: &str) -> Layer {
        loop {
            match self.advance() {
                Stop::Begin(layer) if layer.name == name => return layer,
                Stop::Exit(status) => panic!("exit {status} before layer '{name}'"),
                _ => {}
            }
        }
    }

    /// Loads and stores of these ranges from now on.
    pub fn watch(&mut self, ranges: &[std::ops::Range<u64>]) {
        let watches = ranges.iter().map(|range| Watch {
            range: range.clone(),
            loads: true,
        });
        self.machine.watch(watches.collect()).expect("watch");
    }

    pub fn watch_tensors(&mut self, layer: &Layer) {
        let ranges: Vec<_> = layer
            .tensors
            .iter()
            .map(|tensor| u64::from(tensor.address.0)..tensor.end())
            .collect();
        self.watch(&ranges);
    }

    /// The accesses since the last call.
    pub fn take_accesses(&mut self) -> Vec<RawAccess> {
        self.accesses.take()
    }

    /// Everything that a program can see of its machine.
    pub fn state(&self) -> State {
        let memory = self
            .target
            .map
            .regions()
            .iter()
            .filter(|region| region.kind == RegionKind::Ram)
            .map(|region| {
                let length = region.range.end - region.range.start;
                let start = Address(region.range.start as u32);
                let bytes = self.machine.read(start, length as usize);
                (start, bytes.expect("RAM"))
            });
        State {
            registers: std::array::from_fn(|index| self.machine.register(index)),
            status: self.machine.status(),
            floats: (0..32)
                .map(|index| self.machine.float_register(index))
                .collect(),
            memory: memory.collect(),
        }
    }
}

/// What a program has computed so far.
#[derive(Clone, PartialEq)]
pub struct State {
    registers: [u32; 16],
    status: u32,
    floats: Vec<Option<u32>>,
    memory: Vec<(Address, Vec<u8>)>,
}

impl State {
    /// The first difference, in words.
    pub fn difference(&self, other: &Self) -> Option<String> {
        if self.registers != other.registers {
            let (a, b) = (self.registers, other.registers);
            return Some(format!("r0 to r15: {a:08x?} and {b:08x?}"));
        }
        if self.status != other.status {
            return Some(format!(
                "xpsr: {:08x} and {:08x}",
                self.status, other.status
            ));
        }
        if self.floats != other.floats {
            let (a, b) = (&self.floats, &other.floats);
            return Some(format!("s0 to s31: {a:08x?} and {b:08x?}"));
        }
        for ((start, a), (_, b)) in self.memory.iter().zip(&other.memory) {
            if let Some(at) = a.iter().zip(b).position(|(a, b)| a != b) {
                let address = Address(start.0 + at as u32);
                return Some(format!("{address}: {:02x} and {:02x}", a[at], b[at]));
            }
        }
        (self != other).then(|| "RAM of another size".to_owned())
    }

    /// Without the floating-point registers: where there are none, engines differ in what they say.
    pub fn without_floats(mut self) -> Self {
        self.floats.clear();
        self
    }

    pub fn has_fpu(&self) -> bool {
        self.floats.iter().all(Option::is_some)
    }
}

/// Loads and stores of everything but the core's private peripherals.
pub const EVERYTHING: std::ops::Range<u64> = 0..0xe000_0000;

/// Runs both to their exits; at each mark, time, accesses and state have to be the same. Gives how
/// many marks there were.
pub fn assert_same(place: &str, [judge, judged]: [&mut Guest<'_>; 2]) -> usize {
    for step in 0.. {
        let place = format!("{place}, stop {step}");
        let stops = [judge.advance(), judged.advance()];
        assert_eq!(stops[0], stops[1], "{place}");
        let times = [judge.machine.now(), judged.machine.now()];
        let (expected, actual) = (judge.take_accesses(), judged.take_accesses());
        let differs = expected.iter().zip(&actual).find(|(a, b)| a != b);
        assert_eq!(differs, None, "{place}: an access");
        assert_eq!(expected.len(), actual.len(), "{place}: number of accesses");
        assert_eq!(times[0], times[1], "{place}: time");
        let [mut expected, mut actual] = [judge.state(), judged.state()];
        if judge.target.cpu.features.floating_point == FloatingPoint::None {
            assert!(!actual.has_fpu(), "{place}");
            [expected, actual] = [expected.without_floats(), actual.without_floats()];
        }
        assert_eq!(expected.difference(&actual), None, "{place}");
        if let Stop::Exit(status) = stops[0] {
            assert_eq!(status, 0, "{place}: exit status");
            return step;
        }
    }
    unreachable!("a program ends");
}
