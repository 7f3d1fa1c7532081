// References to values, to elements and to pointers; const references; rvalue references.
#include <cstdio>

__device__ void advance(int &i, int by)
{
    i += by;
}

__device__ void forward(float *&p)
{
    p += 8;
}

__device__ float &element(float *p, int i)
{
    return p[2 * i];
}

__device__ void set(float &__restrict__ place, const float & __restrict value)
{
    place = value;  // expect: out store sectors=8
}

__device__ void exchange(int &a, int &b)
{
    int t = a;
    a = b;
    b = t;
}

struct Cursor {
    float *at;
    int step;
};

__device__ void move(Cursor &cursor)
{
    cursor.at += cursor.step;
}

__global__ void through_references(float *out)
{
    int i = threadIdx.x;
    advance(i, 4);
    out[i] = 0.f;  // expect: out store sectors=5
    float *p = out;
    forward(p);
    p[threadIdx.x] = 1.f;  // expect: out store sectors=4
    element(out, threadIdx.x) = 2.f;  // expect: out store sectors=8
    set(out[2 * threadIdx.x], 3.f);
}

__global__ void aliases(float *out, const float *in)
{
    int x = threadIdx.x;
    int y = 3 * threadIdx.x;
    exchange(x, y);
    out[x] = in[y];           // expect: in load sectors=4; out store sectors=12
    float &first = out[x / 3];
    first = 0.f;              // expect: out store sectors=4
    first += 1.f;             // expect: out load sectors=4; out store sectors=4
    const int &shifted = x;
    out[shifted + 1] = 2.f;   // expect: out store sectors=12 
    float *const &same = out;
    same[y] = 1.f;            // expect: out store sectors=4
    int &&temporary = threadIdx.x * 2;
    out[temporary] = 0.f;     // expect: out store sectors=8
}

__global__ void reference_to_struct(float *out)
{
    Cursor cursor{out + threadIdx.x, 1};
    move(cursor);
    *cursor.at = 0.f;  // expect: out store sectors=5
    Cursor &same = cursor;
    same.step = 31;
    move(same);
    *cursor.at = 1.f;  // expect: out store sectors=4
}

__global__ void reference_to_shared(float *out)
{
    __shared__ float tile[128];
    float (&view)[128] = tile;
    view[threadIdx.x * 2 % 128] = 0.f;  // expect: tile store wavefronts=2
    __syncthreads();
    float &mine = tile[threadIdx.x];
    out[threadIdx.x] = mine;            // expect: tile load wavefronts=1; out store sectors=4
}

void run(float *p, const float *q)
{
    through_references<<<1, 128>>>(p);
    aliases<<<1, 128>>>(p, q);
    reference_to_struct<<<1, 128>>>(p);
    reference_to_shared<<<1, 128>>>(p);
}

// References to arrays: element type and length are deduced, the reference may add const.
template <typename V, int N> __device__ float dot(const V (&a)[N], const V (&b)[N])
{
    float sum = 0;
    for (int i = 0; i < N; i++) {
        sum += a[i] * b[i];  // expect: rows load wavefronts=4
    }
    return sum;
}

struct Dots {
    template <typename V, int N> static __device__ float of(const V (&a)[N], const V (&b)[N])
    {
        return dot(a, b);
    }
};

__global__ void array_references(float *out)
{
    __shared__ float rows[32][4];
    float own[4] = {1, 2, 3, 4};
    out[threadIdx.x] = Dots::of(rows[threadIdx.x], own);  // expect: out store sectors=4
}

void array_references_too(float *p)
{
    array_references<<<1, 32>>>(p);
}

// A reference that a call never reads loads nothing, one that it reads now and then only then.
__device__ float second(const float &first, const float &other) { return 2 * other; }
__device__ float either(const float &first, const float &other, bool one)
{
    return one ? first : other;  // expect: in load sectors=2; in load sectors=4
}
__device__ float above(const float &value, int bound)
{
    if (bound < 1) return 0;
    return value;  // expect: in load sectors=6
}
__device__ float passed(const float &value, const float &unread)
{
    return second(unread, value);  // expect: in load sectors=8
}
__device__ float size(const float &value) { return sizeof(value); }
__device__ float sum(const float &a, const float &b, int i) { return i < 8 && a < 0 ? 1 : b; }  // expect: in load sectors=1; in load data-dependent

__global__ void unread_references(float *out, const float *in)
{
    int i = threadIdx.x;
    out[i] = second(in[i], in[2 * i]);  // expect: in load sectors=8; out store sectors=4
    out[i + 32] = either(in[i], in[2 * i], i < 16);  // expect: out store sectors=4
    out[i + 64] = above(in[2 * i], i / 8);          // expect: out store sectors=4
    out[i + 96] = passed(in[2 * i], in[i]);             // expect: out store sectors=4
    out[i + 128] = size(in[i]);                         // expect: out store sectors=4
    out[i + 160] = sum(in[i], in[2 * i], i);            // expect: out store sectors=4
}

void unread_references_too(float *p, const float *q) { unread_references<<<1, 32>>>(p, q); }

// The same without names.
template <typename... A> __device__ float count(const A &...) { return sizeof...(A); }
template <typename... A> __device__ float values(A...) { return sizeof...(A); }
template <typename T> __device__ float unnamed(const T &) { return 1; }
struct Ignores {
    __device__ float operator()(const float &, int i) const { return i; }
};

__global__ void references_without_names(float *out, const float *in)
{
    int i = threadIdx.x;
    out[i] = count(in[i], in[2 * i]);          // expect: out store sectors=4
    out[i] = values(in[i], in[2 * i]);         // expect: in load sectors=4; in load sectors=8; out store sectors=4
    out[i] = unnamed(in[i]);                   // expect: out store sectors=4
    out[i] = Ignores()(in[i], i);              // expect: out store sectors=4
    auto f = [](const float &, float) { return 2.f; };
    out[i] = f(in[i], in[2 * i]);              // expect: in load sectors=8; out store sectors=4
}

void references_without_names_too(float *p, const float *q)
{
    references_without_names<<<1, 32>>>(p, q);
}

// What is cast to void is read only where it is volatile; what is printed is read.
__global__ void not_read(float *out, const float *in, const volatile float *seen)
{
    const float &x = in[threadIdx.x];
    (void)x;
    static_cast<void>(*in);
    (void)*seen;                               // expect: seen load sectors=1
    printf("%f\n", in[8 * threadIdx.x]);       // expect: in load sectors=32
    out[threadIdx.x] = 1;                      // expect: out store sectors=4
}

void not_read_too(float *p, const float *q)
{
    not_read<<<1, 32>>>(p, q, q);
}
