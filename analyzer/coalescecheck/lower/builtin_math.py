"""Arithmetic built-in functions: integer intrinsics exactly, floating point by name.

Floating-point results are ``Call`` expressions: their values never matter for addresses unless
they are converted to integers, and then the analysis treats them as unknown.
"""

from __future__ import annotations

from functools import partial

from coalescecheck.ir import types as ir
from coalescecheck.ir.expr import Expr
from coalescecheck.lower import arith, conversions, ctypes, places
from coalescecheck.lower.builtin_call import Handler, Request, names
from coalescecheck.lower.ctypes import DOUBLE, FLOAT, INT, UINT, VOID, Number
from coalescecheck.lower.values import Scalar, Value

# --- integers ---------------------------------------------------------------------------------

LONG_LONG = Number(ir.I64, "long long")
UNSIGNED_LONG_LONG = Number(ir.U64, "unsigned long long")

# name: (IR function, operand type, result type); CUDA Math API, "Integer Intrinsics"
_INTEGER: dict[str, tuple[str, Number, Number]] = {
    "__popc": ("popc", UINT, INT),
    "__popcll": ("popc", UNSIGNED_LONG_LONG, INT),
    "__clz": ("clz", UINT, INT),
    "__clzll": ("clz", UNSIGNED_LONG_LONG, INT),
    "__ffs": ("ffs", UINT, INT),
    "__ffsll": ("ffs", UNSIGNED_LONG_LONG, INT),
    "__brev": ("brev", UINT, UINT),
    "__brevll": ("brev", UNSIGNED_LONG_LONG, UNSIGNED_LONG_LONG),
    "__mul24": ("mul24", INT, INT),
    "__umul24": ("mul24", UINT, UINT),
    "__mulhi": ("mulhi", INT, INT),
    "__umulhi": ("umulhi", UINT, UINT),
    "__mul64hi": ("mulhi", LONG_LONG, LONG_LONG),
    "__umul64hi": ("umulhi", UNSIGNED_LONG_LONG, UNSIGNED_LONG_LONG),
    "__funnelshift_l": ("funnelshift_l", UINT, UINT),
    "__funnelshift_r": ("funnelshift_r", UINT, UINT),
    "__funnelshift_lc": ("funnelshift_lc", UINT, UINT),
    "__funnelshift_rc": ("funnelshift_rc", UINT, UINT),
    "__byte_perm": ("byte_perm", UINT, UINT),
    "labs": ("abs", LONG_LONG, LONG_LONG),
    "llabs": ("abs", LONG_LONG, LONG_LONG),
}
_OPERANDS: dict[str, int] = {  # where there is more than one
    **dict.fromkeys(("mul24", "mulhi", "umulhi"), 2),
    **dict.fromkeys((f"funnelshift_{way}" for way in ("l", "r", "lc", "rc")), 3),
    "byte_perm": 3,
}
# name: (operand and result type, type that holds the sum, whether halves are rounded up)
_AVERAGE: dict[str, tuple[Number, Number, bool]] = {
    "__hadd": (INT, LONG_LONG, False),
    "__rhadd": (INT, LONG_LONG, True),
    "__uhadd": (UINT, UNSIGNED_LONG_LONG, False),
    "__urhadd": (UINT, UNSIGNED_LONG_LONG, True),
}
_MIN_MAX: dict[str, Number] = {
    "umin": UINT,
    "umax": UINT,
    "llmin": LONG_LONG,
    "llmax": LONG_LONG,
    "ullmin": UNSIGNED_LONG_LONG,
    "ullmax": UNSIGNED_LONG_LONG,
}


def _integer(request: Request, function: str, operand: Number, result: Number) -> Value:
    count = _OPERANDS.get(function, 1)
    values = [request.value(index) for index in range(max(count, len(request.args)))]
    args = tuple(request.as_number(value, operand) for value in values[:count])
    return Scalar(result, arith.call(function, args, result.scalar))


def _min_max(request: Request, op: str, ctype: Number | None) -> Value:
    """``min``/``max`` of the common type; floats by the C function's name."""
    left, right = request.value(0), request.value(1)
    if ctype is None:
        if not (isinstance(left.type, Number) and isinstance(right.type, Number)):
            return request.unknown(f"{request.name} of {left.type}")
        ctype = ctypes.common(left.type, right.type)
    a, b = request.as_number(left, ctype), request.as_number(right, ctype)
    if not ctype.scalar.is_integer:
        return Scalar(ctype, arith.call(f"f{op}", (a, b), ctype.scalar))
    return Scalar(ctype, arith.binary(op, a, b))


def _abs(request: Request) -> Value:
    value = request.value(0)
    if not isinstance(value.type, Number):
        return request.unknown(f"abs of {value.type}")
    ctype = ctypes.promote(value.type)
    name = "abs" if ctype.scalar.is_integer else "fabs"
    operand = request.as_number(value, ctype)
    return Scalar(ctype, arith.call(name, (operand,), ctype.scalar))


def _sum_of_differences(request: Request, ctype: Number) -> Value:
    """``__sad(x, y, z)`` is |x - y| + z."""
    x, y, z = (request.as_number(value, ctype) for value in request.values())
    larger, smaller = arith.binary("max", x, y), arith.binary("min", x, y)
    return Scalar(
        UINT, arith.cast(arith.binary("+", arith.binary("-", larger, smaller), z), ir.U32)
    )


def _average(request: Request, ctype: Number, wide: Number, up: bool) -> Value:
    """``__hadd(x, y)`` is (x + y) >> 1 of a sum that does not overflow."""
    if request.result not in (None, ctype):
        return half(request)  # __hadd of 16-bit floats
    numbers = (request.as_number(value, ctype) for value in request.values())
    x, y = (arith.cast(number, wide.scalar) for number in numbers)
    total = arith.binary("+", x, y)
    if up:
        total = arith.binary("+", total, arith.integer(1, wide.scalar))
    halved = arith.binary(">>", total, arith.integer(1, wide.scalar))
    return Scalar(ctype, arith.cast(halved, ctype.scalar))


# --- floating point ---------------------------------------------------------------------------

_ONE = names(
    """
    sqrt rsqrt cbrt rcbrt exp exp2 exp10 expm1 log log2 log10 log1p logb sin cos tan asin acos
    atan sinh cosh tanh asinh acosh atanh sinpi cospi erf erfc erfinv erfcinv erfcx normcdf
    normcdfinv tgamma lgamma floor ceil trunc round rint nearbyint fabs j0 j1 y0 y1
    cyl_bessel_i0 cyl_bessel_i1 nan
    """
)
_TWO = names("pow fmin fmax fmod atan2 hypot rhypot fdim copysign remainder nextafter fdivide")
_THREE = names("fma norm3d rnorm3d")
# fast and rounded intrinsics: CUDA Math API, "Single/Double Precision Intrinsics"
_FAST = names(
    "__expf __exp10f __logf __log2f __log10f __sinf __cosf __tanf __powf __fdividef __saturatef"
)
_ROUNDED = names("fadd fsub fmul fmaf fdiv frcp fsqrt frsqrt dadd dsub dmul fma ddiv drcp dsqrt")

_FLOAT_FUNCTIONS: dict[str, Number | None] = {
    **dict.fromkeys([*_ONE, *_TWO, *_THREE, "ldexp", "scalbn", "saturate"]),
    **{f"{name}f": FLOAT for name in [*_ONE, *_TWO, *_THREE, "ldexp", "scalbn"]},
    **dict.fromkeys(_FAST, FLOAT),
    **{
        f"__{name}_{mode}": DOUBLE if name.startswith("d") or name == "fma" else FLOAT
        for name in _ROUNDED
        for mode in ("rn", "rz", "ru", "rd")
    },
    "__frsqrt_rn": FLOAT,
}


def _float(request: Request, ctype: Number | None) -> Value:
    values = request.values()
    if isinstance(request.result, Number):
        ctype = request.result
    if ctype is None:
        numbers = [v.type for v in values if isinstance(v.type, Number)]
        floats = [n for n in numbers if not n.scalar.is_integer]
        ctype = max(floats, key=lambda n: n.scalar.size, default=DOUBLE)
    args: list[Expr] = [v.expr for v in values if isinstance(v, Scalar)]
    if len(args) < len(values):
        return request.unknown(f"{request.name} of an aggregate")
    return Scalar(ctype, arith.call(request.name.split("__float")[0], tuple(args), ctype.scalar))


def _sine_cosine(request: Request) -> Value:
    """``sincosf(x, &s, &c)``."""
    x, sine, cosine = request.values()
    for pointer, function in ((sine, "sin"), (cosine, "cos")):
        place = places.dereference(request.cx, pointer, request.node)
        ctype = conversions.type_of(place)
        if isinstance(ctype, Number) and isinstance(x, Scalar):
            operand = request.as_number(x, ctype)
            result = Scalar(ctype, arith.call(function, (operand,), ctype.scalar))
            places.write(request.cx, place, result, request.node)
    return request.nothing()


# --- conversions ------------------------------------------------------------------------------

_ROUNDING = {"rn": "rint", "rz": "trunc", "ru": "ceil", "rd": "floor"}
_NUMBERS = {
    "int": INT,
    "uint": UINT,
    "ll": LONG_LONG,
    "ull": UNSIGNED_LONG_LONG,
    "float": FLOAT,
    "double": DOUBLE,
}


def _conversion(request: Request, source: Number, target: Number, mode: str) -> Value:
    """``__float2int_rn`` and its kin: round, then convert."""
    operand = request.number(0, source)
    if target.scalar.is_integer and not source.scalar.is_integer and mode != "rz":
        operand = arith.call(_ROUNDING[mode], (operand,), source.scalar)
    return Scalar(target, arith.cast(operand, target.scalar))


def _round_to_long(request: Request, function: str) -> Value:
    """``lrintf``, ``lroundf`` …"""
    operand = request.number(0, DOUBLE)
    return Scalar(LONG_LONG, arith.cast(arith.call(function, (operand,), ir.F64), ir.I64))


def _pure(request: Request) -> Value:
    """A function without effects whose value is not modelled (bit casts, packed arithmetic)."""
    values = request.values()
    if request.result in (None, VOID) and values:
        return Scalar(INT, request.undefined(ir.I32, f"the value of {request.name}"))
    return request.unknown(f"the value of {request.name}")


def half(request: Request) -> Value:
    """16-bit float arithmetic and conversion: a pure function of its name."""
    values = request.values()
    args = tuple(v.expr for v in values if isinstance(v, Scalar))
    if isinstance(request.result, Number) and len(args) == len(values):
        if request.result.scalar.is_integer:
            return request.unknown(f"the value of {request.name}")
        return Scalar(request.result, arith.call(request.name, args, request.result.scalar))
    return request.unknown(f"the value of {request.name}")


_PURE = names(
    """
    __float_as_int __float_as_uint __int_as_float __uint_as_float __double_as_longlong
    __longlong_as_double __double2hiint __double2loint __hiloint2double __dp2a_lo __dp2a_hi
    __dp4a isnan isinf isfinite signbit isnanf isinff finite finitef ilogb ilogbf rand
    __usad4 __vadd4 __vsub4 __vabsdiffu4 __vcmpeq4 __vadd2 __vmaxs4
    __vmins4 __vabs4 __vsubss4 __vadd2 __isShared __isGlobal __isLocal __isConstant
    """
)


_HALF_MATH = names("make_half hexp hlog hsin hcos hsqrt hrsqrt hrcp htanh h2exp h2log h2sqrt h2rcp")
_HALF_ARITHMETIC = names(
    "hadd hsub hmul hdiv hfma hneg habs hmin hmax heq hne hlt hle hgt hge hisnan low2 high2 lows2 "
    "highs2 hcmadd hbeq hbne hblt hbgt hble hbge"
)


def is_half_function(name: str) -> bool:
    """``__hadd2``, ``__float2half_rn``, ``__half22float2``, ``__bfloat162float`` …"""
    stem = name.lstrip("_")
    if not name.startswith("__"):
        return stem.startswith(_HALF_MATH)
    return "half" in stem or "bfloat16" in stem or stem.startswith(_HALF_ARITHMETIC)


def table() -> dict[str, Handler]:
    """Names without type suffix to handlers."""
    entries: dict[str, Handler] = {}
    for name, (function, operand, result) in _INTEGER.items():
        entries[name] = partial(_integer, function=function, operand=operand, result=result)
    for name, (number, wide, up) in _AVERAGE.items():
        entries[name] = partial(_average, ctype=number, wide=wide, up=up)
    for op in ("min", "max"):
        entries[op] = partial(_min_max, op=op, ctype=None)
    for name, ctype in _MIN_MAX.items():
        entries[name] = partial(_min_max, op=name[-3:], ctype=ctype)
    entries["abs"] = entries["__abs"] = _abs
    entries["__sad"] = partial(_sum_of_differences, ctype=INT)
    entries["__usad"] = partial(_sum_of_differences, ctype=UINT)
    for name, float_type in _FLOAT_FUNCTIONS.items():
        entries[name] = partial(_float, ctype=float_type)
    entries.update(dict.fromkeys(("sincos", "sincosf", "sincospi", "sincospif"), _sine_cosine))
    entries["__sincosf"] = _sine_cosine
    for source_name, source in _NUMBERS.items():
        for target_name, target in _NUMBERS.items():
            for mode in _ROUNDING:
                name = f"__{source_name}2{target_name}_{mode}"
                entries[name] = partial(_conversion, source=source, target=target, mode=mode)
    entries["__int2double"] = partial(_conversion, source=INT, target=DOUBLE, mode="rn")
    for name in ("lrint", "llrint", "lround", "llround"):
        function = "rint" if "rint" in name else "round"
        entries[name] = entries[f"{name}f"] = partial(_round_to_long, function=function)
    entries.update(dict.fromkeys(_PURE, _pure))
    return entries
