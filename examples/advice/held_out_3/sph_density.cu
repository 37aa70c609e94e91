// SPDX-License-Identifier: Apache-2.0
//
// Rule: wrong-type
// Change: 0.5, 1.0 and 1.5 are 0.5f, 1.0f and 1.5f.
// Why: the kernel function is computed in double precision, and each pair converts there and back.
#include "../common.h"

enum { BLOCK = 128, NEAR = 64 };

#ifdef AFTER
#define REAL(x) x##f
#else
#define REAL(x) x
#endif

static __device__ float smooth(float q) {
    if (q >= REAL(2.0))
        return 0;
    if (q >= REAL(1.0))
        return REAL(0.25) * (2 - q) * (2 - q) * (2 - q);
    return REAL(1.0) - REAL(1.5) * q * q + REAL(0.75) * q * q * q;
}

__global__ void sph_density(const float4 *body, const int *list, float *density, float inverse, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float4 own = body[i];
    float sum = 0;
    for (int k = 0; k < NEAR; k++) {
        float4 other = body[list[k * n + i]];
        float dx = own.x - other.x, dy = own.y - other.y, dz = own.z - other.z;
        sum += other.w * smooth(sqrtf(dx * dx + dy * dy + dz * dz) * inverse);
    }
    density[i] = sum;
}

// Density of a fluid of particles with the cubic spline as kernel function.
int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "sph_density");
    int n = p.small ? 1 << 13 : 1 << 18;
    std::vector<float> at = random_floats(4 * (size_t)n, 0, 1, 1);
    std::vector<float4> body(n);
    std::vector<int> list((size_t)NEAR * n);
    unsigned seed = 5;
    for (int i = 0; i < n; i++)
        body[i] = make_float4(at[4 * i], at[4 * i + 1], at[4 * i + 2], at[4 * i + 3]);
    for (size_t k = 0; k < list.size(); k++)
        list[k] = (int)((k % n + 1 + lcg_next(&seed, 512)) % n);
    float4 *d_body = device_copy_of(body.data(), n);
    int *d_list = device_copy_of(list.data(), list.size());
    float *d_density = device_array<float>(n);
    const float inverse = 2.5f;
    pair_time(&p, [&] { sph_density<<<n / BLOCK, BLOCK>>>(d_body, d_list, d_density, inverse, n); });
    std::vector<float> density = host_copy_of(d_density, n);
    for (int i = 0; i < n; i += 211) {
        double sum = 0;
        for (int k = 0; k < NEAR; k++) {
            float4 a = body[i], b = body[list[(size_t)k * n + i]];
            double dx = a.x - b.x, dy = a.y - b.y, dz = a.z - b.z, q = sqrt(dx * dx + dy * dy + dz * dz) * inverse;
            sum += b.w * (q >= 2   ? 0
                          : q >= 1 ? 0.25 * (2 - q) * (2 - q) * (2 - q)
                                   : 1 - 1.5 * q * q + 0.75 * q * q * q);
        }
        pair_near(&p, "density", i, sum, density[i], 1e-4);
    }
    return pair_end(&p);
}
