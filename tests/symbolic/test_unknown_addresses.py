"""Addresses that depend on data, on alignment, or on the element type: bounds, never guesses."""

from __future__ import annotations

import pytest
from summaries import count, result, results

VECTORS = "float *o, float2 *f2, float3 *f3, float4 *f4, rec *r, double *d, unsigned char *c"


@pytest.mark.parametrize(
    ("body", "bounds", "certainty"),
    [
        ("o[idx[threadIdx.x]] = 1;", (1, 32), "data-dependent"),
        ("if (threadIdx.x < 8) o[idx[threadIdx.x]] = 1;", (1, 8), "data-dependent"),
        ("o[idx[0] + threadIdx.x] = 1;", (4, 5), "data-dependent"),
        ("o[idx[0] * 8 + threadIdx.x] = 1;", (4, 4), "exact"),
        ("o[idx[blockIdx.x] * 32 + threadIdx.x] = 1;", (4, 4), "exact"),
        ("if (idx[threadIdx.x] > 0) o[threadIdx.x] = 1;", (1, 4), "data-dependent"),
        ("if (idx[0] > 0) o[threadIdx.x] = 1;", (4, 4), "exact-symbolic"),
        ("o[idx[threadIdx.x] % 8 + threadIdx.x * 8] = 1;", (1, 32), "data-dependent"),
        (
            "for (int i = idx[0]; i < idx[1]; i++) o[i * 32 + threadIdx.x] = 1;",
            (4, 4),
            "exact-symbolic",
        ),
    ],
)
def test_data_in_an_index_or_guard_gives_bounds(
    body: str, bounds: tuple[int, int], certainty: str
) -> None:
    found = result(body, "o", grid=(1,))
    counted = count(found)
    assert counted.min <= bounds[0]
    assert counted.max >= bounds[1]
    assert counted.max <= 32
    if certainty.startswith("exact"):
        assert (counted.min, counted.max) == bounds
        assert found.certainty.startswith("exact")
    else:
        assert found.certainty == certainty
        assert found.reason


def test_a_guard_on_uniform_data_leaves_the_number_of_requests_open() -> None:
    assert result("if (idx[0] > 0) o[threadIdx.x] = 1;", "o", grid=(1,)).requests is None


def test_an_unsigned_difference_of_thread_and_block_wraps_in_a_larger_grid() -> None:
    """Block 5 has lanes 0..4 at 2**32 - 5 .. 2**32 - 1, far from lanes 5..31: 5 sectors, as of 32
    neighbours.  Three floats further the end of a sector is elsewhere, so they are 6."""
    index = "o[(unsigned long)(threadIdx.x - blockIdx.y)] = 1;"
    unknown = result(index, "o")
    assert (count(unknown).min, count(unknown).max) == (4, 5)
    assert not unknown.assumptions
    assert result(index, "o", grid=(1,)).certainty == "exact"  # blockIdx.y is 0
    apart = result("o[(unsigned long)(threadIdx.x - blockIdx.y) + 3] = 1;", "o")
    assert (count(apart).min, count(apart).max) == (4, 5)
    assert apart.assumptions == ("warps not cut by threadIdx.x < blockIdx.y",)


def test_a_gather_names_where_the_index_comes_from() -> None:
    found = result("o[idx[threadIdx.x]] = 1;", "o", grid=(1,))
    assert found.pattern == "gather"
    assert "idx[threadIdx.x]" in found.reason


@pytest.mark.parametrize(
    ("offset", "bounds"), [(0, (4, 4)), (4, (5, 5)), (32, (4, 4)), (None, (4, 5))]
)
def test_the_offset_of_a_launched_pointer_shifts_its_accesses(
    offset: int | None, bounds: tuple[int, int]
) -> None:
    found = result("o[threadIdx.x] = 1;", "o", grid=(1,), offsets=(("o", offset),))
    assert (count(found).min, count(found).max) == bounds


@pytest.mark.parametrize(
    ("body", "array", "width", "pieces", "sectors"),
    [
        ("c[threadIdx.x] = 1;", "c", 1, 1, 1),
        ("d[threadIdx.x] = 1;", "d", 8, 1, 8),
        ("f2[threadIdx.x] = f2[threadIdx.x];", "f2", 8, 1, 8),
        ("f4[threadIdx.x] = f4[threadIdx.x];", "f4", 16, 1, 16),
        # 32 lanes 12 bytes apart span 384 bytes: 12 sectors, whichever member
        ("f3[threadIdx.x] = f3[threadIdx.x];", "f3", 4, 3, 12),
        ("f3[threadIdx.x].y = 1;", "f3", 4, 1, 12),
        # 32 lanes 16 bytes apart span 512 bytes
        ("f4[threadIdx.x].z = 1;", "f4", 4, 1, 16),
        ("r[threadIdx.x].tag = 1;", "r", 4, 1, 16),
        ("r[threadIdx.x] = r[threadIdx.x];", "r", 8, 2, 16),
        ("*(float4 *)(o + 4 * threadIdx.x) = f4[0];", "o", 16, 1, 16),
    ],
)
def test_the_width_of_an_element_decides_requests_and_sectors(
    body: str, array: str, width: int, pieces: int, sectors: int
) -> None:
    for found in results(body, grid=(1,), parameters=VECTORS):
        if found.array == array and found.access.op.value == "store":
            assert found.width_bytes == width
            assert found.requests_per_access == pieces
            assert found.requests == pieces
            assert (count(found).min, count(found).max) == (sectors, sectors)


def test_an_unknown_block_is_taken_to_be_whole_warps_along_x() -> None:
    row, column = results(
        "o[threadIdx.y * n * 8 + threadIdx.x] = a[threadIdx.x * n + threadIdx.y];", block=None
    )[::-1]
    assert (count(row).min, count(row).max) == (4, 4)
    assert count(column).max == 32


@pytest.mark.parametrize("row", ["threadIdx.y", "threadIdx.z * 3", "threadIdx.y * n"])
def test_the_row_of_an_unknown_block_shifts_its_warps(row: str) -> None:
    found = result(f"o[{row} + threadIdx.x] = 1;", "o", block=None)
    assert (count(found).min, count(found).max) == (4, 5)


def test_an_unknown_block_has_no_number_of_requests() -> None:
    assert result("o[threadIdx.x] = 1;", "o", block=None, grid=(4,)).requests is None


def test_a_stride_that_may_be_zero_is_said_not_to_be() -> None:
    found = result("o[(int)threadIdx.x * n * 32] = 1;", "o")
    assert (count(found).min, count(found).max) == (32, 32)
    assert found.assumptions == ("n != 0",)


def test_a_step_that_some_lanes_skip_counts_from_the_first_iteration() -> None:
    # lane 0 stays at float 33 while the others move on: one sector more from iteration 1 on
    body = (
        "const float *p = a + 33; for (int k = 0; k < n; k++) "
        "{ o[0] = p[threadIdx.x]; if (threadIdx.x == 0) continue; p += 32; }"
    )
    found = result(body, "a", grid=(1,))
    assert (count(found).min, count(found).max) == (5, 6)
    assert found.assumptions == ()


def test_a_gather_under_a_guard_of_an_unknown_grid_may_have_few_lanes() -> None:
    # 8x8: blockIdx.x / 3 == 2 * threadIdx.y picks one row of 8 lanes at most
    body = (
        "[[cuda::shared]] double t[256]; "
        "if (blockIdx.x / 3 == threadIdx.y * 2) t[idx[threadIdx.x] & 255] = 1;"
    )
    found = result(body, "t", block=(8, 8))
    assert count(found).min == 1


def test_a_tail_guard_with_an_unknown_size_counts_whole_warps_and_says_so() -> None:
    body = "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) o[i] = 1;"
    found = result(body, "o", block=None)
    assert (count(found).min, count(found).max) == (4, 4)
    assert any("whole warps" in text for text in found.assumptions)


@pytest.mark.parametrize(
    ("guard", "lanes"),
    [
        ("(unsigned)((int)threadIdx.x - 5) < 10u", 10),  # lanes 5 … 14
        ("(unsigned long)((int)threadIdx.x - 5) < 10ul", 10),
        ("threadIdx.x - 30u > 5u", 30),  # lanes 0 … 29 wrap
        ("(unsigned char)(threadIdx.x * 16) < 64", 8),  # lanes 0-3 and 16-19
        ("(threadIdx.x & 1) && threadIdx.x > 15", 8),
        ("!(threadIdx.x % 4)", 8),
        ("-(int)threadIdx.x / 4 == 0", 4),
        ("(-(int)threadIdx.x) >> 2 == 0", 1),
        ("(-(int)threadIdx.x) % 4 == -1", 8),
    ],
)
def test_a_guard_switches_off_the_lanes_c_says(guard: str, lanes: int) -> None:
    found = result(f"if ({guard}) o[threadIdx.x * 8] = 1;", "o", grid=(1,))
    assert count(found).min == count(found).max == lanes


@pytest.mark.parametrize("type_", ["unsigned", "unsigned long"])
def test_the_complement_of_unknown_unsigned_data_is_not_negative(type_: str) -> None:
    # ~x < 32 holds for the largest x only; a form -x - 1 would always be below 32
    body = f"{type_} x = idx[0] & 255; if (~x < 32u) o[threadIdx.x] = 1;"
    assert all(found.requests != 1 for found in results(body, grid=(1,)) if found.array == "o")


def test_a_shared_atomic_on_one_word_serialises() -> None:
    body = "[[cuda::shared]] int b[64]; atomicAdd__int(&b[threadIdx.x % 4], 1);"
    found = result(body, "b", grid=(1,))
    assert count(found).max == 8


def test_an_unsigned_64_bit_difference_of_an_unknown_block_is_not_taken_to_fit() -> None:
    """Only blocks of index 0 have threads with ``3 - i`` from 0 on; everyone else's is huge."""
    body = "int i = blockIdx.x * blockDim.x + threadIdx.x; "
    body += "if ((unsigned long)(3 - i) >= blockDim.x) return; o[2 * i] = 1;"
    (found,) = (r for r in results(body, block=(32,)) if r.array == "o")
    assert found.guards == ("32*blockIdx.x + threadIdx.x < 4",)
    assert (found.certainty, found.assumptions) == ("bounded", ())  # four lanes are no whole warp
    assert count(found).min == 1


@pytest.mark.parametrize(
    ("stored", "certainty"),
    [
        pytest.param("tile", "unknown", id="shared memory, which has no sectors"),
        pytest.param("o + 4", "data-dependent", id="global memory, somewhere"),
    ],
)
def test_what_a_pointer_that_the_kernel_keeps_in_memory_points_to(
    stored: str, certainty: str
) -> None:
    body = (
        "[[cuda::shared]] static float tile[64]; [[cuda::shared]] static float *kept[1];"
        f"kept[0] = {stored}; __syncthreads(); o[threadIdx.x] = kept[0][threadIdx.x];"
    )
    found = [r for r in results(body, grid=(1,)) if r.access.index == "kept[0][threadIdx.x]"]
    assert [each.certainty for each in found] == [certainty]
    assert (found[0].sectors is None) is (certainty == "unknown")


INTS = "int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;"


def _sectors(n: int, m: int, warp: int) -> int:
    """Different sectors of o[z * n * m + y * n + x] in a warp of a block of 16x4x4 floats."""
    lanes = [(lane % 16, lane // 16 % 4, lane // 64) for lane in range(32 * warp, 32 * warp + 32)]
    return len({(z * n * m + y * n + x) * 4 // 32 for x, y, z in lanes})


def test_rows_that_a_warp_has_one_of_are_no_unknown_between_its_lanes() -> None:
    body = f"{INTS} o[z * n * m + y * n + x] = 1;"
    found = result(body, "o", block=(16, 4, 4), grid=(1,))
    apart = [_sectors(n, m, w) for n in range(19, 60) for m in range(18, 60) for w in range(8)]
    assert found.certainty == "exact-symbolic"
    assert found.assumptions == ("n >= 19",)  # rows of 18 never take 6
    assert (count(found).min, count(found).max) == (min(apart), max(apart)) == (4, 6)
    whole = result(body, "o", block=(16, 4, 4), grid=(1,), assume=["n % 8 == 0"])
    assert (count(whole).min, count(whole).max) == (4, 4)
    across = result(body, "o", block=(16, 2, 4), grid=(1,))  # a warp has one z here too
    assert (count(across).min, count(across).max) == (4, 6)
    planes = result(body, "o", block=(4, 4, 4), grid=(1,))  # two of them in a warp
    assert planes.certainty == "bounded"


def test_rows_of_two_pitches() -> None:
    # 32 consecutive floats somewhere: 4 sectors, or 5
    body = f"{INTS} o[z * m + y * n + x] = 1;"
    found = result(body, "o", block=(32, 2, 2), grid=(1,))
    assert found.certainty == "exact-symbolic"
    assert found.reason == "alignment: depends on m, n: pass `--param m=... --param n=...`"
    assert (count(found).min, count(found).max) == (4, 5)


CHOSEN = "float *o, float *p, int n, int m, float **pp"


@pytest.mark.parametrize(
    ("body", "counts", "certainty"),
    [
        # one array for all lanes, whichever it is: 32 floats from a sector boundary
        ("float *s = n ? o : p; s[threadIdx.x] = 1;", (4, 4), "exact"),
        ("float *s[2]; s[0] = o; s[1] = p; s[n & 1][threadIdx.x] = 1;", (4, 4), "exact"),
        (
            "for (int i = 0; i < n; i++) { float *s = i & 1 ? o : p; s[threadIdx.x] = 1; }",
            (4, 4),
            "exact-symbolic",
        ),
        # 16 floats of each, which begin in the middle of their sectors or not
        ("float *s = threadIdx.x < 16 ? o : p; s[threadIdx.x] = 1;", (4, 4), "exact"),
        ("float *s = threadIdx.x < 16 ? o : p + 4; s[threadIdx.x] = 1;", (5, 5), "exact"),
    ],
)
def test_an_array_that_is_chosen(body: str, counts: tuple[int, int], certainty: str) -> None:
    found = next(
        r for r in results(body, grid=(1,), parameters=CHOSEN) if r.array in ("o|p", "p|o")
    )
    assert found.certainty == certainty
    assert (count(found).min, count(found).max) == counts


def test_arrays_that_lanes_choose_begin_each_somewhere_else() -> None:
    # o at 0 and p at 16 modulo 32: 2 + 2 sectors; o at 4 and p at 4: 3 + 3
    body = "float *a = pp[0], *b = pp[1], *s = threadIdx.x < 16 ? a : b + 4; s[threadIdx.x] = 1;"
    found = results(body, grid=(1,), parameters=CHOSEN)[-1]
    assert count(found).min <= 4
    assert count(found).max >= 6
    assert not found.certainty.startswith("exact")


def test_offsets_of_arrays_that_are_chosen() -> None:
    # launched as o + 1 and p + 1: bytes 4..67 and 68..131 are 3 sectors each
    body = "float *s = threadIdx.x < 16 ? o : p; s[threadIdx.x] = 1;"
    offsets = (("o", 4), ("p", 4))
    (found,) = results(body, grid=(1,), parameters=CHOSEN, offsets=offsets)
    assert found.certainty == "exact"
    assert (count(found).min, count(found).max) == (6, 6)
    # the same for all lanes: 5 sectors from o + 1, 4 from p
    body = "float *s = n ? o : p; s[threadIdx.x] = 1;"
    for n, sectors in ((0, 4), (1, 5)):
        given = results(body, (32,), (1,), {"n": n}, CHOSEN, (("o", 4), ("p", 0)))
        assert [(count(r).min, count(r).max) for r in given] == [(sectors, sectors)]
    (found,) = results(body, grid=(1,), parameters=CHOSEN, offsets=(("o", 4), ("p", 0)))
    assert (count(found).min, count(found).max) == (4, 5)


@pytest.mark.parametrize(
    "body",
    [
        "int at; if (threadIdx.x < 8) at = 8 * threadIdx.x; if (threadIdx.x < 8) o[at] = 1;",
        "int at; if (threadIdx.x >= 8) o[n] = 2; else at = 8 * threadIdx.x;"
        " if (threadIdx.x >= 8) return; o[at] = 1;",
        "float *p; int at; if (threadIdx.x < 8) { p = o; at = 8 * threadIdx.x; __syncthreads(); }"
        " if (threadIdx.x < 8) p[at] = 1;",
    ],
)
def test_who_reads_a_variable_was_where_it_is_assigned(body: str) -> None:
    """Of a variable without a value no program may use one."""
    (found,) = (r for r in results(body, grid=(1,)) if r.access.index in ("o[at]", "p[at]"))
    assert (count(found).min, count(found).max) == (8, 8)
    assert found.certainty == "exact"


def test_a_variable_that_nobody_assigns_is_not_known() -> None:
    assert result("int at; o[at] = 1;", "o", grid=(1,)).certainty == "data-dependent"
