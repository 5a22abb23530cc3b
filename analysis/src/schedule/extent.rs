//! The least memory in which the tensors of one step can lie when some may overlap.

use crate::graph::overlaps::Sharing;

/// An input and an output, by their place among those of the step, and how they may share
/// memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SharedPair {
    /// Which input.
    pub input: usize,
    /// Which output.
    pub output: usize,
    /// In what way.
    pub sharing: Sharing,
}

/// At most this many tensors that hang together by sharing are arranged in all ways.
const MOST_ARRANGED: usize = 7;

/// The least extent, in bytes, of any arrangement of inputs and outputs of the given sizes
/// in which all lie apart but for `pairs`; the inputs in `pairs` have to be dying.
///
/// Where more than 7 tensors hang together by `pairs` it is a lower bound of that extent:
/// inputs lie apart from inputs, and outputs from outputs.
///
/// Pairs with a tensor that does not exist are ignored.
pub fn least_extent(inputs: &[u64], outputs: &[u64], pairs: &[SharedPair]) -> u64 {
    let blocks: Vec<u64> = inputs.iter().chain(outputs).copied().collect();
    let pairs: Vec<(usize, usize, Sharing)> = pairs
        .iter()
        .filter(|pair| pair.input < inputs.len() && pair.output < outputs.len())
        .map(|pair| (pair.input, inputs.len() + pair.output, pair.sharing))
        .filter(|&(input, output, _)| blocks[input] > 0 && blocks[output] > 0)
        .collect();
    // Tensors of different components lie apart. Whatever lies apart from a component can
    // be taken out of an arrangement and the gap closed, so that extents add up.
    components(blocks.len(), &pairs)
        .iter()
        .map(|members| extent_of_component(&blocks, inputs.len(), members, &pairs))
        .sum()
}

/// Blocks that hang together by pairs.
fn components(blocks: usize, pairs: &[(usize, usize, Sharing)]) -> Vec<Vec<usize>> {
    let mut found: Vec<Vec<usize>> = (0..blocks).map(|block| vec![block]).collect();
    for &(input, output, _) in pairs {
        let place = |block: usize| found.iter().position(|members| members.contains(&block));
        if let (Some(one), Some(other)) = (place(input), place(output))
            && one != other
        {
            let moved = found.swap_remove(one.max(other));
            found[one.min(other)].extend(moved);
        }
    }
    found
}

fn extent_of_component(
    blocks: &[u64],
    inputs: usize,
    members: &[usize],
    pairs: &[(usize, usize, Sharing)],
) -> u64 {
    if members.len() > MOST_ARRANGED {
        let sum = |side: bool| -> u64 {
            let on_side = members.iter().filter(|&&block| (block < inputs) == side);
            on_side.map(|&block| blocks[block]).sum()
        };
        return sum(true).max(sum(false));
    }
    let sizes: Vec<u64> = members.iter().map(|&block| blocks[block]).collect();
    let place = |block: usize| members.iter().position(|&member| member == block);
    let mut arrangement = Arrangement {
        // The upper of two blocks starts where the lower one ends, or later.
        gaps: sizes.iter().map(|&size| vec![size; sizes.len()]).collect(),
        best: sizes.iter().sum(),
        sizes,
    };
    let mut aliases = Vec::new();
    for &(input, output, sharing) in pairs {
        let (Some(input), Some(output)) = (place(input), place(output)) else {
            continue;
        };
        match sharing {
            Sharing::Alias => aliases.push((input, output)),
            Sharing::Displaced(displacement) => {
                let gap = &mut arrangement.gaps[output][input];
                *gap = displacement.min(*gap);
            }
        }
    }
    let apart = (0..arrangement.sizes.len()).map(|block| vec![block]);
    arrangement.with_aliases(&aliases, apart.collect());
    arrangement.best
}

/// The search for the least extent over all arrangements.
///
/// Blocks of an arrangement, sorted by start, are each above all before them: a lower block
/// is at least its gap below an upper one, in whichever way the pair is granted, for gaps
/// are not negative. Conversely, blocks placed in any sequence, each as low as the gaps
/// allow, make an arrangement. So the sequences are all there is to try.
struct Arrangement {
    sizes: Vec<u64>,
    /// Least distance of starts, when the second is above the first.
    gaps: Vec<Vec<u64>>,
    best: u64,
}

impl Arrangement {
    /// Tries each set of aliases that leaves inputs apart from inputs and outputs from
    /// outputs. A group's members start at the same byte.
    fn with_aliases(&mut self, aliases: &[(usize, usize)], groups: Vec<Vec<usize>>) {
        let Some((&(input, output), rest)) = aliases.split_first() else {
            self.place(&groups, &mut Vec::new(), 0);
            return;
        };
        let alone = |block: usize| groups.iter().position(|group| group[..] == [block]);
        if let (Some(one), Some(other)) = (alone(input), alone(output)) {
            let mut joined = groups.clone();
            joined[one] = vec![input, output];
            joined.swap_remove(other);
            self.with_aliases(rest, joined);
        }
        self.with_aliases(rest, groups);
    }

    /// Places the groups that are not placed yet, in all sequences.
    fn place(&mut self, groups: &[Vec<usize>], placed: &mut Vec<(usize, u64)>, extent: u64) {
        if extent >= self.best {
            return;
        }
        if placed.len() == groups.len() {
            self.best = extent;
            return;
        }
        for (index, group) in groups.iter().enumerate() {
            if placed.iter().any(|&(other, _)| other == index) {
                continue;
            }
            let lowest = |&(other, start): &(usize, u64)| start + self.gap(&groups[other], group);
            let start = placed.iter().map(lowest).max().unwrap_or(0);
            let size = group.iter().map(|&block| self.sizes[block]).max();
            placed.push((index, start));
            self.place(groups, placed, extent.max(start + size.unwrap_or(0)));
            placed.pop();
        }
    }

    fn gap(&self, lower: &[usize], upper: &[usize]) -> u64 {
        let gaps = lower
            .iter()
            .flat_map(|&low| upper.iter().map(move |&high| self.gaps[low][high]));
        gaps.max().unwrap_or(0)
    }
}
