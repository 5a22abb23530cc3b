//! Layer marks: how a program says where a layer begins and ends, and which buffers it
//! has. The counterpart of `kernels-c/marks/dmo_trace.h`.
//!
//! The two mark functions are recognised by a signature after their only instruction, so
//! a stripped image works too. At the entry of the begin mark r0 to r3 hold name,
//! operator, buffers and their number.

use crate::elf::image::Image;
use crate::mcu::machine::Machine;
use crate::mcu::memory::{MemoryMap, RegionKind};
use dmo_analysis::trace::{Address, ElementType, Layer, Role, Span, Tensor};

/// `bx lr; nop` and the name of the mark.
const BEGIN: &[u8; 20] = b"\x70\x47\x00\xbfDMO-TRACE-BEGIN1";
const END: &[u8; 20] = b"\x70\x47\x00\xbfDMO-TRACE-END..1";

/// The most buffers a layer may have.
pub const MAX_BUFFERS: u32 = 64;
const MAX_NAME_BYTES: u32 = 128;
const BUFFER_BYTES: u32 = 16;

/// Why a program's marks do not describe layers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum MarkError {
    #[error(
        "the program has no layer marks\n  hint: compile dmo_trace.c into it, and put dmo_layer_begin() and dmo_layer_end() around each operator; or say which functions are layers, by --layer or --layers (docs/hooks.md)"
    )]
    NoMarks,
    #[error("layer '{inner}' begins inside layer '{outer}'\n  hint: layers do not nest")]
    Nested { outer: String, inner: String },
    #[error("a layer ends, but none has begun (after {layers} layers)")]
    EndWithoutBegin { layers: usize },
    #[error("layer '{layer}' never ends: {how}")]
    NeverEnds { layer: String, how: String },
    #[error("the program ended ({how}) without reaching a layer mark")]
    NoLayers { how: String },
    #[error("layer {layer}: {what} at {address} is not readable memory")]
    Unreadable {
        layer: String,
        what: &'static str,
        address: Address,
    },
    #[error(
        "layer {layer}: {what} at {address} is not text without control characters of at most {MAX_NAME_BYTES} bytes"
    )]
    NotText {
        layer: String,
        what: &'static str,
        address: Address,
    },
    #[error("layer {layer}: it has {given} buffers, the limit is {MAX_BUFFERS}")]
    TooManyBuffers { layer: String, given: u32 },
    #[error("layer {layer}: buffer '{buffer}' has no bytes")]
    EmptyBuffer { layer: String, buffer: String },
    #[error(
        "layer {layer}: buffer '{buffer}' [{start:#010x}, {end:#010x}) is outside memory: {map}"
    )]
    OutsideMemory {
        layer: String,
        buffer: String,
        start: u64,
        end: u64,
        map: MemoryMap,
    },
    #[error("layer {layer}: buffer '{buffer}', written by the layer, lies in read-only memory")]
    ReadOnly { layer: String, buffer: String },
    #[error(
        "layer {layer}: buffers '{a}' [{a_start:#010x}, {a_end:#010x}) and '{b}' [{b_start:#010x}, {b_end:#010x}) overlap\n  hint: trace the layer with separate buffers; its safe overlap follows from that"
    )]
    Overlap {
        layer: String,
        a: String,
        a_start: u64,
        a_end: u64,
        b: String,
        b_start: u64,
        b_end: u64,
    },
    #[error("layer {layer}: buffer '{buffer}' has {field} {given}, which is not defined")]
    BadField {
        layer: String,
        buffer: String,
        field: &'static str,
        given: u8,
    },
}

/// A mark function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// A layer begins.
    Begin,
    /// The layer ends.
    End,
}

/// The mark functions of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marks {
    by_address: Vec<(u32, Mark)>,
}

impl Marks {
    /// Finds the mark functions of an image.
    ///
    /// # Errors
    /// When it has none.
    pub fn find(image: &Image) -> Result<Self, MarkError> {
        let mut by_address = Vec::new();
        for segment in &image.segments {
            for (signature, mark) in [(BEGIN, Mark::Begin), (END, Mark::End)] {
                let offsets = segment
                    .content
                    .windows(signature.len())
                    .enumerate()
                    .step_by(2)
                    .filter(|(_, window)| window == signature)
                    .map(|(offset, _)| segment.run_address.wrapping_add(offset as u32));
                by_address.extend(offsets.map(|address| (address, mark)));
            }
        }
        Self::of(by_address).ok_or(MarkError::NoMarks)
    }

    /// These functions; `None` if layers would not begin or not end.
    pub(super) fn of(by_address: Vec<(u32, Mark)>) -> Option<Self> {
        let has = |wanted| by_address.iter().any(|&(_, mark)| mark == wanted);
        (has(Mark::Begin) && has(Mark::End)).then_some(Self { by_address })
    }

    /// Functions at which a layer begins, and at whose return it ends.
    pub(super) fn of_begins(functions: &[u32]) -> Self {
        let begins = functions.iter().map(|&address| (address, Mark::Begin));
        Self {
            by_address: begins.collect(),
        }
    }

    /// Addresses of the mark functions.
    pub fn addresses(&self) -> Vec<u32> {
        self.by_address
            .iter()
            .map(|&(address, _)| address)
            .collect()
    }

    /// Which mark the function at this address is.
    pub fn at(&self, address: Address) -> Option<Mark> {
        self.by_address
            .iter()
            .find(|&&(mark, _)| mark == address.0)
            .map(|&(_, mark)| mark)
    }
}

/// Reads the layer that begins, at the entry of the begin mark. `index` counts the layers
/// of the program from 0.
///
/// # Errors
/// When names cannot be read, or buffers are empty, overlap or lie outside memory.
pub fn read_layer(machine: &Machine, map: &MemoryMap, index: usize) -> Result<Layer, MarkError> {
    let [name, operator, buffers, count] = [0, 1, 2, 3].map(|index| machine.register(index));
    let number = index.to_string();
    let name = read_text(machine, Address(name), &number, "its name")?;
    let layer = format!("{number} '{name}'");
    let operator = read_text(machine, Address(operator), &layer, "its operator")?;
    if count > MAX_BUFFERS {
        return Err(MarkError::TooManyBuffers {
            layer,
            given: count,
        });
    }
    let mut tensors: Vec<Tensor> = Vec::new();
    for buffer in 0..count {
        let address = Address(buffers.wrapping_add(buffer * BUFFER_BYTES));
        let tensor = read_buffer(machine, &layer, address)?;
        add_buffer(&mut tensors, tensor, map, &layer)?;
    }
    make_names_unique(&mut tensors);
    Ok(Layer {
        span: Span::Layer,
        name,
        operator,
        tensors,
    })
}

/// Adds a buffer to those of a layer.
///
/// # Errors
/// When it is empty, overlaps another or lies outside memory.
pub(crate) fn add_buffer(
    tensors: &mut Vec<Tensor>,
    tensor: Tensor,
    map: &MemoryMap,
    layer: &str,
) -> Result<(), MarkError> {
    check_place(&tensor, map, layer.to_owned())?;
    if let Some(other) = tensors.iter().find(|other| {
        tensor.end() > u64::from(other.address.0) && other.end() > u64::from(tensor.address.0)
    }) {
        return Err(overlap(layer.to_owned(), other, &tensor));
    }
    tensors.push(tensor);
    Ok(())
}

fn overlap(layer: String, a: &Tensor, b: &Tensor) -> MarkError {
    MarkError::Overlap {
        layer,
        a: a.name.clone(),
        a_start: a.address.0.into(),
        a_end: a.end(),
        b: b.name.clone(),
        b_start: b.address.0.into(),
        b_end: b.end(),
    }
}

/// Gives each buffer of a layer a name of its own.
pub(crate) fn make_names_unique(tensors: &mut [Tensor]) {
    for index in 1..tensors.len() {
        let (before, rest) = tensors.split_at_mut(index);
        let taken = |name: &str| before.iter().any(|tensor| tensor.name == name);
        let tensor = &mut rest[0];
        if taken(&tensor.name) {
            let fresh = (2..)
                .map(|number| format!("{}#{number}", tensor.name))
                .find(|name| !taken(name));
            tensor.name = fresh.unwrap_or_default();
        }
    }
}

/// The text that an interpreter begins an operator with. `index` counts the operators from 0.
///
/// # Errors
/// When it cannot be read.
pub(crate) fn read_tag(
    machine: &Machine,
    address: Address,
    index: usize,
) -> Result<String, MarkError> {
    read_text(machine, address, &index.to_string(), "its operator")
}

fn read_buffer(machine: &Machine, layer: &str, address: Address) -> Result<Tensor, MarkError> {
    let layer = || layer.to_owned();
    let unreadable = || MarkError::Unreadable {
        layer: layer(),
        what: "a buffer's description",
        address,
    };
    let bytes = machine
        .read(address, BUFFER_BYTES as usize)
        .ok_or_else(unreadable)?;
    let word =
        |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    let name = read_text(machine, Address(word(0)), &layer(), "a buffer's name")?;
    let bad = |field, given| MarkError::BadField {
        layer: layer(),
        buffer: name.clone(),
        field,
        given,
    };
    let role = match bytes[12] {
        0 => Role::Input,
        1 => Role::Output,
        2 => Role::Scratch,
        3 => Role::Constant,
        4 => Role::State,
        other => return Err(bad("role", other)),
    };
    let element_type = match bytes[13] {
        0 => ElementType::Int8,
        1 => ElementType::Uint8,
        2 => ElementType::Int16,
        3 => ElementType::Int32,
        4 => ElementType::Int64,
        5 => ElementType::Float32,
        6 => ElementType::Bool,
        other => return Err(bad("element type", other)),
    };
    Ok(Tensor {
        role,
        element_type,
        address: Address(word(4)),
        size_bytes: word(8),
        name,
    })
}

fn check_place(tensor: &Tensor, map: &MemoryMap, layer: String) -> Result<(), MarkError> {
    let buffer = tensor.name.clone();
    if tensor.size_bytes == 0 {
        return Err(MarkError::EmptyBuffer { layer, buffer });
    }
    let range = u64::from(tensor.address.0)..tensor.end();
    let region = map
        .region_of(&range)
        .filter(|region| region.kind != RegionKind::Device)
        .ok_or_else(|| MarkError::OutsideMemory {
            layer: layer.clone(),
            buffer: buffer.clone(),
            start: range.start,
            end: range.end,
            map: map.clone(),
        })?;
    let written = !matches!(tensor.role, Role::Input | Role::Constant);
    if written && region.kind == RegionKind::Flash {
        return Err(MarkError::ReadOnly { layer, buffer });
    }
    Ok(())
}

fn read_text(
    machine: &Machine,
    address: Address,
    layer: &str,
    what: &'static str,
) -> Result<String, MarkError> {
    let mut text = Vec::new();
    for offset in 0..=MAX_NAME_BYTES {
        let at = Address(address.0.wrapping_add(offset));
        match machine.read(at, 1).as_deref() {
            Some([0]) => {
                return String::from_utf8(text)
                    .ok()
                    .filter(|text| !text.contains(char::is_control))
                    .ok_or_else(|| MarkError::NotText {
                        layer: layer.to_owned(),
                        what,
                        address,
                    });
            }
            Some(&[byte]) => text.push(byte),
            _ => {
                return Err(MarkError::Unreadable {
                    layer: layer.to_owned(),
                    what,
                    address,
                });
            }
        }
    }
    Err(MarkError::NotText {
        layer: layer.to_owned(),
        what,
        address,
    })
}
