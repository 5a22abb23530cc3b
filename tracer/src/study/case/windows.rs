//! Convolutions and pooling.

use super::error::{CaseError, Context, Result, ensure};
use super::numbers::pair;
use super::{CaseRequest, Sizes};
use dmo_analysis::operator::{
    Accumulation, Conv2d, DepthwiseConv2d, DepthwiseInPlace, Operator, Pool2d, Shape,
    TransposeConv2d, Window, tflite_padding_before,
};

pub fn conv2d(given: &CaseRequest, sizes: Sizes) -> Result<Operator> {
    let input = given.input(0)?;
    let [out, height, width, depth] = given.filter()?;
    ensure!(
        depth > 0 && input[3].is_multiple_of(depth),
        Misfit(format!(
            "the filter's depth is {depth}, expected {} or one that divides it (grouped)",
            input[3]
        ))
    );
    let (window, [oh, ow]) = given.window(input, [height, width])?;
    Ok(Operator::Conv2d(Conv2d {
        input,
        output: [input[0], oh, ow, out],
        window,
        groups: input[3] / depth,
        element_bytes: sizes.from,
    }))
}

pub fn depthwise_conv2d(given: &CaseRequest, sizes: Sizes) -> Result<Operator> {
    Ok(Operator::DepthwiseConv2d(depthwise(given, sizes)?))
}

/// The kernel that may store over its input.
pub fn depthwise_in_place(given: &CaseRequest, sizes: Sizes) -> Result<Operator> {
    let DepthwiseConv2d {
        input,
        output,
        window,
        multiplier,
        element_bytes,
    } = depthwise(given, sizes)?;
    ensure!(
        multiplier == 1,
        Misfit(format!(
            "the filter's depth is {}, expected {}: one output channel for each of the input's",
            output[3], input[3]
        ))
    );
    Ok(Operator::DepthwiseInPlace(DepthwiseInPlace {
        input,
        output,
        window,
        element_bytes,
    }))
}

fn depthwise(given: &CaseRequest, sizes: Sizes) -> Result<DepthwiseConv2d> {
    let input = given.input(0)?;
    let [filters, height, width, out] = given.filter()?;
    ensure!(
        filters == 1,
        Misfit(format!(
            "the filter's first extent is {filters}, expected 1"
        ))
    );
    ensure!(
        input[3] > 0 && out.is_multiple_of(input[3]),
        Misfit(format!(
            "the filter's depth is {out}, expected {} or a multiple of it",
            input[3]
        ))
    );
    let (window, [oh, ow]) = given.window(input, [height, width])?;
    Ok(DepthwiseConv2d {
        input,
        output: [input[0], oh, ow, out],
        window,
        multiplier: out / input[3],
        element_bytes: sizes.from,
    })
}

pub fn transpose_conv2d(given: &CaseRequest, sizes: Sizes) -> Result<Operator> {
    let input = given.input(0)?;
    let filter @ [_, height, width, _] = given.filter()?;
    let output = given.output()?;
    let kernel = [height, width];
    let stride = given.stride()?;
    check_depths(filter, input, output)?;
    let padding_before = match given.padding.as_deref().unwrap_or("valid") {
        "valid" => [0, 0],
        "same" => [0, 1].map(|axis| {
            let (from, to) = (output[axis + 1], input[axis + 1]);
            tflite_padding_before(from, to, kernel[axis], stride[axis], 1)
        }),
        text => pair("--padding", text)?,
    };
    for axis in 0..2 {
        let name = ["height", "width"][axis];
        // Beyond the last tap there are fewer rows than a stride, else there would be one
        // input more.
        let reach = u64::from(input[axis + 1]) * u64::from(stride[axis])
            + u64::from(kernel[axis].saturating_sub(1));
        let most = reach.saturating_sub(u64::from(padding_before[axis]));
        ensure!(
            u64::from(output[axis + 1]) <= most,
            Misfit(format!(
                "the output's {name} is {}, expected at most {most}: an input's {name} of {} gives no more",
                output[axis + 1],
                input[axis + 1]
            ))
        );
    }
    Ok(Operator::TransposeConv2d(TransposeConv2d {
        input,
        output,
        window: Window {
            kernel,
            stride,
            padding_before,
            ..Window::default()
        },
        accumulation: match sizes.from {
            4 => Accumulation::Output,
            _ => Accumulation::Scratch,
        },
        element_bytes: sizes.from,
    }))
}

/// The depths of a transposed convolution's filter, where it has other than 1 of each.
fn check_depths(filter: Shape, input: Shape, output: Shape) -> Result<()> {
    if [filter[0], filter[3]] == [1, 1] {
        return Ok(());
    }
    ensure!(
        filter[0] == output[3],
        Misfit(format!(
            "the filter's first extent is {}, expected {}: the output's depth",
            filter[0], output[3]
        ))
    );
    ensure!(
        filter[3] == input[3],
        Misfit(format!(
            "the filter's depth is {}, expected {}: the input's",
            filter[3], input[3]
        ))
    );
    Ok(())
}

pub fn pool(given: &CaseRequest, sizes: Sizes) -> Result<Operator> {
    let input = given.input(0)?;
    let filter = given.filter.as_deref().context("--filter HxW is missing")?;
    let (window, [oh, ow]) = given.window(input, pair("--filter", filter)?)?;
    Ok(Operator::Pool2d(Pool2d {
        input,
        output: [input[0], oh, ow, input[3]],
        window,
        element_bytes: sizes.from,
    }))
}

impl CaseRequest {
    fn stride(&self) -> Result<[u32; 2]> {
        pair("--stride", self.stride.as_deref().unwrap_or("1"))
    }

    /// The window, and the output's height and width that follow from it.
    fn window(&self, input: Shape, kernel: [u32; 2]) -> Result<(Window, [u32; 2])> {
        let stride = self.stride()?;
        let dilation = pair("--dilation", self.dilation.as_deref().unwrap_or("1"))?;
        let mut padding_before = [0, 0];
        let mut output = [0, 0];
        for axis in 0..2 {
            let name = ["height", "width"][axis];
            for (what, extent) in [
                ("stride", stride[axis]),
                ("dilation", dilation[axis]),
                ("filter", kernel[axis]),
            ] {
                ensure!(extent > 0, "the {what}'s {name} is 0, expected at least 1");
            }
            let extent = u64::from(input[axis + 1]);
            let reach = u64::from(kernel[axis] - 1) * u64::from(dilation[axis]) + 1;
            let padded = match self.padding.as_deref().unwrap_or("valid") {
                "same" => {
                    output[axis] = input[axis + 1].div_ceil(stride[axis]);
                    padding_before[axis] = tflite_padding_before(
                        input[axis + 1],
                        output[axis],
                        kernel[axis],
                        stride[axis],
                        dilation[axis],
                    );
                    continue;
                }
                "valid" => extent,
                text => {
                    padding_before[axis] = pair("--padding", text)?[axis];
                    extent + 2 * u64::from(padding_before[axis])
                }
            };
            ensure!(
                padded >= reach,
                Misfit(format!(
                    "the input's {name}, with padding, is {padded}, expected at least {reach}, the reach of the filter\n  hint: --padding same"
                ))
            );
            output[axis] =
                u32::try_from((padded - reach) / u64::from(stride[axis]) + 1).map_err(|_| {
                    CaseError::misfit(format!("the output's {name} does not fit in 32 bits"))
                })?;
        }
        let window = Window {
            kernel,
            stride,
            dilation,
            padding_before,
        };
        Ok((window, output))
    }
}
