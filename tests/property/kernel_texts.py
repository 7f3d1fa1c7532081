"""What all random kernels share: types, called functions, parameters, shared arrays (kernel C).

A kernel's text is these four in order, then its body and a brace.
"""

from __future__ import annotations

PRELUDE = """\
typedef struct uint3 { unsigned x; unsigned y; unsigned z; } uint3;
typedef unsigned long size_t;
typedef struct float2 { _Alignas(8) float x; float y; } float2;
typedef struct float3 { float x; float y; float z; } float3;
typedef struct float4 { _Alignas(16) float x; float y; float z; float w; } float4;
typedef struct rec { float p; int q; float r; } rec;
typedef struct wide { char tag; double value; float rest[2]; } wide;
extern const uint3 threadIdx, blockIdx, blockDim, gridDim;
extern void __syncthreads(void);
extern int min__int(int, int);
extern int max__int(int, int);
extern int __shfl_down_sync__int(unsigned, int, unsigned, int);
extern int __shfl_up_sync__int(unsigned, int, unsigned, int);
extern int __shfl_xor_sync__int(unsigned, int, int, int);
extern int __any_sync(unsigned, int), __all_sync(unsigned, int);
extern unsigned __ballot_sync(unsigned, int);
extern int __shfl_sync__int(unsigned, int, int, int);
extern float atomicAdd__float(float *, float);
extern int atomicAdd__int(int *, int);
extern int atomicMax__int(int *, int);
extern int __popc(unsigned), __popcll(unsigned long long), __clz(int), __clzll(long long);
extern int __ffs(int), __ffsll(long long);
extern unsigned __brev(unsigned); extern unsigned long long __brevll(unsigned long long);
extern int __mul24(int, int), __mulhi(int, int), __hadd(int, int), __rhadd(int, int);
extern unsigned __umul24(unsigned, unsigned), __umulhi(unsigned, unsigned);
extern unsigned __uhadd(unsigned, unsigned), __urhadd(unsigned, unsigned);
extern unsigned __sad(int, int, unsigned), __usad(unsigned, unsigned, unsigned);
extern long long __mul64hi(long long, long long);
extern unsigned long long __umul64hi(unsigned long long, unsigned long long);
extern unsigned __funnelshift_l(unsigned, unsigned, unsigned);
extern unsigned __funnelshift_r(unsigned, unsigned, unsigned);
extern unsigned __funnelshift_lc(unsigned, unsigned, unsigned);
extern unsigned __funnelshift_rc(unsigned, unsigned, unsigned);
extern unsigned __byte_perm(unsigned, unsigned, unsigned);
"""

_TABLE = (5, 0, 7, 2, 9, 4, 11, 6, 13, 8, 15, 10, 1, 12, 3, 14)
LAUNCHED_WITH = {f"lut[{at}]": value for at, value in enumerate(_TABLE)}
"""What constant memory holds when the kernels run."""

HEAD = f"[[cuda::constant]] int lut[16] = {{{', '.join(map(str, _TABLE))}}};"
HEAD += """
[[cuda::constant]] float coef[64];
static int mix(int i, int j) { if (i > j) return i - j; return j * 2 + 1; }
static float get(const float *p, int i)
{
  return p[i * 2];
}
static void put(float *p, int i, int n)
{
  if (i >= n) return;
  p[i] = 1.0f;
}
static float sum(const float *p, int n, int step)
{
  float total = 0.0f;
  ENTER(11); for (int i = 0; i < n; i += step) { ITERATION(11);
    total += p[i];
  } EXIT(11);
  return total;
}
static int find(const int *p, int most, int value)
{
  ENTER(11); for (int i = 0; i < most; ++i) { ITERATION(11);
    if (p[i] == value) { EXIT(11); return i; }
  } EXIT(11);
  return most;
}
"""
SIGNATURE = """\
[[cuda::global]] void k(float *o, const float *a, const char *c, double *d, float4 *v, rec *r,
    const int *idx, float2 *f2, float3 *f3, wide *w, unsigned short *h, int *ctr, int n, int m)
{
"""
SHARED = """\
  [[cuda::shared]] float s[1024];
  [[cuda::shared]] double t[32][33];
  [[cuda::shared]] unsigned char b[512];
  [[cuda::shared]] unsigned short hs[32][34];
  [[cuda::shared]] float4 vs[128];
  [[cuda::shared]] int bins[64];
"""
