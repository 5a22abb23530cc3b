//! What a translator keeps.
#![allow(clippy::panic, clippy::unwrap_used, reason = "a test fails by panic")]

use super::{Effort, Translator};
use crate::features::{Architecture, Features, FloatingPoint, Traps};
use crate::memory::{Kind, Memory};

const RAM: u32 = 0x2000_0000;

/// Without this, a program that writes code again and again took time by the square of how often.
#[test]
fn code_that_is_written_anew_takes_the_same_place() {
    let features = Features {
        architecture: Architecture::Armv7EM,
        dsp: true,
        floating_point: FloatingPoint::None,
        traps: Traps::NONE,
    };
    let range = u64::from(RAM)..u64::from(RAM) + 0x1000;
    let mut memory = Memory::new([(range, Kind::Ram)]).unwrap();
    let mut translator = Translator::new();
    for number in 0..100 {
        // adds r0, #number; b to it
        assert!(memory.write(RAM, &[number, 0x30, 0xfd, 0xe7]));
        let effort = Effort::TranslateAtAnyCost;
        let entries = translator.translate(RAM, &features, &mut memory, effort, |_| true);
        assert_eq!(entries.len(), 1);
        assert_eq!(translator.units.len(), 1);
        assert_eq!(translator.forget_page(RAM >> 12), [RAM]);
    }
}
