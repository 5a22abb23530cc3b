//! Which ends of a model are integers and were floats.

use dmo_analysis::transform::integer_io::IntegerIoReport;

/// In a sentence.
pub fn sentence(report: &IntegerIoReport) -> String {
    format!("Integer ends: {report}, without the conversions from and to FLOAT32")
}
