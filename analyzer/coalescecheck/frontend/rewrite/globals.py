"""Variables outside of functions: device and constant memory, constants, static members.

In: variable entries.  Out: :class:`Ex` and declarations at file scope.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tree_sitter import Node

from coalescecheck.frontend.ctypes_lp64 import Value
from coalescecheck.frontend.rewrite import syntax, types
from coalescecheck.frontend.rewrite.emit import Mark, Piece, plain
from coalescecheck.frontend.rewrite.env import Env
from coalescecheck.frontend.rewrite.ex import (
    ASSIGN,
    Ex,
    cast,
    constant,
    dereferenced,
    folded_cast,
)
from coalescecheck.frontend.rewrite.index import VariableEntry
from coalescecheck.frontend.rewrite.output import c_name
from coalescecheck.frontend.rewrite.records import argument_name
from coalescecheck.frontend.rewrite.types import CType
from coalescecheck.frontend.rewrite.unwritten import keeps_its_value
from coalescecheck.frontend.rewrite.visibility import visible_end

if TYPE_CHECKING:
    from coalescecheck.frontend.rewrite.session import Session

_SPACES = {"__constant__": "constant", "__managed__": "managed", "__shared__": "shared"}
_IN_MEMORY = (*_SPACES, "__device__", "volatile", "extern")
_NESTED = ("initializer_list", "initializer_pair")
_LARGEST_TABLE = 4096  # elements of an initialiser that is written out


@dataclass(frozen=True, slots=True)
class _Global:
    c: str
    type: CType
    value: Value | None
    computed: Ex | None = None  # a constant whose value is not known: device code has no variable


class Globals:
    """Variables with static storage outside of functions."""

    def __init__(self, session: Session) -> None:
        self._s = session
        self._known: dict[tuple[object, ...], _Global] = {}
        self._open: set[tuple[object, ...]] = set()
        self._tables: dict[str, tuple[Node, types.Array, Env]] = {}

    def use(self, entry: VariableEntry, env: Env, node: Node) -> Ex:
        """The variable as an expression; a constant is its value."""
        arguments = [argument_name(b) for b in env.names.values()] if entry.head else []
        key = (id(entry), env.record.cname if env.record is not None else "", *arguments)
        if key in self._open:
            return self._s.free_name(c_name(entry.name), node)
        known = self._known.get(key)
        if known is None:
            self._open.add(key)
            known = self._known[key] = self._enter(entry, env, node, arguments)
            self._open.discard(key)
        mark = Mark(node.start_byte)
        if known.value is not None:
            return constant(known.value, known.type, mark)
        if known.computed is not None and not types.is_arithmetic(types.strip(known.type)):
            return replace(known.computed, piece=(mark, plain(known.computed.piece)))
        if known.computed is not None:
            return cast(known.computed, known.type, mark)
        if isinstance(known.type, types.Reference):
            return dereferenced((mark, known.c), known.type.target)
        return Ex((mark, known.c), known.type, lvalue=True)

    def _enter(self, entry: VariableEntry, env: Env, node: Node, arguments: list[str]) -> _Global:
        with self._s.reading(entry.node):
            return self._entered(entry, env, node, arguments)

    def _entered(self, entry: VariableEntry, env: Env, node: Node, arguments: list[str]) -> _Global:
        target = entry.declarator
        value_node = entry.default
        if target.type == "init_declarator":
            value_node = target.child_by_field_name("value")
            target = target.child_by_field_name("declarator") or target
        if value_node is not None and value_node.type == "argument_list":
            inner = syntax.operands(value_node)
            value_node = inner[0] if len(inner) == 1 else None
        outside = Env(env, {}, limit=visible_end(entry))
        outside.function = None
        type_ = self._s.typenames.declared(entry.node, target, outside)
        constant = type_.const or syntax.has_word(entry.node, "constexpr")
        constant = constant or (value_node is not None and keeps_its_value(entry))
        if constant and self._s.unread:
            bare = types.strip(type_)
            if types.is_arithmetic(bare):
                message = f"the value of `{entry.name}` could not be read: it stays symbolic"
                self._s.say(entry.node, "warning", message)
                return _Global(self._s.free_value(entry.name, bare), bare, None)
            constant = False
        if constant and isinstance(type_, types.Array):
            type_ = types.qualified(type_, const=True)
        if isinstance(type_, types.Auto) and value_node is not None:
            ex = self._s.expressions.emit(value_node, outside)
            type_ = types.qualified(ex.decayed, const=constant)
        if constant and value_node is not None and types.is_arithmetic(types.strip(type_)):
            ex = self._s.expressions.emit(value_node, outside, types.strip(type_))
            value = folded_cast(ex.value, types.strip(type_))
            if value is not None or not syntax.has_word(entry.node, *_IN_MEMORY):
                return _Global("", type_, value, ex)
        if constant and value_node is not None and types.is_function(types.strip(type_)):
            ex = self._s.expressions.emit(value_node, outside, types.strip(type_))
            if types.is_function(ex.decayed) and plain(ex.piece).isidentifier():
                return _Global("", type_, None, ex)
        if constant and value_node is not None and not syntax.has_word(entry.node, *_IN_MEMORY):
            made = self._s.constant_objects.of(value_node, type_, outside)
            if made is not None:
                return _Global("", type_, None, made)
        return self._declare(entry, type_, value_node, outside, arguments, constant)

    def _value(self, node: Node, type_: CType, env: Env) -> Value | None:
        ex = self._s.expressions.emit(node, env, types.strip(type_))
        return folded_cast(ex.value, types.strip(type_))

    def _declare(
        self,
        entry: VariableEntry,
        type_: CType,
        value_node: Node | None,
        env: Env,
        arguments: list[str],
        constant: bool,
    ) -> _Global:
        owner = env.parent.record if env.parent is not None else None
        path = [owner.cname] if owner is not None else list(entry.scope.path)
        c = self._s.output.unique(c_name(types.mangled([*path, entry.name, *arguments])))
        given = f"<{', '.join(arguments)}>" if arguments else ""
        self._s.output.spellings.names[c] = f"{entry.name}{given}"
        listed = value_node is not None and value_node.type == "initializer_list"
        counted = value_node is not None and (listed or value_node.type in syntax.STRINGS)
        if isinstance(type_, types.Array) and type_.count is None and value_node and counted:
            count = self._s.initialisers.elements(value_node, type_.element, env)
            type_ = types.Array(type_.element, count)
        self._s.output.need(type_)
        space = self._space(entry.node, type_, constant)
        align = self._s.alignments.of_declared(entry.node, entry.declarator, env)
        if isinstance(type_, types.Array) and type_.count is None:
            space = space.replace("extern ", "") + "extern "  # C wants constant bounds here
            type_ = types.Array(type_.element, None)
        shown = types.unqualified(type_) if not isinstance(type_, types.Array) else type_
        spelled = types.declare(shown, c)
        head = f"{space}{f'_Alignas({align}) ' if align else ''}{spelled}"
        initialiser = self._initialiser(value_node, type_, env)
        piece: Piece = (head, ";") if initialiser is None else (head, " = ", initialiser, ";")
        self._s.output.globals.append((0, (Mark(entry.node.start_byte), piece)))
        if space == "static " and isinstance(type_, types.Array) and listed and value_node:
            self._tables[c] = (value_node, type_, env)
        return _Global(c, type_, None)

    def element(self, base: Ex, index: Value) -> Ex | None:
        """``table[1]`` of a ``constexpr`` table is a constant: device code reads no memory."""
        piece = base.piece
        name = piece[1] if isinstance(piece, tuple) and len(piece) == 2 else None
        table = self._tables.get(name) if isinstance(name, str) else None
        if table is None or index.type.is_float:
            return None
        node, type_, env = table
        items = syntax.operands(node)
        if not 0 <= index.number < len(items) or items[int(index.number)].type in _NESTED:
            return None
        value = self._value(items[int(index.number)], type_.element, env)
        return None if value is None else constant(value, type_.element)

    @staticmethod
    def _space(node: Node, type_: CType, constant: bool) -> str:
        if isinstance(types.strip(type_), types.Texture):
            return "[[cuda::free]] extern const "  # a name for the hardware: nothing is loaded
        for word, space in _SPACES.items():
            if syntax.has_word(node, word):
                extern = "extern " if syntax.has_word(node, "extern") else ""
                return f"[[cuda::{space}]] {extern}"
        if constant and not syntax.has_word(node, "__device__"):
            return "static "
        return "[[cuda::device]] "

    def _initialiser(self, node: Node | None, type_: CType, env: Env) -> Piece | None:
        """Text of an initialiser that C accepts at file scope: constants only."""
        bare = types.strip(type_)
        if node is None:
            return None
        if isinstance(bare, types.Array) and node.type == "initializer_list":
            if not self._is_constant(node, env):
                return None
            return self._s.initialisers.braces(node, bare, env)
        if types.is_arithmetic(bare) and not isinstance(bare, types.Array):
            ex = self._s.expressions.emit(node, env, bare)
            return ex.at(ASSIGN) if ex.value is not None or self._is_constant(node, env) else None
        return None

    @staticmethod
    def _is_constant(node: Node, env: Env) -> bool:
        """Whether an initialiser is made of literals and operators only."""
        allowed = {
            "initializer_list", "number_literal", "char_literal", "true", "false", "comment",
            "unary_expression", "binary_expression", "parenthesized_expression",
        }  # fmt: skip
        count = 0
        for part in syntax.walk(node):
            if part.is_named and part.type not in allowed:
                return False
            count += part.type == "number_literal"
        return count <= _LARGEST_TABLE
