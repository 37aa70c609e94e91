// SPDX-License-Identifier: Apache-2.0
//
// Rule: occupancy-up
// Also: block-increase
// Also: warp-balance
// Change: blocks of 128 threads instead of 1024.
// Why: a block of 1024 stays until its longest ray is done, and only one or two fit on an SM.
#include "../common.h"

#ifdef AFTER
enum { BLOCK = 128 };
#else
enum { BLOCK = 1024 };
#endif

static __host__ __device__ float distance_to(float x, float y, float z) {
    float cx = x - floorf(x) - 0.5f, cz = z - floorf(z) - 0.5f;
    float ball = sqrtf(cx * cx + y * y + cz * cz) - 0.35f, ground = y + 0.4f;
    return fminf(ball, ground);
}

static __host__ __device__ int march(float u, float v, float *depth) {
    float norm = 1 / sqrtf(u * u + v * v + 1), dx = u * norm, dy = v * norm, dz = norm, t = 0;
    int steps = 0;
    for (; steps < 96 && t < 40; steps++) {
        float d = distance_to(0.5f + t * dx, 0.3f + t * dy, t * dz);
        if (d < 1e-3f)
            break;
        t += d;
    }
    *depth = t;
    return steps;
}

__global__ void sdf_march(float *depth, int width, int height) {
    int i = blockIdx.x * BLOCK + threadIdx.x, x = i % width, y = i / width;
    march((2.0f * x - width) / height, 1 - 2.0f * y / height, &depth[i]);
}

// Sphere tracing of balls on a plain.
int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "sdf_march");
    int width = p.small ? 256 : 2048, height = p.small ? 128 : 1024;
    float *d_depth = device_array<float>((size_t)width * height);
    pair_time(&p, [&] { sdf_march<<<width * height / BLOCK, BLOCK>>>(d_depth, width, height); });
    std::vector<float> depth = host_copy_of(d_depth, (size_t)width * height);
    int far = 0, compared = 0;
    for (int i = 0; i < width * height; i += 37, compared++) {
        float wanted;
        march((2.0f * (i % width) - width) / height, 1 - 2.0f * (i / width) / height, &wanted);
        far += fabsf(wanted - depth[i]) > 0.02f * (1 + wanted);
    }
    // Rays that graze an edge may hit or miss it.
    pair_near(&p, "part of depths that differ", 0, 0, (double)far / compared, 0.02);
    return pair_end(&p);
}
