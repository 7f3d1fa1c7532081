"""Loads, stores, atomics, warp operations, contents nobody gave, and what is not allowed."""

from __future__ import annotations

import numpy as np
import pytest
from ir_builder import BX, TX, KernelBuilder, assign, launch, var, wrap

from coalescecheck.ir.expr import ArrayBase, Var
from coalescecheck.ir.kernel import Atomic, Barrier, If, Load, Loop, Op, Space, Store, WarpOp
from coalescecheck.ir.types import F32, I8, I32, I64, PTR, U32
from coalescecheck.simulate import MADE_UP, simulate

R, V = var("r"), var("v", F32)


@pytest.fixture
def k():
    builder = KernelBuilder()
    builder.array("out", kind=I32)
    return builder


def out_of(k, *body, block=(32,), grid=(1,), **buffers):
    kernel = k.kernel(*body, k.store("out", BX * block[0] + TX, R))
    out = np.zeros(block[0] * grid[0], np.int32)
    done = simulate(kernel, launch(block, grid), buffers={"out": out, **buffers})
    return done.buffers["out"].tolist(), done


@pytest.mark.parametrize(
    ("op", "operands", "start", "old", "after"),
    [
        ("add", [2], 5, [5, 7, 9, 11], 13),
        ("sub", [2], 5, [5, 3, 1, -1], -3),
        ("min", [3], 5, [5, 3, 3, 3], 3),
        ("max", [9], 5, [5, 9, 9, 9], 9),
        ("exch", [TX], 5, [5, 0, 1, 2], 3),
        ("cas", [5, 8], 5, [5, 8, 8, 8], 8),
        ("inc", [6], 5, [5, 6, 0, 1], 2),
        ("dec", [6], 1, [1, 0, 6, 5], 4),
        ("or", [8], 5, [5, 13, 13, 13], 13),
        ("and", [4], 5, [5, 4, 4, 4], 4),
        ("xor", [1], 5, [5, 4, 5, 4], 5),
    ],
)
def test_atomics_apply_lane_after_lane(k, op, operands, start, old, after):
    k.array("cell", kind=I32)
    got, done = out_of(
        k, k.atomic(op, "cell", 0, *operands, into=R), block=(4,), cell=np.array([start], np.int32)
    )
    assert got == old
    assert done.buffers["cell"].tolist() == [after]


@pytest.mark.parametrize("op", ["add", "min", "max", "or"])
def test_atomics_without_a_result_change_the_same_memory(k, op):
    k.array("cell", kind=I32)
    cell = np.array([6, 6], np.int32)
    _, done = out_of(k, assign(R, 0), k.atomic(op, "cell", TX % 2, TX), cell=cell)
    function = {"add": np.add, "min": np.minimum, "max": np.maximum, "or": np.bitwise_or}[op]
    want = [function.reduce([6, *range(parity, 32, 2)]) for parity in (0, 1)]
    assert done.buffers["cell"].tolist() == want


def test_a_shared_histogram_counts_and_serialises_by_bank(k):
    k.shared("bins", 8, kind=I32)
    body = (k.atomic("add", "bins", TX % 8, 1), Barrier("block"), k.load(R, "bins", TX % 8))
    got, done = out_of(k, *body)
    assert got == [4] * 32
    assert done.traces[0].wavefronts.tolist() == [4]
    assert done.races == ()


@pytest.mark.parametrize(
    ("op", "args", "expected"),
    [
        pytest.param("shfl", [TX, 3, 32], [3] * 32, id="a broadcast"),
        pytest.param("shfl", [TX, 9, 8], [t // 8 * 8 + 1 for t in range(32)], id="in segments"),
        pytest.param("shfl_down", [TX, 1, 16],
                     [t if t % 16 == 15 else t + 1 for t in range(32)], id="down"),
        pytest.param("shfl_up", [TX, 2, 32], [t if t < 2 else t - 2 for t in range(32)], id="up"),
        pytest.param("shfl_xor", [TX, 5, 32], [t ^ 5 for t in range(32)], id="butterfly"),
        pytest.param("ballot", [TX < 4], [15] * 32, id="ballot"),
        pytest.param("any", [TX.eq(7)], [1] * 32, id="any"),
        pytest.param("all", [TX < 31], [0] * 32, id="all"),
        pytest.param("activemask", [], [-1] * 32, id="active mask"),
        pytest.param("reduce_add", [TX], [496] * 32, id="sum"),
        pytest.param("reduce_max", [TX], [31] * 32, id="maximum"),
        pytest.param("reduce_min", [TX], [0] * 32, id="minimum"),
        pytest.param("block_count", [TX < 5], [5] * 32, id="count over the block"),
        pytest.param("block_and", [TX < 5], [0] * 32, id="and over the block"),
        pytest.param("block_or", [TX < 5], [1] * 32, id="or over the block"),
    ],
)  # fmt: skip
def test_lanes_exchange_values(k, op, args, expected):
    exchange = WarpOp(R.expr, op, tuple(wrap(arg).expr for arg in args))
    got, done = out_of(k, exchange)
    assert got == expected
    assert done.complete


def test_votes_see_only_lanes_that_take_part(k):
    vote = WarpOp(R.expr, "reduce_add", (TX.expr,))
    got, _ = out_of(k, assign(R, 0), If((TX < 3).expr, (vote,), ()))
    assert got == [3, 3, 3] + [0] * 29


def test_a_vector_load_is_one_request_and_reads_all_its_scalars(k):
    k.array("in", kind=I32)
    y = var("y")
    load = k.load(R, "in", TX, width=8, more=((4, y.expr),))
    data = np.arange(64, dtype=np.int32)
    got, done = out_of(k, load, assign(R, R * 100 + y), **{"in": data})
    assert got == [2 * t * 100 + 2 * t + 1 for t in range(32)]
    assert done.traces[0].sectors.tolist() == [8]


def test_a_vector_store_writes_all_its_scalars():
    k = KernelBuilder()
    k.array("out", kind=I32)
    store = k.store("out", TX, TX, width=8, more=((4, (TX * 10).expr),))
    done = simulate(k.kernel(store), launch((4,)), buffers={"out": np.zeros(8, np.int32)})
    assert done.buffers["out"].tolist() == [0, 0, 1, 10, 2, 20, 3, 30]
    assert done.traces[0].sectors.tolist() == [1]


def test_local_arrays_belong_to_each_thread_and_are_interleaved(k):
    k.array("mine", Space.LOCAL, I32, 32, dims=(8,))
    got, done = out_of(k, k.store("mine", 3, TX), k.load(R, "mine", 3))
    assert got == list(range(32))
    assert done.traces[0].sectors.tolist() == [4]
    assert done.traces[0].lines.tolist() == [1]
    _, done = out_of(k, k.store("mine", TX % 8, TX), assign(R, 0))
    assert done.traces[3].sectors.tolist() == [32]


def test_each_block_has_its_own_shared_memory(k):
    k.shared("s", 32, kind=I32)
    body = (
        If(BX.eq(0).expr, (k.store("s", TX, TX + 1),), ()),
        Barrier("block"),
        k.load(R, "s", TX),
    )
    got, _ = out_of(k, *body, grid=(2,))
    assert got == [*range(1, 33), *[0] * 32]


def test_constant_tables_have_their_values_and_count_distinct_addresses(k):
    k.array("table", Space.CONSTANT, I32, 16, values=(4, 3, 2, 1))
    got, done = out_of(k, k.load(R, "table", TX % 4))
    assert got == [4, 3, 2, 1] * 8
    assert done.traces[0].wavefronts.tolist() == [4]


def test_contents_nobody_gave_are_small_repeatable_and_marked(k):
    k.array("in", kind=I32)
    k.array("b", kind=F32)
    body = (k.load(R, "in", TX), k.load(V, "b", R))
    got, done = out_of(k, *body)
    again, _ = out_of(k, *body)
    assert got == again
    assert all(0 <= value < 64 for value in got)
    assert len(set(got)) > 8
    assert [t.any_taint for t in done.traces] == [0, MADE_UP, 0]


def test_what_a_kernel_wrote_to_such_memory_is_read_back(k):
    k.array("temp", kind=I32)
    got, done = out_of(k, k.store("temp", TX * 1000, TX + 7), k.load(R, "temp", TX * 1000))
    assert got == [t + 7 for t in range(32)]
    assert done.complete


def test_made_up_contents_stay_marked_through_shared_memory(k):
    k.array("in", kind=I32)
    k.shared("s", 32, kind=I32)
    k.shared("clean", 64, kind=I32)
    x = var("x")
    body = (
        k.store("clean", TX, TX),
        k.load(x, "in", TX),
        k.store("s", TX, x),
        Barrier("block"),
        k.load(x, "s", TX),
        k.load(R, "clean", x),
        k.load(x, "clean", TX),
        k.load(R, "clean", x),
    )
    _, done = out_of(k, *body)
    assert [t.any_taint for t in done.traces] == [0, 0, 0, 0, MADE_UP, 0, 0, 0]


def test_loaded_pointers_lead_to_an_aligned_array_of_their_own():
    k = KernelBuilder()
    k.array("rows", kind=PTR, pointee="float")
    p = var("p", PTR)
    k.load(p, "rows", 0)
    access = k.access(Op.LOAD, 4)
    kernel = k.kernel(
        k.load(p, "rows", BX),
        Load(access, 0, V.expr, (p + wrap(TX).to(I64) * 4).expr),
    )
    done = simulate(kernel, launch((32,), (2,)))
    assert done.traces[access].arrays == ("*rows",)
    assert done.traces[access].sectors.tolist() == [4, 4]


def test_a_known_offset_of_a_launch_moves_the_pointer(k):
    k.array("in", kind=F32)
    kernel = k.kernel(k.load(V, "in", TX))
    shifted = simulate(kernel, launch((32,), offsets=(("in", 4),)), keep_addresses=True)
    assert shifted.traces[0].sectors.tolist() == [5]
    assert shifted.traces[0].addresses[0, :3].tolist() == [4, 8, 12]
    unknown = simulate(kernel, launch((32,), offsets=(("in", None),)))
    assert unknown.traces[0].any_taint


def test_out_of_bounds_accesses_are_counted_with_an_example(k):
    k.array("in", kind=I32)
    data = np.arange(30, dtype=np.int32)
    got, done = out_of(k, k.load(R, "in", TX), **{"in": data})
    (found,) = done.out_of_bounds
    assert (found.access, found.count, found.array, found.offset) == (0, 2, "in", 120)
    assert found.thread == 30
    assert got[:30] == list(range(30))


def test_writes_before_an_array_are_out_of_bounds_and_change_nothing(k):
    out = np.zeros(4, np.int32)
    kernel = k.kernel(k.store("out", TX - 1, 5))
    done = simulate(kernel, launch((4,)), buffers={"out": out})
    assert done.buffers["out"].tolist() == [5, 5, 5, 0]
    assert done.out_of_bounds[0].offset == -4


def test_misaligned_wide_accesses_are_told(k):
    k.array("in", kind=F32)
    number = k.access(Op.LOAD, 16, kind="vector")
    address = (wrap(TX).to(I64) * 4).expr
    load = Load(number, 0, V.expr, (var("b", PTR) + var("o", I64)).expr)
    body = (
        assign(var("b", PTR), type(V)(ArrayBase("in"))),
        assign(var("o", I64), type(V)(address)),
        load,
    )
    done = simulate(k.kernel(*body), launch((32,)))
    assert [(h.access, h.count) for h in done.misaligned] == [(number, 24)]


def test_bytes_of_one_word_share_a_bank(k):
    k.shared("s", 128, kind=I8)
    kernel = k.kernel(k.store("s", TX, wrap(1).to(I8)))
    done = simulate(kernel, launch((32,)))
    assert done.traces[0].wavefronts.tolist() == [1]


def test_dynamic_shared_memory_follows_the_static_arrays(k):
    k.array("dyn", Space.SHARED, I32, None, dynamic=True)
    k.shared("s", 3, kind=I32)
    kernel = k.kernel(k.store("dyn", TX, TX), k.store("s", TX % 3, 0))
    done = simulate(kernel, launch((32,), shared_bytes=64), keep_addresses=True)
    assert done.traces[0].arrays == ("dyn",)
    assert done.out_of_bounds[0].count == 16
    assert done.traces[1].arrays == ("s",)


def test_the_interleaved_reduction_costs_what_was_measured():
    """256 threads; per step s the 8 warps' lanes with tid % (2s) == 0 add s[tid + s]; the
    addresses of hardware tables S130-S137, in the form index = 2*s*tid."""
    k = KernelBuilder()
    k.shared("s", 256, kind=I32)
    step, i, a, b = var("step"), var("i"), var("a"), var("b")
    add = (k.load(a, "s", i + step), k.load(b, "s", i), k.store("s", i, a + b))
    kernel = k.kernel(
        k.store("s", TX, 1),
        Barrier("block"),
        assign(step, 1),
        Loop(
            "l", (), (step < 256).expr,
            (assign(i, step * 2 * TX), If((i < 256).expr, add, ()), Barrier("block")),
            (assign(step, step * 2),),
        ),
    )  # fmt: skip
    done = simulate(kernel, launch((256,)))
    load = done.traces[1]
    seen = list(zip(load.active.tolist(), load.wavefronts.tolist(), strict=True))
    # step 1 has four full warps, 2 two, 4 one; then 16, 8, 4, 2, 1 lanes of one warp
    assert seen == [(32, 2)] * 4 + [(32, 4)] * 2 + [(32, 8)] + [
        (16, 8), (8, 8), (4, 4), (2, 2), (1, 1),
    ]  # fmt: skip
    assert done.races == ()


def test_an_unknown_pointer_is_no_certain_error(k):
    kernel = k.kernel(Store(k.access(Op.STORE, 4), 0, Var("p", PTR), TX.expr))
    done = simulate(kernel, launch((32,)))
    assert done.out_of_bounds == ()
    assert done.traces[0].any_taint
    assert done.traces[0].arrays == ("",)
    assert "unknown values decide" in done.reason


def test_an_atomic_on_a_vector_changes_each_scalar():
    k = KernelBuilder()
    k.array("out", kind=I32)
    number = k.access(Op.ATOMIC, 8, atomic_op="add", kind="red")
    stmt = Atomic(number, None, "add", k.address("out", 0, 8), (wrap(1).expr, wrap(10).expr))
    done = simulate(k.kernel(stmt), launch((32,)), buffers={"out": np.zeros(2, np.int32)})
    assert done.buffers["out"].tolist() == [32, 320]


def test_a_loop_bound_from_made_up_data_marks_only_the_loop(k):
    k.array("in", kind=I32)
    n, i = var("n"), var("i")
    loop = Loop("l", (), (i < n).expr, (k.load(R, "in", i),), (assign(i, i + 1),))
    body = (k.load(n, "in", TX), assign(i, 0), loop, assign(R, TX))
    _, done = out_of(k, *body)
    marks = {t.any_taint for t in done.traces}
    assert marks == {0, MADE_UP}
    assert [bool(t.any_taint) for t in done.traces] == [True, False, False]


def test_unsigned_thread_arithmetic_wraps(k):
    wide = wrap(TX).to(U32) - wrap(1, U32)
    got, _ = out_of(k, assign(R, (wide / wrap(2**31, U32)).to(I32)))
    assert got == [1] + [0] * 31
