"""What the parser could not read: inside kernels, and kernels it lost.

In: a unit and the kernels found in it.  Out: diagnostics.  It must not know how kernels are
rewritten.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tree_sitter import Node

from coalescecheck.frontend.kernel_heads import GLOBAL, defined_name
from coalescecheck.frontend.rewrite import KernelDecl
from coalescecheck.frontend.rewrite.syntax import faults
from coalescecheck.frontend.unit import Unit
from coalescecheck.source import Diagnostic

_MAX_PER_KERNEL = 5


def syntax_errors(unit: Unit, kernel: Node) -> list[Diagnostic]:
    """The first unreadable places inside a kernel."""
    found: list[Diagnostic] = []
    for node in faults(kernel):
        what = f"`{node.type}` is missing here" if node.is_missing else _excerpt(unit, node)
        message = f"syntax error: {what}; numbers near it may be missing"
        found.append(Diagnostic(unit.span(node), "error", message))
        if len(found) == _MAX_PER_KERNEL:
            break
    return found


def lost_kernels(unit: Unit, kernels: Sequence[KernelDecl]) -> list[Diagnostic]:
    """One error for every kernel definition in the text that no found kernel stands for."""
    ranges = sorted((k.node.start_byte, k.node.end_byte) for k in kernels)
    special = {k.name.rsplit("::", 1)[-1] for k in kernels if k.specialisations}
    lost: list[Diagnostic] = []
    defined = list(definitions(unit))
    claimed: set[int] = set()
    for start, end in ranges:
        # A kernel's own `__global__` is the first in it; further ones it has swallowed.
        own = next((at for at, _ in defined if start <= at < end and at not in claimed), None)
        if own is not None:
            claimed.add(own)
    for at, name in defined:
        if at not in claimed and name not in special:  # specialisations come with their kernel
            span = unit.locate(at)
            message = f"kernel {name} at line {span.line} could not be read".replace("  ", " ")
            lost.append(Diagnostic(span, "error", message))
    return lost


def _excerpt(unit: Unit, node: Node) -> str:
    text = " ".join(unit.source(node).split())
    return f"`{text[:40]}{'...' if len(text) > 40 else ''}` is not understood"


def definitions(unit: Unit) -> Iterator[tuple[int, str]]:
    """Offset and name of each ``__global__`` function that has a body, or a head that never ends
    and so may have had one."""
    for match in GLOBAL.finditer(unit.code):
        node = unit.tree.root_node.descendant_for_byte_range(*match.span())
        if node is not None and node.type.startswith("string"):
            continue  # source for a run-time compiler
        name = defined_name(unit.code, match.end())
        if name is not None:
            yield match.start(), name
