// SPDX-License-Identifier: Apache-2.0
//
// Rule: redundant-loads
// Change: the sum is kept in a register until the loop ends.
// Why: each turn loads the sum from global memory and stores it again, as the compiler cannot know that the traces lie
// elsewhere.
#include "../common.h"

enum { BLOCK = 256, SHOTS = 24 };

// Adds up the recordings of many shots, each shifted by its delay.
__global__ void stacked_shots(const float *traces, const int *delays, float *out, int samples) {
    int i = blockIdx.x * BLOCK + threadIdx.x, pitch = samples + 64;
#ifdef AFTER
    float sum = 0;
    for (int s = 0; s < SHOTS; s++)
        sum += traces[s * pitch + i + delays[s]];
    out[i] = sum;
#else
    out[i] = 0;
    for (int s = 0; s < SHOTS; s++)
        out[i] += traces[s * pitch + i + delays[s]];
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "stacked_shots");
    int samples = p.small ? 1 << 13 : 1 << 20, pitch = samples + 64;
    std::vector<float> traces = random_floats((size_t)SHOTS * pitch, -1, 1, 1);
    std::vector<int> delays(SHOTS);
    unsigned seed = 2;
    for (int &d : delays)
        d = (int)lcg_next(&seed, 64);
    float *d_traces = device_copy_of(traces.data(), traces.size()), *d_out = device_array<float>(samples);
    int *d_delays = device_copy_of(delays.data(), SHOTS);
    pair_time(&p, [&] { stacked_shots<<<samples / BLOCK, BLOCK>>>(d_traces, d_delays, d_out, samples); });
    std::vector<float> out = host_copy_of(d_out, samples);
    for (int i = 0; i < samples; i += 103) {
        double sum = 0;
        for (int s = 0; s < SHOTS; s++)
            sum += traces[(size_t)s * pitch + i + delays[s]];
        pair_near(&p, "sum", i, sum, out[i], 1e-5);
    }
    return pair_end(&p);
}
