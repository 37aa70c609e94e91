// SPDX-License-Identifier: Apache-2.0
//
// Rule: async-copy
// Change: the tiles of a recording are copied into shared memory asynchronously, three tiles ahead of their use.
// Why: the few threads of an SM wait for memory at every tile when nothing is under way during the arithmetic.
#include "../common.h"

#include <cuda_pipeline.h>

enum { BLOCK = 256, TAPS = 16, TILE = 4 * BLOCK, QUADS = (TILE + TAPS) / 4 };
#ifdef AFTER
enum { STAGES = 4 };
#else
enum { STAGES = 1 };
#endif

__constant__ float comfort[TAPS];

// Ride comfort: the energy of a cabin's vibration, as a filter weights it for a standing person. One block does the
// recording of one elevator, which has TAPS silent samples before its first.
__global__ void elevators(const float4 *recordings, float *energy, int tiles) {
    __shared__ float4 tile[STAGES][QUADS];
    __shared__ float partial[BLOCK / 32];
    const float4 *own = recordings + (size_t)blockIdx.x * (TAPS / 4 + tiles * (TILE / 4));
    float sum = 0;
#ifdef AFTER
    for (int s = 0; s < STAGES - 1; s++) {
        if (s < tiles)
            for (int i = threadIdx.x; i < QUADS; i += BLOCK)
                __pipeline_memcpy_async(&tile[s][i], &own[s * (TILE / 4) + i], sizeof(float4));
        __pipeline_commit();
    }
#endif
    for (int t = 0; t < tiles; t++) {
#ifdef AFTER
        __pipeline_wait_prior(STAGES - 2);
        __syncthreads();
        int next = t + STAGES - 1;
        if (next < tiles)
            for (int i = threadIdx.x; i < QUADS; i += BLOCK)
                __pipeline_memcpy_async(&tile[next % STAGES][i], &own[next * (TILE / 4) + i], sizeof(float4));
        __pipeline_commit();
#else
        __syncthreads();
        for (int i = threadIdx.x; i < QUADS; i += BLOCK)
            tile[t % STAGES][i] = own[t * (TILE / 4) + i];
        __syncthreads();
#endif
        float x[TAPS + 4];
#pragma unroll
        for (int q = 0; q < TAPS / 4 + 1; q++) {
            float4 v = tile[t % STAGES][threadIdx.x + q];
            x[4 * q] = v.x;
            x[4 * q + 1] = v.y;
            x[4 * q + 2] = v.z;
            x[4 * q + 3] = v.w;
        }
#pragma unroll
        for (int j = 0; j < 4; j++) {
            float y = 0;
#pragma unroll
            for (int k = 0; k < TAPS; k++)
                y += comfort[k] * x[TAPS + j - k];
            sum += y * y;
        }
    }
    for (int d = 16; d; d /= 2)
        sum += __shfl_down_sync(~0u, sum, d);
    if (threadIdx.x % 32 == 0)
        partial[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < BLOCK / 32; w++)
            sum += partial[w];
        energy[blockIdx.x] = sum;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "elevators");
    int cabins = p.small ? 6 : 264, tiles = p.small ? 9 : 150;
    size_t length = TAPS + (size_t)tiles * TILE;
    std::vector<float> recordings = random_floats(cabins * length, -0.5f, 0.5f, 1);
    for (int c = 0; c < cabins; c++)
        std::fill_n(recordings.begin() + c * length, (int)TAPS, 0.0f);
    float weights[TAPS];
    for (int k = 0; k < TAPS; k++)
        weights[k] = 0.4f * expf(-0.2f * k) * cosf(0.5f * k);
    CUDA_CHECK(cudaMemcpyToSymbol(comfort, weights, sizeof weights));
    float *d_recordings = device_copy_of(recordings.data(), recordings.size());
    float *d_energy = device_array<float>(cabins);
    pair_time(&p, [&] { elevators<<<cabins, BLOCK>>>((const float4 *)d_recordings, d_energy, tiles); });
    std::vector<float> energy = host_copy_of(d_energy, cabins);
    for (int c = 0; c < cabins; c += p.small ? 1 : 29) {
        const float *x = &recordings[c * length + TAPS];
        double sum = 0;
        for (int s = 0; s < tiles * TILE; s++) {
            double y = 0;
            for (int k = 0; k < TAPS; k++)
                y += weights[k] * x[s - k];
            sum += y * y;
        }
        pair_near(&p, "energy", c, sum, energy[c], 1e-4);
    }
    return pair_end(&p);
}
