"""Where counts rely on unsigned arithmetic of unknown sizes that does not wrap.

``operators.settle`` takes an unsigned 32-bit value that has no known bound to be in range.  Most
of the time a wrap would change nothing: 2**32 elements are a whole number of lines, so ``n + i``
has its sectors either way, and so have its low bits and ``(n + i) / 8``.  It matters where a value
is divided by another number or compared, and where a size scales the lanes (``i * n``).  There the
result names what it takes to hold.

Block indices of an unknown grid and loop counters are not named: see docs/memory_model.md.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from coalescecheck.ir.types import ScalarType
from coalescecheck.symbolic.form import ZERO, Context, Form
from coalescecheck.symbolic.render import UNWRITTEN
from coalescecheck.symbolic.written import Written

MOST = 4  # of an access are written out
LONGEST = 100  # characters; a longer value is named by the sizes in it
UNHARMED = 20  # bits that can be shifted out: what is left of 2**32 is a whole number of lines
UNNAMED = ("data", "header")  # kinds of symbols that have no name in the source
ABOVE, BELOW = "< 2**32", ">= 0"
SMALLER = ("< 2**24", "< 2**23")  # what __umul24 and __mul24 take
NOT_NULL = "!= nullptr"
SAME = "is the same for all threads"  # of a name that nothing declares


@dataclass(frozen=True, slots=True)
class Fit:
    """A value that is taken to be at least 0 (``low``) and less than 2**32 (``high``); ``short``
    if it is of 32 bits.  With ``pointer`` that parameter, which is taken not to be null.  With
    ``within`` a value whose distance from 0 is taken to be less than that power of 2."""

    form: Form
    low: bool
    high: bool
    short: bool
    pointer: str = ""
    within: int = 0

    def text(self, ctx: Context, written: Written) -> str:
        """What is taken to hold, in words."""
        if self.pointer:
            return f"{self.pointer} {NOT_NULL}"
        symbols = [s for _, s in ctx.symbols(self.form)]
        text = written.text(self.form)
        if self.within:
            return f"abs({text}) < 2**{self.within}"
        if len(text) > LONGEST or UNWRITTEN in text or any(s.kind in UNNAMED for s in symbols):
            sizes = sorted({s.name for s in symbols if s.kind == "param"})
            held = "do not wrap" if self.low else f"stay {ABOVE}"
            return f"unsigned values made of {', '.join(sizes)} {held}"
        if not self.high:
            return f"{text} {BELOW}"
        return f"0 <= {text} {ABOVE}" if self.low else f"{text} {ABOVE}"


def said(ctx: Context, written: Written, fits: Iterable[Fit]) -> list[str]:
    """What is taken to hold; where that is much, what the sizes are of which it is."""
    texts = {fit.text(ctx, written): fit for fit in fits}
    many = {
        text: fit for text, fit in texts.items() if not (fit.pointer or fit.within or "-" in text)
    }
    if len(many) <= MOST:
        return list(texts)
    sizes = {s.name for f in many.values() for _, s in ctx.symbols(f.form) if s.kind == "param"}
    least = "0 <= " if any(fit.low for fit in many.values()) else ""
    names = f" made of {', '.join(sorted(sizes))}" if sizes else ""
    return [*(t for t in texts if t not in many), f"{least}unsigned values{names} {ABOVE}"]


def widest(ctx: Context, fits: Iterable[Fit]) -> list[Fit]:
    """The fits without those that follow from another: ``n*i`` fits where ``n*i + 1`` does."""
    kept: list[Fit] = []
    for fit in dict.fromkeys(fits):
        if not any(_follows(ctx, fit, other) for other in kept):
            kept = [other for other in kept if not _follows(ctx, other, fit)]
            kept.append(fit)
    return kept


def _follows(ctx: Context, fit: Fit, other: Fit) -> bool:
    if fit.pointer or fit.low or fit.within or other.within or not other.high:
        return False
    least = ctx.bounds(other.form - fit.form)[0]
    return least is not None and least >= 0


def met_by_small_sizes(assumption: str) -> bool:
    """Whether the assumption is one of these that sizes of some dozens meet, with pointers to real
    arrays: not ``i - n >= 0``."""
    fits = assumption.endswith((ABOVE, *SMALLER, BELOW)) and "-" not in assumption
    return fits or assumption.endswith((NOT_NULL, SAME))


Found = dict[Fit, bool]  # whether a wrap would matter


class Fits:
    """Collects the fits of one expression after the other; variables keep theirs."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._here: Found = {}
        self._of: dict[str, Found] = {}
        self._decided: dict[Form, tuple[Fit, ...]] = {}
        self._lost: dict[Fit, None] = {}  # without which conditions read here would be other ones

    # --- while an expression is read ----------------------------------------------------------

    def took(self, form: Form, type_: ScalarType) -> None:
        """``form`` is used as a value of ``type_`` without being reduced to it."""
        if type_.kind != "uint" or type_.bits < 32 or form.is_constant:
            return
        low, high = self._ctx.bounds(form)
        if low is not None and (high is not None or type_.bits > 32):
            return  # no size times what else there is comes near 2**64
        unbounded = [s for _, s in self._ctx.symbols(form) if s.low is None or s.high is None]
        alone = len(unbounded) == 1 and form in map(self._ctx.symbol, unbounded)  # of 32 bits
        if any(s.kind == "param" for s in unbounded) and (low is None or not alone):
            short = type_.bits == 32
            fit = Fit(form, low is None, high is None and not alone and short, short)
            self._here.setdefault(fit, False)

    def cut(self, form: Form, bits: int) -> None:
        """What is more than ``bits`` of ``form`` is taken to be nothing."""
        low, high = self._ctx.bounds(form)
        symbols = [s for _, s in self._ctx.symbols(form) if s.low is None or s.high is None]
        if (low is None or high is None) and any(s.kind == "param" for s in symbols):
            self._here[Fit(form, low=False, high=True, short=False, within=bits)] = True

    def points(self, names: Iterable[str]) -> None:
        """These pointers are taken not to be null."""
        self._here |= {Fit(ZERO, False, False, False, name): True for name in names}

    def became(self, condition: Form) -> None:
        """What has been read here became ``condition``.  Where that no longer names the sizes of a
        fit, nothing else tells of it: ``(int)max(i - n, 3u) > 0`` is just true."""
        if not (self._here and any(self._here.values())):
            return
        left = self._ctx.leaves(condition)
        for fit, matters in self._here.items():
            symbols = self._ctx.symbols(fit.form)
            if matters and any(s.kind == "param" and g not in left for g, s in symbols):
                self._lost[fit] = None

    def unsaid(self) -> tuple[Fit, ...]:
        """What the condition that was read takes to hold without showing it."""
        return tuple(self._lost | {fit: None for fit in self._here if fit.pointer})

    def apart(self) -> Found:
        """Another expression begins beside the one so far, which ``beside`` comes back to."""
        before, self._here = self._here, {}
        return before

    def beside(self, before: Found) -> None:
        """Both expressions are read."""
        if before:
            after, self._here = self._here, before
            self._add(after)

    def read(self, name: str) -> None:
        """A variable is read."""
        if self._of:
            self._add(self._of.get(name, {}))

    def matters(self) -> None:
        """What has been read here is used in a way that a wrap would change."""
        self._here = dict.fromkeys(self._here, True)

    def scales(self, form: Form) -> None:
        """``form`` is widened: with a size times a lane's own number a wrap would change it."""
        if self._here and any(self._is_scaled(monomial) for monomial in form.terms):
            self.matters()

    def goes_on(self) -> None:
        """What has been read here is added to or multiplied in more bits.  The lanes on both sides
        of the place where 32 bits wrap are then no longer at the ends of lines."""
        for fit in self._here:
            if fit.short and self._ctx.varying(fit.form):
                self._here[fit] = True

    def _is_scaled(self, monomial: tuple[int, ...]) -> bool:
        form = Form({monomial: 1})
        return self._ctx.varying(form) and None in self._ctx.bounds(form)

    def before(self) -> Found:
        """What has been read so far, to come back to."""
        return dict(self._here)

    def forget(self, since: Found) -> None:
        """What was read since is held in a signed type: see docs/memory_model.md.  What already
        matters was used before that: ``(int)max(i - n, 3u)``."""
        self._here = since | {fit: True for fit, matters in self._here.items() if matters}

    def _add(self, found: Found) -> None:
        for fit, matters in found.items():
            self._here[fit] = matters or self._here.get(fit, False)

    # --- between expressions ------------------------------------------------------------------

    def start(self, checked: Iterable[Fit] = ()) -> None:
        """Another statement begins, which is reached only where ``checked`` hold."""
        self._here, self._lost = dict.fromkeys(checked, True), dict.fromkeys(checked)

    def assigned(self, name: str) -> None:
        """The expression became the value of a variable."""
        if self._here:
            known, self._here = self._here, dict(self._of.get(name, {}))
            self._add(known)
            self._of[name] = self._here

    def relies(self, name: str, fits: Iterable[Fit]) -> None:
        """What a variable holds depends on ``fits``."""
        self._of[name] = {**self._of.get(name, {}), **dict.fromkeys(fits, True)}

    def decided(self, conditions: Iterable[Form]) -> None:
        """The expression was a condition."""
        if self._here:
            self._decided |= dict.fromkeys(conditions, tuple(self._here))

    def relied_on(self, path: Iterable[Form]) -> tuple[Fit, ...]:
        """What an address that was just read relies on; ``path`` are conditions that bound a
        size by themselves."""
        found = dict.fromkeys(fit for fit, matters in self._here.items() if matters)
        if self._decided:
            for condition in path:
                found |= dict.fromkeys(self._decided.get(condition, ()))
        return tuple(found)
