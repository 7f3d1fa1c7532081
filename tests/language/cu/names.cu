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
