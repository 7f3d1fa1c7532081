"""Tables of CUDA's functions and names: types only.

Sources: CUDA C++ Programming Guide (built-in variables, atomics, warp functions) and the CUDA
Math API (result types).
"""

from __future__ import annotations

import re
from collections.abc import Callable

from coalescecheck.frontend.rewrite.types import (
    CHAR,
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    UINT,
    ULONG,
    VOID,
    CType,
    Pointer,
    Scalar,
    qualified,
)

LLONG, ULLONG = Scalar("long long"), Scalar("unsigned long long")
_VOID_PTR, _CONST_PTR = Pointer(VOID), Pointer(qualified(VOID, const=True))

BUILTIN_VARIABLES = {
    "threadIdx": "uint3",
    "blockIdx": "uint3",
    "blockDim": "dim3",
    "gridDim": "dim3",
}

CONSTANTS: dict[str, tuple[str, CType]] = {
    # too large for the type: becomes infinity, as in <math.h>
    "INFINITY": ("1e39f", FLOAT),
    "HUGE_VALF": ("1e39f", FLOAT),
    "HUGE_VAL": ("1e309", DOUBLE),
    "CUDART_INF_F": ("1e39f", FLOAT),
    "CUDART_INF": ("1e309", DOUBLE),
    "NAN": ("(0.0f / 0.0f)", FLOAT),
    "CUDART_NAN_F": ("(0.0f / 0.0f)", FLOAT),
    "CUDART_PI_F": ("3.141592654f", FLOAT),
    "CUDART_PI": ("3.1415926535897931", DOUBLE),
    "CUDART_TWO_PI_F": ("6.283185307f", FLOAT),
    "CUDART_PIO2_F": ("1.570796327f", FLOAT),
    "CUDART_SQRT_HALF_F": ("0.707106781f", FLOAT),
    "FLT_MAX": ("3.402823466e+38f", FLOAT),
    "FLT_MIN": ("1.175494351e-38f", FLOAT),
    "FLT_EPSILON": ("1.192092896e-07f", FLOAT),
    "DBL_MAX": ("1.7976931348623158e+308", DOUBLE),
    "DBL_MIN": ("2.2250738585072014e-308", DOUBLE),
    "DBL_EPSILON": ("2.2204460492503131e-16", DOUBLE),
    "M_PI": ("3.14159265358979323846", DOUBLE),
    "NULL": ("((void*)0)", _VOID_PTR),
    "INT_MAX": ("2147483647", INT),
    "INT_MIN": ("(-2147483647 - 1)", INT),
    "UINT_MAX": ("4294967295u", UINT),
    "RAND_MAX": ("2147483647", INT),
    "cudaSuccess": ("0", INT),
    "__FILE__": ('""', Pointer(qualified(CHAR, const=True))),
    "__LINE__": ("0", INT),
    "__func__": ('""', Pointer(qualified(CHAR, const=True))),
    "__FUNCTION__": ('""', Pointer(qualified(CHAR, const=True))),
    "__PRETTY_FUNCTION__": ('""', Pointer(qualified(CHAR, const=True))),
}

CACHED_LOADS = frozenset({"__ldg", "__ldca", "__ldcg", "__ldcs", "__ldlu", "__ldcv"})
CACHED_STORES = frozenset({"__stcs", "__stwt", "__stcg", "__stwb"})
DROPPED = frozenset(
    {"printf", "assert", "__builtin_assume", "__assume", "__prof_trigger", "puts", "__trap",
     "__builtin_unreachable", "__nanosleep", "__assert_fail", "fprintf", "__brkpt"}
)  # fmt: skip

_ATOMIC_NAMES = ("Add", "Sub", "Exch", "Min", "Max", "Inc", "Dec", "CAS", "And", "Or", "Xor")
ATOMICS = frozenset(
    f"atomic{name}{scope}" for name in _ATOMIC_NAMES for scope in ("", "_block", "_system")
)

# PyTorch's (ATen/cuda/Atomic.cuh), whose headers are rarely there
OTHER_NAMES = {"gpuAtomicAdd": "atomicAdd", "gpuAtomicAddNoReturn": "atomicAdd"}

SHUFFLES = {  # arguments without the width
    "__shfl_sync": 3,
    "__shfl_up_sync": 3,
    "__shfl_down_sync": 3,
    "__shfl_xor_sync": 3,
    "__shfl": 2,
    "__shfl_up": 2,
    "__shfl_down": 2,
    "__shfl_xor": 2,
}

UNSUFFIXED = frozenset(
    {"__match_any_sync", "__match_all_sync", "__reduce_add_sync", "__reduce_min_sync",
     "__reduce_max_sync", "__reduce_and_sync", "__reduce_or_sync", "__reduce_xor_sync"}
)  # fmt: skip

FIXED: dict[str, tuple[CType, tuple[CType, ...]]] = {
    "__syncthreads": (VOID, ()),
    "__syncthreads_count": (INT, (INT,)),
    "__syncthreads_and": (INT, (INT,)),
    "__syncthreads_or": (INT, (INT,)),
    "__syncwarp": (VOID, (UINT,)),
    "__threadfence": (VOID, ()),
    "__threadfence_block": (VOID, ()),
    "__threadfence_system": (VOID, ()),
    "__ballot_sync": (UINT, (UINT, INT)),
    "__any_sync": (INT, (UINT, INT)),
    "__all_sync": (INT, (UINT, INT)),
    "__ballot": (UINT, (INT,)),
    "__any": (INT, (INT,)),
    "__all": (INT, (INT,)),
    "__activemask": (UINT, ()),
    "__popc": (INT, (UINT,)),
    "__popcll": (INT, (ULLONG,)),
    "__clz": (INT, (INT,)),
    "__clzll": (INT, (LLONG,)),
    "__ffs": (INT, (INT,)),
    "__ffsll": (INT, (LLONG,)),
    "__brev": (UINT, (UINT,)),
    "__brevll": (ULLONG, (ULLONG,)),
    "__mul24": (INT, (INT, INT)),
    "__umul24": (UINT, (UINT, UINT)),
    "__mulhi": (INT, (INT, INT)),
    "__umulhi": (UINT, (UINT, UINT)),
    "__mul64hi": (LLONG, (LLONG, LLONG)),
    "__umul64hi": (ULLONG, (ULLONG, ULLONG)),
    "__sad": (UINT, (INT, INT, UINT)),
    "__usad": (UINT, (UINT, UINT, UINT)),
    "__hadd": (INT, (INT, INT)),
    "__rhadd": (INT, (INT, INT)),
    "__uhadd": (UINT, (UINT, UINT)),
    "__urhadd": (UINT, (UINT, UINT)),
    "__funnelshift_l": (UINT, (UINT, UINT, UINT)),
    "__funnelshift_r": (UINT, (UINT, UINT, UINT)),
    "__funnelshift_lc": (UINT, (UINT, UINT, UINT)),
    "__funnelshift_rc": (UINT, (UINT, UINT, UINT)),
    "__byte_perm": (UINT, (UINT, UINT, UINT)),
    "__dp4a": (INT, (INT, INT, INT)),
    "__dp2a_lo": (INT, (INT, INT, INT)),
    "__vsub4": (UINT, (UINT, UINT)),
    "__vadd4": (UINT, (UINT, UINT)),
    "__vsubss4": (UINT, (UINT, UINT)),
    "__float_as_int": (INT, (FLOAT,)),
    "__float_as_uint": (UINT, (FLOAT,)),
    "__int_as_float": (FLOAT, (INT,)),
    "__uint_as_float": (FLOAT, (UINT,)),
    "__double_as_longlong": (LLONG, (DOUBLE,)),
    "__longlong_as_double": (DOUBLE, (LLONG,)),
    "__double2hiint": (INT, (DOUBLE,)),
    "__double2loint": (INT, (DOUBLE,)),
    "__hiloint2double": (DOUBLE, (INT, INT)),
    "__saturatef": (FLOAT, (FLOAT,)),
    "__fdividef": (FLOAT, (FLOAT, FLOAT)),
    "__powf": (FLOAT, (FLOAT, FLOAT)),
    "__sincosf": (VOID, (FLOAT, Pointer(FLOAT), Pointer(FLOAT))),
    "clock": (LONG, ()),
    "clock64": (LLONG, ()),
    "isnan": (INT, (DOUBLE,)),
    "isinf": (INT, (DOUBLE,)),
    "isfinite": (INT, (DOUBLE,)),
    "signbit": (INT, (DOUBLE,)),
    "memcpy": (_VOID_PTR, (_VOID_PTR, _CONST_PTR, ULONG)),
    "memset": (_VOID_PTR, (_VOID_PTR, INT, ULONG)),
    "malloc": (_VOID_PTR, (ULONG,)),
    "free": (VOID, (_VOID_PTR,)),
    "__builtin_assume_aligned": (_VOID_PTR, (_CONST_PTR, ULONG)),
    "__cvta_generic_to_shared": (ULONG, (_CONST_PTR,)),
    "__cvta_generic_to_global": (ULONG, (_CONST_PTR,)),
    "__isShared": (UINT, (_CONST_PTR,)),
    "__isGlobal": (UINT, (_CONST_PTR,)),
    "__pipeline_memcpy_async": (VOID, (_VOID_PTR, _CONST_PTR, ULONG, ULONG)),
    "__pipeline_commit": (VOID, ()),
    "__pipeline_wait_prior": (VOID, (INT,)),
    "cudaTriggerProgrammaticLaunchCompletion": (VOID, ()),
    "cudaGridDependencySynchronize": (VOID, ()),
}

Signature = Callable[[CType], tuple[CType, list[CType]]]


def _of(count: int) -> Signature:
    return lambda t: (t, [t] * count)


MATH: dict[str, Signature] = {
    **{
        name: _of(1)
        for name in (
            "sqrt rsqrt cbrt rcbrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh "
            "sinpi cospi exp exp2 exp10 expm1 log log2 log10 log1p logb fabs floor ceil round "
            "trunc rint nearbyint erf erfc erfinv erfcinv erfcx lgamma tgamma j0 j1 y0 y1 "
            "normcdf normcdfinv"
        ).split()
    },
    **{
        name: _of(2)
        for name in (
            "pow fmod remainder atan2 hypot fmin fmax fdim copysign nextafter rhypot fdivide"
        ).split()
    },
    **{name: _of(3) for name in "fma norm3d rnorm3d".split()},
    "ldexp": lambda t: (t, [t, INT]),
    "scalbn": lambda t: (t, [t, INT]),
    "powi": lambda t: (t, [t, INT]),
    "ilogb": lambda t: (INT, [t]),
    "lrint": lambda t: (LONG, [t]),
    "lround": lambda t: (LONG, [t]),
    "llrint": lambda t: (LLONG, [t]),
    "llround": lambda t: (LLONG, [t]),
    "frexp": lambda t: (t, [t, Pointer(INT)]),
    "modf": lambda t: (t, [t, Pointer(t)]),
    "sincos": lambda t: (VOID, [t, Pointer(t), Pointer(t)]),
    "sincospi": lambda t: (VOID, [t, Pointer(t), Pointer(t)]),
}

PATTERNS: tuple[tuple[re.Pattern[str], CType], ...] = (
    (re.compile(r"__f(add|sub|mul|div|rcp|sqrt|rsqrt|maf|fma)_r[nzud]$"), FLOAT),
    (re.compile(r"__fmaf_r[nzud]$|__frsqrt_rn$|__frcp_r[nzud]$|__fsqrt_r[nzud]$"), FLOAT),
    (re.compile(r"__(sin|cos|tan|exp|exp10|log|log2|log10|tanh)f$"), FLOAT),
    (re.compile(r"__d(add|sub|mul|div|rcp|sqrt)_r[nzud]$|__fma_r[nzud]$"), DOUBLE),
)

_SAME = (
    "__hadd2 __hsub __hsub2 __hmul __hmul2 __hdiv __h2div __hfma __hfma2 __hneg __hneg2 __habs "
    "__habs2 __hmax __hmin __hmax2 __hmin2 __hadd_sat __hfma_sat __hadd_rn hsqrt hexp hexp2 "
    "hlog hlog2 hsin hcos hrcp hrsqrt hfloor hceil htrunc hrint h2sqrt h2exp h2log h2rcp "
    "h2rsqrt h2sin h2cos h2exp2 h2log2 __hfma_relu __hfma2_relu __lowhigh2highlow "
    "__low2half2 __high2half2 __lows2half2 __highs2half2 __hmul_rn __hmul2_rn __hcmadd"
)
# helper_math.h of the CUDA samples: functions on vectors, and those with a scalar result
_PLAIN = "min max fminf fmaxf floorf ceilf fabs fabsf abs fmodf sqrtf expf powf rsqrtf".split()
VECTOR_RESULT = frozenset(
    [*_PLAIN, "lerp", "clamp", "fracf", "normalize", "reflect", "cross", "smoothstep", "saturate"]
)
SCALAR_RESULT = frozenset({"dot", "length"})
MATH_ON_VECTORS = VECTOR_RESULT | SCALAR_RESULT

LIBRARY_RESULTS: dict[str, str] = {
    # cuComplex.h
    **dict.fromkeys(
        "cuCaddf cuCsubf cuCmulf cuCdivf cuConjf cuCfmaf make_cuComplex make_cuFloatComplex "
        "cuComplexDoubleToFloat".split(),
        "float2",
    ),
    **dict.fromkeys(
        "cuCadd cuCsub cuCmul cuCdiv cuConj cuCfma make_cuDoubleComplex "
        "cuComplexFloatToDouble".split(),
        "double2",
    ),
    **dict.fromkeys("cuCrealf cuCimagf cuCabsf".split(), "float"),
    **dict.fromkeys("cuCreal cuCimag cuCabs".split(), "double"),
    # curand_kernel.h
    "curand": "unsigned int",
    "curand4": "uint4",
    **dict.fromkeys("curand_uniform curand_normal curand_log_normal".split(), "float"),
    **dict.fromkeys(
        "curand_uniform_double curand_normal_double curand_log_normal_double".split(), "double"
    ),
    **dict.fromkeys("curand_normal2 curand_log_normal2".split(), "float2"),
    **dict.fromkeys("curand_uniform4 curand_normal4 curand_log_normal4".split(), "float4"),
    **dict.fromkeys("curand_uniform2_double curand_normal2_double".split(), "double2"),
    "curand_poisson": "unsigned int",
    "curand_init": "void",
    "skipahead": "void",
}

HALF_RESULTS: dict[str, str] = {
    **dict.fromkeys(_SAME.split(), "same"),
    **dict.fromkeys("__heq __hne __hlt __hgt __hle __hge __hisnan".split(), "bool"),
    **dict.fromkeys("__hbeq2 __hbne2 __hblt2 __hbgt2 __hble2 __hbge2".split(), "bool"),
    **dict.fromkeys("__low2float __high2float __bfloat162float".split(), "float"),
    **dict.fromkeys("__low2half __high2half".split(), "__half"),
    **dict.fromkeys("__low2bfloat16 __high2bfloat16".split(), "__nv_bfloat16"),
    **dict.fromkeys(
        "__floats2half2_rn __float22half2_rn __float2half2_rn __halves2half2 __half2half2".split(),
        "__half2",
    ),
    **dict.fromkeys(
        "__floats2bfloat162_rn __float22bfloat162_rn __float2bfloat162_rn "
        "__halves2bfloat162 __bfloat162bfloat162".split(),
        "__nv_bfloat162",
    ),
    **dict.fromkeys("__half22float2 __bfloat1622float2".split(), "float2"),
    "__half_as_ushort": "unsigned short",
    "__half_as_short": "short",
    "__ushort_as_half": "__half",
    "__short_as_half": "__half",
    "__bfloat16_as_ushort": "unsigned short",
    "__ushort_as_bfloat16": "__nv_bfloat16",
}
