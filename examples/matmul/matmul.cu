// SPDX-License-Identifier: Apache-2.0
//
// C = A * B, square, row-major: the subject program of two papers.
//   GRAB, section 5 (RQ2) and Table 4: MatMult_basic -> MatMult_basic_modified -> MatMult_best
//   Performance predicates, section 4.2.1, Figs. 2-4: multiple blocks -> shared memory tiles (64 x 64, 16 blocks)
#include "../common/check.h"

enum { TILE = 16, REGISTER_TILE = 2 * TILE };

// GRAB's MatMult_basic: the sum lives in C. A and B could alias C, so the compiler must write it to memory in every
// step; GRAB reports this as misses that no interference of threads explains (fault_mm).
__global__ void mm_global(const float *A, const float *B, float *C, int n) {
    int r = blockIdx.y * blockDim.y + threadIdx.y, c = blockIdx.x * blockDim.x + threadIdx.x;
    C[r * n + c] = 0;
    for (int k = 0; k < n; k++)
        C[r * n + c] += A[r * n + k] * B[k * n + c];
}

// GRAB's MatMult_basic_modified (the sum in a register: 32 % there) and the predicates paper's "multiple blocks"
// version, Fig. 2(a): nearly all time goes into loads (Fig. 3). Kernel of the simulation speed benchmark.
__global__ void mm(const float *A, const float *B, float *C, int n) {
    int r = blockIdx.y * blockDim.y + threadIdx.y, c = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    for (int k = 0; k < n; k++)
        s += A[r * n + k] * B[k * n + c];
    C[r * n + c] = s;
}

// The order of tiles without shared memory: the barrier only keeps the block's warps within one tile of A and B,
// so that one warp does not evict lines another still needs. For GPUs without shared memory (GRAB, RQ3).
__global__ void mm_blocked(const float *A, const float *B, float *C, int n) {
    int r = blockIdx.y * TILE + threadIdx.y, c = blockIdx.x * TILE + threadIdx.x;
    float s = 0;
    for (int m = 0; m < n; m += TILE) {
        for (int k = m; k < m + TILE; k++)
            s += A[r * n + k] * B[k * n + c];
        __syncthreads();
    }
    C[r * n + c] = s;
}

// GRAB's MatMult_best and the predicates paper's Fig. 2(b): tiles in shared memory. Loads shrink, barriers appear
// (Fig. 4). Kernel of the simulation speed benchmark.
__global__ void mmt(const float *A, const float *B, float *C, int n) {
    __shared__ float sa[TILE][TILE], sb[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y, r = blockIdx.y * TILE + ty, c = blockIdx.x * TILE + tx;
    float s = 0;
    for (int m = 0; m < n / TILE; m++) {
        sa[ty][tx] = A[r * n + m * TILE + tx];
        sb[ty][tx] = B[(m * TILE + ty) * n + c];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TILE; k++)
            s += sa[ty][k] * sb[k][tx];
        __syncthreads();
    }
    C[r * n + c] = s;
}

// One step beyond the papers: every thread accumulates 2 x 2 elements in registers, so a word read from shared
// memory is used twice. A thread's elements lie TILE apart to keep the accesses of a warp free of bank conflicts.
__global__ void mm_register(const float *A, const float *B, float *C, int n) {
    __shared__ float sa[REGISTER_TILE][TILE], sb[TILE][REGISTER_TILE];
    int tx = threadIdx.x, ty = threadIdx.y, r = blockIdx.y * REGISTER_TILE + ty, c = blockIdx.x * REGISTER_TILE + tx;
    float s00 = 0, s01 = 0, s10 = 0, s11 = 0;
    for (int m = 0; m < n; m += TILE) {
        sa[ty][tx] = A[r * n + m + tx];
        sa[ty + TILE][tx] = A[(r + TILE) * n + m + tx];
        sb[ty][tx] = B[(m + ty) * n + c];
        sb[ty][tx + TILE] = B[(m + ty) * n + c + TILE];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TILE; k++) {
            float a0 = sa[ty][k], a1 = sa[ty + TILE][k], b0 = sb[k][tx], b1 = sb[k][tx + TILE];
            s00 += a0 * b0;
            s01 += a0 * b1;
            s10 += a1 * b0;
            s11 += a1 * b1;
        }
        __syncthreads();
    }
    C[r * n + c] = s00;
    C[r * n + c + TILE] = s01;
    C[(r + TILE) * n + c] = s10;
    C[(r + TILE) * n + c + TILE] = s11;
}

struct Problem {
    int n;
    float *expected;
    float *a, *b, *c;  // device
};

typedef void Kernel(const float *A, const float *B, float *C, int n);

static void launch(Kernel *kernel, Problem *p, int tile) {
    dim3 grid(p->n / tile, p->n / tile), block(TILE, TILE);
    kernel<<<grid, block>>>(p->a, p->b, p->c, p->n);
}

static void launch_global(Problem *p) { launch(mm_global, p, TILE); }
static void launch_naive(Problem *p) { launch(mm, p, TILE); }
static void launch_blocked(Problem *p) { launch(mm_blocked, p, TILE); }
static void launch_shared(Problem *p) { launch(mmt, p, TILE); }
static void launch_register(Problem *p) { launch(mm_register, p, REGISTER_TILE); }

static void multiply_on_cpu(const float *a, const float *b, float *c, int n) {
    for (int r = 0; r < n; r++)
        for (int k = 0; k < n; k++)
            for (int col = 0; col < n; col++)
                c[r * n + col] += a[r * n + k] * b[k * n + col];
}

static Problem *create(int n) {
    size_t count = (size_t)n * n;
    Problem *p = host_array<Problem>(1);
    p->n = n;
    float *a = host_array<float>(count), *b = host_array<float>(count);
    lcg_fill(a, count, 1, 8);  // sums stay at most 49 n < 2^24: exact in any order, with or without FMA
    lcg_fill(b, count, 2, 8);
    p->expected = host_array<float>(count);
    multiply_on_cpu(a, b, p->expected, n);
    p->a = device_copy_of(a, count);
    p->b = device_copy_of(b, count);
    p->c = device_array<float>(count);
    free(a);
    free(b);
    return p;
}

static void reset(Problem *p) { CUDA_CHECK(cudaMemset(p->c, 0xff, (size_t)p->n * p->n * sizeof(float))); }

static bool check(const Problem *p, Failure *f) {
    return compare_exact(f, "C", p->expected, p->c, (size_t)p->n * p->n);
}

static void destroy(Problem *p) {
    CUDA_CHECK(cudaFree(p->a));
    CUDA_CHECK(cudaFree(p->b));
    CUDA_CHECK(cudaFree(p->c));
    free(p->expected);
    free(p);
}

static const Variant variants[] = {
    {"global", launch_global, TILE, "sum in global memory (GRAB MatMult_basic)"},
    {"naive", launch_naive, TILE, "sum in a register (GRAB MatMult_basic_modified)"},
    {"blocked", launch_blocked, TILE, "tile order through the L1 cache, no shared memory"},
    {"shared", launch_shared, TILE, "tiles in shared memory (GRAB MatMult_best)"},
    {"register", launch_register, REGISTER_TILE, "shared tiles, 2 x 2 sums per thread in registers"},
};

static const Example example = {
    "matmul", "rows and columns",  // name, what --n counts
    256,      TILE,
    2048,     false,  // default, smallest, largest, powers of two only
    create,   reset,
    check,    destroy,
    variants, sizeof variants / sizeof variants[0],
};

int main(int argc, char **argv) { return example_main(&example, argc, argv); }
