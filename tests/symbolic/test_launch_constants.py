"""Numbers in constant memory that the launch fixes: sizes and strides that no thread can change.

One warp of 32 floats side by side is 4 sectors, 5 when it starts amid one; at a stride of s floats
min(32, ceil((31 s + 1) / 8)) of those from a sector's start.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import coalescecheck
from coalescecheck.analysis import AccessResult

SOURCE = """
struct Sizes {{ float scale; int width; unsigned pitch; int3 cells; }};
struct Tensor {{ float *data; int sizes[3]; long long strides[3]; }};
__constant__ int W, H;
__constant__ Sizes P;
__constant__ int dims[2][2];
__constant__ int given = 4;
__constant__ const int fixed = 4;
__constant__ int table[64];
__device__ int width() {{ return W; }}
__device__ long long step(const long long *strides, int d) {{ return strides[d]; }}
__global__ void k(float *a, {parameters})
{{
    int x = threadIdx.x, y = blockIdx.x;
    {body}
}}
void run(float *a, int m, Tensor t) {{ k<<<4, 32>>>(a, {arguments}); }}
"""


def stored(folder: Path, body: str, parameter: str = "int m", **given: Any) -> AccessResult:
    """The last access of ``a``, which the simulation must agree with."""
    path = folder / "k.cu"
    path.write_text(SOURCE.format(parameters=parameter, body=body, arguments=parameter.split()[-1]))
    (kernel,) = coalescecheck.analyze(path, **given).kernels
    (*_, found) = (access for access in kernel.accesses if access.array in ("a", "t.data"))
    assert found.verified.simulation == "agrees"
    return found


def sectors(found: AccessResult) -> tuple[int, int]:
    assert found.sectors is not None
    return found.sectors.min, found.sectors.max


@pytest.mark.parametrize(
    ("body", "assumptions", "given", "counts"),
    [
        ("if (x < W && y < H) a[y * W + x] = 1;", ("whole warps: threadIdx.x < W",), {}, (4, 5)),
        ("a[y * W + x] = 1;", (), {"params": {"W": 64}}, (4, 4)),
        ("a[y * P.pitch + x] = P.scale;", (), {"params": {"P.pitch": 40}}, (4, 4)),
        ("a[y * P.pitch + x] = 1;", (), {"assume": ["P.pitch % 8 == 0"]}, (4, 4)),
        ("a[x * P.cells.y] = 1;", (), {"params": {"P.cells.y": 3}}, (12, 12)),
        ("a[x * dims[1][0]] = 1;", (), {"params": {"dims[1][0]": 2}}, (8, 8)),
        ("a[x * dims[1][0]] = 1;", (), {"assume": ["dims[1][0] >= 8"]}, (32, 32)),
        ("a[x * fixed] = 1;", (), {}, (16, 16)),
    ],
)
def test_what_the_launch_fixes_is_a_parameter(
    tmp_path: Path,
    body: str,
    assumptions: tuple[str, ...],
    given: dict[str, Any],
    counts: tuple[int, int],
) -> None:
    found = stored(tmp_path, body, **given)
    assert sectors(found) == counts
    assert found.certainty in ("exact", "exact-symbolic")
    assert found.assumptions[: len(assumptions)] == assumptions


@pytest.mark.parametrize(
    ("body", "given", "counts"),
    [
        ("t.data[y * t.strides[1] + x] = 1;", {}, (4, 5)),
        ("t.data[x * t.strides[2]] = 1;", {"params": {"t.strides[2]": 1}}, (4, 4)),
        ("t.data[x * step(t.strides + 1, 1)] = 1;", {"params": {"t.strides[2]": 2}}, (8, 8)),
        ("if (x < t.sizes[0]) t.data[x] = 1;", {"params": {"t.sizes[0]": 9}}, (2, 2)),
    ],
)
def test_elements_of_a_parameter(
    tmp_path: Path, body: str, given: dict[str, Any], counts: tuple[int, int]
) -> None:
    found = stored(tmp_path, body, "Tensor t", **given)
    assert sectors(found) == counts
    assert found.certainty in ("exact", "exact-symbolic")


def test_what_the_host_may_have_set_anew_is_not_known(tmp_path: Path) -> None:
    found = stored(tmp_path, "a[x * given] = 1;")
    assert found.certainty == "exact-symbolic"
    assert found.sectors is not None
    assert found.sectors.formula is not None
    assert sectors(stored(tmp_path, "a[x * given] = 1;", params={"given": 1})) == (4, 4)


@pytest.mark.parametrize("body", ["a[x * table[3]] = 1;", "a[dims[x % 2][0]] = 1;"])
def test_tables_are_data(tmp_path: Path, body: str) -> None:
    found = stored(tmp_path, body)
    assert (found.certainty, sectors(found)) == ("data-dependent", (1, 32))


def test_a_parameter_of_the_same_name_is_another_number(tmp_path: Path) -> None:
    found = stored(tmp_path, "a[x * width() - x * W] = 1;", "int W", params={"W": 3})
    assert sectors(found) == (1, 32)  # the constant W is not the parameter


def test_a_copy_that_a_thread_changes_is_its_own(tmp_path: Path) -> None:
    body = "t.strides[0] = 2; a[x * t.strides[0]] = 1;"
    found = stored(tmp_path, body, "Tensor t")
    assert (found.certainty, sectors(found)) == ("exact", (8, 8))


def test_a_step_that_is_one_of_several_is_no_finding(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    for body, codes in (("a[x * t.strides[2]] = 1;", []), ("a[x * P.width] = 1;", ["CC101"])):
        text = SOURCE.format(parameters="Tensor t", body=body, arguments="t")
        path.write_text(text)
        assert [f.rule for f in coalescecheck.analyze(path).findings] == codes


INHERITED = """
struct Shape {{ int n; int steps[2]; }};
struct View : Shape {{ float *data; }};
struct Named : View {{ int n; }};
__constant__ View C;
__global__ void k(float *a, View v, Named w)
{{
    int x = threadIdx.x;
    {body}
}}
"""


@pytest.mark.parametrize(
    ("body", "given", "count"),
    [
        ("if (x < v.n) v.data[x] = 1;", {"v.n": 9}, 2),
        ("v.data[x * v.steps[1]] = 1;", {"v.steps[1]": 3}, 12),
        ("a[x * C.n] = 1;", {"C.n": 2}, 8),
        ("a[x * C.steps[1]] = 1;", {"C.steps[1]": 3}, 12),
        ("if (x < w.n) a[x] = 1;", {"w.n": 9}, 2),
    ],
)
def test_members_of_bases_are_members_of_the_object(
    tmp_path: Path, body: str, given: dict[str, int], count: int
) -> None:
    path = tmp_path / "k.cu"
    path.write_text(INHERITED.format(body=body))
    (kernel,) = coalescecheck.analyze(path, block=32, grid=1, params=given).kernels
    found = kernel.accesses[-1]
    assert sectors(found) == (count, count)
    assert found.array in ("a", "v.data")


def test_a_member_that_another_hides_has_a_name_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(INHERITED.format(body="if (x < w.n && x < w.Shape::n) a[x] = 1;"))
    (kernel,) = coalescecheck.analyze(path, block=32, grid=1, params={"w.n": 9}).kernels
    (found,) = kernel.accesses
    assert found.certainty == "exact-symbolic"  # Shape's n is not known
    (kernel,) = coalescecheck.analyze(
        path, block=32, grid=1, params={"w.n": 20, "w.base__View.n": 9}
    ).kernels
    assert sectors(kernel.accesses[0]) == (2, 2)


KEPT = """
{declared}
__device__ int at(int d) {{ return t[d]; }}
__global__ void k(float *a) {{ for (int d = 0; d < 2; d++) a[threadIdx.x * 8 + at(d)] = 1; }}
void set(int *h) {{ {host} }}
"""


@pytest.mark.parametrize(
    ("declared", "host", "known"),
    [
        ("static __constant__ int t[2] = {1, 9};", "", True),
        ("namespace { __constant__ int t[2] = {1, 9}; }", "", True),
        ("static __constant__ int t[2] = {1, 9};", "cudaMemcpyToSymbol(t, h, 8);", False),
        ("static __constant__ int t[2] = {1, 9};", "cudaGetSymbolAddress((void **)&h, t);", False),
        ("__constant__ int t[2] = {1, 9};", "", False),  # another file may
        ("static __device__ int t[2] = {1, 9};", "", False),  # a kernel may
        ("constexpr int t[2] = {1, 9};", "", True),
    ],
)
def test_what_nobody_can_set_keeps_its_value(
    tmp_path: Path, declared: str, host: str, known: bool
) -> None:
    """Each lane has a sector of its own, wherever the table moves them all."""
    path = tmp_path / "k.cu"
    path.write_text(KEPT.format(declared=declared, host=host))
    (kernel,) = coalescecheck.analyze(path, block=32, grid=1).kernels
    found = next(a for a in kernel.accesses if a.array == "a")
    assert (found.certainty == "exact") == known
    assert sectors(found) == (32, 32)
