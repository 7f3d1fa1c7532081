"""Conditions on loaded unsigned values: the values at the ends of the type count as well."""

from __future__ import annotations

import pytest
from summaries import result

PARAMETERS = "float *o, const unsigned *u, const unsigned long *w, const int *s, unsigned long n"

# each holds for one loaded value at least, and fails for another
OPEN = (
    "u[0] + 1 == 0",
    "!(u[0] + 1)",
    "u[0] + 1 < 1",
    "u[0] * 2 + 2 < u[0]",
    "(unsigned long)(u[0] + 1) == 0",
    "u[0] + 2 > 1",
    "u[0] + 2 != 1",
    "u[0] < u[0] + 1",
    "u[0] > 0xfffffffeu",
    "(int)u[0] < 0",
    "(unsigned)s[0] + 1 == 0",
    "w[0] + 1 == 0",
    "w[0] == (unsigned long)-1",
    "w[0] != (unsigned long)-1",
    "w[0] > (unsigned long)-2",
    "w[0] >= 0x8000000000000000UL",
    "w[0] + 2 > 1",
    "w[0] < w[0] + 1",
    "(long)w[0] < 0",
    "(int)w[0] < 0",
    "n == (unsigned long)-1",
    "n > (unsigned long)-2",
    "n + 1 == 0",
    "!(n + 1)",
    "~n == 0",
)
DECIDED = {"(unsigned char)u[0] < 256": 2, "u[0] % 4 < 4": 2}


@pytest.mark.parametrize("condition", OPEN)
def test_a_condition_that_may_hold_or_not_is_open(condition: str) -> None:
    found = result(f"if ({condition}) o[threadIdx.x] = 1;", "o", block=(64,), grid=(1,),
                   parameters=PARAMETERS)  # fmt: skip
    assert found.requests is None
    assert found.sectors is not None
    assert (found.sectors.min, found.sectors.max) == (4, 4)  # uniform: all lanes or none


@pytest.mark.parametrize(("condition", "requests"), DECIDED.items())
def test_what_the_type_decides_is_decided(condition: str, requests: int) -> None:
    found = result(f"if ({condition}) o[threadIdx.x] = 1;", "o", block=(64,), grid=(1,),
                   parameters=PARAMETERS)  # fmt: skip
    assert found.requests == requests


@pytest.mark.parametrize(
    "loop",
    [
        "for (unsigned long i = w[0]; i != (unsigned long)-1; i = w[i]) s[i];",
        "unsigned long i = 5; while (i + 1 != 0) { s[i]; i = w[i]; }",
        "unsigned i = 5; while ((int)i >= 0) { s[i]; i = u[i]; }",
        "unsigned i = 5; do { s[i]; i = u[i]; } while (~i);",
        "for (unsigned i = u[0]; (int)i >= 0; i--) s[i];",
    ],
)
def test_a_list_ends_at_its_sentinel(loop: str) -> None:
    """What stands behind the loop is run."""
    found = result(f"{{ {loop} }} o[threadIdx.x] = 1;", "o", block=(64,), grid=(1,),
                   parameters=PARAMETERS)  # fmt: skip
    assert found.requests == 2


@pytest.mark.parametrize(("halo", "most"), [("u[0]", 5), ("s[0]", 5)])
def test_a_loaded_offset_may_be_below_0(halo: str, most: int) -> None:
    """``-2 + lane < 5`` lets lanes 2..6 through: up to 5 lanes, in any of the sectors."""
    found = result(f"if ({halo} + threadIdx.x < 5) o[8 * threadIdx.x] = 1;", "o", block=(64,),
                   grid=(1,), parameters=PARAMETERS)  # fmt: skip
    assert found.sectors is not None
    assert found.sectors.min <= 1
    assert found.sectors.max >= most


@pytest.mark.parametrize("kind", ["unsigned", "unsigned long"])
def test_a_guard_and_a_stride_up_to_a_size_stay_known(kind: str) -> None:
    """Sizes and loop variables are taken to fit where lanes are compared with them."""
    guard = f"{kind} i = threadIdx.x; if (i >= n) return;"
    guarded = result(f"{guard} o[i] = 1;", "o", grid=(1,), parameters=PARAMETERS)
    assert guarded.certainty == "exact-symbolic"
    strided = result(f"for ({kind} i = threadIdx.x; i < 1000; i += 64) o[i] = 1;", "o",
                     block=(64,), grid=(1,), parameters=PARAMETERS)  # fmt: skip
    assert (strided.certainty, strided.requests) == ("exact", 32)  # 1000 floats in warps of 32
