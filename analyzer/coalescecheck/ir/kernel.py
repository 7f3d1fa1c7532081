"""Statements, memory accesses, arrays, and the kernel that holds them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from coalescecheck.ir.expr import Expr, Var
from coalescecheck.ir.types import ScalarType
from coalescecheck.source import NOWHERE, Diagnostic, Span


class Space(StrEnum):
    """The kind of memory an access reaches; no array is in ``TEXTURE``, which has no addresses."""

    GLOBAL = "global"
    SHARED = "shared"
    CONSTANT = "constant"
    LOCAL = "local"
    TEXTURE = "texture"


class Op(StrEnum):
    LOAD = "load"
    STORE = "store"
    ATOMIC = "atomic"


@dataclass(frozen=True, slots=True)
class Piece:
    """One machine instruction's share of a source access: bytes ``offset .. offset+width``.

    A ``float3`` is three pieces of 4 bytes, a ``float4`` one of 16
    (docs/memory_model.md, "Pieces").
    """

    offset: int
    width: int


@dataclass(frozen=True, slots=True)
class Access:
    """One source expression that reads or writes memory (``a[i] += x`` is two).

    ``index`` is the source text of the whole access expression.  ``called_from`` are the call
    sites through which inlining reached it, outermost first.  ``kind`` refines ``op`` for the
    hardware model: ``plain``, ``async`` (cp.async, either side), ``ldmatrix``, ``red`` (atomic
    without result), ``texture``, ``wmma`` and ``library`` (never counted, only reported),
    ``vector`` (a reinterpreted wider access whose alignment the array's type does not guarantee).
    ``atomic_op`` is ``add``, ``cas`` … for atomics.  ``element`` is the accessed type for the
    reader (``float4``).
    ``unknown_width`` names the type whose size is missing, "" where the width is known.
    """

    id: int
    span: Span
    op: Op
    pieces: tuple[Piece, ...]
    index: str
    element: str = ""
    kind: str = "plain"
    atomic_op: str = ""
    called_from: tuple[Span, ...] = ()
    volatile: bool = False
    unknown_width: str = ""

    @property
    def may_hit_l1(self) -> bool:
        """Whether the first-level cache may serve it, if it turns out to be global memory.

        Not texture fetches (their own path), asynchronous copies and volatile loads.
        """
        return self.op is Op.LOAD and self.kind in ("plain", "vector") and not self.volatile

    @property
    def lanes_asked(self) -> int:
        """How many lanes give an address that counts: ``ldmatrix.x1`` and ``.x2`` take the rows of
        one and two matrices of 8 from the first lanes (PTX ISA, "ldmatrix")."""
        asked = {"x1": 8, "x2": 16} if self.kind == "ldmatrix" else {}
        return asked.get(self.element[-2:], 32)

    @property
    def unresolved_space(self) -> Space:
        """The space to file it under where no array tells one."""
        return Space.TEXTURE if self.kind == "texture" else Space.GLOBAL


@dataclass(frozen=True, slots=True)
class Element:
    """A scalar inside an array: its name behind the array's (``[1].x``) and where it begins, in
    bytes."""

    name: str
    offset: int
    type: ScalarType


@dataclass(frozen=True, slots=True)
class Array:
    """An object in memory that accesses can reach.

    ``name`` is the kernel's own term: the parameter, the declared array, ``s.data`` for a
    pointer member of a parameter struct.  ``size`` is in bytes, None when unknown (pointer
    parameters, ``extern __shared__``).  ``dims`` are the declared extents, outermost first, in
    elements (empty for pointers).  ``align`` is the alignment in bytes the analysis may rely on
    for the first byte: 256 for global parameters (cudaMalloc), the natural alignment otherwise.
    ``dynamic`` marks ``extern __shared__``.  ``element_align`` is the alignment that the type of
    the elements promises; ``pointee`` is set when they are themselves pointers to global memory.
    ``values`` are the initialisers of a constant array, flattened, one per ``element_size`` bytes.
    ``parameter`` marks kernel parameters.  ``integers`` are those of an object in constant memory,
    if there are not too many to be named.
    """

    name: str
    space: Space
    element: str
    element_size: int
    element_kind: str = "float"  # ScalarType.kind of the element, or "struct"
    size: int | None = None
    dims: tuple[int, ...] = ()
    align: int = 1
    dynamic: bool = False
    pointee: str = ""
    values: tuple[int | float, ...] | None = None
    parameter: bool = False
    const: bool = False
    restrict: bool = False
    integers: tuple[Element, ...] = ()
    element_align: int = 1
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Param:
    """A scalar (non-pointer) parameter, or a named symbol such as a free template value, which
    is a constant when the kernel is ``compiled``.  That a name which nothing declares is the same
    for all threads is ``presumed``."""

    name: str
    type: ScalarType
    compiled: bool = False
    presumed: bool = False


# --- statements -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Assign:
    var: Var
    value: Expr


@dataclass(frozen=True, slots=True)
class Load:
    """``var = *address`` for piece number ``piece`` of access ``access``.

    ``address`` is the address of that piece (the piece's offset is already added).
    ``more`` are the further scalars of the same piece, as (byte offset from ``address``,
    variable): a ``float4`` is one Load of one 16-byte piece whose ``var`` is ``x`` and whose
    ``more`` are ``(4, y), (8, z), (12, w)``.  One Load is one request, whatever ``more`` holds;
    ``var``'s own type has the size that is read into it.
    """

    access: int
    piece: int
    var: Var
    address: Expr
    more: tuple[tuple[int, Var], ...] = ()


@dataclass(frozen=True, slots=True)
class Store:
    """``*address = value``; ``more`` are the further scalars of the same piece, as
    (byte offset from ``address``, value): one request writes them all."""

    access: int
    piece: int
    address: Expr
    value: Expr
    more: tuple[tuple[int, Expr], ...] = ()


@dataclass(frozen=True, slots=True)
class Atomic:
    """``var = atomic op(address, operands)``; ``var`` (may be None) receives the old value."""

    access: int
    var: Var | None
    op: str
    address: Expr
    operands: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class If:
    condition: Expr
    then: tuple[Stmt, ...]
    otherwise: tuple[Stmt, ...]
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Loop:
    """``for (;;) { test; if (!condition) break; body; step }``.

    ``test`` computes what ``condition`` needs (loads in a loop condition).  With
    ``test_first`` False (``do``) the first iteration skips the test.  ``Leave(label)`` breaks,
    ``Continue(label)`` jumps to ``step``.
    """

    label: str
    test: tuple[Stmt, ...]
    condition: Expr
    body: tuple[Stmt, ...]
    step: tuple[Stmt, ...]
    test_first: bool = True
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Scope:
    """A block that ``Leave(label)`` jumps out of: an inlined call, a switch, the kernel body."""

    label: str
    body: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class Leave:
    """Go to the end of the enclosing Scope or Loop with this label."""

    label: str


@dataclass(frozen=True, slots=True)
class Continue:
    label: str


@dataclass(frozen=True, slots=True)
class Barrier:
    """``scope``: ``block`` (__syncthreads), ``warp`` (__syncwarp), ``grid``, or ``unknown`` for a
    function that is not known and may be one.  ``mask`` has the lanes of a warp that it orders;
    None: all."""

    scope: str
    span: Span = NOWHERE
    mask: Expr | None = None


@dataclass(frozen=True, slots=True)
class WarpOp:
    """A value exchanged between the lanes of a warp.

    ``op``: ``shfl`` (args value, source lane, width), ``shfl_up``/``shfl_down``/``shfl_xor``
    (value, delta, width), ``ballot``/``any``/``all`` (predicate, mask if given), ``activemask``
    (), ``reduce_add`` … (value, mask), ``reduce`` (value, combined in some way),
    ``block_count``/``block_and``/``block_or`` (__syncthreads_count …).
    """

    var: Var
    op: str
    args: tuple[Expr, ...]


Stmt = Assign | Load | Store | Atomic | If | Loop | Scope | Leave | Continue | Barrier | WarpOp


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel instance, ready for analysis.

    ``body`` is a single ``Scope("kernel", …)``.  ``params`` are the integer and floating
    parameters (``s.n`` for struct members), read as ``Var(name, type)``; ``arrays`` are all
    memory objects by name; ``accesses`` are indexed by their id.  ``diagnostics``
    tell what lowering had to drop.  ``unknown_types`` has the template parameter that gives each
    type of unknown size, "" for one that is declared nowhere.
    """

    name: str
    span: Span
    params: tuple[Param, ...]
    arrays: dict[str, Array]
    accesses: tuple[Access, ...]
    body: tuple[Stmt, ...]
    diagnostics: tuple[Diagnostic, ...] = field(default=())
    unknown_types: dict[str, str] = field(default_factory=dict)


def nested(stmt: Stmt) -> tuple[tuple[Stmt, ...], ...]:
    """The statement lists directly inside ``stmt``."""
    match stmt:
        case If():
            return (stmt.then, stmt.otherwise)
        case Loop():
            return (stmt.test, stmt.body, stmt.step)
        case Scope():
            return (stmt.body,)
    return ()


def expressions(stmt: Stmt) -> tuple[Expr, ...]:
    """The expressions that ``stmt`` itself evaluates, without those of nested statements."""
    match stmt:
        case Assign():
            return (stmt.value,)
        case Load():
            return (stmt.address,)
        case Store():
            return (stmt.address, stmt.value, *(value for _, value in stmt.more))
        case Atomic():
            return (stmt.address, *stmt.operands)
        case If() | Loop():
            return (stmt.condition,)
        case WarpOp():
            return stmt.args
        case Barrier():
            return () if stmt.mask is None else (stmt.mask,)
    return ()


def walk(body: tuple[Stmt, ...]) -> Iterator[Stmt]:
    """Every statement, outer before inner, in source order."""
    waiting = list(reversed(body))
    while waiting:
        stmt = waiting.pop()
        yield stmt
        if isinstance(stmt, If | Loop | Scope):
            for inner in reversed(nested(stmt)):
                waiting.extend(reversed(inner))
