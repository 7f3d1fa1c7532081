"""Lowered C computes what gcc computes: integer types, effects, control flow, aggregates.

The same text is compiled by gcc (unknown attributes are ignored) and run by the IR interpreter
of this folder; both write ``out`` from ``in`` and ``n``.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path

import pytest

from coalescecheck.lower import lower
from ir_machine import Machine
from written_kernels import VECTORS, kernel_c

SIZE = 64
INPUT = [(7 * i * i + 3 * i - 50) % 201 - 100 for i in range(SIZE)]

HEADER = (
    VECTORS
    + """
typedef struct pair { int a; int b; } pair;
typedef struct tagged { char c; double d; short s; } tagged;
typedef struct bits { unsigned lo : 3; int mid : 5; unsigned hi : 7; } bits;
typedef struct held { int v[3]; pair p; } held;
typedef union word { int i; float f; unsigned char b[4]; } word;
static int twice(int x) { return 2 * x; }
static int sign(int x) { if (x < 0) return -1; if (x > 0) return 1; return 0; }
static int find(const int *p, int n, int x) { for (int i = 0; i < n; i++) { if (p[i] == x) return i; } return -1; }
static void swap(int *a, int *b) { int t = *a; *a = *b; *b = t; }
static pair make(int a, int b) { return (pair){a, b}; }
static pair turn(pair p) { return (pair){p.b, p.a}; }
static int total(const int *v, int n) { int s = 0; for (int i = 0; i < n; i++) s += v[i]; return s; }
static void grow(pair *self, int by) { self->a += by; self->b -= by; }
enum { FIRST = 3, SECOND, THIRD = FIRST * 10 };
"""
)

CASES = {
    "signed and unsigned comparison converts to unsigned": "out[0] = -1 < 1u; out[1] = -1 < 1;",
    "narrow types are promoted to int": "unsigned char c = 200; c += 100; out[0] = c; out[1] = c * 3;",
    "signed char wraps on assignment": "signed char c = n * 40; out[0] = c;",
    "division and remainder truncate toward zero": "out[0] = in[0] / 7; out[1] = in[0] % 7; out[2] = -7 / 2; out[3] = -7 % 2;",
    "shifts keep the promoted left type": "out[0] = (unsigned char)255 << 4; out[1] = in[0] >> 3; out[2] = ((unsigned)in[0]) >> 28;",
    "long arithmetic does not wrap at 32 bits": "long big = 1000000L * 1000000; out[0] = big / 1000003; out[1] = (int)(big % 977);",
    "int arithmetic feeds long by sign": "int a = in[0]; long b = a; out[0] = b * 4000000000L / 1000000000;",
    "unsigned wraps": "unsigned u = n; u -= 100; out[0] = u > 1000; out[1] = (int)(u / 3);",
    "literals have the C types": "out[0] = sizeof(1) + 10 * sizeof(1L) + 100 * sizeof('a' + 0) + sizeof(0x80000000); out[1] = 0x80000000 > 0; out[2] = -2147483648 < 0;",
    "octal, hex, binary and character constants": "out[0] = 010 + 0x1f + 0b101 + '\\n' + 'z' + '\\x41' + '\\0';",
    "enumerators count on": "out[0] = FIRST + SECOND * 10 + THIRD * 100;",
    "pre and post increment": "int i = 3; out[0] = i++; out[1] = ++i; out[2] = i--; out[3] = --i;",
    "post increment as subscript": "int i = 0; out[i++] = in[5]; out[i++] = in[6]; out[i] = i;",
    "pointer walks with post increment": "int *p = out; const int *q = in + 4; *p++ = *q++; *p++ = *q++; *p = (int)(q - in);",
    "pointer walks backwards": "const int *q = &in[9]; out[0] = *--q; q -= 2; out[1] = *q; out[2] = q[-1];",
    "pointers compare": "const int *a = in + 2, *b = &in[5]; out[0] = a < b; out[1] = a == b; out[2] = b - a; out[3] = a != 0;",
    "compound assignment reads and writes": "out[0] = 5; out[0] += in[1]; out[0] *= 3; out[1] = 40; out[1] <<= 2; out[1] ^= 9; out[1] %= 50;",
    "assignments nest and have values": "int a, b; out[0] = a = b = in[2]; out[1] = a + b;",
    "a narrowing assignment's value is narrowed": "char c; int a; a = c = in[3] * 5; out[0] = a;",
    "comma evaluates in order": "int a = 1; int b = (a += 2, a * 10); out[0] = b;",
    "and does not evaluate its right side": "int i = 0; int r = in[0] > 1000 && out[i++] == 0; out[1] = i; out[2] = r;",
    "or does not evaluate its right side": "int i = 0; int r = n > 0 || in[i++] > 0; out[0] = i; out[1] = r; r = n < 0 || ++i; out[2] = i + r;",
    "conditional expressions load one side": "out[0] = n > 3 ? in[1] : in[2]; out[1] = n > 300 ? in[1] : in[2];",
    "conditional expressions convert to a common type": "out[0] = (n > 3 ? -1 : 1u) > 0; unsigned char c = 255; out[1] = n ? c : -1;",
    "conditional lvalue through pointers": "int a = 1; int *p = out, *q = out + 1; *(n > 3 ? p : q) = 7; *(n < 3 ? p : q) = 8; out[2] = a;",
    "conditional between addresses of locals": "int a = 1, b = 2; int *p = n > 3 ? &a : &b; *p += 5; out[0] = a; out[1] = b;",
    "logical not and double negation": "out[0] = !n; out[1] = !!n; out[2] = !in; out[3] = -!0;",
    "bool holds zero or one": "bool b = 256; out[0] = b; b = in[0] & 6; out[1] = b + b;",
    "while with an effect in the condition": "int i = 10, s = 0; while (i--) { if (i == 4) continue; if (i == 1) break; s += in[i]; } out[0] = s; out[1] = i;",
    "for with a load in the condition": "int i; for (i = 0; in[i] != in[20] && i < 40; i++) out[1] += i; out[0] = i;",
    "do while runs once": "int i = 0; do { i += 2; if (i == 4) continue; out[1] += i; } while (i < 9); out[0] = i;",
    "do while zero with break": "do { if (n > 3) break; out[0] = 1; } while (0); out[1] = 2;",
    "nested loops with continue and break": "for (int i = 0; i < 5; i++) { for (int j = 0; j < 5; j++) { if (j > i) break; if ((i + j) % 2) continue; out[i] += in[j]; } }",
    "switch chooses a case": "for (int i = 0; i < 6; i++) { switch (i) { case 0: out[i] = 10; break; case 2: case 3: out[i] = 20; break; default: out[i] = 30; } }",
    "switch falls through": "for (int i = 0; i < 6; i++) { switch (i) { case 1: out[i] += 1; case 2: out[i] += 2; break; case 3: out[i] += 4; default: out[i] += 8; case 4: out[i] += 16; } }",
    "switch default in front": "for (int i = 0; i < 4; i++) { switch (i) { default: out[i] += 1; case 1: out[i] += 2; break; case 2: out[i] = 9; } }",
    "switch with break and continue inside an if": "for (int i = 0; i < 6; i++) { switch (i % 3) { case 0: if (i) break; out[i] = 5; case 1: if (i == 4) continue; out[i] += 2; } out[i] += 100; }",
    "switch without a match does nothing": "switch (n) { case 1: out[0] = 1; } out[1] = 2;",
    "goto leaves nested loops": "int i, j; for (i = 0; i < 5; i++) for (j = 0; j < 5; j++) if (i * j == 6) goto found; out[2] = 1; found: out[0] = i; out[1] = j;",
    "goto repeats": "int i = 0; again: i += 3; out[i] = i; if (i < 10) goto again; out[0] = i;",
    "goto to the end of the function": "if (n > 3) goto done; out[0] = 1; done: ;",
    "labels of one block in a row": "if (in[0] > 0) goto one; if (in[0] < 0) goto two; out[0] = 1; one: out[1] = 2; two: out[2] = 3;",
    "labels between a loop of gotos": "int i = 0; top: i++; if (i == 3) goto out_; if (i > 50) goto end; out[i] = i; goto top; out_: out[40] = 1; end: out[41] = i;",
    "an early return ends the kernel": "out[0] = 1; if (n > 3) return; out[1] = 2;",
    "early returns of a function": "out[0] = sign(-5); out[1] = sign(n); out[2] = sign(0);",
    "return from inside a loop": "out[0] = find(in, 40, in[17]); out[1] = find(in, 10, 12345);",
    "calls nest": "out[0] = twice(twice(n) + sign(in[3]));",
    "pointers to locals alias them": "int a = in[0], b = in[1]; swap(&a, &b); out[0] = a; out[1] = b;",
    "pointers to memory are passed on": "out[0] = 3; out[1] = 4; swap(&out[0], out + 1);",
    "a kept pointer to a local": "int a = 5; int *p = &a; *p += n; a *= 2; out[0] = *p; out[1] = a;",
    "a pointer to a local that is assigned again": "int a = 5, b = 6; int *p = &a; *p = 7; p = &b; *p = 8; out[0] = a; out[1] = b;",
    "a pointer to a pointer": "int a = 1, b = 2; int *p = &a; int **pp = &p; **pp = 3; *pp = &b; *p = 4; out[0] = a; out[1] = b;",
    "structs are copied and swapped through literals": "pair p = {1, 2}, q = p; q.a = 9; p = (pair){p.b, p.a}; out[0] = p.a; out[1] = p.b; out[2] = q.a; out[3] = turn(turn(q)).a;",
    "structs by value and by pointer": "pair p = make(n, 2 * n); grow(&p, 3); pair *q = &p; q->a *= 2; out[0] = p.a; out[1] = q->b; out[2] = make(4, 5).b;",
    "structs through ?:": "pair p = {1, 2}, q = {3, 4}; pair r = n > 3 ? p : q; out[0] = r.a; out[1] = (n > 300 ? p : q).b;",
    "structs in memory": "pair *p = (pair *)out; p[1] = make(5, 6); p[2] = p[1]; p[2].b += 1; pair l = p[2]; out[0] = l.a + l.b;",
    "sizeof and layout of mixed members": "out[0] = sizeof(tagged); out[1] = sizeof(tagged[3]); out[2] = sizeof(float4) + sizeof(uchar3) + sizeof(held) + sizeof(bits);",
    "designated and partial initialisers": "pair p = {.b = 4}; int v[5] = {1, [3] = 7, 8}; int w[] = {5, 6, 7}; held h = {{1, 2}, {3, 4}}; held g = {1, 2, 3, 4, 5}; out[0] = p.a + p.b; out[1] = v[1] + v[3] * 10 + v[4]; out[2] = sizeof(w); out[3] = h.v[1] + h.v[2] + h.p.b; out[4] = g.v[2] + g.p.a;",
    "local arrays with constant subscripts": "int v[3]; v[0] = in[0]; v[1] = v[0] * 2; v[2] = v[1] + v[0]; out[0] = v[2];",
    "local arrays with variable subscripts": "int v[8]; for (int i = 0; i < 8; i++) v[i] = in[i] * i; out[0] = v[n % 8]; out[1] = total(v, 8); out[2] = *(v + 2);",
    "two-dimensional local arrays": "int v[3][4]; for (int i = 0; i < 3; i++) for (int j = 0; j < 4; j++) v[i][j] = 10 * i + j; int *row = v[1]; out[0] = v[2][3] + row[2]; out[1] = total(v[0], 12); out[2] = sizeof(v[0]);",
    "large local arrays": "int v[100]; for (int i = 0; i < 100; i++) v[i] = i; out[0] = v[99] + v[n];",
    "const tables": "const int dx[4] = {1, 0, -1, 0}; static const int t[3] = {5, 6, 7}; for (int i = 0; i < 4; i++) out[i] = dx[i] + t[i % 3];",
    "an array inside a local struct": "held h = {{1, 2, 3}}; for (int i = 0; i < 3; i++) h.v[i] += i; held g = h; g.v[0] = 50; out[0] = total(h.v, 3); out[1] = g.v[0] + g.v[2];",
    "unions share bytes": "word w; w.f = 1.0f; out[0] = w.i; w.i = n; out[1] = w.b[0];",
    "bit casts through pointers": "float f = 2.5f; out[0] = *(int *)&f; unsigned u = 7; out[1] = ((unsigned char *)&u)[0];",
    "bit-fields in locals": "bits b = {9, -3, 100}; b.lo += 7; b.mid -= 20; out[0] = b.lo; out[1] = b.mid; out[2] = b.hi;",
    "bit-fields in memory": "bits *b = (bits *)out; b[1].lo = 5; b[1].mid = -7; b[1].hi = 77; out[0] = b[1].mid; out[2] = b[1].lo + b[1].hi;",
    "float arithmetic": "float f = in[0] / 4.0f; double d = f * 3; out[0] = d * 100; out[1] = (int)(1.0f / 3 * 1e6f); out[2] = 7 / 2 * 2.0;",
    "float comparisons and truth": "float f = 0.5f; out[0] = f > 0.25; out[1] = f ? 1 : 2; out[2] = !f; out[3] = f == 0.5;",
    "shadowed names": "int a = 1; { int a = 2; out[0] = a; { int a = 3; out[1] = a; } } out[2] = a; for (int a = 5; a < 6; a++) out[3] = a;",
    "a local typedef and enum": "typedef short tiny; enum { K = 6 }; tiny t = 70000; out[0] = t + K;",
    "inferred types": "auto a = in[0] * 2L; auto p = in + 3; out[0] = sizeof(a); out[1] = *p;",
    "subscripts swap": "out[0] = 3[in]; int v[2] = {4, 5}; out[1] = 1[v];",
    "parameters can be assigned": "n = n / 2; in += 4; out++; out[0] = n; out[1] = in[0];",
    "memcpy of whole objects": "int v[4]; __builtin_memcpy(v, in, 16); out[0] = v[3]; pair p; __builtin_memcpy(&p, in, sizeof(p)); out[1] = p.b;",
    "void casts and expression statements": "(void)in[2]; in[3]; n; out[0] = n;",
    "integer min and abs written out": "int d = in[0] - in[1]; out[0] = d < 0 ? -d : d; out[1] = in[0] < in[1] ? in[0] : in[1];",
    "dead branches are not needed": "if (sizeof(int) == 8) out[0] = 1; else out[0] = 2; while (0) out[1] = 3; out[2] = 1 ? 5 : in[n];",
}  # fmt: skip


def _function(index: int, body: str) -> str:
    return f"[[cuda::global]] void k{index}(int *out, const int *in, int n) {{ {body} }}\n"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    compiler = shutil.which("gcc")
    if compiler is None:
        pytest.skip("gcc is not installed")
    folder: Path = tmp_path_factory.mktemp("gcc")
    source = folder / "kernels.c"
    source.write_text(HEADER + "".join(_function(i, body) for i, body in enumerate(CASES.values())))
    target = folder / "kernels.so"
    newer = ["-Dbool=_Bool", "-Dtrue=1", "-Dfalse=0", "-Dauto=__auto_type"]  # gcc 12 lacks them
    flags = [*newer, "-std=c2x", "-w", "-O0", "-fwrapv", "-fno-strict-aliasing", "-shared", "-fPIC"]
    subprocess.run([compiler, *flags, "-o", str(target), str(source)], check=True)
    return ctypes.CDLL(str(target))


@pytest.mark.parametrize("name", CASES)
def test_lowered_code_computes_what_gcc_computes(name: str, library: ctypes.CDLL) -> None:
    index = list(CASES).index(name)
    out, values = (ctypes.c_int * SIZE)(), (ctypes.c_int * SIZE)(*INPUT)
    getattr(library, f"k{index}")(out, values, ctypes.c_int(11))

    kernel = lower(kernel_c(HEADER + _function(index, CASES[name]), f"k{index}"))
    memory = {"out": bytearray(4 * SIZE), "in": bytearray(values)}
    Machine(kernel, memory, {"n": 11}).run()

    assert not kernel.diagnostics
    assert list((ctypes.c_int * SIZE).from_buffer(memory["out"])) == list(out)
