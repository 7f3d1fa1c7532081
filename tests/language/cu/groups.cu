// Cooperative groups: ranks, tiles, group indices, shuffles of tiles.

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

__device__ float reduced(cg::thread_block_tile<32> tile, float v)
{
    for (int d = tile.size() / 2; d > 0; d /= 2) v += tile.shfl_down(v, d);
    return v;
}

__global__ void ranks(float *out)
{
    cg::thread_block block = cg::this_thread_block();
    int i = block.thread_rank();
    out[i] = 0.f;  // expect: out store sectors=4
    out[2 * i + block.group_index().x * block.size()] = 1.f;  // expect: out store sectors=8
    out[block.thread_index().x] = 2.f;  // expect: out store sectors=4
    block.sync();
    cg::sync(block);
}

__global__ void tiles(float *out, const float *in)
{
    auto block = cooperative_groups::this_thread_block();
    auto tile = cg::tiled_partition<32>(block);
    int lane = tile.thread_rank(), warp = tile.meta_group_rank();
    float v = in[32 * warp + lane];  // expect: in load sectors=4
    v = reduced(tile, v);
    if (lane == 0) out[warp] = v;    // expect: out store sectors=1
    cg::thread_block_tile<8> small = cg::tiled_partition<8>(tile);
    out[small.thread_rank() * 4] = v;  // expect: out store sectors=4
    out[8 * small.meta_group_rank()] = small.shfl(v, 0);  // expect: out store sectors=4
    if (small.any(v > 0.f)) out[lane] = v;  // expect: out store data-dependent
    out[32 * small.ballot(v > 0.f) + lane] = v;  // expect: out store data-dependent
    if (tile.any(v > 0.f)) out[lane] = tile.ballot(1);  // expect: out store sectors=4
    tile.sync();
}

__global__ void whole_grid(float *out, int n)
{
    cg::grid_group grid = cg::this_grid();
    for (int i = grid.thread_rank(); i < n; i += grid.size()) out[i] = 0.f;  // expect: out store sectors=4
    grid.sync();
}

__global__ void coalesced(int *out)
{
    if (threadIdx.x % 2) {
        cg::coalesced_group active = cg::coalesced_threads();
        if (active.thread_rank() == 0) atomicAdd(out, (int)active.size());  // expect: out atomic sectors=1
    }
}

__global__ void labelled(float *out, const int *labels)
{
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    auto same = cg::labeled_partition(warp, labels[threadIdx.x]);  // expect: labels load sectors=4
    float sum = cg::reduce(same, 1.f, cg::plus<float>());
    if (same.thread_rank() == 0) atomicAdd(out, sum);  // expect: out atomic sectors=1
    out[threadIdx.x] = 0.f;                            // expect: out store sectors=4
}

template <int WARPS>
__global__ void several_warps(float *out, const float *in)
{
    __shared__ cg::block_tile_memory<128> memory;
    __shared__ float sums[4];
    auto block = cg::this_thread_block(memory);
    auto tile = cg::tiled_partition<32 * WARPS>(block);
    float v = cg::reduce(tile, in[block.thread_rank()], cg::plus<float>());  // expect: in load sectors=4
    if (tile.thread_rank() == 0) sums[tile.meta_group_rank()] = v;  // expect: sums store wavefronts=1
    tile.sync();
    out[tile.thread_rank()] = sums[0];  // expect: sums load wavefronts=1; out store sectors=4
    out[32 * (tile.thread_rank() / 64)] = 0.f;  // expect: out store sectors=1
}

void run(float *p, const float *q, int *k)
{
    several_warps<4><<<2, 128>>>(p, q);
    ranks<<<2, 128>>>(p);
    tiles<<<2, 128>>>(p, q);
    whole_grid<<<2, 128>>>(p, 1024);
    coalesced<<<2, 128>>>(k);
    labelled<<<2, 128>>>(p, k);
}
