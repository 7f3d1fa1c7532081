"""Loops that pick places of per-thread arrays, or sizes of the launch, by their iteration: every
iteration is counted.  Sectors worked out by hand: 32 lanes that step 4*s bytes from a multiple of
256 touch 4*s sectors up to s = 8, and 32 from there on.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from summaries import results

import coalescecheck
from coalescecheck.analysis import AccessResult

TX = "int tx = threadIdx.x;"
EACH = "for (int i = 0; i < 4; i++)"
COUNTED = [
    # body; sectors of the last store to o: least, greatest, and of the whole warp
    (f"int q[4]; {EACH} q[i] = tx + 32 * i; {EACH} o[q[i]] = 1;", 4, 4, 16),
    (f"int q[4]; {EACH} q[i] = tx << i; {EACH} o[q[i]] = 1;", 4, 32, 4 + 8 + 16 + 32),
    ("int q[4]; int i = 0; do { q[i] = tx << i; i++; } while (i < 4); o[q[2]] = 1;", 16, 16, 16),
    # a place that an iteration reads and a later one writes
    (
        "int q[4]; q[0] = tx; for (int i = 1; i < 4; i++) q[i] = 2 * q[i - 1]; o[q[3]] = 1;",
        32,
        32,
        32,
    ),
    (
        f"int q[4]; {EACH} q[i] = tx;"
        f"for (int t = 0; t < 3; t++) {EACH} {{ o[q[i]] = 1; q[i] += 32; }}",
        4,
        4,
        48,
    ),
    # 2 rows of 3: strides 1 and 2, all from multiples of 128 bytes
    (
        "int q[6]; for (int i = 0; i < 2; i++) for (int j = 0; j < 3; j++)"
        "q[3 * i + j] = (i + 1) * tx + 96 * j;"
        "for (int j = 0; j < 3; j++) for (int i = 0; i < 2; i++) o[q[3 * i + j]] = 1;",
        4,
        8,
        3 * (4 + 8),
    ),
    # lanes from 8*i on stay: 32, 24, 16, 8 lanes
    (f"int q[4]; {EACH} {{ if (8 * i > tx) break; q[i] = tx; o[q[i]] = 1; }}", 1, 4, 4 + 3 + 2 + 1),
    # odd lanes leave q[i] at 0: 16 lanes at steps of 8, 16 and 24 bytes
    (
        f"int q[4]; {EACH} q[i] = 0; {EACH} {{ if (tx & 1) continue; q[i] = tx * i; }}"
        f"{EACH} o[q[i]] = 1;",
        1,
        12,
        1 + 4 + 8 + 12,
    ),
    # whoever returns does not come to later iterations: 8, then 16 lanes are left
    (
        f"int q[4]; {EACH} q[i] = 8 * i; {EACH} {{ if (tx < q[i]) return; o[tx] = 1; }}",
        1,
        4,
        4 + 3 + 2 + 1,
    ),
    # `n` ends the loop, for all lanes at once
    (
        f"int q[4]; {EACH} q[i] = tx << i; for (int i = 0; i < 4 && i < n; i++) o[q[i]] = 1;",
        4,
        8,
        12,
    ),
]


@pytest.mark.parametrize(("body", "least", "greatest", "total"), COUNTED)
def test_each_iteration_is_counted(body: str, least: int, greatest: int, total: int) -> None:
    found = [r for r in results(TX + body, grid=(1,), params={"n": 2}) if r.array == "o"][-1]
    assert found.certainty == "exact"
    assert found.sectors is not None
    assert found.totals is not None
    assert (found.sectors.min, found.sectors.max) == (least, greatest)
    assert found.totals.units.exact == total


PICKED = "int q[4]; for (int i = 0; i < 4; i++) q[i] = (i + 2) * tx;"


@pytest.mark.parametrize(
    ("loop", "mean"),
    [
        # strides 2, 3, 4 and 5: 8, 12, 16 and 20 sectors, each as often in a grid of any size
        ("for (int i = 0; i < 4; i++) o[q[i]] = 1;", 14.0),
        # where the later ones may be fewer, nobody knows the mean
        ("for (int i = 0; i < 4 && i < n; i++) o[q[i]] = 1;", None),
        ("for (int i = 0; i < 4; i++) if (n > i) o[q[i]] = 1;", None),
        ("for (int i = 0; i < 4 && n != idx[i]; i++) o[q[i]] = 1;", None),
        ("for (int i = 0; i < 4; i++) { if (n == idx[i]) break; o[q[i]] = 1; }", None),
    ],
)
def test_the_mean_of_iterations_in_a_grid_of_unknown_size(loop: str, mean: float | None) -> None:
    found = [r for r in results(TX + PICKED + loop) if r.array == "o"][-1]
    assert found.certainty == "exact-symbolic"
    assert found.sectors is not None
    assert (found.sectors.min, found.sectors.max, found.sectors.mean) == (8, 20, mean)


def test_lanes_that_data_decides_leave_the_places_of_an_iteration_known() -> None:
    loop = "for (int i = 0; i < 4 && tx != idx[i]; i++) o[q[i]] = 1;"
    found = [r for r in results(TX + PICKED + loop) if r.array == "o"][-1]
    assert found.certainty == "data-dependent"
    assert found.sectors is not None
    assert (found.sectors.min, found.sectors.max, found.sectors.mean) == (1, 20, None)


def test_pointers_are_picked_too() -> None:
    """One element after o and the starts of a and idx: 5, 4 and 4 sectors."""
    body = f"{TX} float *p[3]; p[0] = o + 1; p[1] = (float *)a; p[2] = (float *)idx;"
    body += "for (int i = 0; i < 3; i++) p[i][tx] = 1;"
    found = results(body, grid=(1,))[-1]
    assert found.sectors is not None
    assert (found.sectors.min, found.sectors.max, found.array) == (4, 5, "o|a|idx")
    assert found.totals is not None
    assert found.totals.units.exact == 13


@pytest.mark.parametrize(
    "body",
    [
        # more iterations than are gone through, and a number of them that nobody knows
        "int q[64]; for (int i = 0; i < 64; i++) q[i] = i * tx; o[q[m & 63]] = 1;",
        "int q[4]; for (int i = 0; i < n; i++) q[i & 3] = i * tx; o[q[1]] = 1;",
        f"int q[4]; {EACH} q[i] = idx[tx + i]; {EACH} o[q[i]] = 1;",
    ],
)
def test_what_no_iteration_tells_stays_unknown(body: str) -> None:
    found = [r for r in results(TX + body) if r.array == "o"][-1]
    assert found.certainty == "data-dependent"


def test_a_step_that_differs_between_the_iterations_is_none_of_the_access() -> None:
    alike, differing = (
        [
            r
            for r in results(f"{TX} int q[4]; {EACH} q[i] = {value}; {EACH} o[q[i]] = 1;")
            if r.array == "o"
        ]
        for value in ("2 * tx + i", "tx << i")
    )
    assert [r.lane_stride_bytes for r in alike] == [8]
    assert [r.lane_stride_bytes for r in differing] == [None]


def test_an_access_is_a_broadcast_only_if_every_iteration_is() -> None:
    """Lanes step by 0, 16, 32 and 48 bytes: the first iteration alone is one sector for all."""
    found = results(f"{TX} int q[4]; {EACH} q[i] = 4 * i * tx; {EACH} o[q[i]] = 1;")
    (store,) = (r for r in found if r.array == "o")
    assert store.sectors is not None
    assert (store.sectors.min, store.sectors.max, store.pattern) == (1, 32, "irregular")


def test_one_place_in_and_after_a_loop_is_told_where_it_is(tmp_path: Path) -> None:
    """The same question, asked for an access of single iterations and for one outside."""
    inside, after = _analysed(
        tmp_path,
        """
__global__ void k(float *o) {
    int q[1];
    for (int i = 0; i < 1; i++)
        q[i] = threadIdx.x;
    for (int i = 0; i < 1; i++)
        o[q[i]] = 1;
    o[threadIdx.x] = 1;
}
void run(float *o) { k<<<1, 32>>>(o); }
""",
    )
    assert [bool(r.loops) for r in (inside, after)] == [True, False]


def test_loops_say_that_their_iterations_were_counted_one_by_one(tmp_path: Path) -> None:
    (load, store) = _analysed(
        tmp_path,
        """
__global__ void k(float *o, const float *a) {
    int at[4];
    for (int i = 0; i < 4; i++)
        at[i] = threadIdx.x << i;
    for (int t = 0; t < 9; t++)
        for (int i = 0; i < 4; i++)
            o[at[i]] = a[128 * i + threadIdx.x];
}
void run(float *o, float *a) { k<<<1, 32>>>(o, a); }
""",
    )
    assert store.loops == (
        "loop at line 6 (iteration k6): up to 9 iterations",
        "loop at line 7: 4 iterations, counted one by one (shown: iteration 0)",
    )
    # what the iteration's number tells all about is said for all of them
    assert [text.partition(":")[0] for text in load.loops] == [
        "loop at line 6 (iteration k6)",
        "loop at line 7 (iteration k7)",
    ]


TENSOR = """
struct Dims {{ int size[3], step[3]; }};
__global__ void gather(float *o, const float *a, Dims d)
{{
    int rest = blockIdx.x * blockDim.x + threadIdx.x, at = 0;
    for (int k = 2; k >= 0; k--) {{
        int row = rest / d.size[k];
        at += (rest - row * d.size[k]) * d.step[k];
        rest = row;
    }}
    o[blockIdx.x * blockDim.x + threadIdx.x] = a[at];
}}
void run(float *o, float *a, Dims d) {{ gather<<<64, 256>>>(o, a, d); }}
"""


def test_the_offset_of_a_tensor_is_followed_through_its_dimensions(tmp_path: Path) -> None:
    """Lanes of one row step by the last dimension's step, from 32 bytes on a sector each."""
    (load,) = (r for r in _analysed(tmp_path, TENSOR.format()) if r.array == "a")
    assert (load.lane_stride_bytes, load.pattern) == ("4*d_step_2", "strided")
    assert load.sectors is not None
    assert (load.sectors.min, load.sectors.max) == (32, 32)
    assert load.assumptions == (
        "d.step[2] >= 8",
        "warps whose lanes share (256*blockIdx.x + threadIdx.x) / d.size[2]",
    )
    assert load.verified.simulation == "agrees"


def test_a_step_of_a_tensor_is_no_finding(tmp_path: Path) -> None:
    """Of a tensor's steps the innermost is most often 1, and nobody said that it is not."""
    path = tmp_path / "k.cu"
    path.write_text(TENSOR.format())
    assert not [f for f in coalescecheck.analyze(path).findings if f.rule == "CC101"]


def _analysed(tmp_path: Path, text: str) -> tuple[AccessResult, ...]:
    path = tmp_path / "k.cu"
    path.write_text(text)
    (kernel,) = coalescecheck.analyze(path).kernels
    return tuple(r for r in kernel.accesses if r.space == "global")


def test_what_many_iterations_rely_on_is_told_once() -> None:
    """Sixteen rows and columns of unsigned indices: one line says that none of them wraps."""
    body = f"{TX} unsigned y[4], x[4]; {EACH} {{ y[i] = tx / 16 + i; x[i] = tx % 16 + 16 * i; }}"
    body += f"{EACH} for (int j = 0; j < 4; j++) o[y[i] * w + x[j]] = 1;"
    found = [r for r in results(body, parameters="float *o, int w") if r.array == "o"][-1]
    assert "0 <= unsigned values made of w < 2**32" in found.assumptions
    assert len(found.assumptions) <= 2


def test_what_later_iterations_read_again_needs_no_shared_memory(tmp_path: Path) -> None:
    """Iterations 0, 2, 4 and 6 read the same 32 floats, which a register would keep."""
    path = tmp_path / "k.cu"
    path.write_text(
        """
__global__ void k(const float *a, float *o) {
    int at[8];
    for (int i = 0; i < 8; i++)
        at[i] = threadIdx.x + i % 2 * 32;
    float s = 0;
    for (int i = 0; i < 8; i++)
        s += a[blockIdx.x * 64 + at[i]];
    o[blockIdx.x * 32 + threadIdx.x] = s;
}
void run(float *a, float *o) { k<<<1000, 32>>>(a, o); }
"""
    )
    (kernel,) = coalescecheck.analyze(path).kernels
    (traffic,) = (t for t in kernel.array_traffic if t.name == "a")
    assert traffic.requested.exact == 1000 * 8 * 4
    assert traffic.needed is not None
    assert traffic.needed.exact == 0
