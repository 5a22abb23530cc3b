//! Names of figures, roles and types.

use super::canvas::LayerView;
use dmo_analysis::trace::{ElementType, Role};

pub(super) const fn role_name(role: Role) -> &'static str {
    match role {
        Role::Input => "input",
        Role::Output => "output",
        Role::Scratch => "scratch",
        Role::Constant => "constant",
        Role::State => "state",
        Role::Unlisted => "unlisted",
    }
}

pub(super) const fn element_type_name(element_type: ElementType) -> &'static str {
    match element_type {
        ElementType::Int8 => "int8",
        ElementType::Uint8 => "uint8",
        ElementType::Int16 => "int16",
        ElementType::Int32 => "int32",
        ElementType::Uint32 => "uint32",
        ElementType::Int64 => "int64",
        ElementType::Uint64 => "uint64",
        ElementType::Float32 => "float32",
        ElementType::Bool => "bool",
    }
}

/// `07-conv2d_s8`: sorts as the layers do, and is unique by its number.
pub(super) fn figure_stem(layer: &LayerView<'_>, layer_count: usize) -> String {
    let digits = layer_count.to_string().len().max(2);
    let name = file_part(&layer.profile.name, 40);
    format!("{:0digits$}-{name}", layer.number)
}

/// At most `max_length` letters, digits, `_` and `-`, so that every file system takes it.
pub(super) fn file_part(name: &str, max_length: usize) -> String {
    let safe = |character: char| {
        if character.is_ascii_alphanumeric() || character == '-' {
            character
        } else {
            '_'
        }
    };
    let part: String = name.chars().take(max_length).map(safe).collect();
    if part.is_empty() {
        "unnamed".to_owned()
    } else {
        part
    }
}
