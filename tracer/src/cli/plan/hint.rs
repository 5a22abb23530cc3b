//! What to do next: with a plan, and where an arena is larger than its capacity.

use super::Arguments;
use crate::cli::output;
use dmo_analysis::graph::Kind;
use dmo_analysis::wording::grouped;
use dmo_trace::study::Session;
use dmo_trace::study::change::ChangeRequest;
use dmo_trace::study::emit::{Emitted, arena_changes, has_standard_tiles, is_packed, is_standard};
use dmo_trace::study::overlap_source::OverlapKind;
use dmo_trace::study::peak::ArenaPeak;
use dmo_trace::study::plan::{PlanRequest, Planned, plan};
use dmo_trace::study::remedies::set_in_place_of_cmsis_nn;
use dmo_trace::study::source::Source;
use dmo_trace::study::whole_arena::ArenaChange;
use dmo_trace::words::names::pasted;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

/// At most this long a search for what tiles reach: a hint must not keep anyone waiting.
const SEARCH_TIME: Duration = Duration::from_secs(1);

/// What `--allow split` reaches, for the end of a message about a plan of `planned_bytes`. Empty if
/// tiles are allowed already, or cannot be. A longer search may find less.
pub fn allow_split(arguments: &Arguments, planned_bytes: u64, session: &Session) -> String {
    const HINT: &str = "\n  hint: --allow split computes runs of operators in bands of rows";
    if arguments.change.allow_tiles() || arguments.firmware.is_named() {
        return String::new();
    }
    // Kernels would have to be measured again, operator by operator.
    if arguments.overlap.request().kind == OverlapKind::Traced {
        return format!("{HINT}, which may need less");
    }
    match with_bands(arguments, session) {
        Some(bytes) if bytes < planned_bytes => {
            let as_file = if arguments.model.to_string_lossy().starts_with("zoo:") {
                ""
            } else {
                " as C code of `dmo-trace build`, perhaps more as a .tflite"
            };
            format!("{HINT}: {} bytes or less{as_file}", grouped(bytes))
        }
        Some(_) => format!("{HINT}, which may need less"),
        None => String::new(),
    }
}

/// The arena in bytes where runs of operators may be computed in bands, too; `None` if there is no
/// such plan.
fn with_bands(arguments: &Arguments, session: &Session) -> Option<u64> {
    let request = arguments.request().ok()?;
    let request = PlanRequest {
        changes: ChangeRequest {
            split: true,
            ..request.changes
        },
        time: request.time.min(SEARCH_TIME),
        ..request
    };
    let mut source = Source::load(&arguments.model).ok()?;
    arguments.change.take_integers(&mut source).ok()?;
    // Whether this search was cut short is not what the user asks.
    let quiet = Session {
        cache: session.cache.clone(),
        ..Session::default()
    };
    let planned = plan(&mut source, &request, &quiet).ok()?;
    Some(planned.file.arena_bytes)
}

/// What a .tflite of several ways is.
const BEST_WAY: &str =
    "the best of these ways that TensorFlow Lite Micro can run, whose planned part may be larger";

/// What to do with the plan, and what may need less, a sentence each without its full stop.
pub fn next_steps(
    arguments: &Arguments,
    source: &Source,
    planned: &Planned,
    emitted: &[(&Path, &Emitted)],
) -> Vec<String> {
    let mut steps = Vec::new();
    let named = |extension| {
        emitted
            .iter()
            .find(|(path, _)| has_extension(path, extension))
    };
    let is_file = source.file.is_some();
    let kernels = arguments.overlap.kernels_again();
    match (named("tflite"), named("json")) {
        // A firmware has run the model in its plan already, and cannot run tiles.
        _ if arguments.firmware.is_named() && !emitted.is_empty() => {
            if named("tflite").is_some() {
                steps.push(
                    "build the firmware with it, and with the kTensorArenaSize for the kernels that it has; \
                     `dmo-trace run` then has to say SAFE of it"
                        .to_owned(),
                );
            }
            return steps;
        }
        (Some((path, file)), _) => {
            steps.push(format!(
                "`dmo-trace verify {}{kernels}` runs it on the kernels' machine code",
                pasted(&path.to_string_lossy())
            ));
            steps.extend(resolver(&file.added_kinds));
        }
        (None, Some((path, _))) => steps.push(format!(
            "`dmo-trace verify {} --plan {}{kernels}` runs it on the kernels' machine code",
            pasted(&arguments.model.to_string_lossy()),
            pasted(&path.to_string_lossy())
        )),
        // Stock TensorFlow Lite Micro stores its inputs as a whole.
        (None, None) if planned.overlaps.measured.is_none() && saves_nothing(source, planned) => {
            steps.push(
                "the runtime needs as much without this plan: overlaps save nothing here"
                    .to_owned(),
            );
        }
        (None, None) if is_file && !arguments.change.slices && !is_packed(planned) => {
            let (options, what) = match source.recipe() {
                Some(recipe) if is_standard(recipe) => ("", BEST_WAY),
                None if has_standard_tiles(planned) => ("", BEST_WAY),
                None => ("", "the model with this plan, for TensorFlow Lite Micro"),
                Some(_) => (
                    "--allow split,patch ",
                    "the best way that TensorFlow Lite Micro can run, whose planned part may be larger; `dmo-trace build` compiles this one",
                ),
            };
            steps.push(format!(
                "`{options}--out {}` writes {what}",
                output::planned_beside(Path::new(&arguments.model))
            ));
        }
        (None, None) => (),
    }
    let is_measured = planned.overlaps.measured.is_some();
    let mut written = emitted.iter().filter(|(_, file)| !file.changes.is_empty());
    let is_in_vain = match written.next() {
        Some((_, file)) => need_as_much(&file.changes),
        None => is_measured && saves_nothing(source, planned),
    };
    if is_in_vain && is_measured {
        steps.push("these kernels allow no overlap that makes it smaller".to_owned());
    } else if is_in_vain {
        steps.push("the runtime needs as much with the model as it is".to_owned());
    }
    steps.extend(other_kernels(planned));
    if arguments.firmware.is_named() || source.ensure_changeable().is_err() {
        return steps;
    }
    let nodes = &source.graph().operators;
    if is_file && nodes.iter().any(|node| node.kind == Kind::Decode) {
        steps.push(format!(
            "`dmo-trace decode {}` says how much smaller the arena is if the packed constants lie unpacked in flash",
            pasted(&arguments.model.to_string_lossy())
        ));
    }
    if source.has_float_ends() {
        steps.push(
            "`--integer-io` leaves out the conversions from and to floats at the model's ends"
                .to_owned(),
        );
    }
    if !arguments.change.allow_tiles() {
        steps.push(
            "`--allow split,patch` computes operators in tiles, which may need less".to_owned(),
        );
    } else if is_file {
        let given = [
            (arguments.change.integer_io, " --integer-io"),
            (arguments.change.slices, " --slices"),
        ];
        let given = given.iter().filter(|(is_given, _)| *is_given);
        let given: String = given.map(|(_, option)| *option).collect();
        steps.push(format!(
            "`dmo-trace build{given}` writes C code that can run each of these ways"
        ));
    }
    steps
}

/// Kernels that allow more than those of a CMSIS-NN that is not built in, where it computes some of the
/// operators.
fn other_kernels(planned: &Planned) -> Option<String> {
    let set = set_in_place_of_cmsis_nn(planned)?;
    // Where most of what can be shared at the peak is, others would not help.
    let peak = ArenaPeak::of(planned)?;
    let least = peak.buffers.iter().filter(|buffer| buffer.tensor.is_some());
    let least = least.map(|buffer| buffer.size_bytes).min()?;
    if 2 * peak.shared_bytes() >= least {
        return None;
    }
    Some(format!(
        "`--kernels {set}` plans for kernels in place of CMSIS-NN's that overlap further, which `dmo-trace kernels` \
         writes"
    ))
}

/// Whether the runtime needs as much with the overlaps of the plan as without.
fn saves_nothing(source: &Source, planned: &Planned) -> bool {
    planned.overlaps.kind != OverlapKind::None
        && source.carried_offsets().is_none()
        && arena_changes(source, planned).is_some_and(|all| need_as_much(&all))
}

/// Whether something is known of the whole arena, and it does not become smaller.
fn need_as_much(changes: &[ArenaChange]) -> bool {
    !changes.is_empty() && changes.iter().all(|it| it.after_bytes >= it.before_bytes)
}

/// What a firmware has to add for the operators that tiles are made of.
fn resolver(added: &BTreeSet<String>) -> Option<String> {
    let call = |kind: &String| match &**kind {
        "SLICE" => "`resolver.AddSlice();`".to_owned(),
        "CONCATENATION" => "`resolver.AddConcatenation();`".to_owned(),
        "PAD" => "`resolver.AddPad();`".to_owned(),
        "PADV2" => "`resolver.AddPadV2();`".to_owned(),
        other => other.escape_debug().to_string(),
    };
    let calls: Vec<String> = added.iter().map(call).collect();
    let operators = if calls.len() == 1 {
        "an operator"
    } else {
        "operators"
    };
    (!calls.is_empty()).then(|| {
        format!(
            "the firmware's resolver needs {operators} that the model did not have: {}",
            calls.join(" ")
        )
    })
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension()
        .is_some_and(|it| it.eq_ignore_ascii_case(extension))
}
