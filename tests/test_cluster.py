"""A Dask cluster of processes on this machine does the same work as processes of our own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from coalescecheck import cluster, pipeline, running
from coalescecheck.cli import main
from coalescecheck.errors import UsageError
from coalescecheck.options import Options, make_options
from coalescecheck.report.model import Report, Result

KERNEL = """#include "step.h"
__global__ void k(float *o, const float *i) { o[threadIdx.x] = i[STEP * threadIdx.x]; }
void run(float *o, const float *i) { k<<<1, 32>>>(o, i); }
"""
OPTIONS = make_options(verify=False)


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Some kernels in the current folder."""
    for at in range(4):
        (tmp_path / f"{at}.cu").write_text(KERNEL + "\n" * at, encoding="utf-8")
    (tmp_path / "step.h").write_text("#define STEP 2\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


# --- what a worker has to agree with ----------------------------------------------------------


class Pickled(ThreadPoolExecutor):
    """Stands for a cluster: what a task is told passes through ``change``."""

    def __init__(self, change: Any) -> None:
        super().__init__(1)
        self.change = change

    def submit(self, fn: Any, /, here: Any, *args: Any, **kwargs: Any) -> Any:
        return super().submit(fn, self.change(here), *args, **kwargs)


def analysed(executor: Executor | None) -> Report:
    return running.analyze(["."], OPTIONS, executor=executor)


def test_a_worker_that_agrees_does_the_work(tree: Path) -> None:
    with Pickled(lambda here: here) as executor:
        assert analysed(cluster._Cluster(executor)) == analysed(None)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        pytest.param({"code": b"?"}, "another version of coalescecheck", id="code"),
        pytest.param({"sources": b"?"}, "does not see the same files", id="files"),
        pytest.param({"folder": "/no/such/folder"}, "No such file or directory", id="folder"),
    ],
)
def test_work_is_done_here_where_a_worker_disagrees(
    tree: Path, change: dict[str, Any], words: str
) -> None:
    with Pickled(lambda here: here._replace(**change)) as executor:
        found = analysed(cluster._Cluster(executor))
    (said,) = found.diagnostics
    assert said.message.startswith("4 files analysed again here, as a worker failed: ")
    assert words in said.message
    assert replace(found, diagnostics=()) == analysed(None)


def test_a_file_whose_headers_nobody_knows_stays_here(tree: Path) -> None:
    (tree / "0.cu").write_text('#define H "step.h"\n#include H\n', encoding="utf-8")
    sent = []
    with Pickled(lambda here: sent.append(here) or here) as executor:
        assert analysed(cluster._Cluster(executor)) == analysed(None)
    assert len(sent) == 3


# --- the real thing ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    distributed = pytest.importorskip("distributed", reason="the extra [dask] is not installed")
    import dask

    dask.config.set({"distributed.scheduler.allowed-failures": 0})  # no second worker dies
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=2,
        dashboard_address=None,
        silence_logs=100,
    ) as here:
        yield here.scheduler_address


def report(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(main, [".", "--no-verify", *arguments])
    return result.exit_code, result.stdout, result.stderr


@pytest.mark.parametrize("format", ["text", "json"])
def test_the_report_is_that_of_processes(tree: Path, address: str, format: str) -> None:
    (tree / "gone.cu").symlink_to("nowhere")
    here = report("--format", format, "--jobs", "2")
    assert report("--format", format, "--executor", f"dask:{address}") == here
    assert here[0] == 1


def where(path: str, options: Options) -> Result:
    """A task that says who did it."""
    raise RuntimeError(f"done by {os.getpid()}")


def test_the_work_is_done_by_the_workers(tree: Path, address: str) -> None:
    with cluster.connected(address) as executor:
        error = executor.submit(where, "0.cu", OPTIONS).exception()
    assert "done by" in str(error)
    assert str(os.getpid()) not in str(error)


def test_nothing_is_lost_with_a_worker(tree: Path, address: str) -> None:
    def dying(path: str, options: Options) -> Result:
        if path == "0.cu":
            os._exit(1)
        return pipeline.analyze_file(path, options)

    class Dying(Executor):
        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
            return executor.submit(dying, *args, **kwargs)

    expected = analysed(None)
    with cluster.connected(address) as executor:
        found = analysed(Dying())
    assert "KilledWorker" in found.diagnostics[0].message
    assert replace(found, diagnostics=()) == expected


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ("dask:tcp://127.0.0.1:1", "no Dask scheduler at tcp://127.0.0.1:1"),
        ("dask:nonsense", "no Dask scheduler at nonsense"),
        ("dask:", "'dask:' is neither processes nor such as dask:tcp://host:8786"),
        ("threads", "'threads' is neither processes nor such as dask:tcp://host:8786"),
    ],
)
def test_an_executor_that_is_not_there_is_wrong_usage(
    tree: Path, monkeypatch: pytest.MonkeyPatch, where: str, words: str
) -> None:
    pytest.importorskip("distributed", reason="the extra [dask] is not installed")
    monkeypatch.setattr(cluster, "TIMEOUT", 1)
    code, out, err = report("--executor", where)
    assert (code, out) == (2, "")
    assert words in err
    assert "Traceback" not in err


@pytest.mark.parametrize("where", ["nonsense", "tcp://h:port", "what://h:1"])
def test_an_address_that_is_none_leaves_no_traceback(tree: Path, where: str) -> None:
    """Not even at the end of the process, when what is left of a client is thrown away."""
    pytest.importorskip("distributed", reason="the extra [dask] is not installed")
    command = [sys.executable, "-m", "coalescecheck", str(tree), f"--executor=dask:{where}"]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert ran.returncode == 2
    assert ran.stderr.splitlines()[-1].startswith(f"Error: executor: no Dask scheduler at {where}:")
    assert "Traceback" not in ran.stderr


def test_without_the_extra_it_is_named(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    code, out, err = report("--executor", "dask:tcp://127.0.0.1:1")
    assert (code, out) == (2, "")
    assert "pip install 'coalescecheck[dask]'" in err
    with pytest.raises(UsageError), cluster.connected("tcp://127.0.0.1:1"):
        pass
