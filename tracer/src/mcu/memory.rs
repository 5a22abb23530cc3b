//! The guest's memory map: from the image's segments and the command line.

mod derived;

use crate::elf::image::Image;
use dmo_analysis::trace::Address;
use std::ops::Range;

/// Granularity of the emulated memory in bytes; regions are rounded up to it.
pub const PAGE_BYTES: u64 = 4096;

/// Total size of all regions: no microcontroller has more.
const MAX_TOTAL_BYTES: u64 = 1 << 30;

/// The kind of memory that a region is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RegionKind {
    /// The program can read and execute it.
    Flash,
    /// The program can do everything with it.
    Ram,
    /// Registers of a device that is not emulated: they read as last written, at first 0.
    Device,
}

/// A stretch of the guest's memory, whole pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryRegion {
    /// Kind of the memory.
    pub kind: RegionKind,
    /// Addresses, from the first to the one after the last.
    pub range: Range<u64>,
}

impl MemoryRegion {
    /// Returns `true` if the whole range lies in it.
    fn holds(&self, range: &Range<u64>) -> bool {
        self.range.start <= range.start && range.end <= self.range.end
    }
}

impl std::fmt::Display for MemoryRegion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = match self.kind {
            RegionKind::Flash => "flash",
            RegionKind::Ram => "RAM",
            RegionKind::Device => "device",
        };
        write!(
            f,
            "{kind} [{:#010x}, {:#010x})",
            self.range.start, self.range.end
        )
    }
}

/// All of the guest's memory: disjoint regions in ascending order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryMap {
    regions: Vec<MemoryRegion>,
}

/// Regions that the user names.
#[derive(Debug, Clone, Default)]
pub struct MemoryOptions {
    /// RAM.
    pub ram: Vec<Range<u64>>,
    /// Flash.
    pub flash: Vec<Range<u64>>,
    /// Device registers.
    pub device: Vec<Range<u64>>,
    /// Flash beside that of the image, for what is written from outside.
    pub constants: Vec<Range<u64>>,
}

/// Why there is no memory map.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum MemoryError {
    #[error(
        "{a} and {b} overlap\n  hint: --ram START:SIZE and --flash START:SIZE for the memory that the \
         microcontroller has"
    )]
    Overlap { a: MemoryRegion, b: MemoryRegion },
    #[error(
        "segment [{start:#010x}, {end:#010x}) of the image lies outside the memory given: {map}\n  hint: a larger --ram or --flash"
    )]
    SegmentOutside {
        start: u64,
        end: u64,
        map: MemoryMap,
    },
    #[error("the memory map has {given} bytes, the limit is {limit}: {map}")]
    TooLarge {
        given: u64,
        limit: u64,
        map: MemoryMap,
    },
    #[error("{region} has private peripherals of the core, at [0xe0000000, 0xe0100000)")]
    OverPeripherals { region: MemoryRegion },
    #[error(
        "[{start:#010x}, {end:#010x}) is in the bit-band alias of {cpu}'s RAM, [0x22000000, 0x24000000), which is not emulated: its loads and stores would be missed in the buffer that they reach\n  hint: let the program access whole bytes; if the alias is not used, map none of it"
    )]
    OverBitBand {
        start: u64,
        end: u64,
        cpu: &'static str,
    },
}

impl std::fmt::Display for MemoryMap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let regions: Vec<String> = self.regions.iter().map(MemoryRegion::to_string).collect();
        f.write_str(&regions.join(", "))
    }
}

impl MemoryMap {
    /// The map for an image. If `options` name RAM (or flash), there is no other RAM (or flash);
    /// else it follows from the segments, and RAM reaches up to `stack_top`, the initial stack
    /// pointer.
    ///
    /// # Errors
    /// When regions overlap or a segment is outside.
    pub fn new(
        image: &Image,
        options: &MemoryOptions,
        stack_top: Option<u32>,
    ) -> Result<Self, MemoryError> {
        let mut regions = devices(options.device.clone());
        for (kind, ranges) in [
            (RegionKind::Ram, &options.ram),
            (RegionKind::Flash, &options.flash),
        ] {
            regions.extend(ranges.iter().map(|range| region(kind, range)));
        }
        regions.extend(derived::regions(image, &regions, stack_top));
        let constants = options.constants.iter();
        regions.extend(constants.map(|range| region(RegionKind::Flash, range)));
        regions.sort_by_key(|region| region.range.start);
        let map = Self { regions };
        map.check(image)?;
        Ok(map)
    }

    fn check(&self, image: &Image) -> Result<(), MemoryError> {
        for pair in self.regions.windows(2) {
            if pair[0].range.end > pair[1].range.start {
                return Err(MemoryError::Overlap {
                    a: pair[0].clone(),
                    b: pair[1].clone(),
                });
            }
        }
        for region in &self.regions {
            if region.range.start < 0xe010_0000 && region.range.end > 0xe000_0000 {
                return Err(MemoryError::OverPeripherals {
                    region: region.clone(),
                });
            }
        }
        let given: u64 = self
            .regions
            .iter()
            .map(|region| region.range.end - region.range.start)
            .sum();
        if given > MAX_TOTAL_BYTES {
            return Err(MemoryError::TooLarge {
                given,
                limit: MAX_TOTAL_BYTES,
                map: self.clone(),
            });
        }
        let ranges = image
            .segments
            .iter()
            .flat_map(|segment| [segment.load_range(), segment.run_range()])
            .filter(|range| !range.is_empty());
        for range in ranges {
            if self.region_of(&range).is_none() {
                return Err(MemoryError::SegmentOutside {
                    start: range.start,
                    end: range.end,
                    map: self.clone(),
                });
            }
        }
        Ok(())
    }

    /// The regions, in ascending order.
    pub fn regions(&self) -> &[MemoryRegion] {
        &self.regions
    }

    /// The map with the region of this RAM ending at `end`, rounded up to a page.
    pub fn with_ram_end(&self, ram: &Range<u64>, end: u64) -> Self {
        let mut map = self.clone();
        let holds = |region: &&mut MemoryRegion| region.range.contains(&ram.start);
        if let Some(region) = map.regions.iter_mut().find(holds) {
            let end = end.next_multiple_of(PAGE_BYTES);
            region.range.end = end.clamp(region.range.start + PAGE_BYTES, region.range.end);
        }
        map
    }

    /// The region that holds the whole range.
    pub fn region_of(&self, range: &Range<u64>) -> Option<&MemoryRegion> {
        self.regions.iter().find(|region| region.holds(range))
    }

    /// Returns `true` if an instruction can be fetched from this address.
    pub fn is_code(&self, address: Address) -> bool {
        let address = u64::from(address.0);
        self.region_of(&(address..address + 2))
            .is_some_and(|region| region.kind != RegionKind::Device)
    }
}

fn region(kind: RegionKind, range: &Range<u64>) -> MemoryRegion {
    MemoryRegion {
        kind,
        range: range.start / PAGE_BYTES * PAGE_BYTES..range.end.next_multiple_of(PAGE_BYTES),
    }
}

/// Whole pages around the registers of devices. Several in one page, or in one large range, are one
/// region.
fn devices(mut ranges: Vec<Range<u64>>) -> Vec<MemoryRegion> {
    ranges.sort_by_key(|range| range.start);
    let mut regions: Vec<MemoryRegion> = Vec::new();
    for range in ranges {
        let next = region(RegionKind::Device, &range);
        match regions.last_mut() {
            Some(last) if next.range.start <= last.range.end => {
                last.range.end = last.range.end.max(next.range.end);
            }
            _ => regions.push(next),
        }
    }
    regions
}
