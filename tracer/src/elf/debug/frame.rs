//! The calls that lead to an instruction.

use super::location::Context;
use super::unwind::Registers;
use super::{DebugInfo, State, Variable, leaf};
use dmo_analysis::trace::Address;
use schemars::JsonSchema;
use serde::Serialize;

/// A function, inlined or not.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Function {
    /// Name.
    pub name: Option<String>,
    /// Of the innermost the file of the instruction, of any other that of the call in it.
    pub file: Option<String>,
    /// The line there.
    pub line: Option<u32>,
}

/// A call that has not returned.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// An address in the instruction that executes, or in the call that has not returned.
    pub pc: Address,
    /// First what is inlined most deeply at the instruction, last the function whose code it
    /// is. Empty where the debug information says nothing of the code. A file and line are
    /// those of the next function's call in it; the innermost has none.
    pub functions: Vec<Function>,
    /// Value of the stack pointer before the call, where it is known.
    pub stack: Option<u32>,
    /// The variables of these functions, of the outermost first.
    pub variables: Vec<Variable>,
}

impl Frame {
    /// Returns `true` if both frames are of the same call.
    pub fn is_same_call(&self, other: &Self) -> bool {
        let function = |frame: &Self| frame.functions.last().and_then(|it| it.name.clone());
        self.stack.is_some() && self.stack == other.stack && function(self) == function(other)
    }
}

/// Calls that are followed.
const MAX_FRAMES: usize = 64;

impl DebugInfo {
    /// The calls that lead to where the program stands, innermost first. It ends where the
    /// information ends, and is never empty.
    pub fn frames(&self, state: &State<'_>) -> Vec<Frame> {
        let mut registers = Registers {
            words: state.registers.map(Some),
            floats: state.floats,
        };
        let mut pc = state.registers[15];
        let mut frames: Vec<Frame> = Vec::new();
        while frames.len() < MAX_FRAMES {
            let unwound = self.unwind(pc, &registers, state.read).or_else(|| {
                let innermost = frames.is_empty();
                innermost.then(|| leaf::unwind(pc, &registers, state.read))?
            });
            let stack = unwound.as_ref().map(|unwound| unwound.cfa);
            frames.push(self.frame(pc, stack, &registers, state));
            let Some((back, caller)) = unwound
                .and_then(|unwound| unwound.caller)
                .and_then(|caller| Some((caller.words[15]?, caller)))
            else {
                break;
            };
            // The stack grows downwards: a caller's frame does not lie below.
            if caller.words[13] < registers.words[13] {
                break;
            }
            registers = caller;
            // In the call, for the instruction after it may belong to something else.
            pc = back.wrapping_sub(2);
        }
        frames
    }

    fn frame(
        &self,
        pc: u32,
        stack: Option<u32>,
        registers: &Registers,
        state: &State<'_>,
    ) -> Frame {
        let found = self
            .function_at(pc)
            .and_then(|function| Some((function, self.unit(function.unit)?)));
        let (functions, variables) = match found {
            None => Default::default(),
            Some((function, unit)) => {
                let scope = self.scope(function, pc);
                let mut context = Context {
                    unit,
                    registers,
                    cfa: stack,
                    frame_base: None,
                    read: state.read,
                };
                let variables = self.variables(function, &scope, pc, &mut context);
                (inside_out(scope.functions), variables)
            }
        };
        Frame {
            pc: Address(pc),
            functions,
            stack,
            variables,
        }
    }
}

/// Turns the functions round, so that each has the place of the call in it.
fn inside_out(mut functions: Vec<Function>) -> Vec<Function> {
    let mut call = (None, None);
    functions.reverse();
    for function in &mut functions {
        let place = (function.file.take(), function.line.take());
        (function.file, function.line) = call;
        call = place;
    }
    functions
}
