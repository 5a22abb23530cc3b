//! Where a variable is at an instruction, and the bytes there.

use super::Reader;
use super::unwind::Registers;
use gimli::{EvaluationResult, Expression, Location, Piece, UnitRef};
use gimli::{Value as Word, ValueType};

/// The values that a DWARF expression may refer to.
pub(super) struct Context<'a> {
    pub(super) unit: UnitRef<'a, Reader>,
    pub(super) registers: &'a Registers,
    /// Address of the frame's canonical start.
    pub(super) cfa: Option<u32>,
    /// Base address of the function's variables (`DW_AT_frame_base`).
    pub(super) frame_base: Option<u32>,
    pub(super) read: &'a dyn Fn(u32, usize) -> Option<Vec<u8>>,
}

/// The result of a DWARF location expression.
pub(super) enum EvaluatedLocation {
    /// The object has these bytes and may be nowhere in memory.
    Bytes(Vec<u8>),
    /// The object is in memory.
    At(u32),
    /// The object is kept nowhere.
    OptimisedOut,
    /// The object is kept in a place that is not known.
    Unknown,
}

/// Steps of an expression, and what it may ask for.
const MAX_STEPS: u32 = 1 << 12;

/// Values are not longer.
const MAX_BYTES: u64 = 16;

const ADDRESS_MASK: u64 = 0xffff_ffff;

impl Context<'_> {
    /// Evaluates an expression that describes a location.
    pub(super) fn evaluate(&self, expression: Expression<Reader>) -> EvaluatedLocation {
        let mut evaluation = expression.evaluation(self.unit.encoding());
        evaluation.set_max_iterations(MAX_STEPS);
        let mut result = evaluation.evaluate();
        for _ in 0..MAX_STEPS {
            let Ok(wanted) = result else {
                return EvaluatedLocation::Unknown;
            };
            let next = match wanted {
                EvaluationResult::Complete => return self.pieces(&evaluation.result()),
                EvaluationResult::RequiresMemory {
                    address,
                    size,
                    base_type,
                    ..
                } => u32::try_from(address)
                    .ok()
                    .and_then(|address| (self.read)(address, size.into()))
                    .and_then(|bytes| self.word(base_type, bytes))
                    .map(|word| evaluation.resume_with_memory(word)),
                EvaluationResult::RequiresRegister {
                    register,
                    base_type,
                } => self
                    .registers
                    .bytes(register.0)
                    .and_then(|bytes| self.word(base_type, bytes))
                    .map(|word| evaluation.resume_with_register(word)),
                EvaluationResult::RequiresFrameBase => self
                    .frame_base
                    .map(|base| evaluation.resume_with_frame_base(base.into())),
                EvaluationResult::RequiresCallFrameCfa => self
                    .cfa
                    .map(|cfa| evaluation.resume_with_call_frame_cfa(cfa.into())),
                EvaluationResult::RequiresRelocatedAddress(address) => {
                    Some(evaluation.resume_with_relocated_address(address))
                }
                EvaluationResult::RequiresIndexedAddress { index, .. } => self
                    .unit
                    .address(index)
                    .ok()
                    .map(|address| evaluation.resume_with_indexed_address(address)),
                EvaluationResult::RequiresBaseType(offset) => self
                    .value_type(offset)
                    .map(|kind| evaluation.resume_with_base_type(kind)),
                // What was there when the function was entered is not kept.
                _ => return EvaluatedLocation::OptimisedOut,
            };
            match next {
                Some(next) => result = next,
                None => return EvaluatedLocation::Unknown,
            }
        }
        EvaluatedLocation::Unknown
    }

    fn value_type(&self, offset: gimli::UnitOffset<usize>) -> Option<ValueType> {
        if offset.0 == 0 {
            return Some(ValueType::Generic);
        }
        let entry = self.unit.entry(offset).ok()?;
        ValueType::from_entry(&entry).ok()?
    }

    fn word(&self, base_type: gimli::UnitOffset<usize>, mut bytes: Vec<u8>) -> Option<Word> {
        // A type may be longer than the register.
        bytes.resize(bytes.len().max(8), 0);
        match self.value_type(base_type)? {
            ValueType::Generic => {
                let word = u64::from_le_bytes(*bytes.first_chunk()?);
                Some(Word::Generic(word & ADDRESS_MASK))
            }
            kind => Word::parse(kind, Reader::new(bytes.into(), gimli::LittleEndian)).ok(),
        }
    }

    fn pieces(&self, pieces: &[Piece<Reader>]) -> EvaluatedLocation {
        match pieces {
            [] => EvaluatedLocation::OptimisedOut,
            [piece] if piece.size_in_bits.is_none() => match &piece.location {
                Location::Empty | Location::ImplicitPointer { .. } => {
                    EvaluatedLocation::OptimisedOut
                }
                Location::Address { address } => match u32::try_from(*address) {
                    Ok(address) => EvaluatedLocation::At(address),
                    Err(_) => EvaluatedLocation::Unknown,
                },
                location => self
                    .bytes(location)
                    .map_or(EvaluatedLocation::Unknown, EvaluatedLocation::Bytes),
            },
            pieces => self.assemble(pieces),
        }
    }

    fn assemble(&self, pieces: &[Piece<Reader>]) -> EvaluatedLocation {
        let mut whole = Vec::new();
        for piece in pieces {
            let bits = piece.size_in_bits.unwrap_or(0);
            let size = bits / 8;
            let odd = !bits.is_multiple_of(8) || piece.bit_offset.is_some_and(|offset| offset > 0);
            if odd || size == 0 || whole.len() as u64 + size > MAX_BYTES {
                return EvaluatedLocation::Unknown;
            }
            let size = size as usize;
            let bytes = match &piece.location {
                Location::Empty | Location::ImplicitPointer { .. } => {
                    return EvaluatedLocation::OptimisedOut;
                }
                Location::Address { address } => u32::try_from(*address)
                    .ok()
                    .and_then(|address| (self.read)(address, size)),
                location => self.bytes(location),
            };
            match bytes.as_deref().and_then(|bytes| bytes.get(..size)) {
                Some(bytes) => whole.extend_from_slice(bytes),
                None => return EvaluatedLocation::Unknown,
            }
        }
        EvaluatedLocation::Bytes(whole)
    }

    /// The bytes of an object that is not in memory.
    fn bytes(&self, location: &Location<Reader>) -> Option<Vec<u8>> {
        Some(match location {
            Location::Register { register } => self.registers.bytes(register.0)?,
            Location::Value { value } => match *value {
                Word::F32(number) => number.to_bits().to_le_bytes().to_vec(),
                Word::F64(number) => number.to_bits().to_le_bytes().to_vec(),
                // Whether a longer object goes on with its sign is not said.
                Word::Generic(word) if word >> 31 & 1 == 1 => (word as u32).to_le_bytes().to_vec(),
                word => word.to_u64(u64::MAX).ok()?.to_le_bytes().to_vec(),
            },
            Location::Bytes { value } => {
                let bytes = value.bytes();
                bytes.get(..bytes.len().min(MAX_BYTES as usize))?.to_vec()
            }
            _ => return None,
        })
    }
}
