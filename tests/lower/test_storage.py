"""Where objects live: the arrays of a kernel, and what becomes variables."""

from __future__ import annotations

import pytest
from written_kernels import VECTORS, kernel_c

from coalescecheck.errors import UnsupportedConstruct
from coalescecheck.ir.kernel import Array, Kernel, Space
from coalescecheck.lower import lower


def lowered(text: str, **options: dict[str, int]) -> Kernel:
    return lower(kernel_c(VECTORS + text), **options)


def kernel(body: str, params: str = "float *out, int n", extra: str = "") -> Kernel:
    return lowered(f"{extra}\n[[cuda::global]] void k({params}) {{ {body} }}")


def shape(array: Array) -> tuple[str, str, tuple[int, ...], int | None, int]:
    return (array.space.value, array.element, array.dims, array.size, array.align)


ARRAYS = {
    "a shared array": (
        "[[cuda::shared]] float s[32][33];",
        "s",
        ("shared", "float", (32, 33), 4224, 4),
    ),
    "a shared scalar": ("[[cuda::shared]] int total;", "total", ("shared", "int", (), 4, 4)),
    "an aligned shared array": (
        "[[cuda::shared]] _Alignas(16) float s[8];",
        "s",
        ("shared", "float", (8,), 32, 16),
    ),
    "a shared array of vectors": (
        "[[cuda::shared]] float4 s[2 * 8];",
        "s",
        ("shared", "float4", (16,), 256, 16),
    ),
    "dynamic shared memory": (
        "[[cuda::shared]] extern double s[];",
        "s",
        ("shared", "double", (), None, 16),
    ),
    "an extent from enumerators and sizeof": (
        "enum { N = 4 }; [[cuda::shared]] char s[N * sizeof(float3)][N + 1];",
        "s",
        ("shared", "char", (48, 5), 240, 1),
    ),
    "a large local array": ("float v[100]; v[n] = 1;", "v", ("local", "float", (100,), 400, 4)),
    "a local array with a variable subscript": (
        "float v[4]; v[n] = 1;",
        "v",
        ("local", "float", (4,), 16, 4),
    ),
    "a static local is device memory": (
        "static int seen[3]; seen[n] = 1;",
        "seen",
        ("global", "int", (3,), 12, 4),
    ),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_declared_arrays(name: str) -> None:
    body, array, expected = ARRAYS[name]
    declared = kernel(body).arrays[array]
    if declared.dynamic:
        assert declared.size is None
        declared = Array(**{**{f: getattr(declared, f) for f in declared.__slots__}, "dims": ()})
    assert shape(declared) == expected


def test_pointer_parameters_are_global_arrays() -> None:
    arrays = kernel(
        ";", "float *restrict out, const int *in, float4 **table, void *raw, float (*rows)[16]"
    ).arrays
    assert all(a.space == Space.GLOBAL and a.align == 256 and a.parameter for a in arrays.values())
    out, table = arrays["out"], arrays["table"]
    assert (out.element, out.element_size, out.restrict, out.const) == ("float", 4, True, False)
    assert (arrays["in"].element, arrays["in"].const) == ("int", True)
    assert (table.element_kind, table.element_size, table.pointee) == ("ptr", 8, "float4")
    assert (arrays["raw"].element_size, arrays["rows"].element) == (1, "float")


def test_parameter_structs_are_taken_apart() -> None:
    result = kernel(
        "out[s.inner.n] = s.data[s.sizes[n]];",
        "view s, float *out, int n",
        "typedef struct in_ { int n; float f; } in_;"
        "typedef struct view { float *data; in_ inner; int sizes[4]; } view;",
    )
    assert [p.name for p in result.params] == ["s.inner.n", "s.inner.f", "n"]
    assert result.arrays["s.data"].space == Space.GLOBAL
    sizes = result.arrays["s.sizes"]
    assert (sizes.space, sizes.parameter, sizes.dims) == (Space.CONSTANT, True, (4,))


def test_parameter_arrays_are_not_copied_when_passed_by_value() -> None:
    text = """
typedef struct view { float *data; int sizes[4]; } view;
static int size(view v, int i) { return v.sizes[i]; }
[[cuda::global]] void k(view s, float *out, int n) { view t = s; out[size(t, n)] = s.data[0]; }
"""
    result = lowered(text)
    assert {a.name: a.space.value for a in result.arrays.values()} == {
        "s.data": "global",
        "s.sizes": "constant",
        "out": "global",
    }
    assert [a.index for a in result.accesses] == ["s.data[0]", "v.sizes[i]", "out[size(t, n)]"]


def test_parameter_arrays_that_are_written_are_local_copies() -> None:
    text = """
typedef struct view { int sizes[2]; } view;
[[cuda::global]] void k(view s, float *out, int n) { s.sizes[n] += 1; out[s.sizes[0]] = 1; }
"""
    spaces = {a.name: a.space.value for a in lowered(text).arrays.values()}
    assert spaces == {"s.sizes": "constant", "s": "local", "out": "global"}


def test_all_dynamic_shared_arrays_are_one_memory() -> None:
    result = kernel(
        "[[cuda::shared]] extern float a[]; [[cuda::shared]] extern int b[]; a[n] = 1; b[n] = 2;"
    )
    shared = [a.name for a in result.arrays.values() if a.space == Space.SHARED]
    assert shared == ["a"]


def test_a_shared_array_of_an_inlined_function_exists_once() -> None:
    text = """
static void f(int i) { [[cuda::shared]] float s[8]; s[i] = i; }
static void g(int i) { [[cuda::shared]] float s[4]; s[i] = i; }
[[cuda::global]] void k(int n) { f(n); f(n + 1); g(n); }
"""
    sizes = {a.name: a.size for a in lowered(text).arrays.values()}
    assert sizes == {"s": 32, "s.1": 16}


def test_constant_and_device_memory() -> None:
    result = kernel(
        "out[0] = coef[n] + table[n] + scale + counter;",
        extra="[[cuda::constant]] float coef[3] = {1, 2.5f}; [[cuda::device]] float table[2][2];"
        "[[cuda::constant]] float scale; [[cuda::device]] int counter;",
    )
    spaces = {a.name: (a.space.value, a.dims) for a in result.arrays.values() if not a.parameter}
    assert spaces == {
        "coef": ("constant", (3,)),
        "table": ("global", (2, 2)),
        "scale": ("constant", ()),
        "counter": ("global", ()),
    }
    assert result.arrays["coef"].values == (1.0, 2.5, 0.0)


def test_free_template_values_are_parameters_and_make_sizes_unknown() -> None:
    result = kernel(
        "[[cuda::shared]] float s[BLOCK][BLOCK + 1]; s[n][1] = BLOCK;",
        extra="[[cuda::free]] extern const int BLOCK;",
    )
    assert [p.name for p in result.params] == ["BLOCK", "n"]
    assert (result.arrays["s"].size, result.arrays["s"].dims) == (None, ())


def test_a_pad_widens_the_innermost_dimension_of_a_shared_array() -> None:
    text = "[[cuda::global]] void k(int n) { [[cuda::shared]] float s[4][32]; s[n][0] = n; }"
    padded = lowered(text, pads={"s": 1})
    assert (padded.arrays["s"].dims, padded.arrays["s"].size) == ((4, 33), 528)
    assert lowered(text).arrays["s"].dims == (4, 32)


def test_pads_leave_other_arrays_alone() -> None:
    body = "[[cuda::shared]] float s[64]; float v[4][4]; v[n][n] = s[n];"
    text = f"[[cuda::global]] void k(int n) {{ {body} }}"
    padded = lowered(text, pads={"s": 1, "v": 1})
    assert (padded.arrays["s"].dims, padded.arrays["v"].dims) == ((64,), (4, 4))


IN_REGISTERS = {
    "short arrays of pointers": "float *b[2] = {out, out + 9}; b[n][1] = 1;",
    "structs and vectors": "float4 v = {1, 2, 3, 4}; v.x += v.y; out[0] = v.x;",
    "small arrays with constant subscripts": "float v[3] = {1, 2, 3}; v[1] += v[2]; out[0] = v[1];",
    "locals behind references": "int a = n; int *r = &a; *r += 1; out[a] = 1;",
    "const tables with constant subscripts": "const int d[2] = {3, 4}; out[d[1]] = 1;",
}


@pytest.mark.parametrize("name", IN_REGISTERS)
def test_no_memory_is_needed_for(name: str) -> None:
    result = kernel(IN_REGISTERS[name])
    assert list(result.arrays) == ["out"]
    assert [a.op.value for a in result.accesses] == ["store"]


IN_MEMORY = {
    "a variable read through another type": ("float f = n; out[*(int *)&f] = 1;", "f"),
    "a variable behind a pointer that moves": (
        "int a = n, b = 2; int *p = &a; p = &b; out[*p] = 1;",
        "b",
    ),
    "a union": ("union { int i; float f; } u; u.f = n; out[u.i] = 1;", "u"),
    "an array passed to a loop over it": (
        "int v[4] = {0}; for (int i = 0; i < 4; i++) out[v[i]] = 1;",
        "v",
    ),
}


@pytest.mark.parametrize("name", IN_MEMORY)
def test_local_memory_holds(name: str) -> None:
    body, array = IN_MEMORY[name]
    assert kernel(body).arrays[array].space == Space.LOCAL


REFUSED = {
    "a kernel without text": (None, "could not be rewritten"),
    "text that is not C": ("[[cuda::global]] void k(int n) { n = ; }", "not understood as C"),
    "a kernel that is not in the text": ("static void other(void) { }", "not in its own C text"),
    "an undeclared type": ("[[cuda::global]] void k(int n) { sizeof(struct_t); }", ""),
    "a jump into a block": (
        "[[cuda::global]] void k(int n) { goto in; if (n) { in: n = 1; } }",
        "jumps into a block",
    ),
}


@pytest.mark.parametrize("name", [n for n in REFUSED if n != "an undeclared type"])
def test_what_cannot_be_used_is_refused_with_its_place(name: str) -> None:
    text, message = REFUSED[name]
    source = kernel_c("" if text is None else text)
    if text is None:
        source = type(source)(**{**{f: getattr(source, f) for f in source.__slots__}, "text": None})
    with pytest.raises(UnsupportedConstruct) as caught:
        lower(source)
    assert message in caught.value.message
    assert caught.value.span.line == 1


def test_a_static_const_table_of_a_function_is_global_memory() -> None:
    """nvcc 13.0 declares it ".global" and reads it with ld.global.nc."""
    result = kernel("static const int t[4] = {3, 1, 4, 1}; out[t[n]] = 1;")
    assert (result.arrays["t"].space, result.arrays["t"].values) == (Space.GLOBAL, (3, 1, 4, 1))
