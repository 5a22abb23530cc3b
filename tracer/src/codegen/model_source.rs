//! The calls of an inference as C: parameters as constants, then one statement a call.

use super::c_interface::{CInterface, CType, Prototype, Variable};
use super::description::Description;
use super::expression::{Expressions, type_name};
use super::loops::{Loop, LoopArgument, LoopCall};
use super::memory_text::MemoryText;
use super::value::{Constants, Value};
use crate::kernels::NEXT_ROWS;
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;

/// The parts of the file that depend on the calls.
#[derive(Debug)]
pub struct CallText {
    /// Constants at file level.
    pub variables: String,
    /// Statements of an inference.
    pub statements: String,
    /// Headers that declare the functions, without folders.
    pub headers: BTreeSet<&'static str>,
}

/// The calls as C.
pub fn calls(
    memories: MemoryText,
    constants: &Constants,
    loops: &[Loop],
    interface: &CInterface,
) -> CallText {
    let description = memories.description;
    let mut writer = Writer {
        description,
        expressions: Expressions {
            interface,
            constants,
            memories,
            prefix: &description.prefix,
        },
        text: CallText {
            variables: String::new(),
            statements: String::new(),
            headers: BTreeSet::new(),
        },
        known: HashMap::new(),
        taken: BTreeSet::new(),
    };
    for step in loops {
        writer.step(step);
    }
    writer.text
}

struct Writer<'a> {
    description: &'a Description,
    expressions: Expressions<'a>,
    text: CallText,
    /// Names of the structures written so far.
    known: HashMap<Value, String>,
    taken: BTreeSet<String>,
}

impl Writer<'_> {
    fn step(&mut self, step: &Loop) {
        let count = step.count;
        if count == 1 {
            for call in &step.body {
                self.call(call, count, "  ");
            }
            return;
        }
        let loop_head = format!("  for (int32_t tile = 0; tile < {count}; ++tile) {{\n");
        self.text.statements += &loop_head;
        for call in &step.body {
            self.call(call, count, "    ");
        }
        self.text.statements += "  }\n";
    }

    fn call(&mut self, call: &LoopCall, count: usize, indent: &str) {
        let Some(prototype) = self.expressions.interface.function(call.function) else {
            return;
        };
        let header = prototype.header.rsplit('/').next();
        self.text.headers.extend(header);
        let about = match call.function {
            NEXT_ROWS => "The next rows of the input.".to_owned(),
            _ => self.description.operator(call.origin),
        };
        let parameters = prototype.parameters.iter().zip(&call.arguments);
        let mut locals = String::new();
        let arguments: Vec<String> = parameters
            .map(|(parameter, argument)| match argument {
                LoopArgument::Same(value) => self.same(call, parameter, value, &mut locals),
                LoopArgument::Each(values) => self.each(call, parameter, values, count),
            })
            .collect();
        let statements = &mut self.text.statements;
        let _ = writeln!(statements, "{indent}// {about}");
        if locals.is_empty() {
            *statements += &statement(self.description, call, prototype, &arguments, indent);
            return;
        }
        let inner = format!("{indent}  ");
        let _ = writeln!(statements, "{indent}{{");
        for line in locals.lines() {
            let _ = writeln!(statements, "{inner}{line}");
        }
        *statements += &statement(self.description, call, prototype, &arguments, &inner);
        let _ = writeln!(statements, "{indent}}}");
    }

    /// The expression of an argument that never changes; where it depends on the arena, a local
    /// variable holds it.
    fn same(
        &mut self,
        call: &LoopCall,
        parameter: &Variable,
        value: &Value,
        locals: &mut String,
    ) -> String {
        let Value::PointerTo(inner) = value else {
            return self.expressions.initializer(Some(&parameter.ctype), value);
        };
        if inner.needs_arena() {
            let name = &parameter.name;
            let _ = writeln!(locals, "{};", self.definition(name, inner));
            return reference(name, inner);
        }
        if let Some(name) = self.known.get(value) {
            return reference(name, inner);
        }
        let name = self.name(call, parameter);
        let definition = format!("static {};", self.definition(&name, inner));
        let _ = writeln!(self.text.variables, "{}", broken(&definition));
        self.known.insert(value.clone(), name.clone());
        reference(&name, inner)
    }

    /// The expression of an argument with a value for each turn of a loop.
    fn each(
        &mut self,
        call: &LoopCall,
        parameter: &Variable,
        values: &[Value],
        count: usize,
    ) -> String {
        let name = self.name(call, parameter);
        let ctype = &parameter.ctype;
        let initializers = values.iter().map(|value| match value {
            Value::Arena(place) => place.offset_bytes.to_string(),
            Value::PointerTo(inner) => self.expressions.initializer(None, inner),
            value => self.expressions.initializer(Some(ctype), value),
        });
        let list = wrapped_list(initializers);
        let pointed_to = match ctype {
            CType::Pointer { to, .. } | CType::Array(to, _) => type_name(to),
            other => type_name(other),
        };
        let (element, expression) = match values.first() {
            Some(Value::Arena(place)) => {
                let (memories, offset) = (self.expressions.memories, format!("{name}[tile]"));
                let pointer = memories.at(place.memory, &pointed_to, &offset);
                ("uint32_t".to_owned(), pointer)
            }
            Some(Value::PointerTo(_)) => (pointed_to, format!("&{name}[tile]")),
            _ => (type_name(ctype), format!("{name}[tile]")),
        };
        let _ = writeln!(
            self.text.variables,
            "static const {element} {name}[{count}] = {{\n{list}\n}};"
        );
        expression
    }

    /// The definition of a constant, without its semicolon.
    fn definition(&self, name: &str, value: &Value) -> String {
        let declared = match value {
            Value::Structure(structure, _) => format!("const {structure} {name}"),
            Value::Array(CType::Pointer { to, is_const }, values) => {
                let qualifier = if *is_const { "const " } else { "" };
                let count = values.len();
                format!("{qualifier}{} *const {name}[{count}]", type_name(to))
            }
            Value::Array(element, values) => {
                format!("const {} {name}[{}]", type_name(element), values.len())
            }
            _ => format!("const int32_t {name}"),
        };
        let element = match value {
            Value::Array(element, _) => Some(element),
            _ => None,
        };
        let initializer = self.expressions.initializer(element, value);
        format!("{declared} = {initializer}")
    }

    /// A name that nothing else has.
    fn name(&mut self, call: &LoopCall, parameter: &Variable) -> String {
        let base = format!("op{}_{}", call.origin.0, parameter.name);
        let mut name = base.clone();
        let mut number = 1;
        while !self.taken.insert(name.clone()) {
            number += 1;
            name = format!("{base}_{number}");
        }
        name
    }
}

/// A call, and what becomes of its status.
fn statement(
    description: &Description,
    call: &LoopCall,
    prototype: &Prototype,
    arguments: &[String],
    indent: &str,
) -> String {
    let called = format!("{}{}", description.prefix, call.function);
    let arguments = wrapped(arguments, indent.len() + 4, called.len());
    let called = format!("{called}({arguments})");
    if call.returns_status {
        let status = if call.function == NEXT_ROWS {
            "READ_FAILED"
        } else {
            "KERNEL_FAILED"
        };
        let failed = format!("{}{status}", description.upper_prefix());
        format!("{indent}if ({called} != 0) {{\n{indent}  return {failed};\n{indent}}}\n")
    } else if prototype.returns == "void" {
        format!("{indent}{called};\n")
    } else {
        format!("{indent}(void){called};\n")
    }
}

/// How a variable is passed.
fn reference(name: &str, value: &Value) -> String {
    match value {
        Value::Array(..) => name.to_owned(),
        _ => format!("&{name}"),
    }
}

const LINE: usize = 118;

/// Arguments, as many on a line as fit after the indentation; before the first stands something
/// of `taken` characters.
fn wrapped(arguments: &[String], indent: usize, taken: usize) -> String {
    let mut text = String::new();
    let mut width = indent + taken + 5;
    for (index, argument) in arguments.iter().enumerate() {
        let comma = if index + 1 < arguments.len() { "," } else { "" };
        if index > 0 && width + argument.len() + 2 > LINE {
            let _ = write!(text, "\n{:indent$}", "");
            width = indent;
        } else if index > 0 {
            text += " ";
            width += 1;
        }
        let _ = write!(text, "{argument}{comma}");
        width += argument.len() + comma.len();
    }
    text
}

/// A definition on as many lines as it needs.
fn broken(definition: &str) -> String {
    let mut text = String::new();
    let mut rest = definition;
    let mut line = LINE;
    while rest.len() > line {
        let Some(end) = rest[..line].rfind(", ").or_else(|| rest.find(", ")) else {
            break;
        };
        let _ = write!(text, "{}\n  ", &rest[..=end]);
        rest = rest[end + 1..].trim_start();
        line = LINE - 2;
    }
    text + rest
}

/// Elements of an array, as many on a line as fit.
pub fn wrapped_list(elements: impl Iterator<Item = String>) -> String {
    let mut text = String::from(" ");
    let mut width = 1;
    for element in elements {
        if width + element.len() + 2 > LINE && width > 1 {
            text += "\n ";
            width = 1;
        }
        let _ = write!(text, " {element},");
        width += element.len() + 2;
    }
    text
}
