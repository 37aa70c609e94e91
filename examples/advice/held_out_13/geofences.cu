// SPDX-License-Identifier: Apache-2.0
//
// Rule: occupancy-up
// Change: stacks in shared memory have 17 entries instead of 96.
// Why: searches wait for one load after another, and large stacks let only a quarter of the warps be resident.
#include "../common.h"

enum { BLOCK = 128 };

#ifdef AFTER
enum { STACK = 17 };  // one more than the levels below the root
#else
enum { STACK = 96 };
#endif

static __host__ __device__ inline bool inside(float4 box, float2 at) {
    return at.x >= box.x && at.y >= box.y && at.x <= box.z && at.y <= box.w;
}

// Counts the fenced areas that each vehicle is in. Children of box b are 2b and 2b + 1, fences the last `fences` boxes.
__global__ void geofences(const float4 *boxes, const float2 *vehicles, int *counts, int fences) {
    __shared__ int stacks[STACK][BLOCK];
    int i = blockIdx.x * BLOCK + threadIdx.x, top = 0, count = 0;
    float2 at = vehicles[i];
    stacks[top++][threadIdx.x] = 1;
    while (top > 0) {
        int box = stacks[--top][threadIdx.x];
        if (!inside(boxes[box], at))
            continue;
        if (box >= fences) {
            count++;
        } else {
            stacks[top++][threadIdx.x] = 2 * box + 1;
            stacks[top++][threadIdx.x] = 2 * box;
        }
    }
    counts[i] = count;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "geofences");
    int side = p.small ? 16 : 256, fences = side * side, vehicles = p.small ? 1 << 9 : 1 << 18;
    std::vector<float> places = random_floats((size_t)fences * 4, 0, 1, 1),
                       positions = random_floats((size_t)vehicles * 2, 0, 1, 2);
    std::vector<float4> boxes(2 * fences);
    for (int f = 0; f < fences; f++) {
        // Bits of f take turns: fences with near numbers are near each other.
        int x = 0, y = 0;
        for (int bit = 0; bit < 8; bit++) {
            x |= (f >> (2 * bit) & 1) << bit;
            y |= (f >> (2 * bit + 1) & 1) << bit;
        }
        const float *r = &places[4 * f];
        float left = (x + r[0]) / side, low = (y + r[1]) / side;
        boxes[fences + f] = {left, low, left + 1.5f * r[2] / side, low + 1.5f * r[3] / side};
    }
    for (int b = fences - 1; b > 0; b--) {
        float4 one = boxes[2 * b], other = boxes[2 * b + 1];
        boxes[b] = {std::min(one.x, other.x), std::min(one.y, other.y), std::max(one.z, other.z),
                    std::max(one.w, other.w)};
    }
    float4 *d_boxes = device_copy_of(boxes.data(), boxes.size());
    float2 *d_vehicles = (float2 *)device_copy_of(positions.data(), positions.size());
    int *d_counts = device_array<int>(vehicles);
    pair_time(&p, [&] { geofences<<<vehicles / BLOCK, BLOCK>>>(d_boxes, d_vehicles, d_counts, fences); });
    std::vector<int> counts = host_copy_of(d_counts, vehicles);
    for (int i = 0; i < vehicles; i += 4099) {
        int count = 0;
        for (int f = 0; f < fences; f++)
            count += inside(boxes[fences + f], {positions[2 * i], positions[2 * i + 1]});
        pair_near(&p, "count", i, count, counts[i], 0);
    }
    return pair_end(&p);
}
