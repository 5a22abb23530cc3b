//! What each instruction of a method reads and stores.

use super::program::{Arguments, Instruction, Method};
use crate::foreign::ForeignError;

/// What happens in a step. Everything is read before anything is stored.
#[derive(Default)]
pub(super) struct Uses {
    /// Values that are read, and those of which it is not known: they may be stored, too.
    pub reads: Vec<usize>,
    /// Values of which each byte is stored.
    pub stores: Vec<usize>,
    /// From here on the second may stand for the first.
    pub passed_on: Option<[usize; 2]>,
}

/// A jump from one step to another.
pub(super) type Jump = (u32, u32);

/// The steps of a method: step 0 stores the inputs, instruction `n`, counted from 0 through all
/// chains, is step `n + 1`, and the outputs are read one step after the last one.
pub(super) fn steps(method: &Method) -> Result<(Vec<Uses>, Vec<Jump>), ForeignError> {
    let all = |values: &[i64], place| {
        let members = values.iter().map(|&value| method.members(value, place));
        Ok::<_, ForeignError>(members.collect::<Result<Vec<_>, _>>()?.concat())
    };
    let mut steps = vec![Uses {
        stores: all(&method.inputs, "inputs")?,
        ..Uses::default()
    }];
    let mut jumps = Vec::new();
    for chain in &method.chains {
        let before = steps.len() - 1;
        for instruction in &chain.instructions {
            let place = format!("instruction {}", steps.len() - 1);
            if instruction.instr_args_type == "JumpFalseCall" {
                let given = instruction.instr_args.destination_instruction;
                let count = chain.instructions.len();
                let to = usize::try_from(given).ok().filter(|&to| to <= count);
                let to = to.ok_or_else(|| ForeignError::NoSuch {
                    place: format!("{} {place}", method.name),
                    what: "instruction",
                    given,
                    count,
                })?;
                jumps.push((steps.len() as u32, (before + to) as u32 + 1));
            }
            steps.push(Uses::of(method, instruction, &place)?);
        }
    }
    steps.push(Uses {
        reads: all(&method.outputs, "outputs")?,
        ..Uses::default()
    });
    Ok((steps, jumps))
}

impl Uses {
    fn of(method: &Method, instruction: &Instruction, place: &str) -> Result<Self, ForeignError> {
        let arguments = &instruction.instr_args;
        let mut uses = Self::default();
        match &*instruction.instr_args_type {
            "KernelCall" => uses = Self::of_call(method, arguments, place)?,
            // Its inputs come first and its outputs last, and how many there are of each is not said.
            "DelegateCall" => {
                let (last, others) = match &arguments.args[..] {
                    [others @ .., last] => (Some(last), others),
                    [] => (None, &[][..]),
                };
                for &value in others {
                    uses.reads.extend(method.members(value, place)?);
                }
                if let Some(&last) = last {
                    uses.stores = method.members(last, place)?;
                }
            }
            "MoveCall" => {
                let from = method.value(arguments.move_from, place)?;
                let to = method.value(arguments.move_to, place)?;
                uses.reads.push(from);
                uses.stores.push(to);
                uses.passed_on = Some([from, to]);
            }
            "JumpFalseCall" => {
                let condition = method.value(arguments.cond_value_index, place)?;
                uses.reads.push(condition);
            }
            "FreeCall" => uses.reads.push(method.value(arguments.value_index, place)?),
            given => {
                return Err(ForeignError::InstructionType {
                    place: format!("{} {place}", method.name),
                    given: given.to_owned(),
                });
            }
        }
        Ok(uses)
    }

    /// An operator's call. One that stores its outputs where they are given has these as its last
    /// arguments, and then once more what it returns: the output, or a list of several. Of the
    /// arguments of all others it is not known which they store.
    fn of_call(method: &Method, arguments: &Arguments, place: &str) -> Result<Self, ForeignError> {
        let operator = usize::try_from(arguments.op_index).ok();
        let operator = operator.and_then(|index| method.operators.get(index));
        let operator = operator.ok_or_else(|| ForeignError::NoSuch {
            place: format!("{} {place}", method.name),
            what: "operator",
            given: arguments.op_index,
            count: method.operators.len(),
        })?;
        let members = arguments.args.iter();
        let members = members.map(|&value| method.members(value, place));
        let members = members.collect::<Result<Vec<_>, _>>()?;
        let first_output = operator
            .stores_its_outputs()
            .then(|| first_output(&members));
        let (reads, stores) = members.split_at(first_output.flatten().unwrap_or(members.len()));
        let is_view = operator.name == "executorch_prim::et_view";
        let passed_on = match (&members[..], is_view) {
            ([viewed, .., view], true) => viewed.first().copied().zip(view.last().copied()),
            _ => None,
        };
        Ok(Self {
            reads: reads.concat(),
            stores: stores.concat(),
            passed_on: passed_on.map(<[usize; 2]>::from),
        })
    }
}

/// Where the outputs begin among the arguments of an operator that stores them, if that is certain.
/// Of a list the first member is the list itself.
fn first_output(members: &[Vec<usize>]) -> Option<usize> {
    let (returned, given) = members.split_last()?;
    let last = given.last()?;
    match &returned[..] {
        [_] => (last == returned).then_some(given.len() - 1),
        [_, items @ ..] if last.len() > 1 => (last[1..] == *items).then_some(given.len() - 1),
        [_, items @ ..] => {
            let first = given.len().checked_sub(items.len())?;
            let outputs = given[first..].iter().zip(items);
            let are_items = outputs.clone().all(|(output, item)| output[..] == [*item]);
            are_items.then_some(first)
        }
        [] => None,
    }
}
