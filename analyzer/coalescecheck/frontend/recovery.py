"""One kernel that cannot be parsed must not cost the others.

In: a unit whose tree misses kernels that the text defines.  Out: a unit in which the kernels
that confuse the parser are blanked out, and what was wrong with each of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import tree_sitter_cuda
from tree_sitter import Language, Node, Parser

from coalescecheck.frontend.rewrite import KernelDecl, find_kernels
from coalescecheck.frontend.syntax_errors import definitions, lost_kernels
from coalescecheck.frontend.unit import Unit
from coalescecheck.source import Diagnostic, Span

_ROUNDS = 8  # kernels blanked out in one file
# Where people begin the next declaration, or end the function: in the first column.
_NEXT = re.compile(
    rb"\n(?:(?P<end>\})|(?=template\b|__global__|__device__|__host__|static\b|extern\b|struct\b"
    rb"|class\b|namespace\b|typedef\b|using\b|inline\b|constexpr\b|const\b|void\b|bool\b|int\b"
    rb"|float\b|double\b|unsigned\b))"
)


@dataclass(frozen=True, slots=True)
class Damaged:
    """A kernel that was blanked out: its name, its place, and the first syntax error in it."""

    name: str
    span: Span
    error: Diagnostic


def isolate_damage(unit: Unit) -> tuple[Unit, tuple[KernelDecl, ...], tuple[Damaged, ...]]:
    """Blank out kernels with syntax errors until no healthy kernel is lost, if that helps.

    The unit comes with the kernels that are found in it.
    """
    damaged: list[Damaged] = []
    kernels = find_kernels(unit)
    missing = len(lost_kernels(unit, kernels))
    while missing and len(damaged) < _ROUNDS:
        culprit = _culprit(unit)
        if culprit is None:
            break
        start, name, fault = culprit
        candidate = _blanked(unit, start)
        healthy = find_kernels(candidate)
        left = len(lost_kernels(candidate, healthy))
        if left >= missing:
            break
        message = f"syntax error in {f'kernel {name}' if name else 'a kernel'}: it is left out"
        error = Diagnostic(unit.locate(fault), "error", message)
        damaged.append(Damaged(name or "(unnamed)", unit.locate(start), error))
        unit, kernels, missing = candidate, healthy, left
    return unit, kernels, tuple(damaged)


def _culprit(unit: Unit) -> tuple[int, str, int] | None:
    """Start and name of the kernel that holds the first syntax error after its head, and where
    that is."""
    starts = list(definitions(unit))
    for fault in _faults(unit.tree.root_node):
        before = [(at, name) for at, name in starts if at <= fault.end_byte]
        if before:
            inside = [(at, name) for at, name in before if at <= fault.start_byte]
            inner = (inside or before[:1])[-1]
            outer = _around(unit, starts, inner)
            return *outer, max(inner[0], fault.start_byte) if outer == inner else inner[0]
    return None


def _around(
    unit: Unit, starts: Sequence[tuple[int, str]], inner: tuple[int, str]
) -> tuple[int, str]:
    """The outermost kernel whose body ``inner`` stands in, for want of a brace; or that itself."""
    cursor = unit.tree.walk()  # down: to go up once costs the grammar's library the way down
    while cursor.goto_first_child_for_byte(inner[0]) is not None:
        node = cursor.node
        if node is None or node.start_byte > inner[0]:
            break
        body = node.child_by_field_name("body") if node.type == "function_definition" else None
        if body is not None:
            heads = [s for s in starts if node.start_byte <= s[0] < body.start_byte]
            if heads:
                return heads[0]
    return inner


def _faults(node: Node) -> Iterator[Node]:
    """Unreadable places, in the order of the text."""
    left = [node]
    while left:
        node = left.pop()
        if node.is_error or node.is_missing:
            yield node
        if node.has_error:
            left += reversed(node.children)


def _blanked(unit: Unit, start: int) -> Unit:
    """The unit without the function at ``start``; line ends stay."""
    body = unit.code.find(b"{", start)
    others = [at for at, _ in definitions(unit) if start < at < body]
    if others:  # this one has no body
        end = others[0]
    else:
        match = _NEXT.search(unit.code, body if body >= 0 else start)
        end = len(unit.code) if match is None else match.end()
    blank = re.sub(rb"[^\n]", b" ", unit.code[start:end])
    code = unit.code[:start] + blank + unit.code[end:]
    return replace(unit, code=code, tree=Parser(Language(tree_sitter_cuda.language())).parse(code))
