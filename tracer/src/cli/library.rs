//! Which kernels to call, as the user says it.

use super::input;
use anyhow::Context;
use dmo_trace::call::archive::{self, ArchiveError};
use dmo_trace::call::{CallError, DEFAULT_RAM};
use dmo_trace::kernels::{KernelLibrary, images};
use dmo_trace::mcu::cpu::CpuError;

/// An ELF file of kernels may not have more bytes.
const MAX_BYTES: u64 = 512 << 20;

/// Kernels and CPU.
#[derive(Debug, clap::Args, Clone)]
pub struct LibraryArguments {
    /// Kernels to run: reference, dsp, dsp-channels-outside, or an ELF file or static library (.a)
    /// with functions of the same names
    #[arg(long, value_name = "SET|FILE", default_value = "reference")]
    pub kernels: String,
    /// CPU to emulate [default: the one that the kernels were built for]
    #[arg(long)]
    pub cpu: Option<String>,
    #[command(flatten)]
    pub version: VersionArgument,
}

/// The interface of kernels that are not built in.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, clap::Args)]
pub struct VersionArgument {
    /// Version of the CMSIS-NN interface, 4 to 7 [default: deduced from the file's functions]
    #[arg(long, value_name = "N")]
    pub cmsis_nn_version: Option<u8>,
}

/// One kernel of several that compute the same.
#[derive(clap::Args, Clone)]
pub struct FunctionArgument {
    /// Kernel function to call [default: the first that computes this operator]
    #[arg(long, value_name = "NAME")]
    pub function: Option<String>,
}

impl LibraryArguments {
    /// Reads the kernels.
    pub fn load(&self) -> anyhow::Result<KernelLibrary> {
        let cpu = self.cpu.as_deref();
        let library = match images::find(&self.kernels, cpu) {
            Some(image) => KernelLibrary::new(image.elf, cpu, DEFAULT_RAM),
            None => KernelLibrary::new(&self.read()?, cpu, DEFAULT_RAM),
        };
        let library = match library {
            // The kernels have nothing to do with it.
            Err(CallError::Cpu(error @ CpuError::Unknown { .. })) => return Err(error.into()),
            library => library.with_context(|| self.kernels.clone())?,
        };
        match self.version.cmsis_nn_version {
            Some(version) => library
                .of_version(version)
                .with_context(|| self.kernels.clone()),
            None => Ok(library),
        }
    }

    /// The ELF file, linked where the user has a static library.
    fn read(&self) -> anyhow::Result<Vec<u8>> {
        let sets = "reference, dsp and dsp-channels-outside are built in";
        let read = input::read(self.kernels.as_ref(), MAX_BYTES)
            .with_context(|| format!("cannot read {} ({sets})", self.kernels))?;
        if !archive::is_archive(&read) {
            return Ok(read);
        }
        match archive::link(&read, self.cpu.as_deref()) {
            Err(ArchiveError::Cpu {
                error: error @ CpuError::Unknown { .. },
                ..
            }) => Err(error.into()),
            linked => linked.with_context(|| self.kernels.clone()),
        }
    }
}

/// The kernels are not for this CPU.
pub fn is_for_another_cpu(error: &anyhow::Error) -> bool {
    let linked = matches!(
        error.downcast_ref(),
        Some(ArchiveError::Cpu {
            error: CpuError::Lacks { .. },
            ..
        })
    );
    linked
        || matches!(
            error.downcast_ref(),
            Some(CallError::Cpu(CpuError::Lacks { .. }))
        )
}
