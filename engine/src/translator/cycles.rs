//! Counts cycles in translated code: a constant for each way through a block, and what operands
//! decide.

use super::Last;
use super::context::{Context, Exit, PLACE};
use super::emit::Emitter;
use super::unit::{Instruction, Unit};
use crate::core::Core;
use crate::cycles::HALVES;
use crate::operation::Width;
use crate::timing::{
    Cost, Counter, DIVIDE, Flash, LONG_MULTIPLY_EXTRA, Operands, Pipeline, SKIPPED_CYCLES,
    UNALIGNED_WORD_HALVES,
};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{InstBuilder, MemFlags, Value};
use cranelift_frontend::{FunctionBuilder, Variable};
use std::collections::BTreeMap;
use std::mem::offset_of;
use std::ops::Range;

/// What was executed last where translated code leaves, in a word: nothing that matters.
pub(super) const NOTHING: u32 = 0;
/// A branch that was taken. An instruction is its address with the lowest bit set.
pub(super) const BRANCH: u32 = 2;

/// What such a word says.
pub(super) fn last(previous: u32) -> Last {
    match previous {
        NOTHING => Last::Nothing,
        BRANCH => Last::Branch,
        odd => Last::Instruction(odd & !1),
    }
}

/// What is counted: code that counts otherwise is other code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Counted {
    pub(super) pipeline: Pipeline,
    flash: Option<FlashPlace>,
}

/// Where flash memory makes the core wait.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FlashPlace {
    /// From the first to the last address.
    hull: Range<u32>,
    line_bits: u32,
}

impl Counted {
    pub(super) fn of(counter: &Counter) -> Self {
        Self {
            pipeline: counter.pipeline,
            flash: counter.flash.as_ref().map(|flash| FlashPlace {
                hull: flash.hull(),
                line_bits: flash.line_bits(),
            }),
        }
    }
}

/// What was executed of a block and is not in its variables.
#[derive(Clone, Copy)]
pub(super) struct Pending {
    pub(super) instructions: i64,
    /// Halves of a cycle.
    pub(super) halves: i64,
    /// What was executed last (`cycles`).
    pub(super) previous: u32,
}

impl Pending {
    /// Nothing.
    pub(super) fn none(previous: u32) -> Self {
        Self {
            instructions: 0,
            halves: 0,
            previous,
        }
    }
}

/// What is counted of a block while it is emitted.
pub(super) struct Counting {
    pipeline: Pipeline,
    flash: Option<FlashPlace>,
    /// Halves of a cycle where the block begins, and what was added to them since.
    variable: Variable,
    /// Halves of a cycle of the block's instructions before the current one that are not in the
    /// variable.
    spent: i64,
    /// Those of the current one.
    current: i64,
    /// What it takes of them for being after another one.
    more: i64,
    /// It has been fetched.
    is_fetched: bool,
    /// What was executed before the current one.
    previous: u32,
    /// Where the instructions under one condition begin: what was spent, and how many there are.
    group: Option<(i64, i64)>,
    /// The first instruction of each block.
    first: BTreeMap<u32, Cost>,
}

impl Counting {
    pub(super) fn new(
        builder: &mut FunctionBuilder<'_>,
        unit: &Unit,
        counted: Option<&Counted>,
    ) -> Option<Self> {
        let counted = counted?;
        let first = unit.blocks.iter().filter_map(|(&address, block)| {
            let cost = block.instructions.first()?.cost?;
            Some((address, cost))
        });
        Some(Self {
            pipeline: counted.pipeline,
            flash: counted.flash.clone(),
            variable: builder.declare_var(I64),
            spent: 0,
            current: 0,
            more: 0,
            is_fetched: false,
            previous: NOTHING,
            group: None,
            first: first.collect(),
        })
    }
}

impl Emitter<'_, '_> {
    /// The count where the unit is entered.
    pub(super) fn load_cycles(&mut self) {
        if let Some(variable) = self.cycles.as_ref().map(|cycles| cycles.variable) {
            let halves = self.load_core(I64, offset_of!(Core, cycles.halves));
            self.builder.def_var(variable, halves);
        }
    }

    /// A block begins.
    pub(super) fn begin_cycles(&mut self) {
        if let Some(cycles) = &mut self.cycles {
            (cycles.spent, cycles.current, cycles.more) = (0, 0, 0);
            cycles.is_fetched = false;
            cycles.previous = NOTHING;
            cycles.group = None;
        }
    }

    /// The instructions from here on are under one condition.
    pub(super) fn open_cycles_group(&mut self) {
        if let Some(cycles) = &mut self.cycles {
            cycles.group = Some((cycles.spent, 0));
        }
    }

    /// The instructions under one condition are over, in the path in which they were executed; in
    /// the other they were skipped.
    pub(super) fn close_cycles_group(&mut self, is_in_path: bool) {
        let Some(cycles) = &mut self.cycles else {
            return;
        };
        let Some((begin, instructions)) = cycles.group.take() else {
            return;
        };
        let executed = cycles.spent;
        cycles.spent = begin + instructions * i64::from(SKIPPED_CYCLES) * HALVES as i64;
        let more = executed - cycles.spent;
        if is_in_path {
            self.add_halves(more);
        }
    }

    /// The current instruction comes after `previous` in its block.
    pub(super) fn count_arrival(&mut self, previous: Option<&Instruction>) {
        let current = self.current;
        let (Some(cycles), Some(cost)) = (&mut self.cycles, current.cost) else {
            return;
        };
        let previous = previous.filter(|previous| previous.it == 0);
        cycles.previous = previous.map_or(NOTHING, |previous| previous.pc | 1);
        let after = previous.and_then(|previous| previous.cost);
        cycles.more = after
            .filter(|_| current.it == 0)
            .map_or(0, |previous| cost.after(&previous, cycles.pipeline));
        cycles.is_fetched = true;
    }

    /// Before the current instruction executes.
    pub(super) fn count_before(&mut self) {
        let (Some(cycles), Some(cost)) = (&mut self.cycles, self.current.cost) else {
            return;
        };
        cycles.current = cycles.more + i64::from(cost.cycles) * HALVES as i64;
        match cost.operands {
            Operands::None => {}
            Operands::Divide { signed, rn, rm } => self.count_divide(signed, rn, rm),
            Operands::LongMultiply { signed, rn, rm } => self.count_long_multiply(signed, rn, rm),
        }
    }

    /// After an instruction.
    pub(super) fn count_after(&mut self) {
        if let Some(cycles) = &mut self.cycles {
            cycles.spent += std::mem::take(&mut cycles.current);
            if let Some((_, instructions)) = &mut cycles.group {
                *instructions += 1;
            }
        }
    }

    /// The block is left to a guest address that is known. Gives what the next instruction has to
    /// know where it is not of the unit.
    pub(super) fn count_edge(&mut self, target: u32) -> u32 {
        let current = self.current;
        let (Some(cycles), Some(cost)) = (&self.cycles, current.cost) else {
            return NOTHING;
        };
        let first = cycles.first.get(&target);
        let is_taken = target != current.next();
        let (more, previous) = if is_taken {
            let refill = i64::from(cost.taken) * HALVES as i64;
            let arrival = first.map_or(0, |first| first.after_branch(cycles.pipeline));
            (refill + arrival, BRANCH)
        } else if current.it == 0 {
            let pair = first.map_or(0, |first| first.after(&cost, cycles.pipeline));
            (pair, current.pc | 1)
        } else {
            (0, NOTHING)
        };
        let spent = cycles.spent + cycles.current;
        self.add_halves(spent + more);
        previous
    }

    /// The block is left to where a value says.
    pub(super) fn count_indirect(&mut self) {
        if let (Some(cycles), Some(cost)) = (&self.cycles, self.current.cost) {
            let refill = i64::from(cost.taken) * HALVES as i64;
            let spent = cycles.spent + cycles.current;
            self.add_halves(spent + refill);
        }
    }

    /// Halves of a cycle that an instruction takes where a branch of the unit goes to it by a
    /// value.
    pub(super) fn arrival_halves(&self, target: u32) -> i64 {
        let first = self.cycles.as_ref().and_then(|cycles| {
            let first = cycles.first.get(&target)?;
            Some(first.after_branch(cycles.pipeline))
        });
        first.unwrap_or(0)
    }

    /// What was spent in the block, and what was executed before the current instruction.
    pub(super) fn cycles_in_block(&self) -> (i64, u32) {
        let cycles = self.cycles.as_ref();
        cycles.map_or((0, NOTHING), |cycles| (cycles.spent, cycles.previous))
    }

    /// What was spent in the block before the current instruction, and what that takes for being
    /// after another one.
    fn cycles_before_current(&self) -> i64 {
        self.cycles
            .as_ref()
            .map_or(0, |cycles| cycles.spent + cycles.more)
    }

    /// How the current instruction is left to the interpreter.
    pub(super) fn exit_to_interpreter(&self) -> Exit {
        match &self.cycles {
            Some(cycles) if cycles.is_fetched => Exit::InterpretFetched,
            _ => Exit::Interpret,
        }
    }

    /// The count, with what was spent of the block; `None` if nothing is counted.
    pub(super) fn halves(&mut self, spent: i64) -> Option<Value> {
        let variable = self.cycles.as_ref()?.variable;
        let halves = self.builder.use_var(variable);
        Some(self.builder.ins().iadd_imm(halves, spent))
    }

    /// Where the unit is left.
    pub(super) fn store_cycles(&mut self, halves: Value, previous: Value) {
        self.store_core(halves, offset_of!(Core, cycles.halves));
        self.store_context(previous, offset_of!(Context, previous));
    }

    /// Adds to the count.
    pub(super) fn add_halves(&mut self, more: i64) {
        if more != 0
            && let Some(variable) = self.cycles.as_ref().map(|cycles| cycles.variable)
        {
            let halves = self.builder.use_var(variable);
            let halves = self.builder.ins().iadd_imm(halves, more);
            self.builder.def_var(variable, halves);
        }
    }

    fn add_halves_value(&mut self, more: Value) {
        if let Some(variable) = self.cycles.as_ref().map(|cycles| cycles.variable) {
            let more = self.builder.ins().uextend(I64, more);
            let halves = self.builder.use_var(variable);
            let halves = self.builder.ins().iadd(halves, more);
            self.builder.def_var(variable, halves);
        }
    }

    /// What an access of one register takes for being unaligned.
    pub(super) fn count_unaligned(&mut self, width: Width, address: Value) {
        let cost = self.current.cost;
        let unaligned = cost.is_some_and(|cost| cost.may_be_unaligned);
        if !unaligned || !self.features.allows_unaligned() {
            return;
        }
        let (unaligned, go_on) = (self.builder.create_block(), self.builder.create_block());
        self.builder.set_cold_block(unaligned);
        let low = self
            .builder
            .ins()
            .band_imm(address, i64::from(width.bytes() - 1));
        self.builder.ins().brif(low, unaligned, &[], go_on, &[]);
        self.builder.switch_to_block(unaligned);
        match width {
            Width::Word => {
                let place = self.builder.ins().ishl_imm(low, 2);
                let halves = self.constant(UNALIGNED_WORD_HALVES);
                let halves = self.builder.ins().ushr(halves, place);
                let halves = self.builder.ins().band_imm(halves, 0xf);
                self.add_halves_value(halves);
            }
            _ => self.add_halves(HALVES as i64),
        }
        self.builder.ins().jump(go_on, &[]);
        self.builder.switch_to_block(go_on);
    }

    /// Whether flash memory may make the core wait for an instruction: it is not in the line of the
    /// one before it, `previous` of the same block.
    pub(super) fn may_wait(&self, previous: Option<&Instruction>, next: &Instruction) -> bool {
        let flash = self
            .cycles
            .as_ref()
            .and_then(|cycles| cycles.flash.as_ref());
        flash.is_some_and(|flash| {
            let line = |address: u32| address >> flash.line_bits;
            let before = previous.map(|previous| line(previous.next().wrapping_sub(1)));
            flash.hull.contains(&next.pc) && before != Some(line(next.next().wrapping_sub(1)))
        })
    }

    /// Fetches the current instruction, where its line is not the one that was read last.
    pub(super) fn emit_fetch(&mut self, previous: Option<&Instruction>) {
        let Some(flash) = self.cycles.as_ref().and_then(|cycles| cycles.flash.clone()) else {
            return;
        };
        let Instruction { pc, bytes, .. } = self.current;
        let first = pc >> flash.line_bits;
        let last = self.current.next().wrapping_sub(1) >> flash.line_bits;
        let (fetch, go_on) = (self.builder.create_block(), self.builder.create_block());
        if first == last && previous.is_none() {
            // A loop stays in its lines more often than not.
            let place = self.load_context(offset_of!(Context, flash));
            let offset = offset_of!(Flash, last_code_line) as i32;
            let flags = MemFlags::trusted();
            let held = self.builder.ins().load(I32, flags, place, offset);
            let other = self
                .builder
                .ins()
                .icmp_imm(IntCC::NotEqual, held, i64::from(first));
            self.builder.set_cold_block(fetch);
            self.builder.ins().brif(other, fetch, &[], go_on, &[]);
        } else {
            self.builder.ins().jump(fetch, &[]);
        }
        self.builder.switch_to_block(fetch);
        // What was spent before it decides how far a prefetch has come.
        if let Some(halves) = self.halves(self.cycles_before_current()) {
            self.store_core(halves, offset_of!(Core, cycles.halves));
        }
        let what = i64::from(pc) | i64::from(bytes) << 32;
        let what = self.builder.ins().iconst(I64, what);
        let function: Helper = fetch_from_flash;
        self.call_flash(function, what);
        self.builder.ins().jump(go_on, &[]);
        self.builder.switch_to_block(go_on);
    }

    /// Loads so many bytes, which may be in flash memory.
    pub(super) fn count_load(&mut self, address: Value, size_bytes: u32) {
        let Some(flash) = self.cycles.as_ref().and_then(|cycles| cycles.flash.clone()) else {
            return;
        };
        let (load, go_on) = (self.builder.create_block(), self.builder.create_block());
        let Range { start, end } = flash.hull;
        let within = self.builder.ins().iadd_imm(address, -i64::from(start));
        let is_flash = self.builder.ins().icmp_imm(
            IntCC::UnsignedLessThan,
            within,
            i64::from(end.wrapping_sub(start)),
        );
        self.builder.ins().brif(is_flash, load, &[], go_on, &[]);
        self.builder.switch_to_block(load);
        let what = self.builder.ins().uextend(I64, address);
        let what = self
            .builder
            .ins()
            .bor_imm(what, i64::from(size_bytes) << 32);
        let function: Helper = load_from_flash;
        self.call_flash(function, what);
        self.builder.ins().jump(go_on, &[]);
        self.builder.switch_to_block(go_on);
    }

    fn call_flash(&mut self, function: Helper, what: Value) {
        let function = self.builder.ins().iconst(I64, function as usize as i64);
        let context = self.builder.ins().iadd_imm(self.memory, i64::from(PLACE));
        let arguments = [context, what];
        self.builder
            .ins()
            .call_indirect(self.helper, function, &arguments);
    }

    fn operand_magnitude(&mut self, signed: bool, register: u8) -> Value {
        let value = self.register(register);
        if signed {
            self.builder.ins().iabs(value)
        } else {
            value
        }
    }

    /// See `timing::divide_extra_halves`.
    fn count_divide(&mut self, signed: bool, rn: u8, rm: u8) {
        let dividend = self.operand_magnitude(signed, rn);
        let divisor = self.operand_magnitude(signed, rm);
        let zeros = self.builder.ins().clz(divisor);
        let fewer = self.builder.ins().clz(dividend);
        let bits = self.builder.ins().isub(zeros, fewer);
        // One more bit, and the division by a constant rounds up.
        let bits = self
            .builder
            .ins()
            .iadd_imm(bits, i64::from(DIVIDE.bits_per_cycle));
        let per_cycle = i64::from(DIVIDE.bits_per_cycle);
        let cycles = self.builder.ins().udiv_imm(bits, per_cycle);
        let most = self.constant(DIVIDE.most_extra_cycles);
        let cycles = self.builder.ins().umin(cycles, most);
        let halves = self.builder.ins().imul_imm(cycles, HALVES as i64);
        let none = self.constant(0);
        let zero = self.builder.ins().icmp_imm(IntCC::Equal, divisor, 0);
        let small = self
            .builder
            .ins()
            .icmp(IntCC::UnsignedLessThan, dividend, divisor);
        let short = self.builder.ins().bor(zero, small);
        let halves = self.builder.ins().select(short, none, halves);
        self.add_halves_value(halves);
    }

    /// See `timing::long_multiply_extra_halves`.
    fn count_long_multiply(&mut self, signed: bool, rn: u8, rm: u8) {
        let (a, b) = (
            self.operand_magnitude(signed, rn),
            self.operand_magnitude(signed, rm),
        );
        let both = self.builder.ins().bor(a, b);
        let upper = self.builder.ins().ushr_imm(both, 16);
        let long = self.builder.ins().icmp_imm(IntCC::NotEqual, upper, 0);
        let long = self.builder.ins().uextend(I32, long);
        let halves = i64::from(LONG_MULTIPLY_EXTRA) * HALVES as i64;
        let halves = self.builder.ins().imul_imm(long, halves);
        self.add_halves_value(halves);
    }
}

/// What translated code calls where flash memory may make the core wait. The second argument is an
/// address, and a number of bytes from bit 32 on.
type Helper = unsafe extern "C" fn(*mut Context, u64);

/// # Safety
/// The context is the one of running code.
#[expect(unsafe_code, reason = "translated code knows pointers only")]
unsafe extern "C" fn fetch_from_flash(context: *mut Context, what: u64) {
    // SAFETY: by contract; core and flash are borrowed by `Translator::run`.
    let (core, flash) = unsafe { (&mut *(*context).core, (*context).flash.as_mut()) };
    if let Some(flash) = flash {
        flash.fetch(&mut core.cycles, what as u32, (what >> 32) as u32);
    }
}

/// # Safety
/// The context is the one of running code.
#[expect(unsafe_code, reason = "translated code knows pointers only")]
unsafe extern "C" fn load_from_flash(context: *mut Context, what: u64) {
    // SAFETY: by contract; core and flash are borrowed by `Translator::run`.
    let (core, flash) = unsafe { (&mut *(*context).core, (*context).flash.as_mut()) };
    if let Some(flash) = flash {
        flash.load(&mut core.cycles, what as u32, (what >> 32) as u32);
    }
}
