//! What a core has: architecture and floating-point unit. An instruction is defined on a core
//! that meets what it needs.

/// Architecture of a core.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say all there is to say")]
pub enum Architecture {
    Armv6M,
    Armv7M,
    Armv7EM,
    Armv8MBaseline,
    Armv8MMainline,
    Armv81MMainline,
}

/// Floating-point unit, in ascending order: each has the instructions of those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FloatingPoint {
    /// None.
    None,
    /// FPv4, single precision.
    Fpv4Single,
    /// FPv5, single precision.
    Fpv5Single,
    /// FPv5, double precision.
    Fpv5Double,
}

/// What a program has asked to be a fault, in the core's configuration and control register (CCR).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Traps {
    /// Loads and stores of words and halfwords that are not aligned: UNALIGN_TRP.
    pub unaligned: bool,
    /// Divisions by zero: DIV_0_TRP.
    pub division: bool,
}

impl Traps {
    /// As after reset.
    pub const NONE: Self = Self {
        unaligned: false,
        division: false,
    };
}

/// What a core has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Features {
    /// Its architecture.
    pub architecture: Architecture,
    /// The DSP extension. Armv7E-M always has it; it is optional in Armv8-M Mainline.
    pub dsp: bool,
    /// Its floating-point unit.
    pub floating_point: FloatingPoint,
    /// What is a fault on it for now.
    pub traps: Traps,
}

/// What an instruction needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// Nothing: all cores have it.
    Base,
    /// Armv8-M Baseline, or Armv7-M: wide branches, MOVW, exclusives, divisions, CBZ.
    Baseline,
    /// Armv7-M, or Armv8-M Mainline.
    Mainline,
    /// The DSP extension.
    Dsp,
    /// Armv8-M: load-acquire, store-release, TT, security.
    Armv8,
    /// Armv8.1-M: conditional selects, low-overhead loops, CLRM.
    Armv81,
    /// A floating-point unit.
    Single,
    /// A floating-point unit with FPv5's instructions: VSEL, VMAXNM, VRINT and so on.
    Fpv5,
    /// A floating-point unit with double precision.
    Double,
    /// Helium, half precision, or a coprocessor: no core here has any.
    Extension,
}

impl Architecture {
    /// Whether a core of this architecture runs all code that was built for another. The two have
    /// no order: neither of Armv7-M and Armv8-M Baseline runs the code of the other.
    pub fn runs_code_of(self, other: Self) -> bool {
        use Architecture::{
            Armv6M, Armv7EM, Armv7M, Armv8MBaseline, Armv8MMainline, Armv81MMainline,
        };
        match other {
            Armv6M => true,
            Armv7M => !matches!(self, Armv6M | Armv8MBaseline),
            // What it has that Armv7-M has not is the DSP extension, a feature of its own.
            Armv7EM => matches!(self, Armv7EM | Armv8MMainline | Armv81MMainline),
            Armv8MBaseline => matches!(self, Armv8MBaseline | Armv8MMainline | Armv81MMainline),
            Armv8MMainline => matches!(self, Armv8MMainline | Armv81MMainline),
            Armv81MMainline => self == Armv81MMainline,
        }
    }
}

impl std::fmt::Display for Architecture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Architecture::Armv6M => "Armv6-M",
            Architecture::Armv7M => "Armv7-M",
            Architecture::Armv7EM => "Armv7E-M",
            Architecture::Armv8MBaseline => "Armv8-M Baseline",
            Architecture::Armv8MMainline => "Armv8-M Mainline",
            Architecture::Armv81MMainline => "Armv8.1-M",
        })
    }
}

impl std::fmt::Display for FloatingPoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            FloatingPoint::None => "no floating point",
            FloatingPoint::Fpv4Single => "floating point of version 4, single precision",
            FloatingPoint::Fpv5Single => "floating point of version 5, single precision",
            FloatingPoint::Fpv5Double => "floating point of version 5, double precision",
        })
    }
}

impl Features {
    /// Whether a core with these features runs all code that was built for one with others.
    pub fn run_code_of(&self, other: &Self) -> bool {
        self.architecture.runs_code_of(other.architecture)
            && self.dsp >= other.dsp
            && self.floating_point >= other.floating_point
    }

    /// Whether a core with these features has an instruction with these needs.
    pub fn meet(&self, needs: Needs) -> bool {
        use Architecture::{Armv6M, Armv7EM, Armv7M, Armv8MBaseline, Armv81MMainline};
        let architecture = self.architecture;
        match needs {
            Needs::Base => true,
            Needs::Baseline => architecture != Armv6M,
            Needs::Mainline => !matches!(architecture, Armv6M | Armv8MBaseline),
            Needs::Dsp => self.dsp,
            Needs::Armv8 => !matches!(architecture, Armv6M | Armv7M | Armv7EM),
            Needs::Armv81 => architecture == Armv81MMainline,
            Needs::Single => self.floating_point >= FloatingPoint::Fpv4Single,
            Needs::Fpv5 => self.floating_point >= FloatingPoint::Fpv5Single,
            Needs::Double => self.floating_point >= FloatingPoint::Fpv5Double,
            Needs::Extension => false,
        }
    }

    /// Whether the architecture is Armv8-M, whose stacks have limits.
    pub fn is_armv8(&self) -> bool {
        self.meet(Needs::Armv8)
    }

    /// Whether loads and stores of words and halfwords need not be aligned.
    pub fn allows_unaligned(&self) -> bool {
        self.meet(Needs::Mainline) && !self.traps.unaligned
    }
}

impl std::fmt::Display for Needs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Needs::Base => "Armv6-M",
            Needs::Baseline => "Armv8-M Baseline or Armv7-M",
            Needs::Mainline => "Armv7-M or Armv8-M Mainline",
            Needs::Dsp => "the DSP extension",
            Needs::Armv8 => "Armv8-M",
            Needs::Armv81 => "Armv8.1-M",
            Needs::Single => "a floating-point unit",
            Needs::Fpv5 => "a floating-point unit of version 5",
            Needs::Double => "double-precision floating point",
            Needs::Extension => "Helium, half precision or a coprocessor",
        })
    }
}
