// Namespaces, using, enumerations and constants from everywhere.

namespace sizes {
constexpr int TILE = 8;
namespace inner {
const int PAD = 1;
enum Axis { X, Y = 2, Z };
}  // namespace inner
enum class Layout : int { Row = 1, Column = 32 };
}  // namespace sizes

namespace alias = sizes::inner;

__global__ void qualified(float *out)
{
    out[threadIdx.x * sizes::TILE] = 0.f;             // expect: out store sectors=32
    out[threadIdx.x + sizes::inner::PAD] = 0.f;       // expect: out store sectors=5
    out[threadIdx.x * sizes::inner::Y] = 0.f;         // expect: out store sectors=8
    out[threadIdx.x * alias::Z] = 0.f;                // expect: out store sectors=12
    out[threadIdx.x * (int)sizes::Layout::Row] = 0.f;  // expect: out store sectors=4
    out[static_cast<int>(sizes::Layout::Column) * threadIdx.x] = 0.f;  // expect: out store sectors=32
}

__global__ void brought_in(float *out)
{
    using namespace sizes::inner;
    using sizes::TILE;
    out[threadIdx.x * Y] = 0.f;            // expect: out store sectors=8
    out[(threadIdx.x + TILE) * PAD] = 0.f;  // expect: out store sectors=4
}

namespace {
namespace detail {
template <typename T>
__device__ int step()
{
    return sizeof(T) / 4;
}
}  // namespace detail

__global__ void in_anonymous(float *out)
{
    out[threadIdx.x * detail::step<double>()] = 0.f;  // expect: out store sectors=8
}
}  // namespace

constexpr int cube(int n)
{
    return n * n * n;
}

constexpr int factorial(int n)
{
    return n <= 1 ? 1 : n * factorial(n - 1);
}

constexpr int log2_of(int n)
{
    int result = 0;
    while (n > 1) {
        n /= 2;
        ++result;
    }
    return result;
}

constexpr int WIDTH = cube(2) * 4;
const int SIX = factorial(3);
constexpr int FOUR = log2_of(16);

__global__ void computed(float *out)
{
    __shared__ float tile[WIDTH][WIDTH + 1];
    int x = threadIdx.x, y = threadIdx.y;
    tile[x][y] = 0.f;                     // expect: tile store wavefronts=1
    out[y * WIDTH + x] = tile[y][x];      // expect: tile load wavefronts=1; out store sectors=4
    out[x * SIX] = tile[0][0];   // expect: tile load wavefronts=1; out store sectors=24
    out[x * FOUR] = tile[0][y];    // expect: tile load wavefronts=1; out store sectors=16
}

struct Config {
    static constexpr int STRIDE = 2;
    static const int SHIFT = 3;
    enum { COLUMNS = 33 };
    typedef short value_type;
};

template <typename C>
__global__ void configured(typename C::value_type *out, float *sums)
{
    __shared__ float rows[4][C::COLUMNS];
    out[threadIdx.x * C::STRIDE] = 0;                   // expect: out store sectors=4
    sums[threadIdx.x + C::SHIFT] = rows[1][threadIdx.x];  // expect: rows load wavefronts=1; sums store sectors=5
}

#define BLOCK 128
#define SCALE(i, s) ((i) * (s))
#define COLUMN 4

__device__ const int offsets[4] = {0, 8, 16, 24};
constexpr int steps[3] = {1, 3, 8};

__global__ void macros_and_tables(float *out)
{
    out[SCALE(threadIdx.x, COLUMN)] = 0.f;        // expect: out store sectors=16
    constexpr int step = steps[1];
    out[threadIdx.x * step] = 0.f;                // expect: out store sectors=12
    out[threadIdx.x + offsets[blockIdx.x & 3]] = 0.f;  // expect: offsets load sectors=1; out store sectors=4
}

void run(float *p, short *s)
{
    qualified<<<1, BLOCK>>>(p);
    brought_in<<<1, BLOCK>>>(p);
    in_anonymous<<<1, BLOCK>>>(p);
    computed<<<1, dim3(WIDTH, WIDTH)>>>(p);
    configured<Config><<<1, 32>>>(s, p);
    macros_and_tables<<<1, BLOCK>>>(p);
}

// Constants with their initialiser in parentheses, which reads as a function's declaration.
constexpr unsigned HALF_ROW(8), ROWS(4);
constexpr unsigned ROW(HALF_ROW * ROWS);
constexpr unsigned SAME_ROW(ROW);

__device__ void sums(const float tile[][8], float by, float row[])
{
    for (int i = 0; i < 8; i++) {
        row[i] = by * tile[0][i];       // expect: out store sectors=32
    }
}

__global__ void in_parentheses(float *out)
{
    float tile[3][8] = {};
    out[threadIdx.x * ROW] = 0.f;       // expect: out store sectors=32
    out[threadIdx.x + SAME_ROW] = 0.f;  // expect: out store sectors=4
    sums(tile, 2.f, &out[8 * threadIdx.x]);
}

void in_parentheses_too(float *p)
{
    constexpr int threads(SAME_ROW);
    in_parentheses<<<1, threads>>>(p);
}

// --- functions that constants choose ---

enum Kind { ONE, TWO, MANY, NONE };
typedef float (*take_t)(const float *, int);
static __device__ float take_one(const float *p, int i)
{
    return p[i];  // expect: in load sectors=4
}
template <int N> static __device__ float take(const float *p, int i)
{
    return p[N * i];  // expect: in load sectors=8 @K=1; in load sectors=20 @K=1; in load sectors=20 @K=2
}
template <int N> static constexpr __device__ take_t by_choice(Kind k)
{
    return k == ONE ? take_one : k == TWO ? take<2> : k == MANY ? take<N> : nullptr;
}
static constexpr __device__ take_t by_switch(Kind k)
{
    switch (k) {
        case ONE: return take_one;
        case NONE:
        case TWO: return take<5>;
        default: return nullptr;
    }
}
static constexpr __device__ int step_of(Kind k)
{
    int n = 1;
    switch (k) {
        case MANY: n++;  // fallthrough
        case TWO: n *= 2; break;
        case NONE: return 0;
    }
    return n;
}
template <Kind K> struct Traits {
    static constexpr take_t function = by_choice<5>(K);
};
template <> struct Traits<NONE> {
    static constexpr take_t function = &take_one;
};

template <Kind K>
__global__ void chosen(float *out, const float *in)
{
    int i = threadIdx.x;
    constexpr take_t function = Traits<K>::function;
    out[step_of(K) * i] = function(in, i);  // expect: out store sectors=4 @K=0; out store sectors=8 @K=1; out store sectors=16 @K=2; out store sectors=1 @K=3
    if constexpr (K == TWO) {
        constexpr take_t other = by_switch(K);
        out[i] = other(in, i);  // expect: out store sectors=4 @K=1
    }
}

void run_chosen(float *p, const float *q)
{
    chosen<ONE><<<1, 32>>>(p, q);
    chosen<TWO><<<1, 32>>>(p, q);
    chosen<MANY><<<1, 32>>>(p, q);
    chosen<NONE><<<1, 32>>>(p, q);
}

// objects that are constants, also as template arguments: device code reads no memory for them
struct Shape {
    int rows, step;
    __host__ __device__ constexpr int both() const { return rows * step; }
};
struct Named {
    Shape shape;
    float scale;
    unsigned char wrapped;
};
constexpr Shape WIDE{4, 5};
static constexpr Shape NARROW = Shape{2 * 3, 3 - 1};
const Shape PLAIN = {9, 8};
constexpr Named NAMED = {{1, 3}, 1.5f, 258 % 256};
struct Held {
    Shape shape;
    int more;
};
constexpr Held FLAT = {1, 2};  // two numbers of the shape
struct Wider : Shape {
    int more;
};
constexpr Wider WIDER{{1, 3}, 2};
template <int N> struct Row {
    float v[N];
};
__device__ int rows_of(Shape shape) { return shape.rows; }

__global__ void constant_objects(float *out)
{
    int i = threadIdx.x;
    out[i * WIDE.rows] = WIDE.step;  // expect: out store sectors=16
    out[i * NARROW.step] = 1;  // expect: out store sectors=8
    out[i * PLAIN.step] = 1;  // expect: out store sectors=32
    out[i * NAMED.shape.step] = NAMED.scale;  // expect: out store sectors=12
    out[i * NAMED.wrapped] = 1;  // expect: out store sectors=8
    out[i * (WIDE.both() - 17)] = 1;  // expect: out store sectors=12
    out[i * rows_of(NARROW)] = 1;  // expect: out store sectors=24
    out[i * FLAT.more + i * FLAT.shape.step] = 1;  // expect: out store sectors=8
    out[i * WIDER.more + i * WIDER.step] = 1;  // expect: out store sectors=20
    __shared__ Row<NARROW.step> rows[32];
    rows[i].v[0] = 1;  // expect: rows store wavefronts=2
    Shape own = WIDE;
    own.rows -= 2;
    out[i * own.rows] = 1;  // expect: out store sectors=8
}

template <Shape S> __device__ int step_in() { return S.step; }

template <Shape S>
__global__ void shaped(float *out)
{
    __shared__ float rows[32][S.rows];
    int i = threadIdx.x;
    rows[i][0] = 1;  // expect: rows store wavefronts=4 @S=WIDE; rows store wavefronts=2 @S=Shape{2, 3}
    out[i * S.step] = 1;  // expect: out store sectors=20 @S=WIDE; out store sectors=12 @S=Shape{2, 3}
    out[i * step_in<S>()] = 1;  // expect: out store sectors=20 @S=WIDE; out store sectors=12 @S=Shape{2, 3}
    out[i * (S.both() % 5)] = 1;  // expect: out store sectors=1 @S=WIDE; out store sectors=4 @S=Shape{2, 3}
}

template <auto S>
__global__ void shaped_by_any(float *out)
{
    out[threadIdx.x * S.step] = 1;  // expect: out store sectors=8
}

void run_shaped(float *p)
{
    constant_objects<<<1, 32>>>(p);
    shaped<WIDE><<<1, 32>>>(p);
    shaped<Shape{2, 3}><<<1, 32>>>(p);
    shaped_by_any<NARROW><<<1, 32>>>(p);
}
