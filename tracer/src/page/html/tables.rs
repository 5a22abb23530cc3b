//! The page's tables: what the witnesses say, the peak, layers, buffers.

use crate::page::Witness;
use crate::page::layers::LayerRow;
use crate::page::map::{ArenaMap, SharedArea};
use crate::page::peak::{Peak, PeakBuffer, Remedy, operators};
use dmo_analysis::wording::{counted, grouped};
use maud::{Markup, html};

pub fn witnesses(witnesses: &[Witness]) -> Markup {
    html! {
        section #witnesses aria-labelledby="witnesses-title" {
            h2 #witnesses-title { "What the witnesses say" }
            @for witness in witnesses {
                article.witness {
                    h3 {
                        (witness.name) ": "
                        @match witness.holds {
                            Some(true) => span.holds { "safe" },
                            Some(false) => span.fails { "UNSAFE" },
                            None => span { "not asked" },
                        }
                    }
                    p { (witness.examined) }
                    @for objection in &witness.objections { pre tabindex="0" { (objection) } }
                }
            }
        }
    }
}

pub fn peak(peak: &Peak) -> Markup {
    html! {
        section aria-labelledby="peak-title" {
            h2 #peak-title { "What the peak is made of" }
            @if peak.buffers.len() > 1 {
                p {
                    "Each of these buffers rests on the one below it, down to the arena's start: none can "
                    "move down by itself. Where several chains hold the arena up, the table has all."
                }
            }
            @let (shown, further) = peak.buffers.split_at(peak.buffers.len().min(MOST_SHOWN));
            (buffers_of_peak(shown, "Buffers of the peak"))
            @if !further.is_empty() {
                details {
                    summary { (counted(further.len() as u64, "further buffer", "further buffers")) }
                    (buffers_of_peak(further, "Further buffers of the peak"))
                }
            }
            @match peak.remedies.as_deref() {
                None => {},
                Some([]) => {
                    h3 { "What would lower it" }
                    p { "Nothing that was tried: tiles, and better kernels one by one for the operators at the peak." }
                },
                Some(found) => {
                    h3 { "What would lower it" }
                    (remedies(found))
                },
            }
        }
    }
}

/// More rows of the peak are there on demand.
const MOST_SHOWN: usize = 8;

fn buffers_of_peak(buffers: &[PeakBuffer], label: &str) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label=(label) {
            table {
                thead {
                    tr {
                        th scope="col" { "Buffer" }
                        th.number scope="col" { "Offset" }
                        th.number scope="col" { "Size" }
                        th.number scope="col" { "Adds" }
                        th.number scope="col" { "Steps" }
                        th scope="col" { "Operators" }
                    }
                }
                tbody {
                    @for buffer in buffers {
                        tr {
                            td.name { (buffer.name) }
                            td.number { (grouped(buffer.offset)) }
                            td.number { (grouped(buffer.size_bytes)) }
                            td.number { (grouped(buffer.adds_bytes)) }
                            td.number { (steps(buffer.steps)) }
                            td { (buffer.operators) }
                        }
                    }
                }
            }
        }
    }
}

fn remedies(remedies: &[Remedy]) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Changes that make the arena smaller" {
            table {
                thead {
                    tr {
                        th.number scope="col" { "Arena" }
                        th.number scope="col" { "Saves" }
                        th scope="col" { "Change" }
                        th scope="col" { "Costs" }
                    }
                }
                tbody {
                    @for remedy in remedies {
                        tr {
                            td.number { (grouped(remedy.arena_bytes)) }
                            td.number { (grouped(remedy.saves_bytes)) }
                            td { (remedy.text) }
                            td { (remedy.costs) }
                        }
                    }
                }
            }
        }
    }
}

/// Steps as a table has them.
fn steps([first, last]: [u32; 2]) -> String {
    if first == last {
        first.to_string()
    } else {
        format!("{first}–{last}")
    }
}

pub fn layers(layers: &[LayerRow]) -> Markup {
    let any = |known: fn(&LayerRow) -> bool| layers.iter().any(known);
    let tiled = any(|layer| layer.parts > 1);
    let functions = any(|layer| layer.function.is_some());
    let instructions = any(|layer| layer.instructions.is_some());
    let cycles = any(|layer| layer.cycles.is_some());
    let stack = any(|layer| layer.stack_bytes.is_some());
    let number = |known: Option<u64>| known.map_or("-".to_owned(), grouped);
    html! {
        section aria-labelledby="layers-title" {
            h2 #layers-title { "Layers" }
            @if tiled { p { "An operator that is computed in tiles is one row, with the sums of its parts." } }
            div.scroll tabindex="0" role="region" aria-label="Layers" {
                table #layers {
                    thead {
                        tr {
                            th.number scope="col" { "#" }
                            th scope="col" { "Operator" }
                            th.number scope="col" { "Steps" }
                            @if tiled { th.number scope="col" { "Parts" } }
                            @if functions { th scope="col" { "Kernel" } }
                            th.number scope="col" { "In use" }
                            th.number scope="col" { "Scratch" }
                            th.number scope="col" { "MACs" }
                            @if instructions { th.number scope="col" { "Instructions" } }
                            @if cycles { th.number scope="col" { "Cycles" } }
                            @if stack { th.number scope="col" { "Stack" } }
                        }
                    }
                    tbody {
                        @for layer in layers {
                            tr.at-end[layer.is_at_end] {
                                td.number { (layer.operator) }
                                td { (layer.kind) }
                                td.number { (steps(layer.steps)) }
                                @if tiled { td.number { (grouped(layer.parts)) } }
                                @if functions { td.name { (layer.function.as_deref().unwrap_or("-")) } }
                                td.number {
                                    (grouped(layer.in_use_bytes))
                                    @if layer.is_at_end { " ▲" }
                                }
                                td.number { (grouped(layer.scratch_bytes)) }
                                td.number { (grouped(layer.macs)) }
                                @if instructions { td.number { (number(layer.instructions)) } }
                                @if cycles { td.number { (layer.cycles.as_deref().unwrap_or("-")) } }
                                @if stack { td.number { (number(layer.stack_bytes)) } }
                            }
                        }
                    }
                }
            }
            p.hint { "▲ the arena is in use up to its end. Sizes are bytes." }
        }
    }
}

pub fn buffers(map: &ArenaMap) -> Markup {
    let mut overlaps: Vec<Vec<&SharedArea>> = vec![Vec::new(); map.buffers.len()];
    for area in &map.shared {
        for buffer in area.buffers {
            if let Some(areas) = overlaps.get_mut(buffer) {
                areas.push(area);
            }
        }
    }
    let layers = map.of_layers.as_ref();
    let number = match layers {
        Some(_) => "Address",
        None => "Tensors",
    };
    let uses = |place: usize| layers.and_then(|layers| layers.uses.get(place));
    html! {
        section aria-labelledby="buffers-title" {
            h2 #buffers-title { @if layers.is_some() { "Buffers of the map" } @else { "Buffers" } }
            details #buffers {
                summary { "All " (map.buffers.len()) " buffers as a table" }
                div.scroll tabindex="0" role="region" aria-label="Buffers" {
                    table {
                        thead {
                            tr {
                                th scope="col" { (number) }
                                th scope="col" { "Name" }
                                th scope="col" { @if layers.is_some() { "Type" } @else { "Shape" } }
                                th.number scope="col" { "Offset" }
                                th.number scope="col" { "Size" }
                                th.number scope="col" { @if layers.is_some() { "Layers" } @else { "Steps" } }
                                th scope="col" { @if layers.is_some() { "Used as" } @else { "Operators" } }
                                th.number scope="col" { "Overlapped" }
                            }
                        }
                        tbody {
                            @for (place, buffer) in map.buffers.iter().enumerate() {
                                tr data-row=(place) {
                                    td {
                                        @match layers {
                                            Some(layers) => (format!("{:#010x}", layers.start.saturating_add(buffer.offset))),
                                            None => (tensors(&buffer.tensors)),
                                        }
                                    }
                                    td.name { a href={ "#buffer-" (place) } { (buffer.name) } }
                                    td { (buffer.shape) }
                                    td.number { (grouped(buffer.offset)) }
                                    td.number { (grouped(buffer.size_bytes)) }
                                    td.number { (steps(buffer.steps)) }
                                    td {
                                        @match uses(place) {
                                            Some(uses) => (uses),
                                            None => (operators(map, buffer.steps)),
                                        }
                                    }
                                    td.number { (most_shared(&overlaps[place])) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn tensors(tensors: &[usize]) -> String {
    let numbers: Vec<String> = tensors.iter().take(8).map(ToString::to_string).collect();
    numbers.join(", ")
}

/// The most bytes that a buffer shares with another one.
fn most_shared(areas: &[&SharedArea]) -> String {
    let bytes = areas.iter().map(|area| area.bytes[1] - area.bytes[0]).max();
    bytes.map_or("-".to_owned(), grouped)
}
