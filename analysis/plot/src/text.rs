//! Text that fits: widths are those of the font that the PNG is made with.

use skrifa::instance::{LocationRef, Size};
use skrifa::{FontRef, MetadataProvider};
use std::borrow::Cow;

/// For viewers of the SVG that lack the first: fonts that are not wider.
pub(super) const FONT_FAMILIES: &str = "DejaVu Sans,Verdana,sans-serif";

/// The font itself, in TrueType format.
pub(super) fn font() -> &'static [u8] {
    dejavu::sans::regular()
}

/// Width in pixels.
pub(super) fn width(text: &str, size: f64) -> f64 {
    // What the font lacks is taken from another, and may be as wide as high.
    let Ok(font) = FontRef::new(font()) else {
        return size * text.chars().count() as f64;
    };
    let metrics = font.glyph_metrics(Size::new(size as f32), LocationRef::default());
    let glyphs = font.charmap();
    printable(text)
        .chars()
        .map(|character| {
            glyphs
                .map(character)
                .and_then(|glyph| metrics.advance_width(glyph))
                .map_or(size, f64::from)
        })
        .sum()
}

/// The text, or as much of its beginning as fits, with an ellipsis.
pub(super) fn shorten(text: &str, size: f64, max_width: f64) -> Cow<'_, str> {
    if width(text, size) <= max_width {
        return Cow::Borrowed(text);
    }
    let room = max_width - width("…", size);
    let mut used = 0.0;
    let kept = text.char_indices().find(|&(at, character)| {
        used += width(&text[at..at + character.len_utf8()], size);
        used > room
    });
    let end = kept.map_or(text.len(), |(at, _)| at);
    Cow::Owned(format!("{}…", text[..end].trim_end()))
}

/// The text, or as much of its beginning and its end as fits with an ellipsis between them,
/// and the number of characters kept.
pub(super) fn shorten_middle(text: &str, size: f64, max_width: f64) -> (Cow<'_, str>, usize) {
    if width(text, size) <= max_width {
        return (Cow::Borrowed(text), text.chars().count());
    }
    let room = max_width - width("…", size);
    let kept = |count: usize| {
        let ends = (count * 2 / 5, count - count * 2 / 5);
        let head: String = text.chars().take(ends.0).collect();
        let mut tail: Vec<char> = text.chars().rev().take(ends.1).collect();
        tail.reverse();
        format!(
            "{}…{}",
            head.trim_end(),
            String::from_iter(tail).trim_start()
        )
    };
    // No more characters are tried than a picture has room for.
    let most = text.chars().count().min(MOST_CHARACTERS);
    let (mut fits, mut too_many) = (0, most);
    while fits + 1 < too_many {
        let count = usize::midpoint(fits, too_many);
        if width(&kept(count), size) <= room + width("…", size) {
            fits = count;
        } else {
            too_many = count;
        }
    }
    (Cow::Owned(kept(fits)), fits)
}

/// Breaks a text between words into lines that fit; the last line is shortened.
pub(super) fn wrap(text: &str, size: f64, max_width: f64, max_lines: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let full = lines.len() == max_lines;
        match lines.last_mut() {
            Some(line) if full || width(&format!("{line} {word}"), size) <= max_width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    for line in &mut lines {
        *line = shorten(line, size, max_width).into_owned();
    }
    lines
}

/// More characters than fit on a picture.
const MOST_CHARACTERS: usize = 1000;

/// Replaces what XML forbids, and what would reorder or hide the text around it.
pub(super) fn printable(text: &str) -> Cow<'_, str> {
    fn hostile(character: char) -> bool {
        character.is_control()
            || matches!(character,
                '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
                | '\u{fdd0}'..='\u{fdef}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
    }
    if text.contains(hostile) {
        Cow::Owned(text.replace(hostile, "\u{fffd}"))
    } else {
        Cow::Borrowed(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shortened_text_fits_and_says_so() {
        for text in [
            "a",
            "<&\">",
            "ééééééééééééé",
            "漢字漢字漢字漢字",
            "x y z w v u t",
        ] {
            for room in [8.0, 30.0, 60.0, 500.0] {
                let short = shorten(text, 12.0, room);
                assert!(width(&short, 12.0) <= room.max(width("…", 12.0)), "{short}");
                assert!(short == text || short.ends_with('…'));
            }
        }
    }

    #[test]
    fn long_text_is_wrapped_and_cut() {
        let lines = wrap(&"word ".repeat(100), 12.0, 200.0, 2);
        assert_eq!(lines.len(), 2);
        assert!(lines[1].ends_with('…'));
        assert!(lines.iter().all(|line| width(line, 12.0) <= 200.0));
        assert_eq!(wrap("short", 12.0, 200.0, 2), ["short"]);
        assert_eq!(wrap(&"x".repeat(100), 12.0, 200.0, 2).len(), 1);
    }

    #[test]
    fn control_characters_do_not_reach_the_file() {
        assert_eq!(printable("a\u{0}b\u{202e}c"), "a\u{fffd}b\u{fffd}c");
        assert_eq!(printable("plain"), "plain");
    }
}
