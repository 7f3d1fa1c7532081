// Arrays in structs that are passed by value: what stands at a constant place is a parameter.

struct Shape {
    int sizes[3];
    float *data[2];
    struct { unsigned low; long long step; } parts[2];
    short narrow[2][2];
    __device__ int count() const { return sizes[0] * sizes[1]; }
};

__global__ void at_constant_places(Shape s)
{
    int i = threadIdx.x;
    if (i < s.sizes[0]) s.data[0][i] = 1.f;         // expect: s.data[0] store sectors=4,assumed
    s.data[1][2 * i + 8 * s.sizes[2]] = 2.f;        // expect: s.data[1] store sectors=8
    s.data[1][i + 8 * s.parts[1].step] = 3.f;       // expect: s.data[1] store sectors=4
    s.data[1][i + s.narrow[1][0] * 16] = 4.f;       // expect: s.data[1] store sectors=4
    if (i < s.count()) s.data[1][3 * i] = 5.f;      // expect: s.data[1] store sectors=12,assumed
}

__global__ void at_other_places(Shape s, int n)
{
    int i = threadIdx.x;
    s.data[0][i + s.sizes[i % 3] * 8] = 1.f;         // expect: s.sizes load wavefronts=3; s.data[0] store data-dependent
    s.data[0][i + s.sizes[n] * 8] = 2.f;             // expect: s.sizes load wavefronts=1; s.data[0] store sectors=4
    s.data[0][i + *(short *)&s.sizes[1] * 8] = 3.f;  // expect: s.sizes load wavefronts=1; s.data[0] store sectors=4
}

// the kernel has a copy of its own, which may differ from lane to lane
struct Sizes { int n[3]; };

__global__ void changed(Sizes s, float *out)  // expect: s.n load wavefronts=1
{
    int i = threadIdx.x;
    s.n[0] = 2 * i;
    out[s.n[0]] = 1.f;  // expect: out store sectors=8
}

__global__ void changed_through_a_pointer(Sizes s, float *out)  // expect: s.n load wavefronts=1
{
    int i = threadIdx.x, *p = s.n;
    p[1] = 2 * i;
    out[i + s.n[1]] = 1.f;  // expect: out store sectors=12
}

void run(Shape s, Sizes t, float *p, int n)
{
    at_constant_places<<<1, 32>>>(s);
    at_other_places<<<1, 32>>>(s, n);
    changed<<<1, 32>>>(t, p);
    changed_through_a_pointer<<<1, 32>>>(t, p);
}

// through operators and functions that are given constants
template <typename T, int N> struct Row {
    T e[N];
    __device__ T &operator[](int i) { return e[i]; }
    __device__ const T &at(int i) const { return e[i + 1]; }
    __device__ T value(int i) const { if (i < 0) return e[0]; return e[i]; }
};
template <typename T> __device__ T counted(T *p, int i) { i++; return p[i]; }  // expect: n.e load wavefronts=1

__global__ void through_functions(Row<int, 4> n, Row<float *, 2> p)
{
    int i = threadIdx.x;
    p[1][i + 8 * n[3]] = 1.f;                       // expect: p.e[1] store sectors=4
    p.at(0)[i + 8 * n.at(1)] = 2.f;                 // expect: p.e[1] store sectors=4
    p[0][i + 8 * n.value(2)] = 3.f;                 // expect: p.e[0] store sectors=4
    if (i < n[0]) p[0][2 * i] = 4.f;                // expect: p.e[0] store sectors=8,assumed
    p[0][i + 8 * counted(n.e, 1)] = 5.f;            // expect: p.e[0] store sectors=4
    int own[3] = {i, 2 * i, 3 * i};
    Row<int, 3> row = {{i, 2 * i, 3 * i}};
    p[1][own[2] - own[1]] = row[1] - row.at(0);     // expect: p.e[1] store sectors=4
}

void run_through(Row<int, 4> n, Row<float *, 2> p) { through_functions<<<1, 32>>>(n, p); }
