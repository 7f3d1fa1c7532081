"""Whether ``const int &x`` may be passed as a value: every call reads it, and nothing it refers to
changes while it is read.

In: a function's syntax and a parameter's name.  Out: yes or no, by where the function reads the
parameter and what it may write before.  It must not know about types.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tree_sitter import Node

from coalescecheck.frontend.rewrite import syntax, types
from coalescecheck.frontend.rewrite.env import Env
from coalescecheck.frontend.rewrite.index import FunctionEntry
from coalescecheck.frontend.rewrite.qualified import base_name
from coalescecheck.frontend.rewrite.syntax import text

if TYPE_CHECKING:
    from coalescecheck.frontend.rewrite.session import Session

_LOOPS = ("for_statement", "while_statement", "do_statement", "for_range_loop")
_UNEVALUATED = ("sizeof_expression", "alignof_expression", "decltype", "lambda_expression")
_JUMPS = ("return_statement", "break_statement", "continue_statement", "goto_statement",
          "throw_statement")  # fmt: skip
_CALLEES = ("identifier", "template_function", "qualified_identifier")
_EFFECTS = ("atomic", "__st", "__sync", "mem", "surf", "swap")  # beginnings of library names


class Aliasing:
    """Answers for the functions of one program."""

    def __init__(self, session: Session) -> None:
        self._s = session
        self._writing: dict[int, bool] = {}
        self._known: dict[tuple[int, str], bool] = {}

    def kept(self, node: Node, name: str, env: Env) -> bool:
        """Whether a parameter of the function ``node`` holds one value while it is used."""
        key = (node.id, name)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._kept(node, name, env)
        return known

    def _kept(self, function: Node, name: str, env: Env) -> bool:
        parts = _parts(function)
        uses = [
            n for part in parts for n in syntax.walk(part)
            if n.type == "identifier" and text(n) == name
        ]  # fmt: skip
        words = (part.text or b"" for part in parts)
        if any(b"const_cast" in word for word in words):
            return False
        if any(self._lends(use, env) for use in uses):
            return False
        if parts and not any(self._always_reads(use, function, env) for use in uses):
            return False  # a value would be loaded by the calls that never read it as well
        writes = [w for part in parts for w in self._writes(part, env)]
        return not any(_after(use, write) for write in writes for use in uses)

    def _always_reads(self, use: Node, function: Node, env: Env) -> bool:
        """Whether every call evaluates a use; what it passes on, another function may not read."""
        if any(jump.end_byte <= use.start_byte for jump in _jumps(function)):
            return False
        node = use
        while node.parent is not None and node.parent != function:
            if not _surely_evaluates(node.parent, node):
                return False
            node = node.parent
        around = use.parent.parent if use.parent is not None else None
        return (
            around is None or around.type != "call_expression" or not self._passed_on(around, env)
        )

    def _passed_on(self, call: Node, env: Env) -> bool:
        """Whether a call is of a function of the program."""
        callee = call.child_by_field_name("function")
        if callee is None or callee.type in ("primitive_type", "sized_type_specifier"):
            return False
        return callee.type not in _CALLEES or bool(self._s.names.functions(env, base_name(callee)))

    def _lends(self, use: Node, env: Env) -> bool:
        """Whether a use lets others read the variable later: its address, a member that refers."""
        parent = use.parent
        if parent is None:
            return False
        if parent.type == "pointer_expression":
            return text(parent).startswith("&")
        holder = parent.parent
        if holder is None or holder.type != "field_initializer":
            return False
        at: Env | None = env
        while at is not None and at.record is None:
            at = at.parent
        if at is None or at.record is None:
            return True
        found = self._s.records.member(at.record, text(holder.named_children[0]))
        member = found.member if found is not None else None
        return member is None or isinstance(member.type, types.Reference)

    def _writes(self, body: Node, env: Env) -> Iterator[Node]:
        """What may change memory or variables of others."""
        own = _own_variables(body)
        for node in syntax.walk(body):
            match node.type:
                case "assignment_expression" | "update_expression":
                    target = node.child_by_field_name("left") or node.child_by_field_name(
                        "argument"
                    )
                    if target is None or target.type != "identifier" or text(target) not in own:
                        yield node
                case "call_expression" if self._call_writes(node, env):
                    yield node
                case "lambda_expression":
                    yield node
                case _:
                    pass

    def _call_writes(self, node: Node, env: Env) -> bool:
        callee = node.child_by_field_name("function")
        if callee is None or callee.type in ("primitive_type", "sized_type_specifier"):
            return False
        if callee.type not in _CALLEES:
            return True
        while callee.type == "qualified_identifier":
            callee = callee.child_by_field_name("name") or callee.children[-1]
        name = base_name(callee)
        found = self._s.names.find(env, name)
        if found is None:
            return name.startswith(_EFFECTS)
        functions = [e for e, _ in self._s.names.functions(env, name)]
        if found.binding is not None or found.member is not None:
            return True
        return any(self._function_writes(e, env) for e in functions)

    def _function_writes(self, entry: FunctionEntry, env: Env) -> bool:
        known = self._writing.get(id(entry))
        if known is None:
            self._writing[id(entry)] = True  # what a recursion writes is not known before its end
            known = entry.body is None or any(
                True for part in _parts(entry.node) for _ in self._writes(part, env)
            )
            self._writing[id(entry)] = known
        return known


def _jumps(function: Node) -> Iterator[Node]:
    return (node for part in _parts(function) for node in syntax.walk(part) if node.type in _JUMPS)


def _surely_evaluates(around: Node, part: Node) -> bool:
    """Whether whoever evaluates ``around`` evaluates its child ``part``."""
    match around.type:
        case "if_statement" | "while_statement" | "switch_statement":
            return part == around.child_by_field_name("condition")
        case "for_statement":
            return part in (
                around.child_by_field_name("initializer"),
                around.child_by_field_name("condition"),
            )
        case "for_range_loop":
            return part != around.child_by_field_name("body")
        case "conditional_expression":
            return part == around.child_by_field_name("condition")
        case "binary_expression" if around.children[1].type in ("&&", "||"):
            return part == around.children[0]
        case _:
            return around.type not in _UNEVALUATED


def returned_names(body: Node) -> set[str]:
    """The variables that a function returns as they are, or one of several."""
    todo = [n for s in syntax.walk(body) if s.type == "return_statement" for n in s.named_children]
    found = set()
    while todo:
        node = todo.pop()
        if node.type == "identifier":
            found.add(text(node))
        elif node.type == "parenthesized_expression":
            todo += node.named_children
        elif node.type == "conditional_expression":
            parts = (node.child_by_field_name(n) for n in ("consequence", "alternative"))
            todo += [p for p in parts if p is not None]
    return found


def _parts(function: Node) -> list[Node]:
    """The initialisers and the body of a function or lambda."""
    parts = (
        syntax.child(function, "field_initializer_list"),
        function.child_by_field_name("body"),
    )
    return [p for p in parts if p is not None]


def _after(use: Node, write: Node) -> bool:
    """Whether a use may be evaluated after a write, or by the function that writes."""
    if use.start_byte >= write.end_byte:
        return True
    inside = write.start_byte <= use.start_byte
    if inside and write.type in ("call_expression", "lambda_expression"):
        return True
    at = write.parent
    while at is not None and at.type not in ("function_definition", "lambda_expression"):
        if at.type in _LOOPS and at.start_byte <= use.start_byte < at.end_byte:
            return True
        at = at.parent
    return False


def _own_variables(body: Node) -> set[str]:
    """Variables of scalar type that are declared in a body; no references to others."""
    own: set[str] = set()
    for node in syntax.walk(body):
        if node.type != "declaration" or syntax.has_word(node, "static"):
            continue
        for declarator in syntax.declarators(node):
            target = declarator
            if target.type == "init_declarator":
                target = target.child_by_field_name("declarator") or target
            if target.type == "identifier":
                own.add(text(target))
    return own
