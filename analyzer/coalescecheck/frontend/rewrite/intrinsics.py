"""CUDA's and the C library's functions: result types and how kernel C writes them.

In: a name and emitted arguments.  Out: :class:`Ex`, or None for a name that is none of these.
Result types are those of the CUDA Math API and the Programming Guide.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tree_sitter import Node

from coalescecheck.frontend.rewrite import types
from coalescecheck.frontend.rewrite.builtin_types import builtin_type
from coalescecheck.frontend.rewrite.emit import Mark, Piece
from coalescecheck.frontend.rewrite.env import Env
from coalescecheck.frontend.rewrite.ex import ASSIGN, UNARY, Ex, cast, dereferenced, integer
from coalescecheck.frontend.rewrite.intrinsic_tables import (
    ATOMICS,
    CACHED_LOADS,
    CACHED_STORES,
    DROPPED,
    FIXED,
    HALF_RESULTS,
    LIBRARY_RESULTS,
    MATH,
    MATH_ON_VECTORS,
    OTHER_NAMES,
    PATTERNS,
    SHUFFLES,
    UNSUFFIXED,
)
from coalescecheck.frontend.rewrite.intrinsic_tables import (
    BUILTIN_VARIABLES as BUILTIN_VARIABLES,
)
from coalescecheck.frontend.rewrite.intrinsic_tables import CONSTANTS as CONSTANTS
from coalescecheck.frontend.rewrite.types import CType

if TYPE_CHECKING:
    from coalescecheck.frontend.rewrite.session import Session

_MAKE = re.compile(r"make_(\w+[1-4])$")
_DOTTED = re.compile(r"__(\w+?)2(\w+?)(_r[nzud])?$")
_CONVERTED = {"int": types.INT, "uint": types.UINT, "ll": types.Scalar("long long"),
              "ull": types.Scalar("unsigned long long"), "float": types.FLOAT,
              "double": types.DOUBLE, "half": types.HALF,
              "short": types.Scalar("short"), "ushort": types.Scalar("unsigned short"),
              "bfloat16": types.Scalar("__nv_bfloat16")}  # fmt: skip


class Intrinsics:
    """Calls of functions that need no definition."""

    def __init__(self, session: Session) -> None:
        self._s = session

    def call(self, name: str, arguments: list[Ex], node: Node, env: Env) -> Ex | None:
        """The call of ``name``; None if it is not known here."""
        mark = Mark(node.start_byte)
        name = OTHER_NAMES.get(name, name)
        if name in CACHED_LOADS and arguments:
            return self._s.operators.dereference(arguments[0], mark, node, env)
        if name in CACHED_STORES and len(arguments) >= 2:
            place = self._s.operators.dereference(arguments[0], mark, node, env)
            return self._s.operators.assign("=", place, arguments[1], node, node, env)
        if name in DROPPED:
            return self._dropped(arguments, mark)
        if name == "__builtin_expect" and arguments:
            return arguments[0]
        made = self._make(name, arguments, node, env)
        if made is not None:
            return made
        if name == "__hadd" and any(types.is_floating(a.decayed) for a in arguments):
            return self._half(name, "same", arguments, node, env)  # of 16-bit floats
        if name in FIXED:
            result, parameters = FIXED[name]
            return self._fixed(name, result, parameters, arguments, node, env)
        if name in ATOMICS and len(arguments) >= 2:
            return self._atomic(name, arguments, node, env)
        if name in SHUFFLES and len(arguments) >= SHUFFLES[name]:
            return self._shuffle(name, arguments, node, env)
        return self._arithmetic(name, arguments, node, env)

    def _arithmetic(self, name: str, arguments: list[Ex], node: Node, env: Env) -> Ex | None:
        if any(isinstance(a.type, types.Record) for a in arguments) and name in MATH_ON_VECTORS:
            return None  # helper_math.h's, which is not here
        if name in ("min", "max", "umin", "umax", "llmin", "llmax", "ullmin", "ullmax"):
            if len(arguments) != 2:
                return None  # a function of a header that is not here, such as that of a vector
            return self._extremum(name[-3:], arguments, node, env)
        if name in ("abs", "labs", "llabs") and len(arguments) == 1:
            return self._absolute(arguments[0], node, env)
        single = name.removesuffix("f")
        if name in MATH or (name.endswith("f") and single in MATH):
            return self._math(name, arguments, node, env)
        if name in UNSUFFIXED and arguments:
            type_ = types.promoted(arguments[-1].decayed)
            return self.typed(name, type_, [a.decayed for a in arguments], arguments, node, env)
        if name in HALF_RESULTS:
            return self._half(name, HALF_RESULTS[name], arguments, node, env)
        if name in LIBRARY_RESULTS:
            return self._half(name, LIBRARY_RESULTS[name], arguments, node, env)
        for pattern, result in PATTERNS:
            if pattern.match(name):
                wanted = [a.decayed for a in arguments]
                return self.typed(name, result, wanted, arguments, node, env, suffixed=False)
        return self._conversion(name, arguments, node, env)

    # -- forms --------------------------------------------------------------------------

    def typed(
        self,
        name: str,
        result: CType,
        parameters: list[CType],
        arguments: list[Ex],
        node: Node,
        env: Env,
        suffixed: bool = True,
        suffix: CType | None = None,
    ) -> Ex:
        """A call of a prototype ``name__TYPE``."""
        tail = f"__{types.suffix(suffix or result)}" if suffixed else ""
        pieces: list[Piece] = [
            self._s.conversions.coerce(a, p, node, env).at(ASSIGN)
            for a, p in zip(arguments, parameters, strict=False)
        ]
        known = self._s.output.prototype(name + tail, result, parameters[: len(pieces)])
        self._s.output.spellings.names[known] = name
        return self._s.calling(known, pieces, result, Mark(node.start_byte))

    def _fixed(
        self,
        name: str,
        result: CType,
        parameters: tuple[CType, ...],
        arguments: list[Ex],
        node: Node,
        env: Env,
    ) -> Ex:
        if name == "__syncwarp" and not arguments:
            full = integer(0xFFFFFFFF)
            arguments = [Ex("0xffffffffu", types.UINT, value=full.value, pure=True)]
        wanted = list(parameters[: len(arguments)])
        wanted += [a.decayed for a in arguments[len(wanted) :]]
        return self.typed(name, result, wanted, arguments, node, env, suffixed=False)

    @staticmethod
    def _dropped(arguments: list[Ex], mark: Mark) -> Ex:
        """Output and assertions: only the memory their arguments read is left."""
        kept = [a for a in arguments if not a.pure and a.type != types.VOID]
        if not kept:
            return Ex("((void)0)", types.VOID, pure=True)
        piece: Piece = (mark, "(void)", kept[0].at(UNARY))
        for more in kept[1:]:
            piece = (piece, ", (void)", more.at(UNARY))
        return Ex(piece, types.VOID, 1)

    def _make(self, name: str, arguments: list[Ex], node: Node, env: Env) -> Ex | None:
        """``make_float4(a, b, c, d)``."""
        match = _MAKE.match(name) or re.match(r"make_(half2|bfloat162)$", name)
        type_ = builtin_type(match[1].replace("bfloat162", "nv_bfloat162")) if match else None
        if not isinstance(type_, types.Record):
            return None
        if len(arguments) != len(type_.layout.fields):
            return self._s.opaque_named(name, arguments, type_, node)
        return self._s.construction.construct(type_, arguments, node, env)

    def _atomic(self, name: str, arguments: list[Ex], node: Node, env: Env) -> Ex | None:
        pointer = arguments[0].decayed
        if not isinstance(pointer, types.Pointer):
            return self._s.opaque_named(name, arguments, types.UNKNOWN, node)
        value = types.unqualified(pointer.target)
        wanted: list[CType] = [types.Pointer(value), *[value] * (len(arguments) - 1)]
        return self.typed(name, value, wanted, arguments, node, env)

    def _shuffle(self, name: str, arguments: list[Ex], node: Node, env: Env) -> Ex:
        """Shuffles; the width that may be left out is written."""
        full = SHUFFLES[name]
        synced = name.endswith("_sync")
        value = arguments[1 if synced else 0].decayed
        if len(arguments) == full:
            arguments = [*arguments, integer(32)]
        lane: CType = types.INT if name in ("__shfl_sync", "__shfl") else types.UINT
        if "xor" in name:
            lane = types.INT
        wanted: list[CType] = [value, lane, types.INT]
        if synced:
            wanted = [types.UINT, *wanted]
        return self.typed(name, value, wanted, arguments, node, env)

    # -- arithmetic ---------------------------------------------------------------------

    def _extremum(self, name: str, arguments: list[Ex], node: Node, env: Env) -> Ex | None:
        if len(arguments) != 2:
            return None
        type_ = types.usual_conversion(arguments[0].decayed, arguments[1].decayed)
        if types.is_floating(type_) and type_ in (types.FLOAT, types.DOUBLE):
            spelled = f"f{name}" + ("f" if type_ == types.FLOAT else "")
            return self.typed(spelled, type_, [type_] * 2, arguments, node, env, suffixed=False)
        folded = self._folded(name, arguments, type_)
        if folded is not None:
            return folded
        return self.typed(name, type_, [type_] * 2, arguments, node, env)

    @staticmethod
    def _folded(name: str, arguments: list[Ex], type_: CType) -> Ex | None:
        values = [cast(a, type_).value for a in arguments]
        if any(v is None for v in values) or not types.is_integer(type_):
            return None
        numbers = [v.number for v in values if v is not None]
        wanted = min(numbers) if name == "min" else max(numbers)
        return cast(integer(int(wanted)), type_) if type_ != types.INT else integer(int(wanted))

    def _absolute(self, argument: Ex, node: Node, env: Env) -> Ex:
        type_ = types.promoted(argument.decayed)
        if types.is_floating(type_):
            spelled = "fabsf" if type_ == types.FLOAT else "fabs"
            return self.typed(spelled, type_, [type_], [argument], node, env, suffixed=False)
        return self.typed("abs", type_, [type_], [argument], node, env)

    def _math(self, name: str, arguments: list[Ex], node: Node, env: Env) -> Ex:
        """``sqrt`` is ``sqrtf`` for float arguments; integers become double."""
        base = name if name in MATH else name.removesuffix("f")
        single = name not in MATH
        kinds = [a.decayed for a in arguments]
        if not single and kinds:
            floats = [k for k in kinds if types.is_floating(k)]
            single = bool(floats) and types.DOUBLE not in floats and len(floats) == len(kinds)
        type_ = types.FLOAT if single else types.DOUBLE
        result, parameters = MATH[base](type_)
        spelled = base + ("f" if single else "")
        wanted = [*parameters, *kinds[len(parameters) :]]
        return self.typed(spelled, result, wanted, arguments, node, env, suffixed=False)

    def _half(self, name: str, kind: str, arguments: list[Ex], node: Node, env: Env) -> Ex | None:
        """16-bit float functions; ``kind`` is a type name or ``same`` as the first argument."""
        if kind == "same":
            if not arguments:
                return None
            result: CType = arguments[0].decayed
        else:
            named = builtin_type(kind)
            result = named if named is not None else types.Scalar(kind)
        wanted = [a.decayed for a in arguments]
        return self.typed(name, result, wanted, arguments, node, env, suffixed=kind == "same")

    def _conversion(self, name: str, arguments: list[Ex], node: Node, env: Env) -> Ex | None:
        """``__float2int_rn`` and its family: the name says the result."""
        match = _DOTTED.match(name)
        result = _CONVERTED.get(match[2]) if match is not None else None
        if result is None or len(arguments) != 1:
            return None
        wanted = [arguments[0].decayed]
        return self.typed(name, result, wanted, arguments, node, env, suffixed=False)

    def texture(
        self, name: str, element: CType | None, arguments: list[Ex], node: Node, env: Env
    ) -> Ex:
        """A texture fetch or surface access."""
        result = element if element is not None else types.UNKNOWN
        if "write" in name:
            result = types.VOID
        wanted = [a.decayed for a in arguments]
        return self.typed(name, result, wanted, arguments, node, env, suffixed=result != types.VOID)


def place(pointer: Ex, type_: CType, mark: Mark) -> Ex:
    """The object of ``type_`` at an address held in an integer or pointer."""
    wide = pointer if isinstance(pointer.decayed, types.Pointer) else cast(pointer, types.ULONG)
    return dereferenced(cast(wide, types.Pointer(type_)).at(UNARY), type_, mark)
