// SPDX-License-Identifier: Apache-2.0
//
// Rule: sm-balance
// Change: blocks take rows of the triangle in turn (i, i + blocks, ...) instead of a run of neighbours.
// Why: the first rows are long and the last ones short, so the SMs with the first blocks work twice as long as the
// mean.
#include "common.h"

enum { BLOCK = 256, WARP = 32 };

// Two-point correlation: how many pairs i < j of galaxies are nearer than a radius; rows of the triangle are split over
// blocks.
__global__ void pair_counts(const float *x, const float *y, const float *z, int *counts, int n, float radius2) {
    int rows = n / gridDim.x, found = 0;
    for (int k = 0; k < rows; k++) {
#ifdef AFTER
        int i = k * gridDim.x + blockIdx.x;
#else
        int i = blockIdx.x * rows + k;
#endif
        float px = x[i], py = y[i], pz = z[i];
        for (int j = i + 1 + threadIdx.x; j < n; j += BLOCK) {
            float dx = x[j] - px, dy = y[j] - py, dz = z[j] - pz;
            found += dx * dx + dy * dy + dz * dz < radius2;
        }
    }
    found = __reduce_add_sync(0xffffffffu, found);
    if (threadIdx.x % WARP == 0)
        atomicAdd(&counts[blockIdx.x], found);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "pair_counts");
    int blocks = p.small ? 132 : 132 * 4, n = blocks * (p.small ? 24 : 80);
    std::vector<float> x = random_floats(n, 0, 1, 1), y = random_floats(n, 0, 1, 2), z = random_floats(n, 0, 1, 3);
    float *d_x = device_copy_of(x.data(), n), *d_y = device_copy_of(y.data(), n), *d_z = device_copy_of(z.data(), n);
    int *d_counts = device_array<int>(blocks);
    CUDA_CHECK(cudaMemset(d_counts, 0, blocks * sizeof(int)));
    pair_time(&p, [&] { pair_counts<<<blocks, BLOCK>>>(d_x, d_y, d_z, d_counts, n, 0.04f); });
    CUDA_CHECK(cudaMemset(d_counts, 0, blocks * sizeof(int)));
    pair_counts<<<blocks, BLOCK>>>(d_x, d_y, d_z, d_counts, n, 0.04f);
    std::vector<int> counts = host_copy_of(d_counts, blocks);
    double got = 0, expected = 0;
    int step = p.small ? 1 : n / 1000;  // a sample of the rows stands for all
    for (int c : counts)
        got += c;
    for (int i = 0; i < n; i += step)
        for (int j = i + 1; j < n; j++) {
            float dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
            expected += step * (dx * dx + dy * dy + dz * dz < 0.04f);
        }
    pair_near(&p, "pairs", 0, 1, got / expected, p.small ? 1e-4 : 1e-2);
    return pair_end(&p);
}
