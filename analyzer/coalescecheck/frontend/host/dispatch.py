"""``scalar_t`` in a lambda that PyTorch's dispatch macros call once per element type.

In: a place in host code.  Out: the types that its ``scalar_t`` or ``index_t`` stands for.
Source of the lists: ATen/Dispatch.h; types that a macro is given by name are left out, since each
is one more instance and none changes the others.
"""

from __future__ import annotations

import re

from tree_sitter import Node

from coalescecheck.frontend.host.binding import Bound
from coalescecheck.frontend.host.scopes import ancestors, node_text

_MACRO = re.compile(r"AT_DISPATCH_(FLOATING|INTEGRAL|ALL|INDEX)_TYPES(_AND_HALF)?(_AND\w*)?$")
_INTEGRAL = ("unsigned char", "signed char", "short", "int", "long")
_TYPES = {
    "FLOATING": ("float", "double"),
    "INTEGRAL": _INTEGRAL,
    "ALL": (*_INTEGRAL, "float", "double"),
    "INDEX": ("int", "long"),
}


def alternatives(node: Node) -> list[dict[str, Bound]]:
    """What the dispatch around ``node`` binds, one mapping per type; an empty one without it."""
    for around in ancestors(node):
        if around.type == "function_definition":
            break
        if around.type == "lambda_expression":
            match = _MACRO.match(_called_with(around))
            if match is not None:
                name = "index_t" if match[1] == "INDEX" else "scalar_t"
                half = ("__half",) if match[2] else ()
                return [{name: Bound(type_)} for type_ in (*_TYPES[match[1]], *half)]
    return [{}]


def _called_with(lambda_: Node) -> str:
    """The name of the call that a lambda is an argument of."""
    holder = lambda_.parent
    while holder is not None and holder.type in ("parenthesized_expression", "argument_list"):
        holder = holder.parent
    if holder is None or holder.type != "call_expression":
        return ""
    return node_text(holder.child_by_field_name("function"))
