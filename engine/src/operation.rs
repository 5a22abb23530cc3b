//! What an instruction does: the form in which decoder, interpreter and translator exchange it.
//!
//! Registers are numbers, r0 to r15, s0 to s31, d0 to d15. As a source r15 reads as the address of
//! the instruction plus 4; as the base of a load, as that rounded down to a multiple of 4. Names of
//! fields are those of the Arm manual (Armv7-M: DDI 0403E; Armv8-M: DDI 0553).

/// Condition of a branch or of an IT block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
#[expect(missing_docs, reason = "the names are those of the manual")]
pub enum Condition {
    Eq,
    Ne,
    Cs,
    Cc,
    Mi,
    Pl,
    Vs,
    Vc,
    Hi,
    Ls,
    Ge,
    Lt,
    Gt,
    Le,
    Al,
}

impl Condition {
    /// By its field; 15 counts as always, as 14 does.
    pub fn from_bits(bits: u32) -> Self {
        use Condition::*;
        let all = [
            Eq, Ne, Cs, Cc, Mi, Pl, Vs, Vc, Hi, Ls, Ge, Lt, Gt, Le, Al, Al,
        ];
        all[(bits & 15) as usize]
    }

    /// What holds where it does not; [`Al`](Self::Al) for itself.
    pub fn opposite(self) -> Self {
        match self {
            Self::Al => Self::Al,
            other => Self::from_bits(other as u32 ^ 1),
        }
    }
}

/// Kind of a shift.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are those of the manual")]
pub enum ShiftKind {
    Lsl,
    Lsr,
    Asr,
    Ror,
    /// By one, through the carry.
    Rrx,
}

/// A register, shifted by a constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Shifted {
    /// The register.
    pub rm: u8,
    /// How.
    pub kind: ShiftKind,
    /// 0 to 31 for LSL, 1 to 32 for LSR and ASR, 1 to 31 for ROR, 1 for RRX. LSL by 0 is none.
    pub amount: u8,
}

/// The flexible operand of data processing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    /// A constant.
    Immediate {
        /// Its value.
        value: u32,
        /// The carry that it comes with, where it is a rotated one and the instruction logical.
        carry: Option<bool>,
    },
    /// A register, shifted.
    Register(Shifted),
}

/// Whether N, Z, C and V are set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SetFlags {
    /// They stay.
    No,
    /// They are set.
    Yes,
    /// They are set outside IT blocks, as by most narrow instructions.
    OutsideIt,
}

/// Data processing on two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are those of the manual")]
pub enum AluOperation {
    And,
    Bic,
    Orr,
    Orn,
    Eor,
    Add,
    Adc,
    Sub,
    Sbc,
    Rsb,
}

/// A comparison: it only sets the flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are those of the manual")]
pub enum Comparison {
    Tst,
    Teq,
    Cmp,
    Cmn,
}

/// What a long multiplication adds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Accumulation {
    /// Nothing: UMULL, SMULL.
    None,
    /// The 64 bits of the destination: UMLAL, SMLAL.
    Long,
    /// Both words of the destination: UMAAL.
    BothWords,
}

/// How parallel additions treat their lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Lanes {
    /// S: modulo, sets GE.
    Signed,
    /// Q: saturating.
    SignedSaturating,
    /// SH: halving.
    SignedHalving,
    /// U: modulo, sets GE.
    Unsigned,
    /// UQ: saturating.
    UnsignedSaturating,
    /// UH: halving.
    UnsignedHalving,
}

/// Parallel additions and subtractions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are those of the manual")]
pub enum ParallelOperation {
    Add16,
    Asx,
    Sax,
    Sub16,
    Add8,
    Sub8,
}

/// Sign or zero extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are those of the manual")]
pub enum Extension {
    Sxtb,
    Sxth,
    Uxtb,
    Uxth,
    Sxtb16,
    Uxtb16,
}

/// Reversals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are those of the manual")]
pub enum Reversal {
    Rev,
    Rev16,
    Revsh,
    Rbit,
}

/// What a conditional select does to its second operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are those of the manual")]
pub enum Selection {
    Csel,
    Csinc,
    Csinv,
    Csneg,
}

/// Width of an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say all there is to say")]
pub enum Width {
    Byte,
    Half,
    Word,
}

impl Width {
    /// In bytes.
    pub fn bytes(self) -> u32 {
        match self {
            Width::Byte => 1,
            Width::Half => 2,
            Width::Word => 4,
        }
    }
}

/// What is added to a base.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Offset {
    /// A constant.
    Immediate(i32),
    /// A register shifted left by 0 to 3.
    Register {
        /// The register.
        rm: u8,
        /// By how much it is shifted.
        shift: u8,
    },
}

/// Where a load or store is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Addressing {
    /// The base register.
    pub rn: u8,
    /// The offset.
    pub offset: Offset,
    /// The access is at base plus offset, else at the base.
    pub index: bool,
    /// The base becomes base plus offset.
    pub writeback: bool,
}

/// Precision of a floating-point operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say all there is to say")]
pub enum Precision {
    Single,
    Double,
}

/// Floating-point operations on two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are those of the manual")]
pub enum FloatBinary {
    Add,
    Sub,
    Mul,
    /// Minus the rounded product.
    Nmul,
    Div,
    MaxNm,
    MinNm,
}

/// Floating-point operations on one operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are those of the manual")]
pub enum FloatUnary {
    Mov,
    Abs,
    Neg,
    Sqrt,
}

/// Rounding to an integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// To nearest, ties to even.
    TiesEven,
    /// Towards plus infinity.
    Up,
    /// Towards minus infinity.
    Down,
    /// Towards zero.
    Zero,
    /// To nearest, ties away from zero.
    TiesAway,
    /// As FPSCR says.
    Current,
}

/// What an instruction does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[rustfmt::skip]
#[expect(missing_docs, reason = "fields are named as in the manual, whose instructions are given")]
pub enum Operation {
    // Data processing.
    /// AND, BIC, ORR, ORN, EOR, ADD, ADC, SUB, SBC, RSB. With rd 15 (ADD only) a branch.
    Alu { operation: AluOperation, flags: SetFlags, rd: u8, rn: u8, source: Source },
    /// MOV, MOVW, MVN, and shifts by a constant. With rd 15 a branch.
    Move { not: bool, flags: SetFlags, rd: u8, source: Source },
    /// TST, TEQ, CMP, CMN.
    Compare { comparison: Comparison, rn: u8, source: Source },
    /// LSL, LSR, ASR, ROR by the lowest byte of rm.
    ShiftBy { kind: ShiftKind, flags: SetFlags, rd: u8, rn: u8, rm: u8 },
    /// MOVT.
    MoveTop { rd: u8, value: u16 },
    /// ADR: the program counter, rounded down to a multiple of 4, plus an offset.
    Address { rd: u8, offset: i32 },
    /// SXTB and so on, SXTAB and so on: rm rotated right by 0, 8, 16 or 24, extended, plus rn.
    Extend { extension: Extension, rd: u8, rn: Option<u8>, rm: u8, rotation: u8 },
    /// REV, REV16, REVSH, RBIT.
    Reverse { reversal: Reversal, rd: u8, rm: u8 },
    /// CLZ.
    CountLeadingZeros { rd: u8, rm: u8 },
    /// BFI, and without rn BFC.
    BitFieldInsert { rd: u8, rn: Option<u8>, lsb: u8, width: u8 },
    /// SBFX, UBFX.
    BitFieldExtract { signed: bool, rd: u8, rn: u8, lsb: u8, width: u8 },
    /// CSEL, CSINC, CSINV, CSNEG; rn and rm 15 read as 0.
    ConditionalSelect { selection: Selection, condition: Condition, rd: u8, rn: u8, rm: u8 },

    // Multiplication, division and the DSP extension.
    /// MUL.
    Multiply { flags: SetFlags, rd: u8, rn: u8, rm: u8 },
    /// MLA, MLS.
    MultiplyAdd { subtract: bool, rd: u8, rn: u8, rm: u8, ra: u8 },
    /// UMULL, SMULL, UMLAL, SMLAL, UMAAL.
    MultiplyLong { signed: bool, accumulation: Accumulation, lo: u8, hi: u8, rn: u8, rm: u8 },
    /// SDIV, UDIV.
    Divide { signed: bool, rd: u8, rn: u8, rm: u8 },
    /// SMULBB and so on, SMLABB and so on.
    MultiplyHalves { rd: u8, rn: u8, rm: u8, ra: Option<u8>, n_top: bool, m_top: bool },
    /// SMULWB, SMULWT, SMLAWB, SMLAWT.
    MultiplyWordByHalf { rd: u8, rn: u8, rm: u8, ra: Option<u8>, m_top: bool },
    /// SMUAD, SMUSD, SMLAD, SMLSD, and those with X.
    MultiplyDual { subtract: bool, exchange: bool, rd: u8, rn: u8, rm: u8, ra: Option<u8> },
    /// SMLALBB and so on.
    MultiplyHalvesLong { lo: u8, hi: u8, rn: u8, rm: u8, n_top: bool, m_top: bool },
    /// SMLALD, SMLSLD, and those with X.
    MultiplyDualLong { subtract: bool, exchange: bool, lo: u8, hi: u8, rn: u8, rm: u8 },
    /// SMMUL, SMMLA, SMMLS, and those with R.
    MultiplyTop { subtract: bool, round: bool, rd: u8, rn: u8, rm: u8, ra: Option<u8> },
    /// SADD16 and so on.
    Parallel { lanes: Lanes, operation: ParallelOperation, rd: u8, rn: u8, rm: u8 },
    /// QADD, QSUB, QDADD, QDSUB: rm plus or minus rn, or twice rn.
    SaturatingAdd { double: bool, subtract: bool, rd: u8, rm: u8, rn: u8 },
    /// SSAT (to 1 to 32 bits), USAT (to 0 to 31 bits) of a shifted register.
    Saturate { signed: bool, bits: u8, rd: u8, source: Shifted },
    /// SSAT16 (to 1 to 16 bits), USAT16 (to 0 to 15 bits).
    SaturateHalves { signed: bool, bits: u8, rd: u8, rn: u8 },
    /// USAD8, USADA8.
    SumOfDifferences { rd: u8, rn: u8, rm: u8, ra: Option<u8> },
    /// SEL.
    Select { rd: u8, rn: u8, rm: u8 },
    /// PKHBT, and with `top` PKHTB: the top half is that of rn.
    Pack { top: bool, rd: u8, rn: u8, source: Shifted },

    // Loads and stores.
    /// LDR, LDRB, LDRH, LDRSB, LDRSH, LDRT and so on. With rt 15 a branch.
    Load { width: Width, signed: bool, rt: u8, addressing: Addressing },
    /// STR, STRB, STRH, STRT and so on.
    Store { width: Width, rt: u8, addressing: Addressing },
    /// LDRD.
    LoadDouble { rt: u8, rt2: u8, addressing: Addressing },
    /// STRD.
    StoreDouble { rt: u8, rt2: u8, addressing: Addressing },
    /// LDM, LDMDB, POP. With r15 in the list a branch.
    LoadMultiple { rn: u8, registers: u16, decrement: bool, writeback: bool },
    /// STM, STMDB, PUSH.
    StoreMultiple { rn: u8, registers: u16, decrement: bool, writeback: bool },
    /// LDREX, LDREXB, LDREXH, LDAEX and so on.
    LoadExclusive { width: Width, rt: u8, rn: u8, offset: u32 },
    /// STREX, STREXB, STREXH, STLEX and so on.
    StoreExclusive { width: Width, rd: u8, rt: u8, rn: u8, offset: u32 },
    /// CLREX.
    ClearExclusive,
    /// LDA, LDAB, LDAH.
    LoadAcquire { width: Width, rt: u8, rn: u8 },
    /// STL, STLB, STLH.
    StoreRelease { width: Width, rt: u8, rn: u8 },

    // Control.
    /// B: to the instruction's address plus 4 plus the offset.
    Branch { condition: Condition, offset: i32 },
    /// BL.
    BranchLink { offset: i32 },
    /// BX, and with `link` BLX.
    BranchExchange { link: bool, rm: u8 },
    /// CBZ, CBNZ.
    CompareBranch { nonzero: bool, rn: u8, offset: i32 },
    /// TBB, TBH.
    TableBranch { half: bool, rn: u8, rm: u8 },
    /// IT: the state that it sets.
    IfThen { state: u8 },
    /// DLS, and with an offset WLS: to the instruction's address plus 4 plus the offset where rn is 0.
    LoopStart { rn: u8, skip: Option<i32> },
    /// LE: back by the offset from the instruction's address plus 4. `forever`: without counting.
    LoopEnd { forever: bool, offset: i32 },
    /// CLRM: clears these registers; bit 15 stands for the flags.
    ClearRegisters { registers: u16 },
    /// NOP and all that does nothing here: PLD, DMB, DSB, ISB, SG, hints without a name.
    Nop,
    /// YIELD, SEV: hints that say something to others.
    Hint,
    /// WFI, WFE.
    Sleep,
    /// BKPT.
    Breakpoint { number: u8 },
    /// SVC.
    SupervisorCall { number: u8 },
    /// UDF.
    PermanentlyUndefined,
    /// CPSIE, CPSID: PRIMASK and FAULTMASK.
    ChangeState { disable: bool, primask: bool, faultmask: bool },
    /// MRS.
    ReadSpecial { rd: u8, special: u8 },
    /// MSR; bit 1 of the mask stands for N, Z, C, V and Q, bit 0 for GE.
    WriteSpecial { rn: u8, special: u8, mask: u8 },

    // Floating point. Registers are those of the precision.
    /// VADD, VSUB, VMUL, VNMUL, VDIV, VMAXNM, VMINNM.
    FloatBinary { operation: FloatBinary, precision: Precision, d: u8, n: u8, m: u8 },
    /// VMLA, VMLS, VNMLA, VNMLS: rounds twice.
    FloatMultiplyAdd { negate_product: bool, negate_addend: bool, precision: Precision, d: u8, n: u8, m: u8 },
    /// VFMA, VFMS, VFNMA, VFNMS: rounds once.
    FloatFused { negate_product: bool, negate_addend: bool, precision: Precision, d: u8, n: u8, m: u8 },
    /// VMOV, VABS, VNEG, VSQRT.
    FloatUnary { operation: FloatUnary, precision: Precision, d: u8, m: u8 },
    /// VMOV of a constant, as bits.
    FloatImmediate { precision: Precision, d: u8, bits: u64 },
    /// VCMP, and with `signal` VCMPE; without m with zero.
    FloatCompare { signal: bool, precision: Precision, d: u8, m: Option<u8> },
    /// VSEL.
    FloatSelect { condition: Condition, precision: Precision, d: u8, n: u8, m: u8 },
    /// VCVT, VCVTR, VCVTA, VCVTN, VCVTP, VCVTM to an integer in s register d.
    FloatToInteger { signed: bool, rounding: Rounding, precision: Precision, d: u8, m: u8 },
    /// VCVT from an integer in s register m.
    IntegerToFloat { signed: bool, precision: Precision, d: u8, m: u8 },
    /// VCVT between floating and fixed point of 16 or 32 bits, in place.
    FloatFixed { to_fixed: bool, signed: bool, bits: u8, fraction: u8, precision: Precision, d: u8 },
    /// VRINTA, VRINTN, VRINTP, VRINTM, VRINTZ, VRINTR, and with `exact` VRINTX.
    FloatRound { rounding: Rounding, exact: bool, precision: Precision, d: u8, m: u8 },
    /// VCVT.F64.F32, and to single VCVT.F32.F64.
    FloatConvert { to_double: bool, d: u8, m: u8 },
    /// VCVTB, VCVTT: between half precision in one half of an s register and `precision`.
    FloatHalf { to_half: bool, top: bool, precision: Precision, d: u8, m: u8 },
    /// VMOV between a core register and s.
    MoveSingle { to_core: bool, rt: u8, s: u8 },
    /// VMOV between two core registers and s, s+1.
    MoveSingles { to_core: bool, rt: u8, rt2: u8, s: u8 },
    /// VMOV between two core registers and d.
    MoveDouble { to_core: bool, rt: u8, rt2: u8, d: u8 },
    /// VMOV between a core register and one word of d.
    MoveLane { to_core: bool, rt: u8, d: u8, top: bool },
    /// VMRS; with rt 15 to the flags.
    ReadFloatStatus { rt: u8 },
    /// VMSR.
    WriteFloatStatus { rt: u8 },
    /// VLDR.
    FloatLoad { precision: Precision, d: u8, rn: u8, offset: i32 },
    /// VSTR.
    FloatStore { precision: Precision, d: u8, rn: u8, offset: i32 },
    /// VLDM, VPOP: `count` registers from d on.
    FloatLoadMultiple { precision: Precision, d: u8, count: u8, rn: u8, decrement: bool, writeback: bool },
    /// VSTM, VPUSH.
    FloatStoreMultiple { precision: Precision, d: u8, count: u8, rn: u8, decrement: bool, writeback: bool },
}

impl Operation {
    /// Whether it needs the floating-point unit to be on.
    pub fn is_floating_point(&self) -> bool {
        use Operation::*;
        matches!(
            self,
            FloatBinary { .. }
                | FloatMultiplyAdd { .. }
                | FloatFused { .. }
                | FloatUnary { .. }
                | FloatImmediate { .. }
                | FloatCompare { .. }
                | FloatSelect { .. }
                | FloatToInteger { .. }
                | IntegerToFloat { .. }
                | FloatFixed { .. }
                | FloatRound { .. }
                | FloatConvert { .. }
                | FloatHalf { .. }
                | MoveSingle { .. }
                | MoveSingles { .. }
                | MoveDouble { .. }
                | MoveLane { .. }
                | ReadFloatStatus { .. }
                | WriteFloatStatus { .. }
                | FloatLoad { .. }
                | FloatStore { .. }
                | FloatLoadMultiple { .. }
                | FloatStoreMultiple { .. }
        )
    }
}

/// A decoded instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Instruction {
    /// What it does.
    pub operation: Operation,
    /// Its length in bytes, 2 or 4.
    pub bytes: u8,
    /// Its name, as in the manual.
    pub name: &'static str,
}
