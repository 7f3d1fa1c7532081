"""CC304: silent on arrays that unrolling leaves in registers."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysed import findings, said

KERNEL = """
// coalescecheck: block(256) grid(4)
__global__ void k(float *out, const int *in, int n)
{{
    int t = threadIdx.x;
    float a[8];
    for (int i = 0; i < 8; ++i)
        a[i] = in[i * 256 + t];
    {body}
}}
"""


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("out[t] = a[0] + a[7];", id="constants"),
        pytest.param(
            "float s = 0.0f; for (int i = 0; i < 8; ++i) s += a[i] * in[t]; out[t] = s;",
            id="a loop that unrolls",
        ),
        pytest.param(
            "float s = 0.0f; for (int k = 0; k < n; ++k) for (int i = 0; i < 8; ++i) s += a[i];"
            " out[t] = s;",
            id="inside one that does not",
        ),
        pytest.param(
            "for (int i = 0; i < 8; ++i) for (int j = 0; j < i; ++j) a[j] += a[i]; out[t] = a[3];",
            id="a triangle of constant size",
        ),
        pytest.param(
            "for (int s = 4; s > 0; s >>= 1) a[0] += a[s]; out[t] = a[0];", id="halving steps"
        ),
        pytest.param(
            "for (int i = 7; i >= 0; --i) out[t + 256 * i] = a[(i + 1) % 8];", id="a rotation"
        ),
    ],
)
def test_silent_on(body: str, tmp_path: Path) -> None:
    assert said(tmp_path, KERNEL.format(body=body), "CC304") == []


def test_silent_on_an_index_from_a_template(tmp_path: Path) -> None:
    text = """
        template <int N> __global__ void k(float *out)
        {
            float a[4] = {1.0f, 2.0f, 3.0f, 4.0f};
            out[threadIdx.x] = a[N];
        }
        void run(float *out) { k<2><<<4, 256>>>(out); }
    """
    assert said(tmp_path, text, "CC304") == []


@pytest.mark.parametrize("const", ["const ", ""])
def test_a_table_that_nothing_changes_is_a_note(const: str, tmp_path: Path) -> None:
    """nvcc 13.0 gives both a stack frame of 256 bytes and no constants (ptxas -v, sm_75..100)."""
    text = f"""
        // coalescecheck: block(256) grid(4)
        __global__ void k(float *out, int n)
        {{
            {const}float a[64] = {{1.0f, 2.0f, 3.0f}};
            out[threadIdx.x] = a[threadIdx.x % 64];
        }}
    """
    (finding,) = findings(tmp_path, text, "CC304")
    assert str(finding.severity) == "note"
    # word i of lane l lies at 128*i + 4*l: 32 lanes, 32 lines
    assert "a lives in local memory: a[threadIdx.x % 64] moves 32 sectors per warp" in (
        finding.message
    )
    assert "static constexpr" in finding.advice


def test_silent_on_a_small_table_that_nothing_changes(tmp_path: Path) -> None:
    text = """
        // coalescecheck: block(256) grid(4)
        __global__ void k(float *out, int n)
        {
            const float a[4] = {1.0f, 2.0f, 3.0f, 4.0f};
            float b[4] = {1.0f, 2.0f, 3.0f, 4.0f};
            out[threadIdx.x] = a[threadIdx.x % 4] + b[n];
        }
    """
    assert said(tmp_path, text, "CC304") == []


def test_silent_on_loops_to_a_template_argument_that_is_not_given(tmp_path: Path) -> None:
    text = """
        // coalescecheck: block(256) grid(4)
        template <int N> __global__ void k(float *out)
        {
            float a[8], b[N];
            for (int i = 0; i < N; ++i)
                a[i] = b[i] = i;
            for (int i = 0; i < N; ++i)
                out[256 * i + threadIdx.x] = a[i] + b[i];
        }
    """
    assert said(tmp_path, text, "CC304") == []


def test_silent_on_the_elements_of_a_matrix_fragment(tmp_path: Path) -> None:
    text = """
        // coalescecheck: block(256) grid(4)
        __global__ void k(float *out)
        {
            wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
            wmma::fill_fragment(c, 1.0f);
            for (int i = 0; i < c.num_elements; ++i)
                c.x[i] *= 2.0f;
            out[threadIdx.x] = 1.0f;
        }
    """
    assert said(tmp_path, text, "CC304") == []


@pytest.mark.parametrize(
    ("body", "severity", "words"),
    [
        pytest.param("out[t] = a[n];", "note", "a[n] moves 4 sectors", id="one index for all"),
        # word i of lane l lies at 128*i + 4*l: lanes l, l+8, l+16, l+24 share a line, no sector
        pytest.param(
            "out[t] = a[t % 8];", "warning", "a[t % 8] moves 32 sectors", id="one for each lane"
        ),
        pytest.param(
            "out[t] = a[in[t]];", "note", "a[in[t]] moves 1..32 sectors", id="the data decides"
        ),
        pytest.param(
            "float s = 0.0f; for (int i = 0; i < n; ++i) s += a[i]; out[t] = s;",
            "note",
            "a[i] moves 4 sectors",
            id="a loop of unknown length",
        ),
    ],
)
def test_reports(body: str, severity: str, words: str, tmp_path: Path) -> None:
    (finding,) = findings(tmp_path, KERNEL.format(body=body), "CC304")
    assert str(finding.severity) == severity
    assert f"a lives in local memory: {words} per warp" in finding.message


def test_one_array_is_one_finding(tmp_path: Path) -> None:
    body = "a[in[t]] = 1.0f; a[n] += 1.0f; out[t] = a[t % 8];"
    (finding,) = findings(tmp_path, KERNEL.format(body=body), "CC304")
    assert finding.message == (
        "a lives in local memory: a[t % 8] moves 32 sectors per warp, and 4 more accesses"
    )


def test_bytes_at_one_index_are_no_warning(tmp_path: Path) -> None:
    text = """
        // coalescecheck: block(256) grid(4)
        __global__ void k(char *out, int n)
        {
            char state[16];
            for (int i = 0; i < 16; ++i)
                state[i] = i;
            out[threadIdx.x] = state[n];
        }
    """
    (finding,) = findings(tmp_path, text, "CC304")
    assert str(finding.severity) == "note"
    assert finding.message == (
        "state lives in local memory: state[n] moves 4 sectors per warp, and 1 more access"
    )


def test_a_helper_called_twice_is_one_finding(tmp_path: Path) -> None:
    text = """
        __device__ float pick(int n, float m)
        {
            float table[4];
            for (int i = 0; i < 4; ++i)
                table[i] = i * m;
            return table[n];
        }
        // coalescecheck: block(256) grid(4)
        __global__ void k(float *out, int n, int m)
        {
            out[threadIdx.x] = pick(n, 1.0f) + pick(m, 2.0f);
        }
    """
    assert said(tmp_path, text, "CC304") == ["note CC304"]


@pytest.mark.parametrize(("size", "found"), [(16, []), (17, ["note CC304"])])
def test_a_table_of_64_bytes_needs_no_memory(tmp_path: Path, size: int, found: list[str]) -> None:
    values = ", ".join(f"{each}.5f" for each in range(size))
    text = f"""
        // coalescecheck: block(256) grid(4)
        __global__ void k(float *out, int n)
        {{
            const float table[{size}] = {{{values}}};
            out[threadIdx.x] = table[n];
        }}
    """
    assert said(tmp_path, text, "CC304") == found
