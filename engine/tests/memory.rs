//! Guest memory: what is mapped, what is recorded, and what is refused.
#![allow(clippy::unwrap_used, reason = "a test fails by panic")]

use dmo_engine::fault::{AccessKind, Fault};
use dmo_engine::memory::{Attention, EVENTS, Kind, MapError, Memory, Moment, Peripherals, Watch};

const FLASH: u32 = 0x0800_0000;
const RAM: u32 = 0x2000_0000;
const DEVICE: u32 = 0x4000_0000;
const NOW: Moment = Moment { time: 7, pc: FLASH };

fn memory() -> Memory {
    let region = |start: u32, kind| (u64::from(start)..u64::from(start) + 0x2000, kind);
    Memory::new([
        region(FLASH, Kind::Flash),
        region(RAM, Kind::Ram),
        region(DEVICE, Kind::Device),
    ])
    .unwrap()
}

fn watch(range: std::ops::Range<u32>, loads: bool) -> Watch {
    Watch {
        range: range.start.into()..range.end.into(),
        loads,
    }
}

fn refused(kind: AccessKind, address: u32, size_bytes: u32, mapped: bool) -> Fault {
    Fault::Access {
        kind,
        address,
        size_bytes,
        mapped,
    }
}

#[test]
fn what_is_stored_is_loaded_at_every_place_and_size() {
    let mut memory = memory();
    let mut cases = 0;
    for address in (RAM..RAM + 24).chain(RAM + 0xff0..RAM + 0x1010) {
        let bytes = (address ^ 0x55aa_1234).to_le_bytes();
        memory.store(NOW, address, bytes).unwrap();
        assert_eq!(memory.load::<4>(NOW, address), Ok(bytes));
        assert_eq!(memory.load::<1>(NOW, address + 3), Ok([bytes[3]]));
        assert_eq!(memory.read(address, 4), Some(bytes.to_vec()));
        cases += 1;
    }
    assert_eq!(cases, 56);
}

#[test]
fn maps_whole_pages_that_are_free() {
    for range in [1..4096, 0..5000, 0..0, 0xffff_f000..0x1_0000_1000] {
        let refused = MapError::NotPages(range.clone());
        assert_eq!(Memory::new([(range, Kind::Ram)]).err(), Some(refused));
    }
    let first = u64::from(RAM)..u64::from(RAM) + 0x2000;
    let taken = first.start + 0x1000..first.start + 0x3000;
    let both = [(first, Kind::Flash), (taken.clone(), Kind::Ram)];
    assert_eq!(Memory::new(both).err(), Some(MapError::Overlap(taken)));
    let mut memory = Memory::new([(0xffff_f000..0x1_0000_0000, Kind::Ram)]).unwrap();
    memory.store(NOW, 0xffff_fffc, [1; 4]).unwrap();
}

#[test]
fn refuses_what_is_not_there_or_cannot_be_stored_to() {
    use AccessKind::{Load, Store};
    let mut memory = memory();
    let last = RAM + 0x1fff;
    assert_eq!(memory.load::<4>(NOW, 0), Err(refused(Load, 0, 4, false)));
    assert_eq!(
        memory.load::<2>(NOW, last),
        Err(refused(Load, last, 2, false))
    );
    assert_eq!(
        memory.store(NOW, FLASH, [0; 4]),
        Err(refused(Store, FLASH, 4, true))
    );
    assert_eq!(
        memory.store(NOW, last, [1; 2]),
        Err(refused(Store, last, 2, false))
    );
    assert_eq!(memory.load::<1>(NOW, last), Ok([0]), "half of a store");
    assert!(memory.write(FLASH, &[1, 2]));
    assert!(!memory.write(last, &[1, 2]));
    assert_eq!(memory.read(last, 2), None);
    assert_eq!(memory.read(last, 1), Some(vec![0]));
}

#[test]
fn code_is_fetched_from_flash_and_ram_only() {
    let memory = memory();
    assert_eq!(memory.fetch(FLASH), Ok(0));
    assert_eq!(memory.fetch(RAM), Ok(0));
    for address in [DEVICE, 0] {
        assert_eq!(memory.fetch(address), Err(Fault::Fetch { address }));
    }
}

#[test]
fn records_what_touches_a_watched_range_and_nothing_else() {
    let mut memory = memory();
    let first = RAM + 0xffe;
    memory.watch(&[
        watch(first..first + 4, true),
        watch(DEVICE..DEVICE + 1, false),
    ]);
    let mut expected = Vec::new();
    for address in RAM + 0xff0..RAM + 0x1010 {
        memory.load::<4>(NOW, address).unwrap();
        memory.store(NOW, address, [9; 2]).unwrap();
        if address + 4 > first && address < first + 4 {
            expected.push((AccessKind::Load, address, 4));
        }
        if address + 2 > first && address < first + 4 {
            expected.push((AccessKind::Store, address, 2));
        }
    }
    memory.load::<1>(NOW, DEVICE).unwrap();
    memory.store(NOW, DEVICE, [1]).unwrap();
    expected.push((AccessKind::Store, DEVICE, 1));
    let events = memory.take_events();
    let events = events.as_slice();
    let same = |event: &dmo_engine::memory::Event| event.time() == 7 && event.pc() == FLASH;
    assert!(events.iter().all(same));
    let found: Vec<_> = events
        .iter()
        .map(|event| (event.kind(), event.address(), event.size_bytes()))
        .collect();
    assert_eq!(found, expected);
    assert_eq!(found.len(), 13);
    memory.watch(&[]);
    memory.load::<4>(NOW, first).unwrap();
    assert_eq!(memory.take_events().len(), 0);
}

#[test]
fn says_when_recorded_accesses_have_to_be_taken() {
    let mut memory = memory();
    memory.watch(&[watch(RAM..RAM + 4, true)]);
    for _ in 1..EVENTS {
        memory.load::<4>(NOW, RAM).unwrap();
    }
    assert!(!memory.events_are_full());
    memory.load::<4>(NOW, RAM).unwrap();
    assert!(memory.events_are_full());
    assert_eq!(memory.take_events().len(), EVENTS);
    assert!(!memory.events_are_full());
}

#[test]
fn stores_beside_code_do_not_change_it() {
    let mut memory = memory();
    // In two pages.
    let code = RAM + 4094..RAM + 4098;
    let mut seen = 0;
    for start in code.start - 10..code.end + 10 {
        memory.holds_code(code.clone());
        memory.store(NOW, start, [0; 4]).unwrap();
        let touches = |half: u32| start < half + 2 && half < start + 4;
        let pages = [code.start, code.start + 2].map(|half| touches(half).then_some(half >> 12));
        let pages: Vec<u32> = pages.into_iter().flatten().collect();
        assert_eq!(memory.attention, !pages.is_empty(), "{start:#x}");
        assert_eq!(memory.take_changed_code(), pages, "{start:#x}");
        seen += pages.len();
        memory.attention = false;
    }
    assert_eq!(seen, 10);
}

#[test]
fn a_page_with_code_is_one_of_data_after_many_stores() {
    let mut memory = memory();
    memory.holds_code(RAM..RAM + 2);
    let mut stores = 0;
    while !memory.attention && stores < 10_000 {
        memory.store(NOW, RAM + 64, [0; 4]).unwrap();
        stores += 1;
    }
    assert!((64..=256).contains(&stores), "{stores}");
    assert_eq!(memory.take_changed_code(), [RAM >> 12]);
    memory.attention = false;
    // Nothing is decoded there any more: no store is noticed.
    for address in (RAM..RAM + 4096).step_by(4) {
        memory.store(NOW, address, [0; 4]).unwrap();
    }
    assert!(!memory.attention);
}

#[derive(Default)]
struct Registers {
    stored: u32,
}

impl Peripherals for Registers {
    fn load(&mut self, moment: Moment, address: u32, size_bytes: u32) -> u32 {
        self.stored + (address & 0xff) + size_bytes + moment.time as u32
    }

    fn store(&mut self, _: Moment, _address: u32, _size_bytes: u32, value: u32) -> Attention {
        self.stored = value;
        Attention::Stop
    }

    fn floating_point_enabled(&self) -> bool {
        self.stored == 3
    }
}

#[test]
fn private_peripherals_answer_and_ask_for_a_stop() {
    let mut memory = memory();
    let range = 0xe000_0000..0xe010_0000;
    let registers = Box::new(Registers::default());
    memory.map_peripherals(range.clone(), registers).unwrap();
    let again = Box::new(Registers::default());
    assert_eq!(
        memory.map_peripherals(range.clone(), again),
        Err(MapError::Overlap(range))
    );
    let address = 0xe000_0010;
    let loaded = memory.load::<2>(NOW, address).map(u16::from_le_bytes);
    assert_eq!(loaded, Ok(0x10 + 2 + 7));
    assert!(!memory.stop_requested && !memory.floating_point_enabled());
    memory.store(NOW, address, 3_u32.to_le_bytes()).unwrap();
    assert!(memory.stop_requested && memory.floating_point_enabled());
    assert_eq!(memory.fetch(address), Err(Fault::Fetch { address }));
}
