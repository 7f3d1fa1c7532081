"""Addresses are SymPy strings: SymPy reads them back, and they have the lane's address."""

from __future__ import annotations

from pathlib import Path

import sympy

import coalescecheck

KERNEL = """
__global__ void k(float *in, const float *lambda, int n, int width)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    int x = i % 20, y = i / 20;
    in[y * n + x] = lambda[(i ^ 5) * 3 - 7];
}
void run(float *a, const float *b, int n, int w) { k<<<4, 64>>>(a, b, n, w); }
"""


def test_an_address_is_read_back_by_sympy(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(KERNEL)
    (kernel,) = coalescecheck.analyze(path).kernels
    store = next(a for a in kernel.accesses if a.access.op == "store")
    load = next(a for a in kernel.accesses if a.access.op == "load")
    at = {"blockIdx_x": 3, "threadIdx_x": 41, "n": 100, "in_": 0, "lambda_": 0}
    address = sympy.sympify(store.address)
    i = 3 * 64 + 41
    assert address.subs(at) == 4 * (i // 20 * 100 + i % 20)
    xor = sympy.sympify(load.address, locals={"BitXor": lambda a, b: (a, b)[0]})
    assert {str(s) for s in xor.free_symbols} <= {"lambda_", "threadIdx_x", "blockIdx_x"}
