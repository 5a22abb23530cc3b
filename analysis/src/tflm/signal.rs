//! Persistent buffers of the signal library's operators (`signal/micro/kernels`), in bytes, on a
//! microcontroller with pointers of 4 bytes; `None` where the options do not say them.

use crate::graph::TensorType;
use crate::graph::tflite::RuntimeKernels;
use crate::graph::tflite::lower::FileNode;
use crate::graph::tflite::lower::signal::count;

const POINTER: u64 = 4;

/// `CircularBufferGetNeededMemory`: its head, and its 16-bit elements twice.
fn circular_buffer(elements: u64) -> u64 {
    elements.saturating_mul(4).saturating_add(24)
}

/// Rows of the input's last axis, and that axis.
fn rows(node: &FileNode) -> Option<[u64; 2]> {
    let (&last, before) = node.input(0)?.shape.split_last()?;
    let rows = before.iter().map(|&extent| u64::from(extent));
    Some([rows.fold(1, u64::saturating_mul), last.into()])
}

/// A pointer to the state of each row and one to its buffer; then the buffers.
fn buffers(rows: u64, pointers: usize, buffer_bytes: u64) -> Option<Vec<u64>> {
    // More would take longer than the model is worth.
    let count = usize::try_from(rows).ok().filter(|&rows| rows <= 1 << 16)?;
    let mut sizes = vec![rows * POINTER; pointers];
    sizes.extend(std::iter::repeat_n(buffer_bytes, count));
    Some(sizes)
}

/// `delay.cc`
pub(super) fn delay(node: &FileNode, _: RuntimeKernels) -> Option<Vec<u64>> {
    let [rows, frame] = rows(node)?;
    let capacity = frame.saturating_add(count(node, "delay_length")?);
    buffers(rows, 2, circular_buffer(capacity))
}

/// `framer.cc`: the frame, rounded up to steps
pub(super) fn framer(node: &FileNode, _: RuntimeKernels) -> Option<Vec<u64>> {
    let [rows, _] = rows(node)?;
    let step = count(node, "frame_step")?;
    let steps = count(node, "frame_size")?.checked_next_multiple_of(step)?;
    buffers(rows, 2, circular_buffer(steps))
}

/// `overlap_add.cc`
pub(super) fn overlap_add(node: &FileNode, _: RuntimeKernels) -> Option<Vec<u64>> {
    let input = node.input(0)?;
    let [frames, frame] = rows(node)?;
    let [.., of_row, _] = input.shape[..] else {
        return None;
    };
    let bytes = frame.saturating_mul(input.element_type.bits()? / 8);
    buffers(frames.checked_div(of_row.into())?, 1, bytes)
}

/// `stacker.cc`
pub(super) fn stacker(node: &FileNode, _: RuntimeKernels) -> Option<Vec<u64>> {
    let [left, right] = ["stacker_left_context", "stacker_right_context"];
    let frames = count(node, left)?.saturating_add(count(node, right)?);
    let elements = count(node, "num_channels")?.saturating_mul(frames.saturating_add(1));
    Some(vec![circular_buffer(elements)])
}

/// `filter_bank.cc`: sums of 8 bytes, and one before them
pub(super) fn filter_bank(node: &FileNode, _: RuntimeKernels) -> Option<Vec<u64>> {
    let channels = count(node, "num_channels")?;
    Some(vec![channels.saturating_add(1).saturating_mul(8)])
}

/// `filter_bank_spectral_subtraction.cc`
pub(super) fn noise_estimate(node: &FileNode, _: RuntimeKernels) -> Option<Vec<u64>> {
    Some(vec![count(node, "num_channels")?.saturating_mul(4)])
}

/// `rfft.cc`, `irfft.cc`: what KISS FFT 130 asks for, a transform of half the length with its
/// factors, and room for one and a half of it
pub(super) fn transform(node: &FileNode, _: RuntimeKernels) -> Option<Vec<u64>> {
    let half = count(node, "fft_length")? / 2;
    let complex = match node.input(0)?.element_type {
        TensorType::Int16 => 4,
        TensorType::Int32 | TensorType::Float32 => 8,
        _ => return None,
    };
    // Its head, length, direction and 32 pairs of factors.
    let head = 3 * POINTER + 2 * 4 + 64 * 4;
    let elements = half.saturating_add(half.saturating_mul(3) / 2);
    Some(vec![elements.saturating_mul(complex).saturating_add(head)])
}
