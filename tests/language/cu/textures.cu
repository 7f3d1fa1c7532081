// Texture and surface fetches are reported, never counted; what is beside them is counted.

__global__ void fetches(float *out, cudaTextureObject_t image, cudaTextureObject_t line)
{
    int x = threadIdx.x, y = threadIdx.y;
    float a = tex2D<float>(image, x + 0.5f, y + 0.5f);  // expect: ? load texture
    float4 b = tex1Dfetch<float4>(line, 2 * x);         // expect: ? load texture
    out[y * 32 + x] = a + b.x;                          // expect: out store sectors=4
    out[x] = tex3D<float>(image, x, y, 0) + tex2DLod<float>(image, x, y, 1.f);  // expect: ? load texture; ? load texture; out store sectors=4
}

__global__ void surfaces(cudaSurfaceObject_t surface, float *out)
{
    int x = threadIdx.x;
    float v;
    surf2Dread(&v, surface, x * 4, 0);   // expect: ? load texture
    surf2Dwrite(v, surface, x * 4, 1);   // expect: ? store texture
    out[2 * x] = v;                      // expect: out store sectors=8
}

void run(float *p, cudaTextureObject_t t, cudaSurfaceObject_t s)
{
    fetches<<<1, dim3(32, 4)>>>(p, t, t);
    surfaces<<<1, 128>>>(s, p);
}
