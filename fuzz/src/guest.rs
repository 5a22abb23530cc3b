//! What a guest describes in its memory.

use dmo_analysis::trace::Address;
use dmo_trace::mcu::machine::{Limits, Machine, Observation};
use dmo_trace::mcu::memory::RegionKind;
use dmo_trace::program::marks::read_layer;
use dmo_trace::program::target::{Target, TargetOptions};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::time::Duration;

/// Any program: only its memory is used.
const PROGRAM: &[u8] = include_bytes!("../../traces/elf/cortex-m4/relu.elf");

/// Bytes of the guest's memory that an input fills at most.
const WINDOW_BYTES: usize = 4096;

const LIMITS: Limits = Limits {
    max_instructions: 1,
    timeout: Duration::from_secs(1),
};

struct Guest {
    target: Target,
    machine: Machine<'static>,
}

thread_local! {
    static GUEST: RefCell<Option<Guest>> = RefCell::new(guest());
}

fn guest() -> Option<Guest> {
    let target = Target::new(PROGRAM, &TargetOptions::default()).ok()?;
    let machine = target.machine(Observation::Watch, LIMITS).ok()?;
    Some(Guest { target, machine })
}

/// A begin mark: r0 to r3, then what lies at the start of RAM. What is accepted is a layer
/// as everything after it relies on.
pub fn marks(bytes: &[u8]) {
    GUEST.with_borrow_mut(|guest| {
        let Guest { target, machine } = guest.as_mut().expect("a machine");
        let Some((registers, memory)) = bytes.split_at_checked(16) else {
            return;
        };
        let mut window = memory.to_vec();
        window.resize(WINDOW_BYTES, 0);
        let ram = target.map.regions().iter();
        let ram = ram.clone().find(|region| region.kind == RegionKind::Ram);
        let start = ram.expect("RAM").range.start;
        machine
            .write(Address(start as u32), &window)
            .expect("memory");
        for (index, word) in registers.as_chunks().0.iter().enumerate() {
            machine
                .set_register(index, u32::from_le_bytes(*word))
                .expect("register");
        }
        let Ok(layer) = read_layer(machine, &target.map, 0).map_err(|error| error.to_string())
        else {
            return;
        };
        assert!(layer.tensors.len() <= 64);
        let mut names = BTreeSet::new();
        let mut last = 0;
        let mut tensors: Vec<_> = layer.tensors.iter().collect();
        tensors.sort_by_key(|tensor| tensor.address);
        for tensor in tensors {
            assert!(names.insert(&tensor.name), "{layer:?}");
            assert!(!tensor.name.contains(char::is_control), "{layer:?}");
            let range = u64::from(tensor.address.0)..tensor.end();
            assert!(last <= range.start && !range.is_empty(), "{layer:?}");
            assert!(target.map.region_of(&range).is_some(), "{layer:?}");
            last = range.end;
        }
    });
}
