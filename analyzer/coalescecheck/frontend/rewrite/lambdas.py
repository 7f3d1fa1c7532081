"""Lambda expressions: C functions with their captures as leading parameters.

In: lambda expressions and calls of them.  Out: :class:`Ex`.  A lambda is nothing at run time;
whoever calls it passes the captured variables, by address if they may change.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from tree_sitter import Node

from coalescecheck.frontend.rewrite import index, syntax, types
from coalescecheck.frontend.rewrite.body import FunctionWriter
from coalescecheck.frontend.rewrite.captures import (
    Capture,
    LambdaSource,
    copies_object,
    is_copied,
)
from coalescecheck.frontend.rewrite.declarations import pointed
from coalescecheck.frontend.rewrite.emit import Mark, Piece, plain
from coalescecheck.frontend.rewrite.env import Argument, Env, Local, PackBound
from coalescecheck.frontend.rewrite.ex import Ex, address_of
from coalescecheck.frontend.rewrite.ex import call as c_call
from coalescecheck.frontend.rewrite.functions import Instance, Parameter
from coalescecheck.frontend.rewrite.naming import Naming
from coalescecheck.frontend.rewrite.output import block
from coalescecheck.frontend.rewrite.parameters import is_pack
from coalescecheck.frontend.rewrite.syntax import text
from coalescecheck.frontend.rewrite.types import Closure, CType
from coalescecheck.frontend.spelling import Call

if TYPE_CHECKING:
    from coalescecheck.frontend.rewrite.session import Session

_IDLE = re.compile(r"[\w.]*|[\w.]+->[\w.]+|&?\(?\*\w+\)?")  # C text of an object that is not read


class Lambdas:
    """Emits lambda expressions and their calls."""

    def __init__(self, session: Session) -> None:
        self._s = session
        self._known: dict[tuple[object, ...], Instance] = {}
        session.expressions.register("lambda_expression", self._expression)

    def _expression(self, node: Node, env: Env, expected: CType | None) -> Ex:
        return self._closure(node, node.child_by_field_name("body"), env)

    def statement_expression(self, node: Node, env: Env) -> Ex:
        """GNU's ``({ … })``: a lambda called where it stands."""
        callee = self._closure(node, node, env)
        if not isinstance(callee.type, Closure):
            return callee
        return self.call(callee, callee.type, [], node, env)

    def _closure(self, node: Node, body: Node | None, env: Env) -> Ex:
        if self._s.captures.copies_changing_object(node, env):
            return self._s.say_opaque("a copy of `*this` in a lambda", [], types.UNKNOWN, node)
        env = self._s.captures.own(node, body, env)
        captures = self._s.captures.of(node, body, env)
        cname = f"lambda__{node.start_byte}"
        source = LambdaSource(node, body, env, captures)
        closure = Closure(f"{cname}__{id(env)}", source)
        pieces: list[Piece] = []
        record = self._s.self_record(env)
        if record is not None:
            pieces.append(self._s.self_name(env))
        for capture in captures:
            pieces += self._passed(capture, node)
        return Ex("0", closure, pure=True, captures=tuple(pieces))

    def _passed(self, capture: Capture, node: Node) -> list[Piece]:
        local = capture.local
        if isinstance(local.type, types.Closure):
            return list(local.captures)
        if isinstance(local.type, types.GroupType):
            return []
        ex = Naming.local(local, Mark(node.start_byte))
        return [address_of(ex) if capture.by_address else local.c]

    @staticmethod
    def keeps_state(closure: Closure) -> bool:
        """Whether a lambda may change what it holds, so that a copy of it is another one."""
        source = closure.source
        if not isinstance(source, LambdaSource):
            return False
        return "mutable" in text(source.node.child_by_field_name("declarator") or source.node)

    # -- parameters ---------------------------------------------------------------------

    def hidden(self, closure: Closure, stem: str) -> tuple[tuple[str, CType], ...]:
        """The parameters that a function taking the closure has for it."""
        source = closure.source
        if not isinstance(source, LambdaSource):
            return ()
        out: list[tuple[str, CType]] = []
        record = self._s.self_record(source.env)
        if record is not None:
            out.append((f"{stem}__self", types.Pointer(record)))
        for capture in source.captures:
            out += self._declared(capture, f"{stem}__{capture.name}")
        return tuple(out)

    def parts(self, closure: Closure) -> tuple[tuple[str, CType, bool], ...]:
        """The hidden parameters of a closure, and which of them are captured by copy."""
        source = closure.source
        if not isinstance(source, LambdaSource):
            return ()
        out: list[tuple[str, CType, bool]] = []
        record = self._s.self_record(source.env)
        if record is not None and copies_object(source.node):
            out.append(("self", types.Reference(record), True))
        elif record is not None:
            out.append(("self", types.Pointer(record), False))
        for capture in source.captures:
            copied = is_copied(capture, source)
            if isinstance(capture.local.type, types.Closure):
                inner = self.parts(capture.local.type)
                out += [(f"{capture.name}__{n}", t, c and copied) for n, t, c in inner]
            else:
                out += [(n, t, copied) for n, t in self._declared(capture, capture.name)]
        return tuple(out)

    def _declared(self, capture: Capture, name: str) -> list[tuple[str, CType]]:
        local = capture.local
        if isinstance(local.type, types.Closure):
            return list(self.hidden(local.type, name))
        if isinstance(local.type, types.GroupType):
            return []
        if capture.by_address:
            return [(name, types.Reference(types.strip_reference(local.type)))]
        return [(name, types.unqualified(local.type))]

    # -- calls --------------------------------------------------------------------------

    def call(
        self,
        callee: Ex,
        closure: Closure,
        arguments: list[tuple[Ex, Node]],
        node: Node,
        env: Env,
        explicit: list[Node] | None = None,
    ) -> Ex:
        """A call of a lambda."""
        explicit = explicit or []
        source = closure.source
        exs = [ex for ex, _ in arguments]
        if not isinstance(source, LambdaSource):
            return self._s.say_opaque("a call of a lambda", exs, types.UNKNOWN, node)
        if len(self.hidden(closure, "held")) != len(callee.captures):
            return self._not_understood("that comes from elsewhere", callee, closure, exs, node)
        bound = self._deduced(source, exs, explicit, env)
        if bound is None:
            return self._not_understood("with these arguments", callee, closure, exs, node)
        key: tuple[object, ...] = (closure.cname, *bound.items())
        if "auto" in text(source.node.child_by_field_name("declarator") or source.node):
            key += tuple((ex.passed, ex.moved) for ex in exs)
        instance = self._known.get(key)
        if instance is None:
            instance = self._write(closure, source, exs, key, bound, _called(node))
        pieces = list(callee.captures)
        for parameter, (ex, at) in zip(instance.parameters, arguments, strict=False):
            pieces += self._s.functions.argument(parameter, ex, at, env)
        for parameter in instance.parameters[len(arguments) :]:
            if parameter.default is not None:
                home = instance.env.parent or instance.env
                ex = self._s.expressions.emit(parameter.default, home, parameter.type)
                pieces += self._s.functions.argument(parameter, ex, parameter.default, env)
        result = instance.result
        if isinstance(result, types.Auto):
            result = types.UNKNOWN
        called = c_call(instance.cname, pieces, result, Mark(node.start_byte))
        if _IDLE.fullmatch(plain(callee.piece)):
            return called
        return self._s.expressions.sequence(replace(callee, type=types.INT), called)

    def _not_understood(
        self, which: str, callee: Ex, closure: Closure, exs: list[Ex], node: Node
    ) -> Ex:
        message = f"a lambda {which} is not followed: what it accesses is not seen"
        self._s.say(node, "warning", message, hides=True)
        return self._s.opaque_call(
            [*self._lent(callee, closure), *exs], types.UNKNOWN, Mark(node.start_byte)
        )

    def _deduced(
        self, source: LambdaSource, exs: list[Ex], explicit: list[Node], env: Env
    ) -> dict[str, Argument] | None:
        """The arguments of a lambda's own template parameters; None if one is not known."""
        listed = source.node.child_by_field_name("template_parameters")
        if listed is None:
            return {}
        head = index.template_head(listed) or ()
        declarator = source.node.child_by_field_name("declarator")
        holder = declarator.child_by_field_name("parameters") if declarator is not None else None
        actual = [ex.passed for ex in exs]
        return self._s.overloads.deduce_head(
            head, source.env, syntax.operands(holder), actual, explicit, env
        )

    def _lent(self, callee: Ex, closure: Closure) -> list[Ex]:
        """The variables that a lambda may change, as their addresses."""
        held = [type_ for _, type_ in self.hidden(closure, "held")]
        pairs = zip(callee.captures, held, strict=False)
        return [
            Ex(piece, types.Pointer(type_.target))
            for piece, type_ in pairs
            if isinstance(type_, types.Reference)
        ]

    def _write(
        self,
        closure: Closure,
        source: LambdaSource,
        arguments: list[Ex],
        key: tuple[object, ...],
        bound: dict[str, Argument],
        called: str,
    ) -> Instance:
        writer = FunctionWriter(types.Auto(), self._s.self_record(source.env))
        around = source.env.function
        writer.self_const = around is not None and around.self_const
        env = Env(source.env, dict(bound), function=writer)
        cname = self._s.output.unique(closure.cname.rsplit("__", 1)[0])
        declarations = []
        if writer.self_type is not None:
            declarations.append(types.declare(types.Pointer(writer.self_type), "self"))
        for capture in source.captures:
            copied = not self.keeps_state(closure) and is_copied(capture, source)
            declarations += self._enter(capture, env, copied=copied)
        declarator = source.node.child_by_field_name("declarator")
        parameters = self._parameters(source.node, declarator, arguments, env)
        declarations += self._s.functions.spelled(parameters)
        writer.result = self._result(declarator, env)
        instance = Instance(cname, writer.result, parameters, env)
        self._known[key] = instance
        self._spell(instance, len(declarations) - len(parameters), called)
        writer.returns_last = source.body is source.node
        if source.body is not None:
            self._s.statements.body(source.body, env, writer)
        result = writer.result
        instance.result = types.VOID if isinstance(result, types.Auto) else result
        instance.open = False
        self._s.output.need(instance.result)
        spelled = ", ".join(declarations) or "void"
        head = "static " + types.declare(instance.result, f"{cname}({spelled})")
        self._s.output.spellings.references[cname] = writer.references
        piece = (Mark(source.node.start_byte), head)
        self._s.output.functions.append(block(writer.body(), piece))
        return instance

    def _spell(self, instance: Instance, hidden: int, called: str) -> None:
        """Says how the user writes calls: without what is captured."""
        kinds = [p.type for p in instance.parameters]
        plain_ = not any(isinstance(k, types.Closure | types.GroupType) for k in kinds)
        places = range(hidden, hidden + len(kinds)) if plain_ else ()
        references = {
            p for p, k in zip(places, kinds, strict=False) if isinstance(k, types.Reference)
        }
        refers = isinstance(instance.result, types.Reference)
        self._s.output.spellings.calls[instance.cname] = Call(
            called, tuple(places), references=frozenset(references), refers=refers
        )

    def _enter(self, capture: Capture, env: Env, *, copied: bool) -> list[str]:
        """Binds a captured name inside the function; its C parameter declarations.

        A ``copied`` variable is const in there.
        """
        declared = self._declared(capture, capture.local.c)
        local = capture.local
        if isinstance(local.type, types.Closure):
            captures = tuple(n for n, _ in declared)
            env.names[capture.name] = Local(local.c, local.type, captures=captures)
        elif isinstance(local.type, types.GroupType):
            env.names[capture.name] = local
        else:
            type_ = declared[0][1]
            if copied and isinstance(type_, types.Reference):
                type_ = types.Reference(types.qualified(type_.target, const=True))
            elif copied:
                type_ = types.qualified(type_, const=True)
            own = isinstance(local.type, types.Reference) and not local.captured
            env.names[capture.name] = Local(local.c, type_, captured=not own)
        return [types.declare(t, n) for n, t in declared]

    def _parameters(
        self, function: Node, declarator: Node | None, arguments: list[Ex], env: Env
    ) -> list[Parameter]:
        out: list[Parameter] = []
        holder = declarator.child_by_field_name("parameters") if declarator is not None else None
        for number, node in enumerate(syntax.operands(holder)):
            if is_pack(node):
                out += self._pack(function, node, arguments[number:], env)
                break
            if "parameter" not in node.type:
                continue
            type_ = self._s.overloads.parameter_type(node, env)
            if number < len(arguments):
                type_ = _resolved(type_, arguments[number])
            named = syntax.declared_name(node.child_by_field_name("declarator"))
            c = text(named) if named is not None else f"unnamed__{number}"
            parameter, local = self._s.functions.parameter(c, type_, node, env, function)
            if named is not None:
                env.names[text(named)] = local
            out.append(parameter)
        return out

    def _pack(self, function: Node, node: Node, given: list[Ex], env: Env) -> list[Parameter]:
        """``auto... xs``: one parameter for each argument."""
        if text(node.child_by_field_name("type") or node) != "auto":
            return self._s.functions.pack(node, env, function)
        named = syntax.declared_name(node.child_by_field_name("declarator"))
        name = text(named) if named is not None else "unnamed"
        out, locals_ = [], []
        for number, argument in enumerate(given):
            type_ = _resolved(self._s.overloads.parameter_type(node, env), argument)
            parameter, local = self._s.functions.parameter(
                f"{name}__{number}", type_, node, env, function
            )
            self._s.output.spellings.names[parameter.c] = name
            out.append(parameter)
            locals_.append(local)
        env.names[name] = PackBound(tuple(locals_))
        return out

    def _result(self, declarator: Node | None, env: Env) -> CType:
        trailing = syntax.child(declarator, "trailing_return_type") if declarator else None
        inner = syntax.operands(trailing)
        return self._s.typenames.type(inner[-1], env) if inner else types.Auto()


def _called(call: Node) -> str:
    """The name by which a lambda is called."""
    function = call.child_by_field_name("function")
    return text(function) if function is not None and function.type == "identifier" else "lambda"


def _resolved(type_: CType, argument: Ex) -> CType:
    """``auto`` parameters take the argument's type."""
    if isinstance(type_, types.Auto):
        return argument.decayed
    if isinstance(type_, types.Reference) and isinstance(type_.target, types.Auto):
        if argument.named:  # an object, though written as its value
            return types.Reference(types.qualified(argument.decayed, const=True))
        if not argument.lvalue:
            return argument.decayed
        rvalue = type_.rvalue and argument.moved
        return types.Reference(types.qualified(argument.type, const=type_.target.const), rvalue)
    if isinstance(type_, types.Pointer) and isinstance(type_.target, types.Auto):
        return pointed(type_, argument.decayed)
    return type_
