//! Numbers from and for people.

pub use dmo_planner::wording::grouped;

/// `1 byte`, `1,024 bytes`.
pub fn bytes(count: u64) -> String {
    counted(count, "byte", "bytes")
}

/// A number with its noun: `1 clash`, `2 clashes`.
pub fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(count), if count == 1 { one } else { many })
}

/// The first `most` lines, and `and 3 more` if there are more.
pub fn first_lines(mut lines: Vec<String>, most: usize) -> Vec<String> {
    let more = lines.len().saturating_sub(most);
    lines.truncate(most);
    lines.extend((more > 0).then(|| format!("and {more} more")));
    lines
}

/// The first `most` names on one line: `a, b, c and 3 more`.
pub fn first_names(names: &[String], most: usize) -> String {
    let shown = names.iter().take(most).map(String::as_str);
    let shown = shown.collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(most) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// A number, decimal or hexadecimal after `0x`.
///
/// # Errors
/// When the text is something else, or does not fit in 64 bits: what is wrong, with the text.
pub fn parse_number(text: &str) -> Result<u64, String> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let parsed = match digits {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    parsed.map_err(|error| format!("'{text}' is not a number: {error}"))
}

/// A size in bytes: `65536`, `0x10000`, `64K`, `64KiB`, `8M`. K, M and G mean 1024, 1024^2 and 1024^3,
/// whether followed by `B`, `iB` or nothing, in any case, with or without a space before them.
///
/// # Errors
/// When the text is something else, or does not fit in 64 bits.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let lower = text.to_ascii_lowercase();
    let short = lower.strip_suffix("ib").or(lower.strip_suffix('b'));
    let short = short.unwrap_or(&lower);
    let in_units = |digits: &str, unit| parse_number(digits.trim_end()).ok()?.checked_mul(unit);
    let size = if let Some(digits) = short.strip_suffix('k') {
        in_units(digits, 1 << 10)
    } else if let Some(digits) = short.strip_suffix('m') {
        in_units(digits, 1 << 20)
    } else if let Some(digits) = short.strip_suffix('g') {
        in_units(digits, 1 << 30)
    } else if lower.starts_with("0x") {
        // Here B is a digit.
        in_units(&lower, 1)
    } else {
        in_units(short, 1)
    };
    size.ok_or_else(|| {
        format!("'{text}' is no size in bytes, such as 65536, 0x10000, 64K, 64KB or 8MiB")
    })
}
