"""The command that the wheel installs, and how Python and it end."""

import os
import pathlib
import signal
import subprocess
import sys
import time

import dmo_trace
from conftest import command, stand_in


def test_the_command_is_the_program():
    assert command("--version").stdout == f"dmo-trace {dmo_trace.__version__}\n"
    by_module = subprocess.run([sys.executable, "-m", "dmo_trace", "--help"], capture_output=True, text=True, check=True)
    assert by_module.stdout == command("--help").stdout
    assert "Usage: dmo-trace" in by_module.stdout


def test_exit_codes_are_those_of_the_program():
    model = stand_in("keyword_int8")
    assert command("plan", model).returncode == 0
    assert command("plan", model, "--capacity", "1").returncode == 1
    missing = command("plan", "nosuch.tflite")
    assert missing.returncode == 2 and missing.stderr.startswith("dmo-trace: cannot read nosuch.tflite")
    assert command("plan").returncode == 2


def test_the_package_is_typed():
    package = pathlib.Path(dmo_trace.__file__).parent
    assert (package / "py.typed").exists() and (package / "_native.pyi").exists()


def interrupted(arguments):
    """The exit code and what is printed, and how long it takes to end, after Ctrl-C."""
    with subprocess.Popen(
        arguments,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Programs in the background of a shell ignore it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        try:
            time.sleep(2)
            assert process.poll() is None, "it ended before it could be interrupted"
            start = time.monotonic()
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=60)
            return process.returncode, errors, time.monotonic() - start
        finally:
            process.kill()


def test_ctrl_c_ends_a_call_at_once():
    long = "import dmo_trace; dmo_trace.verify('zoo:mobilenet_v1_1.0_224:int8', inputs=1000)"
    code, errors, seconds = interrupted([sys.executable, "-c", long])
    assert "KeyboardInterrupt" in errors and code != 0
    assert seconds < 10


def test_ctrl_c_ends_the_command_as_it_ends_others():
    program = os.path.join(os.path.dirname(sys.executable), "dmo-trace")
    code, errors, _ = interrupted([program, "verify", "zoo:mobilenet_v1_1.0_224:int8", "--inputs", "1000"])
    assert code == -signal.SIGINT, errors
