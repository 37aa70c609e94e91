// SPDX-License-Identifier: Apache-2.0
//
// Jacobi sweeps over a square grid with a fixed border: every inner point becomes the mean of its four neighbours.
// GMProf, section VII-B and Table IV: jcb_v1 keeps the tile of `out` in shared memory, jcb_v2 the tile of `in`.
#include "../common/check.h"

enum { TILE = 16, GRID_ROWS = 4, SWEEPS = 4 };

// Neither array in shared memory: every element of `in` is read four times from device memory.
__global__ void jacobi_naive(const float *in, float *out, int n) {
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    if (x > 0 && x < n - 1 && y > 0 && y < n - 1)
        out[y * n + x] = 0.25f * (in[(y - 1) * n + x] + in[(y + 1) * n + x] + in[y * n + x - 1] + in[y * n + x + 1]);
}

// A block walks down a column of tiles and reuses the shared array for each: many live ranges of one array. Counted
// over the whole run the array looks busy (5760 accesses per word in Table IV); per live range there are just 2, one
// store and one load: no reuse, so this use of shared memory gains nothing, while `in` is still read 4 times.
__global__ void jacobi_v1(const float *in, float *out, int n) {
    __shared__ float tile[TILE][TILE];  // of out
    int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * TILE + tx;
    for (int top = blockIdx.y * TILE; top < n; top += gridDim.y * TILE) {
        int y = top + ty;
        bool inner = x > 0 && x < n - 1 && y > 0 && y < n - 1;
        if (inner)
            tile[ty][tx] = 0.25f * (in[(y - 1) * n + x] + in[(y + 1) * n + x] + in[y * n + x - 1] + in[y * n + x + 1]);
        __syncthreads();
        if (inner)
            out[y * n + x] = tile[ty][tx];
        __syncthreads();
    }
}

// The tile of `in` with a border one wide: 4 reads of each word per live range, `in` read about once from device
// memory, `out` written straight to it (2.59 times as fast as v1 in the paper).
__global__ void jacobi_v2(const float *in, float *out, int n) {
    __shared__ float tile[TILE + 2][TILE + 2];  // of in
    int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * TILE + tx;
    for (int top = blockIdx.y * TILE; top < n; top += gridDim.y * TILE) {
        int y = top + ty;
        if (x < n && y < n)
            tile[ty + 1][tx + 1] = in[y * n + x];
        if (ty == 0 && y > 0 && x < n)
            tile[0][tx + 1] = in[(y - 1) * n + x];
        if (ty == TILE - 1 && y + 1 < n && x < n)
            tile[TILE + 1][tx + 1] = in[(y + 1) * n + x];
        if (tx == 0 && x > 0 && y < n)
            tile[ty + 1][0] = in[y * n + x - 1];
        if (tx == TILE - 1 && x + 1 < n && y < n)
            tile[ty + 1][TILE + 1] = in[y * n + x + 1];
        __syncthreads();
        if (x > 0 && x < n - 1 && y > 0 && y < n - 1)
            out[y * n + x] =
                0.25f * (tile[ty][tx + 1] + tile[ty + 2][tx + 1] + tile[ty + 1][tx] + tile[ty + 1][tx + 2]);
        __syncthreads();
    }
}

struct Problem {
    int n;
    float *start, *expected;
    float *grid[2];  // device; sweep s reads grid[s % 2]
};

typedef void Kernel(const float *in, float *out, int n);

static void launch(Kernel *kernel, Problem *p, int max_rows) {
    int tiles = (p->n + TILE - 1) / TILE;
    dim3 grid(tiles, tiles < max_rows ? tiles : max_rows), block(TILE, TILE);
    for (int s = 0; s < SWEEPS; s++)
        kernel<<<grid, block>>>(p->grid[s % 2], p->grid[(s + 1) % 2], p->n);
}

static void launch_naive(Problem *p) { launch(jacobi_naive, p, p->n); }
static void launch_v1(Problem *p) { launch(jacobi_v1, p, GRID_ROWS); }
static void launch_v2(Problem *p) { launch(jacobi_v2, p, GRID_ROWS); }

// The kernels' expression in the kernels' order; its last operation is a product with a power of two, so that no
// FMA can change a bit: the comparison is exact.
static void sweep_on_cpu(const float *in, float *out, int n) {
    for (int y = 1; y < n - 1; y++)
        for (int x = 1; x < n - 1; x++)
            out[y * n + x] =
                0.25f * (in[(y - 1) * n + x] + in[(y + 1) * n + x] + in[y * n + x - 1] + in[y * n + x + 1]);
}

static Problem *create(int n) {
    size_t count = (size_t)n * n;
    Problem *p = host_array<Problem>(1);
    p->n = n;
    p->start = host_array<float>(count);
    lcg_fill(p->start, count, 1, 1000);
    float *grid[2] = {host_array<float>(count), host_array<float>(count)};
    for (int i = 0; i < 2; i++) {
        memcpy(grid[i], p->start, count * sizeof(float));  // both: the border is never written
        p->grid[i] = device_array<float>(count);
    }
    for (int s = 0; s < SWEEPS; s++)
        sweep_on_cpu(grid[s % 2], grid[(s + 1) % 2], n);
    p->expected = grid[SWEEPS % 2];
    free(grid[(SWEEPS + 1) % 2]);
    return p;
}

static void reset(Problem *p) {
    for (int i = 0; i < 2; i++)
        CUDA_CHECK(cudaMemcpy(p->grid[i], p->start, (size_t)p->n * p->n * sizeof(float), cudaMemcpyHostToDevice));
}

static bool check(const Problem *p, Failure *f) {
    return compare_exact(f, "grid", p->expected, p->grid[SWEEPS % 2], (size_t)p->n * p->n);
}

static void destroy(Problem *p) {
    CUDA_CHECK(cudaFree(p->grid[0]));
    CUDA_CHECK(cudaFree(p->grid[1]));
    free(p->start);
    free(p->expected);
    free(p);
}

static const Variant variants[] = {
    {"naive", launch_naive, 1, "no shared memory"},
    {"v1", launch_v1, 1, "tile of out in shared memory: no reuse (GMProf jcb_v1)"},
    {"v2", launch_v2, 1, "tile of in in shared memory: every word read 4 times (GMProf jcb_v2)"},
};

static const Example example = {
    "jacobi", "rows and columns",  // name, what --n counts
    256,      3,
    8192,     false,  // default, smallest, largest, powers of two only
    create,   reset,
    check,    destroy,
    variants, sizeof variants / sizeof variants[0],
};

int main(int argc, char **argv) { return example_main(&example, argc, argv); }
