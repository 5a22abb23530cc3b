//! The report as JUnit XML: a suite for each model, a case for each thing that is checked.

use super::case::{Case, Outcome};
use super::judge::Judged;
use super::report::CheckReport;
use anyhow::Context;
use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestSuite};

/// The whole file.
pub fn text(report: &CheckReport) -> anyhow::Result<String> {
    let mut junit = quick_junit::Report::new("dmo-trace check");
    junit.add_test_suites(report.models.iter().map(suite));
    let text = junit.to_string();
    Ok(text.context("cannot write the JUnit report")? + "\n")
}

fn suite(model: &Judged) -> TestSuite {
    let mut suite = TestSuite::new(model.name.as_str());
    suite.set_time(model.time);
    suite.add_test_cases(model.cases.iter().map(|case| test_case(model, case)));
    suite
}

fn test_case(model: &Judged, case: &Case) -> TestCase {
    let mut status = match case.outcome {
        Outcome::Passed => TestCaseStatus::success(),
        Outcome::Skipped => TestCaseStatus::skipped(),
        Outcome::Failed => TestCaseStatus::non_success(NonSuccessKind::Failure),
        Outcome::Error => TestCaseStatus::non_success(NonSuccessKind::Error),
    };
    if case.outcome != Outcome::Passed {
        let first_line = |text: &str| text.lines().next().unwrap_or_default().to_owned();
        status.set_message(match case.findings.first() {
            Some(finding) => format!("{}: {}", case.message, first_line(finding)),
            None => first_line(&case.message),
        });
        let details = [&case.message].into_iter().chain(&case.findings);
        let details: Vec<&str> = details.map(String::as_str).collect();
        if case.outcome != Outcome::Skipped {
            status.set_description(details.join("\n"));
        }
    }
    let mut test_case = TestCase::new(case.name, status);
    test_case.set_classname(model.name.as_str());
    test_case
}
