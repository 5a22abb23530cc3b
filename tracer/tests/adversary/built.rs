//! Models as C libraries: what `dmo-trace build` writes is compiled for this machine and computes,
//! in the planned arena, what TensorFlow Lite Micro computes without a plan.

use crate::generate::{Generated, model_of};
use crate::judge::{Judge, Library, Reference, Verdict};
use crate::native::NativeCompiler;
use crate::tally::Tally;
use dmo_analysis::random::SplitMix64;
use dmo_trace::codegen::kernel_sources::PLAIN;
use dmo_trace::study::build::{BuildRequest, Built, PACKED, build};
use dmo_trace::study::change::ChangeRequest;
use dmo_trace::study::form::MemoryLimits;
use dmo_trace::study::kernel_request::{KernelRequest, ModelKernels, REFERENCE};
use dmo_trace::study::source::Source;
use dmo_trace::study::{KERNEL_LIMITS, Session};
use std::error::Error;
use std::time::Duration;

/// For each plan.
const SEARCH_TIME: Duration = Duration::from_millis(200);
/// Names of libraries: any will do.
const NAMES: [&str; 4] = ["m", "arena", "int8_t", "Model_2"];
/// Undefined behaviour ends the process, without a library that Python would have to load.
const SANITIZED: [&str; 2] = ["-fsanitize=undefined", "-fsanitize-undefined-trap-on-error"];

/// Builds models, and runs what it has built.
pub struct Builder {
    sets: Vec<(KernelRequest, ModelKernels)>,
    compiler: NativeCompiler,
}

impl Builder {
    pub fn new() -> Self {
        let by_default = BuildRequest::default().kernels;
        let reference = KernelRequest {
            kernels: REFERENCE.to_owned(),
            further: Vec::new(),
            ..by_default.clone()
        };
        let plain = KernelRequest {
            kernels: PLAIN.to_owned(),
            ..by_default.clone()
        };
        let sets = [by_default, reference, plain].map(|request| {
            let kernels = request.load().unwrap();
            (request, kernels)
        });
        Self {
            sets: sets.into(),
            compiler: NativeCompiler::new(),
        }
    }

    /// Draws a model of operators that have kernels, builds it with options of any kind, and runs
    /// the library.
    pub fn attempt(&mut self, seed: u64, judge: &mut Judge, tally: &mut Tally) {
        let mut random = SplitMix64::new(seed.rotate_left(32));
        let drawn = random.below(2);
        let set = if drawn == 0 && seed % 3 == 1 {
            2
        } else {
            drawn
        };
        let (kernel_request, kernels) = &self.sets[set];
        let model = model_of(seed, |file| has_kernels(file, kernels, tally));
        let mut source = Source::of_bytes("model.tflite", model.file.clone()).unwrap();
        let reference = reference(&model, &source, seed);
        if let Err(reason) = judge.load(&reference) {
            let reason = reason.lines().next().unwrap_or_default();
            let reason = format!("TensorFlow Lite Micro refuses it: {reason}");
            tally.not_built(seed, reason);
            return;
        }
        let request = BuildRequest {
            kernels: kernel_request.clone(),
            ..any_request(&mut random)
        };
        let built = match build(&mut source, &request, &Session::default()) {
            Ok(built) => built,
            Err(error) => {
                tally.not_built(seed, whole_reason(&error));
                return;
            }
        };
        let options = ["-O1", "-O2"][random.below(2)];
        let sanitizer: &[&str] = [&SANITIZED[..], &[]][random.below(2)];
        let flags = [&[options], sanitizer].concat();
        tally.built(
            source.graph(),
            &[
                ("dsp-packed", request.kernels.kernels == PACKED),
                ("reference", request.kernels.kernels == REFERENCE),
                ("plain", request.kernels.kernels == PLAIN),
                ("--allow inplace", request.changes.in_place),
                ("--allow remove", request.changes.remove),
                ("--allow split", request.changes.split),
                ("--allow patch", request.changes.patch),
                ("--allow cache", request.changes.cache),
                ("--allow accumulate", request.changes.accumulate),
                ("--keep-inputs", request.keep_inputs),
                ("--ram", request.limits.ram_bytes.is_some()),
                (
                    "other operators",
                    source
                        .recipe()
                        .is_some_and(dmo_analysis::transform::Recipe::changes),
                ),
                (
                    "rows kept",
                    built
                        .files
                        .iter()
                        .any(|it| it.text.contains("dmo_keep_rows(")),
                ),
                (
                    "in loops",
                    built.files.iter().any(|it| it.text.contains("++tile")),
                ),
                ("with states", built.state_bytes > 0),
                ("sanitized", !sanitizer.is_empty()),
            ],
        );
        let verdict = if built.is_safe {
            self.run(&built, &flags, judge)
        } else {
            Err("the plan that it makes is not SAFE by its own word".to_owned())
        };
        if let Err(what) = verdict {
            let what = format!(
                "a library, {flags:?}: {what}\n  {request:?}\n  {:?}",
                source.recipe()
            );
            tally.object(seed, &what, &[("model", &model.file)]);
            tally.save_library(seed, &built.files);
        }
    }

    fn run(
        &mut self,
        built: &Built,
        flags: &[&'static str],
        judge: &mut Judge,
    ) -> Result<(), String> {
        let compiled = self.compiler.compile(&built.files, flags)?;
        let library = Library {
            path: compiled.shared_object()?,
            ..library(built)
        };
        match judge.run(&library) {
            Verdict::Same => {}
            Verdict::Failed(what) => return Err(what),
            verdict => return Err(format!("{verdict:?}")),
        }
        compiled.test(&format!("test/{}test.c", library.prefix))
    }
}

/// A library as its header declares it.
fn library(built: &Built) -> Library {
    let description = &built.description;
    let names = |ends: &[dmo_trace::codegen::description::EndpointDescription]| {
        ends.iter().map(|it| it.name.clone()).collect()
    };
    let header = format!("src/{}model.h", description.prefix);
    let header = built.files.iter().find(|file| file.path == header);
    let declared = |name: &str| {
        let name = format!("#define {}{name} ", description.upper_prefix());
        let text = &header.unwrap().text;
        let (_, after) = text.split_once(&name).unwrap();
        let number = after.split_once("u\n").unwrap().0;
        number.parse().unwrap()
    };
    Library {
        path: "".into(),
        prefix: description.prefix.clone(),
        arena_bytes: declared("ARENA_BYTES"),
        state_bytes: declared("STATE_BYTES"),
        alignment: declared("ARENA_ALIGNMENT"),
        keeps_inputs: description.keeps_inputs,
        inputs: names(&description.inputs),
        outputs: names(&description.outputs),
    }
}

fn reference(model: &Generated, source: &Source, seed: u64) -> Reference {
    let graph = source.graph();
    Reference {
        file: model.file.clone(),
        inputs: model.inputs,
        outputs: model.outputs,
        naive_bytes: 32 * graph.tensors.len() as u64 + 2 * graph.naive_bytes(),
        seed,
    }
}

/// Whether all operators have kernels; why not is counted.
fn has_kernels(file: &[u8], kernels: &ModelKernels, tally: &mut Tally) -> bool {
    let source = Source::of_bytes("model.tflite", file.to_vec()).unwrap();
    let graph = source.graph();
    let deployed = match source.deploy(kernels, KERNEL_LIMITS) {
        Ok(deployed) => deployed,
        Err(error) => {
            tally.without_kernel(whole_reason(&error));
            return false;
        }
    };
    let mut is_executed = true;
    for (operator, reason) in deployed.model().not_executed() {
        is_executed = false;
        let kind = &graph.operators[operator.0].kind;
        tally.without_kernel(without_numbers(&format!("{kind}: {reason}")));
    }
    is_executed
}

fn any_request(random: &mut SplitMix64) -> BuildRequest {
    let mut once_in = |times: usize| random.below(times) == 0;
    let changes = ChangeRequest {
        in_place: once_in(2),
        remove: once_in(2),
        split: once_in(3),
        patch: once_in(3),
        cache: once_in(3),
        accumulate: once_in(6),
        ..ChangeRequest::default()
    };
    let (keep_inputs, has_limit) = (once_in(3), once_in(24));
    BuildRequest {
        name: Some(NAMES[random.below(NAMES.len())].to_owned()),
        changes: ChangeRequest {
            most_recomputed_percent: [0.0, 10.0, 100.0, 200.0][random.below(4)],
            ..changes
        },
        keep_inputs,
        limits: MemoryLimits {
            ram_bytes: has_limit.then_some(1 << 20),
            ..MemoryLimits::default()
        },
        time: SEARCH_TIME,
        inputs: [1, 1, 2][random.below(3)],
        ..BuildRequest::default()
    }
}

/// An error with its causes, without numbers.
fn whole_reason(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    without_numbers(&text)
}

/// The same text for all tensors and sizes. Names keep their digits.
fn without_numbers(text: &str) -> String {
    let words = text.split(' ').map(|word| {
        if word.starts_with(|first: char| first.is_ascii_digit() || "[-".contains(first)) {
            "N"
        } else {
            word
        }
    });
    words.collect::<Vec<_>>().join(" ")
}
