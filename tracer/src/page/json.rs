//! The page as data within itself.

use super::Page;

/// The page as JSON that may stand in a `script` element: without a character that could end it,
/// or begin a comment or another element.
///
/// # Errors
/// None that is known: the keys are strings.
pub fn embedded(page: &Page) -> serde_json::Result<String> {
    let text = serde_json::to_string(page)?;
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            // Only strings hold them, where an escape stands for the same character.
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                safe += &format!("\\u{:04x}", u32::from(character));
            }
            character => safe.push(character),
        }
    }
    Ok(safe)
}
