"""Pointers that a launch takes from where they were stored: of those that do not point to the start
of an allocation every alignment counts.

32 floats side by side are 4 sectors from a sector's start, else 5.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import coalescecheck

SOURCE = """
#include <vector>
struct Pair {{ int n; float *p, *q; }};
struct View {{ Pair pair; float *parts[3]; }};
__global__ void k(float *a) {{ a[threadIdx.x] = 1; }}
struct Both {{ float x; }};
__global__ void both(Both *a) {{ a[threadIdx.x].x = 1; }}
__global__ void pair(Pair s) {{ s.q[threadIdx.x] = 1; }}
__global__ void view(View v) {{ v.{member}[threadIdx.x] = 1; }}
float *start(float *p) {{ return p; }}
float *half(float *p, int n) {{ return p + n / 2; }}
struct Buffer {{
    float *d; int at; float *begin() {{ return d; }} float *now() {{ return d + at; }}
}};
void run(float *d, Buffer b, int n)
{{
    {body}
}}
"""

MOVED = {
    "an element of an array": "float *q[2] = {d, d + 1}; k<<<1, 32>>>(q[1]);",
    "one that was assigned": "float *q[2]; q[0] = d; q[1] = d + 3; k<<<1, 32>>>(q[n]);",
    "through a pointer to it": "float *q[] = {d + 1}, **r = q; k<<<1, 32>>>(*r);",
    "of a vector": "std::vector<float *> v; v.push_back(d + 1); k<<<1, 32>>>(v[0]);",
    "of a range": "float *q[2] = {d, d + 1}; for (float *e : q) k<<<1, 32>>>(e);",
    "a row": "float (*m)[10] = (float (*)[10])d; k<<<1, 32>>>(m[3]);",
    "a member": "Pair s; s.p = d; s.q = d + 3; k<<<1, 32>>>(s.q);",
    "what a function returns": "k<<<1, 32>>>(half(d, 6));",
    "what a method returns": "k<<<1, 32>>>(b.now());",
    "what a lambda returns": "auto f = [&](int o) { return d + o; }; k<<<1, 32>>>(f(3));",
    "in an object": "Pair s; s.p = d; s.q = d + 3; pair<<<1, 32>>>(s);",
    "in an object's list": "Pair s{3, d, d + 1}; pair<<<1, 32>>>(s);",
    "in a list by names": "Pair s = {.p = d, .q = d + 1}; pair<<<1, 32>>>(s);",
    "in an object without a name": "pair<<<1, 32>>>(Pair{3, d, d + 1});",
    "that takes a step in an object": "Pair s{3, d, d}; s.q++; pair<<<1, 32>>>(s);",
    "in a list for a parameter": "pair<<<1, 32>>>({3, d, d + 1});",
    "of another type": "both<<<1, 32>>>((Both *)(d + 1));",
    "in an inner object": "View v{{3, d, d + 1}, {d, d, d}}; view<<<1, 32>>>(v);",
}
WHOLE = {
    "an element of an array": "float *q[2] = {d, d}; k<<<1, 32>>>(q[1]);",
    "a member": "Pair s; s.p = d + 1; s.q = d; k<<<1, 32>>>(s.q);",
    "what a function returns": "k<<<1, 32>>>(start(d));",
    "what a method returns": "k<<<1, 32>>>(b.begin());",
    "a whole number of lines": "Pair s; s.q = d + 64; k<<<1, 32>>>(s.q);",
    "lines of another type": "both<<<1, 32>>>((Both *)(d + 128));",
    "lines in an object": "pair<<<1, 32>>>(Pair{3, d + 1, d + 1024});",
    "a function nobody sees": "k<<<1, 32>>>(elsewhere(d + 1));",
    "in an object": "Pair s; s.p = d + 3; s.q = d; pair<<<1, 32>>>(s);",
    "in an object's list": "Pair s{3, d + 1, d}; pair<<<1, 32>>>(s);",
    "in an inner object": "View v{{3, d + 1, d}, {d, d, d}}; view<<<1, 32>>>(v);",
}


def sectors(folder: Path, body: str, member: str = "pair.q") -> tuple[int, int]:
    path = folder / "k.cu"
    path.write_text(SOURCE.format(body=body, member=member))
    (found,) = [
        access
        for kernel in coalescecheck.analyze(path).kernels
        for access in kernel.accesses
        if kernel.launch.source == "host"
    ]
    assert found.sectors is not None
    return found.sectors.min, found.sectors.max


@pytest.mark.parametrize("body", MOVED.values(), ids=MOVED)
def test_a_pointer_that_was_moved(tmp_path: Path, body: str) -> None:
    assert sectors(tmp_path, body) == (4, 5)


@pytest.mark.parametrize("body", WHOLE.values(), ids=WHOLE)
def test_a_pointer_to_the_start_of_an_allocation(tmp_path: Path, body: str) -> None:
    assert sectors(tmp_path, body) == (4, 4)


@pytest.mark.parametrize(("element", "counts"), [(0, (4, 4)), (1, (4, 5))])
def test_each_pointer_of_an_array_in_an_object(
    tmp_path: Path, element: int, counts: tuple[int, int]
) -> None:
    body = "View v{{3, d, d}, {d, d + 1, d}}; view<<<1, 32>>>(v);"
    assert sectors(tmp_path, body, f"parts[{element}]") == counts
