//! The DSP extension's parallel and saturating arithmetic. It needs nothing but the registers.

use crate::arithmetic::{half, saturate, shift};
use crate::core::Core;
use crate::operation::{Lanes, Operation, ParallelOperation};

/// Executes an instruction of this kind. Its registers are never r13 or r15.
pub(crate) fn parallel(core: &mut Core, operation: &Operation) {
    let register = |index: u8| core.r[usize::from(index & 15)];
    let signed = |index: u8| i64::from(register(index) as i32);
    let (rd, result, saturated) = match *operation {
        Operation::Parallel {
            lanes,
            operation,
            rd,
            rn,
            rm,
        } => {
            let (result, ge) = in_lanes(lanes, operation, register(rn), register(rm));
            core.ge = ge.unwrap_or(core.ge);
            (rd, result, false)
        }
        Operation::SaturatingAdd {
            double,
            subtract,
            rd,
            rm,
            rn,
        } => {
            let (n, doubling) = if double {
                saturate(2 * signed(rn), 32, true)
            } else {
                (register(rn), false)
            };
            let (n, m) = (i64::from(n as i32), signed(rm));
            let (result, adding) = saturate(if subtract { m - n } else { m + n }, 32, true);
            (rd, result, doubling || adding)
        }
        Operation::Saturate {
            signed,
            bits,
            rd,
            source,
        } => {
            let (value, _) = shift(source.kind, register(source.rm), source.amount.into(), 0);
            let (result, saturated) = saturate(i64::from(value as i32), bits.into(), signed);
            (rd, result, saturated)
        }
        Operation::SaturateHalves {
            signed,
            bits,
            rd,
            rn,
        } => {
            let [low, high] = [false, true].map(|top| {
                let half = half(register(rn), top);
                saturate(i64::from(half), bits.into(), signed)
            });
            (rd, low.0 & 0xffff | high.0 << 16, low.1 || high.1)
        }
        Operation::SumOfDifferences { rd, rn, rm, ra } => {
            let bytes = register(rn).to_le_bytes().into_iter();
            let bytes = bytes.zip(register(rm).to_le_bytes());
            let sum: u32 = bytes.map(|(a, b)| u32::from(a.abs_diff(b))).sum();
            (rd, sum.wrapping_add(ra.map_or(0, register)), false)
        }
        Operation::Select { rd, rn, rm } => {
            let (n, m) = (register(rn).to_le_bytes(), register(rm).to_le_bytes());
            let byte = |lane: usize| {
                if core.ge >> lane & 1 == 1 {
                    n[lane]
                } else {
                    m[lane]
                }
            };
            (rd, u32::from_le_bytes(std::array::from_fn(byte)), false)
        }
        Operation::Pack {
            top,
            rd,
            rn,
            source,
        } => {
            let (m, _) = shift(source.kind, register(source.rm), source.amount.into(), 0);
            let n = register(rn);
            let (upper, lower) = if top { (n, m) } else { (m, n) };
            (rd, upper & 0xffff_0000 | lower & 0xffff, false)
        }
        _ => return,
    };
    core.q |= u32::from(saturated);
    core.r[usize::from(rd & 15)] = result;
}

/// The result, and the GE flags where they are set.
fn in_lanes(lanes: Lanes, operation: ParallelOperation, n: u32, m: u32) -> (u32, Option<u32>) {
    use ParallelOperation::{Add8, Add16, Asx, Sax, Sub8, Sub16};
    let bits = match operation {
        Add8 | Sub8 => 8,
        _ => 16,
    };
    let exchange = matches!(operation, Asx | Sax);
    let mask = (1 << bits) - 1;
    let (mut result, mut ge) = (0, 0);
    for lane in 0..32 / bits {
        let other = if exchange { 1 - lane } else { lane };
        let a = lane_of(lanes, n, lane * bits, bits);
        let b = lane_of(lanes, m, other * bits, bits);
        let subtract = match operation {
            Add16 | Add8 => false,
            Sub16 | Sub8 => true,
            Asx => lane == 0,
            Sax => lane == 1,
        };
        let sum = if subtract { a - b } else { a + b };
        let (value, at_least) = finished(lanes, sum, bits, subtract);
        result |= (value & mask) << (lane * bits);
        let flags = (1 << (bits / 8)) - 1;
        ge |= u32::from(at_least) * (flags << (lane * bits / 8));
    }
    let sets = matches!(lanes, Lanes::Signed | Lanes::Unsigned);
    (result, sets.then_some(ge))
}

fn lane_of(lanes: Lanes, word: u32, first: u32, bits: u32) -> i64 {
    let unused = 32 - bits;
    let top = word >> first << unused;
    match lanes {
        Lanes::Signed | Lanes::SignedSaturating | Lanes::SignedHalving => {
            i64::from(top as i32 >> unused)
        }
        _ => i64::from(top >> unused),
    }
}

/// What becomes of the sum in a lane, and its GE flag.
fn finished(lanes: Lanes, sum: i64, bits: u32, subtract: bool) -> (u32, bool) {
    match lanes {
        Lanes::Signed => (sum as u32, sum >= 0),
        Lanes::Unsigned if subtract => (sum as u32, sum >= 0),
        Lanes::Unsigned => (sum as u32, sum >= 1 << bits),
        Lanes::SignedSaturating => (saturate(sum, bits, true).0, false),
        Lanes::UnsignedSaturating => (saturate(sum, bits, false).0, false),
        Lanes::SignedHalving | Lanes::UnsignedHalving => ((sum >> 1) as u32, false),
    }
}
