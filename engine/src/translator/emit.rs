//! Emits a unit: its frame, and what all instructions need.

use super::compute_address;
use super::context::{Context, Exit, PLACE};
use super::cycles::{self, Counted, Counting, Pending};
use super::flags::Flags;
use super::unit::{Block, Instruction, Unit};
use crate::core::Core;
use crate::features::Features;
use crate::operation::{Condition, Operation, SetFlags};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{self, BlockArg, InstBuilder, MemFlags, SigRef, Value};
use cranelift_frontend::{FunctionBuilder, Switch, Variable};
use std::collections::BTreeMap;
use std::mem::offset_of;

/// Guest state in host registers. N and Z are kept as a word that is negative, or zero, C and V as
/// two words whose comparison sets them so: most flags are set by comparisons, and read at once.
pub(super) struct State {
    registers: [Variable; 15],
    pub(super) negative: Variable,
    pub(super) zero: Variable,
    pub(super) compared: [Variable; 2],
    /// The lowest value of r13.
    lowest_sp: Variable,
    /// Executed instructions where the block begins, as events have them: shifted by
    /// [`TIME_BITS`].
    time: Variable,
    /// Where the next access is recorded.
    event: Variable,
    /// Those above that the unit uses or sets: all others stay in the core.
    used: Vec<Variable>,
    set: Vec<Variable>,
}

/// Emits a unit.
pub(super) struct Emitter<'a, 'b> {
    pub(super) builder: &'b mut FunctionBuilder<'a>,
    pub(super) features: &'b Features,
    /// Where the memory is: the context, then, from here on, the tables and the guest's bytes.
    pub(super) memory: Value,
    pub(super) flags: Flags,
    /// The instruction that is emitted.
    pub(super) current: Instruction,
    /// Instructions of the block before it.
    before: i64,
    pub(super) state: State,
    pub(super) core: Value,
    blocks: BTreeMap<u32, ir::Block>,
    exit: ir::Block,
    /// Goes on where a guest address says.
    dispatch: ir::Block,
    pub(super) helper: SigRef,
    /// Where cycles are counted.
    pub(super) cycles: Option<Counting>,
}

const TRUSTED: MemFlags = MemFlags::trusted();
/// By how much times are shifted.
const TIME_BITS: i64 = crate::memory::TIME_BITS as i64;

impl<'a, 'b> Emitter<'a, 'b> {
    /// Emits all of a unit, which has to live as long as its code.
    pub(super) fn emit(
        builder: &'b mut FunctionBuilder<'a>,
        helper: SigRef,
        unit: &Unit,
        features: &'b Features,
        counted: Option<&Counted>,
    ) {
        let first = builder.create_block();
        builder.append_block_params_for_function_params(first);
        builder.switch_to_block(first);
        let (memory, entry) = (
            builder.block_params(first)[0],
            builder.block_params(first)[1],
        );
        let blocks: BTreeMap<u32, ir::Block> = unit
            .blocks
            .keys()
            .map(|&address| (address, builder.create_block()))
            .collect();
        let (exit, dispatch) = (builder.create_block(), builder.create_block());
        let mut i32_variable = || builder.declare_var(I32);
        let state = State {
            registers: std::array::from_fn(|_| i32_variable()),
            negative: i32_variable(),
            zero: i32_variable(),
            compared: [i32_variable(), i32_variable()],
            lowest_sp: i32_variable(),
            time: builder.declare_var(I64),
            event: builder.declare_var(I64),
            used: Vec::new(),
            set: Vec::new(),
        };
        let cycles = Counting::new(builder, unit, counted);
        let Some(start) = unit.blocks.values().next() else {
            return;
        };
        let core = PLACE + offset_of!(Context, core) as i32;
        let core = builder.ins().load(I64, TRUSTED, memory, core);
        let mut emitter = Self {
            builder,
            features,
            memory,
            flags: Flags::Stored,
            current: start.instructions[0],
            before: 0,
            state,
            core,
            blocks,
            exit,
            dispatch,
            helper,
            cycles,
        };
        let begin = emitter.builder.create_block();
        emitter.builder.ins().jump(begin, &[]);
        // No path comes to the same instruction again but through an entry.
        let mut instructions_left = unit.instructions();
        for (address, block) in &unit.blocks {
            let checked = unit.entries.contains(address).then_some(instructions_left);
            emitter.block(block, checked);
            instructions_left -= block.instructions.len() as u64;
        }
        emitter.emit_dispatch(unit);
        emitter.emit_exit();
        // Last, when it is known what the unit needs.
        emitter.builder.switch_to_block(begin);
        emitter.load_state();
        emitter.enter(unit, entry);
        emitter.builder.seal_all_blocks();
    }

    /// What the unit uses, and what it stores at its exit: where it sets that on some ways only, it
    /// stores what was there.
    fn load_state(&mut self) {
        for index in 0..15 {
            let variable = self.state.registers[index];
            if self.needs(variable) {
                let value = self.load_core(I32, offset_of!(Core, r) + 4 * index);
                self.builder.def_var(variable, value);
            }
        }
        let (negative, zero) = (self.state.negative, self.state.zero);
        if self.needs(negative) {
            let flag = self.load_core(I32, offset_of!(Core, n));
            let value = self.builder.ins().ineg(flag);
            self.builder.def_var(negative, value);
        }
        if self.needs(zero) {
            let flag = self.load_core(I32, offset_of!(Core, z));
            let value = self.builder.ins().bxor_imm(flag, 1);
            self.builder.def_var(zero, value);
        }
        if self.state.compared.into_iter().any(|it| self.needs(it)) {
            let carry = self.load_core(I32, offset_of!(Core, c));
            let overflow = self.load_core(I32, offset_of!(Core, v));
            self.set_carry_and_overflow(carry, overflow);
        }
        if self.needs(self.state.lowest_sp) {
            let lowest_sp = self.load_core(I32, offset_of!(Core, lowest_sp));
            self.builder.def_var(self.state.lowest_sp, lowest_sp);
        }
        let time = self.load_core(I64, offset_of!(Core, time));
        let time = self.builder.ins().ishl_imm(time, TIME_BITS);
        self.builder.def_var(self.state.time, time);
        let event = self.load_context(offset_of!(Context, event));
        self.builder.def_var(self.state.event, event);
        self.load_cycles();
    }

    fn needs(&self, variable: Variable) -> bool {
        self.state.used.contains(&variable) || self.state.set.contains(&variable)
    }

    /// A part of the guest's state.
    pub(super) fn get(&mut self, variable: Variable) -> Value {
        if !self.state.used.contains(&variable) {
            self.state.used.push(variable);
        }
        self.builder.use_var(variable)
    }

    /// Sets a part of the guest's state.
    pub(super) fn set(&mut self, variable: Variable, value: Value) {
        if !self.state.set.contains(&variable) {
            self.state.set.push(variable);
        }
        self.builder.def_var(variable, value);
    }

    fn enter(&mut self, unit: &Unit, entry: Value) {
        let mut switch = Switch::new();
        for (index, address) in unit.entries.iter().enumerate() {
            switch.set_entry(index as u128, self.blocks[address]);
        }
        let nowhere = self.builder.create_block();
        switch.emit(self.builder, entry, nowhere);
        self.builder.switch_to_block(nowhere);
        let pc = self.constant(0);
        self.leave(pc, 0, Exit::Interpret, Pending::none(cycles::NOTHING));
    }

    /// Emits a block. An entry looks whether this many instructions can be executed.
    fn block(&mut self, block: &Block, instructions_left: Option<u64>) {
        let Some(first) = block.instructions.first() else {
            return;
        };
        self.builder.switch_to_block(self.blocks[&first.pc]);
        self.flags = Flags::Stored;
        self.current = *first;
        self.before = 0;
        self.begin_cycles();
        if let Some(instructions) = instructions_left {
            self.check_limits(instructions);
        }
        let mut group: Option<(Condition, ir::Block)> = None;
        let mut goes_on = true;
        let mut previous = None;
        for instruction in &block.instructions {
            let condition = instruction.condition();
            let waits = self.may_wait(previous, instruction);
            if let Some((_, join)) = group.take_if(|(wanted, _)| *wanted != condition || waits) {
                self.join(join);
            }
            self.current = *instruction;
            self.count_arrival(previous);
            if waits {
                self.emit_fetch(previous);
            }
            if condition != Condition::Al && group.is_none() {
                let (then, join) = (self.builder.create_block(), self.builder.create_block());
                let holds = self.condition(condition);
                self.builder.ins().brif(holds, then, &[], join, &[]);
                self.builder.switch_to_block(then);
                group = Some((condition, join));
                self.open_cycles_group();
            }
            self.count_before();
            previous = Some(instruction);
            goes_on = self.instruction(instruction);
            self.before += 1;
            self.count_after();
            let group_ends = !goes_on || self.sets_flags(instruction);
            if let Some((_, join)) = group.take_if(|_| group_ends) {
                if goes_on {
                    self.join(join);
                } else {
                    self.close_cycles_group(false);
                    self.builder.switch_to_block(join);
                    goes_on = true;
                }
                self.flags = Flags::Stored;
            }
        }
        if let Some((_, join)) = group {
            self.join(join);
        }
        if goes_on && let Some(last) = block.instructions.last() {
            self.fall_through(last);
        }
    }

    /// Goes on with the instruction after the last one of a block.
    fn fall_through(&mut self, last: &Instruction) {
        match last.next_it() {
            0 => {
                self.before -= 1;
                self.go(last.next());
            }
            it => {
                let pc = self.constant(last.next());
                let pending = self.pending();
                self.leave(pc, it, Exit::Interpret, pending);
            }
        }
    }

    /// Ends the instructions that a condition holds for.
    fn join(&mut self, join: ir::Block) {
        self.close_cycles_group(true);
        self.builder.ins().jump(join, &[]);
        self.builder.switch_to_block(join);
    }

    fn sets_flags(&self, instruction: &Instruction) -> bool {
        use Operation as O;
        match instruction.operation {
            O::Alu { flags, .. }
            | O::Move { flags, .. }
            | O::ShiftBy { flags, .. }
            | O::Multiply { flags, .. } => flags == SetFlags::Yes,
            O::Compare { .. } | O::ReadFloatStatus { rt: 15 } => true,
            _ => false,
        }
    }

    /// Leaves where the time may run out before the next look, or recorded accesses have to be
    /// taken.
    fn check_limits(&mut self, instructions: u64) {
        let time = self.builder.use_var(self.state.time);
        let until = self.load_context(offset_of!(Context, until));
        let end = self
            .builder
            .ins()
            .iadd_imm(time, (instructions as i64) << TIME_BITS);
        let late = self
            .builder
            .ins()
            .icmp(IntCC::UnsignedGreaterThan, end, until);
        let event = self.builder.use_var(self.state.event);
        let events_end = self.load_context(offset_of!(Context, events_end));
        let full = self
            .builder
            .ins()
            .icmp(IntCC::UnsignedGreaterThanOrEqual, event, events_end);
        let (out, in_time, go_on) = (
            self.builder.create_block(),
            self.builder.create_block(),
            self.builder.create_block(),
        );
        self.builder.set_cold_block(out);
        self.builder.ins().brif(late, out, &[], in_time, &[]);
        self.builder.switch_to_block(in_time);
        self.builder.ins().brif(full, out, &[], go_on, &[]);
        self.builder.switch_to_block(out);
        self.interpret();
        self.builder.switch_to_block(go_on);
    }

    /// Has the interpreter execute this instruction where this is so.
    pub(super) fn leave_if(&mut self, problem: Value) {
        let event = self.event();
        self.leave_unrecorded_if(problem, event);
    }

    /// The same after the instruction's own accesses were recorded, from `event` on: the
    /// interpreter records them.
    pub(super) fn leave_unrecorded_if(&mut self, problem: Value, event: Value) {
        let (out, go_on) = (self.builder.create_block(), self.builder.create_block());
        self.builder.set_cold_block(out);
        self.builder.ins().brif(problem, out, &[], go_on, &[]);
        self.builder.switch_to_block(out);
        self.set_event(event);
        self.interpret();
        self.builder.switch_to_block(go_on);
    }

    /// Leaves before this instruction.
    pub(super) fn interpret(&mut self) {
        let pc = self.constant(self.current.pc);
        let (exit, pending) = (self.exit_to_interpreter(), self.pending());
        self.leave(pc, self.current.it, exit, pending);
    }

    /// What was executed of the block before this instruction.
    fn pending(&self) -> Pending {
        let (halves, previous) = self.cycles_in_block();
        Pending {
            instructions: self.before,
            halves,
            previous,
        }
    }

    fn leave(&mut self, pc: Value, it: u8, exit: Exit, pending: Pending) {
        let time = self.builder.use_var(self.state.time);
        let time = self
            .builder
            .ins()
            .iadd_imm(time, pending.instructions << TIME_BITS);
        let it = self.constant(it.into());
        let exit = self.constant(exit as u32);
        let mut arguments = vec![pc, it, exit, time];
        if let Some(halves) = self.halves(pending.halves) {
            arguments.extend([halves, self.constant(pending.previous)]);
        }
        let arguments: Vec<BlockArg> = arguments.into_iter().map(BlockArg::from).collect();
        self.builder.ins().jump(self.exit, &arguments);
    }

    /// Goes on at a guest address, after this instruction.
    pub(super) fn go(&mut self, target: u32) {
        self.finish_block();
        let previous = self.count_edge(target);
        match self.blocks.get(&target) {
            Some(&block) => {
                self.builder.ins().jump(block, &[]);
            }
            None => {
                let pc = self.constant(target);
                self.leave(pc, 0, Exit::Branch, Pending::none(previous));
            }
        }
    }

    /// Goes on where a value says: a guest address without its Thumb bit.
    pub(super) fn go_indirect(&mut self, target: Value) {
        self.finish_block();
        self.count_indirect();
        self.builder
            .ins()
            .jump(self.dispatch, &[BlockArg::from(target)]);
    }

    /// Goes on at one of two guest addresses.
    pub(super) fn go_if(&mut self, holds: Value, target: u32, otherwise: u32) {
        let (then, not) = (self.builder.create_block(), self.builder.create_block());
        self.builder.ins().brif(holds, then, &[], not, &[]);
        let before = self.before;
        self.builder.switch_to_block(then);
        self.go(target);
        self.before = before;
        self.builder.switch_to_block(not);
        self.go(otherwise);
        self.before = before;
    }

    /// The time goes on by the instructions of the block, this one included.
    fn finish_block(&mut self) {
        let time = self.time_with(0);
        self.builder.def_var(self.state.time, time);
    }

    fn emit_dispatch(&mut self, unit: &Unit) {
        let target = self.builder.append_block_param(self.dispatch, I32);
        self.builder.switch_to_block(self.dispatch);
        let mut switch = Switch::new();
        let mut arrivals = Vec::new();
        for &address in &unit.entries {
            let mut block = self.blocks[&address];
            let halves = self.arrival_halves(address);
            if halves != 0 {
                let arrival = self.builder.create_block();
                arrivals.push((arrival, block, halves));
                block = arrival;
            }
            switch.set_entry(u128::from(address), block);
        }
        let elsewhere = self.builder.create_block();
        switch.emit(self.builder, target, elsewhere);
        self.builder.switch_to_block(elsewhere);
        self.leave(target, 0, Exit::Branch, Pending::none(cycles::BRANCH));
        for (arrival, block, halves) in arrivals {
            self.builder.switch_to_block(arrival);
            self.add_halves(halves);
            self.builder.ins().jump(block, &[]);
        }
    }

    fn emit_exit(&mut self) {
        let parameters =
            [I32, I32, I32, I64].map(|kind| self.builder.append_block_param(self.exit, kind));
        let [pc, it, exit, time] = parameters;
        let counted = self
            .cycles
            .is_some()
            .then(|| [I64, I32].map(|kind| self.builder.append_block_param(self.exit, kind)));
        self.builder.switch_to_block(self.exit);
        if let Some([halves, previous]) = counted {
            self.store_cycles(halves, previous);
        }
        let is_set = |state: &State, variable| state.set.contains(&variable);
        for index in 0..15 {
            let variable = self.state.registers[index];
            if is_set(&self.state, variable) {
                let value = self.builder.use_var(variable);
                self.store_core(value, offset_of!(Core, r) + 4 * index);
            }
        }
        if is_set(&self.state, self.state.negative) {
            let negative = self.builder.use_var(self.state.negative);
            let negative = self.builder.ins().ushr_imm(negative, 31);
            self.store_core(negative, offset_of!(Core, n));
        }
        if is_set(&self.state, self.state.zero) {
            let zero = self.builder.use_var(self.state.zero);
            let zero = self.builder.ins().icmp_imm(IntCC::Equal, zero, 0);
            let zero = self.builder.ins().uextend(I32, zero);
            self.store_core(zero, offset_of!(Core, z));
        }
        if self
            .state
            .compared
            .iter()
            .any(|&it| is_set(&self.state, it))
        {
            let (carry, overflow) = (self.carry(), self.overflow());
            self.store_core(carry, offset_of!(Core, c));
            self.store_core(overflow, offset_of!(Core, v));
        }
        if is_set(&self.state, self.state.lowest_sp) {
            let lowest_sp = self.builder.use_var(self.state.lowest_sp);
            self.store_core(lowest_sp, offset_of!(Core, lowest_sp));
        }
        let time = self.builder.ins().ushr_imm(time, TIME_BITS);
        for (value, offset) in [
            (pc, offset_of!(Core, r) + 60),
            (it, offset_of!(Core, it)),
            (time, offset_of!(Core, time)),
        ] {
            self.store_core(value, offset);
        }
        let event = self.builder.use_var(self.state.event);
        self.store_context(event, offset_of!(Context, event));
        self.builder.ins().return_(&[exit]);
    }

    pub(super) fn load_core(&mut self, kind: ir::Type, offset: usize) -> Value {
        self.builder
            .ins()
            .load(kind, TRUSTED, self.core, offset as i32)
    }

    pub(super) fn store_core(&mut self, value: Value, offset: usize) {
        self.builder
            .ins()
            .store(TRUSTED, value, self.core, offset as i32);
    }

    pub(super) fn load_context(&mut self, offset: usize) -> Value {
        let place = PLACE + offset as i32;
        self.builder.ins().load(I64, TRUSTED, self.memory, place)
    }

    pub(super) fn store_context(&mut self, value: Value, offset: usize) {
        let place = PLACE + offset as i32;
        self.builder.ins().store(TRUSTED, value, self.memory, place);
    }

    /// The limit of the stack in use.
    pub(super) fn stack_limit(&mut self) -> Value {
        let control = self.load_core(I32, offset_of!(Core, control));
        let process = self.builder.ins().band_imm(control, 2);
        let limits = offset_of!(Core, stack_limits);
        let main = self.load_core(I32, limits);
        let other = self.load_core(I32, limits + 4);
        self.builder.ins().select(process, other, main)
    }

    /// Has the interpreter compute with registers that are in the core. The operation is the
    /// unit's own.
    pub(super) fn call_interpreter(&mut self, operation: &Operation) {
        let pointer = std::ptr::from_ref(operation).expose_provenance() as i64;
        let pointer = self.builder.ins().iconst(I64, pointer);
        let function = self.builder.ins().iconst(I64, compute_address() as i64);
        let arguments = [self.core, pointer];
        self.builder
            .ins()
            .call_indirect(self.helper, function, &arguments);
    }

    pub(super) fn constant(&mut self, value: u32) -> Value {
        self.builder.ins().iconst(I32, i64::from(value))
    }

    /// A register as a source.
    pub(super) fn register(&mut self, index: u8) -> Value {
        match self.state.registers.get(usize::from(index)) {
            Some(&variable) => self.get(variable),
            None => self.constant(self.current.pc.wrapping_add(4)),
        }
    }

    /// Sets a register but r15. A stack pointer below its limit is for the interpreter to find.
    pub(super) fn set_register(&mut self, index: u8, value: Value) {
        let value = match index {
            13 => self.builder.ins().band_imm(value, !3),
            _ => value,
        };
        if index == 13 {
            let lowest = self.get(self.state.lowest_sp);
            let lowest = self.builder.ins().umin(lowest, value);
            self.set(self.state.lowest_sp, lowest);
        }
        if let Some(&variable) = self.state.registers.get(usize::from(index)) {
            self.set(variable, value);
        }
    }

    /// When this instruction executes, its own execution included, and below it the lowest byte of an
    /// event.
    pub(super) fn time_with(&mut self, lowest: u8) -> Value {
        let time = self.builder.use_var(self.state.time);
        let more = (self.before + 1) << TIME_BITS | i64::from(lowest);
        self.builder.ins().iadd_imm(time, more)
    }

    pub(super) fn event(&mut self) -> Value {
        self.builder.use_var(self.state.event)
    }

    pub(super) fn set_event(&mut self, event: Value) {
        self.builder.def_var(self.state.event, event);
    }
}
