"""Many files: the cache never changes a result, and neither does the number of processes."""

from __future__ import annotations

import io
import os
import pickle
import subprocess
import sys
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coalescecheck import cache as cache_module
from coalescecheck import pipeline, running
from coalescecheck.brief import Brief
from coalescecheck.cache import HASH_BYTES, MAGIC, Cache
from coalescecheck.options import make_options
from coalescecheck.report.model import Report
from coalescecheck.unheeded import unheeded

EXAMPLES = Path(__file__).parents[1] / "examples_cu"
KERNEL = """
#include "step.h"
__global__ void strided(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[STEP * i];
}
void run(float *out, const float *in) { strided<<<4, 64>>>(out, in); }
"""


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    (tmp_path / "step.h").write_text('#include "inner.h"\n', encoding="utf-8")
    (tmp_path / "inner.h").write_text("#define STEP 8\n", encoding="utf-8")
    path = tmp_path / "k.cu"
    path.write_text(KERNEL, encoding="utf-8")
    return path


@pytest.fixture
def worked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that were really analysed."""
    done: list[str] = []
    real = pipeline.analyze_file

    def analyze_file(path: str, options: Any) -> Any:
        done.append(path)
        return real(path, options)

    monkeypatch.setattr(pipeline, "analyze_file", analyze_file)
    return done


def analysed(path: Path, folder: Path | None, **options: Any) -> Report:
    made = make_options(verify=False, **options)
    return running.analyze([str(path)], made, cache=None if folder is None else Cache(folder))


def sectors(report: Report) -> list[int]:
    return [a.sectors.max for k in report.kernels for a in k.accesses if a.sectors]


def test_an_unchanged_file_is_not_analysed_again(
    kernel: Path, tmp_path: Path, worked: list[str]
) -> None:
    first = analysed(kernel, tmp_path / "cache")
    again = analysed(kernel, tmp_path / "cache")
    assert worked == [str(kernel)]
    assert again == first
    assert again == analysed(kernel, None)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        pytest.param("k.cu", KERNEL.replace("STEP * i", "i"), 4, id="the file"),
        pytest.param("step.h", "#define STEP 1\n", 4, id="a header"),
        pytest.param("inner.h", "#define STEP 2\n", 8, id="a header of a header"),
    ],
)
def test_a_change_is_seen(
    kernel: Path, tmp_path: Path, name: str, text: str, expected: int
) -> None:
    analysed(kernel, tmp_path / "cache")
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert max(sectors(analysed(kernel, tmp_path / "cache"))) == expected


def test_a_header_that_appears_is_seen(kernel: Path, tmp_path: Path) -> None:
    (tmp_path / "inner.h").unlink()
    without = analysed(kernel, tmp_path / "cache")
    (tmp_path / "inner.h").write_text("#define STEP 8\n", encoding="utf-8")
    again = analysed(kernel, tmp_path / "cache")
    assert again != without
    assert max(sectors(again)) == 32


@pytest.mark.parametrize(
    "options",
    [{"block": 32}, {"defines": ["X"]}, {"select": ["CC2"]}, {"arch": "sm_90"}, {"grid": 2}],
    ids=lambda options: next(iter(options)),
)
def test_other_options_are_another_entry(
    kernel: Path, tmp_path: Path, worked: list[str], options: dict[str, Any]
) -> None:
    analysed(kernel, tmp_path / "cache")
    assert analysed(kernel, tmp_path / "cache", **options) == analysed(kernel, None, **options)
    assert len(worked) == 3


def test_what_is_done_with_the_result_is_no_other_entry(
    kernel: Path, tmp_path: Path, worked: list[str]
) -> None:
    analysed(kernel, tmp_path / "cache")
    analysed(kernel, tmp_path / "cache", format="json", fail_on="never", strict=True)
    assert len(worked) == 1


def test_another_version_of_the_tool_is_another_entry(
    kernel: Path, tmp_path: Path, worked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    analysed(kernel, tmp_path / "cache")
    monkeypatch.setattr(cache_module, "_own_code", lambda: b"other")
    analysed(kernel, tmp_path / "cache")
    assert len(worked) == 2


def test_a_header_named_by_a_macro_is_never_cached(
    kernel: Path, tmp_path: Path, worked: list[str]
) -> None:
    kernel.write_text('#define H "step.h"\n#include H\n' + KERNEL, encoding="utf-8")
    analysed(kernel, tmp_path / "cache")
    analysed(kernel, tmp_path / "cache")
    assert len(worked) == 2


def test_headers_that_include_each_other_come_to_an_end(kernel: Path, tmp_path: Path) -> None:
    (tmp_path / "inner.h").write_text('#include "step.h"\n#define STEP 8\n', encoding="utf-8")
    assert Cache(tmp_path).state(str(kernel), make_options()) is not None


# --- a cache that is not what it should be ----------------------------------------------------


class Attack:
    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, ("touch attacked",)


def entry(folder: Path) -> Path:
    (path,) = (path for path in folder.rglob("*") if path.is_file())
    return path


def with_body(data: bytes, body: bytes) -> bytes:
    import hashlib

    state = data[len(MAGIC) : len(MAGIC) + HASH_BYTES]
    return MAGIC + state + hashlib.sha256(body).digest() + body


def first_part(data: bytes) -> bytes:
    """What is read before anybody asks for kernels."""
    body = io.BytesIO(data[len(MAGIC) + 2 * HASH_BYTES :])
    pickle.load(body)
    return body.getvalue()[: body.tell()]


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda data: b"", id="empty"),
        pytest.param(lambda data: data[: len(data) // 2], id="cut off"),
        pytest.param(lambda data: data[:-9] + b"\0" + data[-8:], id="one byte"),
        pytest.param(lambda data: b"x" * 500, id="something else"),
        pytest.param(lambda data: with_body(data, b"\x80\x05garbage"), id="garbage inside"),
        pytest.param(lambda data: with_body(data, pickle.dumps([1])), id="another record"),
        pytest.param(lambda data: with_body(data, first_part(data)), id="no kernels"),
        pytest.param(lambda data: with_body(data, first_part(data) + b"x"), id="bad kernels"),
        pytest.param(lambda data: with_body(data, pickle.dumps(Attack())), id="an attack"),
    ],
)
def test_a_damaged_entry_costs_only_time(
    kernel: Path, tmp_path: Path, damage: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    first = analysed(kernel, tmp_path / "cache")
    path = entry(tmp_path / "cache")
    path.write_bytes(damage(path.read_bytes()))
    assert analysed(kernel, tmp_path / "cache") == first
    assert not (tmp_path / "attacked").exists()


def test_a_cache_that_cannot_be_written_costs_only_time(kernel: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file", encoding="utf-8")
    assert analysed(kernel, tmp_path / "cache") == analysed(kernel, None)


def test_a_warm_run_loads_no_stage(kernel: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "COALESCECHECK_CACHE": str(tmp_path / "cache")}
    command = [sys.executable, "-X", "importtime", "-m", "coalescecheck", str(kernel)]
    runs = [
        subprocess.run(command, env=environment, capture_output=True, text=True) for _ in range(2)
    ]
    assert runs[0].stdout == runs[1].stdout
    heavy = ("numpy", "sympy", "pcpp", "pycparser", "tree_sitter")
    loaded = [[name for name in heavy if f" {name}\n" in run.stderr] for run in runs]
    assert loaded[1] == []
    assert "numpy" in loaded[0]
    listed = subprocess.run([*command, "--format", "concise"], env=environment, capture_output=True)
    assert listed.stdout.startswith(str(kernel).encode())
    assert b" coalescecheck.running\n" in listed.stderr
    assert b" coalescecheck.analysis\n" not in listed.stderr


# --- processes --------------------------------------------------------------------------------


def test_the_number_of_processes_changes_nothing(tmp_path: Path) -> None:
    for at in range(running.FEW_FILES):
        (tmp_path / f"{at}.cu").write_text(KERNEL.replace("STEP", str(at)), encoding="utf-8")
    options = make_options(verify=False)
    one = running.analyze([str(tmp_path)], options, jobs=1)
    assert len(one.files) == running.FEW_FILES
    assert running.analyze([str(tmp_path)], options, jobs=2) == one


def test_any_executor_will_do(kernel: Path) -> None:
    options = make_options(verify=False)
    with ThreadPoolExecutor(1) as threads:
        found = running.analyze([str(kernel)], options, executor=threads)
    assert found == analysed(kernel, None)


@pytest.mark.parametrize(
    "error", [BrokenProcessPool("killed"), CancelledError("killed"), RuntimeError("killed")]
)
@pytest.mark.parametrize("at_once", [True, False], ids=["refused", "lost"])
def test_a_killed_worker_costs_only_time(kernel: Path, error: Exception, at_once: bool) -> None:
    class Killed(ThreadPoolExecutor):
        def submit(self, *_: Any, **__: Any) -> Future[Any]:
            if at_once:
                raise error
            future: Future[Any] = Future()
            future.set_exception(error)
            return future

    with Killed(1) as executor:
        found = running.analyze([str(kernel)], make_options(verify=False), executor=executor)
    (said,) = found.diagnostics
    kind = type(error).__name__
    assert said.message == f"1 file analysed again here, as a worker failed: {kind}: killed"
    assert replace(found, diagnostics=()) == analysed(kernel, None)


@pytest.mark.parametrize(
    ("given", "messages"),
    [
        pytest.param({"params": {"n": 64}, "assume": ["m >= 8"]}, [], id="all heard"),
        pytest.param(
            {"params": {"N": 64}},
            ["--param: no kernel has an integer parameter called N"],
            id="misspelt",
        ),
        pytest.param(
            {"assume": ["pitch % 32 == 0"], "templates": {"T": "float"}},
            [
                "--assume: no number depends on what is said of pitch",
                "--template: no kernel has a template parameter called T",
            ],
            id="facts and templates",
        ),
        pytest.param(
            {"params": {"a": 64}},
            ["--param: no kernel has an integer parameter called a"],
            id="a pointer",
        ),
        pytest.param({"params": {"n": 64}, "assume": ["n >= 8"]}, [], id="a fact of a known size"),
    ],
)
def test_options_that_no_kernel_heeds_are_told(
    tmp_path: Path, given: dict[str, Any], messages: list[str]
) -> None:
    path = tmp_path / "k.cu"
    path.write_text("__global__ void k(float *a, int n, int m) { a[threadIdx.x * n + m] = 0; }")
    for _ in range(2):  # the second time from the cache
        report = analysed(path, tmp_path / "cache", **given)
        assert [said.message for said in report.diagnostics] == messages


@pytest.mark.parametrize(("statuses", "told"), [(("analysed",), 1), (("failed", "partial"), 0)])
def test_a_name_may_be_of_a_kernel_that_was_not_understood(
    statuses: tuple[str, ...], told: int
) -> None:
    said = unheeded(make_options(params={"n": 64}), [Brief(statuses)])
    assert len(list(said)) == told


@pytest.mark.parametrize(
    ("type_", "value", "passed"),
    [
        ("int", 1 << 40, "0 is passed"),
        ("unsigned char", 300, "44 is passed"),
        ("int", -(1 << 31) - 1, "2147483647 is passed"),
        ("unsigned", -1, ""),
        ("int", 0xFFFFFFFF, ""),
        ("long long", 1 << 40, ""),
    ],
)
def test_a_value_that_no_parameter_can_hold_is_told(
    tmp_path: Path, type_: str, value: int, passed: str
) -> None:
    path = tmp_path / "k.cu"
    path.write_text(f"__global__ void k(float *a, {type_} n) {{ a[threadIdx.x + n] = 0; }}")
    (kernel,) = analysed(path, None, params={"n": value}).kernels
    assert [said.message.endswith(passed) for said in kernel.diagnostics] == [True] * bool(passed)
