"""Declarations inside functions: variables, references, shared arrays, local type names.

In: declaration nodes.  Out: lines of the function being written, names in the environment.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tree_sitter import Node

from coalescecheck.frontend.rewrite import class_deduction, destructors, syntax, types
from coalescecheck.frontend.rewrite.body import FunctionWriter
from coalescecheck.frontend.rewrite.conversions import refers_to_unknown
from coalescecheck.frontend.rewrite.emit import Mark, Piece, joined, plain
from coalescecheck.frontend.rewrite.env import Env, Local, ValueBound
from coalescecheck.frontend.rewrite.ex import ASSIGN, PRIMARY, Ex, literal
from coalescecheck.frontend.rewrite.misread import MisreadDeclaration
from coalescecheck.frontend.rewrite.output import c_name
from coalescecheck.frontend.rewrite.syntax import text
from coalescecheck.frontend.rewrite.types import CType, Record

if TYPE_CHECKING:
    from coalescecheck.frontend.rewrite.session import Session


@dataclass(frozen=True, slots=True)
class _Variable:
    """One declared variable: where, what, and its initialiser in either form."""

    node: Node
    name: str
    type: CType
    value: Node | None  # `= value` or a braced list
    arguments: list[Node] | None  # `(arguments)`
    shared: bool = False
    extern: bool = False
    static: bool = False
    constant: bool = False
    align: int = 0


class Declarations:
    """Emits local declarations."""

    def __init__(self, session: Session) -> None:
        self._s = session

    def local(self, node: Node, env: Env, writer: FunctionWriter) -> None:
        """A declaration statement."""
        type_node = node.child_by_field_name("type")
        declarators = syntax.declarators(node)
        if any(map(syntax.declares_word, declarators)):
            self._s.statements.unknown(node, env, writer)
            return
        if type_node is not None and not declarators:
            self._s.typenames.type(type_node, env)
        for declarator in declarators:
            if declarator.is_missing:
                continue
            binding = _structured(declarator)
            if binding is not None:
                self._s.local_names.structured(node, declarator, binding, env, writer)
                continue
            variable = self._variable(node, declarator, env)
            if variable is not None:
                self._declare(variable, env, writer)
        if node.has_error:
            self._errors(node, env, writer)

    def _errors(self, node: Node, env: Env, writer: FunctionWriter) -> None:
        for part in syntax.children(node, "ERROR"):
            self._s.statements.statement(part, env, writer)

    def _variable(self, node: Node, declarator: Node, env: Env) -> _Variable | None:
        value: Node | None = None
        arguments: list[Node] | None = None
        target = declarator
        if declarator.type == "init_declarator":
            value = declarator.child_by_field_name("value")
            target = declarator.child_by_field_name("declarator") or declarator
            if value is not None and value.type == "argument_list":
                value, arguments = None, syntax.operands(value)
        function = syntax.function_declarator(target)
        if function is not None and target.type == "function_declarator":
            if not self._is_vexing(function, env):
                return None  # a prototype inside a function
            parameters = syntax.operands(function.child_by_field_name("parameters"))
            arguments = [p.child_by_field_name("type") or p for p in parameters]
            target = syntax.inner_declarator(function) or target
            if any(p.child_by_field_name("declarator") is not None for p in parameters):
                # `T x(a * b)` with an `a` that is declared nowhere
                message = f"`{text(declarator)}` is not understood: what it accesses is not seen"
                self._s.say(declarator, "error", message)
                arguments = None
        name = syntax.declared_name(target)
        if name is None:
            return None
        values = arguments if value is None else [value]
        type_ = self._s.typenames.declared(node, target, env, self._deduced(node, values, env))
        if syntax.points_to_member(target):
            self._s.say(declarator, "warning", "pointers to members are not followed")
            value, arguments = None, None
        return _Variable(
            declarator, text(name), type_, value, arguments,
            shared=syntax.has_word(node, "__shared__"),
            extern=syntax.has_word(node, "extern"),
            static=syntax.has_word(node, "static"),
            constant=syntax.has_word(node, "constexpr"),
            align=self._s.alignments.of_declared(node, declarator, env),
        )  # fmt: skip

    def _deduced(self, node: Node, values: list[Node] | None, env: Env) -> Record | None:
        """The class of ``Box b(p);``, where Box is a template."""
        type_ = node.child_by_field_name("type")
        if type_ is None or not values:
            return None
        if class_deduction.template_named(self._s, type_, env) is None:
            return None
        if len(values) == 1 and values[0].type == "initializer_list":
            values = syntax.operands(values[0])
        exs = [self._s.expressions.emit(n, e) for n, e in self._s.expressions.expand(values, env)]
        return class_deduction.deduced(self._s, type_, [ex.passed for ex in exs], env)

    def _is_vexing(self, function: Node, env: Env) -> bool:
        """``T x(a)`` read as a prototype: its "parameter types" are values."""
        parameters = syntax.operands(function.child_by_field_name("parameters"))
        for parameter in parameters:
            type_ = parameter.child_by_field_name("type")
            if type_ is None or type_.type not in ("type_identifier", "qualified_identifier"):
                return False
            if self._s.type_if_named(type_, env) is not None:
                return False
        return bool(parameters)

    # -- one variable -------------------------------------------------------------------

    def _declare(self, variable: _Variable, env: Env, writer: FunctionWriter) -> None:
        if variable.shared:
            self._shared(variable, env, writer)
            return
        own = types.strip(variable.type)
        if isinstance(own, Record) and own.cname == c_name(variable.name):
            own.layout.hidden = True  # `struct x x = …`
        type_ = variable.type
        if variable.value is not None and not types.has_auto(type_) and _named(variable):
            env.names[variable.name] = Local(c_name(variable.name), type_)
        first = self._first(variable, env)
        if isinstance(types.strip_reference(type_), types.Auto) or _pointer_to_auto(type_):
            type_ = self.resolved(type_, first) if first is not None else types.UNKNOWN
            if first is not None and first.lvalue and _keeps_reference(variable):
                type_ = types.Reference(first.type)
        bare = types.strip(type_)
        if isinstance(bare, types.GroupType):
            size = first.type if first is not None else bare
            kept = size if isinstance(size, types.GroupType) else bare
            env.names[variable.name] = Local(variable.name, kept)
        elif isinstance(bare, types.Closure):
            captures = first.captures if first is not None else ()
            made_here = variable.value is None or variable.value.type == "lambda_expression"
            if self._s.lambdas.keeps_state(bare) and not made_here:
                bare = types.UNKNOWN
                self._s.say(variable.node, "warning", "a copy of a mutable lambda is not known")
            env.names[variable.name] = Local(variable.name, bare, captures=captures)
        elif isinstance(type_, types.Reference):
            self._reference(variable, type_, first, env, writer)
        elif first is not None and self._is_function(variable, bare, first):
            env.names[variable.name] = Local(plain(first.piece), bare)
        elif not self._constant(variable, type_, first, env, writer):
            self._plain(variable, type_, first, env, writer)

    @staticmethod
    def _is_function(variable: _Variable, type_: CType, first: Ex) -> bool:
        """Whether a pointer is another name for one function from here on."""
        function = isinstance(type_, types.Pointer) and isinstance(type_.target, types.FunctionType)
        named = first.pure and plain(first.piece).isidentifier()
        return function and named and not syntax.changes_around(variable.node, variable.name)

    def _first(self, variable: _Variable, env: Env) -> Ex | None:
        """The initialiser's value where one expression initialises the variable."""
        expected = None if isinstance(variable.type, types.Auto) else variable.type
        node = variable.value
        if node is None and variable.arguments is not None and len(variable.arguments) == 1:
            node = variable.arguments[0]
        if node is None or isinstance(types.strip(variable.type), types.Array):
            return None
        if isinstance(types.strip(variable.type), types.Record) and (
            variable.value is None or node.type == "initializer_list"
        ):
            return None
        return self._s.expressions.emit(node, env, expected)

    def resolved(self, type_: CType, ex: Ex) -> CType:
        """``auto`` and its decorations, given the initialiser."""
        if isinstance(type_, types.Auto):
            return types.qualified(ex.decayed, const=type_.const)
        if isinstance(type_, types.Reference) and isinstance(type_.target, types.Auto):
            if not ex.lvalue:
                return types.unqualified(ex.decayed)
            return types.Reference(types.qualified(ex.type, const=type_.target.const))
        if _pointer_to_auto(type_):
            return pointed(type_, ex.decayed)
        return type_

    def _constant(
        self, variable: _Variable, type_: CType, first: Ex | None, env: Env, writer: FunctionWriter
    ) -> bool:
        """An integer constant: an enumerator, or its literal where int is not its type."""
        constant = (variable.constant or type_.const) and not self._s.unread
        if not constant or first is None or not types.is_integer(type_):
            return False
        value = self._s.conversions.coerce(first, type_, variable.node, env).value
        if value is None and self._s.is_free(plain(first.piece)):
            spelled = plain(first.at(PRIMARY))  # an unknown constant: may be an array bound
            env.names[variable.name] = ValueBound(spelled, types.unqualified(type_))
            return True
        if value is None or value.type.is_float:
            return False
        c = c_name(variable.name)
        if types.unqualified(type_) == types.INT:
            spelled = plain(literal(value).piece)
            writer.line((Mark(variable.node.start_byte), f"enum {{ {c} = {spelled} }};"))
            env.names[variable.name] = Local(c, types.INT, value)
        else:
            env.names[variable.name] = Local(c, types.unqualified(type_), value, literal=True)
        return True

    def _reference(
        self,
        variable: _Variable,
        type_: types.Reference,
        first: Ex | None,
        env: Env,
        writer: FunctionWriter,
    ) -> None:
        c = c_name(variable.name)
        if first is None and variable.value is not None:
            first = self._s.expressions.emit(variable.value, env, type_.target)
        if first is None:
            first = self._s.say_opaque("a reference", [], types.strip(type_), variable.node)
        if first.borrowed and variable.value is not None and _may_change_later(variable.value):
            why = "what a reference to an argument refers to"
            first = self._s.say_opaque(why, [first], types.strip(type_), variable.node)
        if type_.target.const and not first.lvalue and not refers_to_unknown(first, type_):
            value = self._s.conversions.coerce(first, type_.target, variable.node, env)
            self._line(variable, types.unqualified(type_.target), c, value.at(ASSIGN), writer)
            env.names[variable.name] = Local(c, type_.target, referring=True)
            return
        address = self._s.conversions.bound(first, type_, variable.node, env)
        self._line(variable, type_, c, address, writer)
        env.names[variable.name] = Local(c, type_)

    def _plain(
        self, variable: _Variable, type_: CType, first: Ex | None, env: Env, writer: FunctionWriter
    ) -> None:
        c = c_name(variable.name)
        fixed = type_.const
        if not variable.static:
            type_ = types.unqualified(type_) if not isinstance(type_, types.Array) else type_
        type_ = self._sized(variable, type_, env)
        value = self._initialiser(variable, type_, first, env)
        array = isinstance(type_, types.Array)
        seen = type_ if array else types.qualified(type_, const=fixed)
        env.names[variable.name] = Local(c, seen, static=variable.static, fixed=fixed)
        self._line(variable, type_, c, value, writer)
        if not variable.static:
            self._tell_of_destructor(type_, c, variable.node, writer)

    def _tell_of_destructor(self, type_: CType, c: str, node: Node, writer: FunctionWriter) -> None:
        """What a destructor does at the end of the scope is not followed, and not hidden."""
        element = type_
        while isinstance(element, types.Array):
            element = element.element
        name = destructors.that_acts(element)
        if name:
            message = f"the destructor of `{name}` is not followed: what it accesses is not seen"
            self._s.say(node, "warning", message, hides=True)
            pointer = types.Pointer(types.qualified(element, const=True))
            place = c if isinstance(type_, types.Array) else f"&{c}"
            ended = self._s.opaque_named("object_ends", [Ex(place, pointer)], types.VOID, node)
            writer.line((ended.piece, ";"))

    def _sized(self, variable: _Variable, type_: CType, env: Env) -> CType:
        """``int t[] = {1, 2}`` has two elements."""
        if isinstance(type_, types.Array) and type_.count is None and not type_.extent:
            value = variable.value
            if value is not None and value.type in ("initializer_list", *syntax.STRINGS):
                count = self._s.initialisers.elements(value, type_.element, env)
                return types.Array(type_.element, count)
        return type_

    def _initialiser(
        self, variable: _Variable, type_: CType, first: Ex | None, env: Env
    ) -> Piece | None:
        value = variable.value
        if first is not None:
            return self._s.conversions.coerce(first, type_, variable.node, env).at(ASSIGN)
        if value is not None and value.type == "initializer_list":
            if isinstance(type_, types.Array):
                return self._s.initialisers.braces(value, type_, env)
            return self._s.initialisers.value(value, types.unqualified(type_), env).at(ASSIGN)
        if value is not None:
            return self._s.expressions.emit(value, env, type_).at(ASSIGN)
        if isinstance(type_, types.Record):
            if variable.arguments is not None:
                nodes = self._s.expressions.expand(variable.arguments, env)
                exs = [self._s.expressions.emit(n, e) for n, e in nodes]
                made = self._s.construction.construct(type_, exs, variable.node, env)
                return made.at(ASSIGN)
            made_default = self._s.construction.default(type_, variable.node, env)
            return made_default.at(ASSIGN) if made_default is not None else None
        if isinstance(type_, types.Array) and not (variable.static or variable.arguments):
            return self._s.construction.begun(type_, variable.node, env)
        if variable.arguments:
            exs = [self._s.expressions.emit(a, env) for a in variable.arguments]
            return self._s.say_opaque("an initialiser", exs, type_, variable.node).at(ASSIGN)
        return None

    def _line(
        self,
        variable: _Variable,
        type_: CType,
        c: str,
        value: Piece | None,
        writer: FunctionWriter,
        prefix: str = "",
    ) -> None:
        self._s.output.need(type_)
        align = f"_Alignas({variable.align}) " if variable.align else ""
        static = "static " if variable.static and not prefix else ""
        head = f"{prefix}{static}{align}{types.declare(type_, c)}"
        mark = Mark(variable.node.start_byte)
        writer.line((mark, head, ";") if value is None else (mark, head, " = ", value, ";"))

    # -- shared memory ------------------------------------------------------------------

    def _shared(self, variable: _Variable, env: Env, writer: FunctionWriter) -> None:
        c, type_ = c_name(variable.name), types.unqualified(variable.type)
        element = type_
        while isinstance(element, types.Array):
            element = element.element
        if isinstance(element, types.GroupType):  # a library's storage: only it knows what it holds
            env.names[variable.name] = Local(c, element)
            return
        if not variable.extern:
            env.names[variable.name] = Local(c, type_, static=True)
            self._line(variable, type_, c, None, writer, "[[cuda::shared]] ")
            return
        known = self._s.dynamic_shared(c, type_)
        if known == type_:
            env.names[variable.name] = Local(c, type_, static=True)
            self._line(variable, type_, c, None, writer, "[[cuda::shared]] extern ")
            return
        # one name, two element types (`extern __shared__ T s[]`): one array, seen as both
        self._line(variable, known, c, None, writer, "[[cuda::shared]] extern ")
        alias = writer.fresh(c)
        pointer = types.decayed(type_)
        self._s.output.need(pointer)
        writer.line(f"{types.declare(pointer, alias)} = ({types.spell(pointer)}){c};")
        env.names[variable.name] = Local(alias, pointer)

    # -- the rest -----------------------------------------------------------------------

    def misread(self, found: MisreadDeclaration, env: Env, writer: FunctionWriter) -> None:
        """A declaration the grammar took for an expression."""
        arguments = syntax.operands(found.arguments) if found.arguments is not None else None
        variable = _Variable(found.name, text(found.name), found.type, found.value, arguments)
        self._declare(variable, env, writer)

    def condition(self, node: Node, env: Env, writer: FunctionWriter) -> Ex:
        """``if (int x = f())``: the declaration, then its variable as the condition."""
        target = node.child_by_field_name("declarator")
        name = syntax.declared_name(target)
        if target is None or name is None:
            return self._s.expressions.opaque(node, env, "a condition is not understood")
        type_ = self._s.typenames.declared(node, target, env)
        value = node.child_by_field_name("value")
        if target.type == "init_declarator":
            value = target.child_by_field_name("value")
        self._declare(_Variable(target, text(name), type_, value, None), env, writer)
        return self._s.conversions.truth(self._s.expressions.emit(name, env), name, env)

    def loop_head(self, node: Node, env: Env, writer: FunctionWriter) -> Piece | None:
        """``int i = 0, j = n`` in the head of a for; None if C cannot say it there."""
        parts: list[Piece] = []
        base: str | None = None
        variables = [self._variable(node, d, env) for d in syntax.declarators(node)]
        if not variables or any(v is None or _structured(v.node) for v in variables):
            return None
        for variable in variables:
            if (
                variable is None
                or not _simple(variable.type)
                or (len(variables) > 1 and isinstance(variable.type, types.Auto))
            ):
                return None
        for variable in variables:
            if variable is None:
                continue
            first = self._first(variable, env)
            type_ = types.unqualified(variable.type)
            if isinstance(type_, types.Auto):
                type_ = self.resolved(type_, first) if first is not None else types.UNKNOWN
            if not _simple(type_) or isinstance(type_, types.Auto):
                return None
            self._s.output.need(type_)
            c = c_name(variable.name)
            declared = types.declare(type_, c)
            own = (
                declared[: declared.index(" ")]
                if isinstance(type_, types.Pointer)
                else (declared[: -len(c)])
            )
            if base is not None and (own.strip() != base.strip() or "*" in declared):
                return None
            base = base or own
            value = self._initialiser(variable, type_, first, env)
            shown = declared if not parts else c
            mark = Mark(variable.node.start_byte)
            parts.append((mark, shown, " = ", value) if value is not None else (mark, shown))
            env.names[variable.name] = Local(c, type_)
        return joined(parts)


def _keeps_reference(variable: _Variable) -> bool:
    """Whether ``decltype(auto) x = value;`` makes a reference of an object."""
    declaration = variable.node.parent
    type_ = declaration.child_by_field_name("type") if declaration is not None else None
    named = ("identifier", "field_expression", "qualified_identifier")
    return (
        type_ is not None
        and text(type_).startswith("decltype")
        and variable.value is not None
        and variable.value.type not in named
    )


def _named(variable: _Variable) -> bool:
    """Whether a variable's initialiser names the variable."""
    parts = syntax.walk(variable.value) if variable.value is not None else ()
    return any(p.type == "identifier" and text(p) == variable.name for p in parts)


def _may_change_later(call: Node) -> bool:
    """Whether a call has arguments that the function around it may change."""
    for argument in syntax.operands(call.child_by_field_name("arguments")):
        if argument.type in ("number_literal", "binary_expression", "call_expression"):
            continue
        if argument.type != "identifier" or _assigned(argument):
            return True
    return False


def _assigned(name: Node) -> bool:
    """Whether a variable is changed or lent somewhere in the function, by more than this call."""
    function = name.parent
    while function is not None and function.type != "function_definition":
        function = function.parent
    for part in syntax.walk(function) if function is not None else ():
        if part.type == "identifier" and text(part) == text(name) and syntax.may_change(part):
            here = part.parent is not None and part.parent.type == "argument_list"
            if not (here and part.start_byte == name.start_byte):
                return True
    return False


def _structured(declarator: Node) -> Node | None:
    for node in syntax.walk(declarator):
        if node.type == "structured_binding_declarator":
            return node
        if node.type in ("argument_list", "initializer_list", "call_expression"):
            return None
    return None


def _pointer_to_auto(type_: CType) -> bool:
    return isinstance(type_, types.Pointer) and isinstance(type_.target, types.Auto)


def pointed(pattern: CType, actual: CType) -> CType:
    """``const auto *`` for a pointer: what it points to is const then."""
    if not isinstance(pattern, types.Pointer) or not isinstance(actual, types.Pointer):
        return actual
    target = types.qualified(actual.target, const=pattern.target.const)
    return types.qualified(replace(actual, target=target), const=pattern.const)


def _simple(type_: CType) -> bool:
    return isinstance(type_, types.Scalar | types.Pointer | types.Unknown | types.Auto) and (
        not _pointer_to_auto(type_)
    )
