"""The types CUDA and the standard headers define: scalar names and vector types.

In: a type name.  Out: a C type with the layout the CUDA headers give it.  It must not know
about the user's program.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from coalescecheck.frontend.ctypes_lp64 import SMALL_FLOATS
from coalescecheck.frontend.rewrite.types import (
    NULLPTR,
    Array,
    CType,
    Enumeration,
    Field,
    Layout,
    Pointer,
    Record,
    Scalar,
)

_SCALARS = {
    "int8_t": "signed char",
    "uint8_t": "unsigned char",
    "int16_t": "short",
    "uint16_t": "unsigned short",
    "int32_t": "int",
    "uint32_t": "unsigned int",
    "int64_t": "long",
    "uint64_t": "unsigned long",
    "int_fast32_t": "long",
    "uint_fast32_t": "unsigned long",
    "size_t": "unsigned long",
    "ssize_t": "long",
    "ptrdiff_t": "long",
    "intptr_t": "long",
    "uintptr_t": "unsigned long",
    "uchar": "unsigned char",
    "ushort": "unsigned short",
    "uint": "unsigned int",
    "ulong": "unsigned long",
    "u_int32_t": "unsigned int",
    "u_int64_t": "unsigned long",
    "u_int8_t": "unsigned char",
    "u_char": "unsigned char",
    "u_int": "unsigned int",
    "clock_t": "long",
    "time_t": "long",
    "__int64": "long",
    "char8_t": "unsigned char",
    "char16_t": "unsigned short",
    "char32_t": "unsigned int",
    "wchar_t": "int",
    "byte": "unsigned char",
    "cudaTextureObject_t": "unsigned long long",
    "cudaSurfaceObject_t": "unsigned long long",
    **dict.fromkeys(
        "cudaStream_t cudaEvent_t cudaArray_t cudaMemPool_t cudaGraph_t cudaGraphExec_t ncclComm_t "
        "cublasHandle_t cusparseHandle_t cusolverDnHandle_t cudnnHandle_t "
        "curandGenerator_t".split(),
        "unsigned long long",  # pointers that a struct may hold beside what a kernel uses
    ),
    "cufftHandle": "int",
    "cudaError_t": "int",
    "__half": "__half",
    "half": "__half",
    "__nv_bfloat16": "__nv_bfloat16",
    "nv_bfloat16": "__nv_bfloat16",
    "__nv_bfloat16_raw": "unsigned short",
    "__half_raw": "unsigned short",
}
_OF_BYTES = {1: "unsigned char", 2: "unsigned short", 4: "unsigned int"}

# vector_types.h: base name -> (C element, element size)
_VECTOR_ELEMENTS = {
    "char": ("signed char", 1),
    "uchar": ("unsigned char", 1),
    "short": ("short", 2),
    "ushort": ("unsigned short", 2),
    "int": ("int", 4),
    "uint": ("unsigned int", 4),
    "long": ("long", 8),
    "ulong": ("unsigned long", 8),
    "longlong": ("long long", 8),
    "ulonglong": ("unsigned long long", 8),
    "float": ("float", 4),
    "double": ("double", 8),
}
# cuComplex.h: typedefs of vector types
_ALIASES = {"cuFloatComplex": "float2", "cuComplex": "float2", "cuDoubleComplex": "double2",
            "cufftComplex": "float2", "cufftDoubleComplex": "double2", "cufftReal": "float",
            "cufftDoubleReal": "double"}  # fmt: skip
# curand_kernel.h
_SOBOL_WORDS = {32: "unsigned int", 64: "unsigned long long"}
_CURAND: dict[str, tuple[tuple[str, str, int], ...]] = {
    "curandStateXORWOW": (
        ("d", "unsigned int", 0), ("v", "unsigned int", 5), ("boxmuller_flag", "int", 0),
        ("boxmuller_flag_double", "int", 0), ("boxmuller_extra", "float", 0),
        ("boxmuller_extra_double", "double", 0),
    ),
    "curandStatePhilox4_32_10": (
        ("ctr", "uint4", 0), ("output", "uint4", 0), ("key", "uint2", 0),
        ("STATE", "unsigned int", 0), ("boxmuller_flag", "int", 0),
        ("boxmuller_flag_double", "int", 0), ("boxmuller_extra", "float", 0),
        ("boxmuller_extra_double", "double", 0),
    ),
    **{
        f"curandState{kind}Sobol{bits}": (
            ("i", word, 0), ("x", word, 0), ("c", word, 0), ("direction_vectors", word, bits),
        )
        for kind in ("", "Scrambled")
        for bits, word in _SOBOL_WORDS.items()
    },
}  # fmt: skip
_CURAND_NAMES = {
    **{
        f"curandState{kind}Sobol{bits}{suffix}": f"curandState{kind}Sobol{bits}"
        for kind in ("", "Scrambled")
        for bits in _SOBOL_WORDS
        for suffix in ("", "_t")
    },
    "curandState": "curandStateXORWOW",
    "curandState_t": "curandStateXORWOW",
    "curandStateXORWOW_t": "curandStateXORWOW",
    "curandStateXORWOW": "curandStateXORWOW",
    "curandStatePhilox4_32_10_t": "curandStatePhilox4_32_10",
    "curandStatePhilox4_32_10": "curandStatePhilox4_32_10",
}
_SIZE = Scalar("unsigned long")
# driver_types.h: what cudaMalloc3D and cudaMallocPitch give, and what 3D copies are told
_STRUCTS: dict[str, dict[str, CType]] = {
    "cudaPitchedPtr": {
        "ptr": Pointer(Scalar("void")), "pitch": _SIZE, "xsize": _SIZE, "ysize": _SIZE,
    },
    "cudaExtent": {"width": _SIZE, "height": _SIZE, "depth": _SIZE},
    "cudaPos": {"x": _SIZE, "y": _SIZE, "z": _SIZE},
}  # fmt: skip
# no arithmetic type here: what is computed in them is no address
_WIDE = {
    name: f"{name.removesuffix('_t')}_t"
    for name in ("__int128", "__int128_t", "unsigned __int128", "__uint128_t")
} | {"unsigned __int128": "__uint128_t"}
_PAIRS = {
    "half2": ("__half2", "__half"),
    "__half2": ("__half2", "__half"),
    "nv_bfloat162": ("__nv_bfloat162", "__nv_bfloat16"),
    "__nv_bfloat162": ("__nv_bfloat162", "__nv_bfloat16"),
}


@cache
def builtin_type(name: str) -> CType | None:
    """The type a CUDA or standard header gives ``name``; None if it is not one of them."""
    if name in _SCALARS:
        return Scalar(_SCALARS[name])
    if name in SMALL_FLOATS:
        storage = _OF_BYTES[SMALL_FLOATS[name]]
        if name.endswith("storage_t"):
            return Scalar(storage)
        return Scalar(storage, Enumeration(True, name))  # a type that is no other one
    if name == "dim3":
        return _vector("dim3", "unsigned int", 4, 3)
    if name in _PAIRS:
        cname, half = _PAIRS[name]
        fields = [Field("x", Scalar(half)), Field("y", Scalar(half))]
        return Record(cname, Layout(cname, fields=fields, align=4))
    if name in _WIDE:
        halves = [Field("low", Scalar("unsigned long")), Field("high", Scalar("long"))]
        return Record(_WIDE[name], Layout(_WIDE[name], fields=halves, align=16))
    if name in _STRUCTS:
        fields = [Field(member, type_) for member, type_ in _STRUCTS[name].items()]
        return Record(name, Layout(name, fields=fields))
    if name in _ALIASES:
        return builtin_type(_ALIASES[name]) or Scalar(_ALIASES[name])
    if name in ("curandDirectionVectors32_t", "curandDirectionVectors64_t"):
        bits = int(name[-4:-2])
        return Array(Scalar(_SOBOL_WORDS[bits]), bits)
    if name in _CURAND_NAMES:
        return _curand(_CURAND_NAMES[name])
    base, count = name[:-1], name[-1:]
    if count in ("1", "2", "3", "4") and base in _VECTOR_ELEMENTS:
        element_name, size = _VECTOR_ELEMENTS[base]
        return _vector(name, element_name, size, int(count))
    if name == "nullptr_t":
        return NULLPTR
    if name == "va_list":
        return Pointer(Scalar("void"))
    return None


def is_storage(type_: CType, member: str) -> bool:
    """Whether ``member`` is all there is in a header's struct that is a scalar here: of a
    ``__nv_fp8_e4m3`` it is ``__x``, of a ``__half_raw`` ``x``."""
    if not isinstance(type_, Scalar) or member not in ("x", "__x"):
        return False
    return type_.name in (*_OF_BYTES.values(), "__half", "__nv_bfloat16")


def _vector(name: str, element: str, size: int, count: int) -> Record:
    """CUDA aligns 2- and 4-component vectors to their size, at most 16; 3-component ones not."""
    align = min(16, size * count) if count in (2, 4) else size
    fields = [Field(letter, Scalar(element)) for letter in "xyzw"[:count]]
    return Record(name, Layout(name, fields=fields, align=align))


@cache
def aligned_storage(size: int, align: int) -> Record:
    """``std::aligned_storage<size, align>::type``."""
    name = f"aligned_storage__{size}__{align}"
    fields = [Field("data", Array(Scalar("unsigned char"), size))]
    return Record(name, Layout(name, fields=fields, align=align))


def _curand(name: str) -> Record:
    fields = []
    for member, spelled, count in _CURAND[name]:
        type_: CType = builtin_type(spelled) or Scalar(spelled)
        fields.append(Field(member, Array(type_, count) if count else type_))
    return Record(name, Layout(name, fields=fields))


def is_vector(type_: CType) -> bool:
    """Whether the type is one of the headers' vector types (which have no operators in C)."""
    return isinstance(type_, Record) and type_.layout.source is None


def has_operators(operands: Sequence[CType]) -> bool:
    """Whether CUDA's headers have operators for exactly these operands, as for two ``half2``: none
    that converts goes before them."""
    return all(
        isinstance(type_, Record) and type_.cname in ("__half2", "__nv_bfloat162")
        for type_ in operands
    )
