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
            h2 #front-title { "Memory against recomputation" }
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
        .map(|point| point.arena_bytes)
        .max()
        .unwrap_or(1);
    let most_macs = points
        .iter()
        .map(|point| point.extra_macs)
        .max()
        .unwrap_or(0);
    let scale = Scale {
        size: SIZE,
        across: most_macs.max(1) as f64 * 1.05,
        up: most_bytes as f64 * 1.08,
    };
    let bottom = TOP + scale.height();
    html! {
        svg.front viewBox={ "0 0 " (SIZE[0]) " " (SIZE[1]) } role="group"
            aria-label="Arena in bytes against multiply-accumulates that are computed again" {
            @for tick in ticks(most_bytes, 6) {
                @let y = TOP + scale.y(tick as f64);
                line.grid x1=(LEFT) x2=(LEFT + scale.width()) y1=(y) y2=(y) {}
                text.number x=(LEFT - 6.0) y=(y + 4.0) { (grouped(tick)) }
            }
            @for tick in ticks(most_macs, 5) {
                text.step x=(LEFT + scale.x(tick as f64)) y=(bottom + 16.0) { (tick_text(tick, most_macs)) }
            }
            text.step x=(LEFT + scale.width() / 2.0) y=(bottom + 34.0) {
                "multiply-accumulates computed again"
            }
            text.step x=(LEFT) y=(TOP + 10.0) dx="34" { "bytes" }
            path.stairs d=(stairs(&scale, points)) {}
            @for point in points {
                circle.point.chosen[point.is_chosen] cx=(LEFT + scale.x(point.extra_macs as f64))
                    cy=(TOP + scale.y(point.arena_bytes as f64)) r=(if point.is_chosen { 7 } else { 5 })
                    tabindex="0" role="img" aria-label=(sentence(point)) {
                    title { (sentence(point)) }
                }
            }
        }
    }
}

/// From each point to the right as far as the next one, then down.
fn stairs(scale: &Scale, points: &[FrontPoint]) -> String {
    let mut path = String::new();
    for (index, point) in points.iter().enumerate() {
        let x = LEFT + scale.x(point.extra_macs as f64);
        let y = TOP + scale.y(point.arena_bytes as f64);
        path += &match index {
            0 => format!("M{x:.1} {y:.1}"),
            _ => format!("H{x:.1}V{y:.1}"),
        };
    }
    path
}

fn sentence(point: &FrontPoint) -> String {
    format!(
        "{} bytes, {} multiply-accumulates computed again: {}",
        grouped(point.arena_bytes),
        grouped(point.extra_macs),
        point.change
    )
}

fn table(front: &FrontChart) -> Markup {
    html! {
        table {
            thead {
                tr {
                    th.number scope="col" { "Arena" }
                    th.number scope="col" { "Recomputed" }
                    th.number scope="col" { "Of all" }
                    th scope="col" { "Change" }
                }
            }
            tbody {
                @for point in &front.points {
                    tr.chosen[point.is_chosen] {
                        td.number { (grouped(point.arena_bytes)) }
                        td.number { (grouped(point.extra_macs)) }
                        td.number { (percent(point.extra_macs, front.macs)) }
                        td { (point.change) @if point.is_chosen { " (this plan)" } }
                    }
                }
            }
        }
    }
}
