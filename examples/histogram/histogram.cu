// SPDX-License-Identifier: Apache-2.0
//
// How often each byte value occurs. A quarter of the input has one value, so that atomics collide. GMProf's
// question, which device arrays are hot and belong into shared memory (section I-B): here `bins`, clearly.
#include "../common/check.h"

enum { BINS = 256, BLOCK = 256, WARP = 32, MAX_BLOCKS = 64, FREQUENT = 17 };

// Every element an atomic in global memory: all SMs queue up for the same lines of L2.
__global__ void histogram_global(const unsigned char *in, unsigned *bins, int n) {
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK)
        atomicAdd(&bins[in[i]], 1u);
}

// A histogram per block in shared memory, added to the result at the end: contention stays within the SM.
__global__ void histogram_shared(const unsigned char *in, unsigned *bins, int n) {
    __shared__ unsigned s[BINS];
    int t = threadIdx.x;
    s[t] = 0;  // BLOCK == BINS
    __syncthreads();
    for (int i = blockIdx.x * BLOCK + t; i < n; i += gridDim.x * BLOCK)
        atomicAdd(&s[in[i]], 1u);
    __syncthreads();
    atomicAdd(&bins[t], s[t]);
}

// A histogram per warp: only lanes of one warp collide; more shared memory, one more sum at the end.
__global__ void histogram_privatised(const unsigned char *in, unsigned *bins, int n) {
    __shared__ unsigned s[BLOCK / WARP][BINS];
    int t = threadIdx.x;
    for (int w = 0; w < BLOCK / WARP; w++)
        s[w][t] = 0;
    __syncthreads();
    for (int i = blockIdx.x * BLOCK + t; i < n; i += gridDim.x * BLOCK)
        atomicAdd(&s[t / WARP][in[i]], 1u);
    __syncthreads();
    unsigned sum = 0;
    for (int w = 0; w < BLOCK / WARP; w++)
        sum += s[w][t];
    atomicAdd(&bins[t], sum);
}

struct Problem {
    int n;
    unsigned expected[BINS];
    unsigned char *in;  // device
    unsigned *bins;     // device
};

typedef void Kernel(const unsigned char *in, unsigned *bins, int n);

static void launch(Kernel *kernel, Problem *p) {
    int blocks = (p->n + BLOCK - 1) / BLOCK;
    if (blocks > MAX_BLOCKS)
        blocks = MAX_BLOCKS;
    kernel<<<blocks, BLOCK>>>(p->in, p->bins, p->n);
}

static void launch_global(Problem *p) { launch(histogram_global, p); }
static void launch_shared(Problem *p) { launch(histogram_shared, p); }
static void launch_privatised(Problem *p) { launch(histogram_privatised, p); }

static Problem *create(int n) {
    Problem *p = host_array<Problem>(1);
    p->n = n;
    unsigned char *in = host_array<unsigned char>(n);
    unsigned state = 1;
    for (int i = 0; i < n; i++) {
        unsigned r = lcg_next(&state, 4 * BINS);
        in[i] = r % 4 ? r / 4 : (unsigned)FREQUENT;
        p->expected[in[i]]++;
    }
    p->in = device_copy_of(in, n);
    p->bins = device_array<unsigned>(BINS);
    free(in);
    return p;
}

static void reset(Problem *p) { CUDA_CHECK(cudaMemset(p->bins, 0, BINS * sizeof(unsigned))); }

static bool check(const Problem *p, Failure *f) { return compare_exact(f, "bins", p->expected, p->bins, BINS); }

static void destroy(Problem *p) {
    CUDA_CHECK(cudaFree(p->in));
    CUDA_CHECK(cudaFree(p->bins));
    free(p);
}

static const Variant variants[] = {
    {"global", launch_global, 1, "atomics in global memory"},
    {"shared", launch_shared, 1, "a histogram per block in shared memory"},
    {"privatised", launch_privatised, 1, "a histogram per warp in shared memory"},
};

static const Example example = {
    "histogram", "elements",                  // name, what --n counts
    1 << 18,     1,          1 << 26, false,  // default, smallest, largest, powers of two only
    create,      reset,      check,   destroy, variants, sizeof variants / sizeof variants[0],
};

int main(int argc, char **argv) { return example_main(&example, argc, argv); }
