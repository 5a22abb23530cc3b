//! The profiler on traces made by hand, and its stretches of use against their
//! definition on random ones.
#![allow(clippy::unwrap_used, reason = "a test fails by panic")]

use dmo_analysis::profile::{AccessClass, Observer, OtherInput, Profile, Profiler, Refusal};
use dmo_analysis::trace::{
    AccessKind, Address, ElementType, Event, Layer, Role, Span, Tensor, Time, TraceSink,
};
use proptest::prelude::*;
use std::collections::BTreeMap;

fn tensor(name: &str, role: Role, address: u32, size_bytes: u32) -> Tensor {
    Tensor {
        name: name.to_owned(),
        role,
        address: Address(address),
        size_bytes,
        element_type: ElementType::Int8,
    }
}

fn input(address: u32, size_bytes: u32) -> Tensor {
    tensor("in", Role::Input, address, size_bytes)
}

fn output(address: u32, size_bytes: u32) -> Tensor {
    tensor("out", Role::Output, address, size_bytes)
}

/// Plays a trace step by step, one instruction each, into a profiler.
#[derive(Default)]
struct Script<O: Observer = ()> {
    profiler: Profiler<O>,
    time: Time,
}

impl<O: Observer> Script<O> {
    fn begin(&mut self, span: Span, name: &str, tensors: Vec<Tensor>) -> &mut Self {
        let layer = Layer {
            span,
            name: name.to_owned(),
            operator: "test".to_owned(),
            tensors,
        };
        self.time += 1;
        self.profiler.begin_layer(&layer, self.time);
        self
    }

    fn layer(&mut self, name: &str, tensors: &[Tensor]) -> &mut Self {
        self.begin(Span::Layer, name, tensors.to_vec())
    }

    /// A gap begins where the layer ended and ends where the next one begins.
    fn gap(&mut self, tensors: &[Tensor]) -> &mut Self {
        self.time -= 1;
        self.begin(Span::Gap, "", tensors.to_vec())
    }

    fn access(&mut self, kind: AccessKind, tensor: u16, offset: u32, size_bytes: u8) -> &mut Self {
        self.time += 1;
        self.profiler.events(&[Event {
            time: self.time,
            pc: Address(0x1000),
            offset,
            tensor,
            size_bytes,
            kind,
        }]);
        self
    }

    fn load(&mut self, tensor: u16, offset: u32, size_bytes: u8) -> &mut Self {
        self.access(AccessKind::Load, tensor, offset, size_bytes)
    }

    fn store(&mut self, tensor: u16, offset: u32, size_bytes: u8) -> &mut Self {
        self.access(AccessKind::Store, tensor, offset, size_bytes)
    }

    /// Loads all of tensor 0, then stores all of tensor 1, byte by byte in turns.
    fn copy(&mut self, bytes: u32) -> &mut Self {
        for offset in 0..bytes {
            self.load(0, offset, 1).store(1, offset, 1);
        }
        self
    }

    fn end(&mut self) -> &mut Self {
        self.time += 1;
        self.profiler.end_layer(self.time);
        self
    }

    /// Ends a gap: the next begin is at the same time.
    fn end_gap(&mut self) -> &mut Self {
        self.end();
        self.time -= 1;
        self
    }
}

impl Script {
    fn profile(&mut self) -> Profile {
        std::mem::take(&mut self.profiler).finish().0
    }
}

/// (observed, safe, refusals) of the only pair of a layer.
fn only_pair(profile: &Profile, layer: usize) -> (u32, u32, &[Refusal]) {
    let pairs = &profile.layers[layer].pairs;
    assert_eq!(pairs.len(), 1);
    let pair = &pairs[0];
    (
        pair.observed_overlap_bytes,
        pair.safe_overlap_bytes,
        &pair.refusals,
    )
}

#[test]
fn counts_of_one_layer() {
    let mut script = Script::default();
    script.layer(
        "l",
        &[
            input(0, 8),
            output(100, 8),
            tensor("weights", Role::Constant, 200, 4),
        ],
    );
    script.load(0, 0, 4).load(0, 2, 4).load(2, 0, 4);
    // Stored, read back and stored again: one update. Stored twice: none.
    script.store(1, 0, 2).load(1, 0, 2).store(1, 0, 2);
    script.store(1, 2, 1).store(1, 2, 1);
    // Loaded, but before the last store: none.
    script.store(1, 0, 2);
    // Only half of what this stores has been loaded since: no update.
    script.load(1, 2, 1).store(1, 2, 2);
    script.end();
    let profile = script.profile();
    let layer = &profile.layers[0];
    assert_eq!(
        (layer.name.as_str(), layer.operator.as_str()),
        ("l", "test")
    );
    assert_eq!((layer.begin, layer.end, layer.instructions()), (1, 13, 12));
    assert_eq!((layer.loads(), layer.stores()), (5, 6));
    let [input, output, weights] = &layer.tensors[..] else {
        unreachable!("three tensors");
    };
    assert_eq!((input.loads, input.stores, input.updates), (2, 0, 0));
    assert_eq!((input.never_loaded_bytes, input.never_stored_bytes), (2, 8));
    assert_eq!((output.loads, output.stores, output.updates), (2, 6, 1));
    assert_eq!(
        (output.never_loaded_bytes, output.never_stored_bytes),
        (5, 4)
    );
    assert_eq!(output.first_store.unwrap().time, 5);
    assert_eq!(output.load_before_store, None);
    assert_eq!((weights.loads, weights.never_loaded_bytes), (1, 0));
    assert_eq!(input.load_before_store.unwrap().time, 2);
    assert_eq!(layer.data_dependent, None);
}

#[test]
fn overlap_of_one_pair() {
    let mut script = Script::default();
    // The store of byte 1 comes before the load of byte 0: displacement 2 at least.
    script.layer("l", &[input(0, 4), output(100, 6)]);
    script.store(1, 0, 2).load(0, 0, 4).store(1, 2, 4).end();
    let profile = script.profile();
    let pair = &profile.layers[0].pairs[0];
    assert_eq!((pair.input, pair.output), (0, 1));
    assert_eq!(
        (pair.displacement_bytes, pair.observed_overlap_bytes),
        (2, 4)
    );
    assert_eq!((pair.safe_overlap_bytes, &pair.refusals[..]), (4, &[][..]));
    let binding = pair.binding.unwrap();
    assert_eq!((binding.store.time, binding.load.time), (2, 3));
    assert_eq!(pair.safe_displacements.ranges.last().unwrap().from, Some(2));
    assert!((pair.percent(&profile.layers[0]) - 100.0).abs() < 1e-9);
}

/// Two channels of two bytes, each loaded before it is stored: displacement 1 is not safe, 0 is.
#[test]
fn in_place_alone() {
    let mut script = Script::default();
    let channels = |script: &mut Script| {
        script.layer("l", &[input(0, 4), output(100, 4)]);
        for channel in [0, 1] {
            script.load(0, channel, 1).load(0, channel + 2, 1);
            script.store(1, channel, 1).store(1, channel + 2, 1);
        }
        script.end();
    };
    channels(&mut script);
    let profile = script.profile();
    let pair = &profile.layers[0].pairs[0];
    assert_eq!((pair.displacement_bytes, pair.safe_overlap_bytes), (2, 2));
    assert!(pair.in_place && pair.observed_in_place);
    // Used again: nothing may lie on it.
    channels(&mut script);
    channels(&mut script);
    let profile = script.profile();
    let [first, last] = [0, 1].map(|layer| &profile.layers[layer].pairs[0]);
    assert!(!first.in_place && first.observed_in_place);
    assert!(last.in_place);
    // The other way round, channel 1 is stored before channel 0 is loaded.
    script.layer("l", &[input(0, 2), output(100, 2)]);
    script
        .store(1, 0, 1)
        .load(0, 0, 1)
        .load(0, 1, 1)
        .store(1, 1, 1)
        .end();
    let profile = script.profile();
    assert!(!profile.layers[0].pairs[0].observed_in_place);
}

#[test]
fn pairs_are_all_inputs_with_all_outputs() {
    let mut script = Script::default();
    let tensors = [
        tensor("a", Role::Input, 0, 4),
        tensor("x", Role::Output, 10, 4),
        tensor("scratch", Role::Scratch, 20, 4),
        tensor("b", Role::Input, 30, 4),
        tensor("y", Role::Output, 40, 4),
        tensor("state", Role::State, 50, 4),
    ];
    script.layer("l", &tensors);
    // `a` is done before `x` is stored, `b` only after it.
    script
        .load(0, 0, 4)
        .store(1, 0, 4)
        .load(3, 0, 4)
        .store(4, 0, 4)
        .end();
    let profile = script.profile();
    let overlaps: Vec<_> = profile.layers[0]
        .pairs
        .iter()
        .map(|pair| (pair.input, pair.output, pair.safe_overlap_bytes))
        .collect();
    assert_eq!(overlaps, [(0, 1, 4), (0, 4, 4), (3, 1, 0), (3, 4, 4)]);
}

#[test]
fn stores_to_the_input_refuse() {
    let mut script = Script::default();
    script
        .layer("l", &[input(0, 4), output(100, 4)])
        .copy(4)
        .store(0, 0, 1)
        .end();
    assert_eq!(
        only_pair(&script.profile(), 0),
        (4, 0, &[Refusal::StoresToInput][..])
    );
}

#[test]
fn loads_of_the_old_output_refuse() {
    let mut script = Script::default();
    script.layer("l", &[input(0, 4), output(100, 4)]);
    script.store(1, 0, 1).load(1, 0, 2).copy(4).end();
    let profile = script.profile();
    let (_, safe, refusals) = only_pair(&profile, 0);
    assert_eq!((safe, refusals), (0, &[Refusal::LoadsOldOutput][..]));
    assert_eq!(
        profile.layers[0].tensors[1].load_before_store.unwrap().time,
        3
    );
}

/// What an earlier layer stored is old too, also when that layer's end, the gap and
/// this begin follow each other without an instruction between.
#[test]
fn stores_of_earlier_layers_are_old() {
    let tensors = [input(0, 4), output(100, 4)];
    let mut script = Script::default();
    script.layer("first", &tensors).copy(4).end();
    script.layer("second", &tensors).load(1, 0, 1).copy(4).end();
    let profile = script.profile();
    assert!(only_pair(&profile, 1).2.contains(&Refusal::LoadsOldOutput));

    let mut script = Script::default();
    script.layer("first", &tensors).copy(4).end();
    // The gap's last store and the begin of the next layer fall on one instruction.
    script.gap(&tensors).store(1, 3, 1);
    let time = script.time;
    script.profiler.end_layer(time);
    script.time -= 1;
    script.layer("second", &tensors).load(1, 3, 1).copy(4).end();
    let profile = script.profile();
    assert!(only_pair(&profile, 1).2.contains(&Refusal::LoadsOldOutput));
    assert_eq!(profile.layers[1].tensors[1].never_stored_bytes, 0);
}

#[test]
fn missing_evidence_refuses() {
    let tensors = [input(0, 4), output(100, 4)];
    let mut script = Script::default();
    script.layer("only loads", &tensors).load(0, 0, 4).end();
    script.layer("only stores", &tensors).store(1, 0, 4).end();
    script.layer("nothing", &tensors).end();
    let profile = script.profile();
    for layer in 0..3 {
        assert_eq!(
            only_pair(&profile, layer),
            (4, 0, &[Refusal::NoEvidence][..])
        );
    }
}

/// x -> y -> z, and x once more beside z.
#[test]
fn residual_input_is_used_again() {
    let (x, y, z, sum) = (0, 100, 200, 300);
    let mut script = Script::default();
    script
        .layer("first", &[input(x, 4), output(y, 4)])
        .copy(4)
        .end();
    script
        .layer("second", &[input(y, 4), output(z, 4)])
        .copy(4)
        .end();
    script.layer(
        "add",
        &[
            input(z, 4),
            output(sum, 4),
            tensor("skip", Role::Input, x, 4),
        ],
    );
    script.load(2, 0, 4).copy(4).end();
    let profile = script.profile();
    let again = Refusal::InputUsedAgain("add".to_owned());
    assert_eq!(only_pair(&profile, 0), (4, 0, &[again][..]));
    assert_eq!(
        profile.layers[0].tensors[0].used_again_by.as_deref(),
        Some("add")
    );
    assert_eq!(only_pair(&profile, 1), (4, 4, &[][..]));
    assert_eq!(profile.layers[2].pairs.len(), 2);
    assert!(
        profile.layers[2]
            .pairs
            .iter()
            .all(|pair| pair.refusals.is_empty())
    );
}

/// One layer loads the first half of a buffer, a later one the second half: the first
/// one's output must not be laid over what it did not load itself.
#[test]
fn input_that_is_loaded_in_parts_is_used_again() {
    let mut script = Script::default();
    script
        .layer("producer", &[input(500, 8), output(0, 8)])
        .copy(8)
        .end();
    script
        .layer("first half", &[input(0, 8), output(100, 4)])
        .copy(4)
        .end();
    script
        .layer("second half", &[input(0, 8), output(200, 4)])
        .load(0, 4, 4)
        .store(1, 0, 4)
        .end();
    let profile = script.profile();
    let again = Refusal::InputUsedAgain("second half".to_owned());
    assert_eq!(only_pair(&profile, 1), (4, 0, &[again][..]));
    assert_eq!(only_pair(&profile, 2), (4, 4, &[][..]));
}

/// Two layers use one half each, a third one loads both with one instruction.
#[test]
fn one_load_may_use_the_inputs_of_two_layers_again() {
    let mut script = Script::default();
    script
        .layer("low", &[input(0, 4), output(100, 4)])
        .copy(4)
        .end();
    script
        .layer("high", &[input(4, 4), output(200, 4)])
        .copy(4)
        .end();
    script
        .layer("both", &[input(0, 8), output(300, 8)])
        .load(0, 0, 8)
        .store(1, 0, 8)
        .end();
    let profile = script.profile();
    let again = [Refusal::InputUsedAgain("both".to_owned())];
    assert_eq!(only_pair(&profile, 0).2, again);
    assert_eq!(only_pair(&profile, 1).2, again);
}

#[test]
fn new_content_is_no_second_use() {
    let x = input(0, 4);
    let first = [x.clone(), output(100, 4)];
    let second = [x.clone(), output(200, 4)];
    for (stored, refused) in [(4, false), (3, true)] {
        let mut script = Script::default();
        script.layer("first", &first).copy(4).end();
        script.gap(&[x.clone(), output(100, 4)]);
        for offset in 0..stored {
            script.store(0, offset, 1);
        }
        script.end_gap();
        script.layer("second", &second).copy(4).end();
        let profile = script.profile();
        assert_eq!(profile.layers.len(), 2);
        assert_eq!(!only_pair(&profile, 0).2.is_empty(), refused);
        assert!(only_pair(&profile, 1).2.is_empty());
    }
    // A layer may give the bytes a new meaning as well.
    let mut script = Script::default();
    script.layer("first", &first).copy(4).end();
    script
        .layer("reuse", &[input(100, 4), output(0, 4)])
        .copy(4)
        .end();
    script.layer("second", &second).copy(4).end();
    let profile = script.profile();
    assert!(only_pair(&profile, 0).2.is_empty());
}

#[test]
fn layer_that_does_not_end_is_left_out() {
    let mut script = Script::default();
    script
        .layer("first", &[input(0, 4), output(100, 4)])
        .copy(4)
        .end();
    script
        .layer("second", &[input(0, 4), output(100, 4)])
        .copy(2);
    assert_eq!(script.profile().layers.len(), 1);
}

fn run_on(loads: &[u32], address: u32) -> Profile {
    let mut script = Script::default();
    script.layer("l", &[input(address, 4), output(100, 4)]);
    for &offset in loads {
        script.load(0, offset, 1);
    }
    script.copy(4).end();
    script
        .layer("other", &[input(100, 4), output(200, 4)])
        .copy(4)
        .end();
    script.profile()
}

#[test]
fn runs_on_other_inputs_are_compared() {
    let mut same = run_on(&[0, 1], 0);
    let alone = same.clone();
    same.compare_inputs(&others(&[run_on(&[0, 1], 0)]));
    assert_eq!(same.layers[0].data_dependent, Some(false));
    assert_eq!(only_pair(&same, 0), only_pair(&alone, 0));

    for other in [run_on(&[1, 0], 0), run_on(&[0, 1, 1], 0)] {
        // A later run that agrees does not make it good.
        let mut differs = run_on(&[0, 1], 0);
        differs.compare_inputs(&others(&[other, run_on(&[0, 1], 0)]));
        assert_eq!(differs.layers[0].data_dependent, Some(true));
        assert_eq!(
            only_pair(&differs, 0),
            (4, 0, &[Refusal::DataDependent][..])
        );
        assert_eq!(differs.layers[1].data_dependent, Some(false));
        assert_eq!(only_pair(&differs, 1), (4, 4, &[][..]));
    }

    // A layer that fails depends on its data; one that was not tried is unchecked.
    let mut failed = run_on(&[0, 1], 0);
    failed.compare_inputs(&[vec![OtherInput::Failed("fault".to_owned())], vec![]]);
    assert_eq!(failed.layers[0].data_dependent, Some(true));
    assert_eq!(failed.layers[1].data_dependent, None);

    // Another number of layers: all of them depend on the data.
    let mut short = run_on(&[0, 1], 0);
    short.compare_inputs(&others(&[run_on(&[0, 1], 0)])[..1]);
    for layer in &short.layers {
        assert_eq!(layer.data_dependent, Some(true));
    }
}

/// What runs on other inputs found, layer by layer.
fn others(runs: &[Profile]) -> Vec<Vec<OtherInput>> {
    (0..runs[0].layers.len())
        .map(|layer| {
            runs.iter()
                .map(|run| OtherInput::Accesses(run.layers[layer].pattern))
                .collect()
        })
        .collect()
}

/// The pattern is about bytes and their order, not about time or instructions.
#[test]
fn pattern_ignores_times() {
    let mut slow = Script::<()> {
        time: 1000,
        ..Script::default()
    };
    slow.layer("l", &[input(0, 4), output(100, 4)]).copy(4);
    slow.time += 50;
    slow.load(0, 0, 1).end();
    let mut quick = Script::default();
    quick
        .layer("l", &[input(0, 4), output(100, 4)])
        .copy(4)
        .load(0, 0, 1)
        .end();
    assert_eq!(
        slow.profile().layers[0].pattern,
        quick.profile().layers[0].pattern
    );
}

/// Notes what the profiler reports.
#[derive(Debug, Default)]
struct Notes {
    classes: Vec<AccessClass>,
    /// Per byte.
    in_use: Vec<(u32, Time, Time)>,
}

impl Observer for Notes {
    fn access(&mut self, _: Address, _: &Event, class: AccessClass) {
        self.classes.push(class);
    }
    fn in_use(&mut self, address: Address, size_bytes: u32, from: Time, to: Time) {
        for byte in 0..size_bytes {
            self.in_use.push((address.0 + byte, from, to));
        }
    }
}

#[test]
fn observer_sees_classes_and_use() {
    let mut script = Script::<Notes>::default();
    script.layer("first", &[input(0, 2), output(100, 2)]);
    script
        .load(0, 0, 1)
        .store(1, 0, 2)
        .load(1, 0, 1)
        .store(1, 0, 1)
        .end();
    script
        .gap(&[input(0, 2), output(100, 2)])
        .store(0, 0, 2)
        .end_gap();
    script
        .layer("second", &[input(0, 2), output(100, 2)])
        .load(0, 0, 2)
        .end();
    let (_, notes) = script.profiler.finish();
    use AccessClass::{Load, Store, Update};
    assert_eq!(notes.classes, [Load, Store, Load, Update, Store, Load]);
    let mut in_use = notes.in_use;
    in_use.sort_unstable();
    assert_eq!(
        in_use,
        [
            // From the begin of the layer that it is an input of; then from the gap.
            (0, 1, 2),
            (0, 7, 9),
            (1, 7, 9),
            // Read back; then handed over at the layer's end.
            (100, 3, 4),
            (100, 5, 6),
            (101, 3, 6),
        ]
    );
}

#[derive(Debug, Clone)]
struct RandomSpan {
    is_gap: bool,
    /// Cuts of the memory into tensors.
    cuts: Vec<u32>,
    roles: Vec<Role>,
    accesses: Vec<(prop::sample::Index, bool, u32, u8)>,
}

const MEMORY_BYTES: u32 = 40;
/// Just below a page's end, so that tensors span two pages.
const MEMORY: u32 = 0x2000_0fec;

fn random_spans() -> impl Strategy<Value = Vec<RandomSpan>> {
    let role = prop::sample::select(vec![
        Role::Input,
        Role::Output,
        Role::Scratch,
        Role::Constant,
        Role::State,
    ]);
    let access = (
        any::<prop::sample::Index>(),
        any::<bool>(),
        0..MEMORY_BYTES,
        1_u8..=8,
    );
    let span = (
        prop::bool::weighted(0.2),
        prop::collection::btree_set(0..MEMORY_BYTES, 2..6),
        prop::collection::vec(role, 5),
        prop::collection::vec(access, 0..30),
    )
        .prop_map(|(is_gap, cuts, roles, accesses)| RandomSpan {
            is_gap,
            cuts: cuts.into_iter().collect(),
            roles,
            accesses,
        });
    prop::collection::vec(span, 1..6)
}

/// Everything that happens to one byte, in order of time.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Deed {
    Store(Time),
    Use(Time),
}

/// The definition: from each store to the last use before the next store.
fn stretches(deeds: &[Deed]) -> Vec<(Time, Time)> {
    let mut stretches = Vec::new();
    let mut from = 0;
    let mut to = None;
    for deed in deeds {
        match *deed {
            Deed::Use(time) => to = Some(time),
            Deed::Store(time) => {
                stretches.extend(to.take().map(|to| (from, to)));
                from = time;
            }
        }
    }
    stretches.extend(to.map(|to| (from, to)));
    stretches
}

/// A random trace as it was played, and all that is needed to judge the profile.
#[derive(Default)]
struct Played {
    script: Script<Notes>,
    /// By byte.
    deeds: BTreeMap<u32, Vec<Deed>>,
    layers: Vec<PlayedLayer>,
    /// Of gaps too.
    stores: Vec<(u32, Time)>,
}

struct PlayedLayer {
    begin: Time,
    tensors: Vec<Tensor>,
    loads: Vec<(u32, Time)>,
}

impl Played {
    fn deed(&mut self, byte: u32, deed: Deed) {
        self.deeds.entry(byte).or_default().push(deed);
    }

    fn span(&mut self, span: &RandomSpan) {
        let tensors: Vec<Tensor> = span
            .cuts
            .windows(2)
            .zip(&span.roles)
            .map(|(cut, &role)| tensor("t", role, MEMORY + cut[0], cut[1] - cut[0]))
            .collect();
        if span.is_gap {
            self.script.begin(Span::Gap, "", tensors.clone());
        } else {
            self.begin_layer(&tensors);
        }
        let mut stored = Vec::new();
        for &(index, is_store, offset, size_bytes) in &span.accesses {
            let index = index.index(tensors.len());
            let tensor = &tensors[index];
            let size_bytes = size_bytes.min(tensor.size_bytes as u8);
            let offset = offset % (tensor.size_bytes - u32::from(size_bytes) + 1);
            let first = tensor.address.0 + offset;
            let bytes = first..first + u32::from(size_bytes);
            if is_store || span.is_gap {
                self.script.store(index as u16, offset, size_bytes);
                for byte in bytes {
                    self.deed(byte, Deed::Store(self.script.time));
                    self.stores.push((byte, self.script.time));
                    if matches!(tensor.role, Role::Output | Role::State) {
                        stored.push(byte);
                    }
                }
            } else {
                self.script.load(index as u16, offset, size_bytes);
                let layer = self.layers.last_mut().unwrap();
                layer
                    .loads
                    .extend(bytes.clone().map(|byte| (byte, self.script.time)));
                for byte in bytes {
                    self.deed(byte, Deed::Use(self.script.time));
                }
            }
        }
        self.script.end();
        if !span.is_gap {
            // Handed over.
            for byte in stored {
                self.deed(byte, Deed::Use(self.script.time));
            }
        }
    }

    fn begin_layer(&mut self, tensors: &[Tensor]) {
        let name = self.layers.len().to_string();
        self.script.layer(&name, tensors);
        self.layers.push(PlayedLayer {
            begin: self.script.time,
            tensors: tensors.to_vec(),
            loads: Vec::new(),
        });
        // Content that nobody is known to have stored is there from here on.
        for tensor in tensors {
            if matches!(tensor.role, Role::Input | Role::Constant | Role::State) {
                for byte in tensor.address.0..tensor.address.0 + tensor.size_bytes {
                    if !self.deeds.contains_key(&byte) {
                        self.deed(byte, Deed::Store(self.script.time));
                    }
                }
            }
        }
    }

    /// The definition: the first later layer that loads a byte of the tensor which
    /// nothing has stored since this layer began.
    fn used_again_by(&self, layer: usize, tensor: &Tensor) -> Option<String> {
        let begin = self.layers[layer].begin;
        let bytes = tensor.address.0..tensor.address.0 + tensor.size_bytes;
        (layer + 1..self.layers.len())
            .find(|&later| {
                self.layers[later].loads.iter().any(|&(byte, load)| {
                    let is_new =
                        |&(stored, store)| stored == byte && (begin..load).contains(&store);
                    bytes.contains(&byte) && !self.stores.iter().any(is_new)
                })
            })
            .map(|later| later.to_string())
    }
}

fn play(spans: &[RandomSpan]) -> Played {
    let mut played = Played::default();
    for span in spans {
        played.span(span);
    }
    played
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn use_is_from_each_store_to_the_last_use(spans in random_spans()) {
        let played = play(&spans);
        let expected: Vec<_> = played
            .deeds
            .iter()
            .flat_map(|(&byte, deeds)| {
                stretches(deeds).into_iter().map(move |(from, to)| (byte, from, to))
            })
            .collect();
        let (_, notes) = played.script.profiler.finish();
        let mut reported = notes.in_use;
        reported.sort_unstable();
        prop_assert_eq!(reported, expected);
    }

    #[test]
    fn used_again_is_loaded_by_a_later_layer(spans in random_spans()) {
        let mut played = play(&spans);
        let (profile, _) = std::mem::take(&mut played.script.profiler).finish();
        for (index, layer) in played.layers.iter().enumerate() {
            for (position, tensor) in layer.tensors.iter().enumerate() {
                let expected = match tensor.role {
                    Role::Input => played.used_again_by(index, tensor),
                    _ => None,
                };
                let given = &profile.layers[index].tensors[position].used_again_by;
                prop_assert_eq!(given, &expected);
            }
        }
    }
}
