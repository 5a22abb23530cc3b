//! Memory against recomputation as a picture and as a table.

use super::scale::{LEFT, Scale, TOP, tick_text, ticks};
use crate::page::front::{FrontChart, FrontPoint};
use crate::page::text::percent;
use dmo_analysis::wording::grouped;
use maud::{Markup, html};

const SIZE: [f64; 2] = [560.0, 300.0];

pub fn section(front: &FrontChart) -> Markup {
    html! {
        section aria-labelledby="front-title" {
            h2 #front-title { (front.axes.title) }
            p { (front.about) }
            div.pair {
                figure { (chart(front)) }
                div.scroll tabindex="0" role="region" aria-label="Ways to run the model" { (table(front)) }
            }
        }
    }
}

fn chart(front: &FrontChart) -> Markup {
    let points = &front.points;
    let most_bytes = points
        .iter()
        .map(|point| point.memory_bytes)
        .max()
        .unwrap_or(1);
    let most_work = points
        .iter()
        .map(|point| point.extra_work)
        .max()
        .unwrap_or(0);
    let scale = Scale {
        size: SIZE,
        across: most_work.max(1) as f64 * 1.05,
        up: most_bytes as f64 * 1.08,
    };
    let bottom = TOP + scale.height();
    html! {
        svg.front viewBox={ "0 0 " (SIZE[0]) " " (SIZE[1]) } role="group"
            aria-label={ (front.axes.memory) " in bytes against " (front.axes.extra) } {
            @for tick in ticks(most_bytes, 6) {
                @let y = TOP + scale.y(tick as f64);
                line.grid x1=(LEFT) x2=(LEFT + scale.width()) y1=(y) y2=(y) {}
                text.number x=(LEFT - 6.0) y=(y + 4.0) { (grouped(tick)) }
            }
            @for tick in ticks(most_work, 5) {
                text.step x=(LEFT + scale.x(tick as f64)) y=(bottom + 16.0) { (tick_text(tick, most_work)) }
            }
            text.step x=(LEFT + scale.width() / 2.0) y=(bottom + 34.0) {
                (front.axes.extra)
            }
            text.step x=(LEFT) y=(TOP + 10.0) dx="34" { "bytes" }
            path.stairs d=(stairs(&scale, points)) {}
            @if let Some(limit) = front.limit_bytes.filter(|limit| *limit as f64 <= scale.up) {
                @let y = TOP + scale.y(limit as f64);
                line.limit x1=(LEFT) x2=(LEFT + scale.width()) y1=(y) y2=(y) {}
                text.limit x=(LEFT + scale.width()) y=(y - 4.0) { "limit " (grouped(limit)) }
            }
            @for point in points {
                circle.point.chosen[point.is_chosen] cx=(LEFT + scale.x(point.extra_work as f64))
                    cy=(TOP + scale.y(point.memory_bytes as f64)) r=(if point.is_chosen { 7 } else { 5 })
                    tabindex="0" role="img" aria-label=(sentence(front, point)) {
                    title { (sentence(front, point)) }
                }
            }
        }
    }
}

/// From each point to the right as far as the next one that takes less memory, then down. Others may
/// be better in what is not drawn.
fn stairs(scale: &Scale, points: &[FrontPoint]) -> String {
    let mut path = String::new();
    let mut least = u64::MAX;
    let lower = points.iter().filter(|point| {
        let is_lower = point.memory_bytes < least;
        least = least.min(point.memory_bytes);
        is_lower
    });
    for (index, point) in lower.enumerate() {
        let x = LEFT + scale.x(point.extra_work as f64);
        let y = TOP + scale.y(point.memory_bytes as f64);
        path += &match index {
            0 => format!("M{x:.1} {y:.1}"),
            _ => format!("H{x:.1}V{y:.1}"),
        };
    }
    path
}

fn sentence(front: &FrontChart, point: &FrontPoint) -> String {
    format!(
        "{} bytes, {} {}: {}",
        grouped(point.memory_bytes),
        grouped(point.extra_work),
        front.axes.extra,
        point.change
    )
}

fn table(front: &FrontChart) -> Markup {
    html! {
        table {
            thead {
                tr {
                    th.number scope="col" { (front.axes.memory) }
                    th.number scope="col" { (front.axes.extra) }
                    th.number scope="col" { "Of all" }
                    th scope="col" { "Change" }
                }
            }
            tbody {
                @for point in &front.points {
                    tr.chosen[point.is_chosen] {
                        td.number { (grouped(point.memory_bytes)) }
                        td.number { (grouped(point.extra_work)) }
                        td.number { (percent(point.extra_work, front.work)) }
                        td { (point.change) @if point.is_chosen { " (this plan)" } }
                    }
                }
            }
        }
    }
}
