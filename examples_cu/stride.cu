// The stride experiment: the same number of updates, further and further apart.
// The stride is left open, so the sectors come out as a formula in it; `--param stride=8` gives
// the number for one stride.  From 8 floats on every lane has a sector of its own; the rest of
// the slowdown that is measured beyond that comes from DRAM, which is read in larger pieces.

#define THREADS 256

__global__ void bump(float *data, int stride)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    data[i * stride] += 1.0f;
}

void run_stride(float *data, int stride)
{
    const int updates = 1 << 20;
    bump<<<updates / THREADS, THREADS>>>(data, stride);
}
