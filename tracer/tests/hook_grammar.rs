//! Hooks as text: what they mean, and that whatever is no hook is told so.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panic, with the case's text"
)]

use dmo_analysis::trace::{ElementType, Role};
use dmo_trace::program::hooks::{
    CallState, EvaluationError, Expression, Function, LayerHook, READY_MADE, SymbolValue,
    parse_file,
};
use proptest::prelude::*;
use std::process::Command;

/// Register `i` holds `registers[i]`; memory from 0x1000 on.
struct Program {
    registers: [u32; 16],
    memory: Vec<u8>,
}

const MEMORY: u32 = 0x1000;

impl CallState for Program {
    fn register(&self, index: usize) -> u32 {
        self.registers[index]
    }

    fn load(&self, address: u32, size_bytes: u32) -> Option<u32> {
        let start = address.checked_sub(MEMORY)? as usize;
        let bytes = self.memory.get(start..start + size_bytes as usize)?;
        let mut word = [0; 4];
        word[..bytes.len()].copy_from_slice(bytes);
        Some(u32::from_le_bytes(word))
    }
}

fn program() -> Program {
    let mut registers = std::array::from_fn(|index| 100 + index as u32);
    registers[0] = MEMORY;
    registers[13] = MEMORY + 8;
    let words = [7_u32, MEMORY + 4, 0x8081_ff02, 50];
    Program {
        registers,
        memory: words.into_iter().flat_map(u32::to_le_bytes).collect(),
    }
}

fn parse(text: &str) -> Expression {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

fn value(text: &str) -> Result<u32, EvaluationError> {
    let mut expression = parse(text);
    let resolved: Result<(), ()> = expression.resolve(&mut |what, name| match (what, name) {
        (SymbolValue::Address, "arena") => Ok(0x2000_0000),
        (SymbolValue::Size, "ns::arena") => Ok(4096),
        (SymbolValue::Size, "odd (name)") => Ok(3),
        _ => Err(()),
    });
    resolved.expect("symbols");
    let folded = expression.at_entry(&program())?;
    assert_eq!(
        folded.value().is_none(),
        expression.needs_return(),
        "{text}"
    );
    folded.at_return(&program())
}

#[test]
fn values() {
    for (text, expected) in [
        ("0", 0),
        ("4294967295", u32::MAX),
        ("0xffffFFFF", u32::MAX),
        ("r1", 101),
        ("r12", 112),
        ("sp", MEMORY + 8),
        ("2+3*4", 14),
        ("(2+3)*4", 20),
        ("20-3-4", 13),
        ("100/7/2", 7),
        ("2*7/2", 7),
        (" ( ( r1 ) ) ", 101),
        ("[r0]", 7),
        ("[r0+4]", MEMORY + 4),
        ("[[r0+4]]", MEMORY + 4),
        ("[r0]*[r0+12]", 350),
        ("[r0+8]:u8", 2),
        ("[r0+8]:i8", 2),
        ("[r0+9]:u8", 0xff),
        ("[r0+8]:u16", 0xff02),
        ("[r0+1]", 0x0400_0000),
        ("arg0", MEMORY),
        ("arg3", 103),
        // The stack pointer is at the third word.
        ("arg4", 0x8081_ff02),
        ("arg5", 50),
        ("max(3, 4)", 4),
        ("min(3, 4) * 2", 6),
        ("ceil_div(7, 2)", 4),
        ("ceil_div(8, 2)", 4),
        ("ceil_div(0, 2)", 0),
        ("&arena + 16", 0x2000_0010),
        ("sizeof(ns::arena)/2", 2048),
        ("sizeof(\"odd (name)\")", 3),
        ("r1@ret", 101),
        ("r1 + r1@ret", 202),
        ("[r0]@ret", 7),
        ("[r0@ret+4]", MEMORY + 4),
        ("[r0+8]:u16@ret", 0xff02),
    ] {
        assert_eq!(value(text), Ok(expected), "{text}");
    }
}

/// What an expression looks at when the function returns is what is there then.
#[test]
fn two_moments() {
    let mut at_return = program();
    at_return.registers[0] = 1;
    at_return.registers[1] = MEMORY + 12;
    at_return.memory[12] = 60;
    for (text, expected) in [
        ("[r0+12] + [r0+12]@ret", 50 + 60),
        ("r0@ret + [r0]", 1 + 7),
        ("[r1@ret] * 2", 120),
        ("max(r1, r1@ret) - r1@ret", 0),
    ] {
        let folded = parse(text).at_entry(&program()).expect("entry");
        assert_eq!(folded.value(), None, "{text}");
        assert_eq!(folded.at_return(&at_return), Ok(expected), "{text}");
    }
}

#[test]
fn values_that_are_none() {
    for (text, message) in [
        (
            "1 + r1*0x10000000",
            "'r1*0x10000000' is 0x65 * 0x10000000, which is not a 32-bit number",
        ),
        (
            "0xffffffff + 1",
            "'0xffffffff + 1' is 0xffffffff + 0x1, which is not a 32-bit number",
        ),
        (
            "2*(r1-r2)",
            "'(r1-r2)' is 0x65 - 0x66, which is not a 32-bit number",
        ),
        ("4/(r1-101)", "'4/(r1-101)' is 0x4 / 0"),
        ("ceil_div(4, 0)", "'ceil_div(4, 0)' is 0x4 ceil_div 0"),
        (
            "8 + [r1]",
            "'[r1]' reads 4 bytes at 0x00000065, where no memory is",
        ),
        (
            "[r0+14]",
            "'[r0+14]' reads 4 bytes at 0x0000100e, where no memory is",
        ),
        (
            "[r0+9]:i8",
            "'[r0+9]:i8' is -1, and no value can be negative",
        ),
        (
            "[r0+10]:i16",
            "'[r0+10]:i16' is -32639, and no value can be negative",
        ),
        (
            "arg6*2",
            "'arg6' reads 4 bytes at 0x00001010, where no memory is",
        ),
    ] {
        assert_eq!(
            value(text).map_err(|error| error.to_string()),
            Err(message.to_owned()),
            "{text}"
        );
    }
}

/// Where and what is wrong: text, what is expected, what is found, character from 1.
#[test]
fn no_expressions() {
    const FACTOR: &str =
        "a number, r0 to r12, sp, arg0, arg1, ..., '[', '&', '(', sizeof, max, min or ceil_div";
    for (text, expected, found, at) in [
        ("", FACTOR, "the end", 1),
        ("1+", FACTOR, "the end", 3),
        ("r13", FACTOR, "'r13'", 1),
        ("r01", FACTOR, "'r01'", 1),
        ("pc", FACTOR, "'pc'", 1),
        ("-1", FACTOR, "'-'", 1),
        ("arg1024", FACTOR, "'arg1024'", 1),
        ("2**3", FACTOR, "'*'", 3),
        ("4294967296", "a number of 32 bits", "'4294967296'", 1),
        ("0x", "a number of 32 bits", "'0x'", 1),
        ("0x+1", "a number of 32 bits", "'0x'", 1),
        ("12k", "a number of 32 bits", "'12k'", 1),
        ("(1", "')'", "the end", 3),
        ("[r0", "']'", "the end", 4),
        ("[r0]:u32", "a width (u8, i8, u16, i16)", "'u32'", 6),
        ("r0@entry", "'ret'", "'entry'", 4),
        ("arg0@ret", "nothing more", "'@'", 5),
        ("r0 r1", "nothing more", "'r1'", 4),
        ("max(1)", "','", "')'", 6),
        ("sizeof arena", "'('", "'arena'", 8),
        ("& ", "the name of a symbol", "the end", 3),
        ("&\"arena", "a closing '\"'", "the end", 8),
        ("\u{e4}\u{f6} 1", FACTOR, "'\u{e4}\u{f6}'", 1),
        ("1 \u{2192} 2", "nothing more", "'\u{2192}'", 3),
    ] {
        let error = text.parse::<Expression>().expect_err(text).to_string();
        let mut lines = error.lines();
        assert_eq!(
            lines.next().expect("message"),
            format!("expected {expected}, found {found} at character {at}"),
            "{text}"
        );
        assert_eq!(lines.next().expect("text"), format!("  {text}"));
        let caret = lines.next().expect("caret");
        assert_eq!(caret.chars().count(), at + 2, "{error}");
    }
    let deep = "(".repeat(33) + "1" + &")".repeat(33);
    assert!(deep.parse::<Expression>().is_err());
    let deepest = "(".repeat(31) + "1" + &")".repeat(31);
    assert_eq!(value(&deepest), Ok(1));
    assert!("1+".repeat(400).parse::<Expression>().is_err());
    let long = "0".repeat(20_000);
    let error = long.parse::<Expression>().expect_err("long").to_string();
    assert!(error.len() < 200, "{error}");
}

fn layer(text: &str) -> LayerHook {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn layers() {
    let conv = layer(
        "conv:conv2d=ns::conv<3, 3>(in: r0 size r3*4, in bias ?: arg4 size 64 type int32, out: r1@ret size 8)",
    );
    assert_eq!(conv.name, "conv");
    assert_eq!(conv.operator.as_deref(), Some("conv2d"));
    assert_eq!(conv.function, Function::Name("ns::conv<3, 3>".to_owned()));
    let buffers: Vec<_> = conv
        .buffers
        .iter()
        .map(|buffer| {
            (
                buffer.role,
                buffer.name.as_str(),
                buffer.optional,
                buffer.element_type,
                buffer.address.to_string(),
                buffer.size_bytes.to_string(),
            )
        })
        .collect();
    let text = str::to_owned;
    assert_eq!(
        buffers,
        [
            (
                Role::Input,
                "input",
                false,
                ElementType::Int8,
                text("r0"),
                text("r3*4")
            ),
            (
                Role::Input,
                "bias",
                true,
                ElementType::Int32,
                text("arg4"),
                text("64")
            ),
            (
                Role::Output,
                "output",
                false,
                ElementType::Int8,
                text("r1@ret"),
                text("8")
            ),
        ]
    );
    let quoted = layer("\"a b\"=\"f(int, char const*)\"(state: r0 size 1)");
    assert_eq!(quoted.name, "a b");
    assert_eq!(quoted.operator, None);
    let name = Function::Name("f(int, char const*)".to_owned());
    assert_eq!(quoted.function, name);
    assert_eq!(
        layer("f=0x08000101(const:0 size 0)").function,
        Function::Address(0x0800_0101)
    );
}

#[test]
fn no_layers() {
    for (text, expected, found, at) in [
        ("", "the name of the layer", "the end", 1),
        ("conv", "'='", "the end", 5),
        ("conv:=f(in: 0 size 0)", "the operator", "'='", 6),
        (
            "conv=(in: 0 size 0)",
            "the name of a function or its address",
            "'('",
            6,
        ),
        ("conv=f", "'('", "the end", 7),
        (
            "conv=ns::f(signed char*, int)(in: r0 size 1)",
            "a name with parameters in double quotes",
            "'ns'",
            6,
        ),
        (
            "conv=f()",
            "the role of a buffer (in, out, scratch, state, const)",
            "')'",
            8,
        ),
        (
            "conv=f(input: r0 size 1)",
            "the role of a buffer (in, out, scratch, state, const)",
            "'input'",
            8,
        ),
        ("conv=f(in r0 size 1)", "':'", "'size'", 14),
        ("conv=f(in: r0)", "'size'", "')'", 14),
        ("conv=f(in: r0 size 1", "'type', ',' or ')'", "the end", 21),
        (
            "conv=f(in: r0 size 1 type int9)",
            "a type (int8, uint8, int16, int32, uint32, int64, uint64, float32, bool)",
            "'int9'",
            27,
        ),
        ("conv=f(in: r0 size 1) x", "nothing more", "'x'", 23),
        (
            "conv=f(in: r0 size 1,)",
            "the role of a buffer (in, out, scratch, state, const)",
            "')'",
            22,
        ),
    ] {
        let error = text.parse::<LayerHook>().expect_err(text).to_string();
        let message = format!("expected {expected}, found {found} at character {at}");
        assert_eq!(error.lines().next(), Some(message.as_str()), "{text}");
    }
    let buffers = |count| vec!["in: r0 size 1"; count].join(", ");
    assert_eq!(layer(&format!("f=f({})", buffers(64))).buffers.len(), 64);
    let text = format!("f=f({})", buffers(65));
    assert!(text.parse::<LayerHook>().is_err());
}

// ---- TOML -----------------------------------------------------------------------------

#[test]
fn a_file_means_what_the_option_means() {
    let file = r#"
[[layer]]
name = "conv"
operator = "conv2d"
function = "my_conv"
buffers = [
  { role = "in", address = "r0", size = "r3*4" },
  { role = "scratch", name = "patches", address = "[r2]", size = 64, type = "int16", optional = true },
]

[[layer]]
function = ["a", 0x100, "0x200"]
buffers = [{ role = "out", address = 0x20000000, size = 1 }]
"#;
    let options = [
        "conv:conv2d=my_conv(in: r0 size r3*4, scratch patches?: [r2] size 64 type int16)",
        "a=a(out: 536870912 size 1)",
        "0x00000100=0x100(out: 536870912 size 1)",
        "0x00000200=0x200(out: 536870912 size 1)",
    ];
    assert_eq!(parse_file(file).expect("file"), options.map(layer));
}

#[test]
fn no_files() {
    let buffer = r#"buffers = [{ role = "in", address = "r0", size = 1 }]"#;
    for (text, message) in [
        (String::new(), "it has no layer"),
        (
            format!(
                "[[layer]]\nfunction = \"f\"\n{}",
                buffer.replace("\"r0\"", "\"r0 +\"")
            ),
            "line 3: address: expected a number, r0",
        ),
        (
            format!(
                "[[layer]]\nfunction = \"f\"\n{}",
                buffer.replace("\"in\"", "\"input\"")
            ),
            "line 3: role is 'input', expected in, out",
        ),
        (
            format!(
                "[[layer]]\nfunction = \"f\"\n{}",
                buffer.replace("= 1", "= -1")
            ),
            "line 3: size: expected",
        ),
        (
            format!(
                "[[layer]]\nfunction = \"f\"\n{}",
                buffer.replace("= 1", "= 1, type = \"i8\"")
            ),
            "line 3: type is 'i8', expected int8",
        ),
        (
            format!("[[layer]]\nfunction = \"\"\n{buffer}"),
            "line 2: function is '', expected",
        ),
        (
            format!("[[layer]]\nfunction = 0x100000000\n{buffer}"),
            "line 2: function is '4294967296', expected",
        ),
        (
            format!("[[layer]]\nfunction = \"1f\"\n{buffer}"),
            "line 2: function is '1f', expected",
        ),
        (
            format!("[[layer]]\nfunction = \"f\"\nname = \"a\\u0007\"\n{buffer}"),
            "line 3: name is 'a\\u{7}', expected",
        ),
        (
            "[[layer]]\nfunction = \"f\"\nbuffers = []".to_owned(),
            "line 3: the number of buffers is '0', expected 1 to 64",
        ),
        (format!("[[layer]]\n{buffer}"), "missing field `function`"),
        (
            format!("[[layer]]\nfunktion = 1\n{buffer}"),
            "unknown field `funktion`",
        ),
        (
            format!("[[layer]]\nfunction = 1.5\n{buffer}"),
            "a name, an address or a list of them",
        ),
        ("layer = 1".to_owned(), "invalid type"),
        ("[[layer".to_owned(), "TOML parse error"),
    ] {
        let error = parse_file(&text).expect_err(&text).to_string();
        assert!(error.contains(message), "{text}\n{error}");
    }
}

/// Every function of the interface but those that only say how much scratch another needs.
#[test]
fn the_cmsis_nn_set_is_complete() {
    let header = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../kernels-c/include/cmsis_nn/arm_nnfunctions.h"
    );
    let header = std::fs::read_to_string(header).expect("header");
    let mut declared: Vec<&str> = header
        .lines()
        .filter(|line| !line.starts_with("//"))
        .filter_map(|line| line.split_once('(')?.0.split_once(" arm_"))
        .map(|(_, name)| name)
        .filter(|name| !name.contains("_buffer_size"))
        .collect();
    declared.sort_unstable();
    assert!(declared.len() > 20, "{declared:?}");
    let (_, text) = READY_MADE
        .iter()
        .find(|(name, _)| *name == "cmsis-nn")
        .expect("set");
    let layers = parse_file(text).expect("set");
    let mut hooked: Vec<&str> = layers
        .iter()
        .filter_map(|layer| layer.name.strip_prefix("arm_"))
        .collect();
    hooked.sort_unstable();
    assert_eq!(hooked, declared);
}

// ---- Whatever comes ---------------------------------------------------------------------

/// An expression as text, fully in brackets, and its value in wide arithmetic.
fn expressions() -> impl Strategy<Value = (String, Option<u32>)> {
    let leaf = prop_oneof![
        any::<u32>().prop_map(|number| (number.to_string(), Some(number))),
        (0_u32..16).prop_map(|number| (format!("{number:#x}"), Some(number))),
        (1_u32..12).prop_map(|index| (format!("r{index}"), Some(100 + index))),
        Just(("[r0]".to_owned(), Some(7))),
    ];
    leaf.prop_recursive(4, 24, 2, |inner| {
        (inner.clone(), inner, 0..7).prop_map(|((a, x), (b, y), operator)| {
            let text = match operator {
                0 => format!("({a} + {b})"),
                1 => format!("({a} - {b})"),
                2 => format!("({a}*{b})"),
                3 => format!("({a} / {b})"),
                4 => format!("max({a}, {b})"),
                5 => format!("min({a},{b})"),
                _ => format!("ceil_div({a}, {b})"),
            };
            let value = x.zip(y).and_then(|(x, y)| {
                let (x, y) = (i128::from(x), i128::from(y));
                let value = match operator {
                    0 => x + y,
                    1 => x - y,
                    2 => x * y,
                    4 => x.max(y),
                    5 => x.min(y),
                    _ if y == 0 => return None,
                    3 => x / y,
                    _ => (x + y - 1) / y,
                };
                u32::try_from(value).ok()
            });
            (text, value)
        })
    })
}

/// Pieces of the grammar in any order.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "conv", ":", "=", "f", "(", ")", "in", "out", "?", "r0", "size", "type", "int8", ",", "[",
        "]", "&", "@", "ret", "+", "-", "*", "/", "7", "0x", "max", "sizeof", "\"", " ", "\u{e9}",
        "arg4", "sp", "u8",
    ]);
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// The right hook with a part cut out and another put in.
fn damaged() -> impl Strategy<Value = String> {
    const RIGHT: &str =
        "conv:c=f(in: [r0+4]:u16 size max(r3, 4)*[sp], out o?: r1@ret size sizeof(x) type int8)";
    (0..RIGHT.len(), 0..8_usize, pieces()).prop_map(|(at, length, piece)| {
        let end = (at + length).min(RIGHT.len());
        format!("{}{}{}", &RIGHT[..at], piece, &RIGHT[end..])
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn arithmetic((text, expected) in expressions()) {
        prop_assert_eq!(value(&text).ok(), expected, "{}", text);
    }

    #[test]
    fn any_text_is_read_or_refused(text in prop_oneof![any::<String>(), pieces(), damaged()]) {
        if let Err(error) = text.parse::<LayerHook>() {
            let message = error.to_string();
            prop_assert!(message.lines().count() == 3, "{}", message);
        }
        if let Err(error) = text.parse::<Expression>() {
            prop_assert!(error.to_string().lines().count() == 3);
        }
        // As a value of a file, and as the file itself.
        let quoted = format!(
            "[[layer]]\nfunction = \"f\"\nbuffers = [{{ role = \"in\", address = {text:?}, size = 1 }}]"
        );
        for file in [text.as_str(), &quoted] {
            if let Err(error) = parse_file(file) {
                prop_assert!(!error.to_string().is_empty());
            }
        }
    }
}

/// A pipe may never end, and TOML takes many times a file's memory.
#[test]
fn only_small_plain_files_are_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let pipe = folder.path().join("pipe.toml");
    let made = Command::new("mkfifo").arg(&pipe).status().expect("mkfifo");
    assert!(made.success());
    let large = folder.path().join("large.toml");
    std::fs::write(&large, vec![b'#'; (1 << 20) + 1]).expect("a file");
    let elf = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../traces/elf/cortex-m4/relu.elf"
    );
    for (file, wanted) in [(pipe, "not a plain file"), (large, "larger than the limit")] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dmo-trace"));
        command.args(["run", elf, "--layers"]).arg(&file);
        let output = command.output().expect("dmo-trace");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert!(errors.contains(wanted), "{errors}");
    }
}
