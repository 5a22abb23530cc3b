//! Numbers as C text.

/// A number that reads back as the same.
pub fn float(number: f32) -> String {
    if number.is_nan() {
        "NAN".to_owned()
    } else if number.is_infinite() {
        let sign = if number < 0.0 { "-" } else { "" };
        format!("{sign}INFINITY")
    } else {
        format!("{number:?}f")
    }
}
