//! A kernel called with its buffers where a test wants them.

use super::LIMITS;
use dmo_analysis::graph::parameters::Parameters;
use dmo_analysis::trace::{Address, Role, Tensor};
use dmo_trace::call::Caller;
use dmo_trace::kernels::{Buffers, Case, Contract, KernelLibrary, State};
use dmo_trace::mcu::machine::{Limits, Observation};
use dmo_trace::measure::{MeasureError, Measurement, call, choose, measure_kernel, scratch_memory};
use dmo_trace::program::other_inputs::Variation;

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
        Self::of(
            library,
            case,
            choose(library, case, None).expect("a kernel"),
        )
    }

    /// This kernel of the library.
    pub fn of(library: &'a KernelLibrary, case: &'a Case, contract: &'static Contract) -> Self {
        let parameters = contract.invented(case).expect("numbers");
        Self {
            library,
            caller: Caller::new(library, Observation::Watch, LIMITS).expect("a machine"),
            contract,
            case,
            scratch_bytes: wanted_scratch(library, case, contract, &parameters),
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

/// Measures the kernel of the library that computes the case.
pub fn measure(
    library: &KernelLibrary,
    case: &Case,
    inputs: u64,
    limits: Limits,
) -> Result<Measurement, MeasureError> {
    measure_kernel(library, case, choose(library, case, None)?, inputs, limits)
}

/// The bytes of all outputs of a kernel on input number `number`, in separate buffers.
pub fn outputs(
    library: &KernelLibrary,
    case: &Case,
    contract: &'static Contract,
    number: u64,
) -> Vec<u8> {
    let parameters = contract.invented(case).expect("numbers");
    outputs_with(library, case, contract, &parameters, number)
}

/// The same with these numbers.
pub fn outputs_with(
    library: &KernelLibrary,
    case: &Case,
    contract: &'static Contract,
    parameters: &Parameters,
    number: u64,
) -> Vec<u8> {
    let invented = |state: &State, size_bytes| state.invented(size_bytes);
    outputs_of_call(library, case, contract, parameters, number, invented)
}

/// Those of the first call, before which no state holds anything.
pub fn first_outputs(
    library: &KernelLibrary,
    case: &Case,
    contract: &'static Contract,
    parameters: &Parameters,
    number: u64,
) -> Vec<u8> {
    let initial = |state: &State, _| state.initial(case, parameters).expect("a size");
    outputs_of_call(library, case, contract, parameters, number, initial)
}

/// Scratch memory that a kernel of a library wants, in bytes.
fn wanted_scratch(
    library: &KernelLibrary,
    case: &Case,
    contract: &Contract,
    parameters: &Parameters,
) -> u32 {
    let scratch = scratch_memory(library, case, contract, parameters, LIMITS);
    scratch.expect("a size").total_bytes
}

fn outputs_of_call(
    library: &KernelLibrary,
    case: &Case,
    contract: &'static Contract,
    parameters: &Parameters,
    number: u64,
    held: impl Fn(&State, u64) -> Vec<u8>,
) -> Vec<u8> {
    let scratch_bytes = wanted_scratch(library, case, contract, parameters);
    let mut frame = library.frame();
    let mut reserve = |what: &str, content: Vec<u8>| {
        let address = frame.reserve(what, content.len() as u64).expect("room");
        frame.guard().expect("room");
        frame.fill(address, content);
        address
    };
    let shapes = case.operator.buffers().expect("shapes");
    let inputs = shapes.inputs.iter().enumerate().map(|(index, buffer)| {
        let tensor = Tensor {
            name: String::new(),
            role: Role::Input,
            address: Address(0),
            size_bytes: buffer.size_bytes(),
            element_type: case.input_type,
        };
        reserve("input", Variation(number).ordinary(index, &tensor))
    });
    let inputs = inputs.collect();
    let sizes = shapes
        .outputs
        .iter()
        .map(|buffer| buffer.size_bytes() as usize);
    let outputs: Vec<Address> = sizes
        .clone()
        .map(|size| reserve("output", bytes(2, size)))
        .collect();
    let states = contract.states.iter().map(|state| {
        let size_bytes = state.size_bytes(case, parameters).expect("a size");
        reserve("state", held(state, size_bytes))
    });
    let states = states.collect();
    let scratch = reserve("scratch", bytes(1, scratch_bytes as usize));
    let buffers = Buffers {
        inputs,
        outputs: outputs.clone(),
        scratch: (scratch_bytes > 0).then_some((scratch, scratch_bytes)),
        states,
    };
    let calls = contract
        .prepare(case, parameters, &buffers, &mut frame)
        .expect(contract.function);
    let mut caller = Caller::new(library, Observation::Watch, LIMITS).expect("a machine");
    caller.fill(&frame).expect("memory");
    call(contract, &mut caller, &frame, &calls).expect(contract.function);
    let read = |(address, size): (Address, usize)| caller.machine.read(address, size);
    let found = outputs.into_iter().zip(sizes).map(read);
    found.collect::<Option<Vec<_>>>().expect("memory").concat()
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
