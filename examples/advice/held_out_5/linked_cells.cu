// SPDX-License-Identifier: Apache-2.0
//
// Rule: code-reordering
// Change: the next particle of the list is loaded before this one's force is computed.
// Why: position and successor are loaded when the arithmetic of the one before is over, and waited for at once.
#include "../common.h"

enum { BLOCK = 64, PER_CELL = 24 };

// Potential at a probe in each cell from the particles of the cell's linked list.
__global__ void linked_cells(const int *first, const int *next, const float4 *particles, float *out) {
    int cell = blockIdx.x * BLOCK + threadIdx.x;
    float sum = 0;
    int i = first[cell];
#ifdef AFTER
    float4 p = particles[i];
#endif
    while (i >= 0) {
#ifdef AFTER
        int after = next[i];
        float4 ahead = after >= 0 ? particles[after] : p;
#else
        float4 p = particles[i];
#endif
        float r = p.x * p.x + p.y * p.y + p.z * p.z + 0.1f;
        for (int term = 0; term < 6; term++)
            sum = fmaf(sum, 0.9f, p.w * rsqrtf(r + term)) / (1.1f + r);
#ifdef AFTER
        p = ahead;
        i = after;
#else
        i = next[i];
#endif
    }
    out[cell] = sum;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "linked_cells");
    int cells = p.small ? 1 << 11 : 132 * 2 * BLOCK, count = cells * PER_CELL;
    std::vector<float> at = random_floats(4 * (size_t)count, -1, 1, 1);
    std::vector<int> first(cells), next(count);
    for (int c = 0; c < cells; c++) {
        first[c] = c;
        for (int k = 0; k < PER_CELL; k++)
            next[k * cells + c] = k + 1 < PER_CELL ? (k + 1) * cells + c : -1;
    }
    int *d_first = device_copy_of(first.data(), cells), *d_next = device_copy_of(next.data(), count);
    float4 *d_at = device_copy_of((const float4 *)at.data(), count);
    float *d_out = device_array<float>(cells);
    pair_time(&p, [&] { linked_cells<<<cells / BLOCK, BLOCK>>>(d_first, d_next, d_at, d_out); });
    std::vector<float> out = host_copy_of(d_out, cells);
    for (int c = 0; c < cells; c += 101) {
        double sum = 0;
        for (int i = first[c]; i >= 0; i = next[i]) {
            const float *q = &at[4 * (size_t)i];
            double r = (double)q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + 0.1;
            for (int term = 0; term < 6; term++)
                sum = (sum * 0.9 + q[3] / sqrt(r + term)) / (1.1 + r);
        }
        pair_near(&p, "out", c, sum, out[c], 1e-3);
    }
    return pair_end(&p);
}
