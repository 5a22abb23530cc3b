//! Operators that move elements, and resizing.

use super::error::{Context, Result, bail};
use super::numbers::{four, numbers, shape};
use super::{CaseRequest, Sizes};
use dmo_analysis::operator::{
    Concat, Interpolation, Operator, Pad, Reshape, ResizeBilinear, ResizeNearest, Split,
    StridedSlice, Transpose,
};

pub fn concat(given: &CaseRequest, sizes: Sizes) -> Result<Operator> {
    let inputs = (0..given.input.len()).map(|index| given.input(index));
    Ok(Operator::Concat(Concat {
        inputs: inputs.collect::<Result<_>>()?,
        axis: given.axis()?,
        element_bytes: sizes.from,
    }))
}

pub fn split(given: &CaseRequest, sizes: Sizes) -> Result<Operator> {
    let parts = given.parts.as_deref().context("--parts is missing")?;
    Ok(Operator::Split(Split {
        input: given.input(0)?,
        axis: given.axis()?,
        parts: numbers("--parts", parts)?,
        element_bytes: sizes.from,
    }))
}

pub fn pad(given: &CaseRequest, sizes: Sizes) -> Result<Operator> {
    let before = match given.padding.as_deref() {
        None | Some("same" | "valid") => bail!("--padding NxHxWxC is missing"),
        Some(text) => shape("--padding", text, 0)?,
    };
    Ok(Operator::Pad(Pad {
        input: given.input(0)?,
        before,
        output: given.output()?,
        element_bytes: sizes.from,
    }))
}

pub fn reshape(given: &CaseRequest, sizes: Sizes) -> Result<Operator> {
    Ok(Operator::Reshape(Reshape {
        elements: given.elements()?,
        element_bytes: sizes.from,
    }))
}

pub fn transpose(given: &CaseRequest, sizes: Sizes) -> Result<Operator> {
    let text = given.permutation.as_deref();
    Ok(Operator::Transpose(Transpose {
        input: given.input(0)?,
        permutation: four("--permutation", text.context("--permutation is missing")?)?,
        element_bytes: sizes.from,
    }))
}

pub fn slice(given: &CaseRequest, sizes: Sizes) -> Result<Operator> {
    let begin = given.begin.as_deref().unwrap_or("0x0x0x0");
    let stride = given.stride.as_deref().unwrap_or("1");
    let stride = shape("--stride", stride, 1)?;
    if stride.contains(&0) {
        bail!("the stride is 0 or has an extent of 0, expected at least 1");
    }
    Ok(Operator::StridedSlice(StridedSlice {
        input: given.input(0)?,
        begin: four("--begin", begin)?,
        stride,
        output: given.output()?,
        in_runs: false,
        element_bytes: sizes.from,
    }))
}

/// Aligned corners, half-pixel centres.
fn coordinates(given: &CaseRequest) -> Result<(bool, bool)> {
    match given.coordinates.as_deref() {
        None | Some("half-pixel") => Ok((false, true)),
        Some("corner") => Ok((false, false)),
        Some("align-corners") => Ok((true, false)),
        Some(other) => {
            bail!("--coordinates {other}: expected half-pixel, corner or align-corners")
        }
    }
}

pub fn resize_nearest(given: &CaseRequest, sizes: Sizes) -> Result<Operator> {
    let (align_corners, half_pixel_centers) = coordinates(given)?;
    Ok(Operator::ResizeNearest(ResizeNearest {
        input: given.input(0)?,
        output: given.output()?,
        align_corners,
        half_pixel_centers,
        element_bytes: sizes.from,
    }))
}

pub fn resize_bilinear(given: &CaseRequest, sizes: Sizes) -> Result<Operator> {
    let (align_corners, half_pixel_centers) = coordinates(given)?;
    Ok(Operator::ResizeBilinear(ResizeBilinear {
        input: given.input(0)?,
        output: given.output()?,
        align_corners,
        half_pixel_centers,
        interpolation: match sizes.from {
            4 => Interpolation::Float,
            _ => Interpolation::FixedPoint,
        },
        element_bytes: sizes.from,
    }))
}
