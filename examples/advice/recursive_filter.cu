// SPDX-License-Identifier: Apache-2.0
//
// Rule: occupancy-down
// Also: global-coalescing
// Change: each block asks for 114 KiB of shared memory that it does not use: one block of 512 threads is resident, not four.
// Why: a thread walks along its row; the lines of 2048 rows overflow the L1 cache before they are used up, those of 512 do not.
#include "common.h"

enum { BLOCK = 512 };

// Smoothed energy along each row of a matrix: a first-order recursive filter, so a row is one thread's.
__global__ void recursive_filter(const float *in, float *energy, int rows, int length) {
    int row = blockIdx.x * BLOCK + threadIdx.x;
    if (row >= rows)
        return;
    float state = 0, sum = 0;
    for (int i = 0; i < length; i++) {
        state = 0.9f * state + 0.1f * in[(size_t)row * length + i];
        sum += state * state;
    }
    energy[row] = sum;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "recursive_filter");
    int rows = 132 * (p.small ? 4 : 8) * BLOCK, length = p.small ? 24 : 264;
#ifdef AFTER
    size_t shared = 114 * 1024;
#else
    size_t shared = 0;
#endif
    std::vector<float> in = random_floats((size_t)rows * length, -1, 1, 1);
    float *d_in = device_copy_of(in.data(), in.size()), *d_energy = device_array<float>(rows);
    CUDA_CHECK(cudaFuncSetAttribute(recursive_filter, cudaFuncAttributeMaxDynamicSharedMemorySize, 114 * 1024));
    pair_time(&p,
              [&] { recursive_filter<<<(rows + BLOCK - 1) / BLOCK, BLOCK, shared>>>(d_in, d_energy, rows, length); });
    std::vector<float> energy = host_copy_of(d_energy, rows);
    for (int r = 0; r < rows; r += 53) {
        double state = 0, sum = 0;
        for (int i = 0; i < length; i++) {
            state = 0.9 * state + 0.1 * in[(size_t)r * length + i];
            sum += state * state;
        }
        pair_near(&p, "energy", r, sum, energy[r], 1e-4);
    }
    return pair_end(&p);
}
