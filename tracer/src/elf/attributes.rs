//! Arm build attributes (`.ARM.attributes`): what the compiler says it built for.
//!
//! Source: Addenda to, and Errata in, the ABI for the Arm Architecture, section
//! 'Build attributes'. A section that cannot be read gives no attributes.

/// The attributes that matter here, where the image has them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Attributes {
    /// `Tag_CPU_name`, for instance `Cortex-M4`.
    pub cpu_name: Option<String>,
    /// `Tag_CPU_arch`: 10 is Armv7, 13 Armv7E-M, 17 Armv8-M mainline.
    pub architecture: Option<u64>,
    /// `Tag_CPU_arch_profile`: `A`, `R`, `M` or `S`.
    pub profile: Option<char>,
    /// `Tag_FP_arch`: 0 none, 6 VFPv4 with 16 registers, 8 FPv5 with 16 registers.
    pub floating_point: Option<u64>,
    /// `Tag_ABI_HardFP_use`: 1 says that only single precision is used.
    pub single_precision_only: bool,
    /// `Tag_ABI_VFP_args`: 1 says that floats are passed in floating-point registers.
    pub float_arguments_in_registers: bool,
}

const TAG_FILE: u64 = 1;
const TAG_CPU_RAW_NAME: u64 = 4;
const TAG_CPU_NAME: u64 = 5;
const TAG_CPU_ARCH: u64 = 6;
const TAG_CPU_ARCH_PROFILE: u64 = 7;
const TAG_FP_ARCH: u64 = 10;
const TAG_ABI_HARD_FP_USE: u64 = 27;
const TAG_ABI_VFP_ARGS: u64 = 28;
const TAG_COMPATIBILITY: u64 = 32;

impl Attributes {
    /// Reads the section's content.
    pub fn read(section: &[u8]) -> Self {
        file_attributes(section)
            .map(Self::from_file_attributes)
            .unwrap_or_default()
    }

    fn from_file_attributes(bytes: &[u8]) -> Self {
        let mut attributes = Self::default();
        let mut rest = Bytes(bytes);
        while let Some(tag) = rest.uleb128() {
            // Above 32, odd tags hold strings and even ones numbers.
            if tag == TAG_CPU_RAW_NAME || tag == TAG_CPU_NAME || (tag > 32 && tag % 2 == 1) {
                let Some(text) = rest.string() else { break };
                if tag == TAG_CPU_NAME {
                    attributes.cpu_name = Some(text);
                }
                continue;
            }
            let Some(value) = rest.uleb128() else { break };
            match tag {
                TAG_CPU_ARCH => attributes.architecture = Some(value),
                TAG_CPU_ARCH_PROFILE => {
                    attributes.profile = u8::try_from(value).ok().map(char::from);
                }
                TAG_FP_ARCH => attributes.floating_point = Some(value),
                TAG_ABI_HARD_FP_USE => attributes.single_precision_only = value == 1,
                TAG_ABI_VFP_ARGS => attributes.float_arguments_in_registers = value == 1,
                TAG_COMPATIBILITY => {
                    let _vendor = rest.string();
                }
                _ => {}
            }
        }
        attributes
    }
}

/// The file scope of the public ("aeabi") subsection.
fn file_attributes(section: &[u8]) -> Option<&[u8]> {
    let mut rest = Bytes(section.strip_prefix(b"A")?);
    loop {
        let length = rest.word()?;
        let mut subsection = Bytes(rest.take(length.checked_sub(4)?)?);
        if subsection.string()? != "aeabi" {
            continue;
        }
        let before = subsection.0.len();
        if subsection.uleb128()? != TAG_FILE {
            return None;
        }
        let size = subsection.word()?;
        let header = before - subsection.0.len();
        return subsection.take(size.checked_sub(header)?);
    }
}

struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.0.split_at_checked(length)?;
        self.0 = tail;
        Some(head)
    }

    fn word(&mut self) -> Option<usize> {
        let bytes = self.take(4)?.try_into().ok()?;
        Some(u32::from_le_bytes(bytes) as usize)
    }

    fn uleb128(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..63).step_by(7) {
            let byte = self.take(1)?[0];
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    fn string(&mut self) -> Option<String> {
        let end = self.0.iter().position(|&byte| byte == 0)?;
        let text = String::from_utf8_lossy(self.take(end)?).into_owned();
        self.take(1)?;
        Some(text)
    }
}
