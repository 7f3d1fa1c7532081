// Lambdas: called in place, kept in variables, passed on.

template <typename F>
__device__ void each(int n, F f)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x) f(i);
}

__global__ void in_place(float *out, const float *in)
{
    int stride = 2;
    int i = threadIdx.x;
    int at = [&]() { return i * stride; }();
    out[at] = 0.f;  // expect: out store sectors=8
    auto triple = [](int j) { return 3 * j; };
    out[triple(i)] = 1.f;  // expect: out store sectors=12
    auto put = [=](int j) {
        out[j] = in[2 * j];  // expect: in load sectors=8; out store sectors=4
    };
    put(i);
    auto count = [&](int by) { stride += by; };
    count(2);
    out[i * stride] = 2.f;  // expect: out store sectors=16
    auto generic = [](auto a, auto b) { return a * b; };
    out[generic(i, 2)] = 3.f;  // expect: out store sectors=8
    auto kept = [step = 4](int j) -> int { return j * step; };
    out[kept(i)] = 4.f;  // expect: out store sectors=16
    int changing = i;
    auto copied = [=]() { return changing; };
    auto seen = [&]() { return changing; };
    changing *= 2;
    out[copied()] = 5.f;  // expect: out store sectors=4
    out[seen()] = 6.f;    // expect: out store sectors=8
    auto own = [changing]() mutable { return changing += 1; };
    out[own()] = 7.f;     // expect: out store sectors=8
    out[changing] = 8.f;  // expect: out store sectors=8
}

__global__ void passed_on(float *out)
{
    each(256, [=](int i) {
        out[i] = 0.f;  // expect: out store sectors=4
    });
    each(128, [&](int i) {
        out[2 * i] = 0.f;  // expect: out store sectors=8
    });
}

// there is one of each shared variable: a lambda uses it and has no copy
__global__ void shared_variables(float *out)
{
    __shared__ float tile[32][32], row[128];
    __shared__ float pair[1][2];
    auto at = [=](int r, int c) { return tile[r][c]; };  // expect: tile load wavefronts=32
    auto in_row = [=](int j) { return row[2 * j & 127]; };  // expect: row load wavefronts=2
    auto put = [=](int r, int c) { tile[r][c] = pair[0][1]; };  // expect: pair load wavefronts=1; tile store wavefronts=1
    int i = threadIdx.x;
    put(i / 32, i % 32);
    row[i] = 1.f;      // expect: row store wavefronts=1
    pair[0][1] = 2.f;  // expect: pair store wavefronts=1
    __syncthreads();
    out[i] = at(i % 32, i / 32) + in_row(i);  // expect: out store sectors=4
}

// constants of the function around, in lambdas and in methods of classes inside the function
template <int N>
__global__ void constants_around(float *out)
{
    constexpr int step = N / 2, rows = step * 2;
    const int start = 3;
    int i = threadIdx.x;
    auto spread = [&](int j) { return j / rows * rows * step + j % rows + start; };
    out[spread(i)] = 0.f;  // expect: out store sectors=8
    auto twice = [=](int j) { return [=](int k) { return k * step; }(j); };
    out[twice(i)] = 1.f;  // expect: out store sectors=16
    auto parameter = [](int step) { return step; };
    out[parameter(i)] = 2.f;  // expect: out store sectors=4
    struct Row {
        static __device__ int at(int j) { return j * rows; }
    };
    out[Row::at(i)] = 3.f;  // expect: out store sectors=32
}

void run(float *p, const float *q)
{
    constants_around<8><<<1, 128>>>(p);
    in_place<<<1, 128>>>(p, q);
    passed_on<<<1, 128>>>(p);
    shared_variables<<<1, 128>>>(p);
}
