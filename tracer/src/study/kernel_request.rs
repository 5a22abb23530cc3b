//! Kernels to run: a set that is built in, an ELF file, or a static library.

use super::error::{About, StudyError};
use super::input;
use crate::call::archive::{self, ArchiveError};
use crate::call::{CallError, DEFAULT_RAM};
use crate::kernels::{KernelLibrary, images};
use crate::mcu::cpu::CpuError;

/// The built-in set that stands for TensorFlow Lite's reference kernels.
pub const REFERENCE: &str = "reference";

/// An ELF file of kernels may not have more bytes.
const MAX_BYTES: u64 = 512 << 20;

/// Which kernels, on which CPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelRequest {
    /// Name of a set that is built in, or path of an ELF file or a static library.
    pub kernels: String,
    /// Model of the CPU; `None`: what the kernels were built for.
    pub cpu: Option<String>,
    /// Version of the CMSIS-NN interface; `None`: as far as the functions of the file tell.
    pub cmsis_nn_version: Option<u8>,
}

/// The reference kernels.
impl Default for KernelRequest {
    fn default() -> Self {
        Self {
            kernels: REFERENCE.to_owned(),
            cpu: None,
            cmsis_nn_version: None,
        }
    }
}

/// Kernels that were read, and how the user calls them.
pub struct NamedKernels {
    /// The name of the set, or the path.
    pub name: String,
    /// The kernels.
    pub library: KernelLibrary,
}

impl KernelRequest {
    /// Reads the kernels.
    ///
    /// # Errors
    /// When there are none of that name, they are for another CPU, or of another version.
    pub fn load(&self) -> Result<NamedKernels, StudyError> {
        let cpu = self.cpu.as_deref();
        let library = match images::find(&self.kernels, cpu) {
            Some(image) => KernelLibrary::new(image.elf, cpu, DEFAULT_RAM),
            None => KernelLibrary::new(&self.read()?, cpu, DEFAULT_RAM),
        };
        let library = library.map_err(|error| match error {
            CallError::Cpu(error @ CpuError::Unknown { .. }) => StudyError::from(error),
            error => StudyError::from(error).about(&self.kernels),
        })?;
        let library = match self.cmsis_nn_version {
            Some(version) => library.of_version(version).about(&self.kernels)?,
            None => library,
        };
        Ok(NamedKernels {
            name: self.kernels.clone(),
            library,
        })
    }

    /// The ELF file, linked where the user has a static library.
    fn read(&self) -> Result<Vec<u8>, StudyError> {
        let sets = "reference, dsp and dsp-channels-outside are built in";
        let read = input::read(self.kernels.as_ref(), MAX_BYTES)
            .about(format_args!("cannot read {} ({sets})", self.kernels))?;
        if !archive::is_archive(&read) {
            return Ok(read);
        }
        archive::link(&read, self.cpu.as_deref()).map_err(|error| match error {
            ArchiveError::Cpu {
                error: error @ CpuError::Unknown { .. },
                ..
            } => StudyError::from(error),
            error => StudyError::from(error).about(&self.kernels),
        })
    }
}

impl StudyError {
    /// Whether kernels are not for the CPU that they are to run on.
    pub fn is_for_another_cpu(&self) -> bool {
        match self {
            Self::In { source, .. } => source.is_for_another_cpu(),
            Self::Call(CallError::Cpu(error)) | Self::Archive(ArchiveError::Cpu { error, .. }) => {
                matches!(error, CpuError::Lacks { .. })
            }
            _ => false,
        }
    }
}
