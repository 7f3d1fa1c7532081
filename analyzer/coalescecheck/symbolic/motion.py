"""How an address moves when one index goes up by one: read off its terms, nothing is evaluated.

In: questions as ``question`` prepares them.  Out: the ``Motion`` of an access, by which the rules
tell the causes of a bad pattern apart.
"""

from __future__ import annotations

from math import gcd

from coalescecheck.analysis import Motion
from coalescecheck.symbolic.form import Context, Form, Symbol
from coalescecheck.symbolic.question import Question
from coalescecheck.symbolic.render import Renderer

AXES = ("threadIdx.x", "threadIdx.y", "threadIdx.z")
Step = int | str | None


class Motions:
    """The motions of one kernel's accesses."""

    def __init__(self, ctx: Context, renderer: Renderer) -> None:
        self._ctx, self._renderer = ctx, renderer
        self._groups: dict[Form, int] = {}

    def of(self, questions: list[Question]) -> Motion | None:
        """The motion of an access's first piece; None where copies of it move differently."""
        first, *others = questions
        motion = self._motion(first)
        same = first.reach.piece
        copies = (q for q in others if q.reach.piece == same)
        return motion if all(self._motion(copy) == motion for copy in copies) else None

    def _motion(self, question: Question) -> Motion:
        """What a loaded value in the address changes with is not known, so no step is either."""
        address, loops = question.reach.address, question.reach.loops
        known = not any(s.kind == "data" for _, s in self._ctx.symbols(address))
        rest = Form({m: c for m, c in address.terms.items() if m})
        steps = tuple(self._step(address, info.counter) if known else None for info in loops)
        moving = [i.counter for i, step in zip(loops, steps, strict=True) if step != 0]
        divisor = gcd(question.base_step, self._divisor(rest, None))
        return Motion(
            threads=self._threads(address) if known else (None, None, None),
            loops=steps,
            trips=tuple(info.limit for info in loops),
            offset=address.constant,
            group=self._groups.setdefault(rest, len(self._groups)),
            divisor=divisor,
            start=gcd(question.base_step, self._divisor(rest, moving[-1])) if moving else divisor,
        )

    def _threads(self, address: Form) -> tuple[Step, Step, Step]:
        own = {s.name: g for g, s in self._ctx.symbols(address) if s.kind in ("tid", "row")}
        x, y, z = (self._step(address, own[axis]) if axis in own else 0 for axis in AXES)
        return x, y, z

    def _step(self, address: Form, g: int) -> Step:
        """The change of the address when the symbol ``g`` goes up by one, if it is one value."""
        ctx, terms = self._ctx, {}
        for monomial, coefficient in address.terms.items():
            if monomial.count(g) == 1:
                at = monomial.index(g)
                terms[monomial[:at] + monomial[at + 1 :]] = coefficient
            if monomial.count(g) > 1 or any(h != g and g in self._inside(h) for h in monomial):
                return None
        step = Form(terms)
        if step.is_constant:
            return step.constant
        return None if ctx.varying(step) else self._renderer.text(step)

    def _inside(self, h: int) -> frozenset[int]:
        """The symbols of an atom."""
        if isinstance(self._ctx.generators[h], Symbol):
            return frozenset()
        return self._ctx.leaves(Form({(h,): 1}))

    def _divisor(self, rest: Form, counter: int | None) -> int:
        """What divides all terms but the base address and those with ``counter``."""
        fixed = {
            m: c
            for m, c in rest.terms.items()
            if counter not in self._ctx.leaves(Form({m: c})) and not self._is_base(m)
        }
        return self._ctx.multiple_of(Form(fixed))

    def _is_base(self, monomial: tuple[int, ...]) -> bool:
        generator = self._ctx.generators[monomial[0]]
        return len(monomial) == 1 and isinstance(generator, Symbol) and generator.kind == "base"
