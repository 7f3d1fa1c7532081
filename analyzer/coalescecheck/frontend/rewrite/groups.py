"""Cooperative groups as plain arithmetic.

In: group types, functions and methods.  Out: :class:`Ex`.  Ranks follow the linear thread index
(CUDA C++ Programming Guide, "Cooperative Groups").
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tree_sitter import Node

from coalescecheck.frontend.rewrite import syntax, types
from coalescecheck.frontend.rewrite.emit import Mark
from coalescecheck.frontend.rewrite.env import Env
from coalescecheck.frontend.rewrite.ex import BINARY, PRIMARY, UNARY, Ex, integer
from coalescecheck.frontend.rewrite.qualified import base_name
from coalescecheck.frontend.rewrite.types import CType, GroupType

if TYPE_CHECKING:
    from coalescecheck.frontend.rewrite.session import Session

_TYPES = {
    "thread_block": GroupType("block"),
    "grid_group": GroupType("grid"),
    "cluster_group": GroupType("cluster"),
    "coalesced_group": GroupType("coalesced"),
    "thread_group": GroupType("group"),
}
_REDUCERS = frozenset({"plus", "less", "greater", "bit_and", "bit_or", "bit_xor"})
_MAKERS = {
    "this_thread_block": GroupType("block"),
    "this_grid": GroupType("grid"),
    "this_cluster": GroupType("cluster"),
    "coalesced_threads": GroupType("coalesced"),
}
_COLLECTIVES = frozenset({"reduce", "inclusive_scan", "exclusive_scan"})
_WARP = GroupType("tile", 32)
_OF_LANES = frozenset({"thread_rank", "size", "num_threads", "meta_group_rank", "meta_group_size"})
_FULL = Ex("0xffffffffu", types.UINT, pure=True)
_SHUFFLES = {"shfl": "__shfl_sync", "shfl_up": "__shfl_up_sync",
             "shfl_down": "__shfl_down_sync", "shfl_xor": "__shfl_xor_sync"}  # fmt: skip
_VOTES = {"any": "__any_sync", "all": "__all_sync", "ballot": "__ballot_sync"}
_BARRIERS = {
    "block": "__syncthreads",
    "cluster": "__syncthreads",
    "grid": "__grid_sync",
    "group": "__cg_sync",  # it may be any of them
}
_RANK = "threadIdx.x + threadIdx.y * blockDim.x + threadIdx.z * (blockDim.x * blockDim.y)"
_VOLUME = "blockDim.x * blockDim.y * blockDim.z"


def group_type(name: str) -> CType | None:
    """The type of a cooperative group by its name."""
    return _TYPES.get(name)


def tile_type(session: Session, node: Node, env: Env) -> CType | None:
    """``thread_block_tile<N>`` as a type."""
    arguments = syntax.operands(node.child_by_field_name("arguments"))
    return tile_of(session, base_name(node), arguments, env)


def tile_of(session: Session, name: str, arguments: list[Node], env: Env) -> CType | None:
    """The group type of a template ``name`` applied to ``arguments``."""
    if name in _REDUCERS and arguments:
        return GroupType("operator")
    if name == "block_tile_memory":
        return GroupType("memory")
    if name != "thread_block_tile" or not arguments:
        return None
    size = session.expressions.constant(arguments[0], env)
    return GroupType("tile", size or 0)


def rank(session: Session) -> Ex:
    """The linear index of a thread in its block."""
    session.builtin_variable("threadIdx")
    session.builtin_variable("blockDim")
    return Ex(_RANK, types.UINT, BINARY["+"], pure=True)


def _volume(session: Session) -> Ex:
    session.builtin_variable("blockDim")
    return Ex(_VOLUME, types.UINT, BINARY["*"], pure=True)


def function(
    session: Session, callee: Node, name: str, arguments: list[Ex], node: Node, env: Env
) -> Ex | None:
    """A function of the cooperative groups namespace; None if it is none."""
    if name in _MAKERS and (not arguments or name == "this_thread_block"):  # its tiles' memory
        return Ex("0", _MAKERS[name], pure=True)
    if name == "tiled_partition" and arguments and isinstance(arguments[0].type, GroupType):
        explicit = session.calls.explicit_arguments(callee)
        size = session.expressions.constant(explicit[0], env) if explicit else None
        if not explicit and len(arguments) > 1 and arguments[1].value is not None:
            size = int(arguments[1].value.number)
        return Ex("0", GroupType("tile", size or 0), pure=True)
    if not arguments or not isinstance(arguments[0].type, GroupType) or name == "make_pipeline":
        return None
    if name in ("labeled_partition", "binary_partition"):  # data decides who is in it
        for label in arguments[1:]:
            if not label.pure and env.function is not None:
                env.function.line(("(void)", label.at(UNARY), ";"))
        return Ex("0", GroupType("coalesced"), pure=True)
    group = arguments[0].type
    rest = arguments[1:]
    if name == "sync":
        return method(session, group, "sync", [], node)
    if name in _COLLECTIVES and rest:
        same = group == _WARP and name == "reduce"
        called = "__cg_of_warp" if same else "__cg_of_lanes"
        return session.opaque_named(called, rest[:1], rest[0].decayed, node)
    if name in ("wait", "wait_prior"):
        return session.opaque_named(f"cooperative_groups__{name}", [], types.VOID, node)
    kept = [a for a in rest if not isinstance(a.type, types.Record | types.Closure)]
    result: CType = types.VOID if "async" in name else types.UNKNOWN
    return session.opaque_named(f"cooperative_groups__{types.mangled([name])}", kept, result, node)


def method(session: Session, group: GroupType, name: str, arguments: list[Ex], node: Node) -> Ex:
    """A method of a group."""
    if name == "barrier_arrive":
        return integer(0)  # a token; the wait for it is the barrier
    if name in ("sync", "barrier_wait"):
        return _sync(session, group, node)
    if name in _SHUFFLES and arguments and group.kind == "tile" and group.size <= 32:
        width = [integer(group.size)] if group.size else []
        called = session.intrinsics.call(
            _SHUFFLES[name], [_FULL, *arguments, *width], node, session.top_env
        )
        if called is not None:
            return called
    whole = group.kind != "tile" or group.size == 32
    if name in _VOTES and arguments and whole:  # parts of a warp have results of their own
        called = session.intrinsics.call(_VOTES[name], [_FULL, *arguments], node, session.top_env)
        if called is not None:
            return called
    known = _property(session, group, name)
    if known is not None:
        return Ex(
            (Mark(node.start_byte), known.piece),
            known.type,
            known.precedence,
            known.value,
            pure=True,
        )
    if group.size or group.kind == "coalesced":
        if name in _SHUFFLES and arguments:
            return session.opaque_named("__cg_of_lanes", arguments, arguments[0].decayed, node)
        if name in _OF_LANES or name in _VOTES:
            return session.opaque_named("__cg_of_lanes", arguments, types.UINT, node)
    return session.say_opaque(f"`{name}()` of a cooperative group", arguments, types.UINT, node)


def _sync(session: Session, group: GroupType, node: Node) -> Ex:
    name = _BARRIERS.get(group.kind, "__syncwarp")
    if group.size > 32:  # a tile of several warps
        name = "__syncthreads"
    if name in ("__grid_sync", "__cg_sync"):
        return session.opaque_named(name, [], types.VOID, node)
    mask = _members(session, group, node) if name == "__syncwarp" else []
    called = session.intrinsics.call(name, mask, node, session.top_env)
    return called if called is not None else Ex("((void)0)", types.VOID, pure=True)


def _members(session: Session, group: GroupType, node: Node) -> list[Ex]:
    """The mask of the lanes that are in a group, as an argument; none where it is a whole warp."""
    if group.kind == "coalesced":  # all its lanes come to its barrier together
        mask = session.intrinsics.call("__activemask", [], node, session.top_env)
        return [] if mask is None else [mask]
    if group.size not in (1, 2, 4, 8, 16):
        return []
    first = f" / {group.size}u % {32 // group.size}u * {group.size}u"
    piece = (f"{(1 << group.size) - 1:#x}u << ", rank(session).at(BINARY["/"]), first)
    return [Ex(piece, types.UINT, BINARY["<<"], pure=True)]


def _property(session: Session, group: GroupType, name: str) -> Ex | None:
    """Ranks, sizes and indices; None where they are not known arithmetic."""
    if name in ("group_index", "thread_index", "group_dim", "dim_threads", "dim_blocks"):
        variable = {"group_index": "blockIdx", "thread_index": "threadIdx"}.get(name, "blockDim")
        if group.kind == "grid" or name == "dim_blocks":
            variable = "gridDim"
        return Ex(variable, session.builtin_variable(variable), pure=True, lvalue=True)
    own, size = rank(session), integer(group.size)
    ranked = name in ("thread_rank", "thread_idx")
    counted = name in ("size", "num_threads")
    match group.kind:
        case "block" if ranked:
            return own
        case "block" if counted:
            return _volume(session)
        case "grid" if ranked:
            return _grid_rank(session, own)
        case "grid" if counted:
            return _product(_blocks(session), _volume(session))
        case "grid" if name == "num_blocks":
            return _blocks(session)
        case "tile" if group.size and ranked:
            piece = (own.at(BINARY["%"]), f" % {group.size}u")
            return Ex(piece, types.UINT, BINARY["%"], pure=True)
        case "tile" if group.size and counted:
            return Ex(f"{group.size}u", types.UINT, PRIMARY, size.value, pure=True)
        case "tile" if group.size and name == "meta_group_rank":
            piece = (own.at(BINARY["/"]), f" / {group.size}u")
            return Ex(piece, types.UINT, BINARY["/"], pure=True)
        case "tile" if group.size and name == "meta_group_size":
            volume = _volume(session)
            rounded = ("(", volume.piece, f" + {group.size - 1}u) / {group.size}u")
            return Ex(rounded, types.UINT, BINARY["/"], pure=True)
        case _:
            return None


def _blocks(session: Session) -> Ex:
    """How many blocks the grid has."""
    session.builtin_variable("gridDim")
    piece = "(unsigned long long)gridDim.x * gridDim.y * gridDim.z"
    return Ex(piece, types.Scalar("unsigned long long"), BINARY["*"], pure=True)


def _product(a: Ex, b: Ex) -> Ex:
    level = BINARY["*"]
    return Ex((a.at(level), " * (", b.piece, ")"), a.type, level, pure=True)


def _grid_rank(session: Session, own: Ex) -> Ex:
    session.builtin_variable("blockIdx")
    session.builtin_variable("gridDim")
    block = "(blockIdx.x + gridDim.x * (blockIdx.y + (unsigned long long)gridDim.y * blockIdx.z))"
    return Ex(
        (f"{block} * ({_VOLUME}) + (", own.piece, ")"),
        types.Scalar("unsigned long long"),
        BINARY["+"],
        pure=True,
    )
