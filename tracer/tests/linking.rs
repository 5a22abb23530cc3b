//! Which function a name stands for, and what has run before it: what a firmware may link or run
//! otherwise is not measured.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::unnecessary_wraps,
    reason = "a test may fail loudly; libtest-mimic wants a result"
)]

mod support;

use libtest_mimic::Failed;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::tools;
use support::workshop::{HARD, Workshop, run};

/// Copies its input, from the first byte on.
const FORWARDS: &str = "
#include <stdint.h>
LINKAGE void arm_reshape_s8(const int8_t *input, int8_t *output, const uint32_t size);
LINKAGE void arm_reshape_s8(const int8_t *input, int8_t *output, const uint32_t size) {
  for (uint32_t i = 0; i < size; ++i) {
    ((volatile int8_t *)output)[i] = input[i];
  }
}
#ifdef USE
void USE(const int8_t *input, int8_t *output);
void USE(const int8_t *input, int8_t *output) { arm_reshape_s8(input, output, 3); }
#endif
";

/// From the last byte on: no byte may overlap that lies after it.
const BACKWARDS: &str = "
#include <stdint.h>
LINKAGE void arm_reshape_s8(const int8_t *input, int8_t *output, const uint32_t size);
LINKAGE void arm_reshape_s8(const int8_t *input, int8_t *output, const uint32_t size) {
  for (uint32_t i = size; i-- > 0;) {
    ((volatile int8_t *)output)[size - 1 - i] = input[i];
  }
}
";

/// Asks for a function that another file may have.
const ASKING: &str = "
int platform_has_cache(void) __attribute__((weak));
int asks(void);
int asks(void) { return platform_has_cache ? platform_has_cache() : 0; }
";

/// Its size function counts how often it is called.
const COUNTING: &str = "
#include <stdint.h>
static int32_t calls;
int32_t arm_avgpool_s8_get_buffer_size(int width, int channels);
int32_t arm_avgpool_s8_get_buffer_size(int width, int channels) {
  (void)width; (void)channels;
  ++calls;
  return 0;
}
int arm_avgpool_s8(const void *context, const void *params, const void *input_dims, const int8_t *input,
                   const void *filter_dims, const void *output_dims, int8_t *output);
int arm_avgpool_s8(const void *context, const void *params, const void *input_dims, const int8_t *input,
                   const void *filter_dims, const void *output_dims, int8_t *output) {
  (void)context; (void)params; (void)input_dims; (void)filter_dims; (void)output_dims;
  output[0] = input[0];
  return 0;
}
";

/// Sets something up before `main`.
const CONSTRUCTED: &str = "
static int mode;
__attribute__((constructor)) static void set_up(void) { mode = 1; }
int asks(void);
int asks(void) { return mode; }
";

fn main() {
    let compiler = tools::version("arm-none-eabi-gcc").map(|_| ());
    let trials = vec![
        tools::trial("a function of one file", &compiler, local),
        tools::trial("a weak function", &compiler, weak),
        tools::trial("a function that may be there", &compiler, wanted),
        tools::trial("a size that is counted", &compiler, counted),
        tools::trial("a constructor", &compiler, constructed),
    ];
    tools::main(&compiler, trials)
}

fn object(workshop: &Workshop, name: &str, source: &str, linkage: &str) -> PathBuf {
    let path = workshop.path(name);
    std::fs::write(&path, source).expect("written");
    let mut macros = vec![format!("-DLINKAGE={linkage}")];
    if linkage == "static" {
        macros.push(format!("-DUSE=use_of_{}", name.trim_end_matches(".c")));
    }
    workshop.compile(&path, &macros)
}

fn overlap(kernels: &Path, operator: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_dmo-trace"))
        .args(["overlap", "--json"])
        .args(operator)
        .arg("--kernels")
        .arg(kernels)
        .output()
        .expect("it runs");
    let text = if output.status.success() {
        output.stdout
    } else {
        output.stderr
    };
    (output.status.code(), String::from_utf8(text).expect("text"))
}

const RESHAPE: [&str; 3] = ["reshape", "--input", "20"];

/// O_s of the reshape of 20 bytes.
fn reshape(kernels: &Path) -> u64 {
    let (code, text) = overlap(kernels, &RESHAPE);
    assert_eq!(code, Some(0), "{text}");
    let found: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    found["pairs"][0]["traced_bytes"]
        .as_u64()
        .unwrap_or_else(|| panic!("{text}"))
}

/// Other files do not see a static function, wherever it lies.
fn local() -> Result<(), Failed> {
    let workshop = Workshop::new(&HARD);
    let hidden = object(&workshop, "hidden.c", FORWARDS, "static");
    let seen = object(&workshop, "seen.c", BACKWARDS, "");
    let alone = reshape(&workshop.archive("alone.a", std::slice::from_ref(&seen)));
    assert!(alone < 20, "{alone}");
    let orders = [
        [hidden.clone(), seen.clone()],
        [seen.clone(), hidden.clone()],
    ];
    for (name, objects) in ["one.a", "other.a"].into_iter().zip(orders) {
        assert_eq!(reshape(&workshop.archive(name, &objects)), alone, "{name}");
    }
    Ok(())
}

fn refused(kernels: &Path, operator: &[&str], reason: &str) {
    let (code, text) = overlap(kernels, operator);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains(reason), "{text}");
}

fn weak() -> Result<(), Failed> {
    let workshop = Workshop::new(&HARD);
    let weak = object(&workshop, "weak.c", BACKWARDS, "__attribute__((weak))");
    let strong = object(&workshop, "strong.c", FORWARDS, "");
    // By itself there is no doubt.
    assert!(reshape(&workshop.archive("alone.a", std::slice::from_ref(&weak))) < 20);
    for (name, objects) in [
        ("one.a", [weak.clone(), strong.clone()]),
        ("other.a", [strong, weak]),
    ] {
        let archive = workshop.archive(name, &objects);
        refused(&archive, &RESHAPE, "once weakly");
    }
    Ok(())
}

fn wanted() -> Result<(), Failed> {
    let workshop = Workshop::new(&HARD);
    let kernel = object(&workshop, "kernel.c", FORWARDS, "");
    let asking = object(&workshop, "asking.c", ASKING, "");
    let archive = workshop.archive("asking.a", &[kernel, asking]);
    refused(
        &archive,
        &RESHAPE,
        "uses platform_has_cache only in a firmware",
    );
    // Objects of C++ with abstract classes want one of the runtime's.
    let kernel = object(&workshop, "kernel.c", FORWARDS, "");
    let runtime = ASKING.replace("platform_has_cache", "__cxa_pure_virtual");
    let asking = object(&workshop, "asking.c", &runtime, "");
    assert_eq!(
        reshape(&workshop.archive("runtime.a", &[kernel, asking])),
        20
    );
    Ok(())
}

fn counted() -> Result<(), Failed> {
    let workshop = Workshop::new(&HARD);
    let kernel = object(&workshop, "counting.c", COUNTING, "");
    let archive = workshop.archive("counting.a", &[kernel]);
    let operator = ["avg_pool", "--input", "1x8x8x4", "--filter", "2x2"];
    refused(
        &archive,
        &operator,
        "arm_avgpool_s8_get_buffer_size stores to a variable",
    );
    Ok(())
}

/// As an archive, and linked.
fn constructed() -> Result<(), Failed> {
    let workshop = Workshop::new(&HARD);
    let kernel = object(&workshop, "kernel.c", FORWARDS, "");
    let constructed = object(&workshop, "constructed.c", CONSTRUCTED, "");
    let reason = "must run before all else";
    let archive = workshop.archive("constructed.a", &[kernel.clone(), constructed.clone()]);
    refused(&archive, &RESHAPE, reason);
    let start = workshop.path("main.c");
    std::fs::write(&start, "int main(void) { return 0; }\n").expect("written");
    let start = workshop.compile(&start, &[]);
    let link = |name: &str, objects: &[&PathBuf]| {
        let elf = workshop.path(name);
        let mut command = Command::new("arm-none-eabi-gcc");
        command.args(HARD).args([
            "--specs=nosys.specs",
            "-Wl,-Ttext=0x08000000,-Tdata=0x20000000",
        ]);
        run(command.args(objects).arg("-o").arg(&elf));
        elf
    };
    refused(
        &link("with.elf", &[&start, &kernel, &constructed]),
        &RESHAPE,
        reason,
    );
    // The start-up code of the compiler alone is no reason.
    assert_eq!(reshape(&link("without.elf", &[&start, &kernel])), 20);
    Ok(())
}
