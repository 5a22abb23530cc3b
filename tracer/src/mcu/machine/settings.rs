//! What functions leave as they find it.

/// Settings of a core that a function gives back as it finds them (AAPCS32, 6.1.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Of FPSCR the bits that are no flags.
    pub floating_point: u32,
    /// PRIMASK, BASEPRI and FAULTMASK.
    pub masks: [u32; 3],
    /// Of CONTROL which stack there is, and whether code is privileged.
    pub control: u32,
}

impl Settings {
    /// Alternative half-precision, default NaN, flush-to-zero and the rounding mode.
    pub(super) const FLOATING_POINT: u32 = 0x07c0_0000;
    /// SPSEL and nPRIV: FPCA is set by every floating-point instruction.
    pub(super) const CONTROL: u32 = 0b11;

    /// The registers in which another one differs.
    pub fn changed(self, other: Self) -> Vec<&'static str> {
        let values = |it: Self| {
            let [primask, basepri, faultmask] = it.masks;
            [
                ("FPSCR", it.floating_point),
                ("PRIMASK", primask),
                ("BASEPRI", basepri),
                ("FAULTMASK", faultmask),
                ("CONTROL", it.control),
            ]
        };
        let pairs = values(self).into_iter().zip(values(other));
        let changed = pairs.filter(|((_, before), (_, after))| before != after);
        changed.map(|((name, _), _)| name).collect()
    }
}
