// SPDX-License-Identifier: Apache-2.0
//
// Rule: async-copy
// Change: the next frames are copied into a second buffer, asynchronously, while the current ones are compared.
// Why: each tile of frames goes through registers between two barriers, and nothing is computed until it is there.
#include "../common.h"

#include <cuda_pipeline.h>

enum { SOUNDS = 128, QUADS = 4, TILE = 16 };  // a frame: 16 cepstral coefficients

// How near a speaker comes to each of the reference sounds of an accent; a block per speaker, a thread per sound.
__global__ void compare(const float4 *recordings, const float4 *sounds, float2 *scores, int tiles) {
    __shared__ float4 buffer[2][TILE * QUADS];
    const float4 *mine = recordings + (size_t)blockIdx.x * tiles * TILE * QUADS;
    bool copies = threadIdx.x < TILE * QUADS;
    float4 sound[QUADS];
    for (int q = 0; q < QUADS; q++)
        sound[q] = sounds[q * SOUNDS + threadIdx.x];
    float nearest = 1e30f, closeness = 0;
#ifdef AFTER
    if (copies)
        __pipeline_memcpy_async(&buffer[0][threadIdx.x], &mine[threadIdx.x], sizeof(float4));
    __pipeline_commit();
#endif
    for (int t = 0; t < tiles; t++) {
#ifdef AFTER
        if (copies && t + 1 < tiles)
            __pipeline_memcpy_async(&buffer[(t + 1) % 2][threadIdx.x], &mine[(t + 1) * TILE * QUADS + threadIdx.x],
                                    sizeof(float4));
        __pipeline_commit();
        __pipeline_wait_prior(1);
        const float4 *frames = buffer[t % 2];
#else
        if (copies)
            buffer[0][threadIdx.x] = mine[t * TILE * QUADS + threadIdx.x];
        const float4 *frames = buffer[0];
#endif
        __syncthreads();
        for (int f = 0; f < TILE; f++) {
            float distance = 0;
            for (int q = 0; q < QUADS; q++) {
                float4 frame = frames[f * QUADS + q];
                float a = frame.x - sound[q].x, b = frame.y - sound[q].y, c = frame.z - sound[q].z,
                      d = frame.w - sound[q].w;
                distance += a * a + b * b + c * c + d * d;
            }
            nearest = fminf(nearest, distance);
            closeness += __fdividef(1.0f, 1.0f + distance);
        }
        __syncthreads();
    }
    scores[blockIdx.x * SOUNDS + threadIdx.x] = make_float2(nearest, closeness / (tiles * TILE));
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "accents");
    int speakers = p.small ? 1 : 264, tiles = p.small ? 3 : 250;
    size_t quads = (size_t)speakers * tiles * TILE * QUADS;
    std::vector<float> recordings = random_floats(quads * 4, -1, 1, 1), sounds = random_floats(SOUNDS * 16, -1, 1, 2);
    float4 *d_recordings = device_copy_of((const float4 *)recordings.data(), quads),
           *d_sounds = device_copy_of((const float4 *)sounds.data(), SOUNDS * QUADS);
    float2 *d_scores = device_array<float2>((size_t)speakers * SOUNDS);
    pair_time(&p, [&] { compare<<<speakers, SOUNDS>>>(d_recordings, d_sounds, d_scores, tiles); });
    std::vector<float2> scores = host_copy_of(d_scores, (size_t)speakers * SOUNDS);
    for (int speaker = 0; speaker < speakers; speaker += 33)
        for (int s = 0; s < SOUNDS; s += 5) {
            double nearest = 1e30, closeness = 0;
            for (int f = 0; f < tiles * TILE; f++) {
                double distance = 0;
                for (int k = 0; k < 16; k++) {
                    double d = (double)recordings[((size_t)speaker * tiles * TILE + f) * 16 + k] -
                               sounds[(k / 4 * SOUNDS + s) * 4 + k % 4];
                    distance += d * d;
                }
                nearest = std::min(nearest, distance);
                closeness += 1 / (1 + distance);
            }
            size_t at = (size_t)speaker * SOUNDS + s;
            pair_near(&p, "nearest", at, nearest, scores[at].x, 1e-4);
            pair_near(&p, "closeness", at, closeness / (tiles * TILE), scores[at].y, 1e-4);
        }
    return pair_end(&p);
}
