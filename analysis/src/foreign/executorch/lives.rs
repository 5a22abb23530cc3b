//! When each value of a method is in use, and which values are one.

use super::program::{Arguments, Instruction, Method, Tensor};
use crate::foreign::ForeignError;
use std::collections::BTreeMap;
use std::ops::Range;

/// The values of a method: which are one, and when each is in use.
pub(super) struct Lives {
    /// Each value points to one that it is one with, the first of them to itself.
    parent: Vec<usize>,
    /// Of the first of those that are one: the first and the last step at which they are used.
    used: Vec<Option<(u32, u32)>>,
    /// How a value is used first.
    first_use: Vec<FirstUse>,
    /// Whether it is one with another.
    joined: Vec<bool>,
    /// One past the last step.
    end: u32,
}

/// Steps that are run again and again.
struct Loop {
    from: u32,
    to: u32,
    /// Each time all of its steps are run, in order: what is stored in it before it is read there is
    /// stored anew each time.
    straight: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FirstUse {
    Never,
    Stored,
    Read,
    /// As an argument of a delegate, which may store it.
    Delegate,
}

impl Lives {
    pub fn of(method: &Method, tensors: &[Option<Tensor>]) -> Result<Self, ForeignError> {
        let instructions = method.chains.iter().map(|chain| chain.instructions.len());
        let last = instructions.sum::<usize>() as u32 + 1;
        let values = method.values.len();
        let mut lives = Self {
            parent: (0..values).collect(),
            used: vec![None; values],
            first_use: vec![FirstUse::Never; values],
            joined: vec![false; values],
            end: last + 1,
        };
        for &input in &method.inputs {
            for value in method.members(input, "inputs")? {
                lives.touch(value, 0, FirstUse::Stored);
            }
        }
        let mut jumps = Vec::new();
        let mut step = 0;
        for chain in &method.chains {
            let before = step;
            for instruction in &chain.instructions {
                step += 1;
                lives.follow(method, instruction, step)?;
                if instruction.instr_args_type == "JumpFalseCall" {
                    let to = instruction.instr_args.destination_instruction;
                    let count = chain.instructions.len();
                    let to = usize::try_from(to).ok().filter(|&to| to <= count);
                    let to = to.ok_or_else(|| ForeignError::NoSuch {
                        place: format!("{} instruction {}", method.name, step - 1),
                        what: "instruction",
                        given: instruction.instr_args.destination_instruction,
                        count,
                    })?;
                    jumps.push((step, before + to as u32 + 1));
                }
            }
        }
        for &output in &method.outputs {
            for value in method.members(output, "outputs")? {
                lives.touch(value, last, FirstUse::Read);
            }
        }
        lives.join_views(tensors);
        lives.lengthen(&jumps);
        for value in 0..values {
            lives.parent[value] = lives.first(value);
        }
        Ok(lives)
    }

    /// The first of the values that are one with this one.
    pub fn root(&self, value: usize) -> usize {
        self.parent[value]
    }

    /// The same while values are still joined; what is passed on the way points further from then on.
    fn first(&mut self, mut value: usize) -> usize {
        while self.parent[value] != value {
            self.parent[value] = self.parent[self.parent[value]];
            value = self.parent[value];
        }
        value
    }

    /// The steps at which a value is in use; all where it is never used.
    pub fn life(&self, value: usize) -> Range<u32> {
        let (first, last) = self.used[self.root(value)].unwrap_or((0, self.end - 1));
        first..last + 1
    }

    fn touch(&mut self, value: usize, step: u32, first_use: FirstUse) {
        if self.first_use[value] == FirstUse::Never {
            self.first_use[value] = first_use;
        }
        self.lengthen_to(value, (step, step));
    }

    fn lengthen_to(&mut self, value: usize, (from, to): (u32, u32)) {
        let root = self.first(value);
        let (first, last) = self.used[root].unwrap_or((from, to));
        self.used[root] = Some((first.min(from), last.max(to)));
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.first(one), self.first(other));
        if one == other {
            return;
        }
        (self.joined[one], self.joined[other]) = (true, true);
        let (first, second) = (one.min(other), one.max(other));
        self.parent[second] = first;
        if let Some(used) = self.used[second] {
            self.lengthen_to(first, used);
        }
    }

    fn follow(
        &mut self,
        method: &Method,
        instruction: &Instruction,
        step: u32,
    ) -> Result<(), ForeignError> {
        let place = format!("instruction {}", step - 1);
        let arguments = &instruction.instr_args;
        match &*instruction.instr_args_type {
            "KernelCall" => self.call(method, arguments, step, &place)?,
            "DelegateCall" => {
                for (index, &value) in arguments.args.iter().enumerate() {
                    let last = index + 1 == arguments.args.len();
                    let use_ = if last {
                        FirstUse::Stored
                    } else {
                        FirstUse::Delegate
                    };
                    for value in method.members(value, &place)? {
                        self.touch(value, step, use_);
                    }
                }
            }
            "MoveCall" => {
                let from = method.value(arguments.move_from, &place)?;
                let to = method.value(arguments.move_to, &place)?;
                self.touch(from, step, FirstUse::Read);
                self.touch(to, step, FirstUse::Stored);
                self.join(from, to);
            }
            "FreeCall" => {
                let value = method.value(arguments.value_index, &place)?;
                self.touch(value, step, FirstUse::Read);
            }
            // A jump reads a truth value, which has no place.
            _ => (),
        }
        Ok(())
    }

    /// An operator's call: its last argument is what it gives, which it stores where its overload
    /// is one of `out`, and then has as arguments right before as well.
    fn call(
        &mut self,
        method: &Method,
        arguments: &Arguments,
        step: u32,
        place: &str,
    ) -> Result<(), ForeignError> {
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
        let given = members.last().map_or(0, |given| match given.len() {
            1 => 1,
            with_list => with_list - 1,
        });
        let outputs = members.len().saturating_sub(1 + given);
        let stores = operator.overload.contains("out");
        for (index, values) in members.iter().enumerate() {
            let use_ = if stores && index >= outputs {
                FirstUse::Stored
            } else {
                FirstUse::Read
            };
            for &value in values {
                self.touch(value, step, use_);
            }
        }
        if operator.name == "executorch_prim::et_view"
            && let (Some([viewed, ..]), Some([.., view])) = (
                members.first().map(Vec::as_slice),
                members.last().map(Vec::as_slice),
            )
        {
            self.join(*viewed, *view);
        }
        Ok(())
    }

    /// A value that nothing stores is one with the last one stored before at the same place, or else
    /// keeps what it has.
    fn join_views(&mut self, tensors: &[Option<Tensor>]) {
        let mut stored: BTreeMap<_, Vec<(u32, usize)>> = BTreeMap::new();
        for (value, tensor) in tensors.iter().enumerate() {
            let Some(tensor) = tensor else {
                continue;
            };
            let root = self.first(value);
            if self.first_use[value] == FirstUse::Stored
                && let Some((first, _)) = self.used[root]
            {
                let at = stored.entry(tensor.place()).or_default();
                at.push((first, value));
            }
        }
        for at in stored.values_mut() {
            at.sort_unstable();
        }
        for (value, tensor) in tensors.iter().enumerate() {
            let Some(tensor) = tensor else {
                continue;
            };
            let first_use = self.first_use[value];
            let whole = (0, self.end - 1);
            if tensor.is_state || first_use == FirstUse::Never {
                self.lengthen_to(value, whole);
                continue;
            }
            if first_use == FirstUse::Stored {
                continue;
            }
            let root = self.first(value);
            let first = self.used[root].map_or(0, |(first, _)| first);
            let before = stored.get(&tensor.place()).and_then(|at| {
                let count = at.partition_point(|&(stored, _)| stored < first);
                at.get(count.checked_sub(1)?)
            });
            match before {
                Some(&(_, viewed)) => self.join(viewed, value),
                None if first_use == FirstUse::Delegate => (),
                None => self.lengthen_to(value, whole),
            }
        }
    }

    /// What is used in a loop is in use as long as it runs, but for what only a straight one uses and
    /// stores anew each time.
    fn lengthen(&mut self, jumps: &[(u32, u32)]) {
        let loops = loops(jumps);
        let around = |step: u32| {
            let index = loops.partition_point(|one| one.to < step);
            loops.get(index).filter(|one| one.from <= step)
        };
        for (value, used) in self.used.iter_mut().enumerate() {
            let Some((first, last)) = used else {
                continue;
            };
            let (at_first, at_last) = (around(*first), around(*last));
            let anew = at_first.is_some_and(|one| one.straight && *last <= one.to)
                && self.first_use[value] == FirstUse::Stored
                && !self.joined[value];
            if !anew {
                *first = at_first.map_or(*first, |one| one.from);
                *last = at_last.map_or(*last, |one| one.to);
            }
        }
    }
}

/// The loops of jumps, each from a step to a step, in order. Loops that have a step in common count
/// as one.
fn loops(jumps: &[(u32, u32)]) -> Vec<Loop> {
    let back = jumps.iter().filter(|(at, to)| to <= at);
    let mut back: Vec<(u32, u32)> = back.map(|&(at, to)| (to, at)).collect();
    back.sort_unstable();
    let mut loops: Vec<Loop> = Vec::new();
    for (from, to) in back {
        match loops.last_mut() {
            Some(before) if before.to >= from => {
                before.to = before.to.max(to);
                before.straight = false;
            }
            _ => loops.push(Loop {
                from,
                to,
                straight: true,
            }),
        }
    }
    for &(at, to) in jumps {
        for step in [at, to] {
            let index = loops.partition_point(|one| one.to < step);
            if let Some(one) = loops.get_mut(index).filter(|one| one.from <= step) {
                let own = (at, to) == (one.to, one.from);
                one.straight &= own || step == one.from && to == step;
            }
        }
    }
    loops
}

impl Tensor {
    /// Where it lies, and how many bytes.
    fn place(&self) -> (u64, u64, u64) {
        (self.memory, self.offset, self.size_bytes)
    }
}
