//! Plans of several memories, written by `plan --region` and held against the model again.

#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

const MODEL: &str = "zoo:mobilenet_v1_0.25_128:int8";

fn dmo_trace(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dmo-trace"));
    command.args(arguments).output().unwrap()
}

/// What a command prints, and its exit code.
fn outcome(arguments: &[&str]) -> (Option<i32>, String) {
    let output = dmo_trace(arguments);
    let words = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(words).unwrap())
}

fn planned(regions: &[&str]) -> Value {
    let output = dmo_trace(&[&["plan", MODEL, "--json"], regions].concat());
    assert!(output.status.success(), "{regions:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn audit(plan: &Path, content: &Value) -> (Option<i32>, String) {
    std::fs::write(plan, content.to_string()).unwrap();
    let output = dmo_trace(&["audit", MODEL, "--plan", plan.to_str().unwrap()]);
    let words = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(words).unwrap())
}

#[test]
fn a_plan_of_several_memories_is_audited_as_any_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plan.json");
    let emit = path.to_str().unwrap();
    let regions = ["--region", "sram=40K", "--region", "psram=1M"];
    let output = dmo_trace(&[&["plan", MODEL, "--out", emit], &regions[..]].concat());
    assert!(output.status.success());
    let plan: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    assert!(plan["regions"][1]["used_bytes"].as_u64().unwrap() > 0);
    let (code, words) = audit(&path, &plan);
    assert_eq!(code, Some(0), "{words}");

    let mut moved = 0;
    for (index, tensor) in plan["tensors"].as_array().unwrap().iter().enumerate() {
        if tensor["region"] != 1 {
            continue;
        }
        // Everything at the start of the first memory that is large enough for it.
        let mut mutant = plan.clone();
        for bytes in ["capacity_bytes", "used_bytes"] {
            mutant["regions"][0][bytes] = Value::from(1 << 20);
        }
        mutant["tensors"][index]["region"] = Value::from(0);
        mutant["tensors"][index]["offset"] = Value::from(0);
        let (code, words) = audit(&path, &mutant);
        assert_eq!(code, Some(1), "{words}");
        moved += 1;
    }
    assert!(moved > 0);

    let mut small = plan.clone();
    small["regions"][1]["capacity_bytes"] = Value::from(16);
    let (code, words) = audit(&path, &small);
    assert_eq!(code, Some(2), "{words}");
    assert!(words.contains("beyond its 16 bytes"), "{words}");
    let mut without = plan.clone();
    without["regions"].as_array_mut().unwrap().pop();
    let (code, words) = audit(&path, &without);
    assert_eq!(code, Some(2), "{words}");
    assert!(words.contains("region 1"), "{words}");
}

/// What is wrong in a file is an error, and no crash.
#[test]
fn corrupted_plans_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plan.json");
    let plan = planned(&["--region", "sram=40K@2", "--region", "psram=1M@12,align=64"]);
    assert_eq!(audit(&path, &plan).0, Some(0));
    let number = |plan: &Value, pointer: &str| plan.pointer(pointer).unwrap().as_u64().unwrap();
    let tensors = 0..plan["tensors"].as_array().unwrap().len();
    let outside = tensors
        .into_iter()
        .find(|index| plan["tensors"][index]["region"] == 1);
    let outside = format!("/tensors/{}/offset", outside.unwrap());
    let misaligned = number(&plan, &outside) + 16;
    let corruptions = [
        ("/regions/1/capacity_bytes", Value::from(16)),
        ("/regions/1/alignment", Value::from(0)),
        ("/regions/1/access_cost", Value::from(0)),
        ("/regions/1/alignment", Value::from(u64::MAX)),
        ("/regions/1/capacity_bytes", Value::from(-1)),
        ("/regions/1/capacity_bytes", Value::from(1_u64 << 32)),
        ("/regions/1/name", Value::from("sram")),
        ("/regions", Value::from(1)),
        ("/tensors/0/region", Value::from(2)),
        ("/tensors/0/region", Value::from(u64::MAX)),
        ("/tensors/0/offset", Value::from(u64::MAX)),
        ("/tensors/0/size_bytes", Value::from(u64::MAX)),
        (&outside, Value::from(misaligned)),
        ("/schema", Value::from("dmo-trace/regions/3")),
    ];
    for (pointer, value) in corruptions {
        let mut broken = plan.clone();
        *broken.pointer_mut(pointer).unwrap() = value;
        let (code, words) = audit(&path, &broken);
        assert_eq!(code, Some(2), "{pointer}: {words}");
        assert!(!words.contains("panicked"), "{words}");
    }
    // A file that says of a whole tensor that it is a part of another.
    let mut broken = plan.clone();
    *broken.pointer_mut(&outside).unwrap() = Value::from(misaligned);
    let tensor = outside.trim_end_matches("/offset");
    broken.pointer_mut(tensor).unwrap()["is_part"] = true.into();
    for region in broken["regions"].as_array_mut().unwrap() {
        region["used_bytes"] = region["capacity_bytes"].clone();
    }
    let (code, words) = audit(&path, &broken);
    assert_eq!(code, Some(2), "{words}");
    assert!(
        words.contains("no multiple of its alignment, 64 bytes"),
        "{words}"
    );
}

/// A picture of each memory in which something lies, with the tensors that the plan puts there, and a
/// page with all of them.
#[test]
fn each_memory_has_a_picture() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (pictures, page) = (path("pictures"), path("page.html"));
    let memories = [
        "--region",
        "tcm=40K",
        "--region",
        "spare=8",
        "--region",
        "psram=1M@12",
    ];
    let written = ["--plot", &pictures, "--report", &page];
    let plan = planned(&[&memories[..], &written[..]].concat());

    let page = std::fs::read_to_string(page).unwrap();
    let mut drawn = 0;
    for (index, region) in plan["regions"].as_array().unwrap().iter().enumerate() {
        let name = region["name"].as_str().unwrap();
        let file = format!("plan-zoo_mobilenet_v1_0_25_128_int8__{name}.svg");
        let picture = std::fs::read_to_string(Path::new(&pictures).join(file));
        if region["used_bytes"] == 0 {
            assert!(picture.is_err(), "{name}");
            continue;
        }
        let picture = picture.unwrap();
        let tensors = plan["tensors"].as_array().unwrap().iter();
        // What RESHAPE stores is the buffer that it loads.
        let is_buffer = |it: &&Value| !it["name"].as_str().unwrap().contains("reshape");
        let inside = tensors.filter(|it| it["region"] == index).filter(is_buffer);
        let blocks = format!("\n{} buffers, ", inside.count());
        assert!(picture.contains(&blocks), "{name}: {blocks}");
        assert!(page.contains(&format!("{name}: ")), "{name}");
        drawn += 1;
    }
    assert_eq!(drawn, 2);
}

/// Memories whose names only differ in what file names lack.
#[test]
fn each_memory_has_a_picture_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let pictures = folder.path().to_str().unwrap();
    let memories = ["--region", "a/b=40K", "--region", "a b=1M@12"];
    let plan = planned(&[&memories[..], &["--plot", pictures]].concat());
    let used = |region: &Value| region["used_bytes"].as_u64().unwrap() > 0;
    assert!(plan["regions"].as_array().unwrap().iter().all(used));
    for name in ["a_b.svg", "a_b-2.svg"] {
        let file = format!("plan-zoo_mobilenet_v1_0_25_128_int8__{name}");
        assert!(folder.path().join(&file).is_file(), "{file}");
    }
}

/// The cost is the sum over the regions, a dearer access costs more, and pins are kept.
#[test]
fn tensors_lie_where_their_accesses_cost_least() {
    let regions = ["--region", "tcm=40K@1", "--region", "psram=1M@12,align=32"];
    let plan = planned(&regions);
    let number = |value: &Value| value.as_u64().unwrap();
    let regions_of = |plan: &Value| plan["regions"].as_array().unwrap().clone();
    let cost = |plan: &Value| -> u64 {
        let regions = regions_of(plan);
        let costs = regions
            .iter()
            .map(|it| number(&it["accesses"]) * number(&it["access_cost"]));
        costs.sum()
    };
    assert_eq!(plan["cost"], cost(&plan));
    assert_eq!(plan["cost"], plan["cost_bound"]);
    let used = regions_of(&plan);
    assert!(
        used.iter()
            .all(|it| number(&it["used_bytes"]) <= number(&it["capacity_bytes"]))
    );
    assert!(used.iter().all(|it| number(&it["accesses"]) > 0));

    let mut pinned_plan = regions.to_vec();
    pinned_plan.extend(["--pin", "inputs=psram"]);
    let pinned = planned(&pinned_plan);
    assert_eq!(pinned["tensors"][0]["region"], 1);
    assert!(number(&pinned["cost"]) >= number(&plan["cost"]));

    for (pin, message) in [
        ("inputs=dram", "there is no region"),
        ("99999=tcm", "the model has"),
        ("1=tcm", "lies in no region"),
    ] {
        let all = [&["plan", MODEL], &regions[..], &["--pin", pin]].concat();
        let (code, words) = outcome(&all);
        assert_eq!(code, Some(2), "{words}");
        assert!(words.contains(message), "{pin}: {words}");
    }
    let (code, words) = outcome(&["plan", MODEL, "--region", "tcm=4K"]);
    assert_eq!(code, Some(1), "{words}");
    assert!(words.contains("proven"), "{words}");
}

/// Kernels run in the plan, and find where one tensor is moved onto another of its region.
#[test]
fn machine_code_runs_in_several_memories() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plan.json");
    let plan = planned(&["--region", "tcm=40K@1", "--region", "psram=1M@12"]);
    let verify = |plan: &Value| {
        std::fs::write(&path, plan.to_string()).unwrap();
        outcome(&[
            "verify",
            MODEL,
            "--inputs",
            "1",
            "--plan",
            path.to_str().unwrap(),
        ])
    };
    let (code, words) = verify(&plan);
    assert_eq!(code, Some(0), "{words}");
    assert!(words.contains("SAFE with these kernels"), "{words}");

    // An operator's input, onto whatever of its region the operator's output is.
    let tensors = plan["tensors"].as_array().unwrap();
    let pair = (1..tensors.len()).find(|&index| {
        let region = |index: usize| &tensors[index]["region"];
        let size = |index: usize| tensors[index]["size_bytes"].as_u64().unwrap();
        region(index) == region(index - 1) && size(index) > size(index - 1)
    });
    let pair = pair.unwrap();
    let mut mutant = plan.clone();
    let end = tensors[pair]["offset"].as_u64().unwrap();
    mutant["tensors"][pair - 1]["offset"] = Value::from(end);
    let (code, words) = verify(&mutant);
    assert_eq!(code, Some(1), "{words}");
    assert!(words.contains("UNSAFE"), "{words}");
}

/// A C compiler takes the header, and a caller puts each region where it belongs.
#[test]
fn the_header_has_one_array_for_each_region() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plan.h");
    let emit = path.to_str().unwrap();
    let regions = ["--region", "tcm=40K", "--region", "psram=1M@12,align=64"];
    let all = [&["plan", MODEL, "--out", emit], &regions[..]].concat();
    let (code, words) = outcome(&all);
    assert_eq!(code, Some(0), "{words}");
    let text = std::fs::read_to_string(&path).unwrap();
    let define = text
        .lines()
        .find(|line| line.starts_with("#define") && line.contains("_REGION("));
    let macro_name = define.unwrap().split([' ', '(']).nth(1).unwrap();
    let program = format!(
        "#include \"plan.h\"\n{macro_name}(0, );\n\
         {macro_name}(1, __attribute__((section(\".psram\"))));\n\
         int main(void) {{ return 0; }}\n"
    );
    let source = folder.path().join("main.c");
    std::fs::write(&source, program).unwrap();
    let mut compiler = Command::new("cc");
    let compiler = compiler.args(["-std=gnu99", "-Wall", "-c", "-o"]);
    let object = folder.path().join("main.o");
    let output = compiler.arg(&object).arg(&source).output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Busy tensors that fill a tight region must not leave others without room, where one region takes
/// all.
#[test]
fn what_fits_into_one_region_has_a_plan_beside_a_tight_one() {
    let model = "zoo:nasnet_mobile:int8";
    let output = dmo_trace(&["plan", model, "--time", "3", "--json"]);
    let arena: Value = serde_json::from_slice(&output.stdout).unwrap();
    let large = arena["arena_bytes"].as_u64().unwrap();
    for share in [2, 4] {
        let tight = format!("tight={}", large / share);
        let large = format!("large={large}@12");
        let regions = ["--time", "3", "--region", &tight, "--region", &large];
        let (code, words) = outcome(&[&["plan", model], &regions[..]].concat());
        assert_eq!(code, Some(0), "{words}");
    }
}

/// The plan that was written is what the next step verifies.
#[test]
fn the_next_step_verifies_what_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let model = "tests/golden/stand_in_vision_int8.tflite";
    let path = folder.path().join("plan.json");
    let name = path.to_str().unwrap();
    let plan = [
        "plan",
        model,
        "--region",
        "tcm=512",
        "--region",
        "psram=1M@12",
    ];
    let (code, words) = outcome(&plan);
    assert_eq!(code, Some(0), "{words}");
    assert!(words.contains("Next: `--out plan.json`"), "{words}");
    let (code, words) = outcome(&[&plan[..], &["--out", name]].concat());
    assert_eq!(code, Some(0), "{words}");
    assert!(words.contains(&format!("\nWritten: {name}\n")), "{words}");
    let next = format!("Next: `dmo-trace verify {model} --plan {name}` runs it");
    assert!(words.contains(&next), "{words}");
    let (code, words) = outcome(&["verify", model, "--plan", name, "--inputs", "1"]);
    assert_eq!(code, Some(0), "{words}");
}

/// Whoever makes an array of a memory makes it as long as the plan says.
#[test]
fn a_memory_shorter_than_its_tensors_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plan.json");
    let mut plan = planned(&["--region", "tcm=40K@1", "--region", "psram=1M@12"]);
    let used = plan["regions"][1]["used_bytes"].as_u64().unwrap();
    let (code, words) = audit(&path, &plan);
    assert_eq!(code, Some(0), "{words}");
    for short in [0, 1, used - 16] {
        plan["regions"][1]["used_bytes"] = short.into();
        let (code, words) = audit(&path, &plan);
        assert_eq!(code, Some(2), "{words}");
        assert!(words.contains("in region psram ends at"), "{words}");
        let name = path.to_str().unwrap();
        let (code, words) = outcome(&["verify", MODEL, "--inputs", "1", "--plan", name]);
        assert_eq!(code, Some(2), "{words}");
    }
}

/// What is wrong is named by region and bytes in it.
#[test]
fn objections_name_regions() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plan.json");
    let name = path.to_str().unwrap();
    // Inputs and the first outputs lie in the second region.
    let mut plan = planned(&["--region", "tcm=40K@1", "--region", "psram=1M@12"]);
    let tensors = plan["tensors"].as_array_mut().unwrap();
    for tensor in tensors.iter_mut().take(2) {
        tensor["region"] = Value::from(1);
        tensor["offset"] = Value::from(1024);
    }
    let (code, words) = audit(&path, &plan);
    assert_eq!(code, Some(1), "{words}");
    let clash = "share bytes 1,024..33,792 of psram";
    assert!(words.contains(clash), "{words}");
    assert!(words.contains("Memory tcm: "), "{words}");
    let (code, words) = outcome(&["verify", MODEL, "--inputs", "1", "--plan", name]);
    assert_eq!(code, Some(1), "{words}");
    assert!(words.contains(clash), "{words}");
    assert!(words.contains("Memory psram: "), "{words}");

    let (code, words) = outcome(&["audit", MODEL, "--plan", name, "--capacity", "1M"]);
    assert_eq!(code, Some(2), "{words}");
    assert!(words.contains("hint: leave out --capacity"), "{words}");
    let (code, words) = outcome(&["plot", name]);
    assert_eq!(code, Some(2), "{words}");
    assert!(words.contains("a plan, not a saved trace"), "{words}");
}

/// A library asks for no array of a memory in which nothing lies.
#[test]
fn an_unused_memory_has_no_array() {
    const MODEL: &str = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/golden/stand_in_vision_int8.tflite"
    );
    let folder = tempfile::tempdir().unwrap();
    let library = folder.path().join("library");
    let page = folder.path().join("page.html");
    let regions = ["--region", "tcm=1M", "--region", "psram=1M@12"];
    let files = [
        "--out",
        library.to_str().unwrap(),
        "--report",
        page.to_str().unwrap(),
    ];
    let (code, words) = outcome(&[&["build", MODEL], &regions[..], &files[..]].concat());
    assert_eq!(code, Some(0), "{words}");
    assert!(words.contains("Nothing lies in psram: "), "{words}");
    let mut files = 0;
    for below in ["", "src", "test"] {
        for entry in std::fs::read_dir(library.join(below)).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                let text = std::fs::read_to_string(&path).unwrap();
                assert!(!text.to_lowercase().contains("psram"), "{path:?}");
                files += 1;
            }
        }
    }
    assert!(files > 5);
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("accesses planned at 1 cycle each"));
    assert!(!page.contains("(this plan)"));

    let header = folder.path().join("plan.h");
    let emit = ["--out", header.to_str().unwrap()];
    let (code, words) = outcome(&[&["plan", MODEL], &regions[..], &emit[..]].concat());
    assert_eq!(code, Some(0), "{words}");
    let header = std::fs::read_to_string(header).unwrap();
    assert!(header.contains("psram: nothing lies in it"), "{header}");
}
