// SPDX-License-Identifier: Apache-2.0
//
// Rule: atomic-contention
// Change: the lanes of a warp add up their energies with shuffles, and one of them adds the sum to the total.
// Why: all threads add to one word; the L2 does one addition after the other, and compilers leave those of floats alone.
#include "common.h"

enum { BLOCK = 256, WARP = 32 };

__global__ void kinetic(const float4 *velocity, float *total, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float4 v = i < n ? velocity[i] : make_float4(0, 0, 0, 0);
    float energy = 0.5f * v.w * (v.x * v.x + v.y * v.y + v.z * v.z);
#ifdef AFTER
    for (int d = WARP / 2; d > 0; d /= 2)
        energy += __shfl_down_sync(0xffffffffu, energy, d);
    if (threadIdx.x % WARP == 0)
        atomicAdd(total, energy);
#else
    atomicAdd(total, energy);
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "kinetic");
    int n = p.small ? 1 << 18 : 1 << 20;
    std::vector<float> velocity = random_floats(4 * (size_t)n, 0.5f, 1, 1);
    float4 *d_velocity = (float4 *)device_copy_of(velocity.data(), velocity.size());
    float *d_total = device_array<float>(1);
    pair_time(&p, [&] {
        CUDA_CHECK(cudaMemsetAsync(d_total, 0, sizeof(float)));
        kinetic<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_velocity, d_total, n);
    });
    double expected = 0, got = host_copy_of(d_total, 1)[0];
    for (int i = 0; i < n; i++) {
        const float *v = &velocity[4 * (size_t)i];
        expected += 0.5 * v[3] * ((double)v[0] * v[0] + (double)v[1] * v[1] + (double)v[2] * v[2]);
    }
    pair_near(&p, "energy", 0, 1, got / expected, 1e-2);
    return pair_end(&p);
}
