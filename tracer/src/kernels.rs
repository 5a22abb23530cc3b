//! The kernels that can be called by name, and what their arguments are.
//!
//! A [`Contract`] knows how to call one function for an operator of any shape. To add a
//! kernel: one row in the table of its set.
//!
//! | set | functions | file |
//! |---|---|---|
//! | CMSIS-NN | `arm_*` of `kernels-c/include/cmsis_nn/` | `kernels/cmsis_nn.rs` |
//! | reference | `dmo_*` of `kernels-c/include/` | `kernels/reference.rs`, `kernels/operators.rs` |

mod cmsis_nn;
pub mod images;
mod operators;
mod reference;
mod weights;

use crate::call::{Argument, CallError, Frame, Library};
use dmo_analysis::operator::Operator;
use dmo_analysis::trace::{Address, ElementType};

/// An operator with its shapes, and the type of its activations.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Case {
    /// What is computed.
    pub operator: Operator,
    /// Which of the operator's kinds, where it has several: `max` or `average` of a pooling,
    /// `relu`, `add`, ...
    pub kind: &'static str,
    /// Type of the input's elements.
    pub input_type: ElementType,
    /// Type of the output's elements.
    pub output_type: ElementType,
}

/// Where the activations of a call lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Buffers {
    /// Inputs, in the operator's order.
    pub inputs: Vec<Address>,
    /// Outputs, in the operator's order.
    pub outputs: Vec<Address>,
    /// Scratch memory and its size in bytes, where the kernel wants some.
    pub scratch: Option<(Address, u32)>,
}

/// How to call a kernel.
#[derive(Clone, Copy)]
pub struct Contract {
    /// The function's name.
    pub function: &'static str,
    /// Whether it computes the case.
    serves: fn(&Case) -> bool,
    /// Places parameters, weights and tables, and gives the arguments.
    prepare: fn(&Case, &Buffers, &mut Frame) -> Result<Vec<Argument>, CallError>,
    /// How much scratch memory it wants beside what `prepare` reserves.
    pub scratch: Option<ScratchSize>,
    /// It returns a status, 0 (in the lowest byte) for success.
    pub returns_status: bool,
}

/// A function of the library that tells how many bytes of scratch memory a kernel wants.
#[derive(Clone, Copy)]
pub struct ScratchSize {
    /// Its name.
    pub function: &'static str,
    /// Places its parameters, and gives the arguments.
    pub arguments: fn(&Case, &mut Frame) -> Result<Vec<Argument>, CallError>,
}

fn all() -> impl Iterator<Item = &'static Contract> {
    [
        cmsis_nn::CONTRACTS,
        reference::CONTRACTS,
        operators::CONTRACTS,
    ]
    .into_iter()
    .flatten()
}

impl Contract {
    /// The first kernel of the library that computes the case.
    pub fn find(library: &Library, case: &Case) -> Option<&'static Self> {
        all().find(|contract| (contract.serves)(case) && library.has(contract.function))
    }

    /// Names of all kernels that compute the case, in whatever library.
    pub fn functions(case: &Case) -> Vec<&'static str> {
        all()
            .filter(|contract| (contract.serves)(case))
            .map(|contract| contract.function)
            .collect()
    }

    /// Places parameters, weights and tables in the frame, and gives the arguments.
    ///
    /// # Errors
    /// When RAM is full.
    pub fn prepare(
        &self,
        case: &Case,
        buffers: &Buffers,
        frame: &mut Frame,
    ) -> Result<Vec<Argument>, CallError> {
        (self.prepare)(case, buffers, frame)
    }
}
