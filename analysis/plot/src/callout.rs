//! Labels for points of a picture, placed where they hide least.

use super::chart::BODY;
use super::paint::Patch;
use super::sheet::{Area, Colour, Drawn, Sheet, Type};
use super::text::width;

/// Rings nearer than this look like one.
const SAME: i32 = 14;
const RING: u32 = 6;
const HEIGHT: i32 = 18;

/// Rings two points of `panel` and says what they are.
pub(super) fn callouts(
    sheet: &mut Sheet<'_>,
    panel: Area,
    points: [((i32, i32), &str); 2],
    together: &str,
    shown: &[Patch],
) -> Drawn {
    let [(first, _), (second, _)] = points;
    let one = (first.0 - second.0).abs() < SAME && (first.1 - second.1).abs() < SAME;
    let labels = if one {
        vec![(second, together)]
    } else {
        points.to_vec()
    };
    let mut taken: Vec<Area> = points.iter().map(|&(point, _)| around(point)).collect();
    for (point, text) in labels {
        let size = (width(text, BODY).ceil() as i32 + 8, HEIGHT);
        let area = place(panel, point, size, shown, &taken);
        taken.push(area);
        let nearest = (
            point.0.clamp(area.x, area.right()),
            point.1.clamp(area.y, area.bottom()),
        );
        sheet.line(point, nearest, Colour::INK, 1.0)?;
        let middle = (area.x + area.width / 2, area.y + area.height / 2);
        sheet.plaque(text, middle, Type::centred(BODY))?;
    }
    points
        .iter()
        .try_for_each(|&(point, _)| sheet.ring(point, RING))
}

fn around((x, y): (i32, i32)) -> Area {
    let reach = RING as i32 + 3;
    Area {
        x: x - reach,
        y: y - reach,
        width: 2 * reach,
        height: 2 * reach,
    }
}

/// Of the places about a point, the one that hides the fewest accesses; of equal ones,
/// the nearest.
fn place(
    panel: Area,
    (x, y): (i32, i32),
    (width, height): (i32, i32),
    shown: &[Patch],
    taken: &[Area],
) -> Area {
    let centred = |dx: i32, dy: i32| Area {
        x: (x + dx - width / 2).clamp(panel.x + 2, (panel.right() - width - 2).max(panel.x)),
        y: (y + dy - height / 2).clamp(panel.y + 2, (panel.bottom() - height - 2).max(panel.y)),
        width,
        height,
    };
    let aside = width / 2 + 16;
    let sides = [0, aside, -aside, 2 * aside, -2 * aside];
    let rows = [-24, 24, 0, -48, 48, -76, 76, -110, 110];
    let places = rows
        .into_iter()
        .flat_map(|dy| sides.map(|dx| centred(dx, dy)));
    places
        .min_by_key(|place| {
            let collides = taken.iter().any(|other| place.shared(other) > 0);
            let hidden: i32 = shown.iter().map(|patch| place.shared(&patch.area)).sum();
            let middle = (place.x + width / 2 - x, place.y + height / 2 - y);
            // An access is two pixels wide: hiding one weighs as much as 20 pixels of way.
            (collides, hidden * 10 + middle.0.abs() + middle.1.abs())
        })
        .unwrap_or_else(|| centred(0, 0))
}
