"""What changes a variable, and which of the changes reach a place.

In: a declaration and a use.  Out: the writes that may have given the variable its value at
the use.  A write whose value cannot be told (``&v`` passed on, ``cin >> v``) counts with no
expression.  It must not know values, except through the truth of constant ``if``s.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tree_sitter import Node

from coalescecheck.frontend.ctypes_lp64 import parse_type
from coalescecheck.frontend.host.scopes import (
    LOOPS,
    Declaration,
    Scopes,
    ancestors,
    expressions,
    node_text,
    parameters,
)

Truth = Callable[[Node], "bool | None"]

_CONDITIONAL = LOOPS | {
    "if_statement",
    "switch_statement",
    "case_statement",
    "conditional_expression",
    "lambda_expression",
    "try_statement",
    "catch_clause",
    "ERROR",
}
# Functions of C interfaces and the standard library that take integers by value (or by a
# reference to const), by name.
_BY_VALUE = re.compile(
    r"(cuda|cublas|cufft|curand|cusparse|cusolver|nvtx|omp_|MPI_|mem|str|f?print|s?n?printf|f?put)"
    r"|(malloc|calloc|realloc|free|exit|abs|min|max|ceilf?|floorf?|sqrtf?|powf?|log2?f?|fabsf?"
    r"|assert|rand|srand|resize|reserve|push_back|emplace_back|assign|at|fill|fill_n|setw"
    r"|make_\w+|to_string|vector|dim3|static_cast|fread|fwrite|operator|string|accumulate)\Z"
)


_LAUNCHES = ("cudaLaunchKernelEx", "cudaLaunchKernelExC", "cudaOccupancyMaxActiveClusters")


@dataclass(frozen=True, slots=True)
class Write:
    """``operator`` is ``=``, a compound assignment, ``++`` or ``--``; ``init`` for the
    declaration.  ``value`` is None when it cannot be told.  ``component`` is a member."""

    node: Node
    operator: str
    value: Node | None
    component: str | None


class Writes:
    """Answers which writes reach a use."""

    def __init__(self, scopes: Scopes, truth: Truth) -> None:
        self._scopes = scopes
        self._truth = truth
        self._of: dict[int, tuple[Write, ...]] = {}

    def reaching(
        self, declaration: Declaration, use: Node, component: str | None
    ) -> list[Write] | None:
        """The writes of which one gave the variable its value at ``use``; None if unknowable.

        The last write that always happens before the use comes first.
        """
        relevant = (None, component)
        writes = [w for w in self.of(declaration) if not component or w.component in relevant]
        around = {a.id: a for a in ancestors(use)}
        start = Write(declaration.name, "init", declaration.init, None)
        if not writes:
            return [start]
        if _unordered(declaration, use, writes):
            return None
        last = start
        possible: list[Write] = []
        for write in sorted(writes, key=lambda w: w.node.start_byte):
            if write.node.start_byte >= use.start_byte:
                break
            state = self._certainty(write.node, around)
            if state is True and not _inside(use, write.node):
                last, possible = write, []
            elif state is not False:
                possible.append(write)
        carried = [w for w in writes if _carried(w.node, use, last.node, around)]
        return [last, *possible, *carried]

    def of(self, declaration: Declaration) -> tuple[Write, ...]:
        """Every write to the variable after its declaration, in the order of the text."""
        if not declaration.shape and declaration.qualifiers & {"const", "constexpr"}:
            return ()  # whatever takes a reference to it cannot change it
        key = declaration.name.id
        if key not in self._of:
            self._of[key] = tuple(self._collect(declaration))
        return self._of[key]

    def _collect(self, declaration: Declaration) -> Iterator[Write]:
        name = node_text(declaration.name)
        scope = declaration.scope
        for node in self._scopes.occurrences(name):
            inside = scope.start_byte <= node.start_byte < scope.end_byte
            if not inside or node == declaration.name or node.type != "identifier":
                continue
            write = self._classify(node)
            if write is None:
                continue
            meant = self._scopes.resolve(name, node)
            if meant is None or meant.name == declaration.name:
                yield write

    def _classify(self, node: Node) -> Write | None:
        component: str | None = None
        deeper = False  # a member of a member: it changes in part
        parent = node.parent
        while parent is not None and parent.type in (
            "parenthesized_expression",
            "field_expression",
        ):
            if parent.type == "field_expression":
                if parent.child_by_field_name("argument") != node:
                    return None
                deeper = component is not None
                component = component or node_text(parent.child_by_field_name("field"))
            node, parent = parent, parent.parent
        if parent is None:
            return None
        match parent.type:
            case "assignment_expression" if parent.child_by_field_name("left") == node:
                operator = node_text(parent.child_by_field_name("operator"))
                value = parent.child_by_field_name("right") if not deeper else None
                return Write(parent, "=" if deeper else operator, value, component)
            case "update_expression":
                operator = node_text(parent.child_by_field_name("operator"))
                return Write(parent, operator, None, component)
            case "pointer_expression" if node_text(parent)[:1] == "&":
                if _configures(parent):
                    return None
                return Write(parent, "=", None, component)
            case "argument_list" if self._by_reference(parent, node):
                return Write(parent, "=", None, component)
            case "init_declarator" if _binds_reference(parent):
                return Write(parent, "=", None, component)
            case "binary_expression" if _reads_stream(parent, node):
                return Write(parent, "=", None, component)
            case "call_expression" if component is not None:  # a method may change its object
                return Write(parent, "=", None, None)
            case "ERROR":
                return Write(parent, "=", None, component)
        return None

    def _by_reference(self, arguments: Node, node: Node) -> bool:
        """Whether a function may change the variable passed to it."""
        call = arguments.parent
        if call is None or call.type != "call_expression":
            return False
        if any(c.type == "kernel_call_syntax" for c in call.children):
            return False
        called = node_text(call.child_by_field_name("function"))
        name = re.sub(r"\s*<.*", "", called, flags=re.DOTALL)
        name = re.split(r"::|\.|->", name)[-1].strip()
        functions = self._scopes.functions(name)
        by_value = _BY_VALUE.match(name) or parse_type(called.strip("()")) is not None
        if by_value and not functions:
            return False
        index = expressions(arguments).index(node) if node in arguments.named_children else 0
        return not functions or any(_takes_reference(f, index) for f in functions)

    def _certainty(self, node: Node, around: dict[int, Node]) -> bool | None:
        """True when a write always happens before the use whose ancestors are ``around``,
        False when it never does, None when it may."""
        child = node
        for ancestor in ancestors(node):
            if ancestor.id in around:
                # `for`'s update stands before the body but happens after it.
                return True if ancestor.type not in LOOPS | {"if_statement"} else None
            if ancestor.type == "if_statement":
                taken = self._branch_taken(ancestor, child)
                if taken is not True:
                    return taken
            elif ancestor.type in _CONDITIONAL or _short_circuits(ancestor):
                return None
            child = ancestor
        return None

    def _branch_taken(self, branch: Node, child: Node) -> bool | None:
        condition = branch.child_by_field_name("condition")
        if condition is None or child == condition:
            return None
        truth = self._truth(condition)
        if truth is None:
            return None
        return truth == (child == branch.child_by_field_name("consequence"))


def _short_circuits(node: Node) -> bool:
    """Whether what is inside may be skipped: the operands of ``&&`` and ``||``."""
    operator = node.child_by_field_name("operator") if node.type == "binary_expression" else None
    return node_text(operator) in ("&&", "||", "and", "or")


def _unordered(declaration: Declaration, use: Node, writes: list[Write]) -> bool:
    """Whether text order says nothing about the order of execution."""
    if "static" in declaration.qualifiers or declaration.scope.type not in (
        "compound_statement",
        "function_definition",
        "for_statement",
        "if_statement",
        "while_statement",
        "lambda_expression",
    ):
        return True
    if b"goto" in (declaration.scope.text or b""):
        return True
    own = _lambda_around(use)
    if own is not None and own.start_byte > declaration.name.start_byte:
        return any(w.node.start_byte > own.start_byte for w in writes)
    return any(_lambda_around(w.node) != own for w in writes)


def _lambda_around(node: Node) -> Node | None:
    for ancestor in ancestors(node):
        if ancestor.type == "lambda_expression":
            return ancestor
        if ancestor.type == "function_definition":
            return None
    return None


def _carried(write: Node, use: Node, last: Node, around: dict[int, Node]) -> bool:
    """Whether a later write reaches the use in the next round of a loop around both."""
    if write.start_byte < use.start_byte and not _inside(use, write):
        return False
    for ancestor in ancestors(write):
        if ancestor.id in around and ancestor.type in LOOPS:
            return not _inside(last, ancestor)
    return False


def _inside(node: Node, outer: Node) -> bool:
    return outer.start_byte <= node.start_byte and node.end_byte <= outer.end_byte


def _configures(address: Node) -> bool:
    """Whether an address is that of a launch's configuration, which is only read."""
    call = address.parent.parent if address.parent is not None else None
    function = call.child_by_field_name("function") if call is not None else None
    return node_text(function).rsplit("::", 1)[-1] in _LAUNCHES


def _binds_reference(declarator: Node) -> bool:
    return bool(_reference(declarator.child_by_field_name("declarator")))


def _reference(declarator: Node | None) -> tuple[str, ...]:
    """The declarators down to a reference: ``T *&r`` has one to a pointer; () if there is none."""
    path: list[str] = []
    while declarator is not None:
        path.append(declarator.type)
        if declarator.type == "reference_declarator":
            return tuple(path)
        inner = declarator.child_by_field_name("declarator")
        if inner is None and declarator.type == "parenthesized_declarator":
            inner = next(iter(declarator.named_children), None)
        declarator = inner
    return ()


def _reads_stream(expression: Node, node: Node) -> bool:
    """``stream >> variable`` as a statement or a condition; elsewhere it is a shift."""
    if node_text(expression.child_by_field_name("operator")) != ">>":
        return False
    if expression.child_by_field_name("right") != node:
        return False
    for ancestor in ancestors(expression):
        if ancestor.type not in ("binary_expression", "parenthesized_expression"):
            return ancestor.type in ("expression_statement", "condition_clause", "unary_expression")
    return False


def _takes_reference(function: Node, index: int) -> bool:
    listed = parameters(function)
    if index >= len(listed):
        return True
    path = _reference(listed[index].child_by_field_name("declarator"))
    if "pointer_declarator" in path:
        return True  # `const T *&p`: what it points to is constant, not the pointer
    return bool(path) and not any(node_text(c) == "const" for c in listed[index].children)
