//! Random models whose operators run subgraphs, as files and as programs that can be executed in
//! any layout. Nothing here knows of lifetimes or steps.

use crate::tree::{Part, Part::*, write};
use dmo_analysis::random::SplitMix64;

#[derive(Clone, Copy, PartialEq)]
pub enum Type {
    Float = 0,
    Int = 2,
    Bool = 6,
}

#[derive(Clone)]
pub struct Tensor {
    pub kind: Type,
    pub elements: usize,
    /// All elements of a constant have this value.
    pub constant: Option<u32>,
}

impl Tensor {
    pub fn bytes(&self) -> usize {
        match self.kind {
            Type::Bool => self.elements,
            _ => 4 * self.elements,
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
pub enum Operation {
    Relu,
    Add,
    Concatenation,
    Less,
    If(usize, usize),
    While(usize, usize),
    CallOnce(usize),
}

#[derive(Clone)]
pub struct Operator {
    pub operation: Operation,
    pub inputs: Vec<usize>,
    pub outputs: Vec<usize>,
}

#[derive(Clone, Default)]
pub struct Subgraph {
    pub tensors: Vec<Tensor>,
    pub inputs: Vec<usize>,
    pub outputs: Vec<usize>,
    pub operators: Vec<Operator>,
}

#[derive(Clone, Default)]
pub struct Program {
    pub subgraphs: Vec<Subgraph>,
}

impl Subgraph {
    fn tensor(&mut self, kind: Type, elements: usize, constant: Option<u32>) -> usize {
        self.tensors.push(Tensor {
            kind,
            elements,
            constant,
        });
        self.tensors.len() - 1
    }

    fn input(&mut self, kind: Type, elements: usize) -> usize {
        let id = self.tensor(kind, elements, None);
        self.inputs.push(id);
        id
    }

    fn add(&mut self, operation: Operation, inputs: &[usize], outputs: &[usize]) {
        self.operators.push(Operator {
            operation,
            inputs: inputs.to_vec(),
            outputs: outputs.to_vec(),
        });
    }

    fn shape(&self, id: usize) -> (Type, usize) {
        (self.tensors[id].kind, self.tensors[id].elements)
    }
}

/// Grows programs.
pub struct Grower {
    random: SplitMix64,
    program: Program,
    /// Branches by the elements of their floating-point inputs, to be run from elsewhere too.
    branches: Vec<(Vec<usize>, usize)>,
}

impl Grower {
    pub fn program(seed: u64) -> Program {
        let mut grower = Self {
            random: SplitMix64::new(seed),
            program: Program {
                subgraphs: vec![Subgraph::default()],
            },
            branches: Vec::new(),
        };
        let mut main = Subgraph::default();
        let flag = main.input(Type::Bool, 1);
        let inputs = 1 + grower.random.below(3);
        let mut floats = Vec::new();
        for _ in 0..inputs {
            let elements = 4 << grower.random.below(4);
            floats.push(main.input(Type::Float, elements));
        }
        if grower.random.below(2) == 0 {
            let init = grower.initial();
            main.add(Operation::CallOnce(init), &[], &[]);
        }
        let operators = 4 + grower.random.below(5);
        grower.grow(&mut main, flag, &mut floats, operators, 0);
        main.outputs = vec![floats[floats.len() - 1]];
        if main.outputs[0] <= inputs {
            let (_, elements) = main.shape(main.outputs[0]);
            let output = main.tensor(Type::Float, elements, None);
            main.add(Operation::Relu, &[main.outputs[0]], &[output]);
            main.outputs = vec![output];
        }
        grower.program.subgraphs[0] = main;
        grower.program
    }

    fn initial(&mut self) -> usize {
        let mut subgraph = Subgraph::default();
        let constant = subgraph.tensor(Type::Float, 16, Some(7));
        let output = subgraph.tensor(Type::Float, 16, None);
        subgraph.add(Operation::Relu, &[constant], &[output]);
        self.push(subgraph)
    }

    fn push(&mut self, subgraph: Subgraph) -> usize {
        self.program.subgraphs.push(subgraph);
        self.program.subgraphs.len() - 1
    }

    fn one_of(&mut self, ids: &[usize]) -> usize {
        // What was computed last, mostly.
        let recent = ids.len().saturating_sub(3);
        let from = if self.random.below(3) == 0 { 0 } else { recent };
        ids[from + self.random.below(ids.len() - from)]
    }

    fn grow(
        &mut self,
        subgraph: &mut Subgraph,
        flag: usize,
        floats: &mut Vec<usize>,
        operators: usize,
        depth: usize,
    ) {
        for _ in 0..operators {
            let one = self.one_of(floats);
            let (_, elements) = subgraph.shape(one);
            match self.random.below(8) {
                0 | 1 => {
                    let output = subgraph.tensor(Type::Float, elements, None);
                    subgraph.add(Operation::Relu, &[one], &[output]);
                    floats.push(output);
                }
                2 => {
                    let alike = |id: &&usize| subgraph.tensors[**id].elements == elements;
                    let others: Vec<usize> = floats.iter().filter(alike).copied().collect();
                    let other = self.one_of(&others);
                    let output = subgraph.tensor(Type::Float, elements, None);
                    subgraph.add(Operation::Add, &[one, other], &[output]);
                    floats.push(output);
                }
                3 => {
                    let other = self.one_of(floats);
                    let sum = elements + subgraph.tensors[other].elements;
                    if sum <= 128 {
                        let output = subgraph.tensor(Type::Float, sum, None);
                        subgraph.add(Operation::Concatenation, &[one, other], &[output]);
                        floats.push(output);
                    }
                }
                4 | 5 if depth < 3 => self.conditional(subgraph, flag, floats, depth),
                6 if depth < 3 => self.repeated(subgraph, flag, floats, depth),
                _ => {}
            }
        }
    }

    fn passed(&mut self, floats: &[usize]) -> Vec<usize> {
        (0..1 + self.random.below(3))
            .map(|_| self.one_of(floats))
            .collect()
    }

    /// `flag, floats -> floats` of the same sizes.
    fn branch(&mut self, sizes: &[usize], depth: usize) -> usize {
        let known = self.branches.iter().find(|(known, _)| known == sizes);
        if let Some(&(_, index)) = known.filter(|_| depth > 0)
            && self.random.below(3) == 0
        {
            return index;
        }
        let mut subgraph = Subgraph::default();
        let flag = subgraph.input(Type::Bool, 1);
        let inputs: Vec<usize> = (sizes.iter())
            .map(|&elements| subgraph.input(Type::Float, elements))
            .collect();
        let mut floats = inputs.clone();
        let operators = self.random.below(4);
        self.grow(&mut subgraph, flag, &mut floats, operators, depth + 1);
        self.finish(&mut subgraph, &inputs, &floats);
        let index = self.push(subgraph);
        self.branches.push((sizes.to_vec(), index));
        index
    }

    /// An output of the size of each input; now and then the input itself.
    fn finish(&mut self, subgraph: &mut Subgraph, inputs: &[usize], floats: &[usize]) {
        for &input in inputs {
            let (_, elements) = subgraph.shape(input);
            if self.random.below(5) == 0 {
                subgraph.outputs.push(input);
                continue;
            }
            let alike = |id: &&usize| subgraph.tensors[**id].elements == elements;
            let alike: Vec<usize> = floats.iter().filter(alike).copied().collect();
            let one = self.one_of(&alike);
            let output = subgraph.tensor(Type::Float, elements, None);
            subgraph.add(Operation::Relu, &[one], &[output]);
            subgraph.outputs.push(output);
        }
    }

    fn conditional(
        &mut self,
        subgraph: &mut Subgraph,
        flag: usize,
        floats: &mut Vec<usize>,
        depth: usize,
    ) {
        let passed = self.passed(floats);
        let sizes: Vec<usize> = passed.iter().map(|&id| subgraph.shape(id).1).collect();
        let branches = [0, 1].map(|_| self.branch(&sizes, depth));
        let inputs = [&[flag, flag], &passed[..]].concat();
        let outputs: Vec<usize> = (sizes.iter())
            .map(|&elements| subgraph.tensor(Type::Float, elements, None))
            .collect();
        subgraph.add(Operation::If(branches[0], branches[1]), &inputs, &outputs);
        floats.extend(outputs);
    }

    fn repeated(
        &mut self,
        subgraph: &mut Subgraph,
        flag: usize,
        floats: &mut Vec<usize>,
        depth: usize,
    ) {
        let passed = self.passed(floats);
        let sizes: Vec<usize> = passed.iter().map(|&id| subgraph.shape(id).1).collect();
        let state = |of: &mut Subgraph| {
            let counter = of.input(Type::Int, 1);
            let flag = of.input(Type::Bool, 1);
            let floats: Vec<usize> = (sizes.iter())
                .map(|&elements| of.input(Type::Float, elements))
                .collect();
            (counter, flag, floats)
        };
        let mut condition = Subgraph::default();
        let (counter, _, inputs) = state(&mut condition);
        let extra = condition.tensor(Type::Float, condition.tensors[inputs[0]].elements, None);
        condition.add(Operation::Relu, &[inputs[0]], &[extra]);
        let limit = condition.tensor(Type::Int, 1, Some(self.random.below(4) as u32));
        let goes_on = condition.tensor(Type::Bool, 1, None);
        condition.add(Operation::Less, &[counter, limit], &[goes_on]);
        condition.outputs = vec![goes_on];
        let condition = self.push(condition);

        let mut body = Subgraph::default();
        let (counter, body_flag, inputs) = state(&mut body);
        let one = body.tensor(Type::Int, 1, Some(1));
        let next = body.tensor(Type::Int, 1, None);
        let mut inner = inputs.clone();
        let operators = self.random.below(4);
        self.grow(&mut body, body_flag, &mut inner, operators, depth + 1);
        body.add(Operation::Add, &[counter, one], &[next]);
        body.outputs = vec![next, body_flag];
        self.finish(&mut body, &inputs, &inner);
        let body = self.push(body);

        let zero = subgraph.tensor(Type::Int, 1, Some(0));
        let inputs = [&[zero, flag], &passed[..]].concat();
        let mut outputs = vec![
            subgraph.tensor(Type::Int, 1, None),
            subgraph.tensor(Type::Bool, 1, None),
        ];
        for &elements in &sizes {
            outputs.push(subgraph.tensor(Type::Float, elements, None));
        }
        subgraph.add(Operation::While(condition, body), &inputs, &outputs);
        floats.extend(&outputs[2..]);
    }
}

impl Program {
    pub fn tensors(&self) -> impl Iterator<Item = &Tensor> {
        self.subgraphs.iter().flat_map(|it| &it.tensors)
    }

    /// The number of the first of each subgraph's tensors.
    pub fn first_tensors(&self) -> Vec<usize> {
        let mut count = 0;
        let starts = self.subgraphs.iter().map(|it| {
            count += it.tensors.len();
            count - it.tensors.len()
        });
        starts.collect()
    }

    /// The file.
    pub fn file(&self) -> Vec<u8> {
        self.file_with_states(&[])
    }

    /// The same with so many further tensors in each subgraph that are kept from one inference to the
    /// next, and that nothing uses.
    pub fn file_with_states(&self, states: &[usize]) -> Vec<u8> {
        // Buffer 0 is that of tensors without data.
        let mut buffers = vec![Table(vec![])];
        let states = states.iter().copied().chain(std::iter::repeat(0));
        let subgraphs = self.subgraphs.iter().zip(states).map(|(subgraph, states)| {
            let state = || {
                Table(vec![
                    (0, Words(vec![8])),
                    (1, Byte(Type::Int as u8)),
                    (3, Text("state")),
                    (5, Byte(1)),
                ])
            };
            let tensors = subgraph.tensors.iter().map(|tensor| {
                let buffer = tensor.constant.map_or(0, |value| {
                    let data = value.to_le_bytes().repeat(tensor.elements);
                    buffers.push(Table(vec![(0, Bytes(data))]));
                    buffers.len() as u32 - 1
                });
                Table(vec![
                    (0, Words(vec![tensor.elements as i32])),
                    (1, Byte(tensor.kind as u8)),
                    (2, Word(buffer)),
                    (3, Text("t")),
                ])
            });
            let ids = |ids: &[usize]| Words(ids.iter().map(|&id| id as i32).collect());
            Table(vec![
                (
                    0,
                    Tables(tensors.chain((0..states).map(|_| state())).collect()),
                ),
                (1, ids(&subgraph.inputs)),
                (2, ids(&subgraph.outputs)),
                (3, Tables(subgraph.operators.iter().map(operator).collect())),
            ])
        });
        let subgraphs: Vec<Part> = subgraphs.collect();
        let codes = CODES.map(|number| {
            Table(vec![
                (0, Byte(number.min(127) as u8)),
                (2, Word(1)),
                (3, Word(number)),
            ])
        });
        write(&Table(vec![
            (0, Word(3)),
            (1, Tables(codes.into())),
            (2, Tables(subgraphs)),
            (4, Tables(buffers)),
        ]))
    }
}

/// RELU, ADD, CONCATENATION, LESS, IF, WHILE, CALL_ONCE.
const CODES: [u32; 7] = [19, 0, 2, 58, 118, 119, 129];

fn operator(operator: &Operator) -> Part {
    let word = |index: usize| Word(index as u32);
    let (code, options) = match operator.operation {
        Operation::Relu => (0, None),
        Operation::Add => (1, Some((11, vec![]))),
        Operation::Concatenation => (2, Some((10, vec![(0, Word(0))]))),
        Operation::Less => (3, None),
        Operation::If(then, other) => (4, Some((92, vec![(0, word(then)), (1, word(other))]))),
        Operation::While(condition, body) => {
            (5, Some((93, vec![(0, word(condition)), (1, word(body))])))
        }
        Operation::CallOnce(init) => (6, Some((103, vec![(0, word(init))]))),
    };
    let ids = |ids: &[usize]| Words(ids.iter().map(|&id| id as i32).collect());
    let mut fields = vec![
        (0, Word(code)),
        (1, ids(&operator.inputs)),
        (2, ids(&operator.outputs)),
    ];
    if let Some((number, table)) = options {
        fields.extend([(3, Byte(number)), (4, Table(table))]);
    }
    Table(fields)
}
