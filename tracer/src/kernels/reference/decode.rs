//! Constants that are stored packed. Contract: `kernels-c/include/dmo_decode.h`.

use crate::call::{Argument, CallError, Frame, fits_into_flash, inexpressible};
use crate::kernels::{Buffers, Case, Contract, Job, Prepare, SeveralArguments};
use dmo_analysis::graph::parameters::{Channels, Constant, Packed, Packing, Parameters};
use dmo_analysis::graph::{Kind, TensorType};
use dmo_analysis::operator::{Apart, Operator};
use dmo_analysis::random::xorshift_bytes;

pub(super) const CONTRACTS: &[Contract] = &[Contract {
    prepare: Prepare::Several(decode),
    ..Contract::new("dmo_decode", &Kind::Decode, |job, _, _| {
        Err(job.of_another_kind())
    })
}];

/// A call for each output.
fn decode(job: &Job, buffers: &Buffers, frame: &mut Frame) -> SeveralArguments {
    let packed = &job.parameters.packed;
    if packed.len() != buffers.outputs.len() {
        let expected = format!("{}, one for each output", buffers.outputs.len());
        return Err(inexpressible(
            "the packed constants",
            packed.len(),
            expected,
        ));
    }
    // Beyond their end the kernel would load what is no part of them.
    let unpacked = job.parameters.unpacked();
    unpacked.map_err(|error| inexpressible("the packed data", error, "complete ones"))?;
    let calls = packed.iter().enumerate().map(|(index, packed)| {
        let encoded = job.constant(2 * index, "encoded data")?.bytes.to_vec();
        let ancillary = job.constant(2 * index + 1, "ancillary data")?;
        let values = ancillary.bytes[Packed::HEADER_BYTES..].to_vec();
        let encoded_bytes = encoded.len() as i32;
        let (packing, bits, stride) = match packed.packing {
            Packing::Table { bits, stride } => (0, bits, stride),
            Packing::Huffman {
                first_bits,
                entry_bytes,
            } => (1, first_bits, entry_bytes),
            Packing::Pruned { .. } => (2, 1, 0),
        };
        let words = [
            packing,
            packed.elements,
            packed.element_bytes,
            packed.channels.count,
            packed.channels.run(packed.elements),
            bits,
            stride,
        ];
        let words: Vec<i32> = words
            .iter()
            .map(|&it| it as i32)
            .chain([encoded_bytes])
            .collect();
        Ok(vec![
            frame.words("parameters", &words)?.into(),
            frame.place("encoded data", encoded)?.into(),
            frame.place("values", values)?.into(),
            frame.place("zero points", zero_points(packed))?.into(),
            Argument::from(buffers.outputs[index]),
        ])
    });
    calls.collect::<Result<_, CallError>>()
}

/// One for each channel; a byte that nothing loads where there are none.
fn zero_points(packed: &Packed) -> Vec<u8> {
    let Packing::Pruned { zero_points } = &packed.packing else {
        return vec![0];
    };
    let channels = packed.channels.count as usize;
    let one = zero_points.first().copied().unwrap_or(0);
    let mut points = zero_points.clone();
    points.resize(channels.max(1), one);
    points.into_iter().map(i8::cast_unsigned).collect()
}

/// Numbers where no model gives any: indices of two bits into tables of four values; `None` of another
/// kind.
pub(in crate::kernels) fn invented(case: &Case) -> Option<Result<Parameters<'static>, CallError>> {
    let Operator::Apart(Apart { outputs, .. }) = &case.operator else {
        return None;
    };
    if case.kind != Kind::Decode {
        return None;
    }
    let mut parameters = Parameters::default();
    for output in outputs {
        let encoded = u64::from(output.elements).div_ceil(4);
        if let Err(error) = fits_into_flash("encoded data", encoded) {
            return Some(Err(error));
        }
        let values = Packed::HEADER_BYTES as u32 + 4 * output.element_bytes;
        for (seed, bytes) in [(1, encoded as usize), (2, values as usize)] {
            parameters.constants.push(Some(Constant {
                bytes: xorshift_bytes(seed, bytes).into(),
                element_type: TensorType::Uint8,
                shape: vec![bytes as u32],
                quantisation: Vec::new(),
                channel_axis: 0,
            }));
        }
        parameters.packed.push(Packed {
            packing: Packing::Table { bits: 2, stride: 4 },
            elements: output.elements,
            element_bytes: output.element_bytes,
            channels: Channels {
                count: 1,
                are_last: false,
            },
        });
    }
    Some(Ok(parameters))
}
