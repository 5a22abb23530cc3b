//! Random cases of functions with the CMSIS-NN interface for other types than activations and weights of
//! 8 bits, or that only a vendor's library has, each with the reference kernel that it is bit-exact with.

use dmo_analysis::graph::Kind;
use dmo_analysis::graph::parameters::{Affine, Parameters};
use dmo_analysis::operator::{
    Conv2d, DepthwiseConv2d, ElementwiseBinary, FullyConnected, Lstm, Operator, Pool2d, Softmax,
    Svdf, Window,
};
use dmo_analysis::trace::ElementType::{self, Int8, Int16, Uint8};
use dmo_trace::kernels::Case;

/// The vendor's function, the reference kernel, and the versions of CMSIS-NN that have it.
type Function = (&'static str, &'static str, [u8; 2], fn(&mut Random) -> Case);

/// All of them.
pub const FUNCTIONS: [Function; 26] = [
    ("arm_elementwise_add_s16", "dmo_add_s16", [4, 7], |random| {
        random.pair("add")
    }),
    ("arm_elementwise_mul_s16", "dmo_mul_s16", [4, 7], |random| {
        random.pair("mul")
    }),
    ("arm_softmax_s16", "dmo_softmax_s16", [4, 7], |random| {
        random.softmax(Int16)
    }),
    (
        "arm_softmax_s8_s16",
        "dmo_softmax_s8_s16",
        [4, 7],
        |random| random.softmax(Int8),
    ),
    ("arm_softmax_u8", "dmo_softmax_u8", [4, 7], |random| {
        let mut case = random.softmax(Int8);
        (case.input_type, case.output_type) = (Uint8, Uint8);
        if let Operator::Softmax(softmax) = &mut case.operator {
            softmax.output_element_bytes = 1;
        }
        case
    }),
    ("arm_max_pool_s16", "dmo_max_pool_s16", [4, 7], |random| {
        random.pool("max")
    }),
    ("arm_avgpool_s16", "dmo_avg_pool_s16", [4, 7], |random| {
        random.pool("average")
    }),
    (
        "arm_fully_connected_s16",
        "dmo_fully_connected_s16",
        [4, 7],
        Random::dense,
    ),
    (
        "arm_convolve_wrapper_s16",
        "dmo_conv2d_s16",
        [4, 7],
        Random::conv,
    ),
    ("arm_convolve_s16", "dmo_conv2d_s16", [4, 7], Random::conv),
    (
        "arm_convolve_fast_s16",
        "dmo_conv2d_s16",
        [4, 5],
        Random::undilated_conv,
    ),
    (
        "arm_depthwise_conv_s16",
        "dmo_depthwise_conv2d_s16",
        [4, 7],
        |random| random.depthwise(3),
    ),
    (
        "arm_depthwise_conv_wrapper_s16",
        "dmo_depthwise_conv2d_s16",
        [4, 7],
        |random| random.depthwise(2),
    ),
    (
        "arm_depthwise_conv_fast_s16",
        "dmo_depthwise_conv2d_s16",
        [4, 7],
        |random| random.depthwise(1),
    ),
    ("arm_maximum_s8", "dmo_maximum_s8", [7, 7], |random| {
        random.extreme("maximum")
    }),
    ("arm_minimum_s8", "dmo_minimum_s8", [7, 7], |random| {
        random.extreme("minimum")
    }),
    (
        "arm_svdf_state_s16_s8",
        "dmo_svdf_s8_state_s16",
        [4, 7],
        Random::svdf,
    ),
    (
        "arm_convolve_wrapper_s4",
        "dmo_conv2d_s4",
        [5, 7],
        |random| match random.within(0, 2) {
            0 => random.pointwise(2),
            1 => random.row(),
            _ => in_8_bits(random.conv()),
        },
    ),
    ("arm_convolve_s4", "dmo_conv2d_s4", [5, 7], |random| {
        in_8_bits(random.conv())
    }),
    (
        "arm_convolve_1x1_s4_fast",
        "dmo_conv2d_s4",
        [5, 7],
        |random| random.pointwise(1),
    ),
    ("arm_convolve_1x1_s4", "dmo_conv2d_s4", [5, 7], |random| {
        random.pointwise(3)
    }),
    (
        "arm_convolve_1_x_n_s4",
        "dmo_conv2d_s4",
        [6, 7],
        Random::row,
    ),
    (
        "arm_depthwise_conv_wrapper_s4",
        "dmo_depthwise_conv2d_s4",
        [5, 7],
        |random| match random.within(0, 1) {
            0 => random.even_depthwise(),
            _ => random.plain_depthwise(),
        },
    ),
    (
        "arm_depthwise_conv_s4",
        "dmo_depthwise_conv2d_s4",
        [5, 7],
        Random::even_depthwise,
    ),
    (
        "arm_depthwise_conv_s4_opt",
        "dmo_depthwise_conv2d_s4",
        [5, 7],
        Random::plain_depthwise,
    ),
    (
        "arm_fully_connected_s4",
        "dmo_fully_connected_s4",
        [5, 7],
        |random| in_8_bits(random.dense()),
    ),
];

/// The same with activations of 8 bits.
fn in_8_bits(mut case: Case) -> Case {
    (case.input_type, case.output_type) = (Int8, Int8);
    match &mut case.operator {
        Operator::Conv2d(conv) => conv.element_bytes = 1,
        Operator::DepthwiseConv2d(conv) => conv.element_bytes = 1,
        Operator::FullyConnected(layer) => layer.element_bytes = 1,
        operator => panic!("{operator:?}"),
    }
    case
}

/// Reproducible numbers.
pub struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed ^= mixed >> 27;
        mixed.wrapping_mul(0x94d0_49bb_1331_11eb) >> 33
    }

    /// From `low` to `high`.
    fn within(&mut self, low: u32, high: u32) -> u32 {
        low + (self.next() % u64::from(high - low + 1)) as u32
    }

    fn case(kind: &'static str, operator: Operator, types: [ElementType; 2]) -> Case {
        Case {
            operator,
            kind: Kind::of_kernels(kind).expect(kind),
            input_type: types[0],
            output_type: types[1],
        }
    }

    fn shape(&mut self) -> [u32; 4] {
        [3, 4, 5, 7].map(|most| self.within(1, most))
    }

    fn pair(&mut self, kind: &'static str) -> Case {
        let shape = self.shape();
        let binary = ElementwiseBinary {
            inputs: [shape, shape],
            output: shape,
            input_element_bytes: [2, 2],
            output_element_bytes: 2,
        };
        Self::case(kind, Operator::ElementwiseBinary(binary), [Int16; 2])
    }

    fn softmax(&mut self, input: ElementType) -> Case {
        let softmax = Softmax {
            rows: self.within(1, 4),
            depth: self.within(2, 19),
            input_element_bytes: input.size_bytes(),
            output_element_bytes: 2,
        };
        Self::case("softmax", Operator::Softmax(softmax), [input, Int16])
    }

    /// Of one batch: all that versions before 6 compute.
    fn pool(&mut self, kind: &'static str) -> Case {
        let (input, output, window) = self.windows([1, 1]);
        let depth = self.within(1, 6);
        let [input, output] = [input, output].map(|[height, width]| [1, height, width, depth]);
        let pool = Pool2d {
            input,
            output,
            window,
            element_bytes: 2,
        };
        Self::case(kind, Operator::Pool2d(pool), [Int16; 2])
    }

    /// Extents of input and output, and a window without a position outside of the input.
    fn windows(&mut self, dilation: [u32; 2]) -> ([u32; 2], [u32; 2], Window) {
        let mut window = Window {
            dilation,
            ..Window::default()
        };
        let (mut inputs, mut outputs) = ([0; 2], [0; 2]);
        for axis in 0..2 {
            let kernel = self.within(1, 3);
            let reach = (kernel - 1) * dilation[axis] + 1;
            let input = reach + self.within(0, 5);
            let stride = self.within(1, 2);
            let before = self.within(0, (reach - 1).min(1));
            window.kernel[axis] = kernel;
            window.stride[axis] = stride;
            window.padding_before[axis] = before;
            inputs[axis] = input;
            outputs[axis] = (input + before - reach) / stride + 1;
        }
        (inputs, outputs, window)
    }

    fn dense(&mut self) -> Case {
        let layer = FullyConnected {
            batches: self.within(1, 3),
            input_depth: self.within(1, 40),
            output_depth: self.within(1, 11),
            element_bytes: 2,
        };
        let operator = Operator::FullyConnected(layer);
        Self::case("fully_connected", operator, [Int16; 2])
    }

    fn conv(&mut self) -> Case {
        let dilation = [self.within(1, 2), self.within(1, 2)];
        self.conv_of(dilation)
    }

    /// A convolution of 1x1 in 8 bits, with strides up to this.
    fn pointwise(&mut self, most: u32) -> Case {
        let input = [2, 5, 6, 9].map(|most| self.within(1, most));
        let stride = [0; 2].map(|_| self.within(1, most));
        let [height, width] = [0, 1].map(|axis| (input[axis + 1] - 1) / stride[axis] + 1);
        let conv = Conv2d {
            input,
            output: [input[0], height, width, self.within(1, 9)],
            window: Window {
                stride,
                ..Window::default()
            },
            groups: 1,
            element_bytes: 1,
        };
        Self::case("conv2d", Operator::Conv2d(conv), [Int8; 2])
    }

    /// A convolution along one row in 8 bits, whose depth is a multiple of 4.
    fn row(&mut self) -> Case {
        let mut case = in_8_bits(self.undilated_conv());
        let depth = 4 * self.within(1, 3);
        if let Operator::Conv2d(conv) = &mut case.operator {
            (conv.input[1], conv.output[1], conv.input[3]) = (1, 1, depth);
            (conv.window.kernel[0], conv.window.stride[0]) = (1, 1);
            conv.window.padding_before[0] = 0;
        }
        case
    }

    /// In 8 bits, of an even number of input channels.
    fn even_depthwise(&mut self) -> Case {
        let mut case = in_8_bits(self.depthwise(3));
        if let Operator::DepthwiseConv2d(conv) = &mut case.operator {
            conv.input[3] = conv.input[3].next_multiple_of(2);
            conv.output[3] = conv.input[3] * conv.multiplier;
        }
        case
    }

    /// In 8 bits, of one batch and as many outputs as inputs.
    fn plain_depthwise(&mut self) -> Case {
        let mut case = in_8_bits(self.depthwise(1));
        if let Operator::DepthwiseConv2d(conv) = &mut case.operator {
            (conv.input[0], conv.output[0]) = (1, 1);
        }
        case
    }

    fn undilated_conv(&mut self) -> Case {
        self.conv_of([1, 1])
    }

    fn conv_of(&mut self, dilation: [u32; 2]) -> Case {
        let (input, output, window) = self.windows(dilation);
        let [batches, from, to] = [2, 6, 7].map(|most| self.within(1, most));
        let conv = Conv2d {
            input: [batches, input[0], input[1], from],
            output: [batches, output[0], output[1], to],
            window,
            groups: 1,
            element_bytes: 2,
        };
        Self::case("conv2d", Operator::Conv2d(conv), [Int16; 2])
    }

    fn depthwise(&mut self, most: u32) -> Case {
        let (input, output, window) = self.windows([1, 1]);
        let [batches, depth] = [2, 9].map(|most| self.within(1, most));
        let multiplier = self.within(1, most);
        let conv = DepthwiseConv2d {
            input: [batches, input[0], input[1], depth],
            output: [batches, output[0], output[1], depth * multiplier],
            window,
            multiplier,
            element_bytes: 2,
        };
        let operator = Operator::DepthwiseConv2d(conv);
        Self::case("depthwise_conv2d", operator, [Int16; 2])
    }

    /// Either input may be repeated along any axis, but for columns along rows.
    fn extreme(&mut self, kind: &'static str) -> Case {
        let mut output = self.shape();
        let [mut a, mut b] = [output; 2];
        for (a, b) in a.iter_mut().zip(&mut b) {
            match self.within(0, 5) {
                0 => *a = 1,
                1 => *b = 1,
                _ => {}
            }
        }
        let mut inputs = [a, b];
        if inputs.iter().any(|shape| shape[2..] == [1, 1]) {
            inputs = inputs.map(|shape| [shape[0], 1, shape[2], shape[3]]);
            output[1] = 1;
        }
        let binary = ElementwiseBinary {
            inputs,
            output,
            input_element_bytes: [1, 1],
            output_element_bytes: 1,
        };
        Self::case(kind, Operator::ElementwiseBinary(binary), [Int8; 2])
    }

    fn svdf(&mut self) -> Case {
        let svdf = Svdf {
            batches: self.within(1, 2),
            input_depth: self.within(1, 12),
            units: self.within(1, 6),
            rank: self.within(1, 2),
            input_element_bytes: 1,
            output_element_bytes: 1,
        };
        Self::case("svdf", Operator::Svdf(svdf), [Int8; 2])
    }

    /// An LSTM of this type.
    pub fn lstm(&mut self, activations: ElementType) -> Case {
        let lstm = Lstm {
            batches: self.within(1, 3),
            times: self.within(1, 4),
            input_depth: self.within(1, 12),
            output_depth: self.within(1, 9),
            time_major: self.within(0, 1) == 1,
            input_element_bytes: activations.size_bytes(),
            output_element_bytes: activations.size_bytes(),
        };
        Self::case("lstm", Operator::Lstm(lstm), [activations; 2])
    }

    /// The same numbers with scales that are no powers of two, where the operator takes any.
    pub fn rescaled(
        &mut self,
        case: &Case,
        mut parameters: Parameters<'static>,
    ) -> Parameters<'static> {
        let mut rescale = |affine: &mut Affine| {
            affine.scale *= 0.75 + self.within(0, 1000) as f32 / 2000.0;
        };
        match case.operator {
            Operator::Softmax(_) => parameters.operands.iter_mut().for_each(rescale),
            Operator::Conv2d(_)
            | Operator::DepthwiseConv2d(_)
            | Operator::TransposeConv2d(_)
            | Operator::FullyConnected(_)
            | Operator::Svdf(_) => {
                let affines = parameters
                    .operands
                    .iter_mut()
                    .chain(&mut parameters.outputs);
                affines.for_each(&mut rescale);
                let constants = parameters.constants.iter_mut().flatten();
                let filters = constants.flat_map(|constant| &mut constant.quantisation);
                filters.for_each(rescale);
            }
            Operator::ElementwiseBinary(_) if [Kind::Add, Kind::Mul].contains(&case.kind) => {
                let affines = parameters
                    .operands
                    .iter_mut()
                    .chain(&mut parameters.outputs);
                affines.for_each(rescale);
            }
            _ => {}
        }
        parameters
    }
}
