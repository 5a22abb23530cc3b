"""Verification says what the command says."""

import dmo_trace
import pytest
from conftest import GOLDEN, printed, stand_in


@pytest.mark.parametrize("name", ["vision_int8", "keyword_int8", "window_int8"])
def test_a_verification_is_the_one_of_the_command(name):
    model = stand_in(name)
    found = dmo_trace.verify(model, inputs=1)
    assert found.report == printed("verify", model, "--inputs", "1")
    assert found.safe and found.verdict == "safe" and found.faults == found.objections == []
    assert found.instructions > 1000 and found.cycles > found.instructions
    assert len(found.layers) == found.report["layers"][-1]["operator"] + 1


def test_what_holds_on_every_input():
    model = stand_in("vision_int8")
    assert dmo_trace.verify(model, inputs=1).holds_on_every_input is None
    found = dmo_trace.verify(model, inputs=1, every_input=True)
    assert found.report == printed("verify", model, "--inputs", "1", "--every-input")
    assert found.holds_on_every_input is True
    # The square root of a negative number stores to errno.
    curves = dmo_trace.verify(GOLDEN / "further_functions_float32.tflite", inputs=1, every_input=True)
    assert curves.safe and curves.holds_on_every_input is False
    assert len(curves.report["every_input"]["dependent_operators"]) >= 1


def test_a_plan_for_other_loops_is_unsafe(tmp_path):
    model, path = stand_in("vision_int8"), tmp_path / "plan.json"
    plan = dmo_trace.plan(model)
    plan.emit(path)
    assert plan.verify(inputs=1).safe
    for kernels in ["dsp", "dsp-channels-outside"]:
        unsafe = dmo_trace.verify(plan, kernels=kernels, inputs=1)
        assert not unsafe.safe and unsafe.verdict == "unsafe"
        assert unsafe.objections[: len(unsafe.faults)] == unsafe.faults
        assert len(unsafe.objections) > 0
        by_command = printed("verify", model, "--plan", path, "--inputs", "1", "--kernels", kernels, exit_code=1)
        of_file = dmo_trace.verify(model, plan=path, kernels=kernels, inputs=1)
        assert of_file.report == by_command
        assert (unsafe.faults, unsafe.layers) == (of_file.faults, of_file.layers)


def test_a_plan_is_read_from_its_file(tmp_path):
    model, path = stand_in("window_int8"), tmp_path / "plan.json"
    dmo_trace.plan(model).emit(path)
    found = dmo_trace.verify(model, plan=path, inputs=1)
    assert found.safe
    assert found.report == printed("verify", model, "--plan", path, "--inputs", "1")
    with pytest.raises(dmo_trace.DmoTraceError, match="plan.json.*vision_int8"):
        dmo_trace.verify(stand_in("vision_int8"), plan=path)


def test_a_planned_model_has_its_plan():
    plan = dmo_trace.plan(stand_in("keyword_int8"))
    with pytest.raises(dmo_trace.DmoTraceError, match="no plan="):
        dmo_trace.verify(plan, plan="plan.json")
