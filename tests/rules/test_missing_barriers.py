"""CC401: one finding for each barrier that is missing, which names every pair it would order."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import coalescecheck
from analysed import findings
from coalescecheck.findings import Finding
from coalescecheck.missing_barriers import missing_barriers
from coalescecheck.report import renderer
from coalescecheck.report.model import Terminal
from property.agreement import lowered
from property.random_kernels import random_kernel

KERNEL = """
// coalescecheck: block(64) grid(4)
__global__ void k(float *out, const float *in)
{{
    __shared__ float a[64], b[64]; int t = threadIdx.x;
    float sum = 0;
{body}
    out[blockIdx.x * 64 + t] = sum;
}}
"""
STORES = "a[t] = in[t];\nb[t] = in[t + 64];"
READS = "sum += a[63 - t];\nsum += b[63 - t];"
BARRIER = "__syncthreads();"
LOOP = "for (int i = 0; i < 4; ++i) {"


def found(folder: Path, *lines: str) -> list[str]:
    """Where a barrier is missing, and how many pairs of accesses it would order."""
    text = KERNEL.format(body="\n".join(lines))
    return [f"{1 + _others(f)} {f.advice}" for f in findings(folder, text, "CC401")]


def _others(finding: Finding) -> int:
    assert finding.reason.count("nor is it for") == len(finding.related) - 1
    return len(finding.related) - 1


def between(one: int, two: int) -> str:
    return f"a __syncthreads() is needed between lines {one} and {two}"


def again(one: int, two: int) -> str:
    return f"a __syncthreads() is needed after line {one}, before line {two} runs again"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param([STORES, BARRIER, READS], [], id="none is missing"),
        pytest.param([STORES, READS], [f"2 {between(8, 9)}"], id="two arrays"),
        pytest.param(
            ["a[t] = 1; \n a[63 - t] = 2; \n sum += a[t];", BARRIER],
            # line 7 to 8, and 8 to 9 (7's values are overwritten); no barrier orders both
            [f"1 {between(8, 9)}", f"1 {between(7, 8)}"],
            id="two barriers in a row",
        ),
        pytest.param(
            [LOOP, STORES, READS, "}"],
            # stores to reads, and around the loop reads to stores
            [f"2 {between(9, 10)}", f"2 {again(11, 8)}"],
            id="both ways around a loop",
        ),
        pytest.param(
            [LOOP, STORES, BARRIER, READS, "}"], [f"2 {again(12, 8)}"], id="the end of a loop"
        ),
        pytest.param(
            ["a[t] = in[t];", LOOP, "sum += a[63 - t];", BARRIER, "a[t] = sum;", "}"],
            # one at the beginning of the loop is passed on the way from line 7 too
            ["2 a __syncthreads() is needed before line 9, in each iteration"],
            id="before a loop and around it",
        ),
        pytest.param(
            [LOOP, "sum += a[63 - t];", BARRIER, "a[t] = sum;", "}", "sum += a[62 - t / 2];"],
            ["2 a __syncthreads() is needed after line 10, in each iteration"],
            id="around a loop and behind it",
        ),
        pytest.param(
            [LOOP, "sum += b[63 - t];\na[t] = sum;\nb[t] = sum;\nsum += a[63 - t];", BARRIER, "}"],
            # b is read in line 8 and written in 10, a is written in 9 and read in 11
            [f"2 {between(9, 10)}"],
            id="the narrowest place",
        ),
        pytest.param(
            [f"{LOOP}\na[t] = in[t];\n{BARRIER}\nsum += a[63 - t];\n}}", BARRIER,
             f"{LOOP}\nb[t] = in[t];\n{BARRIER}\nsum += b[63 - t];\n}}"],
            [f"1 {again(10, 8)}", f"1 {again(16, 14)}"],
            id="two loops",
        ),
        pytest.param(
            ["a[t] = 1;\nif (t < 32) {\nb[t] = 1;\nsum += b[31 - t];\n}\nsum += a[63 - t];"],
            # what stands in the branch is no barrier for the threads outside
            [f"1 {between(7, 12)}", "1 a __syncwarp() is needed between lines 9 and 10"],
            id="in a branch and around it",
        ),
        pytest.param(
            # lanes of a warp meet in b only: the barrier that a needs orders them too
            ["a[t] = in[t];", "b[t] = in[t];", "sum += a[63 - t];", "sum += b[t ^ 1];"],
            [f"2 {between(8, 9)}"],
            id="lanes of a warp as well",
        ),
    ],
)  # fmt: skip
def test_one_finding_for_each_barrier(body: list[str], expected: list[str], tmp_path: Path) -> None:
    assert sorted(found(tmp_path, *body)) == sorted(expected)


def test_every_pair_is_named_in_every_form(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(KERNEL.format(body=f"{STORES}\n{READS}"))
    report = coalescecheck.analyze(path, select=["CC401"])
    (finding,) = report.findings
    assert finding.message.startswith("a: written at line 7 and read at line 9 by")
    assert finding.message.endswith("(read after write); and 1 more pair of accesses")
    assert finding.reason.endswith("; nor is it for b, lines 8 and 10 (read after write)")
    places = [(each.span.line, each.span.column) for each in finding.related]
    assert places == [(7, 1), (10, 8)], "the store to a, and the read of b"
    sarif = json.loads(renderer("sarif")(report, Terminal(120, colour=False)))
    (result,) = sarif["runs"][0]["results"]
    regions = [each["physicalLocation"]["region"] for each in result["relatedLocations"]]
    assert [(r["startLine"], r["startColumn"]) for r in regions] == places
    assert "b: written at line 8" in result["relatedLocations"][1]["message"]["text"]
    plain = json.loads(renderer("json")(report, Terminal(120, colour=False)))
    (said,) = plain["files"][0]["findings"]
    assert [(each["line"], each["column"]) for each in said["related"]] == places


def test_a_pair_more_in_another_instance_is_not_lost(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text("""
template <bool BOTH> __global__ void k(float *out)
{
    __shared__ float a[64], b[64]; int t = threadIdx.x;
    a[t] = t; b[t] = t;
    out[t] = a[63 - t] + (BOTH ? b[63 - t] : 0);
}
void run(float *out) { k<false><<<1, 64>>>(out); k<true><<<1, 64>>>(out); }
""")
    report = coalescecheck.analyze(path, select=["CC401"])
    assert sorted(len(f.related) for f in report.findings) == [1, 2]


def test_a_product_without_its_barriers_lacks_two(tmp_path: Path) -> None:
    path = tmp_path / "mm.cu"
    path.write_text("""
// coalescecheck: block(16,16) grid(4,4) n=64
__global__ void mm(float *c, const float *a, const float *b, int n)
{
    __shared__ float as[16][16], bs[16][16];
    int x = threadIdx.x, y = threadIdx.y;
    float s = 0;
    for (int m = 0; m < n / 16; ++m) {
        as[y][x] = a[y * n + m * 16 + x];
        bs[y][x] = b[(m * 16 + y) * n + x];
        for (int k = 0; k < 16; ++k)
            s += as[y][k] * bs[k][x];
    }
    c[y * n + x] = s;
}
""")
    found = list(coalescecheck.analyze(path, select=["CC401"]).findings)
    # lanes of a warp share rows of as, all threads columns of bs: each barrier orders both
    assert sorted(f.advice for f in found) == [
        "a __syncthreads() is needed after line 12, before line 9 runs again",
        "a __syncthreads() is needed between lines 10 and 12",
    ]
    assert [len(f.related) for f in found] == [2, 2]


def test_two_barriers_of_four_pairs_are_where_people_put_them(tmp_path: Path) -> None:
    # between 9 and 10 one would order a's write and read, and b's read and write; nobody means that
    body = f"{LOOP}\nsum = 0;\na[t] = in[t];\nb[t] = in[t + 64];\nsum += a[63 - t];\n"
    expected = [f"2 {between(10, 11)}", f"2 {again(12, 9)}"]
    assert sorted(found(tmp_path, body + "sum += b[63 - t];\n}")) == sorted(expected)


@pytest.mark.parametrize("seed", range(12))
def test_any_pairs_have_a_barrier_or_none(seed: int) -> None:
    kernel = lowered(random_kernel(seed))
    count = min(len(kernel.accesses), 12)
    pairs = [(one, two) for one in range(count) for two in range(count)]
    barriers = missing_barriers(kernel, (pairs[::3], pairs[1::3], pairs[2::3]))
    assert set(barriers) <= set(pairs)
    before = {pair for pair in pairs if pair[0] < pair[1]}
    assert before <= set(barriers), "one may stand anywhere between the two"
