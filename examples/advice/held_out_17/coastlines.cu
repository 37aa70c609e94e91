// SPDX-License-Identifier: Apache-2.0
//
// Rule: warp-balance
// Change: the lines of a sheet go to the warps of its block in turn instead of in runs of eight.
// Why: a sheet has its longest lines first, so that the first warp works on while the others wait at the barrier.
#include "../common.h"

enum { BLOCK = 256, WARPS = BLOCK / 32, LINES = 64, PER_WARP = LINES / WARPS };

struct Line {
    int first, count;
};

static __device__ float warp_sum(float x) {
    for (int gap = 16; gap; gap >>= 1)
        x += __shfl_xor_sync(~0u, x, gap);
    return x;
}

// Length on the ground and crookedness of the coastlines of a map sheet; one block per sheet.
__global__ void measure(const float2 *points, const Line *lines, const float *scales, float *lengths, float *crooked) {
    __shared__ float long_ways[LINES], short_ways[LINES];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const Line *own = lines + blockIdx.x * LINES;
    float scale = scales[blockIdx.x];
    for (int k = 0; k < PER_WARP; k++) {
#ifdef AFTER
        int l = k * WARPS + warp;
#else
        int l = warp * PER_WARP + k;
#endif
        Line line = own[l];
        float way = 0;
        for (int i = lane; i + 1 < line.count; i += 32) {
            float2 a = points[line.first + i], b = points[line.first + i + 1];
            float east = (b.x - a.x) * __cosf(0.5f * (a.y + b.y)), north = b.y - a.y;
            way += sqrtf(east * east + north * north);
        }
        way = warp_sum(way);
        if (lane == 0) {
            float2 a = points[line.first], b = points[line.first + line.count - 1];
            float east = (b.x - a.x) * __cosf(0.5f * (a.y + b.y)), north = b.y - a.y;
            long_ways[l] = way * scale;
            short_ways[l] = sqrtf(east * east + north * north) * scale;
        }
    }
    __syncthreads();
    if (warp == 0) {
        float all = warp_sum(long_ways[lane] + long_ways[lane + 32]);
        float straight = warp_sum(short_ways[lane] + short_ways[lane + 32]);
        if (lane == 0) {
            lengths[blockIdx.x] = all;
            crooked[blockIdx.x] = all / (straight + scale);
        }
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "coastlines");
    int sheets = p.small ? 8 : 2640, longest = p.small ? 400 : 1600;
    std::vector<Line> lines((size_t)sheets * LINES);
    std::vector<float2> points;
    unsigned seed = 1;
    for (int s = 0; s < sheets; s++)
        for (int l = 0; l < LINES; l++) {
            Line line = {(int)points.size(), 8 + (int)(longest / (1.0f + 0.4f * l)) + (int)lcg_next(&seed, 8)};
            float x = 0.1f, y = 0.7f;
            for (int i = 0; i < line.count; i++) {
                x += ((int)lcg_next(&seed, 201) - 90) * 1e-6f;
                y += ((int)lcg_next(&seed, 201) - 100) * 1e-6f;
                points.push_back(make_float2(x, y));
            }
            lines[(size_t)s * LINES + l] = line;
        }
    std::vector<float> scales = random_floats(sheets, 100, 6000, 2);
    float2 *d_points = device_copy_of(points.data(), points.size());
    Line *d_lines = device_copy_of(lines.data(), lines.size());
    float *d_scales = device_copy_of(scales.data(), sheets), *d_lengths = device_array<float>(sheets),
          *d_crooked = device_array<float>(sheets);
    pair_time(&p, [&] { measure<<<sheets, BLOCK>>>(d_points, d_lines, d_scales, d_lengths, d_crooked); });
    std::vector<float> lengths = host_copy_of(d_lengths, sheets), crooked = host_copy_of(d_crooked, sheets);
    for (int s = 0; s < sheets; s += p.small ? 1 : 29) {
        double all = 0, straight = 0;
        for (int l = 0; l < LINES; l++) {
            Line line = lines[(size_t)s * LINES + l];
            const float2 *q = &points[line.first];
            auto gap = [](float2 a, float2 b) {
                double east = ((double)b.x - a.x) * cos(0.5 * ((double)a.y + b.y)), north = (double)b.y - a.y;
                return sqrt(east * east + north * north);
            };
            for (int i = 0; i + 1 < line.count; i++)
                all += gap(q[i], q[i + 1]) * scales[s];
            straight += gap(q[0], q[line.count - 1]) * scales[s];
        }
        pair_near(&p, "length", s, all, lengths[s], 1e-3);
        pair_near(&p, "crooked", s, all / (straight + scales[s]), crooked[s], 2e-3);
    }
    return pair_end(&p);
}
