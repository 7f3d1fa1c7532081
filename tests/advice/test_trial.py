"""A change counts only if its kernel is counted, simulated and free of new races."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from trying import analysed, numbers

from coalescecheck import frontend, lower
from coalescecheck.advice.rewriting import with_addresses, with_bodies
from coalescecheck.advice.trial import Change, Subject, tried
from coalescecheck.frontend.kernel_c import KernelC
from coalescecheck.ir.expr import Binary, Builtin, Cast, Const, Expr
from coalescecheck.ir.kernel import Atomic, Barrier, Kernel, Load, Store
from coalescecheck.ir.types import I64, PTR, U32
from coalescecheck.launch import Dim3, Launch
from coalescecheck.symbolic import summarize

FLIP = """
__global__ void flip(float *out, const float *in)
{
    __shared__ float tile[32][32];
    tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
"""
LAUNCH = Launch(Dim3(32, 32), Dim3(1), "cli")


@pytest.fixture
def source(tmp_path: Path) -> KernelC:
    path = tmp_path / "flip.cu"
    path.write_text(FLIP, encoding="utf-8")
    (kernel,) = frontend.load(str(path)).kernels
    return kernel


def subject(source: KernelC, simulated: bool = True) -> Subject:
    kernel = lower.lower(source)
    accesses = summarize(kernel, LAUNCH, {}).accesses
    return Subject(source, kernel, LAUNCH, {}, {}, accesses, simulated=simulated)


def change(of: Subject, kernel: Kernel) -> Change:
    wanted = frozenset(a.access.id for a in of.accesses)
    return Change("pad", "tile", "a change", "change it", kernel, LAUNCH, wanted, amount=1)


def padded(of: Subject) -> Kernel:
    return lower.lower(of.source, pads={"tile": 1})


def without_barrier(of: Subject) -> Kernel:
    kernel = padded(of)
    body = with_bodies(kernel.body, lambda body: (s for s in body if not isinstance(s, Barrier)))
    return replace(kernel, body=body)


def with_data_for_an_address(of: Subject) -> Kernel:
    """The output goes where a value that was loaded says."""
    kernel = padded(of)

    def moved(stmt: Load | Store | Atomic) -> Expr:
        if isinstance(stmt, Store) and stmt.access == 3:
            return Binary("+", stmt.address, Cast(stmt.value, I64), PTR)
        return stmt.address

    return replace(kernel, body=with_addresses(kernel.body, moved))


def with_strided_output(of: Subject) -> Kernel:
    kernel = padded(of)
    step = Binary("*", Cast(Builtin("threadIdx.x", U32), I64), Const(I64, 28), I64)

    def moved(stmt: Load | Store | Atomic) -> Expr:
        return Binary("+", stmt.address, step, PTR) if stmt.access == 3 else stmt.address

    return replace(kernel, body=with_addresses(kernel.body, moved))


def test_the_pad_itself_helps(source: KernelC) -> None:
    of = subject(source)
    trial = tried(of, [change(of, padded(of))])
    assert trial is not None
    assert trial.helps
    assert trial.before == {0: 4, 1: 1, 2: 32, 3: 4}
    assert trial.after == {0: 4, 1: 1, 2: 1, 3: 4}


def test_a_change_that_brings_a_race_is_dropped(source: KernelC) -> None:
    of = subject(source)
    assert tried(of, [change(of, without_barrier(of))]) is None


@pytest.mark.parametrize("made", [with_data_for_an_address, with_strided_output])
def test_a_change_that_spoils_another_access_does_not_help(
    source: KernelC, made: Callable[[Subject], Kernel]
) -> None:
    of = subject(source)
    trial = tried(of, [change(of, made(of))])
    assert trial is not None
    assert trial.after[2] < trial.before[2]
    assert trial.after[3] == 32
    assert not trial.helps


def test_the_next_best_is_taken_where_the_simulation_refutes_the_best(source: KernelC) -> None:
    of = subject(source)
    poor = replace(change(of, lower.lower(source, pads={"tile": 2})), change="two")
    best = tried(of, [poor, change(of, without_barrier(of))])
    assert best is not None
    assert best.change == "two"
    assert best.after[2] == 2


def test_nothing_is_proposed_where_an_access_is_not_seen(tmp_path: Path) -> None:
    whole = analysed(tmp_path, "// coalescecheck: block(32,32) grid(1)" + FLIP)
    assert numbers(whole, "pad") != {}
    text = "void other(float *);\n// coalescecheck: block(32,32) grid(1)" + FLIP.replace(
        "__syncthreads();", "__syncthreads(); other(in + 1);"
    )
    part = analysed(tmp_path, text.replace("const ", ""))
    assert part.status == "partial"
    assert part.trials == ()
