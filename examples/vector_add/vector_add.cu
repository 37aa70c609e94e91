// SPDX-License-Identifier: Apache-2.0
//
// c = a + b: three words of traffic per addition, so nothing but the memory access pattern matters.
#include "../common/check.h"

enum { BLOCK = 256, CHUNK = 8, GRID_STRIDE_BLOCKS = 64 };

// One thread per element; a warp touches 32 neighbours: 4 sectors per request, the best possible.
__global__ void vecAdd(const float *a, const float *b, float *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

// A fixed grid walks over the array: fewer blocks to launch, the same coalescing, a loop to pay for.
__global__ void vecAdd_grid_stride(const float *a, const float *b, float *c, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        c[i] = a[i] + b[i];
}

// 16 bytes per thread and access: a quarter of the memory instructions for the same sectors.
__global__ void vecAdd_vector4(const float *a, const float *b, float *c, int n) {
    int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i + 3 < n) {
        float4 x = *(const float4 *)(a + i), y = *(const float4 *)(b + i);
        *(float4 *)(c + i) = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
    } else {
        for (; i < n; i++)
            c[i] = a[i] + b[i];
    }
}

// Each thread owns CHUNK neighbouring elements, the layout of a CPU program: a warp's 32 addresses lie 32 bytes
// apart, so a request touches 32 sectors and uses one word of each. The mistake AerialVision finds in MUMmerGPU's
// query strings (section III-D.2, Fig. 12).
__global__ void vecAdd_chunked(const float *a, const float *b, float *c, int n) {
    int first = CHUNK * (blockIdx.x * blockDim.x + threadIdx.x);
#pragma unroll 1  // unrolled, the compiler could merge the loads of neighbours into vectors
    for (int i = first; i < first + CHUNK; i++)
        if (i < n)
            c[i] = a[i] + b[i];
}

struct Problem {
    int n;
    float *expected;
    float *a, *b, *c;  // device
};

static int blocks_for(int threads) { return (threads + BLOCK - 1) / BLOCK; }

static void launch_naive(Problem *p) { vecAdd<<<blocks_for(p->n), BLOCK>>>(p->a, p->b, p->c, p->n); }

static void launch_grid_stride(Problem *p) {
    vecAdd_grid_stride<<<GRID_STRIDE_BLOCKS, BLOCK>>>(p->a, p->b, p->c, p->n);
}

static void launch_vector4(Problem *p) {
    vecAdd_vector4<<<blocks_for((p->n + 3) / 4), BLOCK>>>(p->a, p->b, p->c, p->n);
}

static void launch_chunked(Problem *p) {
    vecAdd_chunked<<<blocks_for((p->n + CHUNK - 1) / CHUNK), BLOCK>>>(p->a, p->b, p->c, p->n);
}

static Problem *create(int n) {
    Problem *p = host_array<Problem>(1);
    p->n = n;
    float *a = host_array<float>(n), *b = host_array<float>(n);
    lcg_fill(a, n, 1, 1 << 23);
    lcg_fill(b, n, 2, 1 << 23);
    p->expected = host_array<float>(n);
    for (int i = 0; i < n; i++)
        p->expected[i] = a[i] + b[i];
    p->a = device_copy_of(a, n);
    p->b = device_copy_of(b, n);
    p->c = device_array<float>(n);
    free(a);
    free(b);
    return p;
}

static void reset(Problem *p) { CUDA_CHECK(cudaMemset(p->c, 0xff, p->n * sizeof(float))); }

static bool check(const Problem *p, Failure *f) { return compare_exact(f, "c", p->expected, p->c, p->n); }

static void destroy(Problem *p) {
    CUDA_CHECK(cudaFree(p->a));
    CUDA_CHECK(cudaFree(p->b));
    CUDA_CHECK(cudaFree(p->c));
    free(p->expected);
    free(p);
}

static const Variant variants[] = {
    {"naive", launch_naive, 1, "one thread per element, coalesced"},
    {"grid_stride", launch_grid_stride, 1, "fixed grid, loop over the array"},
    {"vector4", launch_vector4, 1, "16-byte accesses"},
    {"chunked", launch_chunked, 1, "neighbouring elements per thread: uncoalesced"},
};

static const Example example = {
    "vector_add", "elements",                  // name, what --n counts
    1 << 20,      1,          1 << 26, false,  // default, smallest, largest, powers of two only
    create,       reset,      check,   destroy, variants, sizeof variants / sizeof variants[0],
};

int main(int argc, char **argv) { return example_main(&example, argc, argv); }
