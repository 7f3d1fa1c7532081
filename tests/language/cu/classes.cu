// Structs with methods, constructors, operators and bases; members that are pointers.

struct Matrix {
    float *data;
    int pitch;

    __host__ __device__ Matrix(float *d, int p) : data(d), pitch(p) {}

    __device__ float &operator()(int row, int column) { return data[row * pitch + column]; }

    __device__ const float &operator()(int row, int column) const
    {
        return data[row * pitch + column];
    }

    __device__ float *operator[](int row) { return data + row * pitch; }

    __device__ int index(int row, int column) const { return row * pitch + column; }
};

__global__ void accessors(float *out)
{
    Matrix m(out, 32);
    int x = threadIdx.x, y = threadIdx.y;
    m(y, x) = 0.f;              // expect: out store sectors=4
    m(x, y) = 1.f;              // expect: out store sectors=32
    m[y][x] = 2.f;              // expect: out store sectors=4
    out[m.index(x, y)] = 3.f;   // expect: out store sectors=32
    m(y, x) += m(y, 2 * x);     // expect: out load sectors=8; out load sectors=4; out store sectors=4
    Matrix *p = &m;
    p->data[2 * x] = 4.f;       // expect: out store sectors=8
    (*p)(x, y) = 5.f;           // expect: out store sectors=32
}

__global__ void by_value(Matrix m)
{
    int x = threadIdx.x, y = threadIdx.y;
    m(y, x) = m.data[x];  // expect: m.data load sectors=4; m.data store sectors=4..5
}

// a structure of arrays and an array of structures

struct Particles {
    float *x;
    float *mass;
};

struct Particle {
    float x, y, z;
    float mass;
};

struct alignas(16) Aligned {
    float x, y, z, w;
};

__global__ void layouts(Particles soa, Particle *aos, Aligned *wide)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    soa.x[i] = soa.mass[i];  // expect: soa.mass load sectors=4; soa.x store sectors=4
    aos[i].x = aos[i].mass;  // expect: aos load sectors=16; aos store sectors=16
    Aligned a = wide[i];     // expect: wide load sectors=16
    wide[i].y = a.x;         // expect: wide store sectors=16
    Particle &mine = aos[i];
    mine.z = 0.f;            // expect: aos store sectors=16
}

// bases

struct Indexed {
    int at;
    __device__ int scaled(int by) const { return at * by; }
};

struct Strided : Indexed {
    int by;
    __device__ explicit Strided(int i) : Indexed{i}, by(3) {}
    __device__ int operator()() const { return scaled(by); }
    __device__ operator int() const { return at + 1; }
};

__global__ void inherited(float *out)
{
    Strided s(threadIdx.x);
    out[s()] = 0.f;           // expect: out store sectors=12
    out[s.at] = 1.f;          // expect: out store sectors=4
    out[s] = 2.f;             // expect: out store sectors=5
    out[s.scaled(2)] = 3.f;   // expect: out store sectors=8
    Indexed &base = s;
    out[base.at] = 4.f;       // expect: out store sectors=4
}

// templates of classes, operators between values, increments

template <typename T, int N>
struct Vec {
    T v[N];
    __device__ T &operator[](int i) { return v[i]; }
    __device__ Vec operator+(const Vec &o) const
    {
        Vec r;
        r.v[0] = v[0] + o.v[0];
        r.v[1] = v[1] + o.v[1];
        return r;
    }
};

struct Counter {
    int n;
    __device__ Counter &operator++()
    {
        n += 2;
        return *this;
    }
    __device__ Counter &operator+=(int by)
    {
        n += by;
        return *this;
    }
    __device__ bool operator<(const Counter &o) const { return n < o.n; }
};

__device__ int operator*(const Counter &c, int by)
{
    return c.n * by;
}

__global__ void operators(float *out, int *keys)
{
    Vec<int, 2> a, b;
    a[0] = threadIdx.x;
    a[1] = 1;
    b[0] = threadIdx.x;
    b[1] = 2;
    Vec<int, 2> c = a + b;
    out[c[0] + c[1]] = 0.f;  // expect: out store sectors=9
    Counter counter{static_cast<int>(threadIdx.x)};
    ++counter;
    keys[counter.n] = 0;     // expect: keys store sectors=5
    counter += 6;
    keys[counter * 2] = 0;   // expect: keys store sectors=8
    Counter limit{1000};
    if (counter < limit) keys[threadIdx.x] = 1;  // expect: keys store sectors=4
}

// a static member function, a nested type, a class with private members, const methods

class Buffer {
public:
    using value_type = double;
    struct Position {
        int row;
    };
    __device__ Buffer(double *p) : p_(p) {}
    __device__ static int row_start(Position at) { return at.row * 4; }
    __device__ void put(Position at, value_type v) const;

private:
    double *p_;
};

__device__ void Buffer::put(Position at, value_type v) const
{
    p_[row_start(at)] = v;  // expect: out store sectors=32
    this->p_[at.row] = v;   // expect: out store sectors=8
}

__global__ void methods(double *out)
{
    Buffer buffer(out);
    buffer.put(Buffer::Position{static_cast<int>(threadIdx.x)}, 1.0);
}

// functors passed as template arguments; curiously recurring template

struct Double {
    __device__ int operator()(int i) const { return 2 * i; }
};

template <typename F>
__global__ void apply(float *out, F f)
{
    out[f(threadIdx.x)] = 0.f;  // expect: out store sectors=8
}

template <typename Derived>
struct Base {
    __device__ int position(int i) { return static_cast<Derived *>(this)->step() * i; }
};

struct Four : Base<Four> {
    __device__ int step() { return 4; }
};

__global__ void recurring(float *out)
{
    Four four;
    out[four.position(threadIdx.x)] = 0.f;  // expect: out store sectors=16
}

// a result that nobody uses is not read

struct Pair {
    float x, y;
    __device__ Pair &operator=(const Pair &o)
    {
        x = o.x;  // expect: pairs load sectors=8; pairs store sectors=8
        y = o.y;  // expect: pairs load sectors=8; pairs store sectors=8
        return *this;
    }
    __device__ Pair &set(float v)
    {
        x = v;  // expect: pairs store sectors=8
        return *this;
    }
};

__device__ float &cell(float *p) { return p[threadIdx.x]; }

__device__ volatile float &seen(float *p) { return p[threadIdx.x]; }

__global__ void results(Pair *pairs, float *out)
{
    int i = threadIdx.x;
    pairs[i] = pairs[i + 128];
    pairs[i].set(1.f);
    cell(out), (void)cell(out);
    for (int j = 0; j < 2; cell(out), j++) out[i] = 1.f;  // expect: out store sectors=4
    seen(out);                                             // expect: out load sectors=4
}

void run(float *p, double *d, int *k)
{
    accessors<<<1, dim3(32, 8)>>>(p);
    Matrix m(p, 64);
    by_value<<<1, dim3(32, 8)>>>(m);
    layouts<<<4, 128>>>(Particles{p, p}, (Particle *)p, (Aligned *)p);
    inherited<<<1, 128>>>(p);
    operators<<<1, 128>>>(p, k);
    methods<<<1, 128>>>(d);
    apply<<<1, 128>>>(p, Double{});
    recurring<<<1, 128>>>(p);
    results<<<1, 128>>>((Pair *)p, p);
}

// --- members of an anonymous union are names of the block ---

__device__ int packed(float x, float y)
{
    union {
        signed char part[4];
        int all;
    };
    part[0] = (signed char)x;
    part[1] = (signed char)y;
    part[2] = part[3] = 0;
    return all;
}

__global__ void anonymous_unions(int *out, const float2 *in)
{
    int i = threadIdx.x;
    float2 v = in[i];  // expect: in load sectors=8
    out[i] = packed(v.x, v.y);  // expect: out store sectors=4
    union {
        int whole;
        union { short low; unsigned bits; };
    };
    whole = 3 * i;
    out[2 * i] = bits + low;  // expect: out store sectors=8
    {
        union { float whole; int other; };
        whole = v.x;
        out[i + 1] = other;  // expect: out store sectors=5
    }
}

void run_unions(int *p, const float2 *q) { anonymous_unions<<<1, 64>>>(p, q); }
