"""Macros that exist before the first line: the compiler's, and standard limits.

In: the architecture number and the file's text.  Out: ``NAME value`` definitions.  System
headers are never read, so their most used constants are given here; whatever the user's
files define takes precedence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from coalescecheck.frontend.target_macros import target_macros

_COMPILER = {
    "__CUDACC__": "1",
    "__NVCC__": "1",
    "__cplusplus": "201703L",
    "__CUDACC_VER_MAJOR__": "12",
    "__CUDACC_VER_MINOR__": "0",
    "__CUDACC_VER_BUILD__": "0",
    "__STDC__": "1",
    "__STDC_VERSION__": "201710L",
    "__linux__": "1",
    "__linux": "1",
    "__unix__": "1",
    "__x86_64__": "1",
    "__LP64__": "1",
    "_LP64": "1",
    "__GNUC__": "11",
    "__GNUC_MINOR__": "0",
    "__CHAR_BIT__": "8",
    "__SIZEOF_POINTER__": "8",
}
# CUDA's own headers are part of every .cu file.
_CUDA = {"CUDART_VERSION": "12000", "CUDA_VERSION": "12000"}
# <climits>, <cstdint>, <cfloat> and <cmath> on LP64.
_LIMITS = {
    "CHAR_BIT": "8",
    "SCHAR_MIN": "(-128)",
    "SCHAR_MAX": "127",
    "UCHAR_MAX": "255",
    "CHAR_MIN": "(-128)",
    "CHAR_MAX": "127",
    "SHRT_MIN": "(-32768)",
    "SHRT_MAX": "32767",
    "USHRT_MAX": "65535",
    "INT_MIN": "(-2147483647 - 1)",
    "INT_MAX": "2147483647",
    "UINT_MAX": "4294967295u",
    "LONG_MIN": "(-9223372036854775807L - 1)",
    "LONG_MAX": "9223372036854775807L",
    "ULONG_MAX": "18446744073709551615uL",
    "LLONG_MIN": "(-9223372036854775807LL - 1)",
    "LLONG_MAX": "9223372036854775807LL",
    "ULLONG_MAX": "18446744073709551615uLL",
    "INT8_MIN": "(-128)",
    "INT8_MAX": "127",
    "UINT8_MAX": "255",
    "INT16_MIN": "(-32768)",
    "INT16_MAX": "32767",
    "UINT16_MAX": "65535",
    "INT32_MIN": "(-2147483647 - 1)",
    "INT32_MAX": "2147483647",
    "UINT32_MAX": "4294967295u",
    "INT64_MIN": "(-9223372036854775807L - 1)",
    "INT64_MAX": "9223372036854775807L",
    "UINT64_MAX": "18446744073709551615uL",
    "SIZE_MAX": "18446744073709551615uL",
    "INTPTR_MAX": "9223372036854775807L",
    "UINTPTR_MAX": "18446744073709551615uL",
    "PTRDIFF_MAX": "9223372036854775807L",
    "INTMAX_MAX": "9223372036854775807L",
    "UINTMAX_MAX": "18446744073709551615uL",
    "RAND_MAX": "2147483647",
    "EXIT_SUCCESS": "0",
    "EXIT_FAILURE": "1",
    "FLT_MAX": "3.402823466e+38F",
    "FLT_MIN": "1.175494351e-38F",
    "FLT_EPSILON": "1.192092896e-07F",
    "DBL_MAX": "1.7976931348623158e+308",
    "DBL_MIN": "2.2250738585072014e-308",
    "DBL_EPSILON": "2.2204460492503131e-16",
    "M_E": "2.71828182845904523536",
    "M_LOG2E": "1.44269504088896340736",
    "M_LOG10E": "0.434294481903251827651",
    "M_LN2": "0.693147180559945309417",
    "M_LN10": "2.30258509299404568402",
    "M_PI": "3.14159265358979323846",
    "M_PI_2": "1.57079632679489661923",
    "M_PI_4": "0.785398163397448309616",
    "M_1_PI": "0.318309886183790671538",
    "M_2_PI": "0.636619772367581343076",
    "M_2_SQRTPI": "1.12837916709551257390",
    "M_SQRT2": "1.41421356237309504880",
    "M_SQRT1_2": "0.707106781186547524401",
}
# `const double M_PI = 3.14;` without <cmath>: the name is a variable here, not a macro.
# Names first: few characters begin one, and all others are skipped at the speed of a search.
_ASSIGNED = re.compile(
    "(" + "|".join(sorted(_LIMITS, key=len, reverse=True)) + r")\s*(?:=(?!=)|\{|\[)"
)


def predefined(arch_number: int, text: str) -> Iterator[str]:
    """Definitions for a device pass of ``arch_number`` (80 or 800 for sm_80) over ``text``."""
    arch = arch_number if arch_number >= 200 else arch_number * 10
    yield f"__CUDA_ARCH__ {arch}"
    for name, value in (*_COMPILER.items(), *_CUDA.items()):
        yield f"{name} {value}"
    declared = _declared(text)
    for name, value in _LIMITS.items():
        if name not in declared:
            yield f"{name} {value}"
    yield from target_macros(arch)


def _declared(text: str) -> set[str]:
    """The limits that ``text`` declares as variables."""
    found: set[str] = set()
    for match in _ASSIGNED.finditer(text):
        start = match.start()
        while start and text[start - 1].isspace():
            start -= 1
        before = text[start - 1 : start]
        if start < match.start() and (before.isalnum() or before in ("_", "*", "&", ">")):
            found.add(match[1])
    return found


def command_line(defines: Iterable[str]) -> Iterator[str]:
    """``-D`` options, ``NAME`` or ``NAME=VALUE``, as definitions."""
    for define in defines:
        name, equals, value = define.partition("=")
        yield f"{name} {value if equals else '1'}"
