//! What the kernels of the signal library compute with, and what they keep.

pub(super) mod invented;

use super::{Job, State, StatePlace};
use crate::call::{CallError, Frame, inexpressible};
use dmo_analysis::graph::parameters::Signal;
use dmo_analysis::operator::{Operator, Staged};
use dmo_analysis::random::xorshift_bytes;
use dmo_analysis::trace::{Address, ElementType};

/// The options, which any operator of the library has that a kernel asks for.
pub(super) fn options_of(job: &Job) -> Result<Signal, CallError> {
    let missing = || inexpressible("the options", "missing", "those of the signal library");
    job.parameters.signal.ok_or_else(missing)
}

/// Elements of a constant operand.
pub(super) fn constant_elements(job: &Job, operand: usize, what: &str) -> Result<u64, CallError> {
    let shape = &job.constant(operand, what)?.shape;
    let extents = shape.iter().map(|&extent| u64::from(extent));
    Ok(extents.fold(1, u64::saturating_mul))
}

/// Numbers of 16 bits of a constant operand.
fn numbers(job: &Job, operand: usize, what: &str, elements: u64) -> Result<Vec<i16>, CallError> {
    let bytes = job.checked_constant(operand, what, ElementType::Int16, elements)?;
    let (pairs, _) = bytes.as_chunks();
    Ok(pairs.iter().map(|&pair| i16::from_le_bytes(pair)).collect())
}

const WEIGHTS: usize = 1;
const UNWEIGHTS: usize = 2;
const TABLES: [(usize, &str); 3] = [
    (3, "begins of channels"),
    (4, "begins of weights"),
    (5, "widths of channels"),
];

/// The tables of a filter bank, all of whose entries lie inside.
pub(super) struct FilterBank {
    channels: u32,
    weights: u64,
}

impl FilterBank {
    pub fn of(job: &Job) -> Result<Self, CallError> {
        let Signal::FilterBank { channels } = options_of(job)? else {
            return Err(job.of_another_kind());
        };
        let Operator::Staged(Staged {
            input_run,
            output_run,
            ..
        }) = job.case.operator
        else {
            return Err(job.of_another_kind());
        };
        if channels != output_run {
            let limit = format!("the output's {output_run}");
            return Err(inexpressible("the number of channels", channels, limit));
        }
        let weights = constant_elements(job, WEIGHTS, "weights")?;
        numbers(job, UNWEIGHTS, "second weights", weights)?;
        let entries = u64::from(channels) + 1;
        let [begins, places, widths] =
            TABLES.map(|(operand, what)| numbers(job, operand, what, entries));
        let (begins, places, widths) = (begins?, places?, widths?);
        for ((&begin, &place), &width) in begins.iter().zip(&places).zip(&widths) {
            let is_inside = |from: i16, all: u64| {
                let end = i64::from(from) + i64::from(width);
                width <= 0 || (from >= 0 && u64::try_from(end).is_ok_and(|end| end <= all))
            };
            if !is_inside(begin, input_run.into()) || !is_inside(place, weights) {
                let given = format!("{width} inputs from {begin} on, weights from {place} on");
                let limit = format!("{input_run} inputs and {weights} weights");
                return Err(inexpressible("a channel", given, limit));
            }
        }
        Ok(Self { channels, weights })
    }

    /// The structure that the kernel is given.
    pub fn place(&self, job: &Job, frame: &mut Frame) -> Result<Address, CallError> {
        let entries = u64::from(self.channels) + 1;
        let mut words = vec![self.channels as i32];
        for (operand, what) in TABLES {
            words.push(
                job.place(operand, what, ElementType::Int16, entries, frame)?
                    .0 as i32,
            );
        }
        for (operand, what) in [(WEIGHTS, "weights"), (UNWEIGHTS, "second weights")] {
            let placed = job.place(operand, what, ElementType::Int16, self.weights, frame)?;
            words.push(placed.0 as i32);
        }
        frame.words("filter bank", &words)
    }
}

/// What the gain control looks gains up in: four numbers for each power of two, but for the first
/// and the last.
const GAINS: u64 = 125;

/// The gains, placed in flash.
pub(super) fn gains(job: &Job, frame: &mut Frame) -> Result<Address, CallError> {
    const OPERAND: usize = 2;
    let count = constant_elements(job, OPERAND, "gains")?;
    if count < GAINS {
        return Err(inexpressible(
            "the number of gains",
            count,
            format!("{GAINS} or more"),
        ));
    }
    job.place(OPERAND, "gains", ElementType::Int16, count, frame)
}

/// A framer whose sizes fit together.
pub(super) struct Framer {
    rows: u32,
    frames: u32,
    frame: u32,
    step: u32,
    prefill: u32,
}

impl Framer {
    pub fn of(job: &Job) -> Result<Self, CallError> {
        let Signal::Framer {
            rows,
            frame,
            step,
            prefill,
        } = options_of(job)?
        else {
            return Err(job.of_another_kind());
        };
        let given = match &job.case.operator {
            Operator::Apart(apart) => apart.inputs.first().map_or(0, |it| it.elements),
            _ => 0,
        };
        let of_step = rows.saturating_mul(step);
        if of_step == 0 || given == 0 || !given.is_multiple_of(of_step) {
            let steps = format!("{rows} rows of steps of {step}");
            return Err(inexpressible(
                "the input of frames",
                steps,
                format!("{given} elements"),
            ));
        }
        Ok(Self {
            rows,
            frames: given / of_step,
            frame,
            step,
            prefill: if prefill {
                frame.saturating_sub(step)
            } else {
                0
            },
        })
    }

    /// As the kernel's structure has it.
    pub fn words(&self) -> [u32; 5] {
        [self.rows, self.frames, self.frame, self.step, self.prefill]
    }

    fn kept(&self) -> u64 {
        u64::from(self.rows) * u64::from(self.frame.next_multiple_of(self.step))
    }
}

/// Streams whose frames are added up; the frames are as many of each.
pub(super) fn overlapped_rows(job: &Job) -> Result<u32, CallError> {
    let Signal::OverlapAdd { rows, step } = options_of(job)? else {
        return Err(job.of_another_kind());
    };
    let Operator::Staged(Staged {
        rounds,
        input_run,
        output_run,
        ..
    }) = job.case.operator
    else {
        return Err(job.of_another_kind());
    };
    if rows == 0 || !rounds.is_multiple_of(rows) || step != output_run || step > input_run {
        let given = format!("{rounds} frames of {input_run} a step of {step} apart");
        let limit = format!("as many in each of {rows} rows, and steps of {output_run}");
        return Err(inexpressible("what is added up", given, limit));
    }
    Ok(rows)
}

const fn kept(
    name: &'static str,
    element_type: ElementType,
    elements: fn(&Job) -> Result<u64, CallError>,
) -> State {
    State {
        name,
        element_type,
        place: StatePlace::Own,
        elements,
        invented: match element_type {
            ElementType::Int16 => |elements| vec![0; 2 * elements],
            _ => |elements| vec![0; 4 * elements],
        },
    }
}

/// Of which any numbers make sense.
const fn any(mut state: State) -> State {
    state.invented = match state.element_type {
        ElementType::Int16 => |elements| xorshift_bytes(3, 2 * elements),
        _ => |elements| xorshift_bytes(3, 4 * elements),
    };
    state
}

/// The noise of each channel.
pub(super) const NOISE: State = any(kept(
    "noise",
    ElementType::Uint32,
    |job| match options_of(job)? {
        Signal::Noise(noise) => Ok(noise.channels.into()),
        _ => Err(job.of_another_kind()),
    },
));

/// What came in before, and room for what comes in.
pub(super) const DELAYED: State = any(kept("delayed", ElementType::Int16, |job| {
    match (options_of(job)?, &job.case.operator) {
        (Signal::Delay { elements }, Operator::Staged(staged)) => {
            let of_row = u64::from(elements) + u64::from(staged.input_run);
            Ok(of_row.saturating_mul(staged.rounds.into()))
        }
        _ => Err(job.of_another_kind()),
    }
}));

/// Of each row what the next frame begins with.
pub(super) const FRAMED: State = kept("framed", ElementType::Int16, |job| {
    Ok(Framer::of(job)?.kept())
});

/// How much of it there is.
pub(super) const FRAMED_COUNT: State = kept("count", ElementType::Int32, |_| Ok(1));

/// The inputs that the next output begins with.
pub(super) const STACKED: State = kept("stacked", ElementType::Int16, |job| {
    match options_of(job)? {
        Signal::Stacker {
            channels,
            left,
            right,
            ..
        } => {
            let inputs = u64::from(left) + u64::from(right) + 1;
            Ok(inputs.saturating_mul(channels.into()))
        }
        _ => Err(job.of_another_kind()),
    }
});

/// How much of them there is, and whether there was an input.
pub(super) const STACKED_COUNTS: State = kept("counts", ElementType::Int32, |_| Ok(2));

/// Sums of each row that are not complete.
pub(super) const OVERLAPPED_S16: State = any(kept("overlapped", ElementType::Int16, overlapped));
/// The same of floats.
pub(super) const OVERLAPPED_F32: State = kept("overlapped", ElementType::Float32, overlapped);

fn overlapped(job: &Job) -> Result<u64, CallError> {
    let rows = overlapped_rows(job)?;
    match &job.case.operator {
        Operator::Staged(staged) => Ok(u64::from(rows) * u64::from(staged.input_run)),
        _ => Err(job.of_another_kind()),
    }
}
