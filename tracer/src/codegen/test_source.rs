//! The test of a library: recorded inferences, and what it compares.

use super::description::EndpointDescription;
use super::library::{Contents, GeneratedFile, RecordedInference, math_header, numbers};
use super::model_source::wrapped_list;
use super::template::template;
use std::fmt::Write as _;

impl Contents<'_> {
    pub(super) fn test(&self, kernels: &[GeneratedFile]) -> String {
        let description = self.description;
        let prefix = &description.prefix;
        let is_rounded = is_rounded_by_c_library(kernels) || self.records_nan();
        let (mut copy, mut compare) = (String::new(), String::new());
        for (endpoint, _, constness) in self.endpoints() {
            let name = &endpoint.name;
            let recorded = format!("{prefix}recorded_{name}[vector]");
            let own = format!("{prefix}{name}(&contexts[i])");
            let size = format!("sizeof {recorded}");
            if constness.is_empty() {
                let _ = writeln!(copy, "      memcpy({own}, {recorded}, {size});");
                continue;
            }
            let values = description.values();
            let values = values.with("own", own).with("recorded", recorded);
            let values = values.with("name", name).with("size", size);
            compare += &values.fill(if is_rounded {
                template!("compare_rounded.c")
            } else {
                template!("compare.c")
            });
        }
        let rounding = if is_rounded {
            [template!("rounding.c"), template!("rounded.c")]
        } else {
            ["", ""]
        };
        let values = description.values();
        let [rounding, rounded] = rounding.map(|template| values.fill(template));
        let rows = description.rows.as_ref();
        let given = rows.map_or_else(String::new, |rows| {
            format!(
                ", read_rows, &(recorded_rows){{{prefix}recorded_{}[vector], 0}}",
                rows.input.name
            )
        });
        self.memory_text()
            .test(values)
            .with("banner", description.banner("A test of the library."))
            .with(
                "rows",
                rows.map_or_else(String::new, |rows| {
                    rows.values(description).fill(template!("test_rows.c"))
                }),
            )
            .with("no_rows", rows.map_or("", |_| ", read_rows, NULL"))
            .with("recorded_rows", given)
            .with("copy", copy)
            .with("compare", compare)
            .with("rounding", rounding)
            .with("rounded", rounded)
            .fill(template!("test.c"))
    }

    /// Whether a recorded output is not a number: its sign and its other bits differ from core to
    /// core.
    fn records_nan(&self) -> bool {
        let is_nan = |word: &[u8]| {
            let word: Result<[u8; 4], _> = word.try_into();
            word.is_ok_and(|word| f32::from_le_bytes(word).is_nan())
        };
        let outputs = self.recorded.iter().flat_map(|recorded| {
            let known = self.description.outputs.iter().zip(&recorded.outputs);
            known.filter(|(endpoint, _)| endpoint.c_type() == "float")
        });
        let mut words = outputs.flat_map(|(_, bytes)| bytes.chunks_exact(4));
        words.any(is_nan)
    }

    pub(super) fn vectors(&self) -> String {
        let description = self.description;
        let (prefix, upper) = (&description.prefix, description.upper_prefix());
        let count = self.recorded.len();
        let mut text = String::new();
        let banner = description.banner("Recorded inferences.");
        let head = format!(
            "\n#include \"{prefix}model.h\"\n\n#define {upper}VECTORS {count}\n#define {upper}VECTORS_TEXT \"{count}\"\n"
        );
        let handed_over = description.rows.iter().map(|rows| &rows.input);
        let inputs: Vec<&EndpointDescription> =
            description.inputs.iter().chain(handed_over).collect();
        let outputs = description.outputs.iter().collect();
        let ends = [
            (inputs, RecordedInference::inputs as fn(&_) -> &_),
            (outputs, RecordedInference::outputs),
        ];
        for (endpoints, content) in ends {
            for (index, endpoint) in endpoints.iter().enumerate() {
                let (element, name) = (endpoint.c_type(), &endpoint.name);
                let elements = endpoint.elements();
                let _ = writeln!(
                    text,
                    "\nstatic const {element} {prefix}recorded_{name}[{count}][{elements}] = {{"
                );
                for inference in self.recorded {
                    let bytes = content(inference).get(index).map_or(&[][..], |it| it);
                    let list = wrapped_list(numbers(element, bytes));
                    let _ = writeln!(text, "{{\n{list}\n}},");
                }
                text += "};\n";
            }
        }
        let math = math_header(&text);
        format!("{banner}\n{math}{head}{text}")
    }
}

/// Whether kernels call functions that C libraries round differently.
fn is_rounded_by_c_library(kernels: &[GeneratedFile]) -> bool {
    const ROUNDED: [&str; 6] = ["expf(", "expm1f(", "logf(", "sinf(", "cosf(", "tanhf("];
    let calls = |text: &str| ROUNDED.iter().any(|it| text.contains(it));
    kernels.iter().any(|file| calls(&file.text))
}

impl RecordedInference {
    fn inputs(&self) -> &Vec<Vec<u8>> {
        &self.inputs
    }

    fn outputs(&self) -> &Vec<Vec<u8>> {
        &self.outputs
    }
}
