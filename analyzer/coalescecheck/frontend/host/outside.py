"""Host expressions as they are written outside of the function around them.

In: an expression that needs C++'s classes to be evaluated (``Traits<N>::threads``, ``sizeof(T)``),
in one instance of the function around.  Out: its source with values for the variables and
template parameters in it, None where one is not known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tree_sitter import Node

from coalescecheck.frontend.host.binding import Context, plain_uses, spelled
from coalescecheck.frontend.host.deduction import WORD, substituted
from coalescecheck.frontend.host.scopes import Declaration, node_text

if TYPE_CHECKING:
    from coalescecheck.frontend.host.values import HostValues

_FILE_SCOPES = ("translation_unit", "namespace_definition", "linkage_specification")


def outside(values: HostValues, node: Node, context: Context) -> str | None:
    """The source of an expression that means the same at file scope."""
    source = plain_uses(node_text(node), context)
    known: dict[str, str | None] = {}
    for name in dict.fromkeys(WORD.findall(source)):
        declaration = values.scopes.resolve(name, node)
        if declaration is None:
            continue
        if declaration.kind == "type":
            if not _is_bound(declaration, context):
                return None
            continue
        value = values.name(name, node)
        if value is not None and not value.type.is_float:
            known[name] = f"({int(value.number)})"
        elif declaration.scope.type not in _FILE_SCOPES:
            return None
    source = substituted(source, known) or source
    return spelled(values, node, context, source)


def _is_bound(parameter: Declaration, context: Context) -> bool:
    """Whether a type parameter is one of the instance that is looked at."""
    head = parameter.scope
    around: Node | None = context.function
    while around is not None:
        if around == head:
            return True
        around = around.parent
    return False
