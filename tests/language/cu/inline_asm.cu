// PTX whose operands are recognisable; the rest is opaque and drops nothing else.

__device__ float load_streaming(const float *p)
{
    float v;
    asm volatile("ld.global.cs.f32 %0, [%1];" : "=f"(v) : "l"(p));  // expect: in load sectors=8
    return v;
}

__global__ void loads_and_stores(float *out, const float *in)
{
    int i = threadIdx.x;
    float v = load_streaming(in + 2 * i);
    asm volatile("st.global.wt.f32 [%0], %1;" ::"l"(out + i), "f"(v) : "memory");  // expect: out store sectors=4
    float a, b, c, d;
    asm volatile("ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%4];"  // expect: in load sectors=16
                 : "=f"(a), "=f"(b), "=f"(c), "=f"(d)
                 : "l"(in + 4 * i));
    asm("st.global.v2.f32 [%0+8], {%1, %2};" ::"l"(out + 2 * i), "f"(a + b), "f"(c + d));  // expect: out store sectors=9
    asm volatile("ld.global.nc.L1::no_allocate.L2::128B.v4.f32 {%0, %1, %2, %3}, [%4];"  // expect: in load sectors=32
                 : "=f"(a), "=f"(b), "=f"(c), "=f"(d)
                 : "l"(in + 8 * i));
    asm volatile("st.global.L1::no_allocate.f32 [%0], %1;" ::"l"(out + 2 * i), "f"(d));  // expect: out store sectors=8
    unsigned long long wide;
    asm("ld.global.u64 %0, [%1];" : "=l"(wide) : "l"(in + 2 * i));  // expect: in load sectors=8
    out[i] = wide;  // expect: out store sectors=4
    asm volatile(  // expect: out store sectors=4..8
        "{ .reg .pred p; setp.ne.b32 p, %2, 0;"
        " @p st.global.f32 [%0], %1; }" ::"l"(out + 2 * i), "f"(v), "r"((int)(i < 48)));
}

__global__ void shared_side(float *out)
{
    __shared__ alignas(16) float tile[1024];
    int i = threadIdx.x;
    tile[i] = 0.f;  // expect: tile store wavefronts=1
    unsigned at = (unsigned)__cvta_generic_to_shared(&tile[2 * i]);
    float v;
    asm volatile("ld.shared.f32 %0, [%1];" : "=f"(v) : "r"(at));         // expect: tile load wavefronts=2
    asm volatile("st.shared.f32 [%0], %1;" ::"r"(at), "f"(v));           // expect: tile store wavefronts=2
    out[i] = v;  // expect: out store sectors=4
}

__global__ void matrices(unsigned *out)
{
    __shared__ alignas(16) unsigned short tile[16][16];
    int lane = threadIdx.x;
    tile[lane / 2][lane % 2 * 8] = 0;  // expect: tile store wavefronts=4
    unsigned at = (unsigned)__cvta_generic_to_shared(&tile[lane % 16][lane / 16 * 8]);
    unsigned a, b, c, d;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16{%0, %1, %2, %3}, [%4];"  // expect: tile load wavefronts=8
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                 : "r"(at));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"  // expect: tile load wavefronts=4
                 : "=r"(a), "=r"(b)
                 : "r"(at));
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"  // expect: tile load wavefronts=2
                 : "=r"(c)
                 : "r"(at));
    out[lane] = a + b + c + d;  // expect: out store sectors=4
}

__global__ void atomics(int *out, float *sums, unsigned long long *wide, unsigned *halves)
{
    __shared__ int bins[256];
    int i = threadIdx.x, before;
    bins[i] = 0;  // expect: bins store wavefronts=1
    asm volatile("fence.acq_rel.gpu;\n");
    asm volatile("red.release.gpu.global.add.s32 [%0], %1;\n" ::"l"(out + 2 * i), "r"(1) : "memory");  // expect: out atomic sectors=8
    asm volatile("red.global.add.f32 [%0+8], %1;" ::"l"(sums + i), "f"(1.f));                          // expect: sums atomic sectors=5
    asm volatile("red.relaxed.gpu.global.add.noftz.f16x2 [%0], %1;" ::"l"(halves + i), "r"(0u));                // expect: halves atomic sectors=4
    asm volatile("atom.global.cas.b64 %0, [%1], %2, 7;" : "=l"(*wide) : "l"(wide + i), "l"(0ull));     // expect: wide atomic sectors=8; wide store sectors=1
    unsigned at = (unsigned)__cvta_generic_to_shared(&bins[2 * i % 256]);
    asm volatile("atom.shared.add.u32 %0, [%1], 1;" : "=r"(before) : "r"(at));  // expect: bins atomic wavefronts=2
    out[before] = 1;                                                            // expect: out store data-dependent
    asm volatile("membar.gl;");
    unsigned there;
    asm volatile("{ .reg .u64 addr; cvta.to.shared.u64 addr, %1; cvt.u32.u64 %0, addr; }\n"
                 : "=r"(there)
                 : "l"((void *)(&bins[i] + i)));
    unsigned v;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(there));  // expect: bins load wavefronts=2
    asm volatile("cp.async.commit_group;\n" ::);
    asm volatile("cp.async.wait_group %0;\n" ::"n"(0));
    if (v == 12345) asm("trap;");
}

__global__ void others(int *out)
{
    unsigned lane, result;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    asm("mad.lo.u32 %0, %1, %1, %1;" : "=r"(result) : "r"(threadIdx.x));
    asm volatile("bar.sync 0;");
    if (lane >= 16) asm volatile("exit;");
    out[2 * lane] = 0;          // expect: out store sectors=4
    out[threadIdx.x] = result;  // expect: out store sectors=2
    out[lane] = 1;              // expect: out store sectors=2
    out[result] = 2;            // expect: out store data-dependent
}

void run(float *p, const float *q, unsigned *u, int *k)
{
    loads_and_stores<<<1, 128>>>(p, q);
    shared_side<<<1, 128>>>(p);
    matrices<<<1, 32>>>(u);
    others<<<1, 128>>>(k);
    atomics<<<1, 128>>>(k, p, (unsigned long long *)u, u);
}
