//! Which tensors lie in which other ones.

use super::{PartOfTensor, Side, refused};
use crate::graph::{Graph, OperatorId, TensorId, TensorView};
use crate::operator::Shape;
use crate::transform::TransformError;
use std::collections::{HashMap, HashSet};

/// A box of a larger one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Box4 {
    /// Its first index on each axis.
    pub(super) begin: Shape,
    /// Its extents.
    pub(super) shape: Shape,
    /// The larger one's.
    pub(super) whole: Shape,
}

/// Tensors that lie in others, which may lie in others again.
pub(super) struct Places<'a> {
    graph: &'a Graph,
    links: HashMap<TensorId, Link>,
    /// What others lie in.
    parents: HashSet<TensorId>,
    /// What the application stores or reads.
    ends: HashSet<TensorId>,
    produced: HashSet<TensorId>,
}

/// That a tensor lies in another one.
#[derive(Debug, Clone, Copy)]
struct Link {
    /// The operator that would copy the one to the other.
    operator: OperatorId,
    of: TensorId,
    how: How,
}

#[derive(Debug, Clone, Copy)]
enum How {
    /// Element by element in the same order.
    Same,
    Box(Box4),
}

/// Where a tensor lies in one that lies in none.
#[derive(Debug, Clone, Copy)]
struct RootPlace {
    root: TensorId,
    offset: u64,
    pitch: Option<[u64; 2]>,
}

impl<'a> Places<'a> {
    /// Each tensor lies in none.
    pub(super) fn new(graph: &'a Graph) -> Self {
        let nodes = graph.operators.iter();
        Self {
            graph,
            links: HashMap::new(),
            parents: HashSet::new(),
            ends: graph.inputs.iter().chain(&graph.outputs).copied().collect(),
            produced: nodes.flat_map(|node| node.outputs.clone()).collect(),
        }
    }

    /// Whether it lies in another tensor, or another one in it.
    pub(super) fn involve(&self, id: TensorId) -> bool {
        self.links.contains_key(&id) || self.parents.contains(&id)
    }

    /// Input and output are the same bytes.
    pub(super) fn same(
        &mut self,
        operator: OperatorId,
        input: TensorId,
        output: TensorId,
    ) -> Result<(), TransformError> {
        let size = |id| self.graph.tensor(id).size_bytes;
        if size(input) != size(output) {
            return Err(refused(operator, "stores more or less than it reads"));
        }
        if self.is_free(output) {
            return self.link(operator, output, input, How::Same);
        }
        let top = self.top(input);
        if !self.is_free(top) {
            let reason =
                "moves data from a tensor that cannot lie elsewhere to one that cannot either";
            return Err(refused(operator, reason));
        }
        self.link(operator, top, output, How::Same)
    }

    /// Each part lies in its whole.
    pub(super) fn parts(
        &mut self,
        operator: OperatorId,
        parts: &[PartOfTensor],
        side: Side,
    ) -> Result<(), TransformError> {
        for part in parts {
            let top = match side {
                Side::Inputs => self.top(part.part),
                Side::Outputs => part.part,
            };
            if !self.is_free(top) {
                let reason = match side {
                    Side::Inputs => {
                        "has an input that cannot lie in its output: it is the application's, or \
                         lies elsewhere already"
                    }
                    Side::Outputs => "has an output that is the application's",
                };
                return Err(refused(operator, reason));
            }
            self.link(operator, top, part.whole, How::Box(part.box4))?;
        }
        Ok(())
    }

    /// Whether an operator of the graph can be made to store it in any other tensor.
    fn is_free(&self, id: TensorId) -> bool {
        !self.links.contains_key(&id)
            && !self.ends.contains(&id)
            && self.produced.contains(&id)
            && !self.graph.views.contains_key(&id)
            && self.graph.views.values().all(|view| view.of != id)
    }

    /// The tensor that has the same bytes and lies in none with the same bytes.
    fn top(&self, mut id: TensorId) -> TensorId {
        while let Some(Link {
            of, how: How::Same, ..
        }) = self.links.get(&id)
        {
            id = *of;
        }
        id
    }

    fn link(
        &mut self,
        operator: OperatorId,
        id: TensorId,
        of: TensorId,
        how: How,
    ) -> Result<(), TransformError> {
        let mut above = of;
        while let Some(link) = self.links.get(&above) {
            above = link.of;
        }
        if above == id || self.graph.views.contains_key(&of) {
            return Err(refused(operator, "would put a tensor into itself"));
        }
        self.links.insert(id, Link { operator, of, how });
        self.parents.insert(of);
        Ok(())
    }

    /// Makes views of all that lie in others.
    pub(super) fn settle(&self, graph: &mut Graph) -> Result<(), TransformError> {
        let mut known: HashMap<TensorId, RootPlace> = HashMap::new();
        for &id in self.links.keys() {
            let mut path = Vec::new();
            let mut at = id;
            while let (false, Some(link)) = (known.contains_key(&at), self.links.get(&at)) {
                path.push((at, link));
                at = link.of;
            }
            let root = RootPlace {
                root: at,
                offset: 0,
                pitch: None,
            };
            let mut place = known.get(&at).copied().unwrap_or(root);
            for (id, link) in path.into_iter().rev() {
                place = self.within(id, link, place)?;
                known.insert(id, place);
            }
        }
        for (id, place) in known {
            if let Some(pitch) = place.pitch {
                let tensor = &mut graph.tensors[id.0];
                tensor.size_bytes = reach(&tensor.shape, pitch, tensor.size_bytes);
            }
            let view = TensorView {
                of: place.root,
                offset_bytes: place.offset,
                pitch_bytes: place.pitch,
            };
            graph.views.insert(id, view);
        }
        Ok(())
    }

    /// Where a tensor lies whose link's other tensor lies at `outer`.
    fn within(
        &self,
        id: TensorId,
        link: &Link,
        outer: RootPlace,
    ) -> Result<RootPlace, TransformError> {
        let shape_of = |id: TensorId| &self.graph.tensor(id).shape[..];
        let gaps = "would lie in pieces, of which its shape has no rows and pixels";
        let in_pieces = refused(link.operator, gaps);
        let part = match (link.how, outer.pitch) {
            (How::Same, None) => return Ok(outer),
            (How::Same, Some(_)) => {
                let same = shape_of(id) == shape_of(link.of);
                return same.then_some(outer).ok_or(in_pieces);
            }
            (How::Box(part), None) => part,
            // What has a pitch has four axes, and the first has one index.
            (How::Box(part), Some(_)) if shape_of(link.of) == part.whole => part,
            (How::Box(_), Some(_)) => return Err(in_pieces),
        };
        let elements: u64 = part.whole.into_iter().map(u64::from).product();
        let element = self.graph.tensor(link.of).size_bytes / elements.max(1);
        let [_, height, width, depth] = part.whole.map(u64::from);
        let dense = [width * depth * element, depth * element];
        let [row, pixel] = outer.pitch.unwrap_or(dense);
        let strides = [height * row, row, pixel, element];
        let along = part.begin.iter().zip(strides);
        let offset: u64 = along
            .map(|(&begin, stride)| u64::from(begin) * stride)
            .sum();
        let place = |pitch| RootPlace {
            offset: outer.offset + offset,
            pitch,
            ..outer
        };
        if follows(part.shape, strides) {
            return Ok(place(None));
        }
        if part.shape[0] != 1 || shape_of(id) != part.shape {
            return Err(in_pieces);
        }
        Ok(place(Some([row, pixel])))
    }
}

/// Whether nothing lies between the elements of a tensor of this shape, from one index to the
/// next on each axis this many bytes.
fn follows(shape: Shape, strides: [u64; 4]) -> bool {
    let mut expected = strides[3];
    let mut axes = shape.into_iter().zip(strides).rev();
    axes.all(|(extent, stride)| {
        let fits = extent == 1 || stride == expected;
        expected *= u64::from(extent);
        fits
    })
}

/// From the first byte to the last of a tensor with this pitch that has `dense` bytes without.
fn reach(shape: &[u32], [row, pixel]: [u64; 2], dense: u64) -> u64 {
    let &[_, height, width, _] = shape else {
        return dense;
    };
    let [height, width] = [height, width].map(u64::from);
    (height - 1) * row + (width - 1) * pixel + dense / (height * width)
}
