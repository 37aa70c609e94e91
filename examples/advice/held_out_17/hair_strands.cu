// SPDX-License-Identifier: Apache-2.0
//
// Rule: shared-conflicts
// Change: a bead has one more word in shared memory, which nobody uses.
// Why: beads of eight words put the lanes, each at its own bead, on four banks; nine words spread them over all.
#include "../common.h"

enum { BEADS = 128, STRANDS = 2, ROUNDS = 8 };  // two strands in a block

struct Bead {
    float x, y, z;              // now
    float old_x, old_y, old_z;  // a step before
    float loose;                // 0: held by the skin
    float rest;                 // length to the next bead
#ifdef AFTER
    float unused;
#endif
};

// Brings two neighbours to their distance at rest.
static __device__ void pull_together(Bead *a, Bead *b) {
    float dx = b->x - a->x, dy = b->y - a->y, dz = b->z - a->z;
    float loose = a->loose + b->loose;
    float off = (1.0f - a->rest * rsqrtf(dx * dx + dy * dy + dz * dz)) / loose;
    float by_a = off * a->loose, by_b = off * b->loose;
    a->x += by_a * dx, a->y += by_a * dy, a->z += by_a * dz;
    b->x -= by_b * dx, b->y -= by_b * dy, b->z -= by_b * dz;
}

// One frame of hair in the wind: every bead moves on, and then the beads of a strand are pulled together.
__global__ void comb(const float3 *now, const float3 *before, const float *rests, float3 wind, float3 *next) {
    __shared__ Bead strand[STRANDS * BEADS];
    int t = threadIdx.x, at = blockIdx.x * STRANDS * BEADS + t, place = t % BEADS;
    Bead *own = &strand[t];
    float3 here = now[at], old = before[at];
    own->x = here.x, own->y = here.y, own->z = here.z;
    own->old_x = old.x, own->old_y = old.y, own->old_z = old.z;
    own->loose = place == 0 ? 0.0f : 1.0f;
    own->rest = rests[at];
    own->x += own->loose * (0.98f * (own->x - own->old_x) + wind.x);
    own->y += own->loose * (0.98f * (own->y - own->old_y) + wind.y);
    own->z += own->loose * (0.98f * (own->z - own->old_z) + wind.z);
    __syncthreads();
    for (int round = 0; round < ROUNDS; round++) {
        if (place % 2 == 0)
            pull_together(own, own + 1);
        __syncthreads();
        if (place % 2 == 1 && place + 1 < BEADS)
            pull_together(own, own + 1);
        __syncthreads();
    }
    next[at] = make_float3(own->x, own->y, own->z);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "hair_strands");
    int strands = p.small ? 16 : 1 << 15, n = strands * BEADS;
    std::vector<float> jitter = random_floats((size_t)n * 3, -0.1f, 0.1f, 1), rests = random_floats(n, 0.9f, 1.1f, 2);
    std::vector<float3> now(n), before(n);
    for (int i = 0; i < n; i++) {
        const float *j = &jitter[(size_t)i * 3];
        now[i] = make_float3(j[0], -(float)(i % BEADS) + j[1], j[2]);
        before[i] = make_float3(0.9f * j[0], now[i].y - 0.1f * j[2], j[2] + 0.2f * j[1]);
    }
    float3 wind = make_float3(0.05f, -0.02f, 0.01f);
    float3 *d_now = device_copy_of(now.data(), n), *d_before = device_copy_of(before.data(), n),
           *d_next = device_array<float3>(n);
    float *d_rests = device_copy_of(rests.data(), n);
    pair_time(&p, [&] { comb<<<strands / STRANDS, STRANDS * BEADS>>>(d_now, d_before, d_rests, wind, d_next); });
    std::vector<float3> next = host_copy_of(d_next, n);
    for (int s = 0; s < strands; s += p.small ? 3 : 251) {
        double x[BEADS][3];
        for (int i = 0; i < BEADS; i++) {
            float3 a = now[s * BEADS + i], b = before[s * BEADS + i];
            double loose = i == 0 ? 0 : 1;
            x[i][0] = a.x + loose * (0.98 * ((double)a.x - b.x) + wind.x);
            x[i][1] = a.y + loose * (0.98 * ((double)a.y - b.y) + wind.y);
            x[i][2] = a.z + loose * (0.98 * ((double)a.z - b.z) + wind.z);
        }
        for (int half = 0; half < 2 * ROUNDS; half++)
            for (int i = half % 2; i + 1 < BEADS; i += 2) {
                double d[3], length = 0, loose = i == 0 ? 0 : 1;
                for (int c = 0; c < 3; c++) {
                    d[c] = x[i + 1][c] - x[i][c];
                    length += d[c] * d[c];
                }
                double off = (1 - rests[s * BEADS + i] / sqrt(length)) / (loose + 1);
                for (int c = 0; c < 3; c++) {
                    x[i][c] += loose * off * d[c];
                    x[i + 1][c] -= off * d[c];
                }
            }
        for (int i = 0; i < BEADS; i++) {
            pair_near(&p, "x", s * BEADS + i, x[i][0], next[s * BEADS + i].x, 1e-3);
            pair_near(&p, "y", s * BEADS + i, x[i][1], next[s * BEADS + i].y, 1e-3);
        }
    }
    return pair_end(&p);
}
