// SPDX-License-Identifier: Apache-2.0
//
// Rule: tail-effect
// Change: a block measures 128 potatoes instead of 1024, so that there are eight times as many blocks.
// Why: 148 long blocks on 132 SMs, one on each: in a second wave sixteen SMs work as long again, the others wait.
#include "../common.h"

#ifdef AFTER
enum { PER_BLOCK = 128 };
#else
enum { PER_BLOCK = 1024 };
#endif

enum { BLOCK = 1024, WARPS = BLOCK / 32, POINTS = 128, MINE = POINTS / 32 };

struct Size {
    float area, length;
};

// A camera over a belt gives each potato's outline as radii in 128 directions. One warp per potato: its area and its
// length, which is the largest distance of two points of the outline.
__global__ void __launch_bounds__(BLOCK, 1) measure(const float *radii, Size *sizes, int potatoes, int per_block) {
    __shared__ float2 direction[POINTS];
    __shared__ float2 outline[WARPS][POINTS];
    if (threadIdx.x < POINTS)
        sincospif(2.0f * threadIdx.x / POINTS, &direction[threadIdx.x].y, &direction[threadIdx.x].x);
    __syncthreads();
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float2 *points = outline[warp];
    int end = min(potatoes, (blockIdx.x + 1) * per_block);
    for (int i = blockIdx.x * per_block + warp; i < end; i += WARPS) {
        const float *r = radii + (size_t)i * POINTS;
        float2 mine[MINE];
        for (int k = 0; k < MINE; k++) {
            int at = k * 32 + lane;
            mine[k] = make_float2(r[at] * direction[at].x, r[at] * direction[at].y);
            points[at] = mine[k];
        }
        __syncwarp();
        float area = 0, longest[MINE] = {};
        for (int k = 0; k < MINE; k++) {
            float2 next = points[(k * 32 + lane + 1) % POINTS];
            area += 0.5f * (mine[k].x * next.y - mine[k].y * next.x);
        }
        for (int other = 0; other < POINTS; other++) {
            float2 b = points[other];
            for (int k = 0; k < MINE; k++) {
                float dx = mine[k].x - b.x, dy = mine[k].y - b.y;
                longest[k] = fmaxf(longest[k], dx * dx + dy * dy);
            }
        }
        float all = fmaxf(fmaxf(longest[0], longest[1]), fmaxf(longest[2], longest[3]));
        for (int step = 16; step > 0; step /= 2) {
            area += __shfl_xor_sync(~0u, area, step);
            all = fmaxf(all, __shfl_xor_sync(~0u, all, step));
        }
        if (lane == 0)
            sizes[i] = {area, sqrtf(all)};
        __syncwarp();
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "potatoes");
    int potatoes = p.small ? 80 : 148 * 1024, per_block = p.small ? PER_BLOCK / 16 : PER_BLOCK;
    if (p.small && per_block < WARPS)
        per_block = WARPS;
    size_t count = (size_t)potatoes * POINTS;
    std::vector<float> radii = random_floats(count, 2.5f, 4, 5);
    float *d_radii = device_copy_of(radii.data(), count);
    Size *d_sizes = device_array<Size>(potatoes);
    int blocks = (potatoes + per_block - 1) / per_block;
    pair_time(&p, [&] { measure<<<blocks, BLOCK>>>(d_radii, d_sizes, potatoes, per_block); });
    std::vector<Size> sizes = host_copy_of(d_sizes, potatoes);
    for (int i = 0; i < potatoes; i += p.small ? 1 : 151) {
        double x[POINTS], y[POINTS], area = 0, longest = 0;
        for (int k = 0; k < POINTS; k++) {
            double angle = 2 * 3.14159265358979323846 * k / POINTS, r = radii[(size_t)i * POINTS + k];
            x[k] = r * cos(angle);
            y[k] = r * sin(angle);
        }
        for (int k = 0; k < POINTS; k++) {
            int next = (k + 1) % POINTS;
            area += 0.5 * (x[k] * y[next] - y[k] * x[next]);
            for (int o = 0; o < k; o++)
                longest = std::max(longest, (x[k] - x[o]) * (x[k] - x[o]) + (y[k] - y[o]) * (y[k] - y[o]));
        }
        pair_near(&p, "area", i, area, sizes[i].area, 1e-4);
        pair_near(&p, "length", i, sqrt(longest), sizes[i].length, 1e-4);
    }
    return pair_end(&p);
}
