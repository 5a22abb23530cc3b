//! What the headers of CMSIS-NN say of input and output in one memory, in our own words.
//!
//! Source: the comments of `arm_nnfunctions.h` in 5.0.0 and 6.0.0, those of all functions that
//! are called here. Those of functions that are new in version 7 were not searched.

use crate::kernels::versions::{KNOWN, Versions};

/// A vendor's word on input and output that share bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// They must not.
    Forbidden,
    /// Nothing is said: whoever lets them share relies on what the code happens to do.
    Unmentioned,
}

/// The statement of a vendor's header on a function whose input and output share memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeaderStatement {
    /// Forbidden, or not mentioned.
    pub sharing: Sharing,
    /// Versions of the header that were read.
    pub versions: Versions,
}

const READ: Versions = KNOWN.from(5).to(6);

const FORBIDDEN: [&str; 6] = [
    "arm_concatenation_s8_x",
    "arm_concatenation_s8_y",
    "arm_concatenation_s8_z",
    "arm_max_pool_s16",
    "arm_max_pool_s8",
    "arm_reshape_s8",
];

const UNMENTIONED: [&str; 29] = [
    "arm_avgpool_s16",
    "arm_avgpool_s8",
    "arm_concatenation_s8_w",
    "arm_convolve_1_x_n_s8",
    "arm_convolve_1x1_s8",
    "arm_convolve_1x1_s8_fast",
    "arm_convolve_s16",
    "arm_convolve_s8",
    "arm_convolve_wrapper_s16",
    "arm_convolve_wrapper_s8",
    "arm_depthwise_conv_3x3_s8",
    "arm_depthwise_conv_fast_s16",
    "arm_depthwise_conv_s16",
    "arm_depthwise_conv_s8",
    "arm_depthwise_conv_s8_opt",
    "arm_depthwise_conv_wrapper_s16",
    "arm_depthwise_conv_wrapper_s8",
    "arm_elementwise_add_s16",
    "arm_elementwise_add_s8",
    "arm_elementwise_mul_s16",
    "arm_elementwise_mul_s8",
    "arm_fully_connected_s16",
    "arm_fully_connected_s8",
    "arm_softmax_s16",
    "arm_softmax_s8",
    "arm_softmax_s8_s16",
    "arm_softmax_u8",
    "arm_svdf_s8",
    "arm_svdf_state_s16_s8",
];

/// The statement on a function; `None` if the headers were not searched for it.
pub fn header_statement(function: &str) -> Option<HeaderStatement> {
    let sharing = if FORBIDDEN.contains(&function) {
        Sharing::Forbidden
    } else if UNMENTIONED.contains(&function) {
        Sharing::Unmentioned
    } else {
        return None;
    };
    Some(HeaderStatement {
        sharing,
        versions: READ,
    })
}
