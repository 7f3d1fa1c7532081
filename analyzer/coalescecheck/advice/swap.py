"""The two axes of a kernel exchanged, so that neighbouring lanes walk along the other one.

``threadIdx.x`` and ``.y``, ``blockIdx``, ``blockDim`` and ``gridDim`` change places everywhere, and
so do the sizes of the launch: every thread keeps its work, only the warps are others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from coalescecheck import wording
from coalescecheck.advice.axes import builtins_used, is_of_warps
from coalescecheck.advice.rewriting import with_leaves
from coalescecheck.advice.trial import Change, Subject, all_known, worth_trying
from coalescecheck.ir.expr import Builtin, Expr
from coalescecheck.launch import Dim3

SWAPPED = {"x": "y", "y": "x"}
GRID_LIMIT = 65535  # blocks along y (CUDA C++ Programming Guide, "Technical Specifications")


def changes(subject: Subject) -> Iterator[Iterator[Change]]:
    """The exchanged kernel, where both axes are used and no warp communicates."""
    if not worth_trying(subject.accesses, "global") or not all_known(subject.accesses):
        return
    used = builtins_used(subject.kernel)
    block, grid = subject.launch.block, subject.launch.grid
    if not {"threadIdx.x", "threadIdx.y"} <= used or is_of_warps(subject.kernel):
        return
    if (block is None or min(block.x, block.y) > 1) and (grid is None or grid.x <= GRID_LIMIT):
        yield iter([_change(subject)])


def _change(subject: Subject) -> Change:
    kernel = replace(subject.kernel, body=with_leaves(subject.kernel.body, _other_axis))
    old = subject.launch
    launch = replace(
        old,
        block=None if old.block is None else _swapped(old.block),
        grid=None if old.grid is None else _swapped(old.grid),
    )
    names = "`threadIdx.x` and `threadIdx.y` swapped"
    change, described = names, "swap x and y of `threadIdx`, `blockIdx` and the launch's sizes"
    if launch.block is not None and launch.block != old.block:
        shape = wording.dims(launch.block)
        change += f" and block {shape}"
        described += f" (block {shape})"
    return Change(
        "swap",
        "",
        change,
        described,
        kernel,
        launch,
        frozenset(a.access.id for a in subject.accesses),
    )


def _other_axis(leaf: Expr) -> Expr:
    if not isinstance(leaf, Builtin):
        return leaf
    name, _, axis = leaf.name.partition(".")
    return replace(leaf, name=f"{name}.{SWAPPED[axis]}") if axis in SWAPPED else leaf


def _swapped(size: Dim3) -> Dim3:
    return Dim3(size.y, size.x, size.z)
