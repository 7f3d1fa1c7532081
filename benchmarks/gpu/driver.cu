// Runs every kernel of examples_cu once, for Nsight Compute to count what they really touch.

#include "../../examples_cu/patterns.cu"
#undef THREADS
#include "../../examples_cu/transpose.cu"
#include "../../examples_cu/stride.cu"

#include <cstdio>
#include <cstdlib>
#include <vector>

template <typename T> T *buffer(size_t count)
{
    T *memory = nullptr;
    if (cudaMalloc(&memory, count * sizeof(T)) != cudaSuccess) {
        std::fprintf(stderr, "no memory on the device\n");
        std::exit(1);
    }
    cudaMemset(memory, 0, count * sizeof(T));
    return memory;
}

int main()
{
    const size_t count = 1 << 20;
    float *out = buffer<float>(count), *in = buffer<float>(count);
    double *out_double = buffer<double>(count), *in_double = buffer<double>(count);
    float4 *out_float4 = buffer<float4>(count), *in_float4 = buffer<float4>(count);
    int *order = buffer<int>(count);
    std::vector<int> random(count);
    for (size_t i = 0; i < count; ++i)
        random[i] = std::rand() % count;
    cudaMemcpy(order, random.data(), count * sizeof(int), cudaMemcpyHostToDevice);
    run_patterns(out, in, order, out_double, in_double, out_float4, in_float4);
    run_transpose(out, in);
    float *wide = buffer<float>(size_t(32) << 20);
    for (int stride : {1, 2, 8, 16, 32})
        run_stride(wide, stride);
    cudaError_t error = cudaDeviceSynchronize();
    std::printf("%s\n", cudaGetErrorString(error));
    return error != cudaSuccess;
}
