"""What reports say of an access: address and lane step in SymPy's syntax, guards and loops as the
source has them.
"""

from __future__ import annotations

from collections.abc import Iterable

from coalescecheck.symbolic.form import Context, Form
from coalescecheck.symbolic.pattern import Stride
from coalescecheck.symbolic.reach import Reach, Turn
from coalescecheck.symbolic.render import Renderer
from coalescecheck.symbolic.written import Written

LIMIT = 2000  # characters; a longer expression helps nobody


class Texts:
    """The texts of one kernel; ``symbols`` and ``written`` agree on the names."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self.symbols = Renderer(ctx)
        self.written = Written(self.symbols)
        self._guards: dict[Form, str] = {}  # the accesses of one place have the same

    def address(self, address: Form) -> str | None:
        """The address in bytes, None where it is too long to be read."""
        text = self.symbols.text(address)
        return text if len(text) <= LIMIT else None

    def stride(self, stride: Stride) -> int | str | None:
        """The lane step in bytes; what lies between members of unknown size is not known."""
        if not isinstance(stride, Form):
            return stride
        if any(s.name.startswith("sizeof(") for _, s in self._ctx.symbols(stride)):
            return None
        return self.symbols.text(stride)

    def guards(self, path: Iterable[Form]) -> tuple[str, ...]:
        """The conditions under which an access runs."""
        known = self._guards
        return tuple(known.get(guard) or self._guard(guard) for guard in path)

    def _guard(self, guard: Form) -> str:
        text = self.written.condition(guard)
        text = text if len(text) <= LIMIT else text[:LIMIT] + " …"
        self._guards[guard] = text
        return text

    @staticmethod
    def loops(reach: Reach) -> tuple[str, ...]:
        """The loops around an access, outermost first."""
        texts = [_loop(info.span.line, info.limit) for info in reach.loops]
        for turn in reversed(reach.turns):
            texts.insert(turn.depth, _turn(turn))
        return tuple(texts)


def _loop(line: int, limit: int | None) -> str:
    times = "unknown number of" if limit is None else f"up to {limit}"
    return f"loop at line {line} (iteration k{line}): {times} iterations"


def _turn(turn: Turn) -> str:
    of = f"{turn.of} iterations" if turn.of > 1 else "1 iteration"
    shown = f"(shown: iteration {turn.number})"
    return f"loop at line {turn.span.line}: {of}, counted one by one {shown}"
