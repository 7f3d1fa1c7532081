// The stride experiment: the same number of updates, further and further apart.
// From a stride of 8 floats on every lane has a sector of its own; the rest of the slowdown
// that is measured beyond it comes from DRAM, which is read in larger pieces than a sector.

#define THREADS 256

__global__ void bump(float *data, unsigned int count, unsigned int stride)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        data[i * stride] += 1.0f;
}

void run_stride(float *data)
{
    const unsigned int count = 1u << 20;
    const unsigned int blocks = count / THREADS;
    bump<<<blocks, THREADS>>>(data, count, 1);
    bump<<<blocks, THREADS>>>(data, count, 8);
    bump<<<blocks, THREADS>>>(data, count, 16);
    bump<<<blocks, THREADS>>>(data, count, 32);
}
