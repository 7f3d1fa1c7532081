// Copies from global to shared memory that bypass registers: both sides are accesses.

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/pipeline>
#include <cuda_pipeline.h>

__global__ void primitives(float *out, const float *in)
{
    __shared__ float tile[128];
    __shared__ alignas(16) float wide[512];
    int i = threadIdx.x;
    __pipeline_memcpy_async(&tile[i], &in[i], sizeof(float));        // expect: in load sectors=4; tile store wavefronts=1
    __pipeline_memcpy_async(&wide[4 * i], &in[8 * i], 16);           // expect: in load sectors=32; wide store wavefronts=4
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[i] = tile[i] + wide[4 * i];  // expect: tile load wavefronts=1; wide load wavefronts=4; out store sectors=4
}

__global__ void written_in_ptx(float *out, const float *in)
{
    __shared__ alignas(16) float tile[512];
    int i = threadIdx.x;
    unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(&tile[4 * i]));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"r"(to), "l"(in + 4 * i));  // expect: in load sectors=16; tile store wavefronts=4
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;\n" ::"r"(to), "l"(&in[2 * i]), "n"(4));  // expect: in load sectors=8; tile store wavefronts=4
    asm volatile("cp.async.commit_group;\n" ::);
    asm volatile("cp.async.wait_group %0;\n" ::"n"(0));
    __syncthreads();
    out[i] = tile[i];  // expect: tile load wavefronts=1; out store sectors=4
}

__global__ void with_pipeline(float *out, const float *in)
{
    __shared__ float tile[128];
    cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
    int i = threadIdx.x;
    pipe.producer_acquire();
    cuda::memcpy_async(&tile[i], &in[2 * i], sizeof(float), pipe);  // expect: in load sectors=8; tile store wavefronts=1
    pipe.producer_commit();
    pipe.consumer_wait();
    out[i] = tile[i];  // expect: tile load wavefronts=1; out store sectors=4
    pipe.consumer_release();
}

void run(float *p, const float *q)
{
    primitives<<<1, 128>>>(p, q);
    written_in_ptx<<<1, 128>>>(p, q);
    with_pipeline<<<1, 128>>>(p, q);
}
