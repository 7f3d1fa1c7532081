"""A scalar interpreter of the IR, for one thread: the meaning of IR, written independently.

Memory is a dict from array name to a bytearray; an address is (array name, byte offset).  It
exists so that lowering can be compared with a C compiler.
"""

from __future__ import annotations

import struct
from typing import Any

from coalescecheck.ir.expr import (
    ArrayBase,
    Binary,
    Builtin,
    Call,
    Cast,
    Const,
    Expr,
    Select,
    Unary,
    Undefined,
    Var,
)
from coalescecheck.ir.kernel import (
    Assign,
    Atomic,
    Continue,
    If,
    Kernel,
    Leave,
    Load,
    Loop,
    Scope,
    Stmt,
    Store,
)
from coalescecheck.ir.types import BOOL, ScalarType

_CODES = {
    "bool": "?", "i8": "b", "u8": "B", "i16": "h", "u16": "H", "i32": "i", "u32": "I",
    "i64": "q", "u64": "Q", "f32": "f", "f64": "d",
}  # fmt: skip
_COMPARE = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


class Address(tuple):
    """(array name, byte offset)"""


class _Jump(Exception):
    def __init__(self, label: str, again: bool) -> None:
        self.label, self.again = label, again


def wrap(value: int, type_: ScalarType) -> int:
    if type_ == BOOL:
        return int(value != 0)
    value %= 2**type_.bits
    return value - 2**type_.bits if type_.kind == "int" and value >> type_.bits - 1 else value


class Machine:
    """Runs a kernel for thread 0 of a block of one."""

    def __init__(self, kernel: Kernel, memory: dict[str, bytearray], params: dict[str, Any]):
        self.kernel, self.memory, self.vars = kernel, memory, dict(params)
        self.executed: list[int] = []  # ids of accesses in order
        for array in kernel.arrays.values():
            if array.name not in memory:
                memory[array.name] = bytearray(array.size or 4096)
                for index, value in enumerate(array.values or ()):
                    kind = array.element_kind
                    code = "f" if kind == "float" else {1: "b", 4: "i"}[array.element_size]
                    code = code.upper() if kind == "uint" else code
                    struct.pack_into(code, memory[array.name], index * array.element_size, value)

    def run(self) -> None:
        self.block(self.kernel.body)

    def block(self, body: tuple[Stmt, ...]) -> None:
        for stmt in body:
            self.step(stmt)

    def step(self, stmt: Stmt) -> None:
        match stmt:
            case Assign(value=Undefined()):
                self.vars.pop(stmt.var.name, None)  # reading it now is an error
            case Assign():
                self.vars[stmt.var.name] = self.value(stmt.value)
            case Load():
                self.executed.append(stmt.access)
                name, at = self.value(stmt.address)
                for offset, var in ((0, stmt.var), *stmt.more):
                    self.vars[var.name] = self.peek(name, at + offset, var.type)
            case Store():
                self.executed.append(stmt.access)
                name, at = self.value(stmt.address)
                for offset, value in ((0, stmt.value), *stmt.more):
                    self.poke(name, at + offset, value.type, self.value(value))
            case Atomic():
                self.atomic(stmt)
            case If():
                self.block(stmt.then if self.value(stmt.condition) else stmt.otherwise)
            case Scope():
                try:
                    self.block(stmt.body)
                except _Jump as jump:
                    if jump.label != stmt.label:
                        raise
            case Loop():
                self.loop(stmt)
            case Leave():
                raise _Jump(stmt.label, False)
            case Continue():
                raise _Jump(stmt.label, True)
            case _:
                raise NotImplementedError(stmt)

    def loop(self, loop: Loop) -> None:
        first = not loop.test_first
        for _ in range(100_000):
            try:
                if not first:
                    self.block(loop.test)
                    if not self.value(loop.condition):
                        return
                first = False
                self.block(loop.body)
            except _Jump as jump:
                if jump.label != loop.label:
                    raise
                if not jump.again:
                    return
            self.block(loop.step)
        raise AssertionError("the loop does not end")

    def atomic(self, stmt: Atomic) -> None:
        self.executed.append(stmt.access)
        name, at = self.value(stmt.address)
        type_ = stmt.operands[0].type
        old = self.peek(name, at, type_)
        operands = [self.value(operand) for operand in stmt.operands]
        new = {"add": lambda: old + operands[0], "max": lambda: max(old, operands[0])}[stmt.op]()
        self.poke(name, at, type_, wrap(new, type_))
        if stmt.var is not None:
            self.vars[stmt.var.name] = old

    def peek(self, name: str, at: int, type_: ScalarType) -> Any:
        if type_.kind == "ptr":
            raise NotImplementedError("pointers in memory")
        return struct.unpack_from(_CODES[type_.name], self.memory[name], at)[0]

    def poke(self, name: str, at: int, type_: ScalarType, value: Any) -> None:
        struct.pack_into(_CODES[type_.name], self.memory[name], at, value)

    # --- expressions ---

    def value(self, expr: Expr) -> Any:
        match expr:
            case Const():
                return expr.value
            case Var():
                return self.vars[expr.name]
            case Builtin():
                return 1 if "Dim" in expr.name else 0
            case ArrayBase():
                return Address((expr.array, 0))
            case Unary():
                return self.unary(expr)
            case Cast():
                return self.cast(self.value(expr.operand), expr.operand.type, expr.type)
            case Select():
                return self.value(expr.then if self.value(expr.condition) else expr.otherwise)
            case Binary():
                assert (
                    expr.op in ("<<", ">>")
                    or expr.left.type == expr.right.type
                    or (expr.type.kind == "ptr" and expr.right.type.name == "i64")
                ), expr
                return self.binary(expr, self.value(expr.left), self.value(expr.right))
            case Call():
                return self.call(expr)
            case Undefined():
                raise AssertionError(f"an undefined value is used: {expr.reason}")

    def unary(self, expr: Unary) -> Any:
        value = self.value(expr.operand)
        match expr.op:
            case "!":
                assert expr.operand.type == BOOL
                return int(not value)
            case "~":
                return wrap(~value, expr.type)
        return -value if expr.type.kind == "float" else wrap(-value, expr.type)

    def cast(self, value: Any, source: ScalarType, target: ScalarType) -> Any:
        if isinstance(value, Address):
            return value
        if target.kind == "float":
            return self.round(float(value), target)
        if target.kind == "ptr":
            return value
        return wrap(int(value), target)

    def round(self, value: float, type_: ScalarType) -> float:
        return struct.unpack("f", struct.pack("f", value))[0] if type_.size == 4 else value

    def binary(self, expr: Binary, a: Any, b: Any) -> Any:
        op, type_ = expr.op, expr.left.type
        if isinstance(a, Address):
            if op == "+":
                return Address((a[0], a[1] + b))
            if isinstance(b, Address) and op == "-":
                assert a[0] == b[0]
                return a[1] - b[1]
            return int(_COMPARE[op](a, b if isinstance(b, Address) else ("", b)))
        if op in _COMPARE:
            return int(_COMPARE[op](a, b))
        if op in ("&&", "||"):
            return int((a and b) if op == "&&" else (a or b))
        if type_.kind == "float":
            result = {"+": a + b, "-": a - b, "*": a * b}.get(op)
            return self.round(a / b if result is None else result, type_)
        return wrap(self.integer(op, a, b), type_)

    def integer(self, op: str, a: int, b: int) -> int:
        match op:
            case "+":
                return a + b
            case "-":
                return a - b
            case "*":
                return a * b
            case "/":
                return int(abs(a) // abs(b)) * (1 if (a >= 0) == (b >= 0) else -1)
            case "%":
                return a - b * self.integer("/", a, b)
            case "<<":
                return a << b
            case ">>":
                return a >> b
            case "&":
                return a & b
            case "|":
                return a | b
            case "^":
                return a ^ b
            case "min":
                return min(a, b)
            case "max":
                return max(a, b)
        raise NotImplementedError(op)

    def call(self, expr: Call) -> Any:
        args = [self.value(arg) for arg in expr.args]
        match expr.function:
            case "popc":
                return (args[0] % 2 ** expr.args[0].type.bits).bit_count()
            case "abs":
                return abs(args[0])
            case "mul24":
                low = [wrap(a << 8, expr.type) >> 8 for a in args]
                return wrap(low[0] * low[1], expr.type)
        raise NotImplementedError(expr.function)
