// SPDX-License-Identifier: Apache-2.0
//
// Rule: strength-reduction
// Change: the place in a ring goes back to zero by a comparison instead of by a remainder.
// Why: the remainder by a length that is known only at run time takes some twenty instructions, four times a sample.
#include "../common.h"

enum { BLOCK = 64, COMBS = 4, MOST = 192 };

struct Room {
    int length[COMBS];
    float gain[COMBS];
};

// Gives each channel of a mixer the echo of a room: four rings of old samples in shared memory, fed back.
__global__ void reverb(const float *dry, float *wet, Room room, int channels, int samples) {
    __shared__ float old[MOST * BLOCK];
    int i = blockIdx.x * BLOCK + threadIdx.x, place[COMBS] = {}, used = 0;
    float *ring[COMBS];
#pragma unroll
    for (int c = 0; c < COMBS; c++) {
        ring[c] = old + used * BLOCK + threadIdx.x;
        used += room.length[c];
    }
    for (int k = 0; k < used; k++)
        old[k * BLOCK + threadIdx.x] = 0;
    for (int t = 0; t < samples; t++) {
        float in = dry[t * channels + i], out = 0;
#pragma unroll
        for (int c = 0; c < COMBS; c++) {
            float echo = ring[c][place[c] * BLOCK];
            ring[c][place[c] * BLOCK] = in + room.gain[c] * echo;
            out += echo;
#ifdef AFTER
            place[c] = place[c] + 1 == room.length[c] ? 0 : place[c] + 1;
#else
            place[c] = (place[c] + 1) % room.length[c];
#endif
        }
        wet[t * channels + i] = 0.7f * in + 0.3f * out;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "reverb");
    int channels = p.small ? 512 : 50688, samples = p.small ? 64 : 400;
    Room room = {{37, 43, 53, 59}, {0.7f, 0.66f, 0.62f, 0.58f}};
    std::vector<float> dry = random_floats((size_t)channels * samples, -1, 1, 1);
    float *d_dry = device_copy_of(dry.data(), dry.size()), *d_wet = device_array<float>(dry.size());
    pair_time(&p, [&] { reverb<<<channels / BLOCK, BLOCK>>>(d_dry, d_wet, room, channels, samples); });
    std::vector<float> wet = host_copy_of(d_wet, dry.size());
    for (int i = 0; i < channels; i += 97) {
        std::vector<double> fed(COMBS * (size_t)samples);
        for (int t = 0; t < samples; t++) {
            double in = dry[(size_t)t * channels + i], out = 0;
            for (int c = 0; c < COMBS; c++) {
                double echo = t < room.length[c] ? 0 : fed[(t - room.length[c]) * COMBS + c];
                fed[t * COMBS + c] = in + room.gain[c] * echo;
                out += echo;
            }
            pair_near(&p, "wet", (size_t)t * channels + i, 0.7 * in + 0.3 * out, wet[(size_t)t * channels + i], 1e-4);
        }
    }
    return pair_end(&p);
}
