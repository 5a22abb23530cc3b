//! Why nothing may overlap at an operator.

use std::fmt;

/// Why no overlap is granted to an operator by formula.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WhyApart {
    /// It takes elements by indices that are data.
    Indices,
    /// Its loops depend on the data in another way.
    Data,
    /// It copies runs of elements by a library function.
    Copies,
    /// It accumulates in its output, or may.
    Accumulates,
    /// It stores a constant, or a shape.
    NoLoads,
    /// It stores elements from the end of its output.
    Backwards,
    /// It stores several tensors of different kinds.
    Outputs,
    /// It does not store all of its output.
    PartOfOutput,
    /// It computes in its output in an order that nobody has examined.
    InOutput,
    /// It keeps a variable or a table, draws random numbers, or runs a subgraph.
    HiddenState,
    /// A custom operator.
    Custom,
    /// A builtin operator with a code that has no name here.
    TooNew,
    /// Not an operator of TensorFlow Lite Micro.
    NotInRuntime,
    /// An operator whose loops are known, but not with these types, shapes and options.
    NotThisWay,
}

impl fmt::Display for WhyApart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Indices => "which elements it loads depends on the data",
            Self::Data => "how its loops run depends on the data",
            Self::Copies => "it copies by memcpy or the like, in an order that no standard fixes",
            Self::Accumulates => "it accumulates in its output",
            Self::NoLoads => "it does not go through its input",
            Self::Backwards => "it stores its output from the end",
            Self::Outputs => "it stores several tensors, and some only when others are complete",
            Self::PartOfOutput => "it leaves some of its output as it was",
            Self::InOutput => "it computes in its output, in an order that is not known",
            Self::HiddenState => "it does more than its tensors show",
            Self::Custom => "only its author knows what it does",
            Self::TooNew => "it is newer than the operators that are known here",
            Self::NotInRuntime => "TensorFlow Lite Micro has no kernel for it",
            Self::NotThisWay => "no formula covers it with these types, shapes and options",
        })
    }
}
