"""CC108: silent on what each block reads once, and on what no tile would help."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from analysed import findings, said
from coalescecheck import rules
from coalescecheck.analysis import AccessResult, ArrayTraffic, Total, Touched
from coalescecheck.findings import Finding
from hand_made import access, kernel

KERNEL = """
// coalescecheck: block(16,16) grid(8,8) n=128
__global__ void k(float *out, const float *a, const float *b, int n)
{{
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = blockIdx.x * 16 + tx, y = blockIdx.y * 16 + ty;
    float s = 0.0f;
    {body}
    out[y * n + x] {store} s;
}}
"""


def text(body: str, store: str = "=") -> str:
    return KERNEL.format(body=body, store=store)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("s = a[y * n + x];", id="each element once"),
        pytest.param(
            "s = a[y * n + x] + a[y * n + x + 1] + a[y * n + n + x];", id="three neighbours"
        ),
        pytest.param(
            "for (int k = 0; k < n; ++k) s += a[y * n + x] * k;", id="what a register would hold"
        ),
        pytest.param(
            "for (int k = 0; k < n; ++k) for (int j = 0; j < 8; ++j) s += a[(y * n + x) * 8 + j];",
            id="what a thread reads again in every iteration of an outer loop",
        ),
        pytest.param("for (int k = 0; k < n; ++k) s += a[k];", id="all lanes read one element"),
        pytest.param("for (int k = 0; k < 64; ++k) s += a[(tx + k) % 64];", id="a small table"),
        pytest.param(
            "for (int k = 0; k < n; ++k) s += a[(y * n + x) * n + k];",
            id="a stride, which CC101 says",
        ),
    ],
)
def test_silent_on(body: str, tmp_path: Path) -> None:
    assert said(tmp_path, text(body), "CC108") == []


def test_silent_on_an_array_that_is_written(tmp_path: Path) -> None:
    body = "for (int k = 0; k < n; ++k) out[y * n + x] += 1.0f;"
    assert said(tmp_path, text(body, "+="), "CC108") == []


def test_silent_without_a_grid(tmp_path: Path) -> None:
    body = "for (int k = 0; k < n; ++k) s += a[k * n + x];"
    assert said(tmp_path, text(body).replace("grid(8,8) ", ""), "CC108") == []


def test_the_columns_of_a_product(tmp_path: Path) -> None:
    body = "for (int k = 0; k < n; ++k) s += a[y * n + k] * b[k * n + x];"
    (finding,) = findings(tmp_path, text(body), "CC108")
    assert str(finding.severity) == "note"
    # 8 warps of 2 rows ask for the 2 sectors of 16 floats, in each of 128 rows: 8 times
    assert finding.message == (
        "global load b[k * n + x]: a block loads each of the 256 sectors it needs of b "
        "about 8 times"
    )


def test_the_window_of_a_filter(tmp_path: Path) -> None:
    body = (
        "for (int j = 0; j < 5; ++j) for (int i = 0; i < 5; ++i) s += a[(y + j) * (n + 8) + x + i];"
    )
    (finding,) = findings(tmp_path, text(body), "CC108")
    # 25 loads of 8 warps and 4 sectors; 20 rows of 20 floats that start at a multiple of 64 bytes
    assert "each of the 60 sectors it needs of a about 13 times" in finding.message


def traffic(**facts: Any) -> ArrayTraffic:
    """Of the 16x16 blocks of ``hand_made.kernel``, which each load 64 sectors eight times."""
    values: dict[str, Any] = {
        "name": "in",
        "requested": Total(1 << 22, 1 << 22),
        "unique": None,
        "reads": Touched(64.0, 64.0, 64.0),
        "writes": Touched(0.0, 0.0, 0.0),
        "needed": Total(256 * 64 * 8, 256 * 64 * 8),
    }
    return ArrayTraffic(**values | facts)


def checked(*loads: AccessResult, **facts: Any) -> list[Finding]:
    analysis = kernel(*loads, array_traffic=(traffic(**facts),))
    return list(rules.check(analysis, rules.select(("CC108",), ())))


@pytest.mark.parametrize(
    ("facts", "found"),
    [
        ({}, 1),
        ({"needed": Total(256 * 64 * 8 - 1, 256 * 64 * 8 - 1)}, 0),  # less than eight times
        ({"needed": Total(256 * 64 * 8, None)}, 0),
        ({"reads": None}, 0),
        ({"writes": None}, 0),
        ({"writes": Touched(1.0, 1.0, 1.0)}, 0),
        ({"reads": Touched(32.0, 32.0, 32.0)}, 0),
        ({"reads": Touched(32.5, 32.5, 32.5)}, 1),
        ({"name": "other"}, 0),
    ],
)
def test_what_is_known_of_the_array(facts: dict[str, Any], found: int) -> None:
    assert len(checked(access(), **facts)) == found


def test_the_load_of_most_requests_is_named_of_those_that_repeat() -> None:
    loads = [
        access(0, index="in[0]", requests=900, pattern="broadcast"),
        access(1, index="in[1]", requests=64),
        access(2, index="in[2]", requests=65),
        access(3, index="in[3]", requests=None),
    ]
    (finding,) = checked(*loads)
    assert finding.message.startswith("global load in[2]: a block loads each of the 64 sectors")
    assert checked(loads[0]) == []
