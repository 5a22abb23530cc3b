//! Maps of arenas as SVG. The script places the same elements anew when the reader zooms; it finds
//! them by the numbers of their buffers.

use super::scale::{LEFT, Scale, TOP, ticks};
use crate::page::map::{ArenaMap, MapBuffer};
use crate::words::names::short;
use dmo_analysis::wording::{counted, grouped};
use maud::{Markup, html};

const SIZE: [f64; 2] = [1000.0, 460.0];
const HALF_SIZE: [f64; 2] = [560.0, 340.0];

/// Pixels of a character of a label.
const CHARACTER: f64 = 6.6;

/// Pixels from one line of labels to the next.
const LINE: f64 = 13.0;

/// The map that can be searched, with what is known of the buffer that is pointed at.
pub fn explorer(map: &ArenaMap) -> Markup {
    html! {
        div.bar {
            form role="search" {
                label for="search" { "Find a " (noun(map)) }
                input #search type="search" autocomplete="off" spellcheck="false" placeholder="name or number";
                output #found for="search" aria-live="polite" {}
            }
            (legend(map))
        }
        @if map.left_out > 0 {
            p.warning {
                "Not drawn: " (counted(map.left_out as u64, "small buffer", "small buffers")) "."
            }
        }
        div.explorer {
            figure.main {
                (picture(map, 0, "main", SIZE, map.arena_bytes, true))
                @if let Some(layers) = &map.of_layers { (about(map, layers.start)) }
            }
            aside #detail aria-label="The buffer that is pointed at" {
                p.hint {
                    "Point at a buffer, or move to the map with Tab and through it with the arrow keys. "
                    "Enter zooms to a buffer, + and - zoom, 0 shows all; so do Ctrl with the wheel, and "
                    "dragging."
                }
                noscript { p { "Scripts are off: the table of buffers below has all numbers." } }
            }
        }
    }
}

/// The map without overlaps and the map of the plan, on one scale.
pub fn beside(before: &ArenaMap, after: &ArenaMap) -> Markup {
    let most = before.arena_bytes.max(after.arena_bytes);
    // Of other steps the maps have nothing to do with each other.
    let views = if before.steps == after.steps {
        ["pair", "pair"]
    } else {
        ["before", "after"]
    };
    html! {
        section aria-labelledby="beside-title" {
            h2 #beside-title { "Before and after" }
            div.pair {
                @for (map, index, view) in [(before, 1, views[0]), (after, 0, views[1])] {
                    figure {
                        figcaption {
                            (map.title) ": " strong { (grouped(map.arena_bytes)) " bytes" }
                        }
                        (picture(map, index, view, HALF_SIZE, most, false))
                    }
                }
            }
        }
    }
}

/// What a map of layers shows, and what it does not know.
fn about(map: &ArenaMap, start: u64) -> Markup {
    let end = start.saturating_add(map.arena_bytes);
    html! {
        figcaption.hint {
            @if noun(map) == "tensor" {
                "The planned part of the arena, from " code { (format!("{start:#010x}")) } " to "
                code { (format!("{end:#010x}")) } ", as the model's operators need it, in one inference."
            } @else {
                "The buffers that the layers name, from " code { (format!("{start:#010x}")) } " to "
                code { (format!("{end:#010x}")) } ", without weights. A buffer is drawn from the layer that "
                "stores it, or loads it first, to the last one that loads it; nothing is known of "
                "memory that no layer names."
            }
        }
    }
}

/// What a buffer is called.
fn noun(map: &ArenaMap) -> &'static str {
    if map.buffers.iter().any(|it| !it.tensors.is_empty()) {
        "tensor"
    } else {
        "buffer"
    }
}

fn legend(map: &ArenaMap) -> Markup {
    let any = |is: fn(&MapBuffer) -> bool| map.buffers.iter().any(is);
    let damaged = map.shared.iter().any(|area| area.is_damaged);
    let keys = [
        (
            any(|it| !it.is_peak && it.scratch_of.is_none()),
            "ordinary",
            noun(map),
        ),
        (any(|it| it.is_peak), "peak", "holds the arena up"),
        (
            any(|it| it.scratch_of.is_some()),
            "scratch",
            "scratch buffer",
        ),
        (
            map.shared.iter().any(|area| !area.is_damaged),
            "shared",
            "overlap",
        ),
        (damaged, "damaged", "overwritten while needed"),
    ];
    html! {
        ul.legend aria-label="Legend" {
            @for (_, class, text) in keys.iter().filter(|(shown, ..)| *shown) {
                li {
                    svg width="18" height="14" aria-hidden="true" {
                        rect class=(class_of_key(class)) width="18" height="14" {}
                        @if *class == "shared" {
                            rect.area width="18" height="14" fill="url(#hatch-main0)" {}
                        }
                    }
                    (text)
                }
            }
        }
    }
}

fn class_of_key(class: &str) -> String {
    match class {
        "shared" => "buffer ordinary".to_owned(),
        "damaged" => "area damaged".to_owned(),
        class => format!("buffer {class}"),
    }
}

fn class(buffer: &MapBuffer) -> &'static str {
    match (buffer.is_peak, buffer.scratch_of) {
        (true, Some(_)) => "buffer scratch peak",
        (true, None) => "buffer peak",
        (false, Some(_)) => "buffer scratch",
        (false, None) => "buffer ordinary",
    }
}

/// One map; `index` is its place among those of the page. Maps of one `view` are zoomed together.
fn picture(
    map: &ArenaMap,
    index: usize,
    view: &str,
    size: [f64; 2],
    most_bytes: u64,
    titled: bool,
) -> Markup {
    let scale = Scale {
        size,
        across: map.steps as f64,
        up: most_bytes as f64 * 1.02,
    };
    let label = format!(
        "{}: {} of {} bytes over {}",
        map.title,
        counted(map.buffers.len() as u64, "buffer", "buffers"),
        grouped(map.arena_bytes),
        counted(
            map.steps as u64,
            step_noun(map),
            &format!("{}s", step_noun(map))
        )
    );
    let end = scale.y(map.arena_bytes as f64);
    html! {
        svg.map data-map=(index) data-view=(view) data-most=(most_bytes)
            viewBox={ "0 0 " (size[0]) " " (size[1]) } role="img" aria-label=(label) {
            defs {
                pattern id={ "hatch-" (view) (index) } width="6" height="6"
                    patternUnits="userSpaceOnUse" patternTransform="rotate(45)" {
                    rect.line width="1.6" height="6" {}
                }
            }
            g.axes aria-hidden="true" { (axes(&scale, map, most_bytes)) }
            svg.plot role="presentation" x=(LEFT) y=(TOP) width=(scale.width()) height=(scale.height()) {
                g.regions aria-hidden="true" { (bands(&scale, map)) }
                g.buffers role="presentation" {
                    @for place in 0..map.buffers.len() {
                        (block(&scale, map, place, index, titled))
                    }
                }
                g.areas aria-hidden="true" {
                    @for (place, area) in map.shared.iter().enumerate() {
                        @let [x, y, width, height] = extent(&scale, area.steps, area.bytes);
                        rect.area.damaged[area.is_damaged] data-a=(place) x=(x) y=(y) width=(width)
                            height=(height) fill={ "url(#hatch-" (view) (index) ")" } {}
                    }
                }
                line.end x1="0" x2=(scale.width()) y1=(end) y2=(end) {}
                g.labels aria-hidden="true" {
                    @for label in labels(&scale, &map.buffers) {
                        text x=(label.at[0]) y=(label.at[1] + 4.0) { (label.text) }
                    }
                }
            }
        }
    }
}

/// A band for each memory, with its name.
fn bands(scale: &Scale, map: &ArenaMap) -> Markup {
    html! {
        @for (place, region) in map.regions.iter().enumerate() {
            @let [bottom, top] = region.bytes.map(|bytes| scale.y(bytes as f64));
            rect.band data-r=(place) x="0" y=(top) width=(scale.width()) height=(bottom - top) {}
            text.band-name data-r=(place) x=(scale.width() - 4.0) y=(top + 12.0) {
                (region.name) ", " (grouped(region.bytes[1] - region.bytes[0])) " bytes"
            }
        }
    }
}

/// Left, top, width and height in pixels.
fn extent(scale: &Scale, steps: [u32; 2], bytes: [u64; 2]) -> [f64; 4] {
    let (left, right) = (scale.x(steps[0].into()), scale.x(f64::from(steps[1]) + 1.0));
    let (top, bottom) = (scale.y(bytes[1] as f64), scale.y(bytes[0] as f64));
    let length = |pixels: f64| (pixels * 10.0).round() / 10.0;
    [left, top, length(right - left), length(bottom - top)]
}

fn place_of(scale: &Scale, buffer: &MapBuffer) -> [f64; 4] {
    let end = buffer.offset.saturating_add(buffer.size_bytes);
    extent(scale, buffer.steps, [buffer.offset, end])
}

/// A buffer of the map that is the page's `index`th.
fn block(scale: &Scale, map: &ArenaMap, place: usize, index: usize, titled: bool) -> Markup {
    let buffer = &map.buffers[place];
    let [x, y, width, height] = place_of(scale, buffer);
    let id = titled.then(|| format!("buffer-{place}"));
    html! {
        rect class=(class(buffer)) id=[id] data-b=(place) data-m=(index) x=(x) y=(y) width=(width)
            height=(height) {
            @if titled { title { (sentence(map, buffer)) } }
        }
    }
}

/// All of a buffer in a sentence, for a reader without a script.
fn sentence(map: &ArenaMap, buffer: &MapBuffer) -> String {
    let [first, last] = buffer.steps;
    let region = map.region_of(buffer.offset);
    let memory = region.map_or_else(String::new, |region| format!(" of {}", region.name));
    let start = region.map_or(0, |region| region.bytes[0]);
    let address = map.of_layers.as_ref();
    let address = address.map_or_else(String::new, |layers| {
        format!(" ({:#010x})", layers.start.saturating_add(buffer.offset))
    });
    format!(
        "{}: {} bytes at {}{memory}{address}, {}s {first} to {last}",
        buffer.name,
        grouped(buffer.size_bytes),
        grouped(buffer.offset - start),
        step_noun(map)
    )
}

/// A name in a picture.
struct Label {
    text: String,
    /// The middle, in pixels.
    at: [f64; 2],
    half_width: f64,
}

/// The names within the blocks, or the tensors' numbers, where they have room of their own: in the
/// middle of a block, else above or below.
fn labels(scale: &Scale, buffers: &[MapBuffer]) -> Vec<Label> {
    let mut made: Vec<Label> = Vec::new();
    for buffer in buffers {
        let [x, y, width, height] = place_of(scale, buffer);
        let half = |text: &str| text.chars().count() as f64 * CHARACTER / 2.0;
        let number = buffer.tensors.first().map(ToString::to_string);
        let mut texts = [Some(short(&buffer.name)), number].into_iter().flatten();
        let Some(text) = texts.find(|text| 2.0 * half(text) < width - 6.0) else {
            continue;
        };
        let (middle, half_width) = (x + width / 2.0, half(&text));
        let is_free = |at: &f64| {
            let apart = |other: &Label| {
                (other.at[0] - middle).abs() > other.half_width + half_width
                    || (other.at[1] - at).abs() > LINE
            };
            made.iter().all(apart)
        };
        let places = [0.5, 0.25, 0.75].map(|part| y + height * part);
        let mut places = places.into_iter().filter(|at| at - y >= LINE / 2.0);
        if let Some(at) = places.find(is_free) {
            let at = [middle, at];
            made.push(Label {
                text,
                at,
                half_width,
            });
        }
    }
    made
}

/// What a step is called.
fn step_noun(map: &ArenaMap) -> &'static str {
    if map.of_layers.is_none() {
        "step"
    } else if noun(map) == "tensor" {
        "operator"
    } else {
        "layer"
    }
}

fn axes(scale: &Scale, map: &ArenaMap, most_bytes: u64) -> Markup {
    let bottom = TOP + scale.height();
    let middle = LEFT + scale.width() / 2.0;
    html! {
        @for tick in ticks(most_bytes, 8) {
            @let y = TOP + scale.y(tick as f64);
            line.grid x1=(LEFT) x2=(LEFT + scale.width()) y1=(y) y2=(y) {}
            text.number x=(LEFT - 6.0) y=(y + 4.0) { (grouped(tick)) }
        }
        @for tick in ticks(map.steps.max(1) as u64 - 1, 16) {
            text.step x=(LEFT + scale.x(tick as f64 + 0.5)) y=(bottom + 16.0) { (tick) }
        }
        text.step x=(middle) y=(bottom + 34.0) { (step_noun(map)) }
    }
}
