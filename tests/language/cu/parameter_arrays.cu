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
