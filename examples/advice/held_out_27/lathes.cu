// SPDX-License-Identifier: Apache-2.0
//
// Rule: async-copy
// Change: the next tile is copied asynchronously to a second buffer while the block works on the present one.
// Why: the block waited for each tile to come from memory, and the memory was idle while the block computed.
#include "../common.h"

#include <cuda_pipeline.h>

enum { THREADS = 256, TILE = 4 * THREADS, TAPS = 12, WARPS = THREADS / 32 };

struct Shaking {
    float peak, level;
};

// The vibration of lathes, one block each: for every tile of the record, how far the smoothed signal gets from the
// level so far, and the new level. It depends on the tile before, so a lathe's tiles are worked on one after another.
__global__ void __launch_bounds__(THREADS) watch(const float *records, Shaking *shaking, int tiles) {
    __shared__ float2 partial[WARPS];
    int thread = threadIdx.x;
    const float4 *record = (const float4 *)(records + (size_t)blockIdx.x * tiles * TILE);
    float level = 0;
#ifdef AFTER
    __shared__ __align__(16) float buffers[2][TILE];
    __pipeline_memcpy_async((float4 *)buffers[0] + thread, record + thread, sizeof(float4));
    __pipeline_commit();
#else
    __shared__ __align__(16) float samples[TILE];
#endif
    for (int t = 0; t < tiles; t++) {
#ifdef AFTER
        const float *samples = buffers[t % 2];
        if (t + 1 < tiles)
            __pipeline_memcpy_async((float4 *)buffers[(t + 1) % 2] + thread, record + (t + 1) * THREADS + thread,
                                    sizeof(float4));
        __pipeline_commit();
        __pipeline_wait_prior(1);
#else
        ((float4 *)samples)[thread] = record[t * THREADS + thread];
#endif
        __syncthreads();
        float peak = 0, sum = 0;
        for (int k = thread; k < TILE; k += THREADS) {
            float smooth = 0;
            for (int j = 0; j < TAPS; j++)
                smooth += samples[(k + j) % TILE];
            peak = fmaxf(peak, fabsf(smooth / TAPS - level));
            sum += samples[k];
        }
        for (int far = 16; far > 0; far /= 2) {
            peak = fmaxf(peak, __shfl_xor_sync(~0u, peak, far));
            sum += __shfl_xor_sync(~0u, sum, far);
        }
        if (thread % 32 == 0)
            partial[thread / 32] = make_float2(peak, sum);
        __syncthreads();
        peak = sum = 0;
        for (int w = 0; w < WARPS; w++) {
            peak = fmaxf(peak, partial[w].x);
            sum += partial[w].y;
        }
        level = 0.75f * level + 0.25f * (sum / TILE);
        if (thread == 0)
            shaking[(size_t)blockIdx.x * tiles + t] = {peak, level};
        // No thread can write to `partial` before all have passed the next tile's first barrier.
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "lathes");
    int lathes = p.small ? 2 : 132, tiles = p.small ? 4 : 160;
    std::vector<float> records = random_floats((size_t)lathes * tiles * TILE, -1, 2, 1);
    float *d_records = device_copy_of(records.data(), records.size());
    Shaking *d_shaking = device_array<Shaking>((size_t)lathes * tiles);
    pair_time(&p, [&] { watch<<<lathes, THREADS>>>(d_records, d_shaking, tiles); });
    std::vector<Shaking> shaking = host_copy_of(d_shaking, (size_t)lathes * tiles);
    for (int lathe = 0; lathe < lathes; lathe += p.small ? 1 : 11) {
        double level = 0;
        for (int t = 0; t < tiles; t++) {
            size_t at = (size_t)lathe * tiles + t;
            const float *samples = &records[at * TILE];
            double peak = 0, sum = 0;
            for (int k = 0; k < TILE; k++) {
                double smooth = 0;
                for (int j = 0; j < TAPS; j++)
                    smooth += samples[(k + j) % TILE];
                peak = std::max(peak, fabs(smooth / TAPS - level));
                sum += samples[k];
            }
            level = 0.75 * level + 0.25 * sum / TILE;
            pair_near(&p, "peak", at, peak, shaking[at].peak, 1e-4);
            pair_near(&p, "level", at, level, shaking[at].level, 1e-4);
        }
    }
    return pair_end(&p);
}
