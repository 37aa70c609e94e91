// SPDX-License-Identifier: Apache-2.0
//
// Rule: function-inlining
// Change: the function for a corner's gradient is inlined.
// Why: it is called four times an octave, and takes fewer instructions than a call costs.
#include "../common.h"

enum { BLOCK = 256, OCTAVES = 6 };

#ifdef AFTER
#define PLACE __forceinline__
#else
#define PLACE __noinline__
#endif

static __host__ __device__ PLACE float gradient(int cx, int cy, float dx, float dy) {
    unsigned h = (unsigned)cx * 374761393u + (unsigned)cy * 668265263u;
    h = (h ^ h >> 13) * 1274126177u;
    float u = h & 1 ? dx : -dx, v = h & 2 ? dy : -dy;
    return h & 4 ? u + v : u - v;
}

static __host__ __device__ __forceinline__ float noise(float x, float y) {
    float fx = floorf(x), fy = floorf(y), dx = x - fx, dy = y - fy;
    int cx = (int)fx, cy = (int)fy;
    float u = dx * dx * (3 - 2 * dx), v = dy * dy * (3 - 2 * dy);
    float a = gradient(cx, cy, dx, dy), b = gradient(cx + 1, cy, dx - 1, dy);
    float c = gradient(cx, cy + 1, dx, dy - 1), d = gradient(cx + 1, cy + 1, dx - 1, dy - 1);
    float low = a + u * (b - a), high = c + u * (d - c);
    return low + v * (high - low);
}

static __host__ __device__ __forceinline__ float sum_of(float x, float y) {
    float sum = 0, size = 1;
#pragma unroll 1
    for (int o = 0; o < OCTAVES; o++) {
        sum += size * noise(x, y);
        x *= 2;
        y *= 2;
        size *= 0.5f;
    }
    return sum;
}

// A texture of gradient noise in several octaves.
__global__ void perlin(float *out, int width, float scale) {
    int x = blockIdx.x * BLOCK + threadIdx.x, y = blockIdx.y;
    out[(size_t)y * width + x] = sum_of(x * scale, y * scale);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "perlin");
    int width = p.small ? 512 : 4096, height = p.small ? 128 : 2048;
    const float scale = 1 / 64.0f;
    float *d_out = device_array<float>((size_t)width * height);
    pair_time(&p, [&] { perlin<<<dim3(width / BLOCK, height), BLOCK>>>(d_out, width, scale); });
    std::vector<float> out = host_copy_of(d_out, (size_t)width * height);
    for (int y = 0; y < height; y += 17)
        for (int x = 0; x < width; x += 19)
            pair_near(&p, "out", (size_t)y * width + x, sum_of(x * scale, y * scale), out[(size_t)y * width + x], 1e-4);
    return pair_end(&p);
}
