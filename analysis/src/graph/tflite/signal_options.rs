//! Options of the signal library of TensorFlow Lite Micro: a map of names to numbers, of which the
//! runtime takes each as 32 bits (`signal/micro/kernels`).

use super::custom_options::Options;
use super::error::Unsupported;
use super::flexbuffer::Map;
use crate::graph::Kind;
use crate::graph::parameters::{Noise, Signal};

/// The names of an operator's options in the order of the alphabet, which is that of the map: the runtime takes most
/// options by their position.
fn names(kind: &Kind) -> &'static [&'static str] {
    match kind {
        Kind::SignalWindow => &["shift"],
        Kind::SignalEnergy => &["end_index", "start_index"],
        Kind::SignalFilterBank => &["num_channels"],
        Kind::SignalFilterBankSpectralSubtraction => &[
            "alternate_one_minus_smoothing",
            "alternate_smoothing",
            "clamping",
            "min_signal_remaining",
            "num_channels",
            "one_minus_smoothing",
            "smoothing",
            "smoothing_bits",
            "spectral_subtraction_bits",
        ],
        Kind::SignalPcan => &["snr_shift"],
        Kind::SignalFilterBankLog => &["input_correction_bits", "output_scale"],
        Kind::SignalRfft | Kind::SignalIrfft => &["T", "fft_length"],
        Kind::SignalDelay => &["delay_length"],
        Kind::SignalFramer => &["frame_size", "frame_step", "prefill"],
        Kind::SignalStacker => &[
            "num_channels",
            "stacker_left_context",
            "stacker_right_context",
            "stacker_step",
        ],
        Kind::SignalOverlapAdd => &["T", "frame_step"],
        _ => &[],
    }
}

/// What an operator of the library computes with, whose first input has this shape; `None` if it has
/// no options, or is of another kind.
///
/// # Errors
/// When an option is missing, or beyond what kernels compute with.
pub(super) fn read(
    kind: &Kind,
    custom: Option<&[u8]>,
    shape: &[u32],
) -> Result<Option<Signal>, Unsupported> {
    let options = Options(custom.and_then(Map::read));
    let signal = match kind {
        Kind::SignalWindow => Signal::Window {
            shift: options.at_most("shift", 31, "0 to 31")?,
        },
        Kind::SignalEnergy => options.energy()?,
        Kind::SignalFilterBank => Signal::FilterBank {
            channels: options.at_least("num_channels", 1, POSITIVE)?,
        },
        Kind::SignalFilterBankSpectralSubtraction => Signal::Noise(options.noise()?),
        Kind::SignalPcan => Signal::GainControl {
            shift: options.at_most("snr_shift", 63, "0 to 63")?,
        },
        Kind::SignalFilterBankLog => Signal::Logarithm {
            correction_bits: options.at_most("input_correction_bits", 31, "0 to 31")?,
            scale: options.word("output_scale")?,
        },
        Kind::SignalRfft | Kind::SignalIrfft => options.transform()?,
        Kind::SignalDelay => Signal::Delay {
            elements: options.at_least("delay_length", 0, "0 or above")?,
        },
        Kind::SignalFramer => options.framer(rows(shape, 1))?,
        Kind::SignalStacker => options.stacker()?,
        Kind::SignalOverlapAdd => Signal::OverlapAdd {
            rows: rows(shape, 2),
            step: options.at_least("frame_step", 1, POSITIVE)?,
        },
        _ => return Ok(None),
    };
    let names = names(kind);
    if !options.0.is_some_and(|map| map.has_names(names)) {
        return Err(Unsupported::Option {
            option: "custom_options",
            given: "a map of other names too".to_owned(),
            expected: "the options of TensorFlow Lite Micro alone",
        });
    }
    Ok(Some(signal))
}

const POSITIVE: &str = "a positive number";
/// No buffer that kernels take has more elements.
const MOST: i64 = 1 << 24;

/// Elements of the axes before these last ones; 0 if there are too many.
fn rows(shape: &[u32], last: usize) -> u32 {
    let mut before = shape.iter().rev().skip(last);
    let product = before.try_fold(1u32, |product, &extent| product.checked_mul(extent));
    product.unwrap_or(0)
}

impl Options<'_> {
    fn at_least(
        &self,
        option: &'static str,
        least: i64,
        expected: &'static str,
    ) -> Result<u32, Unsupported> {
        Ok(self.within(option, [least, MOST], expected)? as u32)
    }

    fn at_most(
        &self,
        option: &'static str,
        most: i64,
        expected: &'static str,
    ) -> Result<u32, Unsupported> {
        Ok(self.within(option, [0, most], expected)? as u32)
    }

    /// Any number of 32 bits, as the runtime converts it to an unsigned one.
    fn word(&self, option: &'static str) -> Result<u32, Unsupported> {
        let range = [i32::MIN, i32::MAX].map(i64::from);
        Ok(self.within(option, range, "a number of 32 bits")? as u32)
    }

    fn energy(&self) -> Result<Signal, Unsupported> {
        let begin = self.at_least("start_index", 0, "0 or above")?;
        let end = self.at_least("end_index", begin.into(), "start_index or above")?;
        Ok(Signal::Energy { begin, end })
    }

    fn noise(&self) -> Result<Noise, Unsupported> {
        let words = |one, other| Ok::<_, Unsupported>([self.word(one)?, self.word(other)?]);
        Ok(Noise {
            channels: self.at_least("num_channels", 1, POSITIVE)?,
            smoothing: words("smoothing", "alternate_smoothing")?,
            one_minus_smoothing: words("one_minus_smoothing", "alternate_one_minus_smoothing")?,
            min_signal_remaining: self.word("min_signal_remaining")?,
            smoothing_bits: self.at_most("smoothing_bits", 31, "0 to 31")?,
            bits: self.at_most("spectral_subtraction_bits", 63, "0 to 63")?,
            clamping: self.word("clamping")? != 0,
        })
    }

    /// The runtime's library has memory for radices up to 5 only.
    fn transform(&self) -> Result<Signal, Unsupported> {
        let points = self.at_least("fft_length", 4, "4 or above")?;
        let rest = [2, 3, 5].into_iter().fold(points / 2, |mut rest, prime| {
            while rest.is_multiple_of(prime) {
                rest /= prime;
            }
            rest
        });
        if rest != 1 || !points.is_multiple_of(2) {
            return Err(Unsupported::Option {
                option: "fft_length",
                given: points.to_string(),
                expected: "an even number whose half is a product of 2, 3 and 5",
            });
        }
        Ok(Signal::Transform { points })
    }

    fn framer(&self, rows: u32) -> Result<Signal, Unsupported> {
        let step = self.at_least("frame_step", 1, POSITIVE)?;
        Ok(Signal::Framer {
            rows,
            frame: self.at_least("frame_size", step.into(), "frame_step or above")?,
            step,
            prefill: self.word("prefill")? != 0,
        })
    }

    fn stacker(&self) -> Result<Signal, Unsupported> {
        let left = self.at_least("stacker_left_context", 0, "0 or above")?;
        let right = self.at_least("stacker_right_context", 0, "0 or above")?;
        let all = [1, i64::from(left) + i64::from(right) + 1];
        let step = self.within("stacker_step", all, "1 to the inputs of an output")?;
        Ok(Signal::Stacker {
            channels: self.at_least("num_channels", 1, POSITIVE)?,
            left,
            right,
            step: step as u32,
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, clippy::panic, reason = "a test may fail loudly")]

    use super::*;

    /// Of each operator that has some.
    #[test]
    fn missing_options_are_refused() {
        let names = crate::graph::tflite::registered();
        let signals = names.filter(|kind| kind.name().starts_with("Signal"));
        let [mut refused, mut without] = [0, 0];
        for kind in signals {
            match read(&kind, None, &[2, 3]) {
                Ok(None) => without += 1,
                Ok(Some(found)) => panic!("{kind}: {found:?}"),
                Err(problem) => {
                    assert!(
                        problem.to_string().contains("is missing, expected"),
                        "{kind}"
                    );
                    refused += 1;
                }
            }
        }
        assert_eq!([refused, without], [12, 2]);
    }

    /// `{"a": 1, "shift": 3}`: the runtime would take the first one for the shift.
    #[test]
    fn further_options_are_refused() {
        let own = b"shift\0\x01\x07\x01\x01\x01\x03\x04\x02\x24\x01";
        let more = b"a\0shift\0\x02\x09\x08\x02\x01\x02\x01\x03\x04\x04\x04\x24\x01";
        let map = Map::read(more).expect("a map");
        assert_eq!([map.integer("a"), map.integer("shift")], [Some(1), Some(3)]);
        let read = |options| read(&Kind::SignalWindow, Some(options), &[2, 12]);
        assert!(matches!(read(own), Ok(Some(Signal::Window { shift: 3 }))));
        let problem = read(more).map_err(|problem| problem.to_string());
        assert!(problem.is_err_and(|it| it.contains("other names too")));
    }

    /// `{"frame_size": 3, "frame_step": 4, "prefill": True}`: a frame is no shorter than a step.
    #[test]
    fn options_that_no_kernel_takes_are_refused() {
        let short = b"frame_size\0frame_step\0prefill\0\x03\x1f\x15\x0b\x03\x01\x03\x03\x04\x01\x04\x04h\x06\x24\x01";
        let map = Map::read(short).expect("a map");
        assert_eq!(map.integer("frame_size"), Some(3));
        let found = read(&Kind::SignalFramer, Some(short), &[2, 12]);
        let told = "its frame_size is 3, expected frame_step or above";
        assert_eq!(
            found.map_err(|problem| problem.to_string()),
            Err(told.to_owned())
        );
    }
}
