"""Plans are those of the command, byte for byte and figure for figure."""

import sys
import threading

import dmo_trace
import numpy as np
import pandas
import pytest
from conftest import command, printed, stand_in

STAND_INS = ["vision_int8", "keyword_int8", "window_int8", "upsampling_float32"]


@pytest.mark.parametrize("name", STAND_INS)
def test_a_plan_is_the_one_of_the_command(name):
    model = stand_in(name)
    plan = dmo_trace.plan(model)
    assert plan.report == printed("plan", model)
    assert 0 < plan.bound_bytes <= plan.arena_bytes and plan.naive_bytes > 0
    assert plan.tensors.dtype.names == ("tensor", "name", "offset", "size_bytes")
    ends = plan.tensors["offset"] + plan.tensors["size_bytes"]
    # What is above them is scratch memory.
    assert 0 < ends.max() <= plan.arena_bytes
    assert sorted(plan.order) == list(range(plan.report["operators"]))


def test_person_detection_needs_what_the_documents_say():
    plan = dmo_trace.plan("zoo:person_detection:int8")
    assert (plan.arena_bytes, plan.certificate) == (36_880, "optimal")
    assert plan.is_proven
    assert plan.fits(36_880) and not plan.fits(36_879)
    apart = dmo_trace.plan("zoo:person_detection:int8", overlap="none")
    assert apart.arena_bytes == 55_296


def test_options_are_those_of_the_command():
    model = stand_in("vision_int8")
    for options, words in [
        ({"overlap": "none"}, ["--overlap", "none"]),
        ({"order": "file", "align": 4}, ["--order", "file", "--align", "4"]),
        ({"exclude_inputs": True, "exclude_outputs": True}, ["--exclude-inputs", "--exclude-outputs"]),
        ({"keep_inputs": True}, ["--keep-inputs"]),
        ({"allow": ["split"], "max_recompute": 5.0}, ["--allow", "split", "--max-recompute", "5"]),
        ({"allow": ["cache"], "max_recompute": 0.0}, ["--allow", "cache", "--max-recompute", "0"]),
        ({"slices": True}, ["--slices"]),
        ({"fix": {0: 4096}}, ["--fix", "0=4096"]),
        ({"kernels": "dsp", "inputs": 1, "cache": False}, ["--kernels", "dsp", "--inputs", "1", "--no-cache"]),
    ]:
        assert dmo_trace.plan(model, **options).report == printed("plan", model, *words), options
    model = stand_in("floats_int8")
    integers = dmo_trace.plan(model, integer_io=True)
    assert integers.report == printed("plan", model, "--integer-io")
    assert integers.arena_bytes < dmo_trace.plan(model).arena_bytes


def test_a_model_may_be_its_bytes():
    model = stand_in("keyword_int8")
    of_file, of_bytes = dmo_trace.plan(str(model)), dmo_trace.plan(model.read_bytes())
    assert of_bytes.report == {**of_file.report, "model": "model"}


def test_what_is_emitted_is_what_the_command_emits(tmp_path):
    model = stand_in("vision_int8")
    plan = dmo_trace.plan(model)
    for name in ["plan.json", "plan.h", "planned.tflite"]:
        plan.emit(tmp_path / name)
        by_command = tmp_path / f"command_{name}"
        assert command("plan", model, "--out", by_command).returncode == 0
        assert (tmp_path / name).read_bytes() == by_command.read_bytes()
    with pytest.raises(dmo_trace.DmoTraceError, match="plan.txt"):
        plan.emit(tmp_path / "plan.txt")
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(".")) == []


def test_errors_are_the_whole_message_of_the_command():
    for model, options, words in [
        ("zoo:resnet50", {}, []),
        ("nosuch.tflite", {}, []),
        (stand_in("vision_int8"), {"kernels": "nosuch.a"}, ["--kernels", "nosuch.a"]),
        (stand_in("vision_int8"), {"cpu": "cortex-m5"}, ["--cpu", "cortex-m5"]),
    ]:
        with pytest.raises(dmo_trace.DmoTraceError) as raised:
            dmo_trace.plan(model, **options)
        done = command("plan", model, *words)
        assert done.returncode == 2
        assert done.stderr.strip() == f"dmo-trace: {raised.value}"
    for options, message in [
        ({"order": "any"}, "order 'any': expected one of file, best"),
        ({"allow": ["splits"]}, "allow 'splits'"),
        ({"max_recompute": 5}, "hint: allow="),
        ({"slices": True, "keep_inputs": True}, "slices: the input is never in the arena"),
        ({"align": 0}, "align 0"),
        ({"time": -1}, "time -1"),
        ({"inputs": 0}, "inputs 0"),
    ]:
        with pytest.raises(dmo_trace.DmoTraceError, match=message):
            dmo_trace.plan(stand_in("vision_int8"), **options)
    with pytest.raises(dmo_trace.DmoTraceError, match="expected a path, bytes or a dmo_trace.Graph"):
        dmo_trace.plan(42)
    with pytest.raises(TypeError):
        dmo_trace.plan(stand_in("vision_int8"), kernel="reference")


def test_changes_are_a_list_or_the_words_of_the_option():
    model = "zoo:mobilenet_v1_0.25_128:int8"
    alike = [["split", "patch"], ("patch", "split"), "split,patch", "split, patch"]
    plans = [dmo_trace.plan(model, allow=allow) for allow in alike]
    assert len({plan.arena_bytes for plan in plans}) == 1
    assert plans[0].arena_bytes < dmo_trace.plan(model).arena_bytes
    with pytest.raises(dmo_trace.DmoTraceError, match="allow ''"):
        dmo_trace.plan(model, allow="split,")


def test_a_notebook_shows_the_plan():
    plan = dmo_trace.plan(stand_in("keyword_int8"))
    assert plan._repr_png_().startswith(b"\x89PNG\r\n\x1a\n")
    assert plan.svg().lstrip().startswith("<svg")
    page = plan._repr_html_()
    assert f"{plan.arena_bytes:,} bytes" in page and "data:image/png;base64," in page
    assert "arena_bytes" in repr(plan) and len(repr(plan)) < 400


def test_other_threads_run_while_it_plans():
    steps, done = 0, threading.Event()

    def work():
        dmo_trace.plan("zoo:inception_resnet_v2:int8", allow=["split", "patch"], time=1.0)
        done.set()

    before = sys.getswitchinterval()
    thread = threading.Thread(target=work)
    thread.start()
    while not done.wait(0.001):
        steps += 1
    thread.join()
    assert steps > 20, "the lock of the interpreter was held"
    assert sys.getswitchinterval() == before


def test_arrays_are_taken_by_numpy_and_pandas():
    plan = dmo_trace.plan("zoo:person_detection:int8")
    assert plan.order.dtype == np.int64
    assert plan.tensors["size_bytes"].sum() == plan.naive_bytes == 241_030
    table = pandas.DataFrame(plan.tensors)
    assert list(table.columns) == ["tensor", "name", "offset", "size_bytes"]
    assert table["size_bytes"].max() == 36_864


def test_real_models_need_what_the_command_says(real_models):
    seen = 0
    for name in ["kws_ref_model", "person_detect"]:
        if name in real_models:
            seen += 1
            assert dmo_trace.plan(real_models[name]).report == printed("plan", real_models[name])
    if not seen:
        pytest.skip("neither kws_ref_model nor person_detect is there")


MEMORIES = ["tcm=512@1", "psram=1M@12,align=32"]


def test_a_placement_is_the_one_of_the_command(tmp_path):
    model = stand_in("vision_int8")
    words = [word for memory in MEMORIES for word in ("--region", memory)]
    for pin, pins in [(None, []), ({"inputs": "psram"}, ["--pin", "inputs=psram"])]:
        placed = dmo_trace.plan(model).place(MEMORIES, pin=pin)
        assert placed.report == printed("plan", model, *words, *pins)
        assert list(placed.regions["name"]) == ["tcm", "psram"]
        assert placed.cost >= placed.cost_bound and placed.is_proven == (placed.cost == placed.cost_bound)
        assert (placed.regions["accesses"] * placed.regions["access_cost"]).sum() == placed.cost
        for name in ["placed.json", "placed.h"]:
            placed.emit(tmp_path / name)
            by_command = tmp_path / f"command_{name}"
            assert command("plan", model, *words, *pins, "--out", by_command).returncode == 0
            assert (tmp_path / name).read_bytes() == by_command.read_bytes()
        checked = placed.verify(inputs=1)
        by_command = printed("verify", model, "--plan", tmp_path / "placed.json", "--inputs", "1")
        assert checked.safe and checked.layers == by_command["layers"]
        assert checked.report["regions"] == by_command["regions"]
        assert [region["used_bytes"] for region in by_command["regions"]] == list(placed.regions["used_bytes"])


def test_memories_that_make_no_sense():
    plan = dmo_trace.plan(stand_in("vision_int8"))
    for memories, pin, message in [
        ([], {}, "no memory is given"),
        (["tcm"], {}, "'tcm' is not NAME=BYTES"),
        (["tcm=512"], {}, "hint: larger regions"),
        (MEMORIES, {"inputs": "sram"}, "sram"),
        (MEMORIES, {"nothing": "tcm"}, "'nothing=tcm'"),
    ]:
        with pytest.raises(dmo_trace.DmoTraceError, match=message):
            plan.place(memories, pin=pin)
    with pytest.raises(dmo_trace.DmoTraceError, match="placed.tflite"):
        plan.place(MEMORIES).content("placed.tflite")
