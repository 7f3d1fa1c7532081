"""``ns::T<4>::value`` read as a template and not as ``ns::T < 4 > ::value``.

In: edits of a tree.  Out: ``ns$$T<4>::value`` there, which the grammar reads as meant; the text of
its nodes is the user's again (``syntax.text``).  Only namespaces of the unit itself are joined.
"""

from __future__ import annotations

import re

from coalescecheck.frontend.patches import Edits

JOINT = b"$$"  # as long as `::`; no name of a program has it
_TEMPLATE = re.compile(
    rb"(?<![\w$])((?:[A-Za-z_]\w*::){1,16})[A-Za-z_]\w*\s*<(?=[^<>;{}]{0,500}>\s*::\s*[A-Za-z_])"
)
_NAMESPACE = re.compile(rb"\bnamespace\s+([\w:]+)")


def join_names(edits: Edits) -> None:
    """Joins the qualified names of templates that the grammar takes for comparisons."""
    namespaces: set[bytes] | None = None
    for match in _TEMPLATE.finditer(edits.code):
        sign = edits.tree.root_node.descendant_for_byte_range(match.end() - 1, match.end())
        if sign is None or sign.parent is None or sign.parent.type != "binary_expression":
            continue
        if namespaces is None:
            declared = _NAMESPACE.findall(edits.code)
            namespaces = {name for path in declared for name in path.split(b"::")}
        start = match.start(1)
        if namespaces.issuperset(match[1].split(b"::")[:-1]):
            edits.put(start, match[1].replace(b"::", JOINT))
