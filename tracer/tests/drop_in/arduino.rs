//! The library as one for Arduino, built by Arduino's own builder for a platform that is made up here.

use super::{CORES, library, symbols};
use libtest_mimic::Failed;
use std::path::Path;
use std::process::{Command, Output};

const PLATFORM: &str = r#"name=Trial
version=1.0.0
recipe.c.o.pattern=arm-none-eabi-gcc -c -Os -std=gnu11 -Wall -Wextra -Werror {build.cpu} {includes} "{source_file}" -o "{object_file}"
recipe.cpp.o.pattern=arm-none-eabi-g++ -c -Os -std=gnu++11 -fno-exceptions {build.cpu} {includes} "{source_file}" -o "{object_file}"
recipe.ar.pattern=arm-none-eabi-ar rcs "{archive_file_path}" "{object_file}"
recipe.c.combine.pattern=arm-none-eabi-g++ {build.cpu} --specs=nosys.specs {object_files} "{build.path}/{archive_file}" -o "{build.path}/sketch.elf"
recipe.preproc.macros=arm-none-eabi-g++ -E -CC -x c++ -w {build.cpu} {includes} "{source_file}" -o "{preprocessed_file_path}"
tools.ctags.cmd.path=arduino-ctags
tools.ctags.pattern="{cmd.path}" -u --language-force=c++ -f - --c++-kinds=svpf --fields=KSTtzns --line-directives "{source_file}"
"#;

const SKETCH: &str = "#include <dmo_nn.h>
#include <vendor.h>

static int8_t input[8], output[2];

void setup() {
  const cmsis_nn_context context = {};
  const cmsis_nn_pool_params params = {};
  const cmsis_nn_dims four = {1, 2, 2, 2}, one = {1, 1, 1, 2};
  pool(&context, &params, &four, &one);
}

void loop() { arm_vector_sum_s8(); }

static void pool(const cmsis_nn_context *context, const cmsis_nn_pool_params *params, const cmsis_nn_dims *four,
                 const cmsis_nn_dims *one) {
  arm_max_pool_s8(context, params, four, input, four, one, output);
}
";

/// A library of another one's functions, some of which are ours.
const VENDOR: [(&str, &str); 3] = [
    (
        "src/vendor.h",
        "extern \"C\" void arm_vector_sum_s8(void);\n",
    ),
    (
        "src/arm_vector_sum_s8.c",
        "void arm_vector_sum_s8(void);\nvoid arm_vector_sum_s8(void) {}\n",
    ),
    (
        "src/arm_max_pool_s8.c",
        "void arm_max_pool_s8(void);\nvoid arm_max_pool_s8(void) {}\n",
    ),
];

/// All sources compile, and come before those of a library that is linked as an archive. One that is
/// linked as objects has to be without the functions that are ours.
pub fn compiles() -> Result<(), Failed> {
    let folder = library(CORES[0].0);
    let at = |path: &str| folder.path().join(path);
    let properties = std::fs::read_to_string(at("dmo-nn/library.properties"))?;
    properties_are_whole(&properties);
    std::fs::create_dir(at("libraries"))?;
    std::fs::rename(at("dmo-nn"), at("libraries/dmo-nn"))?;
    let board = format!(
        "m4.name=M4\nm4.build.core=trial\nm4.build.board=M4\nm4.build.cpu={}\n",
        CORES[0].1
    );
    let files = [
        ("hardware/trial/arm/boards.txt", board.as_str()),
        ("hardware/trial/arm/platform.txt", PLATFORM),
        (
            "hardware/trial/arm/cores/trial/Arduino.h",
            "void setup();\nvoid loop();\n",
        ),
        (
            "hardware/trial/arm/cores/trial/main.cpp",
            "#include <Arduino.h>\nint main() {\n  setup();\n  for (;;) {\n    loop();\n  }\n}\n",
        ),
        ("sketch/sketch.ino", SKETCH),
    ];
    for (path, text) in files {
        write(folder.path(), path, text)?;
    }
    for (path, text) in VENDOR {
        write(folder.path(), &format!("libraries/vendor/{path}"), text)?;
    }
    for (archive, is_linked) in [(true, true), (false, false)] {
        let text = format!(
            "name=vendor\nversion=1.0.0\nauthor=a\nmaintainer=a\nsentence=s\nparagraph=p\ncategory=Other\n\
             url=u\narchitectures=*\ndot_a_linkage={archive}\n"
        );
        write(folder.path(), "libraries/vendor/library.properties", &text)?;
        let built = build(folder.path())?;
        let said = String::from_utf8_lossy(&built.stderr);
        assert_eq!(built.status.success(), is_linked, "{said}");
        if is_linked {
            let functions = symbols(&folder.path().join("build/sketch.elf"), "T");
            assert!(functions.len() > 100, "{functions:?}");
        } else {
            assert!(said.contains("multiple definition"), "{said}");
        }
    }
    Ok(())
}

/// What Arduino's specification of libraries asks for.
fn properties_are_whole(text: &str) {
    let pairs: Vec<(&str, &str)> = text
        .lines()
        .filter_map(|line| line.split_once('='))
        .collect();
    assert_eq!(pairs.len(), text.lines().count(), "{text}");
    for wanted in [
        "name",
        "version",
        "author",
        "maintainer",
        "sentence",
        "paragraph",
        "category",
        "url",
        "architectures",
        "includes",
    ] {
        let mut named = pairs
            .iter()
            .filter(|(name, value)| *name == wanted && !value.is_empty());
        assert!(
            named.next().is_some() && named.next().is_none(),
            "{wanted}: {text}"
        );
    }
    assert!(text.contains("\ncategory=Data Processing\n"), "{text}");
}

fn write(folder: &Path, path: &str, text: &str) -> Result<(), Failed> {
    let path = folder.join(path);
    std::fs::create_dir_all(path.parent().ok_or("no folder")?)?;
    std::fs::write(path, text)?;
    Ok(())
}

fn build(folder: &Path) -> Result<Output, Failed> {
    let out = folder.join("build");
    std::fs::create_dir_all(&out)?;
    let mut builder = Command::new("arduino-builder");
    builder.args(["-compile", "-fqbn", "trial:arm:m4", "-warnings", "all"]);
    builder.arg("-hardware").arg(folder.join("hardware"));
    builder.arg("-tools").arg(folder.join("hardware"));
    builder.arg("-libraries").arg(folder.join("libraries"));
    builder.arg("-build-path").arg(out);
    Ok(builder
        .arg("sketch/sketch.ino")
        .current_dir(folder)
        .output()?)
}
