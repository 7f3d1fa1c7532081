"""Local memory: the words of a slot are interleaved by lane, so one lane alone is one sector."""

from __future__ import annotations

from pathlib import Path

import pytest

import coalescecheck

KERNEL = """
__global__ void k(float *o, const int *at, const int *flag)
{
    float mine[64];
    int i = threadIdx.x;
    for (int j = 0; j < 64; ++j) mine[j] = 0;
    if (flag[i]) mine[at[0]] = 1;
    o[i] = mine[at[i]];
}
void run(float *o, const int *a, const int *f) { k<<<1, 32>>>(o, a, f); }
"""


def test_lanes_that_data_switches_off_need_no_sector(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(KERNEL)
    (kernel,) = coalescecheck.analyze(path).kernels
    store = next(a for a in kernel.accesses if a.access.index == "mine[at[0]]")
    assert store.space == "local"
    assert store.sectors is not None
    # one index for all lanes: four sectors if all run, one if a single lane does
    assert (store.sectors.min, store.sectors.max) == (1, 4)
    assert store.certainty == "data-dependent"
    load = next(a for a in kernel.accesses if a.access.index == "mine[at[i]]")
    assert load.sectors is not None
    assert (load.sectors.min, load.sectors.max) == (1, 32)
    # the array is in memory for its constant indices too
    assert [a.access.index for a in kernel.accesses if a.space == "local"] == [
        "mine[j]",
        "mine[at[0]]",
        "mine[at[i]]",
    ]
    assert kernel.accesses
    assert all(a.verified.simulation != "disagrees" for a in kernel.accesses)


def listed(folder: Path, text: str, **options: object) -> list[tuple[str, str, str]]:
    path = folder / "k.cu"
    path.write_text(text)
    (kernel,) = coalescecheck.analyze(path, block="64", grid="4", **options).kernels  # type: ignore[arg-type]
    local = [a for a in kernel.accesses if a.space == "local"]
    return [(a.access.index, a.certainty, a.reason) for a in local]


UNROLLED = """
template <int N> __global__ void k(float *o)
{
    float a[8];
    for (int i = 0; i < N; i++) a[i] = o[i * 64 + threadIdx.x];
    for (int i = 0; i < N; i++) o[i * 64 + threadIdx.x] = a[N - 1 - i];
}
"""


def test_a_template_argument_that_is_not_given_decides_where_an_array_lies(tmp_path: Path) -> None:
    found = listed(tmp_path, UNROLLED)
    assert [(index, certainty) for index, certainty, _ in found] == [
        ("a[i]", "unknown"),
        ("a[N - 1 - i]", "unknown"),
    ]
    assert {reason for _, _, reason in found} == {
        "`N` decides between registers and local memory: pass `--param N=...`"
    }


def test_with_the_template_argument_the_array_is_in_registers(tmp_path: Path) -> None:
    assert listed(tmp_path, UNROLLED, templates={"N": "8"}) == []


def test_an_index_known_only_at_run_time_decides_without_it(tmp_path: Path) -> None:
    text = UNROLLED.replace("float *o)", "float *o, int n)").replace("a[N - 1 - i]", "a[n]")
    assert {certainty for _, certainty, _ in listed(tmp_path, text)} <= {"exact", "exact-symbolic"}


def test_the_fragments_of_wmma_are_registers(tmp_path: Path) -> None:
    text = """
        __global__ void k(float *o)
        {
            wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
            wmma::fill_fragment(c, 1.0f);
            for (int i = 0; i < c.num_elements; i++) c.x[i] *= 2.0f;
            wmma::store_matrix_sync(o, c, 16, wmma::mem_row_major);
        }
    """
    assert listed(tmp_path, text) == []


CHOSEN = """
struct Pair { float v; int i; };
__device__ Pair better(Pair a, Pair b) { return a.v >= b.v ? a : b; }
__device__ const Pair &least(const Pair &a, const Pair &b) { return b.v < a.v ? b : a; }
__global__ void k(float *o, const Pair *x, int n)
{
    int t = threadIdx.x, u = x[t].i, w = x[t + 1].i, a[4];
    for (int i = 0; i < 4; i++) a[i] = x[t + i].i;
    Pair p = x[t], q = x[t + 64], best = {0, 0};
    %s
}
"""


@pytest.mark.parametrize(
    "body",
    [  # none has .local in the PTX of nvcc 13
        "for (int i = 0; i < n; i++) best = better(best, x[i + t]); o[t] = best.v + best.i;",
        "o[t] = least(p, q).i;",
        "const Pair &r = n == 1 ? p : n == 2 ? q : best; o[t] = r.v * r.i;",
        "const Pair *r = &p; if (p.v > q.v) r = &q; o[t] = r->v + r->i;",
        "const int &r = u < w ? u : w; o[t] = r * r;",
    ],
)
def test_what_is_chosen_of_several_variables_is_selected_in_registers(
    tmp_path: Path, body: str
) -> None:
    assert listed(tmp_path, CHOSEN % body) == []


@pytest.mark.parametrize(
    "body",
    [  # all have .local in the PTX of nvcc 13
        "int &r = u < w ? u : w; r += 1; o[t] = u * w;",
        "int b[4] = {1, n, 3, t}; int *r = n > t ? a : b; o[t] = r[2];",
        "o[t] = a[x[t].v > q.v ? 2 : 0];",
    ],
)
def test_chosen_elements_of_arrays_and_chosen_places_to_write_are_in_memory(
    tmp_path: Path, body: str
) -> None:
    assert listed(tmp_path, CHOSEN % body) != []
