//! `c_info.json`, in which ST Edge AI (once X-CUBE-AI) says what it has generated: memory pools,
//! buffers with their pool, offset, size and first and last epoch, and the operators' inputs and
//! outputs.
//!
//! An epoch is a step. A buffer is taken to be in use in its last one too: the operator that reads
//! it last may be there. Buffers of parameters count where they lie among activations, and then
//! for all steps.

use super::error::number;
use super::{ForeignError, ForeignPlan, Memory, SharedPair, SharedReason, Tool};
use dmo_planner::plan::{Plan, ViolationKind};
use dmo_planner::problem::{Buffer, MAX_TOTAL_BYTES, Problem};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    buffers: Vec<FileBuffer>,
    memory_pools: Vec<Pool>,
    #[serde(default)]
    graphs: Vec<FileGraph>,
}

#[derive(Deserialize)]
struct FileBuffer {
    id: i64,
    #[serde(default)]
    name: String,
    mpool_id: i64,
    offset_start: i64,
    size_bytes: i64,
    epochs: Epochs,
    #[serde(default)]
    is_param: bool,
    #[serde(default)]
    alignment: i64,
}

#[derive(Deserialize)]
struct Epochs {
    start: i64,
    end: i64,
}

#[derive(Deserialize)]
struct Pool {
    id: i64,
    #[serde(default)]
    name: String,
    /// A number as text, or the name of a symbol.
    #[serde(default)]
    address: Option<String>,
    /// -1 where it has no limit.
    #[serde(default = "no_limit")]
    size_bytes: i64,
    #[serde(default)]
    offset_start: i64,
    #[serde(default)]
    alignment: i64,
    /// The pools that it lies over.
    #[serde(default)]
    subpools: Vec<i64>,
}

fn no_limit() -> i64 {
    -1
}

#[derive(Deserialize)]
struct FileGraph {
    #[serde(default)]
    nodes: Vec<Node>,
    #[serde(default)]
    outputs: Vec<i64>,
}

#[derive(Deserialize)]
struct Node {
    #[serde(default)]
    name: String,
    #[serde(default)]
    inputs: Vec<i64>,
    #[serde(default)]
    outputs: Vec<i64>,
}

/// The last epoch that can be read: the step after it has to fit too.
const LAST_EPOCH: u64 = u32::MAX as u64 - 1;

/// Reads the plan.
///
/// # Errors
/// When the text has another form, a number does not fit, a buffer is of no pool, or there are too
/// many buffers.
pub fn parse(text: &str) -> Result<ForeignPlan, ForeignError> {
    let file: File = serde_json::from_str(text)?;
    let mut ids = BTreeSet::new();
    if let Some(twice) = file.buffers.iter().find(|buffer| !ids.insert(buffer.id)) {
        return Err(ForeignError::Twice { id: twice.id });
    }
    let uses = Uses::of(&file.graphs);
    let mut memories = Vec::new();
    for group in groups(&file)? {
        let members: Vec<&FileBuffer> = file
            .buffers
            .iter()
            .filter(|buffer| {
                group.shift_of.contains_key(&buffer.mpool_id) && buffer.size_bytes != 0
            })
            .collect();
        if members.iter().all(|buffer| buffer.is_param) {
            continue;
        }
        memories.push(group.memory(&members, &uses)?);
    }
    if memories.is_empty() {
        return Err(ForeignError::NoPlan);
    }
    Ok(ForeignPlan {
        tool: Tool::StEdgeAi,
        memories,
    })
}

/// Pools that lie over one another: one memory.
struct Group<'a> {
    name: &'a str,
    size_bytes: Option<u64>,
    /// How far above the memory's first byte each pool begins.
    shift_of: BTreeMap<i64, u64>,
    alignment: u64,
}

/// Each pool by itself, but for one that has buffers and lies over others.
fn groups(file: &File) -> Result<Vec<Group<'_>>, ForeignError> {
    let has_buffers = |pool: &Pool| {
        let mut buffers = file.buffers.iter();
        buffers.any(|buffer| buffer.mpool_id == pool.id)
    };
    for buffer in &file.buffers {
        if !file
            .memory_pools
            .iter()
            .any(|pool| pool.id == buffer.mpool_id)
        {
            return Err(ForeignError::NoSuch {
                place: buffer.place(),
                what: "memory pool",
                given: buffer.mpool_id,
                count: file.memory_pools.len(),
            });
        }
    }
    let over: Vec<&Pool> = file
        .memory_pools
        .iter()
        .filter(|pool| !pool.subpools.is_empty() && has_buffers(pool))
        .collect();
    if over.is_empty() {
        let used = file.memory_pools.iter().filter(|pool| has_buffers(pool));
        return used.map(|pool| Group::of(&[pool])).collect();
    }
    // Where pools lie over one another, all of them are one memory, by their addresses.
    let within = |pool: &&Pool| over.iter().any(|over| over.subpools.contains(&pool.id));
    let (together, alone): (Vec<&Pool>, Vec<&Pool>) = file
        .memory_pools
        .iter()
        .partition(|pool| within(pool) || over.iter().any(|over| over.id == pool.id));
    let alone = alone.into_iter().filter(|pool| has_buffers(pool));
    let alone = alone.map(|pool| Group::of(&[pool]));
    alone.chain([Group::of(&together)]).collect()
}

impl<'a> Group<'a> {
    fn of(pools: &[&'a Pool]) -> Result<Self, ForeignError> {
        let mut name = "";
        let (mut size_bytes, mut alignment) = (Some(0), 1);
        let mut shift_of = BTreeMap::new();
        let addresses: Vec<Option<u64>> = pools.iter().map(|pool| pool.address()).collect();
        let lowest = addresses.iter().flatten().min().copied().unwrap_or(0);
        for (pool, address) in pools.iter().zip(&addresses) {
            let shift = match address {
                _ if pools.len() == 1 => 0,
                Some(address) => address - lowest,
                None => {
                    return Err(ForeignError::Address {
                        name: pool.name.clone(),
                    });
                }
            };
            let place = || format!("memory pool {:?}", pool.name);
            let shift = number(shift.into(), MAX_TOTAL_BYTES, "address", place)?;
            let start = pool.offset_start.into();
            let start = number(start, MAX_TOTAL_BYTES, "offset_start", place)?;
            let end = u64::try_from(pool.size_bytes).ok();
            let end = end.map(|bytes| bytes.saturating_add(shift).saturating_add(start));
            size_bytes = size_bytes
                .zip(end)
                .map(|(most, end): (u64, u64)| most.max(end));
            let aligned = pool.alignment.max(1).into();
            let aligned = number(aligned, MAX_ALIGNMENT, "alignment", place)?;
            alignment = alignment.max(aligned);
            if name.is_empty() || !pool.subpools.is_empty() {
                name = &pool.name;
            }
            shift_of.insert(pool.id, shift);
        }
        Ok(Self {
            name,
            size_bytes,
            shift_of,
            alignment,
        })
    }

    fn memory(&self, members: &[&FileBuffer], uses: &Uses<'_>) -> Result<Memory, ForeignError> {
        let mut buffers = Vec::new();
        let mut offsets = Vec::new();
        for buffer in members {
            let place = || buffer.place();
            let size = buffer.size_bytes.into();
            let offset = buffer.offset_start.into();
            let offset = number(offset, MAX_TOTAL_BYTES, "offset_start", place)?;
            offsets.push(offset.saturating_add(self.shift_of[&buffer.mpool_id]));
            buffers.push(Buffer {
                name: buffer.name.clone(),
                size_bytes: number(size, MAX_TOTAL_BYTES, "size_bytes", place)?,
                alive: buffer.alive()?,
                alignment: number(
                    buffer.alignment.max(1).into(),
                    MAX_ALIGNMENT,
                    "alignment",
                    place,
                )?,
                fixed_offset: None,
            });
        }
        let last = buffers.iter().map(|buffer| buffer.alive.end).max();
        for (buffer, member) in buffers.iter_mut().zip(members) {
            if member.is_param {
                buffer.alive = 0..last.unwrap_or(1);
            }
        }
        let memory = self.name.to_owned();
        let problem = Problem::new(buffers, &[]);
        let problem = problem.map_err(|error| ForeignError::Problem { memory, error })?;
        let mut memory = Memory {
            name: self.name.to_owned(),
            size_bytes: self.size_bytes,
            problem,
            plan: Plan { offsets },
            shared: Vec::new(),
            alignment: self.alignment,
        };
        memory.shared = shared(&memory, members, uses);
        Ok(memory)
    }
}

/// Alignments are small.
const MAX_ALIGNMENT: u64 = 1 << 20;

impl Pool {
    fn address(&self) -> Option<u64> {
        self.address.as_ref()?.parse().ok()
    }
}

impl FileBuffer {
    fn place(&self) -> String {
        format!("buffer {} {:?}", self.id, self.name)
    }

    /// Its epochs, the last one included, as steps.
    fn alive(&self) -> Result<std::ops::Range<u32>, ForeignError> {
        let Epochs { start, end } = self.epochs;
        let place = || self.place();
        let first = number(start.into(), LAST_EPOCH, "epochs.start", place)? as u32;
        let last = number(end.into(), LAST_EPOCH, "epochs.end", place)? as u32;
        if last < first {
            return Err(ForeignError::Epochs {
                place: self.place(),
                start,
                end,
            });
        }
        Ok(first..last + 1)
    }
}

/// Which operators use which buffer.
struct Uses<'a> {
    nodes: Vec<&'a Node>,
    /// The first and the last operator that has a buffer as input or output.
    of: BTreeMap<i64, (usize, usize)>,
}

impl<'a> Uses<'a> {
    fn of(graphs: &'a [FileGraph]) -> Self {
        let nodes: Vec<&Node> = graphs.iter().flat_map(|graph| &graph.nodes).collect();
        let mut of = BTreeMap::new();
        for (index, node) in nodes.iter().enumerate() {
            for &id in node.inputs.iter().chain(&node.outputs) {
                let uses = of.entry(id).or_insert((index, index));
                uses.1 = index;
            }
        }
        // The application reads what the model gives.
        for id in graphs.iter().flat_map(|graph| &graph.outputs) {
            of.entry(*id).or_insert((usize::MAX, usize::MAX)).1 = usize::MAX;
        }
        Self { nodes, of }
    }

    /// The operator that reads `input` last and is the first to have `output`.
    fn handing_over(&self, input: i64, output: i64) -> Option<&'a Node> {
        let (last, first) = (self.of.get(&input)?.1, self.of.get(&output)?.0);
        let node = self.nodes.get(last).filter(|_| last == first)?;
        let reads = node.inputs.contains(&input) && node.outputs.contains(&output);
        reads.then_some(*node)
    }
}

/// The pairs that share bytes, where the file shows why.
fn shared(memory: &Memory, members: &[&FileBuffer], uses: &Uses<'_>) -> Vec<SharedPair> {
    let mut pairs = Vec::new();
    for violation in memory.plan.check(&memory.problem) {
        let ViolationKind::TooClose { other, .. } = violation.kind else {
            continue;
        };
        let buffers = [violation.buffer, other];
        let [one, other] = buffers.map(|index| members[index]);
        let lives = buffers.map(|index| memory.problem.buffers()[index].alive.clone());
        let [first, second] = lives;
        let same = first == second && one.is_same_place(other);
        let node = uses.handing_over(one.id, other.id);
        let node = node.or_else(|| uses.handing_over(other.id, one.id));
        let reason = match node {
            _ if one.is_param || other.is_param => continue,
            Some(node) => SharedReason::InputDies(node.name.clone()),
            None if same => SharedReason::OneBuffer,
            None => continue,
        };
        pairs.push(SharedPair { buffers, reason });
    }
    pairs
}

impl FileBuffer {
    fn is_same_place(&self, other: &Self) -> bool {
        let place = |buffer: &Self| (buffer.mpool_id, buffer.offset_start, buffer.size_bytes);
        place(self) == place(other)
    }
}
