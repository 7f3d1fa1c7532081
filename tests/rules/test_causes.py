"""Rules that name the cause of a bad global access: first what each must stay silent on.

The numbers are counted by hand: a warp's lanes are numbered along threadIdx.x, a sector has 32
bytes, a float 4.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import coalescecheck
from coalescecheck.findings import Finding

HEAD = """
struct Eight { float a, b, c, d, e, f, g, h; };
struct Pair { float re, im; };
struct Loose { float a, b, c, d; };
"""
CAUSES = ["CC104", "CC105", "CC106", "CC107", "CC302", "CC303"]


def findings(code: str, folder: Path, select: list[str]) -> list[Finding]:
    """What the selected rules say about a kernel."""
    path = folder / "kernel.cu"
    path.write_text(HEAD + code, encoding="utf-8")
    report = coalescecheck.analyze(path, select=select)
    assert [kernel.status for kernel in report.kernels] == ["analysed"]
    assert report.internal_errors == ()
    return list(report.findings)


def said(code: str, folder: Path, select: list[str] | None = None) -> list[str]:
    """Severity and code of each finding."""
    return [f"{f.severity} {f.rule}" for f in findings(code, folder, select or [*CAUSES, "CC101"])]


LINE = "int i = blockIdx.x * blockDim.x + threadIdx.x;"
PLANE = """int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;"""


def line(parameters: str, body: str, launch: str = "block(256) grid(64)") -> str:
    """A kernel with one thread per index ``i``."""
    return f"// coalescecheck: {launch}\n__global__ void f({parameters}) {{\n{LINE}\n{body}\n}}\n"


def plane(parameters: str, body: str, launch: str = "block(16,16) grid(8,8) n=128") -> str:
    """A kernel with one thread per place ``(x, y)``."""
    return f"// coalescecheck: {launch}\n__global__ void f({parameters}) {{\n{PLANE}\n{body}\n}}\n"


SILENT = {
    "contiguous floats": line("float *o, const float *a", "o[i] = a[i];"),
    "a float4 at a time": line("float4 *o, const float4 *a", "o[i] = a[i];"),
    "one float for all lanes": line(
        "float *o, const float *a", "o[i] = a[0] + a[1] + a[2] + a[3];"
    ),
    "a stencil reads neighbours, lane by lane": line(
        "float *o, const float *a", "o[i] = a[i] + a[i + 8] + a[i + 16];"
    ),
    "one byte per lane": line("char *o, const char *a", "o[i] = a[i];"),
    "a whole struct of 16 bytes with its alignment": line(
        "int4 *o, const int4 *a", "int4 v = a[i]; o[i] = v;"
    ),
    "a struct for all lanes": line("float *o, const Eight *p", "o[i] = p[0].c + p[blockIdx.x].d;"),
    "a row for each warp": line(
        "float *o, const float *a",
        """float s = 0;
        for (int k = threadIdx.x % 32; k < 512; k += 32) s += a[i / 32 * 512 + k];
        o[i] = s;""",
    ),
    "a column for each lane": line(
        "float *o, const float *a",
        "float s = 0; for (int k = 0; k < 64; ++k) s += a[k * 16384 + i]; o[i] = s;",
    ),
    "threadIdx.x along the row": plane(
        "float *c, int n", "c[y * n + x] = 1.0f;", "block(32,8) n=512"
    ),
    "half the warp in each of two rows": plane("float *c, int n", "c[y * n + x] = 1.0f;"),
    "a product with the usual order": plane(
        "float *c, const float *a, const float *b, int n",
        """float s = 0;
        for (int k = 0; k < n; ++k) s += a[y * n + k] * b[k * n + x];
        c[y * n + x] = s;""",
        "block(32,8) grid(16,64) n=512",
    ),
    "data decides": line("float *o, const float *a, const int *at", "o[i] = a[at[i]];"),
}


@pytest.mark.parametrize("code", SILENT.values(), ids=SILENT)
def test_silent_on(code: str, tmp_path: Path) -> None:
    assert said(code, tmp_path) == []


# --- CC104 --------------------------------------------------------------------------------------

PRODUCT = plane(
    "float *c, const float *a, const float *b, int n",
    """float s = 0;
    for (int k = 0; k < n; ++k) s += a[x * n + k] * b[k * n + y];
    c[x * n + y] = s;""",
)
# a warp is 16 x by 2 y: in a[] 16 rows for 2 floats that would fit 2 sectors at best, in c[] 16
# rows of 8 bytes, 128 bytes in all


def test_a_swap_that_was_tried_is_the_fix(tmp_path: Path) -> None:
    code = plane("float *o, const float *a, int n", "o[x * n + y] = a[x * n + y];")
    for finding in findings(code, tmp_path, [*CAUSES, "CC101"]):
        assert finding.rule == "CC104"
        assert finding.fix is not None
        # 16 rows of 2 floats; swapped, 2 rows of 16 floats, which are 2 sectors each
        assert (finding.fix.before, finding.fix.after) == ("16 sectors", "4 sectors")


def test_arrays_of_their_own_that_were_tried_are_the_fix(tmp_path: Path) -> None:
    (finding,) = findings(line("Pair *p", "p[i].re = 1;"), tmp_path, CAUSES)
    assert finding.fix is not None
    assert (finding.fix.before, finding.fix.after) == ("8 sectors", "4 sectors")


def test_a_product_with_swapped_indices(tmp_path: Path) -> None:
    load, store = findings(PRODUCT, tmp_path, [*CAUSES, "CC101"])
    assert (load.rule, str(load.severity)) == ("CC104", "warning")
    assert load.message == (
        "global load a[x * n + k]: 16 sectors per warp, 2 would do (8x); "
        "lanes step 512 bytes along threadIdx.x, the same along threadIdx.y"
    )
    # 8 x 8 blocks of 8 warps, 128 iterations: 65536 requests with 14 sectors too much
    assert load.waste == 65536 * 14
    assert store.rule == "CC104"
    # once for 128 iterations of 17 sectors: below a hundredth of what the kernel moves
    assert str(store.severity) == "note"
    assert store.waste == 512 * 12


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(
            plane("float *b, const float *a, int n", "b[x * n + y] = a[y * n + x];"),
            id="a transpose: one of the two is turned either way",
        ),
        pytest.param(
            plane("float *b, const int *at, int n", "b[x * n + y] = (float)at[at[x]];"),
            id="another access is a gather",
        ),
        pytest.param(
            plane(
                "float *b, int n",
                """__shared__ float t[16][16];
                t[threadIdx.y][threadIdx.x] = 1.0f; __syncthreads();
                b[x * n + y] = t[threadIdx.y][threadIdx.x];""",
            ),
            id="a shared tile needs the order",
        ),
        pytest.param(
            plane("float *b, int n", "b[x * n + y] = 1.0f;", "block(256,1) grid(1,128) n=128"),
            id="a block of one row: y is the same in the whole block",
        ),
        pytest.param(
            plane("unsigned char *p, int n", "p[3 * x + threadIdx.y] = 1;", "block(32,3) grid(4)"),
            id="three bytes of a pixel are no row",
        ),
    ],
)
def test_a_swap_that_is_not_sure_to_help_is_not_proposed(code: str, tmp_path: Path) -> None:
    assert "CC104" not in {f.rule for f in findings(code, tmp_path, CAUSES)}


def test_a_swap_is_proposed_without_a_launch(tmp_path: Path) -> None:
    code = PRODUCT.replace("// coalescecheck: block(16,16) grid(8,8) n=128", "")
    assert said(code, tmp_path) == ["warning CC104", "warning CC104"]


# --- CC105 --------------------------------------------------------------------------------------


def test_one_member_of_a_struct_of_eight(tmp_path: Path) -> None:
    code = line("float *o, const Eight *p", "o[i] = p[i].c;")
    (finding,) = findings(code, tmp_path, [*CAUSES, "CC101"])
    assert (finding.rule, str(finding.severity)) == ("CC105", "warning")
    assert "32 sectors per warp, 4 would do (8x)" in finding.message
    assert "one member, 4 bytes, of each 32-byte Eight" in finding.message
    assert finding.waste == 64 * 8 * 28


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param("o[i] = p[i].a + p[i].b;", ["warning CC105"] * 2, id="two of eight"),
        pytest.param(
            "o[i] = p[i].a + p[i].b + p[i].c + p[i].d;", ["warning CC105"] * 4, id="half of them"
        ),
        pytest.param(
            "o[i] = p[i].a + p[i].b + p[i].c + p[i].d + p[i].e;", ["note CC105"] * 5, id="more"
        ),
        pytest.param("p[i].a = o[i];", ["warning CC105"], id="a store"),
        pytest.param("o[i] = p[2 * i].a;", ["warning CC101"], id="every second struct"),
        pytest.param("o[i] = p[threadIdx.x * 8].a;", ["warning CC101"], id="far apart"),
    ],
)
def test_members_of_a_struct(body: str, expected: list[str], tmp_path: Path) -> None:
    assert said(line("float *o, Eight *p", body), tmp_path) == expected


def test_a_struct_that_one_access_could_take_is_told_so(tmp_path: Path) -> None:
    code = line("float *o, const Pair *p", "o[i] = p[i].re * p[i].im;")
    notes = findings(code, tmp_path, CAUSES)
    assert [str(f.severity) for f in notes] == ["note", "note"]
    assert {f.advice for f in notes} == {
        "declare Pair __align__(8) and use it whole, in one request"
    }


@pytest.mark.parametrize(
    ("body", "advice"),
    [
        pytest.param("p[i].re = p[i].im = 1;", "declare Pair __align__(8)", id="both of one"),
        pytest.param("p[i].re = p[i + 1].im = 1;", "keep the members of Pair", id="of two"),
        pytest.param("p[i].re = 1;", "keep the members of Pair", id="one of one"),
    ],
)
def test_only_members_of_one_struct_can_be_written_together(
    body: str, advice: str, tmp_path: Path
) -> None:
    found = findings(line("Pair *p", body), tmp_path, CAUSES)
    assert found
    assert all(finding.advice.startswith(advice) for finding in found)


def test_members_of_a_vector_type_that_a_compiler_may_join_are_a_note(tmp_path: Path) -> None:
    body = "p[i].x = p[i].y = p[i].z = 1;"
    assert said(line("float4 *p", body), tmp_path) == ["note CC105"] * 3
    assert said(line("float3 *p", body), tmp_path) == ["warning CC105"] * 3
    assert said(line("float4 *p", "p[i].x = 1;"), tmp_path) == ["warning CC105"]


def test_a_struct_that_is_aligned_like_a_vector_is_one(tmp_path: Path) -> None:
    """A compiler knows that 8 bytes of it can be moved at once, and nothing is left to declare."""
    body = "p[i].a = p[i].b = 1;"
    for aligned, expected in (
        ("__align__(8)", "note"),
        ("alignas(16)", "warning"),
        ("", "warning"),
    ):
        code = f"struct {aligned} Two {{ float a, b; }};\n{line('Two *p', body)}"
        found = findings(code, tmp_path, CAUSES)
        assert [str(f.severity) for f in found] == [expected] * 2, aligned
        wanted = "use the whole Two at once" if aligned == "__align__(8)" else ""
        assert found[0].advice.startswith(wanted)
        assert ("__align__" in found[0].advice) == (aligned == "")


# --- CC106 and CC107 ----------------------------------------------------------------------------

WALK = "float s = 0; for (int k = 0; k < {trips}; ++k) s += a[i * {pitch} + k]; o[i] = s;"


def walk(trips: int, pitch: int) -> str:
    """Every lane adds up the first ``trips`` floats of its row of ``pitch``."""
    return line("float *o, const float *a", WALK.format(trips=trips, pitch=pitch))


def test_every_lane_walks_a_row(tmp_path: Path) -> None:
    (finding,) = findings(walk(512, 512), tmp_path, [*CAUSES, "CC101"])
    assert (finding.rule, str(finding.severity)) == ("CC106", "warning")
    assert finding.message == (
        "global load a[i * 512 + k]: 32 sectors per warp, 4 would do (8x); "
        "lanes step 2048 bytes, the loop 4 bytes"
    )
    assert finding.reason.startswith("each lane walks a row of its own: 8 iterations")


@pytest.mark.parametrize(("step", "rule"), [(4, "CC106"), (5, "CC101"), (7, "CC101")])
def test_a_walk_of_which_hardly_two_steps_share_a_sector_is_none(
    step: int, rule: str, tmp_path: Path
) -> None:
    loop = f"for (int k = 0; k < 512; ++k) s += a[i * 4096 + {step} * k];"
    text = line("float *o, const float *a", f"float s = 0; {loop} o[i] = s;")
    (finding,) = findings(text, tmp_path, [*CAUSES, "CC101"])
    assert finding.rule == rule


@pytest.mark.parametrize(
    ("trips", "pitch", "expected"),
    [
        # 32 bytes a thread of a row of 132: they stay in L1, whose banks are all different
        pytest.param(8, 33, "note CC106", id="a short walk that L1 holds"),
        # rows of 128 bytes: 32 words of one bank
        pytest.param(16, 32, "warning CC107", id="a short walk with a pitch of 32 words"),
        pytest.param(512, 513, "warning CC106", id="a long walk over odd rows"),
        pytest.param(512, 1024, "warning CC106", id="a long walk does not stay in L1"),
    ],
)
def test_walks(trips: int, pitch: int, expected: str, tmp_path: Path) -> None:
    assert said(walk(trips, pitch), tmp_path) == [expected]


def test_a_walk_by_whole_sectors_uses_none_twice(tmp_path: Path) -> None:
    body = "float s = 0; for (int k = 0; k < 512; k += 8) s += a[i * 512 + k]; o[i] = s;"
    assert said(line("float *o, const float *a", body), tmp_path) == ["warning CC101"]


def test_passes_over_the_banks_are_stated(tmp_path: Path) -> None:
    (finding,) = findings(walk(16, 32), tmp_path, ["CC107"])
    assert finding.message == (
        "global load a[i * 32 + k]: L1 32 bank passes per warp, 1 would do (32x); "
        "lanes step 128 bytes"
    )


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(
            line("float *o, const float *a", "o[i] = a[i * 32];"), id="read once: nothing hits"
        ),
        pytest.param(walk(512, 512), id="more than L1 holds"),
        pytest.param(walk(16, 33), id="every bank"),
        pytest.param(
            line("float *o, const float *a", "for (int k = 0; k < 16; ++k) o[i * 32 + k] = a[0];"),
            id="stores do not read L1",
        ),
    ],
)
def test_no_conflict_in_l1(code: str, tmp_path: Path) -> None:
    assert said(code, tmp_path, ["CC107"]) == []


# --- CC302 --------------------------------------------------------------------------------------


def test_four_floats_of_a_lane_one_by_one(tmp_path: Path) -> None:
    body = "o[i] = a[4 * i] + a[4 * i + 1] + a[4 * i + 2] + a[4 * i + 3];"
    (finding,) = findings(line("float *o, const float *a", body), tmp_path, [*CAUSES, "CC101"])
    assert (finding.rule, str(finding.severity)) == ("CC302", "note")
    assert finding.message == (
        "global load a[4 * i] and 3 neighbours: 4 requests of 4 bytes per lane, "
        "16 sectors each; 1 of 16 bytes would do, 16 sectors in all"
    )
    assert finding.advice == "use a type of 16 bytes, such as float4"
    assert finding.waste == 4 * 64 * 8 * 12


@pytest.mark.parametrize(
    ("row", "message"),
    [
        # a block of 16x2 takes 256 bytes of each of two rows; of odd rows, every other one starts
        # in the middle of a sector and touches one more
        ("2 * n", "16 sectors each; 1 of 16 bytes would do, 16 sectors in all"),
        ("n", "up to 17 sectors each; 1 of 16 bytes would do, up to 17 sectors in all"),
    ],
)
def test_sectors_of_rows_that_may_start_in_the_middle_of_one(
    row: str, message: str, tmp_path: Path
) -> None:
    body = f"for (int k = 0; k < 4; ++k) a[4 * (y * ({row}) + x) + k] = 0;"
    code = plane("float *a, int n", body, "block(16,16) grid(8,8)")
    (finding,) = findings(code, tmp_path, ["CC302"])
    assert finding.message.endswith(message)


@pytest.mark.parametrize(
    ("step", "message"),
    [
        # four float4 of a lane lie 64 bytes from those of the next: each takes a sector of its own
        (16, "4 of 16 bytes would do"),
        (4, "1 of 16 bytes would do, 16 sectors in all"),
    ],
)
def test_sectors_are_promised_only_of_vectors_side_by_side(
    step: int, message: str, tmp_path: Path
) -> None:
    body = f"for (int k = 0; k < {step}; ++k) a[{step} * i + k] = 0;"
    (finding,) = findings(line("float *a", body), tmp_path, ["CC302"])
    assert finding.message.endswith(message)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        # 8 of 32 bytes would be used; 16 are half
        pytest.param(
            "o[i] = a[32 * i] + a[32 * i + 1];",
            ["warning CC101", "warning CC101"],
            id="the step is the cause",
        ),
        pytest.param(
            "o[i] = a[32 * i] + a[32 * i + 1] + a[32 * i + 2] + a[32 * i + 3];",
            ["warning CC302"],
            id="half a sector",
        ),
        pytest.param(
            "for (int k = 0; k < 4; ++k) o[i] += a[4 * i + k];", ["note CC302"], id="a loop"
        ),
        pytest.param(
            "for (int k = 0; k < 4; ++k) a[4 * i + k] = 0;", ["warning CC302"], id="stores"
        ),
        pytest.param(
            "for (int k = 0; k < 5; ++k) o[i] += a[5 * i + k];",
            ["note CC101"],
            id="five floats: no type has 20 bytes",
        ),
        pytest.param(
            "o[i] = a[4 * i + 1] + a[4 * i + 2];",
            ["warning CC101"] * 2,
            id="across an 8-byte border",
        ),
        pytest.param(
            "o[i] = a[4 * i + 1]; if (i % 2) o[i] = a[4 * i];",
            ["warning CC101"] * 2,
            id="under different conditions",
        ),
        pytest.param(
            "float4 *v = (float4 *)a; o[i] = v[2 * i].x + v[2 * i].y + v[2 * i].z + v[2 * i].w;",
            ["warning CC101"] * 4,
            id="members of a float4, which the compiler joins",
        ),
        pytest.param(
            "for (int k = 0; k < 4; ++k) atomicAdd(&a[4 * i + k], 1.0f);",
            ["warning CC101"],
            id="atomics",
        ),
        pytest.param(
            "o[i] = a[4 * i] + a[4 * i + 3];", ["warning CC101"] * 2, id="not side by side"
        ),
        pytest.param(
            "o[i] = a[n + 2 * i] + a[n + 2 * i + 1];",
            ["note CC101"] * 2,
            id="the alignment is not known",
        ),
    ],
)
def test_neighbouring_elements(body: str, expected: list[str], tmp_path: Path) -> None:
    assert said(line("float *o, float *a, int n", body), tmp_path) == expected


@pytest.mark.parametrize(
    ("element", "count", "advice"),
    [
        ("float", 4, "use a type of 16 bytes, such as float4"),
        ("double", 2, "use a type of 16 bytes, such as double2"),
        ("char", 4, "use a type of 4 bytes, such as char4"),
        ("short", 4, "use a type of 8 bytes, such as short4"),
        ("short", 8, "use a type of 16 bytes"),
        ("unsigned int", 4, "use a type of 16 bytes"),
    ],
)
def test_the_type_that_would_do(element: str, count: int, advice: str, tmp_path: Path) -> None:
    code = line(f"{element} *a", f"for (int k = 0; k < {count}; ++k) a[{count} * i + k] = 0;")
    (finding,) = findings(code, tmp_path, ["CC302"])
    assert finding.advice == advice


def test_members_of_an_aligned_struct_are_joined_by_the_compiler(tmp_path: Path) -> None:
    body = "o[i] = q[2 * i].a + q[2 * i].b + q[2 * i].c + q[2 * i].d;"
    for align, expected in (("__align__(16)", []), ("", ["CC302"])):
        code = f"struct {align} Quad {{ float a, b, c, d; }};"
        code += line("float *o, const Quad *q", body)
        assert [f.rule for f in findings(code, tmp_path, ["CC302"])] == expected


# --- CC303 --------------------------------------------------------------------------------------


def test_a_float3_is_three_requests_of_the_same_sectors(tmp_path: Path) -> None:
    code = line("float3 *o, const float3 *a", "o[i] = a[i];")
    store, load = findings(code, tmp_path, [*CAUSES, "CC101"])
    assert [f"{f.severity} {f.rule}" for f in (store, load)] == ["warning CC303", "note CC303"]
    assert load.message == (
        "global load a[i]: 3 requests of 4 bytes per lane, 12 sectors each (36 where 12 would do)"
    )
    assert load.advice == "use float4, or an array per member"


def test_later_requests_of_short_rows_find_their_sectors_too(tmp_path: Path) -> None:
    # rows of 64 bytes: 2 sectors where they start at a multiple of 32 bytes, else 3
    code = "struct Two { double a, b; };"
    body, launch = "o[y * n + x] = a[y * n + x];", "block(4,8) grid(8,8) n=129"
    code += plane("Two *o, const Two *a, int n", body, launch)
    store, load = findings(code, tmp_path, CAUSES)
    assert [f"{f.severity} {f.rule}" for f in (store, load)] == ["warning CC303", "note CC303"]
    assert load.message.endswith("20 sectors each (40 where 16 would do)")


def test_the_most_that_rows_of_float3_can_touch(tmp_path: Path) -> None:
    # 16 lanes span 184 bytes: 6 sectors, or 7 from places such as 20 and 12 for two rows of n = 2
    code = plane("float3 *o, int n, float3 v", "o[y * n + x] = v;", "block(16,16) grid(8,8)")
    (store,) = findings(code, tmp_path, CAUSES)
    assert store.message.endswith(
        "3 requests of 4 bytes per lane, up to 14 sectors each (up to 42 where 12 would do)"
    )


@pytest.mark.parametrize(
    ("before", "element", "advice"),
    [
        pytest.param("", "uchar3", "use uchar4, or an array per member", id="CUDA's own"),
        pytest.param("", "double3", "keep the members of double3 in separate arrays, one element "
                     "per lane", id="wider than an access"),
        pytest.param("struct Three { float a, b, c; };", "Three", "pad Three to 16 bytes with that "
                     "alignment, or use an array per member", id="the user's"),
        pytest.param("struct curandStateXORWOW { int d[6]; };", "curandStateXORWOW", "",
                     id="a library's, which nobody can change"),
    ],
)  # fmt: skip
def test_what_to_do_about_a_split_type(
    before: str, element: str, advice: str, tmp_path: Path
) -> None:
    code = before + line(f"{element} *o, const {element} *a", "o[i] = a[i];")
    assert {f.advice for f in findings(code, tmp_path, CAUSES)} == {advice}


def test_alignment_alone_may_join_the_requests(tmp_path: Path) -> None:
    code = line("Loose *o, const Loose *a", "o[i] = a[i];")
    assert {f.advice for f in findings(code, tmp_path, CAUSES)} == {
        "declare Loose __align__(16): one request"
    }


# --- one cause ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(PRODUCT, id="CC104"),
        pytest.param(line("float *o, const Eight *p", "o[i] = p[i].c;"), id="CC105"),
        pytest.param(walk(512, 512), id="CC106"),
        pytest.param(walk(16, 32), id="CC107"),
        pytest.param(line("float3 *o, const float3 *a", "o[i] = a[i];"), id="CC303"),
    ],
)
def test_the_general_rule_alone_still_speaks(code: str, tmp_path: Path) -> None:
    assert {f.rule for f in findings(code, tmp_path, ["CC101"])} == {"CC101"}


def test_a_comment_that_names_a_rule_does_not_make_it_take_over(tmp_path: Path) -> None:
    code = walk(512, 512).replace("o[i] = s;", "o[i] = s; // coalescecheck: ignore[CC106] known")
    assert said(code.replace("s += a", "\ns += a"), tmp_path, ["CC101"]) == ["warning CC101"]


def test_the_costliest_of_a_launch_comes_first(tmp_path: Path) -> None:
    body = "o[i] = p[i].a; for (int k = 0; k < 64; ++k) o[i] += q[2 * (i + 16384 * k)];"
    often, once = findings(
        line("float *o, const Eight *p, const float *q", body), tmp_path, [*CAUSES, "CC101"]
    )
    # 64 x 4 sectors against 28 of the other, although its ratio is only 2
    assert (often.rule, often.ratio, once.rule, once.ratio) == ("CC101", 2.0, "CC105", 8.0)


def test_one_byte_is_no_bytes(tmp_path: Path) -> None:
    code = "struct Bytes { char r, g, b, a; };" + line("Bytes *p", "p[i].r = 1;")
    (found,) = findings(code, tmp_path, CAUSES)
    assert "one member, 1 byte, of each 4-byte Bytes" in found.message
    walk = "int s = 0; for (int k = 0; k < 512; ++k) s += a[i * 512 + k]; o[i] = s;"
    (found,) = findings(line("int *o, const char *a", walk), tmp_path, CAUSES)
    assert found.message.endswith("lanes step 512 bytes, the loop 1 byte")
