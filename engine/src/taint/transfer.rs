//! What an instruction moves between registers and memory, and where.

use super::places::{self, Places};
use crate::core::Core;
use crate::interpreter::address;
use crate::operation::{Addressing, Operation, Precision, Width};

/// Loads or stores, one after the other.
#[derive(Debug, Clone, Copy)]
pub(super) struct Transfer {
    pub(super) kind: Kind,
    /// What the address is made of.
    pub(super) base: Places,
    pub(super) address: u32,
    /// Of each access.
    pub(super) size_bytes: u32,
    /// Of a load of one register or two.
    pub(super) addressing: Option<Addressing>,
    /// What is loaded or stored, an access a place, in ascending order.
    pub(super) moved: Moved,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Load,
    Store,
}

/// The places that are loaded or stored.
#[derive(Debug, Clone, Copy)]
pub(super) enum Moved {
    /// These, each by one access.
    One(Places),
    Two(Places, Places),
    /// Each of the set by one access, in ascending order.
    Each(Places),
    /// `count` of this size, from the register on.
    Floats(Precision, u8, u8),
}

impl Moved {
    /// The places, access by access.
    pub(super) fn list(self) -> impl Iterator<Item = Places> {
        (0..32_u8).map_while(move |index| match self {
            Moved::One(place) => (index == 0).then_some(place),
            Moved::Two(first, second) => [first, second].get(usize::from(index)).copied(),
            Moved::Each(set) => {
                let rest = (0..index).fold(set, |rest, _| rest & rest.wrapping_sub(1));
                (rest != 0).then(|| rest & rest.wrapping_neg())
            }
            Moved::Floats(precision, first, count) => {
                (index < count).then(|| places::float(precision, first + index))
            }
        })
    }
}

impl Transfer {
    /// Each access: where it is, and what it loads or stores.
    pub(super) fn parts(&self) -> impl Iterator<Item = (u32, Places)> {
        let Self {
            address,
            size_bytes,
            ..
        } = *self;
        let addresses =
            (0..).map(move |index| address.wrapping_add(size_bytes.wrapping_mul(index)));
        addresses.zip(self.moved.list())
    }
}

/// What the instruction at the program counter moves, if it is a load or store.
pub(super) fn transfer(core: &Core, operation: &Operation) -> Option<Transfer> {
    one(core, operation).or_else(|| many(core, operation))
}

fn one(core: &Core, operation: &Operation) -> Option<Transfer> {
    use Operation as O;
    let register = |index: u8| address::register(core, index);
    let (kind, width, addressing, moved) = match *operation {
        O::Load {
            width,
            rt,
            addressing,
            ..
        } => (Kind::Load, width, addressing, Moved::One(places::core(rt))),
        O::Store {
            width,
            rt,
            addressing,
        } => (Kind::Store, width, addressing, Moved::One(places::core(rt))),
        O::LoadDouble {
            rt,
            rt2,
            addressing,
        } => {
            let moved = Moved::Two(places::core(rt), places::core(rt2));
            (Kind::Load, Width::Word, addressing, moved)
        }
        O::StoreDouble {
            rt,
            rt2,
            addressing,
        } => {
            let moved = Moved::Two(places::core(rt), places::core(rt2));
            (Kind::Store, Width::Word, addressing, moved)
        }
        O::LoadExclusive {
            width,
            rt,
            rn,
            offset,
        } => {
            return Some(at(
                Kind::Load,
                width,
                rn,
                register(rn).wrapping_add(offset),
                rt,
            ));
        }
        O::StoreExclusive {
            width,
            rt,
            rn,
            offset,
            ..
        } => {
            let address = register(rn).wrapping_add(offset);
            let transfer = at(Kind::Store, width, rn, address, rt);
            // Without exclusive access nothing is stored.
            let moved = match core.exclusive {
                1 => transfer.moved,
                _ => Moved::Each(0),
            };
            return Some(Transfer { moved, ..transfer });
        }
        O::LoadAcquire { width, rt, rn } => {
            return Some(at(Kind::Load, width, rn, register(rn), rt));
        }
        O::StoreRelease { width, rt, rn } => {
            return Some(at(Kind::Store, width, rn, register(rn), rt));
        }
        _ => return None,
    };
    Some(Transfer {
        kind,
        base: super::footprint::base(addressing),
        addressing: (kind == Kind::Load).then_some(addressing),
        address: address::of_one(core, addressing).0,
        size_bytes: width.bytes(),
        moved,
    })
}

fn at(kind: Kind, width: Width, rn: u8, address: u32, rt: u8) -> Transfer {
    Transfer {
        kind,
        base: places::core(rn),
        addressing: None,
        address,
        size_bytes: width.bytes(),
        moved: Moved::One(places::core(rt)),
    }
}

fn many(core: &Core, operation: &Operation) -> Option<Transfer> {
    use Operation as O;
    let words = |precision| match precision {
        Precision::Single => 4,
        Precision::Double => 8,
    };
    let (kind, rn, size_bytes, address, moved) = match *operation {
        O::LoadMultiple {
            rn,
            registers,
            decrement,
            ..
        } => {
            let (address, _) = address::of_several(core, rn, registers.count_ones() * 4, decrement);
            (Kind::Load, rn, 4, address, Moved::Each(registers.into()))
        }
        O::StoreMultiple {
            rn,
            registers,
            decrement,
            ..
        } => {
            let (address, _) = address::of_several(core, rn, registers.count_ones() * 4, decrement);
            (Kind::Store, rn, 4, address, Moved::Each(registers.into()))
        }
        O::FloatLoad {
            precision,
            d,
            rn,
            offset,
        } => {
            let address = address::of_float(core, rn, offset);
            let moved = Moved::Floats(precision, d, 1);
            (Kind::Load, rn, words(precision), address, moved)
        }
        O::FloatStore {
            precision,
            d,
            rn,
            offset,
        } => {
            let address = address::of_float(core, rn, offset);
            let moved = Moved::Floats(precision, d, 1);
            (Kind::Store, rn, words(precision), address, moved)
        }
        O::FloatLoadMultiple {
            precision,
            d,
            count,
            rn,
            decrement,
            ..
        } => {
            let size = words(precision);
            let (address, _) = address::of_several(core, rn, size * u32::from(count), decrement);
            (
                Kind::Load,
                rn,
                size,
                address,
                Moved::Floats(precision, d, count),
            )
        }
        O::FloatStoreMultiple {
            precision,
            d,
            count,
            rn,
            decrement,
            ..
        } => {
            let size = words(precision);
            let (address, _) = address::of_several(core, rn, size * u32::from(count), decrement);
            (
                Kind::Store,
                rn,
                size,
                address,
                Moved::Floats(precision, d, count),
            )
        }
        O::TableBranch { half, rn, rm } => {
            let width = if half { Width::Half } else { Width::Byte };
            let address = address::of_entry(core, rn, rm, half);
            return Some(Transfer {
                base: places::cores([rn, rm]),
                ..at(Kind::Load, width, rn, address, 15)
            });
        }
        _ => return None,
    };
    Some(Transfer {
        kind,
        base: places::core(rn),
        addressing: None,
        address,
        size_bytes,
        moved,
    })
}
