"""Gathers whose indices are few: whatever the data is, lanes lie within the table."""

from __future__ import annotations

import pytest
from summaries import count, result, results

TABLES = (
    "[[cuda::shared]] static float t[256]; [[cuda::shared]] static double w[64]; int v = idx[x]; "
)


def _of(body: str, array: str, block: tuple[int, ...] = (32,)) -> tuple[int, int]:
    text = f"unsigned x = threadIdx.x; {TABLES} {body}"
    found = count(result(text, array, block=block, grid=(1,)))
    return found.min, found.max


@pytest.mark.parametrize(
    ("index", "most"),
    [
        ("v & 15", 2),  # bytes 0 … 63
        ("(v & 15) + 3", 3),  # bytes 12 … 75
        ("v % 8", 2),  # -7 … 7: bytes -28 … 31
        ("v & 63", 8),
        ("v & 255", 32),  # 32 sectors of 32 bytes, one for each lane
        ("m + (v & 7)", 2),  # 32 bytes from any multiple of 4
        ("8 * m + (v & 7)", 1),
        ("(v & 3) * 64", 4),  # four places
        ("m + (v & 3) * 64", 4),  # a float is never in two sectors
        ("(v & 1) * 32 + x", 8),  # bytes 0 … 255
    ],
)
def test_sectors_of_a_small_table(index: str, most: int) -> None:
    assert _of(f"o[{index}] = 1;", "o") == (1, most)


@pytest.mark.parametrize(
    ("body", "array", "bounds"),
    [
        ("o[x] = t[v & 31];", "t", (1, 1)),  # a bank for each of the words
        ("o[x] = t[v & 63];", "t", (1, 2)),
        ("o[x] = t[v & 255];", "t", (1, 8)),
        ("o[x] = t[(v & 3) * 32];", "t", (1, 4)),  # four words of one bank
        ("o[x] = t[(v & 3) * 64 + (v & 1)];", "t", (1, 7)),  # words 0 … 193 are in 7 rows
        # 16 lanes a phase; 128 words in 4 rows of banks; equal neighbours share a phase
        ("o[x] = w[v & 63];", "w", (1, 8)),
        ("w[v & 15] = 1;", "w", (2, 2)),  # a row of banks: a wavefront for each phase
        ("w[v & 63] = 1;", "w", (2, 8)),
    ],
)
def test_wavefronts_of_a_small_table(body: str, array: str, bounds: tuple[int, int]) -> None:
    assert _of(body, array) == bounds


def test_a_table_in_constant_memory_has_as_many_passes_as_entries() -> None:
    body = "[[cuda::constant]] static float c[8]; o[threadIdx.x] = c[idx[threadIdx.x] & 7];"
    assert (lambda c: (c.min, c.max))(count(result(body, "c", grid=(1,)))) == (1, 8)


def test_lanes_of_an_atomic_wait_for_each_other_in_any_table() -> None:
    body = "[[cuda::shared]] int b[64]; atomicAdd__int(&b[idx[threadIdx.x] & 3], 1);"
    found = result(body, "b", grid=(1,))
    assert (count(found).min, count(found).max) == (1, 32)
    assert found.certainty == "data-dependent"


def test_words_of_a_private_table_are_lines() -> None:
    """Four words of 32 lanes are four lines: 16 sectors."""
    body = "float r[4]; for (int i = 0; i < 4; i++) r[i] = i; o[0] = r[idx[threadIdx.x] & 3];"
    (found,) = (r for r in results(body, grid=(1,)) if r.access.index.startswith("r[idx"))
    assert count(found).max == 16


def test_a_cost_that_no_data_changes_is_certain() -> None:
    found = result("o[idx[threadIdx.x] & 7] = 1;", "o", grid=(1,))
    assert (found.certainty, found.reason) == ("exact-symbolic", "")
    assert found.lines128 is not None
    assert (found.lines128.min, found.lines128.max) == (1, 1)


@pytest.mark.parametrize(
    "clamped",
    [
        "v < 0 ? 0 : v > 15 ? 15 : v",
        "v = v < 0 ? 0 : v; v = v >= 16 ? 15 : v",
        "if (v > 15) v = 15; if (v < 0) v = 0",
        "if (v >= 0) { if (!(v <= 15)) v = 15; } else v = 0",
        "if (v < 0 || v > 15) return",
    ],
)
def test_clamped_data_is_a_small_table(clamped: str) -> None:
    assert _of(f"{clamped if clamped[0] != 'v' else 'v = ' + clamped}; o[v] = 1;", "o") == (1, 2)


def test_a_clamp_at_another_value_is_no_clamp() -> None:
    assert _of("v = v < 0 ? 8 : v; v = v > 15 ? 15 : v; o[v] = 1;", "o") == (1, 32)
