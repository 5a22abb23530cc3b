//! The cores that both emulators know.

use dmo_engine::features::{Architecture, Features, FloatingPoint, Traps};
use unicorn_engine::ArmCpuModel;

/// A core.
#[derive(Debug, Clone, Copy)]
pub struct Cpu {
    /// Its name.
    pub name: &'static str,
    /// What it has, for our engine.
    pub features: Features,
    /// Which it is, for Unicorn.
    pub model: ArmCpuModel,
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

/// No floating-point unit, no DSP extension.
pub const CORTEX_M3: Cpu = Cpu {
    name: "Cortex-M3",
    features: features(Architecture::Armv7M, false, FloatingPoint::None),
    model: ArmCpuModel::CORTEX_M3,
};

/// Single precision, FPv4.
pub const CORTEX_M4: Cpu = Cpu {
    name: "Cortex-M4",
    features: features(Architecture::Armv7EM, true, FloatingPoint::Fpv4Single),
    model: ArmCpuModel::CORTEX_M4,
};

/// Double precision, FPv5.
pub const CORTEX_M7: Cpu = Cpu {
    name: "Cortex-M7",
    features: features(Architecture::Armv7EM, true, FloatingPoint::Fpv5Double),
    model: ArmCpuModel::CORTEX_M7,
};

/// Armv8-M, single precision, FPv5.
pub const CORTEX_M33: Cpu = Cpu {
    name: "Cortex-M33",
    features: features(
        Architecture::Armv8MMainline,
        true,
        FloatingPoint::Fpv5Single,
    ),
    model: ArmCpuModel::CORTEX_M33,
};

/// All cores.
pub const CPUS: [Cpu; 4] = [CORTEX_M3, CORTEX_M4, CORTEX_M7, CORTEX_M33];

impl Cpu {
    /// Whether it has a floating-point unit.
    pub fn has_floats(&self) -> bool {
        self.features.floating_point > FloatingPoint::None
    }
}
