//! What the description of an Open-CMSIS-Pack says of the library.
//!
//! Source: `PACK.xsd` 1.7.36 of Open-CMSIS-Pack-Spec.

use super::{Family, GeneratedFile};

/// The name of a description: vendor and name of the pack.
pub(super) const FILE: &str = "dmo-trace.dmo-nn.pdsc";

/// The cores that the sources were written for.
pub(super) fn accepted(family: Family) -> String {
    let cores: &[&str] = match family {
        Family::Dsp => &[
            r#"Dcore="Cortex-M4""#,
            r#"Dcore="Cortex-M7""#,
            r#"Dcore="Cortex-M33" Ddsp="DSP""#,
        ],
        Family::Plain => &[
            r#"Dcore="Cortex-M0""#,
            r#"Dcore="Cortex-M0+""#,
            r#"Dcore="Cortex-M3""#,
            r#"Dcore="Cortex-M23""#,
        ],
    };
    let lines = cores.iter().map(|core| format!("      <accept {core}/>"));
    lines.collect::<Vec<_>>().join("\n")
}

/// An entry for each C source and header.
pub(super) fn entries(files: &[GeneratedFile]) -> String {
    let lines = files.iter().map(|file| {
        let is_header = file.path.ends_with(".h");
        let kind = match (is_header, file.path.starts_with("src/kernels/")) {
            (false, _) => r#"category="source""#,
            (true, false) => r#"category="header""#,
            // The application has CMSIS-NN's headers of these names.
            (true, true) => r#"category="header" scope="private""#,
        };
        format!(r#"        <file {kind} name="{}"/>"#, file.path)
    });
    lines.collect::<Vec<_>>().join("\n")
}
