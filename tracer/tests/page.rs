//! Pages of `--report`: what they hold, that names in a model are never markup, and how large they
//! get. What a reader sees is held by `page/browser.py`, in a browser.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail loudly")]

use dmo_analysis::graph::zoo::NETWORKS;
use dmo_trace::page::html::{MOST_BYTES, file};
use dmo_trace::page::map::{ArenaMap, MapBuffer, SharedArea};
use dmo_trace::page::plan::{Sayings, page};
use dmo_trace::page::traced::{TracedAccess, TracedLayer, TracedPair};
use dmo_trace::page::{Page, SCHEMA, Witness};
use dmo_trace::study::Session;
use dmo_trace::study::change::ChangeRequest;
use dmo_trace::study::overlap_source::OverlapRequest;
use dmo_trace::study::plan::{PlanRequest, Planned, plan};
use dmo_trace::study::remedies::{OwnKernels, Remedies};
use dmo_trace::study::source::Source;
use serde_json::Value;
use std::collections::BTreeSet;
use std::process::Command;
use std::time::Duration;

const MODEL: &str = "zoo:liberis_lane_figure_1:int8";

/// Names that would be markup, or end what they stand in.
const HOSTILE: [&str; 7] = [
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "\"><img src=x onerror=alert(1)>",
    "' onfocus='alert(1)",
    "</title><svg onload=alert(1)>",
    "&lt;b&gt; \\u003cb\\u003e ]]>",
    "\u{2028}\u{202e}<b>\0",
];

fn planned(source: &mut Source, time: Duration) -> Planned {
    let request = PlanRequest {
        time,
        ..PlanRequest::default()
    };
    plan(source, &request, &Session::default()).unwrap()
}

fn sayings() -> Sayings {
    Sayings {
        command: "plan",
        verdict: None,
        facts: Vec::new(),
        notes: Vec::new(),
    }
}

/// The data within a page.
fn data(html: &str) -> Value {
    let (_, rest) = html
        .split_once("<script id=\"page\" type=\"application/json\">")
        .unwrap();
    let (data, _) = rest.split_once("</script>").unwrap();
    serde_json::from_str(data).unwrap()
}

#[test]
fn a_page_has_what_the_plan_has() {
    let mut source = Source::load(MODEL).unwrap();
    let planned = planned(&mut source, Duration::from_secs(5));
    let tried = Remedies::search(&source, &planned, &Session::default()).unwrap();
    let html = file(&page(&source, &planned, sayings(), &tried).unwrap()).unwrap();
    let data = data(&html);
    assert_eq!(data["schema"], SCHEMA);
    let map = &data["maps"][0];
    assert_eq!(map["arena_bytes"], planned.file.arena_bytes);
    let buffers = map["buffers"].as_array().unwrap();
    let mut found = 0;
    for tensor in &planned.file.tensors {
        let holds = |buffer: &&Value| {
            let tensors = buffer["tensors"].as_array().unwrap();
            tensors.iter().any(|id| *id == tensor.tensor.0)
        };
        let buffer = buffers.iter().find(holds).unwrap();
        assert_eq!(buffer["offset"], tensor.offset, "{tensor:?}");
        assert!(html.contains(&tensor.name));
        found += 1;
    }
    assert!(found >= 7, "{found} tensors");
    let overlaps = &planned.file.overlaps;
    assert!(!overlaps.is_empty());
    for overlap in overlaps {
        let is_of = |fact: &Value| {
            fact["operator"] == overlap.operator.0 && fact["input"] == overlap.pair.input.0
        };
        let mut areas = map["shared"].as_array().unwrap().iter();
        let of_area = |area: &Value| area["overlaps"].as_array().unwrap().iter().any(is_of);
        assert!(areas.any(of_area), "{overlap:?}");
    }
    assert!(data["maps"][1]["arena_bytes"].as_u64() > map["arena_bytes"].as_u64());
    assert!(!data["peak"]["buffers"].as_array().unwrap().is_empty());
    assert!(!data["front"]["points"].as_array().unwrap().is_empty());
    assert_eq!(data["layers"].as_array().unwrap().len(), 7);
}

/// Buffers that follow each other at one place are one step, and the steps add up to the arena.
#[test]
fn the_peak_adds_up_to_the_arena() {
    let mut alike = 0;
    for cache in [false, true] {
        let mut source = Source::load("zoo:person_detection:int8").unwrap();
        let request = PlanRequest {
            changes: ChangeRequest {
                cache,
                ..ChangeRequest::default()
            },
            ..PlanRequest::default()
        };
        let planned = plan(&mut source, &request, &Session::default()).unwrap();
        let tried = Remedies::search(&source, &planned, &Session::default()).unwrap();
        let shown = page(&source, &planned, sayings(), &tried).unwrap();
        let buffers = shown.peak.unwrap().buffers;
        let adds: u64 = buffers.iter().map(|it| it.adds_bytes).sum();
        assert_eq!(adds, planned.file.arena_bytes, "{buffers:?}");
        let places = buffers.iter().map(|it| (it.offset, it.size_bytes));
        let places: BTreeSet<(u64, u64)> = places.collect();
        assert_eq!(places.len(), buffers.len(), "{buffers:?}");
        let named = buffers
            .iter()
            .filter(|it| it.name.contains(" at its place"));
        alike += named.count();
    }
    assert!(alike > 0);
}

#[test]
fn a_remedy_is_what_the_changed_plan_needs() {
    let mut source = Source::load("zoo:mobilenet_v1_0.25_128:int8").unwrap();
    let plain = planned(&mut source, Duration::from_secs(5));
    let tried = Remedies::search(&source, &plain, &Session::default()).unwrap();
    let shown = page(&source, &plain, sayings(), &tried).unwrap();
    let remedies = shown.peak.unwrap().remedies.unwrap();
    let best = remedies.first().unwrap();
    assert!(
        best.text.contains(" bands") || best.text.contains(" patches"),
        "{best:?}"
    );
    let saved = plain.file.arena_bytes - best.arena_bytes;
    assert_eq!(best.saves_bytes, saved);
    let request = PlanRequest {
        changes: ChangeRequest {
            split: true,
            patch: true,
            ..ChangeRequest::default()
        },
        ..PlanRequest::default()
    };
    let tiled = plan(&mut source, &request, &Session::default()).unwrap();
    // A longer search may find less, never more.
    assert!(tiled.file.arena_bytes <= best.arena_bytes, "{best:?}");
}

/// Ways in tiles have the overlaps of the reference kernels, which the kernels of a plan may not
/// allow: the way of the plan is marked where it has the plan's arena, and tiles are no promise.
#[test]
fn kernels_of_a_plan_get_no_arena_of_others() {
    let mut source = Source::load("zoo:person_detection:int8").unwrap();
    for (kernels, arena_bytes, marked) in [(None, 36_880, 1), (Some("dsp"), 36_864, 0)] {
        let kernels: Vec<String> = kernels.into_iter().map(str::to_owned).collect();
        let request = PlanRequest {
            overlap: OverlapRequest::of_options(None, &kernels, None, None, None),
            ..PlanRequest::default()
        };
        let planned = plan(&mut source, &request, &Session::default()).unwrap();
        assert_eq!(planned.file.arena_bytes, arena_bytes);
        let tried = Remedies::search(&source, &planned, &Session::default()).unwrap();
        let shown = page(&source, &planned, sayings(), &tried).unwrap();
        let front = shown.front.unwrap();
        let chosen = front.points.iter().filter(|point| point.is_chosen);
        assert_eq!(chosen.count(), marked, "{kernels:?}");
        let is_warned = marked == 0;
        assert_eq!(front.about.contains("may allow less"), is_warned);
        let remedies = shown.peak.unwrap().remedies.unwrap();
        let mut tiles = remedies.iter().filter(|it| it.text.contains("--allow"));
        assert!(tiles.clone().count() > 0);
        assert!(tiles.all(|it| it.text.contains("may allow less") == is_warned));
        // They are in place of a CMSIS-NN of the user's.
        assert_eq!(tried.own_kernels, None);
    }
    let planned = planned(&mut source, Duration::from_secs(5));
    let own = OwnKernels {
        set: "plain",
        arena_bytes: planned.file.arena_bytes - 16,
    };
    let tried = Remedies {
        own_kernels: Some(own),
        has_tried_kernels: true,
        ..Remedies::untried()
    };
    let shown = page(&source, &planned, sayings(), &tried).unwrap();
    let remedies = shown.peak.unwrap().remedies.unwrap();
    assert_eq!(remedies.len(), 1);
    assert!(
        remedies[0].text.ends_with("--kernels plain"),
        "{remedies:?}"
    );
    assert_eq!(remedies[0].saves_bytes, 16);
}

#[test]
fn names_are_never_markup() {
    let mut source = Source::load(MODEL).unwrap();
    source.name = HOSTILE[4].to_owned();
    let count = source.model.graphs[0].tensors.len();
    for (index, tensor) in source.model.graphs[0].tensors.iter_mut().enumerate() {
        tensor.name = format!("{}{index}", HOSTILE[index % HOSTILE.len()]);
    }
    assert!(count >= HOSTILE.len());
    let planned = planned(&mut source, Duration::from_secs(5));
    let mut shown = page(&source, &planned, sayings(), &Remedies::untried()).unwrap();
    shown.witnesses = vec![Witness {
        name: "Replay",
        holds: Some(false),
        examined: HOSTILE[0].to_owned(),
        objections: HOSTILE.map(str::to_owned).to_vec(),
    }];
    shown.notes = HOSTILE.map(str::to_owned).to_vec();
    let html = file(&shown).unwrap();
    let count = |text: &str| html.matches(text).count();
    // The page's own two, and nothing else that could run or load anything.
    assert_eq!(count("<script"), 2);
    assert_eq!(count("</script>"), 2);
    for markup in ["<img", "<!--", "<svg onload", "<b>", "\"><img"] {
        assert_eq!(count(markup), 0, "{markup}");
    }
    assert!(count("&lt;img src=x onerror=alert(1)&gt;") > 3);
    let data = data(&html);
    assert!(!data["maps"].to_string().contains('\u{202e}'));
    let names = data["maps"][0]["buffers"].as_array().unwrap().iter();
    let names: Vec<&str> = names
        .map(|buffer| buffer["name"].as_str().unwrap())
        .collect();
    let whole = names.iter().filter(|name| name.starts_with(HOSTILE[0]));
    assert!(whole.count() >= 1, "{names:?}");
}

#[test]
fn only_the_pages_own_script_may_run() {
    let mut source = Source::load(MODEL).unwrap();
    let planned = planned(&mut source, Duration::from_secs(5));
    let html = file(&page(&source, &planned, sayings(), &Remedies::untried()).unwrap()).unwrap();
    let (_, policy) = html
        .split_once("Content-Security-Policy\" content=\"")
        .unwrap();
    let (policy, _) = policy.split_once('"').unwrap();
    assert!(policy.contains("default-src 'none'"), "{policy}");
    let (_, nonce) = policy.split_once("script-src 'nonce-").unwrap();
    let (nonce, _) = nonce.split_once('\'').unwrap();
    assert!(html.contains(&format!("<script nonce=\"{nonce}\">")));
    assert!(!html.contains("http://") || html.matches("http://").count() == 1);
    // The one address is the name of SVG.
    assert!(!html.contains("https://") && !html.contains("//cdn"));
}

#[test]
fn pages_of_all_networks_are_small() {
    let (mut pages, mut largest) = (0, 0);
    for network in NETWORKS {
        let mut source = Source::load(format!("zoo:{}:int8", network.name)).unwrap();
        let planned = planned(&mut source, Duration::from_millis(50));
        let html =
            file(&page(&source, &planned, sayings(), &Remedies::untried()).unwrap()).unwrap();
        assert!(
            html.len() < MOST_BYTES / 2,
            "{}: {}",
            network.name,
            html.len()
        );
        let tensors = planned.plan.arena.problem.buffers().len();
        assert!(!html.contains("Not drawn"), "{}: {tensors}", network.name);
        (pages, largest) = (pages + 1, largest.max(html.len()));
    }
    assert!(pages >= 40, "{pages} pages");
    assert!(largest > 200_000, "the largest has only {largest} bytes");
}

/// A made-up map of many buffers with long names, all of which overlap their neighbours.
fn huge(count: usize) -> ArenaMap {
    let buffers = (0..count).map(|index| MapBuffer {
        name: format!("{}{index}", "<&\">".repeat(28)),
        tensors: vec![index; 3],
        shape: "1x2x3x4 INT8".to_owned(),
        offset: index as u64 * 8,
        size_bytes: 16,
        steps: [index as u32, index as u32 + 2],
        scratch_of: None,
        is_peak: index % 2 == 0,
    });
    let shared = (1..count).map(|index| SharedArea {
        buffers: [index - 1, index],
        steps: [index as u32, index as u32 + 1],
        bytes: [index as u64 * 8, index as u64 * 8 + 8],
        overlaps: Vec::new(),
        is_damaged: true,
    });
    ArenaMap {
        title: "made up".to_owned(),
        arena_bytes: count as u64 * 8 + 16,
        regions: Vec::new(),
        of_layers: None,
        steps: count + 2,
        kinds: (0..count)
            .map(|index| format!("CUSTOM:{index}{}", "<".repeat(100)))
            .collect(),
        operators: (0..count).map(|index| [index, index, index]).collect(),
        groups: Vec::new(),
        buffers: buffers.collect(),
        shared: shared.collect(),
        left_out: 0,
    }
}

#[test]
fn no_page_is_larger_than_the_limit() {
    let map = huge(100_000);
    let shown = Page {
        schema: SCHEMA,
        model: "huge".to_owned(),
        command: "plan",
        verdict: None,
        facts: Vec::new(),
        maps: vec![map.clone(), map],
        peak: None,
        front: None,
        layers: Vec::new(),
        traced: Vec::new(),
        savings: Vec::new(),
        witnesses: Vec::new(),
        notes: Vec::new(),
    };
    let html = file(&shown).unwrap();
    assert!(html.len() <= MOST_BYTES, "{}", html.len());
    assert!(html.contains("Not drawn: "));
    let drawn = data(&html)["maps"][0]["buffers"].as_array().unwrap().len();
    assert!(drawn >= 300, "only {drawn} are drawn");
    let of_program = Page {
        command: "run",
        maps: Vec::new(),
        traced: (0..50_000).map(layer).collect(),
        ..shown
    };
    let html = file(&of_program).unwrap();
    assert!(html.len() <= MOST_BYTES, "{}", html.len());
    assert!(html.contains("The table of layers lacks "));
    let rows = data(&html)["traced"].as_array().unwrap().len();
    assert!(rows >= 100, "only {rows} layers");
}

/// A layer whose names would be markup.
fn layer(index: usize) -> TracedLayer {
    let name = HOSTILE[index % HOSTILE.len()].to_owned();
    TracedLayer {
        layer: index,
        name: name.clone(),
        operator: name.clone(),
        pairs: vec![TracedPair {
            input: name.clone(),
            input_bytes: 10,
            output: name.clone(),
            output_bytes: 8,
            safe_overlap_bytes: Some(7),
            percent: "87.5 %".to_owned(),
            needed_bytes: Some(1),
            in_place: false,
            refusal: String::new(),
            binding: vec![TracedAccess {
                kind: "store",
                address: "0x0".to_owned(),
                function: Some(name.clone()),
                source: Some(name.clone()),
                code: Some(name),
                bytes: [0, 1],
            }],
        }],
        ..TracedLayer::default()
    }
}

#[test]
fn names_of_layers_are_no_markup() {
    let shown = Page {
        schema: SCHEMA,
        model: HOSTILE[0].to_owned(),
        command: "run",
        verdict: None,
        facts: Vec::new(),
        maps: Vec::new(),
        peak: None,
        front: None,
        layers: Vec::new(),
        traced: (0..HOSTILE.len()).map(layer).collect(),
        savings: Vec::new(),
        witnesses: Vec::new(),
        notes: Vec::new(),
    };
    let html = file(&shown).unwrap();
    for markup in ["<script>alert", "<img", "<svg onload", "<b>"] {
        assert!(!html.contains(markup), "{markup}");
    }
    assert_eq!(html.matches("<script").count(), 2);
    let layers = data(&html)["traced"].as_array().unwrap().len();
    assert_eq!(layers, HOSTILE.len());
}

#[test]
fn a_page_is_written_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let run = |report: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dmo-trace"));
        let command = command.current_dir(folder.path()).args(["plan", MODEL]);
        let output = command
            .args(["--out", "plan.json", "--report", report])
            .output();
        let output = output.unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), text)
    };
    let entries = || std::fs::read_dir(folder.path()).unwrap().count();
    let (code, message) = run("no-such-folder/page.html");
    assert_eq!(code, Some(2), "{message}");
    assert!(
        message.contains("cannot write no-such-folder/page.html"),
        "{message}"
    );
    assert_eq!(entries(), 0);
    std::fs::create_dir(folder.path().join("folder")).unwrap();
    let (code, message) = run("folder");
    assert_eq!(code, Some(2), "{message}");
    assert_eq!(entries(), 1);
    assert_eq!(run("page.html").0, Some(0));
    assert_eq!(entries(), 3);
    let html = std::fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert_eq!(data(&html)["command"], "plan");
}
