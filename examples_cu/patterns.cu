// One load per kernel: how many 32-byte sectors a warp touches, by access pattern.
// Every kernel runs as 64 blocks of 256 threads.

#define THREADS 256
#define BLOCKS 64

__device__ unsigned int global_thread()
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

// 4 sectors: 32 floats side by side fill them.
__global__ void contiguous(float *out, const float *in)
{
    unsigned int i = global_thread();
    out[i] = in[i];
}

// 5 sectors: the same 128 bytes, begun in the middle of a sector.
__global__ void shifted_by_one(float *out, const float *in)
{
    unsigned int i = global_thread();
    out[i] = in[i + 1];
}

// 8 sectors: every other float is skipped.
__global__ void every_second(float *out, const float *in)
{
    unsigned int i = global_thread();
    out[i] = in[2 * i];
}

// 16 sectors: two floats of each are used.
__global__ void every_fourth(float *out, const float *in)
{
    unsigned int i = global_thread();
    out[i] = in[4 * i];
}

// 32 sectors: one float of each is used.
__global__ void every_eighth(float *out, const float *in)
{
    unsigned int i = global_thread();
    out[i] = in[8 * i];
}

// 32 sectors again: a lane cannot touch more than one.
__global__ void one_per_line(float *out, const float *in)
{
    unsigned int i = global_thread();
    out[i] = in[32 * i];
}

// 1 sector: all lanes read the same float.
__global__ void same_for_all(float *out, const float *in)
{
    unsigned int i = global_thread();
    out[i] = in[0];
}

// Between 1 and 32 sectors: only the data knows.
__global__ void picked_by_data(float *out, const float *in, const int *order)
{
    unsigned int i = global_thread();
    out[i] = in[order[i]];
}

// 8 sectors: twice the bytes, all used.
__global__ void contiguous_double(double *out, const double *in)
{
    unsigned int i = global_thread();
    out[i] = in[i];
}

// 16 sectors: four times the bytes, all used.
__global__ void contiguous_float4(float4 *out, const float4 *in)
{
    unsigned int i = global_thread();
    out[i] = in[i];
}

void run_patterns(float *out, const float *in, const int *order, double *out_double,
                  const double *in_double, float4 *out_float4, const float4 *in_float4)
{
    contiguous<<<BLOCKS, THREADS>>>(out, in);
    shifted_by_one<<<BLOCKS, THREADS>>>(out, in);
    every_second<<<BLOCKS, THREADS>>>(out, in);
    every_fourth<<<BLOCKS, THREADS>>>(out, in);
    every_eighth<<<BLOCKS, THREADS>>>(out, in);
    one_per_line<<<BLOCKS, THREADS>>>(out, in);
    same_for_all<<<BLOCKS, THREADS>>>(out, in);
    picked_by_data<<<BLOCKS, THREADS>>>(out, in, order);
    contiguous_double<<<BLOCKS, THREADS>>>(out_double, in_double);
    contiguous_float4<<<BLOCKS, THREADS>>>(out_float4, in_float4);
}
