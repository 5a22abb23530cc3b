//! The library that `dmo-trace kernels` writes takes the place of CMSIS-NN's functions, of all of
//! them or the linker objects, in each build system that it has a file for.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panic, with what the tool said"
)]

mod arduino;
mod pack;
#[path = "../support/tools.rs"]
#[allow(dead_code, reason = "this test program uses its part of it")]
mod tools;
mod zephyr;

use libtest_mimic::{Completion, Failed, Trial};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// CPUs and the compiler's flags for them.
const CORES: [(&str, &str); 3] = [
    (
        "cortex-m4",
        "-mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16",
    ),
    ("cortex-m3", "-mcpu=cortex-m3 -mthumb"),
    ("cortex-m0plus", "-mcpu=cortex-m0plus -mthumb"),
];
const OBJECT: &str = "build/arm-none-eabi-gcc/dmo-nn.o";

fn main() {
    let compiler = tools::version("arm-none-eabi-gcc").map(|_| ());
    let cmake = compiler
        .clone()
        .and_then(|()| tools::version("cmake").map(|_| ()));
    let vendor = vendor_library();
    let arduino = compiler
        .clone()
        .and_then(|()| tools::version("arduino-builder").map(|_| ()));
    let real = Trial::ignorable_test("real CMSIS-NN", move || match vendor {
        Some(library) => {
            let functions = symbols(&library, "T");
            assert!(functions.len() > 100, "{functions:?}");
            let linked = link(&library, &functions, CORES[0]);
            assert!(linked > 50, "{linked} functions are ours");
            Ok(Completion::Completed)
        }
        None => Ok(Completion::ignored_with("the library is missing")),
    });
    let mut trials = vec![
        tools::trial("a stand-in for CMSIS-NN", &compiler, || {
            CORES.into_iter().try_for_each(stand_in)
        }),
        tools::trial("CMake", &cmake, with_cmake),
        tools::trial("Zephyr", &cmake, zephyr::takes_the_place_of_objects),
        tools::trial("Zephyr without CMSIS-NN", &cmake, zephyr::works_alone),
        tools::trial("Arduino", &arduino, arduino::compiles),
        real,
    ];
    trials.extend(pack::trials());
    tools::main(&compiler, trials)
}

/// A real library beside the repository.
fn vendor_library() -> Option<PathBuf> {
    let beside =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/firmware/libcmsis-nn-m4.a");
    beside.is_file().then_some(beside)
}

/// What a command prints; it has to succeed.
fn output(command: &mut Command) -> String {
    let output = command.output().expect("it starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The library in a folder.
fn library(cpu: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("dmo-nn");
    let mut write = Command::new(env!("CARGO_BIN_EXE_dmo-trace"));
    let text = output(write.args(["kernels", "--cpu", cpu, "--out"]).arg(&out));
    assert!(text.contains("in place of CMSIS-NN"), "{text}");
    folder
}

/// The library in a folder, with its object.
fn written((cpu, flags): (&str, &str)) -> TempDir {
    let folder = library(cpu);
    let mut make = Command::new("make");
    make.args([
        "-s",
        "CC=arm-none-eabi-gcc",
        &format!("CFLAGS=-O2 -Wall -Wextra -Werror {flags}"),
        "-C",
    ]);
    output(make.arg(folder.path().join("dmo-nn")));
    folder
}

/// Functions of a file, by the letter that `nm` gives them.
fn symbols(file: &Path, letter: &str) -> BTreeSet<String> {
    let text = output(Command::new("arm-none-eabi-nm").arg(file));
    let columns = text
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>());
    let named = columns.filter_map(|columns| match columns[..] {
        [_, kind, name] if kind == letter => Some(name.to_owned()),
        _ => None,
    });
    named.filter(|name| name.starts_with("arm_")).collect()
}

/// Links a program that uses these functions with the object and the library after it. How many
/// of them are ours: all that the object has.
fn link(library: &Path, functions: &BTreeSet<String>, core: (&str, &str)) -> usize {
    let folder = written(core);
    let object = folder.path().join("dmo-nn").join(OBJECT);
    let ours = symbols(&object, "T");
    let mut text = String::new();
    for function in functions {
        let _ = writeln!(text, "void {function}(void);");
    }
    text += "void (*const all[])(void) = {\n";
    for function in functions {
        let _ = writeln!(text, "  {function},");
    }
    text += "};\nint main(void) { return all[0] != 0; }\n";
    let source = folder.path().join("all.c");
    std::fs::write(&source, text).expect("a source");
    let map = folder.path().join("all.map");
    let mut gcc = Command::new("arm-none-eabi-gcc");
    gcc.arg("-O2").args(core.1.split(' '));
    gcc.arg(&source).arg(&object).arg(library);
    gcc.args(["--specs=nosys.specs", "-lm"]);
    gcc.arg(format!("-Wl,-Map={}", map.display()));
    output(gcc.arg("-o").arg(folder.path().join("all.elf")));
    // Where the linker found each: a line with an address and the name, below its object's section.
    let map = std::fs::read_to_string(map).expect("a map");
    let mut from_object = BTreeSet::new();
    let mut is_ours = false;
    for line in map.lines() {
        if line.starts_with(" .text") || line.contains(".o") || line.contains(".a(") {
            is_ours = if line.contains("dmo-nn.o") {
                true
            } else {
                is_ours && !line.contains(".a(") && !line.contains(".o")
            };
        }
        if let [address, name] = line.split_whitespace().collect::<Vec<_>>()[..]
            && address.starts_with("0x")
            && is_ours
        {
            from_object.insert(name.to_owned());
        }
    }
    let wanted: BTreeSet<String> = ours.intersection(functions).cloned().collect();
    let missing: Vec<&String> = wanted.difference(&from_object).collect();
    assert_eq!(missing, [""; 0], "not taken from the object");
    wanted.len()
}

/// An archive whose members define together what one source of CMSIS-NN does. Source: CMSIS-NN
/// 99f736a.
fn stand_in(core: (&str, &str)) -> Result<(), Failed> {
    let by_core = |name: &str| {
        ["", "_dsp", "_mve"]
            .map(|core| format!("{name}{core}"))
            .to_vec()
    };
    let depthwise = "arm_depthwise_conv_wrapper_s8_get_buffer_size";
    let optimised = "arm_depthwise_conv_s8_opt_get_buffer_size";
    let members = [
        [by_core(depthwise), by_core(optimised)].concat(),
        by_core("arm_convolve_wrapper_s8_get_buffer_size"),
        by_core("arm_avgpool_s8_get_buffer_size"),
        by_core("arm_fully_connected_s8_get_buffer_size"),
        by_core("arm_svdf_s8_get_buffer_size"),
        vec!["arm_convolve_wrapper_s8".to_owned()],
        vec!["arm_vector_sum_s8".to_owned()],
    ];
    let folder = tempfile::tempdir()?;
    let archive = folder.path().join("libvendor.a");
    let mut functions = BTreeSet::new();
    for (index, names) in members.iter().enumerate() {
        let text: String = names
            .iter()
            .map(|name| format!("void {name}(void) {{}}\n"))
            .collect();
        let (source, object) = (format!("member{index}.c"), format!("member{index}.o"));
        std::fs::write(folder.path().join(&source), text)?;
        let mut gcc = Command::new("arm-none-eabi-gcc");
        gcc.args(core.1.split(' '))
            .args(["-c", &source, "-o", &object]);
        output(gcc.current_dir(folder.path()));
        let mut ar = Command::new("arm-none-eabi-ar");
        output(
            ar.args(["rc", "libvendor.a", &object])
                .current_dir(folder.path()),
        );
        functions.extend(names.iter().cloned());
    }
    assert_eq!(link(&archive, &functions, core), functions.len() - 1);
    Ok(())
}

fn with_cmake() -> Result<(), Failed> {
    let folder = written(CORES[0]);
    std::fs::write(
        folder.path().join("CMakeLists.txt"),
        "cmake_minimum_required(VERSION 3.15)\nproject(firmware C)\nadd_subdirectory(dmo-nn)\n\
         add_executable(firmware main.c)\ntarget_link_libraries(firmware PRIVATE dmo_nn::dmo_nn)\n",
    )?;
    std::fs::write(
        folder.path().join("main.c"),
        "void arm_max_pool_s8(void);\nvoid (*const used)(void) = arm_max_pool_s8;\nint main(void) { return used == 0; }\n",
    )?;
    let mut configure = Command::new("cmake");
    configure.args(["-S", ".", "-B", "out", "-DCMAKE_SYSTEM_NAME=Generic"]);
    configure.args([
        "-DCMAKE_C_COMPILER=arm-none-eabi-gcc",
        "-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY",
    ]);
    configure.arg("-DCMAKE_C_FLAGS=-mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16 --specs=nosys.specs");
    output(configure.current_dir(folder.path()));
    output(
        Command::new("cmake")
            .args(["--build", "out"])
            .current_dir(folder.path()),
    );
    let functions = symbols(&folder.path().join("out/firmware"), "T");
    assert!(functions.contains("arm_max_pool_s8"), "{functions:?}");
    Ok(())
}
