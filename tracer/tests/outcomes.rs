//! Kernels whose stores depend on the data: what is granted holds for every outcome, by brute force
//! over all of them, and nothing is granted where the other outcome is not known. And kernels of which
//! it is said that nothing in them depends on data, and others.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::unnecessary_wraps,
    reason = "a test may fail loudly; libtest-mimic wants a result"
)]

mod support;

use dmo_analysis::graph::Kind;
use dmo_analysis::graph::zoo::{self, Element};
use dmo_analysis::operator::{Operator, Reshape};
use dmo_analysis::profile::Refusal;
use dmo_analysis::trace::ElementType;
use dmo_trace::kernels::{Case, KernelLibrary};
use dmo_trace::measure::{Measurement, choose, measure_in_detail};
use dmo_trace::model::overlaps::{KernelOverlaps, Store, measured as measured_for_plans};
use dmo_trace::model::{Deployment, KernelSource};
use dmo_trace::program::data_decision::Decides;
use libtest_mimic::Failed;
use std::path::Path;
use support::LIMITS;
use support::placed::Placed;
use support::tools;
use support::workshop::{HARD, Workshop, linked};

fn main() {
    let compiler = tools::version("arm-none-eabi-gcc").map(|_| ());
    let trials = vec![
        tools::trial("what is granted holds for all outcomes", &compiler, granted),
        tools::trial(
            "other dependences on the data are refused",
            &compiler,
            refused,
        ),
        tools::trial("what data decide is found", &compiler, decided),
        tools::trial(
            "a plan relies on nothing that data decide",
            &compiler,
            planned,
        ),
    ];
    tools::main(&compiler, trials)
}

/// The kernel of `tests/vendor/outcomes.S`.
fn kernel(kind: u32) -> KernelLibrary {
    assembled("outcomes.S", kind)
}

fn assembled(file: &str, kind: u32) -> KernelLibrary {
    let workshop = Workshop::new(&HARD);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vendor");
    let source = folder.join(file);
    let object = workshop.compile(&source, &[format!("-DKIND={kind}")]);
    linked(&workshop.archive("kernel.a", &[object]))
}

fn case(elements: u32) -> Case {
    Case {
        operator: Operator::Reshape(Reshape {
            elements,
            element_bytes: 1,
        }),
        kind: Kind::of_kernels("reshape").unwrap(),
        input_type: ElementType::Int8,
        output_type: ElementType::Int8,
    }
}

fn measured(library: &KernelLibrary, case: &Case) -> Measurement {
    let contract = choose(library, case, None).expect("a kernel");
    measure_in_detail(library, case, contract, 5, LIMITS).expect("measured")
}

fn granted() -> Result<(), Failed> {
    let mut inputs = 0;
    let cases = [(1, 3, 3), (1, 5, 5), (5, 2, 0), (5, 4, 0), (8, 4, 0)];
    for (kind, elements, expected) in cases {
        let (library, case) = (kernel(kind), case(elements));
        let found = measured(&library, &case);
        assert!(found.every_outcome, "{kind}");
        assert_eq!(found.layer.data_dependent, Some(true), "{kind}");
        let pair = &found.layer.pairs[0];
        assert_eq!(pair.refusals, [], "{kind}");
        assert_eq!(pair.safe_overlap_bytes, expected, "{kind}");
        let (right, tried) = right_for_all(&library, &case, elements);
        // A store of what is there already harms nobody.
        assert!(
            right >= expected && (kind == 1 || right < elements),
            "{kind}: {right}"
        );
        inputs += tried;
    }
    assert_eq!(inputs, 27 + 243 + 9 + 81 + 81);
    Ok(())
}

/// The greatest overlap at which, as at each smaller one, all inputs of these values give the output
/// of separate buffers, and how many inputs there are.
fn right_for_all(library: &KernelLibrary, case: &Case, elements: u32) -> (u32, usize) {
    const VALUES: [i8; 3] = [-1, 1, 101];
    let count = VALUES.len().pow(elements);
    let input = |mut number: usize| -> Vec<u8> {
        let mut next = || {
            let value = VALUES[number % VALUES.len()];
            number /= VALUES.len();
            value as u8
        };
        (0..elements).map(|_| next()).collect()
    };
    let mut placed = Placed::new(library, case);
    let mut output = |input: &[u8], overlap: u32| {
        let start = elements - overlap;
        let mut memory = vec![0xa5; 2 * elements as usize];
        memory[start as usize..][..input.len()].copy_from_slice(input);
        let memory = placed.run(memory, &[start], 0);
        memory[..elements as usize].to_vec()
    };
    let mut is_right = |overlap: u32| {
        (0..count).all(|number| {
            let input = input(number);
            output(&input, overlap) == output(&input, 0)
        })
    };
    let right = (1..=elements).take_while(|&overlap| is_right(overlap));
    (right.last().unwrap_or(0), count)
}

/// Outputs that may stay as they were, addresses that depend on the condition, and paths that were
/// not taken.
fn refused() -> Result<(), Failed> {
    let mut seen = 0;
    for kind in [2, 3, 4, 6, 7] {
        let library = kernel(kind);
        for elements in [5, 16] {
            let found = measured(&library, &case(elements));
            assert!(!found.every_outcome, "{kind}");
            let pair = &found.layer.pairs[0];
            assert_eq!(pair.safe_overlap_bytes, 0, "{kind}");
            assert!(pair.refusals.contains(&Refusal::DataDependent), "{kind}");
            seen += 1;
        }
    }
    assert_eq!(seen, 10);
    Ok(())
}

/// Branches that meet again, also after calls, loops and loads of constants, decide nothing; what no
/// input tried has shown is found all the same.
fn decided() -> Result<(), Failed> {
    use Decides::{Access, Address, Branch, Setting, Variable};
    let expected: [(u32, &[Decides]); 23] = [
        (1, &[]),
        (2, &[]),
        (3, &[]),
        (4, &[]),
        (5, &[]),
        (6, &[]),
        (7, &[]),
        (11, &[Branch]),
        // Its O_s holds whichever it is.
        (12, &[]),
        (13, &[Address]),
        (14, &[Branch]),
        (15, &[Branch]),
        (16, &[Branch]),
        (17, &[Branch]),
        (18, &[Branch]),
        (19, &[Branch]),
        (20, &[Setting, Setting]),
        (21, &[Branch]),
        (22, &[Variable]),
        (23, &[Branch]),
        (24, &[Setting]),
        (25, &[Setting]),
        (26, &[Setting]),
    ];
    let mut seen = 0;
    for (kind, expected) in expected {
        let library = assembled("independence.S", kind);
        let found = measured(&library, &case(16));
        let decisions = found.decisions.as_deref().expect("followed");
        let kinds: Vec<Decides> = decisions.iter().map(|it| it.decides).collect();
        assert_eq!(kinds, expected, "{kind}: {decisions:?}");
        assert_eq!(found.every_outcome, kind == 12, "{kind}");
        assert!(!kinds.contains(&Access), "{kind}");
        seen += 1;
    }
    assert_eq!(seen, 23);
    // The last element is stored before the first is loaded, which no input tried shows.
    let layer = measured(&assembled("independence.S", 12), &case(16)).layer;
    assert_eq!(layer.data_dependent, Some(false));
    assert_eq!(layer.pairs[0].safe_overlap_bytes, 0);
    Ok(())
}

struct Forgetful;

impl Store for Forgetful {
    fn load(&self, _: &str) -> Option<KernelOverlaps> {
        None
    }
    fn save(&self, _: &str, _: &KernelOverlaps) {}
}

/// What a kernel allows a plan to use is nothing where data decide, although no input tried shows it.
/// Kernels of `tests/vendor/independence.S`, and whether data decide what they access.
const DECIDED: [(u32, bool); 6] = [
    (1, false),
    (7, false),
    (11, true),
    (13, true),
    (14, true),
    (20, true),
];

fn planned() -> Result<(), Failed> {
    let network = zoo::find("mobilenet_v1_0.25_128").expect("in the zoo");
    let graph = network.build(Element::Int8);
    let mut seen = 0;
    for (kind, is_refused) in DECIDED {
        let library = assembled("independence.S", kind);
        let deployment = Deployment::invented_on(&graph, &[KernelSource::from(&library)], LIMITS);
        let kernels = measured_for_plans(&deployment, 2, LIMITS, &Forgetful, &|_| ())?;
        let pairs = kernels.iter().flat_map(|kernel| &kernel.pairs);
        for pair in pairs {
            assert_eq!(!pair.refusals.is_empty(), is_refused, "{kind}: {pair:?}");
            assert_eq!(pair.displacement_bytes.is_none(), is_refused, "{kind}");
            let names = |text: &String| text.starts_with("data decide");
            assert_eq!(pair.refusals.iter().any(names), is_refused, "{kind}");
            seen += 1;
        }
        assert!(kernels.iter().all(|kernel| !kernel.on_inputs_tried));
    }
    assert_eq!(seen, DECIDED.len());
    Ok(())
}
