/* Runs one C++ kernel thread by thread and writes down every address it touches, and where.
 *
 * g++ -fsanitize=thread calls __tsan_* before each access and around each function; ``context``
 * tells apart calls of one function and the iterations of the loops around them.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { LOOPS = 64, DEPTH = 256, ROOMS = 16, LOAD = 0, STORE, ATOMIC, UNDEFINED, TOO_MANY };
#define MOST 200000

typedef struct { unsigned x, y, z; } uint3;
uint3 threadIdx, blockIdx, blockDim, gridDim;
unsigned short iterations[LOOPS];

typedef struct {
  uint64_t address, context;
  uint32_t pc;
  uint16_t block, thread;
  uint8_t op, size;
} record;

static FILE *out;
static unsigned written, undefined, depth;
static uint16_t block, thread;
static uint64_t contexts[DEPTH];
static unsigned short saved[DEPTH][LOOPS];
static jmp_buf give_up;

static uint64_t mixed(uint64_t a, uint64_t b) {
  a = (a ^ b) * 0x9E3779B97F4A7C15ull;
  return a ^ a >> 29;
}

static uint64_t here(void) {
  uint64_t h = contexts[depth];
  for (int i = 0; i < LOOPS; i++)
    if (iterations[i]) h = mixed(h, (uint64_t)i << 32 | iterations[i]);
  return h;
}

static void note(const void *address, unsigned size, int op, void *pc) {
  if ((uint64_t)address > 0x700000000000) return; /* the stack */
  record r = {(uint64_t)address, here(), (uint32_t)(uint64_t)pc, block, thread, op, size};
  fwrite(&r, sizeof r, 1, out);
  if (op < UNDEFINED && ++written > MOST) longjmp(give_up, 1);
}

void note_atomic(void *p, unsigned size, void *pc) { note(p, size, ATOMIC, pc); }

#define PC __builtin_return_address(0)
#define ACCESS(size)                                                        \
  void __tsan_read##size(void *p) { note(p, size, LOAD, PC); }              \
  void __tsan_write##size(void *p) { note(p, size, STORE, PC); }            \
  void __tsan_unaligned_read##size(void *p) { note(p, size, LOAD, PC); }    \
  void __tsan_unaligned_write##size(void *p) { note(p, size, STORE, PC); }
ACCESS(1) ACCESS(2) ACCESS(4) ACCESS(8) ACCESS(16)
void __tsan_read_range(void *p, unsigned long size) { note(p, size, LOAD, PC); }
void __tsan_write_range(void *p, unsigned long size) { note(p, size, STORE, PC); }
void __tsan_vptr_update(void *p, void *v) { (void)p, (void)v; }
void __tsan_vptr_read(void *p) { (void)p; }
void __tsan_init(void) {}
void __tsan_func_entry(void *pc) {
  if (depth + 1 == DEPTH) longjmp(give_up, 1);
  uint64_t h = mixed(here(), (uint64_t)pc);
  memcpy(saved[depth], iterations, sizeof iterations);
  contexts[++depth] = h;
  memset(iterations, 0, sizeof iterations);
}
void __tsan_func_exit(void) { memcpy(iterations, saved[--depth], sizeof iterations); }

#define OVERFLOW(what) void __ubsan_handle_##what() { undefined = 1; }
OVERFLOW(add_overflow) OVERFLOW(sub_overflow) OVERFLOW(mul_overflow)
OVERFLOW(negate_overflow) OVERFLOW(divrem_overflow) OVERFLOW(shift_out_of_bounds)
OVERFLOW(out_of_bounds) OVERFLOW(missing_return) OVERFLOW(load_invalid_value)
OVERFLOW(builtin_unreachable) OVERFLOW(float_cast_overflow)

/* Room for any 32-bit index in both directions; pages that nobody touches cost nothing. */
static char *room(int array) {
  char *at = (char *)(0x100000000000ul + ((uint64_t)array << 38));
  int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  if (mmap(at, 1ul << 38, PROT_READ | PROT_WRITE, flags, -1, 0) != at) exit(3);
  return at + (1ul << 37);
}

extern void run_kernel(char **rooms);
extern const unsigned launch_shape[6];

int main(int argc, char **argv) {
  char *p[ROOMS];
  out = fopen(argv[1], "wb");
  for (int i = 0; i < ROOMS; i++) p[i] = room(i);
  for (int i = 0; i < 256; i++) ((int *)p[0])[i] = i * 37 % 97;
  blockDim = (uint3){launch_shape[0], launch_shape[1], launch_shape[2]};
  gridDim = (uint3){launch_shape[3], launch_shape[4], launch_shape[5]};
  if (setjmp(give_up)) { note(0, 0, TOO_MANY, 0); return fclose(out); }
  for (unsigned b = 0; b < gridDim.x * gridDim.y * gridDim.z; b++) {
    blockIdx = (uint3){b % gridDim.x, b / gridDim.x % gridDim.y, b / (gridDim.x * gridDim.y)};
    block = b;
    for (unsigned t = 0; t < blockDim.x * blockDim.y * blockDim.z; t++) {
      threadIdx = (uint3){t % blockDim.x, t / blockDim.x % blockDim.y,
                          t / (blockDim.x * blockDim.y)};
      thread = t;
      memset(iterations, 0, sizeof iterations);
      run_kernel(p);
    }
  }
  if (undefined) note(0, 0, UNDEFINED, 0);
  return fclose(out);
}
