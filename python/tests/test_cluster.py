"""A sweep on a cluster has the rows of the command, also where workers are killed."""

import os
import signal
import threading
import time

import dmo_trace
import pytest
from dmo_trace import _cluster
from dmo_trace._sweep import _options

distributed = pytest.importorskip("distributed")
pytest.importorskip("pyarrow")

GRID = {
    "operator": "conv2d",
    "input": ["1x24x24x8", "1x23x22x8"],
    "filter": ["16x3x3x8", "8x3x3x8"],
    "stride": [1, 2],
    "padding": ["same", "valid"],
}


@pytest.fixture
def client():
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            yield client


def parts(folder):
    return sorted(path.name for path in folder.glob("part-*.parquet"))


def rows(sweep):
    return list(map(repr, sweep.rows.tolist()))


def test_a_killed_worker_loses_no_rows(client, tmp_path):
    out, killed = tmp_path / "rows", []

    def kill():
        while not parts(out):
            time.sleep(0.01)
        worker = next(iter(client.cluster.workers.values()))
        killed.append(worker.process.process.pid)
        os.kill(killed[0], signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    found = dmo_trace.sweep(GRID, inputs=2, client=client, out=out, chunks=8)
    thread.join()
    assert len(killed) == 1
    assert (found.cases, len(found)) == (16, 16)
    assert rows(found) == rows(dmo_trace.sweep(GRID, inputs=2))
    assert len(parts(out)) == 8


def test_a_sweep_goes_on_where_it_ended(client, tmp_path):
    out = tmp_path / "rows"
    whole = dmo_trace.sweep(GRID, formulas=True, client=client, out=out, chunks=4)
    times = {name: (out / name).stat().st_mtime_ns for name in parts(out)}
    lost = parts(out)[2]
    (out / lost).unlink()
    again = dmo_trace.sweep(GRID, formulas=True, client=client, out=out)
    assert again.rows.tolist().__repr__() == whole.rows.tolist().__repr__()
    kept = [name for name in parts(out) if (out / name).stat().st_mtime_ns == times[name]]
    assert kept == [name for name in times if name != lost]
    for options, differs in [({"formulas": False}, "kernels"), ({"formulas": True, "chunks": 5}, "chunks")]:
        with pytest.raises(dmo_trace.DmoTraceError, match=differs):
            dmo_trace.sweep(GRID, client=client, out=out, **options)
    with pytest.raises(dmo_trace.DmoTraceError, match="another sweep"):
        dmo_trace.sweep({**GRID, "stride": [1]}, formulas=True, client=client, out=out)


def test_a_folder_of_something_else_is_not_touched(client, tmp_path):
    (tmp_path / "notes.txt").write_text("milk")
    with pytest.raises(dmo_trace.DmoTraceError, match="something else"):
        dmo_trace.sweep(GRID, formulas=True, client=client, out=tmp_path)
    with pytest.raises(dmo_trace.DmoTraceError, match="hint: out="):
        dmo_trace.sweep(GRID, formulas=True, client=client)
    with pytest.raises(dmo_trace.DmoTraceError, match="hint: client="):
        dmo_trace.sweep(GRID, formulas=True, out=tmp_path)


def test_a_worker_with_other_kernels_is_refused(client):
    options = _options(GRID, "reference", None, None, False, 2, False, 60.0)
    known = _cluster._known(options)
    assert len(client.submit(_cluster._chunk, options, known, (1, 16), pure=False).result()) == 1
    [kernels] = known["kernels"]
    for what, other in [("kernels", [{**kernels, "sha256": "0" * 64}]), ("version", "0.0.0")]:
        with pytest.raises(dmo_trace.DmoTraceError, match=f"this worker has other {what}"):
            client.submit(_cluster._chunk, options, {**known, what: other}, (1, 16), pure=False).result()


def test_what_does_not_go_with_a_cluster_is_refused(client, tmp_path):
    with pytest.raises(dmo_trace.DmoTraceError, match="hint: chunks="):
        dmo_trace.sweep(GRID, client=client, out=tmp_path / "rows", shard=(1, 2))
    with pytest.raises(dmo_trace.DmoTraceError, match="dask.distributed.Client"):
        dmo_trace.sweep(GRID, client=5, out=tmp_path / "rows")


def test_damaged_files_are_named(client, tmp_path):
    out = tmp_path / "rows"
    dmo_trace.sweep(GRID, formulas=True, client=client, out=out, chunks=2)
    for name in [parts(out)[1], "_key.json"]:
        (out / name).write_bytes(b"{")
        with pytest.raises(dmo_trace.DmoTraceError, match=name):
            dmo_trace.sweep(GRID, formulas=True, client=client, out=out)
