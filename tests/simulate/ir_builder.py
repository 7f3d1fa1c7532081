"""Kernels built by hand for the tests: arithmetic with operators, accesses by array and index."""

from __future__ import annotations

from dataclasses import dataclass

from coalescecheck.ir.expr import ArrayBase, Binary, Builtin, Cast, Const, Expr, Unary, Var
from coalescecheck.ir.kernel import (
    Access,
    Array,
    Assign,
    Atomic,
    Kernel,
    Load,
    Op,
    Param,
    Piece,
    Scope,
    Space,
    Store,
)
from coalescecheck.ir.types import BOOL, F32, I32, I64, PTR, U32, ScalarType
from coalescecheck.launch import Dim3, Launch
from coalescecheck.source import Span


@dataclass(frozen=True)
class E:
    """An expression with C-like operators; plain numbers take the other side's type."""

    expr: Expr

    def _with(self, op, other, swap=False):
        other = wrap(other, self.expr.type).expr
        left, right = (other, self.expr) if swap else (self.expr, other)
        compares = op in ("==", "!=", "<", "<=", ">", ">=")
        return E(Binary(op, left, right, BOOL if compares else self.expr.type))

    def __add__(self, other):
        return self._with("+", other)

    def __radd__(self, other):
        return self._with("+", other, swap=True)

    def __sub__(self, other):
        return self._with("-", other)

    def __mul__(self, other):
        return self._with("*", other)

    def __rmul__(self, other):
        return self._with("*", other, swap=True)

    def __truediv__(self, other):
        return self._with("/", other)

    def __mod__(self, other):
        return self._with("%", other)

    def __and__(self, other):
        return self._with("&", other)

    def __rshift__(self, other):
        return self._with(">>", other)

    def __lshift__(self, other):
        return self._with("<<", other)

    def __lt__(self, other):
        return self._with("<", other)

    def __ge__(self, other):
        return self._with(">=", other)

    def eq(self, other):
        return self._with("==", other)

    def to(self, kind):
        return E(Cast(self.expr, kind))

    def negate(self):
        return E(Unary("-", self.expr, self.expr.type))


def wrap(value, kind=I32):
    if isinstance(value, E):
        return value
    return E(Const(kind, value))


def var(name, kind=I32):
    return E(Var(name, kind))


def builtin(name, kind=I32):
    """A builtin variable, converted to int as kernels do."""
    return E(Cast(Builtin(name, U32), kind))


TX, TY = builtin("threadIdx.x"), builtin("threadIdx.y")
BX, BY = builtin("blockIdx.x"), builtin("blockIdx.y")
SPAN = Span("k.cu", 1, 1)


def assign(target, value):
    return Assign(target.expr, wrap(value, target.expr.type).expr)


class KernelBuilder:
    """Collects arrays and accesses while statements are written down."""

    def __init__(self, *params):
        self.params = tuple(Param(name, kind) for name, kind in params)
        self.arrays = {}
        self.accesses = []

    def array(self, name, space=Space.GLOBAL, kind=F32, size=None, **more):
        self.arrays[name] = Array(
            name, space, kind.name, kind.size, kind.kind, size, align=kind.size, **more
        )
        return name

    def shared(self, name, *dims, kind=F32):
        size = kind.size
        for extent in dims:
            size *= extent
        return self.array(name, Space.SHARED, kind, size, dims=dims)

    def address(self, array, index, size):
        offset = Binary("*", Cast(wrap(index).expr, I64), Const(I64, size), I64)
        return Binary("+", ArrayBase(array), offset, PTR)

    def access(self, op, width, **more):
        self.accesses.append(Access(len(self.accesses), SPAN, op, (Piece(0, width),), "", **more))
        return len(self.accesses) - 1

    def load(self, target, array, index, width=None, more=(), **kind):
        size = target.expr.type.size
        number = self.access(Op.LOAD, width or size, **kind)
        address = self.address(array, index, width or size)
        return Load(number, 0, target.expr, address, more)

    def store(self, array, index, value, width=None, more=(), **kind):
        value = wrap(value)
        size = value.expr.type.size
        number = self.access(Op.STORE, width or size, **kind)
        return Store(number, 0, self.address(array, index, width or size), value.expr, more)

    def atomic(self, op, array, index, *operands, into=None, kind=I32):
        number = self.access(Op.ATOMIC, kind.size, atomic_op=op)
        values = tuple(wrap(operand, kind).expr for operand in operands)
        target = None if into is None else into.expr
        return Atomic(number, target, op, self.address(array, index, kind.size), values)

    def kernel(self, *body):
        return Kernel(
            "k", SPAN, self.params, dict(self.arrays), tuple(self.accesses),
            (Scope("kernel", tuple(body)),),
        )  # fmt: skip


def launch(block, grid=(1,), **more):
    return Launch(Dim3(*block), Dim3(*grid), "cli", **more)


def value_type(name):
    kinds = {"i": "int", "u": "uint", "f": "float"}
    return ScalarType(name, kinds[name[0]], int(name[1:]) // 8)
