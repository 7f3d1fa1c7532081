"""``std::swap``: two objects exchange their values.

In: the two arguments.  Out: three copies in C; None where a class says how it is copied, or where
an argument has effects or reads memory to find its object (it is written twice).
"""

from __future__ import annotations

import re
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

# loads on the way to an object, but for its own: elements, members and `*p`, not `2 * n`
_STEPS = re.compile(r"\[|->|(?:^|[-(\[,=+*&|!~<>?:])\s*\*")


def swap(session: Session, arguments: list[Ex], node: Node, env: Env) -> Ex | None:
    """``swap(a, b)`` as ``t = a, a = b, b = t``."""
    if not _is_plain(session, arguments):
        session.say(node, "warning", "what `swap` stores here is not seen", hides=True)
        return None
    a, b = arguments
    kept = Ex(session.temporary(a.type), a.type, PRIMARY, lvalue=True)
    steps = [
        session.operators.assign("=", target, value, node, node, env)
        for target, value in ((kept, a), (a, b), (b, kept))
    ]
    done = session.expressions.sequence(session.expressions.sequence(*steps[:2]), steps[2])
    return replace(done, type=types.VOID, lvalue=False, address=None)


def _is_plain(session: Session, arguments: list[Ex]) -> bool:
    """Whether C copies such objects, which may be named several times."""
    if len(arguments) != 2 or not all(a.lvalue and not a.type.const for a in arguments):
        return False
    kind, texts = arguments[0].type, [plain(each.piece) for each in arguments]
    if kind != arguments[1].type:
        return False
    if any(HAS_EFFECT.search(text) or len(_STEPS.findall(text)) > 1 for text in texts):
        return False
    if not isinstance(kind, types.Record):
        return types.is_arithmetic(kind) or isinstance(kind, types.Pointer)
    records = session.records
    own = any(records.copies(kind, method) for method in (kind.layout.shown, "operator="))
    return not (own or any(records.parts_say_how(kind, m) for m in ("", "operator=")))
