//! Builds a [`Profile`] in one pass over a trace.

use super::{AccessClass, LayerProfile, Observer, Pair, Profile, TensorProfile, grant_or_refuse};
use crate::profile::lifetime::{ByteLife, Lifetimes, RecentPage};
use crate::profile::overlap::{
    ComparisonBudget, SafeDisplacements, Sweep, is_safe, overlap_bytes, safe_displacements,
};
use crate::profile::pattern::PatternHasher;
use crate::trace::{Address, Event, EventRun, Layer, Role, Span, Tensor, Time, TraceSink};
use std::ops::Range;

/// Builds a [`Profile`] from a trace.
#[derive(Debug, Default)]
pub struct Profiler<O: Observer = ()> {
    observer: O,
    lifetimes: Lifetimes,
    layers: Vec<LayerProfile>,
    earlier_inputs: Vec<EarlierInput>,
    budget: ComparisonBudget,
    current: Option<Current>,
}

/// An input of a layer that has ended, as long as some of its content is still there
/// and no later layer is known to load it.
#[derive(Debug)]
struct EarlierInput {
    layer: usize,
    tensor: usize,
    bytes: Range<u64>,
    /// When the layer began.
    begin: Time,
}

#[derive(Debug)]
struct Current {
    span: Span,
    /// For each tensor, whether it only produces, in memory that it shares with another
    /// tensor of the layer.
    produced_over: Vec<bool>,
    profile: LayerProfile,
    pattern: PatternHasher,
    sweeps: Vec<Sweep>,
}

impl<O: Observer> Profiler<O> {
    /// A profiler that also tells `observer` of all it sees.
    pub fn with_observer(observer: O) -> Self {
        Self {
            observer,
            lifetimes: Lifetimes::default(),
            layers: Vec::new(),
            earlier_inputs: Vec::new(),
            budget: ComparisonBudget::default(),
            current: None,
        }
    }

    /// What has been learned, once the trace has ended; a layer that has begun and not
    /// ended is left out.
    pub fn finish(mut self) -> (Profile, O) {
        let mut run: Option<InUseRun> = None;
        for (address, life) in self.lifetimes.all() {
            InUseRun::extend(&mut run, address.0, &life, &mut self.observer);
        }
        InUseRun::close(&mut run, &mut self.observer);
        for layer in &mut self.layers {
            grant_or_refuse(layer);
        }
        (
            Profile {
                layers: self.layers,
            },
            self.observer,
        )
    }

    /// Loads of one tensor, one after the other.
    fn loads(&mut self, events: &[Event]) {
        let (Some(current), Some(first)) = (&mut self.current, events.first()) else {
            return;
        };
        let index = usize::from(first.tensor);
        let LayerProfile {
            tensors,
            name,
            begin,
            ..
        } = &mut current.profile;
        let (begin, tensor) = (*begin, &mut tensors[index]);
        let by = (current.span == Span::Layer).then_some(name.as_str());
        let start = tensor.tensor.address.0;
        tensor.loads += events.len() as u64;
        let (mut lowest, mut highest_end) = (first, 0);
        let mut page = RecentPage::default();
        for event in events {
            if event.offset < lowest.offset {
                lowest = event;
            }
            highest_end = highest_end.max(event.end());
            let address = start + event.offset;
            let in_page = self.lifetimes.in_page(&mut page, address, event.size_bytes);
            // Usually the layer has loaded the bytes before, or has stored them.
            let is_known = in_page.as_ref().is_some_and(|lives| {
                let stored = || !any(lives.first_store, |it| it <= begin);
                !any(lives.last_use, |it| it <= begin)
                    && (tensor.load_before_store.is_some() || stored())
            });
            match in_page {
                Some(lives) if is_known && by.is_some() => lives.last_use.fill(event.time),
                _ => {
                    let old_content = load(&mut self.lifetimes, tensor, event, begin, by.is_some());
                    if !old_content.is_empty() {
                        let (inputs, layers) = (&mut self.earlier_inputs, &mut self.layers);
                        note_later_use(inputs, layers, &old_content, event, by);
                    }
                }
            }
            self.observer
                .access(Address(address), event, AccessClass::Load);
        }
        if tensor.tensor.role == Role::Input {
            for (pair, sweep) in current.profile.pairs.iter().zip(&mut current.sweeps) {
                if pair.input == index {
                    sweep.loads(lowest.into(), highest_end);
                }
            }
        }
    }

    fn store(&mut self, event: &Event) {
        let Some(current) = &mut self.current else {
            return;
        };
        let tensor = &mut current.profile.tensors[event.tensor as usize];
        let (begin, role) = (current.profile.begin, tensor.tensor.role);
        let address = tensor.tensor.address.0 + event.offset;
        tensor.stores += 1;
        tensor.first_store.get_or_insert(event.into());
        let mut update = true;
        let mut run = None;
        let own = !current.produced_over[event.tensor as usize];
        let (mut from, end) = bytes_at(address, event);
        while from < end {
            let lives = self.lifetimes.bytes(from as u32, (end - from) as usize);
            for (index, byte) in (0..lives.count()).zip(from..) {
                let life = lives.life(index);
                // What was loaded of the other tensor is not what is stored again.
                let known = own || life.first_store > begin;
                update &= known && life.last_use > life.last_store && life.last_use > begin;
                InUseRun::extend(&mut run, byte as u32, &life, &mut self.observer);
                if life.first_store <= begin {
                    lives.first_store[index] = event.time;
                }
                lives.last_store[index] = event.time;
            }
            from += lives.count() as u64;
        }
        InUseRun::close(&mut run, &mut self.observer);
        tensor.updates += u64::from(update);
        if role == Role::Output {
            for (pair, sweep) in current.profile.pairs.iter().zip(&mut current.sweeps) {
                if pair.output == event.tensor as usize {
                    sweep.store(event.into());
                }
            }
        }
        let class = if update {
            AccessClass::Update
        } else {
            AccessClass::Store
        };
        self.observer.access(Address(address), event, class);
    }
}

/// From the first byte of an event to one past its last, by address.
#[inline]
fn bytes_at(address: u32, event: &Event) -> (u64, u64) {
    let start = u64::from(address);
    (start, start + u64::from(event.size_bytes))
}

/// Notes a load; gives the bytes with content of before the layer, which began at `begin`, that are
/// loaded for the first time since, each with when it was stored. What code between layers loads
/// is no use of it: a layer's picture would be spoilt by it.
#[inline(never)]
fn load(
    lifetimes: &mut Lifetimes,
    tensor: &mut TensorProfile,
    event: &Event,
    begin: Time,
    is_use: bool,
) -> Vec<(u64, Time)> {
    let mut old_content = Vec::new();
    let (mut from, end) = bytes_at(tensor.tensor.address.0 + event.offset, event);
    while from < end {
        let lives = lifetimes.bytes(from as u32, (end - from) as usize);
        if tensor.load_before_store.is_none() && any(lives.first_store, |it| it <= begin) {
            tensor.load_before_store = Some(event.into());
        }
        let last = lives.last_use.iter().zip(lives.last_store.iter());
        let old = last
            .zip(from..)
            .filter(|((last_use, last_store), _)| **last_use.max(last_store) <= begin);
        old_content.extend(old.map(|((_, &last_store), byte)| (byte, last_store)));
        if is_use {
            lives.last_use.fill(event.time);
        }
        from += lives.count() as u64;
    }
    old_content
}

/// Whether a time of one of the few bytes of an access is so. It looks at all of them, as that
/// takes no branch for each.
#[inline]
fn any(times: &[Time], is_so: impl Fn(Time) -> bool) -> bool {
    times.iter().fold(false, |any, &time| any | is_so(time))
}

/// All safe displacements of a pair, and whether 0 is one of them, from its bytes' lives in the
/// layer of these times.
fn all_safe(
    lifetimes: &Lifetimes,
    (input, output): (&Tensor, &Tensor),
    layer: Range<Time>,
    bounds: Option<(i64, i64)>,
    budget: &mut ComparisonBudget,
) -> (SafeDisplacements, bool) {
    // 32 bits for each byte: the memory is bounded by the buffers. A layer that they are too
    // short for has its bounds only.
    let within = |time: Time| time.checked_sub(layer.start).filter(|&time| time > 0);
    let short = |time: Time| u32::try_from(time).unwrap_or(u32::MAX);
    let fits = layer.end - layer.start < Time::from(u32::MAX);
    let mut none = ComparisonBudget::exhausted();
    let budget = if fits { budget } else { &mut none };
    let last_load: Vec<u32> = lifetimes
        .tensor(input)
        .map(|life| within(life.last_use).map_or(0, short))
        .collect();
    let first_store: Vec<u32> = lifetimes
        .tensor(output)
        .map(|life| within(life.first_store).map_or(u32::MAX, short))
        .collect();
    let in_place = fits && is_safe(&last_load, &first_store, 0);
    let all = safe_displacements(&last_load, &first_store, bounds, budget);
    (all, in_place)
}

/// Notes in the layers whose inputs these bytes were, and still are, that they are loaded
/// again: by the layer `by`, or between layers.
fn note_later_use(
    earlier_inputs: &mut Vec<EarlierInput>,
    layers: &mut [LayerProfile],
    bytes: &[(u64, Time)],
    event: &Event,
    by: Option<&str>,
) {
    earlier_inputs.retain(|input| {
        let again = bytes
            .iter()
            .any(|(address, since)| input.bytes.contains(address) && *since <= input.begin);
        let tensor = &mut layers[input.layer].tensors[input.tensor];
        match by {
            Some(layer) if again => tensor.used_again_by = Some(layer.to_owned()),
            None if again => {
                tensor.loaded_between_layers.get_or_insert(event.into());
            }
            _ => {}
        }
        !again || by.is_none()
    });
}

/// Adjacent bytes whose values lived equally long.
#[derive(Debug, Clone, Copy)]
struct InUseRun {
    address: u32,
    size_bytes: u32,
    from: Time,
    to: Time,
}

impl InUseRun {
    fn extend(run: &mut Option<Self>, address: u32, life: &ByteLife, observer: &mut impl Observer) {
        let Some((from, to)) = life.in_use() else {
            return Self::close(run, observer);
        };
        if let Some(run) = run
            && run.address + run.size_bytes == address
            && (run.from, run.to) == (from, to)
        {
            run.size_bytes += 1;
            return;
        }
        Self::close(run, observer);
        *run = Some(Self {
            address,
            size_bytes: 1,
            from,
            to,
        });
    }

    fn close(run: &mut Option<Self>, observer: &mut impl Observer) {
        if let Some(run) = run.take() {
            observer.in_use(Address(run.address), run.size_bytes, run.from, run.to);
        }
    }
}

impl<O: Observer> TraceSink for Profiler<O> {
    fn begin_layer(&mut self, layer: &Layer, time: Time) {
        for tensor in &layer.tensors {
            self.lifetimes.cover(tensor);
            if matches!(tensor.role, Role::Input | Role::Constant | Role::State)
                && layer.span == Span::Layer
            {
                self.lifetimes.each_of(tensor, |lives| {
                    let lives = lives.last_store.iter_mut().zip(lives.last_use);
                    lives
                        .filter(|(last_store, last_use)| **last_store == 0 && **last_use == 0)
                        .for_each(|(last_store, _)| *last_store = time);
                });
            }
        }
        self.earlier_inputs.retain(|input| {
            let tensor = &self.layers[input.layer].tensors[input.tensor].tensor;
            let mut lives = self.lifetimes.tensor(tensor);
            lives.any(|life| life.last_store <= input.begin)
        });
        let pairs = pairs_of(layer);
        self.current = Some(Current {
            span: layer.span,
            produced_over: produced_over(layer),
            sweeps: vec![Sweep::default(); pairs.len()],
            pattern: PatternHasher::default(),
            profile: LayerProfile {
                name: layer.name.clone(),
                operator: layer.operator.clone(),
                begin: time,
                end: time,
                tensors: layer.tensors.iter().cloned().map(untouched).collect(),
                pairs,
                pattern: PatternHasher::default().pattern(),
                data_dependent: None,
            },
        });
    }

    fn events(&mut self, events: &[Event]) {
        if let Some(current) = &mut self.current {
            current.pattern.extend(events);
        }
        for run in EventRun::of(events) {
            match run {
                EventRun::Store(event) => self.store(event),
                EventRun::Loads(loads) => self.loads(loads),
            }
        }
    }

    fn end_layer(&mut self, time: Time) {
        let Some(mut current) = self.current.take() else {
            return;
        };
        if current.span == Span::Gap {
            return;
        }
        let profile = &mut current.profile;
        profile.end = time;
        profile.pattern = current.pattern.pattern();
        for tensor in &mut profile.tensors {
            for life in self.lifetimes.tensor(&tensor.tensor) {
                tensor.never_loaded_bytes += u64::from(life.last_use <= profile.begin);
                tensor.never_stored_bytes += u64::from(life.first_store <= profile.begin);
            }
        }
        for (pair, sweep) in profile.pairs.iter_mut().zip(&current.sweeps) {
            let (input, output) = (
                &profile.tensors[pair.input].tensor,
                &profile.tensors[pair.output].tensor,
            );
            (pair.safe_displacements, pair.observed_in_place) = all_safe(
                &self.lifetimes,
                (input, output),
                profile.begin..profile.end,
                sweep.unsafe_bounds(),
                &mut self.budget,
            );
            pair.displacement_bytes = sweep.displacement();
            pair.binding = sweep.binding();
            pair.observed_overlap_bytes =
                overlap_bytes(sweep.displacement(), input.size_bytes, output.size_bytes);
        }
        // What the layer produced is in use until it is handed over.
        for tensor in &profile.tensors {
            if matches!(tensor.tensor.role, Role::Output | Role::State) {
                self.lifetimes.each_of(&tensor.tensor, |lives| {
                    let lives = lives.first_store.iter().zip(lives.last_use);
                    lives
                        .filter(|(first_store, _)| **first_store > profile.begin)
                        .for_each(|(_, last_use)| *last_use = time);
                });
            }
        }
        for (index, tensor) in profile.tensors.iter().enumerate() {
            if tensor.tensor.role == Role::Input {
                self.earlier_inputs.push(EarlierInput {
                    layer: self.layers.len(),
                    tensor: index,
                    bytes: u64::from(tensor.tensor.address.0)..tensor.tensor.end(),
                    begin: profile.begin,
                });
            }
        }
        self.layers.push(current.profile);
    }
}

/// In an overlapped layout an output lies where an input was.
fn produced_over(layer: &Layer) -> Vec<bool> {
    let shares = |tensor: &Tensor| {
        let bytes = u64::from(tensor.address.0)..tensor.end();
        let mut tensors = layer.tensors.iter();
        tensors.any(|other| {
            !std::ptr::eq(tensor, other)
                && u64::from(other.address.0) < bytes.end
                && bytes.start < other.end()
        })
    };
    let produces = |tensor: &Tensor| matches!(tensor.role, Role::Output | Role::Scratch);
    let tensors = layer.tensors.iter();
    tensors
        .map(|tensor| produces(tensor) && shares(tensor))
        .collect()
}

fn pairs_of(layer: &Layer) -> Vec<Pair> {
    let of_role = |role| {
        layer
            .tensors
            .iter()
            .enumerate()
            .filter(move |(_, tensor)| tensor.role == role)
            .map(|(index, _)| index)
    };
    of_role(Role::Input)
        .flat_map(|input| of_role(Role::Output).map(move |output| (input, output)))
        .map(|(input, output)| Pair {
            input,
            output,
            safe_overlap_bytes: 0,
            refusals: Vec::new(),
            observed_overlap_bytes: 0,
            in_place: false,
            observed_in_place: false,
            displacement_bytes: 0,
            binding: None,
            safe_displacements: SafeDisplacements {
                ranges: Vec::new(),
                complete: true,
            },
        })
        .collect()
}

fn untouched(tensor: Tensor) -> TensorProfile {
    TensorProfile {
        tensor,
        loads: 0,
        stores: 0,
        updates: 0,
        never_loaded_bytes: 0,
        never_stored_bytes: 0,
        load_before_store: None,
        first_store: None,
        used_again_by: None,
        loaded_between_layers: None,
    }
}
