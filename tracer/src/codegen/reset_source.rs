//! What states hold before the first inference, as C.

use super::model_source::wrapped_list;
use super::network::StateBuffer;
use std::fmt::Write as _;

/// The statements that store it in the memory of this name.
pub fn reset(states: &[StateBuffer], memory: &str) -> String {
    let mut text = String::new();
    for state in states {
        let (offset, bytes) = (state.place.offset_bytes, state.initial.len());
        let first = state.initial.first().map_or(0, |&byte| byte as i8);
        let is_uniform = state.initial.iter().all(|&byte| byte as i8 == first);
        let _ = if is_uniform {
            writeln!(text, "  memset({memory} + {offset}, {first}, {bytes});")
        } else {
            let numbers = state.initial.iter().map(|&byte| (byte as i8).to_string());
            writeln!(
                text,
                "  static const int8_t at_{offset}[{bytes}] = {{\n{}\n  }};\n  \
                 memcpy({memory} + {offset}, at_{offset}, {bytes});",
                wrapped_list(numbers)
            )
        };
    }
    if text.is_empty() {
        let _ = writeln!(text, "  (void){memory};");
    }
    text
}
