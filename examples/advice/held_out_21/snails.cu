// SPDX-License-Identifier: Apache-2.0
//
// Rule: warp-balance
// Change: a warp takes every eighth trail of its garden instead of eight in a row.
// Why: the trails of a garden are sorted, the longest first; the first warp works far longer than the last one.
#include "../common.h"

enum { WARPS = 8, BLOCK = 32 * WARPS, TRAILS = 64, EACH = TRAILS / WARPS };

// Trails of snails in 1/4 mm, found in photographs of gardens; one block per garden, one warp per trail: how long it is
// and how much it turns (the sines of its bends).
__global__ void measure(const short2 *points, const int *starts, float *lengths, float *bends) {
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int k = 0; k < EACH; k++) {
#ifdef AFTER
        int trail = blockIdx.x * TRAILS + k * WARPS + warp;
#else
        int trail = blockIdx.x * TRAILS + warp * EACH + k;
#endif
        int first = starts[trail], end = starts[trail + 1];
        float length = 0, bend = 0;
        for (int j = first + lane; j + 2 < end; j += 32) {
            short2 a = points[j], b = points[j + 1], c = points[j + 2];
            float ux = b.x - a.x, uy = b.y - a.y, vx = c.x - b.x, vy = c.y - b.y;
            float u = sqrtf(ux * ux + uy * uy), v = sqrtf(vx * vx + vy * vy);
            length += 0.25f * u;
            bend += __fdividef(fabsf(ux * vy - uy * vx), u * v + 1.0f);
        }
        for (int d = 16; d > 0; d /= 2) {
            length += __shfl_xor_sync(~0u, length, d);
            bend += __shfl_xor_sync(~0u, bend, d);
        }
        if (lane == 0) {
            lengths[trail] = length;
            bends[trail] = bend;
        }
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "snails");
    int gardens = p.small ? 4 : 132 * 4, n = gardens * TRAILS;
    std::vector<int> starts(n + 1);
    unsigned seed = 1;
    for (int t = 0; t < n; t++) {
        int rank = TRAILS - t % TRAILS;  // the longest first
        starts[t + 1] = starts[t] + (p.small ? 3 + rank : 10 + rank * rank / 3) + (int)lcg_next(&seed, 8);
    }
    std::vector<short2> points(starts[n]);
    for (short2 &q : points)
        q = {(short)lcg_next(&seed, 1000), (short)lcg_next(&seed, 1000)};
    short2 *d_points = device_copy_of(points.data(), points.size());
    int *d_starts = device_copy_of(starts.data(), starts.size());
    float *d_lengths = device_array<float>(n), *d_bends = device_array<float>(n);
    pair_time(&p, [&] { measure<<<gardens, BLOCK>>>(d_points, d_starts, d_lengths, d_bends); });
    std::vector<float> lengths = host_copy_of(d_lengths, n), bends = host_copy_of(d_bends, n);
    for (int t = 0; t < n; t += p.small ? 1 : 23) {
        double length = 0, bend = 0;
        for (int j = starts[t]; j + 2 < starts[t + 1]; j++) {
            short2 a = points[j], b = points[j + 1], c = points[j + 2];
            double ux = b.x - a.x, uy = b.y - a.y, vx = c.x - b.x, vy = c.y - b.y;
            double u = sqrt(ux * ux + uy * uy), v = sqrt(vx * vx + vy * vy);
            length += 0.25 * u;
            bend += fabs(ux * vy - uy * vx) / (u * v + 1);
        }
        pair_near(&p, "length", t, length, lengths[t], 1e-3);
        pair_near(&p, "bends", t, bend, bends[t], 1e-3);
    }
    return pair_end(&p);
}
