// SPDX-License-Identifier: Apache-2.0
//
// Rule: function-inlining
// Change: the noise and what it calls are inlined.
// Why: each octave calls four small functions.
#include "../common.h"

enum { BLOCK = 256, OCTAVES = 8 };
#ifdef AFTER
#define CALLED __forceinline__
#else
#define CALLED __noinline__
#endif

__host__ __device__ CALLED unsigned mixed(unsigned x) {
    x ^= x >> 16, x *= 0x7feb352du, x ^= x >> 15;
    return x;
}
__host__ __device__ CALLED float corner(int x, int y) { return (mixed(x * 7919u + y * 104729u) & 0xffff) / 65536.0f; }
__host__ __device__ CALLED float between(float a, float b, float t) { return a + (b - a) * t * t * (3 - 2 * t); }

// Clouds: noise of eight sizes.
__host__ __device__ CALLED float clouds(float x, float y) {
    float sum = 0, weight = 0.5f;
    for (int o = 0; o < OCTAVES; o++, weight *= 0.5f, x *= 2, y *= 2) {
        int i = (int)floorf(x), j = (int)floorf(y);
        float u = x - i, v = y - j;
        sum += weight * between(between(corner(i, j), corner(i + 1, j), u), between(corner(i, j + 1), corner(i + 1, j + 1), u), v);
    }
    return sum;
}

__global__ void octaves(float *out, int width) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    out[i] = clouds(i % width * 0.0625f, i / width * 0.0625f);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "octaves");
    int width = 1024, n = width * (p.small ? 8 : 1024);
    float *d_out = device_array<float>(n);
    pair_time(&p, [&] { octaves<<<n / BLOCK, BLOCK>>>(d_out, width); });
    std::vector<float> out = host_copy_of(d_out, n);
    for (int i = 0; i < n; i += 1009)
        pair_near(&p, "cloud", i, clouds(i % width * 0.0625f, i / width * 0.0625f), out[i], 1e-3);
    return pair_end(&p);
}
