// SPDX-License-Identifier: Apache-2.0
//
// Rule: occupancy-up
// Change: the stacks in shared memory have 20 places for each thread instead of 96.
// Why: 48 KiB for 128 threads leave room for four CTAs in an SM, and each step waits for a node.
#include "../common.h"

enum { BLOCK = 128, LEVELS = 15, NODES = (1 << LEVELS) - 1 };
#ifdef AFTER
enum { DEPTH = 20 };
#else
enum { DEPTH = 96 };
#endif

// How many spheres of a binary tree of bounding spheres each ray meets.
__global__ void shadow_rays(const float4 *spheres, const float2 *rays, int *met, int count) {
    __shared__ int stack[DEPTH][BLOCK];
    int i = blockIdx.x * BLOCK + threadIdx.x, t = threadIdx.x, top = 0, hits = 0;
    float2 ray = rays[i];
    stack[top++][t] = 0;
    while (top > 0) {
        int node = stack[--top][t];
        float4 s = spheres[node];
        float dx = s.x - ray.x, dy = s.y - ray.y;
        if (dx * dx + dy * dy > s.w * s.w)
            continue;
        if (2 * node + 1 >= NODES) {
            hits++;
        } else {
            stack[top++][t] = 2 * node + 1;
            stack[top++][t] = 2 * node + 2;
        }
    }
    met[i] = hits;
}

static int hits_of(const std::vector<float4> &spheres, float2 ray, int node) {
    float dx = spheres[node].x - ray.x, dy = spheres[node].y - ray.y, w = spheres[node].w;
    if (dx * dx + dy * dy > w * w)
        return 0;
    if (2 * node + 1 >= NODES)
        return 1;
    return hits_of(spheres, ray, 2 * node + 1) + hits_of(spheres, ray, 2 * node + 2);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "shadow_rays");
    int count = p.small ? 1 << 13 : 1 << 20;
    std::vector<float4> spheres(NODES);
    spheres[0] = {0, 0, 0, 1};
    for (int n = 1; n < NODES; n++) {
        const float4 &up = spheres[(n - 1) / 2];
        float along = up.w * (n % 2 ? 0.5f : -0.5f);
        bool odd = __builtin_clz(n + 1) % 2;
        spheres[n] = {up.x + (odd ? along : 0), up.y + (odd ? 0 : along), 0, 0.78f * up.w};
    }
    std::vector<float> at = random_floats(2 * (size_t)count, -0.7f, 0.7f, 1);
    float4 *d_spheres = device_copy_of(spheres.data(), NODES);
    float2 *d_rays = device_copy_of((const float2 *)at.data(), count);
    int *d_met = device_array<int>(count);
    pair_time(&p, [&] { shadow_rays<<<count / BLOCK, BLOCK>>>(d_spheres, d_rays, d_met, count); });
    std::vector<int> met = host_copy_of(d_met, count);
    for (int i = 0; i < count; i += 997)
        pair_near(&p, "met", i, hits_of(spheres, {at[2 * i], at[2 * i + 1]}, 0), met[i], 0.05);
    return pair_end(&p);
}
