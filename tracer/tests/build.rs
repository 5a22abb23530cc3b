//! Libraries that `dmo-trace build` makes: as C that a native compiler takes without a warning and
//! that computes what was recorded, under sanitizers, in arenas filled with garbage; as compiled for
//! the target; and whether their tests notice a tensor that lies elsewhere.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panic, with the model's name"
)]

mod support;

use dmo_analysis::graph::OperatorId;
use dmo_planner::regions::ArenaRegion;
use dmo_trace::codegen::compilation::Compiler;
use dmo_trace::codegen::kernel_sources::DSP;
use dmo_trace::codegen::kernel_sources::PLAIN;
use dmo_trace::study::Session;
use dmo_trace::study::build::{BuildRequest, Built, PACKED, build, default_kernels};
use dmo_trace::study::change::ChangeRequest;
use dmo_trace::study::error::{BuildError, StudyError};
use dmo_trace::study::form::{Form, MemoryLimits};
use dmo_trace::study::kernel_request::{KernelRequest, REFERENCE};
use dmo_trace::study::regions::RegionRequest;
use dmo_trace::study::source::Source;
use libtest_mimic::{Arguments, Failed, Trial};
use std::path::Path;
use std::process::Command;
use support::{models, tools};

/// Models of the repository, and real ones where they are at hand.
const MODELS: [&str; 26] = [
    "activations_float.tflite",
    "activations_int16.tflite",
    "activations_int8.tflite",
    "further_functions_int8.tflite",
    "further_moves_int8.tflite",
    "further_variables_float32.tflite",
    "further_variables_int8.tflite",
    "stand_in_autoencoder_int8.tflite",
    "stand_in_bytes_int8.tflite",
    "stand_in_floats_int8.tflite",
    "stand_in_keyword_int8.tflite",
    "stand_in_layers_int16.tflite",
    "stand_in_layers_int8.tflite",
    "stand_in_padded_int8.tflite",
    "stand_in_sequence_int8.tflite",
    "stand_in_upsampling_float32.tflite",
    "stand_in_upsampling_int16.tflite",
    "stand_in_upsampling_int8.tflite",
    "stand_in_vision_float32.tflite",
    "stand_in_vision_int16.tflite",
    "stand_in_vision_int8.tflite",
    "stand_in_vision_uint8.tflite",
    "stand_in_weights_int4.tflite",
    "stand_in_window_int8.tflite",
    "mlcommons_tiny/kws_ref_model.tflite",
    "tflite_micro/trained_lstm_int8.tflite",
];

fn main() {
    let mut trials = Vec::new();
    for (index, model) in MODELS.into_iter().enumerate() {
        for kernels in sets_of(index) {
            let name = format!("natively::{model}::{kernels}");
            trials.push(models::trial(name, model, move |file| {
                let plain = built(model, file, &request(kernels, false))?;
                let tiled = built(model, file, &request(kernels, true))?;
                [plain, tiled].iter().try_for_each(runs_natively)
            }));
        }
        let prove = move |file: &[u8]| {
            let compiler = Compiler::default();
            let request = BuildRequest {
                prove: Some(compiler),
                ..request(PACKED, true)
            };
            let proof = built(model, file, &request)?.proof.ok_or("no proof")?;
            if proof.holds() && proof.flash_bytes > 100 && proof.ram_bytes > Some(0) {
                return Ok(());
            }
            Err(format!("{proof:?}").into())
        };
        trials.extend(proven_without_the_dsp_extension(model));
        let name = format!("proven::{model}");
        trials.push(match tools::version(&Compiler::default().program) {
            Ok(_) => models::trial(name, model, prove),
            Err(problem) => tools::trial(name, &Err(problem), || Ok(())),
        });
    }
    let vision = "stand_in_vision_int8.tflite";
    trials.push(models::trial(
        "a_tensor_elsewhere_is_noticed",
        vision,
        |file| moved_tensors_are_noticed(&built(vision, file, &request(REFERENCE, false))?),
    ));
    trials.push(models::trial(
        "the_same_model_gives_the_same_files",
        vision,
        |file| {
            let twice =
                [(), ()].map(|()| built(vision, file, &request(PACKED, true)).unwrap().files);
            assert!(twice[0] == twice[1] && twice[0].len() > 20);
            Ok(())
        },
    ));
    trials.push(models::trial(
        "every_place_is_filled",
        vision,
        places_are_filled,
    ));
    trials.extend(in_memories());
    trials.extend(of_newest_rows());
    trials.extend(of_rows());
    let name = "flash_is_limited";
    trials.push(match tools::version(&Compiler::default().program) {
        Ok(_) => models::trial(name, vision, flash_is_limited),
        Err(problem) => tools::trial(name, &Err(problem), || Ok(())),
    });
    trials.push(tools::trial(
        "files_of_others_stay",
        &Ok(()),
        files_of_others_stay,
    ));
    trials.push(models::trial("odd_names_are_no_code", vision, |file| {
        for name in [
            "a*/ \\ \"?? @prefix@\n#error",
            "test.tflite",
            "\u{1f600}.tflite",
        ] {
            let request = BuildRequest {
                name: None,
                ..request(PACKED, false)
            };
            runs_natively(&built(name, file, &request)?)?;
        }
        Ok(())
    }));
    let name = "sketches_compile";
    trials.push(match tools::version(ARDUINO_COMPILER) {
        Ok(_) => models::trial(name, vision, sketches_compile),
        Err(problem) => tools::trial(name, &Err(problem), || Ok(())),
    });
    for (kernels, needed) in [
        (PACKED, Some("-D__ARM_FEATURE_DSP")),
        (DSP, Some("-D__ARM_FEATURE_DSP")),
        (PLAIN, Some("-D__thumb2__")),
        (REFERENCE, None),
    ] {
        let name = format!("cores_with_other_instructions::{kernels}");
        trials.push(models::trial(name, vision, move |file| {
            core_is_refused(&built(vision, file, &request(kernels, false))?, needed)
        }));
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

/// Libraries for each core that lacks the DSP extension, with and without tiles.
/// The sets of kernels that a model is tried with: two, unless all are asked for.
fn sets_of(model: usize) -> Vec<&'static str> {
    const OTHERS: [&str; 3] = [DSP, PLAIN, REFERENCE];
    if support::tools::are_all_cases_wanted() {
        [&[PACKED], &OTHERS[..]].concat()
    } else {
        vec![PACKED, OTHERS[model % OTHERS.len()]]
    }
}

fn proven_without_the_dsp_extension(model: &'static str) -> Vec<Trial> {
    const CPUS: [(&str, &[&str]); 3] = [
        (
            "cortex-m0plus",
            &[
                "stand_in_vision_int8.tflite",
                "stand_in_keyword_int8.tflite",
                "stand_in_layers_int8.tflite",
                "stand_in_sequence_int8.tflite",
                "mlcommons_tiny/kws_ref_model.tflite",
            ],
        ),
        ("cortex-m23", &["stand_in_vision_int8.tflite"]),
        (
            "cortex-m3",
            &["stand_in_vision_int8.tflite", "stand_in_layers_int8.tflite"],
        ),
    ];
    let cpus = CPUS.iter().filter(|(_, models)| models.contains(&model));
    let trials = cpus.map(|&(cpu, _)| {
        let name = format!("proven_without_the_dsp_extension::{cpu}::{model}");
        let compiler = tools::version(&Compiler::default().program);
        if let Err(problem) = compiler {
            return tools::trial(name, &Err(problem), || Ok(()));
        }
        models::trial(name, model, move |file| {
            for is_tiled in [false, true] {
                let mut request = request(default_kernels(Some(cpu)), is_tiled);
                request.kernels.cpu = Some(cpu.to_owned());
                request.prove = Some(Compiler::default());
                let proof = built(model, file, &request)?.proof.ok_or("no proof")?;
                if !proof.holds() {
                    return Err(format!("tiled={is_tiled}: {proof:?}").into());
                }
            }
            Ok(())
        })
    });
    trials.collect()
}

/// Libraries whose tensors lie in two memories, of which the first is too small for all.
fn in_memories() -> Vec<Trial> {
    const MODELS: [(&str, u64); 2] = [
        ("stand_in_vision_int8.tflite", 512),
        ("stand_in_sequence_int8.tflite", 96),
    ];
    let trials = MODELS.iter().flat_map(|&(model, fast_bytes)| {
        [false, true].map(|is_tiled| {
            let name = format!("in_two_memories::{model}::tiled={is_tiled}");
            models::trial(name, model, move |file| {
                in_two_memories(&built(model, file, &in_regions(fast_bytes, is_tiled))?)
            })
        })
    });
    trials.collect()
}

fn in_regions(fast_bytes: u64, is_tiled: bool) -> BuildRequest {
    let region = |name: &str, capacity_bytes, access_cost, alignment| ArenaRegion {
        name: name.to_owned(),
        capacity_bytes,
        access_cost,
        alignment,
    };
    BuildRequest {
        regions: RegionRequest {
            regions: vec![
                region("1 tcm", fast_bytes, 1, 1),
                region("psram", 1 << 16, 12, 64),
            ],
            time: std::time::Duration::from_secs(3),
            ..RegionRequest::default()
        },
        inputs: 1,
        ..request(REFERENCE, is_tiled)
    }
}

/// Both are used, the plan predicts what the run in it counts, and the test of the library passes.
fn in_two_memories(built: &Built) -> Result<(), Failed> {
    let [fast, slow] = &built.regions[..] else {
        return Err(format!("{:?}", built.regions).into());
    };
    for known in [fast, slow] {
        let is_within = (1..=known.region.capacity_bytes).contains(&known.used_bytes);
        let is_predicted = known.planned_accesses == Some(known.accesses);
        if !is_within || !is_predicted || known.accesses == 0 {
            return Err(format!("{known:?}").into());
        }
    }
    if slow.wait_cycles() != 11 * slow.accesses || fast.wait_cycles() != 0 {
        return Err(format!("{:?}", built.regions).into());
    }
    runs_natively(built)
}

/// Libraries that take the newest rows of a window.
fn of_newest_rows() -> Vec<Trial> {
    let mut trials = Vec::new();
    let window = "stand_in_window_int8.tflite";
    for kernels in [PACKED, DSP, REFERENCE] {
        let name = format!("newest_rows_natively::{kernels}");
        trials.push(models::trial(name, window, move |file| {
            let built = built(window, file, &newest_rows(kernels))?;
            assert_eq!((built.recorded.len(), built.state_bytes), (19 + 3, 272));
            runs_natively(&built)
        }));
    }
    trials.push(models::trial(
        "states_count_as_memory",
        window,
        states_count_as_memory,
    ));
    let name = "newest_rows_proven";
    trials.push(match tools::version(&Compiler::default().program) {
        Ok(_) => models::trial(name, window, move |file| {
            let request = BuildRequest {
                prove: Some(Compiler::default()),
                ..newest_rows(PACKED)
            };
            let proof = built(window, file, &request)?.proof.ok_or("no proof")?;
            proof
                .holds()
                .then_some(())
                .ok_or_else(|| format!("{proof:?}").into())
        }),
        Err(problem) => tools::trial(name, &Err(problem), || Ok(())),
    });
    trials.push(tools::trial(
        "newest_rows_in_the_runtime",
        &tools::python_package("tflite_micro"),
        newest_rows_in_the_runtime,
    ));
    trials
}

/// A library with these kernels.
type Request = fn(&str) -> BuildRequest;

/// Libraries whose input is handed over in rows, and those that keep rows.
fn of_rows() -> Vec<Trial> {
    let mut trials = Vec::new();
    for element in ["float32", "int16", "int8", "uint8"] {
        for kernels in [PACKED, REFERENCE] {
            for (form, request) in [("input", input_rows as Request), ("kept", kept_rows)] {
                let model = format!("stand_in_vision_{element}.tflite");
                let name = format!("{form}_rows_natively::{element}::{kernels}");
                let file = model.clone();
                trials.push(models::trial(name, &file, move |file| {
                    let built = built(&model, file, &request(kernels))?;
                    let most = built.network.most_rows;
                    assert!(most > Some(0) && built.network.inputs.is_empty());
                    let calls = built.network.calls.iter();
                    let kept = calls.filter(|call| call.function == "dmo_keep_rows");
                    assert!(form == "input" || kept.count() > 2);
                    runs_natively(&built)
                }));
            }
        }
    }
    let floats = "stand_in_floats_int8.tflite";
    trials.push(models::trial("rows_of_integers", floats, move |file| {
        let mut source = Source::of_bytes(floats, file.to_vec())?;
        source.take_integers()?;
        let mut request = kept_rows(PACKED);
        request.changes.remove = true;
        let built = build(&mut source, &request, &Session::default())?;
        assert!(built.is_safe && built.network.most_rows > Some(0));
        let recipe = built.planned.file.recipe.as_ref().ok_or("no recipe")?;
        assert_eq!(recipe.removed, [OperatorId(0)], "the pad reads the rows");
        runs_natively(&built)
    }));
    let vision = "stand_in_vision_int8.tflite";
    trials.push(models::trial(
        "input_rows_are_less_than_the_input",
        vision,
        |file| {
            let tiled = ChangeRequest {
                slices: false,
                ..input_rows(REFERENCE).changes
            };
            let tiled = BuildRequest {
                changes: tiled,
                ..input_rows(REFERENCE)
            };
            let whole = built(vision, file, &tiled)?;
            let rows = built(vision, file, &input_rows(REFERENCE))?;
            assert!(rows.arena_bytes < whole.arena_bytes);
            Ok(())
        },
    ));
    let name = "input_rows_proven";
    trials.push(match tools::version(&Compiler::default().program) {
        Ok(_) => models::trial(name, vision, move |file| {
            let request = BuildRequest {
                prove: Some(Compiler::default()),
                ..input_rows(PACKED)
            };
            let proof = built(vision, file, &request)?.proof.ok_or("no proof")?;
            proof
                .holds()
                .then_some(())
                .ok_or_else(|| format!("{proof:?}").into())
        }),
        Err(problem) => tools::trial(name, &Err(problem), || Ok(())),
    });
    trials
}

/// A library that takes its input in rows and computes bands, which keep rows for the next one, and
/// nothing twice.
fn kept_rows(kernels: &str) -> BuildRequest {
    let plain = request(kernels, false);
    BuildRequest {
        changes: ChangeRequest {
            slices: true,
            cache: true,
            most_recomputed_percent: 0.0,
            ..plain.changes
        },
        ..plain
    }
}

/// A library that takes its input in rows.
fn input_rows(kernels: &str) -> BuildRequest {
    let plain = request(kernels, false);
    BuildRequest {
        changes: ChangeRequest {
            slices: true,
            split: true,
            patch: true,
            cache: true,
            ..plain.changes
        },
        ..plain
    }
}

fn request(kernels: &str, is_tiled: bool) -> BuildRequest {
    let by_default = BuildRequest::default();
    BuildRequest {
        name: Some("m".to_owned()),
        kernels: KernelRequest {
            kernels: kernels.to_owned(),
            further: if kernels == REFERENCE {
                Vec::new()
            } else {
                by_default.kernels.further.clone()
            },
            ..KernelRequest::default()
        },
        changes: ChangeRequest {
            in_place: is_tiled,
            remove: is_tiled,
            split: is_tiled,
            patch: is_tiled,
            cache: is_tiled,
            most_recomputed_percent: 50.0,
            ..ChangeRequest::default()
        },
        time: std::time::Duration::from_secs(3),
        ..by_default
    }
}

/// A library that takes one row at a time.
fn newest_rows(kernels: &str) -> BuildRequest {
    BuildRequest {
        stream_rows: Some(1),
        ..request(kernels, false)
    }
}

/// A limit that only what is planned keeps, and not the states after it, is too small.
fn states_count_as_memory(file: &[u8]) -> Result<(), Failed> {
    let within = |bytes| {
        let mut source = Source::of_bytes("window", file.to_vec())?;
        let request = BuildRequest {
            limits: MemoryLimits {
                ram_bytes: Some(bytes),
                ..MemoryLimits::default()
            },
            ..newest_rows(REFERENCE)
        };
        build(&mut source, &request, &Session::default())
    };
    let wide = within(1 << 20)?;
    let least = wide.forms.best.iter().map(Form::ram_bytes).min().unwrap();
    assert_eq!(wide.forms.best[0].arena_bytes, u64::from(wide.arena_bytes));
    assert_eq!(wide.state_bytes, 272);
    assert!(within(least).is_ok());
    let error = within(least - 1).err().ok_or("it fits")?.to_string();
    assert!(
        error.contains(&format!("least RAM is {least} bytes")),
        "{error}"
    );
    Ok(())
}

/// Limits of flash: the fastest form within, none below the least, and the estimate is near what a
/// compiler makes.
fn flash_is_limited(file: &[u8]) -> Result<(), Failed> {
    let within = |flash_bytes, prove| {
        let mut source = Source::of_bytes("vision", file.to_vec())?;
        let request = BuildRequest {
            limits: MemoryLimits {
                flash_bytes: Some(flash_bytes),
                ..MemoryLimits::default()
            },
            prove,
            ..request(PACKED, true)
        };
        build(&mut source, &request, &Session::default())
    };
    let wide = within(1 << 20, Some(Compiler::default()))?;
    let chosen = wide.forms.best.iter().position(|form| wide.is_of(form));
    assert_eq!(chosen, Some(0), "the fastest of all");
    let proven = wide.proof.as_ref().ok_or("no proof")?.flash_bytes;
    let estimated = wide.forms.best[0].flash_bytes;
    assert!(
        proven.abs_diff(estimated) * 10 < proven,
        "{estimated}, {proven}"
    );
    let least = wide.forms.least_flash_bytes();
    assert!(within(least, None).is_ok());
    match within(least - 1, None) {
        Err(StudyError::Build(BuildError::OutOfReach(beyond))) => {
            assert_eq!(beyond.forms.least_flash_bytes(), least);
        }
        other => panic!("{:?}", other.err()),
    }
    // What is compiled counts: the form fits, though its estimate does not.
    assert!(estimated > proven, "{estimated}, {proven}");
    let just = within(proven, Some(Compiler::default()))?;
    assert!(just.holds() && just.is_of(&wide.forms.best[0]));
    // A library that exceeds the limit by a byte does not hold.
    let below = within(proven - 1, Some(Compiler::default()))?;
    let taken = below.proof.as_ref().ok_or("no proof")?.flash_bytes;
    assert_eq!(below.holds(), taken < proven, "{taken}, {proven}");
    Ok(())
}

/// TensorFlow Lite Micro computes the same of rows and of whole windows, too.
fn newest_rows_in_the_runtime() -> Result<(), Failed> {
    let window = models::find("stand_in_window_int8.tflite").ok_or("no model")?;
    let folder = tempfile::tempdir()?;
    let rows = folder.path().join("rows.tflite");
    let mut stream = Command::new(env!("CARGO_BIN_EXE_dmo-trace"));
    stream.args(["stream", "--rows", "1", "--out"]).arg(&rows);
    let output = stream.arg(&window).output()?;
    assert!(output.status.success(), "{output:?}");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/windows.py");
    let output = Command::new("python3")
        .arg(script)
        .args([window, rows])
        .output()?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    if said.starts_with("40 windows, 40 equal") {
        return Ok(());
    }
    Err((said + &String::from_utf8_lossy(&output.stderr)).into())
}

fn built(model: &str, file: &[u8], request: &BuildRequest) -> Result<Built, Failed> {
    let mut source = Source::of_bytes(model, file.to_vec())?;
    let built = build(&mut source, request, &Session::default())?;
    assert!(built.is_safe, "{model}");
    Ok(built)
}

/// Flags under which a library has to be clean.
const STRICT: &str = "-O1 -g -std=c99 -pedantic -Wall -Wextra -Wconversion -Wshadow -Werror \
                      -fsanitize=address,undefined -fno-sanitize-recover=all";

fn runs_natively(built: &Built) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    for file in &built.files {
        write(folder.path(), &file.path, &file.text)?;
    }
    let output = run(folder.path(), STRICT)?;
    let inferences = format!(
        "{} recorded inferences, all outputs equal",
        built.recorded.len()
    );
    if output.contains(&inferences) {
        return Ok(());
    }
    Err(output.into())
}

/// No file has a place of its template left, and the option of Kconfig is the one that CMake asks for.
fn places_are_filled(file: &[u8]) -> Result<(), Failed> {
    for request in [request(PACKED, false), input_rows(PACKED)] {
        let files = built("vision", file, &request)?.files;
        assert!(files.len() > 20, "{}", files.len());
        for file in &files {
            let pieces: Vec<&str> = file.text.split('@').collect();
            let mut between = pieces.iter().skip(1).take(pieces.len().saturating_sub(2));
            let is_name = |piece: &&&str| {
                let mut letters = piece.chars();
                !piece.is_empty() && letters.all(|letter| letter.is_alphanumeric() || letter == '_')
            };
            assert_eq!(between.find(is_name), None, "{}", file.path);
        }
        let text = |path: &str| &files.iter().find(|file| file.path == path).unwrap().text;
        let mut lines = text("zephyr/Kconfig").lines();
        let option = lines
            .find_map(|line| line.strip_prefix("config "))
            .ok_or("no option")?;
        assert_eq!(option, "M");
        let condition = format!("\nif(CONFIG_{option})\n");
        assert!(text("zephyr/CMakeLists.txt").contains(&condition));
    }
    Ok(())
}

const ARDUINO_COMPILER: &str = "arm-none-eabi-g++";

/// What the example for Arduino uses of it.
const ARDUINO: &str = "#include <stddef.h>
struct Print {
  void begin(unsigned long);
  template <class T> void print(T);
  template <class T> void println(T);
};
extern Print Serial;
unsigned long micros();
";

/// The example for Arduino compiles as C++: of one arena, of several memories, of an input in rows.
fn sketches_compile(file: &[u8]) -> Result<(), Failed> {
    let requests = [
        request(PACKED, false),
        in_regions(512, false),
        input_rows(PACKED),
    ];
    for request in requests {
        let built = built("vision", file, &request)?;
        let folder = tempfile::tempdir()?;
        for file in &built.files {
            write(folder.path(), &file.path, &file.text)?;
        }
        write(folder.path(), "src/Arduino.h", ARDUINO)?;
        let mut compiler = Command::new(ARDUINO_COMPILER);
        compiler.current_dir(folder.path());
        compiler.args([
            "-std=gnu++11",
            "-fsyntax-only",
            "-Isrc",
            "-include",
            "Arduino.h",
        ]);
        let sketch = "examples/inference/inference.ino";
        let output = compiler.args(["-x", "c++", sketch]).output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
    }
    Ok(())
}

/// Whether the calls do not compile for an Arm core without the DSP extension, and do for one with it.
/// An Arm core is refused unless the compiler says that it has what is needed.
fn core_is_refused(built: &Built, needed: Option<&str>) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    for file in &built.files {
        write(folder.path(), &file.path, &file.text)?;
    }
    for (said_to_have, is_refused) in [(None, needed.is_some()), (needed, false)] {
        let mut compiler = Command::new("gcc");
        compiler.current_dir(folder.path());
        compiler.args(["-std=c99", "-fsyntax-only", "-D__arm__", "src/m_model.c"]);
        let output = compiler.args(said_to_have).output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.success(), !is_refused, "{said}");
        assert_eq!(said.contains("build with --cpu"), is_refused, "{said}");
    }
    Ok(())
}

fn write(folder: &Path, path: &str, text: &str) -> std::io::Result<()> {
    let path = folder.join(path);
    std::fs::create_dir_all(path.parent().unwrap())?;
    std::fs::write(path, text)
}

/// Builds and runs a library's test; gives what it says.
fn run(folder: &Path, flags: &str) -> Result<String, Failed> {
    let mut make = Command::new("make");
    make.current_dir(folder).args(["-s", "-j2", "test"]);
    let output = make.arg(format!("CFLAGS={flags}")).output()?;
    let said = [output.stdout, output.stderr].concat();
    Ok(String::from_utf8_lossy(&said).into_owned())
}

/// Moves each pointer into the arena by one byte to either side, one at a time, and runs the test.
fn moved_tensors_are_noticed(built: &Built) -> Result<(), Failed> {
    const POINTER: &str = "AT(int8_t, ";
    let folder = tempfile::tempdir()?;
    let mut model = None;
    for file in &built.files {
        write(folder.path(), &file.path, &file.text)?;
        if file.path.ends_with("_model.c") {
            model = Some(file);
        }
    }
    let model = model.ok_or("no model")?;
    let (mut tried, mut unnoticed) = (0, Vec::new());
    for (at, _) in model.text.match_indices(POINTER) {
        let start = at + POINTER.len();
        let end = start + model.text[start..].find(')').ok_or("no end")?;
        let offset: i64 = model.text[start..end].parse()?;
        for moved in [offset - 1, offset + 1] {
            let text = format!("{}{moved}{}", &model.text[..start], &model.text[end..]);
            write(folder.path(), &model.path, &text)?;
            tried += 1;
            if run(folder.path(), "-O1")?.contains("all outputs equal") {
                unnoticed.push((offset, moved));
            }
        }
    }
    // The output of the last operator but one may be equal in all its bytes to a shifted one.
    if tried >= 20 && unnoticed.len() * 20 <= tried {
        return Ok(());
    }
    Err(format!("{tried} tried, not noticed: {unnoticed:?}").into())
}

/// What stands in a folder that was not generated, or was added to one that was, is not replaced.
fn files_of_others_stay() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let model = folder.path().join("m.tflite");
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    std::fs::copy(golden.join("stand_in_autoencoder_int8.tflite"), &model)?;
    let out = folder.path().join("library");
    let exit_code = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dmo-trace"));
        command.args(["build", "--time", "1", "--inputs", "1", "--out"]);
        let output = command.arg(&out).arg(&model).output().unwrap();
        output.status.code()
    };
    assert_eq!([exit_code(), exit_code()], [Some(0), Some(0)]);
    for own in ["main.c", "src/main.c", "test/notes"] {
        let own = out.join(own);
        std::fs::write(&own, "mine")?;
        assert_eq!(exit_code(), Some(2), "{own:?}");
        assert_eq!(std::fs::read(&own)?, b"mine");
        std::fs::remove_file(own)?;
    }
    std::fs::remove_file(out.join(".dmo-trace-files"))?;
    assert_eq!(exit_code(), Some(2));
    Ok(())
}
