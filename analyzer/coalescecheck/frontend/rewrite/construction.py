"""Objects of class type: constructors, aggregates, braced lists.

In: types and arguments or braced lists.  Out: :class:`Ex`, initialiser text, the beginning of a
constructor's C function.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tree_sitter import Node

from coalescecheck.frontend import ctypes_lp64
from coalescecheck.frontend.rewrite import index, syntax, types
from coalescecheck.frontend.rewrite.body import FunctionWriter
from coalescecheck.frontend.rewrite.emit import Mark, Piece, joined
from coalescecheck.frontend.rewrite.env import Env, Found
from coalescecheck.frontend.rewrite.ex import ASSIGN, PRIMARY, Ex, constant, folded_cast, literal
from coalescecheck.frontend.rewrite.index import FunctionEntry
from coalescecheck.frontend.rewrite.initialisers import MOST_ELEMENTS
from coalescecheck.frontend.rewrite.output import c_name
from coalescecheck.frontend.rewrite.overloads import Choice
from coalescecheck.frontend.rewrite.syntax import text
from coalescecheck.frontend.rewrite.types import CType, Field, Record

if TYPE_CHECKING:
    from coalescecheck.frontend.rewrite.session import Session

_MOST_VALUES = 4096  # that a declaration begins with
_DELEGATED = "another constructor"  # of the same class, in a constructor's list
_DELETED = ("default_method_clause", "delete_method_clause")


class Construction:
    """Constructs records."""

    def __init__(self, session: Session) -> None:
        self._s = session
        self._weights: dict[int, tuple[types.Layout, int]] = {}

    def construct(self, record: Record, arguments: list[Ex], node: Node, env: Env) -> Ex:
        """``record(arguments)``: by a constructor, as a copy, or as an aggregate."""
        record = types.unqualified(record)
        if len(arguments) == 1 and types.strip(arguments[0].type) == record:
            return self._s.copying.copied(arguments[0], record, node, env)
        if len(arguments) == 1 and self._s.closures.held_type(arguments[0].type) == record:
            return self._s.closures.object_of(arguments[0], node, env)
        constructed = self.by_constructor(record, arguments, node, env)
        if constructed is not None:
            return constructed
        if len(arguments) == 1 and isinstance(arguments[0].type, types.Record):
            converted = self._s.methods.conversion(arguments[0], record, node, env)
            if converted is not None:
                return converted
            unpacked = self._componentwise(record, arguments[0])
            if unpacked is not None:
                return unpacked
        return self._aggregate(record, arguments, node, env)

    def by_constructor(
        self, record: Record, arguments: list[Ex], node: Node, env: Env
    ) -> Ex | None:
        """An object made by the constructor that fits best; None if none fits."""
        constructors = self._constructors(record)
        if len(arguments) == 1 and not self._is_copied(record, arguments[0]):
            constructors = [c for c in constructors if not self._copies(record, *c)]
        for base in self._s.records.inherited(record):
            given = [types.strip(a.type) for a in arguments]
            if given and given != [types.unqualified(base)]:  # not to copy, not by default
                constructors += self._constructors(base)
        choice = self._s.overloads.choose(constructors, [a.passed for a in arguments], [], env)
        if choice is None:
            return None
        self._s.overloads.tell_of_tie(choice, node)
        pairs = [(a, node) for a in arguments]
        return self._constructed(record, choice, pairs, node, env)

    def _is_copied(self, record: Record, argument: Ex) -> bool:
        """Whether a copy of ``argument`` may be what is made. What only a constructor makes a
        ``record`` is given to that constructor itself."""
        given = types.strip(argument.type)
        if not isinstance(given, Record):
            return not (isinstance(given, types.Pointer) or types.is_arithmetic(given))
        if self._s.records.base_path(given, record.cname) is not None:
            return True
        return self._s.methods.converted(given, record) is not None

    def _copies(self, record: Record, entry: FunctionEntry, found: Found) -> bool:
        """Whether a constructor takes an object of its own class."""
        if entry.head or not self._s.overloads.takes(entry, 1):
            return False
        return types.strip(self._s.overloads.first_parameter(entry, found.env)) == record

    def _constructors(self, record: Record) -> list[tuple[FunctionEntry, Found]]:
        source = self._s.records.source(record)
        if source is None:
            return []
        found = Found(source.env, record=record)
        return [
            (e, found)
            for e in self._s.records.constructors(record)
            if syntax.child(e.node, *_DELETED) is None and "(" in text(e.declarator)
        ]

    def _constructed(
        self, record: Record, choice: Choice, pairs: list[tuple[Ex, Node]], node: Node, env: Env
    ) -> Ex:
        """An object made by a constructor of its class, or by one that it inherits."""
        owner = choice.found.record
        if owner is None or owner == record:
            instance = self._s.functions.request(choice, record)
            return self._s.functions.call(instance, None, pairs, node, env)
        self._s.output.need(record)
        for base in self._s.records.inherited(record, deep=False):
            if self._s.records.base_path(base, owner.cname) is None:
                continue
            value = self._constructed(base, choice, pairs, node, env)
            step = record.layout.bases[base.cname]
            rest = self.left_over(record, frozenset((step,)), node, env)
            if not base.layout.fields:
                whole = Ex((f"({record.spelled}){{", joined(rest or ["0"]), "}"), record)
                return self._s.expressions.sequence(value, whole)
            parts: list[Piece] = [(f".{step} = ", value.at(ASSIGN)), *rest]
            return Ex((f"({record.spelled}){{", joined(parts), "}"), record)
        return self._s.say_opaque(f"construction of `{record.layout.shown}`", [], record, node)

    @staticmethod
    def _componentwise(record: Record, value: Ex) -> Ex | None:
        """``dim3(uint3)`` and the like: another record with the same members."""
        if not isinstance(value.type, types.Record) or not value.pure:
            return None
        fields, others = record.layout.fields, value.type.layout.fields
        if [f.name for f in fields] != [f.name for f in others] or not fields:
            return None
        parts: list[Piece] = [(value.at(PRIMARY), ".", f.name) for f in fields]
        return Ex((f"({record.spelled}){{", joined(parts), "}"), record)

    def _aggregate(self, record: Record, arguments: list[Ex], node: Node, env: Env) -> Ex:
        mark = Mark(node.start_byte)
        self._s.output.need(record)
        if not record.layout.complete:
            return self._s.say_opaque(
                f"construction of `{record.layout.shown}`", arguments, record, node
            )
        fields = record.layout.fields
        if record.cname == "dim3" and len(arguments) < 3:
            arguments = [*arguments, *[literal(ctypes_lp64.plain(1))] * (3 - len(arguments))]
        if len(arguments) > len(fields):
            return self._s.say_opaque(
                f"construction of `{record.layout.shown}`", arguments, record, node
            )
        parts = [
            self._member_value(ex, field.type, node, env)
            for ex, field in zip(arguments, fields, strict=False)
            if not isinstance(field.type, types.GroupType)
        ]
        parts += self.left_over(
            record, frozenset(f.name for f in fields[: len(arguments)]), node, env
        )
        if not parts:
            return self.zero(record, mark)
        return Ex((mark, f"({record.spelled}){{", joined(parts), "}"), record)

    def _member_value(self, ex: Ex, type_: CType, node: Node, env: Env) -> Piece:
        if isinstance(type_, types.Reference):
            return self._s.conversions.bound(ex, type_, node, env)
        return self._s.conversions.coerce(ex, type_, node, env).at(ASSIGN)

    def zero(self, type_: CType, mark: Mark) -> Ex:
        """A value-initialised object."""
        self._s.output.need(type_)
        if isinstance(type_, types.Record):
            return Ex((mark, f"({type_.spelled}){{0}}"), type_)
        if isinstance(type_, types.Pointer):
            return Ex((mark, "((void*)0)"), type_, pure=True)
        zero = folded_cast(ctypes_lp64.plain(0), type_)
        if zero is not None:
            return constant(zero, type_, mark)
        return Ex((mark, f"({types.spell(type_)})0"), type_, 14, pure=True)

    def default(self, record: Record, node: Node, env: Env) -> Ex | None:
        """What ``record x;`` initialises x with; None if it leaves it alone."""
        for entry in self._s.records.constructors(record):
            if syntax.child(entry.node, *_DELETED) is None:
                return self.by_constructor(record, [], node, env)
        weight = self._weight(record)
        if weight > _MOST_VALUES:
            self._s.say(
                node, "note", f"the many members of `{record.layout.shown}` are not followed"
            )
        if not 0 < weight <= _MOST_VALUES:
            return None
        parts = self.left_over(record, frozenset(), node, env)
        return Ex((f"({record.spelled}){{", joined(parts), "}"), record) if parts else None

    def _weight(self, type_: CType) -> int:
        """How many values ``T x;`` begins with; kept, as classes hold classes many times over."""
        if isinstance(type_, types.Array):
            return (type_.count or 1) * self._weight(type_.element)
        if not isinstance(type_, types.Record):
            return 0
        known = self._weights.get(id(type_.layout))
        if known is not None:
            return known[1]
        if any(
            syntax.child(e.node, *_DELETED) is None for e in self._s.records.constructors(type_)
        ):
            return 1
        source = self._s.records.source(type_)
        total = 0
        if source is not None and not type_.layout.union:
            given = member_defaults(source.entry)
            for field in type_.layout.fields:
                total += 1 if field.name in given else self._weight(field.type)
        if type_.layout.complete:
            self._weights[id(type_.layout)] = (type_.layout, total)
        return total

    def left_over(self, record: Record, given: frozenset[str], node: Node, env: Env) -> list[Piece]:
        """What C must be told of the members that a braced list does not give."""
        parts: list[Piece] = []
        for field in record.layout.fields:
            value = None if field.name in given else self._own(field, record, node, env)
            if value is not None:
                parts.append((f".{field.name} = ", value))
        return parts

    def _own(self, field: Field, record: Record, node: Node, env: Env) -> Piece | None:
        """What a member begins with if nothing initialises it: its default, or its class's."""
        source = self._s.records.source(record)
        if source is None or record.layout.union:
            return None
        given = member_defaults(source.entry).get(field.name)
        if given is not None and self._names_member(given, record):
            what = f"what `{field.name}` begins with, made of other members,"
            return self._s.say_opaque(what, [], field.type, given).at(ASSIGN)
        if given is not None:
            return self._s.initialisers.item(given, field.type, source.env)
        return self.begun(field.type, node, env)

    def _names_member(self, node: Node, record: Record) -> bool:
        """Whether an expression names a data member of the object itself."""
        for part in syntax.walk(node):
            if part.type == "this":
                return True
            if part.type != "identifier":
                continue
            found = self._s.records.member(record, text(part))
            if found is not None and found.member is not None:
                return True
        return False

    def begun(self, type_: CType, node: Node, env: Env) -> Piece | None:
        """What ``T x;`` initialises x with, in braces for an array; None if it leaves it alone."""
        if isinstance(type_, types.Record):
            made = self.default(type_, node, env)
            return made.at(ASSIGN) if made is not None else None
        if not isinstance(type_, types.Array):
            return None
        element = self.begun(type_.element, node, env)
        if element is None:
            return None
        if type_.count is None or type_.count > MOST_ELEMENTS:
            self._s.say(node, "note", "the elements of a long array of objects are not followed")
            return None
        return ("{", joined([element] * type_.count), "}")

    def begin(self, entry: FunctionEntry, env: Env, writer: FunctionWriter) -> None:
        """The head of a constructor: the object and its member initialisers."""
        record = writer.self_type
        if record is None:
            return
        writer.returns_object = True
        self._s.entered(writer)
        writer.line(f"{record.spelled} object;")
        writer.line(f"{record.spelled} *self = &object;")
        given = self._given(entry, record, env)
        if _DELEGATED in given:
            self._other(_DELEGATED, *given.pop(_DELEGATED), record, writer)
            self._s.left()
            return
        self._begin_empty_bases(given, record, writer)
        for field in record.layout.fields:
            found = given.get(field.name)
            if found is not None:
                self._initialise(field, *found, writer)
            else:
                self._begin(field, record, env, writer)
        names = {f.name for f in record.layout.fields}
        for name, (arguments, inner) in given.items():
            if name not in names:
                self._other(name, arguments, inner, record, writer)
        self._s.left()

    def _begin_empty_bases(
        self, given: dict[str, tuple[Node, Env]], record: Record, writer: FunctionWriter
    ) -> None:
        """What the constructors of bases without members do."""
        source = self._s.records.source(record)
        if source is None or record.layout.union:
            return
        for base in source.bases:
            if base.layout.fields:
                continue
            none = (source.entry.node, source.env)
            node, env = given.pop(record.layout.bases[base.cname], none)
            listed = [] if node is source.entry.node else syntax.operands(node)
            exs = [
                self._s.expressions.emit(n, e) for n, e in self._s.expressions.expand(listed, env)
            ]
            made = self.construct(base, exs, node, env) if exs else self.default(base, node, env)
            if made is not None and not made.pure:
                writer.line((made.piece, ";"))

    def _begin(self, field: Field, record: Record, env: Env, writer: FunctionWriter) -> None:
        """A member that the constructor's list does not name."""
        source = self._s.records.source(record)
        if source is None:
            return
        given = member_defaults(source.entry).get(field.name)
        if given is not None and not isinstance(field.type, types.Array):
            value: Piece | None = self._s.expressions.converted(given, env, field.type).at(ASSIGN)
        else:
            value = self._own(field, record, source.entry.node, env)
        if value is None:
            return
        if isinstance(field.type, types.Array):
            self._copied(field.name, field.type, value, writer)
            return
        writer.line((f"self->{field.name} = ", value, ";"))

    def _copied(self, place: str, type_: types.Array, value: Piece, writer: FunctionWriter) -> None:
        """An array member's elements, which C cannot assign all at once."""
        self._s.output.need(type_)
        name = writer.fresh("elements")
        writer.line((types.declare(type_, name), " = ", value, ";"))
        for number in range(type_.count or 0):
            writer.line(f"self->{place}[{number}] = {name}[{number}];")

    def _given(self, entry: FunctionEntry, record: Record, env: Env) -> dict[str, tuple[Node, Env]]:
        """Member initialisers by the name of the field, with their environment."""
        found: dict[str, tuple[Node, Env]] = {}
        for item in syntax.operands(syntax.child(entry.node, "field_initializer_list")):
            parts = syntax.operands(item)
            if len(parts) < 2:
                continue
            is_pack = syntax.child(item, "...") is not None
            for inner in self._s.expressions.pack_envs(item, env) if is_pack else [env]:
                found[self._initialised(parts[0], record, inner)] = (parts[-1], inner)
        return found

    def _initialised(self, node: Node, record: Record, env: Env) -> str:
        """The field that a name in a constructor's list stands for."""
        name = c_name(text(node))
        if any(f.name == name for f in record.layout.fields):
            return name
        meant = self._s.names.find(env, text(node)) if node.type == "field_identifier" else None
        type_ = self._s.typenames.of_found(meant, env) if meant is not None else None
        if node.type == "template_method":
            type_ = self._s.applied_template(node, None, env)
        type_ = type_ or self._s.type_if_named(node, env)
        if not isinstance(type_, Record):
            return name
        own = types.unqualified(type_) == record
        return _DELEGATED if own else record.layout.bases.get(type_.cname, name)

    def _initialise(self, field: Field, arguments: Node, env: Env, writer: FunctionWriter) -> None:
        nodes = self._s.expressions.expand(syntax.operands(arguments), env)
        place = Ex(f"self->{field.name}", field.type, lvalue=True)
        if isinstance(field.type, types.Array):
            self._initialise_array(field.name, field.type, arguments, env, writer)
            return
        if isinstance(field.type, types.GroupType):
            return
        if isinstance(field.type, types.Reference):
            ex = self._s.expressions.emit(*nodes[0], field.type)
            value = self._s.conversions.bound(ex, field.type, arguments, env)
        elif isinstance(field.type, types.Record):
            exs = [self._s.expressions.emit(n, e) for n, e in nodes]
            value = self.construct(field.type, exs, arguments, env).at(ASSIGN)
        elif nodes:
            ex = self._s.expressions.converted(*nodes[0], field.type)
            value = ex.at(ASSIGN)
        else:
            value = self.zero(field.type, Mark(arguments.start_byte)).at(ASSIGN)
        writer.line((Mark(arguments.start_byte), place.piece, " = ", value, ";"))

    def _initialise_array(
        self, place: str, type_: types.Array, arguments: Node, env: Env, writer: FunctionWriter
    ) -> None:
        flat = not isinstance(type_.element, types.Array)
        if flat and type_.count is not None and type_.count <= MOST_ELEMENTS:
            value = self._s.initialisers.braces(arguments, type_, env)
            self._copied(place, type_, value, writer)
        elif syntax.operands(arguments):
            message = "an array member's initialiser is left out: what it accesses is not seen"
            self._s.say(arguments, "warning", message, hides=True)

    def _other(
        self, name: str, arguments: Node, env: Env, record: Record, writer: FunctionWriter
    ) -> None:
        """Another constructor of the class, or a member of an anonymous union."""
        found = self._s.records.member(record, name)
        if name == _DELEGATED:
            nodes = self._s.expressions.expand(syntax.operands(arguments), env)
            exs = [self._s.expressions.emit(n, e) for n, e in nodes]
            made = self.construct(record, exs, arguments, env)
            writer.line(("object = ", made.at(ASSIGN), ";"))
        elif found is not None and found.member is not None:
            field = Field(".".join(found.member.path), types.unqualified(found.member.type))
            self._initialise(field, arguments, env, writer)
        else:
            what = f"what `{name}` in a constructor's list initialises is not known"
            self._s.say(arguments, "warning", f"{what}: what it accesses is not seen", hides=True)


def member_defaults(entry: index.RecordEntry) -> dict[str, Node]:
    """Default member initialisers by field name."""
    found: dict[str, Node] = {}
    for member in syntax.operands(entry.node.child_by_field_name("body")):
        if member.type != "field_declaration" or syntax.has_word(member, "static"):
            continue
        name = None
        for number, item in enumerate(member.children):
            role = member.field_name_for_child(number)
            if role == "declarator":
                name = syntax.declared_name(item)
            elif role == "default_value" and name is not None:
                found[c_name(text(name))] = item
    return found
