// SPDX-License-Identifier: Apache-2.0
//
// Rule: fast-math
// Change: cosf, sinf and sqrtf become __cosf, __sinf and x * rsqrtf(x).
// Why: the phase is brought to half a turn first, where the fast ones are exact enough for a plate of 256 levels.
#include "../common.h"

enum { POINTS = 128 };
__constant__ float4 scene[POINTS];  // where, in wavelengths, and how bright

static __device__ float length_of(float squared) {
#ifdef AFTER
    return squared * rsqrtf(squared);
#else
    return sqrtf(squared);
#endif
}

static __device__ float2 wave(float turns) {
    float angle = 6.283185307f * (turns - rintf(turns));
#ifdef AFTER
    return make_float2(__cosf(angle), __sinf(angle));
#else
    return make_float2(cosf(angle), sinf(angle));
#endif
}

// The interference of the light from the points of a scene with a slanted reference beam, on a plate.
__global__ void expose(float *plate, int width, float pitch, float slant) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width)
        return;
    float px = x * pitch, py = y * pitch;
    float2 field = wave(slant * px);
    for (int i = 0; i < POINTS; i++) {
        float4 from = scene[i];
        float dx = px - from.x, dy = py - from.y;
        float2 part = wave(length_of(dx * dx + dy * dy + from.z * from.z));
        field.x += from.w * part.x;
        field.y += from.w * part.y;
    }
    plate[y * width + x] = field.x * field.x + field.y * field.y;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "hologram");
    int width = p.small ? 64 : 1000, height = p.small ? 16 : 1000;
    float pitch = p.small ? 0.8f : 0.1f, slant = 0.25f;
    std::vector<float> x = random_floats(POINTS, 10, 90, 1), y = random_floats(POINTS, 10, 90, 2),
                       z = random_floats(POINTS, 40, 80, 3), w = random_floats(POINTS, 0.01f, 0.1f, 4);
    std::vector<float4> points(POINTS);
    for (int i = 0; i < POINTS; i++)
        points[i] = make_float4(x[i], y[i], z[i], w[i]);
    CUDA_CHECK(cudaMemcpyToSymbol(scene, points.data(), sizeof scene));
    float *d_plate = device_array<float>((size_t)width * height);
    dim3 block(32, 8), grid((width + 31) / 32, height / 8);
    pair_time(&p, [&] { expose<<<grid, block>>>(d_plate, width, pitch, slant); });
    std::vector<float> plate = host_copy_of(d_plate, (size_t)width * height);
    for (int i = 0; i < width * height; i += p.small ? 7 : 397) {
        double px = i % width * (double)pitch, py = i / width * (double)pitch, turn = 6.283185307179586;
        double re = cos(turn * slant * px), im = sin(turn * slant * px);
        for (int j = 0; j < POINTS; j++) {
            double dx = px - x[j], dy = py - y[j], r = sqrt(dx * dx + dy * dy + (double)z[j] * z[j]);
            re += w[j] * cos(turn * r);
            im += w[j] * sin(turn * r);
        }
        pair_near(&p, "light", i, re * re + im * im, plate[i], 2e-3);
    }
    return pair_end(&p);
}
