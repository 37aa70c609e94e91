// SPDX-License-Identifier: Apache-2.0
//
// Rule: block-increase
// Change: the recording of each hydrophone is shared out to four blocks.
// Why: there is one block per hydrophone, and there are fewer hydrophones than SMs.
#include "../common.h"

enum { TAPS = 48, BLOCK = 512 };
#ifdef AFTER
enum { PARTS = 4 };
#else
enum { PARTS = 1 };
#endif

// How much the sound at each moment is like the call of the whale that is looked for, for a line of hydrophones.
__global__ void detect(const float *sound, const float *call, float *scores, int chunks) {
    __shared__ float part[BLOCK + TAPS], pattern[TAPS];
    int t = threadIdx.x;
    const float *from = sound + (size_t)blockIdx.x * (chunks * BLOCK + TAPS);
    float *to = scores + (size_t)blockIdx.x * chunks * BLOCK;
    if (t < TAPS)
        pattern[t] = call[t];
    for (int c = blockIdx.y; c < chunks; c += gridDim.y) {
        __syncthreads();
        for (int i = t; i < BLOCK + TAPS; i += BLOCK)
            part[i] = from[c * BLOCK + i];
        __syncthreads();
        float match = 0, power = 1e-4f;
#pragma unroll 8
        for (int k = 0; k < TAPS; k++) {
            float s = part[t + k];
            match += s * pattern[k];
            power += s * s;
        }
        to[c * BLOCK + t] = match * rsqrtf(power);
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "whales");
    int hydrophones = p.small ? 1 : 60, chunks = p.small ? 2 : 96, samples = chunks * BLOCK;
    std::vector<float> sound = random_floats((size_t)hydrophones * (samples + TAPS), -1, 1, 1),
                       call = random_floats(TAPS, -1, 1, 2);
    float *d_sound = device_copy_of(sound.data(), sound.size()), *d_call = device_copy_of(call.data(), TAPS),
          *d_scores = device_array<float>((size_t)hydrophones * samples);
    pair_time(&p, [&] { detect<<<dim3(hydrophones, PARTS), BLOCK>>>(d_sound, d_call, d_scores, chunks); });
    std::vector<float> scores = host_copy_of(d_scores, (size_t)hydrophones * samples);
    for (int h = 0; h < hydrophones; h++)
        for (int s = 0; s < samples; s += p.small ? 3 : 37) {
            double match = 0, power = 1e-4;
            for (int k = 0; k < TAPS; k++) {
                double value = sound[(size_t)h * (samples + TAPS) + s + k];
                match += value * call[k];
                power += value * value;
            }
            pair_near(&p, "score", (size_t)h * samples + s, match / sqrt(power), scores[(size_t)h * samples + s], 1e-4);
        }
    return pair_end(&p);
}
