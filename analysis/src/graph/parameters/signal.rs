//! Options of the signal library's operators, each within what its kernel computes with.

/// What an operator of TensorFlow Lite Micro's signal library computes with
/// (`signal/micro/kernels`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// `SignalWindow`: products are shifted to the right by this many bits, at most 31.
    Window {
        /// In bits.
        shift: u32,
    },
    /// `SignalEnergy`: of the complex numbers from one to before the other.
    Energy {
        /// The first.
        begin: u32,
        /// The one after the last.
        end: u32,
    },
    /// `SignalFilterBank`
    FilterBank {
        /// Channels that it makes.
        channels: u32,
    },
    /// `SignalFilterBankSpectralSubtraction`
    Noise(Noise),
    /// `SignalPCAN`: products are shifted to the right by this many bits, at most 63.
    GainControl {
        /// In bits.
        shift: u32,
    },
    /// `SignalFilterBankLog`
    Logarithm {
        /// The input is shifted to the left by this many bits, at most 31.
        correction_bits: u32,
        /// What natural logarithms are multiplied by.
        scale: u32,
    },
    /// `SignalRfft`, `SignalIrfft`: of this many real numbers.
    Transform {
        /// Even, and its half a product of 2, 3 and 5 other than 1.
        points: u32,
    },
    /// `SignalDelay`: by this many elements.
    Delay {
        /// In elements.
        elements: u32,
    },
    /// `SignalFramer`
    Framer {
        /// Streams, of each of which the input has as much.
        rows: u32,
        /// Elements of a frame, at least those of a step.
        frame: u32,
        /// Elements from the begin of one frame to that of the next; at least 1.
        step: u32,
        /// Whether zeros stand before the stream, so that the first step makes a frame.
        prefill: bool,
    },
    /// `SignalStacker`
    Stacker {
        /// Elements of an input.
        channels: u32,
        /// Inputs before each that its output holds.
        left: u32,
        /// Inputs after it.
        right: u32,
        /// Inputs from one output to the next; at least 1, and at most those of an output.
        step: u32,
    },
    /// `SignalOverlapAdd`
    OverlapAdd {
        /// Streams, of each of which the input has as much.
        rows: u32,
        /// Elements from the begin of one frame to that of the next.
        step: u32,
    },
}

/// Numbers of a noise estimate. Shares are fractions of `2^bits`; the second ones are those of odd
/// channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Noise {
    /// Channels that it has.
    pub channels: u32,
    /// Shares of the signal.
    pub smoothing: [u32; 2],
    /// Shares of the estimate before.
    pub one_minus_smoothing: [u32; 2],
    /// The share of the signal that always remains.
    pub min_signal_remaining: u32,
    /// The estimate has this many bits more than the signal, at most 31.
    pub smoothing_bits: u32,
    /// At most 63.
    pub bits: u32,
    /// Whether the estimate is at most the signal.
    pub clamping: bool,
}
