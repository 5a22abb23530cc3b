//! The example of Liberis and Lane, 'Neural networks on microcontrollers: saving memory
//! at inference via operator reordering', Figure 1.

use super::builder::Builder;
use super::element::Element;
use super::taps::same;
use crate::graph::Graph;

/// Seven operators on two branches. The figure gives the sizes of the tensors (1568, 3136,
/// 1568, 512, 512, 256, 256 and 512 bytes of int8) and the kinds of the operators; these
/// shapes have those sizes.
pub(super) fn figure_1(element: Element) -> Graph {
    let mut b = Builder::new("liberis_lane_figure_1", element);
    let t0 = b.input(7, 7, 32);
    b.scope("figure_1");
    let t1 = b.conv(t0, 64, same(1));
    let t2 = b.conv(t1, 32, same(1));
    let t3 = b.depthwise(t2, same(3).stride(2));
    let t4 = b.conv(t1, 32, same(1).stride(2));
    let t5 = b.conv(t3, 16, same(1));
    let t6 = b.conv(t4, 16, same(1));
    let t7 = b.concat(&[t5, t6]);
    b.finish(&[t7])
}
