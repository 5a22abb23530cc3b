"""Networks built in Python, and what the oracle says of them."""

import pickle

import dmo_trace
import pytest
from dmo_trace import Graph, Oracle
from networks import mobilenet


def test_a_network_of_the_zoo_built_in_python_has_its_plan():
    graph = mobilenet(96, 1, [8] + [16, 32, 32, 64, 64, 128, 128, 128, 128, 128, 128, 256, 256], classes=2)
    assert len(graph) == 31
    plan = dmo_trace.plan(graph)
    assert (plan.arena_bytes, plan.certificate) == (36_880, "optimal")
    assert plan.report["tensors"][0]["size_bytes"] == 96 * 96
    assert dmo_trace.plan(graph, overlap="none").arena_bytes == 55_296
    needs = Oracle().ask(graph)
    assert (needs.peak_bytes, needs.bound_bytes, needs.certificate) == (36_880, 36_880, "optimal")
    assert graph.kind(needs.operator) == "CONV_2D"
    assert [in_use.tensor.shape for in_use in needs.peak] == [(1, 48, 48, 16), (1, 48, 48, 8)]
    assert needs.used_bytes <= needs.peak_bytes


def test_the_oracle_agrees_with_the_planner():
    oracle, seen = Oracle(), set()
    for width in range(1, 9):
        for resolution in [32, 48]:
            graph = mobilenet(resolution, 3, [4 * width] + [8 * width] * 5, classes=10)
            needs = oracle.ask(graph)
            plan = dmo_trace.plan(graph, order="file")
            assert needs.peak_bytes == plan.arena_bytes
            assert needs.certificate == plan.certificate == "optimal"
            # An oracle that has seen nothing says the same.
            assert Oracle().ask(graph).peak_bytes == needs.peak_bytes
            seen.add(needs.peak_bytes)
    assert len(seen) == 16


def branches():
    graph = Graph("branches")
    x = graph.input((1, 16, 16, 8))
    wide = graph.conv2d(x, filter=(64, 1, 1, 8))
    narrow = graph.conv2d(x, filter=(4, 1, 1, 8))
    wide = graph.conv2d(wide, filter=(4, 1, 1, 64))
    graph.output(graph.add_tensors(wide, narrow))
    return graph


def test_another_order_may_need_less():
    graph = branches()
    in_order, best = Oracle().ask(graph), Oracle(reorder=True, time=0.5).ask(graph)
    assert in_order.bound_bytes <= best.peak_bytes < in_order.peak_bytes
    assert in_order.certificate != "optimal"
    assert best.peak_bytes == dmo_trace.plan(graph).arena_bytes


def test_what_is_not_known_gets_no_overlap():
    graph = Graph()
    x = graph.input((1, 8, 8, 16), name="image")
    (y,) = graph.opaque("MINE", [x], [(1, 8, 8, 16)], scratch_bytes=[100])
    graph.output(y)
    needs = Oracle().ask(graph)
    # 100 bytes of scratch memory take 112.
    assert needs.peak_bytes == 2 * 1024 + 112
    assert sorted((in_use.tensor is None, in_use.size_bytes) for in_use in needs.peak) == [
        (False, 1024), (False, 1024), (True, 112)
    ]


def test_scratch_memory_of_the_reference_kernels_counts():
    graph = Graph()
    x = graph.input((1, 4, 4, 8))
    graph.output(graph.transpose_conv2d(x, filter=(8, 2, 2, 8), output=(1, 8, 8, 8), stride=2))
    assert Oracle(overlap=False).ask(graph).peak_bytes == 4 * 4 * 8 + 8 * 8 * 8 + 4 * 8 * 8 * 8


def test_tiles_may_need_less():
    graph = mobilenet(96, 3, [16, 32, 32], classes=4)
    oracle = Oracle()
    plain, tiled = oracle.ask(graph), oracle.ask_tiled(graph, max_recompute=20, time=5)
    assert 0 < tiled.peak_bytes < plain.peak_bytes
    assert tiled.runs > 0 and 0 <= tiled.extra_macs <= tiled.macs // 5


def test_wrong_graphs_say_what_is_wrong():
    graph, other = Graph(), Graph()
    x, stranger = graph.input((1, 8, 8, 3)), other.input((1, 8, 8, 3))
    for wrong, message in [
        (lambda: graph.conv2d(x, filter=(4, 3, 3, 5)), "the filter's depth is 5"),
        (lambda: graph.conv2d(stranger, filter=(4, 3, 3, 3)), "no tensor of this graph"),
        (lambda: graph.add("conv3d", x), "unknown operator"),
        (lambda: graph.add("relu", x, slope=3), "no option 'slope'"),
        (lambda: graph.add("relu", x, dtype="float32"), "expected FLOAT32"),
        (lambda: graph.input((0, 3)), "no size"),
        (lambda: graph.input((1 << 31, 4)), "no size"),
        (lambda: graph.input((1,), dtype="int9"), "dtype 'int9'"),
        (lambda: Oracle().ask(graph), "hint: graph.output"),
        (lambda: dmo_trace.plan(graph), "hint: graph.output"),
        (lambda: graph.output(), "no outputs"),
    ]:
        with pytest.raises(dmo_trace.DmoTraceError, match=message):
            wrong()
    graph.output(graph.relu(x))
    with pytest.raises(dmo_trace.DmoTraceError, match="nothing can be added"):
        graph.relu(x)


def test_graphs_and_needs_are_sent_to_other_processes():
    graph = branches()
    needs = Oracle().ask(graph)
    there = pickle.loads(pickle.dumps(graph))
    assert Oracle().ask(there).peak_bytes == needs.peak_bytes == dmo_trace.plan(there, order="file").arena_bytes
    back = pickle.loads(pickle.dumps(needs))
    assert repr(back) == repr(needs)
    assert [in_use.tensor.shape for in_use in back.peak] == [in_use.tensor.shape for in_use in needs.peak]


def test_a_copy_goes_on_by_itself():
    stem = Graph("stem")
    x = stem.conv2d(stem.input((1, 16, 16, 8)), filter=(16, 1, 1, 8))
    sizes = set()
    for channels in [8, 32]:
        candidate = stem.copy()
        y = candidate.conv2d(candidate.tensor(x.index), filter=(channels, 1, 1, 16))
        candidate.output(y)
        sizes.add(Oracle().ask(candidate).peak_bytes)
        assert len(candidate) == 2
    assert len(stem) == 1 and len(sizes) == 2
    with pytest.raises(dmo_trace.DmoTraceError, match="no tensor 99"):
        stem.tensor(99)
    with pytest.raises(dmo_trace.DmoTraceError, match="no tensor of this graph"):
        stem.relu(candidate.tensor(0))
