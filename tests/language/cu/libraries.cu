// cub's collectives and wmma's fragments: what surrounds them is counted, their inside is told.

#include <cub/cub.cuh>
#include <mma.h>

using namespace nvcuda;

__global__ void collectives(float *out, const float *in)
{
    using Reduce = cub::BlockReduce<float, 128>;
    typedef cub::BlockScan<int, 128> Scan;
    __shared__ typename Reduce::TempStorage storage;
    __shared__ union {
        Scan::TempStorage scan;
        float row[128];
    } shared;
    __shared__ cub::WarpReduce<float>::TempStorage warps[4];
    float v = in[threadIdx.x];           // expect: in load sectors=4
    float sum = Reduce(storage).Sum(v);
    int offset = 0;
    Scan(shared.scan).ExclusiveSum((int)threadIdx.x, offset);
    float warp = cub::WarpReduce<float>(warps[threadIdx.x / 32]).Sum(v);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;  // expect: out store sectors=1
    shared.row[2 * (threadIdx.x % 64)] = warp;    // expect: shared store wavefronts=2
    out[offset] = 1.f;                   // expect: out store data-dependent
    out[2 * threadIdx.x] = v;            // expect: out store sectors=8
}

__global__ void fragments(float *c, const half *a, const half *b)
{
    __shared__ half tile[256];
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int k = 0; k < 64; k += 16) {
        tile[threadIdx.x] = b[threadIdx.x + k];  // expect: b load sectors=2; tile store wavefronts=1
        wmma::load_matrix_sync(left, a + k, 64);   // expect: a load unknown
        wmma::load_matrix_sync(right, tile, 16);   // expect: tile load unknown
        wmma::mma_sync(sum, left, right, sum);
    }
    wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);  // expect: c store unknown
    c[256 + threadIdx.x] = 1.f;          // expect: c store sectors=4
}

void run(float *p, const half *h)
{
    collectives<<<2, 128>>>(p, p);
    fragments<<<1, 32>>>(p, h, h);
}

// --- std::aligned_storage: several elements move as one ---

template <typename T> __device__ void move_four(T *to, T *from, int d, int s)
{
    typedef typename std::aligned_storage<4 * sizeof(T), 4 * alignof(T)>::type Four;
    ((Four *)to)[d] = ((Four *)from)[s];  // expect: in load sectors=16 @T=float; out store sectors=16 @T=float; in load sectors=8 @T=short; out store sectors=8 @T=short
}
template <typename T> __device__ void move_four(T *to, volatile T *from, int d, int s)
{
    to[d] = from[s];
}

template <typename T> __global__ void fours(T *out, T *in)
{
    T mine[4];
    move_four(mine, in, 0, threadIdx.x);
    for (int i = 0; i < 4; i++) mine[i] += 1;
    move_four(out, mine, threadIdx.x, 0);
    auto *pairs = (std::aligned_storage_t<8, 8> *)out;
    pairs[2 * threadIdx.x] = pairs[0];  // expect: out load sectors=1; out store sectors=16
}

void fours_too(float *p, short *s)
{
    fours<<<1, 64>>>(p, p);
    fours<<<1, 64>>>(s, s);
}
