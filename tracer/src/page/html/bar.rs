//! Bars within tables: a number beside them says the same.

use super::scale::round;
use maud::{Markup, html};

/// Width and height in pixels.
const SIZE: [f64; 2] = [110.0, 14.0];

/// A part of a whole.
pub fn bar(class: &str, part: u64, whole: u64) -> Markup {
    marked(class, part, whole, None)
}

/// The same with a mark at another part.
pub fn marked(class: &str, part: u64, whole: u64, mark: Option<u64>) -> Markup {
    let [width, height] = SIZE;
    let length = |part: u64| round(part.min(whole) as f64 / whole.max(1) as f64 * width);
    html! {
        svg.bar-of viewBox={ "0 0 " (width) " " (height) } width=(width) height=(height) aria-hidden="true" {
            rect.rest width=(width) height=(height) {}
            rect.part.(class) width=(length(part)) height=(height) {}
            @if let Some(mark) = mark {
                @let x = length(mark);
                line.mark x1=(x) x2=(x) y1="0" y2=(height) {}
            }
        }
    }
}
