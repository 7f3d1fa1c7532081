"""A reference to what nobody knows is a place nobody knows, and no copy of the kernel's own."""

from __future__ import annotations

from pathlib import Path

import pytest

import coalescecheck

CODE = """
struct Store {{ int items[128]; }};
struct Raw : Missing<Store> {{}};
struct Holder
{{
    Store &s;
    __device__ Holder(Raw &raw) : s(raw.get()) {{}}
    __device__ void put(int i, int v) {{ s.items[i] = v; }}
}};
// coalescecheck: block(128) grid(4)
__global__ void k(int *o, Raw *r)
{{
    {body}
    o[threadIdx.x] = 1;
}}
"""


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("Holder(r[0]).put(threadIdx.x, 1);", id="a member"),
        pytest.param("Store &s = r[0].get(); s.items[threadIdx.x] = 1;", id="a variable"),
        pytest.param("const Store &s = r[0].get(); o[1] = s.items[threadIdx.x];", id="constant"),
        pytest.param("int &n = r[0].get(); n = 1;", id="a number"),
    ],
)
def test_accesses_through_it_are_unknown(tmp_path: Path, body: str) -> None:
    path = tmp_path / "k.cu"
    path.write_text(CODE.format(body=body))
    (kernel,) = coalescecheck.analyze(path).kernels
    assert "local" not in {result.space for result in kernel.accesses}
    assert "unknown" in {result.certainty for result in kernel.accesses}


def test_a_constant_number_is_a_value(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(CODE.format(body="const int &n = r[0].get(); o[n] = 1;"))
    (kernel,) = coalescecheck.analyze(path).kernels
    assert len(kernel.accesses) == 2, "the two stores to o"
