"""Sources that are small to write and large to read: nests, chains, and macros that grow.

In: a source of chance.  Out: CUDA text.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

MOST = 40_000  # characters: a large file, but no more than that
HEAD = "__global__ void k(float *a, const int *b, int n) {\n    int t = threadIdx.x;\n"
TAIL = "}\nvoid run(float *a, int *b) { k<<<4, 64>>>(a, b, 100); }\n"


def bomb(chance: Random) -> str:
    """One of them, with a size by chance."""
    kind, size = chance.choice(BOMBS), chance.choice((3, 30, 300, 2000, 20000))
    text = kind(size, chance)
    while len(text) > MOST:
        size //= 2
        text = kind(size, chance)
    return text


def _kernel(body: str) -> str:
    return f"{HEAD}{body}\n{TAIL}"


def _nested_expression(size: int, chance: Random) -> str:
    opened, closed = chance.choice(
        (
            ("(", ")"),
            ("-", ""),
            ("!", ""),
            ("(int)", ""),
            ("b[", "]"),
            ("min(t, ", ")"),
            ("t ? t : (", ")"),
        )
    )
    return _kernel(f"    a[{opened * size}t{closed * size}] = 0;")


def _chain(size: int, chance: Random) -> str:
    link = chance.choice(
        (" + t", " * t", " ^ t", " - (t << 1)", " / 3", " % 7", ", t", " && t", " ? t : t", " == t")
    )
    return _kernel(f"    a[t{link * size}] = 0;")


def _nested_statements(size: int, chance: Random) -> str:
    head = chance.choice(
        (
            "{",
            "if (t < n) {",
            "for (int i = 0; i < 2; ++i) {",
            "while (t < n) {",
            "switch (t) { case 1: {",
            "do {",
        )
    )
    close = "} while (t < n);" if head == "do {" else "}" * head.count("{")
    return _kernel(f"    {head * size} a[t] = 0; {close * size}")


def _many_statements(size: int, chance: Random) -> str:
    line = chance.choice(
        (
            "a[t] = 0;",
            "t = t * 3 + 1;",
            "t += b[t];",
            "if (t > n) return;",
            ";",
            "a[t] += a[t + 1];",
            "int v{} = t;",
            "__syncthreads();",
            "if (t & 1) t ^= n; else t += n;",
            "t = t / 3 % 5;",
            "x{}: t++; if (t < n) goto x{};",
        )
    )
    return _kernel("\n".join(line.replace("{}", str(i)) for i in range(size)) + " a[t] = 1;")


def _many_kernels(size: int, chance: Random) -> str:
    count = min(size, 60)
    return "".join(
        f"__global__ void k{i}(float *a) {{ a[threadIdx.x * {i}] = 0; }}\n" for i in range(count)
    )


def _macros(size: int, chance: Random) -> str:
    """Each macro is the one before it, several times."""
    depth, times = min(size, 40), chance.choice((1, 2, 4))
    lines = ["#define M0 + t"]
    lines += [f"#define M{i + 1} {f'M{i} ' * times}" for i in range(depth)]
    return "\n".join(lines) + "\n" + _kernel(f"    a[t M{depth}] = 0;")


def _macro_calls(size: int, chance: Random) -> str:
    define = chance.choice(
        (
            "#define F(x) ((x) + (x))",
            "#define F(x) F(x)",
            "#define F(x, ...) F(__VA_ARGS__)",
            "#define F(x) x##x",
            "#define F(x) #x",
        )
    )
    depth = min(size, 300)
    return f"{define}\n" + _kernel(f"    a[{'F(' * depth}t{')' * depth}] = 0;")


def _conditionals(size: int, chance: Random) -> str:
    test = chance.choice(
        (
            "#if 1",
            "#if 0",
            "#ifdef X",
            "#if " + "(" * 300 + "1" + ")" * 300,
            "#if 1 << 1000000",
            "#if 1/0",
        )
    )
    return (
        f"{test}\n" * size + _kernel("a[t] = 0;") + "#endif\n" * chance.choice((size, size - 1, 0))
    )


def _templates(size: int, chance: Random) -> str:
    depth = min(size, 3000)
    head = "template <int N> struct S {\n"
    head += "    static __device__ int f(int t) { return S<N - 1>::f(t) + t; }\n};\n"
    if chance.random() < 0.5:
        head += "template <> struct S<0> { static __device__ int f(int t) { return t; } };\n"
    use = chance.choice(
        (
            f"S<{depth}>::f(t)",
            f"{'V<' * depth}int{'>' * depth}::x",
            f"{'V<' * depth}int{' >' * depth}()",
        )
    )
    return head + "template <class T> struct V { T v; };\n" + _kernel(f"    a[{use}] = 0;")


def _recursion(size: int, chance: Random) -> str:
    depth = min(size, 3000)
    if chance.random() < 0.3:
        return "__device__ int f(int x) { return x > 0 ? f(x - 1) + f(x - 2) : 1; }\n" + _kernel(
            "    a[f(t)] = 0;"
        )
    times = chance.choice((1, 2, 3))
    lines = ["__device__ int f0(int x) { return x; }"]
    lines += [
        f"__device__ int f{i + 1}(int x) {{ return {' + '.join([f'f{i}(x)'] * times)}; }}"
        for i in range(depth)
    ]
    return "\n".join(lines) + "\n" + _kernel(f"    a[f{depth}(t)] = 0;")


def _loops(size: int, chance: Random) -> str:
    """Loops with hostile bounds, around and behind each other."""
    bound = chance.choice(("n", "1 << 30", "0x7fffffff", "t", "b[t]", "-1", "100000", "1ull << 63"))
    step = chance.choice(
        ("++i", "i += 0", "i <<= 1", "i = i * i", "--i", "i += b[i]", "i += n", "i = -i")
    )
    depth = min(size, 12)
    inner = chance.choice(("a[i] = t;", "a[t] += i;", "t = t * 5 + i;", "break;", "continue;"))
    return _kernel(
        f"    for (unsigned i = 0; i < {bound}; {step}) " * depth + "{ " + inner + " a[t] = i; }"
    )


def _declarations(size: int, chance: Random) -> str:
    shape = chance.choice(
        (
            f"__shared__ float s[{10 ** min(size, 40)}];",
            f"__shared__ float s{'[2]' * min(size, 3000)};",
            f"float {'*' * size}s;",
            f"__shared__ float s[{'(' * size}1{')' * size}];",
            f"int s[] = {{{'1, ' * size}}};",
            "__shared__ float s[1 << 70];",
            f"struct {'{ struct ' * min(size, 300)}X {{ int s; }}{' q; }' * min(size, 300)} s;",
            "__shared__ float s[0];",
            "float s[-1];",
        )
    )
    return _kernel(f"    {shape}\n    a[t] = s[t];")


def _launches(size: int, chance: Random) -> str:
    big = chance.choice(
        (
            f"{10 ** min(size, 4000)}",
            "1 << 70",
            "-1",
            "0",
            "1 / 0",
            "1 << (1 << 30)",
            f"{'(' * size}1{')' * size}",
        )
    )
    launch = "void run(float *a) { k<<<BIG, dim3(BIG, 2)>>>(a, 0, BIG); }"
    return f"#define BIG {big}\n{HEAD}a[t] = 0;}}\n{launch}\n"


def _comments(size: int, chance: Random) -> str:
    said = chance.choice(
        (
            "block(" + "9" * size + ")",
            "ignore[" + "CC201," * size + "]",
            "n=" + "9" * min(size, 5000),
            "block(32) " * size,
        )
    )
    return f"// coalescecheck: {said}\n" + _kernel(
        "    a[t * 8] = 0; // coalescecheck: ignore[" + "x" * size
    )


def _numbers(size: int, chance: Random) -> str:
    digits = chance.choice(
        (
            "9" * size,
            "0x" + "f" * size,
            "0" * size + "1",
            "1e" + "9" * min(size, 30),
            "0." + "0" * size + "1f",
            "'" + "a" * size + "'",
        )
    )
    where = chance.choice(
        (
            "a[{}] = 0;",
            "a[t * {}] = 0;",
            "a[t << {}] = 0;",
            "t = {}; a[t / {}] = 0;",
            "for (int i = 0; i < {}; ++i) a[i] = 0;",
            "a[t >> {}] = {};",
            "if (t < {}) a[t % {}] = 0;",
        )
    )
    return _kernel("    " + where.replace("{}", digits))


def _includes(size: int, chance: Random) -> str:
    line = chance.choice(
        (
            '#include "case.cu"',
            "#include <case.cu>",
            '#include "' + "../" * size + 'x.h"',
            '#include "' + "x" * size + '"',
            '#include "."',
            "#include",
            '#include "/dev/zero"',
            '#include "/proc/self/mem"',
        )
    )
    return f"{line}\n" * min(size, 3) + _kernel("    a[t] = 0;")


Bomb = Callable[[int, Random], str]
WORDS = (
    *("HDI ", "W{} ", "HDI int ", "static ", "a::", "a<b> ", "std::is_same<", "std::integral<"),
    *("A_b<x> ::", "__launch_bounds__(a,", "__launch_bounds__(a,b,(c)", "__block_size__((a)("),
    *("PackedTensorAccessor32<", "concept c{} = ", "template <C{} "),
)
PTX = ("atom.add.", "red.global.", "cvta.to.shared.u64 a ", "ldmatrix.a.x4", "ld.global.", ", %1")


def _words(size: int, chance: Random) -> str:
    """One word after the other, beside a header that is not there; what is read by patterns."""
    word = chance.choice(WORDS)
    before = '#include "nowhere.h"\nconcept A_b = 1;\n'
    return before + "".join(word.replace("{}", str(i)) for i in range(size)) + ";\n" + _kernel("")


def _assembly(size: int, chance: Random) -> str:
    return _kernel(f'    asm volatile("{chance.choice(PTX) * size}" :: "l"(a), "r"(t));')


BOMBS: tuple[Bomb, ...] = (
    *(_nested_expression, _chain, _nested_statements, _many_statements, _many_kernels, _macros),
    *(_macro_calls, _conditionals, _templates, _recursion, _loops, _declarations, _launches),
    *(_comments, _numbers, _includes, _words, _assembly),
)
