//! The library as an Open-CMSIS-Pack: its description names all files, and follows the schema.

use super::{CORES, library, output};
use crate::tools::{self, Availability};
use libtest_mimic::{Completion, Failed, Trial};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const DESCRIPTION: &str = "dmo-nn/dmo-trace.dmo-nn.pdsc";

/// The tests, of which the last needs a schema that is not ours: `schema/PACK.xsd` of
/// Open-CMSIS-Pack-Spec.
pub fn trials() -> [Trial; 2] {
    let xmllint = xmllint();
    let all_files = || {
        CORES
            .into_iter()
            .try_for_each(|core| names_all_files(core.0))
    };
    let schema = schema().ok_or_else(|| "the schema is missing".to_owned());
    let follows = match (&xmllint, schema) {
        (Ok(()), Ok(schema)) => Trial::test("pack::schema", move || {
            for (cpu, _) in CORES {
                let folder = library(cpu);
                let mut xmllint = Command::new("xmllint");
                xmllint
                    .args(["--noout", "--nonet", "--schema"])
                    .arg(&schema);
                output(xmllint.arg(folder.path().join(DESCRIPTION)));
            }
            Ok(())
        }),
        (Err(missing), _) => tools::trial("pack::schema", &Err(missing.clone()), || Ok(())),
        (Ok(()), Err(missing)) => Trial::ignorable_test("pack::schema", move || {
            Ok(Completion::ignored_with(missing))
        }),
    };
    [tools::trial("pack::files", &xmllint, all_files), follows]
}

/// It prints its version among its errors.
fn xmllint() -> Availability {
    let status = Command::new("xmllint")
        .arg("--version")
        .stderr(Stdio::null())
        .status();
    match status {
        Ok(status) if status.success() => Ok(()),
        _ => Err("xmllint is not installed".to_owned()),
    }
}

/// A schema beside the repository.
fn schema() -> Option<PathBuf> {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/schemas/PACK.xsd");
    beside.is_file().then_some(beside)
}

/// What an expression of XPath selects, one a line.
fn selected(description: &Path, expression: &str) -> BTreeSet<String> {
    let mut xmllint = Command::new("xmllint");
    let text = output(
        xmllint
            .args(["--nonet", "--xpath", expression])
            .arg(description),
    );
    let values = text
        .lines()
        .filter_map(|line| line.trim().split('"').nth(1));
    let values: Vec<String> = values.map(str::to_owned).collect();
    let set: BTreeSet<String> = values.iter().cloned().collect();
    assert_eq!(set.len(), values.len(), "{values:?}");
    set
}

fn names_all_files(cpu: &str) -> Result<(), Failed> {
    let folder = library(cpu);
    let description = folder.path().join(DESCRIPTION);
    for (category, extension) in [("source", "c"), ("header", "h")] {
        let named = selected(
            &description,
            &format!("//file[@category='{category}']/@name"),
        );
        let mut there = BTreeSet::new();
        for below in ["src", "src/kernels"] {
            for entry in std::fs::read_dir(folder.path().join("dmo-nn").join(below))? {
                let name = entry?.file_name().to_string_lossy().into_owned();
                if name.ends_with(&format!(".{extension}")) {
                    there.insert(format!("{below}/{name}"));
                }
            }
        }
        assert_eq!(named, there);
        assert!(there.len() > 30, "{there:?}");
    }
    let component = "//component[@Cclass='CMSIS' and @Cgroup='NN Lib']/@Cversion";
    let versions = selected(&description, component);
    assert_eq!(versions, BTreeSet::from(["7.0.0".to_owned()]));
    // A condition that no core meets would offer the component to nobody.
    let conditions = selected(&description, "//component/@condition");
    assert_eq!(
        conditions,
        selected(&description, "//condition[accept]/@id")
    );
    let cores = selected(&description, "//accept/@Dcore");
    let named = cpu.replace("plus", "+").replace("cortex-m", "Cortex-M");
    assert!(cores.contains(&named), "{named}: {cores:?}");
    Ok(())
}
