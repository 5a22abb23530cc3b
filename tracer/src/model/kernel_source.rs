//! Where the kernels of a model come from: several libraries, one after the other.

use crate::kernels::{Case, Contract, KernelLibrary};
use crate::measure::{self, MeasureError};
use dmo_analysis::graph::overlaps::{self, SafeOverlap};
use dmo_analysis::graph::{Graph, OperatorId};
use dmo_analysis::operator::Operator;

/// A library whose functions may compute a model's operators.
#[derive(Debug, Clone, Copy)]
pub struct KernelSource<'a> {
    /// The functions.
    pub library: &'a KernelLibrary,
    /// They stand for TensorFlow Lite's reference kernels: where these are known to allow less,
    /// for instance because they set their output to zero first, less is granted.
    pub stands_for_reference: bool,
    /// It computes no operator for which an earlier library has any function.
    pub is_fallback: bool,
}

/// A library whose functions are what they are.
impl<'a> From<&'a KernelLibrary> for KernelSource<'a> {
    fn from(library: &'a KernelLibrary) -> Self {
        Self {
            library,
            stands_for_reference: false,
            is_fallback: false,
        }
    }
}

impl KernelSource<'_> {
    /// The most overlap that its kernel of an operator is granted; `None` if whatever is measured.
    /// What the runtime computes by the kernel of another kind (`is_instead`), or by CMSIS-NN at all,
    /// older ones may compute by the operator's own loops: no more is granted than these allow.
    pub(super) fn most(
        &self,
        graph: &Graph,
        operator: OperatorId,
        contract: &Contract,
        is_instead: bool,
    ) -> Option<Vec<SafeOverlap>> {
        let is_limited =
            self.stands_for_reference || is_instead || self.library.may_be_passed_over(contract);
        is_limited.then(|| overlaps::analytic_of(graph, &graph.operators[operator.0]))
    }
}

/// The first source whose library `accepts` a case, its position, and what it was accepted with.
///
/// # Errors
/// When none accepts it: why the first does not that has a function for it.
pub(super) fn first<T>(
    sources: &[KernelSource],
    case: &Case,
    accepts: impl Fn(&KernelLibrary) -> Result<T, MeasureError>,
) -> Result<(usize, T), MeasureError> {
    let mut refusal = None;
    for (position, source) in sources.iter().enumerate() {
        // What a runtime does whose library has a function for such operators is not known; and
        // no runtime has reference kernels for parts of tensors, or in place.
        let is_known = matches!(refusal, None | Some(MeasureError::NoKernel { .. }));
        if source.is_fallback && (!is_known || is_of_other_buffers(&case.operator)) {
            continue;
        }
        match accepts(source.library) {
            Ok(found) => return Ok((position, found)),
            Err(MeasureError::NoKernel { .. }) if refusal.is_some() => {}
            Err(error) if is_known => refusal = Some(error),
            Err(_) => {}
        }
    }
    Err(refusal.unwrap_or(MeasureError::NoKernel {
        functions: Contract::functions(case),
    }))
}

/// Whether it works on parts of tensors, or in place.
pub(super) fn is_of_other_buffers(operator: &Operator) -> bool {
    matches!(
        operator,
        Operator::Pitched(_) | Operator::DepthwiseInPlace(_)
    )
}

/// Whether it is made for tiles: no model has it.
pub(super) fn is_made(operator: &Operator) -> bool {
    let moves_rows = matches!(operator, Operator::InputRows(_) | Operator::KeptRows(_));
    moves_rows || is_of_other_buffers(operator)
}

/// The first kernel of any library that computes the case.
///
/// # Errors
/// When there is none.
pub(super) fn any_kernel(
    sources: &[KernelSource],
    case: &Case,
) -> Result<&'static Contract, MeasureError> {
    let found = first(sources, case, |library| {
        measure::choose(library, case, None)
    });
    found.map(|(_, contract)| contract)
}
