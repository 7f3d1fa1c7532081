"""Races are those of the kernel, not of the sizes that were made up to simulate it."""

from __future__ import annotations

from pathlib import Path

import pytest

import coalescecheck

# A sum over the rows of a 16x16 block, with all the barriers it needs.
ROWS = """
__global__ void sums(float *out, const float *in)
{
    __shared__ float tile[16][16];
    int x = threadIdx.x, y = threadIdx.y;
    tile[y][x] = in[y * 16 + x];
    __syncthreads();
    for (int step = 1; step < 16; step *= 2) {
        if (y % (2 * step) == 0)
            tile[y][x] += tile[y + step][x];
        __syncthreads();
    }
    out[y * 16 + x] = tile[y][x];
}
"""
# Two arrays of n elements in dynamic shared memory, for blocks of n threads.
PARTS = """
__global__ void parts(float *out, const float *in, int n)
{
    extern __shared__ float all[];
    float *one = all, *two = all + n;
    int i = threadIdx.x;
    one[i] = in[i];
    two[i] = in[n + i];
    __syncthreads();
    one[i] = 2 * two[i];
    out[i] = one[i];
}
"""
LAUNCH = "void run(float *out, float *in, int n) { parts<<<1, 64, 1024>>>(out, in, n); }"
# So many iterations at n = 64 that smaller sizes are simulated.
LONG = """
// coalescecheck: block(64) grid(1) n=64
__global__ void parts(float *out, const float *in, int n)
{
    __shared__ float all[128];
    float *one = all, *two = all + n, sum = 0;
    int i = threadIdx.x;
    one[i] = in[i];
    two[i] = in[n + i];
    __syncthreads();
    for (int k = 0; k < n; ++k)
        sum += in[k * n + i];
    one[i] = 2 * two[i];
    out[i] = one[i] + sum;
}
"""
# Neighbours are read while they may already be written.
SHIFT = """
__global__ void shift(float *out, const float *in, int n)
{
    extern __shared__ float all[];
    int i = threadIdx.x;
    all[i] = i < n ? in[i] : 0;
    __syncthreads();
    float next = i + 1 < blockDim.x ? all[i + 1] : 0;
    all[i] = next;
    out[i] = all[i];
}
"""
# Four threads along y, which the assumed block does not have.
COLUMN = """
__global__ void column(float *out, const float *in)
{
    __shared__ float all[4];
    int y = threadIdx.y;
    all[y] = in[blockIdx.x * 4 + y];
    all[y] *= 2;
    __syncthreads();
    out[blockIdx.x * 4 + y] = all[3 - y];
}
"""
# The same, for so long that few blocks can be simulated.
LONG_COLUMN = """
__global__ void column(float *out, const float *in, int n)
{
    __shared__ float all[4];
    int y = threadIdx.y;
    all[y] = in[blockIdx.x * 4 + y];
    for (int k = 0; k < n; ++k) {
        all[y] *= 2;
        all[y] += in[k];
        all[y] *= 3;
        all[y] += in[2 * k];
    }
    __syncthreads();
    out[blockIdx.x * 4 + y] = all[3 - y];
}
"""
# Two parts of a row, 16 threads wide.
HALO = """
__global__ void halo(float *out, const float *in)
{
    __shared__ float tile[4][32];
    int x = threadIdx.x, y = threadIdx.y;
    tile[y][x] = in[y * 32 + x];
    tile[y][x + 16] = in[y * 32 + x + 16];
    __syncthreads();
    out[y * 16 + x] = tile[y][x] + tile[y][31 - x];
}
"""
# A column of threads, which says so nowhere.
ONE_WIDE = """
__global__ void column(float *out, const float *in, int pitch)
{
    extern __shared__ float all[];
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = threadIdx.y;
    all[y] = in[y * pitch + x];
    __syncthreads();
    out[y * pitch + x] = all[blockDim.y - 1 - y];
}
"""
# Half as many threads as a row has elements.
HALVES = """
__global__ void halves(float *out, const float *in, int n)
{
    extern __shared__ float all[];
    int i = threadIdx.x, half = n / 2;
    float *one = all, *two = all + n;
    one[i] = in[i];
    one[i + half] = in[i + half];
    two[i] = in[n + i];
    two[i + half] = in[n + i + half];
    __syncthreads();
    out[i] = one[i] + two[n - 1 - i];
}
"""
# The last block of a grid that covers n elements; rows are long enough only if it does.
LAST = """
__global__ void last(float *out, const float *in, int n)
{
    __shared__ float tile[2][8];
    int x = threadIdx.x, end = 7;
    if (blockIdx.x == gridDim.x - 1)
        end = n - 8 * blockIdx.x - 1;
    tile[0][x] = in[8 * blockIdx.x + x];
    __syncthreads();
    if (x < end) {
        float next = tile[0][x + 1];
        tile[1][x] = next;
    }
    __syncthreads();
    out[8 * blockIdx.x + x] = tile[1][x];
}
void run(float *out, float *in, int n, int blocks) { last<<<blocks, 8>>>(out, in, n); }
"""
# Sums of groups of ``window`` threads; ``mask`` is one less.
MASKED = """
__global__ void sums(float *out, const float *in, unsigned window, unsigned mask)
{
    extern __shared__ float all[];
    unsigned i = threadIdx.x;
    all[i] = in[blockIdx.x * blockDim.x + i];
    __syncthreads();
    for (unsigned offset = window / 2; offset > 0; offset >>= 1) {
        if ((i & mask) < offset)
            all[i] += all[i + offset];
        __syncthreads();
    }
    out[blockIdx.x * blockDim.x + i] = all[i];
}
"""
TWO_DIMENSIONS = """
__global__ void flip(float *out, const float *in)
{
    __shared__ float tile[16][16];
    tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 16 + threadIdx.x];
    out[threadIdx.y * 16 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
"""


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        pytest.param(ROWS, [], id="a row of the assumed block is longer than one of the tile"),
        pytest.param(PARTS + LAUNCH, [], id="parts of a size that is not known overlap"),
        pytest.param(LONG, [], id="parts of a size that was made smaller overlap"),
        pytest.param(COLUMN, [], id="threads that the assumed block has along x"),
        pytest.param(LONG_COLUMN, [], id="threads that no block has that could be tried"),
        pytest.param(ONE_WIDE, [], id="a block that is one thread wide"),
        pytest.param(HALO, [], id="a row of the assumed block is longer than a part"),
        pytest.param(LAST, [], id="a size that does not go with the grid"),
        pytest.param(HALVES, [], id="two elements of a row for each thread"),
        pytest.param(MASKED, [], id="a mask that is not one less than a power of two"),
        pytest.param(
            MASKED.replace("< offset", "<= offset"), ["WAR"], id="one too many, whatever the mask"
        ),
        pytest.param(SHIFT, ["WAR"], id="neighbours, whatever the sizes"),
        pytest.param(TWO_DIMENSIONS, ["RAW"], id="a transpose, whatever the block"),
        pytest.param(
            "// coalescecheck: block(64) grid(1)\n" + SHIFT, ["WAR"], id="neighbours, one launch"
        ),
    ],
)
def test_races_hang_on_nothing_that_is_made_up(tmp_path: Path, text: str, kinds: list[str]) -> None:
    path = tmp_path / "kernel.cu"
    path.write_text(text, encoding="utf-8")
    (kernel,) = coalescecheck.analyze(path).kernels
    assert [race.kind for race in kernel.races] == kinds


@pytest.mark.parametrize("first", ["__shared__ float v[N]", "__shared__ float v[3 MORE]"])
@pytest.mark.parametrize("second", ["__shared__ float w[32]", "extern __shared__ float w[]"])
def test_arrays_of_unknown_sizes_do_not_reach_into_others(
    tmp_path: Path, first: str, second: str
) -> None:
    path = tmp_path / "kernel.cu"
    body = "v[0] = 1; w[threadIdx.x] = 1;"
    path.write_text(f"__global__ void k() {{ {first}; {second}; {body} }}", encoding="utf-8")
    (kernel,) = coalescecheck.analyze(path, block=(32, 1, 1)).kernels
    assert kernel.races == ()


def test_a_race_that_no_other_sample_reaches_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "kernel.cu"
    path.write_text(
        TWO_DIMENSIONS.replace("const float *in)", "const float *in, int n)").replace(
            "    tile", "    if (n < 50)\n        tile"
        ),
        encoding="utf-8",
    )
    (kernel,) = coalescecheck.analyze(path).kernels
    assert [race.kind for race in kernel.races] == ["RAW"]


BETWEEN = """
{before}
// coalescecheck: block(64) grid(1)
__global__ void turn(float *out, const float *in)
{{
    __shared__ float all[64];
    {declared}
    all[threadIdx.x] = in[threadIdx.x];
    {between}
    out[threadIdx.x] = all[63 - threadIdx.x];
}}
"""
BARRIER = "__shared__ cuda::barrier<cuda::thread_scope_block> bar;"
GROUP = "auto block = cooperative_groups::this_thread_block();"


@pytest.mark.parametrize(
    ("parts", "kinds"),
    [
        pytest.param({"between": ""}, ["RAW"], id="nothing"),
        pytest.param({"between": "out[0] = sqrtf(in[0]);"}, ["RAW"], id="a known function"),
        pytest.param({"between": "bar.arrive_and_wait();", "declared": BARRIER}, [], id="at once"),
        pytest.param(
            {"between": "auto t = bar.arrive(); bar.wait(std::move(t));", "declared": BARRIER},
            [],
            id="in two steps",
        ),
        pytest.param(
            {"between": "auto t = block.barrier_arrive(); block.barrier_wait(std::move(t));",
             "declared": GROUP},
            [],
            id="a group in two steps",
        ),
        pytest.param(
            {"between": "block.barrier_arrive();", "declared": GROUP}, ["RAW"], id="nobody waits"
        ),
        pytest.param({"between": 'asm volatile("barrier.sync 1, 64;");'}, [], id="assembly"),
        pytest.param(
            {"between": "all_here();", "before": "extern __device__ void all_here();"},
            [],
            id="a function that is defined elsewhere",
        ),
    ],
)  # fmt: skip
def test_what_may_be_a_barrier_orders(
    tmp_path: Path, parts: dict[str, str], kinds: list[str]
) -> None:
    path = tmp_path / "kernel.cu"
    path.write_text(BETWEEN.format(**({"before": "", "declared": ""} | parts)), encoding="utf-8")
    (kernel,) = coalescecheck.analyze(path).kernels
    assert [race.kind for race in kernel.races] == kinds


# Each warp waits for its own lanes only.
WARPS = """
__global__ void turn(float *out, const float *in)
{{
    {declared};
    int i = blockIdx.x * {size} + threadIdx.x;
    all[threadIdx.x] = in[i];
    __syncwarp();
    {use}
    out[i] = sum;
}}
"""
# The sum of a block's warps, without the barrier that it needs.
WARP_SUMS = """
__global__ void sums(float *out, const float *in)
{
    __shared__ float all[32];
    float v = in[blockIdx.x * blockDim.x + threadIdx.x];
    if (threadIdx.x % 32 == 0)
        all[threadIdx.x / 32] = v;
    if (threadIdx.x < 32)
        out[blockIdx.x * 32 + threadIdx.x] =
            threadIdx.x < blockDim.x / 32 ? all[threadIdx.x] : 0;
}
"""
MANY = "extern __shared__ float all[]"


def raced(folder: Path, text: str) -> list[tuple[str, bool]]:
    """Kind of each race, and whether it takes more than a warp."""
    path = folder / "kernel.cu"
    path.write_text(text, encoding="utf-8")
    (kernel,) = coalescecheck.analyze(path).kernels
    return [(race.kind, race.beyond_warp) for race in kernel.races]


def test_races_that_only_several_warps_have(tmp_path: Path) -> None:
    use = "float sum = all[blockDim.x - 1 - threadIdx.x];"
    text = WARPS.format(declared=MANY, size="blockDim.x", use=use)
    assert raced(tmp_path, text) == [("RAW", True)]
    assert raced(tmp_path, "// coalescecheck: block(64)\n" + text) == [("RAW", False)]
    assert raced(tmp_path, "// coalescecheck: block(32)\n" + text) == []
    assert raced(tmp_path, WARP_SUMS) == [("RAW", True)]
    found = list(coalescecheck.analyze(tmp_path / "kernel.cu", select=["CC401"]).findings)
    assert [str(finding.severity) for finding in found] == ["note"]
    assert found[0].message.endswith("(read after write), in blocks of more than 32 threads")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            WARPS.format(declared=MANY, size="32", use="float sum = all[(threadIdx.x + 1) % 32];"),
            id="a kernel for one warp, which does not ask for its block",
        ),
        pytest.param(
            WARPS.format(
                declared="__shared__ float all[32]",
                size="blockDim.x",
                use="float sum = all[31 - threadIdx.x];",
            ),
            id="room for one warp",
        ),
        pytest.param(
            WARPS.format(
                declared=MANY,
                size="blockDim.x",
                use="all[threadIdx.x + 32] = 2 * in[i]; __syncthreads();"
                " float sum = all[31 - threadIdx.x % 32];",
            ),
            id="two parts of one warp each",
        ),
        pytest.param(
            WARPS.format(
                declared=MANY,
                size="blockDim.x",
                use="float sum = all[threadIdx.x / 32 * 32 + 31 - threadIdx.x % 32];",
            ),
            id="each warp reads its own part",
        ),
        pytest.param(WARP_SUMS.replace("    if (threadIdx.x < 32)", "    __syncthreads();\n"
            "    if (threadIdx.x < 32)"), id="with the barrier"),
    ],
)  # fmt: skip
def test_no_race_between_warps(tmp_path: Path, text: str) -> None:
    assert raced(tmp_path, text) == []


# Two arrays of 128 floats for blocks of 64; long enough that other checks make n smaller.
TWICE = """
__global__ void twice(float *out, const float *in, int n)
{
    extern __shared__ float all[];
    float *one = all, *two = all + n;
    int i = threadIdx.x;
    one[i] = in[i];
    one[i + 64] = in[i + 64];
    two[i] = two[i + 64] = 0;
    __syncthreads();
    for (int k = 0; k < n; k++) two[i] += one[(i + k) & 127];
    out[i] = two[i];
}
int main() { twice<<<1, 64, 1024>>>(nullptr, nullptr, %d); }
"""


@pytest.mark.parametrize(("n", "raced"), [(128, False), (64, True)])
def test_known_sizes_are_not_made_smaller_to_find_a_race(
    tmp_path: Path, n: int, raced: bool
) -> None:
    """With n = 64 the second half of ``one`` is ``two``, and read while it changes."""
    path = tmp_path / "k.cu"
    path.write_text(TWICE % n)
    (kernel,) = coalescecheck.analyze(path).kernels
    assert bool(kernel.races) is raced


EXCHANGE = """
// coalescecheck: block(64) grid(4)
__global__ void k(float *out, const float *in)
{{
    __shared__ float s[64];
    int t = threadIdx.x, lane = t % 32;
    s[t] = in[t];
    __syncthreads();
    {body}
    __syncthreads();
    out[t] = s[63 - t];
}}
"""
SHUFFLE = "__shfl_xor_sync(0xffffffff, v, 2)"
REDUCED = (
    "cooperative_groups::reduce(cooperative_groups::tiled_partition<%d>("
    "cooperative_groups::this_thread_block()), v, cooperative_groups::plus<float>())"
)
TWICE_OVER = "float v = 0; for (int k = 0; k < 2; k++) {"
PUT = "v += k; if (lane == 0) s[t] = v; __syncwarp();"


@pytest.mark.parametrize(
    ("body", "kinds"),
    [
        pytest.param(f"float v = s[t ^ 1]; s[t] = {SHUFFLE};", [], id="read, exchanged, written"),
        pytest.param("float v = s[t ^ 1]; s[t] = v;", ["WAR"], id="read and written"),
        pytest.param(
            "float v = lane > 0 ? s[t - 1] : 0; for (int i = 1; i < 32; i *= 2) { float u = "
            "__shfl_up_sync(0xffffffff, v, i); if (lane > i) v += u; } s[t] = v;",
            [],
            id="a sum of all before",
        ),
        pytest.param(
            f"float v = t; s[t] = v; v = {SHUFFLE}; out[64 + t] = v + s[t ^ 1];",
            ["RAW"],
            id="written, exchanged and read: an exchange is no memory barrier",
        ),
        pytest.param(f"float v = s[t ^ 32]; s[t] = {SHUFFLE};", ["WAR"], id="of another warp"),
        pytest.param(
            f"float v = s[t ^ 17]; if (lane < 16) v = {SHUFFLE}; s[t] = v;",
            ["WAR"],
            id="an exchange of half of the lanes",
        ),
        pytest.param(
            f"float v = s[t ^ 1], w = s[t ^ 2]; v = {SHUFFLE}; s[t] = v + w;",
            ["WAR"],
            id="what is not exchanged",
        ),
        pytest.param(
            "float v = s[t ^ 1]; v += __activemask(); s[t] = v;", ["WAR"], id="no exchange"
        ),
        pytest.param(
            f"float v = 0; v = {SHUFFLE}; v += s[t ^ 1]; s[t] = v;", ["WAR"], id="read after it"
        ),
        pytest.param(
            f"{TWICE_OVER} {PUT} v = s[t & 32]; out[t] = {SHUFFLE}; }}",
            [],
            id="exchanged before the next iteration writes",
        ),
        pytest.param(
            f"{TWICE_OVER} {PUT} v = s[t & 32]; out[t] = {REDUCED % 32}; }}",
            [],
            id="reduced by a cooperative group",
        ),
        pytest.param(
            f"{TWICE_OVER} {PUT} v = s[t & 32]; out[t] = {REDUCED % 16}; }}",
            ["WAR"],
            id="reduced by half of the warp",
        ),
        pytest.param(
            f"{TWICE_OVER} {PUT} v = s[t & 32]; out[t] = v; }}",
            ["WAR"],
            id="not exchanged before the next iteration writes",
        ),
        pytest.param(
            f"{TWICE_OVER} v = {SHUFFLE}; {PUT} v = s[t & 32]; out[t] = v; }}",
            ["WAR"],
            id="exchanged before it is read",
        ),
        pytest.param(
            f"{TWICE_OVER} {PUT} v = s[t & 32]; out[t] = v; }} v = {SHUFFLE};",
            ["WAR"],
            id="exchanged behind the loop",
        ),
        pytest.param(
            f"{TWICE_OVER} {PUT} v = s[t & 32]; if (k > 1) v = {SHUFFLE}; out[t] = v; }}",
            ["WAR"],
            id="exchanged in iterations that do not come",
        ),
    ],
)
def test_what_the_lanes_of_a_warp_exchange_has_been_read(
    tmp_path: Path, body: str, kinds: list[str]
) -> None:
    path = tmp_path / "k.cu"
    path.write_text(EXCHANGE.format(body=body))
    (kernel,) = coalescecheck.analyze(path).kernels
    assert [race.kind for race in kernel.races] == kinds
