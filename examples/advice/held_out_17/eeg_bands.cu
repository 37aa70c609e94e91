// SPDX-License-Identifier: Apache-2.0
//
// Rule: async-copy
// Change: the next piece of the recording is copied asynchronously while the current one is filtered.
// Why: every piece is waited for before the barrier, and hardly any other warps are there to work meanwhile.
#include "../common.h"
#include <cuda_pipeline.h>

enum { BLOCK = 256, PER_THREAD = 4, PIECE = BLOCK * PER_THREAD, TAPS = 12, HALO = TAPS, BANDS = 2 };
__constant__ float taps[BANDS][TAPS];

// Copies the samples of a piece, and those right before it, to shared memory, four by four.
static __device__ void fetch(float *to, const float *samples) {
    for (int i = threadIdx.x * 4; i < PIECE + HALO; i += BLOCK * 4)
#ifdef AFTER
        __pipeline_memcpy_async(&to[i], &samples[i], 16);
    __pipeline_commit();
#else
        *(float4 *)&to[i] = *(const float4 *)&samples[i];
#endif
}

static __device__ void filter(const float *piece, float *energy) {
    for (int k = 0; k < PER_THREAD; k++) {
        const float *last = piece + HALO + k * BLOCK + threadIdx.x;
        float low = 0, high = 0;
#pragma unroll
        for (int t = 0; t < TAPS; t++) {
            float sample = last[-t];
            low += taps[0][t] * sample;
            high += taps[1][t] * sample;
        }
        energy[0] += low * low;
        energy[1] += high * high;
    }
}

// The energy in two bands of each channel of a brain's recording; one block per channel.
__global__ void bands(const float *recording, float *energies, int pieces) {
#ifdef AFTER
    __shared__ __align__(16) float buffer[2][PIECE + HALO];
#else
    __shared__ __align__(16) float buffer[1][PIECE + HALO];
#endif
    __shared__ float sums[BANDS][BLOCK / 32];
    const float *channel = recording + (size_t)blockIdx.x * (pieces * PIECE + HALO);
    float energy[BANDS] = {0, 0};
#ifdef AFTER
    fetch(buffer[0], channel);
    for (int i = 0; i < pieces; i++) {
        if (i + 1 < pieces) {
            fetch(buffer[(i + 1) % 2], channel + (i + 1) * PIECE);
            __pipeline_wait_prior(1);
        } else {
            __pipeline_wait_prior(0);
        }
        __syncthreads();
        filter(buffer[i % 2], energy);
        __syncthreads();
    }
#else
    for (int i = 0; i < pieces; i++) {
        fetch(buffer[0], channel + i * PIECE);
        __syncthreads();
        filter(buffer[0], energy);
        __syncthreads();
    }
#endif
    for (int b = 0; b < BANDS; b++) {
        for (int gap = 16; gap; gap /= 2)
            energy[b] += __shfl_xor_sync(~0u, energy[b], gap);
        if (threadIdx.x % 32 == 0)
            sums[b][threadIdx.x / 32] = energy[b];
    }
    __syncthreads();
    if (threadIdx.x < BANDS) {
        float all = 0;
        for (int w = 0; w < BLOCK / 32; w++)
            all += sums[threadIdx.x][w];
        energies[blockIdx.x * BANDS + threadIdx.x] = all / (pieces * PIECE);
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "eeg_bands");
    int channels = p.small ? 2 : 256, pieces = p.small ? 4 : 240;
    size_t row = (size_t)pieces * PIECE + HALO;
    std::vector<float> recording = random_floats(channels * row, -1, 1, 1), weights(BANDS * TAPS);
    for (int t = 0; t < TAPS; t++) {
        weights[t] = 1.0f / (4 + t);
        weights[TAPS + t] = (t % 2 ? -1.0f : 1.0f) / (3 + t);
    }
    CUDA_CHECK(cudaMemcpyToSymbol(taps, weights.data(), sizeof taps));
    float *d_recording = device_copy_of(recording.data(), recording.size()),
          *d_energies = device_array<float>(channels * BANDS);
    pair_time(&p, [&] { bands<<<channels, BLOCK>>>(d_recording, d_energies, pieces); });
    std::vector<float> energies = host_copy_of(d_energies, channels * BANDS);
    for (int c = 0; c < channels; c += p.small ? 1 : 51) {
        double sum[BANDS] = {0, 0};
        for (int i = 0; i < pieces * PIECE; i++)
            for (int b = 0; b < BANDS; b++) {
                double value = 0;
                for (int t = 0; t < TAPS; t++)
                    value += weights[b * TAPS + t] * recording[c * row + HALO + i - t];
                sum[b] += value * value;
            }
        for (int b = 0; b < BANDS; b++)
            pair_near(&p, "energy", c * BANDS + b, sum[b] / (pieces * PIECE), energies[c * BANDS + b], 1e-4);
    }
    return pair_end(&p);
}
