// SPDX-License-Identifier: Apache-2.0
//
// Rule: warp-balance
// Change: the keys of the piano are dealt to the warps of a block in turn instead of in runs of neighbours.
// Why: a low note has hundreds of overtones in the spectrum and a high one a few; the warp with the lowest eleven
//      keys keeps the other seven waiting at the barrier of every frame.
#include "../common.h"

enum { BLOCK = 256, WARP = 32, WARPS = BLOCK / WARP, KEYS = 88, PER_WARP = KEYS / WARPS, BINS = 2048 };

#define HERTZ_PER_BIN 5.3833f  // 11025 Hz in all

__constant__ float pitch[KEYS];  // in bins

// The weight of an overtone in the sum.
__host__ __device__ static inline float fading(float bin, int overtone) {
    return (bin + 12.f) / (bin * overtone + 320.f);
}

// How strongly a key sounds: the weighted sum of the spectrum around its overtones, which are a little sharp.
__device__ static float salience(const float *spectrum, float bin, float stiffness, int lane) {
    float sum = 0;
    for (int overtone = 1 + lane;; overtone += WARP) {
        float at = bin * overtone * fmaf(stiffness, overtone, 1.f);
        int i = (int)at;
        if (i + 2 >= BINS) break;
        float part = at - i;
        float level = spectrum[i] + part * (spectrum[i + 1] - spectrum[i]);
        float side = fmaxf(spectrum[i - 1], spectrum[i + 2]);
        sum += fading(bin, overtone) * fmaxf(level - 0.5f * side, 0.f);
    }
    for (int d = WARP / 2; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    return sum;
}

// A block takes frames from a fixed run of them and writes for each key its salience, or 0 if a neighbour is louder.
__global__ void transcribe(const float *spectra, float *piano_roll, float stiffness, int frames_per_block) {
    __shared__ float spectrum[BINS], loud[KEYS + 2];
    int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    if (threadIdx.x == 0) loud[0] = loud[KEYS + 1] = 0;
    for (int f = 0; f < frames_per_block; f++) {
        size_t frame = (size_t)blockIdx.x * frames_per_block + f;
        for (int i = threadIdx.x; i < BINS; i += BLOCK) spectrum[i] = spectra[frame * BINS + i];
        __syncthreads();
        for (int k = 0; k < PER_WARP; k++) {
#ifdef AFTER
            int key = k * WARPS + warp;
#else
            int key = warp * PER_WARP + k;
#endif
            float sum = salience(spectrum, pitch[key], stiffness, lane);
            if (lane == 0) loud[1 + key] = sum;
        }
        __syncthreads();
        if (threadIdx.x < KEYS) {
            float own = loud[1 + threadIdx.x], other = fmaxf(loud[threadIdx.x], loud[2 + threadIdx.x]);
            piano_roll[frame * KEYS + threadIdx.x] = own >= other ? own : 0;
        }
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "arpeggios");
    int blocks = p.small ? 8 : 132 * 8, frames_per_block = p.small ? 2 : 12, frames = blocks * frames_per_block;
    float stiffness = 4e-5f;
    std::vector<float> bins(KEYS), spectra = random_floats((size_t)frames * BINS, 0, 0.05f, 88);
    for (int key = 0; key < KEYS; key++) bins[key] = 27.5f * powf(2, key / 12.f) / HERTZ_PER_BIN;
    CUDA_CHECK(cudaMemcpyToSymbol(pitch, bins.data(), KEYS * sizeof(float)));
    unsigned seed = 10;
    for (int f = 0; f < frames; f++)
        for (int note = 0; note < 4; note++) {
            float bin = bins[lcg_next(&seed, KEYS)];
            for (int overtone = 1; overtone < 20 && bin * overtone * (1 + stiffness * overtone) < BINS; overtone++)
                spectra[(size_t)f * BINS + (int)(bin * overtone * (1 + stiffness * overtone))] += 1.f / overtone;
        }
    float *d_spectra = device_copy_of(spectra.data(), spectra.size()),
          *d_roll = device_array<float>((size_t)frames * KEYS);
    pair_time(&p, [&] { transcribe<<<blocks, BLOCK>>>(d_spectra, d_roll, stiffness, frames_per_block); });
    std::vector<float> roll = host_copy_of(d_roll, (size_t)frames * KEYS);
    for (int f = 0; f < frames; f += p.small ? 1 : 61) {
        const float *spectrum = &spectra[(size_t)f * BINS];
        double loud[KEYS + 2] = {0};
        for (int key = 0; key < KEYS; key++)
            for (int overtone = 1;; overtone++) {
                float at = bins[key] * overtone * fmaf(stiffness, overtone, 1.f);
                int i = (int)at;
                if (i + 2 >= BINS) break;
                double level = spectrum[i] + (at - i) * (spectrum[i + 1] - spectrum[i]);
                double side = std::max(spectrum[i - 1], spectrum[i + 2]);
                loud[1 + key] += fading(bins[key], overtone) * std::max(level - 0.5 * side, 0.0);
            }
        for (int key = 0; key < KEYS; key++) {
            double other = std::max(loud[key], loud[key + 2]);
            if (fabs(loud[key + 1] - other) > 1e-3 * (1 + other))  // not where rounding decides who is louder
                pair_near(&p, "piano_roll", (size_t)f * KEYS + key, loud[key + 1] > other ? loud[key + 1] : 0,
                          roll[(size_t)f * KEYS + key], 3e-3);
        }
    }
    return pair_end(&p);
}
