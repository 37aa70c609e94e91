// SPDX-License-Identifier: Apache-2.0
//
// Rule: redundant-loads
// Change: the bond is copied to registers once instead of being read through a reference in each period.
// Why: the store of each period may alias the bond, so that all its fields were loaded again in every period.
#include "../common.h"

enum { BLOCK = 256 };

struct Bond {
    float face, rate, yield, spread, fee, reserve;
    int first, last;
};

// What each bond still pays, discounted, seen at the end of every period.
__global__ void carrying_value(const Bond *bonds, float *paths, int n, int periods) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n)
        return;
#ifdef AFTER
    const Bond b = bonds[i];
#else
    const Bond &b = bonds[i];
#endif
    float value = 0;
    for (int k = 0; k < periods; k++) {
        float interest = value * (b.yield + b.spread);
        float paid = k >= b.first && k < b.last ? b.face * b.rate : 0.0f;
        value += interest - paid * b.reserve + b.fee;
        paths[(size_t)k * n + i] = value;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "coupons");
    int n = p.small ? 2000 : 350000, periods = p.small ? 12 : 100;
    std::vector<float> r = random_floats((size_t)n * 6, 0, 1, 11);
    std::vector<Bond> bonds(n);
    for (int i = 0; i < n; i++) {
        const float *q = &r[(size_t)6 * i];
        int first = (int)(q[5] * 10);
        bonds[i] = {100 + 900 * q[0],
                    0.01f + 0.04f * q[1],
                    0.01f + 0.02f * q[2],
                    0.005f * q[3],
                    0.5f * q[4],
                    0.2f + 0.6f * q[5],
                    first,
                    first + periods / 2};
    }
    Bond *d_bonds = device_copy_of(bonds.data(), n);
    float *d_paths = device_array<float>((size_t)n * periods);
    pair_time(&p, [&] { carrying_value<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_bonds, d_paths, n, periods); });
    std::vector<float> paths = host_copy_of(d_paths, (size_t)n * periods);
    for (int i = 0; i < n; i += 31) {
        const Bond &b = bonds[i];
        double value = 0;
        for (int k = 0; k < periods; k++) {
            double paid = k >= b.first && k < b.last ? (double)b.face * b.rate : 0.0;
            value += value * ((double)b.yield + b.spread) - paid * b.reserve + b.fee;
            pair_near(&p, "value", (size_t)k * n + i, value, paths[(size_t)k * n + i], 1e-3);
        }
    }
    return pair_end(&p);
}
