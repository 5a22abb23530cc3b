//! Instructions that take the same time.

use crate::operation::{Instruction, Offset, Operation, SetFlags, ShiftKind, Shifted, Source};

/// A class of instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// Arithmetic, logic, moves, comparisons.
    Plain,
    /// The same with a register that is shifted on the way.
    Shifted,
    /// Bit fields, extension, reversal, saturation, parallel arithmetic.
    Bits,
    /// 32 bits from 32 bits, nothing added.
    Multiply,
    /// With an addition, or of halves.
    MultiplyAdd,
    /// 64 bits from 32 bits.
    MultiplyLong,
    Divide,
    /// One register.
    Load,
    /// One register, the offset a constant.
    Store,
    /// One register, the offset a register.
    StoreOffset,
    LoadMultiple,
    StoreMultiple,
    /// A load into the program counter.
    LoadBranch,
    /// TBB, TBH.
    TableBranch,
    /// To a constant distance.
    Branch,
    /// BL.
    Call,
    /// To where a register says.
    BranchRegister,
    /// LE.
    LoopEnd,
    IfThen,
    Nop,
    /// DMB, DSB, ISB.
    Barrier,
    /// Special registers.
    Special,
    Float,
    /// Multiplication with an addition.
    FloatMultiplyAdd,
    /// Division and square root.
    FloatDivide,
    /// Between two core registers and the floating-point unit.
    FloatMoveTwo,
    FloatLoad,
    FloatStore,
}

impl Class {
    pub(super) fn of(instruction: &Instruction) -> Self {
        use Operation as O;
        match instruction.operation {
            O::Alu { rd: 15, .. } | O::Move { rd: 15, .. } => Self::BranchRegister,
            O::Alu { source, .. } | O::Compare { source, .. } => of_source(source),
            O::ShiftBy { .. }
            | O::Move { .. }
            | O::MoveTop { .. }
            | O::Address { .. }
            | O::ConditionalSelect { .. }
            | O::ClearRegisters { .. }
            | O::LoopStart { .. }
            | O::ClearExclusive => Self::Plain,
            O::Multiply { .. } => Self::Multiply,
            O::MultiplyAdd { .. }
            | O::MultiplyHalves { .. }
            | O::MultiplyWordByHalf { .. }
            | O::MultiplyDual { .. }
            | O::MultiplyTop { .. }
            | O::SumOfDifferences { .. }
            | O::MultiplyHalvesLong { .. }
            | O::MultiplyDualLong { .. } => Self::MultiplyAdd,
            O::MultiplyLong { .. } => Self::MultiplyLong,
            O::Divide { .. } => Self::Divide,
            O::Load { rt: 15, .. } => Self::LoadBranch,
            O::Load { .. } | O::LoadExclusive { .. } | O::LoadAcquire { .. } => Self::Load,
            O::Store { addressing, .. } if !matches!(addressing.offset, Offset::Immediate(_)) => {
                Self::StoreOffset
            }
            O::Store { .. } | O::StoreExclusive { .. } | O::StoreRelease { .. } => Self::Store,
            O::LoadDouble { .. } | O::LoadMultiple { .. } => Self::LoadMultiple,
            O::StoreDouble { .. } | O::StoreMultiple { .. } => Self::StoreMultiple,
            O::TableBranch { .. } => Self::TableBranch,
            O::Branch { .. } | O::CompareBranch { .. } => Self::Branch,
            O::BranchLink { .. } => Self::Call,
            O::BranchExchange { .. } => Self::BranchRegister,
            O::LoopEnd { .. } => Self::LoopEnd,
            O::IfThen { .. } => Self::IfThen,
            O::Nop if matches!(instruction.name, "DMB" | "DSB" | "ISB") => Self::Barrier,
            O::Nop if instruction.name == "NOP" => Self::Nop,
            O::ChangeState { .. } | O::ReadSpecial { .. } | O::WriteSpecial { .. } => Self::Special,
            ref operation if operation.is_floating_point() => floating_point(operation),
            O::Extend { .. }
            | O::Reverse { .. }
            | O::CountLeadingZeros { .. }
            | O::BitFieldInsert { .. }
            | O::BitFieldExtract { .. }
            | O::Parallel { .. }
            | O::SaturatingAdd { .. }
            | O::Saturate { .. }
            | O::SaturateHalves { .. }
            | O::Select { .. }
            | O::Pack { .. } => Self::Bits,
            _ => Self::Plain,
        }
    }

    /// Whether it loads or stores.
    pub(super) fn is_access(self) -> bool {
        matches!(
            self,
            Self::Load
                | Self::Store
                | Self::StoreOffset
                | Self::LoadMultiple
                | Self::StoreMultiple
                | Self::LoadBranch
                | Self::TableBranch
                | Self::FloatLoad
                | Self::FloatStore
        )
    }

    /// Whether it computes with core registers.
    pub(super) fn is_data_processing(self) -> bool {
        matches!(self, Self::Plain | Self::Shifted | Self::Bits) || self.is_multiplication()
    }

    pub(super) fn is_multiplication(self) -> bool {
        matches!(
            self,
            Self::Multiply | Self::MultiplyAdd | Self::MultiplyLong | Self::Divide
        )
    }

    pub(super) fn is_store(self) -> bool {
        matches!(self, Self::Store | Self::StoreOffset)
    }

    pub(super) fn is_floating_point(self) -> bool {
        matches!(
            self,
            Self::Float
                | Self::FloatMultiplyAdd
                | Self::FloatDivide
                | Self::FloatMoveTwo
                | Self::FloatLoad
                | Self::FloatStore
        )
    }

    pub(super) fn is_branch(self) -> bool {
        matches!(
            self,
            Self::Branch
                | Self::Call
                | Self::BranchRegister
                | Self::LoopEnd
                | Self::LoadBranch
                | Self::TableBranch
        )
    }
}

fn of_source(source: Source) -> Class {
    match source {
        Source::Register(Shifted {
            kind: ShiftKind::Lsl,
            amount: 0,
            ..
        })
        | Source::Immediate { .. } => Class::Plain,
        Source::Register(_) => Class::Shifted,
    }
}

fn floating_point(operation: &Operation) -> Class {
    use crate::operation::{FloatBinary, FloatUnary};
    use Operation as O;
    match operation {
        O::FloatBinary {
            operation: FloatBinary::Div,
            ..
        }
        | O::FloatUnary {
            operation: FloatUnary::Sqrt,
            ..
        } => Class::FloatDivide,
        O::FloatMultiplyAdd { .. } | O::FloatFused { .. } => Class::FloatMultiplyAdd,
        O::MoveSingles { .. } | O::MoveDouble { .. } => Class::FloatMoveTwo,
        O::FloatLoad { .. } | O::FloatLoadMultiple { .. } => Class::FloatLoad,
        O::FloatStore { .. } | O::FloatStoreMultiple { .. } => Class::FloatStore,
        _ => Class::Float,
    }
}

/// Whether it sets N and Z outside an IT block.
pub(super) fn sets_flags(operation: &Operation) -> bool {
    use Operation as O;
    match *operation {
        O::Alu { flags, .. }
        | O::Move { flags, .. }
        | O::ShiftBy { flags, .. }
        | O::Multiply { flags, .. } => flags != SetFlags::No,
        O::Compare { .. } => true,
        _ => false,
    }
}
