"""CC109: lanes that combine values at one address, unless a compiler does it for them."""

from __future__ import annotations

from pathlib import Path

import pytest

import coalescecheck

KERNEL = """
// coalescecheck: block(64) grid(4)
__global__ void k(float *f, int *n, const float *in)
{{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    {body}
}}
"""


@pytest.mark.parametrize(
    ("body", "lanes"),
    [
        pytest.param("atomicAdd(f, in[i]);", 32, id="a sum of floats"),
        pytest.param("atomicAdd(&f[blockIdx.x], in[i]);", 32, id="one address of the block"),
        pytest.param("if (threadIdx.x % 32 < 4) atomicMax(n, i);", 4, id="four lanes"),
        pytest.param("atomicMin(n, i);", 32, id="a minimum of integers"),
        pytest.param("atomicAdd(n, i);", None, id="a sum of integers, which compilers combine"),
        pytest.param("if (threadIdx.x % 32 == 0) atomicAdd(f, in[i]);", None, id="one lane"),
        pytest.param("if (in[i] > 0) atomicAdd(f, in[i]);", None, id="lanes that data selects"),
        pytest.param("atomicAdd(&f[i], in[i]);", None, id="an address for each lane"),
        pytest.param("atomicAdd(&f[n[i]], in[i]);", None, id="an address that data decides"),
        pytest.param("atomicExch(n, 1);", None, id="a flag"),
        pytest.param("atomicCAS(n, 0, 1);", None, id="a lock"),
    ],
)
def test_lanes_at_one_address(tmp_path: Path, body: str, lanes: int | None) -> None:
    path = tmp_path / "k.cu"
    path.write_text(KERNEL.format(body=body), encoding="utf-8")
    found = coalescecheck.analyze(path, select=["CC109"]).findings
    said = [finding.message.partition(": ")[2] for finding in found]
    expected = f"{lanes} lanes of a warp update one address"
    assert said == ([] if lanes is None else [expected])
    assert {str(finding.severity) for finding in found} <= {"note"}
