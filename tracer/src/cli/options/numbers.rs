//! Numbers as options have them.

use dmo_analysis::wording::{parse_number, parse_size};
use std::fmt::{self, Display, Formatter};
use std::ops::Range;
use std::str::FromStr;
use std::time::Duration;

/// A time in seconds.
#[derive(Debug, Clone, Copy)]
pub struct Seconds(pub Duration);

impl FromStr for Seconds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let seconds = text.parse().ok();
        seconds
            .filter(|seconds| (0.0..=1e9).contains(seconds))
            .map(|seconds| Self(Duration::from_secs_f64(seconds)))
            .ok_or_else(|| format!("'{text}' is not a number of seconds"))
    }
}

impl Display for Seconds {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.as_secs_f64())
    }
}

/// `START:SIZE`, for instance 0x20000000:256K.
pub fn parse_range(text: &str) -> Result<Range<u64>, String> {
    let (start, size) = text
        .split_once(':')
        .ok_or("expected START:SIZE, for instance 0x20000000:256K")?;
    let start = u64::from(parse_address(start)?);
    let size = Some(parse_size(size)?)
        .filter(|&size| size > 0 && size <= (1 << 32) - start)
        .ok_or_else(|| format!("'{text}' has no bytes or ends beyond the 32-bit address space"))?;
    Ok(start..start + size)
}

/// Hexadecimal after 0x, or 0. A decimal address is most likely one that lacks its 0x.
pub fn parse_address(text: &str) -> Result<u32, String> {
    let is_decimal = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_decimal && text.bytes().any(|byte| byte != b'0') {
        return Err(format!(
            "address '{text}' is decimal: write 0x{text} if it is hexadecimal"
        ));
    }
    u32::try_from(parse_number(text)?).map_err(|_| format!("'{text}' is not a 32-bit address"))
}
