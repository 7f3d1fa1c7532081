// Complex numbers and pairs of libraries: one request where they are aligned to their size.

#include <complex>
#include <cuda/std/complex>
#include <thrust/complex.h>
#include <thrust/pair.h>

typedef thrust::complex<float> C;

__global__ void of_thrust(C *a, C *b, thrust::complex<double> *d, float *o)
{
    int i = threadIdx.x;
    a[i] = a[i + 32] * b[2 * i];             // expect: a load sectors=8; b load sectors=16; a store sectors=8
    a[i] = 2.f * a[i] - C(1.f, i) / b[i];    // expect: a load sectors=8; b load sectors=8; a store sectors=8
    d[i] = thrust::conj(d[i]);               // expect: d load sectors=16; d store sectors=16
    d[i] = thrust::exp(-d[i]);               // expect: d load sectors=16; d store sectors=16
    o[i] = thrust::abs(a[i]) + norm(b[i]);   // expect: a load sectors=8; b load sectors=8; o store sectors=4
    o[i] = a[i].real();                      // expect: a load sectors=8; o store sectors=4
    d[i].imag(1.0);                          // expect: d store sectors=16
    o[sizeof(C) * i + alignof(C)] = 0.f;     // expect: o store sectors=32
    __shared__ C tile[32][33];
    tile[i % 32][0] = a[i];                  // expect: a load sectors=8; tile store wavefronts=2
}

__global__ void of_others(cuda::std::complex<double> *c, std::complex<double> *s, std::complex<float> *f)
{
    int i = threadIdx.x;
    c[i] = c[i + 32];  // expect: c load sectors=16; c store sectors=16
    s[i] = s[i + 32];  // expect: s load sectors=16; s store sectors=16
    f[i] = f[i + 32];  // expect: f load sectors=8; f store sectors=8
}

__global__ void pairs(thrust::pair<int, double> *p, thrust::pair<int, int> *q)
{
    int i = threadIdx.x;
    p[i].first = p[i].second;      // expect: p load sectors=16; p store sectors=16
    q[i] = thrust::make_pair(i, 2);  // expect: q store sectors=8
    q[2 * i].second = 3;           // expect: q store sectors=16
}

void run(void *p)
{
    of_thrust<<<1, 64>>>((C *)p, (C *)p, (thrust::complex<double> *)p, (float *)p);
    of_others<<<1, 64>>>((cuda::std::complex<double> *)p, (std::complex<double> *)p, (std::complex<float> *)p);
    pairs<<<1, 64>>>((thrust::pair<int, double> *)p, (thrust::pair<int, int> *)p);
}
