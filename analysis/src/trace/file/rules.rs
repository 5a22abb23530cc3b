//! What a valid trace is.
//!
//! Consumers index arrays by an event's tensor and offset and keep a record for every
//! byte that a tensor covers. These rules are what makes that safe.

use super::{
    LAYERS_LIMIT, PAIRS_LIMIT, PAIRS_PER_LAYER_LIMIT, SITES_PER_LAYER_LIMIT,
    TENSOR_MEMORY_LIMIT_BYTES, TENSORS_PER_GAP_LIMIT, TENSORS_PER_LAYER_LIMIT,
};
use crate::trace::{AccessKind, Address, Ending, Event, Layer, Role, Span, Tensor, Time};

/// A rule that a trace breaks, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {rule}")]
pub struct Violation {
    /// For instance `layer 3 'conv1', event 17`. Layers and events count from 1.
    pub place: String,
    /// The rule.
    pub rule: Rule,
}

/// What a trace must not be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages are the documentation")]
pub enum Rule {
    #[error("begins before layer '{open}' has ended; layers do not nest")]
    NestedLayer { open: String },
    #[error("happens outside of any layer")]
    OutsideLayer,
    #[error("layer '{open}' has not ended")]
    OpenLayer { open: String },
    #[error("time {given} comes before {earliest}, the earliest that the trace still allows")]
    TimeGoesBack { given: Time, earliest: Time },
    #[error("the time passes the range of 64 bits")]
    TimeOverflows,
    #[error("more than {limit} layers and gaps")]
    TooManyLayers { limit: usize },
    #[error("{given} tensors, limit {limit}")]
    TooManyTensors { given: usize, limit: usize },
    #[error("{given} pairs of an input and an output, limit {limit}")]
    TooManyPairs { given: usize, limit: usize },
    #[error("tensor '{tensor}' has no bytes")]
    EmptyTensor { tensor: String },
    #[error("tensor '{tensor}', {size_bytes} bytes at {address}, ends beyond the 32-bit addresses")]
    TensorBeyondMemory {
        tensor: String,
        address: Address,
        size_bytes: u32,
    },
    #[error("tensors '{first}' and '{second}' share the byte at {address}")]
    TensorsOverlap {
        first: String,
        second: String,
        address: Address,
    },
    #[error("two tensors are called '{tensor}'")]
    DuplicateTensorName { tensor: String },
    #[error("with tensor '{tensor}' the tensors touch more than {limit_bytes} bytes of memory")]
    TooMuchMemory { tensor: String, limit_bytes: u64 },
    #[error("tensor {given} of {tensors}")]
    NoSuchTensor { given: u16, tensors: usize },
    #[error("an access of {given} bytes, expected 1 to 8")]
    AccessSize { given: u8 },
    #[error(
        "{kind} of {size_bytes} bytes at offset {offset} crosses the end of tensor '{tensor}' \
         ({tensor_bytes} bytes)"
    )]
    BeyondTensor {
        kind: &'static str,
        offset: u32,
        size_bytes: u8,
        tensor: String,
        tensor_bytes: u32,
    },
    #[error("more than {limit} different accessing instructions in one layer")]
    TooManySites { limit: usize },
    #[error("{given} entries on data dependence, expected one for each of {layers} layers")]
    DataDependence { given: usize, layers: usize },
    #[error("{given} executed instructions, but the trace goes on to time {last}")]
    TooFewInstructions { given: u64, last: Time },
}

/// The accesses that one instruction makes to one tensor in one way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Site {
    pub pc: Address,
    pub tensor: u16,
    pub size_bytes: u8,
    pub kind: AccessKind,
}

impl From<&Event> for Site {
    fn from(event: &Event) -> Self {
        Self {
            pc: event.pc,
            tensor: event.tensor,
            size_bytes: event.size_bytes,
            kind: event.kind,
        }
    }
}

/// Follows a trace and says whether its next step is allowed.
#[derive(Debug, Default)]
pub(super) struct Rules {
    /// The layer that has begun and not ended.
    pub open: Option<OpenLayer>,
    /// Of the last mark or event.
    time: Time,
    /// Layers and gaps that have begun.
    spans: usize,
    /// Pairs of an input and an output of all layers.
    pairs: usize,
    /// Layers that have begun, gaps not counted.
    layers: usize,
    memory: TouchedMemory,
}

impl Rules {
    pub fn begin_layer(&mut self, layer: &Layer, time: Time) -> Result<(), Violation> {
        self.spans += 1;
        let place = format!("layer {} '{}'", self.spans, layer.name);
        self.check_begin(layer, time).map_err(|rule| Violation {
            place: place.clone(),
            rule,
        })?;
        self.layers += usize::from(layer.span == Span::Layer);
        self.time = time;
        self.open = Some(OpenLayer {
            place,
            name: layer.name.clone(),
            tensors: layer.tensors.clone(),
            begin: time,
            time,
            sites: 0,
            events: 0,
        });
        Ok(())
    }

    fn check_begin(&mut self, layer: &Layer, time: Time) -> Result<(), Rule> {
        if let Some(open) = &self.open {
            return Err(Rule::NestedLayer {
                open: open.name.clone(),
            });
        }
        if self.spans > LAYERS_LIMIT {
            return Err(Rule::TooManyLayers {
                limit: LAYERS_LIMIT,
            });
        }
        check_order(time, self.time)?;
        check_tensors(layer)?;
        self.count_pairs(layer)?;
        layer
            .tensors
            .iter()
            .try_for_each(|tensor| self.memory.touch(tensor))
    }

    fn count_pairs(&mut self, layer: &Layer) -> Result<(), Rule> {
        let of_role = |role| {
            let tensors = layer.tensors.iter();
            tensors.filter(|tensor| tensor.role == role).count()
        };
        let given = of_role(Role::Input) * of_role(Role::Output);
        self.pairs += given;
        for (given, limit) in [(given, PAIRS_PER_LAYER_LIMIT), (self.pairs, PAIRS_LIMIT)] {
            if given > limit {
                return Err(Rule::TooManyPairs { given, limit });
            }
        }
        Ok(())
    }

    pub fn end_layer(&mut self, time: Time) -> Result<(), Violation> {
        let Some(open) = self.open.take() else {
            return Err(outside("the end of a layer"));
        };
        check_order(time, open.time).map_err(|rule| Violation {
            place: format!("{}, its end", open.place),
            rule,
        })?;
        self.time = time;
        Ok(())
    }

    pub fn end(&self, ending: &Ending) -> Result<(), Violation> {
        let rule = if let Some(open) = &self.open {
            Rule::OpenLayer {
                open: open.name.clone(),
            }
        } else if ending.data_dependent.len() != self.layers {
            Rule::DataDependence {
                given: ending.data_dependent.len(),
                layers: self.layers,
            }
        } else if ending.instructions < self.time {
            Rule::TooFewInstructions {
                given: ending.instructions,
                last: self.time,
            }
        } else {
            return Ok(());
        };
        Err(Violation {
            place: "the ending".to_owned(),
            rule,
        })
    }
}

pub(super) fn outside(what: &str) -> Violation {
    Violation {
        place: what.to_owned(),
        rule: Rule::OutsideLayer,
    }
}

fn check_order(given: Time, earliest: Time) -> Result<(), Rule> {
    if given < earliest {
        return Err(Rule::TimeGoesBack { given, earliest });
    }
    Ok(())
}

fn check_tensors(layer: &Layer) -> Result<(), Rule> {
    let limit = match layer.span {
        Span::Layer => TENSORS_PER_LAYER_LIMIT,
        Span::Gap => TENSORS_PER_GAP_LIMIT,
    };
    let given = layer.tensors.len();
    if given > limit {
        return Err(Rule::TooManyTensors { given, limit });
    }
    for tensor in &layer.tensors {
        if tensor.size_bytes == 0 {
            return Err(Rule::EmptyTensor {
                tensor: tensor.name.clone(),
            });
        }
        if tensor.end() > 1 << 32 {
            return Err(Rule::TensorBeyondMemory {
                tensor: tensor.name.clone(),
                address: tensor.address,
                size_bytes: tensor.size_bytes,
            });
        }
    }
    let mut by_address: Vec<&Tensor> = layer.tensors.iter().collect();
    by_address.sort_unstable_by_key(|tensor| tensor.address);
    for pair in by_address.windows(2) {
        if pair[0].end() > u64::from(pair[1].address.0) {
            return Err(Rule::TensorsOverlap {
                first: pair[0].name.clone(),
                second: pair[1].name.clone(),
                address: pair[1].address,
            });
        }
    }
    // A gap gathers tensors of several layers, whose names may well be the same.
    if layer.span == Span::Layer {
        let mut names: Vec<&str> = layer.tensors.iter().map(|t| t.name.as_str()).collect();
        names.sort_unstable();
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Rule::DuplicateTensorName {
                tensor: pair[0].to_owned(),
            });
        }
    }
    Ok(())
}

/// The layer that has begun and not ended.
#[derive(Debug)]
pub(super) struct OpenLayer {
    place: String,
    name: String,
    tensors: Vec<Tensor>,
    begin: Time,
    /// Of the last event, or of the begin.
    time: Time,
    sites: usize,
    events: u64,
}

impl OpenLayer {
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Time of the begin mark; all events come later.
    pub fn begin(&self) -> Time {
        self.begin
    }

    /// Time of the last event that was [passed](Self::pass), or of the begin mark.
    pub fn time(&self) -> Time {
        self.time
    }

    /// Allows one more site and gives the highest offset that it may access.
    pub fn admit(&mut self, site: Site) -> Result<u32, Rule> {
        self.sites += 1;
        if self.sites > SITES_PER_LAYER_LIMIT {
            return Err(Rule::TooManySites {
                limit: SITES_PER_LAYER_LIMIT,
            });
        }
        let Some(tensor) = self.tensors.get(usize::from(site.tensor)) else {
            return Err(Rule::NoSuchTensor {
                given: site.tensor,
                tensors: self.tensors.len(),
            });
        };
        if !(1..=8).contains(&site.size_bytes) {
            return Err(Rule::AccessSize {
                given: site.size_bytes,
            });
        }
        tensor
            .size_bytes
            .checked_sub(u32::from(site.size_bytes))
            .ok_or_else(|| self.beyond_tensor(site, 0))
    }

    /// The rule that an offset above the [admitted](Self::admit) one breaks.
    pub fn beyond_tensor(&self, site: Site, offset: u32) -> Rule {
        let tensor = &self.tensors[usize::from(site.tensor)];
        Rule::BeyondTensor {
            kind: site.kind.name(),
            offset,
            size_bytes: site.size_bytes,
            tensor: tensor.name.clone(),
            tensor_bytes: tensor.size_bytes,
        }
    }

    /// The rule that an event's time breaks, if it does.
    #[inline]
    pub fn check_time(&self, time: Time, last: Time) -> Result<(), Rule> {
        if time < last || time <= self.begin {
            return Err(Rule::TimeGoesBack {
                given: time,
                earliest: last.max(self.begin.saturating_add(1)),
            });
        }
        Ok(())
    }

    /// Takes note of `events` valid events, the last one at `time`.
    pub fn pass(&mut self, events: usize, time: Time) {
        self.events += events as u64;
        self.time = time;
    }

    /// `rule` is broken by the event that follows `more` events after the
    /// [passed](Self::pass) ones.
    pub fn violation(&self, more: usize, rule: Rule) -> Violation {
        Violation {
            place: format!("{}, event {}", self.place, self.events + more as u64 + 1),
            rule,
        }
    }
}

const PAGE_BITS: u32 = 12;

/// The pages that tensors have touched, one bit each.
#[derive(Debug)]
struct TouchedMemory {
    pages: Vec<u64>,
    count: u64,
}

impl Default for TouchedMemory {
    fn default() -> Self {
        Self {
            pages: vec![0; (1 << 32 >> PAGE_BITS) / 64],
            count: 0,
        }
    }
}

impl TouchedMemory {
    fn touch(&mut self, tensor: &Tensor) -> Result<(), Rule> {
        for page in u64::from(tensor.address.0) >> PAGE_BITS..=(tensor.end() - 1) >> PAGE_BITS {
            let word = &mut self.pages[(page / 64) as usize];
            let bit = 1 << (page % 64);
            self.count += u64::from(*word & bit == 0);
            *word |= bit;
            if self.count > TENSOR_MEMORY_LIMIT_BYTES >> PAGE_BITS {
                return Err(Rule::TooMuchMemory {
                    tensor: tensor.name.clone(),
                    limit_bytes: TENSOR_MEMORY_LIMIT_BYTES,
                });
            }
        }
        Ok(())
    }
}
