//! The fuzz target of `fuzz/` on its seeds, and on what random changes make of them: bounded, on
//! stable Rust. `DMO_TRACE_FUZZ_SECONDS` for longer, `DMO_ENGINE_SEED` for others.
#![allow(clippy::unwrap_used, reason = "a test fails by panic")]

use dmo_engine_judge::fuzz::difference;
use dmo_engine_judge::random::Random;
use std::path::Path;
use std::time::{Duration, Instant};

/// The most bytes of an input.
const MOST_BYTES: usize = 64;

fn seeds() -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let files = ["seeds/engines", "corpus/engines"].iter().flat_map(|name| {
        let entries = std::fs::read_dir(root.join(name)).ok();
        entries.into_iter().flatten()
    });
    let mut paths: Vec<_> = files.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let seeds = paths.iter().map(|path| std::fs::read(path).unwrap());
    seeds.collect()
}

fn setting(name: &str, otherwise: u64) -> u64 {
    let given = std::env::var(name).ok();
    given.map_or(otherwise, |text| text.parse().unwrap())
}

/// Another input, made of one: bytes changed, taken out, or put in.
fn changed(input: &[u8], random: &mut Random) -> Vec<u8> {
    let mut input = input.to_vec();
    for _ in 0..=random.below(4) {
        let at = random.below(input.len().max(1) as u32) as usize;
        let byte = random.bits() as u8;
        match random.below(5) {
            0 if input.len() > 12 => drop(input.drain(at..(at + 2).min(input.len()))),
            1 => {
                let halfword = (random.bits() as u16).to_le_bytes();
                input.splice(at..at, halfword);
            }
            2 if at < input.len() => input[at] ^= 1 << (byte & 7),
            _ if at < input.len() => input[at] = byte,
            _ => input.push(byte),
        }
    }
    input.truncate(MOST_BYTES);
    input
}

#[test]
fn engines_agree_on_any_bytes() {
    let seeds = seeds();
    assert!(seeds.len() >= 5, "{} seeds", seeds.len());
    for seed in &seeds {
        assert_eq!(difference(seed).unwrap(), None);
    }
    let begin = Instant::now();
    let budget = Duration::from_secs(setting("DMO_TRACE_FUZZ_SECONDS", 3));
    let mut random = Random::new(setting("DMO_ENGINE_SEED", 1));
    let mut inputs = 0;
    while inputs < 100 || begin.elapsed() < budget {
        let seed = &seeds[random.below(seeds.len() as u32) as usize];
        let input = changed(seed, &mut random);
        let found = difference(&input).unwrap();
        assert_eq!(found, None, "{input:02x?}");
        inputs += 1;
    }
    println!("{inputs} inputs");
}
