"""C++ that is easily misread: the number a device function gives, seen as the step of an address.

Each case of ``values.txt`` says what ``t(3)`` is by C++'s rules (and by nvcc, which runs the same
text on the host); a kernel stores at ``threadIdx.x * t(3)``.  ``unknown`` asks for no number.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import coalescecheck

_TEXT = (Path(__file__).parent / "values.txt").read_text()
_CASES = re.findall(r"^//--- (\S+) (.*)\n((?:(?!//---).*\n)*)", _TEXT, re.MULTILINE)
_KERNEL = """
__global__ void k(char *out, int n) { out[(long long)threadIdx.x * (long long)t(n)] = 0; }
void launch(char *p) { k<<<1, 32>>>(p, 3); }
"""


@pytest.mark.parametrize(("wanted", "code"), [pytest.param(w, c, id=n) for w, n, c in _CASES])
def test_value(wanted: str, code: str, tmp_path: Path) -> None:
    path = tmp_path / "value.cu"
    path.write_text(f"#define HD __host__ __device__\n{code}{_KERNEL}")
    (kernel,) = coalescecheck.analyze(path).kernels
    (access,) = (a for a in kernel.accesses if a.access.index.startswith("out["))
    if wanted == "unknown":
        assert access.certainty in ("data-dependent", "unknown")
    else:
        assert access.lane_stride_bytes == int(wanted)


@pytest.mark.parametrize(
    "code",
    [
        # two bases of class E have two addresses
        "struct E {}; struct A : E {}; struct B : E {}; struct D : A, B { char c; };",
        "struct D { char c; int d __attribute__((packed)); };",
    ],
)
def test_layout_that_c_does_not_have(code: str, tmp_path: Path) -> None:
    path = tmp_path / "layout.cu"
    path.write_text(f"{code}\n__global__ void k(D *p) {{ p[threadIdx.x] = D(); }}\n")
    (kernel,) = coalescecheck.analyze(path).kernels
    assert kernel.status == "failed"
    assert "places" in kernel.reason


@pytest.mark.parametrize(
    "code",
    [
        # d lies in B's last three bytes: 8 bytes, and C would make it 12
        "struct B { B(); int i; char c; }; struct D : B { char d; };",
        "struct B { virtual void f(); int i; }; struct D : B { int d; };",
    ],
)
def test_members_in_the_padding_of_a_base(code: str, tmp_path: Path) -> None:
    path = tmp_path / "layout.cu"
    path.write_text(
        f"""{code}
        template <class T> __global__ void k(int *out, D *p) {{
            out[threadIdx.x] = p->i;
            p[threadIdx.x] = D();
            p[threadIdx.x].d = 1;
        }}
        void run(int *out, D *p) {{ k<D><<<1, 32>>>(out, p); }}
        """
    )
    (kernel,) = coalescecheck.analyze(path).kernels
    assert kernel.status == "analysed"
    first, second, whole, member = kernel.accesses
    assert [a.certainty for a in (first, second)] == ["exact", "exact"]
    assert (whole.certainty, whole.reason) == (
        "unknown",
        "`D` has members in the padding of its base",
    )
    assert member.certainty == "bounded"
    assert member.sectors is not None
    assert (member.sectors.min, member.sectors.max) == (1, 32)


def test_launch_arguments_become_parameters(tmp_path: Path) -> None:
    """A call converts: 5 * 10^9 in 32 bits is 705,032,704, 5u - 6 is -1."""
    path = tmp_path / "converted.cu"
    path.write_text(
        "__global__ void k(char *out, int n, bool b) { out[threadIdx.x * n] = b; }\n"
        "void f(char *p) { k<<<1, 32>>>(p, 5000000000, 7); k<<<2, 32>>>(p, 5u - 6, 0); }\n"
    )
    first, second = coalescecheck.analyze(path).kernels
    assert first.params == {"n": 705032704, "b": 1}
    assert second.params == {"n": -1, "b": 0}
