//! Operators on parts of larger tensors.

use super::error::{expect_equal, extent_of};
use super::store_lead::{longest, position, strides};
use super::{Buffer, Buffers, Operator, ReferenceKernel, Shape, ShapeError};
use crate::trace::AccessKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How far the rows and the pixels of a view lie apart, in elements: element (0, y, x, c) lies
/// `y * row + x * pixel + c` after the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
pub struct Pitch {
    /// From one row to the next.
    pub row: u32,
    /// From one pixel to the next.
    pub pixel: u32,
}

impl Pitch {
    /// That of a tensor for itself; `None` if it does not fit in 32 bits.
    pub fn dense([_, _, width, depth]: Shape) -> Option<Self> {
        Some(Self {
            row: width.checked_mul(depth)?,
            pixel: depth,
        })
    }

    /// Elements from the first to the last of a view of this shape, both included; `None` if
    /// they do not fit in 32 bits, or the shape has an extent of 0.
    pub fn extent(self, [_, height, width, depth]: Shape) -> Option<u32> {
        let rows = height.checked_sub(1)?.checked_mul(self.row)?;
        let pixels = width.checked_sub(1)?.checked_mul(self.pixel)?;
        rows.checked_add(pixels)?
            .checked_add(depth)
            .filter(|_| depth > 0)
    }

    /// Whether nothing lies between the elements of a view of this shape.
    pub fn is_dense(self, shape: Shape) -> bool {
        let elements = shape.iter().map(|&extent| u64::from(extent)).product();
        self.extent(shape).map(u64::from) == Some(elements)
    }

    fn strides(self) -> [u32; 4] {
        [0, self.row, self.pixel, 1]
    }

    /// Neither pixels nor rows share an element.
    fn check(self, name: &str, [_, height, width, depth]: Shape) -> Result<(), ShapeError> {
        let row = u64::from(width - 1) * u64::from(self.pixel) + u64::from(depth);
        let least = [
            ("row pitch", self.row, if height == 1 { 0 } else { row }),
            ("pixel pitch", self.pixel, depth.into()),
        ];
        for (what, given, least) in least {
            if u64::from(given) < least {
                return Err(ShapeError::TooSmall {
                    what: format!("{name}'s {what}"),
                    given,
                    least,
                    reason: "that many elements it holds",
                });
            }
        }
        Ok(())
    }
}

/// Shape of an input or an output, and where its elements lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PitchedShape {
    /// As the operator knows it.
    pub shape: Shape,
    /// Where its elements lie.
    pub pitch: Pitch,
}

/// An operator on one image whose inputs and outputs are parts of larger tensors: some of the
/// channels, rows and columns of each. What lies between the elements of such a view is
/// neither loaded nor stored.
///
/// [`Operator::buffers`] gives views as far as they reach, from the first element to the last
/// with all that lies between, as `[1, 1, 1, extent]`; buffers without a pitch keep their
/// shape. Positions of accesses count from the view's first element.
#[derive(Debug, Clone, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
pub struct Pitched {
    /// What is computed: a convolution, depthwise or not, pooling, padding, or element by
    /// element, without broadcasting.
    #[serde(rename = "inner")]
    pub operator: Box<Operator>,
    /// Where an [`Elementwise`](super::Elementwise) has pixels: it knows only how many
    /// elements there are. None for other operators.
    pub shape: Option<Shape>,
    /// For each input; none for a tensor for itself.
    pub inputs: Vec<Option<Pitch>>,
    /// For each output; none for a tensor for itself.
    pub outputs: Vec<Option<Pitch>>,
}

/// The operators that have a pitched form. There is no recursion in it: the code of one
/// visits the accesses of another type only.
macro_rules! with_inner {
    ($operator:expr, $kernel:ident => $then:expr, $else:expr) => {
        match $operator {
            Operator::Conv2d($kernel) => $then,
            Operator::DepthwiseConv2d($kernel) => $then,
            Operator::Pool2d($kernel) => $then,
            Operator::Elementwise($kernel) => $then,
            Operator::ElementwiseBinary($kernel) => $then,
            Operator::Pad($kernel) => $then,
            _ => $else,
        }
    };
}

impl Pitched {
    /// The inputs, where each has its elements.
    ///
    /// # Errors
    /// When the shape makes no sense.
    pub fn input_views(&self) -> Result<Vec<PitchedShape>, ShapeError> {
        ReferenceKernel::check(self)?;
        Ok(views(&self.dense().inputs, &self.inputs))
    }

    /// The outputs, where each has its elements.
    ///
    /// # Errors
    /// When the shape makes no sense.
    pub fn output_views(&self) -> Result<Vec<PitchedShape>, ShapeError> {
        ReferenceKernel::check(self)?;
        Ok(views(&self.dense().outputs, &self.outputs))
    }

    /// Whether bytes that are none of it lie between those of an output: what it stores says
    /// nothing of them.
    pub fn has_gaps_in_outputs(&self) -> bool {
        let outputs = self.dense().outputs;
        let mut pitched = outputs.iter().zip(&self.outputs);
        pitched.any(|(buffer, pitch)| pitch.is_some_and(|pitch| !pitch.is_dense(buffer.shape)))
    }

    /// The buffers of the operator on tensors of their own; `None` if it has no pitched form.
    fn dense(&self) -> Buffers {
        let none = Buffers {
            inputs: Vec::new(),
            outputs: Vec::new(),
        };
        let mut buffers = with_inner!(&*self.operator, kernel => kernel.buffers(), none);
        if let (Operator::Elementwise(_), Some(shape)) = (&*self.operator, self.shape) {
            for buffer in buffers.inputs.iter_mut().chain(&mut buffers.outputs) {
                buffer.shape = shape;
            }
        }
        buffers
    }

    fn check_inner(&self) -> Result<(), ShapeError> {
        with_inner!(&*self.operator, kernel => kernel.check(), return Err(ShapeError::NoPitch))?;
        match (&*self.operator, self.shape) {
            (Operator::Elementwise(layer), Some(shape)) => expect_equal(
                || "number of elements of the shape".to_owned(),
                shape
                    .iter()
                    .map(|&extent| u64::from(extent))
                    .product::<u64>(),
                layer.elements,
                "that of the operator",
            ),
            (Operator::ElementwiseBinary(binary), None)
                if binary.inputs.iter().any(|&shape| shape != binary.output) =>
            {
                Err(ShapeError::NoPitch)
            }
            (_, Some(_)) => expect_equal(
                || "number of shapes beside the operator".to_owned(),
                1_u32,
                0_u32,
                "it has its own",
            ),
            (_, None) => Ok(()),
        }
    }
}

fn views(buffers: &[Buffer], pitches: &[Option<Pitch>]) -> Vec<PitchedShape> {
    let view = |(buffer, pitch): (&Buffer, &Option<Pitch>)| {
        let shape = buffer.shape;
        // What has been checked fits.
        let pitch = pitch.or_else(|| Pitch::dense(shape))?;
        Some(PitchedShape { shape, pitch })
    };
    buffers.iter().zip(pitches).filter_map(view).collect()
}

/// As far as each reaches.
fn extents(buffers: Vec<Buffer>, pitches: &[Option<Pitch>]) -> Vec<Buffer> {
    let mut pitches = pitches.iter();
    let extent = |buffer: Buffer| match pitches.next() {
        Some(Some(pitch)) => Buffer {
            shape: [1, 1, 1, pitch.extent(buffer.shape).unwrap_or(u32::MAX)],
            ..buffer
        },
        _ => buffer,
    };
    buffers.into_iter().map(extent).collect()
}

fn check_views(
    what: &str,
    buffers: &[Buffer],
    pitches: &[Option<Pitch>],
) -> Result<(), ShapeError> {
    expect_equal(
        || format!("number of pitches of {what}"),
        pitches.len() as u64,
        buffers.len() as u64,
        "one for each, or none",
    )?;
    for (buffer, pitch) in buffers.iter().zip(pitches) {
        buffer.check()?;
        expect_equal(
            || extent_of(buffer.name, 0),
            buffer.shape[0],
            1_u32,
            "with pitches there is one image",
        )?;
        let Some(pitch) = pitch else { continue };
        pitch.check(buffer.name, buffer.shape)?;
        let too_large = ShapeError::BufferTooLarge {
            buffer: buffer.name,
            shape: buffer.shape,
            element_bytes: buffer.element_bytes,
        };
        let extent = pitch.extent(buffer.shape);
        let bytes = extent.and_then(|extent| extent.checked_mul(buffer.element_bytes));
        bytes.ok_or(too_large)?;
    }
    Ok(())
}

impl ReferenceKernel for Pitched {
    fn check(&self) -> Result<(), ShapeError> {
        let Buffers { inputs, outputs } = self.dense();
        check_views("inputs", &inputs, &self.inputs)?;
        check_views("outputs", &outputs, &self.outputs)?;
        self.check_inner()
    }

    fn buffers(&self) -> Buffers {
        let Buffers { inputs, outputs } = self.dense();
        Buffers {
            inputs: extents(inputs, &self.inputs),
            outputs: extents(outputs, &self.outputs),
        }
    }

    /// Positions ascend with the indices as they do in tensors of their own, and are sums over
    /// the axes. Where the output has gaps it may be greater than the least, for the element
    /// stored last may lie before a gap.
    fn displacement_bytes(&self, input: usize, output: usize) -> Option<i64> {
        let Buffers { inputs, outputs } = self.dense();
        let [loaded, stored] = [
            (&inputs[input..=input], &self.inputs[input..=input]),
            (&outputs[output..=output], &self.outputs[output..=output]),
        ]
        .map(|(buffers, pitches)| {
            let strides = views(buffers, pitches).first()?.pitch.strides();
            let bytes = i64::from(buffers[0].element_bytes);
            Some(strides.map(|stride| i64::from(stride) * bytes))
        });
        let (loaded, stored) = (loaded?, stored?);
        let over = |axes: std::ops::Range<usize>, extents: Shape| -> i64 {
            let lead = |axis: usize| longest(extents[axis], stored[axis] - loaded[axis]);
            axes.map(lead).sum()
        };
        match &*self.operator {
            Operator::Conv2d(conv) => {
                let window = conv.window;
                let pixels = window.lead(conv.input, conv.output, stored, loaded)?;
                Some(pixels + conv.channel_lead() * stored[3])
            }
            Operator::DepthwiseConv2d(conv) => {
                let window = conv.window;
                let pixels = window.lead(conv.input, conv.output, stored, loaded)?;
                Some(pixels + conv.channel_lead() * stored[3])
            }
            Operator::Pool2d(pool) => pool.window.lead(pool.input, pool.output, stored, loaded),
            Operator::Pad(pad) => {
                let first = |axis: usize| i64::from(pad.before[axis]) * stored[axis];
                Some((1..4).map(first).sum::<i64>() + over(1..4, pad.input))
            }
            _ => Some(over(1..4, outputs[output].shape)),
        }
    }

    fn accesses<F: FnMut(AccessKind, usize, u32)>(&self, mut visit: F) {
        let Buffers { inputs, outputs } = self.dense();
        let inputs = views(&inputs, &self.inputs);
        let outputs = views(&outputs, &self.outputs);
        let moved = |kind, index: usize, element: u32| {
            let view = match kind {
                AccessKind::Load => inputs[index],
                AccessKind::Store => outputs[index],
            };
            visit(kind, index, view.position(element));
        };
        with_inner!(&*self.operator, kernel => kernel.accesses(moved), ());
    }
}

impl PitchedShape {
    /// Where an element lies that has this number in a tensor of its own.
    fn position(self, element: u32) -> u32 {
        let [_, row, pixel, _] = strides(self.shape);
        let indices = [0, element / row, element % row / pixel, element % pixel];
        position(indices, self.pitch.strides())
    }
}
