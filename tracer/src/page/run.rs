//! The page of a program that was run.

use super::memory::MemoryMap;
use super::traced::layers;
use super::{Fact, Page, SCHEMA, Verdict, Witness, interpreted, memory, text};
use crate::words::run::{RunReport, deepest_layer};
use crate::words::{arena, cycles, tenants};
use dmo_analysis::profile::LayerProfile;
use dmo_analysis::wording::{bytes, counted, grouped};

/// The page of a run.
pub fn page(report: &RunReport<'_>) -> Page {
    let memory = match report.arena {
        Some((placed, arena)) => MemoryMap {
            map: Some(interpreted::map(placed, arena, report.profile)),
            note: None,
        },
        None => memory::map(report.profile),
    };
    let notes = memory.note.into_iter().chain(report.notes());
    Page {
        schema: SCHEMA,
        model: text::name(&report.program.name),
        command: "run",
        verdict: verdict(report),
        facts: facts(report),
        maps: memory.map.into_iter().collect(),
        peak: None,
        front: None,
        layers: Vec::new(),
        traced: layers(report),
        savings: Vec::new(),
        witnesses: witnesses(report),
        notes: notes.map(|note| text::message(&note)).collect(),
    }
}

/// Of an interpreter whose arena is known.
fn verdict(report: &RunReport<'_>) -> Option<Verdict> {
    let (_, arena) = report.arena?;
    let unsafe_models = report.models.iter().filter(|model| !model.safe).count();
    Some(match (arena.safe, unsafe_models) {
        (true, 1..) => Verdict {
            holds: false,
            text: format!(
                "UNSAFE: {} of {} that share the program's memory",
                counted(unsafe_models as u64, "model", "models"),
                grouped(report.models.len() as u64)
            ),
        },
        (holds, _) => Verdict {
            holds,
            text: arena::verdict(arena).to_owned(),
        },
    })
}

/// What was found in the arena, and of each model where there are several.
fn witnesses(report: &RunReport<'_>) -> Vec<Witness> {
    let locations = &report.ending.locations;
    let messages = |lines: Vec<String>| lines.iter().map(|it| text::message(it)).collect();
    let arena = report.arena.map(|(placed, arena)| Witness {
        name: "Arena",
        holds: Some(arena.safe),
        examined: text::message(&format!("{}.", arena::headline(arena))),
        objections: messages(arena::objections(arena, placed, locations)),
    });
    let models = report.models.iter().map(|model| Witness {
        name: "Model",
        holds: Some(model.safe),
        examined: text::message(&format!(
            "{}: {}.",
            tenants::sentence(model),
            tenants::verdict(model)
        )),
        objections: messages(tenants::objections(model)),
    });
    arena.into_iter().chain(models).collect()
}

fn facts(report: &RunReport<'_>) -> Vec<Fact> {
    let layers = &report.profile.layers;
    let in_layers: u64 = layers.iter().map(LayerProfile::instructions).sum();
    let ram = report.ram.as_ref();
    let stack = ram.and_then(|ram| ram.stack_bytes);
    let stack = stack.map(|deepest| {
        let layer = ram.and_then(deepest_layer).map(|(layer, of_layer)| {
            format!(
                "; in the layers at most {}, in layer {layer}",
                bytes(of_layer)
            )
        });
        bytes(deepest) + &layer.unwrap_or_default()
    });
    let in_arena = report.arena.iter();
    let in_arena = in_arena.flat_map(|(placed, arena)| arena::parts(arena, placed));
    let in_arena = in_arena.map(|(name, size, what)| {
        let name = match name {
            // The page's headline: the number alone.
            "used" => return ("Arena, used (arena_used_bytes)", Some(bytes(size))),
            "head" => "Arena, head",
            "tail" => "Arena, tail",
            "free" => "Arena, free",
            "overlapped" => "Arena, head overlapped",
            "temporary" => "Arena, temporary",
            _ => "Arena, head-room",
        };
        (name, Some(format!("{}: {what}", bytes(size))))
    });
    let facts = [
        (
            "Layers",
            Some(format!(
                "{}, {} instructions",
                counted(layers.len() as u64, "layer", "layers"),
                grouped(in_layers)
            )),
        ),
        (
            "The whole program",
            Some(format!(
                "{} instructions",
                grouped(report.ending.instructions)
            )),
        ),
        (
            "The whole program, estimated",
            report.cycles.map(|it| cycles::sentence(&it.total)),
        ),
        ("CPU", Some(report.program.cpu.clone())),
        ("RAM in all", ram.and_then(|ram| ram.total_bytes).map(bytes)),
        ("RAM, part by part", ram.map(parts)),
        ("Deepest stack", stack),
        ("It ended", Some(report.exit.to_owned())),
        (
            "Run on",
            report
                .inputs
                .map(|inputs| counted(inputs, "input", "different inputs")),
        ),
        (
            "Self-check",
            report
                .self_checked
                .filter(|it| *it)
                .map(|_| "every access was compared with an independent decoding".to_owned()),
        ),
        ("Memory map", report.memory.clone()),
        ("SHA-256 of the file", Some(report.program.sha256.clone())),
    ];
    let facts = in_arena.chain(facts);
    facts
        .filter_map(|(name, value)| {
            Some(Fact {
                name,
                value: text::message(&value?),
            })
        })
        .collect()
}

fn parts(ram: &crate::program::ram::RamUse) -> String {
    let number = |bytes: Option<u64>| bytes.map_or_else(|| "-".to_owned(), grouped);
    let arena = ram
        .arena_bytes
        .map(|bytes| format!("; the arena of {} among them", grouped(bytes)));
    format!(
        "data {}, bss {}, heap {}, stack {}{}",
        grouped(ram.data_bytes),
        grouped(ram.bss_bytes),
        number(ram.heap_bytes),
        number(ram.stack_bytes),
        arena.unwrap_or_default()
    )
}
