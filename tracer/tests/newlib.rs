//! Firmware as vendors' templates make it: newlib's start-up code and console, two RAMs, code in
//! RAM, caches and memory protection set up, a clock whose interrupt never comes.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panic, with the firmware's flags"
)]

mod support;

use dmo_analysis::profile::{Profile, Profiler, Refusal};
use dmo_analysis::trace::Exit;
use dmo_trace::mcu::boot::BootError;
use dmo_trace::program::run::{RunOutcome, run};
use dmo_trace::program::semihosting::Host;
use dmo_trace::program::target::{Target, TargetError, TargetOptions};
use libtest_mimic::Failed;
use std::sync::{Arc, Mutex};
use support::cross::{CPUS, compiler, firmware, kernels, link, link_by_default};
use support::{LIMITS, profile, run_options, target, tools};

fn main() {
    let compiler = compiler();
    let mut trials = Vec::new();
    for (cpu, float) in CPUS {
        for level in ["-O0", "-O2", "-O3", "-Os"] {
            trials.push(tools::trial(
                format!("{cpu}_at{level}"),
                &compiler,
                move || works(cpu, &[float, &[level, "-gdwarf-5"]].concat(), true).map(drop),
            ));
        }
        trials.push(tools::trial(
            format!("{cpu}_soft_float_at-O2"),
            &compiler,
            move || works(cpu, &["-mfloat-abi=soft", "-O2"], true).map(drop),
        ));
        trials.push(tools::trial(
            format!("{cpu}_with_link_time_optimisation"),
            &compiler,
            move || works(cpu, &[float, &["-O2", "-flto"]].concat(), true).map(drop),
        ));
    }
    let m4 = |name: &str, test: fn(&[&str]) -> Result<(), Failed>| {
        let (_, float) = CPUS[1];
        tools::trial(name, &compiler, move || test(&[float, &["-O2"]].concat()))
    };
    trials.push(m4("old_debug_information", old_debug_information));
    trials.push(m4("level_of_optimisation", level_of_optimisation));
    trials.push(m4("without_symbols", without_symbols));
    trials.push(m4("without_a_linker_script", without_a_linker_script));
    trials.push(m4("sixteen_megabytes", sixteen_megabytes));
    tools::main(&compiler, trials)
}

fn trace(cpu: &str, flags: &[&str]) -> Result<(Profile, RunOutcome, String), Failed> {
    let sources = [firmware("newlib.cpp"), kernels("marks/dmo_trace.c")];
    let flags = [&["--specs=rdimon.specs", "-fno-rtti"], flags].concat();
    let elf = link(cpu, &flags, &firmware("two_memories.ld"), &sources)?;
    let target = target(&elf);
    // What is compiled for an M7 without its FPU runs on an M4 as well, and says no more.
    let said = cpu != "cortex-m7" || !flags.contains(&"-mfloat-abi=soft");
    assert_eq!(target.cpu.name, if said { cpu } else { "cortex-m4" });
    let printed = Arc::new(Mutex::new(Vec::new()));
    let console = printed.clone();
    let mut profiler = Profiler::<()>::default();
    let outcome = run(
        &target,
        run_options(true, LIMITS),
        Host::console(Box::new(move |bytes: &[u8]| {
            console.lock().expect("a lock").extend_from_slice(bytes);
        })),
        &mut profiler,
        &mut |_| (),
    )?;
    let printed = printed.lock().expect("a lock").clone();
    let printed = String::from_utf8(printed).expect("text");
    Ok((profiler.finish().0, outcome, printed))
}

/// Runs to its end with every access checked, prints, and has the layers that its source says.
fn works(cpu: &str, flags: &[&str], lines: bool) -> Result<Profile, Failed> {
    let (profile, outcome, printed) = trace(cpu, flags)?;
    assert_eq!(outcome.exit, Exit::Status(0), "{flags:?}");
    assert!(outcome.expects_ticks, "{flags:?}");
    assert_eq!(printed, "second is 42, output is 0 -5\n", "{flags:?}");
    let names: Vec<&str> = profile
        .layers
        .iter()
        .map(|layer| layer.name.as_str())
        .collect();
    assert_eq!(names, ["clamp", "shifted", "floats", "negate"]);
    for layer in &profile.layers {
        let [pair] = &layer.pairs[..] else {
            panic!("{flags:?}: one pair");
        };
        // All but the last are followed by a layer that loads the same input.
        let again = |refusal: &Refusal| matches!(refusal, Refusal::InputUsedAgain(_));
        assert!(pair.refusals.iter().all(again), "{flags:?}: {pair:?}");
        assert_eq!(
            pair.refusals.is_empty(),
            layer.name == "negate",
            "{flags:?}"
        );
        // Element after element, or word after word.
        assert_eq!(pair.observed_overlap_bytes, 512, "{flags:?} {}", layer.name);
        for tensor in &layer.tensors {
            assert!(tensor.tensor.address.0 >= 0x2400_0000, "{flags:?}");
        }
    }
    let known = |pc: &dmo_analysis::trace::Address| {
        let location = &outcome.locations[pc];
        location.function.is_some() && location.file.is_some() && location.line.is_some()
    };
    assert!(!outcome.locations.is_empty());
    if lines {
        let own = outcome.locations.keys().filter(|pc| known(pc)).count();
        assert!(own > 0, "{flags:?}: no instruction has a line");
    }
    Ok(profile)
}

fn patterns(profile: &Profile) -> Vec<dmo_analysis::profile::pattern::Pattern> {
    profile.layers.iter().map(|layer| layer.pattern).collect()
}

/// The debug information says whether code may compare addresses.
fn level_of_optimisation(flags: &[&str]) -> Result<(), Failed> {
    let mut seen = 0;
    for level in ["-O1", "-O2", "-O3", "-Ofast"] {
        let sources = [firmware("newlib.cpp"), kernels("marks/dmo_trace.c")];
        let flags = [
            &["--specs=rdimon.specs", "-fno-rtti", "-g"],
            flags,
            &[level],
        ]
        .concat();
        let elf = link("cortex-m4", &flags, &firmware("two_memories.ld"), &sources)?;
        let target = target(&elf);
        let (profile, _) = profile(&target, run_options(false, LIMITS))?;
        let tensors = profile.layers.iter().flat_map(|layer| &layer.tensors);
        for store in tensors.filter_map(|tensor| tensor.first_store.as_ref()) {
            let producer = target.image.debug.producer_at(store.pc.0);
            let producer = producer.expect("a compiler");
            assert!(producer.contains(level), "{level}: {producer}");
            seen += 1;
        }
    }
    assert_eq!(seen, 16);
    Ok(())
}

fn old_debug_information(flags: &[&str]) -> Result<(), Failed> {
    let new = works("cortex-m4", &[flags, &["-gdwarf-5"]].concat(), true)?;
    let old = works("cortex-m4", &[flags, &["-gdwarf-4"]].concat(), true)?;
    assert_eq!(patterns(&new), patterns(&old));
    Ok(())
}

fn without_symbols(flags: &[&str]) -> Result<(), Failed> {
    let whole = works("cortex-m4", flags, true)?;
    let (stripped, outcome, _) = trace("cortex-m4", &[flags, &["-s"]].concat())?;
    assert_eq!(outcome.exit, Exit::Status(0));
    assert_eq!(patterns(&whole), patterns(&stripped));
    // Addresses are left, and the instructions there.
    for (pc, location) in &outcome.locations {
        assert!(
            location.function.is_none() && location.file.is_none(),
            "{pc}"
        );
        assert!(location.disassembly.is_some(), "{pc}");
    }
    Ok(())
}

/// The toolchain's own script has no vector table; where its start-up code asks for a stack, it
/// gets the one that a symbol names.
fn without_a_linker_script(_: &[&str]) -> Result<(), Failed> {
    let sources = [firmware("hosted.c"), kernels("marks/dmo_trace.c")];
    for stack in [&[][..], &["-Wl,--defsym=__StackTop=0x20040000"]] {
        // Nothing switches the FPU on.
        let hosted = ["--specs=rdimon.specs", "-mfloat-abi=soft"];
        let flags = [&hosted, stack].concat();
        let elf = link_by_default("cortex-m4", &flags, &sources)?;
        let (profile, outcome) = profile(&target(&elf), run_options(true, LIMITS))?;
        assert_eq!(outcome.exit, Exit::Status(0), "{stack:?}");
        assert_eq!(profile.layers[0].pairs[0].safe_overlap_bytes, 64);
    }
    // With these flags the toolchain takes a start-up file for cores that run Arm code.
    let mixed = [
        "--specs=rdimon.specs",
        "-mfloat-abi=hard",
        "-mfpu=fpv4-sp-d16",
        "-mfloat-abi=soft",
    ];
    let elf = link_by_default("cortex-m4", &mixed, &sources)?;
    let refused = Target::new(&elf, &TargetOptions::default()).map(drop);
    assert!(
        matches!(refused, Err(TargetError::Boot(BootError::ArmEntry { .. }))),
        "{refused:?}"
    );
    Ok(())
}

fn sixteen_megabytes(flags: &[&str]) -> Result<(), Failed> {
    let large = works("cortex-m4", &[flags, &["-DLARGE"]].concat(), true)?;
    let small = works("cortex-m4", flags, true)?;
    assert_eq!(patterns(&large), patterns(&small));
    Ok(())
}
