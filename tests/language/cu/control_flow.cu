// switch, do, goto out of loops, comma, conditional, compound assignment, ++ in subscripts.

__global__ void switches(float *out, int mode)
{
    int i = threadIdx.x, at;
    switch (mode) {
        case 0: at = i; break;
        case 1:
        case 2: at = 2 * i; break;
        case 3: at = 2 * i;
        default: at = 3 * i;
    }
    out[at] = 0.f;  // expect: out store sectors=12 @mode=3; out store sectors=8 @mode=1
    switch (threadIdx.x / 32) {
        case 0: out[i] = 1.f; break;      // expect: out store sectors=4
        case 1: out[2 * i] = 1.f; break;  // expect: out store sectors=8
        default: break;
    }
}

__global__ void loops(float *out)
{
    int i = threadIdx.x;
    do {
        out[i] = 0.f;  // expect: out store sectors=4
        i += blockDim.x;
    } while (i < 512);
    int k = 0;
    while (true) {
        if (k == 3) break;
        k++;
        if (k == 2) continue;
        out[threadIdx.x + 8 * k] = 1.f;  // expect: out store sectors=4
    }
    for (int a = 0; a < 4; ++a) {
        for (int b = 0; b < 4; ++b) {
            if (a * b > 5) goto done;
            out[threadIdx.x * 2] = 2.f;  // expect: out store sectors=8
        }
    }
done:
    out[threadIdx.x + 3] = 3.f;  // expect: out store sectors=5
    for (int s = 64; s > 0; s >>= 1) {
        if (threadIdx.x < s) {
            out[threadIdx.x] = 4.f;  // expect: out store sectors=1..4
        }
    }
    for (int a = 0, b = 96; a < b; a += 32, b -= 32)
        out[threadIdx.x + a + b] = 5.f;  // expect: out store sectors=4
}

__global__ void expressions(float *out, const float *in, int *keys)
{
    int i = threadIdx.x;
    out[(i, 2 * i)] = 0.f;                         // expect: out store sectors=8
    out[i < 64 ? i : 2 * i] = 1.f;                 // expect: out store sectors=4..8
    out[i] = i % 2 ? in[i] : in[i + 32];           // expect: in load sectors=4; in load sectors=4; out store sectors=4
    out[i] += 1.f;                                 // expect: out load sectors=4; out store sectors=4
    out[2 * i] *= in[i];                           // expect: in load sectors=4; out load sectors=8; out store sectors=8
    keys[i] <<= 2;                                 // expect: keys load sectors=4; keys store sectors=4
    keys[i]++;                                     // expect: keys load sectors=4; keys store sectors=4
    --keys[3 * i];                                 // expect: keys load sectors=12; keys store sectors=12
    int j = i;
    j *= 2, j += 8;
    out[j++] = 2.f;                                // expect: out store sectors=8
    out[++j] = 3.f;                                // expect: out store sectors=9
    out[j -= 10] = 4.f;                            // expect: out store sectors=8
    float *p = out + i;
    *p++ = 5.f;                                    // expect: out store sectors=4
    *p = 6.f;                                      // expect: out store sectors=5
    *(p += 31) = 7.f;                              // expect: out store sectors=4
    *--p = 8.f;                                    // expect: out store sectors=5
    const float *q = in + 4 * i;
    out[i] = *q++;                                 // expect: in load sectors=16; out store sectors=4
    out[i] = out[keys[i] & 7 ? i : i];             // expect: keys load sectors=4; out load sectors=4; out store sectors=4
    if (i < 32 && in[2 * i] > 0.f) keys[0] = i;    // expect: in load sectors=8; keys store sectors=1
    out[i] = out[i + 1] = 0.f;                     // expect: out store sectors=4; out store sectors=5
}

__device__ int early(int i, float *out)
{
    if (i >= 64) return 2 * i;
    out[i] = 0.f;  // expect: out store sectors=4
    return i;
}

__global__ void returns(float *out)
{
    int at = early(threadIdx.x, out);
    if (threadIdx.x >= 96) return;
    out[at] = 1.f;  // expect: out store sectors=4..8
}

__global__ void pragmas_before_bodies(float *out, int n)
{
    int t = threadIdx.x;
    for (int i = 1; i < 3; i++)
#pragma unroll
        for (int j = 1; j < 3; j++)
            out[i * j * t] = 0.f;  // expect: out store sectors=4..16
    if (t < 32)
        out[t] = 1.f;  // expect: out store sectors=4
    else
#pragma unroll 2
        for (int j = 1; j < 3; j++)
            out[j * t] = 2.f;  // expect: out store sectors=4..8
    for (int i = 0; i < 2; i++)
        _Pragma("unroll 1")
        do
            out[8 * t + i] = 3.f;  // expect: out store sectors=32
        while (n < 0);
}

__global__ void fetched_ahead(float *out, const float *in, const int *starts, int n)
{
    int t = threadIdx.x, next = t;
    const float *row = in + 2 * t;
    for (int k = 1; k < n; k++) {
        out[t] = in[next];           // expect: in load sectors=4; out store sectors=4
        next = (k * k % 7) * 8 + t;
        out[t] = *row;               // expect: in load sectors=8; out store sectors=4
        row = in + starts[k] * 16 + 2 * t;  // expect: starts load sectors=1
    }
    out[t] = in[next] + *row;        // expect: in load sectors=4; in load sectors=8; out store sectors=4
}

__global__ void behind_either(float *out, const int *keys, int n)
{
    int t = threadIdx.x, a = keys[t], b = keys[2 * t];  // expect: keys load sectors=4; keys load sectors=8
    float s = 0.f;
    if (a < n || b > n)
        s = 1.f;
    else if (a == 4 || b == 7)
        s = 2.f;
    out[t] = s;        // expect: out store sectors=4
    if (a > 2 * n || b == n)
        return;
    out[2 * t] = s;    // expect: out store data-dependent
}

__global__ void fetched_apart(float *out, const float *in, int n)
{
    int t = threadIdx.x, next = t;
    for (int k = 1; k < n; k++) {
        out[t] = in[next];           // expect: in load data-dependent; out store sectors=4
        next = k * 8 + 2 * t;
    }
    int last = t;
    for (int k = 0; k < t; k++)
        last = 8 * k + t;
    out[t] = in[next] + in[last];    // expect: in load data-dependent; out store sectors=4
}

void run(float *p, const float *q, int *k)
{
    switches<<<1, 128>>>(p, 1);
    switches<<<1, 128>>>(p, 3);
    loops<<<1, 128>>>(p);
    expressions<<<1, 128>>>(p, q, k);
    returns<<<1, 128>>>(p);
    pragmas_before_bodies<<<1, 128>>>(p, 5);
    fetched_ahead<<<1, 128>>>(p, q, k, 5);
    fetched_apart<<<1, 128>>>(p, q, 5);
    behind_either<<<1, 128>>>(p, k, 5);
}
