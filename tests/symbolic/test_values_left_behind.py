"""Values that a ``return`` takes out of a loop: lanes that leave in different iterations differ.

Every case is a device function and the same in Python; a kernel stores at ``f(t) + t`` for the
threads of two warps.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

import coalescecheck

KERNEL = "__global__ void k(float *o) {{ o[f(threadIdx.x) + threadIdx.x] = 1; }}\n"
LAUNCH = "void run(float *o) { k<<<1, 64>>>(o); }\n"
TABLE = "__device__ const int table[8] = {0, 5, 9, 20, 40, 41, 60, 90};\n"


def first(holds: Callable[[int], bool]) -> int:
    return next(k for k in count() if holds(k))


def halved(t: int) -> int:
    x = 100.0
    while x >= t + 1:
        x *= 0.5
    return int(x)


def pairs(t: int) -> int:
    return next(i * 64 + j * 8 for i in range(9) for j in range(9) if i * j > t // 2)


CASES = {
    "for ever": (
        "for (int k = 0;; k++) { if (k * k > t) return k * 64; } return 0;",
        lambda t: 64 * first(lambda k: k * k > t),
    ),
    "while": (
        "int k = 0; while (k < 99) { if (k * k > t) return k * 64; k++; } return -1;",
        lambda t: 64 * first(lambda k: k * k > t),
    ),
    "the same for each warp": (
        "for (int k = 0;; k++) { if (k * k > t / 32) return k * 64; } return 0;",
        lambda t: 64 * first(lambda k: k * k > t // 32),
    ),
    "two loops": (
        "for (int i = 0; i < 9; i++) for (int j = 0; j < 9; j++) if (i * j > t / 2)"
        " return i * 64 + j * 8; return 0;",
        pairs,
    ),
    "a table": (
        "for (int k = 0; k < 8; k++) { int v = table[k]; if (v > t) return v * 16; } return 0;",
        lambda t: 16 * next(v for v in (0, 5, 9, 20, 40, 41, 60, 90) if v > t),
    ),
    "floating point": (
        "float x = 100.0f; for (;;) { if (x < t + 1) return x; x *= 0.5f; } return 0;",
        halved,
    ),
    "through a reference": (
        "int r = 0; [&]() { for (int k = 0;; k++) { r = k * 64; if (k * k > t) return; } }();"
        " return r;",
        lambda t: 64 * first(lambda k: k * k > t),
    ),
    "an index that is first used there": (
        "for (int k = 0;; k++) { int y = threadIdx.x; if (k * k > y) return k * 64 - y; }"
        " return 0;",
        lambda t: 64 * first(lambda k: k * k > t) - t,
    ),
    "the way does not differ": (
        "for (int k = 0;; k++) { if (k * k > 50) return k * 64; } return 0;",
        lambda t: 64 * 8,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_lanes_that_leave_apart_are_not_taken_together(tmp_path: Path, name: str) -> None:
    body, value = CASES[name]
    kind = "float" if name == "floating point" else "int"
    head = f"{TABLE}__device__ {kind} f(int t) {{ {body} }}\n"
    kernel = KERNEL.replace("f(threadIdx.x)", "(int)f(threadIdx.x)").format()
    (tmp_path / "k.cu").write_text(head + kernel + LAUNCH)
    (analysis,) = coalescecheck.analyze(tmp_path / "k.cu").kernels
    (store,) = (a for a in analysis.accesses if a.access.op == "store")
    warps = [range(32), range(32, 64)]
    sectors = [len({(value(t) + t) // 8 for t in warp}) for warp in warps]
    assert store.sectors is not None
    assert store.sectors.min <= min(sectors)
    assert max(sectors) <= store.sectors.max
    if len(set(map(value, range(32)))) == 1:
        assert store.sectors.max <= 5
    assert store.verified.simulation != "disagrees"


def test_pointers_that_are_first_used_there_keep_their_array(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text(
        "__device__ float *f(float *a, float *b, int t) {"
        " for (int k = 0; k < 9; k++) if (k * k > t) return b + t; return a + t; }\n"
        "__global__ void k(float *a, float *b) { *f(a, b, threadIdx.x) = 1; }\n"
        "void run(float *a, float *b) { k<<<1, 64>>>(a, b); }\n"
    )
    (analysis,) = coalescecheck.analyze(tmp_path / "k.cu").kernels
    assert {a.array for a in analysis.accesses} == {"a|b"}
    assert analysis.accesses[0].verified.simulation != "disagrees"
