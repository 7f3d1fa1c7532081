"""What the reader is told of inline PTX: what is missing in the report, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

import coalescecheck

KERNEL = """
__global__ void k(float *out, const float *in)
{
    __shared__ alignas(16) float tile[256];
    unsigned at = (unsigned)__cvta_generic_to_shared(&tile[4 * threadIdx.x]), r = threadIdx.x;
    float d = 0.f;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(in + 4 * threadIdx.x));
    BODY
    out[threadIdx.x] = d;
}
void run(float *o, const float *i) { k<<<1, 32>>>(o, i); }
"""


@pytest.mark.parametrize(
    ("body", "told", "status"),
    [
        ('asm volatile("cp.async.commit_group;\\n" ::);', [], "analysed"),
        ('asm volatile("cp.async.wait_group %0;\\n" ::"n"(1));', [], "analysed"),
        ('asm("cvt.f32.u32 %0, %1;" : "=f"(d) : "r"(r));', [], "analysed"),
        (
            'asm("prmt.b32 %0, %1, %1, 3;" : "=r"(r) : "r"(at));',
            ["inline assembly is not followed: its outputs are unknown"],
            "analysed",
        ),
        (
            'asm("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::"r"(at), "r"(r));',
            [
                "`stmatrix.sync.aligned.m8n8.x1.shared.b16` of inline assembly is not followed: "
                "what it accesses is not seen"
            ],
            "partial",
        ),
        ('asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(at));', [], "analysed"),
    ],
)
def test_what_is_told(tmp_path: Path, body: str, told: list[str], status: str) -> None:
    path = tmp_path / "k.cu"
    path.write_text(KERNEL.replace("BODY", body))
    (kernel,) = coalescecheck.analyze(path).kernels
    assert [d.message for d in kernel.diagnostics] == told
    assert kernel.status == status
    assert len(kernel.accesses) == 3  # both sides of the copy, and the store
