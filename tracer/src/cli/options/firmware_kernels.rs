//! Options that name a firmware whose interpreter runs the model.

use super::firmware::arena_place;
use dmo_trace::study::KERNEL_LIMITS;
use dmo_trace::study::StudyError;
use dmo_trace::study::firmware_kernels::{FirmwareKernelRequest, FirmwareKernels};
use dmo_trace::study::source::Source;
use dmo_trace::words::names::pasted;
use std::path::PathBuf;

/// A firmware as the kernels.
#[derive(Debug, clap::Args, Clone)]
pub struct FirmwareKernelArguments {
    /// Instead of kernels: firmware whose own TensorFlow Lite Micro runs the model in place of its
    /// own, with whatever operators and kernels it has; an ELF file with its symbols
    /// (docs/firmware.md)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["kernels", "cmsis_nn_version"])]
    firmware: Option<PathBuf>,
    /// The firmware's tensor arena: a symbol, or addresses, for example 0x20000000:64K [default:
    /// what the firmware hands to its interpreter]
    #[arg(long, value_name = "SYMBOL", requires = "firmware")]
    arena: Option<String>,
}

impl FirmwareKernelArguments {
    /// Whether there is one.
    pub fn is_named(&self) -> bool {
        self.firmware.is_some()
    }

    /// The options again, for a command that is proposed.
    pub fn again(&self) -> String {
        let firmware = self
            .firmware
            .iter()
            .map(|path| (" --firmware", path.to_string_lossy().into_owned()));
        let arena = self.arena.iter().map(|arena| (" --arena", arena.clone()));
        let all = firmware.chain(arena);
        all.map(|(option, value)| format!("{option} {}", pasted(&value)))
            .collect()
    }

    /// The firmware that is named, at its first inference.
    pub fn load(
        &self,
        source: &Source,
        cpu: Option<&String>,
    ) -> anyhow::Result<Option<FirmwareKernels>> {
        let Some(path) = &self.firmware else {
            return Ok(None);
        };
        let request = FirmwareKernelRequest {
            path: path.clone(),
            arena: self.arena.as_deref().map(arena_place).transpose()?,
            cpu: cpu.cloned(),
            limits: KERNEL_LIMITS,
        };
        let loaded: Result<FirmwareKernels, StudyError> = request.load(source);
        Ok(Some(loaded?))
    }
}
