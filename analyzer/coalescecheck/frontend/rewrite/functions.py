"""Device functions, methods and constructors, written when they are first called.

In: a choice of the overload resolution.  Out: a C function in the output and an
:class:`Instance` that calls can use.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tree_sitter import Node

from coalescecheck.frontend.rewrite import syntax, types, unread
from coalescecheck.frontend.rewrite.aliasing import returned_names
from coalescecheck.frontend.rewrite.body import FunctionWriter
from coalescecheck.frontend.rewrite.emit import Line, Mark, Piece
from coalescecheck.frontend.rewrite.env import (
    Env,
    Local,
    PackBound,
)
from coalescecheck.frontend.rewrite.ex import Ex, address_of
from coalescecheck.frontend.rewrite.ex import call as c_call
from coalescecheck.frontend.rewrite.index import FunctionEntry
from coalescecheck.frontend.rewrite.output import block, c_name
from coalescecheck.frontend.rewrite.overloads import Choice
from coalescecheck.frontend.rewrite.parameters import is_pack, parameter_nodes
from coalescecheck.frontend.rewrite.records import argument_name
from coalescecheck.frontend.rewrite.types import CType, Record
from coalescecheck.frontend.rewrite.visibility import visible_end
from coalescecheck.frontend.spelling import Call

if TYPE_CHECKING:
    from coalescecheck.frontend.rewrite.session import Session

_MAX_INSTANCES = 400  # of one kernel
_SHOWN = 40  # characters of code in a message
_MAX_DEPTH = 40  # functions being written inside each other


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter: its C name, C++ type and default.  A lambda has ``hidden`` parameters."""

    c: str
    type: CType
    node: Node
    default: Node | None = None
    hidden: tuple[tuple[str, CType], ...] = ()


@dataclass(slots=True, eq=False)
class Instance:
    """A C function: how to call it.  ``env`` is inside of it; default arguments are read
    around that.

    One that ``borrows`` returns a reference to an argument in C++, and its value here.
    """

    cname: str
    result: CType
    parameters: list[Parameter]
    env: Env
    self_type: Record | None = None
    open: bool = True
    announced: bool = False
    borrows: bool = False
    lines: list[Line] = field(default_factory=list)


class Functions:
    """All functions of one kernel."""

    def __init__(self, session: Session) -> None:
        self._s = session
        self._known: dict[tuple[object, ...], Instance] = {}
        self._depth = 0

    def full(self) -> bool:
        """Whether no more functions are written: recursive templates need not end."""
        return len(self._known) >= _MAX_INSTANCES or self._depth >= _MAX_DEPTH

    def request(self, choice: Choice, self_type: Record | None) -> Instance:
        """The instance for a choice, written if it is new."""
        entry = choice.entry
        owner = choice.found.record.cname if choice.found.record is not None else ""
        key = (id(entry), owner, *choice.bound.items())
        known = self._known.get(key)
        if known is not None:
            self._announce(known)
            return known
        constructing = self_type is not None and _is_constructor(entry, self_type)
        name = self._name(choice, self_type, constructing)
        writer = FunctionWriter(types.VOID, self_type)
        writer.self_const = syntax.is_const_method(entry.declarator)
        env = Env(choice.env, {}, function=writer, limit=visible_end(entry))
        parameters = self.parameters(entry, env)
        result = self._result(choice, env, self_type, constructing)
        borrows = _passes_on(entry, result, parameters)
        result = by_value(result) if borrows else result
        writer.result = result
        own = None if constructing else self_type
        instance = Instance(name, result, parameters, env, own, borrows=borrows)
        self._known[key] = instance
        if entry.body is None:
            self._declare(instance)
        else:
            instance.cname = self._s.output.unique(name)
            self._spell(instance, entry, self_type if constructing else None)
            self._depth += 1
            self._write(instance, entry, writer, constructing)
            self._depth -= 1
        instance.open = False
        return instance

    def _spell(self, instance: Instance, entry: FunctionEntry, made: Record | None) -> None:
        """Says how the user writes calls of an instance."""
        name = entry.name if made is None else made.layout.shown
        at = int(instance.self_type is not None)
        arguments: list[int | str] = []
        references: set[int] = set()
        for parameter in instance.parameters:
            match parameter.type:
                case types.Closure():
                    arguments.append("lambda")
                    at += len(parameter.hidden)
                    continue
                case types.GroupType():
                    arguments.append(parameter.c)
                    continue
                case types.Reference():
                    references.add(at)
            arguments.append(at)
            at += 1
        refers = isinstance(instance.result, types.Reference)
        method = instance.self_type is not None
        self._s.output.spellings.calls[instance.cname] = Call(
            name, tuple(arguments), method, frozenset(references), refers
        )

    def _name(self, choice: Choice, self_type: Record | None, constructing: bool) -> str:
        entry = choice.entry
        record = choice.found.record
        if constructing and self_type is not None:
            parts = [self_type.cname, "new"]
        elif record is not None:
            parts = [record.cname, _OPERATORS.get(entry.name, entry.name)]
        else:
            parts = [*entry.scope.path, _OPERATORS.get(entry.name, entry.name)]
        parts += [argument_name(a) for a in choice.bound.values()]
        return c_name(types.mangled([p for p in parts if p]))

    def _result(
        self, choice: Choice, env: Env, self_type: Record | None, constructing: bool
    ) -> CType:
        if constructing and self_type is not None:
            return self_type
        return types.unqualified(self.result_type(choice.entry, env))

    def tried_result(self, entry: FunctionEntry, home: Env) -> CType:
        """The result type with the template arguments in ``home``; it may name parameters."""
        writer = FunctionWriter(types.VOID, None)
        env = Env(home, {}, function=writer, limit=visible_end(entry))
        self.parameters(entry, env)
        return self.result_type(entry, env)

    def result_type(self, entry: FunctionEntry, env: Env) -> CType:
        """The declared result type."""
        if entry.declarator.type == "operator_cast":
            return self._converted_to(entry.declarator, env)
        outer = entry.node.child_by_field_name("declarator")
        type_ = self._s.typenames.declared(entry.node, outer, env)
        return type_.result if isinstance(type_, types.FunctionType) else type_

    def _converted_to(self, node: Node, env: Env) -> CType:
        type_ = node.child_by_field_name("type")
        base = self._s.typenames.type(type_, env) if type_ is not None else types.UNKNOWN
        at = node.child_by_field_name("declarator")
        while at is not None and at.type != "abstract_function_declarator":
            if at.type == "abstract_pointer_declarator":
                base = types.Pointer(base)
            elif at.type == "abstract_reference_declarator":
                base = types.Reference(base)
            at = syntax.inner_declarator(at)
        return base

    # -- parameters ---------------------------------------------------------------------

    def parameters(self, entry: FunctionEntry, env: Env) -> list[Parameter]:
        """Parameters with their names bound in ``env``."""
        out: list[Parameter] = []
        for number, node in enumerate(parameter_nodes(entry)):
            if is_pack(node):
                out += self.pack(node, env, entry.node)
                continue
            type_ = self._s.overloads.parameter_type(node, env)
            out.append(self._parameter(node, type_, number, env, entry.node))
        return out

    def _parameter(
        self, node: Node, type_: CType, number: int, env: Env, function: Node
    ) -> Parameter:
        declared = syntax.declared_name(node.child_by_field_name("declarator"))
        name = syntax.text(declared) if declared is not None else ""
        c = c_name(name) if name else f"unnamed__{number}"
        parameter, local = self.parameter(c, type_, node, env, function)
        if name:
            env.names[name] = local
        return parameter

    def parameter(
        self, c: str, type_: CType, node: Node, env: Env, function: Node
    ) -> tuple[Parameter, Local]:
        """A parameter of one type, and the local it is inside the ``function`` (or lambda)."""
        const = isinstance(type_, types.Reference) and type_.target.const
        named = syntax.declared_name(node.child_by_field_name("declarator"))
        value = by_value(type_)
        if value is not type_ and not self._read_first(named, function, env):
            value = type_
        type_ = value
        self._s.output.need(type_)
        default = node.child_by_field_name("default_value")
        bare = types.strip(type_)
        if isinstance(bare, types.Closure):
            hidden = self._s.lambdas.hidden(bare, c)
            captures = tuple(n for n, _ in hidden)
            return Parameter(c, bare, node, default, hidden), Local(c, bare, captures=captures)
        if isinstance(bare, types.GroupType):
            return Parameter(c, bare, node, default), Local(c, bare)
        const = const and not isinstance(type_, types.Reference)
        return Parameter(c, type_, node, default), Local(
            c, types.qualified(type_, const=const), fixed=True, given=True, referring=const
        )

    def _read_first(self, named: Node | None, function: Node, env: Env) -> bool:
        """Whether a parameter that refers to a constant is as good as its value; nobody reads one
        without a name."""
        if named is None:
            return function.child_by_field_name("body") is None
        return self._s.aliasing.kept(function, syntax.text(named), env)

    def pack(self, node: Node, env: Env, function: Node) -> list[Parameter]:
        """``Ts... xs``: one parameter for each type of the pack."""
        type_node = node.child_by_field_name("type")
        declared = syntax.declared_name(node.child_by_field_name("declarator"))
        if type_node is None:
            return []
        name = syntax.text(declared) if declared is not None else "unnamed"
        out, locals_ = [], []
        for number, inner in enumerate(self._s.expressions.pack_envs(type_node, env)):
            type_ = self._s.overloads.parameter_type(node, inner)
            parameter, local = self.parameter(f"{name}__{number}", type_, node, env, function)
            self._s.output.spellings.names[parameter.c] = name
            out.append(parameter)
            locals_.append(local)
        env.names[name] = PackBound(tuple(locals_))
        return out

    # -- writing ------------------------------------------------------------------------

    def _declare(self, instance: Instance) -> None:
        """A function without a body: known by its prototype only."""
        parameters: list[CType] = []
        if instance.self_type is not None:
            parameters.append(types.Pointer(instance.self_type))
        parameters += [p.type for p in instance.parameters]
        result = types.UNKNOWN if types.has_auto(instance.result) else instance.result
        instance.result = result
        instance.cname = self._s.output.prototype(instance.cname, result, parameters)

    def _announce(self, instance: Instance) -> None:
        """A function that is called while it is being written needs a prototype."""
        if instance.open and not instance.announced:
            instance.announced = True
            if types.has_auto(instance.result):
                instance.result = types.UNKNOWN
            self._s.output.prototypes.append(f"{self._head(instance)};")

    def _write(
        self, instance: Instance, entry: FunctionEntry, writer: FunctionWriter, constructing: bool
    ) -> None:
        env = instance.env
        if constructing:
            self._s.construction.begin(entry, env, writer)
        if entry.body is not None:
            self._s.statements.body(entry.body, env, writer)
            self._tell_of_faults(entry.node)
        if constructing:
            writer.line("return object;")
        if types.has_auto(instance.result):
            deduced = writer.result
            instance.result = types.VOID if types.has_auto(deduced) else deduced
        self._s.output.need(instance.result)
        self._s.output.spellings.references[instance.cname] = writer.references
        mark = Mark(entry.node.start_byte)
        head = (mark, self._head(instance))
        self._s.output.functions.append(block(writer.body(), head))

    def _tell_of_faults(self, function: Node) -> None:
        """Whatever the parser could not read may be missing in what was written."""
        for fault in syntax.faults(function) if function.has_error else ():
            if unread.only_specifiers(fault):
                continue
            shown = " ".join(self._s.original(fault).split())[:_SHOWN]
            what = f"`{fault.type}` is missing here" if fault.is_missing else f"`{shown}` is lost"
            self._s.say(fault, "error", f"syntax error: {what}; numbers near it may be missing")

    def _head(self, instance: Instance) -> str:
        parts = []
        if instance.self_type is not None:
            parts.append(types.declare(types.Pointer(instance.self_type), "self"))
        parts += self.spelled(instance.parameters)
        arguments = ", ".join(parts) or "void"
        return "static " + types.declare(instance.result, f"{instance.cname}({arguments})")

    @staticmethod
    def spelled(parameters: Sequence[Parameter]) -> list[str]:
        """C declarations of the parameters."""
        out = []
        for parameter in parameters:
            if isinstance(parameter.type, types.Closure):
                out += [types.declare(t, n) for n, t in parameter.hidden]
            elif not isinstance(parameter.type, types.GroupType):
                out.append(types.declare(parameter.type, parameter.c))
        return out

    # -- calling ------------------------------------------------------------------------

    def call(
        self,
        instance: Instance,
        self_address: Piece | None,
        arguments: Sequence[tuple[Ex, Node]],
        node: Node,
        env: Env,
    ) -> Ex:
        """A C call of an instance."""
        pieces: list[Piece] = []
        if instance.self_type is not None and self_address is not None:
            pieces.append(self_address)
        for number, parameter in enumerate(instance.parameters):
            if number < len(arguments):
                ex, at = arguments[number]
                pieces += self.argument(parameter, ex, at, env)
            elif parameter.default is not None:
                home = instance.env.parent or instance.env  # without the variables of the body
                ex = self._s.expressions.emit(parameter.default, home, parameter.type)
                pieces += self.argument(parameter, ex, parameter.default, home)
        result = instance.result
        if types.has_auto(result):
            result = types.UNKNOWN
        called = c_call(instance.cname, pieces, result, Mark(node.start_byte))
        for extra, _ in reversed(arguments[len(instance.parameters) :]):
            if not extra.pure and extra.type != types.VOID:  # for C's `...`: read all the same
                called = self._s.expressions.sequence(extra, called)
        return replace(called, borrowed=True) if instance.borrows else called

    def argument(self, parameter: Parameter, ex: Ex, at: Node, env: Env) -> list[Piece]:
        """The C arguments for one parameter: none, one, or a lambda's captures."""
        match parameter.type:
            case types.Closure():
                return list(ex.captures)
            case types.GroupType():
                return []
            case types.Reference() as reference:
                return [self._s.conversions.bound(ex, reference, at, env)]
            case type_:
                return [self._s.conversions.coerce(ex, type_, at, env).at(2)]

    def as_value(self, node: Node, env: Env, expected: CType | None) -> Ex | None:
        """A function's name used as a value: a function pointer."""
        candidates = self._s.calls.candidates(node, env)
        explicit = self._s.calls.explicit_arguments(node)
        wanted: Sequence[CType] | None = None
        target = expected.target if isinstance(expected, types.Pointer) else expected
        if isinstance(target, types.FunctionType):
            wanted = target.parameters
        if wanted is not None:
            choice = self._s.overloads.choose(candidates, wanted, explicit, env)
            return None if choice is None else self._pointer(choice, node)
        for entry, found in candidates:
            if entry.head is not None and not explicit:
                continue
            types_ = [
                self._s.overloads.parameter_type(p, found.env) for p in parameter_nodes(entry)
            ]
            choice = self._s.overloads.choose([(entry, found)], types_, explicit, env)
            if choice is not None:
                return self._pointer(choice, node)
        return None

    def _pointer(self, choice: Choice, node: Node) -> Ex:
        instance = self.request(choice, None)
        parameters = tuple(p.type for p in instance.parameters)
        signature = types.FunctionType(instance.result, parameters)
        piece = (Mark(node.start_byte), instance.cname)
        return Ex(piece, types.Pointer(signature), pure=True)

    def receiver(self, ex: Ex, path: Sequence[str]) -> Piece:
        """The address of the object a method is called on (or of one of its bases)."""
        if not ex.lvalue:
            ex = self._s.conversions.materialised(ex)
        if not path:
            return address_of(ex)
        return ("&", self._s.methods.inside(ex, path))


def _passes_on(entry: FunctionEntry, result: CType, parameters: list[Parameter]) -> bool:
    """Whether a function returns a constant reference to a parameter that is a value here."""
    if entry.body is None or by_value(result) is result:
        return False
    values = {p.c for p in parameters if not isinstance(p.type, types.Reference)}
    return any(c_name(name) in values for name in returned_names(entry.body))


def by_value(type_: CType) -> CType:
    """``const float &`` is passed by value: nothing can tell, and reading it is one access."""
    if isinstance(type_, types.Reference):
        target = type_.target
        if isinstance(target, types.GroupType | types.Closure):
            return target
        if target.const and not isinstance(target, types.Record | types.Array | types.Unknown):
            return types.unqualified(target)
    return type_


def _is_constructor(entry: FunctionEntry, record: Record) -> bool:
    source = record.layout.source
    own = getattr(getattr(source, "entry", None), "name", "")
    return entry.name == own and entry.node.child_by_field_name("type") is None


_OPERATORS = {
    "operator cast": "to", "operator()": "call", "operator[]": "at", "operator+": "add",
    "operator-": "sub", "operator*": "mul", "operator/": "div", "operator%": "mod",
    "operator+=": "add_to", "operator-=": "sub_from", "operator*=": "mul_by",
    "operator/=": "div_by", "operator=": "assign", "operator==": "equals", "operator!=": "differs",
    "operator<": "less", "operator>": "greater", "operator<=": "at_most", "operator>=": "at_least",
    "operator->": "arrow", "operator++": "increment", "operator--": "decrement",
    "operator!": "not_", "operator~": "complement", "operator&": "and_", "operator|": "or_",
    "operator^": "xor_", "operator<<": "shift_left", "operator>>": "shift_right",
    "operator&&": "both", "operator||": "either", "operator,": "comma",
}  # fmt: skip
