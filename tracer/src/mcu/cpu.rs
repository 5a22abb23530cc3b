//! The CPU models.
//!
//! To add one: a row and a [`Model`] here, and the emulator's id for it (`ArmCpuModel` of
//! unicorn-engine, whose newest M-profile core is the Cortex-M33) in `machine/unicorn.rs`'s folder. A new
//! architecture is also a variant of [`Architecture`], and its `Tag_CPU_arch` no longer an
//! error in `Needs::of`. A core may fault where the others do not, as Armv6-M does on each
//! unaligned access: `machine/unicorn/callbacks.rs` gives faults their names. Which kernels there are
//! for it is another matter: it runs those of the architectures before its own.

use super::cycles::timing;
use crate::elf::attributes::Attributes;
use dmo_engine::timing::{FlashTiming, Pipeline, Timing};

/// Floating-point hardware.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FloatingPoint {
    /// No floating-point unit.
    None,
    /// FPv4, single precision.
    Fpv4Single,
    /// FPv5, single precision.
    Fpv5Single,
    /// FPv5, double precision.
    Fpv5Double,
}

/// Architecture, in ascending order: each runs the code of those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names say all there is to say")]
pub enum Architecture {
    Armv6M,
    Armv7M,
    Armv7EM,
    Armv8MMainline,
}

/// A CPU model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cpu {
    /// Name as on the command line.
    pub name: &'static str,
    /// Which machine the emulator builds.
    pub model: Model,
    /// The architecture that it implements.
    pub architecture: Architecture,
    /// Its floating-point hardware.
    pub floating_point: FloatingPoint,
    /// What its CPUID register reads, by its technical reference manual.
    pub cpu_id: u32,
    /// How many cycles its code takes; `None` if that is not known.
    pub timing: Option<Timing>,
}

impl Cpu {
    /// The same, with flash memory that makes it wait, as far as cycles are estimated.
    #[must_use]
    pub fn with_flash(self, flash: Option<FlashTiming>) -> Self {
        Self {
            timing: self.timing.map(|timing| Timing { flash, ..timing }),
            ..self
        }
    }
}

/// The emulator's models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say all there is to say")]
pub enum Model {
    CortexM3,
    CortexM4,
    CortexM7,
    CortexM33,
}

/// Also the CPU of an image that does not say what it was built for.
const CORTEX_M4: Cpu = Cpu {
    name: "cortex-m4",
    model: Model::CortexM4,
    architecture: Architecture::Armv7EM,
    floating_point: FloatingPoint::Fpv4Single,
    cpu_id: 0x410f_c241,
    timing: timing(Pipeline::CortexM4),
};

/// All CPU models, in the order in which messages list them.
pub const CPUS: &[Cpu] = &[
    Cpu {
        name: "cortex-m3",
        model: Model::CortexM3,
        architecture: Architecture::Armv7M,
        floating_point: FloatingPoint::None,
        cpu_id: 0x412f_c231,
        timing: timing(Pipeline::CortexM3),
    },
    CORTEX_M4,
    Cpu {
        name: "cortex-m7",
        model: Model::CortexM7,
        architecture: Architecture::Armv7EM,
        floating_point: FloatingPoint::Fpv5Double,
        cpu_id: 0x411f_c272,
        timing: timing(Pipeline::CortexM7),
    },
    Cpu {
        name: "cortex-m33",
        model: Model::CortexM33,
        architecture: Architecture::Armv8MMainline,
        floating_point: FloatingPoint::Fpv5Single,
        cpu_id: 0x410f_d213,
        timing: timing(Pipeline::CortexM33),
    },
];

/// Why an image does not run on a CPU.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum CpuError {
    #[error("unknown CPU '{given}'\n  hint: one of {}", names())]
    Unknown { given: String },
    #[error(
        "the image is built for {given}, which is not an M-profile architecture that is emulated\n  hint: build for one of {}",
        names()
    )]
    NotMicrocontroller { given: String },
    #[error("the image needs {needed}, which {cpu} does not have\n  hint: --cpu {hint}")]
    Lacks {
        needed: String,
        cpu: &'static str,
        hint: &'static str,
    },
}

/// The names of all CPU models, for messages.
pub fn names() -> String {
    let names: Vec<&str> = CPUS.iter().map(|cpu| cpu.name).collect();
    names.join(", ")
}

/// The CPU features that an image needs, by its build attributes.
struct Needs {
    architecture: Architecture,
    floating_point: FloatingPoint,
}

impl Needs {
    fn of(attributes: &Attributes) -> Result<Option<Self>, CpuError> {
        let not_microcontroller = |given: String| Err(CpuError::NotMicrocontroller { given });
        let Some(architecture) = attributes.architecture else {
            return Ok(None);
        };
        if let Some(profile) = attributes.profile
            && profile != 'M'
            && profile != '\0'
        {
            return not_microcontroller(format!("the Arm {profile} profile"));
        }
        let architecture = match architecture {
            11 | 12 => Architecture::Armv6M,
            10 if attributes.profile == Some('M') => Architecture::Armv7M,
            13 => Architecture::Armv7EM,
            17 => Architecture::Armv8MMainline,
            16 => return not_microcontroller("Armv8-M baseline (Cortex-M23)".to_owned()),
            21 => return not_microcontroller("Armv8.1-M (Cortex-M55, M85)".to_owned()),
            other => return not_microcontroller(format!("Tag_CPU_arch {other}")),
        };
        let floating_point = match attributes.floating_point {
            None | Some(0) => FloatingPoint::None,
            Some(1..=6) => FloatingPoint::Fpv4Single,
            Some(_) if attributes.single_precision_only => FloatingPoint::Fpv5Single,
            Some(_) => FloatingPoint::Fpv5Double,
        };
        Ok(Some(Self {
            architecture,
            floating_point,
        }))
    }

    fn met_by(&self, cpu: &Cpu) -> bool {
        self.architecture <= cpu.architecture && self.floating_point <= cpu.floating_point
    }

    fn least_cpu(&self) -> Result<Cpu, CpuError> {
        CPUS.iter()
            .copied()
            .filter(|cpu| self.met_by(cpu))
            .min_by_key(|cpu| (cpu.architecture, cpu.floating_point))
            .ok_or_else(|| CpuError::NotMicrocontroller {
                given: format!("{:?} with {:?}", self.architecture, self.floating_point),
            })
    }
}

/// The CPU to run an image on: the one that `wanted` names, else the one that the image
/// was built for, else a Cortex-M4.
///
/// # Errors
/// When the name is unknown, or the image was built for more than that CPU has: an
/// emulator would run it all the same, and hide that the device cannot.
pub fn choose(wanted: Option<&str>, attributes: &Attributes) -> Result<Cpu, CpuError> {
    let named = |name: &str| {
        let mut cpus = CPUS.iter().copied();
        cpus.find(|cpu| cpu.name.eq_ignore_ascii_case(name))
    };
    let needs = Needs::of(attributes)?;
    let Some(wanted) = wanted else {
        let built_for = attributes
            .cpu_name
            .as_deref()
            .and_then(named)
            .filter(|cpu| needs.as_ref().is_none_or(|needs| needs.met_by(cpu)));
        return match (built_for, needs) {
            (Some(cpu), _) => Ok(cpu),
            (None, Some(needs)) => needs.least_cpu(),
            (None, None) => Ok(CORTEX_M4),
        };
    };
    let cpu = named(wanted).ok_or_else(|| CpuError::Unknown {
        given: wanted.to_owned(),
    })?;
    if let Some(needs) = needs
        && !needs.met_by(&cpu)
    {
        return Err(CpuError::Lacks {
            needed: if needs.architecture > cpu.architecture {
                format!("{:?}", needs.architecture)
            } else {
                format!("{:?} floating point", needs.floating_point)
            },
            cpu: cpu.name,
            hint: needs.least_cpu()?.name,
        });
    }
    Ok(cpu)
}
