//! Why a file has no kernels that can be called.

use crate::study::input::InputError;

/// Why a file has nothing to run a model on.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum KernelsError {
    #[error(
        "none of its functions is a kernel that can be called by its name (arm_*_s8 of CMSIS-NN, \
         dmo_*)\n  hint: a firmware with its own interpreter is named by --firmware; for TensorFlow Lite \
         Micro's reference kernels there is --kernels reference"
    )]
    None,
    #[error("cannot read {name}: {error}\n  hint: {hint}")]
    Unreadable {
        name: String,
        error: InputError,
        hint: String,
    },
    #[error(
        "it is built in for {built_for}, and {cpu} does not run their code\n  hint: \
         --kernels reference, --cpu {hint}, or --kernels with an ELF file or a static library that \
         is built for {cpu}"
    )]
    ForOtherCpus {
        built_for: String,
        cpu: &'static str,
        hint: &'static str,
    },
}
