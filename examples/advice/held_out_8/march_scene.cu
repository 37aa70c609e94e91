// SPDX-License-Identifier: Apache-2.0
//
// Rule: function-inlining
// Change: the distance functions of the scene are inlined.
// Why: every step along a ray calls five functions of some instructions each.
#include "../common.h"

enum { BLOCK = 128, WIDTH = 1024, STEPS = 64 };
#ifdef AFTER
#define CALLED __forceinline__
#else
#define CALLED __noinline__
#endif

__host__ __device__ CALLED float sphere(float x, float y, float z, float r) { return sqrtf(x * x + y * y + z * z) - r; }
__host__ __device__ CALLED float slab(float y, float height) { return fabsf(y + height) - 0.1f; }
__host__ __device__ CALLED float joined(float a, float b) { return a < b ? a : b; }
__host__ __device__ CALLED float repeated(float x, float period) { return x - period * floorf(x / period + 0.5f); }

__host__ __device__ CALLED float scene(float x, float y, float z) {
    return joined(sphere(repeated(x, 4), y, repeated(z, 4), 1), slab(y, 1.5f));
}

// How far the ray through a pixel goes until it meets something.
__host__ __device__ static inline float march(int px, int py, int height) {
    float dx = (px - WIDTH / 2) / (float)WIDTH, dy = (py - height / 2) / (float)WIDTH, dz = 1;
    float by = 1 / sqrtf(dx * dx + dy * dy + dz * dz), far = 0;
    dx *= by, dy *= by, dz *= by;
    for (int s = 0; s < STEPS; s++)
        far += 0.9f * scene(dx * far + 2, dy * far + 0.3f, dz * far);
    return far;
}

__global__ void march_scene(float *out, int height) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    out[i] = march(i % WIDTH, i / WIDTH, height);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "march_scene");
    int height = p.small ? 4 : 1024, n = WIDTH * height;
    float *d_out = device_array<float>(n);
    pair_time(&p, [&] { march_scene<<<n / BLOCK, BLOCK>>>(d_out, height); });
    std::vector<float> out = host_copy_of(d_out, n);
    // Rays that graze a sphere go another way for the last bit of a root: most must agree.
    int checked = 0, near = 0;
    for (int i = 0; i < n; i += 97, checked++)
        near += fabs(out[i] - march(i % WIDTH, i / WIDTH, height)) < 0.01 * out[i];
    pair_near(&p, "near", 0, 1, near / (double)checked, 0.02);
    return pair_end(&p);
}
