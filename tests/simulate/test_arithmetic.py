"""C arithmetic on vectors, against a C compiler and against values worked out by hand."""

from __future__ import annotations

import shutil
import subprocess

import numpy as np
import pytest
from ir_builder import value_type

from coalescecheck.ir.types import BOOL, F32, F64, I8, I32, I64, PTR, U8, U32, U64
from coalescecheck.simulate import functions
from coalescecheck.simulate.values import ARITHMETIC, COMPARISON, convert, dtype_of, scalar

C_TYPES = {"i32": "int", "u32": "unsigned", "i64": "long", "u64": "unsigned long"}
EDGES = {
    "i32": [0, 1, -1, 2, -2, 7, -7, 31, 100, -100, 2**31 - 1, -(2**31), 12345678],
    "u32": [0, 1, 2, 7, 31, 100, 2**31, 2**31 - 1, 2**32 - 1, 12345678],
    "i64": [0, 1, -1, 3, -3, 2**31, -(2**33), 2**63 - 1, -(2**63), 987654321987],
    "u64": [0, 1, 3, 2**31, 2**33, 2**63, 2**64 - 1, 987654321987],
}
OPS = [op for op in ARITHMETIC if op not in ("min", "max")]


def c_values(values, suffix):
    return ",".join(f"(T){value % 2**64}{suffix}" for value in values)


def c_program(name):
    """All pairs of edge values under all operators; undefined ones print 0."""
    lines = ["#include <stdio.h>", f"typedef {C_TYPES[name]} T;"]
    lines.append(f"T v[] = {{{c_values(EDGES[name], 'UL')}}};")
    lines.append(f"int main(void) {{ int n = {len(EDGES[name])}; int m = 8*sizeof(T)-1;")
    lines.append("for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {T a = v[i], b = v[j];")
    lines.append(f"int bad = b == 0 || (b == (T)-1 && a == v[{edge(name)}]);")
    for op in OPS:
        text = f"a {op} b"
        if op in "/%":
            text = f"bad ? 0 : a {op} b"
        if op in ("<<", ">>"):
            # the GPU clamps counts beyond the width (PTX ISA, shl and shr); C leaves them open
            beyond = "0" if op == "<<" else "((T)-1 < 0 ? a >> m : 0)"
            text = f"(unsigned long long)b > m ? {beyond} : a {op} b"
        lines.append(f'printf("%llu\\n", (unsigned long long)({text}));')
    for op in COMPARISON:
        lines.append(f'printf("%d\\n", a {op} b);')
    lines.append("}}")
    return "\n".join(lines)


def edge(name):
    """The index of the most negative value, whose quotient by -1 has no value in C."""
    return EDGES[name].index(min(EDGES[name]))


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
@pytest.mark.parametrize("name", C_TYPES)
def test_integer_operators_equal_the_compilers(name, tmp_path):
    (tmp_path / "t.c").write_text(c_program(name))
    binary = tmp_path / "t"
    subprocess.run(["gcc", "-w", "-fwrapv", "-o", binary, tmp_path / "t.c"], check=True)
    output = subprocess.run([binary], check=True, capture_output=True, text=True).stdout
    expected = iter(int(line) for line in output.split())
    kind = value_type(name)
    values = np.array([scalar(v, kind) for v in EDGES[name]])
    with np.errstate(all="ignore"):
        got = {op: f(values[:, None], values[None, :]) for op, f in ARITHMETIC.items()}
    compared = {op: f(values[:, None], values[None, :]) for op, f in COMPARISON.items()}
    lowest = min(EDGES[name])
    for i, a in enumerate(EDGES[name]):
        for j, b in enumerate(EDGES[name]):
            for op in OPS:
                want = next(expected)
                undefined = op in "/%" and a == lowest and b == -1
                result = int(got[op][i, j]) % 2**64
                assert undefined or result == want % 2**64, (a, op, b)
            for op in COMPARISON:
                assert int(compared[op][i, j]) == next(expected), (a, op, b)


@pytest.mark.parametrize(
    ("data", "kind", "expected"),
    [
        pytest.param(np.float32([2.9, -2.9, 0.5]), I32, [2, -2, 0], id="floats truncate"),
        pytest.param(np.float32([3e9, -3e9]), I32, [2**31 - 1, -(2**31)], id="and saturate"),
        pytest.param(np.float64([-1.0, 1e20]), U32, [0, 2**32 - 1], id="unsigned too"),
        pytest.param(np.float64([1e30, -1e30]), I64, [2**63 - 1, -(2**63)], id="in 64 bits"),
        pytest.param(np.float64([np.nan]), I32, [0], id="not a number is zero"),
        pytest.param(np.int32([300, -1, 128]), I8, [44, -1, -128], id="narrowing wraps"),
        pytest.param(np.int32([-1]), U64, [2**64 - 1], id="widening keeps the sign"),
        pytest.param(np.uint32([2**32 - 1]), I64, [2**32 - 1], id="unsigned has none"),
        pytest.param(np.int32([-1, 0]), U8, [255, 0], id="to bytes"),
        pytest.param(np.float32([0.5, 0]), BOOL, [True, False], id="half is true"),
        pytest.param(np.uint64([2**63 + 5]), PTR, [-(2**63) + 5], id="pointers keep bits"),
    ],
)
def test_conversions_follow_c_and_the_gpu(data, kind, expected):
    assert convert(data, kind).tolist() == expected
    assert convert(data, kind).dtype == dtype_of(kind)


@pytest.mark.parametrize(
    ("name", "args", "expected"),
    [
        ("popc", [np.uint32([0, 1, 255, 2**32 - 1])], [0, 1, 8, 32]),
        ("popc", [np.int64([-1])], [64]),
        ("clz", [np.uint32([0, 1, 2**31])], [32, 31, 0]),
        ("clz", [np.int64([1])], [63]),
        ("ffs", [np.uint32([0, 1, 8, 2**31])], [0, 1, 4, 32]),
        ("brev", [np.uint32([1, 2, 0xF0])], [2**31, 2**30, 0x0F000000]),
        ("mulhi", [np.int32([-1, 2**30]), np.int32([2, 8])], [-1, 2]),
        ("umulhi", [np.uint32([2**31, 3]), np.uint32([4, 5])], [2, 0]),
        ("umulhi", [np.uint64([2**63, 2**64 - 1]), np.uint64([4, 2**64 - 1])], [2, 2**64 - 2]),
        ("mulhi", [np.int64([-1, -(2**62)]), np.int64([1, 8])], [-1, -2]),
        ("mul24", [np.int32([0x800000]), np.int32([2])], [-(2**24)]),
        (
            "funnelshift_l",
            [np.uint32([2**31 + 3] * 3), np.uint32([5] * 3), np.uint32([4, 36, 0])],
            [88, 88, 5],
        ),
        ("funnelshift_lc", [np.uint32([2**31 + 3]), np.uint32([5]), np.uint32([36])], [2**31 + 3]),
        ("funnelshift_r", [np.uint32([2**31 + 3]), np.uint32([5]), np.uint32([4])], [0x58000000]),
        ("funnelshift_rc", [np.uint32([2**31 + 3]), np.uint32([5]), np.uint32([99])], [5]),
        (
            "byte_perm",
            [np.uint32([0x80000003]), np.uint32([0x44332211]), np.uint32([0x6533])],
            [0x33228080],
        ),
        ("abs", [np.int32([-5, 5])], [5, 5]),
        ("sqrtf", [np.float32([4, 9])], [2, 3]),
        ("fabsf", [np.float32([-2])], [2]),
        ("__fdividef", [np.float32([6]), np.float32([3])], [2]),
        ("floor", [np.float64([-1.5])], [-2]),
        ("fmaf", [np.float32([2]), np.float32([3]), np.float32([4])], [10]),
        ("roundf", [np.float32([2.5, -2.5])], [3, -3]),
    ],
)
def test_functions_have_the_values_of_their_definition(name, args, expected):
    assert functions.call(name, args).tolist() == expected


def test_an_unknown_function_has_no_value():
    assert functions.call("frobnicate", [np.float32([1])]) is None


def test_bytes_chosen_by_more_than_three_bits_are_not_known():
    assert functions.call("byte_perm", [np.uint32([1]), np.uint32([2]), np.uint32([8])]) is None


@pytest.mark.parametrize("kind", [F32, F64])
def test_floats_keep_their_precision(kind):
    third = ARITHMETIC["/"](scalar(1, kind), scalar(3, kind))
    assert third.dtype == dtype_of(kind)
