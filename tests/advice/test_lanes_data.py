"""Vectors for neighbours and arrays for members, with sectors counted by hand.

32 lanes that step 16 bytes span 512 bytes, 16 sectors; side by side 32 floats fill 4, 32 doubles
8, and 32 float4 16 sectors.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from trying import analysed, helping, numbers

from coalescecheck.analysis import KernelAnalysis

KERNEL = """
struct Point {{ float x, y, z, w; }};
struct Mixed {{ double a; float b; }};
struct Wide {{ float a; float rest[7]; }};
// coalescecheck: block(256) grid(16) n=4
__global__ void f(float *out, const float *in, Point *p, Mixed *m, Wide *v, const int *list,
                  int n, int k)
{{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    {body}
}}
"""


def f(folder: Path, body: str) -> KernelAnalysis:
    return analysed(folder, KERNEL.format(body=body))


# --- vectors ----------------------------------------------------------------------------------

FOUR = "out[4 * i] = 0; out[4 * i + 1] = 1; out[4 * i + 2] = 2; out[4 * i + 3] = 3;"


def test_four_stores_are_one(tmp_path: Path) -> None:
    found = f(tmp_path, FOUR)
    assert set(numbers(found, "vector").values()) == {(64, 16)}
    trial = helping(found, "vector")
    assert trial is not None
    assert len(trial.before) == 4
    assert trial.change == "one `float4` for 4 accesses"


@pytest.mark.parametrize(
    ("body", "pair"),
    [
        pytest.param("out[2 * i] = 0; out[2 * i + 1] = 1;", (16, 8), id="two floats"),
        pytest.param(
            "float a = in[4 * i], b = in[4 * i + 3], c = in[i * 4 + 1], d = in[2 + i * 4];"
            "out[i] = a + b + c + d;",
            (64, 16),
            id="loads in any order",
        ),
        pytest.param(
            "const float *q = in + 4 * i; out[i] = q[0] + q[1] + q[2] + q[3];",
            (64, 16),
            id="through a pointer",
        ),
        pytest.param(
            "int s = i * n; out[s] = 0; out[s + 1] = 0; out[s + 2] = 0; out[s + 3] = 0;",
            (64, 16),
            id="a known parameter",
        ),
        pytest.param(
            "for (int j = 4 * i; j < 8192; j += 4 * blockDim.x * gridDim.x)"
            "{ out[j] = 0; out[j + 1] = 0; out[j + 2] = 0; out[j + 3] = 0; }",
            (64, 16),
            id="a loop whose counter stays a multiple of four",
        ),
        pytest.param(
            "int *o = (int *)out; o[4 * i + 4] = 0; o[4 * i + 5] = 0; o[4 * i + 6] = 0;"
            "o[4 * i + 7] = 0;",
            (68, 17),  # half a sector at both ends
            id="one vector further",
        ),
    ],
)
def test_neighbours(tmp_path: Path, body: str, pair: tuple[float, float]) -> None:
    assert set(numbers(f(tmp_path, body), "vector").values()) == {pair}


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("out[2 * i + 1] = 0; out[2 * i + 2] = 0;", id="not aligned"),
        pytest.param("out[k * i] = 0; out[k * i + 1] = 0;", id="the distance is not known"),
        pytest.param("out += k; out[2 * i] = 0; out[2 * i + 1] = 0;", id="an unknown start"),
        pytest.param(
            "int j = 2 * i; for (int t = 0; t < 2; t++) { out[j] = 0; out[j + 1] = 0; j += 5; }",
            id="a counter that does not stay a multiple",
        ),
        pytest.param("out[4 * i] = 0; out[4 * i + 2] = 0;", id="a gap"),
        pytest.param("out[2 * i] = 0; __syncthreads(); out[2 * i + 1] = 0;", id="a barrier"),
        pytest.param("out[2 * i] = 0; if (k) out[2 * i + 1] = 0;", id="a condition"),
        pytest.param("out[3 * i] = 0; out[3 * i + 1] = 0; out[3 * i + 2] = 0;", id="three"),
        pytest.param("out[2 * i] = 0; out[2 * i + 1] = out[k];", id="a load in between"),
        pytest.param("out[2 * i] = 0; out[k] = 1; out[2 * i + 1] = 0;", id="a store in between"),
        pytest.param(
            "int j = 2 * i; out[j] = 0; j = 2 * i + 2; out[j + 1] = 0;", id="another index"
        ),
        pytest.param(
            "k += 2; out[k * i] = 0; out[k * i + 1] = 0;", id="a parameter that is changed"
        ),
        pytest.param(
            "volatile float *o = out; o[2 * i] = 0; o[2 * i + 1] = 0;", id="volatile memory"
        ),
    ],
)
def test_no_vector(tmp_path: Path, body: str) -> None:
    assert helping(f(tmp_path, body), "vector") is None


# --- members ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param("out[i] = p[i].x;", {"load p[i].x": (16, 4)}, id="a float of 16 bytes"),
        pytest.param(
            "m[i].a = m[i].b;",
            {"load m[i].b": (16, 4), "store m[i].a": (16, 8)},
            id="a double and a float",
        ),
        pytest.param("out[i] = v[i].a;", {"load v[i].a": (32, 4)}, id="a sector per element"),
        pytest.param("Point q = p[i]; out[i] = q.x;", {"load p[i]": (16, 4)}, id="a whole struct"),
        pytest.param("Point *q = p + i; q->y = 0;", {"store q->y": (16, 4)}, id="by a pointer"),
        pytest.param(
            "out[i] = p[i + 1].x;", {"load p[i + 1].x": (17, 5)}, id="one element further"
        ),
        pytest.param("out[i] = p[0].x + p[i].y;",
            {"load p[0].x": (1, 1), "load p[i].y": (16, 4)}, id="an element for all lanes"),
    ],
)  # fmt: skip
def test_members(tmp_path: Path, body: str, expected: dict[str, tuple[float, float]]) -> None:
    assert numbers(f(tmp_path, body), "layout") == expected


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("out[i] = p[i].x + ((float *)p)[i];", id="another view of the array"),
        pytest.param("out[i] = p[i].x + ((double *)(p + i))[1];", id="two members at once"),
        pytest.param("out[i] = v[i].a + v[i].rest[i % 7];", id="an array inside"),
        pytest.param("out[i] = p[i].x + p[list[i]].y;", id="a gather may find a whole element"),
        pytest.param(
            "Point *q = p; for (int t = 0; t < 4; t++) { out[i] = q[i].x; q += t; }",
            id="a pointer that moves",
        ),
        pytest.param(
            "Point *q = p; int s = i; for (int t = 0; t < 3; t++)"
            "{ if (t == 0) q = p + s; s = 2 * i; out[i] += q->x; }",
            id="a pointer of which it is not known when it was set",
        ),
    ],
)
def test_no_arrays_of_members(tmp_path: Path, body: str) -> None:
    assert helping(f(tmp_path, body), "layout") is None


def test_struct_of_arrays_says_what_to_do(tmp_path: Path) -> None:
    trial = helping(f(tmp_path, "out[i] = p[i].x;"), "layout")
    assert trial is not None
    assert trial.description == "store `p` as one array per member of `Point`"
    assert trial.change == "one array per member of `Point`"
