// Pointers to pointers, arrays of pointers, pointers to arrays, several dimensions.

__global__ void pointer_to_pointer(float **rows, float *out)
{
    int x = threadIdx.x, y = blockIdx.x;
    out[x] = rows[y][x];   // expect: rows load sectors=1; *rows load data-dependent; out store sectors=4
    rows[y][2 * x] = 0.f;  // expect: rows load sectors=1; *rows store data-dependent
    float *mine = rows[x];  // expect: rows load sectors=8
    mine[0] = 1.f;          // expect: *rows store data-dependent
}

__global__ void array_of_pointers(float *a, float *b, double *c)
{
    float *both[2] = {a, b + 4};
    int i = threadIdx.x;
    both[0][i] = 0.f;  // expect: a store sectors=4
    both[1][i] = 1.f;  // expect: b store sectors=5
    double *const list[] = {c, c + 1};
    list[1][i] = 2.0;  // expect: c store sectors=9
}

__global__ void pointer_to_array(float (*rows)[32], double (*boxes)[4][8])
{
    int x = threadIdx.x, y = threadIdx.y;
    rows[y][x] = 0.f;        // expect: rows store sectors=4
    rows[x][y] = 1.f;        // expect: rows store sectors=32
    (*rows)[x] = 2.f;        // expect: rows store sectors=4
    boxes[x][y % 4][0] = 3;  // expect: boxes store sectors=32
    boxes[0][x / 8][x % 8] = 4;  // expect: boxes store sectors=8
}

__global__ void many_dimensions(float a[][8][16], const int shape[])
{
    int x = threadIdx.x;
    a[blockIdx.x][x / 16][x % 16] = 0.f;  // expect: a store sectors=4
    a[blockIdx.x][x % 8][x / 8] = shape[x];  // expect: shape load sectors=4; a store sectors=8
}

__device__ void fill(float (*tile)[33], int row)
{
    tile[row][threadIdx.x] = 0.f;  // expect: tile store wavefronts=1
    tile[threadIdx.x][row] = 0.f;  // expect: tile store wavefronts=1
}

__device__ void fill_flat(float tile[32][32])
{
    tile[threadIdx.x][0] = 0.f;  // expect: square store wavefronts=32
}

__global__ void shared_rows(float *out)
{
    __shared__ float tile[32][33];
    __shared__ float square[32][32];
    fill(tile, threadIdx.y);
    fill_flat(square);
    float *flat = &tile[0][0];
    flat[threadIdx.x * 2] = 0.f;          // expect: tile store wavefronts=2
    float(*again)[33] = tile + 1;
    again[0][threadIdx.x] = 1.f;          // expect: tile store wavefronts=1
    float *row = tile[threadIdx.y];
    out[threadIdx.x] = row[threadIdx.x];  // expect: tile load wavefronts=1; out store sectors=4
}

__global__ void differences(float *out, const float *begin, const float *end)
{
    int n = end - begin;
    const float *p = begin + threadIdx.x;
    long offset = p - begin;
    out[offset] = 0.f;                     // expect: out store sectors=4
    *(float *)((char *)out + 8 * threadIdx.x) = 1.f;  // expect: out store sectors=8
    float *const last = out + 127;
    last[-(int)threadIdx.x] = 2.f;         // expect: out store sectors=4
    if (p < begin + 128 && n != 0) *(out + threadIdx.x) = 3.f;  // expect: out store sectors=4
    threadIdx.x[out] = 4.f;                // expect: out store sectors=4
    void *raw = out;
    static_cast<double *>(raw)[threadIdx.x] = 5.0;  // expect: out store sectors=8
}

__device__ int triple(int i)
{
    return 3 * i;
}

__global__ void function_pointer(float *out)
{
    int (*f)(int) = triple;
    out[f(threadIdx.x)] = 0.f;  // expect: out store sectors=12
}

void run(float **r, float *p, double *d, const float *q, int *s)
{
    pointer_to_pointer<<<4, 32>>>(r, p);
    array_of_pointers<<<1, 128>>>(p, p, d);
    pointer_to_array<<<1, dim3(32, 4)>>>((float(*)[32])p, (double(*)[4][8])d);
    many_dimensions<<<4, 64>>>((float(*)[8][16])p, s);
    shared_rows<<<1, dim3(32, 4)>>>(p);
    differences<<<1, 128>>>(p, q, q);
    function_pointer<<<1, 128>>>(p);
}

// --- pointers that are kept in memory: where they point to follows from what was put there ---

struct Keeper {
    float *place;
    float values[8];
};

__global__ void kept_in_local_memory(float *out, int n)
{
    __shared__ float row[32];
    Keeper k;
    k.place = row;       // expect: k store sectors=8
    k.values[n] = 1;     // expect: k store sectors=4
    k.place[threadIdx.x] = 2;  // expect: k load sectors=8; *k store unknown
    out[threadIdx.x] = k.values[n + 1];  // expect: k load sectors=4; out store sectors=4
}

__global__ void kept_in_shared_memory(float *out, float **rows, int n)
{
    __shared__ float row[32];
    __shared__ float *here[2];
    __shared__ float *there[4];
    if (threadIdx.x < 2) here[threadIdx.x] = row + threadIdx.x;   // expect: here store wavefronts=1
    if (threadIdx.x < 2) there[threadIdx.x] = rows[threadIdx.x];  // expect: rows load sectors=1; there store wavefronts=1
    if (threadIdx.x == 2) there[2] = out + 4 * n;                 // expect: there store wavefronts=1
    __syncthreads();
    if (threadIdx.x == 3) there[3] = there[1];  // expect: there load wavefronts=1; there store wavefronts=1
    __syncthreads();
    here[n][threadIdx.x] = 1;   // expect: here load wavefronts=1; *here store unknown
    there[n][threadIdx.x] = 1;  // expect: there load wavefronts=1; *there store data-dependent
    rows[n][threadIdx.x] = 1;   // expect: rows load sectors=1; *rows store data-dependent
}

void kept(float *p, float **rows, int n)
{
    kept_in_local_memory<<<1, 32>>>(p, n);
    kept_in_shared_memory<<<1, 32>>>(p, rows, n);
}

__global__ void volume(cudaPitchedPtr from, cudaExtent extent)
{
    char *slices = (char *)from.ptr;
    size_t slice = from.pitch * extent.height;
    for (int z = 0; z < extent.depth; ++z) {
        float *row = (float *)(slices + z * slice + blockIdx.x * from.pitch);
        row[threadIdx.x] = 1.f;  // expect: from.ptr store sectors=4..5
    }
}

void allocate()
{
    cudaPitchedPtr room;
    cudaExtent extent = make_cudaExtent(256, 64, 32);
    cudaMalloc3D(&room, extent);
    volume<<<64, 64>>>(room, extent);
}
