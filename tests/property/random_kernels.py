"""Random kernels in kernel C, for comparing independent readings of the same text.

Every kernel comes from a seed alone.  Each access stands in a line of its own, so that another
reading can be matched by line, operation and array.  Bodies have their loops marked:
``ENTER(i);``, ``ITERATION(i);`` and ``EXIT(i);`` around and inside loop number ``i``.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from .kernel_texts import HEAD, PRELUDE, SHARED, SIGNATURE
from .random_private import ELEMENTS, PrivateArrays

BLOCKS = [
    *((32, 1, 1), (64, 1, 1), (16, 16, 1), (8, 8, 2), (33, 1, 1)),
    *((32, 8, 1), (5, 7, 3), (1, 64, 1)),
]
GRIDS = [(1, 1, 1), (3, 1, 1), (2, 2, 1), (1, 3, 2)]
WRAPPING = [
    *("{0} << 3", "{0} * 3u + 7u", "{0} * 1664525u + 1013904223u", "{0} ^ {0} << 5"),
    *("{0} << 4 | {0} >> 28", "{0} - 50u", "{0} * 2u >> 1", "({0} << 7) % 1000u", "~{0}"),
]
WRAPPING_HEADS = [
    "for (unsigned {0} = 1; {0} != 0; {0} <<= 5)",
    "for (unsigned {0} = 9; {0} < 100; {0} -= 2)",
    "for (unsigned char {0} = 250; {0} != 4; {0} += 2)",
    "for (size_t {0} = 3; {0} + 1 > 0; {0}--)",
    "for (unsigned long {0} = 1; {0} != 0; {0} <<= 12)",
    "for (signed char {0} = 120; {0} > 0; {0} = (signed char)({0} + 3))",
]
INDICES = 256  # entries of ``idx`` that have contents
MARKERS = re.compile(r" ?\b(?:ENTER|ITERATION|EXIT)\(\d+\);")


@dataclass(frozen=True)
class RandomKernel:
    """A kernel's body with marks, its launch, and values for its parameters n and m.

    ``shuffles``: values of other lanes decide addresses, so lanes cannot be run one by one.
    """

    body: str
    block: tuple[int, int, int]
    grid: tuple[int, int, int]
    params: dict[str, int]
    shuffles: bool

    @property
    def text(self) -> str:
        """The kernel as the tool reads it."""
        text = PRELUDE + HEAD + SIGNATURE + SHARED + self.body + "}\n"
        return MARKERS.sub("", text)


@dataclass
class _Writer(PrivateArrays):
    privates: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    names: int = 0
    loops: int = 0
    shuffles: bool = False

    def fresh(self, prefix: str) -> str:
        self.names += 1
        return f"{prefix}{self.names}"

    # --- accesses -----------------------------------------------------------------------------

    def access(self) -> None:
        rng, depth = self.rng, self.rng.choice([1, 2, 2, 3])
        pick = rng.random()
        if pick < 0.3:
            self.lines.append(f"o[{self.index(depth)}] = a[{self.index(depth)}];")
        elif pick < 0.5:
            self.lines.append(f"s[{self.expr(depth)} & 1023] += a[{self.index(1)}];")
        else:
            shapes = [self._vector, self._shared, self._data, self._called, self._atomic]
            rng.choice([*shapes, self._vector, self._shared])(depth)

    def _vector(self, depth: int) -> None:
        rng = self.rng
        at, other = self.index(depth), self.index(1)
        self.lines.append(
            rng.choice(
                [
                    f"v[{at}] = v[{other}];",
                    f"r[{at}].{rng.choice('pr')} = c[{other}];",
                    f"r[{at}] = r[{other}];",
                    f"f2[{at}] = f2[{other}];",
                    f"f3[{at}] = f3[{other}];",
                    f"w[{at}] = w[{other}];",
                    f"w[{at}].rest[{self.expr(0)} & 1] = a[{other}];",
                    f"h[{at}] = (unsigned short)c[{other}];",
                    f"d[{at}] += a[{other}];",
                    f"*(float4 *)(o + 4 * ({at})) = v[{other}];",
                    f"o[{at}] = v[{other}].{rng.choice('xyzw')};",
                ]
            )
        )

    def _shared(self, depth: int) -> None:
        rng = self.rng
        at, other = self.expr(depth), self.expr(1)
        self.lines.append(
            rng.choice(
                [
                    f"d[{at}] = t[{other} & 31][{self.expr(1)} & 31];",
                    f"t[{at} & 31][{other} & 31] = 1.0;",
                    f"b[{at} & 511] = c[{other}];",
                    f"hs[{at} & 31][{other} & 31] += h[{self.expr(1)}];",
                    f"vs[{at} & 127] = v[{other}];",
                    f"v[{other}] = vs[{at} & 127];",
                    f"vs[{at} & 127].y = s[{other} & 1023];",
                    f"o[{at}] = coef[{other} & 63];",
                    f"o[lut[{other} & 15] * 8 + {at}] = a[{self.expr(1)}];",
                ]
            )
        )

    def _data(self, depth: int) -> None:
        rng = self.rng
        at, other = self.expr(depth), self.expr(1)
        self.lines.append(
            rng.choice(
                [
                    f"o[idx[{other} & 255]] = c[{at}];",
                    f"o[idx[blockIdx.x & 255] * 64 + {at}] = a[{other}];",
                    f"s[(idx[{other} & 255] * 32 + {at}) & 1023] = 1.0f;",
                    f"if (idx[{at} & 255] > 3) o[{other}] = 1.0f;",
                    f"if (a[{at}] > 0.5f) o[{other}] = 1.0f;",
                    f"o[idx[(blockIdx.x + n) & 255] + {at}] = 2.0f;",
                ]
            )
        )

    def _called(self, depth: int) -> None:
        rng = self.rng
        at, other = self.expr(depth), self.expr(1)
        self.lines.append(
            rng.choice(
                [
                    f"o[mix({at}, {other})] = a[{self.expr(1)}];",
                    f"o[{at}] = get(a, {other});",
                    f"o[{at}] = get(a + {other}, {self.expr(1)});",
                    f"put(o, {at}, {rng.choice(['n', '40', 'm'])});",
                    f"put(s, {at} & 1023, 500);",
                    f"o[{at}] = sum(a + {other}, {rng.choice(['3', 'n', 'm'])}, 1);",
                    f"o[{at}] = sum(a, {other}, {rng.choice(['7', '32'])});",
                    f"o[find(idx, {rng.choice(['4', 'm'])}, {other})] = 1.0f;",
                ]
            )
        )

    def _atomic(self, depth: int) -> None:
        at = self.expr(depth)
        self.lines.append(
            self.rng.choice(
                [
                    f"atomicAdd__float(&o[{at}], 1.0f);",
                    f"atomicAdd__int(&ctr[{at}], 1);",
                    f"atomicAdd__int(&bins[{at} & 63], 1);",
                    f"atomicMax__int(bins + ({at} & 63), {self.expr(1)});",
                    f"atomicAdd__float(s + ({at} & 1023), 2.0f);",
                ]
            )
        )

    # --- variables and pointers ---------------------------------------------------------------

    def variable(self) -> None:
        name = self.fresh("x")
        value = self.expr(self.rng.choice([1, 2, 3]))
        kind = self.rng.random()
        if kind < 0.06:
            value = self.exchange(value)
            self.shuffles = True
        elif kind < 0.12:
            value = f"idx[{value} & 255]"
        self.lines.append(f"int {name} = {value};")
        self.variables.append(name)

    def exchange(self, value: str) -> str:
        """What the lanes of a warp make of ``value``."""
        rng = self.rng
        kind = rng.choice(["", "", "_down", "_up", "_xor", "ballot", "any", "all"])
        if kind in ("ballot", "any", "all"):
            return f"(int)__{kind}_sync(0xffffffffu, {value} > {self.expr(0)})"
        lane = f"{self.expr(0)} & 31" if not kind else str(rng.choice([1, 2, 5, 16]))
        width = rng.choice([32, 32, 16, 4])
        return f"__shfl{kind}_sync__int(0xffffffffu, {value}, {lane}, {width})"

    def update(self) -> None:
        mutable = [v for v in self.variables if v.startswith("x")]
        if mutable:
            name = self.rng.choice(mutable)
            if self.rng.random() < 0.15:
                self.lines.append(f"o[{name}{self.rng.choice(['++', '--'])}] = 3.0f;")
            else:
                operator = self.rng.choice(["=", "+=", "-=", "^="])
                self.lines.append(f"{name} {operator} {self.expr(1)};")

    def pointer_walk(self, depth: int) -> None:
        """``p`` moves through an array while a loop runs."""
        rng, p = self.rng, self.fresh("p")
        start = rng.choice([f"a + {self.expr(2)}", f"&a[{self.expr(1)}]", "a"])
        if rng.random() < 0.2:
            start = f"{self.condition()} ? a : {rng.choice('aao')} + {self.expr(1)}"
        step = rng.choice(["1", "32", "n", "blockDim.x", "blockDim.x * gridDim.x", "m"])
        self.lines.append(f"const float *{p} = {start};")
        times = rng.choice(["4", "m", "n", "(int)threadIdx.x"])
        use = rng.choice([f"*{p}", f"{p}[{self.expr(1)}]", f"*({p} + {self.expr(1)})"])

        def body() -> None:
            self.lines.append(f"s[{self.expr(1)} & 1023] = {use};")
            self.block(depth - 1, loop=True)
            self.lines.append(f"{p} += {step};")

        k = self.fresh("k")
        self.looped(f"for (int {k} = 0; {k} < {times}; ++{k})", body, [k])
        self.lines.append(f"o[{self.expr(1)}] = {p}[{self.expr(1)}];")

    def rows(self) -> None:
        """A pointer to rows of a shared array."""
        p = self.fresh("p")
        self.lines.append(f"double (*{p})[33] = t + ({self.expr(1)} & 15);")
        self.lines.append(f"{p}[{self.expr(1)} & 15][{self.expr(2)} & 31] = a[{self.expr(1)}];")

    def local_array(self) -> None:
        """One more per-thread array, or a use of one that is in scope."""
        if self.privates and self.rng.random() < 0.7:
            name = self.rng.choice(self.privates)
            self.lines.append(self.private_statement(name, self.privates))
            return
        name, k = self.fresh("q"), self.fresh("k")
        self.lines.append(f"int {name}[{ELEMENTS}];")
        if self.rng.random() < 0.6:
            for place in range(ELEMENTS):
                self.lines.append(f"{name}[{place}] = {self.expr(1)};")
        else:
            self.looped(
                f"for (int {k} = 0; {k} < {ELEMENTS}; {k}++)",
                lambda: self.lines.append(f"{name}[{k}] = {self.expr(1)};"),
                [k],
            )
        self.privates.append(name)
        self.variables.append(self.private_value(name))

    # --- control flow -------------------------------------------------------------------------

    def block(self, depth: int, loop: bool) -> None:
        visible, arrays = len(self.variables), len(self.privates)
        for _ in range(self.rng.choice([1, 2, 2, 3])):
            self.statement(depth, loop)
        del self.variables[visible:]
        del self.privates[arrays:]

    def statement(self, depth: int, loop: bool) -> None:
        rng = self.rng
        kind = rng.random()
        if depth and kind < 0.13:
            self.branch(depth, loop)
        elif depth and kind < 0.15:
            self.choice(depth, loop)
        elif depth and kind < 0.32:
            self.loop(depth)
        elif depth and kind < 0.36:
            self.pointer_walk(depth)
        elif kind < 0.38 or (self.privates and kind < 0.5):
            self.local_array()
        elif kind < 0.39:
            self.rows()
        elif kind < 0.5:
            self.variable()
        elif kind < 0.6:
            self.update()
        elif loop and kind < 0.65:
            leave = rng.choice(["break", "continue", "break", "continue", "return"])
            self.lines.append(f"if ({self.condition()}) {leave};")
        elif kind < 0.67:
            self.lines.append(f"if ({self.condition()}) return;")
        else:
            self.access()

    def branch(self, depth: int, loop: bool) -> None:
        self.lines.append(f"if ({self.condition()}) {{")
        self.block(depth - 1, loop)
        if self.rng.random() < 0.4:
            self.lines.append("} else {")
            self.block(depth - 1, loop)
        self.lines.append("}")

    def choice(self, depth: int, loop: bool) -> None:
        self.lines.append(f"switch ({self.expr(1)} & 3) {{")
        for label in ("case 0: {", "case 2: {", "default: {"):
            self.lines.append(label)
            self.block(depth - 1, loop)
            self.lines.append("}" if self.rng.random() < 0.3 else "} break;")
        self.lines.append("}")

    def looped(self, head: str, body: Callable[[], None], counters: list[str]) -> None:
        """A loop with marks; ``counters`` are in scope inside."""
        number, self.loops = self.loops, self.loops + 1
        self.lines.append(f"ENTER({number}); {head} {{ ITERATION({number});")
        visible = len(self.variables)
        self.variables += counters
        body()
        del self.variables[visible:]
        self.lines.append(f"}} EXIT({number});")

    def loop(self, depth: int) -> None:
        rng, k = self.rng, self.fresh("k")
        kind = rng.random()
        if kind > 0.8:
            self._rare_loop(k, depth)
            return
        if kind < 0.45:
            start = rng.choice(["0", "0", "(int)threadIdx.x", "(int)threadIdx.y", "1"])
            bound = rng.choice(["4", "n", "8", "(int)threadIdx.x", "m", "n - (int)threadIdx.x"])
            step = rng.choice(["1", "1", "2", "5", "(int)blockDim.x"])
            compare = rng.choice(["<", "<", "<", "<="])
            head = f"for (int {k} = {start}; {k} {compare} {bound}; {k} += {step})"
        elif kind < 0.58:
            first = rng.choice(["16", "64", "m", "(int)blockDim.x / 2"])
            halving = rng.choice([f"{k} >>= 1", f"{k} /= 2"])
            head = f"for (int {k} = {first}; {k} > 0; {halving})"
        elif kind < 0.68:
            grow = rng.choice([f"{k} *= 2", f"{k} <<= 1", f"{k} += {k}"])
            head = f"for (int {k} = 1; {k} < {rng.choice(['16', '40', 'n'])}; {grow})"
        else:
            fall = rng.choice([f"{k} -= 3", f"{k}--", f"--{k}"])
            head = f"for (int {k} = {rng.choice(['7', 'm', 'n'])}; {k} >= 0; {fall})"
        self.looped(head, lambda: self.block(depth - 1, loop=True), [k])

    def _rare_loop(self, k: str, depth: int) -> None:
        rng = self.rng
        kind = rng.randrange(18)

        def body(first: str = "", last: str = "") -> Callable[[], None]:
            def write() -> None:
                self.lines.extend(filter(None, [first]))
                self.block(depth - 1, loop=not last)
                self.lines.extend(filter(None, [last]))

            return write

        if kind == 0:
            self.lines.append(f"int {k} = {self.expr(0)};")
            bound = rng.choice(["n", "20"])
            self.looped("while (1)", body(f"if ({k} >= {bound}) break; {k} += 6;"), [k])
        elif kind == 1:
            self.lines.append(f"int {k} = 0;")
            self.looped("do", body(f"{k} += 1;"), [k])
            self.lines[-1] = self.lines[-1].replace("}", f"}} while ({k} < 4);", 1)
        elif kind == 2:
            j = self.fresh("k")
            head = f"for (int {k} = 0, {j} = {self.expr(1)}; {k} < 6; {k}++, {j} += n)"
            self.looped(head, body(), [k, j])
        elif kind == 3:
            self.lines.append(f"int {k} = {self.expr(0)};")
            self.looped(f"while ({k} < n)", body("", f"{k} += m;"), [k])
        elif kind == 4:
            at = "blockIdx.x * blockDim.x + threadIdx.x"
            head = f"for (unsigned {k} = {at}; {k} < n * 10; {k} += gridDim.x * blockDim.x)"
            self.looped(head, body(), [f"(int){k}"])
        elif kind == 5:
            at = self.expr(1)
            first, last = f"idx[{at} & 127] & 7", f"(idx[128 + ({at} & 63)] & 15)"
            head = f"for (int {k} = {first}; {k} < {last}; {k}++)"
            self.looped(head, body(), [k])
        elif kind == 6:
            self.lines.append(f"int {k} = {self.expr(0)} & 7;")
            test = f"{k} < 20 && idx[{k} + ({self.expr(0)} & 127)] > 5"
            self.looped(f"while ({test})", body("", f"{k} += 2;"), [k])
        elif kind == 7:
            self.lines.append(f"unsigned {k} = {rng.choice(['4u', 'blockDim.x', '(unsigned)m'])};")
            self.looped(f"while ({k}-- > 0)", body(), [f"(int){k}"])
        elif kind == 8:
            head = f"for (int {k} = 0; {k} < (int)blockDim.x; {k} += 16)"
            self.looped(head, body(), [k])
        elif kind < 11:
            u = self.fresh("k")
            self.lines.append(f"unsigned {u} = {rng.choice(['1u', '40u', '4000000000u'])};")
            step = rng.choice(WRAPPING).format(u)
            head = f"for (int {k} = 0; {k} < {rng.choice(['5', '12', 'm'])}; {k}++, {u} = {step})"
            self.looped(head, body(), [f"(int)({u} & 127)", f"(int)({u} >> 24)"])
        elif kind < 12:
            head = rng.choice(WRAPPING_HEADS).format(k)
            self.looped(head, body(), [f"((int){k} & 127)"])
        elif kind == 12:
            self.looped(f"for (int {k} = {self.expr(0)} & 3; {k} != 7; ++{k})", body(), [k])
        else:
            self._two_ends(k, body())

    def _two_ends(self, k: str, body: Callable[[], None]) -> None:
        """A loop with two conditions, whose counter is used behind it."""
        rng = self.rng
        bounds = ["5", "9", "(int)threadIdx.x", "(int)threadIdx.x % 6", "n", f"{self.expr(0)}"]
        first, second = rng.sample(bounds, 2)
        logic = rng.choice(["&&", "&&", "&&", "||"])
        test = f"({k} < {first} {logic} {k} < {second}) && {k} < 40"
        self.lines.append(f"int {k} = {rng.choice(['0', '1', '(int)threadIdx.x & 1'])};")
        step = rng.choice([f"{k}++", f"{k} += 2", f"{k} += 3"])
        self.looped(f"for (; {test}; {step})", body, [k])
        self.lines.append(f"o[{k} * {rng.choice(['1', '8', '33'])} + {self.expr(0)}] = 1;")
        self.variables.append(k)


def random_kernel(seed: int) -> RandomKernel:
    """The kernel of this seed."""
    rng = random.Random(seed)
    writer = _Writer(rng)
    for _ in range(rng.choice([2, 3, 4])):
        writer.statement(2, loop=False)
    writer.access()
    body = "".join(f"  {line}\n" for line in writer.lines)
    params = {"n": rng.choice([5, 16, 29]), "m": rng.choice([3, 8, 11])}
    block, grid = rng.choice(BLOCKS), rng.choice(GRIDS)
    return RandomKernel(body, block, grid, params, writer.shuffles)
