"""What the grammar misreads, put right in the code before anybody reads the tree.

In: a unit.  Out: the unit with other characters where casts, prototypes and other declarations
were misread, at the same offsets.
"""

from __future__ import annotations

import re
from dataclasses import replace

from coalescecheck.frontend.declared_names import DeclaredNames
from coalescecheck.frontend.misread_captures import mend_captures
from coalescecheck.frontend.misread_casts import mend_casts
from coalescecheck.frontend.misread_names import mend_bindings, mend_names
from coalescecheck.frontend.misread_prototypes import mend_prototypes
from coalescecheck.frontend.patches import Edits
from coalescecheck.frontend.suspects import suspects
from coalescecheck.frontend.unit import Unit

# the grammar has no attributes between a name and its value, or in a lambda
_ATTRIBUTE = re.compile(
    rb"__attribute__\s*\(\(\s*(?:__)?(?:unused|used|always_inline|noinline|hot|cold)(?:__)?\s*\)\)"
)
_NESTED = rb"(?:[^()]|\((?:[^()]|\([^()]*\))*\))"
_EXTENTS = rb"(?:\s*\[[^\[\];{}]*\]){0,8}"
_ARGUMENT = _NESTED.replace(rb"[^()]|", rb"[^(),]|", 1)
# nor a third argument of launch bounds (blocks per cluster), nor the size of a block
_THIRD_BOUND = re.compile(
    rb"\b__launch_bounds__\s*\(%s*,%s*(,(?:[^(),<>]|\(%s*\))*)\)" % (_ARGUMENT, _ARGUMENT, _NESTED)
)
_BLOCK_SIZE = re.compile(rb"\b(__block_size__\s*\(%s*\))" % _NESTED)
# nor CUDA's qualifiers of a lambda, which say nothing that its use does not
_OF_LAMBDA = re.compile(rb"\]\s*((?:__(?:device|host|noinline|forceinline)__\s*)+)(?=[({])")
# nor an alignment behind a name, `char a alignas(int)[4]`; before the name it means the same
_ALIGNED_NAME = re.compile(
    rb"(?:\b(?!(?:using|struct|class|union|enum|return)\b)\w+|>)\s+"
    rb"((?!(?:struct|class|union|enum)\b)[A-Za-z_]\w*%s)(\s+)((?:alignas|__align__)\s*\(%s*\))"
    rb"(?=\s*(?:[\[={][^,;]{0,200})?;)" % (_EXTENTS, _NESTED)  # of one name alone
)
# nor GNU's attributes there, but those of C++, which are shorter
_GNU_ALIGNED = re.compile(
    rb"(?:\b(?!(?:using|struct|class|union|enum|return|typename)\b)\w+\s+|[>*&,]\s*)"
    rb"[A-Za-z_]\w*%s\s*(__attribute__\s*\(\((?=[^;]*aligned)(?![^;]*packed)(%s*)\)\))"
    rb"(?=\s*[;,={\[])" % (_EXTENTS, _NESTED)
)
_ROUNDS = 64  # one misread expression may hide another


def mended(unit: Unit) -> Unit:
    """``unit`` as it was meant."""
    edits = Edits(unit.code, unit.tree)
    names = DeclaredNames(edits)
    for match in _ATTRIBUTE.finditer(unit.code):
        edits.put(match.start(), b" " * len(match[0]))
    for pattern in (_THIRD_BOUND, _BLOCK_SIZE, _OF_LAMBDA):
        for match in pattern.finditer(unit.code):
            edits.put(match.start(1), b" " * len(match[1]))
    for match in _ALIGNED_NAME.finditer(unit.code):
        edits.put(match.start(1), match[3] + match[2] + match[1])
    for match in _GNU_ALIGNED.finditer(unit.code) if b"aligned" in unit.code else ():
        edits.put(match.start(1), (b"[[gnu::" + match[2] + b"]]").ljust(len(match[1])))
    mend_captures(edits)
    edits.parsed()
    for _ in range(_ROUNDS):
        found = suspects(edits)
        mend_casts(edits, found, names)
        mend_prototypes(edits, found, names)
        mend_names(edits, found, names)
        mend_bindings(edits, found)
        if not edits.parsed():
            break
    return replace(unit, code=bytes(edits.code), tree=edits.tree)
