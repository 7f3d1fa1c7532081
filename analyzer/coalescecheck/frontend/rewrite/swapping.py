"""``std::swap``: two objects exchange their values.

In: the two arguments.  Out: three copies in C; None where a class says how it is copied, or an
argument has effects (it is written three times).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tree_sitter import Node

from coalescecheck.frontend.rewrite import types
from coalescecheck.frontend.rewrite.emit import plain
from coalescecheck.frontend.rewrite.env import Env
from coalescecheck.frontend.rewrite.ex import PRIMARY, Ex
from coalescecheck.frontend.rewrite.operators import HAS_EFFECT

if TYPE_CHECKING:
    from coalescecheck.frontend.rewrite.session import Session


def swap(session: Session, arguments: list[Ex], node: Node, env: Env) -> Ex | None:
    """``swap(a, b)`` as ``t = a, a = b, b = t``."""
    if len(arguments) != 2 or not all(a.lvalue and not a.type.const for a in arguments):
        return None
    a, b = arguments
    known = types.is_arithmetic(a.type) or isinstance(a.type, types.Pointer | types.Record)
    if not known or a.type != b.type or any(HAS_EFFECT.search(plain(e.piece)) for e in arguments):
        return None
    if isinstance(a.type, types.Record):
        methods = (a.type.layout.shown, "operator=")
        if any(session.records.copies(a.type, method) for method in methods):
            return None
    kept = Ex(session.temporary(a.type), a.type, PRIMARY, lvalue=True)
    steps = [
        session.operators.assign("=", target, value, node, node, env)
        for target, value in ((kept, a), (a, b), (b, kept))
    ]
    done = session.expressions.sequence(session.expressions.sequence(*steps[:2]), steps[2])
    return replace(done, type=types.VOID, lvalue=False, address=None)
