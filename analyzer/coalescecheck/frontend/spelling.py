"""How the user writes what has another name in kernel C.

The rewriter fills it in; whoever shows code to the user reads it.  It must not know C++ syntax.
"""

from __future__ import annotations

from dataclasses import dataclass, field

HOST_LAMBDA = "lambda_at__"  # and a byte: the type of a lambda in host code


@dataclass(frozen=True, slots=True)
class Call:
    """A function: how its calls are written.

    ``name`` is the function's own (``operator[]``); a ``method`` gets its object first.
    ``arguments`` are the places of its arguments among those in C, or text for what C passes
    piece by piece.  Those at ``references`` are given by address in C only, and so is the result
    if it ``refers`` to an object.
    """

    name: str
    arguments: tuple[int | str, ...] = ()
    method: bool = False
    references: frozenset[int] = frozenset()
    refers: bool = False


@dataclass(frozen=True, slots=True)
class Spellings:
    """Calls by C name, other names (types, packs, variable templates), and by C function the
    pointers that are references in C++."""

    calls: dict[str, Call] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    references: dict[str, set[str]] = field(default_factory=dict)
