//! Hooks on firmware as compilers make it: C and C++, every level of optimisation, every
//! CPU, with and without marks.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panic, with the program's name"
)]

mod support;

use dmo_analysis::trace::Exit;
use dmo_trace::program::hooks::{Hooks, parse_file, ready_made};
use libtest_mimic::Failed;
use support::cross::{CPUS, built, compiler, firmware, kernels, sources_in};
use support::hooked::{assert_same, hooked};
use support::{LIMITS, profile, run_options, tools};

const LEVELS: [&[&str]; 7] = [
    &["-O0"],
    &["-O1"],
    &["-O2"],
    &["-O3"],
    &["-Os"],
    &["-O2", "-flto"],
    &["-O3", "-flto", "-fno-inline"],
];

/// The CPU that all levels are tried on each time; on the others, these.
const ALL_LEVELS_ON: &str = "cortex-m4";
const SOME_LEVELS: [&[&str]; 2] = [&["-O0"], &["-O2", "-flto"]];

fn main() {
    let compiler = compiler();
    let mut trials = Vec::new();
    for (cpu, flags) in CPUS {
        trials.push(tools::trial(
            format!("hooks_find_what_marks_find_on_{cpu}"),
            &compiler,
            move || {
                let are_all = support::tools::are_all_cases_wanted() || cpu == ALL_LEVELS_ON;
                let levels = if are_all { &LEVELS[..] } else { &SOME_LEVELS };
                levels
                    .iter()
                    .try_for_each(|level| c_plus_plus(cpu, flags, level))
            },
        ));
    }
    let levels = if support::tools::are_all_cases_wanted() {
        &["-O0", "-O2", "-O3", "-Os"][..]
    } else {
        &["-O2"]
    };
    for &level in levels {
        trials.push(tools::trial(
            format!("every_function_of_the_cmsis_nn_set_at{level}"),
            &compiler,
            move || cmsis_nn("cmsis-nn", &[level]),
        ));
    }
    for (set, versions) in [("cmsis-nn-6", [6, 5].as_slice()), ("cmsis-nn-4", &[4])] {
        for version in versions {
            trials.push(tools::trial(
                format!("every_function_of_the_set_{set}_in_version_{version}"),
                &compiler,
                move || earlier(set, *version),
            ));
        }
    }
    trials.push(tools::trial(
        "functions_that_a_set_does_not_know_are_named",
        &compiler,
        unknown_functions,
    ));
    tools::main(&compiler, trials)
}

const HOOKS: [&str; 7] = [
    "scale=nn::scale(in: [r0+4] size [r0+2]:u16, out: [r1+4] size [r1+2]:u16, scratch?: r2 size 16)",
    "add=\"nn::add(int, signed char const*, signed char const*, int, signed char*, int)\"\
     (in: r1 size arg5, in: r2 size arg5, out: arg4 size arg5)",
    "dispatch=nn::dispatch(in: r0 size r2, out: r1 size r2)",
    "halves=nn::halves(in: r0 size r2, out: r1 size r2/2)",
    "widen=\"void nn::widen<short>\"(in: r0 size r2, out: r1 size r2*2 type int16)",
    "relu=nn::relu::run(in: r1 size [r0+4], out: [r0] size [r0+4])",
    "allocate=\"(anonymous namespace)::allocate\"(in: r0 size r1, out: r0@ret size r1)",
];

/// Once with marks and hooks, once without marks.
fn c_plus_plus(cpu: &str, flags: &[&str], level: &[&str]) -> Result<(), Failed> {
    let case = format!("{cpu} {}", level.join(" "));
    let source = firmware("hooked.cpp");
    let build = |marked: bool| {
        let mut sources = vec![source.clone()];
        let mut flags = [flags, level].concat();
        if marked {
            sources.push(kernels("marks/dmo_trace.c"));
            flags.push("-DMARKED");
        }
        built(cpu, &flags, &sources)
    };
    let marked = build(true)?;
    let unmarked = hooked(build(false)?, &HOOKS).map_err(|error| format!("{case}: {error}"))?;
    let mut both = build(true)?;
    both = hooked(both, &HOOKS).map_err(|error| format!("{case}: {error}"))?;
    let (by_marks, _) = profile(&marked, run_options(false, LIMITS))?;
    let (by_hooks, outcome) = profile(&both, run_options(true, LIMITS))?;
    assert_eq!(outcome.exit, Exit::Status(0), "{case}");
    assert_same(&case, &by_marks, &by_hooks);
    let names = |profile: &dmo_analysis::profile::Profile| -> Vec<String> {
        profile
            .layers
            .iter()
            .map(|layer| layer.name.clone())
            .collect()
    };
    assert_eq!(names(&by_hooks), names(&by_marks), "{case}");
    // The marks' calls may change what the compiler does with main, but not with the layers.
    let (without, outcome) = profile(&unmarked, run_options(true, LIMITS))?;
    assert_eq!(outcome.exit, Exit::Status(0), "{case}");
    assert_eq!(names(&without), names(&by_hooks), "{case}");
    for (a, b) in without.layers.iter().zip(&by_hooks.layers) {
        assert_eq!(a.pattern, b.pattern, "{case} {}", a.name);
        assert_eq!(a.instructions(), b.instructions(), "{case} {}", a.name);
        for (a, b) in a.pairs.iter().zip(&b.pairs) {
            assert_eq!(a.safe_overlap_bytes, b.safe_overlap_bytes, "{case}");
        }
    }
    Ok(())
}

/// The same calls with the interface of an earlier version, over the newest kernels.
fn earlier(set: &str, version: u8) -> Result<(), Failed> {
    const RENAMED: [(&str, &str); 5] = [
        ("arm_convolve_s8", "newest_convolve_s8"),
        ("arm_convolve_s8_get_buffer_size", "newest_convolve_s8_size"),
        (
            "arm_convolve_1_x_n_s8_get_buffer_size",
            "newest_convolve_1_x_n_s8_size",
        ),
        ("arm_svdf_s8", "newest_svdf_s8"),
        ("arm_svdf_s8_get_buffer_size", "newest_svdf_s8_size"),
    ];
    // Version 5 has the SVDF of today.
    let renamed = &RENAMED[..if version == 4 { 5 } else { 3 }];
    let renamed = renamed.iter().map(|(from, to)| format!("-D{from}={to}"));
    let mut flags = vec![
        "-O2".to_owned(),
        "-fno-inline".to_owned(),
        format!("-DVERSION={version}"),
    ];
    flags.extend(renamed);
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    cmsis_nn(set, &flags)
}

/// What the program calls of the library and the set does not know is named; what only a function
/// of the library calls is not, nor what computes nothing.
fn unknown_functions() -> Result<(), Failed> {
    let (cpu, flags) = CPUS[1];
    let sources = [
        firmware("unknown_functions.c"),
        kernels("dsp/arm_relu6_s8.c"),
    ];
    let mut target = built(cpu, &[flags, &["-O1"]].concat(), &sources)?;
    let set = "cmsis-nn";
    let layers = parse_file(ready_made(set).expect("set")).expect("set");
    let mut hooks = Hooks::default();
    hooks.add_set(set, layers, &target.image, &target.map)?;
    target.hooks = Some(hooks);
    for self_check in [false, true] {
        let (profile, outcome) = profile(&target, run_options(self_check, LIMITS))?;
        assert_eq!(profile.layers.len(), 2);
        assert_eq!(outcome.exit, Exit::Status(0));
        assert_eq!(
            outcome.skipped,
            ["arm_gru_unidirectional_s8", "arm_quantize_s8"]
        );
    }
    Ok(())
}

fn cmsis_nn(set: &str, level: &[&str]) -> Result<(), Failed> {
    let (cpu, flags) = CPUS[1];
    let case = format!("{set} {}", level.join(" "));
    let flags = [flags, level].concat();
    let mut sources = vec![
        firmware("cmsis_nn.c"),
        kernels("marks/dmo_trace.c"),
        kernels("reference/dmo_softmax_s8.c"),
    ];
    let mut functions = sources_in(&kernels("dsp"))?;
    sources.append(&mut functions);
    let marked = built(cpu, &flags, &sources)?;
    let mut by_set = built(cpu, &flags, &sources)?;
    let layers = parse_file(ready_made(set).expect("set")).expect("set");
    let expected: Vec<String> = layers.iter().map(|layer| layer.name.clone()).collect();
    let mut hooks = Hooks::default();
    hooks
        .add_set(set, layers, &by_set.image, &by_set.map)
        .expect("hooks");
    by_set.hooks = Some(hooks);
    let (by_marks, outcome) = profile(&marked, run_options(false, LIMITS))?;
    assert_eq!(outcome.exit, Exit::Status(0), "{case}");
    let (by_hooks, _) = profile(&by_set, run_options(true, LIMITS))?;
    assert_same(&case, &by_marks, &by_hooks);
    // A function that calls another is one layer.
    let names = |profile: &dmo_analysis::profile::Profile| -> Vec<String> {
        profile
            .layers
            .iter()
            .map(|layer| layer.name.clone())
            .collect()
    };
    assert_eq!(names(&by_hooks), names(&by_marks));
    for name in expected {
        assert!(names(&by_hooks).contains(&name), "{name} is not called");
    }
    Ok(())
}
