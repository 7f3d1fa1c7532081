"""Damage to texts: bytes, tokens and lines deleted, doubled, swapped, or taken from elsewhere.

In: a text, other texts to take pieces from, and a source of chance.  Out: another text.  The same
state of chance gives the same text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from random import Random

TOKEN = re.compile(rb"\s+|\w+|<<<|>>>|[^\w\s]", re.DOTALL)
NUMBER = re.compile(rb"\b\d[\w.]*")
NAME = re.compile(rb"\b[A-Za-z_]\w*")

NUMBERS = [
    *(b"0 1 -1 31 32 33 1024 1025 0x7fffffff 0x80000000 4294967296 -2147483648").split(),
    *(b"9223372036854775807 18446744073709551615 18446744073709551616 1<<70 1<<31 1/0").split(),
    *(b"1%0 1>>-1 1<<-1 1<<1000000 0b111111 077 08 0x 1e400 1e-400 0x1p5 .5f 1'000'000").split(),
    *(b"1ull<<63 99999999999999999999999999999999 ~0u -0 INT_MAX sizeof(int) 'a' '' NAN").split(),
]
WORDS = [
    *(b"int unsigned long float double half float4 char bool void const volatile struct").split(),
    *(b"class union enum namespace using typedef template typename auto static extern").split(),
    *(b"__global__ __device__ __host__ __shared__ __constant__ __restrict__ inline").split(),
    *(b"if else for while do switch case default break continue return goto throw try").split(),
    *(b"threadIdx blockIdx blockDim gridDim threadIdx.x warpSize __syncthreads() asm new").split(),
    *(b"this operator sizeof alignof decltype constexpr __launch_bounds__(256) #include").split(),
    *(b"#define #if #endif #else #undef #pragma __VA_ARGS__ __LINE__ defined // /* */").split(),
    *(b"\" ' \\ ( ) [ ] { } < > ; , . -> :: ? : = == += -- ++ & && | ! ~ % / ## # @ $ `").split(),
    *(b"<<<1<<70,1>>> <<<0,0>>> <<<n,m>>> <<<dim3(1,2,3),dim3(2048)>>> [[nodiscard]]").split(),
]
BYTES = [
    *(b"\0", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xfe\xff", b"\x1b[31m"),
    *(b"\r", b"\r\n", b"\n", b"\\\n", b"??/\n", b"\x0c", b"\x1a", b"\t", b"\x7f", b"\x85"),
    *("\u202e\u2028\u00a0\u3000\u0660\u00e9\U0001f600\u0301\u00df\ufeff\u2460".encode(),),
]

Change = Callable[[bytes, Sequence[bytes], Random], bytes]


def mutated(text: bytes, others: Sequence[bytes], chance: Random, *, most: int = 4) -> bytes:
    """``text`` after one to ``most`` changes."""
    for _ in range(chance.randint(1, most)):
        text = chance.choice(CHANGES)(text, others, chance)
    return text


def damaged(text: bytes, chance: Random) -> bytes:
    """``text`` after changes that know only of bytes."""
    for _ in range(chance.randint(1, 3)):
        text = chance.choice((_byte, _cut, _bytes_in, _bytes_out))(text, (), chance)
    return text


# --- bytes ------------------------------------------------------------------------------------


def _byte(text: bytes, others: Sequence[bytes], chance: Random) -> bytes:
    at = chance.randrange(len(text) + 1)
    return text[:at] + bytes([chance.randrange(256)]) + text[at + 1 :]


def _cut(text: bytes, others: Sequence[bytes], chance: Random) -> bytes:
    return text[: chance.randrange(len(text) + 1)]


def _bytes_in(text: bytes, others: Sequence[bytes], chance: Random) -> bytes:
    at = chance.randrange(len(text) + 1)
    return text[:at] + chance.choice(BYTES) * chance.choice((1, 1, 3)) + text[at:]


def _bytes_out(text: bytes, others: Sequence[bytes], chance: Random) -> bytes:
    at = chance.randrange(len(text) + 1)
    return text[:at] + text[at + chance.choice((1, 2, 20)) :]


# --- tokens and lines -------------------------------------------------------------------------


def _pieces(text: bytes, chance: Random) -> list[bytes]:
    if chance.random() < 0.3:
        return text.splitlines(keepends=True) or [b""]
    return TOKEN.findall(text) or [b""]


def _piece_out(text: bytes, others: Sequence[bytes], chance: Random) -> bytes:
    pieces = _pieces(text, chance)
    at = chance.randrange(len(pieces))
    del pieces[at : at + chance.choice((1, 1, 1, 4))]
    return b"".join(pieces)


def _piece_doubled(text: bytes, others: Sequence[bytes], chance: Random) -> bytes:
    pieces = _pieces(text, chance)
    at = chance.randrange(len(pieces))
    pieces[at : at + 1] = [pieces[at]] * chance.choice((2, 2, 2, 3, 40))
    return b"".join(pieces)


def _pieces_swapped(text: bytes, others: Sequence[bytes], chance: Random) -> bytes:
    pieces = _pieces(text, chance)
    a, b = chance.randrange(len(pieces)), chance.randrange(len(pieces))
    pieces[a], pieces[b] = pieces[b], pieces[a]
    return b"".join(pieces)


def _spliced(text: bytes, others: Sequence[bytes], chance: Random) -> bytes:
    """A run of another text, in place of nothing or of a run of this one."""
    other = _pieces(chance.choice(others or (text,)), chance)
    start, length = chance.randrange(len(other)), chance.choice((1, 3, 10, 40))
    pieces = _pieces(text, chance)
    at = chance.randrange(len(pieces))
    pieces[at : at + chance.choice((0, 0, 1, length))] = other[start : start + length]
    return b"".join(pieces)


def _word(text: bytes, others: Sequence[bytes], chance: Random) -> bytes:
    pieces = TOKEN.findall(text) or [b""]
    at = chance.randrange(len(pieces))
    new = b" " + chance.choice(WORDS) + b" "
    pieces[at] = new if chance.random() < 0.5 else pieces[at] + new
    return b"".join(pieces)


def _another(pattern: re.Pattern[bytes], pool: Sequence[bytes]) -> Change:
    def change(text: bytes, others: Sequence[bytes], chance: Random) -> bytes:
        found = list(pattern.finditer(text))
        if not found:
            return text
        match = chance.choice(found)
        own = [each[0] for each in found]
        new = chance.choice(pool if chance.random() < 0.6 else own)
        return text[: match.start()] + new + text[match.end() :]

    return change


def _wrapped(text: bytes, others: Sequence[bytes], chance: Random) -> bytes:
    """A token inside many brackets."""
    pieces = TOKEN.findall(text) or [b""]
    at, depth = chance.randrange(len(pieces)), chance.choice((1, 5, 50, 500, 5000))
    opened, closed = chance.choice(
        ((b"(", b")"), (b"{", b"}"), (b"[", b"]"), (b"-", b""), (b"a<", b">"))
    )
    missing = chance.choice((0, 0, 1))
    pieces[at] = opened * depth + pieces[at] + closed * (depth - missing)
    return b"".join(pieces)


CHANGES: tuple[Change, ...] = (
    *(_byte, _cut, _bytes_in, _bytes_out),
    *(_piece_out, _piece_doubled, _pieces_swapped, _spliced, _wrapped) * 2,
    *(_word, _another(NUMBER, NUMBERS), _another(NAME, WORDS)) * 3,
)
