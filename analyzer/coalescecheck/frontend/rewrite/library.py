"""Classes of libraries that work on registers or on memory of their own: cub and wmma.

In: their types, methods and functions.  Out: :class:`Ex`.  A collective of cub is nothing by
itself; its ``TempStorage`` is touched by cub's code only, which is not counted.  A fragment of
wmma is a struct of registers (CUDA C++ Programming Guide, "Warp Matrix Functions").
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tree_sitter import Node

from coalescecheck.frontend.rewrite import types
from coalescecheck.frontend.rewrite.env import Env
from coalescecheck.frontend.rewrite.ex import UNARY, Ex, address_of
from coalescecheck.frontend.rewrite.types import CType, Field, GroupType, Layout, Record

if TYPE_CHECKING:
    from coalescecheck.frontend.rewrite.session import Session

LIBRARY = "library"  # the kind of a group type that is a class of cub
_COLLECTIVES = frozenset(
    """
    BlockAdjacentDifference BlockDiscontinuity BlockExchange BlockHistogram BlockLoad
    BlockMergeSort BlockRadixRank BlockRadixSort BlockReduce BlockRunLengthDecode BlockScan
    BlockShuffle BlockStore WarpExchange WarpLoad WarpMergeSort WarpReduce WarpScan WarpStore
    """.split()
)
_ELEMENTS = {"accumulator": 8}  # of a 16x16 tile that a lane holds; operands are held twice
_OPERAND_ELEMENTS = 16
_MATRICES = {"load_matrix_sync": "__wmma_load_matrix", "store_matrix_sync": "__wmma_store_matrix"}
_ON_FRAGMENTS = frozenset({"fill_fragment", "mma_sync", "bmma_sync"})


def class_of(session: Session, name: str, arguments: list[Node], env: Env) -> CType | None:
    """The type ``name<arguments>`` is in a library; None if it is in none."""
    if name in _COLLECTIVES:
        return GroupType(LIBRARY)
    if name != "fragment" or len(arguments) < 5:
        return None
    element = session.typenames.type(arguments[4], env)
    element = element if types.is_arithmetic(element) else types.FLOAT
    use = (arguments[0].text or b"").decode().rsplit("::", 1)[-1]
    cname = types.mangled(["wmma", use, types.spell(element)])
    count = _ELEMENTS.get(use, _OPERAND_ELEMENTS)
    fields = [Field("x", types.Array(element, count)), Field("num_elements", types.INT)]
    made = Record(cname, Layout(cname, fields=fields))
    session.output.need(made)
    return made


def member_type(name: str) -> CType | None:
    """The type of a class member of cub's collectives."""
    return GroupType(LIBRARY) if name == "TempStorage" else None


def method(session: Session, name: str, arguments: list[Ex], lent: list[Ex], node: Node) -> Ex:
    """A method of a collective: a value of the kind it is given.

    ``lent`` are the arguments by address where they are variables: several are also results.
    """
    known = [a.decayed for a in arguments if types.is_arithmetic(a.decayed)]
    if name in _COLLECTIVES or not arguments:
        return Ex("0", GroupType(LIBRARY), pure=True)
    session.say(
        node, "note", f"`{name}()` of a library: what it does in its own storage is not counted"
    )
    result = types.unqualified(known[0]) if known else types.UNKNOWN
    given = lent if len(arguments) > 1 else arguments
    return session.opaque_named(types.mangled(["cub", name]), given, result, node)


def function(session: Session, name: str, arguments: list[Ex], node: Node, env: Env) -> Ex | None:
    """A function of wmma; None if it is none."""
    fragments = [a for a in arguments if _is_fragment(a)]
    if not fragments:
        return None
    pointers = [a for a in arguments if isinstance(a.decayed, types.Pointer)]
    if name in _MATRICES and len(pointers) == 1:
        given = [pointers[0]]
        given += [_address(f) for f in fragments if name == "load_matrix_sync"]
        called = _MATRICES[name]
    elif name in _ON_FRAGMENTS:
        called, given = "__wmma_update", [_address(fragments[0])]
    else:
        return None
    return session.intrinsics.typed(
        called, types.VOID, [g.decayed for g in given], given, node, env, suffixed=False
    )


def _is_fragment(ex: Ex) -> bool:
    return isinstance(ex.type, Record) and ex.type.cname.startswith("wmma__") and ex.lvalue


def _address(ex: Ex) -> Ex:
    return Ex(address_of(ex), types.Pointer(types.unqualified(ex.type)), UNARY)
