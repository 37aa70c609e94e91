// SPDX-License-Identifier: Apache-2.0
//
// Rule: function-inlining
// Change: the functions that fold a point over a crease and measure its way are inlined.
// Why: each is a handful of instructions, called for every crease, and gets its values through fixed registers.
#include "../common.h"

#ifdef AFTER
#define FOLD __forceinline__
#else
#define FOLD __noinline__
#endif

enum { BLOCK = 128, MOST = 256 };

__constant__ float4 creases[MOST];  // x y: the normal, z: the distance from the corner, w: how thick the paper is there

// On which side of a crease a point lies, and how far away.
__host__ __device__ FOLD float side_of(float2 point, float4 crease) {
    return point.x * crease.x + point.y * crease.y - crease.z;
}

// The point after folding: what lies beyond the crease is turned over it.
__host__ __device__ FOLD float2 folded(float2 point, float4 crease, float side) {
    float over = side > 0 ? 2 * side : 0;
    return make_float2(point.x - over * crease.x, point.y - over * crease.y);
}

// Where each point of a sheet lies when all creases are folded, and through how much paper a needle would go.
__global__ void fold(const float2 *sheet, float2 *model, float *thickness, int count, int folds) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= count)
        return;
    float2 point = sheet[i];
    float paper = 0;
    for (int f = 0; f < folds; f++) {
        float4 crease = creases[f];
        float side = side_of(point, crease);
        point = folded(point, crease, side);
        paper += side > 0 ? crease.w : 0;
    }
    model[i] = point;
    thickness[i] = paper;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "origami");
    int n = p.small ? 4096 : 132 * 2048 * 6, folds = p.small ? 12 : 60;
    std::vector<float> sheet = random_floats(2 * (size_t)n, -1, 1, 1), angle = random_floats(MOST, 0, 6.28f, 2),
                       away = random_floats(MOST, 0.1f, 0.9f, 3);
    std::vector<float4> crease(MOST);
    for (int f = 0; f < MOST; f++)
        crease[f] = make_float4(cosf(angle[f]), sinf(angle[f]), away[f], 0.25f + f % 3 * 0.25f);
    CUDA_CHECK(cudaMemcpyToSymbol(creases, crease.data(), MOST * sizeof(float4)));
    float2 *d_sheet = device_copy_of((const float2 *)sheet.data(), n), *d_model = device_array<float2>(n);
    float *d_thickness = device_array<float>(n);
    pair_time(&p, [&] { fold<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_sheet, d_model, d_thickness, n, folds); });
    std::vector<float2> model = host_copy_of(d_model, n);
    for (int i = 0; i < n; i += p.small ? 1 : 31) {
        float2 point = make_float2(sheet[2 * i], sheet[2 * i + 1]);
        for (int f = 0; f < folds; f++)
            point = folded(point, crease[f], side_of(point, crease[f]));
        pair_near(&p, "x", i, point.x, model[i].x, 1e-3);
        pair_near(&p, "y", i, point.y, model[i].y, 1e-3);
    }
    return pair_end(&p);
}
