//! Which kernels to call, as the user says it.

use dmo_trace::study::StudyError;
use dmo_trace::study::kernel_request::{KernelRequest, NamedKernels, REFERENCE};

/// Kernels and CPU.
#[derive(Debug, clap::Args, Clone)]
pub struct LibraryArguments {
    /// Kernels to run: reference, dsp, dsp-channels-outside, or an ELF file or static library (.a)
    /// with functions of the same names
    #[arg(long, value_name = "SET|FILE", default_value = REFERENCE)]
    pub kernels: String,
    /// CPU to emulate [default: the one that the kernels were built for]
    #[arg(long)]
    pub cpu: Option<String>,
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
    /// What they ask for.
    pub fn request(&self) -> KernelRequest {
        KernelRequest {
            kernels: self.kernels.clone(),
            cpu: self.cpu.clone(),
            cmsis_nn_version: self.cmsis_nn_version,
        }
    }

    /// Reads the kernels.
    pub fn load(&self) -> Result<NamedKernels, StudyError> {
        self.request().load()
    }
}
