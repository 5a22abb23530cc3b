//! Tables of the layers of a program that was run.

use super::bar::bar;
use crate::page::traced::{TracedAccess, TracedBuffer, TracedLayer, TracedPair};
use dmo_analysis::wording::{counted, grouped};
use maud::{Markup, html};

/// What each layer costs.
pub fn costs(layers: &[TracedLayer]) -> Markup {
    let any = |known: fn(&TracedLayer) -> bool| layers.iter().any(known);
    let cycles = any(|layer| layer.cycles.is_some());
    let stalls = any(|layer| layer.stalls.is_some());
    let stack = any(|layer| layer.stack_bytes.is_some());
    let number = |known: Option<u64>| known.map_or("-".to_owned(), grouped);
    let share = if cycles {
        "Of the cycles"
    } else {
        "Of the instructions"
    };
    html! {
        section aria-labelledby="layers-title" {
            h2 #layers-title { "What each layer costs" }
            div.scroll tabindex="0" role="region" aria-label="Layers" {
                table #layers {
                    thead {
                        tr {
                            th.number scope="col" { "#" }
                            th scope="col" { "Layer" }
                            th scope="col" { "Operator" }
                            th.number scope="col" { "Instructions" }
                            @if cycles { th.number scope="col" { "Cycles" } }
                            th.number scope="col" { (share) }
                            th aria-hidden="true" {}
                            @if stalls {
                                th.number scope="col" { "Waits for code" }
                                th.number scope="col" { "Waits for data" }
                            }
                            th.number scope="col" { "Loads" }
                            th.number scope="col" { "Stores" }
                            @if stack { th.number scope="col" { "Stack" } }
                            th scope="col" { "Depends on data" }
                        }
                    }
                    tbody {
                        @for layer in layers {
                            tr {
                                td.number { (layer.layer) }
                                th.name scope="row" { (layer.name) }
                                td { (layer.operator) }
                                td.number { (grouped(layer.instructions)) }
                                @if cycles { td.number { (layer.cycles.as_deref().unwrap_or("-")) } }
                                td.number { (percent(layer.share_permille)) }
                                td aria-hidden="true" { (bar("cost", layer.share_permille, 1000)) }
                                @if stalls {
                                    @for waits in layer.stalls.iter().flatten() { td.number { (waits) } }
                                }
                                td.number { (grouped(layer.loads)) }
                                td.number { (grouped(layer.stores)) }
                                @if stack { td.number { (number(layer.stack_bytes)) } }
                                td { (depends(layer.data_dependent)) }
                            }
                        }
                    }
                }
            }
            p.hint {
                "Loads and stores are those of the layer's buffers; a store or load of several words "
                "counts several times."
                @if stack { " The stack is in bytes, with what the layer's callers have there." }
            }
        }
    }
}

fn percent(permille: u64) -> String {
    format!("{}.{} %", permille / 10, permille % 10)
}

fn depends(known: Option<bool>) -> &'static str {
    match known {
        Some(true) => "yes",
        Some(false) => "no",
        None => "not checked",
    }
}

/// How far outputs may overlap inputs, and what limits that.
pub fn overlaps(layers: &[TracedLayer]) -> Markup {
    html! {
        section aria-labelledby="overlaps-title" {
            h2 #overlaps-title { "How far outputs may overlap inputs" }
            p {
                "O"
                sub { "s" }
                " is how many bytes an input may start before the end of its layer's output: no store "
                "of the output then hits a byte of the input that is still to be loaded. It is limited "
                "by a store and a load that follows it: with one byte more the store would overwrite "
                "what the load needs."
            }
            div.scroll tabindex="0" role="region" aria-label="Overlaps" {
                table #overlaps {
                    thead {
                        tr {
                            th.number scope="col" { "#" }
                            th scope="col" { "Layer" }
                            th scope="col" { "Input" }
                            th scope="col" { "Output" }
                            th.number scope="col" { "O" sub { "s" } }
                            th.number scope="col" { "Of the smaller" }
                            th scope="col" { "In place" }
                            th scope="col" { "Limited by" }
                        }
                    }
                    tbody {
                        @for layer in layers {
                            @for pair in &layer.pairs { (overlap(layer, pair)) }
                            @if layer.pairs.is_empty() {
                                tr {
                                    td.number { (layer.layer) }
                                    td.name { (layer.name) }
                                    td colspan="6" { "no input or no output" }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn overlap(layer: &TracedLayer, pair: &TracedPair) -> Markup {
    let in_place = if pair.in_place { "yes" } else { "no" };
    html! {
        tr {
            td.number { (layer.layer) }
            td.name { (layer.name) }
            td.name { (pair.input) " " span.size { (grouped(pair.input_bytes)) } }
            td.name { (pair.output) " " span.size { (grouped(pair.output_bytes)) } }
            td.number { strong { (pair.safe_overlap_bytes.map_or("none".to_owned(), grouped)) } }
            td.number { (pair.percent) }
            td { (in_place) }
            td {
                @if !pair.refusal.is_empty() { p.fails { (pair.refusal) } }
                @for access in &pair.binding { (limit(access)) }
                @if pair.binding.is_empty() && pair.refusal.is_empty() { "nothing" }
            }
        }
    }
}

fn limit(access: &TracedAccess) -> Markup {
    let [start, end] = access.bytes;
    html! {
        p.access {
            (access.kind) " "
            code { (access.address) }
            @if let Some(function) = &access.function { " in " code { (function) } }
            @if let Some(source) = &access.source { ", " code { (source) } }
            @if let Some(code) = &access.code { ": " code { (code) } }
            ", "
            @if end - start == 1 { "byte " (grouped(start)) } @else {
                "bytes " (grouped(start)) " to " (grouped(end - 1))
            }
        }
    }
}

/// All buffers of all layers.
pub fn buffers(layers: &[TracedLayer]) -> Markup {
    let count: usize = layers.iter().map(|layer| layer.buffers.len()).sum();
    let left_out: usize = layers.iter().map(|layer| layer.left_out).sum();
    let all = counted(count as u64, "buffer", "buffers");
    html! {
        section aria-labelledby="layer-buffers-title" {
            h2 #layer-buffers-title { "Buffers, layer by layer" }
            @if left_out > 0 {
                p.warning {
                    "Not shown: " (counted(left_out as u64, "buffer or pair", "buffers and pairs"))
                    " of layers that have very many."
                }
            }
            details {
                summary { (all) " as a table" }
                div.scroll tabindex="0" role="region" aria-label="Buffers, layer by layer" {
                    table #layer-buffers {
                        thead {
                            tr {
                                th.number scope="col" { "#" }
                                th scope="col" { "Layer" }
                                th scope="col" { "Buffer" }
                                th scope="col" { "Role" }
                                th scope="col" { "Type" }
                                th.number scope="col" { "Address" }
                                th.number scope="col" { "Size" }
                                th.number scope="col" { "Loads" }
                                th.number scope="col" { "Stores" }
                            }
                        }
                        tbody {
                            @for layer in layers {
                                @for it in &layer.buffers { (buffer(layer, it)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn buffer(layer: &TracedLayer, buffer: &TracedBuffer) -> Markup {
    html! {
        tr {
            td.number { (layer.layer) }
            td.name { (layer.name) }
            td.name { (buffer.name) }
            td { (buffer.role) }
            td { (buffer.element_type) }
            td.number { (buffer.address) }
            td.number { (grouped(buffer.size_bytes)) }
            td.number { (grouped(buffer.loads)) }
            td.number { (grouped(buffer.stores)) }
        }
    }
}
