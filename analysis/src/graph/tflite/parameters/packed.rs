//! `TFLM_DECODE`, a custom operator of TensorFlow Lite Micro: constants that it unpacks in each
//! inference (`tensorflow/lite/micro/kernels/decode.cc`). Each output has two inputs, the encoded
//! elements and the ancillary data.

use super::super::draft::Draft;
use super::super::error::Unsupported;
use super::super::lower;
use super::tensor::Record;
use crate::graph::TensorType;
use crate::graph::parameters::{Channels, Packed, Packing};

/// Where in the header the kind is, its version, the version of the kind's own data, and these.
const KIND: usize = 0;
const VERSIONS: [usize; 2] = [1, 4];
const TABLE_BITS: usize = 5;
const TABLE_STRIDE: usize = 6;
const HUFFMAN_TABLES: usize = 5;

/// How an output is packed, whose ancillary data these are.
///
/// # Errors
/// When the runtime refuses it.
pub(super) fn read(
    ancillary: &[u8],
    output: &Draft,
    record: &Record,
) -> Result<Packed, Unsupported> {
    let header = ancillary.first_chunk::<{ Packed::HEADER_BYTES }>();
    let header = header.ok_or_else(|| {
        let bytes = ancillary.len().to_string();
        unexpected("number of bytes of ancillary data", bytes, "16 or more")
    })?;
    if VERSIONS.iter().any(|&version| header[version] != 1) {
        let versions = VERSIONS.map(|version| header[version]);
        return Err(unexpected(
            "version of packed data",
            format!("{versions:?}"),
            "1, and 1 of its kind",
        ));
    }
    let size = output.extents().and_then(|shape| lower::elements(&shape));
    let size = size.ok_or_else(|| {
        let shape = format!("{:?}", output.shape);
        unexpected("shape", shape, "one with a size")
    })?;
    let bits = output.element_type.bits().unwrap_or(0);
    let (packing, channels) = match header[KIND] {
        0 => {
            let [bits, stride] = [TABLE_BITS, TABLE_STRIDE].map(|place| u32::from(header[place]));
            let packing = Packing::Table {
                bits: bits & 7,
                stride,
            };
            if bits & 7 == 0 {
                return Err(unexpected("bits of an index", "0".to_owned(), "1 to 7"));
            }
            (packing, channels(output, record)?)
        }
        1 => (huffman(header[HUFFMAN_TABLES], output)?, ONE),
        2 => {
            let channels = channels(output, record)?;
            let zero_points = zero_points(output, record)?;
            (Packing::Pruned { zero_points }, channels)
        }
        other => {
            return Err(unexpected(
                "kind of packed data",
                other.to_string(),
                "0 (table), 1 (Huffman) or 2 (pruned)",
            ));
        }
    };
    let is_known = matches!(
        output.element_type,
        TensorType::Bool
            | TensorType::Float32
            | TensorType::Int8
            | TensorType::Int16
            | TensorType::Int32
            | TensorType::Int64
    );
    if !is_known {
        return Err(unexpected(
            "type of an unpacked tensor",
            output.element_type.to_string(),
            "bool, float32, int8, int16, int32 or int64",
        ));
    }
    Ok(Packed {
        packing,
        elements: size,
        element_bytes: (bits / 8) as u32,
        channels,
    })
}

/// One for all elements.
const ONE: Channels = Channels {
    count: 1,
    are_last: false,
};

fn huffman(tables: u8, output: &Draft) -> Result<Packing, Unsupported> {
    let entry_bytes = if tables & 1 == 1 { 4 } else { 2 };
    let fits = match output.element_type {
        TensorType::Int8 => true,
        TensorType::Int16 => entry_bytes == 4,
        _ => false,
    };
    if !fits {
        return Err(unexpected(
            "type of a tensor in Huffman codes",
            output.element_type.to_string(),
            "int8, or int16 with entries of 32 bits",
        ));
    }
    Ok(Packing::Huffman {
        first_bits: u32::from(tables >> 4) + 1,
        entry_bytes,
    })
}

/// One for each scale that the tensor has.
fn channels(output: &Draft, record: &Record) -> Result<Channels, Unsupported> {
    let scales = record.scales.len();
    if scales == 0 || record.zero_points.is_empty() {
        return Ok(ONE);
    }
    let last = output.shape.len().saturating_sub(1);
    let axis = usize::try_from(record.axis).ok();
    let are_last = axis == Some(last) && scales > 1;
    let extent = axis.and_then(|axis| output.shape.get(axis)).copied();
    let fits = scales == 1 || i32::try_from(scales).ok() == extent;
    if !(are_last || axis == Some(0)) || !fits || scales != record.zero_points.len() {
        return Err(unexpected(
            "axis of scales",
            format!("{} with {scales} scales", record.axis),
            "the first, or with several scales the last, which have a scale and a zero point for each index",
        ));
    }
    Ok(Channels {
        count: scales as u32,
        are_last,
    })
}

/// What stands for 0 in each channel.
fn zero_points(output: &Draft, record: &Record) -> Result<Vec<i8>, Unsupported> {
    let is_int8 = output.element_type == TensorType::Int8;
    let point = |&point: &i64| i8::try_from(point).ok().filter(|&it| is_int8 || it == 0);
    let points: Option<Vec<i8>> = record.zero_points.iter().map(point).collect();
    points.ok_or_else(|| {
        let given = format!("{:?}", record.zero_points);
        unexpected(
            "zero points of a pruned tensor",
            given,
            "8 bits for int8, else 0",
        )
    })
}

fn unexpected(option: &'static str, given: String, expected: &'static str) -> Unsupported {
    Unsupported::Option {
        option,
        given,
        expected,
    }
}
