// SPDX-License-Identifier: Apache-2.0
//
// Rule: thread-increase
// Also: occupancy-up
// Change: the blocks have 256 threads instead of 64.
// Why: there is one block per recording; with two warps each, too few loads are under way.
#include "../common.h"

#ifdef AFTER
enum { BLOCK = 256 };
#else
enum { BLOCK = 64 };
#endif
enum { FEATURES = 5, WARPS = BLOCK / 32 };

// What tells the bells of a carillon apart, from a recording of each: energy, its middle in time, the share of the
// first tenth, crossings of zero, and roughness. One block per recording.
__global__ void __launch_bounds__(BLOCK) describe(const float *recordings, float *features, int samples) {
    __shared__ float parts[FEATURES][WARPS];
    const float *sound = recordings + (size_t)blockIdx.x * samples;
    float energy = 0, moment = 0, attack = 0, crossings = 0, rough = 0;
    int tenth = samples / 10;
    for (int s = threadIdx.x; s + 1 < samples; s += BLOCK) {
        float here = sound[s], next = sound[s + 1];
        float square = here * here;
        energy += square;
        moment += square * s;
        attack += s < tenth ? square : 0.0f;
        crossings += (here < 0) != (next < 0) ? 1.0f : 0.0f;
        rough += fabsf(next - here);
    }
    float mine[FEATURES] = {energy, moment / samples, attack, crossings, rough};
    for (int k = 0; k < FEATURES; k++) {
        for (int gap = 16; gap; gap >>= 1)
            mine[k] += __shfl_xor_sync(~0u, mine[k], gap);
        if (threadIdx.x % 32 == 0)
            parts[k][threadIdx.x / 32] = mine[k];
    }
    __syncthreads();
    if (threadIdx.x < FEATURES) {
        float sum = 0;
        for (int w = 0; w < WARPS; w++)
            sum += parts[threadIdx.x][w];
        features[blockIdx.x * FEATURES + threadIdx.x] = sum / samples;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "carillon");
    int bells = p.small ? 4 : 528, samples = p.small ? 2048 : 65536;
    std::vector<float> recordings = random_floats((size_t)bells * samples, -1, 1, 1);
    for (size_t i = 0; i < recordings.size(); i++)
        recordings[i] *= 1 - 0.9f * (i % samples) / samples;
    float *d_recordings = device_copy_of(recordings.data(), recordings.size()),
          *d_features = device_array<float>(bells * FEATURES);
    pair_time(&p, [&] { describe<<<bells, BLOCK>>>(d_recordings, d_features, samples); });
    std::vector<float> features = host_copy_of(d_features, bells * FEATURES);
    for (int b = 0; b < bells; b++) {
        const float *sound = &recordings[(size_t)b * samples];
        double sums[FEATURES] = {0, 0, 0, 0, 0};
        for (int s = 0; s + 1 < samples; s++) {
            double square = (double)sound[s] * sound[s];
            sums[0] += square;
            sums[1] += square * s / samples;
            sums[2] += s < samples / 10 ? square : 0;
            sums[3] += (sound[s] < 0) != (sound[s + 1] < 0);
            sums[4] += fabs((double)sound[s + 1] - sound[s]);
        }
        for (int k = 0; k < FEATURES; k++)
            pair_near(&p, "feature", b * FEATURES + k, sums[k] / samples, features[b * FEATURES + k], 1e-4);
    }
    return pair_end(&p);
}
