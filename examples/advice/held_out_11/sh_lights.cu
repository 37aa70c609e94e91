// SPDX-License-Identifier: Apache-2.0
//
// Rule: memory-transactions
// Change: the coefficients of the light probes lie in constant memory.
// Why: all threads load the same coefficients from global memory.
#include "../common.h"

enum { BLOCK = 128, PROBES = 4, TERMS = 9, COLOURS = 3, COEFFICIENTS = PROBES * TERMS * COLOURS };

__constant__ float fixed_coefficients[COEFFICIENTS];

// Light on each point of a scene from its normal: spherical harmonics of four probes, mixed by the point's weights.
__global__ void sh_lights(const float *normals, const float *weights, const float *coefficients, float *out, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float x = normals[i], y = normals[n + i], z = normals[2 * n + i];
    float basis[TERMS] = {0.282095f,
                          0.488603f * y,
                          0.488603f * z,
                          0.488603f * x,
                          1.092548f * x * y,
                          1.092548f * y * z,
                          0.315392f * (3.0f * z * z - 1.0f),
                          1.092548f * x * z,
                          0.546274f * (x * x - y * y)};
    float light[COLOURS] = {0, 0, 0};
    for (int probe = 0; probe < PROBES; probe++) {
        float weight = weights[probe * n + i];
#ifdef AFTER
        const float *own = fixed_coefficients + probe * TERMS * COLOURS;
#else
        const float *own = coefficients + probe * TERMS * COLOURS;
#endif
        for (int c = 0; c < COLOURS; c++) {
            float sum = 0;
            for (int k = 0; k < TERMS; k++)
                sum += own[c * TERMS + k] * basis[k];
            light[c] += weight * fmaxf(sum, 0.0f);
        }
    }
    for (int c = 0; c < COLOURS; c++)
        out[c * n + i] = light[c];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "sh_lights");
    int n = p.small ? 1 << 13 : 1 << 21;
    std::vector<float> normals = random_floats((size_t)n * 3, -0.6f, 0.6f, 1),
                       weights = random_floats((size_t)n * PROBES, 0, 1, 2),
                       coefficients = random_floats(COEFFICIENTS, -1, 1, 3);
    float *d_normals = device_copy_of(normals.data(), normals.size()),
          *d_weights = device_copy_of(weights.data(), weights.size()),
          *d_coefficients = device_copy_of(coefficients.data(), COEFFICIENTS),
          *d_out = device_array<float>((size_t)n * COLOURS);
    CUDA_CHECK(cudaMemcpyToSymbol(fixed_coefficients, coefficients.data(), sizeof fixed_coefficients));
    pair_time(&p, [&] { sh_lights<<<n / BLOCK, BLOCK>>>(d_normals, d_weights, d_coefficients, d_out, n); });
    std::vector<float> out = host_copy_of(d_out, (size_t)n * COLOURS);
    for (int i = 0; i < n; i += 401) {
        double x = normals[i], y = normals[n + i], z = normals[2 * (size_t)n + i], light = 0;
        double basis[TERMS] = {0.282095,
                               0.488603 * y,
                               0.488603 * z,
                               0.488603 * x,
                               1.092548 * x * y,
                               1.092548 * y * z,
                               0.315392 * (3 * z * z - 1),
                               1.092548 * x * z,
                               0.546274 * (x * x - y * y)};
        for (int probe = 0; probe < PROBES; probe++) {
            double sum = 0;
            for (int k = 0; k < TERMS; k++)
                sum += coefficients[(probe * COLOURS + 1) * TERMS + k] * basis[k];
            light += weights[(size_t)probe * n + i] * std::max(sum, 0.0);
        }
        pair_near(&p, "green", i, light, out[(size_t)n + i], 1e-4);
    }
    return pair_end(&p);
}
