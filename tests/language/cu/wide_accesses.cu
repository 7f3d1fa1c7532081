// Wider and narrower views of memory: vectors, casts, macros around them, unions, bit-casts.

#include <cstring>

#define FLOAT4(pointer) (reinterpret_cast<float4 *>(&(pointer))[0])
#define CONST_FLOAT4(p) (reinterpret_cast<const float4 *>(p)[0])
#define LOAD128(dst, src) *(float4 *)(dst) = *(const float4 *)(src)
#define INT2(a) (*(int2 *)(&(a)))

__global__ void vectors(float4 *out, const float4 *in, float3 *three, const float2 *two)
{
    int i = threadIdx.x;
    float4 v = in[i];                    // expect: in load sectors=16
    out[i] = make_float4(v.y, v.x, v.w, v.z);  // expect: out store sectors=16
    out[i].x = v.x;                      // expect: out store sectors=16
    three[i].y = two[i].x;               // expect: two load sectors=8; three store sectors=12
    three[i] = make_float3(1, 2, 3);     // expect: three store sectors=12
    out[2 * i] = {v.x, 0.f, 0.f, 0.f};   // expect: out store sectors=32
}

__global__ void casts(float *out, const float *in)
{
    int i = threadIdx.x;
    float4 v = reinterpret_cast<const float4 *>(&in[4 * i])[0];  // expect: in load sectors=16
    reinterpret_cast<float4 *>(out)[i] = v;                      // expect: out store sectors=16
    *reinterpret_cast<float2 *>(&out[2 * i]) = {v.x, v.y};       // expect: out store sectors=8
    FLOAT4(out[4 * i]) = v;                                      // expect: out store sectors=16
    float4 w = CONST_FLOAT4(in + 8 * i);                         // expect: in load sectors=32
    FLOAT4(out[4 * i + 128]).y = w.x;                            // expect: out store sectors=16
    LOAD128(&out[4 * i], &in[4 * i]);  // expect: in load sectors=16; out store sectors=16
    INT2(out[2 * i]) = make_int2(1, 2);                          // expect: out store sectors=8
    ((char *)out)[i] = 0;                                        // expect: out store sectors=1
    *(short *)((char *)out + 6 * i) = 0;                         // expect: out store sectors=6
    const double *d = (const double *)in;
    out[i] = static_cast<float>(d[i]);                           // expect: in load sectors=8; out store sectors=4
    unsigned long long raw = reinterpret_cast<const unsigned long long *>(in)[i];  // expect: in load sectors=8
    out[i] = __uint_as_float(static_cast<unsigned>(raw >> 32));  // expect: out store sectors=4
}

__global__ void shared_vectors(float4 *out)
{
    __shared__ float4 tile[256];
    __shared__ float flat[1024];
    int i = threadIdx.x;
    tile[i] = make_float4(0, 0, 0, 0);               // expect: tile store wavefronts=4
    reinterpret_cast<float4 *>(flat)[i] = tile[i];   // expect: tile load wavefronts=4; flat store wavefronts=4
    float2 pair = reinterpret_cast<float2 *>(flat)[i];  // expect: flat load wavefronts=2
    float4 same = tile[3];                           // expect: tile load wavefronts=2
    same.x = tile[i].x + pair.x;                     // expect: tile load wavefronts=4
    out[i] = same;                                   // expect: out store sectors=16
}

union Bits {
    float f;
    unsigned u;
    unsigned char bytes[4];
};

union Word {
    float4 vector;
    float scalar[4];
};

__global__ void unions(float *out, unsigned *keys, const Word *in)
{
    Bits bits;
    bits.u = threadIdx.x;
    out[bits.u & 127] = bits.f;        // expect: out store sectors=4
    Word word;
    word.vector = in[threadIdx.x].vector;  // expect: in load sectors=16
    out[threadIdx.x] = word.scalar[2];  // expect: out store sectors=4
    keys[__float_as_uint(bits.f) & 127] = 0;  // expect: keys store data-dependent
    out[threadIdx.x] = in[threadIdx.x].scalar[1];  // expect: in load sectors=16; out store sectors=4
}

__global__ void copied_bits(float *out, const float *in)
{
    int i = threadIdx.x;
    unsigned u;
    float f = in[i];                     // expect: in load sectors=4
    memcpy(&u, &f, sizeof u);
    int same = *reinterpret_cast<int *>(&f);
    out[i] = __int_as_float(same & u);   // expect: out store sectors=4
}

struct alignas(8) Half4 {
    short v[4];
};

struct Loose {
    float x, y;
};

__global__ void structs(Half4 *out, const Half4 *in, Loose *loose)
{
    int i = threadIdx.x;
    out[i] = in[i];            // expect: in load sectors=8; out store sectors=8
    out[i].v[1] = 0;           // expect: out store sectors=8
    loose[i] = Loose{1.f, 2.f};  // expect: loose store sectors=8
}

void run(void *p, const void *q)
{
    vectors<<<1, 128>>>((float4 *)p, (const float4 *)q, (float3 *)p, (const float2 *)q);
    casts<<<1, 128>>>((float *)p, (const float *)q);
    shared_vectors<<<1, 256>>>((float4 *)p);
    unions<<<1, 128>>>((float *)p, (unsigned *)p, (const Word *)q);
    copied_bits<<<1, 128>>>((float *)p, (const float *)q);
    structs<<<1, 128>>>((Half4 *)p, (const Half4 *)q, (Loose *)p);
}
