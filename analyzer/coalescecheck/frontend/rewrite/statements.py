"""Statements: C++ control flow to C lines.

In: statement nodes.  Out: lines of the function being written (``env.function``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tree_sitter import Node

from coalescecheck.frontend.rewrite import misread, ranges, syntax, types, unread
from coalescecheck.frontend.rewrite.aliasing import returned_names
from coalescecheck.frontend.rewrite.body import FunctionWriter
from coalescecheck.frontend.rewrite.emit import INDENT, Mark, Piece, joined
from coalescecheck.frontend.rewrite.env import Env, Local
from coalescecheck.frontend.rewrite.ex import (
    ASSIGN,
    BINARY,
    PRIMARY,
    UNARY,
    Ex,
    address_of,
    literal,
)
from coalescecheck.frontend.rewrite.output import c_name
from coalescecheck.frontend.rewrite.syntax import text

if TYPE_CHECKING:
    from coalescecheck.frontend.rewrite.session import Session

_UNROLL = re.compile(r"unroll\b[\s(]*(\w*)[\s)]*(.?)")
_IGNORED = frozenset(
    {"comment", "static_assert_declaration", ";", "{", "}", "friend_declaration"}
)  # fmt: skip


_FUNCTIONS = ("function_definition", "lambda_expression")
# as the branch of a statement the grammar takes it for a call
_ASSERTIONS = ("static_assert", "_Static_assert")
_NAMED = ("identifier", "field_expression", "qualified_identifier")
_PLACES = (*_NAMED, "subscript_expression", "pointer_expression", "parenthesized_expression")


class Statements:
    """Emits statements."""

    def __init__(self, session: Session) -> None:
        self._s = session
        self._unroll = ""
        self._handlers: dict[str, Callable[[Node, Env, FunctionWriter], None]] = {
            "compound_statement": self._compound,
            "expression_statement": self._expression,
            "declaration": self._declaration,
            "alias_declaration": self._type_name,
            "type_definition": self._type_name,
            "using_declaration": self._using,
            "namespace_alias_definition": self._using,
            "struct_specifier": self._record,
            "class_specifier": self._record,
            "union_specifier": self._record,
            "enum_specifier": self._enum,
            "if_statement": self._if,
            "for_statement": self._for,
            "for_range_loop": self._for_range,
            "while_statement": self._while,
            "do_statement": self._do,
            "switch_statement": self._switch,
            "case_statement": self._case,
            "labeled_statement": self._labeled,
            "goto_statement": self._goto,
            "break_statement": self._jump,
            "continue_statement": self._jump,
            "return_statement": self._return,
            "preproc_call": self._pragma,
            "attributed_statement": self._attributed,
            "try_statement": self._try,
            "function_definition": self._macro_definition,
            "ERROR": self._error,
        }

    def body(self, node: Node, env: Env, writer: FunctionWriter) -> None:
        """The statements of a function body."""
        self._s.entered(writer)
        items = [item for item in node.named_children if item.type != "comment"]
        last = items.pop() if writer.returns_last and items else None
        if last is not None and last.type == "expression_statement":
            self._sequence(items, env, writer)
            self._return_value(syntax.operands(last)[0], Mark(last.start_byte), env, writer)
        else:
            self._sequence([*items, last] if last is not None else items, env, writer)
        self._s.left()

    def _sequence(self, items: Sequence[Node], env: Env, writer: FunctionWriter) -> None:
        """Statements one after the other, and macros that nothing defines with what follows."""
        behind = False
        for at, item in enumerate(items):
            if behind:  # it is the block of the macro before it
                behind = False
                continue
            head = unread.macro_head(items, at) if item.has_error else None
            name = text(head.child_by_field_name("function") or head) if head is not None else ""
            if head is not None and self._is_unknown(name, env):
                parts = syntax.operands(head.child_by_field_name("arguments"))
                arguments = [self._s.expressions.emit(part, env) for part in parts]
                self._macro_block(head, name, arguments, items[at + 1], env, writer)
                behind = True
            else:
                self.statement(item, env, writer)

    def _is_unknown(self, name: str, env: Env) -> bool:
        return self._s.names.find(env, name) is None and not name.startswith("__")

    def _macro_definition(self, node: Node, env: Env, writer: FunctionWriter) -> None:
        """``FOR_EACH(i, n) { … }`` read as a function inside of another."""
        body = node.child_by_field_name("body")
        function = syntax.function_declarator(node.child_by_field_name("declarator") or node)
        named = function.child_by_field_name("declarator") if function is not None else None
        if body is None or named is None:
            self.unknown(node, env, writer)
        else:
            self._macro_block(named, text(named), [], body, env, writer)

    def _macro_block(
        self,
        head: Node,
        name: str,
        arguments: list[Ex],
        body: Node,
        env: Env,
        writer: FunctionWriter,
    ) -> None:
        """What a macro that nothing defines does with the statement behind it is unknown: who runs
        it, and how often."""
        message = f"`{name}` is not declared in what could be read: who runs what is behind it"
        self._s.say(head, "warning", f"{message}, and how often, is unknown", hides=True)
        mark = Mark(head.start_byte)
        runs = self._s.opaque_call(arguments, types.INT, mark, f"{name}(...)")
        writer.line((mark, "while (", runs.piece, ") {"))
        self._branch(body, env, writer)
        writer.line("}")

    def statement(self, node: Node, env: Env, writer: FunctionWriter) -> None:
        """One statement."""
        if node.type in _IGNORED:
            return
        with self._s.reading(node):
            if not self._s.unread:
                self._readable(node, env, writer)
                return
            writer.line(unread.BEGIN)
            self._readable(node, env, writer)
            self._forget(unread.changed_names(node), node, env, writer)
            writer.line(unread.END)

    def _forget(self, names: list[str], node: Node, env: Env, writer: FunctionWriter) -> None:
        """The variables that code which could not be read seems to change."""
        for name in names:
            found = self._s.names.find(env, name)
            local = found.binding if found is not None else None
            if isinstance(local, Local) and not isinstance(local.type, types.Reference):
                self._changed(Ex(local.c, local.type, PRIMARY, lvalue=True), node, writer)

    def _changed(self, ex: Ex, node: Node, writer: FunctionWriter) -> None:
        """What such code seems to change."""
        if isinstance(ex.type, types.Scalar | types.Pointer):
            writer.line((ex.at(UNARY), " = ", ex.at(ASSIGN), ";"))
        elif isinstance(ex.type, types.Record | types.Array):
            pointer = Ex(address_of(ex), types.Pointer(ex.type), UNARY)
            given = ex if isinstance(ex.type, types.Array) else pointer
            call = self._s.opaque_call([given], types.VOID, Mark(node.start_byte))
            writer.line((call.piece, ";"))

    def _readable(self, node: Node, env: Env, writer: FunctionWriter) -> None:
        handler = self._handlers.get(node.type)
        if handler is not None:
            handler(node, env, writer)
        elif node.type in syntax.PREPROCESSOR_BLOCKS:
            self._compound_items(node, env, writer)
        else:
            self.unknown(node, env, writer)

    def unknown(self, node: Node, env: Env, writer: FunctionWriter) -> None:
        """A statement that is not understood: what can be read of it, and that it is there."""
        shown = syntax.flat(node)[:60]
        ex = self._s.expressions.opaque(node, env, f"`{shown}` is not understood", types.VOID)
        writer.line((ex.piece, ";"))

    def _error(self, node: Node, env: Env, writer: FunctionWriter) -> None:
        if node.named_child_count or len(text(node)) > 1:
            self.unknown(node, env, writer)

    # -- blocks -------------------------------------------------------------------------

    def _compound(self, node: Node, env: Env, writer: FunctionWriter) -> None:
        writer.line("{")
        with writer.nested():
            self._compound_items(node, env.child({}), writer)
        writer.line("}")

    def _compound_items(self, node: Node, env: Env, writer: FunctionWriter) -> None:
        items = [item for item in node.named_children if item.type != "comment"]
        self._sequence(items, env, writer)

    def _branch(self, node: Node | None, env: Env, writer: FunctionWriter) -> None:
        """A statement as the body of another, without its braces."""
        inner = env.child({})
        with writer.nested():
            if node is None:
                return
            if node.type == "compound_statement":
                self._compound_items(node, inner, writer)
            else:
                self.statement(node, inner, writer)

    def _attributed(self, node: Node, env: Env, writer: FunctionWriter) -> None:
        for item in node.named_children:
            if item.type == "attribute_declaration":
                self._remember_unroll(text(item), env)
            else:
                self.statement(item, env, writer)

    def _try(self, node: Node, env: Env, writer: FunctionWriter) -> None:
        body = node.child_by_field_name("body")
        if body is not None:
            self._compound(body, env, writer)

    # -- simple statements --------------------------------------------------------------

    def _expression(self, node: Node, env: Env, writer: FunctionWriter) -> None:
        inner = syntax.operands(node)
        called = inner[0].child_by_field_name("function") if inner else None
        if not inner or (called is not None and text(called) in _ASSERTIONS):
            writer.line(";")
            return
        declaration = misread.declaration(self._s, inner[0], env)
        if declaration is not None:
            self._s.declarations.misread(declaration, env, writer)
            return
        ex = self._s.expressions.emit(inner[0], env)
        if self._s.unread and ex.lvalue and inner[0].type in _PLACES:  # `s.x PLUS_EQUAL 2;`
            self._changed(ex, node, writer)
        else:
            self.effect(ex, writer)

    @staticmethod
    def effect(ex: Ex, writer: FunctionWriter) -> None:
        """An expression evaluated for its effects (an empty one is dropped)."""
        if ex.pure and isinstance(ex.piece, str):
            return
        writer.line((ex.piece, ";"))

    def _declaration(self, node: Node, env: Env, writer: FunctionWriter) -> None:
        if not misread.begins_with_variable(self._s, node, env):
            self._s.declarations.local(node, env, writer)
            return
        message = f"`{syntax.flat(node)[:60]}` is not understood: what it changes is unknown"
        self._s.say(node, "error", message, hides=True)
        writer.line(unread.BEGIN)
        self.unknown(node, env, writer)
        self._forget(unread.words(node), node, env, writer)
        writer.line(unread.END)

    def _type_name(self, node: Node, env: Env, writer: FunctionWriter) -> None:
        self._s.local_names.type_name(node, env)

    def _using(self, node: Node, env: Env, writer: FunctionWriter) -> None:
        self._s.local_names.using(node, env)

    def _record(self, node: Node, env: Env, writer: FunctionWriter) -> None:
        made = self._s.records.in_place(node, env)
        unnamed = node.type == "union_specifier" and node.child_by_field_name("name") is None
        if unnamed and isinstance(made, types.Record):
            self._s.local_names.anonymous_union(node, made, env, writer)

    def _enum(self, node: Node, env: Env, writer: FunctionWriter) -> None:
        self._s.local_names.local_enum(node, env)

    def _jump(self, node: Node, env: Env, writer: FunctionWriter) -> None:
        writer.line((Mark(node.start_byte), text(node).rstrip(";").strip(), ";"))

    def _goto(self, node: Node, env: Env, writer: FunctionWriter) -> None:
        label = node.child_by_field_name("label")
        if label is not None:
            writer.line((Mark(node.start_byte), f"goto {c_name(text(label))};"))

    def _labeled(self, node: Node, env: Env, writer: FunctionWriter) -> None:
        label = node.child_by_field_name("label")
        name = text(label) if label is not None else "label"
        writer.line((Mark(node.start_byte), f"{c_name(name)}: ;"))
        for item in node.named_children:
            if item != label:
                self.statement(item, env, writer)

    def _return(self, node: Node, env: Env, writer: FunctionWriter) -> None:
        inner = syntax.operands(node)
        mark = Mark(node.start_byte)
        if writer.returns_object:
            writer.line((mark, "return object;"))
        elif not inner:
            writer.line((mark, "return;"))
        else:
            self._return_value(inner[0], mark, env, writer)

    def _return_value(self, node: Node, mark: Mark, env: Env, writer: FunctionWriter) -> None:
        result = writer.result
        auto = types.has_auto(result)
        ex = self._s.expressions.emit(node, env, None if auto else result)
        ex = self._s.closures.object_of(ex, node, env)
        if auto:
            result = writer.result = self._deduced(result, ex, node, env)
        if ex.type == types.VOID or result == types.VOID:
            self.effect(ex, writer)
            writer.line((mark, "return;"))
        elif isinstance(result, types.Reference):
            writer.line((mark, "return ", self._s.conversions.bound(ex, result, node, env), ";"))
        else:
            value = self._returned(ex, result, node, env)
            writer.line((mark, "return ", value.piece, ";"))

    def _deduced(self, result: types.CType, ex: Ex, node: Node, env: Env) -> types.CType:
        """The type that a returned value gives to a function: ``decltype(auto)`` refers to an
        object, unless it is named by its name alone and is no reference itself."""
        if isinstance(result, types.Auto) and result.kept and ex.lvalue:
            found = self._s.names.find(env, text(node)) if node.type == "identifier" else None
            local = found.binding if found is not None else None
            refers = isinstance(local, Local) and isinstance(local.type, types.Reference)
            if refers or node.type not in _NAMED:
                return types.Reference(ex.type, ex.moved)
        return self._s.declarations.resolved(result, ex)

    def _returned(self, ex: Ex, result: types.CType, node: Node, env: Env) -> Ex:
        """A returned object: a local one is the result itself (every compiler does so where it
        may), a parameter is moved."""
        found = self._s.names.find(env, text(node)) if node.type == "identifier" else None
        local = found.binding if found is not None else None
        same = types.unqualified(ex.type) == types.unqualified(result)
        if isinstance(local, Local) and isinstance(local.type, types.Record) and same:
            body = node.parent
            while body is not None and body.type not in _FUNCTIONS:
                body = body.parent
            alone = body is not None and len(returned_names(body)) == 1
            if alone and not local.given and not local.static:
                return ex
            ex = replace(ex, moved=not local.static)
        return self._s.conversions.coerce(ex, result, node, env)

    # -- conditions ---------------------------------------------------------------------

    def _condition(self, node: Node | None, env: Env, writer: FunctionWriter) -> tuple[Ex, bool]:
        """A condition; True if declarations were written in a block opened before it."""
        if node is None:
            return Ex("true", types.BOOL, pure=True), False
        value = node.child_by_field_name("value") if node.type == "condition_clause" else node
        first = node.child_by_field_name("initializer")
        if value is None:
            value = next(iter(syntax.operands(node)), node)
        opened = first is not None or value.type == "declaration"
        if opened:
            writer.line("{")
            writer.depth += 1
        if first is not None:
            for item in syntax.operands(first):
                self.statement(item, env, writer)
        if value.type == "declaration":
            return self._s.declarations.condition(value, env, writer), True
        ex = self._s.expressions.emit(value, env)
        return self._s.conversions.truth(ex, value, env), opened

    @staticmethod
    def _close(opened: bool, writer: FunctionWriter) -> None:
        if opened:
            writer.depth -= 1
            writer.line("}")

    def _if(self, node: Node, env: Env, writer: FunctionWriter) -> None:
        inner = env.child({})
        condition, opened = self._condition(node.child_by_field_name("condition"), inner, writer)
        taken = node.child_by_field_name("consequence")
        other = node.child_by_field_name("alternative")
        if other is not None and other.type == "else_clause":
            other = next(iter(syntax.operands(other)), None)
        if syntax.child(node, "constexpr") is not None and condition.value is not None:
            chosen = taken if condition.value.number else other
            if chosen is not None:
                writer.line("{")
                self._branch(chosen, inner, writer)
                writer.line("}")
            self._close(opened, writer)
            return
        writer.line((Mark(node.start_byte), "if (", condition.piece, ") {"))
        self._branch(taken, inner, writer)
        if other is not None:
            writer.line("} else {")
            self._branch(other, inner, writer)
        writer.line("}")
        self._close(opened, writer)

    def _switch(self, node: Node, env: Env, writer: FunctionWriter) -> None:
        inner = env.child({})
        condition, opened = self._condition(node.child_by_field_name("condition"), inner, writer)
        writer.line((Mark(node.start_byte), "switch (", condition.piece, ") {"))
        self._branch(node.child_by_field_name("body"), inner, writer)
        writer.line("}")
        self._close(opened, writer)

    def _case(self, node: Node, env: Env, writer: FunctionWriter) -> None:
        value = node.child_by_field_name("value")
        mark = Mark(node.start_byte)
        writer.depth -= 1
        if value is None:
            writer.line((mark, "default: ;"))
        else:
            writer.line((mark, "case ", self._label(value, env), ": ;"))
        writer.depth += 1
        for item in node.named_children:
            if item != value:
                self.statement(item, env, writer)

    def _label(self, node: Node, env: Env) -> Piece:
        """The value of a label, or GNU's ``0 ... 3``, which is read as ``0 || 3``."""
        ends = self.ends_of_range(node)
        if ends is None:
            return self._s.expressions.emit(node, env).piece
        low, high = (self._end_of_range(end, env) for end in ends)
        return (low, " ... ", high)

    def ends_of_range(self, label: Node) -> tuple[Node, Node] | None:
        """The ends of a label that is a range."""
        sign = label.child_by_field_name("operator")
        low, high = label.child_by_field_name("left"), label.child_by_field_name("right")
        if sign is None or low is None or high is None or self._s.original(sign) != "..":
            return None
        return low, high

    def _end_of_range(self, node: Node, env: Env) -> Piece:
        ex = self._s.expressions.emit(node, env)
        return ex.at(BINARY["||"] + 1) if ex.value is None else literal(ex.value).piece

    # -- loops --------------------------------------------------------------------------

    def _pragma(self, node: Node, env: Env, writer: FunctionWriter) -> None:
        self._remember_unroll(text(node), env)

    def _remember_unroll(self, spelled: str, env: Env) -> None:
        match = _UNROLL.search(spelled)
        if match is None:
            return
        factor = "" if match[2] not in ("", "]") else match[1]  # a sum is not worked out
        if factor and not factor.isdigit():
            found = self._s.names.find(env, factor)
            value = getattr(found.binding, "value", None) if found is not None else None
            factor = str(int(value.number)) if value is not None else ""
        self._unroll = f"[[unroll({factor})]] " if factor else "[[unroll]] "

    def _taken_unroll(self) -> str:
        unroll, self._unroll = self._unroll, ""
        return unroll

    def _while(self, node: Node, env: Env, writer: FunctionWriter) -> None:
        unroll, inner = self._taken_unroll(), env.child({})
        clause, mark = node.child_by_field_name("condition"), Mark(node.start_byte)
        declared = syntax.child(clause, "declaration") if clause is not None else None
        if declared is not None:  # `while (int x = f())` declares x anew each time
            writer.line((mark, unroll, "while (true) {"))
            with writer.nested():
                condition = self._s.declarations.condition(declared, inner, writer)
                writer.line(("if (!", condition.at(UNARY), ") {"))
                writer.line(INDENT + "break;")
                writer.line("}")
            self._branch(node.child_by_field_name("body"), inner, writer)
        else:
            condition, _ = self._condition(clause, inner, writer)
            writer.line((mark, unroll, "while (", condition.piece, ") {"))
            self._branch(node.child_by_field_name("body"), inner, writer)
        writer.line("}")

    def _do(self, node: Node, env: Env, writer: FunctionWriter) -> None:
        unroll = self._taken_unroll()
        writer.line((Mark(node.start_byte), unroll, "do {"))
        self._branch(node.child_by_field_name("body"), env, writer)
        condition, _ = self._condition(node.child_by_field_name("condition"), env, writer)
        writer.line(("} while (", condition.piece, ");"))

    def _for(self, node: Node, env: Env, writer: FunctionWriter) -> None:
        unroll, inner = self._taken_unroll(), env.child({})
        first = node.child_by_field_name("initializer")
        head: Piece = ""
        opened = False
        if first is not None and first.type == "declaration":
            simple = self._s.declarations.loop_head(first, inner, writer)
            if simple is None:
                opened = True
                writer.line("{")
                writer.depth += 1
                self._s.declarations.local(first, inner, writer)
            else:
                head = simple
        elif first is not None:
            head = self._loose(first, inner)
        condition = node.child_by_field_name("condition")
        tested = self._loose(condition, inner, tested=True) if condition is not None else ""
        update = node.child_by_field_name("update")
        step = self._loose(update, inner) if update is not None else ""
        mark = Mark(node.start_byte)
        writer.line((mark, unroll, "for (", head, "; ", tested, "; ", step, ") {"))
        self._branch(node.child_by_field_name("body"), inner, writer)
        writer.line("}")
        self._close(opened, writer)

    def _loose(self, node: Node, env: Env, *, tested: bool = False) -> Piece:
        """An expression in the head of a loop; one that is ``tested`` as a truth value."""
        if node.type == "expression_statement":
            inner = syntax.operands(node)
            return self._loose(inner[0], env, tested=tested) if inner else ""
        ex = self._s.expressions.emit(node, env)
        if tested and ex.type != types.VOID:
            ex = self._s.conversions.truth(ex, node, env)
        return ex.piece

    def _listed(self, node: Node, env: Env, writer: FunctionWriter) -> Ex:
        """``{a, b, c}`` as an array of its own."""
        exs = [self._s.expressions.emit(item, env) for item in syntax.operands(node)]
        element = types.unqualified(exs[0].decayed) if exs else types.INT
        array = types.Array(element, len(exs))
        self._s.output.need(array)
        name = writer.fresh("list")
        values = [self._s.conversions.coerce(ex, element, node, env).at(ASSIGN) for ex in exs]
        mark = Mark(node.start_byte)
        writer.line((mark, "const ", types.declare(array, name), " = {", joined(values), "};"))
        return Ex(name, array, PRIMARY, lvalue=True)

    def _for_range(self, node: Node, env: Env, writer: FunctionWriter) -> None:
        """Over an array: a counted loop.  Over an object: by its iterators, if it has some."""
        unroll = self._taken_unroll()
        right, body = node.child_by_field_name("right"), node.child_by_field_name("body")
        declarator = node.child_by_field_name("declarator")
        if right is None or declarator is None:
            self.unknown(node, env, writer)
            return
        if right.type == "initializer_list":
            over = self._listed(right, env, writer)
        else:
            over = self._s.expressions.emit(right, env)
        inner = env.child({})
        opened = ranges.has_iterators(self._s, over.type)
        if opened:
            writer.line("{")
            writer.depth += 1
        head, element = ranges.iterated(self._s, over, right, env, writer) or self._counted(
            over, node, right, env, writer
        )
        writer.line((Mark(node.start_byte), unroll, "for (", head, ") {"))
        with writer.nested():
            type_ = self._s.typenames.declared(node, declarator, inner)
            name = syntax.declared_name(declarator)
            c = c_name(text(name)) if name is not None else writer.fresh("element")
            type_ = self._s.declarations.resolved(type_, element)
            self._s.output.need(type_)
            if isinstance(type_, types.Reference):
                value: Piece = self._s.conversions.bound(element, type_, right, env)
            else:
                value = self._s.conversions.coerce(element, type_, right, env).at(ASSIGN)
            writer.line((Mark(declarator.start_byte), types.declare(type_, c), " = ", value, ";"))
            inner.names[text(name) if name is not None else c] = Local(c, type_)
        self._branch(body, inner, writer)
        writer.line("}")
        self._close(opened, writer)

    def _counted(
        self, over: Ex, node: Node, right: Node, env: Env, writer: FunctionWriter
    ) -> tuple[Piece, Ex]:
        """The head of a loop over the elements of an array, or of what nobody knows."""
        counter = writer.fresh("turn")
        index = Ex(counter, types.INT, PRIMARY, pure=True)
        if isinstance(over.type, types.Array) and over.type.count is not None:
            limit: Piece = str(over.type.count)
            element = self._s.operators.element(over, index, node, env)
        else:
            opaque = self._s.say_opaque("the range of a loop", [over], types.INT, right)
            limit = opaque.at(ASSIGN)
            element = self._s.unknown_place("an element of a range", over, [index], right)
        return (f"int {counter} = 0; {counter} < ", limit, f"; {counter}++"), element
