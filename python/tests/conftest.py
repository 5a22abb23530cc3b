"""What tests share: the repository's files, and the command that the wheel has installed."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = REPOSITORY / "tracer/tests/golden"
MODELS = pathlib.Path(os.environ.get("DMO_TRACE_MODELS", REPOSITORY.parent / "shared/models"))


def stand_in(name):
    """A model of the repository."""
    return GOLDEN / f"stand_in_{name}.tflite"


def command(*arguments):
    """Runs the command beside this Python."""
    program = pathlib.Path(sys.executable).with_name("dmo-trace")
    return subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, check=False)


def printed(*arguments, exit_code=0):
    """What the command prints as JSON."""
    done = command(*arguments, "--json")
    assert done.returncode == exit_code, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def real_models():
    """Models that the repository does not have."""
    found = sorted(MODELS.rglob("*.tflite")) if MODELS.is_dir() else []
    if not found:
        pytest.skip("no models in $DMO_TRACE_MODELS or ../shared/models")
    return {path.stem: path for path in found}
