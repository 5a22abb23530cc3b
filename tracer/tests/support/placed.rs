//! A kernel called with its buffers where a test wants them.

use super::LIMITS;
use dmo_analysis::trace::Address;
use dmo_trace::call::Caller;
use dmo_trace::kernels::{Buffers, Case, Contract, KernelLibrary};
use dmo_trace::mcu::machine::Observation;
use dmo_trace::measure::{call, choose, scratch_bytes};

/// A kernel on a machine of its own, and the numbers it computes with.
pub struct Placed<'a> {
    library: &'a KernelLibrary,
    caller: Caller<'a>,
    contract: &'static Contract,
    case: &'a Case,
    scratch_bytes: u32,
}

impl<'a> Placed<'a> {
    /// The kernel of the library that computes the case.
    pub fn new(library: &'a KernelLibrary, case: &'a Case) -> Self {
        let contract = choose(library, case, None).expect("a kernel");
        let parameters = contract.invented(case).expect("numbers");
        Self {
            library,
            caller: Caller::new(library, Observation::Watch, LIMITS).expect("a machine"),
            contract,
            case,
            scratch_bytes: scratch_bytes(library, case, contract, &parameters, LIMITS)
                .expect("a size"),
        }
    }

    /// Scratch memory that it wants, in bytes.
    pub fn scratch_bytes(&self) -> u32 {
        self.scratch_bytes
    }

    /// Computes with the inputs and the output at these offsets of a memory of this content;
    /// gives what the memory holds then.
    pub fn run(&mut self, memory: Vec<u8>, inputs: &[u32], output: u32) -> Vec<u8> {
        let size_bytes = memory.len();
        let mut frame = self.library.frame();
        let start = frame.reserve("memory", size_bytes as u64).expect("room");
        frame.guard().expect("room");
        let scratch = frame
            .reserve("scratch", self.scratch_bytes.into())
            .expect("room");
        frame.guard().expect("room");
        frame.fill(start, memory);
        let at = |&offset: &u32| Address(start.0 + offset);
        let buffers = Buffers {
            inputs: inputs.iter().map(at).collect(),
            outputs: vec![at(&output)],
            scratch: (self.scratch_bytes > 0).then_some((scratch, self.scratch_bytes)),
            states: Vec::new(),
        };
        let parameters = self.contract.invented(self.case).expect("numbers");
        let calls = self
            .contract
            .prepare(self.case, &parameters, &buffers, &mut frame)
            .expect("arguments");
        self.caller.fill(&frame).expect("memory");
        call(self.contract, &mut self.caller, &frame, &calls).expect("a call");
        let machine = &self.caller.machine;
        machine.read(start, size_bytes).expect("memory")
    }
}

/// Reproducible bytes.
pub fn bytes(seed: u64, count: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..count).map(|_| next()).collect()
}
