/* Runs kernels thread by thread and writes down every address they touch.
 *
 * gcc -fsanitize=thread calls __tsan_* before each memory access; these are the definitions.
 * KERNELS (a file of initialisers) lists the kernels; records go to the file in argv[1].
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

typedef struct { unsigned x, y, z; } uint3;
uint3 threadIdx, blockIdx, blockDim, gridDim;
unsigned short iterations[12];

typedef struct {
  uint64_t address;
  uint32_t pc, caller;
  uint16_t kernel, block, thread;
  uint8_t op, size;
  uint16_t iterations[12];
} record;

enum { LOAD, STORE, ATOMIC, UNDEFINED, TOO_MANY };
#define MOST 100000 /* records of one kernel */

static FILE *out;
static unsigned written, kernel, undefined;
static uint16_t block, thread;
static jmp_buf give_up;

static void note(const void *address, unsigned size, int op, void *pc, void *caller) {
  record r = {(uint64_t)address, (uint32_t)(uint64_t)pc, (uint32_t)(uint64_t)caller,
              kernel, block, thread, op, size};
  for (int i = 0; i < 12; i++) r.iterations[i] = iterations[i];
  fwrite(&r, sizeof r, 1, out);
  if (op < UNDEFINED && ++written > MOST) longjmp(give_up, 1);
}

#define HERE __builtin_return_address(0), __builtin_return_address(1)
#define ACCESS(size)                                                              \
  void __tsan_read##size(void *p) { note(p, size, LOAD, HERE); }                  \
  void __tsan_write##size(void *p) { note(p, size, STORE, HERE); }                \
  void __tsan_unaligned_read##size(void *p) { note(p, size, LOAD, HERE); }        \
  void __tsan_unaligned_write##size(void *p) { note(p, size, STORE, HERE); }
ACCESS(1) ACCESS(2) ACCESS(4) ACCESS(8) ACCESS(16)
void __tsan_read_range(void *p, unsigned long size) { note(p, size, LOAD, HERE); }
void __tsan_write_range(void *p, unsigned long size) { note(p, size, STORE, HERE); }
void __tsan_init(void) {}

#define OVERFLOW(what) \
  void __ubsan_handle_##what() { undefined = 1; }
OVERFLOW(add_overflow) OVERFLOW(sub_overflow) OVERFLOW(mul_overflow)
OVERFLOW(negate_overflow) OVERFLOW(divrem_overflow) OVERFLOW(shift_out_of_bounds)

float atomicAdd__float(float *p, float v) { note(p, 4, ATOMIC, HERE); return 0; }
int atomicAdd__int(int *p, int v) { note(p, 4, ATOMIC, HERE); return 0; }
int atomicMax__int(int *p, int v) { note(p, 4, ATOMIC, HERE); return 0; }
int min__int(int a, int b) { return a < b ? a : b; }
int max__int(int a, int b) { return a > b ? a : b; }

/* CUDA's integer functions, as the Math API describes them */
typedef unsigned u32;
typedef unsigned long long u64;
int __popc(u32 x) { return __builtin_popcount(x); }
int __popcll(u64 x) { return __builtin_popcountll(x); }
int __clz(int x) { return x ? __builtin_clz(x) : 32; }
int __clzll(long long x) { return x ? __builtin_clzll(x) : 64; }
int __ffs(int x) { return __builtin_ffs(x); }
int __ffsll(long long x) { return __builtin_ffsll(x); }
u64 __brevll(u64 x) {
  u64 r = 0;
  for (int i = 0; i < 64; i++) r |= (x >> i & 1) << (63 - i);
  return r;
}
u32 __brev(u32 x) { return __brevll(x) >> 32; }
u32 __umul24(u32 x, u32 y) { return (u64)(x & 0xffffff) * (y & 0xffffff); }
int __mul24(int x, int y) {
  struct { signed low : 24; } a = {x}, b = {y};
  return (long long)a.low * b.low;
}
int __mulhi(int x, int y) { return (long long)x * y >> 32; }
u32 __umulhi(u32 x, u32 y) { return (u64)x * y >> 32; }
long long __mul64hi(long long x, long long y) { return (__int128)x * y >> 64; }
u64 __umul64hi(u64 x, u64 y) { return (unsigned __int128)x * y >> 64; }
int __hadd(int x, int y) { return ((long long)x + y) >> 1; }
int __rhadd(int x, int y) { return ((long long)x + y + 1) >> 1; }
u32 __uhadd(u32 x, u32 y) { return ((u64)x + y) >> 1; }
u32 __urhadd(u32 x, u32 y) { return ((u64)x + y + 1) >> 1; }
u32 __sad(int x, int y, u32 z) { return (x > y ? (u32)x - y : (u32)y - x) + z; }
u32 __usad(u32 x, u32 y, u32 z) { return (x > y ? x - y : y - x) + z; }
static u32 left(u32 low, u32 high, u32 by) {
  return by == 32 ? low : by ? high << by | low >> (32 - by) : high;
}
static u32 right(u32 low, u32 high, u32 by) {
  return by == 32 ? high : by ? low >> by | high << (32 - by) : low;
}
u32 __funnelshift_l(u32 low, u32 high, u32 by) { return left(low, high, by & 31); }
u32 __funnelshift_r(u32 low, u32 high, u32 by) { return right(low, high, by & 31); }
u32 __funnelshift_lc(u32 low, u32 high, u32 by) { return left(low, high, by < 32 ? by : 32); }
u32 __funnelshift_rc(u32 low, u32 high, u32 by) { return right(low, high, by < 32 ? by : 32); }
u32 __byte_perm(u32 x, u32 y, u32 s) {
  unsigned char in[8], out[4];
  memcpy(in, &x, 4);
  memcpy(in + 4, &y, 4);
  for (int i = 0; i < 4; i++) out[i] = in[s >> 4 * i & 7];
  memcpy(&x, out, 4);
  return x;
}

typedef void body(void *, void *, void *, void *, void *, void *, void *, void *, void *, void *,
                  void *, void *, int, int);
#define KERNEL(name, ...) extern body name;
#include "kernels.inc"
#undef KERNEL
#define KERNEL(name, ...) {name, __VA_ARGS__},
static const struct { body *run; uint3 block, grid; int n, m; } kernels[] = {
#include "kernels.inc"
};

/* Room for any 32-bit index in both directions; pages that nobody touches cost nothing. */
static char *room(int array) {
  char *at = (char *)(0x100000000000ul + ((uint64_t)array << 38));
  int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  if (mmap(at, 1ul << 38, PROT_READ | PROT_WRITE, flags, -1, 0) != at) exit(3);
  return at + (1ul << 37);
}

static void forget(int array) {
  madvise((char *)(0x100000000000ul + ((uint64_t)array << 38)), 1ul << 38, MADV_DONTNEED);
}

static void run(void **p, body *f, int n, int m) {
  for (uint64_t t = 0; t < blockDim.x * blockDim.y * blockDim.z; t++) {
    threadIdx = (uint3){t % blockDim.x, t / blockDim.x % blockDim.y, t / (blockDim.x * blockDim.y)};
    thread = t;
    for (int i = 0; i < 12; i++) iterations[i] = 0;
    f(p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8], p[9], p[10], p[11], n, m);
  }
}

int main(int argc, char **argv) {
  void *p[12];
  out = fopen(argv[1], "wb");
  for (int i = 0; i < 12; i++) p[i] = room(i);
  for (kernel = 0; kernel < sizeof kernels / sizeof *kernels; kernel++) {
    for (int i = 0; i < 12; i++) forget(i);
    for (int i = 0; i < 4096; i++) ((float *)p[1])[i] = i * 7 % 5 < 2;
    for (int i = 0; i < 256; i++) ((int *)p[6])[i] = i * 37 % 97;
    written = undefined = 0;
    blockDim = kernels[kernel].block;
    gridDim = kernels[kernel].grid;
    if (setjmp(give_up)) { note(0, 0, TOO_MANY, 0, 0); continue; }
    for (unsigned b = 0; b < gridDim.x * gridDim.y * gridDim.z; b++) {
      blockIdx = (uint3){b % gridDim.x, b / gridDim.x % gridDim.y, b / (gridDim.x * gridDim.y)};
      block = b;
      run(p, kernels[kernel].run, kernels[kernel].n, kernels[kernel].m);
    }
    if (undefined) note(0, 0, UNDEFINED, 0, 0);
  }
  return fclose(out);
}
