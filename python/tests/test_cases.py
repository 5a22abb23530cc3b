"""Overlaps, sweeps and runs are those of the command."""

import csv
import math

import dmo_trace
import pytest
from conftest import REPOSITORY, command, printed

GRID = [
    {"operator": "conv2d", "input": [(1, 9, 8, 4)], "filter": ["6x3x3x4"], "stride": [1, 2], "padding": ["same", "valid"]},
    {"operator": "concat", "input": [[(1, 2, 2, 3), (1, 2, 2, 5)]], "axis": [3]},
]


def test_an_overlap_is_the_one_of_the_command():
    found = dmo_trace.overlap("conv2d", input=(1, 8, 8, 4), filter="6x3x3x4", padding="SAME", stride=(2, 2))
    words = ["conv2d", "--input", "1x8x8x4", "--filter", "6x3x3x4", "--padding", "same", "--stride", "2x2"]
    assert found.report == printed("overlap", *words)
    assert found.holds and found.method == "traced" and found.kernel == "dmo_conv2d_s8"
    assert found.bytes == found.safe_bytes == tuple(int(bytes) for bytes in found.pairs["traced_bytes"])
    formulas = dmo_trace.overlap("conv2d", input="1x8x8x4", filter="6x3x3x4", padding="same", stride=2, formulas=True)
    assert formulas.bytes == found.bytes and formulas.kernel is None
    assert math.isnan(formulas.pairs["traced_bytes"][0])


def test_the_conv2d_of_the_demo_shares_4081_bytes():
    found = dmo_trace.overlap("conv2d", input=(1, 32, 32, 8), filter=(4, 3, 3, 8), padding="same", formulas=True)
    assert found.bytes == (printed("overlap", "conv2d", "--input", "1x32x32x8", "--filter", "4x3x3x8", "--padding", "same", "--formulas")["answers"][0]["bytes"],)


def test_wrong_shapes_say_what_is_wrong():
    for options, message in [
        ({"input": (1, 8, 8, 4), "filter": (6, 9, 3, 4)}, "hint: --padding same"),
        ({"input": (1, 8, 8, 4)}, "--filter is missing"),
        ({"input": (1, 8, 8, 4), "filter": (6, 3, 3, 4), "axis": 1}, "it takes no --axis"),
    ]:
        with pytest.raises(dmo_trace.DmoTraceError, match=message):
            dmo_trace.overlap("conv2d", **options)


def test_a_sweep_has_the_rows_of_the_command(tmp_path):
    grid = tmp_path / "grid.toml"
    grid.write_text(
        '[[grid]]\noperator = "conv2d"\ninput = ["1x9x8x4"]\nfilter = ["6x3x3x4"]\nstride = [1, 2]\n'
        'padding = ["same", "valid"]\n[[grid]]\noperator = "concat"\ninput = ["1x2x2x3,1x2x2x5"]\naxis = [3]\n'
    )
    table = tmp_path / "table.csv"
    assert command("sweep", grid, "--inputs", "1", "--out", table).returncode == 0
    with table.open() as file:
        expected = list(csv.DictReader(file))
    found = dmo_trace.sweep(grid, inputs=1)
    assert (found.cases, len(found), found.findings) == (5, 6, 0)
    assert list(found.rows.dtype.names) == list(expected[0])
    for row, text in zip(found.rows, expected):
        assert row["case"] == text["case"] and row["kernel"] == text["kernel"]
        for column in ["closed_bytes", "algorithmic_bytes", "traced_bytes", "instructions"]:
            assert int(row[column]) == int(text[column])
    of_tables = dmo_trace.sweep(GRID, inputs=1)
    # NaN is not equal to itself.
    assert repr(of_tables.rows.tolist()) == repr(found.rows.tolist())
    shards = [row for shard in range(1, 4) for row in dmo_trace.sweep(GRID, inputs=1, shard=(shard, 3)).rows.tolist()]
    assert sorted(map(repr, shards)) == sorted(map(repr, found.rows.tolist()))


def test_a_wrong_grid_names_table_and_key():
    for grid, message in [
        ({"operator": "rely", "input": ["8"]}, r"\[\[grid\]\] 1 \(rely\): unknown operator 'rely'"),
        ({"operator": "relu", "imput": ["8"]}, "unknown key 'imput'"),
        ({"operator": "relu", "input": ["8"], "dtype": ["int8,int8"]}, "--dtype is given 2 values"),
    ]:
        with pytest.raises(dmo_trace.DmoTraceError, match=message):
            dmo_trace.sweep(grid)
    with pytest.raises(dmo_trace.DmoTraceError, match="from 1 to N"):
        dmo_trace.sweep(GRID, shard=(0, 3))


def test_a_run_is_the_one_of_the_command():
    elf = REPOSITORY / "traces/elf/cortex-m4/conv2d.elf"
    found = dmo_trace.run(elf, inputs=1)
    assert found.report == printed("run", elf, "--inputs", "1")
    assert found.holds and found.cpu == "cortex-m4"
    assert found.pairs[["name", "safe_overlap_bytes"]].tolist()[0] == ("conv2d_s8", 4081)
    with pytest.raises(dmo_trace.DmoTraceError, match="nosuch.elf"):
        dmo_trace.run("nosuch.elf")


def test_what_a_sweep_grants_on_every_input():
    grid = {"operator": "sqrt", "dtype": "float32", "input": "16"}
    tried = dmo_trace.sweep(grid, inputs=2)
    assert tried.rows["traced_bytes"].tolist() == [64] and tried.findings == 0
    followed = dmo_trace.sweep(grid, inputs=2, every_input=True)
    assert followed.rows["traced_bytes"].tolist() == [0] and followed.findings == 1
    assert followed.rows["finding"][0].startswith("data decide where it branches")
    relu = dmo_trace.sweep({**grid, "operator": "relu"}, inputs=2, every_input=True)
    assert relu.rows["traced_bytes"].tolist() == [64] and relu.findings == 0
