"""The state of lowering one kernel: scopes, statements so far, arrays, accesses, diagnostics.

One context lives for one attempt.  When an attempt finds that a variable it took apart must
live in memory after all (its address escapes), or that a loop gives it away after unknown calls
(``("kept", key)``), the variable's key goes to ``demote`` and the
kernel is lowered again; nothing of the failed attempt is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from pycparser import c_ast

from coalescecheck.errors import UnsupportedConstruct
from coalescecheck.frontend.kernel_c import SourceMap
from coalescecheck.frontend.spelling import Spellings
from coalescecheck.ir.expr import Expr, Undefined, Var
from coalescecheck.ir.kernel import Access, Array, Assign, Param, Stmt
from coalescecheck.ir.types import ScalarType
from coalescecheck.lower import unread
from coalescecheck.lower.ctypes import CType, Record
from coalescecheck.lower.leaving import Jumps
from coalescecheck.lower.values import Place, Value
from coalescecheck.source import NOWHERE, Diagnostic, Span

MAX_INLINED_CALLS = 10_000  # bodies per kernel
MAX_ACCESSES = 10_000  # of a kernel, from where on no further call is followed
MAX_RECURSIVE_CALLS = 300  # of these, inside a recursion: two calls of itself double each level


@dataclass(frozen=True, slots=True)
class TypeName:
    """A typedef."""

    type: CType
    const: bool = False
    volatile: bool = False


@dataclass(frozen=True, slots=True)
class Callee:
    """A function: ``definition`` is None for a prototype.

    A call of it stands for ``source``, an expression of the user that is not understood; if that
    is a ``place``, what the result points to does.
    """

    name: str
    type: CType
    definition: c_ast.FuncDef | None
    source: str = ""
    place: bool = False


Entity = Place | TypeName | Callee


@dataclass(slots=True)
class Frame:
    """One function being lowered: where ``return`` goes and what encloses each jump."""

    name: str
    leave: str  # label of its Scope
    result_type: CType
    result: Place | None = None
    call_site: Span | None = None
    recursive: bool = False  # inside a call of a function by itself
    returns: int = 0  # return statements so far
    value: Value | None = None  # of the last one
    breaks: list[str] = field(default_factory=list)
    continues: list[str] = field(default_factory=list)
    gotos: dict[str, Stmt] = field(default_factory=dict)


@dataclass(slots=True)
class Context:
    """See the module docstring.  ``evaluate``, ``execute`` are the entry points of expressions
    and statements, given from outside because types and calls need them too."""

    source_map: SourceMap
    pads: Mapping[str, int]
    demoted: frozenset[Hashable]
    evaluate: Callable[[Context, c_ast.Node], Value]
    execute: Callable[[Context, c_ast.Node], None]
    nulls: Collection[str] = ()
    spellings: Spellings = field(default_factory=Spellings)
    arrays: dict[str, Array] = field(default_factory=dict)
    accesses: list[Access] = field(default_factory=list)
    params: list[Param] = field(default_factory=list)
    parameter_types: dict[str, CType] = field(default_factory=dict)  # of arrays in parameters
    changes: dict[int, frozenset[str]] = field(default_factory=dict)  # by function, by identity
    elements: dict[str, Expr] = field(default_factory=dict)  # values in these, by name
    unknown_types: dict[str, str] = field(default_factory=dict)  # name: parameter that gives it
    diagnostics: dict[Diagnostic, None] = field(default_factory=dict)
    out: list[Stmt] = field(default_factory=list)
    scopes: list[dict[str, Entity]] = field(default_factory=lambda: [{}])
    tags: list[dict[str, Record]] = field(default_factory=lambda: [{}])
    frames: list[Frame] = field(default_factory=list)
    demote: set[Hashable] = field(default_factory=set)
    path: tuple[int, ...] = ()
    inlined: int = 0
    recursive: int = 0  # inlined calls inside a recursion
    barriers: int = 0  # emitted so far
    unread: bool = False  # the statements at hand hold code that could not be read
    said_limit: bool = False  # that calls are not followed any more
    dynamic_shared: str = ""  # the array that all extern shared names share
    statics: dict[Hashable, Place] = field(default_factory=dict)
    poisoned: set[str] = field(default_factory=set)  # arrays unknown functions may have written
    poisoned_vars: set[str] = field(default_factory=set)  # pointers to such arrays
    given: dict[int, Place] = field(default_factory=dict)  # variables they may write, by identity
    unknown_calls: list[int] = field(default_factory=list)  # how many such there were after each
    handed: set[str] = field(default_factory=set)  # arrays unknown functions may read
    handed_vars: set[str] = field(default_factory=set)  # pointers to such arrays
    array_align: dict[str, int] = field(default_factory=dict)  # of the element type
    access_align: dict[int, int] = field(default_factory=dict)  # of the accessed type
    jumps: Jumps = field(default_factory=Jumps)
    _names: dict[str, int] = field(default_factory=dict)
    _paths: int = 0

    # --- places in the source and messages ----------------------------------------------------

    def span(self, node: c_ast.Node | None) -> Span:
        """The user's place of a node."""
        coord = None if node is None else node.coord
        if coord is None:
            return NOWHERE
        return self.source_map.span(coord.line, coord.column or 1)

    def warn(
        self,
        node: c_ast.Node | None,
        message: str,
        severity: str = "warning",
        hides: bool = False,
    ) -> None:
        """Tell the user once per place."""
        self.diagnostics[Diagnostic(self.span(node), severity, message, hides)] = None

    def unsupported(self, node: c_ast.Node | None, message: str) -> UnsupportedConstruct:
        """The error to raise when the kernel cannot be used at all."""
        return UnsupportedConstruct(message, self.span(node))

    # --- names --------------------------------------------------------------------------------

    def unique(self, name: str) -> str:
        """``i``, then ``i.1``, ``i.2`` …"""
        count = self._names.get(name, 0)
        self._names[name] = count + 1
        return f"{name}.{count}" if count else name

    def unique_array(self, name: str) -> str:
        """An array's name; arrays and variables do not share names."""
        count, candidate = 0, name
        while candidate in self.arrays:
            count += 1
            candidate = f"{name}.{count}"
        return candidate

    def lookup(self, name: str) -> Entity | None:
        """What a name means here: the innermost declaration."""
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        return None

    def define(self, name: str, entity: Entity) -> None:
        """Declare a name in the innermost scope."""
        self.scopes[-1][name] = entity

    @contextmanager
    def scope(self) -> Iterator[None]:
        """A block's own names."""
        self.scopes.append({})
        self.tags.append({})
        try:
            yield
        finally:
            self.scopes.pop()
            self.tags.pop()

    @contextmanager
    def function(self, frame: Frame) -> Iterator[None]:
        """A function's body sees only file scope and its own names."""
        scopes, tags = self.scopes, self.tags
        self.scopes, self.tags = [scopes[0], {}], [tags[0], {}]
        self.frames.append(frame)
        try:
            yield
        finally:
            self.frames.pop()
            self.scopes, self.tags = scopes, tags

    # --- statements ---------------------------------------------------------------------------

    def emit(self, stmt: Stmt) -> None:
        """Add a statement to the current block."""
        self.out.append(unread.weakened(self, stmt) if self.unread else stmt)

    @contextmanager
    def block(self, *, conditional: bool = False) -> Iterator[list[Stmt]]:
        """Collect statements apart; ``conditional`` code may run zero or many times."""
        outer, path = self.out, self.path
        inner: list[Stmt] = []
        self.out = inner
        if conditional:
            self._paths += 1
            self.path = (*path, self._paths)
        try:
            yield inner
        finally:
            self.out, self.path = outer, path

    def temporary(self, type_: ScalarType) -> Var:
        """A new variable of the lowering's own; ``$`` never starts a C name here."""
        return Var(self.unique("$t"), type_)

    def keep(self, expr: Expr) -> Var:
        """The value of ``expr`` now, in a variable nothing else assigns."""
        var = self.temporary(expr.type)
        self.emit(Assign(var, expr))
        return var

    def undefined(
        self, name: str, reason: str, type_: ScalarType, uniform: bool = False
    ) -> Undefined:
        """A value that is not known; every call is another unknown."""
        key = self.unique(f"?{name}")[1:]  # keys are not variables
        return Undefined(key, reason, type_, uniform)
