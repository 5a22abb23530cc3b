//! All files of a library.

use super::c_interface::{CInterface, scalar_bytes};
use super::description::{Description, EndpointDescription};
use super::expression::constant_name;
use super::kernel_sources::{self, Family, SourceFile, closure};
use super::loops::Loop;
use super::memory_text::MemoryText;
use super::model_source::{calls, wrapped_list};
use super::network::{Endpoint, Network};
use super::reset_source::reset;
use super::template::{Values, template};
use super::value::{Constant, ConstantId};
use crate::mcu::cpu::Cpu;
use dmo_analysis::wording::grouped;
use dmo_engine::features::Architecture;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// A file of a generated library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GeneratedFile {
    /// Path below the library's folder.
    pub path: String,
    /// Its content.
    pub text: String,
}

/// One inference: a content for each of the model's inputs, and what it computes for each output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedInference {
    /// Bytes of each input.
    pub inputs: Vec<Vec<u8>>,
    /// Bytes of each output.
    pub outputs: Vec<Vec<u8>>,
}

/// What a library takes as a compiler makes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompiledSizes {
    /// What the compiler calls itself, and its flags.
    pub compiler: String,
    /// Arena, stack and variables in bytes, where all are known.
    pub ram_bytes: Option<u64>,
    /// Code, tables and weights in bytes.
    pub flash_bytes: u64,
    /// Estimated cycles of an inference.
    pub cycles: Option<u64>,
}

impl CompiledSizes {
    /// A row of the README's table.
    fn row(&self, cpu: &str) -> String {
        let compiler = self.compiler.escape_debug().to_string().replace('|', "\\|");
        let ram = self.ram_bytes.map_or_else(String::new, |bytes| {
            format!("{} bytes of RAM in all, ", grouped(bytes))
        });
        let cycles = self.cycles.map_or_else(String::new, |cycles| {
            format!(", about {} cycles an inference on {cpu}", grouped(cycles))
        });
        let flash = grouped(self.flash_bytes);
        format!("| as compiled | {ram}{flash} bytes of flash{cycles}, by {compiler} |\n")
    }
}

/// What a library is made of.
pub struct Contents<'a> {
    /// What its texts say.
    pub description: &'a Description,
    /// The model's calls.
    pub network: &'a Network,
    /// The same in loops.
    pub loops: &'a [Loop],
    /// The kernels' types.
    pub interface: &'a CInterface,
    /// What its test compares with.
    pub recorded: &'a [RecordedInference],
    /// The CPU that it was planned for.
    pub cpu: Cpu,
    /// What it takes as compiled, where that is known.
    pub compiled: Option<CompiledSizes>,
}

impl Contents<'_> {
    /// The files.
    ///
    /// # Errors
    /// The name of a function that no source of ours defines.
    pub fn files(&self) -> Result<Vec<GeneratedFile>, String> {
        let prefix = &self.description.prefix;
        let kernels = self.kernels(self.functions())?;
        let mut files = vec![
            self.file(format!("src/{prefix}model.h"), self.header()),
            self.file(format!("src/{prefix}model.c"), self.source()),
            self.file(format!("src/{prefix}weights.h"), self.weights_header()),
            self.file(format!("src/{prefix}weights.c"), self.weights()),
            self.file(format!("test/{prefix}test.c"), self.test(&kernels)),
            self.file(format!("test/{prefix}vectors.h"), self.vectors()),
        ];
        let templates = [
            ("Makefile", template!("Makefile")),
            ("CMakeLists.txt", template!("CMakeLists.txt")),
            ("README.md", template!("README.md")),
            ("library.json", template!("library.json")),
            ("library.properties", template!("library.properties")),
            ("zephyr/module.yml", template!("zephyr_module.yml")),
            ("zephyr/CMakeLists.txt", template!("zephyr_CMakeLists.txt")),
            ("zephyr/Kconfig", template!("zephyr_Kconfig")),
            ("examples/inference/inference.ino", template!("sketch.ino")),
        ];
        let values = self.with_usage(self.linked(self.values(), &kernels));
        let values = self.memory_text().usage(values);
        files.extend(templates.map(|(path, text)| self.file(path, values.fill(text))));
        let board = ["link.ld", "startup.c", "semihost.c", "semihost.h"];
        files.extend(board.into_iter().filter_map(|name| {
            let text = kernel_sources::text(&format!("board/{name}"))?;
            Some(self.file(format!("test/board/{name}"), text.to_owned()))
        }));
        files.extend(kernels);
        Ok(files)
    }

    /// Sources that a proof needs beside those of [`Self::files`]: what says how much scratch
    /// memory a kernel wants, and what stands for the application.
    ///
    /// # Errors
    /// As [`Self::files`].
    pub fn files_for_proof(&self) -> Result<Vec<GeneratedFile>, String> {
        let prefix = &self.description.prefix;
        let known = self.kernels(self.functions())?;
        let mut further = self.kernels(self.network.functions_of_proof.clone())?;
        further.retain(|file| !known.contains(file));
        if let Some(rows) = &self.description.rows {
            let description = self.description;
            let banner = description.banner("The rows of an input in memory.");
            let values = rows.values(description).with("banner", banner);
            let text = values.fill(template!("proof_rows.c"));
            further.push(self.file(format!("src/{prefix}proof_rows.c"), text));
        }
        Ok(further)
    }

    fn family(&self) -> Family {
        Family::of_set(&self.description.kernels)
    }

    /// The sources of some functions.
    fn kernels(&self, functions: BTreeSet<&str>) -> Result<Vec<GeneratedFile>, String> {
        let file = |kernel: SourceFile| GeneratedFile {
            path: format!("src/kernels/{}", kernel.name),
            text: kernel.text,
        };
        let files = closure(functions, self.family(), &self.description.prefix)?;
        Ok(files.into_iter().map(file).collect())
    }

    fn functions(&self) -> BTreeSet<&'static str> {
        self.network.calls.iter().map(|it| it.function).collect()
    }

    /// Bytes of weights and tables, without the parameters of calls.
    pub fn weights_bytes(&self) -> u64 {
        self.network.constants.bytes()
    }

    fn file(&self, path: impl Into<String>, text: String) -> GeneratedFile {
        GeneratedFile {
            path: path.into(),
            text,
        }
    }

    fn values(&self) -> Values {
        let (description, network) = (self.description, self.network);
        let first = |ends: &[EndpointDescription]| {
            ends.first().map_or_else(String::new, |it| it.name.clone())
        };
        let output = first(&description.outputs);
        description
            .values()
            .with("arena_bytes", network.ram_bytes())
            .with("state_bytes", self.state_bytes())
            .with("grouped_arena_bytes", grouped(network.ram_bytes().into()))
            .with(
                "of_them_state",
                match self.state_bytes() {
                    0 => String::new(),
                    bytes => format!(", {} of them state", grouped(bytes.into())),
                },
            )
            .with("endpoint_rows", self.endpoint_rows())
            .with("grouped_weights_bytes", grouped(self.weights_bytes()))
            .with("OUTPUT", output.to_uppercase())
            .with("output", output)
            .with("layout", &description.layout)
            .with("stack", self.stack())
            .with("compiled_row", self.compiled_row())
            .with("board", board_of(self.cpu.name))
            .with("cpu_flags", flags_of(self.cpu.name))
            .with("target", cmake_target(&description.name))
            .with("option", description.name.to_uppercase())
    }

    /// What the README says of inputs and outputs, a row of a table for each.
    fn endpoint_rows(&self) -> String {
        let rows = self.description.rows.as_ref();
        let in_rows = rows.map(|rows| rows.input.readme_row("input, in rows"));
        let others = self.endpoints().map(|(endpoint, _, constness)| {
            let what = if constness.is_empty() {
                "input"
            } else {
                "output"
            };
            endpoint.readme_row(what)
        });
        in_rows.into_iter().chain(others).collect()
    }

    fn compiled_row(&self) -> String {
        let sizes = self.compiled.as_ref();
        sizes.map_or_else(String::new, |sizes| sizes.row(self.cpu.name))
    }

    /// How the README's example gives the model its input.
    fn with_usage(&self, values: Values) -> Values {
        let description = self.description;
        let (prefix, upper) = (&description.prefix, description.upper_prefix());
        let Some(rows) = &description.rows else {
            let input = description.inputs.first().map_or("", |it| &it.name);
            let elements = format!("{upper}{}_ELEMENTS", input.to_uppercase());
            let fill = format!(
                "  // Fill {prefix}{input}(&context), {elements} elements, before each inference.\n"
            );
            return values
                .with("read_rows", "")
                .with("given_rows", "")
                .with("store_input", format!("  {fill}"))
                .with("sketch_input", fill);
        };
        let function = rows.values(description).fill(template!("readme_rows.c"));
        values
            .with("read_rows", function)
            .with("given_rows", ", read_rows, NULL")
            .with("store_input", "")
            .with("sketch_input", "")
    }

    /// With the libraries that these kernels want.
    fn linked(&self, values: Values, kernels: &[GeneratedFile]) -> Values {
        let target = cmake_target(&self.description.name);
        let (libraries, link) = if kernels.iter().any(|it| it.text.contains("<math.h>")) {
            let link = format!("target_link_libraries({target} PUBLIC m)\n");
            ("-lm", link)
        } else {
            ("", String::new())
        };
        values.with("libraries", libraries).with("link", link)
    }

    /// Bytes of the arena that persist from one inference to the next.
    pub fn state_bytes(&self) -> u32 {
        self.network.state_bytes.len() as u32
    }

    /// How the texts call the arrays that the application provides.
    pub(super) fn memory_text(&self) -> MemoryText<'_> {
        MemoryText {
            memories: &self.network.memories,
            description: self.description,
        }
    }

    fn stack(&self) -> String {
        match self.description.stack_bytes {
            Some(bytes) => format!(
                "{} bytes, the deepest kernel's, measured on {} as compiled by GCC at -O2; invoke itself takes \
                 more. `dmo-trace build --prove` measures the whole call with your compiler",
                grouped(bytes.into()),
                self.description.cpu
            ),
            None => "not measured".to_owned(),
        }
    }

    fn header(&self) -> String {
        let description = self.description;
        let what = format!(
            "{} as a C library.",
            description.printable(&description.model)
        );
        let endpoints = self.endpoints().map(|(endpoint, _, constness)| {
            let values = endpoint
                .values(description)
                .with("const", constness)
                .with("quantisation", endpoint.quantisation_macros(description));
            let mut text = values.fill(template!("endpoint.h"));
            if endpoint.quantisation.is_some() && endpoint.limits().is_some() {
                text += &values.fill(if constness.is_empty() {
                    template!("quantize.h")
                } else {
                    template!("dequantize.h")
                });
            }
            text
        });
        let stack_macro = match description.stack_bytes {
            Some(bytes) => format!(
                "#define {}KERNEL_STACK_BYTES {bytes}u\n",
                description.upper_prefix()
            ),
            None => String::new(),
        };
        let rows = description.rows.as_ref();
        let held = rows.map_or("the inputs", |_| "rows of the input");
        let values = self.memory_text().header(self.values(), held);
        let values = values
            .with("banner", description.banner(&what))
            .with("endpoints", endpoints.collect::<String>())
            .with("rows", self.rows_header())
            .with("read_failed", rows.map_or_else(String::new, |_| {
                format!("  {}READ_FAILED = -5,      // the rows of the input were not handed over\n", description.upper_prefix())
            }))
            .with("stack", format!("Stack: {}.", self.stack()))
            .with("stack_macro", stack_macro)
            .with(
                "inputs_after",
                if rows.is_some() {
                    "The input is taken from `read`, which is passed `user`."
                } else if description.keeps_inputs {
                    "The inputs stay as they are."
                } else {
                    "The inputs are overwritten: store them again before each inference."
                },
            );
        let mut saved = String::new();
        if !self.network.states.is_empty() {
            saved = values.fill(template!("saved_states.h"));
        }
        values
            .with("saved_states", saved)
            .fill(template!("model.h"))
    }

    /// What the header says of an input that is handed over in rows; empty if none is.
    fn rows_header(&self) -> String {
        let description = self.description;
        let Some(rows) = &description.rows else {
            return String::new();
        };
        let values = rows.values(description);
        let mut text = values.fill(template!("rows.h"));
        if rows.input.quantisation.is_some() && rows.input.limits().is_some() {
            text += &values.fill(template!("quantize.h"));
        }
        text
    }

    /// Inputs in the arena and outputs, where they lie, and their qualifier.
    pub(super) fn endpoints(
        &self,
    ) -> impl Iterator<Item = (&EndpointDescription, &Endpoint, &'static str)> {
        let (description, network) = (self.description, self.network);
        let inputs = description.inputs.iter().zip(&network.inputs);
        let outputs = description.outputs.iter().zip(&network.outputs);
        inputs
            .map(|(known, place)| (known, place, ""))
            .chain(outputs.map(|(known, place)| (known, place, "const ")))
    }

    fn source(&self) -> String {
        let (description, network) = (self.description, self.network);
        let memories = self.memory_text();
        let text = calls(memories, &network.constants, self.loops, self.interface);
        let mut includes = String::new();
        for header in &text.headers {
            let _ = writeln!(includes, "#include \"kernels/{header}\"");
        }
        includes += math_header(&text.variables);
        let states_at = network.states_at();
        let state_memory = memories.name(states_at.memory);
        let reset = reset(&network.states, state_memory);
        let accessors = self.endpoints().map(|(endpoint, place, constness)| {
            let values = endpoint.values(description);
            let values = values
                .with("const", constness)
                .with("first", memories.name(0))
                .with("memory", memories.name(place.place.memory))
                .with("offset", place.place.offset_bytes);
            values.fill(template!("accessor.c"))
        });
        let mut saved = String::new();
        if !network.states.is_empty() {
            let values = description
                .values()
                .with("first", memories.name(0))
                .with("memory", state_memory)
                .with("offset", states_at.offset_bytes);
            saved = values.fill(template!("saved_states.c"));
        }
        memories
            .source(description.values(), &text.statements)
            .with("state_memory", state_memory)
            .with(
                "banner",
                description.banner("The calls of an inference, in the planned arena."),
            )
            .with("core", description.values().fill(self.core_guard()))
            .with("includes", includes)
            .with(
                "no_rows",
                description.rows.as_ref().map_or("", |_| " || read == NULL"),
            )
            .with("variables", text.variables)
            .with("reset", reset)
            .with("calls", text.statements)
            .with("accessors", accessors.collect::<String>())
            .with("saved_states", saved)
            .fill(template!("model.c"))
    }

    /// What refuses a core that would run other code of these kernels than the plan was made for.
    fn core_guard(&self) -> &'static str {
        let differs = |name: &str| name.starts_with("arm_") || name.starts_with("dmo_dsp_");
        if !self.functions().into_iter().any(differs) {
            return "";
        }
        match (self.family(), self.cpu.features.architecture) {
            (Family::Dsp, _) => template!("core.c"),
            (Family::Plain, Architecture::Armv6M | Architecture::Armv8MBaseline) => {
                template!("core_thumb_1.c")
            }
            (Family::Plain, _) => template!("core_thumb_2.c"),
        }
    }

    fn constants(&self) -> impl Iterator<Item = (String, &Constant)> {
        let constants = &self.network.constants;
        let all = constants.all().iter().enumerate();
        all.map(|(index, (_, constant))| {
            let name = constant_name(&self.description.prefix, constants, ConstantId(index));
            (name, constant)
        })
    }

    fn weights_header(&self) -> String {
        let description = self.description;
        let declarations = self.constants().map(|(name, constant)| {
            format!(
                "extern const {} {name}[{}];\n",
                constant.element,
                elements(constant)
            )
        });
        description
            .values()
            .with("banner", description.banner("Weights, biases and tables."))
            .with("declarations", declarations.collect::<String>())
            .fill(template!("weights.h"))
    }

    fn weights(&self) -> String {
        let description = self.description;
        let upper = description.upper_prefix();
        let mut text = String::new();
        for (name, constant) in self.constants() {
            let list = wrapped_list(numbers(&constant.element, &constant.bytes));
            let (element, count) = (&constant.element, elements(constant));
            let _ = write!(
                text,
                "\n{upper}WEIGHTS {upper}ALIGNED const {element} {name}[{count}] = {{\n{list}\n}};\n"
            );
        }
        let banner = description.banner("Weights, biases and tables.");
        let math = math_header(&text);
        let prefix = &description.prefix;
        format!("{banner}\n{math}\n#include \"{prefix}weights.h\"\n{text}")
    }
}

/// What a text has to include for its numbers that are not finite.
pub(super) fn math_header(text: &str) -> &'static str {
    let needs = |word| text.contains(word);
    if needs("INFINITY") || needs("NAN") {
        "\n#include <math.h>"
    } else {
        ""
    }
}

/// The name of the library in CMake, which keeps some for itself; `m` is the mathematical library.
fn cmake_target(name: &str) -> String {
    const TAKEN: [&str; 9] = [
        "all",
        "clean",
        "depend",
        "help",
        "install",
        "m",
        "package",
        "preinstall",
        "test",
    ];
    if TAKEN.contains(&name) {
        format!("{name}_model")
    } else {
        name.to_owned()
    }
}

/// The board of QEMU that has the CPU, or one that runs its code and has the same memory map.
fn board_of(cpu: &str) -> &'static str {
    match cpu {
        "cortex-m0" | "cortex-m0plus" | "cortex-m3" => "mps2-an385",
        "cortex-m7" | "cortex-m33" => "mps2-an500",
        _ => "mps2-an386",
    }
}

/// Flags of GCC for the CPU, or for one whose code it runs.
pub fn flags_of(cpu: &str) -> &'static str {
    match cpu {
        "cortex-m0" => "-mcpu=cortex-m0 -mthumb -mfloat-abi=soft",
        "cortex-m0plus" => "-mcpu=cortex-m0plus -mthumb -mfloat-abi=soft",
        "cortex-m3" => "-mcpu=cortex-m3 -mthumb -mfloat-abi=soft",
        "cortex-m7" => "-mcpu=cortex-m7 -mthumb -mfloat-abi=hard -mfpu=fpv5-d16",
        "cortex-m23" => "-mcpu=cortex-m23 -mthumb -mfloat-abi=soft",
        "cortex-m33" => "-mcpu=cortex-m33 -mthumb -mfloat-abi=hard -mfpu=fpv5-sp-d16",
        _ => "-mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16",
    }
}

fn elements(constant: &Constant) -> usize {
    constant.bytes.len() / element_bytes(&constant.element)
}

fn element_bytes(element: &str) -> usize {
    scalar_bytes(element).unwrap_or(1)
}

/// Little-endian elements of a C type as literals.
pub(super) fn numbers<'a>(element: &'a str, bytes: &'a [u8]) -> impl Iterator<Item = String> + 'a {
    let chunks = bytes.chunks_exact(element_bytes(element));
    chunks.map(move |chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        let bits = u64::from_le_bytes(word);
        match element {
            "int8_t" => (bits as i8).to_string(),
            "int16_t" => (bits as i16).to_string(),
            "int32_t" => super::expression::integer(bits as i32),
            "int64_t" if bits as i64 == i64::MIN => "INT64_MIN".to_owned(),
            "int64_t" => format!("{}LL", bits as i64),
            "float" => super::literal::float(f32::from_bits(bits as u32)),
            _ => bits.to_string(),
        }
    })
}
