"""The text of an access where the front end does not understand an expression."""

from __future__ import annotations

from pathlib import Path

import coalescecheck


def test_what_is_not_understood_is_shown_in_the_users_words(tmp_path: Path) -> None:
    path = tmp_path / "words.cu"
    path.write_text(
        "struct A { int a, b; };\n"
        "__global__ void k(A *p, int A::*m, float *o) {\n"
        "  o[threadIdx.x] = p[threadIdx.x].*m;\n"
        "  o[p[threadIdx.x + 1].*m] = 2.f;\n"
        "}\n"
    )
    (kernel,) = coalescecheck.analyze(path).kernels
    assert [r.access.index for r in kernel.accesses] == [
        "p[threadIdx.x].*m",
        "o[threadIdx.x]",
        "p[threadIdx.x + 1].*m",
        "o[p[threadIdx.x + 1].*m]",
    ]
    assert kernel.status == "partial"
