//! What limits the overlaps of a program or a kernel.

use super::report::Report;
use crate::elf::debug::{Function, Value};
use crate::explain::{Bound, Buffer, CallInProgress, Explanation, Local};
use dmo_analysis::wording::{bytes, grouped};
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::Write;

/// Explanations of the overlaps of a program or of a kernel.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ExplainReport {
    /// File of the program, or name of the set of kernels.
    pub program: String,
    /// SHA-256 of its file, in hexadecimal.
    pub sha256: String,
    /// Name of the CPU model that it ran on.
    pub cpu: &'static str,
    /// It has debug information: without it there are no source lines and no variables.
    pub debug_information: bool,
    /// One for each pair of an input and an output, in program order.
    pub explanations: Vec<Explanation>,
}

impl Report for ExplainReport {
    const SCHEMA: &'static str = "dmo-trace/explain/2";

    fn text(&self) -> String {
        let explained = self.explanations.iter().map(explained);
        let mut text = explained.collect::<Vec<_>>().join("\n");
        if !self.debug_information {
            text += "\nThe program has no debug information: no source lines, no variables (compile with -g).\n";
        }
        text
    }
}

fn explained(explanation: &Explanation) -> String {
    let Explanation { input, output, .. } = explanation;
    let mut text = format!(
        "layer {} '{}' ({}), pair {}: input {}, output {}\nO_s = {}\n",
        explanation.layer,
        explanation.name,
        explanation.operator,
        explanation.pair,
        described(input),
        described(output),
        bytes(explanation.safe_overlap_bytes.into()),
    );
    for (kind, bound, buffer) in [
        ("store to", &explanation.store, output),
        ("load from", &explanation.load, input),
    ] {
        if let Some(bound) = bound {
            text += &accessed(kind, bound, buffer);
        }
    }
    for sentence in &explanation.why {
        text += &format!("\n{sentence}\n");
    }
    text
}

fn described(buffer: &Buffer) -> String {
    let shape = buffer.shape.map_or(String::new(), |shape| {
        format!("{}, ", shape.map(|extent| extent.to_string()).join("x"))
    });
    format!(
        "'{}' ({shape}{} bytes)",
        buffer.name,
        grouped(buffer.size_bytes.into())
    )
}

fn accessed(kind: &str, bound: &Bound, buffer: &Buffer) -> String {
    let [first, last, binding] = [
        bound.offset,
        bound.offset + bound.size_bytes - 1,
        bound.byte,
    ]
    .map(|byte| grouped(byte.into()));
    let bytes = match bound.size_bytes {
        1 => format!("byte {first}"),
        _ => format!("bytes {first} to {last}, of which byte {binding} binds"),
    };
    let place = bound.coordinates.map_or(String::new(), |indices| {
        format!(" ({})", indices.map(|index| index.to_string()).join(", "))
    });
    let mut text = format!(
        "\n{kind} '{}', {bytes}, element {}{place}, at time {}\n",
        buffer.name,
        grouped(bound.element.into()),
        bound.time
    );
    for (index, call) in bound.calls.iter().enumerate() {
        text += &called(call, index == 0);
        if index == 0 {
            text += &source(bound);
            text += &code(bound);
        }
        text += &variables(call);
    }
    if bound.calls.is_empty() {
        text += &code(bound);
    }
    text
}

fn called(call: &CallInProgress, innermost: bool) -> String {
    let mut text = String::new();
    if call.functions.is_empty() {
        let _ = writeln!(text, "  at {}, in no function that has a name", call.pc);
    }
    for (index, function) in call.functions.iter().enumerate() {
        let how = match (innermost, index) {
            (true, 0) => "in",
            (_, 0) => "called by",
            _ => "inlined in",
        };
        let _ = writeln!(text, "  {how} {}", described_function(function));
    }
    text
}

fn described_function(function: &Function) -> String {
    let name = function
        .name
        .as_deref()
        .unwrap_or("a function without name");
    match (&function.file, function.line) {
        (Some(file), Some(line)) => format!("{name}, {file}:{line}"),
        (Some(file), None) => format!("{name}, {file}"),
        (None, _) => name.to_owned(),
    }
}

fn source(bound: &Bound) -> String {
    let Some(lines) = &bound.source else {
        return match bound.place() {
            Some(_) => "    (the source file is not here: --source DIR)\n".to_owned(),
            None => String::new(),
        };
    };
    let mut text = String::new();
    for line in lines {
        let mark = if line.binds { '>' } else { ' ' };
        let whole = format!("  {mark} {:>5} | {}", line.number, line.text);
        let _ = writeln!(text, "{}", whole.trim_end());
    }
    text
}

fn code(bound: &Bound) -> String {
    let mut text = String::new();
    for instruction in &bound.code {
        let mark = if instruction.binds { '>' } else { ' ' };
        let _ = writeln!(
            text,
            "  {mark} {}  {}",
            instruction.address, instruction.text
        );
    }
    text
}

fn variables(call: &CallInProgress) -> String {
    let function = call.functions.last().and_then(|it| it.name.as_deref());
    let (known, lost): (Vec<&Local>, Vec<&Local>) = call
        .variables
        .iter()
        .partition(|local| local.variable.value != Value::OptimisedOut);
    let (nest, others): (Vec<&Local>, Vec<&Local>) =
        known.into_iter().partition(|local| local.in_loop_nest);
    let mut text = listed("loop nest", &nest, function);
    text += &listed("other variables", &others, function);
    if !lost.is_empty() {
        let names: Vec<&str> = lost.iter().map(|it| it.variable.name.as_str()).collect();
        let _ = writeln!(text, "    optimised out: {}", names.join(", "));
    }
    text
}

fn listed(title: &str, locals: &[&Local], function: Option<&str>) -> String {
    if locals.is_empty() {
        return String::new();
    }
    let width = |of: fn(&Local) -> String| locals.iter().map(|it| of(it).len()).max().unwrap_or(0);
    let name = |local: &Local| local.variable.name.clone();
    let value = |local: &Local| local.variable.value.to_string();
    let (names, values) = (width(name), width(value));
    let mut text = format!("    {title}\n");
    for local in locals {
        let variable = &local.variable;
        let inlined = match (&variable.function, function) {
            (Some(inner), Some(outer)) if !outer.starts_with(inner.as_str()) => {
                format!(", of {inner}")
            }
            _ => String::new(),
        };
        let changes = match local.changes {
            Some(true) => ", changes",
            _ => "",
        };
        let _ = writeln!(
            text,
            "      {:names$} = {:values$}  {}{inlined}{changes}",
            name(local),
            value(local),
            variable.type_name
        );
    }
    text
}
