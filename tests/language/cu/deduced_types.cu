// auto, structured bindings, range-for, decltype, initialisers.

#include <initializer_list>

struct Pair {
    int first;
    int second;
};

struct Span {
    float *data;
    int stride;
};

__device__ Pair split(int i)
{
    return {i / 8, i % 8};
}

__device__ auto twice(int i)
{
    return 2 * i;
}

__device__ auto trailing(int i) -> long long
{
    return 3LL * i;
}

__global__ void deduced(float *out, const double *in)
{
    auto i = threadIdx.x;
    auto *p = out;
    auto value = in[i];                  // expect: in load sectors=8
    const auto &same = value;
    p[twice(i)] = same;                  // expect: out store sectors=8
    decltype(auto) q = p;
    q[trailing(i)] = 0.f;                // expect: out store sectors=12
    decltype(value) other = in[2 * i];   // expect: in load sectors=16
    auto &place = out[i];
    place = other;                       // expect: out store sectors=4
}

__global__ void bindings(float *out)
{
    auto [row, column] = split(threadIdx.x);
    out[row + column * 4] = 0.f;   // expect: out store sectors=4
    Span span{out, 2};
    auto &[data, stride] = span;
    data[threadIdx.x * stride] = 1.f;  // expect: out store sectors=8
    const auto [d, s] = span;
    d[threadIdx.x * s + 1] = 1.f;  // expect: out store sectors=8
    int pair[2] = {4, 1};
    auto [a, b] = pair;
    out[threadIdx.x * a + b] = 1.f;  // expect: out store sectors=16
}

__global__ void over_ranges(float *out)
{
    const int strides[] = {1, 1, 1};
    for (int s : strides) {
        out[threadIdx.x * s] = 0.f;  // expect: out store sectors=4
    }
    for (auto shift : {0, 8, 16}) {
        out[threadIdx.x + shift] = 0.f;  // expect: out store sectors=4
    }
    __shared__ float tile[4];
    for (float &place : tile) {
        place = 0.f;  // expect: tile store wavefronts=1
    }
    float local[2];
    for (auto &l : local) l = 1.f;
    out[threadIdx.x] = local[0] + local[1];  // expect: out store sectors=4
}

__global__ void initialisers(float *out)
{
    int i{static_cast<int>(threadIdx.x)};
    int j = {i * 2};
    int k(3 * i);
    int m[2]{i, 4 * i};
    Pair pair{.first = i, .second = 8 * i};
    out[j] = 0.f;            // expect: out store sectors=8
    out[k] = 0.f;            // expect: out store sectors=12
    out[m[1]] = 0.f;         // expect: out store sectors=16
    out[pair.second] = 0.f;  // expect: out store sectors=32
    if (int t = i * 2; t >= 0) {
        out[t] = 1.f;        // expect: out store sectors=8
    }
}

void run(float *p, const double *q)
{
    deduced<<<1, 128>>>(p, q);
    bindings<<<1, 32>>>(p);
    over_ranges<<<1, 128>>>(p);
    initialisers<<<1, 128>>>(p);
}
