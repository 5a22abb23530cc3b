//! A plan with the overlaps of a firmware's own kernels.

use super::Arguments;
use dmo_analysis::wording::counted;
use dmo_trace::study::Session;
use dmo_trace::study::firmware_verify::{FirmwareVerified, plan_on_firmware};
use dmo_trace::study::plan::{PlanRequest, Planned};
use dmo_trace::study::source::Source;
use dmo_trace::words::names;

/// The plan, and what is to be said of it; `None` without a firmware.
pub fn plan(
    arguments: &Arguments,
    source: &Source,
    request: &PlanRequest,
    session: &Session,
) -> anyhow::Result<Option<(Planned, Vec<String>)>> {
    if !arguments.firmware.is_named() {
        return Ok(None);
    }
    let (inputs, cpu) = arguments.overlap.of_firmware()?;
    let is_changed =
        request.changes.prune || request.changes.accumulate || arguments.change.integer_io;
    anyhow::ensure!(
        !is_changed && !request.changes.reshapes() && arguments.regions.region.is_empty(),
        "--allow, --integer-io and --region do not go with --firmware, which runs the model as it is in its file"
    );
    let Some(firmware) = arguments.firmware.load(source, cpu)? else {
        return Ok(None);
    };
    let (planned, verified) = plan_on_firmware(source, request, &firmware, inputs, session)?;
    let notes = notes(&firmware.name, &verified);
    Ok(Some((planned, notes)))
}

fn notes(firmware: &str, verified: &FirmwareVerified) -> Vec<String> {
    let inputs = counted(verified.inputs, "input", "inputs");
    let mut notes = vec![format!(
        "the overlaps are those of the kernels in {firmware}, whose interpreter has run the model in this plan, too: SAFE there on {inputs}"
    )];
    if verified.inputs == 1 {
        notes.push(names::ON_ONE_INPUT.to_owned());
    }
    for &operator in &verified.data_dependent {
        let kind = verified.graph.operators[operator.0].kind.escape_debug();
        notes.push(format!(
            "operator {} {kind}: its accesses depend on the data, so that no overlap is granted",
            operator.0
        ));
    }
    notes
}
