"""``cudaLaunchConfig_t``: what ``cudaLaunchKernelEx`` is told in members of a variable.

In: the call.  Out: the expressions for grid, block and bytes of shared memory, None for each that
is not one expression.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tree_sitter import Node

from coalescecheck.frontend.host.scopes import expressions, node_text

if TYPE_CHECKING:
    from coalescecheck.frontend.host.values import HostValues

_MEMBERS = ("gridDim", "blockDim", "dynamicSmemBytes")  # the first ones of the struct, in order


def configuration(values: HostValues, config: Node, call: Node) -> list[Node | None]:
    """Grid, block and shared bytes as ``call`` finds them in ``config`` (``&variable``)."""
    named = config.child_by_field_name("argument")
    if config.type != "pointer_expression" or named is None or named.type != "identifier":
        return [None, None, None]
    declaration = values.scopes.resolve(node_text(named), named)
    if declaration is None or declaration.kind != "variable" or declaration.shape:
        return [None, None, None]
    found: list[Node | None] = []
    for position, member in enumerate(_MEMBERS):
        writes = values.writes.reaching(declaration, call, member)
        if writes is None or len(writes) != 1 or writes[0].operator not in ("=", "init"):
            found.append(None)
        elif writes[0].component == member:
            found.append(writes[0].value)
        else:
            found.append(_listed(writes[0].value, position, member))
    return found


def _listed(initial: Node | None, position: int, member: str) -> Node | None:
    """A member's value in ``{grid, block}`` or ``{.blockDim = block}``."""
    if initial is None or initial.type != "initializer_list":
        return None
    items = expressions(initial)
    pairs = [item for item in items if item.type == "initializer_pair"]
    for pair in pairs:
        if node_text(pair.child_by_field_name("designator")) == f".{member}":
            return pair.child_by_field_name("value")
    return items[position] if not pairs and position < len(items) else None
