//! Damaged files give an error or another model, never a panic or much work.

use super::{Net, network};
use dmo_analysis::graph::tflite::{self, RuntimeKernels, TfliteError};
use dmo_analysis::graph::{TensorType, overlaps};
use dmo_analysis::tflm::whole_arena;
use proptest::prelude::*;

fn file() -> Vec<u8> {
    tflite::export(&network(TensorType::Int8, 1), 1).unwrap()
}

/// Whatever the file is, all that takes files comes to an end.
fn take(file: &[u8]) {
    let parameters = tflite::parameters(file, 0);
    let Ok(model) = tflite::read(file) else {
        return;
    };
    if let Ok(parameters) = parameters {
        assert_eq!(parameters.len(), model.graphs[0].operators.len());
    }
    for graph in &model.graphs {
        overlaps::analytic(graph);
    }
    let _ = tflite::offline_plan(file);
    for kernels in [RuntimeKernels::Reference, RuntimeKernels::CmsisNn] {
        if let Ok(arena) = whole_arena(file, kernels) {
            assert!(arena.needed_bytes >= arena.used_bytes);
        }
    }
    let tensors: usize = model.graphs.iter().map(|graph| graph.tensors.len()).sum();
    let order = model.graphs[0].file_order();
    if let Ok(planned) = tflite::with_plan(file, Some(&order), &vec![0; tensors]) {
        let again = tflite::read(&planned).unwrap();
        assert_eq!(again.graphs, model.graphs);
    }
}

#[test]
fn every_prefix() {
    let file = file();
    for length in 0..file.len() {
        take(&file[..length]);
    }
    // Of the last bytes only those of the last buffer are missing.
    assert!(tflite::read(&file[..file.len() / 2]).is_err());
}

#[test]
fn every_byte() {
    let mut file = file();
    for index in 0..file.len() {
        let byte = file[index];
        for other in [0, 1, 0x7f, 0x80, 0xff, byte ^ 1, byte.wrapping_add(4)] {
            file[index] = other;
            take(&file);
        }
        file[index] = byte;
    }
}

/// All values of all bytes of the smallest of models.
#[test]
fn every_value_of_every_byte() {
    let mut net = Net::new(TensorType::Int8, 1);
    let [one, other] = [0; 2].map(|_| net.input(&[2, 2]));
    let sum = net.sum(one, other);
    let mut file = tflite::export(&net.output(sum), 1).unwrap();
    for index in 0..file.len() {
        let byte = file[index];
        for other in 0..=u8::MAX {
            file[index] = other;
            take(&file);
        }
        file[index] = byte;
    }
}

/// Many operators that name the same long list of tensors.
#[test]
fn lists_that_are_shared() {
    // 4,000 references to one operator whose inputs are a list of 4,000 entries.
    const COUNT: u32 = 4000;
    let mut file = Vec::new();
    let word = |file: &mut Vec<u8>, word: u32| file.extend(word.to_le_bytes());
    let directory = |file: &mut Vec<u8>, fields: &[u16]| {
        let length = 4 + 2 * fields.len() as u16;
        for half in [length, 0].iter().chain(fields) {
            file.extend(half.to_le_bytes());
        }
    };
    // A root with operator codes and subgraphs.
    word(&mut file, 20);
    file.extend(b"TFL3");
    directory(&mut file, &[0, 4, 8]);
    file.extend([0; 2]);
    let root = file.len();
    assert_eq!(root, 20);
    word(&mut file, 12);
    word(&mut file, 8);
    word(&mut file, 20);
    // One code, an empty table.
    word(&mut file, 1);
    word(&mut file, 8);
    directory(&mut file, &[]);
    word(&mut file, 4);
    // One subgraph: operators only.
    word(&mut file, 1);
    word(&mut file, 16);
    directory(&mut file, &[0, 0, 0, 4]);
    let subgraph = file.len();
    word(&mut file, 12);
    word(&mut file, 4);
    word(&mut file, COUNT);
    let operators = file.len();
    let end = operators + 4 * COUNT as usize;
    let table = end + 8;
    for index in 0..COUNT as usize {
        word(&mut file, (table - operators - 4 * index) as u32);
    }
    directory(&mut file, &[0, 4]);
    assert_eq!(file.len(), table);
    word(&mut file, 8);
    word(&mut file, 4);
    word(&mut file, COUNT);
    for _ in 0..COUNT {
        word(&mut file, u32::MAX);
    }
    assert_eq!(subgraph % 4, 0);
    let limit = 16 * file.len();
    assert_eq!(
        tflite::read(&file).unwrap_err(),
        TfliteError::Amplified { limit, times: 16 }
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn random_bytes(changes in proptest::collection::vec((any::<usize>(), any::<u8>()), 1..8)) {
        let mut file = file();
        for (index, byte) in changes {
            let index = index % file.len();
            file[index] = byte;
        }
        take(&file);
    }

    #[test]
    fn random_words(changes in proptest::collection::vec((any::<usize>(), -8i32..64), 1..4)) {
        let mut file = file();
        for (index, word) in changes {
            let index = index % (file.len() / 4 - 1) * 4;
            file[index..index + 4].copy_from_slice(&word.to_le_bytes());
        }
        take(&file);
    }

    #[test]
    fn noise(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let mut file = vec![8, 0, 0, 0];
        file.extend(b"TFL3");
        file.extend(bytes);
        take(&file);
    }
}
