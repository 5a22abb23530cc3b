//! A plan as C.

use super::PlanFile;

impl PlanFile {
    /// The plan as C: the arena's size, an offset for each tensor of the file, -1 where it is
    /// not in the arena, the order of the operators, and the scratch buffers. `tensors` is the
    /// number of tensors.
    pub fn c_header(&self, tensors: usize) -> String {
        let name = identifier(&self.model);
        let upper = name.to_uppercase();
        let offsets = self.offsets(tensors);
        let mut names = vec![""; tensors];
        for planned in &self.tensors {
            if let Some(name) = names.get_mut(planned.tensor.0) {
                *name = &planned.name;
            }
        }
        let mut lines = String::new();
        for (offset, name) in offsets.iter().zip(names) {
            lines += &match offset {
                Some(offset) => format!("    {offset}, /* {} */\n", comment(name)),
                None => "    -1,\n".to_owned(),
            };
        }
        let safe = match (self.overlap.as_str(), &self.kernels) {
            (_, Some(kernels)) => format!(
                "Safe with these kernels ({}), no others,\n * and in the order of operators below.",
                comment(&kernels.to_string())
            ),
            ("none", None) => "Safe with any kernels, in the order of operators below.".to_owned(),
            (overlap, None) => format!(
                "Safe with kernels that have the overlaps ({}) it was planned with, no others,\n \
                 * and in the order of operators below.",
                comment(overlap)
            ),
        };
        let order: Vec<String> = self.order.iter().map(|id| id.0.to_string()).collect();
        let scratch: String = self
            .scratch
            .iter()
            .map(|scratch| {
                let operator = scratch.operator.0;
                format!(
                    "    {{{operator}, {}, {}, {}}},\n",
                    scratch.index, scratch.offset, scratch.size_bytes
                )
            })
            .collect();
        let scratch = if scratch.is_empty() {
            String::new()
        } else {
            format!(
                "/* Scratch buffers: operator, which of its own, offset in the arena, bytes. */\n\
                 static const int32_t {name}_scratch[{}][4] = {{\n{scratch}}};\n\n",
                self.scratch.len()
            )
        };
        format!(
            "/* Arena of {model}: {bytes} bytes, planned by dmo-trace.\n\
             \x20* {safe} */\n\
             #ifndef {upper}_PLAN_H\n#define {upper}_PLAN_H\n\n#include <stdint.h>\n\n\
             #define {upper}_ARENA_BYTES {bytes}u\n\
             #define {upper}_ARENA_ALIGNMENT {alignment}u\n\
             #define {upper}_TENSOR_COUNT {tensors}u\n\n\
             /* Offset in the arena of each tensor of the model, -1: not in the arena. */\n\
             static const int32_t {name}_tensor_offsets[{size}] = {{\n{lines}}};\n\n\
             /* Operators of the model in the order in which they run. */\n\
             static const int32_t {name}_operator_order[{operators}] = {{{order}}};\n\n\
             {scratch}#endif /* {upper}_PLAN_H */\n",
            model = comment(&self.model),
            bytes = self.arena_bytes,
            operators = self.order.len().max(1),
            order = order.join(", "),
            alignment = self.layout.alignment,
            size = tensors.max(1),
        )
    }
}

/// Letters, digits and underlines, for C.
pub(super) fn identifier(name: &str) -> String {
    let stem = name.strip_suffix(".tflite").unwrap_or(name);
    let plain = |letter: char| {
        if letter.is_ascii_alphanumeric() {
            letter.to_ascii_lowercase()
        } else {
            '_'
        }
    };
    let mut identifier: String = stem.chars().map(plain).collect();
    if !identifier.starts_with(|letter: char| letter.is_ascii_alphabetic()) {
        identifier.insert_str(0, "model_");
    }
    identifier
}

/// Text that cannot end a C comment, nor continue its line, nor change its direction.
pub(super) fn comment(text: &str) -> String {
    let plain = |letter: char| match letter {
        '*' | '\\' | '?' => '_',
        ' '..='~' => letter,
        letter if letter.is_alphanumeric() => letter,
        _ => '_',
    };
    text.chars().map(plain).collect()
}
