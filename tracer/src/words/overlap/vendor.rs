//! A vendor's statement on a kernel, beside the measurement.

use crate::kernels::{Sharing, header_statement};
use dmo_analysis::wording::grouped;
use schemars::JsonSchema;
use serde::Serialize;

/// A vendor's word and the measured verdict.
#[derive(Debug, JsonSchema, Serialize)]
pub struct VendorContract {
    /// `forbidden` or `unmentioned`.
    sharing: &'static str,
    /// In our own words.
    words: &'static str,
    /// The first and the last version of the header in which it was read.
    header_versions: [u8; 2],
    /// What each pair may share as measured, in bytes.
    measured_bytes: Vec<u32>,
}

impl VendorContract {
    /// The header's statement on a function, beside the bytes that each of its pairs may share as
    /// measured; `None` if no header was searched for it.
    pub fn of(function: &str, measured_bytes: Vec<u32>) -> Option<Self> {
        let statement = header_statement(function)?;
        let (sharing, words) = match statement.sharing {
            Sharing::Forbidden => ("forbidden", "input and output must not overlap"),
            Sharing::Unmentioned => (
                "unmentioned",
                "nothing is said of input and output in one memory",
            ),
        };
        Some(Self {
            sharing,
            words,
            header_versions: statement.versions.bounds(),
            measured_bytes,
        })
    }

    /// Both in two lines.
    pub fn text(&self) -> String {
        let [first, last] = self.header_versions;
        let measured = match self.measured_bytes.as_slice() {
            [bytes] => format!("they may share {} bytes", grouped((*bytes).into())),
            bytes => {
                let bytes: Vec<String> = bytes.iter().map(|&bytes| grouped(bytes.into())).collect();
                format!("pair by pair they may share {} bytes", bytes.join(", "))
            }
        };
        format!(
            "written (header of CMSIS-NN {first} to {last}): {}\nmeasured: {measured}\n",
            self.words
        )
    }
}
