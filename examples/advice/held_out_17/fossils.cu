// SPDX-License-Identifier: Apache-2.0
//
// Rule: sm-balance
// Change: the blocks take the outlines in turn instead of a run of neighbours each.
// Why: the collection is sorted by size; the blocks with the large fossils work on when all others are done.
#include "../common.h"

enum { HARMONICS = 16, BLOCK = 512, WARPS = BLOCK / 32 };

struct Outline {
    int first, count;
};

// The first harmonics of the outlines of fossils (how far the edge is from the middle, all around), for comparing them.
__global__ void shapes(const float *radii, const Outline *outlines, float2 *harmonics, int count) {
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#ifdef AFTER
    int from = blockIdx.x, to = count, step = gridDim.x;
#else
    int per = (count + gridDim.x - 1) / gridDim.x;
    int from = blockIdx.x * per, to = min(from + per, count), step = 1;
#endif
    for (int f = from; f < to; f += step) {
        Outline line = outlines[f];
        float turn = 2.0f / line.count;
        for (int h = warp; h < HARMONICS; h += WARPS) {
            float re = 0, im = 0;
            for (int i = lane; i < line.count; i += 32) {
                float s, c, r = radii[line.first + i];
                sincospif(turn * ((h * i) % line.count), &s, &c);
                re += r * c;
                im += r * s;
            }
            for (int gap = 16; gap; gap >>= 1) {
                re += __shfl_xor_sync(~0u, re, gap);
                im += __shfl_xor_sync(~0u, im, gap);
            }
            if (lane == 0)
                harmonics[(size_t)f * HARMONICS + h] = make_float2(re / line.count, im / line.count);
        }
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "fossils");
    int n = p.small ? 64 : 16896, blocks = p.small ? 8 : 132;
    std::vector<Outline> outlines(n);
    int total = 0;
    for (int f = 0; f < n; f++) {
        double rank = (f + 1.0) / n;
        outlines[f] = {total, 24 + (int)((p.small ? 60 : 1500) * rank * rank * rank)};
        total += outlines[f].count;
    }
    std::vector<float> radii = random_floats(total, 0.5f, 1.5f, 1);
    float *d_radii = device_copy_of(radii.data(), total);
    Outline *d_outlines = device_copy_of(outlines.data(), n);
    float2 *d_harmonics = device_array<float2>((size_t)n * HARMONICS);
    pair_time(&p, [&] { shapes<<<blocks, BLOCK>>>(d_radii, d_outlines, d_harmonics, n); });
    std::vector<float2> harmonics = host_copy_of(d_harmonics, (size_t)n * HARMONICS);
    for (int f = 0; f < n; f += p.small ? 3 : 211)
        for (int h = 0; h < HARMONICS; h++) {
            Outline line = outlines[f];
            double re = 0, im = 0;
            for (int i = 0; i < line.count; i++) {
                double angle = 6.283185307179586 * h * i / line.count;
                re += radii[line.first + i] * cos(angle);
                im += radii[line.first + i] * sin(angle);
            }
            pair_near(&p, "re", (size_t)f * HARMONICS + h, re / line.count, harmonics[(size_t)f * HARMONICS + h].x,
                      1e-4);
            pair_near(&p, "im", (size_t)f * HARMONICS + h, im / line.count, harmonics[(size_t)f * HARMONICS + h].y,
                      1e-4);
        }
    return pair_end(&p);
}
