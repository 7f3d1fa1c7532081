"""How well a converting constructor or a conversion operator fits, to rank overloads.

In: a parameter's type and an argument's.  Out: a cost beyond that of all standard conversions,
the smaller the less the standard conversion before or behind the user's costs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coalescecheck.frontend.rewrite import syntax, types
from coalescecheck.frontend.rewrite.env import Env
from coalescecheck.frontend.rewrite.index import FunctionEntry
from coalescecheck.frontend.rewrite.types import CType, Record

if TYPE_CHECKING:
    from coalescecheck.frontend.rewrite.session import Session

OPERATOR, CONSTRUCTOR = 4.0, 5.0
_STANDARD = 0.1  # what a standard conversion counts beside the user's
_UNFIT = 500.0  # of a constructor that does not convert, as far as is known


def by_operator(session: Session, wanted: CType, actual: Record) -> float | None:
    """The cost by a conversion operator of the argument's class; None if there is none."""
    result = session.methods.converted(actual, wanted)
    if result is None:
        return None
    behind = session.ranks.cost(types.strip(wanted), result)
    return OPERATOR + _STANDARD * (behind or 0.0)


def by_constructor(session: Session, wanted: Record, actual: CType) -> float | None:
    """The cost by a constructor of the parameter's class; None if it has none for one argument."""
    if actual == types.VOID:
        return None
    known: list[float] = []
    for record in (wanted, *session.records.inherited(wanted)):
        source = session.records.source(record)
        entries = session.records.constructors(record) if source is not None else []
        home = source.env if source is not None else Env(None)
        costs = [_of_constructor(session, e, record, actual, home) for e in entries]
        known += [c for c in costs if c is not None]
    return CONSTRUCTOR + _STANDARD * min(known) if known else None


def _of_constructor(
    session: Session, entry: FunctionEntry, record: Record, actual: CType, home: Env
) -> float | None:
    """The cost of the conversion to a constructor's only parameter; None for other ones."""
    if not session.overloads.takes(entry, 1):
        return None
    if entry.head:
        return 0.0
    own = session.overloads.first_parameter(entry, home)
    if types.strip(own) == types.unqualified(record):
        return None  # copies
    converts = isinstance(types.strip(own), Record) or isinstance(types.strip(actual), Record)
    cost = None if converts else session.ranks.cost(own, actual)
    explicit = syntax.has_word(entry.node, "explicit")
    return _UNFIT if cost is None or explicit else cost
