//! Shapes as data, zeros, and parts of tensors at indices that are data. Contracts:
//! `kernels-c/include/dmo_extents.h`, `dmo_move.h`.

use crate::call::{Argument, Frame};
use crate::kernels::{Arguments, Buffers, Contract, Job};
use dmo_analysis::graph::Kind::{BroadcastArgs, DynamicUpdateSlice, Shape, ZerosLike};
use dmo_analysis::operator::{self, UpdateSlice};
use dmo_analysis::trace::ElementType::{Int32, Int64};

pub(super) const CONTRACTS: &[Contract] = &[
    Contract::new("dmo_shape_of", &Shape, |job, buffers, frame| {
        let shape: &operator::ShapeOf = job.operator()?;
        let extents: Vec<i32> = shape.extents.iter().map(|&it| it as i32).collect();
        Ok(vec![
            Argument::Word(extents.len() as u32),
            frame.words("extents", &extents)?.into(),
            buffers.outputs[0].into(),
        ])
    }),
    Contract::int8("dmo_zeros", &ZerosLike, zeros),
    Contract::float32("dmo_zeros", &ZerosLike, zeros),
    Contract::new("dmo_zeros", &ZerosLike, zeros).of(Int32, Int32),
    Contract::new("dmo_zeros", &ZerosLike, zeros).of(Int64, Int64),
    Contract::new("dmo_broadcast_args_s32", &BroadcastArgs, broadcast_args).of(Int32, Int32),
    Contract::new("dmo_broadcast_args_s64", &BroadcastArgs, broadcast_args).of(Int64, Int64),
    Contract::int8("dmo_update_slice", &DynamicUpdateSlice, update_slice),
    Contract::float32("dmo_update_slice", &DynamicUpdateSlice, update_slice),
    Contract::int16("dmo_update_slice", &DynamicUpdateSlice, update_slice),
    Contract::new("dmo_update_slice", &DynamicUpdateSlice, update_slice).of(Int32, Int32),
];

fn zeros(job: &Job, buffers: &Buffers, _: &mut Frame) -> Arguments {
    let zeros: &operator::Zeros = job.operator()?;
    Ok(vec![
        Argument::Word(zeros.element_bytes),
        Argument::Word(zeros.elements),
        buffers.outputs[0].into(),
    ])
}

fn broadcast_args(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let args: &operator::BroadcastArgs = job.operator()?;
    let [one, other] = args.axes.map(|axes| axes as i32);
    let size = frame.words("size", &[one, other, one.max(other)])?;
    let buffers = [buffers.inputs[0], buffers.inputs[1], buffers.outputs[0]];
    let mut arguments = vec![size.into()];
    arguments.extend(buffers.map(Argument::from));
    Ok(arguments)
}

fn update_slice(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let update: &UpdateSlice = job.operator()?;
    let mut size = vec![update.input.len() as i32, update.begin_bytes as i32];
    for extents in [&update.input, &update.update] {
        let mut extents: Vec<i32> = extents.iter().map(|&it| it as i32).collect();
        // The structure has room for the most.
        extents.resize(UpdateSlice::MOST_AXES, 1);
        size.extend(extents);
    }
    let size = frame.words("size", &size)?;
    let mut arguments = vec![
        size.into(),
        Argument::Word(job.case.input_type.size_bytes()),
    ];
    arguments.extend(buffers.inputs.iter().map(|&input| Argument::from(input)));
    arguments.push(buffers.outputs[0].into());
    Ok(arguments)
}
