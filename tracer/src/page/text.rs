//! Names and numbers as a page has them.

/// Characters of a name.
const MOST_OF_NAME: usize = 120;

/// Characters of a message.
const MOST_OF_MESSAGE: usize = 2000;

/// A name that is short enough for a page: of a long one the start and the end.
pub fn name(text: &str) -> String {
    shortened(text, MOST_OF_NAME)
}

/// A message that is short enough for a page.
pub fn message(text: &str) -> String {
    shortened(text, MOST_OF_MESSAGE)
}

fn shortened(text: &str, most: usize) -> String {
    let length = text.chars().count();
    let clean = |character: char| match character {
        '\n' => '\n',
        // Neither visible nor harmless: the last ones change the direction of what follows.
        character if character.is_control() => '\u{fffd}',
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        character => character,
    };
    if length <= most {
        return text.chars().map(clean).collect();
    }
    let half = (most - 1) / 2;
    let start = text.chars().take(half);
    let end = text.chars().skip(length - half);
    start.chain(['…']).chain(end).map(clean).collect()
}

/// A share in percent, with as many digits as it takes to tell it from nothing.
pub fn percent(part: u64, whole: u64) -> String {
    let percent = 100.0 * part as f64 / whole.max(1) as f64;
    if part > 0 && percent < 0.01 {
        return "< 0.01 %".to_owned();
    }
    format!("{percent:.2} %")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_keep_both_ends() {
        assert_eq!(name("conv1"), "conv1");
        let long = "a".repeat(100) + &"b".repeat(100);
        let short = name(&long);
        assert_eq!(short.chars().count(), 119);
        assert!(short.starts_with('a') && short.ends_with('b') && short.contains('…'));
    }

    #[test]
    fn what_turns_text_around_is_replaced() {
        assert_eq!(name("a\u{202e}b\u{7}c\nd"), "a\u{fffd}b\u{fffd}c\nd");
    }

    #[test]
    fn a_little_is_not_nothing() {
        assert_eq!(percent(1, 1_000_000), "< 0.01 %");
        assert_eq!(percent(0, 5), "0.00 %");
        assert_eq!(percent(1, 8), "12.50 %");
    }
}
