"""What the grammar misreads, put right in the code before anybody reads the tree.

In: a unit.  Out: the unit with other characters where casts and prototypes were misread, at the
same offsets.
"""

from __future__ import annotations

from dataclasses import replace

from coalescecheck.frontend.declared_names import DeclaredNames
from coalescecheck.frontend.misread_casts import mend_casts
from coalescecheck.frontend.misread_prototypes import mend_prototypes
from coalescecheck.frontend.patches import Edits
from coalescecheck.frontend.suspects import suspects
from coalescecheck.frontend.unit import Unit

_ROUNDS = 64  # one misread expression may hide another


def mended(unit: Unit) -> Unit:
    """``unit`` as it was meant."""
    edits = Edits(unit.code, unit.tree)
    names = DeclaredNames(edits)
    for _ in range(_ROUNDS):
        found = suspects(edits)
        mend_casts(edits, found, names)
        mend_prototypes(edits, found, names)
        if not edits.parsed():
            break
    return replace(unit, code=bytes(edits.code), tree=edits.tree)
