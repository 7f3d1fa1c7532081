"""Constants that source text has at file scope: ``Traits<4>::threads``, ``sizeof(float4)``.

In: text in which nothing local is left.  Out: its value, None where it has none.
"""

from __future__ import annotations

from coalescecheck.errors import UnsupportedConstruct
from coalescecheck.frontend.ctypes_lp64 import Value
from coalescecheck.frontend.rewrite import types
from coalescecheck.frontend.rewrite.index import Scope
from coalescecheck.frontend.rewrite.kernels import parsed_arguments
from coalescecheck.frontend.rewrite.session import Session
from coalescecheck.frontend.unit import Unit


class FileConstants:
    """Evaluates source text in one unit, whose names are in ``top``."""

    def __init__(self, unit: Unit, top: Scope) -> None:
        self._unit = unit
        self._top = top
        self._known: dict[str, Value | None] = {}

    def value(self, source: str) -> Value | None:
        """The arithmetic value of an expression."""
        if source not in self._known:
            try:
                self._known[source] = self._evaluated(source)
            except (UnsupportedConstruct, RecursionError):
                self._known[source] = None
        return self._known[source]

    def _evaluated(self, source: str) -> Value | None:
        nodes = parsed_arguments(source)
        if len(nodes) != 1:
            return None
        session = Session(self._top, self._unit.code, self._unit.locate)  # what it says is dropped
        env = session.names.scope_env(self._top)
        return session.expressions.template_value(nodes[0], types.Auto(), env).value
