// SPDX-License-Identifier: Apache-2.0
//
// Rule: async-copy
// Change: the next piece of sound is copied asynchronously into a second buffer while this one is being searched.
// Why: with one buffer filled through registers all threads wait for memory before each piece, and nothing else runs.
#include "../common.h"

#include <cuda_pipeline.h>

enum { BIRDS = 128, TAPS = 8, PIECE = 256, STAGED = PIECE + TAPS };

#ifdef AFTER
enum { BUFFERS = 2 };
#else
enum { BUFFERS = 1 };
#endif

struct Heard {
    float loudest;
    int where;
};

// The recording of a microphone against the drumming of all birds: where each fits best. A block per microphone, a
// thread per bird.
__global__ void __launch_bounds__(BIRDS) listen(const float *sounds, const float *drummings, Heard *heard, int pieces) {
    __shared__ alignas(16) float staged[BUFFERS][STAGED];
    const float *sound = sounds + (size_t)blockIdx.x * (pieces * PIECE + TAPS);
    int bird = threadIdx.x;
    float taps[TAPS];
    for (int j = 0; j < TAPS; j++)
        taps[j] = drummings[j * BIRDS + bird];
    Heard best = {-1e30f, -1};
#ifdef AFTER
    if (4 * bird < STAGED)
        __pipeline_memcpy_async(&staged[0][4 * bird], &sound[4 * bird], sizeof(float4));
    __pipeline_commit();
#endif
    for (int t = 0; t < pieces; t++) {
#ifdef AFTER
        __pipeline_wait_prior(0);
        __syncthreads();  // piece t is there, and nobody is reading piece t - 1 any more
        if (t + 1 < pieces && 4 * bird < STAGED)
            __pipeline_memcpy_async(&staged[(t + 1) % BUFFERS][4 * bird], &sound[(t + 1) * PIECE + 4 * bird],
                                    sizeof(float4));
        __pipeline_commit();
#else
        __syncthreads();  // nobody is reading piece t - 1 any more
        if (4 * bird < STAGED)
            *(float4 *)&staged[0][4 * bird] = *(const float4 *)&sound[t * PIECE + 4 * bird];
        __syncthreads();
#endif
        const float *piece = staged[t % BUFFERS];
#pragma unroll 8
        for (int k = 0; k < PIECE; k++) {
            float fit = 0;
            for (int j = 0; j < TAPS; j++)
                fit += taps[j] * piece[k + j];
            if (fit > best.loudest) {
                best.loudest = fit;
                best.where = t * PIECE + k;
            }
        }
    }
    heard[blockIdx.x * BIRDS + bird] = best;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "woodpeckers");
    int microphones = p.small ? 1 : 132 * 2, pieces = p.small ? 2 : 80, length = pieces * PIECE + TAPS;
    std::vector<float> sounds((size_t)microphones * length), drummings(TAPS * BIRDS);
    lcg_fill(sounds.data(), sounds.size(), 1, 512);  // whole numbers: sums are exact
    lcg_fill(drummings.data(), drummings.size(), 2, 32);
    for (float &s : sounds)
        s -= 256;
    for (float &d : drummings)
        d -= 16;
    float *d_sounds = device_copy_of(sounds.data(), sounds.size());
    float *d_drummings = device_copy_of(drummings.data(), drummings.size());
    int results = microphones * BIRDS;
    Heard *d_heard = device_array<Heard>(results);
    pair_time(&p, [&] { listen<<<microphones, BIRDS>>>(d_sounds, d_drummings, d_heard, pieces); });
    std::vector<Heard> heard = host_copy_of(d_heard, results);
    for (int r = 0; r < results; r += p.small ? 1 : 211) {
        const float *sound = &sounds[(size_t)(r / BIRDS) * length];
        Heard best = {-1e30f, -1};
        for (int k = 0; k < pieces * PIECE; k++) {
            float fit = 0;
            for (int j = 0; j < TAPS; j++)
                fit += drummings[j * BIRDS + r % BIRDS] * sound[k + j];
            if (fit > best.loudest)
                best = {fit, k};
        }
        pair_near(&p, "loudest", r, best.loudest, heard[r].loudest, 0);
        pair_near(&p, "where", r, best.where, heard[r].where, 0);
    }
    return pair_end(&p);
}
