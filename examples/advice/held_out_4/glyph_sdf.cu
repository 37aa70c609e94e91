// SPDX-License-Identifier: Apache-2.0
//
// Rule: tail-effect
// Also: block-increase
// Change: CTAs of 128 threads instead of 1024, and eight times as many.
// Why: 288 CTAs of 1024 threads are one wave of 264 and a second one of 24.
#include "../common.h"

#ifdef AFTER
enum { BLOCK = 128 };
#else
enum { BLOCK = 1024 };
#endif
enum { SEGMENTS = 192, SIDE = 32 };

static __host__ __device__ float to_segment(float x, float y, float4 s) {
    float dx = s.z - s.x, dy = s.w - s.y, px = x - s.x, py = y - s.y;
    float along = fminf(fmaxf((px * dx + py * dy) * (1 / (dx * dx + dy * dy)), 0), 1);
    float ex = px - along * dx, ey = py - along * dy;
    return ex * ex + ey * ey;
}

// Distance fields of glyphs of 32 x 32 pixels for a font atlas: each pixel's distance to the nearest segment of the
// outline.
__global__ void glyph_sdf(const float4 *outlines, float *out) {
    __shared__ float4 segments[SEGMENTS];
    int pixel = blockIdx.x * BLOCK + threadIdx.x, glyph = pixel / (SIDE * SIDE);
    for (int s = threadIdx.x; s < SEGMENTS; s += BLOCK)
        segments[s] = outlines[glyph * SEGMENTS + s];
    __syncthreads();
    float x = (pixel % SIDE + 0.5f) / SIDE, y = (pixel / SIDE % SIDE + 0.5f) / SIDE, best = 1e30f;
    for (int s = 0; s < SEGMENTS; s++)
        best = fminf(best, to_segment(x, y, segments[s]));
    out[pixel] = sqrtf(best);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "glyph_sdf");
    int glyphs = p.small ? 24 : 288, pixels = glyphs * SIDE * SIDE;
    std::vector<float> outlines = random_floats((size_t)4 * glyphs * SEGMENTS, 0, 1, 1);
    float *d_outlines = device_copy_of(outlines.data(), outlines.size()), *d_out = device_array<float>(pixels);
    pair_time(&p, [&] { glyph_sdf<<<pixels / BLOCK, BLOCK>>>((const float4 *)d_outlines, d_out); });
    std::vector<float> out = host_copy_of(d_out, pixels);
    for (int i = 0; i < pixels; i += 61) {
        float best = 1e30f;
        for (int s = 0; s < SEGMENTS; s++)
            best = std::min(best, to_segment((i % SIDE + 0.5f) / SIDE, (i / SIDE % SIDE + 0.5f) / SIDE,
                                             ((const float4 *)outlines.data())[i / (SIDE * SIDE) * SEGMENTS + s]));
        pair_near(&p, "distance", i, sqrt(best), out[i], 1e-4);
    }
    return pair_end(&p);
}
