//! The CPU models.
//!
//! To add one: a row and a [`Model`] here, and, if Unicorn has it, its id there (`ArmCpuModel` of
//! unicorn-engine, whose newest M-profile core is the Cortex-M33) in `machine/unicorn/construction.rs`.
//! What an architecture has is the engine's to say (`dmo_engine::features`). Which kernels there are
//! for it is another matter: it runs those of the architectures whose code it runs.

use super::cycles::timing;
use crate::elf::attributes::Attributes;
use dmo_engine::features::{Architecture, Features, FloatingPoint, Traps};
use dmo_engine::timing::{FlashTiming, Pipeline, Timing};

/// A CPU model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cpu {
    /// Name as on the command line.
    pub name: &'static str,
    /// Which machine the emulator builds.
    pub model: Model,
    /// What it has.
    pub features: Features,
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
    CortexM0,
    CortexM0Plus,
    CortexM3,
    CortexM4,
    CortexM7,
    CortexM23,
    CortexM33,
    CortexM55,
    CortexM85,
}

const fn features(
    architecture: Architecture,
    dsp: bool,
    floating_point: FloatingPoint,
) -> Features {
    Features {
        architecture,
        dsp,
        floating_point,
        traps: Traps::NONE,
    }
}

/// Also the CPU of an image that does not say what it was built for. Manual: 100166.
const CORTEX_M4: Cpu = Cpu {
    name: "cortex-m4",
    model: Model::CortexM4,
    features: features(Architecture::Armv7EM, true, FloatingPoint::Fpv4Single),
    cpu_id: 0x410f_c241,
    timing: timing(Pipeline::CortexM4),
};

/// All CPU models, in the order in which messages list them. An image that names none runs on the
/// first that has what it needs. Where an extension is optional, the model has it; Helium and the
/// security extension are not emulated.
pub const CPUS: &[Cpu] = &[
    // Manual: DDI 0484, r0p1.
    Cpu {
        name: "cortex-m0plus",
        model: Model::CortexM0Plus,
        features: features(Architecture::Armv6M, false, FloatingPoint::None),
        cpu_id: 0x410c_c601,
        timing: timing(Pipeline::CortexM0Plus),
    },
    // Manual: DDI 0432, r0p0.
    Cpu {
        name: "cortex-m0",
        model: Model::CortexM0,
        features: features(Architecture::Armv6M, false, FloatingPoint::None),
        cpu_id: 0x410c_c200,
        timing: None,
    },
    // Manual: 100165.
    Cpu {
        name: "cortex-m3",
        model: Model::CortexM3,
        features: features(Architecture::Armv7M, false, FloatingPoint::None),
        cpu_id: 0x412f_c231,
        timing: timing(Pipeline::CortexM3),
    },
    CORTEX_M4,
    // Manual: DDI 0489.
    Cpu {
        name: "cortex-m7",
        model: Model::CortexM7,
        features: features(Architecture::Armv7EM, true, FloatingPoint::Fpv5Double),
        cpu_id: 0x411f_c272,
        timing: timing(Pipeline::CortexM7),
    },
    // Manual: DDI 0550, r1p0.
    Cpu {
        name: "cortex-m23",
        model: Model::CortexM23,
        features: features(Architecture::Armv8MBaseline, false, FloatingPoint::None),
        cpu_id: 0x411c_d200,
        timing: None,
    },
    // Manual: 100230.
    Cpu {
        name: "cortex-m33",
        model: Model::CortexM33,
        features: features(
            Architecture::Armv8MMainline,
            true,
            FloatingPoint::Fpv5Single,
        ),
        cpu_id: 0x410f_d213,
        timing: timing(Pipeline::CortexM33),
    },
    // Manual: 101051, r0p1.
    Cpu {
        name: "cortex-m55",
        model: Model::CortexM55,
        features: features(
            Architecture::Armv81MMainline,
            true,
            FloatingPoint::Fpv5Double,
        ),
        cpu_id: 0x410f_d221,
        timing: timing(Pipeline::CortexM55),
    },
    // Manual: 101924, r0p2.
    Cpu {
        name: "cortex-m85",
        model: Model::CortexM85,
        features: features(
            Architecture::Armv81MMainline,
            true,
            FloatingPoint::Fpv5Double,
        ),
        cpu_id: 0x410f_d232,
        timing: None,
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

/// The CPU of this name, in capitals or not.
pub fn named(name: &str) -> Option<Cpu> {
    let mut cpus = CPUS.iter().copied();
    cpus.find(|cpu| cpu.name.eq_ignore_ascii_case(name))
}

/// The same, or which names there are.
///
/// # Errors
/// When no CPU has this name.
pub fn known(name: &str) -> Result<Cpu, CpuError> {
    named(name).ok_or_else(|| CpuError::Unknown {
        given: name.to_owned(),
    })
}

/// The least CPU that runs the code of all of these; `None` if there are none, or no CPU does.
pub fn that_runs_code_of(cpus: &[Cpu]) -> Option<Cpu> {
    let runs_all = |cpu: &&Cpu| {
        let mut others = cpus.iter();
        others.all(|other| cpu.features.run_code_of(&other.features))
    };
    let of_these = cpus.iter().find(runs_all);
    let any = || CPUS.iter().find(|cpu| !cpus.is_empty() && runs_all(cpu));
    of_these.or_else(any).copied()
}

/// The features that an image needs, by its build attributes; `None` if it does not say.
fn needs_of(attributes: &Attributes) -> Result<Option<Features>, CpuError> {
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
        16 => Architecture::Armv8MBaseline,
        17 => Architecture::Armv8MMainline,
        21 => Architecture::Armv81MMainline,
        other => return not_microcontroller(format!("Tag_CPU_arch {other}")),
    };
    let floating_point = match attributes.floating_point {
        None | Some(0) => FloatingPoint::None,
        Some(1..=6) => FloatingPoint::Fpv4Single,
        Some(_) if attributes.single_precision_only => FloatingPoint::Fpv5Single,
        Some(_) => FloatingPoint::Fpv5Double,
    };
    let dsp = architecture == Architecture::Armv7EM;
    Ok(Some(features(architecture, dsp, floating_point)))
}

fn least_cpu(needs: &Features) -> Result<Cpu, CpuError> {
    let mut cpus = CPUS.iter().copied();
    cpus.find(|cpu| cpu.features.run_code_of(needs))
        .ok_or_else(|| CpuError::NotMicrocontroller {
            given: format!("{} with {}", needs.architecture, needs.floating_point),
        })
}

/// The CPU to run an image on: the one that `wanted` names, else the one that the image
/// was built for, else a Cortex-M4.
///
/// # Errors
/// When the name is unknown, or the image was built for more than that CPU has: an
/// emulator would run it all the same, and hide that the device cannot.
pub fn choose(wanted: Option<&str>, attributes: &Attributes) -> Result<Cpu, CpuError> {
    let needs = needs_of(attributes)?;
    let Some(wanted) = wanted else {
        let built_for = attributes
            .cpu_name
            .as_deref()
            .and_then(named)
            .filter(|cpu| needs.is_none_or(|needs| cpu.features.run_code_of(&needs)));
        return match (built_for, needs) {
            (Some(cpu), _) => Ok(cpu),
            (None, Some(needs)) => least_cpu(&needs),
            (None, None) => Ok(CORTEX_M4),
        };
    };
    let cpu = known(wanted)?;
    if let Some(needs) = needs
        && !cpu.features.run_code_of(&needs)
    {
        let has_architecture = cpu.features.architecture.runs_code_of(needs.architecture);
        return Err(CpuError::Lacks {
            needed: if has_architecture {
                needs.floating_point.to_string()
            } else {
                needs.architecture.to_string()
            },
            cpu: cpu.name,
            hint: least_cpu(&needs)?.name,
        });
    }
    Ok(cpu)
}
