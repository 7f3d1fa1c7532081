"""Members of objects: fields, method calls, user-defined operators and conversions.

In: field expressions and operands of class type.  Out: :class:`Ex`, or None where the class
has no such member.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tree_sitter import Node

from coalescecheck.frontend.rewrite import groups, index, library, syntax, types
from coalescecheck.frontend.rewrite.associated import with_associated
from coalescecheck.frontend.rewrite.builtin_types import has_operators, is_storage
from coalescecheck.frontend.rewrite.conversion_ranks import zeros_among
from coalescecheck.frontend.rewrite.emit import Mark, Piece, plain
from coalescecheck.frontend.rewrite.env import Env, Found
from coalescecheck.frontend.rewrite.ex import PRIMARY, Ex, dereferenced
from coalescecheck.frontend.rewrite.index import FunctionEntry
from coalescecheck.frontend.rewrite.output import c_name
from coalescecheck.frontend.rewrite.overloads import Choice
from coalescecheck.frontend.rewrite.parameters import parameter_nodes
from coalescecheck.frontend.rewrite.qualified import base_name
from coalescecheck.frontend.rewrite.syntax import text
from coalescecheck.frontend.rewrite.types import CType, Record
from coalescecheck.frontend.rewrite.visibility import is_friend

if TYPE_CHECKING:
    from coalescecheck.frontend.rewrite.session import Session

_MEMBERS = ("()", "[]", "->", "=")  # operators that are members only
_NO_EFFECT = re.compile(r"\*?[\w.]+|\([\w ]+\)\{0\}")  # C text of an object
_MOST_ARROWS = 20  # objects whose `->` gives another one


class Methods:
    """Emits member accesses."""

    def __init__(self, session: Session) -> None:
        self._s = session
        session.expressions.register("field_expression", self._field)

    # -- fields -------------------------------------------------------------------------

    def _field(self, node: Node, env: Env, expected: CType | None) -> Ex:
        argument, field = node.child_by_field_name("argument"), node.child_by_field_name("field")
        if argument is None or field is None:
            return self._s.expressions.opaque(node, env, f"`{syntax.flat(node)}` is not known")
        cast_after_all = self._s.operators.misread_postfix(node, env)
        if cast_after_all is not None:
            return cast_after_all
        base = self._s.expressions.emit(argument, env)
        sign = node.child_by_field_name("operator")
        broken = any(part.type == "ERROR" for part in node.children)
        if broken or (sign is not None and "*" in text(sign)):  # `s.*p`
            return self._s.unknown_place("a pointer to a member", base, [], node)
        base, field = self._in_base(self._pointed(base, node, env), field, env)
        name = base_name(field)
        if isinstance(base.type, types.Record):
            ex = self.member(base, name, node)
            if ex is not None:
                return ex
            found = self._s.records.member(base.type, name)
            if found is not None:
                static = self._s.naming.of_found(found, node, env, expected)
                if static is not None:
                    return static
        if isinstance(base.type, types.Scalar) and is_storage(base.type, name):
            return replace(base, type=replace(base.type, enum=None))
        if isinstance(base.type, types.GroupType):
            return self._s.say_opaque(f"member `{name}`", [], types.UNKNOWN, node)
        if base.lvalue and not base.pure:
            return self._s.unknown_place(f"member `{name}`", base, [], node)
        return self._s.say_opaque(f"member `{name}`", [base], types.UNKNOWN, node)

    def _in_base(self, base: Ex, field: Node, env: Env) -> tuple[Ex, Node]:
        """The part of an object that is of class ``B``, and ``x``, for ``object.B::x``."""
        if field.type != "qualified_identifier" or not isinstance(base.type, Record):
            return base, field
        owner, last = self._s.qualified.in_object(field, base.type, env)
        if not isinstance(owner, Record):
            return base, field
        if self._s.records.base_path(base.type, owner.cname) is None:
            return base, field
        wanted = types.Reference(types.qualified(owner, const=base.type.const))
        return self._s.conversions.explicit(base, wanted, field, env), last

    def _pointed(self, base: Ex, node: Node, env: Env) -> Ex:
        """The object itself, for ``p->x``: ``*p`` which prints as ``p->`` later."""
        sign = node.child_by_field_name("operator")
        if sign is None or text(sign) != "->":
            return base
        for _ in range(_MOST_ARROWS):
            through = None
            if isinstance(base.type, types.Record):
                through = self.operator("->", [base], node, env)
            if through is None:
                break
            base = through
        if base.target is not None:
            return base.target
        type_ = base.decayed
        if isinstance(type_, types.Pointer):
            return dereferenced(base.at(14), type_.target)
        return base

    def member(self, base: Ex, name: str, node: Node) -> Ex | None:
        """A data member of an object; None if there is no such field."""
        if not isinstance(base.type, types.Record):
            return None
        found = self._s.records.member(base.type, c_name(name))
        if found is None or found.member is None:
            return None
        known = self._s.constant_objects.member(base, c_name(name)) if base.pure else None
        if known is not None:
            return replace(known, piece=(Mark(node.start_byte), plain(known.piece)))
        if isinstance(found.member.type, types.Array) and not base.lvalue:
            base = self._s.conversions.materialised(base)  # elements are at addresses
        start = Mark(node.start_byte, leads=True)
        piece: Piece = (start, self.inside(base, found.member.path))
        type_ = found.member.type
        if isinstance(type_, types.Reference):
            return dereferenced(piece, type_.target)
        const = base.type.const and not found.member.mutable
        type_ = types.qualified(type_, const=const, volatile=base.type.volatile)
        return Ex(piece, type_, PRIMARY, lvalue=base.lvalue, pure=base.pure)

    def inside(self, base: Ex, path: Sequence[str]) -> Piece:
        """C text of a member of an object, by the names that lead to it."""
        pointer = self._arrow(base)
        if pointer is not None:
            return (pointer, "->", ".".join(path))
        return (base.at(PRIMARY), ".", ".".join(path))

    @staticmethod
    def _arrow(base: Ex) -> Piece | None:
        """The pointer of ``*p`` where ``p->`` is valid C without parentheses."""
        address = base.address
        if address is None or base.precedence != 14:
            return None
        simple = _is_primary(address)
        return address if simple else ("(", address, ")")

    # -- method calls -------------------------------------------------------------------

    def call(self, node: Node, function: Node, nodes: list[tuple[Node, Env]], env: Env) -> Ex:
        """``object.method(arguments)``."""
        argument = function.child_by_field_name("argument")
        field = function.child_by_field_name("field")
        if argument is None or field is None:
            return self._s.expressions.opaque(node, env, f"`{syntax.flat(node)}` is not known")
        base = self._pointed(self._s.expressions.emit(argument, env), function, env)
        base, field = self._in_base(base, field, env)
        name = base_name(field)
        arguments = self._s.calls.typed_arguments(self._candidates(base, name), nodes)
        exs = [ex for ex, _ in arguments]
        lent = [a for ex, at in arguments for a in self._s.calls.lent(ex, at, env)]
        if isinstance(base.type, types.GroupType) and base.type.kind == library.LIBRARY:
            return library.method(self._s, name, exs, lent, node)
        if isinstance(base.type, types.GroupType):
            return groups.method(self._s, base.type, name, exs, node)
        if isinstance(base.type, types.Record):
            called = self._record_call(base, name, field, arguments, node, env)
            if called is not None:
                return called
        if isinstance(base.type, types.Closure) and name == "operator()":
            explicit = self._s.calls.explicit_arguments(field)
            return self._s.lambdas.call(base, base.type, arguments, node, env, explicit)
        if field.type == "destructor_name":
            return Ex("((void)0)", types.VOID)
        self._s.say(node, "warning", f"method `{name}` is not known: its value is unknown")
        return self._s.opaque_named(
            f"method__{types.mangled([name])}", [*self._object(base), *lent], types.UNKNOWN, node
        )

    def _candidates(self, base: Ex, name: str) -> list[tuple[FunctionEntry, Found]]:
        """The methods an object has under a name."""
        if not isinstance(base.type, types.Record):
            return []
        found = self._s.records.member(base.type, name)
        return found.functions() if found is not None else []

    def _object(self, base: Ex) -> list[Ex]:
        """An object of unknown class as an argument: by address where it has one."""
        if not base.lvalue:
            return [base] if base.type != types.VOID else []
        from_address = base.address if base.address is not None else ("&", base.at(14))
        return [Ex(from_address, types.Pointer(base.type), 14)]

    def _record_call(
        self,
        base: Ex,
        name: str,
        field: Node,
        arguments: list[tuple[Ex, Node]],
        node: Node,
        env: Env,
    ) -> Ex | None:
        record = base.type
        if not isinstance(record, types.Record):
            return None
        found = self._s.records.member(record, name)
        if found is None:
            return None
        if found.member is not None:  # a function object or lambda held in a field
            held = self.member(base, name, node)
            opened = None if held is None else self._s.closures.opened(held)
            if opened is not None and isinstance(opened.type, types.Closure):
                return self._s.lambdas.call(opened, opened.type, arguments, node, env)
            if held is not None and isinstance(held.type, types.Record):
                exs = [held, *(ex for ex, _ in arguments)]
                return self.operator("()", exs, node, env)
            return None
        candidates = found.functions()
        explicit = self._s.calls.explicit_arguments(field)
        actual = [ex.passed for ex, _ in arguments]
        zeros = zeros_among(arguments)
        choice = self._s.overloads.choose(candidates, actual, explicit, env, base.passed, zeros)
        if choice is None:
            return None
        return self.on_object(choice, base, arguments, node, env)

    def named(self, base: Ex, name: str, node: Node, env: Env) -> Ex | None:
        """``base.name()`` of an object; None if it has no such method."""
        found = self._s.records.member(base.type, name) if isinstance(base.type, Record) else None
        members = found.functions() if found is not None else []
        choice = self._s.overloads.choose(members, [], [], env, base.passed)
        return None if choice is None else self.on_object(choice, base, [], node, env)

    def on_object(
        self, choice: Choice, base: Ex, arguments: list[tuple[Ex, Node]], node: Node, env: Env
    ) -> Ex:
        """A call of a method that was chosen."""
        self._s.overloads.tell_of_tie(choice, node)
        owner = choice.found.record
        if owner is not None and self._s.virtual.decides(choice.entry, owner, base):
            message = f"`{choice.entry.name}` is virtual: which one is called is not known"
            self._s.say(node, "warning", message, hides=True)
            lent = [a for ex, at in arguments for a in self._s.calls.lent(ex, at, env)]
            result = self._s.functions.result_type(choice.entry, choice.env)
            name = types.mangled(["virtual", choice.entry.name])
            return self._s.opaque_named(name, [*self._object(base), *lent], result, node)
        constant = self._constant(choice, base, arguments, Mark(node.start_byte))
        if constant is not None:
            return constant
        if owner is None or self.is_static(choice.entry, owner):
            instance = self._s.functions.request(choice, None)
            return self._s.functions.call(instance, None, arguments, node, env)
        instance = self._s.functions.request(choice, types.unqualified(owner))
        path: tuple[str, ...] = ()
        if isinstance(base.type, types.Record):
            path = self._s.records.base_path(base.type, owner.cname) or ()
        if path and not owner.layout.fields:
            path = ()
        receiver = self._s.functions.receiver(base, path)
        return self._s.functions.call(instance, receiver, arguments, node, env)

    def _constant(
        self, choice: Choice, base: Ex, arguments: list[tuple[Ex, Node]], mark: Mark
    ) -> Ex | None:
        """The value of a constant method that needs nothing of its object."""
        owner = choice.found.record
        own = owner is not None and owner.layout.fields
        if own and owner is not None and not self.is_static(choice.entry, owner):
            return None
        if _NO_EFFECT.fullmatch(plain(base.piece)) is None:
            return None
        values = [ex.value for ex, _ in arguments]
        return self._s.constant_calls.expression(choice, values, mark)

    def on_self(self, choice: Choice, arguments: list[tuple[Ex, Node]], node: Node, env: Env) -> Ex:
        """A method called from another method of the object."""
        record = self._s.self_record(env)
        if record is None:
            instance = self._s.functions.request(choice, None)
            return self._s.functions.call(instance, None, arguments, node, env)
        own = dereferenced(self._s.self_name(env), self._s.self_object(env, record))
        return self.on_object(choice, own, arguments, node, env)

    def is_static(self, entry: FunctionEntry, record: Record) -> bool:
        """Whether a method has no object (its definition outside need not say so)."""
        if syntax.has_word(entry.node, "static") or (
            entry.scope.kind != "record" and (entry.owner is None)
        ):
            return True
        source = self._s.records.source(record)
        if entry.owner is None or source is None:
            return syntax.has_word(entry.node, "friend") or is_friend(entry)
        inside = index.members(source.entry).entries.get(entry.name, ())
        return any(
            isinstance(e, FunctionEntry) and syntax.has_word(e.node, "static") for e in inside
        )

    def parameter_of(self, candidate: tuple[FunctionEntry, Found], number: int) -> CType | None:
        """The declared type of a candidate's parameter."""
        entry, found = candidate
        parameters = parameter_nodes(entry)
        if number >= len(parameters) or entry.head is not None:
            return None
        return types.strip(self._s.overloads.parameter_type(parameters[number], found.env))

    # -- operators ----------------------------------------------------------------------

    def operator(self, sign: str, operands: list[Ex], node: Node, env: Env) -> Ex | None:
        """A user-defined operator for these operands; None if there is none."""
        name = f"operator{sign}"
        first = operands[0]
        arguments = [(ex, node) for ex in operands]
        if isinstance(first.type, types.Record):
            found = self._s.records.member(first.type, name)
            members = found.functions() if found is not None else []
            actual = [ex.passed for ex in operands[1:]]
            choice = self._s.overloads.choose(members, actual, [], env, first.passed)
            if choice is not None and not self.is_static(choice.entry, first.type):
                free = None if sign in _MEMBERS else self._free_operator(name, operands, env)
                if free is None or free.cost[0] + 0.5 > choice.cost[0]:
                    return self.on_object(choice, first, arguments[1:], node, env)
        if sign in _MEMBERS:
            return None
        choice = self._free_operator(name, operands, env)
        if choice is None or (choice.cost[0] >= 1 and has_operators([ex.type for ex in operands])):
            return None
        self._s.overloads.tell_of_tie(choice, node)
        values = [ex.value for ex in operands]
        constant = self._s.constant_calls.expression(choice, values, Mark(node.start_byte))
        if constant is not None:
            return constant
        instance = self._s.functions.request(choice, None)
        return self._s.functions.call(instance, None, arguments, node, env)

    def _free_operator(self, name: str, operands: list[Ex], env: Env) -> Choice | None:
        """The operator function that is no member and fits the operands best."""
        candidates = self._s.names.functions(env, name, methods=False)
        kinds = [ex.type for ex in operands]
        candidates = with_associated(self._s, candidates, name, kinds, env)
        if not any(isinstance(types.strip(kind), types.Record) for kind in kinds):
            candidates = [(e, f) for e, f in candidates if self._is_for_one(e, kinds, f.env)]
        return self._s.overloads.choose(candidates, [ex.passed for ex in operands], [], env)

    def _is_for_one(self, entry: FunctionEntry, kinds: Sequence[CType], home: Env) -> bool:
        """Whether one of the operand types is that of a parameter: for an enumeration no others
        are candidates (over.match.oper), whatever else it converts to."""
        if entry.head:
            return True
        wanted = (self._s.overloads.parameter_type(p, home) for p in parameter_nodes(entry))
        own = [types.strip(kind) for kind in kinds]
        return any(types.strip(type_) in own for type_ in wanted)

    def assignment(self, sign: str, target: Ex, value: Ex, node: Node, env: Env) -> Ex | None:
        """``target sign value`` by a user-defined assignment operator."""
        same = types.strip(value.type) == types.strip(target.type)
        target_type = target.type
        if sign == "=" and same and isinstance(target_type, Record):
            if self._s.records.copies(target_type, "operator="):
                return self.operator(sign, [target, value], node, env)
            return None  # copying is what C does
        return self.operator(sign, [target, value], node, env)

    # -- conversions --------------------------------------------------------------------

    def _conversions(
        self, record: Record, *, explicit: bool = False
    ) -> list[tuple[FunctionEntry, Found]]:
        """The conversion operators of a class, those called ``explicit`` only if asked for."""
        found = self._s.records.member(record, "operator cast")
        known = found.functions() if found is not None else []
        return [(e, f) for e, f in known if explicit or not syntax.has_word(e.node, "explicit")]

    def converted(self, record: Record, to: CType) -> CType | None:
        """What the conversion operator that is best for ``to`` gives; None if none fits."""
        best = self._best(record, to)
        return None if best is None else best[2]

    def _best(
        self, record: Record, to: CType, *, explicit: bool = False
    ) -> tuple[FunctionEntry, Found, CType] | None:
        """The conversion operator that fits the object best, then the one closest to ``to``."""
        best: tuple[FunctionEntry, Found, CType] | None = None
        least = (9, 9)
        for entry, found in self._conversions(record, explicit=explicit):
            result = types.strip(self._s.functions.result_type(entry, found.env))
            same = types.unqualified(result) == types.unqualified(to)
            both_pointers = isinstance(result, types.Pointer) and isinstance(to, types.Pointer)
            fits = same or both_pointers
            if not fits and not (types.is_arithmetic(result) and types.is_arithmetic(to)):
                continue
            const = syntax.is_const_method(entry.declarator)
            rank = (2 if record.const and not const else int(const != record.const), int(not same))
            if rank < least:
                best, least = (entry, found, result), rank
        return best

    def conversion(
        self, ex: Ex, to: CType, node: Node, env: Env, *, explicit: bool = False
    ) -> Ex | None:
        """``ex`` converted by an operator of its class; None if it has no such operator."""
        record = ex.type
        if not isinstance(record, types.Record):
            return None
        best = self._best(record, to, explicit=explicit)
        if best is None:
            return None
        entry, found, _ = best
        choice = Choice(entry, found, {}, Env(found.env), (0.0,))
        return self.on_object(choice, ex, [], node, env)

    def as_scalars(self, a: Ex, b: Ex, node: Node, env: Env) -> tuple[Ex, Ex] | None:
        """Operands of class type converted to the scalars their classes convert to."""
        out: list[Ex] = []
        for ex in (a, b):
            if not isinstance(ex.type, types.Record):
                out.append(ex)
                continue
            options = self._conversions(ex.type)
            if len(options) != 1:
                return None
            entry, found = options[0]
            result = self._s.functions.result_type(entry, found.env)
            converted = self.conversion(ex, types.strip(result), node, env)
            if converted is None or isinstance(converted.type, types.Record):
                return None
            out.append(converted)
        return out[0], out[1]

    def pointer(self, base: Ex, node: Node, env: Env) -> Ex | None:
        """An object used where a pointer is subscripted."""
        if not isinstance(base.type, types.Record):
            return None
        return self.conversion(base, types.Pointer(types.VOID), node, env)


def _is_primary(piece: Piece) -> bool:
    """Whether address text is a plain name, call or member: ``->`` may follow it."""
    shown = plain(piece)
    depth = 0
    for position, character in enumerate(shown):
        if character in "([":
            depth += 1
        elif character in ")]":
            depth -= 1
        elif (
            depth == 0
            and not (character.isalnum() or character in "_.")
            and not (character in "->" and position > 0)
        ):
            return False
    return not shown.startswith("(") or (shown.endswith(")") and _closes_at_end(shown))


def _closes_at_end(shown: str) -> bool:
    depth = 0
    for position, character in enumerate(shown):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return position == len(shown) - 1
    return False
