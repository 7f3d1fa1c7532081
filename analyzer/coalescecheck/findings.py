"""What a rule says: the one record that reports turn into text, JSON and the rest."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from coalescecheck.source import Edit, Span


class Severity(IntEnum):
    NOTE = 1
    WARNING = 2
    ERROR = 3

    def __str__(self) -> str:
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Fix:
    """A change that was re-analysed: ``before`` and ``after`` are the numbers it changes.

    ``verified``: a simulation of the changed code agrees with them.  ``edit`` is the change of the
    source where it is a local one.
    """

    description: str
    verified: bool
    before: str
    after: str
    edit: Edit | None = None


@dataclass(frozen=True, slots=True)
class Related:
    """Another place that a finding is about, and what is there."""

    span: Span
    message: str


@dataclass(frozen=True, slots=True)
class Finding:
    """``access`` is the id of the access in its kernel, None for findings about a kernel.
    ``reason`` says why the number is what it is; ``advice`` is one line.  ``fix`` is the best
    change that was shown to help, ``alternatives`` are others.  ``ratio`` is what the access costs
    over the least it could cost, None where there is no such number.  ``instances``
    are all kernels, template instances and launches of which the same is true, in words; the
    first is the one ``access`` belongs to.  ``waste`` are the sectors or wavefronts beyond the
    least over the whole launch, None where their number is not known.  ``also`` are further
    accesses of the same cause that get no finding of their own, ``related`` further places."""

    rule: str
    severity: Severity
    span: Span
    kernel: str
    message: str
    reason: str = ""
    advice: str = ""
    fix: Fix | None = None
    alternatives: tuple[Fix, ...] = ()
    access: int | None = None
    ratio: float | None = None
    instances: tuple[str, ...] = ()
    waste: int | None = None
    also: tuple[int, ...] = ()
    related: tuple[Related, ...] = ()

    @property
    def rank(self) -> tuple[float, ...]:
        """Sorts the worst first: by severity, by waste where it is known, by ratio."""
        known = self.waste is not None
        return (-self.severity, not known, -(self.waste or 0), -(self.ratio or 0.0))

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """Every change that was shown to help, the best first."""
        return () if self.fix is None else (self.fix, *self.alternatives)


@dataclass(frozen=True, slots=True)
class Suppressed:
    """A finding that is not shown: ``by`` a comment in the ``source`` or the ``baseline``."""

    finding: Finding
    by: str
    reason: str = ""
