// SPDX-License-Identifier: Apache-2.0
//
// Rule: fast-math
// Change: the highlight's powf becomes __powf.
// Why: powf is exact to the last bits, for a colour of eight.
#include "../common.h"

enum { BLOCK = 256, LIGHTS = 6 };

struct Light {
    float x, y, z, colour;
};

__constant__ Light c_lights[LIGHTS];

static __host__ __device__ float highlight(float cosine, float shininess) {
#if defined(AFTER) && defined(__CUDA_ARCH__)
    return __powf(cosine, shininess);
#else
    return powf(cosine, shininess);
#endif
}

// Blinn-Phong shading of a buffer of normals: mirrored halfway vectors towards each light.
static __host__ __device__ float shade(float nx, float ny, float nz, float shininess, const Light *lights) {
    float sum = 0.05f;
    for (int k = 0; k < LIGHTS; k++) {
        float facing = nx * lights[k].x + ny * lights[k].y + nz * lights[k].z;
        if (facing < 0)
            facing = 0;
        sum += lights[k].colour * (0.5f * facing + highlight(facing, shininess));
    }
    return sum;
}

__global__ void phong(const float *nx, const float *ny, const float *nz, const float *shininess, float *out, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n)
        out[i] = shade(nx[i], ny[i], nz[i], shininess[i], c_lights);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "phong");
    int n = p.small ? 1 << 16 : 1 << 22;
    std::vector<float> nx = random_floats(n, -0.57f, 0.57f, 1), ny = random_floats(n, -0.57f, 0.57f, 2), nz(n),
                       shininess = random_floats(n, 4, 60, 3);
    for (int i = 0; i < n; i++)
        nz[i] = sqrtf(1 - nx[i] * nx[i] - ny[i] * ny[i]);
    Light lights[LIGHTS];
    std::vector<float> angle = random_floats(LIGHTS, 0, 6.28f, 4);
    for (int k = 0; k < LIGHTS; k++)
        lights[k] = {0.6f * cosf(angle[k]), 0.6f * sinf(angle[k]), 0.8f, 0.15f};
    CUDA_CHECK(cudaMemcpyToSymbol(c_lights, lights, sizeof lights));
    float *d_nx = device_copy_of(nx.data(), n), *d_ny = device_copy_of(ny.data(), n),
          *d_nz = device_copy_of(nz.data(), n), *d_shininess = device_copy_of(shininess.data(), n),
          *d_out = device_array<float>(n);
    pair_time(&p, [&] { phong<<<n / BLOCK, BLOCK>>>(d_nx, d_ny, d_nz, d_shininess, d_out, n); });
    std::vector<float> out = host_copy_of(d_out, n);
    for (int i = 0; i < n; i += 89)
        pair_near(&p, "out", i, shade(nx[i], ny[i], nz[i], shininess[i], lights), out[i], 1e-4);
    return pair_end(&p);
}
