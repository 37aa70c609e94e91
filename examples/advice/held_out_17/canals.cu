// SPDX-License-Identifier: Apache-2.0
//
// Rule: code-reordering
// Change: what flows in from the fields in the next step is loaded before the current step is computed.
// Why: the loop loads it right where it is needed, behind a barrier, and few warps are there to hide the wait.
#include "../common.h"

enum { REACHES = 256 };

// The water that a canal carries, reach by reach, through a storm; one block per canal.
__global__ void route(const float *inflow, const float *roughness, const float *slopes, float *peaks, float *last,
                      int steps) {
    __shared__ float carried[2][REACHES + 1];
    int r = threadIdx.x, canal = blockIdx.x;
    const float *fields = inflow + (size_t)canal * steps * REACHES + r;
    float rough = roughness[canal * REACHES + r], steep = sqrtf(slopes[canal * REACHES + r]);
    float stored = 1.0f, peak = 0;
    carried[0][r + 1] = 0;
    if (r == 0)
        carried[0][0] = carried[1][0] = 0.5f;  // from the lake
#ifdef AFTER
    float next = fields[0];
#endif
    __syncthreads();
    for (int s = 0; s < steps; s++) {
#ifdef AFTER
        float rain = next;
        next = fields[(size_t)min(s + 1, steps - 1) * REACHES];
#else
        float rain = fields[(size_t)s * REACHES];
#endif
        float from_above = carried[s % 2][r];
        float depth = fmaxf(stored, 0.01f);
        float speed = steep * cbrtf(depth * depth) * __fdividef(1.0f, rough);
        float out = fminf(0.1f * speed * depth, 0.9f * depth);
        stored += 0.2f * from_above + rain - 0.2f * out;
        stored = fmaxf(stored, 0.01f);
        carried[(s + 1) % 2][r + 1] = out;
        peak = fmaxf(peak, stored);
        __syncthreads();
    }
    peaks[canal * REACHES + r] = peak;
    last[canal * REACHES + r] = stored;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "canals");
    int canals = p.small ? 4 : 264, steps = p.small ? 20 : 400;
    size_t n = (size_t)canals * REACHES;
    std::vector<float> inflow = random_floats(n * steps, 0, 0.05f, 1), rough = random_floats(n, 0.02f, 0.05f, 2),
                       slopes = random_floats(n, 0.0005f, 0.005f, 3);
    float *d_inflow = device_copy_of(inflow.data(), inflow.size()), *d_rough = device_copy_of(rough.data(), n),
          *d_slopes = device_copy_of(slopes.data(), n), *d_peaks = device_array<float>(n),
          *d_last = device_array<float>(n);
    pair_time(&p, [&] { route<<<canals, REACHES>>>(d_inflow, d_rough, d_slopes, d_peaks, d_last, steps); });
    std::vector<float> peaks = host_copy_of(d_peaks, n), last = host_copy_of(d_last, n);
    for (int c = 0; c < canals; c += p.small ? 1 : 33) {
        std::vector<double> stored(REACHES, 1.0), out(REACHES, 0.0), now(REACHES), peak(REACHES, 0.0);
        for (int s = 0; s < steps; s++) {
            for (int r = 0; r < REACHES; r++) {
                size_t at = (size_t)c * REACHES + r;
                double depth = std::max(stored[r], 0.01),
                       speed = sqrt((double)slopes[at]) * cbrt(depth * depth) / rough[at];
                now[r] = std::min(0.1 * speed * depth, 0.9 * depth);
                stored[r] +=
                    0.2 * (r ? out[r - 1] : 0.5) + inflow[((size_t)c * steps + s) * REACHES + r] - 0.2 * now[r];
                stored[r] = std::max(stored[r], 0.01);
                peak[r] = std::max(peak[r], stored[r]);
            }
            out = now;
        }
        for (int r = 0; r < REACHES; r++) {
            pair_near(&p, "peak", c * REACHES + r, peak[r], peaks[c * REACHES + r], 1e-3);
            pair_near(&p, "last", c * REACHES + r, stored[r], last[c * REACHES + r], 1e-3);
        }
    }
    return pair_end(&p);
}
