//! Resource variables become tensors that persist, where it is certain what they are.

use super::parts::code;
use super::tree::{Part, Part::*, write};
use dmo_analysis::graph::tflite::{self, VariableError, WithVariables};
use dmo_analysis::graph::{Kind, Storage, TensorId};

const CALL_ONCE: u32 = 0;
const VAR_HANDLE: u32 = 1;
const READ: u32 = 2;
const ASSIGN: u32 = 3;
const ADD: u32 = 4;
const IF: u32 = 5;
const CODES: [u32; 6] = [129, 142, 143, 144, 0, 118];

const ZERO_POINT: i64 = -7;
const INITIAL: [u8; 4] = [1, 2, 3, 4];

/// `state = state + x`, which is the output, and begins with [`INITIAL`].
#[derive(Clone)]
struct Model {
    main: Vec<Part>,
    initialisation: Vec<Part>,
    /// Elements of what is added up.
    elements: i32,
    /// Elements of the tensor that is read.
    read: i32,
    outputs: Vec<i32>,
    further: Vec<Part>,
}

impl Model {
    fn new() -> Self {
        Self {
            main: vec![
                called(CALL_ONCE, &[], &[], (103, vec![(0, Word(1))])),
                handle("", "state", 1),
                operator(READ, &[1], &[2]),
                operator(ADD, &[0, 2], &[3]),
                operator(ASSIGN, &[1, 3], &[]),
            ],
            initialisation: vec![handle("", "state", 0), operator(ASSIGN, &[0, 1], &[])],
            elements: 4,
            read: 4,
            outputs: vec![3],
            further: Vec::new(),
        }
    }

    fn file(&self) -> Vec<u8> {
        let main = [
            tensor(self.elements, 0),
            resource(),
            tensor(self.read, 0),
            tensor(self.elements, 0),
            tensor(4, 1),
        ];
        let main = subgraph(&main, &[0], &self.outputs, &self.main);
        let first = [resource(), tensor(4, 1), tensor(4, 0)];
        let first = subgraph(&first, &[], &[], &self.initialisation);
        let mut subgraphs = vec![main, first];
        subgraphs.extend(self.further.iter().cloned());
        let data = Table(vec![(0, Bytes(INITIAL.to_vec()))]);
        write(&Table(vec![
            (0, Word(3)),
            (1, Tables(CODES.map(code).to_vec())),
            (2, Tables(subgraphs)),
            (4, Tables(vec![Table(Vec::new()), data])),
        ]))
    }

    fn with_variables(&self) -> Result<Option<WithVariables>, VariableError> {
        let file = self.file();
        tflite::read(&file).unwrap().with_variables(&file)
    }

    fn refused(&self) -> VariableError {
        self.with_variables().unwrap_err()
    }
}

fn subgraph(tensors: &[Part], inputs: &[i32], outputs: &[i32], operators: &[Part]) -> Part {
    Table(vec![
        (0, Tables(tensors.to_vec())),
        (1, Words(inputs.to_vec())),
        (2, Words(outputs.to_vec())),
        (3, Tables(operators.to_vec())),
    ])
}

fn tensor(extent: i32, buffer: u32) -> Part {
    let quantised = Table(vec![(2, Floats(vec![0.5])), (3, Longs(vec![ZERO_POINT]))]);
    Table(vec![
        (0, Words(vec![extent])),
        (1, Byte(9)),
        (2, Word(buffer)),
        (3, Text("t")),
        (4, quantised),
    ])
}

fn resource() -> Part {
    Table(vec![
        (0, Words(Vec::new())),
        (1, Byte(13)),
        (3, Text("handle")),
    ])
}

fn operator(code: u32, inputs: &[i32], outputs: &[i32]) -> Part {
    Table(super::parts::operator_fields(code, inputs, outputs))
}

fn called(code: u32, inputs: &[i32], outputs: &[i32], options: (u8, Vec<(usize, Part)>)) -> Part {
    let mut fields = super::parts::operator_fields(code, inputs, outputs);
    fields.extend([(3, Byte(options.0)), (4, Table(options.1))]);
    Table(fields)
}

fn handle(container: &'static str, name: &'static str, tensor: i32) -> Part {
    let options = vec![(0, Text(container)), (1, Text(name))];
    called(VAR_HANDLE, &[], &[tensor], (111, options))
}

#[test]
fn a_variable_is_a_tensor_that_persists() {
    let made = Model::new().with_variables().unwrap().unwrap();
    let variable = TensorId(5);
    assert_eq!(made.graph.tensors.len(), 6);
    let tensor = made.graph.tensor(variable);
    assert_eq!((tensor.storage, tensor.size_bytes), (Storage::Variable, 4));
    assert_eq!(made.initial[&variable], INITIAL);
    let operands: Vec<_> = (made.graph.operators.iter())
        .map(|node| (node.kind.name(), node.inputs.clone(), node.outputs.clone()))
        .collect();
    let [x, read, sum] = [0, 2, 3].map(TensorId);
    let expected = [
        ("CALL_ONCE", vec![], vec![]),
        ("VAR_HANDLE", vec![], vec![]),
        ("READ_VARIABLE", vec![], vec![]),
        ("ADD", vec![x, variable], vec![sum]),
        ("ASSIGN_VARIABLE", vec![sum], vec![variable]),
    ];
    assert_eq!(operands, expected);
    assert_eq!(made.read_in_place, [(read, variable)].into());
}

/// What is used after the variable is assigned again, or is an output, is copied first.
#[test]
fn what_is_used_later_is_copied() {
    let mut late = Model::new();
    late.main.swap(3, 4);
    late.main[3] = operator(ASSIGN, &[1, 0], &[]);
    let mut output = Model::new();
    output.outputs.push(2);
    let mut both = Model::new();
    both.main.push(handle("", "state", 1));
    both.main.push(operator(ASSIGN, &[1, 2], &[]));
    for model in [late, output, both] {
        let made = model.with_variables().unwrap().unwrap();
        assert!(made.read_in_place.is_empty());
        let read = &made.graph.operators[2];
        assert_eq!(
            (&read.inputs[..], &read.outputs[..]),
            (&[TensorId(5)][..], &[TensorId(2)][..])
        );
    }
}

/// Without a subgraph that assigns it, a variable holds the zero point of what is assigned first.
#[test]
fn a_variable_begins_with_the_zero_point() {
    let mut model = Model::new();
    model.initialisation.pop();
    let made = model.with_variables().unwrap().unwrap();
    assert_eq!(made.initial[&TensorId(5)], [ZERO_POINT as u8; 4]);
}

#[test]
fn a_model_without_variables_stays_as_it_is() {
    let mut model = Model::new();
    model.main = vec![
        called(CALL_ONCE, &[], &[], (103, vec![(0, Word(1))])),
        operator(ADD, &[0, 0], &[3]),
    ];
    model.initialisation.clear();
    assert_eq!(model.with_variables(), Ok(None));
}

/// Each of these leaves open what a variable is, or what it begins with.
#[test]
fn what_is_not_certain_is_refused() {
    let model = Model::new();
    let mut refusals = 0;
    let mut expect = |change: &dyn Fn(&mut Model), is_expected: &dyn Fn(&VariableError) -> bool| {
        let mut changed = model.clone();
        change(&mut changed);
        let refusal = changed.refused();
        assert!(is_expected(&refusal), "{refusal}");
        refusals += 1;
    };
    use VariableError::*;
    let is_handle = |it: &VariableError| matches!(it, Handle { .. });
    expect(&|it| it.read = 3, &|it| matches!(it, Sizes { .. }));
    let before_its_handle = |it: &mut Model| {
        it.main.swap(1, 4);
        it.main[1] = operator(ASSIGN, &[1, 0], &[]);
    };
    expect(&before_its_handle, &is_handle);
    // The first inference would read what nothing has stored yet.
    let late = |it: &mut Model| it.main[..3].rotate_left(1);
    expect(&late, &|it| matches!(it, TooEarly { .. }));
    expect(&|it| it.outputs.push(1), &is_handle);
    expect(&|it| it.main[3] = operator(ADD, &[1, 0], &[3]), &is_handle);
    expect(
        &|it| it.main[4] = operator(ASSIGN, &[2, 3], &[]),
        &is_handle,
    );
    expect(&|it| it.main[4] = operator(ASSIGN, &[1, 4], &[]), &|it| {
        matches!(it, Constant { .. })
    });
    let computed = |it: &mut Model| {
        it.initialisation[1] = operator(ADD, &[1, 1], &[2]);
        it.initialisation.push(operator(ASSIGN, &[0, 2], &[]));
    };
    expect(&computed, &|it| matches!(it, NotConstant { .. }));
    let containers = |it: &mut Model| it.initialisation[0] = handle("other", "state", 0);
    expect(&containers, &|it| matches!(it, Containers { .. }));
    let renamed = |it: &mut Model| it.main.insert(2, handle("", "other", 1));
    expect(&renamed, &is_handle);
    let large = |it: &mut Model| {
        it.elements = 1 << 30;
        it.initialisation.pop();
    };
    expect(&large, &|it| matches!(it, TooLarge));
    let never = |it: &mut Model| {
        it.main.pop();
        it.initialisation.pop();
    };
    expect(&never, &|it| matches!(it, NotAssigned { .. }));
    let not_run = |it: &mut Model| it.further.push(subgraph(&[], &[], &[], &[]));
    expect(&not_run, &|it| matches!(it, NotRun { subgraph: 2 }));
    let branches = |it: &mut Model| {
        it.further.push(subgraph(&[], &[], &[], &[]));
        let options = vec![(0, Word(2)), (1, Word(2))];
        it.main.push(called(IF, &[0], &[], (92, options)));
    };
    expect(&branches, &|it| matches!(it, Control { .. }));
    assert_eq!(refusals, 14);
}

/// Nothing of a kind that names, reads or assigns variables is left out of the checks above.
#[test]
fn kinds_of_variables_have_these_codes() {
    let kinds = [
        Kind::CallOnce,
        Kind::VarHandle,
        Kind::ReadVariable,
        Kind::AssignVariable,
    ];
    assert_eq!(
        kinds.map(|kind| kind.code()),
        [129, 142, 143, 144].map(Some)
    );
}
