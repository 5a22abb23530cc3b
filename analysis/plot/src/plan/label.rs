//! The name and the size of a buffer inside its rectangle.

use super::shared::Shared;
use crate::sheet::{Area, Drawn, Sheet, Type};
use crate::text::{shorten_middle, width};

const SIZE: f64 = 11.0;
const LINE: i32 = 13;
const MARGIN: i32 = 3;
/// A name of which less can be read is left out.
const LEAST_CHARACTERS: usize = 5;
/// Of the room inside the rectangle: what lies beside a hatched corner may be free.
const PARTS: [f64; 5] = [1.0, 0.75, 0.5, 0.35, 0.25];
/// Between two places that are tried, in pixels.
const STRIDE: usize = 3;

/// Text of a label.
pub(super) struct Content<'a> {
    pub(super) name: &'a str,
    pub(super) size: String,
    /// Where the buffer is in a list that has its whole name.
    pub(super) number: Option<usize>,
}

/// A text with its place.
pub(super) struct Label {
    lines: Vec<String>,
    turned: bool,
    middle: (i32, i32),
    /// On a white ground.
    raised: bool,
    /// The name is there in full.
    pub(super) complete: bool,
}

impl Label {
    /// The label that says most, where it covers nothing that is shared.
    pub(super) fn of(content: &Content<'_>, block: Area, shared: &Shared) -> Option<Self> {
        // Where not even a letter has room, nothing else is tried.
        spot(block, (LINE + MARGIN, LINE + MARGIN), shared)?;
        let place = |lines: Vec<String>, turned, complete| {
            let middle = spot(block, extent(&lines, turned), shared)?;
            Some(Self {
                lines,
                turned,
                middle,
                raised: false,
                complete,
            })
        };
        let Content { name, size, number } = content;
        let full = [
            vec![(*name).to_owned(), size.clone()],
            vec![format!("{name}, {size}")],
        ];
        let tries = [false, true]
            .into_iter()
            .flat_map(|turned| full.clone().map(|lines| (lines, turned)));
        let mut tries = tries.filter(|_| !name.trim().is_empty());
        if let Some(label) = tries.find_map(|(lines, turned)| place(lines, turned, true)) {
            return Some(label);
        }
        let prefix = number.map_or(String::new(), |number| format!("{number} "));
        let mut best: Option<(usize, Self)> = None;
        for turned in [false, true] {
            let length = if turned { block.height } else { block.width };
            for part in PARTS {
                let room = f64::from(length - 2 * MARGIN) * part - width(&prefix, SIZE);
                let (short, kept) = shorten_middle(name, SIZE, room);
                if kept < LEAST_CHARACTERS || best.as_ref().is_some_and(|best| kept <= best.0) {
                    continue;
                }
                let line = format!("{prefix}{short}");
                let label = place(vec![line.clone(), size.clone()], turned, false)
                    .or_else(|| place(vec![line], turned, false));
                best = label.map(|label| (kept, label)).or(best);
            }
        }
        let least = number.map_or(size.clone(), |number| number.to_string());
        let mut turns = [false, true].into_iter();
        best.map(|(_, label)| label)
            .or_else(|| turns.find_map(|turned| place(vec![least.clone()], turned, false)))
    }

    /// A number in the middle of the block, and what it hides.
    pub(super) fn number(number: usize, block: Area) -> (Self, Area) {
        let label = Self {
            lines: vec![number.to_string()],
            turned: false,
            middle: (block.x + block.width / 2, block.y + block.height / 2),
            raised: true,
            complete: false,
        };
        let (width, height) = extent(&label.lines, false);
        let area = Area {
            x: label.middle.0 - width / 2 - 1,
            y: label.middle.1 - height / 2 - 1,
            width: width + 2,
            height: height + 2,
        };
        (label, area)
    }

    pub(super) fn draw(&self, sheet: &mut Sheet<'_>) -> Drawn {
        let (x, y) = self.middle;
        let first = -(self.lines.len() as i32 - 1) * LINE / 2;
        for (line, shift) in self.lines.iter().zip((first..).step_by(LINE as usize)) {
            let set = Type::centred(SIZE);
            match (self.raised, self.turned) {
                (true, _) => sheet.plaque(line, (x, y + shift), set)?,
                (false, false) => sheet.text(line, (x, y + shift), set)?,
                (false, true) => sheet.text(line, (x + shift, y), set.turned())?,
            }
        }
        Ok(())
    }
}

/// Width and height in pixels.
fn extent(lines: &[String], turned: bool) -> (i32, i32) {
    let widths = lines.iter().map(|line| width(line, SIZE).ceil() as i32);
    let long = widths.max().unwrap_or(0) + 2 * MARGIN;
    let high = lines.len() as i32 * LINE + MARGIN;
    if turned { (high, long) } else { (long, high) }
}

/// The middle of the free place nearest to the middle of the block.
fn spot(block: Area, (width, height): (i32, i32), shared: &Shared) -> Option<(i32, i32)> {
    let slack = (block.width - width, block.height - height);
    if slack.0 < 0 || slack.1 < 0 {
        return None;
    }
    // From the middle outwards, up to both edges.
    let shifts = |slack: i32| {
        let inner = (-slack / 2..=slack / 2).step_by(STRIDE);
        inner.chain([0, slack - slack / 2])
    };
    let places = shifts(slack.0).flat_map(|dx| shifts(slack.1).map(move |dy| (dx, dy)));
    let (dx, dy) = places
        .filter(|&(dx, dy)| {
            shared.is_free(Area {
                x: block.x + slack.0 / 2 + dx,
                y: block.y + slack.1 / 2 + dy,
                width,
                height,
            })
        })
        .min_by_key(|&(dx, dy)| dx * dx + dy * dy)?;
    let corner = (block.x + slack.0 / 2 + dx, block.y + slack.1 / 2 + dy);
    Some((corner.0 + width / 2, corner.1 + height / 2))
}
