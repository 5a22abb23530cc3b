//! A call of a hooked function: its layer at the entry, and where it ends.

use super::resolve::Hooks;
use super::{BufferHook, CallState, EvaluationError, Expression};
use crate::mcu::machine::Machine;
use crate::mcu::memory::MemoryMap;
use crate::program::marks::{MarkError, add_buffer, make_names_unique};
use dmo_analysis::trace::{Address, Layer, Role, Span, Tensor};

/// Why a call of a hooked function is not a layer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum HookError {
    #[error("layer {layer}: {what} of buffer '{buffer}': {error}")]
    Value {
        layer: String,
        buffer: String,
        what: &'static str,
        error: EvaluationError,
    },
    #[error(
        "layer {layer}: buffer '{buffer}' is at address 0 ('{expression}')\n  hint: a '?' after its name makes it optional; the arguments may be those of another version of the library"
    )]
    Null {
        layer: String,
        buffer: String,
        expression: String,
    },
    #[error(
        "{error}\n  hint: '{address}' gives its address and '{size}' its size: are these the arguments of the function as it was compiled? With the hard-float ABI a float is not one of them"
    )]
    Outside {
        error: Box<MarkError>,
        address: String,
        size: String,
    },
    #[error(transparent)]
    Buffer(#[from] MarkError),
    #[error("layer '{layer}': function '{function}' does not return: {how}")]
    NeverReturns {
        layer: String,
        function: String,
        how: String,
    },
    #[error("the program ended ({how}) without a call of {}", .functions.join(", "))]
    NoCalls { how: String, functions: Vec<String> },
    #[error("layer {}: the program calls other functions than in an earlier run", .index)]
    OtherCalls { index: usize },
    #[error(
        "layer '{layer}': buffer '{buffer}' is {size_bytes} bytes at {address} when its function has returned, and was {known_bytes} bytes at {known_address} in an earlier run"
    )]
    Differs {
        layer: String,
        buffer: String,
        address: Address,
        size_bytes: u32,
        known_address: Address,
        known_bytes: u32,
    },
}

fn misplaced(error: MarkError, buffer: &BufferHook) -> HookError {
    match error {
        MarkError::OutsideMemory { .. } => HookError::Outside {
            error: Box::new(error),
            address: buffer.address.to_string(),
            size: buffer.size_bytes.to_string(),
        },
        error => HookError::Buffer(error),
    }
}

/// Address and length of a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BufferRange {
    address: u32,
    size_bytes: u32,
}

/// A call of a hooked function.
#[derive(Debug, Clone)]
pub struct HookedCall {
    layer: String,
    function: String,
    return_to: u32,
    call_site: Option<u32>,
    stack_pointer: u32,
    late: Vec<LateBuffer>,
}

/// A buffer that is known only when the function has returned.
#[derive(Debug, Clone)]
struct LateBuffer {
    name: String,
    address: Expression,
    size_bytes: Expression,
    /// From an earlier run.
    known: Option<BufferRange>,
}

impl CallState for Machine<'_> {
    fn register(&self, index: usize) -> u32 {
        self.register(index)
    }

    fn load(&self, address: u32, size_bytes: u32) -> Option<u32> {
        let bytes = self.read(Address(address), size_bytes.min(4) as usize)?;
        let value = bytes.iter().rev();
        Some(value.fold(0, |value, &byte| value << 8 | u32::from(byte)))
    }
}

impl HookedCall {
    /// Looks at a machine that is at the entry of a hooked function. `index` counts the
    /// layers of the program from 0. `known` has the buffers that only the return tells,
    /// from an earlier run; without it the layer has not got them.
    ///
    /// # Errors
    /// When no hook is there, an expression has no value, or buffers are empty, overlap or lie
    /// outside memory.
    pub fn enter(
        machine: &Machine,
        map: &MemoryMap,
        (hooks, function): (&Hooks, Address),
        index: usize,
        known: Option<&[BufferRange]>,
    ) -> Result<(Self, Layer), HookError> {
        let hook = hooks.at(function).ok_or(HookError::OtherCalls { index })?;
        let name = format!("{index} '{}'", hook.layer.name);
        let mut tensors = Vec::new();
        let mut late: Vec<LateBuffer> = Vec::new();
        for buffer in &hook.layer.buffers {
            let at_entry = |what, expression: &Expression| {
                let value = expression.at_entry(machine);
                value.map_err(|error| no_value(&name, &buffer.name, what, error))
            };
            let address = at_entry(ADDRESS, &buffer.address)?;
            let size_bytes = at_entry(SIZE, &buffer.size_bytes)?;
            let place = match (address.value(), size_bytes.value()) {
                (Some(address), Some(size_bytes)) => Some(BufferRange {
                    address,
                    size_bytes,
                }),
                _ => {
                    let known = known.and_then(|known| known.get(late.len())).copied();
                    late.push(LateBuffer {
                        name: buffer.name.clone(),
                        address,
                        size_bytes,
                        known,
                    });
                    known
                }
            };
            if let Some(tensor) = place.map_or(Ok(None), |place| tensor(buffer, place, &name))?
                && !is_read_twice(&tensors, &tensor)
            {
                add_buffer(&mut tensors, tensor, map, &name)
                    .map_err(|error| misplaced(error, buffer))?;
            }
        }
        make_names_unique(&mut tensors);
        let return_to = machine.register(LINK_REGISTER) & !1;
        let call = Self {
            layer: hook.layer.name.clone(),
            function: hook.function.clone(),
            call_site: call_site(machine, return_to),
            return_to,
            stack_pointer: machine.register(STACK_POINTER),
            late,
        };
        let layer = Layer {
            span: Span::Layer,
            name: hook.layer.name.clone(),
            operator: hook
                .layer
                .operator
                .clone()
                .unwrap_or_else(|| hook.function.clone()),
            tensors,
        };
        Ok((call, layer))
    }

    /// Stops where the function returns, and where its caller calls again without that.
    ///
    /// # Errors
    /// When the emulator refuses.
    pub fn stop_on_return(
        &self,
        machine: &mut Machine,
    ) -> Result<(), crate::mcu::machine::MachineError> {
        let addresses: Vec<u32> = [self.return_to].into_iter().chain(self.call_site).collect();
        machine.stop_on_return(&addresses, self.stack_pointer)
    }

    /// Looks at a machine that has stopped there: where the buffers are that only the return
    /// tells.
    ///
    /// # Errors
    /// When the function has not returned but was left, an expression has no value, or a
    /// buffer is not where it was in an earlier run.
    pub fn finish(
        &self,
        machine: &Machine,
        address: Address,
    ) -> Result<Vec<BufferRange>, HookError> {
        let stack_pointer = machine.register(STACK_POINTER);
        if address.0 != self.return_to || stack_pointer != self.stack_pointer {
            return Err(self.never_returns(format!(
                "control is back in its caller, at {address} with stack pointer {stack_pointer:#010x}, not at {:#010x} with {:#010x} (longjmp?)",
                self.return_to, self.stack_pointer
            )));
        }
        self.late
            .iter()
            .map(|buffer| buffer.at_return(machine, &self.layer))
            .collect()
    }

    /// Why a function that is not back at its caller is an error.
    pub fn never_returns(&self, how: String) -> HookError {
        HookError::NeverReturns {
            layer: self.layer.clone(),
            function: self.function.clone(),
            how,
        }
    }
}

impl LateBuffer {
    fn at_return(&self, machine: &Machine, layer: &str) -> Result<BufferRange, HookError> {
        let value = |what, expression: &Expression| {
            let value = expression.at_return(machine);
            value.map_err(|error| no_value(&format!("'{layer}'"), &self.name, what, error))
        };
        let place = BufferRange {
            address: value(ADDRESS, &self.address)?,
            size_bytes: value(SIZE, &self.size_bytes)?,
        };
        match self.known {
            Some(known) if known != place => Err(HookError::Differs {
                layer: layer.to_owned(),
                buffer: self.name.clone(),
                address: Address(place.address),
                size_bytes: place.size_bytes,
                known_address: Address(known.address),
                known_bytes: known.size_bytes,
            }),
            _ => Ok(place),
        }
    }
}

const ADDRESS: &str = "address";
const SIZE: &str = "size";
const STACK_POINTER: usize = 13;
const LINK_REGISTER: usize = 14;

fn no_value(layer: &str, buffer: &str, what: &'static str, error: EvaluationError) -> HookError {
    HookError::Value {
        layer: layer.to_owned(),
        buffer: buffer.to_owned(),
        what,
        error,
    }
}

/// The buffer at this address; `None` if it is optional and the layer does without it.
fn tensor(
    buffer: &BufferHook,
    place: BufferRange,
    layer: &str,
) -> Result<Option<Tensor>, HookError> {
    if buffer.optional && (place.address == 0 || place.size_bytes == 0) {
        return Ok(None);
    }
    if place.address == 0 {
        return Err(HookError::Null {
            layer: layer.to_owned(),
            buffer: buffer.name.clone(),
            expression: buffer.address.to_string(),
        });
    }
    Ok(Some(Tensor {
        name: buffer.name.clone(),
        role: buffer.role,
        address: Address(place.address),
        size_bytes: place.size_bytes,
        element_type: buffer.element_type,
    }))
}

/// Whether another argument is the same buffer, as in `add(x, x)`, and both are only read.
fn is_read_twice(tensors: &[Tensor], tensor: &Tensor) -> bool {
    let is_read = |role| matches!(role, Role::Input | Role::Constant);
    is_read(tensor.role)
        && tensors.iter().any(|other| {
            is_read(other.role)
                && (other.address, other.size_bytes) == (tensor.address, tensor.size_bytes)
        })
}

/// The BL or BLX that returns to this address.
fn call_site(machine: &Machine, return_to: u32) -> Option<u32> {
    let before = |bytes: u32| return_to.checked_sub(bytes);
    let halfword = |bytes| machine.load(before(bytes)?, 2);
    let (first, second) = (halfword(4)?, halfword(2)?);
    if first & 0xf800 == 0xf000 && second & 0xd000 == 0xd000 {
        before(4)
    } else if second & 0xff87 == 0x4780 {
        before(2)
    } else {
        None
    }
}
