// SPDX-License-Identifier: Apache-2.0
//
// Rule: kernel-merge
// Change: slope, sunshine and melting are calculated by one kernel, not by three one after the other.
// Why: slopes and sunshine go through the memory only to reach the next kernel, for the same point.
#include "../common.h"

enum { SUNS = 6 };

struct Day {
    float3 suns[SUNS];  // directions towards the sun in the course of a day
};

struct Land {
    const float *height;
    int width, depth;
    float spacing;
};

__device__ float2 slope_at(const Land &land, int x, int y) {
    int left = max(x - 1, 0), right = min(x + 1, land.width - 1), up = max(y - 1, 0), down = min(y + 1, land.depth - 1);
    float east = land.height[y * land.width + right] - land.height[y * land.width + left];
    float south = land.height[down * land.width + x] - land.height[up * land.width + x];
    return make_float2(east / (2 * land.spacing), south / (2 * land.spacing));
}

__device__ float sunshine_on(float2 slope, const Day &day) {
    float shrink = rsqrtf(slope.x * slope.x + slope.y * slope.y + 1), sum = 0;
    for (int k = 0; k < SUNS; k++)
        sum += fmaxf(0.0f, shrink * (day.suns[k].z - slope.x * day.suns[k].x - slope.y * day.suns[k].y));
    return sum / SUNS;
}

__device__ float snow_after(float snow, float sunshine, float height) {
    float melted = sunshine * fmaxf(0.2f, 3.0f - 0.001f * height);
    return fmaxf(0.0f, snow - melted);
}

#ifdef AFTER
__global__ void melt_day(Land land, Day day, const float *before, float *snow) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, i = y * land.width + x;
    if (x < land.width)
        snow[i] = snow_after(before[i], sunshine_on(slope_at(land, x, y), day), land.height[i]);
}
#else
__global__ void find_slopes(Land land, float2 *slopes) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x < land.width)
        slopes[y * land.width + x] = slope_at(land, x, y);
}

__global__ void shine(const float2 *slopes, Day day, float *sunshine, int width) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * width + x;
    if (x < width)
        sunshine[i] = sunshine_on(slopes[i], day);
}

__global__ void melt(Land land, const float *sunshine, const float *before, float *snow) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * land.width + x;
    if (x < land.width)
        snow[i] = snow_after(before[i], sunshine[i], land.height[i]);
}
#endif

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "fjords");
    int width = p.small ? 150 : 4200, depth = p.small ? 10 : 2100, n = width * depth;
    std::vector<float> height = random_floats(n, 0, 20, 1), before = random_floats(n, 0, 4, 2);
    for (int i = 0; i < n; i++)
        height[i] += abs(i % width * 3 % 2000 - 1000) + (float)(i / width % 500);
    Day day;
    for (int k = 0; k < SUNS; k++) {
        float hour = 3.14159265f * (k + 0.5f) / SUNS;
        day.suns[k] = make_float3(cosf(hour), 0.6f * sinf(hour), 0.8f * sinf(hour));
    }
    Land land = {device_copy_of(height.data(), n), width, depth, 25.0f};
    float *d_before = device_copy_of(before.data(), n), *d_snow = device_array<float>(n);
    dim3 block(256), grid((width + 255) / 256, depth);
#ifdef AFTER
    pair_time(&p, [&] { melt_day<<<grid, block>>>(land, day, d_before, d_snow); });
#else
    float2 *d_slopes = device_array<float2>(n);
    float *d_sunshine = device_array<float>(n);
    pair_time(&p, [&] {
        find_slopes<<<grid, block>>>(land, d_slopes);
        shine<<<grid, block>>>(d_slopes, day, d_sunshine, width);
        melt<<<grid, block>>>(land, d_sunshine, d_before, d_snow);
    });
#endif
    std::vector<float> snow = host_copy_of(d_snow, n);
    for (int i = 0; i < n; i += p.small ? 1 : 37) {
        int x = i % width, y = i / width;
        double east = (double)height[i + (x + 1 < width)] - height[i - (x > 0)], sum = 0;
        double south = (double)height[i + (y + 1 < depth ? width : 0)] - height[i - (y > 0 ? width : 0)];
        double sx = east / 50, sy = south / 50;
        for (float3 sun : day.suns)
            sum += std::max(0.0, (sun.z - sx * sun.x - sy * sun.y) / sqrt(sx * sx + sy * sy + 1)) / SUNS;
        double expected = std::max(0.0, before[i] - sum * std::max(0.2, 3 - 0.001 * height[i]));
        pair_near(&p, "snow", i, expected, snow[i], 1e-4);
    }
    return pair_end(&p);
}
