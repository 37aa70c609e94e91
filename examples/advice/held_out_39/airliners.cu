// SPDX-License-Identifier: Apache-2.0
//
// Rule: sm-balance
// Change: the flights of the day are dealt to the blocks in turn instead of in runs of neighbours.
// Why: flights are sorted by the time at which they enter; a block with the flights of a rush hour has many times as
//      many others to compare with as one with flights of the night, and its SM finishes last.
#include "../common.h"

enum { BLOCK = 512, WARP = 32, WARPS = BLOCK / WARP, BLOCKS = 132 };

// A flight through the sector: a straight line from the time it enters to the time it leaves (minutes, nautical miles).
struct Track {
    float4 *path;  // x and y at midnight, if it had flown then; speed in x and y
    float4 *stay;  // enters, leaves, flight level, wake turbulence margin
};

__host__ __device__ inline bool shares_level(float4 a, float4 b) {
    return fabsf(a.z - b.z) < 10 + 0.5f * (a.w + b.w);
}

// The square of the smallest distance between two flights while both are in the sector.
__host__ __device__ inline float closest(float4 a, float4 b, float from, float to) {
    float dx = b.x - a.x, dy = b.y - a.y, vx = b.z - a.z, vy = b.w - a.w;
    float when = -(dx * vx + dy * vy) / (vx * vx + vy * vy + 1e-6f);
    when = fminf(fmaxf(when, from), to);
    dx += when * vx;
    dy += when * vy;
    return dx * dx + dy * dy;
}

// For each flight: how many later ones come too near, and how near the nearest gets. A warp takes a flight.
__global__ void __launch_bounds__(BLOCK) conflicts(Track track, int flights, float separation, int *count,
                                                   float *nearest) {
    int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, share = flights / BLOCKS;
    for (int k = warp; k < share; k += WARPS) {
#ifdef AFTER
        int i = k * BLOCKS + blockIdx.x;
#else
        int i = blockIdx.x * share + k;
#endif
        float4 path = track.path[i], stay = track.stay[i];
        int near = 0;
        float best = 1e6f;
        for (int j = i + 1 + lane; j < flights; j += WARP) {
            float4 other = track.stay[j];
            if (other.x > stay.y)
                break;
            float d2 = closest(path, track.path[j], other.x, fminf(stay.y, other.y));
            if (!shares_level(stay, other))
                continue;
            best = fminf(best, d2);
            near += d2 < separation * separation;
        }
        for (int d = WARP / 2; d > 0; d /= 2) {
            near += __shfl_xor_sync(0xffffffffu, near, d);
            best = fminf(best, __shfl_xor_sync(0xffffffffu, best, d));
        }
        if (lane == 0) {
            count[i] = near;
            nearest[i] = sqrtf(best);
        }
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "airliners");
    int flights = BLOCKS * WARPS * (p.small ? 1 : 16);
    float separation = 5;
    std::vector<float> random = random_floats((size_t)flights * 8, 0, 1, 1), enters(flights);
    for (int i = 0; i < flights; i++) {
        const float *r = &random[(size_t)i * 8];
        // A third at any time, the others in the waves of the morning and the evening.
        float wave = r[0] < 0.67f ? 480 : 1080, spread = r[0] < 0.67f ? 45 : 70;
        enters[i] = r[0] < 0.33f ? 1440 * r[1] : wave + spread * (r[1] + r[2] + r[3] - 1.5f);
    }
    std::sort(enters.begin(), enters.end());
    std::vector<float4> path, stay;
    for (int i = 0; i < flights; i++) {
        const float *r = &random[(size_t)i * 8];
        float angle = 6.2832f * r[4], speed = 6.5f + 2 * r[5], vx = speed * cosf(angle), vy = speed * sinf(angle);
        float x = 800 * r[6] - 200 * vx / speed, y = 800 * r[7] - 200 * vy / speed;
        path.push_back(make_float4(x - enters[i] * vx, y - enters[i] * vy, vx, vy));
        stay.push_back(make_float4(enters[i], enters[i] + 25 + 30 * r[1], 290 + 10 * (int)(12 * r[2]), 2 * r[3]));
    }
    Track track = {device_copy_of(path.data(), flights), device_copy_of(stay.data(), flights)};
    int *d_count = device_array<int>(flights);
    float *d_nearest = device_array<float>(flights);
    pair_time(&p, [&] { conflicts<<<BLOCKS, BLOCK>>>(track, flights, separation, d_count, d_nearest); });
    std::vector<int> count = host_copy_of(d_count, flights);
    std::vector<float> nearest = host_copy_of(d_nearest, flights);
    for (int i = 0; i < flights; i += p.small ? 3 : 29) {
        int fewest = 0, most = 0;  // rounding decides about those at the very limit
        float best = 1e6f;
        for (int j = i + 1; j < flights && stay[j].x <= stay[i].y; j++)
            if (shares_level(stay[i], stay[j])) {
                float d2 = closest(path[i], path[j], stay[j].x, std::min(stay[i].y, stay[j].y));
                best = std::min(best, d2);
                fewest += d2 < (separation - 0.02f) * (separation - 0.02f);
                most += d2 < (separation + 0.02f) * (separation + 0.02f);
            }
        pair_near(&p, "count", i, std::min(std::max(count[i], fewest), most), count[i], 0);
        pair_near(&p, "nearest", i, sqrt(best), nearest[i], 2e-2);
    }
    return pair_end(&p);
}
