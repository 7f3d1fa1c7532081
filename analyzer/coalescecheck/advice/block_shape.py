"""Blocks of another shape with as many threads, for kernels that only use positions in the grid."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from coalescecheck import wording
from coalescecheck.advice.axes import builtins_used, is_positional
from coalescecheck.advice.trial import Change, Subject, all_known, worth_trying
from coalescecheck.launch import Dim3, Launch

WIDTHS = (32, 64, 128, 256)  # threads along x: a warp in one row


def changes(subject: Subject) -> Iterator[Iterator[Change]]:
    """Wider and flatter blocks, where a grid of them covers exactly the same threads."""
    block = subject.launch.block
    if block is None or not worth_trying(subject.accesses, "global"):
        return
    if subject.launch.assumed:  # nobody knows what block there is to change
        return
    if "threadIdx.y" not in builtins_used(subject.kernel) or not all_known(subject.accesses):
        return
    if is_positional(subject.kernel):
        yield _shapes(subject, block)


def _shapes(subject: Subject, block: Dim3) -> Iterator[Change]:
    threads = block.x * block.y
    for width in WIDTHS:
        if width == block.x or threads % width:
            continue
        shape = Dim3(width, threads // width, block.z)
        launch = _covering(subject.launch, shape)
        if launch is None:
            continue
        name = wording.dims(shape)
        yield Change(
            "block",
            "",
            f"block {name}",
            f"launch with block {name} instead of {wording.dims(block)}",
            subject.kernel,
            launch,
            frozenset(a.access.id for a in subject.accesses),
        )


def _covering(launch: Launch, shape: Dim3) -> Launch | None:
    """The launch with blocks of this shape; None where it would have more or other threads."""
    block, grid = launch.block, launch.grid
    if block is None or grid is None:
        return replace(launch, block=shape)
    width, height = grid.x * block.x, grid.y * block.y
    if width % shape.x or height % shape.y:
        return None
    return replace(launch, block=shape, grid=Dim3(width // shape.x, height // shape.y, grid.z))
