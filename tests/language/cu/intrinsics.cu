// Cache hints, atomics, shuffles and votes.

__global__ void cache_hints(float *out, const float *in, float4 *wide)
{
    int i = threadIdx.x;
    float a = __ldg(&in[i]);            // expect: in load sectors=4
    float b = __ldcs(in + 2 * i);       // expect: in load sectors=8
    float c = __ldcg(&in[3 * i]) + __ldca(in);  // expect: in load sectors=12; in load sectors=1
    __stcs(&out[i], a + b + c);         // expect: out store sectors=4
    __stwt(out + i + 1, a);             // expect: out store sectors=5
    __stcg(&out[2 * i], a);             // expect: out store sectors=8
    float4 v = __ldg(&wide[i]);         // expect: wide load sectors=16
    __stcs(wide + i, v);                // expect: wide store sectors=16
    float2 w = __ldg(reinterpret_cast<const float2 *>(&in[2 * i]));  // expect: in load sectors=8
    out[i] = w.x;                       // expect: out store sectors=4
}

__global__ void global_atomics(float *sums, int *counts, unsigned long long *large, double *d)
{
    int i = threadIdx.x;
    atomicAdd(&sums[i], 1.f);              // expect: sums atomic sectors=4
    atomicAdd(counts + 2 * i, 1);          // expect: counts atomic sectors=8
    atomicMax(counts, i);                  // expect: counts atomic sectors=1
    int old = atomicCAS(&counts[i], 0, 1);  // expect: counts atomic sectors=4
    atomicAdd(&large[i], 1ull);            // expect: large atomic sectors=8
    atomicExch(&counts[old & 127], i);     // expect: counts atomic data-dependent
    atomicAdd(&d[i], 1.0);                 // expect: d atomic sectors=8
    atomicAdd_block(&counts[i], 1);        // expect: counts atomic sectors=4
    atomicSub(&counts[i + 1], 1);          // expect: counts atomic sectors=5
    unsigned place = atomicInc((unsigned *)counts, 1000u);  // expect: counts atomic sectors=1
    sums[place % 128] = 1.f;               // expect: sums store data-dependent
}

__global__ void shared_atomics(int *out)
{
    __shared__ int bins[64];
    if (threadIdx.x < 64) bins[threadIdx.x] = 0;  // expect: bins store wavefronts=1
    __syncthreads();
    atomicAdd(&bins[threadIdx.x % 64], 1);  // expect: bins atomic wavefronts=1
    atomicOr(&bins[2 * (threadIdx.x % 32)], 4);  // expect: bins atomic wavefronts=2
    __syncthreads();
    if (threadIdx.x < 64) atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);  // expect: bins load wavefronts=1; out atomic sectors=4
}

__global__ void shuffles(float *out, const float *in)
{
    int i = threadIdx.x, lane = threadIdx.x & 31;
    float v = in[i];  // expect: in load sectors=4
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
    v += __shfl_xor_sync(0xffffffffu, v, 1) + __shfl_up_sync(0xffffffffu, v, 1);
    if (lane == 0) out[i / 32] = v;        // expect: out store sectors=1
    int first = __shfl_sync(0xffffffffu, i, 0);
    out[first + lane] = v;                 // expect: out store sectors=4
    int mirrored = __shfl_xor_sync(0xffffffffu, lane, 31);
    out[2 * mirrored] = v;                 // expect: out store sectors=8
}

__global__ void votes(int *out, const int *in)
{
    int i = threadIdx.x;
    unsigned mask = __ballot_sync(0xffffffffu, in[i] > 0);  // expect: in load sectors=4
    out[i] = __popc(mask);                     // expect: out store sectors=4
    if (__any_sync(0xffffffffu, i > 40)) out[2 * i] = 1;  // expect: out store sectors=8
    if (__all_sync(mask, i >= 0)) out[i] = 2;  // expect: out store sectors=4
    int rank = __popc(mask & ((1u << (i & 31)) - 1));
    out[rank & 31] = 3;                        // expect: out store data-dependent
    unsigned active = __activemask();
    if (i == __ffs(active) - 1) out[0] = 4;    // expect: out store sectors=1
    unsigned half = (i & 31) < 16 ? 0xffffu : 0xffff0000u;  // each half votes for itself
    unsigned votes = __ballot_sync(half, in[i] > 0);  // expect: in load sectors=4
    out[32 * __popc(votes) + i] = 5;           // expect: out store data-dependent
    out[32 * __reduce_add_sync(half, i) + i] = 6;  // expect: out store data-dependent
    out[32 * __reduce_add_sync(0xffffffffu, i) + i] = 7;  // expect: out store sectors=4
    __syncwarp();
    out[__syncthreads_count(1)] = 5;  // expect: out store sectors=1
}

__global__ void promised_alignment(float *out, const float *in)
{
    const float4 *four = static_cast<const float4 *>(__builtin_assume_aligned(in, 16));
    float *one = (float *)__builtin_assume_aligned(out, 32, 4);
    float4 v = four[threadIdx.x];  // expect: in load sectors=16
    one[2 * threadIdx.x] = v.x;    // expect: out store sectors=8
}

__global__ void reversed(float *out, const float *in, int bits)
{
    int i = threadIdx.x;
    out[__brev(i) >> 27] = 1;                  // expect: out store sectors=4
    out[__brev(i) >> 24] = in[__brev(i) >> (32 - bits)];  // expect: in load sectors=32; out store sectors=32
    out[__brevll(i) >> 59] = 1;                // expect: out store data-dependent
}

void run(float *p, const float *q, int *k, const int *n, void *v)
{
    reversed<<<1, 128>>>(p, q, 10);
    cache_hints<<<1, 128>>>(p, q, (float4 *)v);
    global_atomics<<<1, 128>>>(p, k, (unsigned long long *)v, (double *)v);
    shared_atomics<<<1, 128>>>(k);
    shuffles<<<1, 128>>>(p, q);
    votes<<<1, 128>>>(k, n);
    promised_alignment<<<1, 128>>>(p, q);
}
