"""Calls: of functions, methods, function objects, lambdas, casts, builtins and the unknown.

In: call expressions.  Out: :class:`Ex`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tree_sitter import Node

from coalescecheck.frontend import ctypes_lp64
from coalescecheck.frontend.rewrite import (
    class_deduction,
    deduction,
    groups,
    index,
    library,
    offsetof,
    swapping,
    syntax,
    traits,
    types,
)
from coalescecheck.frontend.rewrite.associated import with_associated
from coalescecheck.frontend.rewrite.conversion_ranks import zeros_among
from coalescecheck.frontend.rewrite.emit import Mark, Piece
from coalescecheck.frontend.rewrite.env import Env, Found, Local, TypeBound
from coalescecheck.frontend.rewrite.ex import (
    PRIMARY,
    UNARY,
    Ex,
    address_of,
    dereferenced,
    joined_arguments,
    literal,
)
from coalescecheck.frontend.rewrite.index import FunctionEntry
from coalescecheck.frontend.rewrite.overloads import Choice
from coalescecheck.frontend.rewrite.qualified import base_name
from coalescecheck.frontend.rewrite.syntax import text
from coalescecheck.frontend.rewrite.types import CType

if TYPE_CHECKING:
    from coalescecheck.frontend.rewrite.session import Session

_CASTS = frozenset({"static_cast", "reinterpret_cast", "const_cast", "dynamic_cast"})
_HEAP_OPERANDS = frozenset(
    {"identifier", "subscript_expression", "pointer_expression", "field_expression",
     "parenthesized_expression", "call_expression"}
)  # fmt: skip
_HEAP_LISTS = ("argument_list", "initializer_list", "new_declarator")  # of `new (place) T[n]{a}`
_FETCHES = ("tex1D", "tex2D", "tex3D", "texCubemap", "surf1D", "surf2D", "surf3D")
_OVERLOADED = frozenset({"min", "max", "abs"})  # by CUDA, for all arithmetic types from int on
_PASSED_ON = frozenset({"move", "forward", "as_const", "ref", "cref", "launder"})
# builtin names that the grammar reads as identifiers when called
_SCALAR_NAMES = {"short": "short", "long": "long", "unsigned": "unsigned int", "signed": "int"}
_SCALAR_NAMES |= {f"_{name[1:]}": type_ for name, type_ in _SCALAR_NAMES.items()}  # by `repair`
_TEMPLATES = ("template_function", "template_method", "template_type")


class Calls:
    """Emits calls."""

    def __init__(self, session: Session) -> None:
        self._s = session
        session.expressions.register("call_expression", self._call)
        session.expressions.register("compound_literal_expression", self._braced)
        session.expressions.register("new_expression", self._heap)
        session.expressions.register("user_defined_literal", self._literal)
        session.expressions.register("delete_expression", self._heap)

    def _call(self, node: Node, env: Env, expected: CType | None) -> Ex:
        function = node.child_by_field_name("function")
        holder = node.child_by_field_name("arguments")
        if function is None or holder is None:
            return self._s.expressions.opaque(node, env, f"`{syntax.flat(node)}` is not a call")
        if syntax.child(node, "kernel_call_syntax") is not None:
            return self._launch(node, env, holder)
        nodes = self._s.expressions.expand(syntax.operands(holder), env)
        while function.type == "parenthesized_expression" and function.named_child_count == 1:
            function = function.named_children[0]
        match function.type:
            case "field_expression":
                return self._s.methods.call(node, function, nodes, env)
            case "primitive_type" | "sized_type_specifier" | "decltype":
                type_ = self._s.typenames.type(function, env)
                return self._functional_cast(type_, nodes, node, env)
            case "identifier" | "qualified_identifier" | "type_identifier" | "field_identifier":
                return self._named(node, function, nodes, env)
            case "template_function" | "template_type" | "dependent_name":
                return self._named(node, function, nodes, env)
            case _:
                return self._object(self._s.expressions.emit(function, env), nodes, node, env)

    # -- names --------------------------------------------------------------------------

    def _named(self, node: Node, function: Node, nodes: list[tuple[Node, Env]], env: Env) -> Ex:
        found, last = self._resolve(function, env)
        name = base_name(last)
        if name in _SCALAR_NAMES:
            return self._functional_cast(types.Scalar(_SCALAR_NAMES[name]), nodes, node, env)
        if name == offsetof.BUILTIN:
            return self._s.offsets.call(nodes, node, env)
        if name in _CASTS:
            return self._cast(last, nodes, node, env)
        if name == "noexcept":  # its operand is not evaluated
            return self._s.say_opaque("`noexcept`", [], types.BOOL, node)
        if found is not None and isinstance(found.binding, TypeBound):
            type_ = self._s.type_if_named(function, env) or found.binding.type
            return self._functional_cast(type_, nodes, node, env)
        if found is not None and (found.binding is not None or found.member is not None):
            ex = self._s.naming.of_found(found, function, env, None)
            if ex is not None:
                return self._object(ex, nodes, node, env)
        entries = found.entries if found is not None else []
        if any(isinstance(e, index.VariableEntry | index.EnumeratorEntry) for e in entries):
            callee = self._s.expressions.emit(function, env)
            return self._object(callee, nodes, node, env)
        if class_deduction.template_named(self._s, function, env) is not None:
            exs = [self._s.expressions.emit(n, e) for n, e in nodes]
            made = class_deduction.deduced(self._s, function, [ex.passed for ex in exs], env)
            if made is not None:
                return self._s.construction.construct(made, exs, node, env)
        candidates = self.candidates(function, env)
        if candidates:
            arguments = self.typed_arguments(candidates, nodes)
            return self._user_function(candidates, function, arguments, node, env)
        named = self._s.type_if_named(function, env)
        if named is not None:
            return self._functional_cast(named, nodes, node, env)
        return self._library(function, name, nodes, node, env)

    def _resolve(self, function: Node, env: Env) -> tuple[Found | None, Node]:
        if function.type == "qualified_identifier":
            return self._s.qualified.resolve(function, env)
        return self._s.names.find(env, base_name(function)), function

    def candidates(self, function: Node, env: Env) -> list[tuple[FunctionEntry, Found]]:
        """The functions a callee may name."""
        if function.type == "qualified_identifier":
            return self._s.qualified.functions(function, env)
        return self._s.names.functions(env, base_name(function))

    @staticmethod
    def explicit_arguments(function: Node) -> list[Node]:
        """The template arguments written at a call."""
        at: Node | None = function
        while at is not None and at.type in ("qualified_identifier", "dependent_name"):
            at = at.child_by_field_name("name") or (
                at.named_children[-1] if at.type == "dependent_name" else None
            )
        if at is None or at.type not in _TEMPLATES:
            return []
        return syntax.operands(at.child_by_field_name("arguments"))

    def arguments(self, nodes: list[tuple[Node, Env]]) -> list[tuple[Ex, Node]]:
        """Emitted arguments with their nodes."""
        return [(self._s.expressions.emit(n, e), n) for n, e in nodes]

    def _user_function(
        self,
        candidates: list[tuple[FunctionEntry, Found]],
        function: Node,
        arguments: list[tuple[Ex, Node]],
        node: Node,
        env: Env,
    ) -> Ex:
        actual = [ex.passed for ex, _ in arguments]
        explicit = self.explicit_arguments(function)
        candidates = self._with_associated(candidates, function, actual, node, env)
        record = self._s.self_record(env)
        own = None if record is None else types.Reference(self._s.self_object(env, record))
        zeros = zeros_among(arguments)
        choice = self._s.overloads.choose(candidates, actual, explicit, env, own, zeros)
        name = base_name(function.child_by_field_name("name") or function)
        if choice is None:
            known = self._s.intrinsics.call(name, [ex for ex, _ in arguments], node, env)
            if known is not None:
                return known
            why = f"no `{candidates[0][0].name}` takes these arguments"
            if any(deduction.is_open(a) for a in actual) or explicit:
                why = f"which `{candidates[0][0].name}` takes these arguments is not known"
            return self._unresolved(candidates[0][0], why, arguments, node, env)
        self._s.overloads.tell_of_tie(choice, node)
        if self._means_builtin(choice, name, actual, env):
            known = self._s.intrinsics.call(name, [ex for ex, _ in arguments], node, env)
            if known is not None:
                return known
        if self._s.functions.full():
            why = f"`{choice.entry.name}` calls too many instances of functions"
            return self._unresolved(choice.entry, why, arguments, node, env)
        record = choice.found.record
        if record is None or self._s.methods.is_static(choice.entry, record):
            values = [ex.value for ex, _ in arguments]
            constant = self._s.constant_calls.expression(choice, values, Mark(node.start_byte))
            if constant is not None:
                return constant
            instance = self._s.functions.request(choice, None)
            return self._s.functions.call(instance, None, arguments, node, env)
        return self._s.methods.on_self(choice, arguments, node, env)

    def _means_builtin(self, choice: Choice, name: str, actual: list[CType], env: Env) -> bool:
        """Whether CUDA's own function of that name goes before the program's."""
        entry = choice.entry
        if entry.scope is not self._s.top or choice.found.record is not None:
            return False
        if env.limit is not None and entry.node.start_byte >= env.limit:
            return True  # the program's is declared behind the call
        kinds = {types.decayed(a) for a in actual}
        fits = len(kinds) == 1 and all(types.promoted(k) == k for k in kinds)
        return name in _OVERLOADED and fits and (choice.cost[0] >= 1 or bool(choice.cost[1]))

    def _with_associated(
        self,
        candidates: list[tuple[FunctionEntry, Found]],
        function: Node,
        actual: list[CType],
        node: Node,
        env: Env,
    ) -> list[tuple[FunctionEntry, Found]]:
        """Candidates and those beside the arguments' classes, for a plain name."""
        written = node.child_by_field_name("function")
        if function.type == "qualified_identifier" or written is None:
            return candidates
        if written.type == "parenthesized_expression":
            return candidates
        return with_associated(self._s, candidates, base_name(function), actual, env)

    def typed_arguments(
        self, candidates: list[tuple[FunctionEntry, Found]], nodes: list[tuple[Node, Env]]
    ) -> list[tuple[Ex, Node]]:
        """Arguments; braced lists take the type of the first candidate's parameter."""
        out = []
        for number, (at, env) in enumerate(nodes):
            expected: CType | None = None
            if candidates and at.type in ("initializer_list", "identifier"):
                expected = self._s.methods.parameter_of(candidates[0], number)
            out.append((self._s.expressions.emit(at, env, expected), at))
        return out

    def _literal(self, node: Node, env: Env, expected: CType | None) -> Ex:
        """``12_k``: a call of ``operator""_k(12ull)``."""
        written, suffix = syntax.operands(node)[:1], syntax.child(node, "literal_suffix")
        name = f'operator""{text(suffix)}' if suffix is not None else ""
        candidates = self._s.names.functions(env, name)
        if not candidates or not written or suffix is None:
            return self._s.expressions.opaque(node, env, f"`{syntax.flat(node)}` is not known")
        ex = self._s.expressions.emit(written[0], env)
        arguments = [(ex, written[0])]
        if written[0].type in syntax.STRINGS:
            size = syntax.string_size(text(written[0]))
            length = ctypes_lp64.Value((size or 1) - 1, ctypes_lp64.ULONG)
            arguments.append((literal(length), written[0]))
        elif types.is_floating(ex.type):
            arguments = [(replace(ex, type=types.LONG_DOUBLE), written[0])]
        elif written[0].type == "number_literal":
            wide = types.Scalar("unsigned long long")
            arguments = [(self._s.conversions.coerce(ex, wide, node, env), written[0])]
        return self._user_function(candidates, suffix, arguments, node, env)

    def _unresolved(
        self, entry: FunctionEntry, why: str, arguments: list[tuple[Ex, Node]], node: Node, env: Env
    ) -> Ex:
        self._s.say(node, "warning", f"{why}: its value is unknown")
        lent = [a for ex, at in arguments for a in self.lent(ex, at, env)]
        return self._s.opaque_named(types.mangled([entry.name]), lent, types.UNKNOWN, node)

    # -- objects, casts -----------------------------------------------------------------

    def _object(self, callee: Ex, nodes: list[tuple[Node, Env]], node: Node, env: Env) -> Ex:
        """A call of a value: a lambda, a function object, a function pointer."""
        arguments = self.arguments(nodes)
        exs = [ex for ex, _ in arguments]
        type_ = callee.decayed
        opened = self._s.closures.opened(callee)
        if opened is not None:
            callee, type_ = opened, opened.type
        if isinstance(type_, types.Closure):
            return self._s.lambdas.call(callee, type_, arguments, node, env)
        if isinstance(type_, types.Record):
            called = self._s.methods.operator("()", [callee, *exs], node, env)
            if called is not None:
                return called
        if isinstance(type_, types.Pointer) and isinstance(type_.target, types.FunctionType):
            pieces = self._converted(type_.target, arguments, env)
            piece = (callee.at(PRIMARY), "(", joined_arguments(pieces), ")")
            result = type_.target.result
            if isinstance(result, types.Reference):
                return dereferenced(piece, result.target)
            return Ex(piece, result)
        return self._s.say_opaque(
            "a call of an unknown object", [callee, *exs], types.UNKNOWN, node
        )

    def _converted(
        self, function: types.FunctionType, arguments: list[tuple[Ex, Node]], env: Env
    ) -> list[Piece]:
        """Arguments as a function of this type takes them."""
        pieces: list[Piece] = []
        for number, (ex, at) in enumerate(arguments):
            wanted = function.parameters[number : number + 1]
            if wanted and isinstance(wanted[0], types.Reference):
                pieces.append(self._s.conversions.bound(ex, wanted[0], at, env))
            elif wanted:
                pieces.append(self._s.conversions.coerce(ex, wanted[0], at, env).at(2))
            else:
                pieces.append(ex.at(2))
        return pieces

    def _cast(self, last: Node, nodes: list[tuple[Node, Env]], node: Node, env: Env) -> Ex:
        targets = syntax.operands(last.child_by_field_name("arguments"))
        if len(targets) != 1 or len(nodes) != 1:
            return self._s.expressions.opaque(node, env, f"`{syntax.flat(node)}` is no cast")
        type_ = self._s.typenames.type(targets[0], env)
        ex = self._s.expressions.emit(*nodes[0], type_)
        return self._s.conversions.explicit(ex, type_, node, env)

    def _functional_cast(
        self, type_: CType, nodes: list[tuple[Node, Env]], node: Node, env: Env
    ) -> Ex:
        """``T(a, b)``."""
        if isinstance(type_, types.Record):
            arguments = [self._s.expressions.emit(n, e) for n, e in nodes]
            return self._s.construction.construct(type_, arguments, node, env)
        if isinstance(type_, types.GroupType):
            return Ex("0", type_, pure=True)
        if not nodes:
            return self._s.construction.zero(type_, Mark(node.start_byte))
        if len(nodes) == 1:
            ex = self._s.expressions.emit(*nodes[0], type_)
            return self._s.conversions.explicit(ex, type_, node, env)
        exs = [self._s.expressions.emit(n, e) for n, e in nodes]
        return self._s.say_opaque(f"construction of `{types.spell(type_)}`", exs, type_, node)

    def _braced(self, node: Node, env: Env, expected: CType | None) -> Ex:
        """``T{a, b}``."""
        named, value = node.child_by_field_name("type"), node.child_by_field_name("value")
        if named is None or value is None:
            return self._s.expressions.opaque(node, env, f"`{syntax.flat(node)}` is not known")
        exs: list[Ex] = []
        if class_deduction.template_named(self._s, named, env) is not None:
            inner = self._s.expressions.expand(syntax.operands(value), env)
            exs = [self._s.expressions.emit(n, e) for n, e in inner]
        made = class_deduction.deduced(self._s, named, [ex.passed for ex in exs], env)
        type_ = self._s.typenames.type(named, env) if made is None else made
        return self._s.initialisers.value(value, types.strip(type_), env)

    def _heap(self, node: Node, env: Env, expected: CType | None) -> Ex:
        type_node = node.child_by_field_name("type")
        result: CType = types.VOID
        if type_node is not None and node.type == "new_expression":
            result = types.Pointer(self._s.typenames.type(type_node, env))
        parts: list[Node] = []
        for part in syntax.operands(node):
            if part.type in _HEAP_LISTS:
                parts += syntax.operands(part)
            elif part != type_node and part.type in _HEAP_OPERANDS:
                parts.append(part)
        why = "the device heap is not modelled"
        return self._s.expressions.opaque(node, env, why, result, parts)

    def _launch(self, node: Node, env: Env, holder: Node) -> Ex:
        self._s.say(node, "note", "a launch from the device is not followed")
        nodes = syntax.operands(syntax.child(node, "kernel_call_syntax"))
        nodes += syntax.operands(holder)
        arguments = [ex for ex, _ in self.arguments([(n, env) for n in nodes])]
        return self._s.opaque_named("device_launch", arguments, types.VOID, node)

    # -- the library --------------------------------------------------------------------

    def _library(
        self, function: Node, name: str, nodes: list[tuple[Node, Env]], node: Node, env: Env
    ) -> Ex:
        """A function that CUDA or a library defines, or nobody."""
        arguments = [self._s.expressions.emit(n, e) for n, e in nodes]
        actual = [ex.passed for ex in arguments]
        beside = self._with_associated([], function, actual, node, env)
        if beside:
            pairs = [(ex, n) for ex, (n, _) in zip(arguments, nodes, strict=True)]
            return self._user_function(beside, function, pairs, node, env)
        if name in _PASSED_ON and len(arguments) == 1:
            return self._passed_on(name, arguments[0], function, env)
        if name == "declval" and not arguments:
            return self._declared_value(function, node, env)
        limit = traits.numeric_limit(self._s, function, env)
        if limit is not None:
            return limit
        group = groups.function(self._s, function, name, arguments, node, env)
        if group is not None:
            return group
        if name == "aligned_size_t" and len(arguments) == 1:
            return arguments[0]
        of_library = library.function(self._s, name, arguments, node, env)
        if of_library is not None:
            return of_library
        swapped = swapping.swap(self._s, arguments, node, env) if name == "swap" else None
        if swapped is not None:
            return swapped
        copy = self._thread_copy(name, arguments, node, env)
        if copy is not None:
            return copy
        explicit = self.explicit_arguments(function)
        if explicit and name in ("min", "max") and len(arguments) == 2:
            type_ = self._s.typenames.type(explicit[0], env)
            arguments = [self._s.conversions.coerce(a, type_, node, env) for a in arguments]
        if name.startswith(_FETCHES):
            element = self._texel(explicit, arguments, env)
            return self._s.intrinsics.texture(name, element, arguments, node, env)
        known = self._s.intrinsics.call(name, arguments, node, env)
        if known is not None:
            return known
        path = "".join(text(function).split()).split("<")[0]
        path = self._s.names.namespace_path(env, path)
        spelled = types.mangled([p for p in path.split("::") if p])
        if spelled.startswith("cub__") and not arguments:
            return Ex("0", types.GroupType("operator"), pure=True)
        result = self._s.library_result(name, arguments)
        lent = [a for ex, at in zip(arguments, nodes, strict=True) for a in self.lent(ex, *at)]
        return self._s.opaque_named(spelled, lent, result, node)

    def _declared_value(self, function: Node, node: Node, env: Env) -> Ex:
        """``std::declval<T>()``: an object without a place, for operands that only give a type."""
        explicit = self.explicit_arguments(function)
        type_ = self._s.typenames.type(explicit[0], env) if explicit else types.UNKNOWN
        lvalue = isinstance(type_, types.Reference) and not type_.rvalue
        ex = dereferenced("0", types.strip_reference(type_), Mark(node.start_byte))
        return replace(ex, moved=not lvalue)

    def _passed_on(self, name: str, ex: Ex, function: Node, env: Env) -> Ex:
        """``std::move`` and the like: the object itself, for overloads a value perhaps."""
        if name == "move":
            return replace(ex, moved=True)
        explicit = self.explicit_arguments(function)
        if name == "forward" and explicit:
            type_ = self._s.typenames.type(explicit[0], env)
            lvalue = isinstance(type_, types.Reference) and not type_.rvalue
            return replace(ex, moved=not lvalue)
        if name == "as_const":
            return replace(ex, type=types.qualified(ex.type, const=True))
        return ex

    def lent(self, ex: Ex, node: Node, env: Env) -> list[Ex]:
        """An argument of a function nobody knows.

        Called for its effect alone, it may change the numbers it is given; a function whose
        value is used is taken for one that does not (else ``a[i] = f(i)`` would cost the store).
        """
        call = node.parent.parent if node.parent is not None else None
        if call is None or call.parent is None or call.parent.type != "expression_statement":
            return [ex]
        found = self._s.names.find(env, text(node)) if node.type == "identifier" else None
        local = found.binding if found is not None else None
        if not isinstance(local, Local) or local.value is not None or not ex.lvalue:
            return [ex]
        if local.static or local.fixed or not isinstance(local.type, types.Scalar):
            return [ex]
        return [Ex(address_of(ex), types.Pointer(types.unqualified(local.type)), UNARY)]

    def _thread_copy(self, name: str, arguments: list[Ex], node: Node, env: Env) -> Ex | None:
        """``cuda::memcpy_async(to, from, 16, pipeline)`` of one thread: a ``cp.async``."""
        if name != "memcpy_async" or len(arguments) != 4:
            return None
        pointers = all(isinstance(a.decayed, types.Pointer) for a in arguments[:2])
        size = arguments[2].value
        if not pointers or size is None or size.number not in (4, 8, 16):
            return None
        wanted = [arguments[0].decayed, arguments[1].decayed, types.ULONG]
        return self._s.intrinsics.typed(
            "__pipeline_memcpy_async", types.VOID, wanted, arguments[:3], node, env,
            suffixed=False,
        )  # fmt: skip

    def _texel(self, explicit: list[Node], arguments: list[Ex], env: Env) -> CType | None:
        """The type a texture fetch returns; None if nothing says it."""
        if explicit:
            return self._s.typenames.type(explicit[0], env)
        if arguments and isinstance(arguments[0].type, types.Texture):
            return arguments[0].type.element
        if arguments and isinstance(arguments[0].decayed, types.Pointer):
            return types.VOID  # the old form writes through its first argument
        return None
