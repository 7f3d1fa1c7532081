"""Operators, including those that the program defines for its own types.

In: operator expressions.  Out: :class:`Ex`.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from tree_sitter import Node

from coalescecheck.frontend import constants, ctypes_lp64
from coalescecheck.frontend.misread_casts import is_within_operator
from coalescecheck.frontend.rewrite import misread, syntax, types
from coalescecheck.frontend.rewrite.builtin_types import has_operators, is_vector
from coalescecheck.frontend.rewrite.emit import Mark, Piece, plain
from coalescecheck.frontend.rewrite.env import Env
from coalescecheck.frontend.rewrite.ex import (
    ASSIGN,
    BINARY,
    CONDITIONAL,
    PRIMARY,
    UNARY,
    Ex,
    address_of,
    constant,
    dereferenced,
    literal,
)
from coalescecheck.frontend.rewrite.output import PART
from coalescecheck.frontend.rewrite.syntax import text
from coalescecheck.frontend.rewrite.types import CType

if TYPE_CHECKING:
    from coalescecheck.frontend.rewrite.session import Session

_COMPARISONS = frozenset({"<", ">", "<=", ">=", "==", "!="})


class Operators:
    """Emits operator expressions."""

    def __init__(self, session: Session) -> None:
        self._s = session
        register = session.expressions.register
        register("binary_expression", self._binary)
        register("unary_expression", self._unary)
        register("pointer_expression", self._pointer)
        register("update_expression", self._update)
        register("assignment_expression", self._assignment)
        register("subscript_expression", self._subscript)
        register("cast_expression", self._cast)

    # -- binary -------------------------------------------------------------------------

    def _binary(self, node: Node, env: Env, expected: CType | None) -> Ex:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None:
            return self._not_understood(node, env)
        sign = syntax.sign_of(node)
        operator = node.child_by_field_name("operator")
        if sign in ("/", "^", ">") and operator is not None:
            sign = self._s.original(operator)
        cast_after_all = self._misread_cast(sign, left, right, node, env)
        if cast_after_all is not None:
            return cast_after_all
        a = self._s.expressions.emit(left, env)
        if sign in ("&&", "||") and a.value is not None:
            decided = bool(a.value.number) == (sign == "||")
            if decided:
                return literal(ctypes_lp64.Value(int(bool(a.value.number)), ctypes_lp64.BOOL))
        return self.binary(sign, a, self._s.expressions.emit(right, env), node, env)

    def _misread_cast(self, sign: str, left: Node, right: Node, node: Node, env: Env) -> Ex | None:
        """``(T)-1``, ``(T)*p`` and ``(T)&x`` read as binary when T is no builtin name."""
        if left.type != "parenthesized_expression" or sign not in ("-", "+", "*", "&"):
            return None
        inner = syntax.operands(left)
        if len(inner) != 1 or inner[0].type not in ("identifier", "qualified_identifier"):
            return None
        type_ = self._s.type_if_named(inner[0], env)
        if type_ is None:
            return None
        operand = self._s.expressions.emit(right, env)
        mark = Mark(node.start_byte)
        ex = self._prefix(sign, operand, mark, node, env)
        return self._s.conversions.explicit(ex, type_, node, env)

    def binary(self, sign: str, a: Ex, b: Ex, node: Node, env: Env) -> Ex:
        """``a sign b`` by the types of its operands."""
        if isinstance(a.type, types.Record) or isinstance(b.type, types.Record):
            return self._on_records(sign, a, b, node, env)
        defined = self._of_enumerations(sign, [a, b], node, env)
        if defined is not None:
            return defined
        if sign not in BINARY or types.VOID in (a.type, b.type):
            return self._s.say_opaque(f"operator {sign}", [a, b], types.UNKNOWN, node)
        level = BINARY[sign]
        value = None
        if a.value is not None and b.value is not None:
            value = self._fold(sign, a.value, b.value)
            if value is not None:
                folded = literal(value, Mark(node.start_byte))
                type_ = self._result(sign, a, b)
                same = types.folding_type(type_) == value.type  # `long long` and `long`
                return replace(folded, type=type_) if same else folded
        type_ = self._result(sign, a, b)
        if not self._c_accepts(sign, a.decayed, b.decayed):
            return self._s.say_opaque(f"operator {sign}", [a, b], type_, node)
        right = level + (0 if sign in ("&&", "||") else 1)
        piece = (a.at(level), f" {sign} ", b.at(right))
        return Ex(piece, type_, level, value, pure=a.pure and b.pure)

    def _of_enumerations(self, sign: str, operands: list[Ex], node: Node, env: Env) -> Ex | None:
        """An operator that the program defines for an enumeration."""
        if all(types.enumeration(types.strip(ex.type)) is None for ex in operands):
            return None
        return self._s.methods.operator(sign, operands, node, env)

    @staticmethod
    def _fold(sign: str, a: ctypes_lp64.Value, b: ctypes_lp64.Value) -> ctypes_lp64.Value | None:
        if sign in ("&&", "||"):
            both = [bool(a.number), bool(b.number)]
            number = all(both) if sign == "&&" else any(both)
            return ctypes_lp64.Value(int(number), ctypes_lp64.BOOL)
        if a.type.is_float or b.type.is_float:
            return None if sign not in _COMPARISONS else constants.binary(sign, a, b)
        return constants.binary(sign, a, b)

    @staticmethod
    def _result(sign: str, a: Ex, b: Ex) -> CType:
        left, right = a.decayed, b.decayed
        if sign in _COMPARISONS or sign in ("&&", "||"):
            return types.BOOL
        if isinstance(left, types.Pointer):
            return types.LONG if isinstance(right, types.Pointer) and sign == "-" else left
        if isinstance(right, types.Pointer):
            return right
        if sign in ("<<", ">>"):
            return types.promoted(left)
        return types.usual_conversion(left, right)

    @staticmethod
    def _c_accepts(sign: str, left: CType, right: CType) -> bool:
        """Whether C has the operator for these types (misread C++ may ask for anything)."""
        pointers = [isinstance(t, types.Pointer) for t in (left, right)]
        if sign in _COMPARISONS or sign in ("&&", "||"):
            return True
        if all(pointers):
            return sign == "-"
        if any(pointers):
            other = right if pointers[0] else left
            return (sign == "+" and not types.is_floating(other)) or (sign == "-" and pointers[0])
        if sign in ("%", "<<", ">>", "&", "|", "^"):
            return all(types.is_integer(t) or isinstance(t, types.Unknown) for t in (left, right))
        return True

    def _on_records(self, sign: str, a: Ex, b: Ex, node: Node, env: Env) -> Ex:
        defined = self._s.methods.operator(sign, [a, b], node, env)
        if defined is not None:
            return defined
        converted = self._s.methods.as_scalars(a, b, node, env)
        if converted is not None:
            return self.binary(sign, *converted, node, env)
        record = a.type if isinstance(a.type, types.Record) else b.type
        result: CType = types.BOOL if sign in _COMPARISONS else types.unqualified(record)
        name = f"operator{sign}"
        if not is_vector(record):
            self._s.say(node, "note", f"`{name}` of `{types.spell(record)}` is not known")
        return self._s.opaque_named(_function_name(sign, [a, b]), [a, b], result, node)

    # -- unary --------------------------------------------------------------------------

    def _unary(self, node: Node, env: Env, expected: CType | None) -> Ex:
        argument = node.child_by_field_name("argument")
        if argument is None:
            return self._not_understood(node, env)
        operand = self._s.expressions.emit(argument, env)
        return self._prefix(syntax.sign_of(node), operand, Mark(node.start_byte), node, env)

    def _prefix(self, sign: str, operand: Ex, mark: Mark, node: Node, env: Env) -> Ex:
        if sign == "*":
            return self.dereference(operand, mark, node, env)
        if sign == "&":
            defined = None
            if isinstance(operand.type, types.Record):
                defined = self._s.methods.operator("&", [operand], node, env)
            return defined or self._address(operand, mark, node, env)
        if isinstance(operand.type, types.Record):
            defined = self._s.methods.operator(sign, [operand], node, env)
            if defined is not None:
                return defined
            if sign == "!":
                operand = self._s.conversions.truth(operand, node, env)
            else:
                name = _function_name(sign, [operand])
                return self._s.opaque_named(name, [operand], operand.type, node)
        defined = self._of_enumerations(sign, [operand], node, env)
        if defined is not None:
            return defined
        value = self._fold_prefix(sign, operand.value)
        if value is not None:
            result = types.BOOL if sign == "!" else types.promoted(operand.decayed)
            return constant(value, result, mark)
        if sign == "!":
            type_: CType = types.BOOL
        else:
            type_ = types.promoted(operand.decayed)
            if isinstance(type_, types.Pointer) or (sign == "~" and types.is_floating(type_)):
                return self._s.say_opaque(f"operator {sign}", [operand], type_, node)
        inner = operand.at(UNARY)
        if sign in ("-", "+") and operand.precedence == UNARY:
            inner = ("(", operand.piece, ")") if operand.precedence == UNARY else inner
        return Ex((mark, sign, inner), type_, UNARY, pure=operand.pure)

    @staticmethod
    def _fold_prefix(sign: str, value: ctypes_lp64.Value | None) -> ctypes_lp64.Value | None:
        if value is None:
            return None
        zero = ctypes_lp64.Value(0, value.type if value.type.bits >= 32 else ctypes_lp64.INT)
        match sign:
            case "!":
                return ctypes_lp64.Value(int(not value.number), ctypes_lp64.BOOL)
            case "+":
                return ctypes_lp64.promote(value)
            case "-" if value.type.is_float:
                return ctypes_lp64.Value(-value.number, value.type)
            case "-":
                return constants.binary("-", zero, value)
            case "~" if not value.type.is_float:
                promoted = ctypes_lp64.promote(value)
                return ctypes_lp64.convert(~int(promoted.number), promoted.type)
            case _:
                return None

    def _pointer(self, node: Node, env: Env, expected: CType | None) -> Ex:
        argument = node.child_by_field_name("argument")
        if argument is None:
            return self._not_understood(node, env)
        operand = self._s.expressions.emit(argument, env)
        return self._prefix(syntax.sign_of(node), operand, Mark(node.start_byte), node, env)

    def dereference(self, operand: Ex, mark: Mark, node: Node, env: Env) -> Ex:
        """``*operand``."""
        if isinstance(operand.type, types.Record):
            defined = self._s.methods.operator("*", [operand], node, env)
            if defined is not None:
                return defined
        if operand.target is not None:
            return operand.target
        type_ = operand.decayed
        if isinstance(type_, types.Pointer) and type_.target != types.VOID:
            if isinstance(type_.target, types.FunctionType):
                return operand
            return dereferenced(operand.at(UNARY), type_.target, mark)
        return self._s.unknown_place(f"`*` of {_describe(type_)}", operand, [], node)

    def _address(self, operand: Ex, mark: Mark, node: Node, env: Env) -> Ex:
        target = operand.type
        if isinstance(target, types.Pointer) and isinstance(target.target, types.FunctionType):
            return operand
        type_ = types.Pointer(types.qualified(target, const=operand.named))
        if operand.address is not None:
            return Ex(operand.address, type_, UNARY, pure=True, target=operand)
        if not operand.lvalue:
            operand = self._s.conversions.materialised(operand)
            return Ex(address_of(operand), type_, UNARY)
        piece = (mark, "&", operand.at(UNARY))
        return Ex(piece, type_, UNARY, pure=True, target=operand)

    def _update(self, node: Node, env: Env, expected: CType | None) -> Ex:
        argument = node.child_by_field_name("argument")
        if argument is None:
            return self._not_understood(node, env)
        sign = syntax.sign_of(node)
        operand = _place(self._s.expressions.emit(argument, env))
        prefix = node.children[0].type in ("++", "--")
        arguments = [operand] if prefix else [operand, literal(ctypes_lp64.plain(0))]
        if isinstance(operand.type, types.Record):
            defined = self._s.methods.operator(sign, arguments, node, env)
        else:
            defined = self._of_enumerations(sign, arguments, node, env)
        if defined is not None:
            return defined
        if not operand.lvalue or isinstance(operand.type, types.Record):
            return self._s.say_opaque(f"operator {sign}", [operand], operand.type, node)
        mark = Mark(node.start_byte)
        if prefix:
            head = (mark, sign, Mark(node.start_byte, leads=True))
            return self._assigned(operand, head, "", Ex((), operand.type, UNARY), node)
        return Ex((operand.at(PRIMARY), sign), types.unqualified(operand.type), PRIMARY)

    # -- assignment ---------------------------------------------------------------------

    def _assignment(self, node: Node, env: Env, expected: CType | None) -> Ex:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None:
            return self._not_understood(node, env)
        target = _place(self._s.expressions.emit(left, env))
        wanted = target.type if syntax.sign_of(node) == "=" else None
        value = self._s.expressions.emit(right, env, wanted)
        return self.assign(syntax.sign_of(node), target, value, node, right, env)

    def assign(self, sign: str, target: Ex, value: Ex, node: Node, right: Node, env: Env) -> Ex:
        """``target sign value`` for ``=`` and the compound assignments."""
        if isinstance(target.type, types.Record):
            defined = self._s.methods.assignment(sign, target, value, node, env)
        else:
            operands = [target, value] if sign != "=" else []
            defined = self._of_enumerations(sign, operands, node, env)
        if defined is not None:
            return defined
        if not target.lvalue or isinstance(target.type, types.Array):
            return self._s.say_opaque(
                "the target of an assignment", [target, value], types.unqualified(target.type), node
            )
        if sign == "=":
            if value.decayed != types.strip(target.type):
                value = self._s.conversions.coerce(value, target.type, right, env)
            else:
                by_parts = self._s.copying.assigned(target, value, node, env)
                if by_parts is not None:
                    return by_parts
        elif isinstance(target.type, types.Record) or isinstance(value.type, types.Record):
            combined = self.binary(sign[:-1], target, value, node, env)
            value = self._s.conversions.coerce(combined, target.type, right, env)
            sign = "="
        elif not self._c_accepts(sign[:-1], target.decayed, value.decayed):
            return self._s.say_opaque(f"operator {sign}", [target, value], target.type, node)
        tail = (f" {sign} ", value.at(ASSIGN))
        done = Ex((), types.unqualified(target.type), ASSIGN)
        return self._assigned(target, "", tail, done, node)

    def _assigned(self, target: Ex, head: Piece, tail: Piece, done: Ex, node: Node) -> Ex:
        """``head target tail``: an lvalue in C++ and none in C."""
        piece = (head, target.at(UNARY), tail)
        home = address_of(target) if target.home is None else target.home
        place: Piece = ("(", piece, ", ", home, ")")
        in_use = node.parent is not None and node.parent.type != "expression_statement"
        if in_use and HAS_EFFECT.search(plain(home)):  # to be found once, before it is assigned to
            home = self._s.temporary(types.Pointer(target.type))
            found = (home, " = ", address_of(target))
            place = ("(", found, ", ", (head, "*", home, tail), ", ", home, ")")
        return replace(done, piece=piece, lvalue=True, address=place, home=home)

    # -- subscripts and casts -----------------------------------------------------------

    def _subscript(self, node: Node, env: Env, expected: CType | None) -> Ex:
        argument, indices = (
            node.child_by_field_name("argument"),
            node.child_by_field_name("indices"),
        )
        parts = syntax.operands(indices)
        if argument is None or not parts:
            return self._not_understood(node, env)
        cast_after_all = self.misread_postfix(node, env)
        if cast_after_all is not None:
            return cast_after_all
        base = self._s.expressions.emit(argument, env)
        index = self._s.expressions.emit(parts[-1], env)
        if index.value is not None and len(parts) == 1:
            constant = self._s.globals.element(base, index.value)
            if constant is not None:
                return constant
        for skipped in reversed(parts[:-1]):  # `a[i, j]` is a comma expression
            index = self._s.expressions.sequence(self._s.expressions.emit(skipped, env), index)
        return self.element(base, index, node, env)

    def misread_postfix(self, node: Node, env: Env) -> Ex | None:
        """``(T)(p)[i]`` read as an element of a call of T."""
        found = misread.cast_of_postfix(self._s, node, env)
        if found is None:
            return None
        named, called, operand = found
        type_ = self._s.type_if_named(named, env)
        base = self._s.expressions.emit(operand, env)
        inner = self._s.expressions.with_replaced(node, called, base, env)
        if type_ is None:
            return inner
        return self._s.conversions.explicit(inner, type_, node, env)

    def element(self, base: Ex, index: Ex, node: Node, env: Env) -> Ex:
        """``base[index]``."""
        if isinstance(base.type, types.GroupType):
            return base
        if isinstance(base.type, types.Record):
            defined = self._s.methods.operator("[]", [base, index], node, env)
            if defined is not None:
                return defined
            converted = self._s.methods.pointer(base, node, env)
            if converted is not None:
                base = converted
        if isinstance(index.type, types.Record):
            index = self._s.conversions.coerce(index, types.INT, node, env)
        if isinstance(index.decayed, types.Pointer) and not isinstance(base.decayed, types.Pointer):
            base, index = index, base  # `3[p]`
        type_ = base.decayed
        if isinstance(type_, types.Pointer) and type_.target != types.VOID:
            if types.is_floating(index.type):
                index = self._s.conversions.explicit(index, types.INT, node, env)
            start = Mark(node.start_byte, leads=True)
            piece = (start, base.at(PRIMARY), "[", index.piece, "]")
            return Ex(piece, type_.target, PRIMARY, lvalue=True)
        return self._s.unknown_place(f"element of {_describe(type_)}", base, [index], node)

    def _cast(self, node: Node, env: Env, expected: CType | None) -> Ex:
        named, value = node.child_by_field_name("type"), node.child_by_field_name("value")
        if named is None or value is None:
            return self._not_understood(node, env)
        inner = named.child_by_field_name("type")
        plain_name = inner is not None and named.child_by_field_name("declarator") is None
        if plain_name and inner is not None and self._is_value(inner, env):
            # `(n)-1` read as a cast of `-1`
            if is_within_operator(node):
                return self._not_understood(node, env)
            sign = syntax.sign_of(value)
            argument = value.child_by_field_name("argument")
            if argument is not None and sign in ("-", "+", "*", "&"):
                a = self._s.expressions.emit(inner, env)
                return self.binary(sign, a, self._s.expressions.emit(argument, env), node, env)
        type_ = self._s.typenames.type(named, env)
        left, right = value.child_by_field_name("left"), value.child_by_field_name("right")
        if value.type == "assignment_expression" and left is not None and right is not None:
            # `(T &)x = v` read as a cast of `x = v`
            place = self._s.conversions.explicit(
                self._s.expressions.emit(left, env), type_, node, env
            )
            assigned = self._s.expressions.emit(right, env, types.strip_reference(type_))
            return self.assign(syntax.sign_of(value), place, assigned, node, right, env)
        return self._s.conversions.explicit(
            self._s.expressions.emit(value, env, type_), type_, node, env
        )

    def _is_value(self, node: Node, env: Env) -> bool:
        if node.type != "type_identifier":
            return False
        found = self._s.names.find(env, text(node))
        return found is not None and self._s.typenames.of_found(found, env) is None

    def _not_understood(self, node: Node, env: Env) -> Ex:
        return self._s.expressions.opaque(node, env, f"`{syntax.flat(node)}` is not understood")


def _place(ex: Ex) -> Ex:
    """What an assignment or ``++x`` gives, as C has it: an object, by its address."""
    if ex.address is None or isinstance(ex.type, types.Record):
        return ex
    changed = ex.precedence <= CONDITIONAL or plain(ex.piece).startswith(("++", "--"))
    return replace(dereferenced(ex.address, ex.type), home=ex.home) if changed else ex


HAS_EFFECT = re.compile(r"\+\+|--|\w\(|(?<![=!<>])=(?!=)")  # in C text: a change, or a call

_OPERATOR_NAMES = {
    "+": "operator_add", "-": "operator_sub", "*": "operator_mul", "/": "operator_div",
    "%": "operator_mod", "<": "operator_lt", ">": "operator_gt", "<=": "operator_le",
    ">=": "operator_ge", "==": "operator_eq", "!=": "operator_ne", "&": "operator_and",
    "|": "operator_or", "^": "operator_xor", "<<": "operator_shl", ">>": "operator_shr",
    "!": "operator_not", "~": "operator_compl",
}  # fmt: skip

_PAIR_FUNCTIONS = {
    "+": "__hadd2", "-": "__hsub2", "*": "__hmul2", "/": "__h2div", "==": "__hbeq2",
    "!=": "__hbne2", "<": "__hblt2", ">": "__hbgt2", "<=": "__hble2", ">=": "__hbge2",
}  # fmt: skip


def _function_name(sign: str, operands: list[Ex]) -> str:
    """The function that an operator of classes is in C: two halves have one of CUDA's headers."""
    if has_operators([ex.type for ex in operands]) and sign in _PAIR_FUNCTIONS:
        return _PAIR_FUNCTIONS[sign] if len(operands) > 1 else "__hneg2"
    return _OPERATOR_NAMES.get(sign, "operator")


def _describe(type_: CType) -> str:
    """A type for the reader; one without a name is the result of code that is not known."""
    shown = types.spell(type_)
    if shown.endswith(PART):
        return f"a part of `{shown.removesuffix(PART)}`"
    unknown = isinstance(type_, types.Unknown) and not type_.name
    return "something whose type is not known" if unknown else f"`{shown}`"
