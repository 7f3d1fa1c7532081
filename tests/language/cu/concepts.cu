// Constrained template parameters are types like any others.

#include <concepts>

template <typename F>
concept Unary = requires(F f, float x) { { f(x) } -> std::convertible_to<float>; };

struct Table {
    float *t;
    __device__ float operator()(float x) const { return t[threadIdx.x * 2] * x; }  // expect: f.t load sectors=8 @F=Table; f__0.t load sectors=8 @Fs=Table
};

template <Unary F>
__global__ void mapped(const float *in, float *out, F f)
{
    out[threadIdx.x] = f(in[threadIdx.x]);  // expect: in load sectors=4; out store sectors=4
}

template <std::integral T, std::same_as<double> U, Unary... Fs>
__global__ void several(T *x, U *y, Fs... f)
{
    y[threadIdx.x] = (f(1.f) + ...) + x[threadIdx.x];  // expect: x load sectors=2; y store sectors=8
}

template <int N, std::floating_point T>
__device__ T times(T x) { return x * N; }

template <class T>
    requires std::integral<T>
__global__ void scaled(T *x, const float *y)
{
    x[threadIdx.x * 4] = (T)times<3>(y[threadIdx.x]);  // expect: y load sectors=4; x store sectors=16
}

void run(float *p, double *d, short *s, int *i)
{
    mapped<<<1, 32>>>(p, p, Table{p});
    several<<<1, 32>>>(s, d, Table{p});
    scaled<<<1, 32>>>(i, p);
}
