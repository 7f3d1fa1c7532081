"""What abstract interpretation finds: where each access points and when it runs."""

from __future__ import annotations

from dataclasses import dataclass, field

from coalescecheck.source import Span
from coalescecheck.symbolic.fits import Fit
from coalescecheck.symbolic.form import Form


@dataclass(slots=True)
class LoopInfo:
    """One loop on the way to an access.

    ``counter`` is the id of the symbol that counts iterations from 0.  ``limit`` bounds the
    number of iterations (None: unknown).  ``entry`` are the conditions tested when an iteration
    starts, ``carry`` those that must hold in an iteration for later ones to run (breaks not
    taken, a ``do`` loop's test); ``carry`` is complete only when the whole loop has been
    interpreted.  ``steady`` says that ``entry`` holds in all earlier iterations wherever it
    holds in one.
    """

    counter: int
    span: Span
    limit: int | None = None
    entry: tuple[Form, ...] = ()
    carry: list[Form] = field(default_factory=list)
    steady: bool = True


@dataclass(frozen=True, slots=True)
class Turn:
    """Iteration ``number``, from 0, of a loop that is gone through one by one, at most ``of``.
    ``depth`` is the number of other loops, with a :class:`LoopInfo`, around it."""

    span: Span
    number: int
    of: int
    depth: int


@dataclass(frozen=True, slots=True)
class Reach:
    """One piece of one access, as one generic thread reaches it.

    ``address`` holds one base symbol (kind ``base``) and the byte offset from it; ``path``
    are the truth values that must be 1, ``loops`` the loops around, outermost first, ``fits`` the
    unsigned values that are taken not to wrap.  ``turns`` are loops around of which this is one
    iteration, outermost first; they are not among the ``loops``.
    """

    access: int
    piece: int
    address: Form
    path: tuple[Form, ...]
    loops: tuple[LoopInfo, ...]
    fits: tuple[Fit, ...] = ()
    turns: tuple[Turn, ...] = ()
