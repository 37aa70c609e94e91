// SPDX-License-Identifier: Apache-2.0
//
// Rule: streaming-hints
// Change: places and results, each used once, are loaded and stored with the streaming hint (__ldcs, __stcs).
// Why: they push the field, which all particles read and which the L2 could keep, out of it.
#include "../common.h"

enum { BLOCK = 256 };

// The field at each particle, which drift in no order.
__global__ void field_gather(const float *field, const int *cell, const float *charge, float *force) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
#ifdef AFTER
    __stcs(&force[i], __ldcs(&charge[i]) * field[__ldcs(&cell[i])]);
#else
    force[i] = charge[i] * field[cell[i]];
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "field_gather");
    int n = p.small ? 1 << 16 : 1 << 25, cells = p.small ? 1 << 14 : 9 << 20;
    std::vector<float> field = random_floats(cells, -1, 1, 1), charge = random_floats(n, 0, 1, 2);
    std::vector<int> cell(n);
    unsigned seed = 3;
    for (int &c : cell)
        c = (int)((lcg_next(&seed, 1 << 24) * (unsigned long long)cells) >> 24);
    float *d_field = device_copy_of(field.data(), cells), *d_charge = device_copy_of(charge.data(), n), *d_force = device_array<float>(n);
    int *d_cell = device_copy_of(cell.data(), n);
    pair_time(&p, [&] { field_gather<<<n / BLOCK, BLOCK>>>(d_field, d_cell, d_charge, d_force); });
    std::vector<float> force = host_copy_of(d_force, n);
    for (int i = 0; i < n; i += 1009)
        pair_near(&p, "force", i, charge[i] * field[cell[i]], force[i], 1e-6);
    return pair_end(&p);
}
