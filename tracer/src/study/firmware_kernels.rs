//! A user's firmware as the kernels of a model: its own interpreter runs the model, with whatever
//! operators and kernels it has.
//!
//! The model lies in memory that the firmware does not know. Where the firmware makes an interpreter
//! for its own model, that is handed the other one instead; everything else is the firmware's, up to
//! the first inference. From there on inputs come from outside, and inferences follow one another.

use super::error::{About, ArenaPlaceError, FirmwareError, StudyError};
use super::firmware::{
    ArenaPlace, FirmwareRequest, described_tensors, is_model, placement, read_interpreted,
};
use super::input;
use super::source::Source;
use crate::elf::image::{MAX_FILE_BYTES, Segment};
use crate::mcu::machine::Limits;
use crate::mcu::memory::{MemoryMap, MemoryOptions, PAGE_BYTES};
use crate::model::verify::input_number;
use crate::program::allocation::{AllocationError, AtInference, Replacement, first_inference};
use crate::program::execution::RunError;
use crate::program::inferences::{Content, InferenceError, Inferences, Run, run};
use crate::program::interpreter::Interpreted;
use crate::program::marks::Marks;
use crate::program::other_inputs::Variation;
use crate::program::record::Recorded;
use crate::program::runtime::Runtime;
use crate::program::target::{Target, TargetOptions};
use dmo_analysis::firmware::Placement;
use dmo_analysis::graph::{Graph, Storage, TensorId};
use dmo_analysis::trace::{Address, ElementType, Role, Tensor, TraceSink};
use std::ops::Range;
use std::path::PathBuf;

/// Which firmware, and what is to be known of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirmwareKernelRequest {
    /// Its ELF file.
    pub path: PathBuf,
    /// The arena; `None` takes the one that the firmware hands to its interpreter.
    pub arena: Option<ArenaPlace>,
    /// Model of the CPU; `None`: what the firmware was built for.
    pub cpu: Option<String>,
    /// Bounds on all inferences of one model.
    pub limits: Limits,
}

/// A firmware whose interpreter can be handed another model.
pub struct FirmwareKernels {
    /// Its file's name.
    pub name: String,
    /// The CPU.
    pub cpu: &'static str,
    /// Where the model's file lies that it has itself.
    pub replaced: Address,
    /// Whether that model is the one that it was asked for.
    pub has_model: bool,
    elf: Vec<u8>,
    request: FirmwareKernelRequest,
    runtime: Runtime,
}

/// A model in a firmware, laid out by it.
pub struct Hosted {
    /// The model, with the scratch buffers that the firmware's kernels ask for.
    pub graph: Graph,
    /// The model in its arena.
    pub interpreted: Interpreted,
    /// Where everything lies.
    pub placement: Placement,
    target: Target,
    replacement: Replacement,
    file: Address,
    runtime: Runtime,
    limits: Limits,
}

impl FirmwareKernelRequest {
    /// Reads the firmware, and runs it to its first inference.
    ///
    /// # Errors
    /// When it has no interpreter that could be handed another model, or the model has several
    /// subgraphs.
    pub fn load(&self, source: &Source) -> Result<FirmwareKernels, StudyError> {
        if source.linked().is_some() {
            let model = source.name.clone();
            return Err(ArenaPlaceError::Subgraphs { model }.into());
        }
        let shown = self.path.display();
        let elf = input::read(&self.path, MAX_FILE_BYTES as u64);
        let elf = elf.about(format_args!("cannot read {shown}"))?;
        self.of_elf(elf, source).about(shown)
    }

    fn of_elf(&self, elf: Vec<u8>, source: &Source) -> Result<FirmwareKernels, StudyError> {
        let target = self.target(&elf, Vec::new())?;
        let Some(runtime) = Runtime::find(&target.image) else {
            return Err(FirmwareError::NoInterpreter {
                has_marks: Marks::find(&target.image).is_ok(),
            }
            .into());
        };
        if !runtime.sees_interpreters() {
            return Err(FirmwareError::NoConstructor.into());
        }
        let found = first_inference(&target, &runtime, self.limits, None, &mut |_| true);
        let found = found.map_err(Box::new)?;
        let name = self.path.file_name().unwrap_or(self.path.as_os_str());
        Ok(FirmwareKernels {
            name: name.to_string_lossy().into_owned(),
            cpu: target.cpu.name,
            replaced: found.model.address,
            has_model: is_model(source, &found.model.file),
            elf,
            request: self.clone(),
            runtime,
        })
    }

    fn target(&self, elf: &[u8], constants: Vec<Range<u64>>) -> Result<Target, StudyError> {
        let options = TargetOptions {
            cpu: self.cpu.clone(),
            memory: MemoryOptions {
                constants,
                ..MemoryOptions::default()
            },
            ..TargetOptions::default()
        };
        Ok(Target::new(elf, &options)?)
    }
}

/// Where external memory may be: no microcontroller's own memory or peripherals lie there.
const SPARE: Range<u64> = 0x6000_0000..0xa000_0000;
const SPARE_STEP: u64 = 16 << 20;

/// Addresses that the program has nothing at.
fn spare(map: &MemoryMap, bytes: u64) -> Option<Range<u64>> {
    let bytes = bytes.next_multiple_of(PAGE_BYTES);
    let starts = (SPARE.start..SPARE.end).step_by(SPARE_STEP as usize);
    let ranges = starts.map(|start| start..start + bytes);
    let is_free = |range: &Range<u64>| {
        let mut regions = map.regions().iter();
        range.end <= SPARE.end
            && regions
                .all(|region| region.range.end <= range.start || range.end <= region.range.start)
    };
    ranges.into_iter().find(is_free)
}

impl FirmwareKernels {
    /// Has the firmware lay out a model, whose file this is, in place of its own.
    ///
    /// # Errors
    /// When the firmware does not come to its first inference, for instance because it lacks an
    /// operator or room in its arena, or what it lays out is not this model.
    pub fn host(&self, file: &[u8]) -> Result<Hosted, StudyError> {
        self.hosted(file).about(&self.name)
    }

    fn hosted(&self, file: &[u8]) -> Result<Hosted, StudyError> {
        let plain = self.request.target(&self.elf, Vec::new())?;
        let bytes = file.len() as u64;
        let place = spare(&plain.map, bytes).ok_or(FirmwareError::NoRoom { bytes })?;
        let mut target = self.request.target(&self.elf, vec![place.clone()])?;
        let address = Address(place.start as u32);
        target.image.segments.push(Segment {
            load_address: address.0,
            run_address: address.0,
            run_bytes: file.len() as u32,
            content: file.to_vec(),
            writable: false,
            executable: false,
        });
        let root = file.first_chunk().map(|&root| u32::from_le_bytes(root));
        let replacement = Replacement {
            replaced: self.replaced,
            root: address.0.wrapping_add(root.unwrap_or_default()),
        };
        let limits = self.request.limits;
        let found = start(&target, &self.runtime, limits, replacement, address);
        let found = found.map_err(|problem| match problem {
            AllocationError::Run(RunError::Fault(fault)) => {
                let problem = fault.summary();
                StudyError::from(FirmwareError::NotBegun { problem })
            }
            AllocationError::Run(_) | AllocationError::NoInference { .. } => {
                let problem = problem.to_string();
                StudyError::from(FirmwareError::NotBegun { problem })
            }
            problem => Box::new(problem).into(),
        })?;
        let request = FirmwareRequest {
            arena: self.request.arena.clone(),
            limits: Some(limits),
            ..FirmwareRequest::default()
        };
        let interpreted = read_interpreted(&request, &target, &self.runtime, &found)?;
        let graph = interpreted.placed.graph.clone();
        let placed = placement(&graph, &found).ok_or(ArenaPlaceError::OtherStructures)?;
        let described = described_tensors(&graph, &found);
        let described = described.ok_or(ArenaPlaceError::OtherStructures)?;
        let own = place.start..place.start + bytes;
        let constants = graph.tensors.iter().zip(described);
        let mut constants = constants.filter(|(tensor, address)| {
            tensor.storage == Storage::Constant && tensor.size_bytes > 0 && *address != 0
        });
        if !constants.all(|(_, address)| own.contains(&address)) {
            return Err(FirmwareError::OtherConstants.into());
        }
        drop(found);
        Ok(Hosted {
            graph,
            interpreted,
            placement: placed,
            target,
            replacement,
            file: address,
            runtime: self.runtime.clone(),
            limits,
        })
    }
}

fn start<'a>(
    target: &'a Target,
    runtime: &Runtime,
    limits: Limits,
    replacement: Replacement,
    file: Address,
) -> Result<AtInference<'a>, AllocationError> {
    first_inference(target, runtime, limits, Some(replacement), &mut |found| {
        found.address == file
    })
}

impl Hosted {
    /// Runs one inference for each of `inputs` different inputs.
    ///
    /// # Errors
    /// When the firmware cannot go on, or does not run the model's operators.
    pub fn run(
        &self,
        inputs: u64,
        fill: u8,
        sink: &mut dyn TraceSink,
    ) -> Result<(Run, Recorded), InferenceError> {
        let inputs: Vec<Content> = (0..inputs)
            .map(|index| self.contents(input_number(index)))
            .collect();
        let inferences = Inferences {
            interpreted: &self.interpreted,
            inputs: &inputs,
            fill,
            memory: &self.memory(),
            limits: self.limits,
        };
        run(&inferences, self, Self::start, sink)
    }

    /// Runs it to the first inference of the model.
    fn start(&self) -> Result<AtInference<'_>, AllocationError> {
        let (target, runtime) = (&self.target, &self.runtime);
        start(target, runtime, self.limits, self.replacement, self.file)
    }

    /// The program that it is in.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// The planned part of the arena, and each tensor that is kept between inferences.
    fn memory(&self) -> Vec<Range<u64>> {
        let states = self.states().into_iter();
        let states = states.map(|id| {
            let start = self.placement.tensors[id.0];
            start..start + self.graph.tensor(id).size_bytes
        });
        [self.interpreted.placed.head.clone()]
            .into_iter()
            .chain(states)
            .collect()
    }

    /// The tensors that are kept between inferences, in the order in which snapshots have them
    /// after the arena.
    pub fn states(&self) -> Vec<TensorId> {
        let ids = (0..self.graph.tensors.len()).map(TensorId);
        let states = ids.filter(|&id| {
            self.graph.tensor(id).storage == Storage::Variable && self.placement.tensors[id.0] != 0
        });
        states.collect()
    }

    /// Offset of a tensor in the planned part of the arena.
    pub fn offset(&self, id: TensorId) -> Option<u64> {
        let tensor = self.graph.tensor(id);
        let planned = tensor.storage == Storage::Arena && tensor.size_bytes > 0;
        let address = Some(self.placement.tensors[id.0]).filter(|&it| planned && it != 0)?;
        address.checked_sub(self.interpreted.placed.head.start)
    }

    /// Bytes for the model's inputs, reproducible.
    fn contents(&self, number: u64) -> Content {
        let inputs = self.graph.inputs.iter().enumerate();
        let content = |(position, &id): (usize, &TensorId)| {
            let known = self.graph.tensor(id);
            self.offset(id)?;
            let tensor = Tensor {
                name: String::new(),
                role: Role::Input,
                address: Address(self.placement.tensors[id.0] as u32),
                size_bytes: known.size_bytes as u32,
                element_type: known.element_type.element().unwrap_or(ElementType::Uint8),
            };
            let bytes = Variation(number).ordinary(position, &tensor);
            Some((tensor.address, bytes))
        };
        inputs.filter_map(content).collect()
    }
}
