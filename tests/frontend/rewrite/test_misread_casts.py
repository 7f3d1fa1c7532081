"""``(n) - b * c`` is a difference: what macros with careful parentheses leave behind."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import rewriting

from coalescecheck import frontend
from coalescecheck.launch import Dim3

KERNEL = """
typedef float real;
template <typename T> struct Box {{ T x; }};
namespace ns {{ const int m = 7; }}
__global__ void k(int *o, float *p, int a, int b, int c, int n, int x) {{ o[0] = {0}; }}
"""

CASES = {
    "a product before, a product behind": ("x % (a) + (b) * c", "x % a + b * c"),
    "rows of rows": (
        "((a)*(n)*(c) + (b)*(c) + (x))", "a * n * c + b * c + x",
    ),
    "a difference of differences": ("(a) - (b) - (c) * x", "a - b - c * x"),
    "a quotient": ("x / (a) + b / c", "x / a + b / c"),
    "a comparison before": ("x >= (a) && (b) <= c", "x >= a && b <= c"),
    "a chain of comparisons": (
        "x == (a) && (b) == (c) && (n) >= x", "x == a && b == c && n >= x",
    ),
    "a mask of a comparison": ("(a) & (b) == c", "a & b == c"),
    "a mask and a comparison": ("x >= (a) & (b) == c", "x >= a & b == c"),
    "what looks like a template as well": (
        "x < (a) && b > (c) || (c) && (a)", "x < a && b > c || c && a",
    ),
    "a sign in front": ("-(a) - (b) * c", "-a - b * c"),
    "a cast in front": ("(float)(a) - (b) * c", "(float)a - b * c"),
    "a literal with a sign": ("x * (n) -1 * b", "x * n - 1 * b"),
    "a pointer": ("*(o) + (b) * c", "*o + b * c"),
    "a typedef stays a cast": ("(real)-a * c", "(float)-a * c"),
    "a type of the language stays a cast": ("(unsigned)-1 / (a) - 1", "(unsigned int)-1 / a - 1"),
}  # fmt: skip


@pytest.mark.parametrize(("source", "expected"), CASES.values(), ids=CASES)
def test_an_expression(source: str, expected: str) -> None:
    assert rewriting.body(rewriting.rewritten(KERNEL.format(source))) == [f"o[0] = {expected};"]


def test_a_name_that_is_a_type_elsewhere() -> None:
    """The innermost function that declares the name decides."""
    text = """
        template <typename T> __device__ int f(int n) { return (T)-n * 2; }
        __global__ void k(int *o, int T, int n) { o[0] = n * (T) - n * 2 + f<short>(n); }"""
    kernel = rewriting.rewritten(text)
    assert rewriting.function(kernel, "f__short") == ["return (short)-n * 2;"]
    assert rewriting.body(kernel) == ["o[0] = n * T - n * 2 + f__short(n);"]


def test_random_expressions_keep_their_value(tmp_path: Path) -> None:
    """Python has the precedence of C for these operators."""
    draw = random.Random(4)
    sources = [_random(draw) for _ in range(200)]
    statements = "\n".join(f"o[{i}] = {source};" for i, source in enumerate(sources))
    path = tmp_path / "k.cu"
    path.write_text(
        f"__global__ void k(int *o, int a, int b, int c, int d) {{ {statements} }}", "utf-8"
    )
    (kernel,) = frontend.load(str(path)).kernels
    names = {"a": 3, "b": 5, "c": 11, "d": 2}
    lines = rewriting.body(kernel)
    assert len(lines) == len(sources)
    for source, line in zip(sources, lines, strict=True):
        emitted = line.split(" = ", 1)[1].rstrip(";")
        assert eval(emitted, {}, names) == eval(source, {}, names), (source, emitted)


def _random(draw: random.Random) -> str:
    terms = [
        draw.choice(("{}", "({})", "-({})", "({} + 1)")).format(draw.choice("abcd"))
        for _ in range(draw.randint(2, 8))
    ]
    text = terms[0]
    for term in terms[1:]:
        signs = (" + ", " - ", " * ") if term.startswith("-") else (" + ", " - ", " * ", "-", "+")
        text += draw.choice(signs) + term
    return text


def test_launches_count_right(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        """
        #define UP(n, b) ((n) + (b) - 1) / (b)
        __global__ void k(float *p, int n) { p[threadIdx.x] = n; }
        void go(float *p) {
            int n = 100, b = 32;
            k<<<UP(n, b) * 2, (b) + (b) * 2>>>(p, 7 * (n) - (b) * 2);
        }""",
        "utf-8",
    )
    (kernel,) = frontend.load(str(path)).kernels
    (launch,) = kernel.launches
    assert (launch.grid, launch.block) == (Dim3(8), Dim3(96))  # 131 / 32 = 4, twice
    assert dict(launch.args) == {"n": 636}
