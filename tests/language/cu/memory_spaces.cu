// Dynamic shared memory carved up, __constant__, __device__ and __managed__ objects.

__constant__ float coefficients[64];
__constant__ struct {
    int stride;
    float scale[8];
} settings;
__device__ float table[256];
__device__ int counter;
__device__ float grid_of[16][64];
__managed__ float shared_with_host[1024];
static __device__ double sums[64];

__global__ void globals(float *out)
{
    int i = threadIdx.x;
    out[i] = coefficients[3];             // expect: coefficients load wavefronts=1; out store sectors=4
    out[i] = coefficients[i % 32];        // expect: coefficients load wavefronts=32; out store sectors=4
    out[i] = coefficients[i / 16 & 31];   // expect: coefficients load wavefronts=2; out store sectors=4
    out[i] = settings.scale[i & 3];       // expect: settings load wavefronts=4; out store sectors=4
    // nvcc lays variables out one after the other: only their own alignment is certain
    table[i] = table[2 * (i & 31)];       // expect: table load data-dependent; table store data-dependent
    atomicAdd(&counter, 1);               // expect: counter atomic sectors=1
    grid_of[i & 15][0] = 0.f;             // expect: grid_of store sectors=16
    shared_with_host[3 * i] = 1.f;        // expect: shared_with_host store data-dependent
    sums[i & 63] += 1.0;                  // expect: sums load data-dependent; sums store data-dependent
}

extern __shared__ float dynamic[];

__global__ void carved(float *out, int n)
{
    float *first = dynamic;
    int *second = (int *)(first + 128);
    double *third = reinterpret_cast<double *>(&second[128]);
    char *fourth = (char *)dynamic + 4096;
    int i = threadIdx.x;
    first[i] = 0.f;          // expect: dynamic store wavefronts=1
    second[2 * i] = i;       // expect: dynamic store wavefronts=2
    third[i] = 1.0;          // expect: dynamic store wavefronts=2
    fourth[4 * i] = 2;       // expect: dynamic store wavefronts=1
    first[i * 32] = 3.f;     // expect: dynamic store wavefronts=32
    float(*rows)[33] = reinterpret_cast<float(*)[33]>(dynamic);
    rows[i % 32][i / 32] = 4.f;  // expect: dynamic store wavefronts=1
    float2 *pairs = (float2 *)(fourth + 512);
    out[i] = pairs[i].x + first[n + i];  // expect: dynamic load wavefronts=2; dynamic load wavefronts=1; out store sectors=4
}

template <typename T>
__global__ void own_bytes(T *out)
{
    extern __shared__ __align__(16) unsigned char memory[];
    T *values = reinterpret_cast<T *>(memory);
    values[threadIdx.x * 2] = 0;            // expect: memory store wavefronts=2 @T=float; memory store wavefronts=4 @T=double
    out[threadIdx.x] = values[threadIdx.x];  // expect: memory load wavefronts=1 @T=float; memory load wavefronts=2 @T=double; out store sectors=4 @T=float; out store sectors=8 @T=double
}

struct Shared {
    float a[32];
    float b[32][2];
};

__global__ void shared_objects(float *out)
{
    __shared__ Shared all;
    __shared__ int flag;
    __shared__ float buffers[2][32];
    int i = threadIdx.x;
    if (i == 0) flag = 1;   // expect: flag store wavefronts=1
    all.a[i] = 0.f;         // expect: all store wavefronts=1
    all.b[i][1] = 1.f;      // expect: all store wavefronts=2
    __syncthreads();
    for (int k = 0; k < 4; ++k) buffers[k & 1][i] = buffers[(k + 1) & 1][31 - i];  // expect: buffers load wavefronts=1; buffers store wavefronts=1
    out[i + flag] = all.a[0];  // expect: flag load wavefronts=1; all load wavefronts=1; out store data-dependent
    volatile float *v = all.a;
    v[i] = v[i ^ 1];        // expect: all load wavefronts=1; all store wavefronts=1
}

void run(float *p, double *d)
{
    globals<<<1, 128>>>(p);
    carved<<<1, 128, 32768>>>(p, 8);
    own_bytes<float><<<1, 128, 4096>>>(p);
    own_bytes<double><<<1, 128, 4096>>>(d);
    shared_objects<<<1, 32>>>(p);
}
