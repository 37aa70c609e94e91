// SPDX-License-Identifier: Apache-2.0
//
// The sum of an array, the well-known ladder of six steps (M. Harris, "Optimizing Parallel Reduction in CUDA"), each
// removing one loss: divergence, bank conflicts, idle threads, barriers, launches. The barriers and the waiting at
// reconvergence points are the predicates paper's categories B and S (section 3.1); GPA's Warp Balance advice
// (Table 2; rodinia/sradv1 reduce in Table 3) is about the same waiting.
#include "../common/check.h"

enum { BLOCK = 256, WARP = 32, GRID_STRIDE_BLOCKS = 64 };

// Every kernel adds up the elements its block covers and stores the sum in out[blockIdx.x].

// 1. Neighbours first. Threads whose index is a multiple of 2d work: every warp diverges until the end.
__global__ void reduce_divergent(const unsigned *in, unsigned *out, int n) {
    __shared__ unsigned s[BLOCK];
    int t = threadIdx.x, g = blockIdx.x * BLOCK + t;
    s[t] = g < n ? in[g] : 0;
    __syncthreads();
    for (int d = 1; d < BLOCK; d *= 2) {
        if (t % (2 * d) == 0)
            s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}

// 2. The same additions by the first threads: whole warps drop out, but strides of 2d mean bank conflicts.
__global__ void reduce_conflicts(const unsigned *in, unsigned *out, int n) {
    __shared__ unsigned s[BLOCK];
    int t = threadIdx.x, g = blockIdx.x * BLOCK + t;
    s[t] = g < n ? in[g] : 0;
    __syncthreads();
    for (int d = 1; d < BLOCK; d *= 2) {
        int i = 2 * d * t;
        if (i < BLOCK)
            s[i] += s[i + d];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}

// 3. Halves instead of neighbours: consecutive threads, consecutive words.
__global__ void reduce_sequential(const unsigned *in, unsigned *out, int n) {
    __shared__ unsigned s[BLOCK];
    int t = threadIdx.x, g = blockIdx.x * BLOCK + t;
    s[t] = g < n ? in[g] : 0;
    __syncthreads();
    for (int d = BLOCK / 2; d > 0; d /= 2) {
        if (t < d)
            s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}

// 4. The first addition while loading: half of the threads would otherwise only load.
__global__ void reduce_first_add(const unsigned *in, unsigned *out, int n) {
    __shared__ unsigned s[BLOCK];
    int t = threadIdx.x, g = blockIdx.x * 2 * BLOCK + t;
    s[t] = (g < n ? in[g] : 0) + (g + BLOCK < n ? in[g + BLOCK] : 0);
    __syncthreads();
    for (int d = BLOCK / 2; d > 0; d /= 2) {
        if (t < d)
            s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}

// 5. The last warp needs neither barriers nor shared memory.
__global__ void reduce_unrolled(const unsigned *in, unsigned *out, int n) {
    __shared__ unsigned s[BLOCK];
    int t = threadIdx.x, g = blockIdx.x * 2 * BLOCK + t;
    s[t] = (g < n ? in[g] : 0) + (g + BLOCK < n ? in[g + BLOCK] : 0);
    __syncthreads();
    for (int d = BLOCK / 2; d >= WARP; d /= 2) {
        if (t < d)
            s[t] += s[t + d];
        __syncthreads();
    }
    if (t >= WARP)
        return;
    unsigned v = s[t];
#pragma unroll
    for (int d = WARP / 2; d > 0; d /= 2)
        v += __shfl_down_sync(0xffffffffu, v, d);
    if (t == 0)
        out[blockIdx.x] = v;
}

// 6. A fixed grid: each thread first adds up its share in a register, then one shuffle reduction per warp.
__global__ void reduce_grid_stride(const unsigned *in, unsigned *out, int n) {
    __shared__ unsigned s[BLOCK / WARP];
    int t = threadIdx.x;
    unsigned v = 0;
    for (int i = blockIdx.x * BLOCK + t; i < n; i += gridDim.x * BLOCK)
        v += in[i];
#pragma unroll
    for (int d = WARP / 2; d > 0; d /= 2)
        v += __shfl_down_sync(0xffffffffu, v, d);
    if (t % WARP == 0)
        s[t / WARP] = v;
    __syncthreads();
    if (t >= WARP)
        return;
    v = t < BLOCK / WARP ? s[t] : 0;
#pragma unroll
    for (int d = WARP / 2; d > 0; d /= 2)
        v += __shfl_down_sync(0xffffffffu, v, d);
    if (t == 0)
        out[blockIdx.x] = v;
}

struct Problem {
    int n;
    unsigned expected;
    unsigned *in, *partial[2];  // device
    const unsigned *sum;        // what the last pass wrote
};

typedef void Kernel(const unsigned *in, unsigned *out, int n);

// Reduces until one number is left; a block covers `per_block` elements, at most `max_blocks` run.
static void launch(Kernel *kernel, Problem *p, int per_block, int max_blocks) {
    int left = p->n, pass = 0;
    p->sum = p->in;
    do {
        int blocks = (left + per_block - 1) / per_block;
        if (blocks > max_blocks)
            blocks = max_blocks;
        unsigned *out = p->partial[pass++ % 2];
        kernel<<<blocks, BLOCK>>>(p->sum, out, left);
        p->sum = out;
        left = blocks;
    } while (left > 1);
}

static void launch_divergent(Problem *p) { launch(reduce_divergent, p, BLOCK, p->n); }
static void launch_conflicts(Problem *p) { launch(reduce_conflicts, p, BLOCK, p->n); }
static void launch_sequential(Problem *p) { launch(reduce_sequential, p, BLOCK, p->n); }
static void launch_first_add(Problem *p) { launch(reduce_first_add, p, 2 * BLOCK, p->n); }
static void launch_unrolled(Problem *p) { launch(reduce_unrolled, p, 2 * BLOCK, p->n); }
static void launch_grid_stride(Problem *p) { launch(reduce_grid_stride, p, BLOCK, GRID_STRIDE_BLOCKS); }

static Problem *create(int n) {
    Problem *p = host_array<Problem>(1);
    p->n = n;
    unsigned *in = host_array<unsigned>(n);
    lcg_fill(in, n, 1, 1 << 24);
    for (int i = 0; i < n; i++)
        p->expected += in[i];  // modulo 2^32, like the kernels
    p->in = device_copy_of(in, n);
    for (int i = 0; i < 2; i++)
        p->partial[i] = device_array<unsigned>(n / BLOCK + 1);
    free(in);
    return p;
}

static void reset(Problem *p) {
    for (int i = 0; i < 2; i++)
        CUDA_CHECK(cudaMemset(p->partial[i], 0xff, (p->n / BLOCK + 1) * sizeof(unsigned)));
}

static bool check(const Problem *p, Failure *f) { return compare_exact(f, "sum", &p->expected, p->sum, 1); }

static void destroy(Problem *p) {
    CUDA_CHECK(cudaFree(p->in));
    CUDA_CHECK(cudaFree(p->partial[0]));
    CUDA_CHECK(cudaFree(p->partial[1]));
    free(p);
}

static const Variant variants[] = {
    {"divergent", launch_divergent, 1, "step 1: interleaved, divergent warps"},
    {"conflicts", launch_conflicts, 1, "step 2: interleaved, bank conflicts"},
    {"sequential", launch_sequential, 1, "step 3: sequential addressing"},
    {"first_add", launch_first_add, 1, "step 4: first addition while loading"},
    {"unrolled", launch_unrolled, 1, "step 5: last warp by shuffles, no barriers"},
    {"grid_stride", launch_grid_stride, 1, "step 6: fixed grid, sums in registers"},
};

static const Example example = {
    "reduction", "elements",                  // name, what --n counts
    1 << 20,     1,          1 << 26, false,  // default, smallest, largest, powers of two only
    create,      reset,      check,   destroy, variants, sizeof variants / sizeof variants[0],
};

int main(int argc, char **argv) { return example_main(&example, argc, argv); }
