//! The kernels that can be called by name, and what their arguments are.
//!
//! A [`Contract`] knows how to call one function for an operator of any shape. To add a
//! kernel: one row in the table of its set, one case of it in `traces/overlaps/grid.toml`.
//! The numbers that it computes with come from [`Parameters`], a model's or invented ones
//! ([`Contract::invented`]); what the kernel's interface cannot express is an error.
//!
//! | set | functions | files |
//! |---|---|---|
//! | CMSIS-NN | `arm_*` of `kernels-c/include/cmsis_nn/`, and of other versions of that interface | `kernels/cmsis_nn.rs` and its folder, `kernels/versions.rs` |
//! | packed | `dmo_dsp_packed_*`, with weights that are laid out for them | `kernels/packed.rs` and its folder |
//! | reference | `dmo_*` of `kernels-c/include/` | `kernels/reference.rs` and its folder |

mod case;
mod cmsis_nn;
mod constants;
mod convolution;
mod elementwise;
mod fourier;
mod fully_connected;
pub mod images;
mod invented;
mod library;
mod lstm;
mod moves;
mod packed;
pub mod quantisation;
mod reference;
mod signal;
mod state;
mod svdf;
mod tables;
pub mod versions;

pub use case::Case;
pub(crate) use case::input_type_of;
pub use cmsis_nn::vendor_header::{HeaderStatement, Sharing, header_statement};
pub use library::KernelLibrary;
pub use reference::{NEXT_ROWS, ROWS_IN_MEMORY};
pub use state::{State, StatePlace};

use crate::call::{Argument, CallError, Frame, inexpressible};
use convolution::Convolution;
use dmo_analysis::graph::parameters::{Constant, Parameters};
use dmo_analysis::graph::{Kind, TensorType};
use dmo_analysis::operator::Operator;
use dmo_analysis::trace::{Address, ElementType};
use std::any::Any;
use versions::Versions;

/// Where the activations of a call lie.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Buffers {
    /// Inputs, in the operator's order.
    pub inputs: Vec<Address>,
    /// Outputs, in the operator's order.
    pub outputs: Vec<Address>,
    /// Scratch memory and its size in bytes, where the kernel wants some.
    pub scratch: Option<(Address, u32)>,
    /// What persists from one call to the next, in the order of the operator's operands:
    /// the state of an SVDF, the hidden and the cell state of an LSTM.
    pub states: Vec<Address>,
}

impl Buffers {
    /// The scratch memory's address, null where there is none.
    fn scratch_address(&self) -> Address {
        self.scratch.map_or(Address(0), |(address, _)| address)
    }
}

/// An operator and the numbers that it computes with.
#[derive(Clone, Copy)]
struct Job<'a> {
    case: &'a Case,
    parameters: &'a Parameters<'a>,
}

impl Job<'_> {
    /// The operator, on parts of larger tensors or not, as the kind that a contract is for.
    fn operator<T: Any>(&self) -> Result<&T, CallError> {
        self.case.inner().of().ok_or_else(|| self.of_another_kind())
    }

    fn convolution(&self) -> Result<Convolution, CallError> {
        Convolution::of(self.case).ok_or_else(|| self.of_another_kind())
    }

    fn of_another_kind(&self) -> CallError {
        inexpressible("the operator", &self.case.kind, "another kind")
    }
}

/// How to call a kernel.
#[derive(Clone, Copy)]
pub struct Contract {
    /// The function's name.
    pub function: &'static str,
    /// The one kind of operators that it computes.
    kind: &'static Kind,
    /// Types of inputs and outputs; `None` if it takes elements of any type.
    types: Option<[ElementType; 2]>,
    /// Its filter has weights of 4 bits.
    has_int4_filter: bool,
    /// What else must hold of a case.
    only: fn(&Case) -> bool,
    /// Of which, in a library that is not built in, this too must hold.
    only_of_vendors: fn(&Case) -> bool,
    /// It takes parts of larger tensors, and no others.
    pitched: bool,
    /// It is a depthwise convolution that works in place.
    in_place: bool,
    prepare: Prepare,
    /// How much scratch memory it wants.
    pub scratch: Option<ScratchSize>,
    /// What persists from one call to the next, in the order of [`Buffers::states`].
    pub states: &'static [State],
    /// It returns a status, 0 (in the lowest byte) for success.
    pub returns_status: bool,
    /// It computes what TensorFlow Lite Micro's reference kernel computes, bit for bit.
    is_exact: bool,
    /// The versions of its interface in which it is called like this.
    pub versions: Versions,
}

/// Arguments of one call.
type Arguments = Result<Vec<Argument>, CallError>;

/// Arguments of several calls, one after the other.
type SeveralArguments = Result<Vec<Vec<Argument>>, CallError>;

/// Places parameters, weights and tables, and gives the arguments of one call.
type PrepareOnce = fn(&Job, &Buffers, &mut Frame) -> Arguments;

/// Places parameters, weights and tables, and gives the arguments.
#[derive(Clone, Copy)]
enum Prepare {
    Once(PrepareOnce),
    Several(fn(&Job, &Buffers, &mut Frame) -> SeveralArguments),
}

/// How many bytes of scratch memory a kernel wants.
#[derive(Clone, Copy)]
pub struct ScratchSize {
    /// The functions of the library that tell, each of memory of its own.
    functions: [Option<SizeFunction>; 2],
    /// Bytes that it wants beside them and that no function tells of.
    beside: fn(&Case) -> u64,
}

/// A function that says how many bytes of scratch memory a kernel wants.
#[derive(Clone, Copy)]
pub struct SizeFunction {
    /// Its name.
    pub name: &'static str,
    arguments: fn(&Job, &mut Frame) -> Arguments,
}

impl SizeFunction {
    /// Places the parameters of the function, and gives its arguments.
    ///
    /// # Errors
    /// When the function cannot be told these numbers, or flash is full.
    pub fn arguments(
        &self,
        case: &Case,
        parameters: &Parameters,
        frame: &mut Frame,
    ) -> Result<Vec<Argument>, CallError> {
        (self.arguments)(&Job { case, parameters }, frame)
    }
}

impl ScratchSize {
    const fn new(name: &'static str, arguments: fn(&Job, &mut Frame) -> Arguments) -> Self {
        Self {
            functions: [Some(SizeFunction { name, arguments }), None],
            beside: |_| 0,
        }
    }

    /// With a second piece of memory, after the first.
    const fn then(
        mut self,
        name: &'static str,
        arguments: fn(&Job, &mut Frame) -> Arguments,
    ) -> Self {
        self.functions[1] = Some(SizeFunction { name, arguments });
        self
    }

    /// Memory that no function tells of.
    const fn untold(beside: fn(&Case) -> u64) -> Self {
        Self {
            functions: [None; 2],
            beside,
        }
    }

    const fn and(mut self, beside: fn(&Case) -> u64) -> Self {
        self.beside = beside;
        self
    }

    /// The functions of the library that tell, in the order of their memory.
    pub fn functions(&self) -> impl Iterator<Item = SizeFunction> + use<> {
        self.functions.into_iter().flatten()
    }

    /// The bytes to reserve, where the functions tell of these; each piece begins at a word.
    pub fn total_bytes(&self, case: &Case, told_bytes: &[u32]) -> u64 {
        let told = told_bytes.iter().copied().map(u64::from);
        let pieces = told.chain([(self.beside)(case)]).filter(|&it| it > 0);
        pieces.fold(0, |sum: u64, piece| {
            sum.next_multiple_of(4).saturating_add(piece)
        })
    }
}

/// Whether the function takes weights that were laid out for it, as those of generated code are.
pub fn is_packed(function: &str) -> bool {
    packed::CONTRACTS
        .iter()
        .any(|contract| contract.function == function)
}

/// All contracts; where several kernels compute a case, the first is preferred.
pub fn contracts() -> impl Iterator<Item = &'static Contract> {
    packed::CONTRACTS
        .iter()
        .chain(cmsis_nn::contracts())
        .chain(reference::contracts())
}

impl Contract {
    /// Of elements of any type.
    const fn new(function: &'static str, kind: &'static Kind, prepare: PrepareOnce) -> Self {
        Self {
            function,
            kind,
            types: None,
            has_int4_filter: false,
            only: |_| true,
            only_of_vendors: |_| true,
            pitched: false,
            in_place: false,
            prepare: Prepare::Once(prepare),
            scratch: None,
            states: &[],
            returns_status: false,
            is_exact: true,
            versions: versions::KNOWN,
        }
    }

    const fn int8(function: &'static str, kind: &'static Kind, prepare: PrepareOnce) -> Self {
        Self::new(function, kind, prepare).of(ElementType::Int8, ElementType::Int8)
    }

    /// Of 8-bit inputs and outputs and a filter of 4 bits.
    const fn int4(function: &'static str, kind: &'static Kind, prepare: PrepareOnce) -> Self {
        let mut contract = Self::int8(function, kind, prepare);
        contract.has_int4_filter = true;
        contract
    }

    const fn int16(function: &'static str, kind: &'static Kind, prepare: PrepareOnce) -> Self {
        Self::new(function, kind, prepare).of(ElementType::Int16, ElementType::Int16)
    }

    const fn uint8(function: &'static str, kind: &'static Kind, prepare: PrepareOnce) -> Self {
        Self::new(function, kind, prepare).of(ElementType::Uint8, ElementType::Uint8)
    }

    const fn float32(function: &'static str, kind: &'static Kind, prepare: PrepareOnce) -> Self {
        Self::new(function, kind, prepare).of(ElementType::Float32, ElementType::Float32)
    }

    /// Of inputs and outputs of these types.
    const fn of(mut self, input: ElementType, output: ElementType) -> Self {
        self.types = Some([input, output]);
        self
    }

    /// The functions of its library that say how much scratch memory it wants.
    pub fn size_functions(&self) -> impl Iterator<Item = SizeFunction> + use<> {
        self.scratch
            .into_iter()
            .flat_map(|scratch| scratch.functions())
    }

    /// Of the cases of which this holds.
    const fn only(mut self, only: fn(&Case) -> bool) -> Self {
        self.only = only;
        self
    }

    /// Of the cases of which this holds, in libraries that are not built in: what CMSIS-NN's own
    /// function computes.
    const fn only_of_vendors(mut self, only: fn(&Case) -> bool) -> Self {
        self.only_of_vendors = only;
        self
    }

    const fn with_scratch(mut self, scratch: ScratchSize) -> Self {
        self.scratch = Some(scratch);
        self
    }

    const fn with_states(mut self, states: &'static [State]) -> Self {
        self.states = states;
        self
    }

    const fn pitched(mut self) -> Self {
        self.pitched = true;
        self
    }

    const fn in_place(mut self) -> Self {
        self.in_place = true;
        self
    }

    /// Whose outputs are not always those of TensorFlow Lite Micro's reference kernel.
    const fn inexact(mut self) -> Self {
        self.is_exact = false;
        self
    }

    const fn with_status(mut self) -> Self {
        self.returns_status = true;
        self
    }

    /// Whether it computes operators of this kind, with whole inputs of this type, to a buffer of
    /// its own.
    pub fn is_for(&self, kind: &Kind, input: ElementType) -> bool {
        let takes = self.types.is_none_or(|[taken, _]| taken == input);
        takes
            && !self.pitched
            && !self.in_place
            && kind.computed_as(input).as_ref() == Some(self.kind)
    }

    /// Whether it has the interface of CMSIS-NN, which has versions.
    pub fn is_of_cmsis_nn(&self) -> bool {
        cmsis_nn::contracts().any(|contract| contract.function == self.function)
    }

    /// Only from this version of its interface on.
    const fn since(mut self, version: u8) -> Self {
        self.versions = self.versions.from(version);
        self
    }

    /// Only up to this version of its interface.
    const fn until(mut self, version: u8) -> Self {
        self.versions = self.versions.to(version);
        self
    }

    /// Whether it is the one named. Where none is, it is not one for weights of 4 bits, which nobody
    /// has spoken of.
    pub(crate) fn is_meant(&self, function: Option<&str>) -> bool {
        function.map_or(!self.has_int4_filter, |name| name == self.function)
    }

    /// The first kernel of the library that computes the case, or the one named.
    pub fn find(
        library: &KernelLibrary,
        case: &Case,
        function: Option<&str>,
    ) -> Option<&'static Self> {
        Self::candidates(library, case).find(|contract| contract.is_meant(function))
    }

    /// The kernels of the library that compute the case, the preferred one first. Not each
    /// takes all parameters: there are two for the two types of an SVDF's state.
    pub fn candidates(library: &KernelLibrary, case: &Case) -> impl Iterator<Item = &'static Self> {
        let versions = library.versions();
        Self::of_any_version(library, case)
            .filter(move |contract| contract.versions.cover(versions))
    }

    /// Those of them whose filter has weights of as many bits as the case's.
    pub fn candidates_for(
        library: &KernelLibrary,
        case: &Case,
        parameters: &Parameters,
    ) -> impl Iterator<Item = &'static Self> {
        let has_int4 = has_int4_filter(parameters);
        Self::candidates(library, case).filter(move |it| it.has_int4_filter == has_int4)
    }

    /// The kernels of the library that compute the case in some version of their interface.
    pub fn of_any_version(
        library: &KernelLibrary,
        case: &Case,
    ) -> impl Iterator<Item = &'static Self> {
        contracts().filter(|contract| {
            contract.computes(case)
                && (library.is_built_in() || (contract.only_of_vendors)(case))
                && library.has(contract.function)
                && library.offers(contract)
        })
    }

    /// The function of this name, if the library has it and it may be for such operators: there is
    /// no contract for it, or one for other shapes or types.
    pub fn serving_by_name(library: &KernelLibrary, case: &Case, function: &str) -> Option<String> {
        let mut known = contracts().filter(|contract| contract.function == function);
        let may_serve = match known.next() {
            None => true,
            Some(first) => *first.kind == case.kind || known.any(|it| *it.kind == case.kind),
        };
        (may_serve && library.has(function)).then(|| function.to_owned())
    }

    /// A function that the library has for such operators, and that may be what a runtime calls
    /// for the case, whether or not there is a contract by which to call it.
    pub fn serving(library: &KernelLibrary, case: &Case) -> Option<String> {
        let alike = contracts().find(|contract| {
            *contract.kind == case.kind
                && contract.takes_layout_of(case)
                && !contract.has_int4_filter
                && (contract.types).is_none_or(|it| it == [case.input_type, case.output_type])
                && library.has(contract.function)
                && library.offers(contract)
        });
        let of_runtime = || {
            let functions = library.image().symbols.functions();
            let names = functions.map(|function| function.name.as_str());
            let names = names
                .filter(|name| contracts().all(|it| it.function != *name || library.offers(it)));
            cmsis_nn::runtime::serving(case, names).map(str::to_owned)
        };
        alike.map_or_else(of_runtime, |contract| Some(contract.function.to_owned()))
    }

    /// The function for weights of 4 bits that the library has for such operators, if the filter has
    /// such weights.
    pub fn serving_int4(
        library: &KernelLibrary,
        case: &Case,
        parameters: &Parameters,
    ) -> Option<String> {
        let functions = library.image().symbols.functions();
        let names = functions.map(|function| function.name.as_str());
        let names = names.filter(|name| name.ends_with("_s4") && has_int4_filter(parameters));
        cmsis_nn::runtime::serving(case, names).map(str::to_owned)
    }

    /// What TensorFlow Lite Micro computes instead of the case where it is linked with this library,
    /// and by which function; `None` if it is the case, as with weights of 4 bits. `output_axes` is
    /// how many the output has in the model.
    pub fn instead(
        library: &KernelLibrary,
        case: &Case,
        parameters: &Parameters,
        output_axes: usize,
    ) -> Option<(Case, &'static str)> {
        use cmsis_nn::runtime::{FULLY_CONNECTED, OF_PIXELS, as_convolution};
        if has_int4_filter(parameters) {
            return None;
        }
        let has_any = FULLY_CONNECTED.iter().any(|name| library.has(name));
        let conv = as_convolution(case, output_axes).filter(|_| has_any)?;
        Some((conv, OF_PIXELS))
    }

    /// Whether it computes the case. What a kernel knows of an operator's kind and types says
    /// nothing of where its buffers have their elements.
    fn computes(&self, case: &Case) -> bool {
        *self.kind == case.kind
            && (self.types).is_none_or(|types| types == [case.input_type, case.output_type])
            && self.takes_layout_of(case)
            && (self.only)(case)
    }

    /// Whether it works where the case has its buffers: on parts of tensors, in place, or on whole
    /// tensors.
    fn takes_layout_of(&self, case: &Case) -> bool {
        self.pitched == matches!(case.operator, Operator::Pitched(_))
            && self.in_place == matches!(case.operator, Operator::DepthwiseInPlace(_))
    }

    /// Names of all kernels that compute the case, in whatever library.
    pub fn functions(case: &Case) -> Vec<&'static str> {
        let mut functions: Vec<&str> = contracts()
            .filter(|contract| contract.computes(case))
            .map(|contract| contract.function)
            .collect();
        // Several rows of one function stand beside each other: its versions.
        functions.dedup();
        functions
    }

    /// Numbers for the case where no model gives any: reproducible, and such that the
    /// outputs use their whole range, so that a wrong input byte shows.
    ///
    /// # Errors
    /// When the weights do not fit into flash.
    pub fn invented(&self, case: &Case) -> Result<Parameters<'static>, CallError> {
        invented::parameters(case, self.states, self.has_int4_filter)
    }

    /// Places parameters, weights and tables in the frame, and gives the arguments of each
    /// call: one, but for kernels that take one input at a time. The numbers are those that
    /// TensorFlow Lite Micro prepares.
    ///
    /// # Errors
    /// When the kernel cannot be told these numbers, or flash is full.
    pub fn prepare(
        &self,
        case: &Case,
        parameters: &Parameters,
        buffers: &Buffers,
        frame: &mut Frame,
    ) -> Result<Vec<Vec<Argument>>, CallError> {
        self.check(case, buffers)?;
        let job = Job { case, parameters };
        match self.prepare {
            Prepare::Once(prepare) => Ok(vec![prepare(&job, buffers, frame)?]),
            Prepare::Several(prepare) => prepare(&job, buffers, frame),
        }
    }

    /// Every buffer has its place.
    fn check(&self, case: &Case, buffers: &Buffers) -> Result<(), CallError> {
        let wanted = case
            .operator
            .buffers()
            .map_err(|error| inexpressible("the shape", error, "shapes that fit together"))?;
        let counts = [
            ("inputs", buffers.inputs.len(), wanted.inputs.len()),
            ("outputs", buffers.outputs.len(), wanted.outputs.len()),
            ("states", buffers.states.len(), self.states.len()),
        ];
        for (what, given, wanted) in counts {
            if given != wanted {
                let what = format!("the number of {what}");
                return Err(inexpressible(what, given, wanted.to_string()));
            }
        }
        Ok(())
    }
}

fn has_int4_filter(parameters: &Parameters) -> bool {
    let is_int4 = |filter: &Constant| filter.element_type == TensorType::Int4;
    parameters
        .constant(convolution::FILTER)
        .is_some_and(is_int4)
}

/// Number of elements; the greatest number there is where that does not fit.
fn size(shape: [u32; 4]) -> u64 {
    let extents = shape.iter().map(|&extent| u64::from(extent));
    extents.fold(1, u64::saturating_mul)
}
