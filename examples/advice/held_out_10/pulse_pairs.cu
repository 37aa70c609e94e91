// SPDX-License-Identifier: Apache-2.0
//
// Rule: shared-conflicts
// Change: rows of the shared array are a word longer.
// Why: each lane goes along a row of its own of the shared array, whose rows all begin in the same bank.
#include "../common.h"

enum { PULSES = 32, BLOCK = 64, BINS = 64 };

#ifdef AFTER
enum { PITCH = PULSES + 1 };
#else
enum { PITCH = PULSES };
#endif

// How echoes of a radar turn from pulse to pulse in each range bin: the mean of products of neighbours.
__global__ void pulse_pairs(const float *echoes, float *out) {
    __shared__ float own[BINS * PITCH];
    const float *in = echoes + (size_t)blockIdx.x * BINS * PULSES;
    for (int i = threadIdx.x; i < BINS * PULSES; i += BLOCK)
        own[i / PULSES * PITCH + i % PULSES] = in[i];
    __syncthreads();
    float sum = 0, power = 0;
    for (int k = 0; k + 1 < PULSES; k++) {
        float now = own[threadIdx.x * PITCH + k], next = own[threadIdx.x * PITCH + k + 1];
        sum += now * next;
        power += now * now;
    }
    out[blockIdx.x * BLOCK + threadIdx.x] = sum / (power + 1.0f);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "pulse_pairs");
    int blocks = p.small ? 128 : 1 << 14;
    std::vector<float> echoes = random_floats((size_t)blocks * BINS * PULSES, -1, 1, 1);
    float *d_echoes = device_copy_of(echoes.data(), echoes.size()), *d_out = device_array<float>((size_t)blocks * BINS);
    pair_time(&p, [&] { pulse_pairs<<<blocks, BLOCK>>>(d_echoes, d_out); });
    std::vector<float> out = host_copy_of(d_out, (size_t)blocks * BINS);
    for (size_t bin = 0; bin < out.size(); bin += 149) {
        const float *e = &echoes[bin * PULSES];
        double sum = 0, power = 0;
        for (int k = 0; k + 1 < PULSES; k++)
            sum += (double)e[k] * e[k + 1], power += (double)e[k] * e[k];
        pair_near(&p, "turn", bin, sum / (power + 1), out[bin], 1e-4);
    }
    return pair_end(&p);
}
