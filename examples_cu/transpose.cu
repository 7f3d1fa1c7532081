// A square matrix transposed in four ways, next to a plain copy.
// A block of 32 x 8 threads handles a tile of 32 x 32 elements, four rows per thread.

constexpr int TILE = 32;
constexpr int ROWS = 8;
constexpr int N = 512;

// Reads and writes run along rows: 4 sectors each.
__global__ void copy(float *out, const float *in, int n)
{
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        out[(y + j) * n + x] = in[(y + j) * n + x];
}

// The store runs down a column: 32 sectors where 4 would do.
__global__ void transpose_naive(float *out, const float *in, int n)
{
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        out[x * n + y + j] = in[(y + j) * n + x];
}

// Both sides run along rows; the tile in shared memory turns the block around.
// PAD = 0 puts a column of the tile into one bank, PAD = 1 spreads it over all of them.
// Without the barrier a thread may read elements that nobody has written yet.
template <int PAD, bool SYNC>
__global__ void transpose_tile(float *out, const float *in, int n)
{
    __shared__ float tile[TILE][TILE + PAD];

    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];

    if (SYNC)
        __syncthreads();

    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}

void run_transpose(float *out, const float *in)
{
    dim3 block(TILE, ROWS);
    dim3 grid(N / TILE, N / TILE);
    copy<<<grid, block>>>(out, in, N);
    transpose_naive<<<grid, block>>>(out, in, N);
    transpose_tile<0, true><<<grid, block>>>(out, in, N);
    transpose_tile<1, true><<<grid, block>>>(out, in, N);
    transpose_tile<1, false><<<grid, block>>>(out, in, N);
}
