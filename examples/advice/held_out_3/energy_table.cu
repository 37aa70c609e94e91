// SPDX-License-Identifier: Apache-2.0
//
// Rule: occupancy-up
// Also: spills
// Change: the launch bounds no longer ask for one block of 256 threads to an SM only, but for eight.
// Why: registers for all values that are loaded ahead leave few warps to wait with.
#include "../common.h"

enum { BLOCK = 256, GRID = 4096, NUCLIDES = 24 };

#ifdef AFTER
__global__ void __launch_bounds__(BLOCK, 8)
#else
__global__ void __launch_bounds__(BLOCK, 1)
#endif
    energy_table(const float *energies, const float *table, float *out) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float energy = energies[i] * (GRID - 1);
    int at = (int)energy;
    float part = energy - at, total = 0, most = 0;
#pragma unroll
    for (int n = 0; n < NUCLIDES; n++) {
        float low = table[n * GRID + at], high = table[n * GRID + at + 1], value = low + part * (high - low);
        total += value;
        most = fmaxf(most, value);
    }
    out[i] = total / (1 + most);
}

// Cross sections of a mixture at random energies, interpolated in tables.
int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "energy_table");
    int n = p.small ? 1 << 14 : 1 << 21;
    std::vector<float> energies = random_floats(n, 0, 0.999f, 1), table = random_floats(NUCLIDES * GRID + 1, 0, 1, 2);
    float *d_energies = device_copy_of(energies.data(), n), *d_table = device_copy_of(table.data(), table.size()),
          *d_out = device_array<float>(n);
    pair_time(&p, [&] { energy_table<<<n / BLOCK, BLOCK>>>(d_energies, d_table, d_out); });
    std::vector<float> out = host_copy_of(d_out, n);
    for (int i = 0; i < n; i += 301) {
        float energy = energies[i] * (GRID - 1);
        int at = (int)energy;
        double total = 0, most = 0;
        for (int k = 0; k < NUCLIDES; k++) {
            double value =
                table[k * GRID + at] + (energy - at) * ((double)table[k * GRID + at + 1] - table[k * GRID + at]);
            total += value;
            most = std::max(most, value);
        }
        pair_near(&p, "out", i, total / (1 + most), out[i], 1e-4);
    }
    return pair_end(&p);
}
