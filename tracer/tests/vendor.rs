//! Static libraries with the CMSIS-NN interface, as a user would have built them: our own
//! kernels, with the interface of each version.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::unnecessary_wraps,
    reason = "a test may fail loudly; libtest-mimic wants a result"
)]

mod support;

use dmo_analysis::graph::Kind;
use dmo_analysis::operator::{Conv2d, Operator, Pool2d, Window};
use dmo_analysis::trace::ElementType;
use dmo_trace::call::DEFAULT_RAM;
use dmo_trace::call::archive::{self, ArchiveError};
use dmo_trace::kernels::versions::VersionError;
use dmo_trace::kernels::{Case, KernelLibrary, images};
use dmo_trace::measure::{MeasureError, choose, measure_kernel};
use libtest_mimic::{Failed, Trial};
use std::path::{Path, PathBuf};
use std::process::Command;
use support::LIMITS;
use support::cases::shared_cases;
use support::placed::outputs;
use support::tools::{self, Availability};
use support::workshop::{HARD, Workshop, kernels_c, linked};

type Test = fn() -> Result<(), Failed>;

fn main() {
    let compiler: Availability = tools::version("arm-none-eabi-gcc").map(|_| ());
    let tests: [(&str, Test); 11] = [
        ("each_version_is_called_as_it_wants", each_version),
        ("a_version_is_known_as_far_as_functions_tell", detected),
        ("what_differs_between_versions_is_not_guessed", not_guessed),
        ("an_archive_measures_as_the_linked_elf", as_linked),
        ("soft_floats_link_too", soft_floats),
        ("missing_symbols_are_named", missing_symbols),
        ("members_for_other_machines_are_named", other_machines),
        ("too_little_scratch_memory_is_caught", too_little_scratch),
        ("options_in_members_are_not_obeyed", options_in_members),
        ("names_of_files_are_no_lines_of_a_report", file_names),
        ("what_would_unpack_beyond_the_limit_is_refused", unpacked),
    ];
    let trials = tests.map(|(name, test)| tools::trial(name, &compiler, test));
    let mut trials = Vec::from(trials);
    trials.push(tools::trial(
        "the_report_names_the_archive",
        &compiler,
        report,
    ));
    trials.push(tools::trial(
        "no_tiles_are_planned_that_the_library_cannot_run",
        &compiler,
        tiles,
    ));
    let plain: [(&str, Test); 2] = [
        ("what_is_no_library_is_refused", no_library),
        ("wrappers_and_what_they_chose_are_named", wrappers),
    ];
    trials.extend(plain.map(|(name, test)| Trial::test(name, test)));
    tools::main(&compiler, trials)
}

/// The kernels of `dsp/` with the interface of a version.
fn library(workshop: &Workshop, version: u8) -> PathBuf {
    library_of(workshop, version, |_| true)
}

/// The same of some of the sources, by their names.
fn library_of(workshop: &Workshop, version: u8, takes: fn(&str) -> bool) -> PathBuf {
    let renamed: &[(&str, &str)] = match version {
        7 => &[],
        0 => &SIZE,
        5 | 6 => &[SIZE[0], ROW_SIZE, CONVOLVE],
        _ => &[SIZE[0], ROW_SIZE, CONVOLVE, SVDF, SVDF_SIZE],
    };
    let macros = renamed.iter().map(|(from, to)| format!("-D{from}={to}"));
    let macros: Vec<String> = macros.collect();
    let mut sources: Vec<PathBuf> = std::fs::read_dir(kernels_c().join("dsp"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|it| it == "c"))
        .filter(|path| !is_of_other_types(path))
        .filter(|path| matches!(version, 0 | 7) || !is_new(path))
        .filter(|path| takes(&path.file_name().unwrap().to_string_lossy()))
        .collect();
    sources.push(kernels_c().join("reference/dmo_softmax_s8.c"));
    sources.sort();
    let mut objects: Vec<PathBuf> = sources
        .iter()
        .map(|source| workshop.compile(source, &macros))
        .collect();
    if version != 7 {
        let adapter = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vendor/versions.c");
        objects.push(workshop.compile(&adapter, &[format!("-DVERSION={version}")]));
    }
    workshop.archive("libvendor.a", &objects)
}

const CONVOLVE: (&str, &str) = ("arm_convolve_s8", "newest_convolve_s8");
const SIZE: [(&str, &str); 1] = [("arm_convolve_s8_get_buffer_size", "newest_convolve_s8_size")];
const ROW_SIZE: (&str, &str) = (
    "arm_convolve_1_x_n_s8_get_buffer_size",
    "newest_convolve_1_x_n_s8_size",
);
const SVDF: (&str, &str) = ("arm_svdf_s8", "newest_svdf_s8");
const SVDF_SIZE: (&str, &str) = ("arm_svdf_s8_get_buffer_size", "newest_svdf_s8_size");

/// Functions of other types, whose forms in each version `vendor/functions.c` and `int4.c` have, or that
/// are new in a version.
fn is_of_other_types(source: &Path) -> bool {
    let parts = [
        "_s16", "_u8", "_q15", "_matmul", "_maximum", "_minimum", "_s4", "_int4", "_lstm",
        "_sigmoid",
    ];
    let name = source.file_name().unwrap().to_string_lossy();
    parts.iter().any(|part| name.contains(part))
}

/// Functions that there are in version 7 only, or that call such.
fn is_new(source: &Path) -> bool {
    let new = [
        "arm_get_buffer_sizes_s8.c",
        "arm_fully_connected_per_channel_s8.c",
        "arm_pad_s8.c",
        "arm_transpose_conv_s8.c",
        "arm_transpose_conv_wrapper_s8.c",
        "arm_transpose_s8.c",
    ];
    new.iter().any(|name| source.ends_with(name))
}

fn built_in() -> KernelLibrary {
    let image = images::find("dsp", Some("cortex-m4")).unwrap();
    KernelLibrary::new(&image.elf(), None, DEFAULT_RAM).unwrap()
}

/// What a version of the interface cannot be asked for.
fn is_beyond(version: u8, function: &str, case: &Case) -> bool {
    match &case.operator {
        _ if function == "arm_fully_connected_per_channel_s8" => version < 7,
        Operator::Conv2d(conv) => version < 6 && conv.groups > 1,
        Operator::Pool2d(pool) => version < 6 && pool.input[0] > 1,
        Operator::Pad(_) | Operator::Transpose(_) | Operator::TransposeConv2d(_) => version < 7,
        _ => false,
    }
}

/// The cases that all tests share, but for the LSTMs, which the libraries here lack, and a pooling of one
/// batch.
fn cases() -> Vec<(&'static str, Case)> {
    let pool = Operator::Pool2d(Pool2d {
        input: [1, 6, 7, 5],
        output: [1, 3, 4, 5],
        window: Window {
            kernel: [3, 3],
            padding_before: [1, 1],
            stride: [2, 2],
            ..Window::default()
        },
        element_bytes: 1,
    });
    let pools = [("arm_max_pool_s8", "max"), ("arm_avgpool_s8", "average")];
    let pools = pools.map(|(function, kind)| (function, int8(kind, pool.clone())));
    let shared = shared_cases().into_iter();
    shared
        .map(|(function, _, case)| (function, case))
        .filter(|(_, case)| !matches!(case.operator, Operator::Lstm(_)))
        .chain(pools)
        .collect()
}

fn int8(kind: &'static str, operator: Operator) -> Case {
    Case {
        operator,
        kind: Kind::of_kernels(kind).unwrap(),
        input_type: ElementType::Int8,
        output_type: ElementType::Int8,
    }
}

fn convolution(kernel: u32) -> Case {
    int8(
        "conv2d",
        Operator::Conv2d(Conv2d {
            input: [1, 6, 6, 8],
            output: [1, 6, 6, 16],
            window: Window {
                kernel: [kernel; 2],
                padding_before: [kernel / 2; 2],
                ..Window::default()
            },
            groups: 1,
            element_bytes: 1,
        }),
    )
}

/// Wrong arguments would give other outputs.
fn each_version() -> Result<(), Failed> {
    let newest = built_in();
    for version in 4..=7 {
        let workshop = Workshop::new(&HARD);
        let library = linked(&library(&workshop, version))
            .of_version(version)
            .expect("a version");
        assert_eq!(library.versions().bounds(), [version; 2]);
        let mut compared = 0;
        for (function, case) in cases() {
            let found = choose(&library, &case, Some(function));
            if is_beyond(version, function, &case) {
                assert!(found.is_err(), "{version}: {function}");
                continue;
            }
            let kernel = found.expect(function);
            for number in 0..2 {
                let expected = choose(&newest, &case, Some(function)).expect(function);
                let expected = outputs(&newest, &case, expected, number);
                let found = outputs(&library, &case, kernel, number);
                assert_eq!(found, expected, "{version}: {function}");
            }
            compared += 1;
        }
        assert!(compared > 20, "{version}: {compared}");
    }
    Ok(())
}

fn detected() -> Result<(), Failed> {
    for (version, bounds) in [(4, [4, 7]), (5, [5, 7]), (6, [5, 7]), (7, [7, 7])] {
        let library = linked(&library(&Workshop::new(&HARD), version));
        assert_eq!(library.versions().bounds(), bounds, "{version}");
    }
    assert_eq!(built_in().versions().bounds(), [7, 7]);
    let contradicted = built_in().of_version(6).expect_err("it has functions of 7");
    assert!(
        matches!(
            &contradicted,
            VersionError::Contradicted {
                function: "arm_convolve_even_s4",
                ..
            }
        ),
        "{contradicted}"
    );
    for unknown in [0, 3, 8, 255] {
        let error = built_in().of_version(unknown).expect_err("unknown");
        assert!(matches!(error, VersionError::Unknown { .. }));
    }
    Ok(())
}

fn not_guessed() -> Result<(), Failed> {
    let workshop = Workshop::new(&HARD);
    let library = linked(&library(&workshop, 4));
    let differing = ["arm_convolve_s8", "arm_convolve_1_x_n_s8", "arm_svdf_s8"];
    for (function, case) in cases() {
        let found = choose(&library, &case, Some(function));
        let beyond = is_beyond(4, function, &case) && !is_beyond(7, function, &case);
        if differing.contains(&function) || beyond && library.has(function) {
            let error = found.map(|it| it.function).expect_err(function);
            let text = error.to_string();
            assert!(matches!(error, MeasureError::OtherVersion { .. }), "{text}");
            assert!(text.contains("--cmsis-nn-version"), "{text}");
        } else if library.has(function) {
            found.expect(function);
        }
    }
    Ok(())
}

fn as_linked() -> Result<(), Failed> {
    let workshop = Workshop::new(&HARD);
    let (archive, elf) = (linked(&library(&workshop, 7)), built_in());
    assert_eq!(archive.cpu().name, "cortex-m4");
    for case in [convolution(1), convolution(3)] {
        let [found, expected] = [&archive, &elf].map(|library| {
            let kernel = choose(library, &case, None).expect("a kernel");
            measure_kernel(library, &case, kernel, 2, LIMITS).expect("measured")
        });
        let [one, other] = [&found, &expected].map(|it| &it.layer.pairs[0]);
        assert_eq!(one.safe_overlap_bytes, other.safe_overlap_bytes);
        assert_eq!(one.displacement_bytes, other.displacement_bytes);
        // A copy of weights takes other steps by how their address is aligned, which is that of
        // what lies before them.
        let instructions = [&found, &expected].map(|it| it.layer.instructions());
        assert!(
            instructions[0].abs_diff(instructions[1]) * 100 <= instructions[1],
            "{instructions:?}"
        );
        assert_eq!(found.proofs, expected.proofs);
        assert_eq!(found.work, expected.work);
        assert!(found.proofs[0].equal_at_overlap);
    }
    Ok(())
}

/// Such a library passes floats in core registers, and its CPU needs no floating-point unit.
fn soft_floats() -> Result<(), Failed> {
    let workshop = Workshop::new(&["-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=soft"]);
    let library = linked(&library(&workshop, 7));
    assert!(!library.image().attributes.float_arguments_in_registers);
    let case = convolution(1);
    let [found, expected] = [&library, &built_in()].map(|library| {
        let kernel = choose(library, &case, None).expect("a kernel");
        outputs(library, &case, kernel, 0)
    });
    assert_eq!(found, expected);
    Ok(())
}

fn missing_symbols() -> Result<(), Failed> {
    let workshop = Workshop::new(&HARD);
    let wrapper = workshop.compile(&kernels_c().join("dsp/arm_convolve_wrapper_s8.c"), &[]);
    let path = workshop.archive("part.a", &[wrapper]);
    let error = archive::link(&std::fs::read(path)?, None).expect_err("a part");
    let ArchiveError::Missing { symbols, .. } = &error else {
        panic!("{error}");
    };
    let missing = [
        "arm_convolve_1x1_s8_fast",
        "arm_convolve_1x1_s8_fast_get_buffer_size",
        "arm_convolve_s8",
        "arm_convolve_s8_get_buffer_size",
    ];
    assert_eq!(symbols, &missing);
    assert!(error.to_string().contains("hint"), "{error}");
    Ok(())
}

fn other_machines() -> Result<(), Failed> {
    let workshop = Workshop::new(&["-mcpu=cortex-a9"]);
    let member = kernels_c().join("dsp/arm_reshape_s8.c");
    let path = workshop.archive("other.a", &[workshop.compile(&member, &[])]);
    let error = archive::link(&std::fs::read(path)?, None).expect_err("for a Cortex-A9");
    let text = error.to_string();
    assert!(matches!(error, ArchiveError::Cpu { .. }), "{text}");
    assert!(text.contains("arm_reshape_s8.o"), "{text}");
    // What the linker would have to finish.
    let workshop = Workshop::new(&[&HARD[..], &["-flto"]].concat());
    let path = workshop.archive("lto.a", &[workshop.compile(&member, &[])]);
    let error = archive::link(&std::fs::read(path)?, None).expect_err("no code");
    assert!(error.to_string().contains("-ffat-lto-objects"), "{error}");
    let workshop = Workshop::new(&[&HARD[..], &["-flto", "-ffat-lto-objects"]].concat());
    let path = workshop.archive("fat.a", &[workshop.compile(&member, &[])]);
    assert!(linked(&path).has("arm_reshape_s8"));
    // What start-up code would run.
    let workshop = Workshop::new(&HARD);
    let source = workshop.path("setup.c");
    std::fs::write(
        &source,
        "int mode; __attribute__((constructor)) static void set(void) { mode = 1; }",
    )?;
    let path = workshop.archive("setup.a", &[workshop.compile(&source, &[])]);
    let error = archive::link(&std::fs::read(path)?, None).expect_err("a constructor");
    let text = error.to_string();
    assert!(matches!(error, ArchiveError::Constructors { .. }), "{text}");
    assert!(
        text.contains("setup.o") && text.contains(".init_array"),
        "{text}"
    );
    // Code of the DSP extension on a CPU without it.
    let workshop = Workshop::new(&HARD);
    let path = workshop.archive("dsp.a", &[workshop.compile(&member, &[])]);
    let error = archive::link(&std::fs::read(path)?, Some("cortex-m3")).expect_err("no DSP");
    assert!(matches!(error, ArchiveError::Cpu { .. }), "{error}");
    Ok(())
}

/// Objects with link-time optimisation code carry the options of the compiler and the assembler,
/// one of which names a file to be written.
fn options_in_members() -> Result<(), Failed> {
    let workshop = Workshop::new(&HARD);
    let member = kernels_c().join("dsp/arm_reshape_s8.c");
    let written = workshop.path("written");
    let listing = format!("-Wa,-aln={}", written.display());
    let options = |kind: &str| ["-flto", kind, &listing].map(str::to_owned);
    let archive = |kind| {
        let object = workshop.compile(&member, &options(kind));
        std::fs::remove_file(&written)?;
        std::fs::read(workshop.archive(&format!("lib{kind}.a"), &[object]))
    };
    let elf = archive::link(&archive("-ffat-lto-objects")?, None)?;
    assert!(!written.exists(), "a member named a file to be written");
    assert!(KernelLibrary::new(&elf, None, DEFAULT_RAM)?.has("arm_reshape_s8"));
    let error = archive::link(&archive("-fno-fat-lto-objects")?, None).expect_err("no code");
    assert!(!written.exists(), "a member named a file to be written");
    let text = error.to_string();
    assert!(matches!(error, ArchiveError::Foreign { .. }), "{text}");
    assert!(
        text.contains("arm_reshape_s8.o is nothing but link-time"),
        "{text}"
    );
    Ok(())
}

/// A source file may say that it has any name.
fn file_names() -> Result<(), Failed> {
    let workshop = Workshop::new(&HARD);
    let source = workshop.path("named.c");
    let text = "#line 7 \"evil\\033[2K\\r\\n.c\"\nint arm_relu_q7(void) { return 1; }\n";
    std::fs::write(&source, text)?;
    let object = workshop.compile(&source, &["-g".to_owned()]);
    let archive = std::fs::read(workshop.archive("named.a", &[object]))?;
    let library = KernelLibrary::new(&archive::link(&archive, None)?, None, DEFAULT_RAM)?;
    let image = library.image();
    let symbol = image.symbols.named("arm_relu_q7").expect("a function");
    let (file, line) = image.lines.at(symbol.address).expect("a line");
    assert_eq!(line, Some(7));
    assert!(file.ends_with("evil[2K.c"), "{file:?}");
    assert!(!file.contains(char::is_control), "{file:?}");
    Ok(())
}

/// Debug information of so many zeros, in a few kilobytes or in none.
fn unpacked() -> Result<(), Failed> {
    let workshop = Workshop::new(&HARD);
    let source = workshop.path("zeros.S");
    for (kind, packed) in [
        ("%progbits", "-Wa,--compress-debug-sections=zlib"),
        ("%progbits", "-Wa,--compress-debug-sections=zlib-gnu"),
        ("%nobits", "-Wa,--nocompress-debug-sections"),
    ] {
        let text = format!(".section .debug_str,\"\",{kind}\n.space 0x10000001\n");
        std::fs::write(&source, text)?;
        let object = workshop.compile(&source, &[packed.to_owned()]);
        let path = workshop.archive("zeros.a", &[object]);
        let archive = std::fs::read(&path)?;
        std::fs::remove_file(path)?;
        assert!(archive.len() < 1 << 20, "{packed}: {} bytes", archive.len());
        let error = archive::link(&archive, None).expect_err(packed);
        assert!(
            matches!(error, ArchiveError::TooLarge { .. }),
            "{packed}: {error}"
        );
    }
    Ok(())
}

fn too_little_scratch() -> Result<(), Failed> {
    let workshop = Workshop::new(&HARD);
    let library = linked(&library(&workshop, 0)).of_version(7)?;
    let case = convolution(3);
    let kernel = choose(&library, &case, Some("arm_convolve_s8"))?;
    let error = measure_kernel(&library, &case, kernel, 1, LIMITS).expect_err("an overrun");
    let text = error.to_string();
    assert!(matches!(error, MeasureError::Outside { .. }), "{text}");
    assert!(text.contains("after its scratch"), "{text}");
    assert!(
        text.contains("arm_convolve_s8_get_buffer_size asks for too little"),
        "{text}"
    );
    Ok(())
}

fn report() -> Result<(), Failed> {
    let workshop = Workshop::new(&HARD);
    library(&workshop, 7);
    let overlap = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dmo-trace"));
        command.current_dir(workshop.folder.path());
        command.args([
            "overlap", "max_pool", "--input", "1x8x8x4", "--filter", "2x2",
        ]);
        let output = command.args(arguments).output().expect("dmo-trace");
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (
            output.status.code(),
            text(output.stdout),
            text(output.stderr),
        )
    };
    let (code, out, err) = overlap(&["--kernels", "libvendor.a", "--stride", "2"]);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("input and output must not overlap"), "{out}");
    assert!(out.contains("measured: they may share"), "{out}");
    let (_, out, _) = overlap(&["--kernels", "libvendor.a", "--stride", "2", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&out)?;
    assert_eq!(json["kernel"], "arm_max_pool_s8");
    assert_eq!(json["vendor_contract"]["sharing"], "forbidden");
    let shares = json["worked"].as_array().expect("worked");
    let sum: f64 = shares.iter().filter_map(|it| it["share"].as_f64()).sum();
    assert!((sum - 1.0).abs() < 1e-9, "{sum}");
    let other = ["--kernels", "libvendor.a", "--cmsis-nn-version", "6"];
    let (code, _, err) = overlap(&other);
    assert_eq!(code, Some(2));
    assert!(
        err.contains("libvendor.a") && err.contains("arm_fully_connected_per_channel_s8"),
        "{err}"
    );
    Ok(())
}

/// What is planned in tiles, or without where the library cannot run them, can be verified.
fn tiles() -> Result<(), Failed> {
    const MODEL: &str = "zoo:mobilenet_v1_0.25_128:int8";
    let workshop = Workshop::new(&HARD);
    library_of(&workshop, 7, |name| !name.contains("_pitched_"));
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dmo-trace"));
        command.current_dir(workshop.folder.path());
        let output = command.args(arguments).output().expect("dmo-trace");
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (
            output.status.code(),
            text(output.stdout),
            text(output.stderr),
        )
    };
    let library = ["--kernels", "libvendor.a"];
    let plan = |allow: &[&str], out: &str| {
        let arguments = [&["plan", MODEL, "--out", out], allow, &library[..]].concat();
        let (code, _, err) = run(&arguments);
        assert_eq!(code, Some(0), "{err}");
        let file = std::fs::read(workshop.folder.path().join(out)).expect("a plan");
        let plan: serde_json::Value = serde_json::from_slice(&file).expect("JSON");
        (plan["arena_bytes"].as_u64().expect("a size"), err)
    };
    let (whole, _) = plan(&[], "whole.json");
    // Patches begin and end within rows.
    const CANNOT: &str = "these kernels cannot run the tiles of the plan: operator ";
    let (in_patches, err) = plan(&["--allow", "patch"], "patches.json");
    assert_eq!(in_patches, whole, "{err}");
    assert!(err.contains(CANNOT), "{err}");
    let (in_bands, err) = plan(&["--allow", "split,patch"], "bands.json");
    let (bands_alone, _) = plan(&["--allow", "split"], "bands-alone.json");
    assert!(in_bands < whole, "{in_bands} {whole}");
    // More to choose from is never worse.
    assert!(in_bands <= bands_alone, "{in_bands} {bands_alone}");
    assert!(!err.contains(CANNOT), "{err}");
    for file in ["patches.json", "bands.json"] {
        let verify = ["verify", MODEL, "--plan", file, "--inputs", "1"];
        let (code, out, err) = run(&[&verify[..], &library].concat());
        assert_eq!(code, Some(0), "{out}{err}");
        assert!(out.contains("\nSAFE"), "{out}");
    }
    // The kernels of a set that is built in can.
    let own = ["plan", MODEL, "--kernels", "dsp", "--allow", "patch"];
    let (_, out, err) = run(&[&own[..], &["--json"]].concat());
    let plan: serde_json::Value = serde_json::from_str(&out).expect(&err);
    let of_own = plan["arena_bytes"].as_u64().expect("a size");
    assert!(of_own < whole, "{of_own} {whole}");
    Ok(())
}

fn no_library() -> Result<(), Failed> {
    let member = |content: &[u8]| {
        let header = format!("{:<48}{:<10}`\n", "one.o/", content.len());
        [b"!<arch>\n", header.as_bytes(), content].concat()
    };
    let host = std::fs::read(std::env::current_exe()?)?;
    let cases: [(Vec<u8>, &str); 6] = [
        (b"!<thin>\n".to_vec(), "thin archive"),
        (b"!<arch>\n".to_vec(), "without object files"),
        (b"!<arch>\nnothing".to_vec(), "damaged"),
        (member(b"text"), "member one.o is no ELF file"),
        (member(b"BC\xc0\xde0000"), "-flto"),
        (member(&host[..host.len() & !1]), "member one.o is"),
    ];
    for (bytes, wanted) in cases {
        assert!(archive::is_archive(&bytes));
        let error = archive::link(&bytes, None).expect_err(wanted).to_string();
        assert!(error.contains(wanted), "{error}");
    }
    assert!(!archive::is_archive(&host));
    Ok(())
}

fn wrappers() -> Result<(), Failed> {
    let library = built_in();
    for (kernel, chosen) in [(1, "arm_convolve_1x1_s8_fast"), (3, "arm_convolve_s8")] {
        let case = convolution(kernel);
        let kernel = choose(&library, &case, None)?;
        let measured = measure_kernel(&library, &case, kernel, 1, LIMITS)?;
        assert_eq!(measured.function, "arm_convolve_wrapper_s8");
        assert_eq!(measured.work.chosen, [chosen]);
        let worked = &measured.work.worked;
        let accesses: u64 = worked.iter().map(|worker| worker.accesses).sum();
        let layer = &measured.layer;
        assert_eq!(accesses, layer.loads() + layer.stores());
        assert!(worked.is_sorted_by_key(|worker| std::cmp::Reverse(worker.accesses)));
        // Called by itself it has chosen nothing.
        let kernel = choose(&library, &case, Some(chosen))?;
        let direct = measure_kernel(&library, &case, kernel, 1, LIMITS)?;
        assert_eq!(direct.work.chosen, [""; 0]);
        assert_eq!(direct.work.worked, measured.work.worked);
    }
    Ok(())
}
