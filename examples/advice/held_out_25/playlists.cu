// SPDX-License-Identifier: Apache-2.0
//
// Rule: warp-balance
// Change: a warp that is done takes the next playlist that nobody has begun, instead of a fixed share of them.
// Why: a listener's playlists come longest first, so that the first warps of a block work much longer than the last,
// which wait for them at the barrier.
#include "../common.h"

enum { BLOCK = 512, WARPS = BLOCK / 32, MOST = 64, WINDOW = 24 };

// How different two songs are in tempo, loudness, mood and age.
static __device__ float apart(float4 a, float4 b) {
    float tempo = a.x - b.x, loudness = a.y - b.y, mood = a.z - b.z, age = a.w - b.w;
    return tempo * tempo + loudness * loudness + 0.5f * mood * mood + 0.25f * fabsf(age);
}

// A warp: the sum over the songs of how far off the likest of those that soon follow it is.
static __device__ float variety_of(const float4 *songs, int count) {
    float sum = 0;
    for (int i = threadIdx.x % 32; i < count - 1; i += 32) {
        float4 song = songs[i];
        float likest = 1e30f;
        for (int next = 1; next <= WINDOW; next++)
            likest = fminf(likest, apart(song, songs[min(i + next, count - 1)]));
        sum += likest;
    }
    for (int gap = 16; gap; gap >>= 1)
        sum += __shfl_xor_sync(~0u, sum, gap);
    return sum / count;
}

// The variety of each playlist, as a part of that of the listener's most varied one; a block per listener.
__global__ void __launch_bounds__(BLOCK) compare_playlists(const float4 *songs, const int *first_song,
                                                           const int *first_list, float *varieties) {
    __shared__ float variety[MOST];
    int begin = first_list[blockIdx.x], lists = first_list[blockIdx.x + 1] - begin;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#ifdef AFTER
    __shared__ int not_begun;
    if (threadIdx.x == 0)
        not_begun = WARPS;
    __syncthreads();
    int k = warp;
    while (k < lists) {
#else
    int each = (lists + WARPS - 1) / WARPS;
    for (int k = warp * each; k < min(warp * each + each, lists); k++) {
#endif
        int song = first_song[begin + k];
        float value = variety_of(songs + song, first_song[begin + k + 1] - song);
        if (lane == 0)
            variety[k] = value;
#ifdef AFTER
        if (lane == 0)
            k = atomicAdd(&not_begun, 1);
        k = __shfl_sync(~0u, k, 0);
#endif
    }
    __syncthreads();
    if (threadIdx.x < lists) {
        float most = 0;
        for (int k = 0; k < lists; k++)
            most = fmaxf(most, variety[k]);
        varieties[begin + threadIdx.x] = variety[threadIdx.x] / most;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "playlists");
    int listeners = p.small ? 1 : 264;
    std::vector<int> first_song(1, 0), first_list(1, 0);
    unsigned seed = 17;
    for (int l = 0; l < listeners; l++) {
        int lists = p.small ? 40 : 40 + lcg_next(&seed, MOST - 40 + 1);
        for (int k = 0; k < lists; k++) {
            int length = p.small ? 8 + 100 / (k + 2) : 40 + lcg_next(&seed, 20) + 3600 / (k + 4);
            first_song.push_back(first_song.back() + length);
        }
        first_list.push_back(first_list.back() + lists);
    }
    size_t songs = first_song.back(), lists = first_list.back();
    std::vector<float> features = random_floats(songs * 4, 0, 1, 2);
    float4 *d_songs = (float4 *)device_copy_of(features.data(), songs * 4);
    int *d_first_song = device_copy_of(first_song.data(), lists + 1),
        *d_first_list = device_copy_of(first_list.data(), listeners + 1);
    float *d_varieties = device_array<float>(lists);
    pair_time(&p, [&] {
        compare_playlists<<<listeners, BLOCK>>>(d_songs, d_first_song, d_first_list, d_varieties);
    });
    std::vector<float> varieties = host_copy_of(d_varieties, lists);
    for (int l = 0; l < listeners; l += p.small ? 1 : 23) {
        std::vector<double> expected;
        for (int k = first_list[l]; k < first_list[l + 1]; k++) {
            int begin = first_song[k], end = first_song[k + 1];
            double sum = 0;
            for (int i = begin; i + 1 < end; i++) {
                double likest = 1e30;
                for (int j = i + 1; j < std::min(end, i + 1 + WINDOW); j++) {
                    const float *a = &features[(size_t)i * 4], *b = &features[(size_t)j * 4];
                    double tempo = a[0] - b[0], loudness = a[1] - b[1], mood = a[2] - b[2], age = a[3] - b[3];
                    likest = std::min(likest, tempo * tempo + loudness * loudness + mood * mood / 2 + fabs(age) / 4);
                }
                sum += likest;
            }
            expected.push_back(sum / (end - begin));
        }
        double most = *std::max_element(expected.begin(), expected.end());
        for (size_t k = 0; k < expected.size(); k++)
            pair_near(&p, "variety", first_list[l] + k, expected[k] / most, varieties[first_list[l] + k], 1e-4);
    }
    return pair_end(&p);
}
