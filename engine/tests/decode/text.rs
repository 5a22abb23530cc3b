//! Instructions as text, in the form that a disassembler's text is brought to.

use dmo_engine::operation::*;

/// A disassembler's text without what is a question of style: widths, names of registers, bases
/// of numbers, offsets of zero, a register that is given twice.
pub fn canonical(mnemonic: &str, operands: &str) -> String {
    let mnemonic = mnemonic.trim_end_matches(".w");
    let mnemonic = match mnemonic {
        "movw" | "addw" | "subw" => &mnemonic[..3],
        "vldmia" | "vstmia" => &mnemonic[..4],
        _ => mnemonic,
    };
    let mut text = String::new();
    let mut word = String::new();
    for symbol in operands.chars().chain([' ']) {
        if symbol.is_ascii_alphanumeric() || "#_.-+".contains(symbol) {
            word.push(symbol);
        } else {
            text += &canonical_word(&word);
            text.push(symbol);
            word.clear();
        }
    }
    let text = text.trim().replace(", #0]", "]");
    let mut text = text.as_str();
    while let Some((first, rest)) = text.split_once(", ")
        && rest.split(", ").next() == Some(first)
    {
        text = rest;
    }
    format!("{mnemonic} {text}").trim().to_owned()
}

fn canonical_word(word: &str) -> String {
    let renamed = match word {
        "sb" => "r9",
        "sl" => "r10",
        "fp" => "r11",
        "ip" => "r12",
        "sp" => "r13",
        "lr" => "r14",
        "pc" => "r15",
        _ => word,
    };
    let Some(number) = word.strip_prefix('#') else {
        return renamed.to_owned();
    };
    if number.contains('.') {
        return format!("#{}", number.parse::<f64>().unwrap());
    }
    let (sign, digits) = number.strip_prefix('-').map_or((1, number), |d| (-1, d));
    let hex = digits.strip_prefix("0x");
    let value = hex.map_or_else(|| digits.parse(), |hex| i64::from_str_radix(hex, 16));
    format!("#{}", (sign * value.unwrap()) as u32 as i32)
}

/// The same text, from what was decoded. Addresses are those of an instruction at 0.
pub fn text(instruction: &Instruction) -> String {
    let (mnemonic, operands) = parts(instruction);
    canonical(&mnemonic, &operands)
}

fn lower(value: impl std::fmt::Debug) -> String {
    format!("{value:?}").to_lowercase()
}

fn s(flags: SetFlags) -> &'static str {
    if flags == SetFlags::No { "" } else { "s" }
}

fn registers(list: &[u8]) -> String {
    let names: Vec<_> = list.iter().map(|register| format!("r{register}")).collect();
    names.join(", ")
}

fn list(kind: char, numbers: impl Iterator<Item = u8>) -> String {
    let names: Vec<_> = numbers.map(|number| format!("{kind}{number}")).collect();
    format!("{{{}}}", names.join(", "))
}

fn bits(registers: u16) -> String {
    list('r', (0..16).filter(|bit| registers >> bit & 1 == 1))
}

fn shifted(shifted: Shifted) -> String {
    let Shifted { rm, kind, amount } = shifted;
    match (kind, amount) {
        (ShiftKind::Lsl, 0) => format!("r{rm}"),
        (ShiftKind::Rrx, _) => format!("r{rm}, rrx"),
        _ => format!("r{rm}, {} #{amount}", lower(kind)),
    }
}

fn source(source: Source) -> String {
    match source {
        Source::Immediate { value, .. } => format!("#{value}"),
        Source::Register(register) => shifted(register),
    }
}

fn memory(addressing: Addressing) -> String {
    let rn = addressing.rn;
    let offset = match addressing.offset {
        Offset::Immediate(offset) => format!("#{offset}"),
        Offset::Register { rm, shift: 0 } => format!("r{rm}"),
        Offset::Register { rm, shift } => format!("r{rm}, lsl #{shift}"),
    };
    match (addressing.index, addressing.writeback) {
        (true, false) => format!("[r{rn}, {offset}]"),
        (true, true) => format!("[r{rn}, {offset}]!"),
        (false, _) => format!("[r{rn}], {offset}"),
    }
}

fn width(width: Width) -> &'static str {
    match width {
        Width::Byte => "b",
        Width::Half => "h",
        Width::Word => "",
    }
}

fn condition(condition: Condition) -> String {
    match condition {
        Condition::Cs => "hs".to_owned(),
        Condition::Cc => "lo".to_owned(),
        Condition::Al => String::new(),
        _ => lower(condition),
    }
}

fn target(offset: i32) -> String {
    format!("#{}", offset + 4)
}

fn top(top: bool) -> &'static str {
    if top { "t" } else { "b" }
}

fn x(exchange: bool) -> &'static str {
    if exchange { "x" } else { "" }
}

fn block(writeback: bool) -> &'static str {
    if writeback { "!" } else { "" }
}

/// Mnemonic and operands.
fn parts(instruction: &Instruction) -> (String, String) {
    data(instruction)
        .or_else(|| fields(instruction))
        .or_else(|| multiplication(instruction))
        .or_else(|| dsp(instruction))
        .or_else(|| access(instruction))
        .or_else(|| ordered(instruction))
        .or_else(|| control(instruction))
        .or_else(|| float(instruction))
        .or_else(|| conversion(instruction))
        .or_else(|| float_move(instruction))
        .unwrap_or_else(|| (instruction.name.to_lowercase(), String::new()))
}

fn data(instruction: &Instruction) -> Option<(String, String)> {
    use Operation::*;
    Some(match instruction.operation {
        Alu { operation, flags, rd, rn, source: operand } => {
            (lower(operation) + s(flags), format!("r{rd}, r{rn}, {}", source(operand)))
        }
        Move { not: false, flags, rd, source: Source::Register(Shifted { rm, kind, amount }) } => {
            let (name, amount) = match (kind, amount) {
                (ShiftKind::Lsl, 0) => ("mov".to_owned(), String::new()),
                (ShiftKind::Rrx, _) => ("rrx".to_owned(), String::new()),
                _ => (lower(kind), format!(", #{amount}")),
            };
            (name + s(flags), format!("r{rd}, r{rm}{amount}"))
        }
        Move { not, flags, rd, source: operand } => {
            let name = if not { "mvn" } else { "mov" };
            (name.to_owned() + s(flags), format!("r{rd}, {}", source(operand)))
        }
        Compare { comparison, rn, source: operand } => {
            (lower(comparison), format!("r{rn}, {}", source(operand)))
        }
        ShiftBy { kind, flags, rd, rn, rm } => (lower(kind) + s(flags), registers(&[rd, rn, rm])),
        MoveTop { rd, value } => ("movt".to_owned(), format!("r{rd}, #{value}")),
        Address { rd, offset } => match instruction.bytes {
            2 => ("adr".to_owned(), format!("r{rd}, #{offset}")),
            _ if offset >= 0 => ("add".to_owned(), format!("r{rd}, pc, #{offset}")),
            _ => ("sub".to_owned(), format!("r{rd}, pc, #{}", -offset)),
        },
        _ => return None,
    })
}

fn fields(instruction: &Instruction) -> Option<(String, String)> {
    use Operation::*;
    Some(match instruction.operation {
        Extend { extension, rd, rn, rm, rotation } => {
            let name = lower(extension);
            let name = if rn.is_some() { name.replacen('t', "ta", 1) } else { name };
            let rn = rn.map_or_else(String::new, |rn| format!("r{rn}, "));
            let rotation = if rotation == 0 { String::new() } else { format!(", ror #{rotation}") };
            (name, format!("r{rd}, {rn}r{rm}{rotation}"))
        }
        Reverse { reversal, rd, rm } => (lower(reversal), registers(&[rd, rm])),
        CountLeadingZeros { rd, rm } => ("clz".to_owned(), registers(&[rd, rm])),
        BitFieldInsert { rd, rn, lsb, width } => {
            let (name, rn) = rn.map_or(("bfc", String::new()), |rn| ("bfi", format!("r{rn}, ")));
            (name.to_owned(), format!("r{rd}, {rn}#{lsb}, #{width}"))
        }
        BitFieldExtract { signed, rd, rn, lsb, width } => {
            let name = if signed { "sbfx" } else { "ubfx" };
            (name.to_owned(), format!("r{rd}, r{rn}, #{lsb}, #{width}"))
        }
        ConditionalSelect { selection, condition: of, rd, rn, rm } => {
            (lower(selection), format!("{}, {}", registers(&[rd, rn, rm]), condition(of)))
        }
        _ => return None,
    })
}

/// With an addend one name, without it another.
fn with(ra: Option<u8>, plus: &str, times: &str) -> String {
    (if ra.is_some() { plus } else { times }).to_owned()
}

fn operands(of: &[u8], ra: Option<u8>) -> String {
    registers(&[of, ra.as_slice()].concat())
}

fn multiplication(instruction: &Instruction) -> Option<(String, String)> {
    use Operation::*;
    Some(match instruction.operation {
        Multiply { flags, rd, rn, rm } => (format!("mul{}", s(flags)), registers(&[rd, rn, rm])),
        MultiplyAdd { subtract, rd, rn, rm, ra } => {
            let name = if subtract { "mls" } else { "mla" };
            (name.to_owned(), registers(&[rd, rn, rm, ra]))
        }
        MultiplyLong { signed, accumulation, lo, hi, rn, rm } => {
            let sign = if signed { "s" } else { "u" };
            let kind = match accumulation {
                Accumulation::None => "mull",
                Accumulation::Long => "mlal",
                Accumulation::BothWords => "maal",
            };
            (format!("{sign}{kind}"), registers(&[lo, hi, rn, rm]))
        }
        Divide { signed, rd, rn, rm } => {
            let name = if signed { "sdiv" } else { "udiv" };
            (name.to_owned(), registers(&[rd, rn, rm]))
        }
        MultiplyHalves { rd, rn, rm, ra, n_top, m_top } => {
            let name = with(ra, "smla", "smul") + top(n_top) + top(m_top);
            (name, operands(&[rd, rn, rm], ra))
        }
        MultiplyWordByHalf { rd, rn, rm, ra, m_top } => {
            (with(ra, "smlaw", "smulw") + top(m_top), operands(&[rd, rn, rm], ra))
        }
        MultiplyDual { subtract, exchange, rd, rn, rm, ra } => {
            let kind = if subtract { "sd" } else { "ad" };
            (with(ra, "sml", "smu") + kind + x(exchange), operands(&[rd, rn, rm], ra))
        }
        MultiplyHalvesLong { lo, hi, rn, rm, n_top, m_top } => {
            let name = format!("smlal{}{}", top(n_top), top(m_top));
            (name, registers(&[lo, hi, rn, rm]))
        }
        MultiplyDualLong { subtract, exchange, lo, hi, rn, rm } => {
            let name = if subtract { "smlsld" } else { "smlald" };
            (name.to_owned() + x(exchange), registers(&[lo, hi, rn, rm]))
        }
        MultiplyTop { subtract, round, rd, rn, rm, ra } => {
            let name = if subtract { "smmls".to_owned() } else { with(ra, "smmla", "smmul") };
            (name + if round { "r" } else { "" }, operands(&[rd, rn, rm], ra))
        }
        _ => return None,
    })
}

fn dsp(instruction: &Instruction) -> Option<(String, String)> {
    use Operation::*;
    Some(match instruction.operation {
        Parallel { lanes, operation, rd, rn, rm } => {
            let prefix = match lanes {
                Lanes::Signed => "s",
                Lanes::SignedSaturating => "q",
                Lanes::SignedHalving => "sh",
                Lanes::Unsigned => "u",
                Lanes::UnsignedSaturating => "uq",
                Lanes::UnsignedHalving => "uh",
            };
            (prefix.to_owned() + &lower(operation), registers(&[rd, rn, rm]))
        }
        SaturatingAdd { double, subtract, rd, rm, rn } => {
            let kind = if subtract { "sub" } else { "add" };
            let name = format!("q{}{kind}", if double { "d" } else { "" });
            (name, registers(&[rd, rm, rn]))
        }
        Saturate { signed, bits, rd, source } => {
            let name = if signed { "ssat" } else { "usat" };
            (name.to_owned(), format!("r{rd}, #{bits}, {}", shifted(source)))
        }
        SaturateHalves { signed, bits, rd, rn } => {
            let name = if signed { "ssat16" } else { "usat16" };
            (name.to_owned(), format!("r{rd}, #{bits}, r{rn}"))
        }
        SumOfDifferences { rd, rn, rm, ra } => (with(ra, "usada8", "usad8"), operands(&[rd, rn, rm], ra)),
        Select { rd, rn, rm } => ("sel".to_owned(), registers(&[rd, rn, rm])),
        Pack { top, rd, rn, source } => {
            let name = if top { "pkhtb" } else { "pkhbt" };
            (name.to_owned(), format!("r{rd}, r{rn}, {}", shifted(source)))
        }
        _ => return None,
    })
}

fn access(instruction: &Instruction) -> Option<(String, String)> {
    use Operation::*;
    let own_name = instruction.name.split(' ').next().unwrap().to_lowercase();
    let unprivileged = if own_name.ends_with('t') { "t" } else { "" };
    let direction = |decrement: bool| if decrement { "db" } else { "" };
    Some(match instruction.operation {
        Load { width: of, signed, rt, addressing } => {
            let name = format!("ldr{}{}{unprivileged}", if signed { "s" } else { "" }, width(of));
            (name, format!("r{rt}, {}", memory(addressing)))
        }
        Store { width: of, rt, addressing } => {
            (format!("str{}{unprivileged}", width(of)), format!("r{rt}, {}", memory(addressing)))
        }
        LoadDouble { rt, rt2, addressing } => {
            ("ldrd".to_owned(), format!("r{rt}, r{rt2}, {}", memory(addressing)))
        }
        StoreDouble { rt, rt2, addressing } => {
            ("strd".to_owned(), format!("r{rt}, r{rt2}, {}", memory(addressing)))
        }
        LoadMultiple { rn: 13, registers, decrement: false, writeback: true } => {
            ("pop".to_owned(), bits(registers))
        }
        StoreMultiple { rn: 13, registers, decrement: true, writeback: true } => {
            ("push".to_owned(), bits(registers))
        }
        LoadMultiple { rn, registers, decrement, writeback } => {
            let name = format!("ldm{}", direction(decrement));
            (name, format!("r{rn}{}, {}", block(writeback), bits(registers)))
        }
        StoreMultiple { rn, registers, decrement, writeback } => {
            let name = format!("stm{}", direction(decrement));
            (name, format!("r{rn}{}, {}", block(writeback), bits(registers)))
        }
        _ => return None,
    })
}

fn ordered(instruction: &Instruction) -> Option<(String, String)> {
    use Operation::*;
    let own_name = instruction.name.split(' ').next().unwrap().to_lowercase();
    // Acquire and release make no difference to what an exclusive access does.
    let exclusive = |plain: &str, ordered: &str| {
        let name = if own_name.starts_with(ordered) { ordered } else { plain };
        name.to_owned()
    };
    let at = |rn: u8, offset: u32| format!("[r{rn}, #{offset}]");
    Some(match instruction.operation {
        LoadExclusive { width: of, rt, rn, offset } => {
            (exclusive("ldrex", "ldaex") + width(of), format!("r{rt}, {}", at(rn, offset)))
        }
        StoreExclusive { width: of, rd, rt, rn, offset } => {
            let name = exclusive("strex", "stlex") + width(of);
            (name, format!("r{rd}, r{rt}, {}", at(rn, offset)))
        }
        LoadAcquire { width: of, rt, rn } => (format!("lda{}", width(of)), format!("r{rt}, [r{rn}]")),
        StoreRelease { width: of, rt, rn } => (format!("stl{}", width(of)), format!("r{rt}, [r{rn}]")),
        ClearRegisters { registers } => ("clrm".to_owned(), bits(registers)),
        _ => return None,
    })
}

/// Special registers by number; of the first four MSR writes parts.
fn special(number: u8) -> &'static str {
    match number {
        0 => "apsr",
        1 => "iapsr",
        2 => "eapsr",
        3 => "xpsr",
        5 => "ipsr",
        6 => "epsr",
        7 => "iepsr",
        8 => "msp",
        9 => "psp",
        10 => "msplim",
        11 => "psplim",
        16 => "primask",
        17 => "basepri",
        18 => "basepri_max",
        19 => "faultmask",
        20 => "control",
        _ => "unknown",
    }
}

fn if_then(state: u8) -> (String, String) {
    let then = state >> 4 & 1;
    let others = (state.trailing_zeros() as u8 + 1..4).rev();
    let others = others.map(|bit| if state >> bit & 1 == then { 't' } else { 'e' });
    let name = format!("it{}", others.collect::<String>());
    let base = condition(Condition::from_bits(u32::from(state >> 4)));
    (name, if base.is_empty() { "al".to_owned() } else { base })
}

fn control(instruction: &Instruction) -> Option<(String, String)> {
    use Operation::*;
    Some(match instruction.operation {
        Branch { condition: of, offset } => (format!("b{}", condition(of)), target(offset)),
        BranchLink { offset } => ("bl".to_owned(), target(offset)),
        BranchExchange { link, rm } => (format!("b{}x", if link { "l" } else { "" }), format!("r{rm}")),
        CompareBranch { nonzero, rn, offset } => {
            let name = if nonzero { "cbnz" } else { "cbz" };
            (name.to_owned(), format!("r{rn}, {}", target(offset)))
        }
        TableBranch { half: false, rn, rm } => ("tbb".to_owned(), format!("[r{rn}, r{rm}]")),
        TableBranch { half: true, rn, rm } => ("tbh".to_owned(), format!("[r{rn}, r{rm}, lsl #1]")),
        IfThen { state } => if_then(state),
        LoopStart { rn, skip: None } => ("dls".to_owned(), format!("lr, r{rn}")),
        LoopStart { rn, skip: Some(skip) } => ("wls".to_owned(), format!("lr, r{rn}, {}", target(skip))),
        LoopEnd { forever, offset } => {
            ("le".to_owned(), format!("{}{}", if forever { "" } else { "lr, " }, target(-offset)))
        }
        Breakpoint { number } => ("bkpt".to_owned(), format!("#{number}")),
        SupervisorCall { number } => ("svc".to_owned(), format!("#{number}")),
        ChangeState { disable, primask, faultmask } => {
            let name = if disable { "cpsid" } else { "cpsie" };
            let primask = if primask { "i" } else { "" };
            (name.to_owned(), format!("{primask}{}", if faultmask { "f" } else { "" }))
        }
        ReadSpecial { rd, special: number } => ("mrs".to_owned(), format!("r{rd}, {}", special(number))),
        WriteSpecial { rn, special: number, mask } => {
            let parts = match mask {
                _ if number > 3 => "",
                1 => "_g",
                2 => "_nzcvq",
                _ => "_nzcvqg",
            };
            ("msr".to_owned(), format!("{}{parts}, r{rn}", special(number)))
        }
        _ => return None,
    })
}

fn kind(precision: Precision) -> (char, &'static str) {
    match precision {
        Precision::Single => ('s', "f32"),
        Precision::Double => ('d', "f64"),
    }
}

fn multiply_name(fused: bool, negate_product: bool, negate_addend: bool) -> String {
    let kind = match (negate_product, negate_addend) {
        (false, false) => "ma",
        (true, false) => "ms",
        (true, true) => "nma",
        (false, true) => "nms",
    };
    if fused {
        return format!("vf{kind}");
    }
    format!("v{}", kind.replace('m', "ml"))
}

fn rounded(rounding: Rounding) -> &'static str {
    match rounding {
        Rounding::TiesEven => "n",
        Rounding::Up => "p",
        Rounding::Down => "m",
        Rounding::Zero => "z",
        Rounding::TiesAway => "a",
        Rounding::Current => "r",
    }
}

fn sign(signed: bool) -> &'static str {
    if signed { "s" } else { "u" }
}

fn float(instruction: &Instruction) -> Option<(String, String)> {
    use Operation::*;
    Some(match instruction.operation {
        FloatBinary { operation, precision, d, n, m } => {
            let (r, f) = kind(precision);
            (format!("v{}.{f}", lower(operation)), format!("{r}{d}, {r}{n}, {r}{m}"))
        }
        FloatMultiplyAdd { negate_product, negate_addend, precision, d, n, m } => {
            let (r, f) = kind(precision);
            let name = multiply_name(false, negate_product, negate_addend);
            (format!("{name}.{f}"), format!("{r}{d}, {r}{n}, {r}{m}"))
        }
        FloatFused { negate_product, negate_addend, precision, d, n, m } => {
            let (r, f) = kind(precision);
            let name = multiply_name(true, negate_product, negate_addend);
            (format!("{name}.{f}"), format!("{r}{d}, {r}{n}, {r}{m}"))
        }
        FloatUnary { operation, precision, d, m } => {
            let (r, f) = kind(precision);
            (format!("v{}.{f}", lower(operation)), format!("{r}{d}, {r}{m}"))
        }
        FloatImmediate { precision, d, bits } => {
            let (r, f) = kind(precision);
            let value = match precision {
                Precision::Single => f64::from(f32::from_bits(bits as u32)),
                Precision::Double => f64::from_bits(bits),
            };
            (format!("vmov.{f}"), format!("{r}{d}, #{value:.7}"))
        }
        FloatCompare { signal, precision, d, m } => {
            let (r, f) = kind(precision);
            let name = if signal { "vcmpe" } else { "vcmp" };
            let m = m.map_or_else(|| "#0".to_owned(), |m| format!("{r}{m}"));
            (format!("{name}.{f}"), format!("{r}{d}, {m}"))
        }
        FloatSelect { condition: of, precision, d, n, m } => {
            let (r, f) = kind(precision);
            (format!("vsel{}.{f}", condition(of)), format!("{r}{d}, {r}{n}, {r}{m}"))
        }
        _ => return None,
    })
}

fn conversion(instruction: &Instruction) -> Option<(String, String)> {
    use Operation::*;
    Some(match instruction.operation {
        FloatToInteger { signed, rounding, precision, d, m } => {
            let (r, f) = kind(precision);
            let rounding = rounded(rounding).trim_matches('z');
            (format!("vcvt{rounding}.{}32.{f}", sign(signed)), format!("s{d}, {r}{m}"))
        }
        IntegerToFloat { signed, precision, d, m } => {
            let (r, f) = kind(precision);
            (format!("vcvt.{f}.{}32", sign(signed)), format!("{r}{d}, s{m}"))
        }
        FloatFixed { to_fixed, signed, bits, fraction, precision, d } => {
            let (r, f) = kind(precision);
            let i = format!("{}{bits}", sign(signed));
            let name = if to_fixed { format!("vcvt.{i}.{f}") } else { format!("vcvt.{f}.{i}") };
            (name, format!("{r}{d}, {r}{d}, #{fraction}"))
        }
        FloatRound { rounding, exact, precision, d, m } => {
            let (r, f) = kind(precision);
            let rounding = if exact { "x" } else { rounded(rounding) };
            (format!("vrint{rounding}.{f}"), format!("{r}{d}, {r}{m}"))
        }
        FloatConvert { to_double: true, d, m } => ("vcvt.f64.f32".to_owned(), format!("d{d}, s{m}")),
        FloatConvert { to_double: false, d, m } => ("vcvt.f32.f64".to_owned(), format!("s{d}, d{m}")),
        FloatHalf { to_half, top: half, precision, d, m } => {
            let (r, f) = kind(precision);
            let half = top(half);
            if to_half {
                (format!("vcvt{half}.f16.{f}"), format!("s{d}, {r}{m}"))
            } else {
                (format!("vcvt{half}.{f}.f16"), format!("{r}{d}, s{m}"))
            }
        }
        _ => return None,
    })
}

fn float_multiple(load: bool, rn: u8, decrement: bool, writeback: bool) -> (String, String) {
    let name = match (load, rn, decrement, writeback) {
        (true, 13, false, true) => return ("vpop".to_owned(), String::new()),
        (false, 13, true, true) => return ("vpush".to_owned(), String::new()),
        (true, ..) => "vldm",
        (false, ..) => "vstm",
    };
    let direction = if decrement { "db" } else { "" };
    (format!("{name}{direction}"), format!("r{rn}{}, ", block(writeback)))
}

fn float_move(instruction: &Instruction) -> Option<(String, String)> {
    use Operation::*;
    let ordered = |to_core: bool, core: String, float: String| {
        if to_core { format!("{core}, {float}") } else { format!("{float}, {core}") }
    };
    Some(match instruction.operation {
        MoveSingle { to_core, rt, s } => {
            ("vmov".to_owned(), ordered(to_core, format!("r{rt}"), format!("s{s}")))
        }
        MoveSingles { to_core, rt, rt2, s } => {
            let singles = format!("s{s}, s{}", s + 1);
            ("vmov".to_owned(), ordered(to_core, registers(&[rt, rt2]), singles))
        }
        MoveDouble { to_core, rt, rt2, d } => {
            ("vmov".to_owned(), ordered(to_core, registers(&[rt, rt2]), format!("d{d}")))
        }
        MoveLane { to_core, rt, d, top } => {
            let lane = format!("d{d}[{}]", u8::from(top));
            ("vmov.32".to_owned(), ordered(to_core, format!("r{rt}"), lane))
        }
        ReadFloatStatus { rt: 15 } => ("vmrs".to_owned(), "apsr_nzcv, fpscr".to_owned()),
        ReadFloatStatus { rt } => ("vmrs".to_owned(), format!("r{rt}, fpscr")),
        WriteFloatStatus { rt } => ("vmsr".to_owned(), format!("fpscr, r{rt}")),
        FloatLoad { precision, d, rn, offset } => {
            ("vldr".to_owned(), format!("{}{d}, [r{rn}, #{offset}]", kind(precision).0))
        }
        FloatStore { precision, d, rn, offset } => {
            ("vstr".to_owned(), format!("{}{d}, [r{rn}, #{offset}]", kind(precision).0))
        }
        FloatLoadMultiple { precision, d, count, rn, decrement, writeback } => {
            let (name, base) = float_multiple(true, rn, decrement, writeback);
            (name, base + &list(kind(precision).0, d..d + count))
        }
        FloatStoreMultiple { precision, d, count, rn, decrement, writeback } => {
            let (name, base) = float_multiple(false, rn, decrement, writeback);
            (name, base + &list(kind(precision).0, d..d + count))
        }
        _ => return None,
    })
}
