// Element sizes from 1 to 16 bytes; 64-bit and narrow index types.

#include <cstddef>
#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp8.h>
#include <type_traits>

__global__ void halves(half *h, half2 *h2, __nv_bfloat16 *b, __nv_bfloat162 *b2, __half *raw)
{
    int i = threadIdx.x;
    h[i] = __float2half(1.f);                    // expect: h store sectors=2
    half v = h[2 * i];                           // expect: h load sectors=4
    h2[i] = __halves2half2(v, v);                // expect: h2 store sectors=4
    half2 w = __hadd2(h2[i], h2[i + 1]);         // expect: h2 load sectors=4; h2 load sectors=5
    b[i] = __float2bfloat16(__low2float(w));     // expect: b store sectors=2
    b2[i] = __floats2bfloat162_rn(1.f, 2.f);     // expect: b2 store sectors=4
    raw[4 * i] = __hmul(v, raw[i]);              // expect: raw load sectors=2; raw store sectors=8
    reinterpret_cast<half2 *>(h)[i] = w;         // expect: h store sectors=4
    h[i] = v + h[i + 1] * half(2.f);             // expect: h load sectors=3; h store sectors=2
    float f = __half2float(h[i]) + (float)h[i];  // expect: h load sectors=2; h load sectors=2
    h[3 * i] = f;                                // expect: h store sectors=6
    *reinterpret_cast<float4 *>(&h[8 * i]) = make_float4(f, f, f, f);  // expect: h store sectors=16
}

__global__ void bytes(char *c, uchar4 *q, unsigned char *u, bool *flags, int8_t *s, char2 *two)
{
    int i = threadIdx.x;
    c[i] = 0;                              // expect: c store sectors=1
    uchar4 p = q[i];                       // expect: q load sectors=4
    q[i] = make_uchar4(p.y, p.x, 0, 255);  // expect: q store sectors=4
    u[4 * i] = q[i].z;                     // expect: q load sectors=4; u store sectors=4
    flags[i] = u[i + 16] > 3;              // expect: u load sectors=2; flags store sectors=1
    s[33 * i] = -1;                        // expect: s store sectors=32
    two[i] = make_char2(1, 2);             // expect: two store sectors=2
}

__global__ void shared_bytes(char *out)
{
    __shared__ char row[128];
    __shared__ short pairs[32][32];
    __shared__ double large[32][33];
    int i = threadIdx.x;
    row[i] = 0;                              // expect: row store wavefronts=1
    pairs[i][0] = 0;                         // expect: pairs store wavefronts=16
    pairs[0][i] = pairs[i][1];               // expect: pairs load wavefronts=16; pairs store wavefronts=1
    large[i][2] = 0;                         // expect: large store wavefronts=2
    out[i] = row[4 * i];                     // expect: row load wavefronts=1; out store sectors=1
}

__global__ void large_indices(float *out, size_t n, long long offset)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    int64_t j = static_cast<int64_t>(i) * 3;
    uint64_t k = i << 1;
    if (i < n) out[i] = 0.f;                 // expect: out store sectors=4
    out[j] = 1.f;                            // expect: out store sectors=12
    out[k] = 2.f;                            // expect: out store sectors=8
    out[i + offset] = 3.f;                   // expect: out store sectors=5
    out[(ptrdiff_t)i * 4] = 4.f;             // expect: out store sectors=16
    unsigned short s = threadIdx.x;
    uint8_t b = threadIdx.x;
    out[s] = 5.f;                            // expect: out store sectors=4
    out[b] = 6.f;                            // expect: out store sectors=4
    out[(unsigned char)(threadIdx.x * 8)] = 7.f;  // expect: out store sectors=32
}

__global__ void wide_elements(double2 *d, longlong2 *l, ulonglong4 *u, double *s, int3 *t)
{
    int i = threadIdx.x;
    d[i] = make_double2(1, 2);  // expect: d store sectors=16
    l[i].x = l[i].y;            // expect: l load sectors=16; l store sectors=16
    s[i] = s[i + 1];            // expect: s load sectors=9; s store sectors=8
    t[i].z = t[i].x;            // expect: t load sectors=12; t store sectors=12
}

struct __align__(8) Complex {
    float re, im;
};

struct Flags {
    unsigned low : 4;
    unsigned high : 28;
    int next;
};

__global__ void packed(Complex *z, Flags *f, int *out)
{
    int i = threadIdx.x;
    Complex c = z[i];       // expect: z load sectors=8
    z[i].im = c.re;         // expect: z store sectors=8
    out[i] = f[i].low;      // expect: f load sectors=8; out store sectors=4
    f[i].high = 5;          // expect: f load sectors=8; f store sectors=8
}

void run(void *p, size_t n)
{
    halves<<<1, 128>>>((half *)p, (half2 *)p, (__nv_bfloat16 *)p, (__nv_bfloat162 *)p, (half *)p);
    bytes<<<1, 128>>>((char *)p, (uchar4 *)p, (unsigned char *)p, (bool *)p, (int8_t *)p, (char2 *)p);
    shared_bytes<<<1, 32>>>((char *)p);
    large_indices<<<4, 128>>>((float *)p, 512, 4);
    wide_elements<<<1, 128>>>((double2 *)p, (longlong2 *)p, nullptr, (double *)p, (int3 *)p);
    packed<<<1, 128>>>((Complex *)p, (Flags *)p, (int *)p);
}

// Packed structs: places are exact, the number of instructions of one access is not known.
struct __attribute__((packed)) Tight {
    char tag;
    int value;
};

#pragma pack(push, 4)
struct Four {
    char tag;
    double value;
};
#pragma pack(pop)

struct Loose {
    char tag;
    double value;
};

__global__ void packing(char *out, Tight *tight, Four *four, Loose *loose)
{
    int i = threadIdx.x;
    out[sizeof(Tight) * i] = 0;   // expect: out store sectors=5
    out[sizeof(Four) * i] = 0;    // expect: out store sectors=12
    out[sizeof(Loose) * i] = 0;   // expect: out store sectors=16
    tight[i].tag = 1;             // expect: tight store sectors=5
    tight[i].value = 1;           // expect: tight store unknown
    tight[i] = tight[0];          // expect: tight load unknown; tight store unknown
    four[i].value = 1;            // expect: four store unknown
    loose[i].value = 1;           // expect: loose store sectors=16
}

void pack(char *p)
{
    packing<<<1, 128>>>(p, (Tight *)p, (Four *)p, (Loose *)p);
}

template <class T> struct Kind { static constexpr int step = 1; };
template <> struct Kind<__nv_fp8_e4m3> { static constexpr int step = 2; };
template <> struct Kind<__nv_fp8_e5m2> { static constexpr int step = 4; };
__device__ int step_of(unsigned char) { return 1; }
__device__ int step_of(__nv_fp8_e4m3) { return 2; }
__device__ int step_of(__nv_fp8_e5m2) { return 4; }

template <class T> __global__ void by_kind(T *out, T value)
{
    int i = threadIdx.x;
    out[Kind<T>::step * i * 8] = value;  // expect: out store sectors=8 @T=unsigned char; out store sectors=16 @T=__nv_fp8_e4m3; out store sectors=32 @T=__nv_fp8_e5m2
    out[step_of(value) * i * 8] = T(0);  // expect: out store sectors=8 @T=unsigned char; out store sectors=16 @T=__nv_fp8_e4m3; out store sectors=32 @T=__nv_fp8_e5m2
    float f = float(value) + static_cast<float>(out[i]);  // expect: out load sectors=1
    out[i] = T(f);                                        // expect: out store sectors=1
    if (std::is_same<T, __nv_fp8_e5m2>::value) out[i] = value;  // expect: out store sectors=1 @T=__nv_fp8_e5m2
}

void kinds(unsigned char *p)
{
    by_kind<unsigned char><<<1, 32>>>(p, 0);
    by_kind<<<1, 32>>>((__nv_fp8_e4m3 *)p, __nv_fp8_e4m3(0.f));
    by_kind<__nv_fp8_e5m2><<<1, 32>>>((__nv_fp8_e5m2 *)p, __nv_fp8_e5m2(0.f));
}

typedef struct __CUDA_ALIGN__(8) {
    __nv_fp8x2_e4m3 pairs[4];
} Eight;

__global__ void small_floats(Eight *eight, __nv_fp8_e4m3 *one, __nv_fp8x4_e5m2 *four,
                             __nv_fp4x2_e2m1 *two, __half_raw *raw, char *out)
{
    int i = threadIdx.x;
    eight[i] = eight[i + 1];            // expect: eight load sectors=9; eight store sectors=8
    one[4 * i] = __nv_fp8_e4m3(1.f);    // expect: one store sectors=4
    one[2 * i].__x = 3;                 // expect: one store sectors=2
    float4 all = (float4)four[i];       // expect: four load sectors=4
    two[i].__x = 7;                     // expect: two store sectors=1
    raw[i].x = raw[2 * i].x;            // expect: raw load sectors=4; raw store sectors=2
    out[sizeof(__nv_fp8x4_e4m3) * i] = all.x;  // expect: out store sectors=4
    out[sizeof(Eight) * i] = all.y;            // expect: out store sectors=8
}

void small(char *p)
{
    small_floats<<<1, 64>>>((Eight *)p, (__nv_fp8_e4m3 *)p, (__nv_fp8x4_e5m2 *)p,
                            (__nv_fp4x2_e2m1 *)p, (__half_raw *)p, p);
}

enum Tiny : unsigned char { NO, YES };
namespace deep {
enum class Wide : long { ONE };
}
enum Plain { LOW, HIGH };

__global__ void enumerations(enum Tiny *t, enum Tiny const *c, enum deep::Wide *w, enum Plain *p)
{
    enum Local : short { HERE = 3 };
    int i = threadIdx.x;
    t[i] = c[i];                          // expect: c load sectors=1; t store sectors=1
    w[i] = deep::Wide::ONE;               // expect: w store sectors=8
    p[i] = HIGH;                          // expect: p store sectors=4
    ((enum Local *)p)[HERE * i] = HERE;   // expect: p store sectors=6
}

void enumerate(char *p)
{
    enumerations<<<1, 64>>>((enum Tiny *)p, (Tiny *)p, (deep::Wide *)p, (Plain *)p);
}

template <class T>
struct View {
    T *data;
    __device__ T &at(int i) const { return data[i]; }
};

template <class T>
__global__ void const_behind(unsigned short const *u, View<long long const> v, unsigned const char *c,
                             T *o, unsigned /* 4 bytes */ const *w)
{
    int i = threadIdx.x;
    short const one = u[i];                           // expect: u load sectors=2
    unsigned const char low = c[i];                   // expect: c load sectors=1
    o[i] = one + low + v.at(i);                       // expect: v.data load sectors=8; o store sectors=8
    o[i] = w[i] + ((unsigned short const *)o)[i];     // expect: w load sectors=4; o load sectors=2; o store sectors=8
    o[i] = *reinterpret_cast<long const *>(u + 4 * i);  // expect: u load sectors=8; o store sectors=8
}

void behind(char *p)
{
    const_behind<long><<<1, 64>>>((unsigned short *)p, View<long long const>{(long long *)p},
                                  (unsigned char *)p, (long *)p, (unsigned *)p);
}

struct Holder {
    cudaEvent_t done[2];
    cudaGraphExec_t graph;
    float *data;
    int step;
};

__global__ void handles(Holder h, Holder *all)
{
    int i = threadIdx.x;
    h.data[UINTPTR_MAX > 0xffffffffu ? 2 * i : i] = 1.f;  // expect: h.data store sectors=8
    all[i].step = 1;                                      // expect: all store sectors=32
    h.data[sizeof(Holder) / 4 * i / 10] = 1.f;            // expect: h.data store sectors=4
}

void hold(Holder h)
{
    handles<<<1, 64>>>(h, &h);
}

typedef unsigned __int128 Wide;

__global__ void wide_integers(__int128_t *a, Wide *b, __int128 *c, __uint128_t *d, long *o)
{
    int i = threadIdx.x;
    a[i] = a[i + 32] + c[i];      // expect: a load sectors=16; c load sectors=16; a store sectors=16
    b[i] = b[i + 1];              // expect: b load sectors=17; b store sectors=16
    d[2 * i] += 3;                // expect: d load sectors=32; d store sectors=32
    o[i] = (long)(c[i] >> 64);    // expect: c load sectors=16; o store sectors=8
    __int128 x = c[i];            // expect: c load sectors=16
    a[i] = x * x;                 // expect: a store sectors=16
    o[sizeof(Wide) * i / 4] = 2;  // expect: o store sectors=32
}

void widest(void *p)
{
    wide_integers<<<1, 64>>>((__int128 *)p, (Wide *)p, (__int128 *)p, (__uint128_t *)p, (long *)p);
}
