"""Where a kernel's pointers come from: the arrays that an address may lie in.

In: a kernel.  Out: for an expression the arrays whose addresses may be in it.  Control flow is not
regarded, so an address may be said to lie in more arrays than it ever does.
"""

from __future__ import annotations

from collections.abc import Iterable

from coalescecheck.ir.expr import Expr, Var
from coalescecheck.ir.kernel import Assign, Atomic, Kernel, Load, WarpOp, walk
from coalescecheck.ir.mentions import mentions_in
from coalescecheck.ir.per_kernel import per_kernel

_ANYWHERE = "*"  # stands for the arrays that an address of unknown origin may reach


class Origins:
    """The arrays behind the variables of one kernel."""

    def __init__(self, kernel: Kernel) -> None:
        self._mentions = mentions_in(kernel)
        sources: dict[str, list[Expr]] = {}
        self._of: dict[str, set[str]] = {}
        for stmt in walk(kernel.body):
            match stmt:
                case Assign():
                    sources.setdefault(stmt.var.name, []).append(stmt.value)
                case WarpOp():
                    sources.setdefault(stmt.var.name, []).extend(stmt.args)
                case Load():
                    self._may_point(stmt.var, *(var for _, var in stmt.more))
                case Atomic() if stmt.var is not None:
                    self._may_point(stmt.var)
        self._follow(sources)

    def of(self, address: Expr) -> frozenset[str] | None:
        """The arrays that ``address`` may lie in; None for any of them."""
        found = self._found(address)
        return None if _ANYWHERE in found or not found else frozenset(found)

    def known(self, expr: Expr) -> frozenset[str]:
        """The arrays that ``expr`` is known to depend on."""
        return frozenset(self._found(expr) - {_ANYWHERE})

    def _found(self, expr: Expr) -> set[str]:
        found = self._directly(expr)
        found |= {a for n in self._mentions.of(expr).variables for a in self._of.get(n, ())}
        return found

    def of_all(self, addresses: Iterable[Expr]) -> frozenset[str] | None:
        """The arrays that some of the ``addresses`` may lie in; None for any."""
        found: set[str] = set()
        for address in addresses:
            arrays = self.of(address)
            if arrays is None:
                return None
            found |= arrays
        return frozenset(found)

    def _may_point(self, *variables: Var) -> None:
        """These variables were read from memory."""
        for var in variables:
            if var.type.size == 8 and var.type.kind != "float":
                self._of.setdefault(var.name, set()).add(_ANYWHERE)

    def _follow(self, sources: dict[str, list[Expr]]) -> None:
        users: dict[str, list[str]] = {}
        for name, exprs in sources.items():
            for expr in exprs:
                self._of.setdefault(name, set()).update(self._directly(expr))
                for used in self._mentions.of(expr).variables:
                    users.setdefault(used, []).append(name)
        waiting = [name for name, found in self._of.items() if found]
        while waiting:
            name = waiting.pop()
            for user in users.get(name, ()):
                if not self._of[name] <= self._of[user]:
                    self._of[user] |= self._of[name]
                    waiting.append(user)

    def _directly(self, expr: Expr) -> set[str]:
        """The arrays that an expression names; any, where a pointer comes from nowhere."""
        mention = self._mentions.of(expr)
        return {*mention.arrays, _ANYWHERE} if mention.anywhere else set(mention.arrays)


@per_kernel
def origins_in(kernel: Kernel) -> Origins:
    """The origins of the pointers of ``kernel``."""
    return Origins(kernel)
