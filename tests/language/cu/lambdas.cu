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

void run(float *p, const float *q)
{
    in_place<<<1, 128>>>(p, q);
    passed_on<<<1, 128>>>(p);
}
