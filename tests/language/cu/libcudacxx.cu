// libcu++: spans, atomic references, barriers and pipelines.

#include <cooperative_groups.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/std/span>

namespace cg = cooperative_groups;

__global__ void spans(cuda::std::span<double> x, cuda::std::span<const float> in)
{
    __shared__ double tile[64];
    cuda::std::span s(tile);
    s[threadIdx.x] = x.subspan(32)[threadIdx.x];  // expect: x.data_ load sectors=8; tile store wavefronts=2
    __syncthreads();
    if (in.empty()) return;
    for (double &v : x.first(2)) s[threadIdx.x] += v;  // expect: x.data_ load sectors=1; tile load wavefronts=2; tile store wavefronts=2
    __syncthreads();
    x[2 * threadIdx.x] = s.last(32)[threadIdx.x % 32] + in[threadIdx.x];  // expect: tile load wavefronts=2; in.data_ load sectors=4; x.data_ store sectors=16
}

__global__ void atomics(int *bins, float *sum, const int *in)
{
    __shared__ int local[64];
    cuda::atomic_ref<int, cuda::thread_scope_block> mine(local[threadIdx.x ^ 1]);
    mine.store(0);  // expect: local store wavefronts=1
    __syncthreads();
    mine.fetch_add(1, cuda::memory_order_relaxed);  // expect: local atomic wavefronts=1
    cuda::atomic_ref<int, cuda::thread_scope_device> bin{bins[2 * threadIdx.x]};
    bin.fetch_max(in[threadIdx.x], cuda::std::memory_order_relaxed);  // expect: in load sectors=4; bins atomic sectors=8
    cuda::atomic_ref<float, cuda::thread_scope_device>(*sum).fetch_add(1.f);  // expect: sum atomic sectors=1
    int seen = bin.load(cuda::memory_order_acquire);  // expect: bins load sectors=8
    bin.compare_exchange_strong(seen, seen + 1);      // expect: bins atomic sectors=8
    ++bin;                                            // expect: bins atomic sectors=8
}

__global__ void barriers(float *out, const float *in)
{
    using barrier = cuda::barrier<cuda::thread_scope_block>;
    __shared__ barrier ready;
    __shared__ float tile[64];
    auto block = cg::this_thread_block();
    if (block.thread_rank() == 0) init(&ready, block.size());
    block.sync();
    tile[threadIdx.x] = in[threadIdx.x];  // expect: in load sectors=4; tile store wavefronts=1
    ready.arrive_and_wait();
    float v = tile[63 - threadIdx.x];  // expect: tile load wavefronts=1
    barrier::arrival_token token = ready.arrive();
    out[threadIdx.x] = v;  // expect: out store sectors=4
    ready.wait(std::move(token));
    tile[threadIdx.x] = v;  // expect: tile store wavefronts=1
}

__global__ void pipelined(float *out, const float *in, int n)
{
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    __shared__ float buffer[2][64];
    auto pipe = cuda::make_pipeline(cg::this_thread_block(), &state);
    for (int i = 0; i < n; ++i) {
        pipe.producer_acquire();
        cuda::memcpy_async(&buffer[i % 2][threadIdx.x], &in[i * 64 + threadIdx.x], sizeof(float), pipe);  // expect: in load sectors=4; buffer store wavefronts=1
        pipe.producer_commit();
        pipe.consumer_wait();
        out[i * 64 + threadIdx.x] = buffer[i % 2][threadIdx.x ^ 1];  // expect: buffer load wavefronts=1; out store sectors=4
        pipe.consumer_release();
    }
}

void run(double *d, float *f, int *i)
{
    spans<<<1, 64>>>(cuda::std::span<double>(d, 256), cuda::std::span<const float>(f, 64));
    atomics<<<1, 64>>>(i, f, i);
    barriers<<<1, 64>>>(f, f);
    pipelined<<<1, 64>>>(f, f, 8);
}
