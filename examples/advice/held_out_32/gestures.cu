// SPDX-License-Identifier: Apache-2.0
//
// Rule: shared-conflicts
// Change: the rows of the warping table in shared memory are 25 words apart instead of 24.
// Why: every lane walks its own row; at a pitch of 24 words the 32 lanes fall on four banks, eight to each.
#include "../common.h"

enum { BLOCK = 128, LENGTH_MAX = 24, FAR = 1 << 28 };

#ifdef AFTER
enum { PITCH = LENGTH_MAX + 1 };
#else
enum { PITCH = LENGTH_MAX };
#endif

// What a wrist band measures: three axes of acceleration, and the turn about the arm.
struct __align__(8) Motion {
    short x, y, z, turn;
};

static __host__ __device__ int motion_distance(Motion a, Motion b) {
    return abs(a.x - b.x) + abs(a.y - b.y) + abs(a.z - b.z) + (abs(a.turn - b.turn) >> 1);
}

// Dynamic time warping of every recording (blockIdx.x) against every pattern (blockIdx.y). A thread has one recording
// and keeps one row of the table of costs: row[j] is the cheapest way to explain the frames so far by pattern[0..j].
__global__ void gestures(const Motion *__restrict__ recordings, const Motion *__restrict__ patterns,
                         int *__restrict__ costs, int count, int frames, int length) {
    __shared__ int table[BLOCK * PITCH];
    __shared__ Motion pattern[LENGTH_MAX];
    if (threadIdx.x < length)
        pattern[threadIdx.x] = patterns[blockIdx.y * length + threadIdx.x];
    __syncthreads();
    int r = blockIdx.x * BLOCK + threadIdx.x;
    if (r >= count)
        return;
    int *row = table + threadIdx.x * PITCH;
    for (int j = 0; j < length; j++)
        row[j] = FAR;
    for (int f = 0; f < frames; f++) {
        Motion now = recordings[(size_t)f * count + r];
        int left = FAR, diagonal = f ? FAR : 0;
#pragma unroll 1
        for (int j = 0; j < length; j++) {
            int above = row[j];
            left = min(min(above, left), diagonal) + motion_distance(now, pattern[j]);
            diagonal = above;
            row[j] = left;
        }
    }
    costs[(size_t)blockIdx.y * count + r] = row[length - 1];
}

static int cost_on_cpu(const Motion *recordings, const Motion *pattern, int r, int count, int frames, int length) {
    std::vector<int> row(length, FAR);
    for (int f = 0; f < frames; f++) {
        int left = FAR, diagonal = f ? FAR : 0;
        for (int j = 0; j < length; j++) {
            int above = row[j];
            left = std::min(std::min(above, left), diagonal) +
                   motion_distance(recordings[(size_t)f * count + r], pattern[j]);
            diagonal = above;
            row[j] = left;
        }
    }
    return row[length - 1];
}

// Slow waves with noise on them, as an arm makes them.
static std::vector<Motion> motions(int steps, int count, bool by_step, unsigned seed) {
    std::vector<Motion> out((size_t)steps * count);
    std::vector<float> wave(256);
    for (int k = 0; k < 256; k++)
        wave[k] = 900 * sinf(k * 6.2831853f / 256);
    for (int c = 0; c < count; c++) {
        unsigned phase = lcg_next(&seed, 256), pace = 3 + lcg_next(&seed, 9);
        for (int s = 0; s < steps; s++) {
            unsigned k = phase + pace * s, noise = lcg_next(&seed, 1 << 16);
            Motion m = {(short)(wave[k & 255] + (noise & 63)), (short)(wave[(2 * k + 64) & 255] + (noise >> 6 & 31)),
                        (short)(wave[(3 * k) & 255] / 2 + (noise >> 11)), (short)(wave[(k + 99) & 255])};
            out[by_step ? (size_t)s * count + c : (size_t)c * steps + s] = m;
        }
    }
    return out;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "gestures");
    int count = p.small ? 33 * BLOCK - 7 : 512 * BLOCK - 7, frames = p.small ? 24 : 48, patterns = p.small ? 2 : 4;
    int length = LENGTH_MAX;
    std::vector<Motion> recorded = motions(frames, count, true, 1), wanted = motions(length, patterns, false, 2);
    Motion *d_recorded = device_copy_of(recorded.data(), recorded.size()),
           *d_wanted = device_copy_of(wanted.data(), wanted.size());
    int *d_costs = device_array<int>((size_t)patterns * count);
    dim3 grid((count + BLOCK - 1) / BLOCK, patterns);
    pair_time(&p, [&] { gestures<<<grid, BLOCK>>>(d_recorded, d_wanted, d_costs, count, frames, length); });
    std::vector<int> costs = host_copy_of(d_costs, (size_t)patterns * count);
    for (int g = 0; g < patterns; g++)
        for (int r = g; r < count; r += 89)
            pair_near(&p, "costs", (size_t)g * count + r,
                      cost_on_cpu(recorded.data(), &wanted[(size_t)g * length], r, count, frames, length),
                      costs[(size_t)g * count + r], 0);
    return pair_end(&p);
}
