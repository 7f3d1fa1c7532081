"""Inline PTX: copies and loads that matter for addresses are recognised.

In: asm statements.  Out: :class:`Ex`.  PTX ISA names: ``cp.async``, ``ldmatrix``, ``ld``, ``st``,
``atom``, ``red``, ``cvta.to.shared``, ``bar.sync``, ``%laneid``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tree_sitter import Node

from coalescecheck.frontend.rewrite import groups, syntax, types
from coalescecheck.frontend.rewrite.emit import Mark
from coalescecheck.frontend.rewrite.env import Env
from coalescecheck.frontend.rewrite.ex import (
    BINARY,
    COMMA,
    UNARY,
    Ex,
    address_of,
    cast,
    integer,
)
from coalescecheck.frontend.rewrite.intrinsics import place
from coalescecheck.frontend.rewrite.output import c_name
from coalescecheck.frontend.rewrite.types import CType

if TYPE_CHECKING:
    from coalescecheck.frontend.rewrite.session import Session

_PLACE = r"\[\s*(%\d+(?:\s*\+\s*-?\w+)?)\s*\]"  # [%1] or [%1+16]
_CP_ASYNC = re.compile(rf"cp\.async\.c[ag]\.shared\.global\S*\s+{_PLACE}\s*,"
                       rf"\s*{_PLACE}\s*,\s*(%?\d+)")  # fmt: skip
_LDMATRIX = re.compile(
    r"ldmatrix\.[\w.:]{0,80}?\.x([124])[\w.:]{0,80}\s*" rf"\{{([^}}]*)\}}\s*,\s*{_PLACE}"
)
_LOAD = re.compile(
    r"\bld\.(?:\w+\.){0,8}?(global|shared)(?:[.:]+\w+){0,12}?(?:\.v([24]))?\.([busf])(\d+)\s+"
    rf"\{{?([%\d,\s]+)\}}?\s*,\s*{_PLACE}"
)
_STORE = re.compile(
    r"\bst\.(?:\w+\.){0,8}?(global|shared)(?:[.:]+\w+){0,12}?(?:\.v([24]))?\.([busf])(\d+)\s+"
    rf"{_PLACE}\s*,\s*\{{?([%\d,\s]+)\}}?"
)
_ATOMIC = re.compile(
    r"\b(?:red|(atom))\.(?:[\w:]+\.){0,6}?(add|min|max|inc|dec|and|or|xor|exch|cas)"
    r"\.(?:[\w:]+\.){0,6}?"
    rf"(?:[busf](\d+)|(b?f16x2))\s+(?(1)%(\d+)\s*,\s*){_PLACE}((?:\s*,\s*[%\w-]+)+)\s*;?\s*$"
)
_ATOMIC_KIND = re.compile(r"\.([busf])\d+\s")
_TO_SHARED = re.compile(  # through a register of its own, or not
    r"cvta\.to\.shared\.u64\s+(?:%0|(\w+))\s*,\s*%1\s*;"
    r"(?(1)\s*cvt\.u32\.u64\s+%0\s*,\s*\1\s*;)[\s}]*$"
)
_SILENT = re.compile(  # orders or awaits what other instructions do
    r"[\s{]*(?:fence|membar|cp\.async\.(?:commit|wait)_(?:group|all)|griddepcontrol|nanosleep"
    r"|trap|brkpt|setmaxnreg)\b[^;]*;?[\s}]*$"
)
_GUARD = re.compile(r"setp\.(ne|eq)\.[bsu]\d+\s+(\w+)\s*,\s*%(\d+)\s*,\s*0\s*;")
_PREDICATE = re.compile(r"@(!?)(\w+)\s")  # fmt: skip
# instructions on floating values, and those that touch no data in memory
_ARITHMETIC = re.compile(r"\W*(mma|wmma\.mma|cvt|ex2|lg2|rcp|rsqrt|sqrt|sin|cos|tanh|fma)\.")
_NO_DATA = re.compile(r"\W*(mbarrier|prefetch\w*|applypriority|discard)\b")
_BARRIER = re.compile(r"^\s*(bar|barrier)\.sync\s+0\s*;?\s*$")
_SCALARS = {
    ("f", 32): types.FLOAT, ("f", 64): types.DOUBLE, ("s", 32): types.INT,
    ("s", 64): types.Scalar("long long"), ("u", 64): types.Scalar("unsigned long long"),
    ("b", 64): types.Scalar("unsigned long long"), ("u", 16): types.Scalar("unsigned short"),
    ("b", 16): types.Scalar("unsigned short"), ("s", 16): types.Scalar("short"),
    ("u", 8): types.Scalar("unsigned char"), ("b", 8): types.Scalar("unsigned char"),
    ("s", 8): types.Scalar("signed char"),
}  # fmt: skip
_VECTORS = {"float": "float", "double": "double", "int": "int", "unsigned int": "uint",
            "unsigned short": "ushort", "unsigned long long": "ulonglong",
            "long long": "longlong"}  # fmt: skip


class InlineAsm:
    """Emits asm statements."""

    def __init__(self, session: Session) -> None:
        self._s = session
        session.expressions.register("gnu_asm_expression", self._asm)

    def _asm(self, node: Node, env: Env, expected: CType | None) -> Ex:
        code = node.child_by_field_name("assembly_code")
        spelled = self._code(code) if code is not None else ""
        outputs = self._operands(node.child_by_field_name("output_operands"), env)
        inputs = self._operands(node.child_by_field_name("input_operands"), env)
        known = self._known(spelled, outputs, inputs, node, env)
        return known if known is not None else self._unknown(spelled, outputs, inputs, node, env)

    @staticmethod
    def _code(node: Node) -> str:
        parts = [syntax.text(n) for n in syntax.walk(node) if n.type == "string_content"]
        return "".join(parts).replace("\\n", " ").replace("\\t", " ")

    def _operands(self, holder: Node | None, env: Env) -> list[Ex]:
        out = []
        for operand in syntax.operands(holder):
            value = operand.child_by_field_name("value")
            if value is not None:
                out.append(self._s.expressions.emit(value, env))
        return out

    def _known(
        self, code: str, outputs: list[Ex], inputs: list[Ex], node: Node, env: Env
    ) -> Ex | None:
        """An instruction that is understood, under its predicate if it has one."""
        operands = [*outputs, *inputs]
        predicates = _PREDICATE.findall(code)
        if not predicates:
            return self._instruction(code, outputs, operands, node, env)
        guard = _guard(code, predicates, operands)
        if guard is None:
            return None
        start = code.index("@")
        only = code[start : code.find(";", start)]
        done = self._instruction(only, outputs, operands, node, env)
        if done is None:
            return None
        piece = (guard.at(BINARY["&&"]), " && (", done.piece, ", 1)")
        return Ex(("(void)(", piece, ")"), types.VOID, UNARY)

    def _instruction(
        self, code: str, outputs: list[Ex], operands: list[Ex], node: Node, env: Env
    ) -> Ex | None:
        if _BARRIER.match(code):
            return self._s.intrinsics.call("__syncthreads", [], node, env)
        if "%laneid" in code and code.strip().startswith("mov") and len(outputs) == 1:
            rank = groups.rank(self._s)
            lane = Ex((rank.at(BINARY["%"]), " % 32u"), types.UINT, BINARY["%"])
            return self._s.operators.assign("=", outputs[0], lane, node, node, env)
        if _SILENT.match(code) and not outputs:
            return Ex("((void)0)", types.VOID, COMMA)
        if re.match(r"[\s{]*exit\s*;", code):
            return self._s.opaque_named("exit", [], types.VOID, node)
        if _TO_SHARED.search(code) and len(outputs) == 1 and len(operands) == 2:
            address = self._s.intrinsics.call("__cvta_generic_to_shared", operands[1:], node, env)
            return address and self._s.operators.assign("=", outputs[0], address, node, node, env)
        match = _ATOMIC.search(code)
        if match is not None and code.count(";") <= 1:
            return self._atomic(match, operands, node, env)
        match = _CP_ASYNC.search(code)
        if match is not None:
            return self._copy(match, operands, node, env)
        match = _LDMATRIX.search(code)
        if match is not None:
            return self._matrix(match, operands, node, env)
        match = _LOAD.search(code)
        if match is not None and code.count(";") <= 1:
            return self._load(match, operands, node, env)
        match = _STORE.search(code)
        if match is not None and code.count(";") <= 1:
            return self._store(match, operands, node, env)
        return None

    def _copy(self, match: re.Match[str], operands: list[Ex], node: Node, env: Env) -> Ex | None:
        target, source = _pick_place(operands, match[1]), _pick_place(operands, match[2])
        size = _pick(operands, match[3][1:]) if match[3][0] == "%" else integer(int(match[3]))
        if target is None or source is None or size is None:
            return None
        parameters = [target.decayed, source.decayed, types.INT]
        return self._s.intrinsics.typed(
            "__asm_cp_async", types.VOID, parameters, [target, source, size], node, env,
            suffixed=False,
        )  # fmt: skip

    def _matrix(self, match: re.Match[str], operands: list[Ex], node: Node, env: Env) -> Ex | None:
        address = _pick_place(operands, match[3])
        targets = [_pick(operands, n) for n in re.findall(r"%(\d+)", match[2])]
        if address is None or any(t is None or not t.lvalue for t in targets):
            return None
        pointers = [
            Ex(self._s.functions.receiver(t, ()), types.Pointer(types.unqualified(t.type)), UNARY)
            for t in targets
            if t is not None
        ]
        parameters = [address.decayed, *(p.type for p in pointers)]
        return self._s.intrinsics.typed(
            f"__asm_ldmatrix_x{match[1]}", types.VOID, parameters, [address, *pointers], node,
            env, suffixed=False,
        )  # fmt: skip

    # -- plain loads and stores ---------------------------------------------------------

    def _accessed(self, kind: str, bits: str, count: str | None) -> CType | None:
        element = _SCALARS.get((kind, int(bits)), types.UINT if bits == "32" else None)
        if element is None or count is None:
            return element
        named = _VECTORS.get(element.name)
        return self._s.builtin(f"{named}{count}") if named is not None else None

    def _load(self, match: re.Match[str], operands: list[Ex], node: Node, env: Env) -> Ex | None:
        type_ = self._accessed(match[3], match[4], match[2])
        address = _pick_place(operands, match[6])
        targets = [_pick(operands, n) for n in re.findall(r"%(\d+)", match[5])]
        if type_ is None or address is None or not targets:
            return None
        source = place(address, type_, Mark(node.start_byte))
        if len(targets) == 1 and targets[0] is not None:
            return self._s.operators.assign("=", targets[0], source, node, node, env)
        name = self._s.temporary(type_)
        holder = Ex(name, type_, lvalue=True)
        result = self._s.operators.assign("=", holder, source, node, node, env)
        for letter, target in zip("xyzw", targets, strict=False):
            part = self._s.methods.member(holder, letter, node)
            if target is None or part is None:
                return None
            step = self._s.operators.assign("=", target, part, node, node, env)
            result = self._s.expressions.sequence(result, step)
        return result

    def _store(self, match: re.Match[str], operands: list[Ex], node: Node, env: Env) -> Ex | None:
        type_ = self._accessed(match[3], match[4], match[2])
        address = _pick_place(operands, match[5])
        sources = [_pick(operands, n) for n in re.findall(r"%(\d+)", match[6])]
        values = [s for s in sources if s is not None]
        if type_ is None or address is None or not values or len(values) < len(sources):
            return None
        target = place(address, type_, Mark(node.start_byte))
        if isinstance(type_, types.Record):
            value = self._s.construction.construct(type_, values, node, env)
        else:
            value = values[0]
        return self._s.operators.assign("=", target, value, node, node, env)

    def _atomic(self, match: re.Match[str], operands: list[Ex], node: Node, env: Env) -> Ex | None:
        kind = _ATOMIC_KIND.search(match[0])
        packed = match[4] is not None  # two numbers of 16 bits in one word
        type_ = types.UINT if packed else self._accessed(kind[1] if kind else "b", match[3], None)
        address = _pick_place(operands, match[6])
        values = [_value(operands, v.strip()) for v in match[7].split(",")[1:]]
        given = [v for v in values if v is not None]
        if type_ is None or address is None or len(given) < len(values):
            return None
        pointer = address_of(place(address, type_, Mark(node.start_byte)))
        name = "atomicCAS" if match[2] == "cas" else f"atomic{match[2].capitalize()}"
        arguments = [Ex(pointer, types.Pointer(type_), UNARY), *(cast(v, type_) for v in given)]
        before = self._s.intrinsics.call(name, arguments, node, env)
        target = _pick(operands, match[5]) if match[5] is not None else None
        if before is None or match[5] is None:
            return before
        if target is None:
            return None
        return self._s.operators.assign("=", target, before, node, node, env)

    def _unknown(self, code: str, outputs: list[Ex], inputs: list[Ex], node: Node, env: Env) -> Ex:
        """Other PTX: every output becomes unknown."""
        word = re.match(r"\W*([a-z][\w.]*)", code)
        if "[" in code and not _NO_DATA.match(code):
            what = f"`{word[1] if word else 'asm'}` of inline assembly is not followed"
            self._s.say(node, "warning", f"{what}: what it accesses is not seen", hides=True)
        stem = c_name(types.mangled(["asm", (word[1] if word else "code").replace(".", "_")]))
        if not outputs:
            return self._s.opaque_named(stem, inputs, types.VOID, node)
        if not _ARITHMETIC.match(code):
            self._s.say(node, "note", "inline assembly is not followed: its outputs are unknown")
        total: Ex | None = None
        for output in outputs:
            result = types.unqualified(output.decayed)
            made = self._s.opaque_named(stem, inputs, result, node)
            step = self._s.operators.assign("=", output, made, node, node, env)
            total = step if total is None else self._s.expressions.sequence(total, step)
            inputs = [i for i in inputs if i.pure]  # read once
        return total if total is not None else Ex("((void)0)", types.VOID, COMMA)


def _guard(code: str, predicates: list[tuple[str, str]], operands: list[Ex]) -> Ex | None:
    """The condition ``setp.ne.b32 p, %3, 0; @p …`` makes; None for any other predicate."""
    match = _GUARD.search(code)
    if match is None or len(predicates) != 1 or predicates[0][1] != match[2]:
        return None
    value = _pick(operands, match[3])
    if value is None:
        return None
    equal = (match[1] == "eq") != (predicates[0][0] == "!")
    piece = (value.at(BINARY["=="] + 1), " == 0" if equal else " != 0")
    return Ex(piece, types.BOOL, BINARY["=="])


def _pick_place(operands: list[Ex], spelled: str) -> Ex | None:
    """The address ``%1`` or ``%1+16`` names; bytes are added."""
    number, _, offset = spelled.removeprefix("%").partition("+")
    address = _pick(operands, number.strip())
    if address is None or not offset.strip():
        return address
    try:
        distance = int(offset.strip(), 0)
    except ValueError:
        return None
    type_ = address.decayed
    if isinstance(type_, types.Pointer):
        address = cast(address, types.Pointer(types.CHAR))
    piece = (address.at(BINARY["+"]), f" + {distance}")
    return Ex(piece, address.decayed, BINARY["+"], pure=address.pure)


def _value(operands: list[Ex], spelled: str) -> Ex | None:
    """The operand ``%1``, or a number."""
    if spelled.startswith("%"):
        return _pick(operands, spelled[1:])
    try:
        return integer(int(spelled, 0))
    except ValueError:
        return None


def _pick(operands: list[Ex], number: str) -> Ex | None:
    position = int(number)
    return operands[position] if position < len(operands) else None
