// SPDX-License-Identifier: Apache-2.0
//
// Rule: shared-conflicts
// Change: a row of the table of costs in shared memory has one float more than it needs.
// Why: the lanes of a warp work on an antidiagonal, one row down and one column left from lane to lane; with rows of
//      49 floats that is 48 floats further, two banks for all lanes, with rows of 50 every lane has a bank of its own.
#include "../common.h"

enum { WARPS = 4, QUERY = 32, SONG = 48 };
#ifdef AFTER
enum { PITCH = SONG + 2 };
#else
enum { PITCH = SONG + 1 };
#endif

// How strong the twelve semitones are for a moment of the music; of length 1.
struct Chroma {
    float4 low, middle, high;
};

__host__ __device__ static inline float dot(const float4 &a, const float4 &b) {
    return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}

__host__ __device__ static inline float unlike(const Chroma &a, const Chroma &b) {
    return 1 - dot(a.low, b.low) - dot(a.middle, b.middle) - dot(a.high, b.high);
}

// Subsequence dynamic time warping of the query with a window of the songs, a warp for each window; row 0 of the table
// is the start (free to begin anywhere), column 0 the outside. The lowest value of the last row is the distance.
__global__ void __launch_bounds__(32 * WARPS)
    align(const Chroma *query, const Chroma *songs, float *distance, int windows, int hop) {
    __shared__ float table[WARPS][QUERY + 1][PITCH];
    __shared__ Chroma frames[WARPS][SONG];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, window = blockIdx.x * WARPS + warp;
    if (window >= windows)
        return;
    float(*cost)[PITCH] = table[warp];
    const Chroma *song = frames[warp];
    const Chroma mine = query[lane];
    for (int j = lane; j < SONG; j += 32)
        frames[warp][j] = songs[(size_t)window * hop + j];
    for (int j = lane; j <= SONG; j += 32)
        cost[0][j] = 0;
    cost[lane + 1][0] = 1e30f;
    __syncwarp();
    for (int d = 0; d < QUERY + SONG - 1; d++) {
        int j = d - lane;
        if (j >= 0 && j < SONG) {
            float before = fminf(fminf(cost[lane][j], cost[lane][j + 1]), cost[lane + 1][j]);
            cost[lane + 1][j + 1] = before + unlike(mine, song[j]);
        }
        __syncwarp();
    }
    float best = fminf(cost[QUERY][lane + 1], lane + 33 <= SONG ? cost[QUERY][lane + 33] : 1e30f);
    for (int step = 16; step > 0; step /= 2)
        best = fminf(best, __shfl_xor_sync(~0u, best, step));
    if (lane == 0)
        distance[window] = best;
}

static std::vector<Chroma> random_music(int frames, unsigned seed) {
    std::vector<float> r = random_floats((size_t)frames * 12, 0.f, 1.f, seed);
    std::vector<Chroma> music(frames);
    for (int f = 0; f < frames; f++) {
        float *v = &r[(size_t)f * 12], square = 0;
        for (int b = 0; b < 12; b++)
            v[b] *= v[b], square += v[b] * v[b];
        for (int b = 0; b < 12; b++)
            v[b] /= sqrtf(square);
        music[f] = {{v[0], v[1], v[2], v[3]}, {v[4], v[5], v[6], v[7]}, {v[8], v[9], v[10], v[11]}};
    }
    return music;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "jukeboxes");
    int windows = p.small ? 50 : 132 * 24 * 8, hop = 16, frames = windows * hop + SONG;
    std::vector<Chroma> query = random_music(QUERY, 1), songs = random_music(frames, 2);
    for (int f = 0; f + QUERY < frames; f += 1000)  // the tune, played at uneven speed
        for (int q = 0; q < QUERY; q++)
            songs[f + q] = query[q * q / QUERY];
    Chroma *d_query = device_copy_of(query.data(), QUERY), *d_songs = device_copy_of(songs.data(), songs.size());
    float *d_distance = device_array<float>(windows);
    int blocks = (windows + WARPS - 1) / WARPS;
    pair_time(&p, [&] { align<<<blocks, 32 * WARPS>>>(d_query, d_songs, d_distance, windows, hop); });
    std::vector<float> distance = host_copy_of(d_distance, windows);
    for (int w = 0; w < windows; w += p.small ? 1 : 11) {
        std::vector<float> row(SONG + 1, 0.f), above;
        for (int q = 0; q < QUERY; q++) {
            above = row;
            row[0] = 1e30f;
            for (int j = 0; j < SONG; j++)
                row[j + 1] =
                    std::min(std::min(above[j], above[j + 1]), row[j]) + unlike(query[q], songs[(size_t)w * hop + j]);
        }
        pair_near(&p, "distance", w, *std::min_element(row.begin() + 1, row.end()), distance[w], 1e-4);
    }
    return pair_end(&p);
}
