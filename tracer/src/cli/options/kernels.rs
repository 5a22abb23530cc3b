//! Which kernels to call, as the user says it.

use super::flash::FlashArguments;
use dmo_trace::study::StudyError;
use dmo_trace::study::kernel_request::{KernelRequest, ModelKernels, NamedKernels, REFERENCE};
use dmo_trace::words::names::pasted;

/// Kernels and CPU.
#[derive(Debug, clap::Args, Clone)]
pub struct LibraryArguments {
    /// Kernels to run: reference, dsp, dsp-packed, plain, dsp-channels-outside, or an ELF file or static library (.a)
    /// with functions of the same names
    #[arg(long, value_name = "SET|FILE", default_value = REFERENCE)]
    pub kernels: String,
    /// CPU to emulate [default: the one that the kernels were built for]
    #[arg(long)]
    pub cpu: Option<String>,
    /// Version of the CMSIS-NN interface, 4 to 7 [default: deduced from the file's functions]
    #[arg(long, value_name = "N")]
    pub cmsis_nn_version: Option<u8>,
    #[command(flatten)]
    pub flash: FlashArguments,
}

/// One kernel of several that compute the same.
#[derive(clap::Args, Clone)]
pub struct FunctionArgument {
    /// Kernel function to call [default: the first that computes this operator]
    #[arg(long, value_name = "NAME")]
    pub function: Option<String>,
}

/// The options that name these kernels, each after a space.
pub fn kernels_again<'a>(
    kernels: impl Iterator<Item = &'a String>,
    cpu: Option<&String>,
    cmsis_nn_version: Option<u8>,
) -> String {
    let kernels = kernels.map(|it| format!(" --kernels {}", pasted(it)));
    let cpu = cpu.map(|it| format!(" --cpu {it}"));
    let version = cmsis_nn_version.map(|it| format!(" --cmsis-nn-version {it}"));
    kernels.chain(cpu).chain(version).collect()
}

impl LibraryArguments {
    /// What they ask for.
    pub fn request(&self) -> KernelRequest {
        KernelRequest {
            kernels: self.kernels.clone(),
            further: Vec::new(),
            cpu: self.cpu.clone(),
            cmsis_nn_version: self.cmsis_nn_version,
            flash_timing: self.flash.timing(),
            ..KernelRequest::default()
        }
    }

    /// Reads the kernels.
    pub fn load(&self) -> Result<NamedKernels, StudyError> {
        self.request().load_one()
    }
}

/// Kernels of a whole model and CPU.
#[derive(Debug, clap::Args, Clone)]
pub struct ModelKernelArguments {
    /// Kernels to run: reference, dsp, dsp-packed, plain, dsp-channels-outside, or an ELF file or static library (.a)
    /// with functions of the same names; repeatable: each computes what those before it cannot,
    /// and the reference kernels what none has a function for
    #[arg(long, value_name = "SET|FILE", default_value = REFERENCE)]
    pub kernels: Vec<String>,
    /// CPU to emulate [default: the one that the first kernels were built for]
    #[arg(long)]
    pub cpu: Option<String>,
    /// Version of the CMSIS-NN interface, 4 to 7 [default: deduced from the file's functions]
    #[arg(long, value_name = "N")]
    pub cmsis_nn_version: Option<u8>,
    #[command(flatten)]
    pub flash: FlashArguments,
}

impl ModelKernelArguments {
    /// The options by which other commands take the same kernels, each after a space. The reference
    /// kernels too: without any, plans follow formulas, of operators without a kernel as well.
    pub fn again(&self) -> String {
        kernels_again(
            self.kernels.iter(),
            self.cpu.as_ref(),
            self.cmsis_nn_version,
        )
    }

    /// Reads the kernels.
    pub fn load(&self) -> Result<ModelKernels, StudyError> {
        let request =
            KernelRequest::of_model(&self.kernels, self.cpu.clone(), self.cmsis_nn_version);
        let flash_timing = self.flash.timing();
        KernelRequest {
            flash_timing,
            ..request
        }
        .load()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

    use super::ModelKernelArguments;
    use clap::Parser;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        kernels: ModelKernelArguments,
    }

    /// A plan without kernels may be for others than these.
    #[test]
    fn the_reference_kernels_are_named_too() {
        let again = |arguments: &[&str]| {
            let arguments = [&["plan"], arguments].concat();
            Command::try_parse_from(arguments).unwrap().kernels.again()
        };
        assert_eq!(again(&[]), " --kernels reference");
        let given = [
            "--kernels",
            "dsp",
            "--kernels",
            "own.a",
            "--cpu",
            "cortex-m7",
        ];
        assert_eq!(again(&given), format!(" {}", given.join(" ")));
    }
}
