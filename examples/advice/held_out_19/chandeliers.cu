// SPDX-License-Identifier: Apache-2.0
//
// Rule: redundant-loads
// Change: what a chandelier is made of is loaded once, before the steps.
// Why: the trace that every step writes might overlap with it, so that the compiler loads all of it again after that.
#include "../common.h"

enum { TIERS = 4, BLOCK = 128 };

// Chandeliers of four tiers, hung one from another, sway in a draught; the trace is where the lowest tier is.
__global__ void sway(const float *stiffness, const float *coupling, const float *damping, const float *draught,
                     float *trace, int count, int steps) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= count)
        return;
    float place[TIERS] = {}, speed[TIERS] = {};
#ifdef AFTER
    float stiff[TIERS], couple[TIERS], damp[TIERS];
#pragma unroll
    for (int t = 0; t < TIERS; t++) {
        stiff[t] = stiffness[t * count + i];
        couple[t] = coupling[t * count + i];
        damp[t] = damping[t * count + i];
    }
#endif
    for (int s = 0; s < steps; s++) {
        float air = draught[s], above = 0, pulled = 0;
#pragma unroll
        for (int t = TIERS - 1; t >= 0; t--) {
            above = t ? place[t - 1] : 0.0f;
#ifdef AFTER
            float hang = couple[t] * (above - place[t]);
            float force = hang - pulled - stiff[t] * place[t] + (air - speed[t]) * damp[t];
#else
            float hang = coupling[t * count + i] * (above - place[t]);
            float force = hang - pulled - stiffness[t * count + i] * place[t] +
                          (air - speed[t]) * damping[t * count + i];
#endif
            speed[t] += 0.02f * force;
            pulled = hang;
        }
#pragma unroll
        for (int t = 0; t < TIERS; t++)
            place[t] += 0.02f * speed[t];
        trace[(size_t)s * count + i] = place[TIERS - 1];
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "chandeliers");
    int n = p.small ? 256 : 132 * 1024, steps = p.small ? 12 : 160;
    std::vector<float> stiff = random_floats((size_t)TIERS * n, 2, 6, 1),
                       couple = random_floats((size_t)TIERS * n, 5, 20, 2),
                       damp = random_floats((size_t)TIERS * n, 0.1f, 0.6f, 3),
                       draught = random_floats(steps, -1, 1.5f, 4);
    float *d_stiff = device_copy_of(stiff.data(), stiff.size()),
          *d_couple = device_copy_of(couple.data(), couple.size()), *d_damp = device_copy_of(damp.data(), damp.size()),
          *d_draught = device_copy_of(draught.data(), steps),
          *d_trace = device_array<float>((size_t)n * steps);
    pair_time(&p, [&] {
        sway<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_stiff, d_couple, d_damp, d_draught, d_trace, n, steps);
    });
    std::vector<float> trace = host_copy_of(d_trace, (size_t)n * steps);
    for (int i = 0; i < n; i += p.small ? 3 : 307) {
        double place[TIERS] = {}, speed[TIERS] = {};
        for (int s = 0; s < steps; s++) {
            double pulled = 0;
            for (int t = TIERS - 1; t >= 0; t--) {
                size_t at = (size_t)t * n + i;
                double hang = couple[at] * ((t ? place[t - 1] : 0.0) - place[t]);
                speed[t] += 0.02 * (hang - pulled - stiff[at] * place[t] + (draught[s] - speed[t]) * damp[at]);
                pulled = hang;
            }
            for (int t = 0; t < TIERS; t++)
                place[t] += 0.02 * speed[t];
            pair_near(&p, "trace", (size_t)s * n + i, place[TIERS - 1], trace[(size_t)s * n + i], 1e-4);
        }
    }
    return pair_end(&p);
}
