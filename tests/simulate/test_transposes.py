"""The published transposes: N = 512, block 32x8, each block a 32x32 tile, four rows a thread."""

from __future__ import annotations

import time

import numpy as np
import pytest
from ir_builder import BX, BY, TX, TY, KernelBuilder, assign, launch, var

from coalescecheck.ir.kernel import Barrier, Loop
from coalescecheck.ir.types import F32
from coalescecheck.simulate import simulate

N, TILE, ROWS = 512, 32, 8


def rows_loop(label, j, *body):
    """``for (j = 0; j < TILE; j += ROWS) body``"""
    return (
        assign(j, 0),
        Loop(label, (), (j < TILE).expr, body, (assign(j, j + ROWS),)),
    )


def direct(transposed):
    k = KernelBuilder()
    k.array("out")
    k.array("in")
    x, y, j, v = var("x"), var("y"), var("j"), var("v", F32)
    target = x * N + (y + j) if transposed else (y + j) * N + x
    return k.kernel(
        assign(x, BX * TILE + TX),
        assign(y, BY * TILE + TY),
        *rows_loop("r", j, k.load(v, "in", (y + j) * N + x), k.store("out", target, v)),
    )


def tiled(pitch, barrier=True):
    k = KernelBuilder()
    k.array("out")
    k.array("in")
    k.shared("tile", TILE, pitch)
    x, y, j, v = var("x"), var("y"), var("j"), var("v", F32)
    return k.kernel(
        assign(x, BX * TILE + TX),
        assign(y, BY * TILE + TY),
        *rows_loop(
            "in", j,
            k.load(v, "in", (y + j) * N + x),
            k.store("tile", (TY + j) * pitch + TX, v),
        ),
        *((Barrier("block"),) if barrier else ()),
        assign(x, BY * TILE + TX),
        assign(y, BX * TILE + TY),
        *rows_loop(
            "out", j,
            k.load(v, "tile", TX * pitch + (TY + j)),
            k.store("out", (y + j) * N + x, v),
        ),
    )  # fmt: skip


def run(kernel):
    source = np.arange(N * N, dtype=np.float32).reshape(N, N)
    where = launch((TILE, ROWS), (N // TILE, N // TILE))
    return source, simulate(kernel, where, buffers={"in": source, "out": np.zeros_like(source)})


@pytest.mark.parametrize(
    ("kernel", "transposed", "read", "written", "wavefronts"),
    [
        pytest.param(direct(False), False, 32_768, 32_768, [], id="copy"),
        pytest.param(direct(True), True, 32_768, 262_144, [], id="naive transpose"),
        pytest.param(tiled(32), True, 32_768, 32_768, [1, 32], id="tile of 32 by 32"),
        pytest.param(tiled(33), True, 32_768, 32_768, [1, 1], id="tile of 32 by 33"),
    ],
)
def test_a_transpose_costs_what_is_published(kernel, transposed, read, written, wavefronts):
    source, done = run(kernel)
    assert done.complete
    assert np.array_equal(done.buffers["out"], source.T if transposed else source)
    assert done.traces[0].sectors.sum() == read
    assert done.traces[-1].sectors.sum() == written
    assert [t.requests for t in done.traces] == [N * N // 32] * len(done.traces)
    assert [set(t.wavefronts.tolist()) for t in done.traces[1:-1]] == [{w} for w in wavefronts]
    assert done.races == ()
    assert done.out_of_bounds == ()


def test_a_forgotten_barrier_is_a_read_after_write_and_right_in_lockstep():
    source, done = run(tiled(33, barrier=False))
    assert np.array_equal(done.buffers["out"], source.T)
    assert {(r.array, r.first, r.second, r.kind, r.certain) for r in done.races} == {
        ("tile", 1, 2, "RAW", True)
    }
    assert done.traces[2].arrays == ("tile",)


def test_all_five_transposes_take_little_time():
    start = time.process_time()
    for kernel in (direct(False), direct(True), tiled(32), tiled(33), tiled(33, False)):
        run(kernel)
    assert time.process_time() - start < 4  # about one second on an idle machine
