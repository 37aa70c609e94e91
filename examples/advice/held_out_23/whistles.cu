// SPDX-License-Identifier: Apache-2.0
//
// Rule: warp-balance
// Change: all eight warps of a block compare the whistle with songs, each with its share, not the first warp alone.
// Why: seven warps wait at the barrier while one does the 64 comparisons one after the other.
#include "../common.h"

#include <cuda_fp16.h>

enum { WARPS = 8, BLOCK = 32 * WARPS, BINS = BLOCK, SONGS = 64 };

// Which dolphin whistles: the spectrum of each clip, on a logarithmic scale, against the songs of the known dolphins.
// A block takes one clip.
__global__ void recognise(const float *spectra, const __half2 *songs, int *who, float *score) {
    __shared__ float2 loud[BINS / 2];
    __shared__ float likeness[SONGS];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    ((float *)loud)[threadIdx.x] = log1pf(spectra[(size_t)blockIdx.x * BINS + threadIdx.x]);
    __syncthreads();
#ifdef AFTER
    for (int s = warp; s < SONGS; s += WARPS) {
#else
    for (int s = 0; warp == 0 && s < SONGS; s++) {
#endif
        float sum = 0;
        for (int b = lane; b < BINS / 2; b += 32) {
            float2 song = __half22float2(songs[s * (BINS / 2) + b]), heard = loud[b];
            sum += heard.x * song.x + heard.y * song.y;
        }
        for (int step = 16; step > 0; step /= 2)
            sum += __shfl_down_sync(0xffffffffu, sum, step);
        if (lane == 0)
            likeness[s] = sum;
    }
    __syncthreads();
    if (warp == 0) {
        bool upper = likeness[lane + 32] > likeness[lane];
        int best = upper ? lane + 32 : lane;
        float most = likeness[best];
        for (int step = 16; step > 0; step /= 2) {
            float other = __shfl_down_sync(0xffffffffu, most, step);
            int at = __shfl_down_sync(0xffffffffu, best, step);
            if (other > most) {
                most = other;
                best = at;
            }
        }
        if (lane == 0) {
            who[blockIdx.x] = best;
            score[blockIdx.x] = most;
        }
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "whistles");
    int clips = p.small ? 24 : 132 * 256;
    size_t n = (size_t)clips * BINS;
    std::vector<float> spectra = random_floats(n, 0, 20, 1), drawn = random_floats(SONGS * BINS, -1, 1, 2);
    std::vector<__half> songs(SONGS * BINS);
    for (int k = 0; k < SONGS * BINS; k++)
        songs[k] = __float2half(drawn[k]);
    float *d_spectra = device_copy_of(spectra.data(), n), *d_score = device_array<float>(clips);
    __half *d_songs = device_copy_of(songs.data(), songs.size());
    int *d_who = device_array<int>(clips);
    pair_time(&p, [&] { recognise<<<clips, BLOCK>>>(d_spectra, (const __half2 *)d_songs, d_who, d_score); });
    std::vector<int> who = host_copy_of(d_who, clips);
    std::vector<float> score = host_copy_of(d_score, clips);
    for (int c = 0; c < clips; c += p.small ? 1 : 97) {
        double most = -1e30, chosen = 0;
        for (int s = 0; s < SONGS; s++) {
            double sum = 0;
            for (int b = 0; b < BINS; b++)
                sum += log1p((double)spectra[(size_t)c * BINS + b]) * __half2float(songs[s * BINS + b]);
            most = std::max(most, sum);
            if (s == who[c])
                chosen = sum;
        }
        pair_near(&p, "score", c, most, score[c], 1e-3);
        pair_near(&p, "score of who", c, most, chosen, 1e-3);
    }
    return pair_end(&p);
}
