//! How much flash the calls of an inference take, before a compiler has seen them.

use super::c_interface::{CInterface, CType};
use super::loops::{Loop, LoopArgument, LoopCall};
use super::value::Value;
use std::collections::HashSet;

/// What Thumb code takes, on average of the libraries that were compiled: to put an argument where
/// it belongs, to call and to look at the status, to count the turns of a loop; and the functions that every
/// library has.
const ARGUMENT_BYTES: u64 = 6;
const CALL_BYTES: u64 = 10;
const LOOP_BYTES: u64 = 16;
const OTHER_FUNCTIONS_BYTES: u64 = 300;

/// About how many bytes of flash the calls take: their code and the tables of their arguments,
/// without weights and kernels.
pub fn call_bytes(loops: &[Loop], interface: &CInterface) -> u64 {
    let mut known = HashSet::new();
    let mut bytes = OTHER_FUNCTIONS_BYTES;
    for step in loops {
        bytes += if step.count > 1 { LOOP_BYTES } else { 0 };
        for call in &step.body {
            bytes += CALL_BYTES + tables(call, interface, &mut known);
            bytes += ARGUMENT_BYTES * call.arguments.len() as u64;
        }
    }
    bytes
}

/// Bytes of a call's constants that no call before it has.
fn tables<'a>(call: &'a LoopCall, interface: &CInterface, known: &mut HashSet<&'a Value>) -> u64 {
    let types = interface.function(call.function);
    let types = types.map_or(&[][..], |prototype| &prototype.parameters);
    let arguments = call.arguments.iter().zip(types);
    let sizes = arguments.map(|(argument, parameter)| match argument {
        LoopArgument::Same(value @ Value::PointerTo(inner)) if known.insert(value) => {
            size(inner, interface)
        }
        LoopArgument::Same(_) => 0,
        LoopArgument::Each(values) => {
            let of = |value: &Value| match value {
                Value::Arena(_) | Value::Null | Value::Constant(_) => POINTER_BYTES,
                Value::PointerTo(inner) => size(inner, interface),
                _ => interface.size_bytes(&parameter.ctype).unwrap_or(4) as u64,
            };
            values.iter().map(of).sum()
        }
    });
    sizes.sum()
}

const POINTER_BYTES: u64 = 4;

/// Size of what a pointer points to.
fn size(value: &Value, interface: &CInterface) -> u64 {
    match value {
        Value::Structure(name, _) => {
            let ctype = CType::Struct(name.clone());
            interface.size_bytes(&ctype).unwrap_or(0) as u64
        }
        Value::Array(element, values) => {
            (interface.size_bytes(element).unwrap_or(4) * values.len()) as u64
        }
        _ => POINTER_BYTES,
    }
}
