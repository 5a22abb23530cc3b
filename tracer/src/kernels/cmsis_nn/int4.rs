//! Convolutions and products of 8-bit activations with weights of 4 bits. TensorFlow Lite Micro calls
//! the wrappers and `arm_fully_connected_s4`.
//!
//! `arm_convolve_even_s4` has none: without the vector extension CMSIS-NN's only returns an error, and
//! nothing calls it.

use super::convolutions::{
    WRAPPER_SCRATCH, convolve_of, input_and_filter, input_dims, is_one_to_one, is_pointwise,
    is_row, is_undilated, params_and_dims, window,
};
use super::{fully_connected, unmoved_filter};
use crate::call::Frame;
use crate::kernels::case::is_ungrouped;
use crate::kernels::convolution::Convolution;
use crate::kernels::{Arguments, Buffers, Case, Contract, Job, ScratchSize};
use dmo_analysis::graph::{Kind, TensorType};

pub(super) const CONTRACTS: &[Contract] = &[
    // TensorFlow Lite Micro asks for as much as for weights of 8 bits (`conv.cc`).
    convolve("arm_convolve_wrapper_s4")
        .only_of_vendors(is_ungrouped)
        .with_scratch(WRAPPER_SCRATCH),
    convolve("arm_convolve_s4")
        .only_of_vendors(is_ungrouped)
        .with_scratch(ScratchSize::new(
            "arm_convolve_s4_get_buffer_size",
            input_and_filter,
        )),
    convolve("arm_convolve_1x1_s4_fast")
        .only(|case| {
            is_pointwise(case) && window(case).is_some_and(|window| window.stride == [1, 1])
        })
        .with_scratch(ScratchSize::new(
            "arm_convolve_1x1_s4_fast_get_buffer_size",
            input_dims,
        )),
    convolve("arm_convolve_1x1_s4").only(is_pointwise),
    convolve("arm_convolve_1_x_n_s4")
        .only(|case| is_row(case) && goes_by_words(case))
        .with_scratch(ScratchSize::new(
            "arm_convolve_1_x_n_s4_get_buffer_size",
            params_and_dims,
        ))
        .since(6),
    depthwise("arm_depthwise_conv_wrapper_s4")
        .only_of_vendors(|case| is_optimised(case) || has_even_depth(case))
        .with_scratch(ScratchSize::new(
            "arm_depthwise_conv_wrapper_s4_get_buffer_size",
            params_and_dims,
        )),
    depthwise("arm_depthwise_conv_s4").only_of_vendors(has_even_depth),
    depthwise("arm_depthwise_conv_s4_opt")
        .only(is_optimised)
        .with_scratch(ScratchSize::new(
            "arm_depthwise_conv_s4_opt_get_buffer_size",
            input_and_filter,
        )),
    Contract::int4("arm_fully_connected_s4", &Kind::FullyConnected, dense)
        .with_status()
        .since(5),
];

const fn convolve(function: &'static str) -> Contract {
    Contract::int4(function, &Kind::Conv2d, of_int4)
        .with_status()
        .since(5)
}

const fn depthwise(function: &'static str) -> Contract {
    Contract::int4(function, &Kind::DepthwiseConv2d, of_int4)
        .with_status()
        .since(5)
}

/// From one position of the window to the next lies a multiple of 4 elements; the function returns an
/// error otherwise.
fn goes_by_words(case: &Case) -> bool {
    Convolution::of(case).is_some_and(|conv| {
        let [_, stride] = conv.window.stride;
        u64::from(stride)
            .saturating_mul(conv.input[3].into())
            .is_multiple_of(4)
    })
}

/// What the wrapper calls the optimised function for. That does not look at batches or dilation itself.
fn is_optimised(case: &Case) -> bool {
    is_one_to_one(case)
        && is_undilated(case)
        && Convolution::of(case).is_some_and(|conv| conv.input[0] == 1)
}

/// With an odd number of input channels `arm_depthwise_conv_s4` takes wrong halves of bytes for weights
/// (CMSIS-NN 5.0.0 to 99f736a).
fn has_even_depth(case: &Case) -> bool {
    Convolution::of(case).is_some_and(|conv| conv.input[3].is_multiple_of(2))
}

fn of_int4(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    convolve_of(job, TensorType::Int4, buffers, frame, |bias, _| Ok(bias))
}

/// The zero point of the filter is not looked at.
fn dense(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let numbers = unmoved_filter(job)?;
    let quant = frame.words("quantisation", &numbers.ratio.words())?;
    let params = numbers.params();
    fully_connected(job, TensorType::Int4, &params, quant, buffers, frame)
}
