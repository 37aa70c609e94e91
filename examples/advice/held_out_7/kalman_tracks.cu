// SPDX-License-Identifier: Apache-2.0
//
// Rule: code-reordering
// Also: loop-unrolling
// Change: the measurement of the next step is loaded at the head of a step, before the current one is used.
// Why: a step begins with waiting for its measurement, and the stores of the estimates keep loads from moving up.
#include "../common.h"

enum { BLOCK = 128, STEPS = 256 };

// Position and speed of each track from noisy positions, with the filter of Kalman.
__global__ void kalman_tracks(const float *measured, float *estimate, int tracks, float noise, float drift) {
    int t = blockIdx.x * BLOCK + threadIdx.x;
    float x = 0, v = 0, pxx = 1, pxv = 0, pvv = 1;
#ifdef AFTER
    float coming = measured[t];
#endif
    for (int k = 0; k < STEPS; k++) {
#ifdef AFTER
        float z = coming;
        if (k + 1 < STEPS)
            coming = measured[(k + 1) * tracks + t];
#else
        float z = measured[k * tracks + t];
#endif
        x += v;
        pxx += 2 * pxv + pvv + drift;
        pxv += pvv;
        pvv += drift;
        float gain = 1 / (pxx + noise), off = z - x, gx = pxx * gain, gv = pxv * gain;
        x += gx * off;
        v += gv * off;
        pvv -= gv * pxv;
        pxv -= gx * pxv;
        pxx -= gx * pxx;
        estimate[k * tracks + t] = x;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "kalman_tracks");
    int tracks = p.small ? 1 << 11 : 1 << 16;
    size_t n = (size_t)tracks * STEPS;
    std::vector<float> measured = random_floats(n, -1, 1, 1);
    float *d_measured = device_copy_of(measured.data(), n), *d_estimate = device_array<float>(n);
    pair_time(&p, [&] { kalman_tracks<<<tracks / BLOCK, BLOCK>>>(d_measured, d_estimate, tracks, 0.5f, 0.01f); });
    std::vector<float> estimate = host_copy_of(d_estimate, n);
    for (int t = 0; t < tracks; t += 997) {
        double x = 0, v = 0, pxx = 1, pxv = 0, pvv = 1;
        for (int k = 0; k < STEPS; k++) {
            x += v;
            pxx += 2 * pxv + pvv + 0.01;
            pxv += pvv;
            pvv += 0.01;
            double gx = pxx / (pxx + 0.5), gv = pxv / (pxx + 0.5), off = measured[(size_t)k * tracks + t] - x;
            x += gx * off;
            v += gv * off;
            pvv -= gv * pxv;
            pxv -= gx * pxv;
            pxx -= gx * pxx;
            pair_near(&p, "estimate", (size_t)k * tracks + t, x, estimate[(size_t)k * tracks + t], 1e-3);
        }
    }
    return pair_end(&p);
}
