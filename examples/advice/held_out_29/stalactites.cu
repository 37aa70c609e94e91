// SPDX-License-Identifier: Apache-2.0
//
// Rule: tail-effect
// Change: the grid has 264 blocks, two for each SM of this GPU, instead of 284.
// Why: 264 blocks run at once, so that the 20 blocks left over ran in a second wave with most SMs idle.
#include "../common.h"

// Two blocks for each SM.
#ifdef AFTER
enum { GRID = 2 * 132 };
#else
enum { GRID = 2 * 142 };
#endif
enum { BLOCK = 768 };

struct Drip {
    float calcium, celsius, film;  // mmol/l, degrees, film thickness in mm
};

// How long (mm) a stalactite is after some centuries: the longer it is, the more of the calcite falls out before the
// drop reaches the tip, and the carbon dioxide of the cave follows its slow cycle.
__global__ void __launch_bounds__(BLOCK) grow(const Drip *drips, float *length, int n, int years) {
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK) {
        Drip d = drips[i];
        float rate = d.film * (0.52f + 0.04f * d.celsius + 0.0012f * d.celsius * d.celsius);
        float grown = 0, excess = d.calcium, air = 0.1f;
        for (int year = 0; year < years; year++) {
            float loss = __expf(-0.004f * grown - air);
            grown += rate * excess * loss;
            air = 0.985f * air + 0.002f * loss;
            excess = excess + 0.01f * (d.calcium - excess) - 0.001f * loss;
        }
        length[i] = grown;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "stalactites");
    int n = p.small ? 10000 : 4000000, years = p.small ? 10 : 150, grid = p.small ? GRID / 33 : GRID;
    std::vector<float> u = random_floats(3 * (size_t)n, 0, 1, 9);
    std::vector<Drip> drips(n);
    for (int i = 0; i < n; i++)
        drips[i] = {0.5f + 2 * u[3 * i], 4 + 16 * u[3 * i + 1], 0.05f + 0.1f * u[3 * i + 2]};
    Drip *d_drips = device_copy_of(drips.data(), n);
    float *d_length = device_array<float>(n);
    pair_time(&p, [&] { grow<<<grid, BLOCK>>>(d_drips, d_length, n, years); });
    std::vector<float> length = host_copy_of(d_length, n);
    for (int i = 0; i < n; i += 997) {
        Drip d = drips[i];
        double rate = d.film * (0.52 + 0.04 * d.celsius + 0.0012 * d.celsius * d.celsius);
        double grown = 0, excess = d.calcium, air = 0.1;
        for (int year = 0; year < years; year++) {
            double loss = exp(-0.004 * grown - air);
            grown += rate * excess * loss;
            air = 0.985 * air + 0.002 * loss;
            excess = excess + 0.01 * (d.calcium - excess) - 0.001 * loss;
        }
        pair_near(&p, "length", i, grown, length[i], 1e-4);
    }
    return pair_end(&p);
}
