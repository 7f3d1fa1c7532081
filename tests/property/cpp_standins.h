/* What CUDA gives every kernel, for g++: names, vectors, atomics that are written down. */
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline
#define __noinline__
#define __launch_bounds__(...)
#define __syncthreads()
#define __syncwarp(...)

struct uint3 { unsigned x, y, z; };
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};
extern "C" uint3 threadIdx, blockIdx, blockDim, gridDim;
extern "C" unsigned short iterations[];
#define ENTER(i) iterations[i] = 0
#define ITERATION(i) iterations[i]++
#define EXIT(i) iterations[i] = 0

struct alignas(8) float2 { float x, y; };
struct float3 { float x, y, z; };
struct alignas(16) float4 { float x, y, z, w; };
struct alignas(8) int2 { int x, y; };
struct int3 { int x, y, z; };
struct alignas(16) int4 { int x, y, z, w; };
struct alignas(4) uchar4 { unsigned char x, y, z, w; };
struct alignas(4) short2 { short x, y; };
inline float2 make_float2(float x, float y) { return {x, y}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline int2 make_int2(int x, int y) { return {x, y}; }
inline int3 make_int3(int x, int y, int z) { return {x, y, z}; }
inline int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }
inline short2 make_short2(short x, short y) { return {x, y}; }

#define PAIR(type)                                      \
  inline type min(type a, type b) { return a < b ? a : b; } \
  inline type max(type a, type b) { return a > b ? a : b; }
PAIR(int) PAIR(unsigned) PAIR(long) PAIR(unsigned long) PAIR(float) PAIR(double)
inline int abs(int a) { return a < 0 ? -a : a; }
inline int __popc(unsigned a) { return __builtin_popcount(a); }
inline int __clz(int a) { return a ? __builtin_clz(a) : 32; }
inline int __ffs(int a) { return __builtin_ffs(a); }

extern "C" void note_atomic(void *p, unsigned size, void *pc);
#define QUIET __attribute__((noinline, no_sanitize_thread))
template <class T> QUIET T atomicAdd(T *p, T) {
  note_atomic(p, sizeof(T), __builtin_return_address(0));
  return T();
}
template <class T> QUIET T atomicMax(T *p, T) {
  note_atomic(p, sizeof(T), __builtin_return_address(0));
  return T();
}
