//! The library as a Zephyr module: its files for CMake run with the few functions of Zephyr that they
//! call, as Zephyr's documentation describes them. `scripts/zephyr.sh` builds it in Zephyr itself.

use super::tools::are_all_cases_wanted;
use super::{CORES, library, output, symbols};
use libtest_mimic::Failed;
use std::path::Path;
use std::process::Command;

/// Zephyr's functions, the modules in the order of `MODULES`, and all libraries linked whole.
const ZEPHYR: &str = r#"cmake_minimum_required(VERSION 3.20)
project(firmware C)
set(ZEPHYR_BASE ${CMAKE_CURRENT_LIST_DIR})
add_library(zephyr_interface INTERFACE)
function(zephyr_library_named name)
  add_library(${name} STATIC)
  target_link_libraries(${name} PRIVATE zephyr_interface)
  set(ZEPHYR_CURRENT_LIBRARY ${name} PARENT_SCOPE)
  set_property(GLOBAL APPEND PROPERTY ZEPHYR_LIBS ${name})
endfunction()
function(zephyr_library_sources)
  target_sources(${ZEPHYR_CURRENT_LIBRARY} PRIVATE ${ARGN})
endfunction()
function(zephyr_library_compile_options)
  target_compile_options(${ZEPHYR_CURRENT_LIBRARY} PRIVATE ${ARGN})
endfunction()
function(zephyr_include_directories)
  target_include_directories(zephyr_interface INTERFACE ${ARGN})
endfunction()
foreach(module IN LISTS MODULES)
  add_subdirectory(${module} modules/${module})
endforeach()
add_executable(firmware main.c)
get_property(libraries GLOBAL PROPERTY ZEPHYR_LIBS)
target_link_libraries(firmware PRIVATE zephyr_interface -Wl,--whole-archive ${libraries} -Wl,--no-whole-archive)
"#;

/// Two libraries as CMSIS-NN may be in: of the second all is replaced.
const VENDOR: &str = "zephyr_library_named(vendor)
zephyr_library_sources(${CMAKE_CURRENT_LIST_DIR}/arm_max_pool_s8.c ${CMAKE_CURRENT_LIST_DIR}/arm_vector_sum_s8.c)
zephyr_library_named(vendor_reshape)
zephyr_library_sources(${CMAKE_CURRENT_LIST_DIR}/arm_reshape_s8.c)
";

/// Next to a library that is compiled to objects, whichever module comes first.
pub fn takes_the_place_of_objects() -> Result<(), Failed> {
    let main = "void arm_max_pool_s8(void);\nvoid arm_vector_sum_s8(void);\n\
                int main(void) { arm_max_pool_s8(); arm_vector_sum_s8(); return 0; }\n";
    for modules in ["vendor;dmo-nn/zephyr", "dmo-nn/zephyr;vendor"] {
        let folder = library(CORES[0].0);
        let vendor = folder.path().join("vendor");
        std::fs::create_dir_all(&vendor)?;
        std::fs::write(vendor.join("CMakeLists.txt"), VENDOR)?;
        for name in ["arm_max_pool_s8", "arm_vector_sum_s8", "arm_reshape_s8"] {
            let text = format!("const char of_vendor_{name}[] = \"\";\nvoid {name}(void) {{}}\n");
            std::fs::write(vendor.join(format!("{name}.c")), text)?;
        }
        let modules = format!("-DMODULES={modules}");
        let said = build(
            folder.path(),
            CORES[0].1,
            [&modules, "-DCONFIG_CMSIS_NN=ON"],
            main,
        )?;
        assert!(said.contains("in place of 2 sources of CMSIS-NN"), "{said}");
        let map = std::fs::read_to_string(folder.path().join("firmware.map"))?;
        assert!(map.contains("of_vendor_arm_vector_sum_s8"), "{modules}");
        assert!(!map.contains("of_vendor_arm_max_pool_s8"), "{modules}");
        assert!(!map.contains("of_vendor_arm_reshape_s8"), "{modules}");
        let functions = symbols(&folder.path().join("out/firmware"), "T");
        assert!(functions.len() > 100, "{functions:?}");
    }
    Ok(())
}

/// Without CMSIS-NN an application includes the declarations from here.
pub fn works_alone() -> Result<(), Failed> {
    // One of them each time: CMake compiles for all.
    let cores = if are_all_cases_wanted() {
        &CORES[..]
    } else {
        &CORES[2..]
    };
    for &(cpu, flags) in cores {
        let folder = library(cpu);
        let main = "#include <dmo_nn.h>\nint main(void) { return arm_reshape_s8 == 0; }\n";
        let options = ["-DMODULES=dmo-nn/zephyr", "-DCONFIG_CMSIS_NN=OFF"];
        build(folder.path(), flags, options, main)?;
        let functions = symbols(&folder.path().join("out/firmware"), "T");
        assert!(functions.contains("arm_reshape_s8"), "{functions:?}");
        assert!(functions.len() > 100, "{functions:?}");
    }
    Ok(())
}

/// Builds a firmware of these modules; what CMake says first.
fn build(folder: &Path, flags: &str, options: [&str; 2], main: &str) -> Result<String, Failed> {
    std::fs::write(folder.join("CMakeLists.txt"), ZEPHYR)?;
    std::fs::write(folder.join("main.c"), main)?;
    std::fs::create_dir_all(folder.join("misc"))?;
    std::fs::write(folder.join("misc/empty_file.c"), "")?;
    let mut configure = Command::new("cmake");
    configure.args(["-S", ".", "-B", "out", "-DCMAKE_SYSTEM_NAME=Generic"]);
    configure.args([
        "-DCMAKE_C_COMPILER=arm-none-eabi-gcc",
        "-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY",
        "-DCONFIG_DMO_NN=ON",
    ]);
    configure.args(options);
    configure.arg(format!("-DCMAKE_C_FLAGS={flags} --specs=nosys.specs"));
    configure.arg(format!(
        "-DCMAKE_EXE_LINKER_FLAGS=-Wl,-Map={}",
        folder.join("firmware.map").display()
    ));
    let said = output(configure.current_dir(folder));
    let mut build = Command::new("cmake");
    output(build.args(["--build", "out", "-j2"]).current_dir(folder));
    Ok(said)
}
