//! Programs executed in a layout, element by element, with TensorFlow Lite Micro's copies
//! (`kernels/if.cc`, `while.cc`, `kernel_util.cc`). Floating-point values are stood in for by
//! hashes of what they depend on.

use super::program::{Operation, Operator, Program, Type};
use dmo_analysis::random::SplitMix64;

/// What an execution has stored, operator by operator; `None` where it did something undefined.
pub fn execute(program: &Program, offsets: &[Option<u64>], seed: u64) -> Option<Vec<Vec<u32>>> {
    let first_tensors = program.first_tensors();
    let mut bytes = 0;
    for (tensor, offset) in program.tensors().zip(offsets) {
        bytes = bytes.max(offset.map_or(0, |offset| offset as usize + tensor.bytes()));
    }
    let mut random = SplitMix64::new(seed);
    let mut execution = Execution {
        program,
        offsets,
        first_tensors,
        // Old contents differ from layout to layout.
        memory: (0..bytes)
            .map(|at| (at * 31 + offsets.len()) as u8)
            .collect(),
        stored: Vec::new(),
    };
    for &input in &program.subgraphs[0].inputs {
        let tensor = &program.subgraphs[0].tensors[input];
        for element in 0..tensor.elements {
            let value = match tensor.kind {
                Type::Bool => random.below(2) as u32,
                _ => random.next_u64() as u32,
            };
            execution.store(0, input, element, value)?;
        }
    }
    execution.run(0)?;
    for &output in &program.subgraphs[0].outputs {
        execution.note(0, output)?;
    }
    Some(execution.stored)
}

/// More is not executed; none of the programs as it is stores as much.
const MOST_STORED: usize = 20_000;

/// No offsets shared by anything.
pub fn apart(program: &Program) -> Vec<Option<u64>> {
    let mut end = 0;
    let offsets = program.tensors().map(|tensor| {
        end += tensor.bytes() as u64;
        Some(end - tensor.bytes() as u64)
    });
    offsets.collect()
}

struct Execution<'a> {
    program: &'a Program,
    offsets: &'a [Option<u64>],
    first_tensors: Vec<usize>,
    memory: Vec<u8>,
    stored: Vec<Vec<u32>>,
}

impl Execution<'_> {
    fn offset(&self, subgraph: usize, tensor: usize) -> Option<usize> {
        self.offsets[self.first_tensors[subgraph] + tensor].map(|offset| offset as usize)
    }

    fn load(&self, subgraph: usize, id: usize, element: usize) -> Option<u32> {
        let tensor = &self.program.subgraphs[subgraph].tensors[id];
        if let Some(constant) = tensor.constant {
            return Some(constant);
        }
        let offset = self.offset(subgraph, id)?;
        Some(match tensor.kind {
            Type::Bool => self.memory[offset + element].into(),
            _ => u32::from_le_bytes(*self.memory[offset + 4 * element..].first_chunk()?),
        })
    }

    fn store(&mut self, subgraph: usize, id: usize, element: usize, value: u32) -> Option<()> {
        let offset = self.offset(subgraph, id)?;
        match self.program.subgraphs[subgraph].tensors[id].kind {
            Type::Bool => self.memory[offset + element] = value as u8,
            _ => {
                let at = offset + 4 * element;
                self.memory[at..at + 4].copy_from_slice(&value.to_le_bytes());
            }
        }
        Some(())
    }

    fn note(&mut self, subgraph: usize, id: usize) -> Option<()> {
        let elements = self.program.subgraphs[subgraph].tensors[id].elements;
        let values = (0..elements).map(|element| self.load(subgraph, id, element));
        let values = values.collect::<Option<_>>()?;
        self.stored.push(values);
        Some(())
    }

    /// `memcpy`, which is undefined where the two overlap; the same memory is not copied.
    fn copy(&mut self, from: (usize, usize), to: (usize, usize)) -> Option<()> {
        self.copy_at(from, to, 0)
    }

    fn copy_at(&mut self, from: (usize, usize), to: (usize, usize), first: usize) -> Option<()> {
        let source = &self.program.subgraphs[from.0].tensors[from.1];
        if source.constant.is_none() {
            let width = source.bytes() / source.elements;
            let one = self.offset(from.0, from.1)?;
            let other = self.offset(to.0, to.1)? + width * first;
            if one == other {
                return Some(());
            }
            if one < other + source.bytes() && other < one + source.bytes() {
                return None;
            }
        }
        for element in 0..source.elements {
            let value = self.load(from.0, from.1, element)?;
            self.store(to.0, to.1, first + element, value)?;
        }
        Some(())
    }

    fn copy_all(&mut self, from: (usize, &[usize]), to: (usize, &[usize])) -> Option<()> {
        let pairs = from.1.iter().zip(to.1);
        for (&one, &other) in pairs {
            self.copy((from.0, one), (to.0, other))?;
        }
        Some(())
    }

    fn run(&mut self, index: usize) -> Option<()> {
        let program = self.program;
        for operator in &program.subgraphs[index].operators {
            self.operator(index, operator)?;
            for &output in &operator.outputs {
                self.note(index, output)?;
            }
        }
        Some(())
    }

    fn operator(&mut self, index: usize, operator: &Operator) -> Option<()> {
        // A counter that is overwritten may never end.
        if self.stored.len() > MOST_STORED {
            return None;
        }
        let subgraphs = &self.program.subgraphs;
        let (inputs, outputs) = (&operator.inputs[..], &operator.outputs[..]);
        match operator.operation {
            Operation::Relu | Operation::Add | Operation::Less => {
                let kind = subgraphs[index].tensors[outputs[0]].kind;
                for element in 0..subgraphs[index].tensors[outputs[0]].elements {
                    let operands = inputs.iter().map(|&id| self.load(index, id, element));
                    let operands = operands.collect::<Option<Vec<u32>>>()?;
                    let value = match (operator.operation, kind) {
                        (Operation::Less, _) => u32::from(operands[0] < operands[1]),
                        (Operation::Add, Type::Int) => operands[0].wrapping_add(operands[1]),
                        _ => operands.iter().fold(17, |hash, &operand| {
                            (hash ^ operand).wrapping_mul(0x0100_0193).rotate_left(5)
                        }),
                    };
                    self.store(index, outputs[0], element, value)?;
                }
            }
            Operation::Concatenation => {
                let mut first = 0;
                for &input in inputs {
                    self.copy_at((index, input), (index, outputs[0]), first)?;
                    first += subgraphs[index].tensors[input].elements;
                }
            }
            Operation::CallOnce(init) => self.run(init)?,
            Operation::If(then, other) => {
                let chosen = match self.load(index, inputs[0], 0)? {
                    0 => other,
                    _ => then,
                };
                self.copy_all((index, &inputs[1..]), (chosen, &subgraphs[chosen].inputs))?;
                self.run(chosen)?;
                self.copy_all((chosen, &subgraphs[chosen].outputs), (index, outputs))?;
            }
            Operation::While(condition, body) => {
                let goes_on = subgraphs[condition].outputs[0];
                self.copy_all((index, inputs), (condition, &subgraphs[condition].inputs))?;
                self.copy_all((index, inputs), (index, outputs))?;
                self.run(condition)?;
                while self.load(condition, goes_on, 0)? != 0 {
                    self.copy_all((index, outputs), (body, &subgraphs[body].inputs))?;
                    self.run(body)?;
                    self.copy_all((body, &subgraphs[body].outputs), (index, outputs))?;
                    self.copy_all((index, outputs), (condition, &subgraphs[condition].inputs))?;
                    self.run(condition)?;
                }
            }
        }
        Some(())
    }
}
