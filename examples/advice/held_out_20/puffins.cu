// SPDX-License-Identifier: Apache-2.0
//
// Rule: async-copy
// Change: the next frames are copied into a second buffer with cp.async while the current ones are looked at.
// Why: every tile goes through registers into shared memory and is waited for, with few warps to do anything else.
#include "../common.h"

#include <cuda_pipeline.h>

enum { BANDS = 64, FRAMES = 32, ROW = BANDS + 4, BLOCK = 128, TILE = FRAMES * BANDS };
#ifdef AFTER
enum { BUFFERS = 2 };
#else
enum { BUFFERS = 1 };
#endif

// How far the calls of a colony stand out of wind and surf, frame by frame; one block per microphone.
__global__ void calls(const float *power, float *loudness, float *quiet, int tiles) {
    __shared__ __align__(16) float tile[BUFFERS][FRAMES * ROW];
    __shared__ float surf[BANDS];  // logarithm of the background
    int t = threadIdx.x, frame = t / 4, quarter = t % 4;
    const float *from = power + (size_t)blockIdx.x * tiles * TILE;
    float level = 0.5f;
    if (t < BANDS)
        surf[t] = logf(level);
#ifdef AFTER
    for (int i = t; i < TILE / 4; i += BLOCK)
        __pipeline_memcpy_async(&tile[0][i / (BANDS / 4) * ROW + i % (BANDS / 4) * 4], from + i * 4, sizeof(float4));
    __pipeline_commit();
#endif
    for (int s = 0; s < tiles; s++) {
#ifdef AFTER
        if (s + 1 < tiles)
            for (int i = t; i < TILE / 4; i += BLOCK)
                __pipeline_memcpy_async(&tile[(s + 1) % 2][i / (BANDS / 4) * ROW + i % (BANDS / 4) * 4],
                                        from + (size_t)(s + 1) * TILE + i * 4, sizeof(float4));
        __pipeline_commit();
        __pipeline_wait_prior(1);
#else
        for (int i = t; i < TILE / 4; i += BLOCK)
            *(float4 *)&tile[0][i / (BANDS / 4) * ROW + i % (BANDS / 4) * 4] =
                *(const float4 *)(from + (size_t)s * TILE + i * 4);
#endif
        __syncthreads();
        const float *now = tile[s % BUFFERS];
        float loud = 0;
        for (int b = quarter; b < BANDS; b += 4)
            loud += fmaxf(0.0f, logf(now[frame * ROW + b]) - surf[b]);
        loud += __shfl_xor_sync(~0u, loud, 1);
        loud += __shfl_xor_sync(~0u, loud, 2);
        if (quarter == 0)
            loudness[((size_t)blockIdx.x * tiles + s) * FRAMES + frame] = loud / BANDS;
        __syncthreads();
        if (t < BANDS) {  // loud frames shall not lift the background
            for (int f = 0; f < FRAMES; f++)
                level += 0.02f * (fminf(now[f * ROW + t], 1.5f * level) - level);
            surf[t] = logf(level);
        }
        __syncthreads();
    }
    if (t < BANDS)
        quiet[blockIdx.x * BANDS + t] = level;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "puffins");
    int microphones = p.small ? 2 : 264, tiles = p.small ? 2 : 64;
    size_t frames = (size_t)microphones * tiles * FRAMES;
    std::vector<float> power = random_floats(frames * BANDS, 0.1f, 1.0f, 1);
    float *d_power = device_copy_of(power.data(), power.size()), *d_loudness = device_array<float>(frames),
          *d_quiet = device_array<float>((size_t)microphones * BANDS);
    pair_time(&p, [&] { calls<<<microphones, BLOCK>>>(d_power, d_loudness, d_quiet, tiles); });
    std::vector<float> loudness = host_copy_of(d_loudness, frames),
                       quiet = host_copy_of(d_quiet, (size_t)microphones * BANDS);
    for (int m = 0; m < microphones; m += p.small ? 1 : 29) {
        std::vector<double> level(BANDS, 0.5), surf(BANDS, log(0.5));
        for (int s = 0; s < tiles; s++) {
            const float *now = &power[((size_t)m * tiles + s) * TILE];
            for (int f = 0; f < FRAMES; f++) {
                double loud = 0;
                for (int b = 0; b < BANDS; b++)
                    loud += std::max(0.0, log((double)now[f * BANDS + b]) - surf[b]);
                size_t at = ((size_t)m * tiles + s) * FRAMES + f;
                pair_near(&p, "loudness", at, loud / BANDS, loudness[at], 1e-3);
            }
            for (int b = 0; b < BANDS; b++) {
                for (int f = 0; f < FRAMES; f++)
                    level[b] += 0.02 * (std::min((double)now[f * BANDS + b], 1.5 * level[b]) - level[b]);
                surf[b] = log(level[b]);
            }
        }
        for (int b = 0; b < BANDS; b++)
            pair_near(&p, "quiet", m * BANDS + b, level[b], quiet[m * BANDS + b], 1e-3);
    }
    return pair_end(&p);
}
