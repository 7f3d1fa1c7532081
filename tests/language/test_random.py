"""cuRAND's device functions: their state in global memory is listed, in registers it is free.

Sizes from curand_kernel.h: a ``curandState`` is 48 bytes, six 8-byte pieces that 32 lanes read at
a step of 48: 32 sectors each.  (No kernel of ``cu``: cuRAND's headers are no part of nvcc.)
"""

from __future__ import annotations

from pathlib import Path

from expectations import expectations, said_of

import coalescecheck

SOURCE = """\
__global__ void seeded(curandState *states, float *out, unsigned seed)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    curand_init(seed, i, 0, &states[i]);  // expect: states store unknown
    float v = curand_uniform(&states[i]);  // expect: states load unknown; states store unknown
    out[i] = v;                           // expect: out store sectors=4
    curandState own = states[i];          // expect: states load sectors=32
    out[2 * i] = curand_normal(&own);     // expect: out store sectors=8
    states[i] = own;                      // expect: states store sectors=32
}
void seed_all(curandState *states, float *out) { seeded<<<4, 128>>>(states, out, 7); }
"""
SOBOL = """\
__global__ void sobol(curandStateSobol32 *states, curandDirectionVectors32_t *vectors)
{
    int i = threadIdx.x;
    states[i].c = 0;       // expect: states store sectors=32
    unsigned v = vectors[i][0];  // expect: vectors load sectors=32
    vectors[0][i] = v;     // expect: vectors store sectors=4
}
void run(curandStateSobol32 *s, curandDirectionVectors32_t *v) { sobol<<<1, 32>>>(s, v); }
"""


def test_the_states_of_quasirandom_generators_have_their_size(tmp_path: Path) -> None:
    path = tmp_path / "sobol.cu"
    path.write_text(SOBOL)
    (kernel,) = coalescecheck.analyze(path).kernels
    found = {(a.access.span.line, said_of(a)) for a in kernel.accesses}
    assert found == {(n, e.said) for n, es in expectations(SOBOL).items() for e in es}


def test_a_state_in_memory_is_listed_and_one_in_registers_is_free(tmp_path: Path) -> None:
    path = tmp_path / "random.cu"
    path.write_text(SOURCE)
    report = coalescecheck.analyze(path)
    (kernel,) = report.kernels
    assert (kernel.status, report.disagrees) == ("analysed", False)
    found = {(a.access.span.line, said_of(a)) for a in kernel.accesses}
    wanted = {(line, e.said) for line, es in expectations(SOURCE).items() for e in es}
    assert found == wanted
    reasons = {a.reason for a in kernel.accesses if a.certainty == "unknown"}
    assert reasons == {
        "library code works on the state: one source access is an unknown number of instructions"
    }
