// SPDX-License-Identifier: Apache-2.0
//
// out = in transposed, square. GRAB, Tables 3 and 4 (Transpose_naive, Transpose_best: hardly any interference, the
// loss is uncoalesced access); AerialVision, section III-C, Figs. 2 and 9 (writes camp on one DRAM channel at a
// time); GMProf, Fig. 1 (its example of a tile in shared memory).
#include "../common/check.h"

enum { TILE = 32, ROWS = 8 };  // a block of TILE x ROWS threads moves a TILE x TILE tile

// Loads are coalesced, stores are not: the 32 lanes of a warp write 32 different rows. Kernel of the simulation
// speed benchmark.
__global__ void tr(const float *in, float *out, int n) {
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        out[x * n + (y + j)] = in[(y + j) * n + x];
}

// Loads and stores coalesced through a tile, but its columns lie in one bank: 32-way bank conflicts, like those
// AerialVision finds by source line in StoreGPU (section III-D.1, Fig. 11).
__global__ void tr_shared(const float *in, float *out, int n) {
    __shared__ float tile[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * TILE, y = blockIdx.y * TILE;
    for (int j = ty; j < TILE; j += ROWS)
        tile[j][tx] = in[(y + j) * n + x + tx];
    __syncthreads();
    for (int j = ty; j < TILE; j += ROWS)
        out[(x + j) * n + y + tx] = tile[tx][j];
}

// One word of padding per row spreads a column over all banks (GRAB's Transpose_best).
__global__ void tr_padded(const float *in, float *out, int n) {
    __shared__ float tile[TILE][TILE + 1];
    int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * TILE, y = blockIdx.y * TILE;
    for (int j = ty; j < TILE; j += ROWS)
        tile[j][tx] = in[(y + j) * n + x + tx];
    __syncthreads();
    for (int j = ty; j < TILE; j += ROWS)
        out[(x + j) * n + y + tx] = tile[tx][j];
}

// Blocks that run together take tiles along a diagonal: neither their reads nor their writes meet in one column of
// tiles, so they spread over the DRAM channels (AerialVision repairs the same thing in the address mapping, Fig. 9).
__global__ void tr_diagonal(const float *in, float *out, int n) {
    __shared__ float tile[TILE][TILE + 1];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = (blockIdx.x + blockIdx.y) % gridDim.x * TILE, y = blockIdx.x * TILE;
    for (int j = ty; j < TILE; j += ROWS)
        tile[j][tx] = in[(y + j) * n + x + tx];
    __syncthreads();
    for (int j = ty; j < TILE; j += ROWS)
        out[(x + j) * n + y + tx] = tile[tx][j];
}

struct Problem {
    int n;
    float *expected;
    float *in, *out;  // device
};

typedef void Kernel(const float *in, float *out, int n);

static void launch(Kernel *kernel, Problem *p) {
    dim3 grid(p->n / TILE, p->n / TILE), block(TILE, ROWS);
    kernel<<<grid, block>>>(p->in, p->out, p->n);
}

static void launch_naive(Problem *p) { launch(tr, p); }
static void launch_shared(Problem *p) { launch(tr_shared, p); }
static void launch_padded(Problem *p) { launch(tr_padded, p); }
static void launch_diagonal(Problem *p) { launch(tr_diagonal, p); }

static Problem *create(int n) {
    size_t count = (size_t)n * n;
    Problem *p = host_array<Problem>(1);
    p->n = n;
    float *in = host_array<float>(count);
    lcg_fill(in, count, 1, 1 << 24);
    p->expected = host_array<float>(count);
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++)
            p->expected[(size_t)x * n + y] = in[(size_t)y * n + x];
    p->in = device_copy_of(in, count);
    p->out = device_array<float>(count);
    free(in);
    return p;
}

static void reset(Problem *p) { CUDA_CHECK(cudaMemset(p->out, 0xff, (size_t)p->n * p->n * sizeof(float))); }

static bool check(const Problem *p, Failure *f) {
    return compare_exact(f, "out", p->expected, p->out, (size_t)p->n * p->n);
}

static void destroy(Problem *p) {
    CUDA_CHECK(cudaFree(p->in));
    CUDA_CHECK(cudaFree(p->out));
    free(p->expected);
    free(p);
}

static const Variant variants[] = {
    {"naive", launch_naive, TILE, "uncoalesced stores"},
    {"shared", launch_shared, TILE, "coalesced through shared memory, 32-way bank conflicts"},
    {"padded", launch_padded, TILE, "padded tile: no bank conflicts"},
    {"diagonal", launch_diagonal, TILE, "padded, tiles taken diagonally: DRAM channels evenly used"},
};

static const Example example = {
    "transpose", "rows and columns",  // name, what --n counts
    1024,        TILE,
    16384,       false,  // default, smallest, largest, powers of two only
    create,      reset,
    check,       destroy,
    variants,    sizeof variants / sizeof variants[0],
};

int main(int argc, char **argv) { return example_main(&example, argc, argv); }
