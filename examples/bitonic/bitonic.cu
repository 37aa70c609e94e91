// SPDX-License-Identifier: Apache-2.0
//
// Bitonic sort, ascending. GRAB, section 5 (RQ2) and Table 4: Bitonic_Sort_basic -> Bitonic_Sort_best.
//
// Stage k merges pairs of sorted runs of k/2 elements; step j of a stage compares elements j apart.
#include "../common/check.h"

enum { BLOCK = 256, CHUNK = 1024, CHUNK_THREADS = CHUNK / 2 };

// One step of one stage, in global memory. Half of the threads find that their partner does the work: wasted lanes,
// and in the early steps divergent warps. Kernel of the simulation speed benchmark.
__global__ void bstep(int *v, int j, int k) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, x = i ^ j;
    if (x > i) {
        int a = v[i], b = v[x];
        if ((i & k) == 0) {
            if (a > b) {
                v[i] = b;
                v[x] = a;
            }
        } else {
            if (a < b) {
                v[i] = b;
                v[x] = a;
            }
        }
    }
}

// All steps that stay within CHUNK elements, in shared memory, every thread busy: steps j0, j0/2, ... 1 of stage
// k0; if `full`, all stages 2, 4, ... k0 instead. Kernel of the simulation speed benchmark.
__global__ void bshared(int *v, int k0, int j0, int full) {
    __shared__ int s[CHUNK];
    unsigned t = threadIdx.x, g = blockIdx.x * CHUNK;
    s[t] = v[g + t];
    s[t + CHUNK_THREADS] = v[g + t + CHUNK_THREADS];
    __syncthreads();
    for (int k = full ? 2 : k0; k <= k0; k <<= 1) {
        for (int j = full ? (k >> 1) : j0; j > 0; j >>= 1) {
            unsigned i = 2 * t - (t & (j - 1));  // the t-th element whose bit j is clear
            unsigned x = i + j;
            bool up = (((g + i) & k) == 0);
            int a = s[i], b = s[x];
            if ((a > b) == up) {
                s[i] = b;
                s[x] = a;
            }
            __syncthreads();
        }
    }
    v[g + t] = s[t];
    v[g + t + CHUNK_THREADS] = s[t + CHUNK_THREADS];
}

struct Problem {
    int n;
    int *unsorted, *expected;
    int *v;  // device
};

// GRAB's Bitonic_Sort_basic: 1898 capacity misses from two root causes, both in the array accesses.
static void launch_global(Problem *p) {
    for (int k = 2; k <= p->n; k <<= 1)
        for (int j = k >> 1; j > 0; j >>= 1)
            bstep<<<p->n / BLOCK, BLOCK>>>(p->v, j, k);
}

// GRAB's Bitonic_Sort_best: global memory only for steps that reach across chunks.
static void launch_shared(Problem *p) {
    int chunks = p->n / CHUNK;
    bshared<<<chunks, CHUNK_THREADS>>>(p->v, CHUNK, CHUNK / 2, 1);
    for (int k = 2 * CHUNK; k <= p->n; k <<= 1) {
        for (int j = k >> 1; j > CHUNK / 2; j >>= 1)
            bstep<<<p->n / BLOCK, BLOCK>>>(p->v, j, k);
        bshared<<<chunks, CHUNK_THREADS>>>(p->v, k, CHUNK / 2, 0);
    }
}

static int ascending(const void *a, const void *b) {
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

static Problem *create(int n) {
    Problem *p = host_array<Problem>(1);
    p->n = n;
    p->unsorted = host_array<int>(n);
    p->expected = host_array<int>(n);
    lcg_fill(p->unsorted, n, 1, 1 << 24);
    memcpy(p->expected, p->unsorted, n * sizeof(int));
    qsort(p->expected, n, sizeof(int), ascending);
    p->v = device_array<int>(n);
    return p;
}

static void reset(Problem *p) { CUDA_CHECK(cudaMemcpy(p->v, p->unsorted, p->n * sizeof(int), cudaMemcpyHostToDevice)); }

static bool check(const Problem *p, Failure *f) { return compare_exact(f, "v", p->expected, p->v, p->n); }

static void destroy(Problem *p) {
    CUDA_CHECK(cudaFree(p->v));
    free(p->unsorted);
    free(p->expected);
    free(p);
}

static const Variant variants[] = {
    {"global", launch_global, BLOCK, "every step a launch, in global memory (GRAB Bitonic_Sort_basic)"},
    {"shared", launch_shared, CHUNK, "steps within 1024 elements in shared memory (GRAB Bitonic_Sort_best)"},
};

static const Example example = {
    "bitonic", "elements",                 // name, what --n counts
    16384,     BLOCK,      1 << 24, true,  // default, smallest, largest, powers of two only
    create,    reset,      check,   destroy, variants, sizeof variants / sizeof variants[0],
};

int main(int argc, char **argv) { return example_main(&example, argc, argv); }
