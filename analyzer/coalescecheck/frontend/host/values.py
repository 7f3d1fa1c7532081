"""Constants of host code: integers and dim3 values that are the same in every run.

In: expressions of a unit, with the template arguments of the function around them.
Out: values, or None for whatever might differ at run time.  It must not know kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tree_sitter import Node

from coalescecheck.frontend.constants import binary, evaluate_value
from coalescecheck.frontend.ctypes_lp64 import INT, UINT, CType, Value, convert, parse_type
from coalescecheck.frontend.host.argument_types import type_of_declaration
from coalescecheck.frontend.host.binding import Context, plain_uses, template_arguments
from coalescecheck.frontend.host.callers import calls_of
from coalescecheck.frontend.host.functions import call_function
from coalescecheck.frontend.host.outside import outside
from coalescecheck.frontend.host.scopes import (
    Declaration,
    Scopes,
    declared_name,
    declares,
    expressions,
    node_text,
    parameters,
    template_parameters,
)
from coalescecheck.frontend.host.supposed import suppositions
from coalescecheck.frontend.host.type_names import TypeNames
from coalescecheck.frontend.host.writes import Write, Writes
from coalescecheck.frontend.unit import Unit

FileConstant = Callable[[str], "Value | None"]
"""Source that means the same at file scope -> its value."""

_Key = tuple[int, int, "str | None"]  # declaration, use, component
_MAX_DEPTH = 24  # declarations followed one after another
_MAX_STEPS = 4000  # look-ups for one launch; more is no launch configuration
_ONE = Value(1, UINT)
_COMPONENTS = ("x", "y", "z")


class HostValues:
    """Evaluates host expressions of one unit."""

    def __init__(self, unit: Unit, constant: FileConstant | None = None) -> None:
        self._constant = constant
        self.scopes = Scopes(unit)
        self.types = TypeNames(self.scopes)
        self.writes = Writes(self.scopes, self.truth)
        self.elsewhere = True  # whether templates that other files instantiate are looked at
        self.instances: dict[tuple[int, int], list[Context]] = {}  # by template, see ``contexts``
        self._active: list[_Key] = []
        self._known: dict[_Key, Value | None] = {}
        self._steps = 0
        self._context = Context()
        self._supposed: dict[int, Value] = {}  # by declaration

    def bind(self, context: Context) -> None:
        """Evaluate what follows inside this instance of a function template."""
        self._steps = 0
        if context != self._context or self._supposed:
            self._known.clear()
            self._context = context
            self._supposed = {}

    def suppose(self, place: Node) -> bool:
        """Evaluate what follows as it is where the branches around ``place`` lead there; whether
        they do."""
        found = suppositions(self, place)
        if found:
            self._supposed = found
            self._known.clear()
        return found is not None

    @property
    def context(self) -> Context:
        """The instance of a function template that is evaluated."""
        return self._context

    @property
    def supposes(self) -> bool:
        """Whether branches around the place tell anything."""
        return bool(self._supposed)

    def integer(self, node: Node) -> int | None:
        """The integer an expression always has; floating values are no integers."""
        value = self.value(node)
        return None if value is None or value.type.is_float else int(value.number)

    def value(self, node: Node) -> Value | None:
        """The arithmetic value an expression always has."""
        if node.type == "parameter_declaration":
            return self._misread(node)
        if node.type == "assignment_expression":
            return self._assigned(node)
        return evaluate_value(
            node,
            lambda name: self.name(name, node),
            call=self.call,
            type_name=lambda name: self.type_name(name, node),
            other=self._outside,
        )

    def _assigned(self, node: Node) -> Value | None:
        """What `m = 4` leaves in m, and in n by `n = m = 4`."""
        left, right = (node.child_by_field_name(side) for side in ("left", "right"))
        if left is None or right is None or node_text(node.child_by_field_name("operator")) != "=":
            return None
        held = left.child_by_field_name("argument") if left.type == "field_expression" else left
        declaration = self.scopes.resolve(node_text(held), left) if held is not None else None
        if declaration is None or declaration.shape:
            return None
        if held == left:
            to = self.declared_type(declaration)
        else:
            to = UINT if self._is_dim3(declaration) else None
        value = self.value(right) if to is not None else None
        return convert(value.number, to) if value is not None and to is not None else None

    def _outside(self, node: Node) -> Value | None:
        """The value of what needs C++'s classes and templates: found at file scope."""
        source = outside(self, node, self._context) if self._constant is not None else None
        return self._constant(source) if self._constant is not None and source else None

    def dimensions(self, node: Node) -> list[int | None]:
        """What is known of the components of a dim3, an integer giving its x."""
        return [self._dimension(self._component(node, c)) for c in _COMPONENTS]

    def type_name(self, name: str, use: Node) -> str | None:
        """The builtin type that a typedef or alias visible at ``use`` stands for."""
        for _ in range(8):
            found = self._alias(name, use)
            if found is None or parse_type(found) is not None:
                return found
            name = found
        return None

    def type_of(self, name: str, use: Node, context: Context) -> str | None:
        """Source of the type of a variable that is no reference."""
        declaration = self.scopes.resolve(name, use)
        if declaration is None or "reference_declarator" in declaration.shape:
            return None
        found = type_of_declaration(self, declaration, context)
        const = "const " if declaration.is_constant else ""
        return None if found is None else const + found.base + "*" * found.depth

    def declared_type(self, declaration: Declaration) -> CType | None:
        """The arithmetic type of a declaration; None for auto, classes and pointers."""
        known = parse_type(declaration.type)
        if known is None:
            alias = self.type_name(declaration.type, declaration.name)
            known = parse_type(alias) if alias is not None else None
        return known

    def _misread(self, parameter: Node) -> Value | None:
        """``dim3 b(n, x * y)`` reads as a function's declaration: its "parameters" are values."""
        left = parameter.child_by_field_name("type")
        declarator = parameter.child_by_field_name("declarator")
        if left is None:
            return None
        if declarator is None:
            return self.value(left)
        right = declarator.child_by_field_name("declarator")
        if declarator.type != "pointer_declarator" or right is None:
            return None
        a, b = self.value(left), self.name(node_text(right), parameter)
        return binary("*", a, b) if a is not None and b is not None else None

    # -- names -------------------------------------------------------------------------

    def truth(self, condition: Node | None) -> bool | None:
        """Whether a condition always holds."""
        if condition is None:
            return None
        inner = condition.child_by_field_name("value") or condition
        value = self.value(inner)
        return None if value is None else bool(value.number)

    def name(self, name: str, use: Node) -> Value | None:
        """The constant that a name (``N``, ``A::b``, ``grid.x``) means at ``use``."""
        passed = self._passed(name, use)
        if passed is not None:
            return passed
        if "." in name and "::" not in name:
            base, _, component = name.partition(".")
            declaration = self.scopes.resolve(base, use) if component in _COMPONENTS else None
            if declaration is None or not self._is_dim3(declaration):
                return None
            return self._variable(declaration, use, component)
        declaration = self.scopes.resolve(name, use)
        return self._variable(declaration, use, None) if declaration is not None else None

    def _passed(self, name: str, use: Node) -> Value | None:
        """The value of what a generic lambda is given, and of its template parameters."""
        plain = plain_uses(name, self._context)
        bound = self._context.bound.get(plain)
        if bound is None or bound.value is None:
            return None
        declaration = self.scopes.resolve(plain, use)
        if declaration is None or declaration.kind == "template":
            around = next((a for a in self.scopes.around(use) if declares(a, plain)), None)
            return bound.value if around is not None else None
        of_lambda = declaration.kind == "parameter" and declaration.type == "auto"
        return bound.value if of_lambda else None

    def _variable(self, declaration: Declaration, use: Node, component: str | None) -> Value | None:
        """The value of a variable (or of one component of a dim3) at ``use``."""
        if declaration.name.id in self._supposed:
            return self._supposed[declaration.name.id]
        key = (declaration.name.id, use.id, component)
        if key in self._known:
            return self._known[key]
        self._steps += 1
        if key in self._active or len(self._active) > _MAX_DEPTH or self._steps > _MAX_STEPS:
            return None
        self._active.append(key)
        try:
            value = self._declared(declaration, use, component)
        finally:
            self._active.pop()
        self._known[key] = value
        return value

    def _declared(self, declaration: Declaration, use: Node, component: str | None) -> Value | None:
        match declaration.kind:
            case "enumerator":
                return self._enumerator(declaration)
            case "template":
                return self._template(declaration)
            case "variable" | "parameter" | "member":
                return self._stored(declaration, use, component)
        return None

    def _stored(self, declaration: Declaration, use: Node, component: str | None) -> Value | None:
        if not self._is_followed(declaration):
            return None
        reaching = self.writes.reaching(declaration, use, component)
        if reaching is None:
            return None
        first = self._written(declaration, reaching[0], component)
        if first is None:
            return None
        others = (self._written(declaration, write, component) for write in reaching[1:])
        return first if all(value == first for value in others) else None

    def _is_followed(self, declaration: Declaration) -> bool:
        """Whether all writes to the variable are in sight."""
        words = declaration.qualifiers
        if "volatile" in words or "extern" in words:
            return False
        reference = "reference_declarator" in declaration.shape
        if any(s != "reference_declarator" for s in declaration.shape):
            return False
        if reference and not declaration.is_constant:
            return False
        if declaration.kind == "parameter":
            return True
        if declaration.kind == "member":  # other members need an object
            return declaration.is_constant and "static" in words
        if declaration.scope.type in ("translation_unit", "namespace_definition"):
            return declaration.is_constant or "static" in words
        return True

    def _written(
        self, declaration: Declaration, write: Write, component: str | None
    ) -> Value | None:
        """The value a write leaves in the variable."""
        if write.operator == "init":
            return self._initial(declaration, component)
        to = UINT if component or self._is_dim3(declaration) else self.declared_type(declaration)
        if component and write.component is None:
            return self._component(write.value, component) if write.value is not None else None
        if write.operator == "=":
            value = self.value(write.value) if write.value is not None else None
        else:
            value = self._compound(declaration, write, component)
        if value is None or to is None:
            return value if declaration.type == "auto" else None
        return convert(value.number, to)

    def _compound(
        self, declaration: Declaration, write: Write, component: str | None
    ) -> Value | None:
        before = self._variable(declaration, write.node, component)
        if before is None:
            return None
        if write.operator in ("++", "--"):
            return binary(write.operator[0], before, Value(1, INT))
        change = self.value(write.value) if write.value is not None else None
        return None if change is None else binary(write.operator[:-1], before, change)

    def _initial(self, declaration: Declaration, component: str | None) -> Value | None:
        if declaration.kind == "parameter":
            return self._parameter(declaration, component)
        init = declaration.init
        if component is not None:
            return _ONE if init is None else self._component(init, component)
        if init is None:
            return None
        if init.type in ("argument_list", "parameter_list"):  # int n(5)
            inner = expressions(init)
            if len(inner) != 1:
                return None
            init = inner[0]
        return self._as_declared(self.value(init), declaration)

    def _as_declared(self, value: Value | None, declaration: Declaration) -> Value | None:
        if value is None or declaration.type == "auto":
            return value
        to = self.declared_type(declaration)
        return convert(value.number, to) if to is not None else None

    def _enumerator(self, declaration: Declaration) -> Value | None:
        if declaration.init is not None:
            return self.value(declaration.init)
        previous = declaration.holder.prev_named_sibling
        while previous is not None and previous.type == "comment":
            previous = previous.prev_named_sibling
        if previous is None:
            return Value(0, INT)
        name = previous.child_by_field_name("name")
        before = self.name(node_text(name), declaration.name) if name is not None else None
        return None if before is None else binary("+", before, Value(1, INT))

    # -- parameters --------------------------------------------------------------------

    def _parameter(self, declaration: Declaration, component: str | None) -> Value | None:
        """A parameter's value: the same in every visible call, or unknown."""
        function = declaration.scope
        if function.type != "function_definition":
            return None  # of a lambda
        listed = parameters(function)
        index = next((i for i, p in enumerate(listed) if p == declaration.holder), None)
        here = function == self._context.function
        key = (node_text(declaration.name), component)
        if here and key in self._context.passed:
            passed = self._context.passed[key]
            return passed if component else self._as_declared(passed, declaration)
        calls = list(self._context.calls) if here else calls_of(self.scopes, function)
        if index is None or not calls:
            return None
        found: Value | None = None
        for call in calls:
            value = self._argument(call, index, listed[index], component)
            value = value if component else self._as_declared(value, declaration)
            if value is None or (found is not None and value != found):
                return None
            found = value
        return found

    def given(self, call: Node, function: Node) -> dict[tuple[str, str | None], Value | None]:
        """What a call gives the parameters of a function, in the instance that is bound."""
        listed = parameters(function)
        names = [(i, p, declared_name(p)) for i, p in enumerate(listed)]
        return {
            (name, c): self._argument(call, i, p, c)
            for i, p, name in names
            for c in (None, *_COMPONENTS)
        }

    def _argument(
        self, call: Node, index: int, parameter: Node, component: str | None
    ) -> Value | None:
        given = expressions(call.child_by_field_name("arguments"))
        node = (
            given[index] if index < len(given) else parameter.child_by_field_name("default_value")
        )
        if node is None or any(g.type == "parameter_pack_expansion" for g in given):
            return None
        return self._component(node, component) if component else self.value(node)

    def _template(self, declaration: Declaration) -> Value | None:
        """A template value parameter: bound in this context, or the same in every call."""
        function = next(
            (c for c in declaration.scope.children if c.type == "function_definition"), None
        )
        if function is None:
            return None
        name = node_text(declaration.name)
        if function == self._context.function:
            bound = self._context.bound.get(name)
            return self._as_declared(bound.value if bound else None, declaration)
        index = [declared_name(p) for p in template_parameters(function)].index(name)
        found: Value | None = None
        for call in calls_of(self.scopes, function) or ():
            given = template_arguments(call.child_by_field_name("function"))
            node = given[index] if index < len(given) else declaration.init
            value = self._as_declared(self.value(node), declaration) if node is not None else None
            if value is None or (found is not None and value != found):
                return None
            found = value
        return found

    # -- dim3 --------------------------------------------------------------------------

    def _is_dim3(self, declaration: Declaration) -> bool:
        if declaration.type == "auto" and declaration.init is not None:
            return node_text(declaration.init).startswith("dim3")
        return declaration.type in ("dim3", "uint3")

    def _component(self, node: Node, component: str) -> Value | None:
        """One component of an expression used as a dim3."""
        match node.type:
            case "initializer_list" | "argument_list" | "parameter_list":
                return self._listed(node, component)
            case "compound_literal_expression":
                return self._listed(node.child_by_field_name("value") or node, component)
            case "parenthesized_expression" if len(expressions(node)) == 1:
                return self._component(expressions(node)[0], component)
            case "conditional_expression":
                truth = self._truth_of(node)
                if truth is None:
                    return None
                chosen = node.child_by_field_name("consequence" if truth else "alternative")
                return self._component(chosen, component) if chosen is not None else None
            case "assignment_expression" if self._is_copied(node):
                right = node.child_by_field_name("right")
                return self._component(right, component) if right is not None else None
            case "call_expression":
                if node_text(node.child_by_field_name("function")) in ("dim3", "make_uint3"):
                    return self._listed(node.child_by_field_name("arguments"), component)
            case "identifier" | "qualified_identifier":
                declaration = self.scopes.resolve(node_text(node), node)
                if declaration is not None and self._is_dim3(declaration):
                    return self._variable(declaration, node, component)
        return self._scalar(self.value(node), component)

    def _is_copied(self, assignment: Node) -> bool:
        """Whether a dim3 is assigned, which is then the value of the assignment."""
        left = assignment.child_by_field_name("left")
        declaration = self.scopes.resolve(node_text(left), assignment)
        plain = node_text(assignment.child_by_field_name("operator")) == "="
        return plain and declaration is not None and self._is_dim3(declaration)

    def _truth_of(self, conditional: Node) -> bool | None:
        return self.truth(conditional.child_by_field_name("condition"))

    def _listed(self, arguments: Node | None, component: str) -> Value | None:
        """dim3's constructor: what is not given is 1; one dim3 given is copied."""
        given = expressions(arguments)
        if len(given) == 1:
            return self._component(given[0], component)
        index = _COMPONENTS.index(component)
        if index >= len(given):
            return _ONE
        return self._scalar(self.value(given[index]), "x")

    def _scalar(self, value: Value | None, component: str) -> Value | None:
        if value is None:
            return None
        return convert(value.number, UINT) if component == "x" else _ONE

    def _dimension(self, value: Value | None) -> int | None:
        return None if value is None else int(value.number)

    # -- functions and types -----------------------------------------------------------

    def call(self, call: Node, arguments: Sequence[Value | None]) -> Value | None:
        """The value of a helper function's call; bounded, so that recursion ends."""
        if not arguments:
            passed = self._passed(node_text(call), call)
            if passed is not None:
                return passed
        if len(self._active) > _MAX_DEPTH:
            return None
        self._active.append((call.id, call.id, None))
        try:
            return call_function(self, call, arguments)
        finally:
            self._active.pop()

    def _alias(self, name: str, use: Node) -> str | None:
        aliases = self.types.aliases(name.rsplit("::", 1)[-1])
        if not aliases:
            return None
        around = {a.id for a in self.scopes.around(use)}
        found = [(a.start, a.source) for a in aliases if a.scope.id in around]
        return max(found)[1] if found else None
