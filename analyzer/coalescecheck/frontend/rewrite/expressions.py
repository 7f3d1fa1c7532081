"""Expressions: C++ syntax to typed C.

In: an expression node and its environment.  Out: :class:`Ex`.  Calls, operators, names and
conversions have their own modules; this one decides which of them a node is for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from tree_sitter import Node

from coalescecheck.frontend import constants, ctypes_lp64
from coalescecheck.frontend.rewrite import folds, syntax, types
from coalescecheck.frontend.rewrite.emit import Mark, joined, plain
from coalescecheck.frontend.rewrite.env import Env, PackBound, ValueBound
from coalescecheck.frontend.rewrite.ex import (
    COMMA,
    CONDITIONAL,
    PRIMARY,
    UNARY,
    Ex,
    address_of,
    cast,
    integer,
    literal,
)
from coalescecheck.frontend.rewrite.syntax import text
from coalescecheck.frontend.rewrite.types import CType

if TYPE_CHECKING:
    from coalescecheck.frontend.rewrite.session import Session

_MAX_DEPTH = 180  # nested nodes; Python's own stack allows about twice as many


class Expressions:
    """Emits expressions."""

    def __init__(self, session: Session) -> None:
        self._s = session
        self._depth = 0
        self._replaced: dict[int, Ex] = {}
        self._handlers: dict[str, Callable[[Node, Env, CType | None], Ex]] = {
            "number_literal": self._number,
            "char_literal": self._character,
            "string_literal": self._string,
            "raw_string_literal": self._raw_string,
            "concatenated_string": self._string,
            "true": self._boolean,
            "false": self._boolean,
            "null": self._null,
            "nullptr": self._null,
            "parenthesized_expression": self._parenthesized,
            "condition_clause": self._parenthesized,
            "conditional_expression": self._conditional,
            "comma_expression": self._comma,
            "sizeof_expression": self._sizeof,
            "alignof_expression": self._alignof,
            "initializer_list": self._braces,
            "type_descriptor": self._descriptor,
            "parameter_pack_expansion": self._lone_pack,
            "fold_expression": self._fold,
        }

    def register(self, node_type: str, handler: Callable[[Node, Env, CType | None], Ex]) -> None:
        """Another module emits nodes of ``node_type``."""
        self._handlers[node_type] = handler

    def emit(self, node: Node, env: Env, expected: CType | None = None) -> Ex:
        """The C of an expression; ``expected`` is the type wanted by its surroundings."""
        if self._replaced and node.id in self._replaced:
            return self._replaced[node.id]
        handler = self._handlers.get(node.type)
        if handler is None or self._depth > _MAX_DEPTH:
            return self.opaque(node, env, f"`{_shown(node)}` is not understood")
        self._depth += 1
        try:
            return handler(node, env, expected)
        finally:
            self._depth -= 1

    def is_replaced(self, node: Node) -> bool:
        """Whether another expression stands for ``node`` at the moment."""
        return node.id in self._replaced

    def with_replaced(self, node: Node, inner: Node, ex: Ex, env: Env) -> Ex:
        """The C of ``node`` with ``ex`` for the node ``inner`` inside it."""
        self._replaced[inner.id] = ex
        try:
            return self.emit(node, env)
        finally:
            del self._replaced[inner.id]

    def converted(self, node: Node, env: Env, type_: CType) -> Ex:
        """The C of an expression converted to ``type_``."""
        return self._s.conversions.coerce(self.emit(node, env, type_), type_, node, env)

    def constant(self, node: Node, env: Env) -> int | None:
        """The integer value of a constant expression, None if it is none."""
        value = self.emit(node, env).value
        return int(value.number) if value is not None and not value.type.is_float else None

    def extent(self, node: Node, env: Env) -> tuple[int | None, str]:
        """An array bound: its constant, or its C text."""
        if self._s.unread:
            self._s.say(node, "warning", "an extent could not be read: it stays symbolic")
            return None, self._s.free_value("extent", types.INT)
        ex = self.emit(node, env)
        if isinstance(ex.type, types.Record):
            ex = self._s.conversions.coerce(ex, types.ULONG, node, env)
        if ex.value is not None and not ex.value.type.is_float:
            return int(ex.value.number), ""
        return None, plain(ex.piece)

    def type_only(self, node: Node, env: Env) -> CType:
        """The type of an expression that is not evaluated."""
        return self.emit(node, env).type

    def template_value(self, node: Node, type_: CType, env: Env) -> ValueBound:
        """A template argument for a value parameter."""
        ex = self.emit(node, env, None if isinstance(type_, types.Auto) else type_)
        if isinstance(ex.type, types.Record) and types.is_arithmetic(type_):
            ex = self._s.conversions.coerce(ex, type_, node, env)
        narrow = isinstance(type_, types.Auto) and types.promoted(ex.decayed) != ex.decayed
        type_ = types.unqualified(ex.decayed) if isinstance(type_, types.Auto) else type_
        if ex.value is not None:
            kind = types.folding_type(type_)
            value = ctypes_lp64.convert(ex.value.number, kind) if kind else ex.value
            if value is not None:
                shown = plain(literal(value).piece)  # `'a'` and 97 are two values of an `auto`
                shown = f"(({types.spell(type_)}){shown})" if narrow else shown
                return ValueBound(shown, type_, value)
        made = ex.type if isinstance(ex.type, types.Record) else None
        known = self._s.constant_objects.known(ex, made, node, env) if made is not None else None
        if known is not None:
            return ValueBound(plain(known.piece), known.type)
        spelled = plain(ex.piece)
        function = types.is_function(ex.decayed) and spelled.isidentifier()
        if isinstance(ex.type, types.Placeholder) or function:
            return ValueBound(spelled, ex.type)
        if not self._s.is_free(spelled):  # text of one function means nothing in another
            spelled = plain(self._s.free_name(types.mangled(["value", spelled]), node).piece)
        return ValueBound(spelled, type_)

    def opaque(
        self,
        node: Node,
        env: Env,
        why: str,
        result: CType | None = None,
        parts: list[Node] | None = None,
    ) -> Ex:
        """Unknown code: a call of a function with no body which keeps the parts as arguments."""
        self._s.say(node, "warning", f"{why}: its value is unknown")
        arguments: list[Ex] = []
        for part in self._parts(node) if parts is None else parts:
            ex = self.emit(part, env)
            if not ex.pure or isinstance(ex.type, types.Pointer | types.Array):
                arguments.append(ex)
        source = f"({_shown(node)})" if text(node).startswith("*") else _shown(node)
        return self._s.opaque_call(arguments, result or types.UNKNOWN, self.mark(node), source)

    def _parts(self, node: Node) -> list[Node]:
        """The largest expressions below ``node`` that are understood."""
        found: list[Node] = []
        for part in syntax.operands(node):
            if part.type in self._handlers and part.type != "type_identifier":
                found.append(part)
            else:
                found += self._parts(part)
        return found

    @staticmethod
    def mark(node: Node) -> Mark:
        return Mark(node.start_byte)

    # -- literals -----------------------------------------------------------------------

    def _number(self, node: Node, env: Env, expected: CType | None) -> Ex:
        spelled = text(node).replace("'", "")
        if spelled[0] in "+-":  # the grammar's literals may carry a sign
            return self._signed(node, spelled)
        value = constants.integer_literal(spelled)
        if value is not None:
            # digits stay as written where C has them (hexadecimal, octal)
            base = literal(value)
            keep = spelled[:2].lower() == "0x" and not set(spelled[2:].lower()) & set("z")
            piece = spelled if keep else plain(base.piece)
            return Ex(
                (self.mark(node), piece), _named_type(base, spelled), PRIMARY, value, pure=True
            )
        lower = spelled.lower()
        hexadecimal = lower.startswith("0x")
        single = lower.endswith("f") and (not hexadecimal or "p" in lower)
        type_ = types.FLOAT if single else types.DOUBLE
        number = constants.evaluate_value(node, lambda name: None)
        if lower.endswith(("f16", "bf16")):
            spelled, type_ = lower.split("b")[0].split("f16")[0], types.FLOAT
        return Ex((self.mark(node), spelled), type_, PRIMARY, number, pure=True)

    def _signed(self, node: Node, spelled: str) -> Ex:
        value = constants.evaluate_value(node, lambda name: None)
        if value is not None:
            signed = literal(value, self.mark(node))
            return replace(signed, type=_named_type(signed, spelled))
        single = spelled.lower().endswith("f")
        type_ = types.FLOAT if single else types.DOUBLE
        return Ex((self.mark(node), spelled), type_, UNARY, pure=True)

    def _character(self, node: Node, env: Env, expected: CType | None) -> Ex:
        value = constants.char_literal(text(node))
        spelled = text(node)
        spelled = spelled[spelled.find("'") :]
        return Ex((self.mark(node), spelled), types.CHAR, PRIMARY, value, pure=True)

    def _string(self, node: Node, env: Env, expected: CType | None) -> Ex:
        spelled = syntax.flat(node) if node.type == "concatenated_string" else text(node)
        spelled = spelled[spelled.find('"') :]
        type_ = types.Pointer(types.qualified(types.CHAR, const=True))
        return Ex((self.mark(node), spelled), type_, pure=True)

    def _raw_string(self, node: Node, env: Env, expected: CType | None) -> Ex:
        type_ = types.Pointer(types.qualified(types.CHAR, const=True))
        return Ex((self.mark(node), '""'), type_, pure=True)

    def _boolean(self, node: Node, env: Env, expected: CType | None) -> Ex:
        value = ctypes_lp64.Value(int(node.type == "true"), ctypes_lp64.BOOL)
        return literal(value, self.mark(node))

    def _null(self, node: Node, env: Env, expected: CType | None) -> Ex:
        type_ = types.NULLPTR if text(node) == "nullptr" else types.Pointer(types.VOID)
        return Ex((self.mark(node), "((void*)0)"), type_, pure=True)

    # -- structure ----------------------------------------------------------------------

    def _parenthesized(self, node: Node, env: Env, expected: CType | None) -> Ex:
        whole = syntax.sequence_at(node)
        inner = syntax.operands(node) if whole is None else [whole]
        if len(inner) != 1:
            return self.opaque(node, env, f"`{_shown(node)}` is not understood")
        if inner[0].type == "compound_statement":
            return self._s.lambdas.statement_expression(inner[0], env)
        return self.emit(inner[0], env, expected)

    def _descriptor(self, node: Node, env: Env, expected: CType | None) -> Ex:
        """A value that the grammar took for a type (``f<FLAG>``)."""
        inner = node.child_by_field_name("type")
        if inner is None or node.child_by_field_name("declarator") is not None:
            return self.opaque(node, env, f"`{_shown(node)}` is not understood")
        return self.emit(inner, env, expected)

    def _conditional(self, node: Node, env: Env, expected: CType | None) -> Ex:
        parts = [node.child_by_field_name(n) for n in ("condition", "consequence", "alternative")]
        if parts[0] is None or parts[1] is None or parts[2] is None:
            return self.opaque(node, env, f"`{_shown(node)}` is not understood")
        condition = self._s.conversions.truth(self.emit(parts[0], env), parts[0], env)
        if condition.value is not None:
            first, second = parts[1], parts[2]
            if condition.value.number:
                return self._chosen(first, second, env, expected)
            return self._chosen(second, first, env, expected)
        a, b = self.emit(parts[1], env, expected), self.emit(parts[2], env, expected)
        type_ = self._joined_type(a, b)
        if a.lvalue and b.lvalue and isinstance(type_, types.Record) and a.type == b.type:
            return self._s.chosen_object(condition, a, b, type_)
        same = a.lvalue and b.lvalue and types.is_arithmetic(type_) and a.type == b.type
        places = (address_of(a), address_of(b)) if same else None
        a = self._s.conversions.coerce(a, type_, parts[1], env)
        b = self._s.conversions.coerce(b, type_, parts[2], env)
        piece = (
            condition.at(CONDITIONAL + 1), " ? ", a.at(CONDITIONAL), " : ", b.at(CONDITIONAL),
        )  # fmt: skip
        pure = condition.pure and a.pure and b.pure
        if places is None:
            return Ex(piece, type_, CONDITIONAL, pure=pure)
        chosen = ("(", condition.at(CONDITIONAL + 1), " ? ", places[0], " : ", places[1], ")")
        return Ex(piece, type_, CONDITIONAL, pure=pure, lvalue=True, address=chosen)

    def _chosen(self, chosen: Node, other: Node, env: Env, expected: CType | None) -> Ex:
        """One side of ``true ? a : b``, with the type that both have together."""
        ex = self.emit(chosen, env, expected)
        if not types.is_arithmetic(ex.decayed) or any(
            part.type == "call_expression" for part in syntax.walk(other)
        ):  # a call on the other side may be a recursion that ends here
            return ex
        type_ = self._joined_type(ex, self.emit(other, env, expected))
        return ex if type_ == ex.decayed or not types.is_arithmetic(type_) else cast(ex, type_)

    @staticmethod
    def _joined_type(a: Ex, b: Ex) -> CType:
        """The type of ``c ? a : b``."""
        left, right = a.decayed, b.decayed
        if left == right:
            return left
        for one in (left, right):
            if isinstance(one, types.Record):
                return one
        if isinstance(left, types.Pointer) or isinstance(right, types.Pointer):
            pointer = left if isinstance(left, types.Pointer) else right
            if left == types.NULLPTR:
                return right
            if isinstance(pointer, types.Pointer) and pointer.target == types.VOID:
                return right if pointer is left and isinstance(right, types.Pointer) else left
            return pointer
        if types.VOID in (left, right):
            return types.VOID
        return types.usual_conversion(left, right)

    def _comma(self, node: Node, env: Env, expected: CType | None) -> Ex:
        items: list[Node | None] = []
        last: Node | None = node
        while last is not None and last.type == "comma_expression":  # `a, (b, c)` is `(a, b), c`
            items.append(last.child_by_field_name("left"))
            last = last.child_by_field_name("right")
        parts = [item for item in items if item is not None]
        if last is None or len(parts) != len(items):
            return self.opaque(node, env, f"`{_shown(node)}` is not understood")
        total = self.emit(parts[0], env)
        for item in parts[1:]:
            total = self._then(total, self.emit(item, env), node, env)
        return self._then(total, self.emit(last, env, expected), node, env)

    def _then(self, a: Ex, b: Ex, node: Node, env: Env) -> Ex:
        defined = None
        if isinstance(types.strip(a.type), types.Record):
            defined = self._s.methods.operator(",", [a, b], node, env)
        return self.sequence(a, b) if defined is None else defined

    @staticmethod
    def sequence(a: Ex, b: Ex) -> Ex:
        """``a, b``."""
        piece = (a.at(COMMA), ", ", b.at(ASSIGN_LEVEL))
        place = ("(", a.at(COMMA), ", ", address_of(b), ")") if b.lvalue else None
        return replace(b, piece=piece, precedence=COMMA, address=place, value=None, target=None)

    # -- sizes --------------------------------------------------------------------------

    def _sizeof(self, node: Node, env: Env, expected: CType | None) -> Ex:
        if syntax.child(node, "...") is not None:
            return self._pack_size(node, env)
        operand = node.child_by_field_name("value")
        if operand is not None and operand.type == "cast_expression":  # `sizeof(T)+4` misread
            return self.opaque(node, env, f"`{_shown(node)}` is not understood", types.ULONG, [])
        type_ = self._s.closures.held_type(self._operand_type(node, env))
        if isinstance(type_, types.Closure):
            return self.opaque(node, env, f"`{_shown(node)}` is not known", types.ULONG, [])
        size = types.size_of(type_)
        if size is not None and types.has_long_double(type_):
            size *= 2
        if size is not None:
            value = ctypes_lp64.Value(size, ctypes_lp64.ULONG)
            return literal(value, self.mark(node))
        if type_ == types.UNKNOWN:  # two of them need not have one size
            return self.opaque(node, env, f"`{_shown(node)}` is not known", types.ULONG, [])
        self._s.output.need(type_)
        piece = (self.mark(node), f"sizeof({types.spell(type_)})")
        return Ex(piece, types.ULONG, UNARY, pure=True)

    def _pack_size(self, node: Node, env: Env) -> Ex:
        value = node.child_by_field_name("value")
        found = self._s.names.find(env, text(value)) if value is not None else None
        if found is not None and isinstance(found.binding, PackBound):
            return integer(len(found.binding.items))
        return self.opaque(node, env, f"`{_shown(node)}` is not known", types.ULONG, [])

    def _operand_type(self, node: Node, env: Env) -> CType:
        named = node.child_by_field_name("type")
        if named is not None:
            of_value = self._s.naming.type_of_value(named, env)
            return types.strip(of_value or self._s.typenames.type(named, env))
        value = node.child_by_field_name("value")
        while value is not None and value.type == "parenthesized_expression":
            value = next(iter(syntax.operands(value)), None)
        if value is None:
            return types.UNKNOWN
        if value.type in syntax.STRINGS:
            size = syntax.string_size(text(value))
            return types.UNKNOWN if size is None else types.Array(types.CHAR, size)
        of_member = self._s.naming.type_of_member(value, env)
        if of_member is not None:
            return types.strip(of_member)
        as_type = self._hidden_type(value, env) or self._s.type_if_named(value, env)
        if as_type is not None:
            return types.strip(as_type)
        ex = self.emit(value, env)  # what nobody declares may be a type as well
        return types.UNKNOWN if self._s.is_free(plain(ex.piece)) else ex.type

    def _hidden_type(self, value: Node, env: Env) -> CType | None:
        """The type behind a name that was put in its place, and ``T[4]`` read as an element."""
        element = value
        while element.type == "subscript_expression" and element.named_child_count:
            element = element.named_children[0]
        array_type = element is not value and self._s.type_if_named(element, env) is not None
        if not array_type and self._s.original(value) == text(value):
            return None
        node = syntax.type_at(self._s.original(value), value.start_byte)
        return None if node is None else self._s.typenames.type(node, env)

    def _alignof(self, node: Node, env: Env, expected: CType | None) -> Ex:
        type_ = self._operand_type(node, env)
        align = 16 if types.has_long_double(type_) else types.align_of(type_)
        if align is None:
            return self.opaque(node, env, f"`{_shown(node)}` is not known", types.ULONG, [])
        return literal(ctypes_lp64.Value(align, ctypes_lp64.ULONG), self.mark(node))

    # -- lists and packs ----------------------------------------------------------------

    def _braces(self, node: Node, env: Env, expected: CType | None) -> Ex:
        """A braced list where a value of type ``expected`` is wanted."""
        if expected is None or isinstance(expected, types.Auto):
            inner = syntax.operands(node)
            if len(inner) == 1:
                return self.emit(inner[0], env)
            return self.opaque(node, env, f"the type of `{_shown(node)}` is not known")
        return self._s.initialisers.value(node, types.strip(expected), env)

    def expand(self, nodes: list[Node], env: Env) -> list[tuple[Node, Env]]:
        """Argument nodes with parameter packs written out, each with its environment."""
        out: list[tuple[Node, Env]] = []
        for node in nodes:
            if node.type != "parameter_pack_expansion":
                out.append((node, env))
                continue
            pattern = node.child_by_field_name("pattern")
            if pattern is not None:
                out += [(pattern, inner) for inner in self.pack_envs(pattern, env)]
        return out

    def packs(self, pattern: Node, env: Env) -> dict[str, PackBound]:
        """The packs that an expression names."""
        packs: dict[str, PackBound] = {}
        initialised = pattern.children[:1] if pattern.type == "field_initializer" else []
        for part in (*initialised, *syntax.walk(pattern)):
            if part.type in _NAMES or part in initialised:
                found = self._s.names.find(env, text(part))
                if found is not None and isinstance(found.binding, PackBound):
                    packs[text(part)] = found.binding
        return packs

    def pack_envs(self, pattern: Node, env: Env) -> list[Env]:
        """For each element of the packs that an expression names: where they mean it."""
        packs = self.packs(pattern, env)
        if not packs:
            message = f"the pack in `{_shown(pattern)}` is not known: what it accesses is not seen"
            self._s.say(pattern, "warning", message, hides=True)
        count = min((len(p.items) for p in packs.values()), default=0)
        envs = []
        for number in range(count):
            inner = env.child({})
            for name, pack in packs.items():
                inner.names[name] = pack.items[number]  # type: ignore[assignment]
            envs.append(inner)
        return envs

    def _lone_pack(self, node: Node, env: Env, expected: CType | None) -> Ex:
        parts = [self.emit(n, e) for n, e in self.expand([node], env)]
        if not parts:
            return integer(0)
        return Ex(joined([p.at(ASSIGN_LEVEL) for p in parts]), parts[-1].type, COMMA)

    def _fold(self, node: Node, env: Env, expected: CType | None) -> Ex:
        """``(f(xs), ...)`` and ``(xs + ...)``."""
        written = folds.fold(self._s, node, env)
        if written is not None:
            return written
        return self.opaque(node, env, f"`{_shown(node)}` is not understood")


ASSIGN_LEVEL = 2
_NAMES = ("identifier", "type_identifier", "namespace_identifier")


def _shown(node: Node) -> str:
    """Source text for a message, short."""
    shown = syntax.flat(node)
    return shown if len(shown) <= 60 else shown[:57] + "..."


def _named_type(literal_: Ex, spelled: str) -> CType:
    """The type of an integer literal: one with ``ll`` is a ``long long``, which is no ``long``."""
    type_ = literal_.type
    if "ll" in spelled.lower() and isinstance(type_, types.Scalar):
        return types.Scalar(type_.name.replace("long", "long long"))
    return type_
