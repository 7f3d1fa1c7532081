// Which function a call means: CUDA's own ones and the program's, declared before or after it.

template <typename T>
__device__ T min(T a, T b)
{
    return a + b;
}

// CUDA's min is no template and goes first for int; none of its overloads takes char exactly
__global__ void builtin_before_template(char *out)
{
    int i = threadIdx.x;
    out[i * min(2, 3)] = 1;              // expect: out store sectors=2
    out[i * min((char)2, (char)3)] = 2;  // expect: out store sectors=5
}

__global__ void declared_later(float *out, int n)
{
    atomicAdd(out + threadIdx.x, 1.0f);  // expect: out atomic sectors=4
}

__device__ float atomicAdd(float *p, double v)
{
    p[1000] = v;
    return 0;
}

template <typename T>
__device__ const T &larger(const T &a, const T &b)
{
    return a < b ? b : a;
}

// references to values: two loads, and nothing in local memory
__global__ void references_returned(float *out, const float *in)
{
    int i = threadIdx.x;
    out[i] = larger(in[i], in[i + 32]);  // expect: in load sectors=4; in load sectors=4; out store sectors=4
}

// 16 bytes in sizeof, 8 in accesses and steps: nvcc stores at 8 * 16 * i
__global__ void long_doubles(long double *out)
{
    int i = threadIdx.x;
    out[i] = 1;                    // expect: out store sectors=8
    out[sizeof(long double) * i] = 2;  // expect: out store sectors=32
}

void launch(char *c, float *f, long double *l)
{
    builtin_before_template<<<1, 32>>>(c);
    declared_later<<<1, 32>>>(f, 1);
    references_returned<<<1, 32>>>(f, f);
    long_doubles<<<1, 32>>>(l);
}

// --- the kinds of the template arguments that are given tell templates apart ---

template <typename T, bool Twice> __device__ int by_kind(T, int i) { return Twice ? 2 * i : i; }
template <int N, typename T, bool Twice> __device__ int by_kind(T, int i)
{
    return N * (Twice ? 2 * i : i);
}

template <typename U, int M> __global__ void kinds(float *out)
{
    int i = threadIdx.x;
    out[by_kind<float, true>(1.f, i)] = 0;      // expect: out store sectors=8
    out[by_kind<3, float, false>(1.f, i)] = 0;  // expect: out store sectors=12
    out[by_kind<U, false>(1, i)] = 0;           // expect: out store sectors=4
    out[by_kind<M, U, true>(1, i)] = 0;         // expect: out store sectors=16
}

void kinds_too(float *p) { kinds<int, 2><<<1, 32>>>(p); }
