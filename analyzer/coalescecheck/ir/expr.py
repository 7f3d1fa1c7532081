"""Pure expressions over scalars, with C semantics and explicit types.

No expression reads memory or changes state: loads, calls with effects and warp operations
are statements.  Both operands of a binary arithmetic operator have the type of the result;
both operands of a comparison have the same type (lowering inserts the casts that C implies);
a shift's right operand is cast to the left one's type.
A pointer is a 64-bit byte address: ``Binary("+", pointer, i64 byte offset, PTR)``.
"""

from __future__ import annotations

from dataclasses import dataclass

from coalescecheck.ir.types import BOOL, PTR, ScalarType


@dataclass(frozen=True, slots=True)
class Const:
    type: ScalarType
    value: int | float


@dataclass(frozen=True, slots=True)
class Var:
    """A scalar variable of the kernel; names are unique in the kernel (``i``, ``i.1``)."""

    name: str
    type: ScalarType


@dataclass(frozen=True, slots=True)
class Builtin:
    """``threadIdx.x`` … ``gridDim.z`` (u32), ``laneid`` (u32), ``warpid`` (u32),
    ``shared_bytes`` (u32, the launch's dynamic shared memory)."""

    name: str
    type: ScalarType


@dataclass(frozen=True, slots=True)
class ArrayBase:
    """The address of the first byte of an array of the kernel (``Kernel.arrays``)."""

    array: str
    type: ScalarType = PTR


@dataclass(frozen=True, slots=True)
class Unary:
    """``op``: ``-``, ``~`` (integer, float for ``-``) or ``!`` (result BOOL)."""

    op: str
    operand: Expr
    type: ScalarType


@dataclass(frozen=True, slots=True)
class Binary:
    """``op``: ``+ - * / % << >> & | ^ min max`` (result of the operands' type),
    ``== != < <= > >=`` (result BOOL), ``&& ||`` (BOOL operands and result; no short circuit
    is needed because expressions are pure)."""

    op: str
    left: Expr
    right: Expr
    type: ScalarType


@dataclass(frozen=True, slots=True)
class Cast:
    """Conversion between any two scalar types (ptr <-> 64-bit integer keeps the bits)."""

    operand: Expr
    type: ScalarType


@dataclass(frozen=True, slots=True)
class Select:
    condition: Expr
    then: Expr
    otherwise: Expr
    type: ScalarType


@dataclass(frozen=True, slots=True)
class Call:
    """A pure function: ``popc clz ffs brev mulhi umulhi mul24 abs`` on integers, and any
    floating-point function by its C name."""

    function: str
    args: tuple[Expr, ...]
    type: ScalarType


@dataclass(frozen=True, slots=True)
class Undefined:
    """A value the analysis does not know.

    ``uniform``: every lane of a warp has the same value.  ``key`` names the unknown; two
    evaluations of one key in one loop iteration give the same value.  ``unset``: it is a variable
    before its first assignment, which no program may read.
    """

    key: str
    reason: str
    type: ScalarType
    uniform: bool = False
    unset: bool = False


Expr = Const | Var | Builtin | ArrayBase | Unary | Binary | Cast | Select | Call | Undefined

TRUE = Const(BOOL, 1)
FALSE = Const(BOOL, 0)


def children(expr: Expr) -> tuple[Expr, ...]:
    """The direct operands of ``expr``."""
    match expr:
        case Unary() | Cast():
            return (expr.operand,)
        case Binary():
            return (expr.left, expr.right)
        case Select():
            return (expr.condition, expr.then, expr.otherwise)
        case Call():
            return expr.args
    return ()


def builtins_of(expr: Expr) -> set[str]:
    """Names of the CUDA variables (``threadIdx.y`` …) that occur in ``expr``."""
    found = {expr.name} if isinstance(expr, Builtin) else set()
    return found.union(*(builtins_of(child) for child in children(expr)))
