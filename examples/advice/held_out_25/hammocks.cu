// SPDX-License-Identifier: Apache-2.0
//
// Rule: divergence
// Change: hammocks that rise to the left are mirrored before and after one call, instead of having a call of their own.
// Why: the equation of the hanging rope is solved by iteration in both branches, and nearly all warps take both.
#include "../common.h"

enum { BLOCK = 256 };

struct Curve {
    float lowest;              // metres from the lower hook
    float at_lower, at_upper;  // pull at the hooks, in newtons
};

// The curve of a rope from a hook to another one that is `span` away and `rise` higher.
static __device__ Curve hang(float span, float rise, float length, float weight) {
    float ratio = sqrtf(length * length - rise * rise) / span;
    float u = sqrtf(6 * (ratio - 1));  // sinh(u) / u = ratio; this one is above the solution
    for (int i = 0; i < 12; i++) {
        float e = expf(u), inverse = 1 / e;
        float change = (0.5f * (e - inverse) - ratio * u) / (0.5f * (e + inverse) - ratio);
        u -= change;
        if (fabsf(change) < 1e-5f * u)
            break;
    }
    float a = span / (2 * u), middle = atanhf(rise / length);
    float level = weight / length * a;  // the pull at the lowest point
    return {0.5f * span - a * middle, level * coshf(u - middle), level * coshf(u + middle)};
}

// Where each hammock is lowest, seen from the left, and how it pulls at its two hooks.
__global__ void hammock_pulls(const float2 *hooks, const float *spans, const float *lengths, float weight,
                              float *lowest, float2 *pulls, int count) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= count)
        return;
    float2 height = hooks[i];
    float span = spans[i], length = lengths[i];
#ifdef AFTER
    bool mirrored = height.x > height.y;
    Curve c = hang(span, fabsf(height.y - height.x), length, weight);
    lowest[i] = mirrored ? span - c.lowest : c.lowest;
    pulls[i] = mirrored ? make_float2(c.at_upper, c.at_lower) : make_float2(c.at_lower, c.at_upper);
#else
    if (height.x > height.y) {
        Curve c = hang(span, height.x - height.y, length, weight);
        lowest[i] = span - c.lowest;
        pulls[i] = make_float2(c.at_upper, c.at_lower);
    } else {
        Curve c = hang(span, height.y - height.x, length, weight);
        lowest[i] = c.lowest;
        pulls[i] = make_float2(c.at_lower, c.at_upper);
    }
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "hammocks");
    int count = p.small ? 2000 : 6 << 20;
    float weight = 750;
    std::vector<float2> hooks(count);
    std::vector<float> spans(count), lengths(count);
    unsigned seed = 3;
    for (int i = 0; i < count; i++) {
        hooks[i] = make_float2(1.5f + lcg_next(&seed, 1000) * 0.001f, 1.5f + lcg_next(&seed, 1000) * 0.001f);
        spans[i] = 2.5f + lcg_next(&seed, 1000) * 0.0015f;
        float rise = hooks[i].y - hooks[i].x;
        lengths[i] = sqrtf(spans[i] * spans[i] + rise * rise) * (1.06f + lcg_next(&seed, 1000) * 0.0003f);
    }
    float2 *d_hooks = device_copy_of(hooks.data(), count), *d_pulls = device_array<float2>(count);
    float *d_spans = device_copy_of(spans.data(), count), *d_lengths = device_copy_of(lengths.data(), count),
          *d_lowest = device_array<float>(count);
    int blocks = (count + BLOCK - 1) / BLOCK;
    pair_time(&p, [&] {
        hammock_pulls<<<blocks, BLOCK>>>(d_hooks, d_spans, d_lengths, weight, d_lowest, d_pulls, count);
    });
    std::vector<float> lowest = host_copy_of(d_lowest, count);
    std::vector<float2> pulls = host_copy_of(d_pulls, count);
    for (int i = 0; i < count; i += p.small ? 1 : 997) {
        double span = spans[i], length = lengths[i], rise = (double)hooks[i].y - hooks[i].x;
        double ratio = sqrt(length * length - rise * rise) / span, low = 1e-3, high = 5;
        for (int k = 0; k < 60; k++) {
            double u = 0.5 * (low + high);
            (sinh(u) / u > ratio ? high : low) = u;
        }
        double a = span / (2 * low), middle = atanh(rise / length);
        pair_near(&p, "lowest", i, 0.5 * span - a * middle, lowest[i], 2e-4);
        pair_near(&p, "pull left", i, weight / length * a * cosh(low - middle), pulls[i].x, 2e-4);
        pair_near(&p, "pull right", i, weight / length * a * cosh(low + middle), pulls[i].y, 2e-4);
    }
    return pair_end(&p);
}
