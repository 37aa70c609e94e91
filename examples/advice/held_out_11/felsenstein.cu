// SPDX-License-Identifier: Apache-2.0
//
// Rule: code-reordering
// Also: loop-unrolling
// Change: what is known of the next species is loaded before the current one is worked in.
// Why: each turn begins with a load of sixteen bytes and waits for it, with a long computation to follow.
#include "../common.h"

enum { BLOCK = 128, SPECIES = 48 };

// How likely the four bases are after a branch of a tree (Jukes and Cantor), times what the other branch says.
static __host__ __device__ inline float4 joined(float4 now, float4 other, float stay) {
    float leave = (1.0f - stay) * (1.0f / 3.0f), sum = now.x + now.y + now.z + now.w;
    float4 next = {(leave * sum + (stay - leave) * now.x) * (0.1f + other.x),
                   (leave * sum + (stay - leave) * now.y) * (0.1f + other.y),
                   (leave * sum + (stay - leave) * now.z) * (0.1f + other.z),
                   (leave * sum + (stay - leave) * now.w) * (0.1f + other.w)};
    float scale = 1.0f / (next.x + next.y + next.z + next.w);
    return {next.x * scale, next.y * scale, next.z * scale, next.w * scale};
}

// Works in one species after the other at each site of an alignment.
__global__ void felsenstein(const float4 *tips, const float *stays, float4 *out, int sites) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float4 now = {0.25f, 0.25f, 0.25f, 0.25f};
#ifdef AFTER
    float4 next = tips[i];
#endif
#pragma unroll 1
    for (int s = 0; s < SPECIES; s++) {
#ifdef AFTER
        float4 tip = next;
        if (s + 1 < SPECIES)
            next = tips[(s + 1) * sites + i];
#else
        float4 tip = tips[s * sites + i];
#endif
        now = joined(now, tip, stays[s]);
    }
    out[i] = now;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "felsenstein");
    int sites = p.small ? 1 << 12 : 1 << 17;
    std::vector<float> tips = random_floats((size_t)sites * SPECIES * 4, 0, 1, 1),
                       stays = random_floats(SPECIES, 0.7f, 0.95f, 2);
    float4 *d_tips = (float4 *)device_copy_of(tips.data(), tips.size()), *d_out = device_array<float4>(sites);
    float *d_stays = device_copy_of(stays.data(), SPECIES);
    pair_time(&p, [&] { felsenstein<<<sites / BLOCK, BLOCK>>>(d_tips, d_stays, d_out, sites); });
    std::vector<float4> out = host_copy_of(d_out, sites);
    for (int i = 0; i < sites; i += 61) {
        float4 now = {0.25f, 0.25f, 0.25f, 0.25f};
        for (int s = 0; s < SPECIES; s++) {
            const float *tip = &tips[((size_t)s * sites + i) * 4];
            now = joined(now, {tip[0], tip[1], tip[2], tip[3]}, stays[s]);
        }
        pair_near(&p, "a", i, now.x, out[i].x, 1e-3);
        pair_near(&p, "t", i, now.w, out[i].w, 1e-3);
    }
    return pair_end(&p);
}
