//! The layers along a time axis: their names above a panel, their edges in it.

use super::chart;
use super::sheet::{Area, Colour, Drawn, Sheet, Type};
use super::text::{shorten_middle, width};
use dmo_analysis::profile::Profile;

/// Layer names: their size, and how long they may be when turned.
const SIZE: f64 = 11.0;
const LENGTH: i32 = 150;
/// Between the middles of two turned names.
const DISTANCE: i32 = 13;
/// A turned name may stand so far from its layer.
const FARTHEST: i32 = 32;
/// Between turned names and the panel: room for the lines that lead to their layers.
const LEADERS: i32 = 16;

/// A layer on the time axis, in pixels.
struct Span {
    left: i32,
    right: i32,
    name: String,
    name_width: i32,
}

impl Span {
    fn middle(&self) -> i32 {
        (self.left + self.right) / 2
    }

    /// Where its name is, set upright.
    fn name_bounds(&self) -> (i32, i32) {
        let left = self.middle() - self.name_width / 2;
        (left, left + self.name_width)
    }
}

/// Where the layers lie.
pub(super) struct Spans {
    layers: Vec<Span>,
    /// All names fit side by side; else they are turned.
    upright: bool,
}

impl Spans {
    /// On an axis that begins with the first layer and has room for `length` instructions.
    pub(super) fn of(profile: &Profile, length: u64) -> Self {
        let begin = profile.layers.first().map_or(0, |layer| layer.begin);
        let pixel = |time: u64| {
            let part = time.saturating_sub(begin) as f64 / length.max(1) as f64;
            chart::LEFT + (part * f64::from(chart::PANEL_WIDTH)).round() as i32
        };
        let layers: Vec<Span> = (0..)
            .zip(&profile.layers)
            .map(|(number, layer)| {
                let name = format!("{number} {}", layer.name);
                let (name, _) = shorten_middle(&name, SIZE, f64::from(LENGTH));
                Span {
                    left: pixel(layer.begin),
                    right: pixel(layer.end),
                    name_width: width(&name, SIZE).ceil() as i32,
                    name: name.into_owned(),
                }
            })
            .collect();
        let limits = (chart::LEFT, chart::LEFT + chart::PANEL_WIDTH + chart::RIGHT);
        let inside = layers.iter().map(Span::name_bounds);
        let upright = inside
            .clone()
            .all(|(left, right)| left >= limits.0 && right <= limits.1)
            && inside
                .clone()
                .zip(inside.skip(1))
                .all(|(a, b)| a.1 + 10 <= b.0);
        Self { layers, upright }
    }

    /// Whether the names of the two are the same, in the same places.
    pub(super) fn look_like(&self, other: &Self) -> bool {
        let same = |(one, other): (&Span, &Span)| {
            one.name == other.name && (one.middle() - other.middle()).abs() <= 3
        };
        self.layers.len() == other.layers.len() && self.layers.iter().zip(&other.layers).all(same)
    }

    pub(super) fn names_height(&self) -> i32 {
        if self.upright {
            return 18;
        }
        let widths = self.layers.iter().map(|layer| layer.name_width);
        widths.max().unwrap_or_default() + LEADERS + 4
    }

    /// A thin line where a layer begins or ends, unless the lines would be a surface.
    pub(super) fn lines(&self, sheet: &mut Sheet<'_>, area: Area) -> Drawn {
        let edges = self.layers.iter().flat_map(|span| [span.left, span.right]);
        let mut edges: Vec<i32> = edges.collect();
        edges.sort_unstable();
        let opacity = if edges.len() > 80 { 0.2 } else { 0.45 };
        let mut last = area.x;
        for x in edges {
            if x >= last + 4 && x <= area.right() - 4 {
                sheet.line((x, area.y), (x, area.bottom()), Colour::INK, opacity)?;
                last = x;
            }
        }
        Ok(())
    }

    /// The layers' names above `bottom`. Turned ones move aside a little where their layers are
    /// narrow. Where there is no room for all, the longest layers keep theirs.
    pub(super) fn names(&self, sheet: &mut Sheet<'_>, bottom: i32) -> Drawn {
        if self.upright {
            for span in &self.layers {
                let at = (span.middle(), bottom - 6);
                sheet.text(&span.name, at, Type::centred(SIZE))?;
            }
            return Ok(());
        }
        for (span, x) in self.named() {
            let elbow = (x, bottom - LEADERS);
            sheet.text(&span.name, elbow, Type::left(SIZE).turned())?;
            let edge = (span.middle(), bottom - 1);
            sheet.line((x, elbow.1 + 3), edge, Colour::FRAME, 1.0)?;
        }
        Ok(())
    }

    /// The layers that get a turned name, from left to right, and where it is.
    fn named(&self) -> Vec<(&Span, i32)> {
        let room = (chart::PANEL_WIDTH / DISTANCE).unsigned_abs() as usize;
        let mut by_length: Vec<usize> = (0..self.layers.len()).collect();
        by_length.sort_by_key(|&index| self.layers[index].left - self.layers[index].right);
        by_length.truncate(room);
        by_length.sort_unstable();
        let mut named: Vec<&Span> = by_length.iter().map(|&at| &self.layers[at]).collect();
        loop {
            let middles: Vec<i32> = named.iter().map(|span| span.middle()).collect();
            let places = spread(&middles);
            let aside = |index: &usize| (places[*index] - middles[*index]).abs();
            let farthest = (0..named.len()).max_by_key(aside);
            let Some(farthest) = farthest.filter(|index| aside(index) > FARTHEST) else {
                return named.into_iter().zip(places).collect();
            };
            // One of those that push it there gives way.
            let touching = |index: &usize| {
                let range = farthest.min(*index)..farthest.max(*index);
                range
                    .into_iter()
                    .all(|at| places[at + 1] - places[at] <= DISTANCE)
            };
            let pushing = (0..named.len()).filter(touching);
            let shortest = pushing.min_by_key(|&index| named[index].right - named[index].left);
            named.remove(shortest.unwrap_or(farthest));
        }
    }
}

/// Places at least [`DISTANCE`] apart, as near to the wanted ones as they can be together.
fn spread(wanted: &[i32]) -> Vec<i32> {
    // Without the distances the places only have to ascend. Neighbours that do not want to
    // stand together at their mean.
    let mut groups: Vec<(i64, i64)> = Vec::new();
    for (&x, index) in wanted.iter().zip(0..) {
        let mut group = (i64::from(x - index * DISTANCE), 1);
        while let Some(&(sum, count)) = groups.last()
            && sum * group.1 > group.0 * count
        {
            groups.pop();
            group = (group.0 + sum, group.1 + count);
        }
        groups.push(group);
    }
    let last = chart::PANEL_WIDTH - (wanted.len() as i32 - 1) * DISTANCE;
    let limits = (chart::LEFT + 4, chart::LEFT + last.max(4));
    let means = groups.into_iter().flat_map(|(sum, count)| {
        let mean = (sum / count) as i32;
        std::iter::repeat_n(mean.clamp(limits.0, limits.1), count as usize)
    });
    means
        .zip(0..)
        .map(|(mean, index)| mean + index * DISTANCE)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{DISTANCE, spread};
    use crate::chart::{LEFT, PANEL_WIDTH};

    #[test]
    fn names_stand_apart_and_near_their_layers() {
        let far = [150, 300, 600];
        assert_eq!(spread(&far), far);
        assert_eq!(spread(&[300, 300]), [293, 306]);
        for wanted in [vec![LEFT; 20], vec![LEFT + PANEL_WIDTH; 20], vec![500; 64]] {
            let found = spread(&wanted);
            assert!(found.windows(2).all(|pair| pair[1] - pair[0] >= DISTANCE));
            assert!(
                found
                    .iter()
                    .all(|x| (LEFT..=LEFT + PANEL_WIDTH).contains(x))
            );
        }
        assert!(spread(&[]).is_empty());
    }
}
