//! SwiftNet (Cheng et al. 2019), the network that won a Visual Wake Words challenge:
//! the model that Liberis and Lane reorder, in the order of the public
//! vwwc-224/submission-uint8.lite.

use super::builder::{Builder, Tensor};
use super::element::Element;
use super::taps::{same, valid};
use crate::graph::Graph;
use Step::{Concat, Conv, Depthwise, Project};

/// One operator of a cell. Numbers are those of steps: 0 is the cell's input.
enum Step {
    /// 1x1 convolution to the cell's width.
    Conv(usize),
    /// 3x3 depthwise convolution.
    Depthwise(usize),
    /// Concatenation of channels.
    Concat(&'static [usize]),
    /// 1x1 convolution to the width of the cell's output.
    Project(usize),
}

/// A cell: its output is the sum of its two projections.
struct Cell {
    width: u32,
    output: u32,
    steps: &'static [Step],
}

const CELLS: [Cell; 3] = [
    Cell {
        width: 32,
        output: 48,
        steps: &[
            Conv(0),
            Concat(&[0, 1]),
            Conv(1),
            Conv(0),
            Concat(&[0, 4]),
            Conv(1),
            Conv(2),
            Concat(&[6, 7]),
            Concat(&[0, 4, 6, 7]),
            Conv(8),
            Concat(&[1, 10]),
            Concat(&[7, 10]),
            Conv(11),
            Conv(9),
            Concat(&[3, 7, 13, 14]),
            Depthwise(7),
            Conv(16),
            Depthwise(13),
            Conv(18),
            Depthwise(12),
            Conv(20),
            Depthwise(5),
            Conv(22),
            Conv(15),
            Concat(&[17, 19, 21, 23, 24]),
            Project(0),
            Project(25),
        ],
    },
    Cell {
        width: 48,
        output: 80,
        steps: &[
            Conv(0),
            Conv(0),
            Conv(0),
            Conv(0),
            Project(0),
            Depthwise(1),
            Depthwise(1),
            Conv(6),
            Concat(&[1, 8]),
            Concat(&[1, 8]),
            Conv(9),
            Depthwise(10),
            Conv(7),
            Concat(&[13, 2]),
            Conv(14),
            Conv(2),
            Concat(&[0, 1, 8, 3]),
            Conv(17),
            Conv(18),
            Conv(12),
            Concat(&[4, 11, 15, 19, 16, 20]),
            Project(21),
        ],
    },
    Cell {
        width: 64,
        output: 76,
        steps: &[
            Conv(0),
            Project(0),
            Depthwise(1),
            Conv(1),
            Depthwise(1),
            Conv(1),
            Depthwise(1),
            Depthwise(1),
            Conv(3),
            Concat(&[0, 9]),
            Concat(&[1, 9]),
            Conv(10),
            Depthwise(11),
            Depthwise(4),
            Depthwise(4),
            Conv(5),
            Conv(14),
            Conv(15),
            Conv(13),
            Conv(7),
            Conv(8),
            Concat(&[12, 16, 17, 6, 18, 19, 20, 21]),
            Project(22),
        ],
    },
];

/// Whether a person is in a 224x224 image.
pub(super) fn visual_wake_words(element: Element) -> Graph {
    let mut b = Builder::new("swiftnet_vww", element);
    let input = b.input(224, 224, 3);
    b.scope("stem");
    let image = b.split_whole(input);
    let mut x = b.conv(image, 16, same(7).stride(4));
    x = b.separable(x, 32, same(3));
    for (index, cell) in (2..).zip(&CELLS) {
        x = b.max_pool(x, valid(2).stride(2));
        b.scope(format!("cell_{index}"));
        x = run(&mut b, x, cell);
    }
    b.scope("logits");
    let pixel = b.average_to_pixel(x);
    b.finish_classified(pixel, 2)
}

fn run(b: &mut Builder, input: Tensor, cell: &Cell) -> Tensor {
    let mut values = vec![input];
    let mut projections = Vec::new();
    for step in cell.steps {
        let value = match step {
            Conv(from) => b.conv(values[*from], cell.width, same(1)),
            Depthwise(from) => b.depthwise(values[*from], same(3)),
            Concat(from) => {
                let inputs: Vec<Tensor> = from.iter().map(|&from| values[from]).collect();
                b.concat(&inputs)
            }
            Project(from) => {
                let projection = b.conv(values[*from], cell.output, same(1));
                projections.push(projection);
                projection
            }
        };
        values.push(value);
    }
    match projections[..] {
        [identity, projection] => b.add(identity, projection),
        _ => input,
    }
}
