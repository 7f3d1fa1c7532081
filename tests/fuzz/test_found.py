"""What fuzzing found, as small as it gets; each once crashed, hung or gave a wrong number."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import coalescecheck
from coalescecheck.cache import Cache
from coalescecheck.cli import main
from coalescecheck.options import Options
from coalescecheck.report.model import FileReport, Report

HEAD = "__global__ void k(float *a, const int *b, int n) {\n    int t = threadIdx.x;\n"
TAIL = "\n}\nvoid run(float *a, int *b) { k<<<4, 64>>>(a, b, 100); }\n"


def kernel(body: str, before: str = "") -> str:
    return f"{before}{HEAD}{body}{TAIL}"


def analysed(folder: Path, text: str) -> Report:
    path = folder / "k.cu"
    path.write_text(text, encoding="utf-8")
    report = coalescecheck.analyze(path)
    said = [said.message for file in report.files for said in file.diagnostics]
    assert report.internal_errors == ()
    assert [message for message in said if "internal error" in message] == []
    assert not report.disagrees
    return report


def call(path: Path, *arguments: str) -> Result:
    result = CliRunner().invoke(main, [str(path), "--no-config", *arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert result.exit_code in range(4)
    assert "internal error" not in result.stderr
    return result


FAILS = {
    "an array of negative size": (
        kernel("__shared__ float s[(int)0x80000000]; a[t] = s[t];"),
        "an array of -2147483648 elements",
    ),
    "an array larger than any memory": (
        kernel("__shared__ float s[1 << 20][1 << 20]; a[t] = s[0][t];"),
        "an array of 4398046511104 bytes",
    ),
    "a built-in function without arguments": (
        kernel("atomicAdd();"),
        "`atomicAdd()` has too few arguments",
    ),
    "a bit count of nothing": (kernel("a[__clz()] = 0;"), "`__clz()` has too few arguments"),
    "a product of one number": (kernel("a[__mul24(t)] = 0;"), "`__mul24()` has too few arguments"),
    "an exchange with one operand": (
        kernel("atomicCAS((int *)a + t, 1);"),
        "`atomicCAS()` has too few arguments",
    ),
    "an atomic without an operand": (
        kernel("atomicAdd(a + t);"),
        "`atomicAdd()` has too few arguments",
    ),
    "a value with more parts than can be followed": (
        kernel(
            f"a[{'V<' * 36}int{' >' * 36}().v] = 0;", "template <class T> struct V { T v, w; };\n"
        ),
        "a value of 274877906944 bytes",
    ),
    "a copy of a value with too many parts": (
        kernel("S s = ((S *)b)[t]; a[t] = s.v[0];", "struct S { int v[1 << 28]; };\n"),
        "a value of 1073741824 bytes",
    ),
    "a bit-field of negative width": (
        kernel("((S *)a)[t].v = 1;", "struct S { unsigned u : 4; unsigned v : -2; };\n"),
        "a bit-field of -2 bits",
    ),
    "a bit-field wider than its type": (
        kernel("((S *)a)[t].v = 1;", "struct S { unsigned u : 4; unsigned char v : 12; };\n"),
        "a bit-field of 12 bits",
    ),
    "a bit-field of no width": (
        kernel("((S *)a)[t].v = 1;", "struct S { unsigned u : 4; unsigned v : 0; };\n"),
        "a bit-field of 0 bits",
    ),
    "a deep argument of a template": (
        "template <int N> __global__ void k(float *a) { a[N * threadIdx.x] = 0; }\n"
        f"template __global__ void k<64{'-' * 3000}>(float *);\n",
        "deep",
    ),
    "deep statements": (kernel("do {" * 1500 + "a[t] = 0;" + "} while (t < n);" * 1500), "deep"),
}


@pytest.mark.parametrize("name", FAILS)
def test_what_no_kernel_can_have_is_a_reason(tmp_path: Path, name: str) -> None:
    text, reason = FAILS[name]
    (found,) = analysed(tmp_path, text).kernels
    assert found.status == "failed"
    assert reason in found.reason


GOES_ON = {
    "mathematics of too many numbers": kernel("a[t] = rsqrtf(t, 2) + fmaf(1.f) + powf(2.f);"),
    "extrema of other than two numbers": kernel("a[t] = max(t) + min(1, 2, 3) + max();"),
    "integers of too many numbers": kernel("a[t] = __popc(t, t, t) + __ffs(1, 2);"),
    "a long number": kernel(f"a[t / {'9' * 5000}] = 0;"),
    "an octal number with an eight": kernel("a[t + 08] = 0;"),
    "a damaged character": kernel("a[t + '\\x'] = 0; a[t + '\\9'] = 0;"),
    "a launch of too many threads": kernel("a[t] = 0;").replace("4, 64", "4, 1u << 31"),
    "a launch with too much shared memory": kernel(
        "extern __shared__ int s[]; a[t] = s[t];"
    ).replace("4, 64", "4, 64, 1ull << 40"),
    "memory of a block beyond reason": kernel(
        "__shared__ float s[1 << 30]; a[t] = s[t];",
    ),
    "a long line of minus signs": kernel(f"int x = n; {'-' * 50} x; a[x + t] = 0;"),
    "memory of a block whose races need far more": kernel(
        "__shared__ char s[1 << 28]; s[t] = b[t]; a[t] = s[t];",
    ),
    "rows without elements": kernel(
        "__shared__ float s[32][0]; s[t][t] = b[t]; __syncthreads(); a[t] = s[n][t] + s[t][32 * t];"
    ),
    "an address beyond 64 bits": kernel(
        "t = M * 3 + 1;" + "t = t * 3 + 1;" * 60 + "a[t] = 0;",
    ),
    "nested class templates": kernel(
        f"a[{'V<' * 40}int{' >' * 40}().v] = 0;", "template <class T> struct V { T v; };\n"
    ),
    "loops inside loops that need tables": kernel(
        "for (unsigned i = 0; i < n; i = -i) " * 12 + "{ a[t] += i; a[t] = i; }"
    ),
}


@pytest.mark.parametrize("name", GOES_ON)
def test_what_is_odd_costs_no_kernel(tmp_path: Path, name: str) -> None:
    (found,) = analysed(tmp_path, GOES_ON[name]).kernels
    assert found.status != "failed"
    assert found.accesses


@pytest.mark.parametrize(
    ("condition", "runs"),
    [
        pytest.param("(int)(unsigned long long)a < 128", True, id="a part of an address"),
        pytest.param("(unsigned long long)a < 128", True, id="an address and a number"),
        pytest.param("(int)(unsigned long long)a == 0", True, id="a part against zero"),
        pytest.param("a < (float *)b", True, id="two arrays"),
        pytest.param("a == nullptr", False, id="a null check"),
        pytest.param("nullptr != a", True, id="the other way round"),
    ],
)
def test_where_an_array_lies_is_not_known(tmp_path: Path, condition: str, runs: bool) -> None:
    """Comparisons of addresses were all taken for null checks, so code was said never to run."""
    text = kernel(f"if ({condition}) a[2 * t] = 0;")
    (found,) = analysed(tmp_path, text).kernels
    (access,) = found.accesses
    counted = access.sectors is not None and access.sectors.max == 8
    assert counted == runs


def test_brackets_without_end_are_a_message(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(kernel("a[t]" + "a<" * 5000), encoding="utf-8")
    result = call(path)
    assert result.exit_code == 2
    assert "nests too deeply" in result.stderr


def test_errors_deep_inside_cost_only_their_kernel(tmp_path: Path) -> None:
    text = kernel("a[" + "(" * 1200 + "+" + ")" * 1100 + "] = 0;").replace("k", "broken")
    report = analysed(tmp_path, f"__global__ void fine(float *a) {{ a[threadIdx.x] = 0; }}\n{text}")
    assert "fine" in [each.name for each in report.kernels if each.status == "analysed"]


def test_an_entry_of_the_cache_that_contradicts_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is read without a word, and fails where a report asks for its numbers."""
    monkeypatch.setenv("COALESCECHECK_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "k.cu"
    tile = "__shared__ float s[64][32]; s[t][0] = a[t]; a[t] = s[t][1];"
    path.write_text(kernel(tile), encoding="utf-8")
    put = Cache.put

    def spoiled(
        self: Cache, path: str, options: Options, state: bytes | None, report: FileReport
    ) -> None:
        (found,) = report.analysis.kernels
        assert any(trial.helps for trial in found.trials)
        trials = tuple(replace(trial, after={}) for trial in found.trials)
        wrong = replace(report.analysis, kernels=(replace(found, trials=trials),))
        put(self, path, options, state, replace(report, analysis=wrong))

    with monkeypatch.context() as patched:
        patched.setattr(Cache, "put", spoiled)
        first = call(path, "--format", "json").stdout
    (entry,) = (file for file in (tmp_path / "cache").rglob("*") if file.is_file())
    damaged = entry.read_bytes()
    assert call(path, "--format", "json").stdout == first
    assert entry.read_bytes() != damaged  # the next run need not do it again
