// Templates: what an instance's arguments make of element sizes, strides and branches.

// --- type and value parameters, default arguments ---

template <typename T>
__global__ void copy_of(T *out, const T *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    T value = in[i];  // expect: in load sectors=4 @T=float; in load sectors=8 @T=double; in load sectors=1 @T=char
    out[i] = value;   // expect: out store sectors=4 @T=float; out store sectors=8 @T=double; out store sectors=1 @T=char
}

template <int STRIDE, bool SHIFT = false>
__global__ void strided(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i * STRIDE + (SHIFT ? 1 : 0)];  // expect: in load sectors=8 @STRIDE=2; in load sectors=12 @STRIDE=3; out store sectors=4
}

template <typename T = double, int WIDTH = 32>
__global__ void defaults(T *out)
{
    __shared__ T tile[WIDTH][WIDTH];
    int x = threadIdx.x, y = threadIdx.y;
    tile[x][y] = 0;                // expect: tile store wavefronts=32 @WIDTH=; tile store wavefronts=2 @WIDTH=33
    out[y * 32 + x] = tile[y][x];  // expect: tile load wavefronts=2; out store sectors=8
}

// --- several types, one of them a pointer ---

template <typename Out, typename In>
__global__ void convert(Out out, const In *in)
{
    out[threadIdx.x] = in[threadIdx.x];  // expect: in load sectors=2; out store sectors=4
}

// --- variadic ---

template <typename T>
__device__ T total(T first)
{
    return first;
}

template <typename T, typename... Rest>
__device__ T total(T first, Rest... rest)
{
    return first + total(rest...);
}

template <typename... Pointers>
__global__ void add_all(float *out, Pointers... in)
{
    int i = threadIdx.x;
    out[i] = total(in[2 * i]...);  // expect: in__0 load sectors=8; in__1 load sectors=16; in__2 load sectors=8; out store sectors=4
}

template <typename... Pointers>
__global__ void fold(float *out, Pointers... in)
{
    int i = threadIdx.x;
    out[i] = (in[i] + ...);  // expect: in__0 load sectors=4; in__1 load sectors=8; out store sectors=4
}

// --- specialisations ---

template <typename T>
struct Step {
    static constexpr int value = 1;
};

template <>
struct Step<double> {
    static constexpr int value = 4;
};

template <typename T>
struct Step<T *> {
    static constexpr int value = 2;
};

template <typename T>
__global__ void by_trait(float *out)
{
    out[threadIdx.x * Step<T>::value] = 1.f;  // expect: out store sectors=4 @T=float; out store sectors=16 @T=double; out store sectors=8 @T=int *
}

template <typename T, int N>
struct Row {
    __device__ static int at(int i) { return i * N; }
};

template <typename T>
struct Row<T, 1> {
    __device__ static int at(int i) { return i + 1; }
};

__global__ void by_partial_specialisation(float *out)
{
    out[Row<float, 1>::at(threadIdx.x)] = 1.f;  // expect: out store sectors=5
    out[Row<float, 3>::at(threadIdx.x)] = 1.f;  // expect: out store sectors=12
}

template <typename T>
__device__ T fetch(const T *in, int i)
{
    return in[i];  // expect: in load sectors=4
}

template <>
__device__ double fetch<double>(const double *in, int i)
{
    return in[2 * i];  // expect: in load sectors=16
}

template <typename T>
__global__ void by_full_specialisation(T *out, const T *in)
{
    out[threadIdx.x] = fetch(in, threadIdx.x);  // expect: out store sectors=4 @T=float; out store sectors=8 @T=double
}

template <int N>
__global__ void special_kernel(float *out)
{
    out[threadIdx.x * N] = 1.f;  // expect: out store sectors=8
}

template <>
__global__ void special_kernel<4>(float *out)
{
    out[threadIdx.x + 4] = 4.f;  // expect: out store sectors=5
}

// --- explicit instantiation; nothing launches it here ---

template <typename T>
__global__ void instantiated(T *out)  // coalescecheck: block(64)
{
    out[threadIdx.x] = 0;  // expect: out store sectors=2
}
template __global__ void instantiated<short>(short *);

// --- if constexpr ---

template <int MODE>
__global__ void chosen(float *out)
{
    int i = threadIdx.x;
    if constexpr (MODE == 0) {
        out[i] = 0.f;  // expect: out store sectors=4
    } else if constexpr (MODE == 1) {
        out[2 * i] = 0.f;  // expect: out store sectors=8
    } else {
        static_assert(MODE == 2);
        out[3 * i] = 0.f;  // expect: out store sectors=12
    }
}

// --- an assertion as the branch of a condition ---

template <typename T>
__global__ void asserted(T *out, int n)
{
    if (n > 3)
        out[threadIdx.x] = 1;  // expect: out store sectors=4
    else
        static_assert(sizeof(T) == 4 || sizeof(T) == 8, "no such type");
    out[2 * threadIdx.x] = 2;  // expect: out store sectors=8
}

// --- template template parameter, alias template, dependent types ---

template <typename T>
struct Plain {
    using type = T;
};

template <typename T>
using Element = typename Plain<T>::type;

template <template <typename> class Holder, typename T>
__global__ void dependent(typename Holder<T>::type *out)
{
    Element<T> zero = 0;
    out[threadIdx.x] = zero;  // expect: out store sectors=8
}

void run(void *p, const void *q)
{
    copy_of<<<4, 128>>>((float *)p, (const float *)q);
    copy_of<double><<<4, 128>>>((double *)p, (const double *)q);
    copy_of<<<4, 128>>>(static_cast<char *>(p), static_cast<const char *>(q));
    strided<2><<<4, 128>>>((float *)p, (const float *)q);
    strided<3, true><<<4, 128>>>((float *)p, (const float *)q);
    defaults<<<1, dim3(32, 32)>>>((double *)p);
    defaults<double, 33><<<1, dim3(32, 32)>>>((double *)p);
    convert<<<1, 128>>>((float *)p, (const short *)q);
    add_all<<<1, 128>>>((float *)p, (const float *)q, (const double *)q, (const int *)q);
    fold<<<1, 128>>>((float *)p, (const float *)q, (const double *)q);
    by_trait<float><<<1, 128>>>((float *)p);
    by_trait<double><<<1, 128>>>((float *)p);
    by_trait<int *><<<1, 128>>>((float *)p);
    by_partial_specialisation<<<1, 128>>>((float *)p);
    by_full_specialisation<float><<<1, 128>>>((float *)p, (const float *)q);
    by_full_specialisation<double><<<1, 128>>>((double *)p, (const double *)q);
    special_kernel<2><<<1, 128>>>((float *)p);
    special_kernel<4><<<1, 128>>>((float *)p);
    chosen<0><<<1, 128>>>((float *)p);
    chosen<1><<<1, 128>>>((float *)p);
    chosen<2><<<1, 128>>>((float *)p);
    asserted<float><<<1, 128>>>((float *)p, 4);
    dependent<Plain, double><<<1, 128>>>((double *)p);
}

// --- which function is meant depends on arguments that nobody gives: these have no launch ---

template <int N> struct Place { static __device__ int of(int i) { return 8 * i; } };
template <> struct Place<1> { static __device__ int of(int i) { return i; } };
template <int N> __device__ int place(int i) { return 8 * i; }
template <> __device__ int place<1>(int i) { return i; }
template <typename T> __device__ int place_of(T, int i) { return 8 * i; }
__device__ int place_of(float, int i) { return i; }
template <typename T> __device__ int any(T, int i) { return 2 * i; }
template <typename T> __device__ int any(T, float *) { return 0; }

template <int N>
__global__ void open_value(float *out)
{
    int i = threadIdx.x;
    out[Place<N>::of(i)] = 0;        // expect: out store sectors=32
    out[Place<(N > 2)>::of(i)] = 0;  // expect: out store data-dependent
    out[Place<3>::of(i)] = 0;        // expect: out store sectors=32
    out[place<N>(i)] = 0;            // expect: out store data-dependent
    out[place<1>(i)] = 0;            // expect: out store sectors=4
}

template <typename T>
__global__ void open_type(float *out)
{
    int i = threadIdx.x;
    out[place_of(T(), i)] = 0;  // expect: out store data-dependent
    out[any(T(), i)] = 0;       // expect: out store sectors=8
}

// --- arguments that launches of other templates compute ---

template <int N> struct Number { static constexpr int value = N; };

template <typename T, int N>
__global__ void computed(T *out)
{
    out[N * threadIdx.x] = 0;  // expect: out store sectors=16 @T=float; out store sectors=32 @T=int; out store sectors=16 @T=double; out store sectors=16 @T=unsigned char; out store sectors=2 @T=short
}

template <typename T, int A, int B> void computed_for(void *p)
{
    computed<T, 16 / sizeof(T)><<<1, 64>>>((T *)p);
    computed<int, Number<A / B>::value + (A & 15)><<<1, 64>>>((int *)p);  // 1 + 7
    computed<short, (A > B) * (A & 4) / 4 ^ 0><<<1, 64>>>((short *)p);    // 1
}

void computed_too(void *p)
{
    computed_for<float, 7, 4>(p);
    computed_for<double, 7, 4>(p);
    computed_for<unsigned char, 7, 4>(p);
}

// --- methods of partial specialisations that are defined outside of them ---

template <int L, typename T, int Q = 1> struct Strip;
template <typename A, typename B> struct Duo;

template <typename T, int Q>
struct Strip<3, T, Q> {
    T *p;
    __device__ Strip(T *p);
    __device__ T &at(int i) const;
    template <typename U> __device__ void put(int i, U value);
    __device__ Strip &operator+=(const Strip &other);
};
template <typename B>
struct Duo<char, B> {
    void *raw;
    __device__ void set(int i);
};
template <typename S, int R> __device__ Strip<3, S, R>::Strip(S *p) : p(p) {}
template <typename T, int Q> __device__ T &Strip<3, T, Q>::at(int i) const { return p[i * Q]; }
template <typename T, int Q>
template <typename U>
__device__ void Strip<3, T, Q>::put(int i, U value)
{
    ((U *)p)[i] = value;  // expect: out store sectors=8
    p[i + Q] = 0;         // expect: out store sectors=8
}
template <typename V, int N>
__device__ Strip<3, V, N> &Strip<3, V, N>::operator+=(const Strip<3, V, N> &other)
{
    p[threadIdx.x * N] = other.at(threadIdx.x);  // expect: in load sectors=32; out store sectors=32
    return *this;
}
template <typename B> __device__ void Duo<char, B>::set(int i)
{
    B *q = (B *)raw;
    q[i] = 0;  // expect: out store sectors=8
}

__global__ void methods_of_specialisations(double *out, double *in)
{
    Strip<3, double, 4> row(out), other(in);
    row.put(threadIdx.x, 1LL);
    row += other;
    Duo<char, double> pair = {out};
    pair.set(threadIdx.x);
}

void methods(double *p, double *q) { methods_of_specialisations<<<1, 64>>>(p, q); }

template <typename T, int N> static __global__ void declared_only(T *);
template <> __global__ void declared_only<float, 2>(float *out)
{
    out[2 * threadIdx.x] = 0;  // expect: out store sectors=8
}
template <> __global__ void declared_only<double, 1>(double *out)
{
    out[threadIdx.x] = 0;  // expect: out store sectors=8
}
template <> __global__ void declared_only<short, 3>(short *out)
{
    out[threadIdx.x] = 0;  // expect: out store sectors=2
}

template <typename T> void declared_of(T *p)
{
    declared_only<T, 2><<<1, 64>>>(p);
}

void declared(float *p, double *q)
{
    declared_only<float, 2><<<1, 64>>>(p);
    declared_only<double, 1><<<1, 64>>>(q);
}

struct Sizes {
    using size_type = unsigned char;
    using index_type = unsigned long;
};
template <class K> struct Table {
    using size_type = Sizes::size_type;
    using index_type = typename Sizes::index_type;
    K *keys;
    index_type *at;
    size_type *counts;
};
template <class K, class S, class I> __global__ void fill_table(K *keys, S *counts, I *at)
{
    int i = threadIdx.x;
    keys[i] = 0;    // expect: keys store sectors=2
    counts[i] = 0;  // expect: counts store sectors=1
    at[i] = 0;      // expect: at store sectors=8
}
template <class K> struct DeviceTable : Table<K> {
    using base = Table<K>;
    using size_type = typename base::size_type;
    using index_type = typename base::index_type;
    void fill();
    void again() const
    {
        fill_table<K, size_type, index_type><<<1, 96>>>(base::keys, base::counts, base::at);
    }
};
template <class K> void DeviceTable<K>::fill()
{
    fill_table<K, size_type, index_type><<<1, 64>>>(this->keys, this->counts, this->at);
}
template struct DeviceTable<short>;
struct ShortTable : DeviceTable<short> {
    void more()
    {
        again();
        fill_table<short, size_type, index_type><<<1, 32>>>(keys, counts, at);
    }
};

namespace kinds {
using two = unsigned short;
struct Pair { float x, y; };
namespace wide { using eight = double; }
}
template <typename T> __global__ void of_kind(T *out)
{
    out[threadIdx.x] = T();  // expect: out store sectors=2 @T=kinds::two; out store sectors=8 @T=kinds::Pair; out store sectors=8 @T=kinds::wide::eight
}
template <typename T> void launch_kind(T *p) { of_kind<T><<<1, 64>>>(p); }
#define WITH(T, KIND, ...) { using T = KIND; __VA_ARGS__ }

void by_directive(void *p)
{
    using namespace kinds;
    using namespace kinds::wide;
    WITH(T, two, launch_kind((T *)p);)
    WITH(T, Pair, launch_kind((T *)p);)
    WITH(T, eight, launch_kind((T *)p);)
}
