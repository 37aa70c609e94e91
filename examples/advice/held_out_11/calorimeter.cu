// SPDX-License-Identifier: Apache-2.0
//
// Rule: atomic-contention
// Change: the lanes of a warp, whose hits are all in one tower, add them up with shuffles, and one lane adds the sum.
// Why: all lanes of a warp add to the same word.
#include "../common.h"

enum { BLOCK = 256, RUN = 2048, PASSES = 4 };

// Energy that each tower of a calorimeter took up: cells are read out tower by tower, weak signals count as noise.
__global__ void calorimeter(const float *cells, const float *gains, float *towers, int threads) {
    int t = blockIdx.x * BLOCK + threadIdx.x;
    for (int k = 0; k < PASSES; k++) {
        int i = k * threads + t, tower = i / RUN;
        float signal = cells[i] * gains[i];
        if (signal < 0.1f)
            signal = 0;
#ifdef AFTER
        for (int lane = 16; lane; lane /= 2)
            signal += __shfl_xor_sync(~0u, signal, lane);
        if (threadIdx.x % 32 == 0)
#endif
            atomicAdd(&towers[tower], signal);
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "calorimeter");
    int n = p.small ? 1 << 16 : 1 << 22;
    std::vector<float> cells = random_floats(n, 0, 1, 1), gains = random_floats(n, 0.5f, 1.5f, 2);
    float *d_cells = device_copy_of(cells.data(), n), *d_gains = device_copy_of(gains.data(), n),
          *d_towers = device_array<float>(n / RUN);
    pair_time(&p, [&] {
        CUDA_CHECK(cudaMemsetAsync(d_towers, 0, n / RUN * sizeof(float)));
        calorimeter<<<n / PASSES / BLOCK, BLOCK>>>(d_cells, d_gains, d_towers, n / PASSES);
    });
    std::vector<float> towers = host_copy_of(d_towers, n / RUN);
    for (int tower = 0; tower < n / RUN; tower += 7) {
        double sum = 0;
        for (int i = tower * RUN; i < (tower + 1) * RUN; i++) {
            float signal = cells[i] * gains[i];
            sum += signal < 0.1f ? 0 : signal;
        }
        pair_near(&p, "energy", tower, sum, towers[tower], 1e-3);
    }
    return pair_end(&p);
}
