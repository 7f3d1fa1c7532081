"""CC203: silent where lanes of a shared atomic are apart or where the data decides."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysed import findings, said

KERNEL = """
// coalescecheck: block(256) grid(4)
__global__ void k(float *out, int *bins, const int *in, int n)
{{
    __shared__ int s[1024];
    __shared__ float f[1024];
    __shared__ unsigned long long d[64];
    int t = threadIdx.x;
    {body}
}}
"""


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("atomicAdd(&s[t], 1);", id="a word for each lane"),
        pytest.param("atomicAdd(&s[t * 33 % 1024], 1);", id="an odd step"),
        pytest.param("if (t == 0) atomicAdd(&f[0], 1.0f);", id="a single lane"),
        pytest.param("if (t % 32 == 0) atomicAdd(&f[0], 1.0f);", id="one lane of each warp"),
        pytest.param("atomicAdd(&s[in[t] & 1023], 1);", id="a histogram"),
        pytest.param("atomicAdd(&bins[0], 1);", id="global memory"),
        pytest.param("atomicAdd(&d[t & 31], 1ull);", id="8 bytes a lane in two phases"),
        pytest.param("s[t / 2] = 1;", id="a store"),
    ],
)
def test_silent_on(body: str, tmp_path: Path) -> None:
    assert said(tmp_path, KERNEL.format(body=body), "CC203") == []


@pytest.mark.parametrize(
    ("body", "severity", "words"),
    [
        pytest.param(
            "atomicAdd(&f[n & 63], 1.0f);",
            "warning",
            "32 wavefronts per warp, 1 would do (32x); up to 32 lanes update one word",
            id="all lanes add floats to one word",
        ),
        pytest.param(
            "atomicAdd(&s[0], t);",
            "note",
            "32 wavefronts per warp, 1 would do (32x); up to 32 lanes update one word, which a "
            "compiler may combine",
            id="a sum of integers may be combined",
        ),
        pytest.param(
            "atomicCAS(&s[0], 0, 1);",
            "warning",
            "32 wavefronts per warp, 1 would do (32x); up to 32 lanes update one word",
            id="a lock is never combined",
        ),
        pytest.param(
            "atomicAdd(&s[t % 8], 1);",
            "warning",
            "4 wavefronts per warp, 1 would do (4x); up to 4 lanes update one word",
            id="four lanes on each of eight counters",
        ),
        pytest.param(
            "atomicAdd(&s[t / 2], 1);",
            "warning",
            "2 wavefronts per warp, 1 would do (2x); up to 2 lanes update one word",
            id="two neighbours on each counter",
        ),
        pytest.param(
            "atomicAdd(&s[t % 32 * 32], 1);",
            "warning",
            "32 wavefronts per warp, 1 would do (32x); up to 32 lanes update different words of "
            "one bank",
            id="a column",
        ),
        pytest.param(
            "atomicAdd(&d[0], 1ull << t);",
            "note",
            "32 wavefronts per warp, 2 would do (16x); up to 32 lanes update one word, which a "
            "compiler may combine",
            id="8 bytes wide",
        ),
    ],
)
def test_reports(body: str, severity: str, words: str, tmp_path: Path) -> None:
    (finding,) = findings(tmp_path, KERNEL.format(body=body), "CC2")
    assert (str(finding.severity), finding.rule) == (severity, "CC203")
    assert finding.message.endswith(f": {words}")
