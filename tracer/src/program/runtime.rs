//! TensorFlow Lite Micro in a program, by the names of its functions.
//!
//! | function | arguments | when it is called |
//! |---|---|---|
//! | `MicroInterpreter` (constructor) | object, model | an interpreter is made for a model |
//! | `SingleArenaBufferAllocator`, `NonPersistentArenaBufferAllocator` | object, first byte, bytes | an arena is handed over |
//! | `MicroAllocator::StartModelAllocation` | object, model | a model's tensors are about to be laid out |
//! | `MicroInterpreterGraph::PrepareSubgraphs` | graph | the operators of a model are prepared |
//! | `MicroAllocator::RequestScratchBufferInArena` | object, bytes, subgraph, index | an operator that is prepared wants scratch memory |
//! | `MicroAllocator::FinishPrepareNodeAllocations` | object, operator | an operator has been prepared |
//! | `MicroAllocator::FinishModelAllocation` | object, model, tensors, scratch buffers | all of these are laid out |
//! | `MicroInterpreterGraph::InvokeSubgraph` | graph, subgraph | an inference begins |
//! | `MicroAllocator::ResetTempAllocations` | object | after each operator |
//!
//! Source of these facts: tensorflow/tflite-micro at 90b983c, `micro_allocator.cc`,
//! `micro_interpreter.cc`, `micro_interpreter_graph.cc` and `arena_allocator/`. Each is defined in
//! another file than its callers, so that only a compiler that sees the whole program inlines one.

use crate::elf::image::Image;
use crate::program::marks::{Mark, Marks};

/// What one of the functions is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Function {
    /// Makes an interpreter.
    Interpreter,
    /// Takes an arena.
    Arena,
    /// Begins to lay out a model.
    StartModel,
    /// Prepares a model's operators.
    Prepare,
    /// Notes a scratch buffer.
    RequestScratch,
    /// Ends the preparation of an operator.
    OperatorPrepared,
    /// Lays out tensors and scratch buffers.
    FinishModel,
    /// Runs the operators.
    Invoke,
    /// Is called after each operator.
    OperatorDone,
}

const FUNCTIONS: [(&str, Function); 10] = [
    (
        "MicroInterpreter::MicroInterpreter(tflite::Model const*",
        Function::Interpreter,
    ),
    (
        "SingleArenaBufferAllocator::SingleArenaBufferAllocator(unsigned char*, unsigned",
        Function::Arena,
    ),
    (
        "NonPersistentArenaBufferAllocator::NonPersistentArenaBufferAllocator(unsigned char*, unsigned",
        Function::Arena,
    ),
    (
        "MicroAllocator::StartModelAllocation(tflite::Model const*)",
        Function::StartModel,
    ),
    (
        "MicroInterpreterGraph::PrepareSubgraphs()",
        Function::Prepare,
    ),
    (
        "MicroAllocator::RequestScratchBufferInArena(unsigned",
        Function::RequestScratch,
    ),
    (
        "MicroAllocator::FinishPrepareNodeAllocations(int)",
        Function::OperatorPrepared,
    ),
    (
        "MicroAllocator::FinishModelAllocation(tflite::Model const*, tflite::SubgraphAllocations*",
        Function::FinishModel,
    ),
    (
        "MicroInterpreterGraph::InvokeSubgraph(int)",
        Function::Invoke,
    ),
    (
        "MicroAllocator::ResetTempAllocations()",
        Function::OperatorDone,
    ),
];

/// The functions of TensorFlow Lite Micro that a program has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Runtime {
    functions: Vec<(u32, Function)>,
}

impl Runtime {
    /// The functions; `None` if any but the constructors is missing, as in a stripped program.
    pub fn find(image: &Image) -> Option<Self> {
        let mut functions: Vec<(u32, Function)> = Vec::new();
        for symbol in image.symbols.functions() {
            let Some(name) = symbol.name.strip_prefix("tflite::") else {
                continue;
            };
            // The second constructor of an arena takes two addresses.
            let known = FUNCTIONS.iter().find(|(start, function)| {
                name.starts_with(start) && !(*function == Function::Arena && name.ends_with("*)"))
            });
            let found = known.map(|&(_, function)| (symbol.address, function));
            functions.extend(found.filter(|found| !functions.contains(found)));
        }
        let needed = FUNCTIONS.iter().map(|&(_, function)| function);
        let constructors = [Function::Arena, Function::Interpreter];
        let mut needed = needed.filter(|function| !constructors.contains(function));
        let has = |wanted| functions.iter().any(|&(_, function)| function == wanted);
        needed.all(has).then_some(Self { functions })
    }

    /// The addresses of all functions.
    pub fn addresses(&self) -> Vec<u32> {
        self.functions.iter().map(|&(address, _)| address).collect()
    }

    /// The function at this address.
    pub fn at(&self, address: u32) -> Option<Function> {
        let mut functions = self.functions.iter();
        let found = functions.find(|&&(function, _)| function == address);
        found.map(|&(_, function)| function)
    }

    /// Whether interpreters are seen being made.
    pub fn sees_interpreters(&self) -> bool {
        let mut functions = self.functions.iter();
        functions.any(|&(_, function)| function == Function::Interpreter)
    }

    /// Where operators begin and end.
    pub fn marks(&self) -> Option<Marks> {
        let mark = |function| match function {
            Function::Invoke => Some(Mark::Begin),
            Function::OperatorDone => Some(Mark::End),
            _ => None,
        };
        let functions = self.functions.iter();
        let marks = functions.filter_map(|&(address, function)| Some((address, mark(function)?)));
        Marks::of(marks.collect())
    }
}
