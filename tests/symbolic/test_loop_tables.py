"""Loops counted by hand: how often an access runs, and what its requests cost.

Every number is worked out in the comment beside it; a sector is 8 floats.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import pytest
from summaries import Shape, count, results

TX = "int tx = threadIdx.x;"
SHARED = "[[cuda::shared]] float d[256];"


@dataclass(frozen=True)
class Row:
    """``array`` has one access with operation ``op`` in ``body``."""

    sentence: str
    body: str
    array: str
    requests: int
    least: int
    greatest: int
    total: int  # the mean is total / requests
    block: Shape = (32,)
    grid: Shape = (1,)
    n: int = 0
    op: str = "store"


def _aligned_steps(steps: int) -> int:
    x, aligned = 1, 0
    for _ in range(steps):
        x = (x * 1664525 + 1013904223) % 2**32
        aligned += (x >> 24) % 8 == 0
    return aligned


LCG_ALIGNED = _aligned_steps(20)
ROWS = [
    Row(
        # 16 8 4 2 1 -> st = 32: a row of its own for each of 32 lanes
        "what a loop of halves leaves behind is known, too",
        f"{TX} int st = 1; for (int d = n / 2; d > 0; d >>= 1) st *= 2; o[tx * st] = 1;",
        "o",
        requests=1,
        least=32,
        greatest=32,
        total=32,
        n=32,
    ),
    Row(
        # up from 1 to 16, then down: 16 and 8 touch 32 sectors, 4 touches 16, 2 touches 8, 1 four
        "a loop of halves goes on where one of doubles has ended",
        f"{TX} int st = 1; while (2 * st <= n) st *= 2;"
        " for (int d = 1; d <= n; d *= 2) { o[tx * st] = 1; st >>= 1; }",
        "o",
        requests=5,
        least=4,
        greatest=32,
        total=92,
        n=16,
    ),
    Row(
        # st is 4 after the loop: bytes 16 .. 143
        "a value that a loop leaves behind is known when it is used",
        f"{TX} int st = 1; for (int i = 0; i < 5; i++) st = 4; o[tx + st] = 1;",
        "o",
        requests=1,
        least=5,
        greatest=5,
        total=5,
    ),
    Row(
        # iterations 0, 2, 4 write neighbouring words, 1 and 3 every second one
        "two buffers take turns, whatever else the loop sets",
        f"{SHARED} {TX} int b = 0, c = 9; for (int i = 0; i < 5; i++) "
        "{ d[128 * b + tx * (1 + b)] = c; b ^= 1; c = 3; }",
        "d",
        requests=5,
        least=1,
        greatest=2,
        total=3 + 2 * 2,
    ),
    Row(
        # 64 floats wide once, then 32 floats wide
        "the first iteration is told from the others by a flag",
        f"{TX} int first = 1; for (int i = 0; i < n; i++) "
        "{ o[tx * (first ? 2 : 1)] = 1; first = 0; }",
        "o",
        requests=5,
        least=4,
        greatest=8,
        total=8 + 4 * 4,
        n=5,
    ),
    Row(
        "a halving reduction keeps whole rows of banks: 4 + 2 + 1 warps, then 5 partial ones",
        f"{SHARED} {TX} for (int s = blockDim.x / 2; s > 0; s >>= 1) "
        "{ if (tx < s) d[tx] = a[tx + s]; __syncthreads(); }",
        "d",
        requests=12,
        least=1,
        greatest=1,
        total=12,
        block=(256,),
    ),
    Row(
        # strides of 2, 4, 8, 16, 32 … words: 4 requests of 2, 2 of 4, then 8 (32 lanes),
        # 8 (16 lanes in 2 banks), 8 (8 lanes in 1), 4, 2, 1
        "a doubling reduction conflicts as the published profile says",
        f"{SHARED} {TX} for (int s = 1; s < blockDim.x; s *= 2) "
        "{ int i = 2 * s * tx; if (i < blockDim.x) d[i] = 1; __syncthreads(); }",
        "d",
        requests=12,
        least=1,
        greatest=8,
        total=4 * 2 + 2 * 4 + 8 + 8 + 8 + 4 + 2 + 1,
        block=(256,),
    ),
    Row(
        # 300 floats: 9 warps of 4 sectors and 12 lanes in 2
        "a grid-stride loop has one partial warp at its tail",
        "for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; "
        "i += blockDim.x * gridDim.x) o[i] = 1;",
        "o",
        requests=10,
        least=2,
        greatest=4,
        total=9 * 4 + 2,
        block=(64,),
        grid=(2,),
        n=300,
    ),
    Row(
        # offsets of 0, 132 and 264 bytes
        "a do loop runs its body before its test",
        f"{TX} int i = 0; do {{ o[tx + i * 33] = 1; i++; }} while (i < 3);",
        "o",
        requests=3,
        least=4,
        greatest=5,
        total=4 + 5 + 5,
    ),
    Row(
        "a do loop whose test fails at once runs once",
        f"{TX} int i = 9; do {{ o[tx] = 1; i++; }} while (i < n);",
        "o",
        requests=1,
        least=4,
        greatest=4,
        total=4,
        n=3,
    ),
    Row(
        "a break that all lanes take ends the loop",
        f"{TX} for (int i = 0;; i++) {{ if (i >= 5) break; o[i * 32 + tx] = 1; }}",
        "o",
        requests=5,
        least=4,
        greatest=4,
        total=20,
    ),
    Row(
        # lanes 8-31, 16-31, 24-31, then none
        "a break that some lanes take leaves the others running",
        f"{TX} for (int i = 0; i < 4; i++) {{ if (tx < 8 * (i + 1)) break; o[tx] = 1; }}",
        "o",
        requests=3,
        least=1,
        greatest=3,
        total=3 + 2 + 1,
    ),
    Row(
        "a triangular nest runs 1 + 2 + 3 + 4 times",
        f"{TX} for (int i = 0; i < 4; i++) for (int j = 0; j <= i; j++) "
        "o[(4 * i + j) * 8 + tx] = 1;",
        "o",
        requests=10,
        least=4,
        greatest=4,
        total=40,
    ),
    Row(
        # iteration j: lanes j+1 … 31, so 7 times 4 sectors, 8 times 3, 2 and 1
        "a loop up to the lane's number loses a lane in every iteration",
        f"{TX} for (int j = 0; j < tx; j++) o[j * 32 + tx] = 1;",
        "o",
        requests=31,
        least=1,
        greatest=4,
        total=7 * 4 + 8 * (3 + 2 + 1),
    ),
    Row(
        # offset 0, 4, 0 bytes
        "pointers that swap alternate between two alignments",
        f"{TX} float *p = o, *q = o + 1; for (int k = 0; k < 3; k++) "
        "{ p[tx] = 1; float *t = p; p = q; q = t; }",
        "o",
        requests=3,
        least=4,
        greatest=5,
        total=4 + 5 + 4,
    ),
    Row(
        # i = 8 and 9: 96 and 108 bytes
        "a remainder loop goes on where the unrolled one stopped",
        f"{TX} int i = 0; for (; i + 4 <= n; i += 4) __syncthreads(); "
        "for (; i < n; i++) o[i * 3 + tx] = 1;",
        "o",
        requests=2,
        least=4,
        greatest=5,
        total=4 + 5,
        n=10,
    ),
    Row(
        # 0, 132, 264, 396 bytes
        "a pointer that is bumped walks on",
        f"{TX} float *p = o + tx; for (int k = 0; k < 4; k++) {{ *p = 1; p += 33; }}",
        "o",
        requests=4,
        least=4,
        greatest=5,
        total=4 + 5 + 5 + 5,
    ),
    Row(
        # lanes 0-31, 0-23, 0-7
        "a return in a loop takes its lanes out of all later iterations",
        f"{TX} for (int i = 0; i < 3; i++) {{ if (tx + i * 16 >= 40) return; o[tx] = 1; }}",
        "o",
        requests=3,
        least=1,
        greatest=4,
        total=4 + 3 + 1,
    ),
    Row(
        # i = 0 and 2: 0 and 8 bytes
        "a continue skips every other iteration",
        f"{TX} for (int i = 0; i < 4; i++) {{ if (i & 1) continue; o[tx + i] = 1; }}",
        "o",
        requests=2,
        least=4,
        greatest=5,
        total=4 + 5,
    ),
    Row(
        # 7, 4, 1
        "a loop may count down in threes",
        f"{TX} for (int i = 7; i >= 0; i -= 3) o[tx + i] = 1;",
        "o",
        requests=3,
        least=5,
        greatest=5,
        total=15,
    ),
    Row(
        "a decrement in the test counts down to zero",
        f"{TX} for (unsigned i = 3; i-- > 0;) o[tx + i * 8] = 1;",
        "o",
        requests=3,
        least=4,
        greatest=4,
        total=12,
    ),
    Row(
        # i = 0 … 4
        "two counters meet in the middle",
        f"{TX} for (int i = 0, j = 10; i < j; i++, j--) o[tx + 8 * (j - i)] = 1;",
        "o",
        requests=5,
        least=4,
        greatest=4,
        total=20,
    ),
    Row(
        "every warp may have its own number of iterations",
        f"{TX} for (int i = 0; i < (tx >> 5) + 1; i++) o[tx] = 1;",
        "o",
        requests=1 + 2 + 3,
        least=4,
        greatest=4,
        total=24,
        block=(96,),
    ),
    Row(
        "a loop that never starts makes no request; the access after it runs",
        f"{TX} for (int i = 5; i < n; i++) d[i] = 1; o[tx + n] = 1;".replace("d[i]", "o[tx + n]"),
        "o",
        requests=1,
        least=5,
        greatest=5,
        total=5,
        n=3,
    ),
    Row(
        # rows of 4 words: a column of 8 rows wraps the banks once, 32 lanes on 8 banks
        "a tile filled row by row and read by columns",
        "[[cuda::shared]] float t[32][36]; int x = threadIdx.x, y = threadIdx.y; "
        "for (int j = 0; j < 32; j += 8) o[x] = t[x][y + j];",
        "t",
        requests=32,
        least=4,
        greatest=4,
        total=128,
        block=(32, 8),
        op="load",
    ),
    Row(
        # all 32 bits, one by one; 1, 2 and 4 words from a sector's start in three iterations
        "a bit runs through an unsigned word until it falls out",
        f"{TX} for (unsigned s = 1; s != 0; s <<= 1) o[tx + (s & 7)] = 1;",
        "o",
        requests=32,
        least=4,
        greatest=5,
        total=3 * 5 + 29 * 4,
    ),
    Row(
        # 2**31 as an int is below 0: one word from a sector's start in the last iteration
        "a bit may come to the sign of an int in a loop that something else ends",
        f"{TX} int m = 1; for (int i = 0; i < 32; i++) {{ o[tx + (m < 0)] = 1; m <<= 1; }}",
        "o",
        requests=32,
        least=4,
        greatest=5,
        total=5 + 31 * 4,
    ),
    Row(
        # q >> 40 is 1, 2, 4 in iterations 40, 41, 42 and else a multiple of 8
        "64-bit numbers grow beyond 32 bits",
        f"{TX} long long q = 1; for (int i = 0; i < 50; i++) {{ o[tx + (q >> 40)] = 1; q *= 2; }}",
        "o",
        requests=50,
        least=4,
        greatest=5,
        total=3 * 5 + 47 * 4,
    ),
    Row(
        # the high byte of x is a multiple of 8 in LCG_ALIGNED of the 20 steps
        "a congruential generator wraps at every step",
        f"{TX} unsigned x = 1; for (int i = 0; i < 20; i++) "
        "{ x = x * 1664525u + 1013904223u; o[tx + (x >> 24)] = 1; }",
        "o",
        requests=20,
        least=4,
        greatest=5,
        total=20 * 5 - LCG_ALIGNED,
    ),
    Row(
        # 250 .. 255, then 0 .. 3: all even offsets but the multiples of 8 start inside a sector
        "a byte wraps at 256",
        f"{TX} unsigned char c = 250; for (int i = 0; i < 10; i++) {{ o[tx + c] = 1; c += 1; }}",
        "o",
        requests=10,
        least=4,
        greatest=5,
        total=9 * 5 + 4,
    ),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.sentence)
def test_a_loop_is_counted_as_by_hand(row: Row) -> None:
    found = [
        r
        for r in results(row.body, block=row.block, grid=row.grid, params={"n": row.n, "m": 0})
        if r.array == row.array and r.access.op.value == row.op and r.requests != 0
    ]
    assert len(found) == 1
    assert found[0].certainty == "exact"
    assert found[0].requests == row.requests
    counted = count(found[0])
    assert (counted.min, counted.max) == (row.least, row.greatest)
    assert counted.mean == pytest.approx(float(Fraction(row.total, row.requests)))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.sentence)
def test_without_parameters_the_counts_still_cover_the_truth(row: Row) -> None:
    for found in results(row.body, block=row.block, grid=row.grid):
        counted = found.wavefronts or found.sectors
        same = found.array == row.array and found.access.op.value == row.op
        if same and counted is not None and not found.assumptions:
            assert counted.min <= row.least
            assert row.greatest <= counted.max


def test_two_buffers_that_take_turns_need_no_known_end() -> None:
    body = f"{SHARED} {TX} int b = 0, c = 9; for (int i = 0; i < n; i++) "
    body += "{ d[128 * b + tx] = c; b ^= 1; c = 3; __syncthreads(); }"
    (found,) = (r for r in results(body) if r.array == "d")
    assert found.certainty == "exact-symbolic"
    assert (count(found).min, count(found).max) == (1, 1)


def test_iterations_of_a_loop_that_overflows_nothing_are_all_counted() -> None:
    """Unsigned numbers wrap, 64 bits hold 3**39, and an ``int`` that no test reads ends nothing."""
    for start, step in (
        ("unsigned s = 1", "s = s * 1664525u + 1013904223u"),
        ("long long s = 1", "s *= 3"),
        ("int s = 1", "s *= 3"),
        ("unsigned long long s = 1", "s = s * 6364136223846793005ull + 1"),
    ):
        body = f"{TX} {start}; for (int k = 0; k < 40; k++) {{ {step}; o[32 * k + tx] = s; }}"
        (found,) = (r for r in results(body, grid=(1,)) if r.array == "o")
        assert (found.requests, found.certainty) == (40, "exact"), start


def test_more_requests_than_can_be_added_up_are_no_number() -> None:
    """2**31 iterations three deep are 2**93 requests; every one of them is coalesced."""
    loop = "for (unsigned {0} = 0; {0} < 0x7fffffff; ++{0}) "
    body = f"{TX} " + "".join(loop.format(name) for name in "ijk") + "o[tx] = 1;"
    (found,) = (r for r in results(body, grid=(4,)) if r.array == "o")
    assert found.requests is None or found.requests == 4 * 0x7FFFFFFF**3
    assert found.totals is None or found.totals.units.min >= 0
    assert found.sectors is not None
    assert found.sectors.min <= 4 <= found.sectors.max


def test_code_behind_a_loop_that_ends_by_wrapping_runs() -> None:
    body = "for (unsigned long i = 3; i + 1 > 0; i--) o[i] = 1; n = a[threadIdx.x];"
    (found,) = (r for r in results(body, grid=(1,)) if r.array == "a")
    assert (found.certainty, found.requests, count(found).max) == ("exact", 1, 4)


def test_a_bit_that_is_shifted_out_does_not_come_back() -> None:
    """4000000000 * 2 is 3705032704 modulo 2**32; half of it is 1852516352, which stays: the top
    byte is 238 and then 110, so the lanes step by 238 and then by 110 floats."""
    body = f"{TX} unsigned x = 4000000000u; for (int k = 0; k < 3; k++, x = x * 2u >> 1) "
    body += "o[tx * ((x >> 24) == 238 ? 8 : 1)] = 1;"
    (found,) = (r for r in results(body, grid=(1,)) if r.array == "o")
    assert found.totals is not None
    assert (found.totals.units.min, found.totals.units.max) == (32 + 4 + 4, 32 + 4 + 4)
