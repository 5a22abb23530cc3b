//! Numbers, shapes and types in the words of the command line.

use super::error::{CaseError, Context, Result, bail, ensure};
use dmo_analysis::operator::Shape;
use dmo_analysis::trace::ElementType;
use std::str::FromStr;

/// Numbers with an x between them.
pub fn numbers<T: FromStr>(what: &str, text: &str) -> Result<Vec<T>> {
    ensure!(
        !text.contains([',', ';', ' ', 'X', '*']),
        "{what} {text}: expected numbers separated by x, as in 1x32x32x16"
    );
    text.split('x')
        .map(|number| {
            parse(number).with_context(|| {
                format!("{what} {text}: '{number}' is not a whole number of 32 bits")
            })
        })
        .collect()
}

/// A number without a +: the same shape is written in one way.
fn parse<T: FromStr>(number: &str) -> Option<T> {
    number.parse().ok().filter(|_| !number.starts_with('+'))
}

/// An axis, counted from 0, or from the end as -1 and below.
pub fn axis(number: i32) -> Option<u32> {
    let counted = if number < 0 { number + 4 } else { number };
    u32::try_from(counted).ok().filter(|&axis| axis < 4)
}

/// Up to four numbers; missing ones in front are `missing`.
pub fn shape<T: FromStr + Copy>(what: &str, text: &str, missing: T) -> Result<[T; 4]> {
    let given = numbers(what, text)?;
    ensure!(given.len() <= 4, "{what} {text}: at most four numbers");
    let mut padded = [missing; 4];
    padded[4 - given.len()..].copy_from_slice(&given);
    Ok(padded)
}

/// A [`shape`] of at least 1 on each axis.
pub fn extents(what: &str, text: &str) -> Result<Shape> {
    let shape = shape(what, text, 1)?;
    for (axis, name) in AXES.into_iter().enumerate() {
        ensure!(
            shape[axis] > 0,
            "{what} {text}: the {name} is 0, expected at least 1"
        );
    }
    Ok(shape)
}

/// What the axes of a shape are called.
pub const AXES: [&str; 4] = ["batch", "height", "width", "depth"];

/// Exactly four numbers.
pub fn four(what: &str, text: &str) -> Result<[u32; 4]> {
    let given: Vec<u32> = numbers(what, text)?;
    let count = given.len();
    given
        .try_into()
        .map_err(|_| CaseError::new(format!("{what} {text}: {count} numbers, expected four")))
}

/// Height and width, or one number for both.
pub fn pair(what: &str, text: &str) -> Result<[u32; 2]> {
    match numbers(what, text)?[..] {
        [both] => Ok([both, both]),
        [height, width] => Ok([height, width]),
        _ => bail!("{what} {text}: expected one number or HxW"),
    }
}

/// The types that kernels exist for.
pub fn element_type(what: &str, text: &str) -> Result<ElementType> {
    match text {
        "int8" => Ok(ElementType::Int8),
        "uint8" => Ok(ElementType::Uint8),
        "int16" => Ok(ElementType::Int16),
        "int32" => Ok(ElementType::Int32),
        "uint32" => Ok(ElementType::Uint32),
        "int64" => Ok(ElementType::Int64),
        "uint64" => Ok(ElementType::Uint64),
        "float32" => Ok(ElementType::Float32),
        "bool" => Ok(ElementType::Bool),
        other => {
            bail!("{what} {other}: expected int8, uint8, int16, int32, int64, float32 or bool")
        }
    }
}
