//! Programs that a test needs and that may be missing. A test without its tool is
//! reported as ignored, never as passed.

use libtest_mimic::{Arguments, Completion, Failed, Trial};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Set in continuous integration: a missing tool is then a failure.
pub const REQUIRE_ALL: &str = "DMO_TRACE_REQUIRE_ALL";

/// Whether a tool can be used, and why not.
pub type Availability = Result<(), String>;

/// A test that needs the tool.
pub fn trial(
    name: impl Into<String>,
    tool: &Availability,
    test: impl FnOnce() -> Result<(), Failed> + Send + 'static,
) -> Trial {
    let tool = tool.clone();
    Trial::ignorable_test(name, move || match tool {
        Ok(()) => test().map(|()| Completion::Completed),
        Err(problem) if required() => Err(format!("{problem}, and {REQUIRE_ALL} is set").into()),
        Err(problem) => Ok(Completion::ignored_with(problem)),
    })
}

/// Whether Python has a package.
pub fn python_package(name: &str) -> Availability {
    let output = Command::new("python3")
        .args(["-c", &format!("import numpy, {name}")])
        .stdin(Stdio::null())
        .output();
    match output {
        Ok(output) if output.status.success() => Ok(()),
        _ => Err(format!("Python's package {name} is not installed")),
    }
}

/// Whether a test fails that lacks something.
pub fn required() -> bool {
    std::env::var_os(REQUIRE_ALL).is_some_and(|value| value != "0" && !value.is_empty())
}

/// Says what will be left out, runs the trials and exits.
pub fn main(tool: &Availability, trials: Vec<Trial>) -> ! {
    if let Err(problem) = tool
        && !required()
    {
        eprintln!("SKIPPED: {problem}");
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit()
}

/// The first line that `tool --version` prints.
pub fn version(tool: &str) -> Result<String, String> {
    let missing = || format!("{tool} is not installed");
    let output = Command::new(tool)
        .arg("--version")
        .stdin(Stdio::null())
        .output()
        .map_err(|_| missing())?;
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().next().map(str::to_owned).ok_or_else(missing)
}

/// A process that does not outlive the test.
pub struct Process(Child);

impl Process {
    pub fn start(command: &mut Command) -> Result<Self, String> {
        let child = command.stdin(Stdio::null()).spawn();
        child
            .map(Self)
            .map_err(|error| format!("{command:?}: {error}"))
    }

    /// Waits for its end; what it printed, where that is piped and no more than a pipe
    /// holds.
    pub fn finish(mut self, limit: Duration) -> Result<Output, String> {
        let start = Instant::now();
        while start.elapsed() < limit {
            match self.0.try_wait() {
                Ok(Some(status)) => {
                    return Ok(Output {
                        status,
                        stdout: read(self.0.stdout.take()),
                        stderr: read(self.0.stderr.take()),
                    });
                }
                Ok(None) => std::thread::sleep(Duration::from_millis(5)),
                Err(error) => return Err(error.to_string()),
            }
        }
        Err(format!("no end after {} s", limit.as_secs()))
    }
}

fn read(pipe: Option<impl std::io::Read>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(mut pipe) = pipe {
        // What cannot be read is missing in a message.
        let _ = pipe.read_to_end(&mut bytes);
    }
    bytes
}

impl Drop for Process {
    fn drop(&mut self) {
        // Both fail when it has ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A sample of the cases runs each time, all of them where this is asked for.
pub fn are_all_cases_wanted() -> bool {
    std::env::var("DMO_TRACE_CASES").is_ok_and(|what| what == "all")
}
