"""The process that analyses: what it is asked, what it survives, and the command around it."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

import coalescecheck
from coalescecheck.lsp import job, worker
from coalescecheck.lsp.cli import main
from coalescecheck.lsp.messages import Request
from coalescecheck.lsp.worker import Worker

KERNEL = """\
__global__ void k(float *a) { a[threadIdx.x * 2] = 0; }
void run(float *a) { k<<<1, 32>>>(a); }
"""


@pytest.fixture(autouse=True)
def _this_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(coalescecheck.__file__).parents[1]))


def test_a_process_that_dies_is_reported_and_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = Request(str(tmp_path / "k.cu"), KERNEL)

    async def story() -> None:
        mine = Worker()
        for command, said in (
            ((sys.executable, "-c", "import sys; sys.stdin.buffer.read(1); sys.exit(7)"), "code 7"),
            ((sys.executable, "-c", "print('x' * 5)"), "code 0"),
            ((str(tmp_path / "nothing"),), "cannot be started"),
        ):
            with monkeypatch.context() as change:
                change.setattr(worker, "COMMAND", command)
                (problem,) = (await mine.ask(request)).problems
            assert said in problem
        reply = await mine.ask(request)
        assert (len(reply.report.analysis.kernels), reply.problems) == (1, ())
        mine.close()

    asyncio.run(story())


def test_cancelled_work_is_ended_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    endless = (sys.executable, "-c", "import time; time.sleep(3600)")
    monkeypatch.setattr(worker, "COMMAND", endless)
    request = Request(str(tmp_path / "k.cu"), KERNEL)

    async def story() -> None:
        mine = Worker()
        task = asyncio.create_task(mine.ask(request))
        await asyncio.sleep(0)  # it has begun
        process = mine._process
        assert process is not None
        task.cancel()
        await asyncio.wait({task})
        assert task.cancelled()
        assert process.returncode is not None

    asyncio.run(story())


def test_a_defect_is_a_problem_and_no_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("by hand")

    monkeypatch.setattr(job, "analyze_file", broken)
    (problem,) = job.answer(Request("/k.cu", KERNEL)).problems
    assert problem.startswith("internal error: ZeroDivisionError: by hand")


def test_known_findings_stay_known_in_text_that_is_not_saved(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(KERNEL, encoding="utf-8")
    (tmp_path / ".coalescecheck.toml").write_text('baseline = "known.json"\n', encoding="utf-8")
    command = [sys.executable, "-m", "coalescecheck", "k.cu", "--write-baseline", "known.json"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    moved = "\n\n" + KERNEL
    assert job.answer(Request(str(path), moved)).report.findings == ()
    other = moved.replace("* 2", "* 4")
    assert [f.span.line for f in job.answer(Request(str(path), other)).report.findings] == [3]


def test_without_pygls_the_command_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "pygls", None)
    for name in [name for name in sys.modules if name.startswith(("pygls.", "lsprotocol"))]:
        monkeypatch.delitem(sys.modules, name)
    for name in ("server", "session", "places", "actions", "diagnostics", "hover"):
        monkeypatch.delitem(sys.modules, f"coalescecheck.lsp.{name}", raising=False)
    monkeypatch.setattr(sys, "argv", ["coalescecheck-lsp", "--stdio"])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert "pip install 'coalescecheck[lsp]'" in said.err
