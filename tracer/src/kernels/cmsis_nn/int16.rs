//! Elements, pools and products of 16-bit activations. The convolutions stand beside those of 8 bits.

use super::{
    fully_connected, fully_connected_filter, has_one_batch, pool, product, row_width_and_depth,
    sum, unmoved_filter,
};
use crate::call::{Argument, Frame};
use crate::kernels::case::{same_shapes, undilated_pool};
use crate::kernels::convolution::shifts;
use crate::kernels::elementwise::SoftmaxInt16;
use crate::kernels::{Arguments, Buffers, Contract, Job, ScratchSize};
use dmo_analysis::graph::{Kind, TensorType};
use dmo_analysis::operator;

pub(super) const CONTRACTS: &[Contract] = &[
    Contract::int16("arm_elementwise_add_s16", &Kind::Add, sum)
        .only(same_shapes)
        .with_status(),
    Contract::int16("arm_elementwise_mul_s16", &Kind::Mul, product)
        .only(same_shapes)
        .with_status(),
    Contract::int16("arm_softmax_s16", &Kind::Softmax, softmax).with_status(),
    Contract::int16("arm_max_pool_s16", &Kind::MaxPool2d, pool)
        .only(undilated_pool)
        .with_status()
        .since(6),
    Contract::int16("arm_max_pool_s16", &Kind::MaxPool2d, pool)
        .only(|case| undilated_pool(case) && has_one_batch(case))
        .with_status(),
    Contract::int16("arm_avgpool_s16", &Kind::AveragePool2d, pool)
        .only(undilated_pool)
        .with_status()
        .with_scratch(AVERAGE_SCRATCH)
        .since(6),
    Contract::int16("arm_avgpool_s16", &Kind::AveragePool2d, pool)
        .only(|case| undilated_pool(case) && has_one_batch(case))
        .with_status()
        .with_scratch(AVERAGE_SCRATCH),
    Contract::int16("arm_fully_connected_s16", &Kind::FullyConnected, dense)
        .with_status()
        .with_scratch(ScratchSize::new(
            "arm_fully_connected_s16_get_buffer_size",
            fully_connected_filter,
        )),
];

const AVERAGE_SCRATCH: ScratchSize =
    ScratchSize::new("arm_avgpool_s16_get_buffer_size", row_width_and_depth);

fn softmax(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let layer: &operator::Softmax = job.operator()?;
    let numbers = SoftmaxInt16::place(job, frame)?;
    let tables = [numbers.exponentials, numbers.reciprocals].map(|table| table.0 as i32);
    let [multiplier, shift] = numbers.ratio.words();
    Ok(vec![
        buffers.inputs[0].into(),
        Argument::Word(layer.rows),
        Argument::Word(layer.depth),
        Argument::Word(multiplier as u32),
        Argument::Word(shift as u32),
        frame.words("tables", &tables)?.into(),
        buffers.outputs[0].into(),
    ])
}

fn dense(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let numbers = unmoved_filter(job)?;
    let ratio = numbers
        .ratio
        .within("ratio of scales", shifts(job.case.input_type))?;
    let quant = frame.words("quantisation", &ratio.words())?;
    fully_connected(
        job,
        TensorType::Int8,
        &numbers.params(),
        quant,
        buffers,
        frame,
    )
}
