//! Options with another padding.

use crate::graph::Node;
use crate::graph::tflite::TfliteError;
use crate::graph::tflite::layout::Value;
use crate::graph::tflite::schema::{
    Field, PADDING_SAME, PADDING_VALID, conv_2d, depthwise_conv_2d, options, pool_2d,
};
use crate::graph::tflite::view::Table;
use crate::operator::{Operator, Padding, Shape, Window};

/// The options with another padding; `None` if the old one does.
pub(super) fn other_padding(
    table: &Table,
    node: &Node,
    options_type: u8,
) -> Result<Option<Vec<(Field, Value)>>, TfliteError> {
    let operator = node.kernel.as_ref().map(|kernel| &kernel.operator);
    let (window, input, output): (Window, Shape, Shape) = match operator {
        Some(Operator::Conv2d(conv)) => (conv.window, conv.input, conv.output),
        Some(Operator::DepthwiseConv2d(conv)) => (conv.window, conv.input, conv.output),
        Some(Operator::Pool2d(pool)) => (pool.window, pool.input, pool.output),
        _ => return Ok(None),
    };
    let (bytes, words): (&[Field], &[Field]) = match options_type {
        options::CONV_2D => (
            &[conv_2d::ACTIVATION, conv_2d::QUANTIZED_BIAS_TYPE],
            &[
                conv_2d::STRIDE_W,
                conv_2d::STRIDE_H,
                conv_2d::DILATION_W,
                conv_2d::DILATION_H,
            ],
        ),
        options::DEPTHWISE_CONV_2D => (
            &[depthwise_conv_2d::ACTIVATION],
            &[
                depthwise_conv_2d::STRIDE_W,
                depthwise_conv_2d::STRIDE_H,
                depthwise_conv_2d::MULTIPLIER,
                depthwise_conv_2d::DILATION_W,
                depthwise_conv_2d::DILATION_H,
            ],
        ),
        _ => (
            &[pool_2d::ACTIVATION],
            &[
                pool_2d::STRIDE_W,
                pool_2d::STRIDE_H,
                pool_2d::FILTER_W,
                pool_2d::FILTER_H,
            ],
        ),
    };
    // All three have it first.
    let old = table.number::<i8>(conv_2d::PADDING, PADDING_SAME)?;
    let fits = |padding: i8| {
        let known = match padding {
            PADDING_SAME => Padding::Same,
            _ => Padding::Valid,
        };
        window.is_padded(known, input, output)
    };
    if fits(old) {
        return Ok(None);
    }
    let Some(padding) = [PADDING_SAME, PADDING_VALID]
        .into_iter()
        .find(|&known| fits(known))
    else {
        return Ok(None);
    };
    let last = 1 + bytes.len() + words.len();
    if let Some(number) = table.unknown_field(last)? {
        return Err(TfliteError::Plan(format!(
            "the options of {} have a field {number}, which is not known and would be lost",
            node.kind
        )));
    }
    let mut fields = vec![(conv_2d::PADDING, Value::Byte(padding.cast_unsigned()))];
    for &field in bytes {
        if table.place(field)?.is_some() {
            fields.push((field, Value::Byte(table.number::<u8>(field, 0)?)));
        }
    }
    for &field in words {
        if table.place(field)?.is_some() {
            fields.push((field, Value::Word(table.number::<u32>(field, 0)?)));
        }
    }
    Ok(Some(fields))
}
