// Names that C or Python would take for something else, and names in other alphabets, which CUDA
// has for what is local to a function and for members.

struct Raum { float λ; int größe; };

__global__ void other_alphabets(float *out, const float *β, Raum raum)
{
    __shared__ float плитка[64];
    int ширина = 2, i = threadIdx.x;
    плитка[ширина * i % 64] = β[ширина * i + 1];  // expect: β load sectors=8; плитка store wavefronts=2
    __syncthreads();
    if (raum.größe > 0)
        out[i] = плитка[i] * raum.λ;  // expect: плитка load wavefronts=1; out store sectors=4
}

__global__ void words_of_python(float *in, float *lambda, int is, int None)
{
    int i = threadIdx.x, def = 3;
    in[def * i] = lambda[i];  // expect: in store sectors=12; lambda load sectors=4
}

void run(float *a, float *b, Raum raum)
{
    other_alphabets<<<1, 32>>>(a, b, raum);
    words_of_python<<<1, 32>>>(a, b, 1, 2);
}

#define LIB_EXPORT __attribute__((visibility("default")))
namespace LIB_EXPORT lib {
using size_type = unsigned short;
namespace LIB_EXPORT detail { struct Pair { float x, y; }; }
__global__ void exported(size_type *out, detail::Pair *pairs)
{
    out[threadIdx.x] = pairs[threadIdx.x].y;  // expect: pairs load sectors=8; out store sectors=2
}
}
namespace [[deprecated("old")]] __attribute__((visibility("hidden"))) old { __device__ int twice(int i) { return 2 * i; } }
namespace __attribute__((visibility("hidden"))) {
__global__ void hidden(float *out)
{
    out[old::twice(threadIdx.x)] = 1;  // expect: out store sectors=8
}
}

void export_(void *p)
{
    lib::exported<<<1, 64>>>((lib::size_type *)p, (lib::detail::Pair *)p);
    hidden<<<1, 64>>>((float *)p);
}

struct [[nodiscard]] alignas(16) Wide { float v[4]; };
enum class LIB_EXPORT Small : short { A, B };
using Same [[maybe_unused]] = int;
__attribute__((device)) int thrice(int i) { return 3 * i; }
__attribute__((global)) void attributes(Wide *wide, Small *small, Same *same)
{
    __attribute__((shared)) int tile[64];
    tile[2 * (threadIdx.x & 31)] = 1;           // expect: tile store wavefronts=2
    wide[threadIdx.x] = Wide();                 // expect: wide store sectors=16
    small[thrice(threadIdx.x)] = Small::B;      // expect: small store sectors=6
    same[2 * threadIdx.x] = 1;                  // expect: same store sectors=8
}

void attributed(void *p)
{
    attributes<<<1, 64>>>((Wide *)p, (Small *)p, (Same *)p);
}
