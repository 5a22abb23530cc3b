//! Kernels to run: a set that is built in, an ELF file, or a static library.

use super::error::{About, KernelsError, StudyError};
use super::input;
use crate::call::archive::{self, ArchiveError};
use crate::call::{CallError, DEFAULT_RAM};
use crate::kernels::{KernelLibrary, images};
use crate::mcu::cpu::{Cpu, CpuError};
use crate::mcu::cycles::FlashTiming;
use crate::model::KernelSource;

/// The built-in set that stands for TensorFlow Lite's reference kernels.
pub const REFERENCE: &str = "reference";

/// An ELF file of kernels may not have more bytes.
const MAX_BYTES: u64 = 512 << 20;

/// Which kernels, on which CPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelRequest {
    /// Name of a set that is built in, or path of an ELF file or a static library.
    pub kernels: String,
    /// The same, for operators of a model that those before cannot compute.
    pub further: Vec<String>,
    /// Model of the CPU; `None`: what the first kernels were built for.
    pub cpu: Option<String>,
    /// Version of the CMSIS-NN interface; `None`: as far as the functions of the file tell.
    pub cmsis_nn_version: Option<u8>,
    /// Flash memory that makes the CPU wait, as far as cycles are estimated.
    pub flash_timing: Option<FlashTiming>,
    /// Only kernels that always compute what TensorFlow Lite Micro's reference kernels do.
    pub is_exact: bool,
}

/// The reference kernels.
impl Default for KernelRequest {
    fn default() -> Self {
        Self {
            kernels: REFERENCE.to_owned(),
            further: Vec::new(),
            cpu: None,
            cmsis_nn_version: None,
            flash_timing: None,
            is_exact: false,
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

/// The kernels of whole models.
pub struct ModelKernels {
    /// At least one library, the preferred one first.
    pub libraries: Vec<NamedKernels>,
    /// The last one is [`REFERENCE`], and nobody has named it: it computes what no other library
    /// has any function for, as TensorFlow Lite Micro takes its reference kernels there.
    pub has_fallback: bool,
}

impl ModelKernels {
    /// Those that were named.
    pub fn named(&self) -> &[NamedKernels] {
        let count = self.libraries.len() - usize::from(self.has_fallback);
        &self.libraries[..count]
    }

    /// The names of those that were given.
    pub fn name(&self) -> String {
        let names = self.named().iter().map(|kernels| kernels.name.as_str());
        names.collect::<Vec<_>>().join(", ")
    }

    /// As on the command line, after the first `--kernels`.
    pub(super) fn options(&self) -> String {
        let names = self.named().iter().map(|kernels| kernels.name.as_str());
        names.collect::<Vec<_>>().join(" --kernels ")
    }

    /// The CPU that they run on.
    pub fn cpu(&self) -> Cpu {
        self.libraries[0].library.cpu()
    }

    /// For a model.
    pub(super) fn sources(&self) -> Vec<KernelSource<'_>> {
        let libraries = self.libraries.iter().enumerate();
        let named = self.named().len();
        let sources = libraries.map(|(position, kernels)| KernelSource {
            library: &kernels.library,
            stands_for_reference: kernels.name == REFERENCE,
            is_fallback: position >= named,
        });
        sources.collect()
    }
}

impl KernelRequest {
    /// The libraries of a whole model in the order in which they are given; if there are none, the
    /// reference kernels.
    pub fn of_model(kernels: &[String], cpu: Option<String>, cmsis_nn_version: Option<u8>) -> Self {
        let (first, further) = match kernels {
            [first, further @ ..] => (first.clone(), further.to_vec()),
            [] => (REFERENCE.to_owned(), Vec::new()),
        };
        Self {
            kernels: first,
            further,
            cpu,
            cmsis_nn_version,
            ..Self::default()
        }
    }

    /// The names that are given.
    pub fn names(&self) -> String {
        let names = std::iter::once(&self.kernels).chain(&self.further);
        names.map(String::as_str).collect::<Vec<_>>().join(", ")
    }

    /// Reads the kernels as TensorFlow Lite Micro calls them, or, if they are to be exact, as C code does
    /// that calls each of them; and the reference kernels for what they lack, where these run on the same
    /// CPU.
    ///
    /// # Errors
    /// When there are none of that name, they are for another CPU, or of another version.
    pub fn load(&self) -> Result<ModelKernels, StudyError> {
        let mut libraries = vec![self.load_one()?];
        let cpu = libraries[0].library.cpu().name;
        let on_cpu = |kernels: &str, cmsis_nn_version| Self {
            kernels: kernels.to_owned(),
            further: Vec::new(),
            cpu: Some(cpu.to_owned()),
            cmsis_nn_version,
            flash_timing: self.flash_timing,
            is_exact: self.is_exact,
        };
        for further in &self.further {
            libraries.push(on_cpu(further, None).load_one()?);
        }
        for kernels in &libraries {
            // Everything would run on the reference kernels, and nothing on these.
            if kernels.library.entries().is_empty() {
                return Err(StudyError::from(KernelsError::None).about(&kernels.name));
            }
        }
        let is_reference = |kernels: &NamedKernels| kernels.name == REFERENCE;
        let fallback = if libraries.iter().any(is_reference) {
            None
        } else {
            match on_cpu(REFERENCE, None).load_one() {
                Ok(reference) => Some(reference),
                Err(error) if error.is_for_another_cpu() => None,
                Err(error) => return Err(error),
            }
        };
        let has_fallback = fallback.is_some();
        libraries.extend(fallback);
        let as_called = |kernels: NamedKernels| NamedKernels {
            library: if self.is_exact {
                kernels.library
            } else {
                kernels.library.of_runtime()
            },
            name: kernels.name,
        };
        let libraries: Vec<NamedKernels> = libraries.into_iter().map(as_called).collect();
        Ok(ModelKernels {
            libraries,
            has_fallback,
        })
    }

    /// Reads the first kernels, for single operators.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn load_one(&self) -> Result<NamedKernels, StudyError> {
        let cpu = self.cpu.as_deref();
        let library = match images::find(&self.kernels, cpu) {
            Some(image) => {
                KernelLibrary::new(&image.elf(), cpu, DEFAULT_RAM).map(KernelLibrary::built_in)
            }
            None => KernelLibrary::new(&self.read()?, cpu, DEFAULT_RAM),
        };
        let built_for = images::cpus_of(&self.kernels);
        let library = library.map_err(|error| match error {
            CallError::Cpu(error @ CpuError::Unknown { .. }) => StudyError::from(error),
            CallError::Cpu(CpuError::Lacks { cpu, hint, .. }) if !built_for.is_empty() => {
                let error = KernelsError::ForOtherCpus {
                    built_for,
                    cpu,
                    hint,
                };
                StudyError::from(error).about(&self.kernels)
            }
            error => StudyError::from(error).about(&self.kernels),
        })?;
        let library = match self.cmsis_nn_version {
            Some(version) => library.of_version(version).about(&self.kernels)?,
            None => library,
        };
        let library = if self.is_exact {
            library.exact()
        } else {
            library
        };
        Ok(NamedKernels {
            name: self.kernels.clone(),
            library: library.with_flash(self.flash_timing),
        })
    }

    /// The ELF file, linked where the user has a static library.
    fn read(&self) -> Result<Vec<u8>, StudyError> {
        let read = input::read(self.kernels.as_ref(), MAX_BYTES);
        let read = read.map_err(|error| KernelsError::Unreadable {
            name: self.kernels.clone(),
            error,
            hint: instead_of(&self.kernels),
        })?;
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

/// What kernels there are, for a name that stands for none.
fn instead_of(name: &str) -> String {
    const LIKE: f64 = 0.6;
    let name = name.to_ascii_lowercase().replace('_', "-");
    if name.contains("cmsis") {
        return "CMSIS-NN is not built in: compile it and give the library, as docs/vendor.md shows; dsp is built in"
            .to_owned();
    }
    let sets = dmo_kernels::IMAGES.iter().map(|image| image.set);
    let likeness = |set: &str| strsim::normalized_damerau_levenshtein(&name, set);
    let similar = sets.max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    match similar.filter(|set| likeness(set) > LIKE) {
        Some(set) => format!("did you mean {set}?"),
        None => {
            "reference, dsp, dsp-packed, plain and dsp-channels-outside are built in".to_owned()
        }
    }
}

impl StudyError {
    /// Whether kernels are not for the CPU that they are to run on.
    pub fn is_for_another_cpu(&self) -> bool {
        match self {
            Self::In { source, .. } => source.is_for_another_cpu(),
            Self::Kernels(KernelsError::ForOtherCpus { .. }) => true,
            Self::Call(CallError::Cpu(error)) | Self::Archive(ArchiveError::Cpu { error, .. }) => {
                matches!(error, CpuError::Lacks { .. })
            }
            _ => false,
        }
    }
}
