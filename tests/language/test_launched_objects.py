"""Integers in objects that a launch passes by value, as their lists and assignments give them."""

from __future__ import annotations

from pathlib import Path

import pytest

import coalescecheck

SOURCE = """
struct Size {{ int w, h; }};
struct View {{ float *p; Size size; long long strides[3]; int n; }};
struct Made {{ int n; float *p; Made(float *q, int m) : n(2 * m), p(q) {{}} }};
struct Odd {{ static const int most = 9; int n; int twice() const {{ return 2 * n; }} float *p; }};
template <class T> struct Box {{ int n; T *p; }};
template <class T> struct Rest {{ int n; T *p; int m; }};
template <> struct Rest<float> {{ int m; float *p; int n; }};
struct Either {{ union {{ int i; float f; }}; int n; float *p; }};
struct Derived : Size {{ int d; }};
__global__ void k(View v) {{ v.p[threadIdx.x] = v.n; }}
__global__ void vector(float *a, int3 v) {{ a[threadIdx.x] = v.x; }}
__global__ void dims(float *a, dim3 v) {{ a[threadIdx.x] = v.x; }}
__global__ void odd(Odd v) {{ v.p[threadIdx.x] = v.n; }}
__global__ void either(Either v) {{ v.p[threadIdx.x] = v.n; }}
__global__ void box(Box<float> v) {{ v.p[threadIdx.x] = v.n; }}
__global__ void rest(Rest<float> v) {{ v.p[threadIdx.x] = v.n; }}
__global__ void made(Made v) {{ v.p[threadIdx.x] = v.n; }}
__global__ void derived(float *a, Derived v) {{ a[threadIdx.x] = v.d; }}
View elsewhere = {{nullptr, {{1, 2}}, {{3, 4, 5}}, 6}};
void fill(View &v);
void run(float *d, int m)
{{
    {body}
}}
"""
LIST = "{d, {1, 2}, {3, 4, 5}, 6}"
ALL = {"size.w": 1, "size.h": 2, "strides[0]": 3, "strides[1]": 4, "strides[2]": 5, "n": 6}

CASES: dict[str, tuple[str, dict[str, int]]] = {
    "a list": (f"View v{LIST}; k<<<1, 32>>>(v);", ALL),
    "after a sign": (f"View v = {LIST}; k<<<1, 32>>>(v);", ALL),
    "without a name": (f"k<<<1, 32>>>(View{LIST});", ALL),
    "by names": ("View v = {.p = d, .n = 7}; k<<<1, 32>>>(v);", {"n": 7}),
    "a part of it is not known": (
        "View v{d, {1, m}, {m, 4, 5}, m}; k<<<1, 32>>>(v);",
        {"size.w": 1, "strides[1]": 4, "strides[2]": 5}),
    "an assignment": ("View v; v.n = 7; k<<<1, 32>>>(v);", {"n": 7}),
    "the last one": ("View v; v.n = 7; v.n = 8; k<<<1, 32>>>(v);", {"n": 8}),
    "after a list": (
        f"View v{LIST}; v.n = 9; k<<<1, 32>>>(v);", {**ALL, "n": 9}),
    "one that may happen": (
        f"View v{LIST}; if (m) v.n = 9; k<<<1, 32>>>(v);",
        {name: value for name, value in ALL.items() if name != "n"}),
    "to an element": (
        f"View v{LIST}; v.strides[1] = m; k<<<1, 32>>>(v);",
        {name: value for name, value in ALL.items() if name != "strides[1]"}),
    "to any element": (
        f"View v{LIST}; v.strides[m] = 1; k<<<1, 32>>>(v);",
        {"size.w": 1, "size.h": 2, "n": 6}),
    "to what it is a part of": (
        f"View v{LIST}; Size s{{8, 9}}; v.size = s; k<<<1, 32>>>(v);",
        {name: value for name, value in ALL.items() if "size" not in name}),
    "a function may change it": (f"View v{LIST}; fill(v); k<<<1, 32>>>(v);", {}),
    "a function may change a member": (
        f"View v{LIST}; swap(v.n, m); k<<<1, 32>>>(v);",
        {name: value for name, value in ALL.items() if name != "n"}),
    "through its address": (
        f"View v{LIST}; memset(&v.n, 0, sizeof v.n); k<<<1, 32>>>(v);",
        {name: value for name, value in ALL.items() if name != "n"}),
    "to a whole array": (
        f"View v{LIST}; memcpy(v.strides, d, sizeof v.strides); k<<<1, 32>>>(v);",
        {"size.w": 1, "size.h": 2, "n": 6}),
    "to elements by reference": (
        f"View v{LIST}; swap(v.strides[0], v.strides[2]); k<<<1, 32>>>(v);",
        {name: value for name, value in ALL.items() if name not in ("strides[0]", "strides[2]")}),
    "to the next call's": (
        f"static View v{LIST}; k<<<1, 32>>>(v); v.n++;",
        {name: value for name, value in ALL.items() if name != "n"}),
    "another file may change it": ("k<<<1, 32>>>(elsewhere);", {}),
    "a vector": (
        "int3 v = make_int3(4, m, 6); vector<<<1, 32>>>(d, v);", {"x": 4, "z": 6}),
    "a vector's list": ("vector<<<1, 32>>>(d, int3{4, 5, 6});", {"x": 4, "y": 5, "z": 6}),
    "a vector's members": ("int3 v; v.y = 7; v.x = 3; vector<<<1, 32>>>(d, v);", {"x": 3, "y": 7}),
    "dimensions": ("dim3 v(4, 5); dims<<<1, 32>>>(d, v);", {"x": 4, "y": 5}),
    "between statics and methods": ("odd<<<1, 32>>>(Odd{3, d});", {"n": 3}),
    "behind an anonymous union": ("either<<<1, 32>>>(Either{1, 3, d});", {}),
    "a template": ("box<<<1, 32>>>(Box<float>{3, d});", {"n": 3}),
    "a specialised template": ("rest<<<1, 32>>>(Rest<float>{3, d, 4});", {}),
    "a constructor": ("made<<<1, 32>>>(Made{d, 3});", {}),
    "members of a base": ("Derived v{{1, 2}, 3}; derived<<<1, 32>>>(d, v);", {}),
}  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), CASES.values(), ids=CASES)
def test_integers_of_an_object(tmp_path: Path, body: str, expected: dict[str, int]) -> None:
    path = tmp_path / "k.cu"
    path.write_text(SOURCE.format(body=body))
    (launch,) = [
        kernel.launch
        for kernel in coalescecheck.analyze(path, verify=False).kernels
        if kernel.launch.source == "host"
    ]
    assert dict(launch.args) == {f"v.{name}": value for name, value in expected.items()}


def test_what_a_constructor_makes_of_a_moved_pointer(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(SOURCE.format(body="made<<<1, 32>>>(Made{d + 1, 3});"))
    (access,) = [
        a for k in coalescecheck.analyze(path).kernels for a in k.accesses if k.launch.grid
    ]
    assert access.sectors is not None
    assert (access.sectors.min, access.sectors.max) == (4, 5)
