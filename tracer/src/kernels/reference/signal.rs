//! The signal library. Contracts: `kernels-c/include/dmo_signal.h`, `dmo_fft.h`.

use crate::call::{Argument, CallError, Frame, inexpressible};
use crate::kernels::fourier::{Way, half_turns, radices, turns};
use crate::kernels::signal::{self, options_of};
use crate::kernels::tables::logarithms;
use crate::kernels::{Arguments, Buffers, Contract, Job, ScratchSize};
use dmo_analysis::graph::Kind::{
    SignalDelay, SignalEnergy, SignalFftAutoScale, SignalFilterBank, SignalFilterBankLog,
    SignalFilterBankSpectralSubtraction, SignalFilterBankSquareRoot, SignalFramer, SignalIrfft,
    SignalOverlapAdd, SignalPcan, SignalRfft, SignalStacker, SignalWindow,
};
use dmo_analysis::graph::parameters::Signal;
use dmo_analysis::operator::{Apart, Operator, Staged};
use dmo_analysis::trace::{
    Address,
    ElementType::{self, Int16, Int32, Uint32, Uint64},
};

pub(super) const CONTRACTS: &[Contract] = &[
    Contract::int16("dmo_signal_window_s16", &SignalWindow, window),
    Contract::int16(
        "dmo_signal_scale_s16",
        &SignalFftAutoScale,
        |job, buffers, _| {
            let count = first_elements(job)?;
            Ok(call(
                &[count],
                &[buffers.inputs[0], buffers.outputs[0], buffers.outputs[1]],
            ))
        },
    ),
    Contract::new("dmo_signal_energy_s16", &SignalEnergy, energy).of(Int16, Uint32),
    Contract::new(
        "dmo_signal_filter_bank",
        &SignalFilterBank,
        |job, buffers, frame| {
            let bank = signal::FilterBank::of(job)?.place(job, frame)?;
            let [input, output] = [buffers.inputs[0], buffers.outputs[0]];
            Ok(call(&[], &[bank, input, output, buffers.scratch_address()]))
        },
    )
    .of(Uint32, Uint64)
    .with_scratch(ScratchSize::new(
        "dmo_signal_filter_bank_scratch_bytes",
        |job, frame| Ok(vec![signal::FilterBank::of(job)?.place(job, frame)?.into()]),
    )),
    Contract::new(
        "dmo_signal_square_root",
        &SignalFilterBankSquareRoot,
        |job, buffers, _| {
            let count = staged(job)?.rounds;
            let [input, bits, output] = [buffers.inputs[0], buffers.inputs[1], buffers.outputs[0]];
            Ok(call(&[count], &[input, bits, output]))
        },
    )
    .of(Uint64, Uint32),
    Contract::new(
        "dmo_signal_subtract_noise",
        &SignalFilterBankSpectralSubtraction,
        noise,
    )
    .of(Uint32, Uint32)
    .with_states(&[signal::NOISE]),
    Contract::new("dmo_signal_pcan", &SignalPcan, gain_control).of(Uint32, Uint32),
    Contract::new("dmo_signal_log", &SignalFilterBankLog, logarithm).of(Uint32, Int16),
    Contract::int16(
        "dmo_signal_delay_s16",
        &SignalDelay,
        |job, buffers, frame| {
            let Staged {
                rounds, input_run, ..
            } = *staged(job)?;
            let Signal::Delay { elements } = options_of(job)? else {
                return Err(job.of_another_kind());
            };
            let size = words(frame, "size", &[rounds, input_run, elements])?;
            Ok(kept(size, buffers))
        },
    )
    .with_states(&[signal::DELAYED]),
    Contract::int16("dmo_signal_framer_s16", &SignalFramer, framer)
        .with_states(&[signal::FRAMED, signal::FRAMED_COUNT]),
    Contract::int16("dmo_signal_stacker_s16", &SignalStacker, stacker)
        .with_states(&[signal::STACKED, signal::STACKED_COUNTS]),
    Contract::int16("dmo_signal_overlap_add_s16", &SignalOverlapAdd, overlap_add)
        .with_states(&[signal::OVERLAPPED_S16]),
    Contract::float32("dmo_signal_overlap_add_f32", &SignalOverlapAdd, overlap_add)
        .with_states(&[signal::OVERLAPPED_F32]),
    Contract::int16("dmo_rfft_s16", &SignalRfft, rfft).with_scratch(SCRATCH_S16),
    Contract::new("dmo_rfft_s32", &SignalRfft, rfft)
        .of(Int32, Int32)
        .with_scratch(SCRATCH_S32),
    Contract::float32("dmo_rfft_f32", &SignalRfft, rfft).with_scratch(SCRATCH_F32),
    Contract::int16("dmo_irfft_s16", &SignalIrfft, irfft).with_scratch(SCRATCH_S16),
    Contract::new("dmo_irfft_s32", &SignalIrfft, irfft)
        .of(Int32, Int32)
        .with_scratch(SCRATCH_S32),
    Contract::float32("dmo_irfft_f32", &SignalIrfft, irfft).with_scratch(SCRATCH_F32),
];

const SCRATCH_S16: ScratchSize = ScratchSize::new("dmo_fft_s16_scratch_bytes", transform_size);
const SCRATCH_S32: ScratchSize = ScratchSize::new("dmo_fft_s32_scratch_bytes", transform_size);
const SCRATCH_F32: ScratchSize = ScratchSize::new("dmo_fft_f32_scratch_bytes", transform_size);

fn call(numbers: &[u32], addresses: &[Address]) -> Vec<Argument> {
    let numbers = numbers.iter().map(|&number| Argument::Word(number));
    numbers
        .chain(addresses.iter().map(|&it| it.into()))
        .collect()
}

fn words(frame: &mut Frame, what: &str, numbers: &[u32]) -> Result<Address, CallError> {
    let numbers: Vec<i32> = numbers.iter().map(|&number| number as i32).collect();
    frame.words(what, &numbers)
}

fn staged<'a>(job: &Job<'a>) -> Result<&'a Staged, CallError> {
    match &job.case.operator {
        Operator::Staged(staged) => Ok(staged),
        _ => Err(job.of_another_kind()),
    }
}

fn apart<'a>(job: &Job<'a>) -> Result<&'a Apart, CallError> {
    match &job.case.operator {
        Operator::Apart(apart) => Ok(apart),
        _ => Err(job.of_another_kind()),
    }
}

/// Elements of the first input of an operator of which nothing overlaps.
fn first_elements(job: &Job) -> Result<u32, CallError> {
    let first = apart(job)?.inputs.first();
    Ok(first.map_or(0, |it| it.elements))
}

fn window(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let count = staged(job)?.rounds;
    let Signal::Window { shift } = options_of(job)? else {
        return Err(job.of_another_kind());
    };
    let width = signal::constant_elements(job, 1, "window")?;
    if width == 0 || !u64::from(count).is_multiple_of(width) {
        let limit = format!("a part of the input's {count}");
        return Err(inexpressible("the width of the window", width, limit));
    }
    let weights = job.place(1, "window", Int16, width, frame)?;
    let numbers = [width as u32, shift, count];
    Ok(call(
        &numbers,
        &[buffers.inputs[0], weights, buffers.outputs[0]],
    ))
}

fn energy(job: &Job, buffers: &Buffers, _: &mut Frame) -> Arguments {
    let Signal::Energy { begin, end } = options_of(job)? else {
        return Err(job.of_another_kind());
    };
    let count = first_elements(job)? / 2;
    if end > count || begin > end {
        let given = format!("{begin} to {end}");
        let limit = format!("a part of the {count} that there are");
        return Err(inexpressible("the range of energies", given, limit));
    }
    Ok(call(
        &[begin, end, count],
        &[buffers.inputs[0], buffers.outputs[0]],
    ))
}

fn noise(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let Signal::Noise(noise) = options_of(job)? else {
        return Err(job.of_another_kind());
    };
    let channels = first_elements(job)?;
    if noise.channels != channels {
        let limit = format!("the input's {channels}");
        return Err(inexpressible(
            "the number of channels",
            noise.channels,
            limit,
        ));
    }
    let [one, other] = noise.smoothing;
    let [rest_of_one, rest_of_other] = noise.one_minus_smoothing;
    let params = [
        one,
        other,
        rest_of_one,
        rest_of_other,
        noise.min_signal_remaining,
        noise.smoothing_bits,
        noise.bits,
        u32::from(noise.clamping),
    ];
    let params = words(frame, "parameters", &params)?;
    let mut arguments = vec![params.into()];
    let places = [
        buffers.inputs[0],
        buffers.states[0],
        buffers.outputs[0],
        buffers.outputs[1],
    ];
    arguments.extend(call(&[channels], &places));
    Ok(arguments)
}

fn gain_control(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let Signal::GainControl { shift } = options_of(job)? else {
        return Err(job.of_another_kind());
    };
    let gains = signal::gains(job, frame)?;
    let [input, noise] = [buffers.inputs[0], buffers.inputs[1]];
    let numbers = [shift, first_elements(job)?];
    Ok(call(&numbers, &[input, noise, gains, buffers.outputs[0]]))
}

fn logarithm(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let count = staged(job)?.rounds;
    let options = options_of(job)?;
    let Signal::Logarithm {
        correction_bits,
        scale,
    } = options
    else {
        return Err(job.of_another_kind());
    };
    let table = frame.place("logarithms", logarithms())?;
    let numbers = [correction_bits, scale, count];
    Ok(call(
        &numbers,
        &[buffers.inputs[0], table, buffers.outputs[0]],
    ))
}

fn framer(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let framer = signal::Framer::of(job)?;
    let size = words(frame, "size", &framer.words())?;
    kept_and_valid(size, buffers)
}

fn stacker(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let Signal::Stacker {
        channels,
        left,
        right,
        step,
    } = options_of(job)?
    else {
        return Err(job.of_another_kind());
    };
    let given = first_elements(job)?;
    if given != channels {
        let limit = format!("the input's {given}");
        return Err(inexpressible("the number of channels", channels, limit));
    }
    let size = words(frame, "size", &[channels, left, right, step])?;
    kept_and_valid(size, buffers)
}

fn kept_and_valid(size: Address, buffers: &Buffers) -> Arguments {
    let [kept, count] = [buffers.states[0], buffers.states[1]];
    let [output, valid] = [buffers.outputs[0], buffers.outputs[1]];
    Ok(call(
        &[],
        &[size, buffers.inputs[0], kept, count, output, valid],
    ))
}

fn overlap_add(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let Staged {
        rounds,
        input_run,
        output_run,
        ..
    } = *staged(job)?;
    let rows = signal::overlapped_rows(job)?;
    let size = words(frame, "size", &[rows, rounds / rows, input_run, output_run])?;
    Ok(kept(size, buffers))
}

/// The sizes, an input, what is kept of those before it, and an output.
fn kept(size: Address, buffers: &Buffers) -> Vec<Argument> {
    call(
        &[],
        &[
            size,
            buffers.inputs[0],
            buffers.states[0],
            buffers.outputs[0],
        ],
    )
}

/// Points of the complex transform, rows, and elements of a row of the input.
fn extents(job: &Job) -> Result<[u32; 3], CallError> {
    let Signal::Transform { points } = options_of(job)? else {
        return Err(job.of_another_kind());
    };
    let [rows, input] = match &job.case.operator {
        Operator::Staged(staged) => [staged.rounds, staged.input_run],
        _ => {
            let input = points.saturating_add(2);
            [first_elements(job)? / input, input]
        }
    };
    Ok([points / 2, rows, input])
}

fn transform_size(job: &Job, frame: &mut Frame) -> Arguments {
    Ok(vec![size_of_transform(job, frame)?.0.into()])
}

/// The size as the kernel is given it, and its radices.
fn size_of_transform(job: &Job, frame: &mut Frame) -> Result<(Address, Vec<i32>), CallError> {
    let [half, rows, input] = extents(job)?;
    let limit = "twice a product of 2, 3 and 5";
    let radices = radices(half)
        .ok_or_else(|| inexpressible("the number of points", u64::from(half) * 2, limit))?;
    let size = [half, radices.len() as u32, rows, input];
    Ok((words(frame, "size", &size)?, radices))
}

fn rfft(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    transform(job, buffers, frame, Way::Forward)
}

fn irfft(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    transform(job, buffers, frame, Way::Back)
}

fn transform(job: &Job, buffers: &Buffers, frame: &mut Frame, way: Way) -> Arguments {
    let [half, ..] = extents(job)?;
    let element_type: ElementType = job.case.input_type;
    let (size, radices) = size_of_transform(job, frame)?;
    let element_bytes = u64::from(element_type.size_bytes());
    let table_bytes = |count: u32| 2 * element_bytes * u64::from(count);
    let all = frame.place_made("turns", table_bytes(half), || {
        turns(half, way, element_type)
    })?;
    let halves = frame.place_made("half turns", table_bytes(half / 2), || {
        half_turns(half, way, element_type)
    })?;
    let places = [
        size,
        frame.words("radices", &radices)?,
        all,
        halves,
        buffers.inputs[0],
        buffers.outputs[0],
        buffers.scratch_address(),
    ];
    Ok(call(&[], &places))
}
