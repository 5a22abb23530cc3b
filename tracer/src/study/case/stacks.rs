//! What stacks tensors, moves blocks of pixels, and pads by a mirror image.

use super::along_axis::product;
use super::error::{Context, Result, bail, ensure};
use super::numbers::{numbers, pair, shape};
use super::{CaseRequest, Sizes};
use dmo_analysis::operator::{
    BatchDirection, BatchSpace, BroadcastArgs, DepthDirection, DepthSpace, Gather, MirrorPad,
    Operator, Pack, Shape, Unpack, UpdateSlice,
};

/// Along a new axis before --axis.
pub fn pack(given: &CaseRequest, sizes: Sizes) -> Result<Operator> {
    let parts = given.input.len();
    let part = given.input(0)?;
    for index in 1..parts {
        ensure!(
            given.input(index)? == part,
            "--input: expected equal shapes"
        );
    }
    let axis = given.axis()? as usize;
    Ok(Operator::Pack(Pack {
        parts: parts as u32,
        rounds: product(&part[..axis])?,
        run: product(&part[axis..])?,
        element_bytes: sizes.from,
    }))
}

pub fn unpack(given: &CaseRequest, sizes: Sizes) -> Result<Operator> {
    let input = given.input(0)?;
    let axis = given.axis()? as usize;
    Ok(Operator::Unpack(Unpack {
        parts: input[axis],
        rounds: product(&input[..axis])?,
        run: product(&input[axis + 1..])?,
        element_bytes: sizes.from,
    }))
}

pub fn space_to_depth(given: &CaseRequest, sizes: Sizes) -> Result<Operator> {
    let block = block(given)?;
    let [batches, height, width, depth] = given.input(0)?;
    ensure!(
        height % block == 0 && width % block == 0,
        "--input: height {height} and width {width} are no multiples of the block, {block}"
    );
    let blocks = [batches, height / block, width / block, depth];
    depth_space(blocks, block, DepthDirection::SpaceToDepth, sizes)
}

pub fn depth_to_space(given: &CaseRequest, sizes: Sizes) -> Result<Operator> {
    let block = block(given)?;
    let [batches, height, width, depth] = given.input(0)?;
    let pixels = block.checked_mul(block).filter(|it| depth % it == 0);
    let pixels = pixels.with_context(|| {
        format!("--input: depth {depth} is no multiple of the block's pixels, {block} x {block}")
    })?;
    let blocks = [batches, height, width, depth / pixels];
    depth_space(blocks, block, DepthDirection::DepthToSpace, sizes)
}

/// Height and width of a block: the distance from one to the next.
fn block(given: &CaseRequest) -> Result<u32> {
    let text = given.stride.as_deref().context("--stride is missing")?;
    match numbers("--stride", text)?[..] {
        [block] if block > 0 => Ok(block),
        _ => bail!("--stride {text}: expected one number above 0, the size of a block"),
    }
}

fn depth_space(
    blocks: [u32; 4],
    block: u32,
    direction: DepthDirection,
    sizes: Sizes,
) -> Result<Operator> {
    Ok(Operator::DepthSpace(DepthSpace {
        blocks,
        block,
        direction,
        element_bytes: sizes.from,
    }))
}

/// The output has what padding after the image adds.
pub fn space_to_batch(given: &CaseRequest, sizes: Sizes) -> Result<Operator> {
    let direction = BatchDirection::SpaceToBatch;
    batch_space(given, given.input(0)?, given.output()?, direction, sizes)
}

/// The output does not have what is cropped.
pub fn batch_to_space(given: &CaseRequest, sizes: Sizes) -> Result<Operator> {
    let direction = BatchDirection::BatchToSpace;
    batch_space(given, given.output()?, given.input(0)?, direction, sizes)
}

/// --stride is the size of a block, --padding what lies above and left of the image.
fn batch_space(
    given: &CaseRequest,
    image: Shape,
    spread: Shape,
    direction: BatchDirection,
    sizes: Sizes,
) -> Result<Operator> {
    let block = pair("--stride", given.stride.as_deref().unwrap_or("1"))?;
    let before = pair("--padding", given.padding.as_deref().unwrap_or("0"))?;
    let batches = u64::from(image[0]) * u64::from(block[0]) * u64::from(block[1]);
    ensure!(
        batches == u64::from(spread[0]) && image[3] == spread[3],
        "the tensor with more batches is {}x..x{}, expected {batches}x..x{}",
        spread[0],
        spread[3],
        image[3]
    );
    Ok(Operator::BatchSpace(BatchSpace {
        image,
        extents: [spread[1], spread[2]],
        block,
        before,
        direction,
        element_bytes: sizes.from,
    }))
}

/// The second shape is that of the indices.
pub fn gather(given: &CaseRequest, sizes: Sizes) -> Result<Operator> {
    let (input, axis) = (given.input(0)?, given.axis()? as usize);
    Ok(Operator::Gather(Gather {
        batches: 1,
        outer: product(&input[..axis])?,
        extents: vec![input[axis]],
        run: product(&input[axis + 1..])?,
        count: product(&given.input(1)?)?,
        element_bytes: sizes.from,
    }))
}

/// The second shape is that of the part; its place is a third input.
pub fn update_slice(given: &CaseRequest, sizes: Sizes) -> Result<Operator> {
    Ok(Operator::UpdateSlice(UpdateSlice {
        input: given.input(0)?.to_vec(),
        update: given.input(1)?.to_vec(),
        element_bytes: sizes.from,
        begin_bytes: 4,
    }))
}

/// Shapes of shapes: how many axes each has.
pub fn broadcast_args(given: &CaseRequest, sizes: Sizes) -> Result<Operator> {
    let axes = |input| product(&given.input(input)?);
    Ok(Operator::BroadcastArgs(BroadcastArgs {
        axes: [axes(0)?, axes(1)?],
        element_bytes: sizes.from,
    }))
}

/// The outermost elements stand on the mirror.
pub fn mirror_pad(given: &CaseRequest, sizes: Sizes) -> Result<Operator> {
    let before = match given.padding.as_deref() {
        None | Some("same" | "valid") => bail!("--padding NxHxWxC is missing"),
        Some(text) => shape("--padding", text, 0)?,
    };
    let (input, output) = (given.input(0)?, given.output()?);
    let mut after = [0; 4];
    for axis in 0..4 {
        let rest = output[axis].checked_sub(input[axis]);
        let rest = rest.and_then(|rest| rest.checked_sub(before[axis]));
        after[axis] = rest.context("--output is smaller than the input and its --padding")?;
    }
    Ok(Operator::MirrorPad(MirrorPad {
        input,
        before,
        after,
        reflect: true,
        element_bytes: sizes.from,
    }))
}
