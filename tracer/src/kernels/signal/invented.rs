//! Options and constants of the signal library where no model gives any.

use crate::call::{CallError, fits_into_flash};
use crate::kernels::Case;
use crate::kernels::tables::halfwords;
use dmo_analysis::graph::parameters::{Constant, Noise, Parameters, Signal};
use dmo_analysis::graph::{Kind, TensorType};
use dmo_analysis::operator::{Operator, Staged};

/// Numbers for an operator of the library; `None` if it is of another kind.
pub fn parameters(case: &Case) -> Option<Result<Parameters<'static>, CallError>> {
    let signal = options(case)?;
    let constants = constants(case, signal);
    Some(constants.map(|constants| Parameters {
        constants,
        signal,
        ..Parameters::default()
    }))
}

/// Elements of the first input, or of one round, and of the first output.
fn extents(case: &Case) -> [u32; 2] {
    match &case.operator {
        Operator::Staged(Staged {
            input_run,
            output_run,
            ..
        }) => [*input_run, *output_run],
        Operator::Apart(apart) => {
            [&apart.inputs, &apart.outputs].map(|it| it.first().map_or(0, |it| it.elements))
        }
        _ => [0; 2],
    }
}

/// None within for a kind that has none.
fn options(case: &Case) -> Option<Option<Signal>> {
    let [input, output] = extents(case);
    Some(Some(match case.kind {
        Kind::SignalWindow => Signal::Window { shift: 12 },
        Kind::SignalEnergy => Signal::Energy {
            begin: 0,
            end: output,
        },
        Kind::SignalFilterBank => Signal::FilterBank { channels: output },
        Kind::SignalFilterBankSpectralSubtraction => Signal::Noise(Noise {
            channels: output,
            smoothing: [409, 2621],
            one_minus_smoothing: [15974, 13762],
            min_signal_remaining: 819,
            smoothing_bits: 10,
            bits: 14,
            clamping: true,
        }),
        Kind::SignalPcan => Signal::GainControl { shift: 6 },
        Kind::SignalFilterBankLog => Signal::Logarithm {
            correction_bits: 3,
            scale: 1600,
        },
        Kind::SignalRfft => Signal::Transform {
            points: output.saturating_sub(2),
        },
        Kind::SignalIrfft => Signal::Transform { points: output },
        Kind::SignalDelay => Signal::Delay { elements: 5 },
        // One stream, and one frame of two steps, of which the first is there already.
        Kind::SignalFramer => Signal::Framer {
            rows: 1,
            frame: output,
            step: input.max(1),
            prefill: true,
        },
        Kind::SignalStacker => Signal::Stacker {
            channels: input.max(1),
            left: (output / input.max(1)).saturating_sub(1),
            right: 0,
            step: 1,
        },
        Kind::SignalOverlapAdd => Signal::OverlapAdd {
            rows: 1,
            step: output,
        },
        Kind::SignalFftAutoScale | Kind::SignalFilterBankSquareRoot => return Some(None),
        _ => return None,
    }))
}

fn constants(
    case: &Case,
    signal: Option<Signal>,
) -> Result<Vec<Option<Constant<'static>>>, CallError> {
    Ok(match (signal, &case.operator) {
        (Some(Signal::Window { .. }), Operator::Staged(staged)) => {
            vec![None, Some(weights(staged.rounds)?)]
        }
        (Some(Signal::GainControl { .. }), _) => vec![None, None, Some(weights(125)?)],
        (Some(Signal::FilterBank { channels }), Operator::Staged(staged)) => {
            bank(channels, staged.input_run)?
        }
        _ => Vec::new(),
    })
}

/// As many inputs for each entry, one after the other.
fn bank(channels: u32, inputs: u32) -> Result<Vec<Option<Constant<'static>>>, CallError> {
    let entries = channels.saturating_add(1);
    let width = (inputs / entries).min(i16::MAX as u32 / entries.max(1));
    let begins = |entry: u32| (entry * width) as i32;
    let all = width * entries;
    Ok(vec![
        None,
        Some(weights(all)?),
        Some(weights(all)?),
        Some(constant(entries, begins)?),
        Some(constant(entries, begins)?),
        Some(constant(entries, |_| width as i32)?),
    ])
}

/// Odd numbers: none of them hides an input.
fn weights(count: u32) -> Result<Constant<'static>, CallError> {
    constant(count, |index| {
        ((index.wrapping_mul(2654) & 0x7ff) | 1) as i32 + 1024
    })
}

fn constant(count: u32, value: impl Fn(u32) -> i32) -> Result<Constant<'static>, CallError> {
    fits_into_flash("constants", 2 * u64::from(count))?;
    Ok(Constant {
        bytes: halfwords((0..count).map(value)).into(),
        element_type: TensorType::Int16,
        shape: vec![count],
        quantisation: Vec::new(),
        channel_axis: 0,
    })
}
