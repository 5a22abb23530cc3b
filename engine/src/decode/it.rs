//! What may be in an IT block.

use crate::operation::{
    AluOperation, Condition, FloatBinary, Instruction, Operation, Rounding, SetFlags,
};

/// Where an instruction may be with respect to an IT block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItRule {
    /// Anywhere.
    Any,
    /// Outside, or as the last.
    Last,
    /// Outside.
    Outside,
}

/// Where an instruction may be. Elsewhere it is unpredictable.
pub fn it_rule(instruction: &Instruction) -> ItRule {
    use Operation::*;
    match instruction.operation {
        CompareBranch { .. } | IfThen { .. } | ChangeState { .. } => ItRule::Outside,
        ConditionalSelect { .. } | LoopStart { .. } | LoopEnd { .. } => ItRule::Outside,
        FloatSelect { .. } => ItRule::Outside,
        FloatBinary { operation, .. } if has_no_condition(operation) => ItRule::Outside,
        FloatRound { rounding, .. } | FloatToInteger { rounding, .. } if is_own(rounding) => {
            ItRule::Outside
        }
        // The narrow MOVS that is no shift.
        Move { flags, .. } if flags == SetFlags::Yes && instruction.bytes == 2 => ItRule::Outside,
        Branch { condition, .. } if condition != Condition::Al => ItRule::Outside,
        Branch { .. } | BranchLink { .. } | BranchExchange { .. } | TableBranch { .. } => {
            ItRule::Last
        }
        Alu { operation, rd, .. } if (operation, rd) == (AluOperation::Add, 15) => ItRule::Last,
        Move { rd: 15, .. } | Load { rt: 15, .. } => ItRule::Last,
        LoadMultiple { registers, .. } if registers >> 15 == 1 => ItRule::Last,
        _ => ItRule::Any,
    }
}

impl ItRule {
    /// Whether the instruction may be where the IT state is this one, 0 outside IT blocks.
    pub fn allows(self, state: u32) -> bool {
        match self {
            ItRule::Any => true,
            ItRule::Last => state & 0b111 == 0,
            ItRule::Outside => state & 0b1111 == 0,
        }
    }
}

fn has_no_condition(operation: FloatBinary) -> bool {
    matches!(operation, FloatBinary::MaxNm | FloatBinary::MinNm)
}

/// Whether the rounding is in the instruction's name, as A, N, P or M.
fn is_own(rounding: Rounding) -> bool {
    !matches!(rounding, Rounding::Zero | Rounding::Current)
}
