//! The structures of TensorFlow Lite Micro in memory, found by what they hold: for programs
//! without the names of its functions.
//!
//! The runtime does not copy a model's shapes and lists of operands, it points into the file. An
//! array in RAM that points to the shape of each tensor of a file, in order, is the runtime's
//! description of them; one that points to the inputs and outputs of each operator is its list of
//! operators, and names their functions. An operator runs while its function does, which is called
//! with its entry in that list.
//!
//! Source of the layouts: tensorflow/tflite-micro at 90b983c, `NodeAndRegistration` in
//! `micro_allocator.h`, `TfLiteNode` and `TfLiteEvalTensor` in `core/c/common.h`,
//! `TFLMRegistration` in `micro_common.h`, `ScratchBufferRequest` in `micro_allocation_info.h`.

use crate::mcu::machine::{FaultCause, Limits, Machine, MachineError, Observation};
use crate::mcu::memory::RegionKind;
use crate::program::execution::{RunError, describe_exit};
use crate::program::fault::Fault;
use crate::program::interpreter::{NODE_BYTES, node_index};
use crate::program::process::{Halt, Process};
use crate::program::semihosting::Host;
use crate::program::target::Target;
use dmo_analysis::graph::tflite::{Landmarks, landmarks};
use dmo_analysis::trace::Address;

/// Bytes of a tensor's description.
pub(super) const TENSOR_BYTES: u32 = 12;
/// In an operator's entry.
const REGISTRATION: u32 = 28;
/// In a registration.
const PREPARE: u32 = 8;
const INVOKE: u32 = 12;

/// A model's structures in a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Structures {
    /// Where its file lies.
    pub file: Address,
    /// Address of the operators' entries.
    pub nodes: u32,
    /// Address of the tensors' descriptions.
    pub tensors: u32,
    /// The functions of each operator.
    pub functions: Vec<Functions>,
}

/// What an operator calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Functions {
    /// Prepares it; `None` if nothing does.
    pub prepare: Option<u32>,
    /// Runs it.
    pub invoke: u32,
}

/// Why they are not found.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum StructureError {
    #[error(transparent)]
    Run(#[from] RunError),
    #[error(
        "the program has no such model in it, as a file: its image may hold it in another form, or it runs another one"
    )]
    NoFile,
    #[error(
        "nothing in its memory describes the model's operators in the way of TensorFlow Lite Micro ({how})"
    )]
    NotFound { how: String },
    #[error(
        "{count} interpreters run the model, and which one is meant cannot be told without the names of their functions"
    )]
    Several { count: usize },
}

impl From<MachineError> for StructureError {
    fn from(error: MachineError) -> Self {
        Self::Run(error.into())
    }
}

/// After this many instructions memory is searched for the first time; each further search comes
/// after half as many again.
const FIRST_SEARCH: u64 = 1 << 16;

/// Runs a program until its memory has the structures of a model whose file is `wanted`, which is
/// given the file and what follows it.
///
/// # Errors
/// When the program does not have such a file, or ends without such structures.
pub fn find(
    target: &Target,
    wanted: &dyn Fn(&[u8]) -> bool,
    limits: Limits,
) -> Result<Structures, StructureError> {
    let files = files_in(target, wanted);
    if files.is_empty() {
        return Err(StructureError::NoFile);
    }
    let silent = Host::console(Box::new(|_| ()));
    let mut process = Process::load(target, Observation::Watch, limits, silent)?;
    let mut next = FIRST_SEARCH.min(limits.max_instructions);
    loop {
        process.machine.renew_limits(Limits {
            max_instructions: next.saturating_sub(process.machine.now()),
            ..limits
        });
        let halt = process.run()?;
        let ram = Words::read(&process.machine, target);
        let searched = files.iter();
        let searched = searched.map(|file| search(&process.machine, target, &ram, file));
        let mut found: Vec<Structures> = searched.flatten().collect();
        // A file with a plan may hold the one without, as it was, behind its own beginning.
        found.dedup_by_key(|one| (one.nodes, one.tensors));
        match found.len() {
            0 => {}
            1 => return Ok(found.remove(0)),
            count => return Err(StructureError::Several { count }),
        }
        match halt {
            Halt::Fault(FaultCause::InstructionLimit { .. }) if next < limits.max_instructions => {
                next = next.saturating_add(next / 2).min(limits.max_instructions);
            }
            Halt::Fault(cause) => {
                let fault = Fault::new(target, &process.machine, cause, None);
                return Err(RunError::Fault(Box::new(fault)).into());
            }
            Halt::Exited(exit) => {
                let how = describe_exit(exit, &target.image.symbols);
                return Err(StructureError::NotFound { how });
            }
            Halt::Breakpoint(_) => {}
        }
    }
}

/// A model's file in a program: where it runs, not where it is copied from.
struct ModelFile {
    place: u32,
    landmarks: Landmarks,
}

/// The files that are wanted, by their identifier.
fn files_in(target: &Target, wanted: &dyn Fn(&[u8]) -> bool) -> Vec<ModelFile> {
    let mut files: Vec<ModelFile> = Vec::new();
    for segment in &target.image.segments {
        let starts = (0..segment.content.len()).step_by(4);
        for offset in starts {
            let content = &segment.content[offset..];
            let place = segment.run_address.wrapping_add(offset as u32);
            if content.get(4..8) != Some(b"TFL3")
                || files.iter().any(|file| file.place == place)
                || !wanted(content)
            {
                continue;
            }
            if let Ok(landmarks) = landmarks(content) {
                files.push(ModelFile { place, landmarks });
            }
        }
    }
    files
}

/// Words of RAM, and the address of the first.
struct Words {
    start: u32,
    words: Vec<u32>,
}

impl Words {
    fn read(machine: &Machine, target: &Target) -> Vec<Self> {
        let regions = target.map.regions().iter();
        let ram = regions.filter(|region| region.kind == RegionKind::Ram);
        let read = ram.filter_map(|region| {
            let start = region.range.start as u32;
            let length = (region.range.end - region.range.start) as usize;
            let bytes = machine.read(Address(start), length)?;
            let words = bytes.as_chunks().0.iter();
            Some(Self {
                start,
                words: words.map(|&word| u32::from_le_bytes(word)).collect(),
            })
        });
        read.collect()
    }

    /// Addresses at which each entry of `stride` words holds what is expected of it, at these
    /// positions.
    fn find(&self, stride: usize, expected: &[Vec<(usize, u32)>]) -> Vec<u32> {
        let length = stride * expected.len();
        let matches = |at: &usize| {
            let mut entries = expected.iter().enumerate();
            entries.all(|(index, entry)| {
                let word = |position: usize| self.words.get(at + stride * index + position);
                entry
                    .iter()
                    .all(|&(position, value)| word(position) == Some(&value))
            })
        };
        let last = self.words.len().saturating_sub(length);
        let found = (0..=last).filter(matches);
        found.map(|at| self.start + 4 * at as u32).collect()
    }
}

/// The structures of a model.
fn search(machine: &Machine, target: &Target, ram: &[Words], file: &ModelFile) -> Vec<Structures> {
    let address = |offset: usize| file.place.wrapping_add(offset as u32);
    let operators = file.landmarks.operators.iter().map(|lists| {
        let lists = lists.iter().flatten().enumerate();
        let lists = lists.map(|(position, &list)| (position, address(list)));
        lists.collect()
    });
    let operators: Vec<Vec<(usize, u32)>> = operators.collect();
    let shapes = file.landmarks.shapes.iter().map(|shape| {
        let shape = shape.iter().map(|&shape| (1, address(shape)));
        shape.collect()
    });
    let shapes: Vec<Vec<(usize, u32)>> = shapes.collect();
    // What says nothing is everywhere.
    if operators.iter().flatten().next().is_none() || shapes.iter().flatten().next().is_none() {
        return Vec::new();
    }
    let find = |bytes: u32, expected: &[Vec<(usize, u32)>]| -> Vec<u32> {
        let words = bytes as usize / 4;
        let found = ram.iter().map(|ram| ram.find(words, expected));
        found.flatten().collect()
    };
    let tensors = find(TENSOR_BYTES, &shapes);
    let nodes = find(NODE_BYTES, &operators).into_iter();
    let complete = nodes.filter_map(|nodes| {
        let functions = functions(machine, target, nodes, operators.len())?;
        Some((nodes, functions))
    });
    let complete: Vec<(u32, Vec<Functions>)> = complete.collect();
    if tensors.len() != complete.len() {
        return Vec::new();
    }
    let both = complete.into_iter().zip(tensors);
    let both = both.map(|((nodes, functions), tensors)| Structures {
        file: Address(file.place),
        nodes,
        tensors,
        functions,
    });
    both.collect()
}

/// The functions of each operator; `None` if one has none yet.
fn functions(
    machine: &Machine,
    target: &Target,
    nodes: u32,
    count: usize,
) -> Option<Vec<Functions>> {
    let word = |address: u32| machine.read_word(Address(address));
    let code = |address: u32| {
        let is_code = address & 1 == 1 && target.map.is_code(Address(address & !1));
        is_code.then_some(address & !1)
    };
    let of = |index: usize| {
        let node = nodes.checked_add(NODE_BYTES.checked_mul(index as u32)?)?;
        let registration = word(node.checked_add(REGISTRATION)?).filter(|&it| it != 0)?;
        let prepare = word(registration.checked_add(PREPARE)?)?;
        Some(Functions {
            prepare: match prepare {
                0 => None,
                prepare => Some(code(prepare)?),
            },
            invoke: code(word(registration.checked_add(INVOKE)?)?)?,
        })
    };
    (0..count).map(of).collect()
}

impl Structures {
    /// The functions that run operators, each once.
    pub fn invoked(&self) -> Vec<u32> {
        let mut addresses: Vec<u32> = self.functions.iter().map(|it| it.invoke).collect();
        addresses.sort_unstable();
        addresses.dedup();
        addresses
    }

    /// All functions, each once.
    pub(super) fn addresses(&self) -> Vec<u32> {
        let mut addresses = self.invoked();
        addresses.extend(self.functions.iter().filter_map(|it| it.prepare));
        addresses.sort_unstable();
        addresses.dedup();
        addresses
    }

    /// The operator whose entry this is.
    pub(super) fn operator(&self, node: u32) -> Option<usize> {
        node_index(self.nodes, self.functions.len(), node)
    }
}
