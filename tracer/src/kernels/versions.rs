//! Versions of the CMSIS-NN interface: which a function is called in one way in, and which a
//! library may be of.
//!
//! Source: the headers `arm_nnfunctions.h` of 4.0.0 to 7.0.0 and the release notes of 5.0.0
//! and 6.0.0. What a library lacks says nothing, for a linker may have left it out: only what
//! it has narrows its version down.

use std::fmt;

/// Major versions, from the first to the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Versions {
    first: u8,
    last: u8,
}

/// All that are known.
pub const KNOWN: Versions = Versions { first: 4, last: 7 };

/// Functions that not every version has.
const EVIDENCE: [(&str, Versions); 26] = [
    ("arm_convolve_wrapper_s4", Versions::since(5)),
    ("arm_convolve_s4", Versions::since(5)),
    ("arm_convolve_1x1_s4", Versions::since(5)),
    ("arm_convolve_1x1_s4_fast", Versions::since(5)),
    ("arm_depthwise_conv_wrapper_s4", Versions::since(5)),
    ("arm_depthwise_conv_s4", Versions::since(5)),
    ("arm_depthwise_conv_s4_opt", Versions::since(5)),
    ("arm_fully_connected_s4", Versions::since(5)),
    ("arm_svdf_s8_get_buffer_size", Versions::since(5)),
    ("arm_transpose_conv_s8", Versions::since(5)),
    ("arm_vector_sum_s8", Versions::since(5)),
    ("arm_convolve_1_x_n_s4", Versions::since(6)),
    ("arm_lstm_unidirectional_s8", Versions::since(6)),
    ("arm_convolve_even_s4", Versions::since(7)),
    ("arm_batch_matmul_s8", Versions::since(7)),
    ("arm_batch_matmul_s16", Versions::since(7)),
    ("arm_fully_connected_per_channel_s8", Versions::since(7)),
    ("arm_fully_connected_wrapper_s8", Versions::since(7)),
    ("arm_maximum_s8", Versions::since(7)),
    ("arm_minimum_s8", Versions::since(7)),
    ("arm_pad_s8", Versions::since(7)),
    ("arm_transpose_conv_wrapper_s8", Versions::since(7)),
    ("arm_transpose_s8", Versions::since(7)),
    ("arm_convolve_fast_s16", Versions::until(5)),
    ("arm_convolve_fast_s16_get_buffer_size", Versions::until(5)),
    ("arm_lstm_unidirectional_s16_s8", Versions::until(5)),
];

/// Why the version of a library is not known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum VersionError {
    #[error("there is no interface of CMSIS-NN {given}: versions {KNOWN} are known")]
    Unknown { given: u8 },
    #[error(
        "the library has {function}, which CMSIS-NN has in versions {of} only, and is said to be of version {given}"
    )]
    Contradicted {
        function: &'static str,
        of: Versions,
        given: u8,
    },
}

impl Versions {
    const fn since(first: u8) -> Self {
        KNOWN.from(first)
    }

    const fn until(last: u8) -> Self {
        KNOWN.to(last)
    }

    /// Those of them from this one on.
    pub(super) const fn from(self, first: u8) -> Self {
        Self { first, ..self }
    }

    /// Those of them up to this one.
    pub(super) const fn to(self, last: u8) -> Self {
        Self { last, ..self }
    }

    /// What a library may be of, by the functions that it has.
    ///
    /// Functions that no version has together are those of a library that goes on by itself:
    /// it may be of any version.
    pub fn of_functions(has: impl Fn(&str) -> bool) -> Self {
        let found = EVIDENCE.iter().filter(|(function, _)| has(function));
        let all = found.fold(KNOWN, |all, (_, versions)| Self {
            first: all.first.max(versions.first),
            last: all.last.min(versions.last),
        });
        if all.first <= all.last { all } else { KNOWN }
    }

    /// A version that the user names, of a library that has these functions.
    ///
    /// # Errors
    /// When it is not known, or the library has a function that it has not.
    pub fn named(given: u8, has: impl Fn(&str) -> bool) -> Result<Self, VersionError> {
        let named = Self {
            first: given,
            last: given,
        };
        if !KNOWN.cover(named) {
            return Err(VersionError::Unknown { given });
        }
        let mut evidence = EVIDENCE.iter();
        match evidence.find(|(function, of)| !of.cover(named) && has(function)) {
            None => Ok(named),
            Some(&(function, of)) => Err(VersionError::Contradicted {
                function,
                of,
                given,
            }),
        }
    }

    /// All of `others` are among these.
    pub const fn cover(self, others: Self) -> bool {
        self.first <= others.first && others.last <= self.last
    }

    /// The first and the last.
    pub const fn bounds(self) -> [u8; 2] {
        [self.first, self.last]
    }
}

impl fmt::Display for Versions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.first == self.last {
            write!(formatter, "{}", self.first)
        } else {
            write!(formatter, "{} to {}", self.first, self.last)
        }
    }
}
