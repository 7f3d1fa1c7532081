"""The variables and arrays that expressions mention: each expression is looked through once."""

from __future__ import annotations

from dataclasses import dataclass

from coalescecheck.ir.expr import ArrayBase, Call, Expr, Undefined, Var, children
from coalescecheck.ir.kernel import Kernel
from coalescecheck.ir.per_kernel import per_kernel


@dataclass(frozen=True, slots=True)
class Mention:
    """Names of the variables that are read and of the arrays whose addresses are taken;
    ``anywhere`` if some address in it comes from nowhere."""

    variables: frozenset[str]
    arrays: frozenset[str]
    anywhere: bool


class Mentions:
    """Answers for the expressions of one kernel."""

    def __init__(self) -> None:
        # by identity: hashing a tree costs more than looking through it; the tree is kept alive
        self._known: dict[int, tuple[Expr, Mention]] = {}

    def of(self, expr: Expr) -> Mention:
        """What ``expr`` mentions."""
        known = self._known.get(id(expr))
        if known is None:
            known = self._known[id(expr)] = (expr, mentioned(expr))
        return known[1]


@per_kernel
def mentions_in(kernel: Kernel) -> Mentions:
    """The mentions in all expressions of ``kernel``."""
    return Mentions()


_NOTHING = Mention(frozenset(), frozenset(), False)


def mentioned(expr: Expr) -> Mention:
    """What ``expr`` mentions; whoever asks often has :class:`Mentions`."""
    variables: list[str] = []
    arrays: list[str] = []
    anywhere = False
    waiting = [expr]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Var):
            variables.append(one.name)
        elif isinstance(one, ArrayBase):
            arrays.append(one.array)
        else:
            if isinstance(one, Call | Undefined) and one.type.kind == "ptr":
                anywhere = True
            waiting += children(one)
    if not variables and not arrays and not anywhere:
        return _NOTHING
    return Mention(frozenset(variables), frozenset(arrays), anywhere)
