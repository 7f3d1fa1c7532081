"""What is known of a value that went through a per-thread array, and what no longer is.

A place that may have been overwritten, in part or by another type, has no known value: the
access through it is a gather.  Reading ``q[m]`` keeps the array in memory.
"""

from __future__ import annotations

import pytest
from summaries import results

TX = "int tx = threadIdx.x;"
FILLED = f"{TX} int q[4]; q[0] = tx; q[1] = 8 * tx; q[2] = 0; q[3] = 0; o[q[m]] = 2;"

STILL_KNOWN = [
    # (body, sectors of the store to o at the end): 32 floats are 4 sectors, stride 8 is 32
    ("o[q[0]] = 1;", 4),
    ("o[q[1]] = 1;", 32),
    ("q[0] = 8 * tx; o[q[0]] = 1;", 32),
    ("q[3] = 5; o[q[0]] = 1;", 4),
    ("((unsigned char *)q)[4] = 1; o[q[0]] = 1;", 4),  # byte 4 belongs to q[1]
    ("for (int i = 0; i < n; i++) q[2] = i; o[q[0]] = 1;", 4),
    ("for (int i = 0; i < 2; i++) { q[i] = 0; q[0] = tx; } o[q[0]] = 1;", 4),
    ("int *both[2]; both[0] = q; both[1] = q; *both[m] = 7; o[q[0]] = 1;", 1),
    ("if (n) q[0] = tx; else q[0] = tx; o[q[0]] = 1;", 4),
]
NO_LONGER_KNOWN = [
    "q[m] = 7; o[q[0]] = 1;",
    "((unsigned char *)q)[1] = 1; o[q[0]] = 1;",
    "((long long *)q)[0] = 1; o[q[1]] = 1;",
    "o[((unsigned char *)q)[0]] = 1;",
    "o[((unsigned *)q)[0]] = 1;",
    "int p[4]; p[m] = tx; (n ? p : q)[0] = 7; o[q[0]] = 1;",
    "int p[4]; p[0] = 1; o[(n ? p : q)[0]] = 1; o[p[m]] = 1;",
    "int p[4]; p[m] = tx; int *both[2]; both[0] = p; both[1] = q; *both[m] = 7; o[q[0]] = 1;",
    # later iterations see what earlier ones wrote, and so does what follows the loop
    "for (int i = 0; i < n; i++) { o[q[0]] = 1; q[i & 3] = 7; }",
    "for (int i = 0; i < n; i++) q[i & 3] = 7; o[q[0]] = 1;",
    "for (int i = 0; i < n; i++) { if (i == m) { q[i & 3] = 7; break; } } o[q[0]] = 1;",
]


@pytest.mark.parametrize(("body", "sectors"), STILL_KNOWN)
def test_a_place_that_nothing_overwrites_keeps_its_value(body: str, sectors: int) -> None:
    found = _stores_to_o(body)[-1]
    assert found.certainty in ("exact", "exact-symbolic")
    assert found.sectors is not None
    assert (found.sectors.min, found.sectors.max) == (sectors, sectors)


@pytest.mark.parametrize("body", NO_LONGER_KNOWN)
def test_a_place_that_may_be_overwritten_has_no_known_value(body: str) -> None:
    found = [r for r in _stores_to_o(body)[1:] if "[m]" not in r.access.index]
    assert [r.certainty for r in found] == ["data-dependent"] * len(found)
    assert found


def test_all_members_of_a_vector_are_as_uniform_as_its_address() -> None:
    """Every lane reads the same int4: what its members select is one sector, wherever it is."""
    body = f"{TX} const int4 v = ((const int4 *)idx)[blockIdx.x]; o[8 * v.x + tx] = 1;"
    body += "o[8 * v.y + tx] = 1; o[8 * v.w + tx] = 1;"
    int4 = "typedef struct int4 { _Alignas(16) int x; int y; int z; int w; } int4;"
    found = [r for r in results(int4 + body) if r.array == "o"]
    assert [(r.sectors.min, r.sectors.max) for r in found if r.sectors] == [(4, 4)] * 3


def test_a_table_read_as_another_type_is_not_its_elements() -> None:
    table = "static const int t[2] = {256, 512};"
    body = f"{TX} {table} o[t[0] * tx] = 1; o[((const unsigned char *)t)[0] * tx] = 1;"
    body += "o[((const unsigned char *)t)[1] * tx] = 1; o[t[n]] = 1;"
    found = [r for r in results(body) if r.array == "o"]
    assert found[0].sectors is not None
    assert (found[0].certainty, found[0].sectors.min) == ("exact-symbolic", 32)
    assert {r.certainty for r in found[1:3]} <= {"data-dependent", "bounded"}


def _stores_to_o(body: str) -> list:  # type: ignore[type-arg]
    return [r for r in results(FILLED + body) if r.array == "o"]
