//! The page as a file: templates, the style, the script.

mod bar;
mod front;
mod map;
mod savings;
mod scale;
mod tables;
mod traced;

use super::{Page, json};
use crate::elf::image::sha256;
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// No page is larger, in bytes, whatever the model.
pub const MOST_BYTES: usize = 3_000_000;

/// In each map at most this many buffers are drawn; fewer where the page would be too large.
const MOST_BUFFERS: usize = 1500;

const STYLE: &str = include_str!("html/style.css");
const SCRIPT: &str = include_str!("html/script.js");

/// The whole file. Of a model whose page would be larger than [`MOST_BYTES`] the smallest buffers
/// are left out, and it says so.
///
/// # Errors
/// None that is known: the keys of the data are strings.
pub fn file(page: &Page) -> serde_json::Result<String> {
    let mut most = MOST_BUFFERS;
    loop {
        let text = document(&page.limited(most))?;
        if text.len() <= MOST_BYTES || most == 0 {
            return Ok(text);
        }
        most /= 2;
    }
}

fn document(page: &Page) -> serde_json::Result<String> {
    let data = json::embedded(page)?;
    // Only the script that is part of the page runs, and nothing is loaded. No text within the data
    // can hold the hash of the data.
    let nonce = sha256(data.as_bytes());
    let policy = format!(
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'nonce-{nonce}'; img-src data:; \
         base-uri 'none'; form-action 'none'"
    );
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="generator" content={ "dmo-trace " (env!("CARGO_PKG_VERSION")) };
                title { (page.model) " · dmo-trace " (page.command) }
                link rel="icon" href="data:,";
                style { (PreEscaped(STYLE)) }
            }
            body {
                @if page.maps.is_empty() { a.skip href="#main" { "Skip to the tables" } }
                @else { a.skip href="#map" { "Skip to the map" } }
                (header(page))
                main #main { (sections(page)) }
                script id="page" type="application/json" { (PreEscaped(&data)) }
                script nonce=(nonce) { (PreEscaped(SCRIPT)) }
            }
        }
    };
    Ok(markup.into_string())
}

fn header(page: &Page) -> Markup {
    html! {
        header {
            p.command { "dmo-trace " (page.command) }
            h1 { (page.model) }
            @if let Some(verdict) = &page.verdict {
                p.verdict.holds[verdict.holds].fails[!verdict.holds] { (verdict.text) }
            }
            dl.facts {
                @for fact in &page.facts {
                    div.long[fact.value.len() > LONG] { dt { (fact.name) } dd { (with_commands(&fact.value)) } }
                }
            }
        }
    }
}

fn sections(page: &Page) -> Markup {
    html! {
        @if !page.witnesses.is_empty() { (tables::witnesses(&page.witnesses)) }
        @if let Some(first) = page.maps.first() {
            section #map aria-labelledby="map-title" {
                h2 #map-title {
                    @if page.traced.is_empty() { "The arena over time" }
                    @else if first.buffers.iter().any(|it| !it.tensors.is_empty()) { "The arena, operator by operator" }
                    @else { "Memory, layer by layer" }
                }
                (map::explorer(first))
            }
        }
        @if let Some(peak) = &page.peak { (tables::peak(peak)) }
        @if let [after, before, ..] = &page.maps[..] { (map::beside(before, after)) }
        @if let Some(front) = &page.front { (front::section(front)) }
        @if !page.layers.is_empty() { (tables::layers(&page.layers)) }
        @if !page.traced.is_empty() {
            (traced::costs(&page.traced))
            (traced::overlaps(&page.traced))
            (traced::buffers(&page.traced))
        }
        (savings::section(&page.savings))
        @if let Some(first) = page.maps.first() { (tables::buffers(first)) }
        @if !page.notes.is_empty() {
            section aria-labelledby="notes-title" {
                h2 #notes-title { "Notes" }
                ul { @for note in &page.notes { li { (note) } } }
            }
        }
    }
}

/// Bytes of what takes a line of its own.
const LONG: usize = 160;

/// A sentence, with what stands in backticks as code.
fn with_commands(text: &str) -> Markup {
    html! {
        @for (index, part) in text.split('`').enumerate() {
            @if index % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}
