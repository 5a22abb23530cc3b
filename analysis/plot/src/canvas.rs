//! The observer of the second pass: it knows all extents and fills rasters.

use super::raster::{Column, MAX_COLUMNS, MAX_ROWS, Plane, Raster, Scale};
use dmo_analysis::profile::{AccessClass, LayerProfile, Observer, Profile};
use dmo_analysis::trace::{Address, Event, Tensor, Time};
use rangemap::RangeSet;

/// More memory regions than this are joined, nearest first.
const MAX_REGIONS: usize = 6;

/// Collects what the pictures show, in one more pass over a trace whose [`Profile`] is
/// known.
///
/// ```
/// use dmo_plot::Canvas;
/// use dmo_analysis::profile::{Profile, Profiler};
///
/// let profile = Profile::default(); // of the first pass
/// let second_pass = Profiler::with_observer(Canvas::new(&profile));
/// // ... the same trace again ...
/// let (_, canvas) = second_pass.finish();
/// ```
///
/// An access costs a few nanoseconds. The memory is that of the grids: at most 170 kB a
/// tensor of each layer, whatever the length of the trace.
#[derive(Debug)]
pub struct Canvas<'p> {
    profile: &'p Profile,
    layers: Vec<LayerCanvas>,
    program: Window,
    regions: Vec<MemoryPanel>,
    now: Now,
}

/// Where in time the last access was. Accesses come in order, so that most are in the
/// same place as the one before.
#[derive(Debug, Default)]
struct Now {
    /// Up to this time all that follows holds.
    until: Time,
    /// The first layer that has not ended.
    layer: usize,
    /// The column of the layer's rasters; `None` before it begins.
    column: Option<Column>,
    /// The column of the regions' rasters; `None` outside the program.
    program_column: Option<Column>,
}

/// A stretch of time and its columns. The instruction of time `t` takes the unit from
/// `t - 1` to `t`, so the window holds the times `begin < t <= end`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window {
    begin: Time,
    end: Time,
    columns: Scale,
}

impl Window {
    fn new(begin: Time, end: Time) -> Self {
        Self {
            begin,
            end,
            columns: Scale::new(end.saturating_sub(begin), MAX_COLUMNS),
        }
    }

    pub(super) fn begin(&self) -> Time {
        self.begin
    }

    /// Executed instructions, at least 1.
    pub(super) fn length(&self) -> u64 {
        self.end.saturating_sub(self.begin).max(1)
    }

    /// The column of a time, and the last time for which that is so. Before the window
    /// there is none until it begins, and none after it.
    fn place(&self, time: Time) -> (Option<Column>, Time) {
        if time <= self.begin {
            (None, self.begin)
        } else if time > self.end {
            (None, Time::MAX)
        } else {
            let column = self.column(time);
            let last = self.begin.saturating_add(self.columns.end_of(column));
            (Some(Column::new(column)), last.min(self.end))
        }
    }

    fn column(&self, time: Time) -> usize {
        self.columns
            .bin(time.saturating_sub(self.begin).saturating_sub(1))
    }

    /// The columns of a stretch of use, or none when it is outside.
    fn stretch(&self, from: Time, to: Time) -> Option<(usize, usize)> {
        (from < self.end && to > self.begin).then(|| (self.column(from), self.column(to)))
    }
}

#[derive(Debug)]
struct LayerCanvas {
    window: Window,
    tensors: Vec<TensorCanvas>,
}

#[derive(Debug)]
struct TensorCanvas {
    first_byte: u64,
    end: u64,
    rows: Scale,
    raster: Raster,
    region: usize,
    /// Where the tensor starts in its region.
    region_offset: u64,
}

/// Memory that the program's tensors lie in, without large holes.
#[derive(Debug)]
pub(super) struct MemoryPanel {
    pub(super) first_byte: u64,
    pub(super) end: u64,
    rows: Scale,
    pub(super) raster: Raster,
}

impl MemoryPanel {
    fn new((first_byte, end): (u64, u64), program: &Window) -> Self {
        let rows = Scale::new(end - first_byte, MAX_ROWS);
        Self {
            first_byte,
            end,
            rows,
            raster: Raster::new(&program.columns, &rows),
        }
    }

    pub(super) fn size_bytes(&self) -> u64 {
        self.end - self.first_byte
    }

    pub(super) fn contains(&self, tensor: &Tensor) -> bool {
        (self.first_byte..self.end).contains(&u64::from(tensor.address.0))
    }
}

impl<'p> Canvas<'p> {
    /// Empty grids for the program that `profile` is of.
    pub fn new(profile: &'p Profile) -> Self {
        let program = program_window(profile);
        let bounds = region_bounds(profile).into_iter();
        let regions: Vec<MemoryPanel> = bounds
            .map(|bounds| MemoryPanel::new(bounds, &program))
            .collect();
        let layers: Vec<LayerCanvas> = profile
            .layers
            .iter()
            .map(|layer| LayerCanvas::new(layer, &regions))
            .collect();
        Self {
            profile,
            program,
            regions,
            layers,
            now: Now::default(),
        }
    }

    /// An empty grid for `size_bytes` bytes of memory from `first_byte` on, such as a tensor
    /// arena, and nothing else: no layer has its own.
    pub fn of_memory(profile: &'p Profile, first_byte: Address, size_bytes: u32) -> Self {
        let first = u64::from(first_byte.0);
        let program = program_window(profile);
        let bounds = (first, first + u64::from(size_bytes.max(1)));
        Self {
            profile,
            regions: vec![MemoryPanel::new(bounds, &program)],
            program,
            layers: Vec::new(),
            now: Now::default(),
        }
    }

    /// The profile whose program is on this canvas.
    pub fn profile(&self) -> &'p Profile {
        self.profile
    }

    pub(super) fn program_window(&self) -> &Window {
        &self.program
    }

    pub(super) fn regions(&self) -> &[MemoryPanel] {
        &self.regions
    }

    /// The layers with their number (from 0), window and one raster for each tensor.
    pub(super) fn layers(&self) -> impl Iterator<Item = LayerView<'_>> {
        self.profile
            .layers
            .iter()
            .zip(&self.layers)
            .zip(0..)
            .map(|((profile, canvas), number)| LayerView {
                number,
                profile,
                window: &canvas.window,
                canvas,
            })
    }

    fn advance(&mut self, time: Time) {
        let mut layer = self.now.layer;
        while self
            .layers
            .get(layer)
            .is_some_and(|layer| layer.window.end < time)
        {
            layer += 1;
        }
        let (column, until) = self
            .layers
            .get(layer)
            .map_or((None, Time::MAX), |layer| layer.window.place(time));
        let (program_column, program_until) = self.program.place(time);
        self.now = Now {
            until: until.min(program_until),
            layer,
            column,
            program_column,
        };
    }
}

/// One layer, as its pictures need it.
#[derive(Debug, Clone, Copy)]
pub(super) struct LayerView<'a> {
    pub(super) number: usize,
    pub(super) profile: &'a LayerProfile,
    pub(super) window: &'a Window,
    canvas: &'a LayerCanvas,
}

impl<'a> LayerView<'a> {
    pub(super) fn raster(&self, tensor: usize) -> &'a Raster {
        &self.canvas.tensors[tensor].raster
    }
}

impl LayerCanvas {
    fn new(layer: &LayerProfile, regions: &[MemoryPanel]) -> Self {
        let window = Window::new(layer.begin, layer.end);
        let tensors = layer.tensors.iter().map(|profile| {
            let tensor = &profile.tensor;
            let first_byte = u64::from(tensor.address.0);
            let rows = Scale::new(u64::from(tensor.size_bytes), MAX_ROWS);
            let region = regions
                .iter()
                .position(|region| region.contains(tensor))
                .unwrap_or_default();
            TensorCanvas {
                first_byte,
                end: tensor.end(),
                rows,
                raster: Raster::new(&window.columns, &rows),
                region,
                region_offset: regions
                    .get(region)
                    .map_or(0, |region| first_byte.saturating_sub(region.first_byte)),
            }
        });
        Self {
            window,
            tensors: tensors.collect(),
        }
    }

    fn in_use(&mut self, first_byte: u64, end: u64, from: Time, to: Time) {
        let Some(columns) = self.window.stretch(from, to) else {
            return;
        };
        for tensor in &mut self.tensors {
            let (first, last) = (first_byte.max(tensor.first_byte), end.min(tensor.end));
            if first < last {
                let rows = (
                    tensor.rows.bin(first - tensor.first_byte),
                    tensor.rows.bin(last - 1 - tensor.first_byte),
                );
                tensor.raster.fill(rows, columns, Plane::InUse);
            }
        }
    }
}

impl Observer for Canvas<'_> {
    #[inline]
    fn access(&mut self, address: Address, event: &Event, class: AccessClass) {
        if event.time > self.now.until {
            self.advance(event.time);
        }
        let plane = Plane::from(class);
        let last = u64::from(event.size_bytes.max(1)) - 1;
        let place = if let Some(column) = self.now.column
            && let Some(layer) = self.layers.get_mut(self.now.layer)
            && let Some(tensor) = layer.tensors.get_mut(usize::from(event.tensor))
        {
            let first = u64::from(event.offset);
            let rows = (tensor.rows.bin(first), tensor.rows.bin(first + last));
            tensor.raster.mark(rows, column, plane);
            Some((tensor.region, tensor.region_offset + first))
        } else {
            // Between two layers the tensors are not those of a layer of the profile.
            region_of(&self.regions, address)
        };
        if let Some(column) = self.now.program_column
            && let Some((region, first)) = place
            && let Some(region) = self.regions.get_mut(region)
        {
            let rows = (region.rows.bin(first), region.rows.bin(first + last));
            region.raster.mark(rows, column, plane);
        }
    }

    fn in_use(&mut self, address: Address, size_bytes: u32, from: Time, to: Time) {
        let (first_byte, end) = (
            u64::from(address.0),
            u64::from(address.0) + u64::from(size_bytes),
        );
        if let Some(columns) = self.program.stretch(from, to)
            && let Some((region, offset)) = region_of(&self.regions, address)
        {
            let region = &mut self.regions[region];
            let last = end.min(region.end) - 1 - region.first_byte;
            let rows = (region.rows.bin(offset), region.rows.bin(last.max(offset)));
            region.raster.fill(rows, columns, Plane::InUse);
        }
        // Most values live and die in the current layer.
        if let Some(layer) = self.layers.get_mut(self.now.layer)
            && from > layer.window.begin
            && to <= layer.window.end
        {
            layer.in_use(first_byte, end, from, to);
            return;
        }
        let earliest = self
            .layers
            .partition_point(|layer| layer.window.end <= from);
        for layer in &mut self.layers[earliest..] {
            if layer.window.begin >= to {
                break;
            }
            layer.in_use(first_byte, end, from, to);
        }
    }
}

/// From the first layer's begin to the last one's end.
fn program_window(profile: &Profile) -> Window {
    match (profile.layers.first(), profile.layers.last()) {
        (Some(first), Some(last)) => Window::new(first.begin, last.end),
        _ => Window::new(0, 0),
    }
}

/// The region of an address, and the byte in it.
fn region_of(regions: &[MemoryPanel], address: Address) -> Option<(usize, u64)> {
    let address = u64::from(address.0);
    regions.iter().enumerate().find_map(|(index, region)| {
        (region.first_byte..region.end)
            .contains(&address)
            .then(|| (index, address - region.first_byte))
    })
}

/// The memory of all tensors, cut where a hole is larger than an eighth of it.
fn region_bounds(profile: &Profile) -> Vec<(u64, u64)> {
    let tensors = profile.layers.iter().flat_map(|layer| &layer.tensors);
    let covered: RangeSet<u64> = tensors
        .filter(|profile| profile.tensor.size_bytes > 0)
        .map(|profile| u64::from(profile.tensor.address.0)..profile.tensor.end())
        .collect();
    let used: u64 = covered.iter().map(|range| range.end - range.start).sum();
    let mut regions = join(&covered, used / 8);
    while regions.len() > MAX_REGIONS {
        let nearest = regions
            .iter()
            .zip(regions.iter().skip(1))
            .map(|(one, next)| next.start - one.end)
            .min()
            .unwrap_or_default();
        regions = join(&regions, nearest);
    }
    regions
        .iter()
        .map(|range| (range.start, range.end))
        .collect()
}

/// Joins ranges whose distance is at most `hole`.
fn join(ranges: &RangeSet<u64>, hole: u64) -> RangeSet<u64> {
    let widened: RangeSet<u64> = ranges.iter().map(|it| it.start..it.end + hole).collect();
    widened.iter().map(|it| it.start..it.end - hole).collect()
}
