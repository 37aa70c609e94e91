// SPDX-License-Identifier: Apache-2.0
//
// Rule: sm-balance
// Also: tail-effect
// Change: a block takes the next group of rays when it is done with one.
// Why: rays are in order of their energy, and blocks with those of high energy have many times as much to do.
#include "../common.h"

enum { BLOCK = 128, BLOCKS = 528 };

static __host__ __device__ inline float left_of(float energy, float air) {
    float depth = 0;
    for (int s = 0; s < 4096 && energy > 1.0f; s++) {
        float lost = 0.05f + 0.01f * energy * air;
        energy -= lost;
        depth += lost / (1.0f + depth);
    }
    return depth;
}

// How deep cosmic rays come through the air; a group of them has 128.
__global__ void cosmic_rays(const float *energies, float *depths, int *next, int groups) {
#ifdef AFTER
    __shared__ int group;
    for (;;) {
        if (threadIdx.x == 0)
            group = atomicAdd(next, 1);
        __syncthreads();
        int i = group * BLOCK + threadIdx.x;
        if (group >= groups)
            break;
        depths[i] = left_of(energies[i], 0.3f);
        __syncthreads();
    }
#else
    int each = groups / BLOCKS;
    for (int k = 0; k < each; k++) {
        int i = (blockIdx.x * each + k) * BLOCK + threadIdx.x;
        depths[i] = left_of(energies[i], 0.3f);
    }
    (void)next;
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "cosmic_rays");
    int groups = BLOCKS * (p.small ? 2 : 16), n = groups * BLOCK;
    std::vector<float> energies = random_floats(n, 0, 2, 1);
    for (int i = 0; i < n; i++)
        energies[i] += p.small ? 1.5f + 8.0f * i / n : 2.0f + 60.0f * ((float)i / n) * ((float)i / n);
    float *d_energies = device_copy_of(energies.data(), n), *d_depths = device_array<float>(n);
    int *d_next = device_array<int>(1);
    pair_time(&p, [&] {
        CUDA_CHECK(cudaMemsetAsync(d_next, 0, sizeof *d_next));
        cosmic_rays<<<BLOCKS, BLOCK>>>(d_energies, d_depths, d_next, groups);
    });
    std::vector<float> depths = host_copy_of(d_depths, n);
    for (int i = 0; i < n; i += 811)
        pair_near(&p, "depth", i, left_of(energies[i], 0.3f), depths[i], 1e-2);
    return pair_end(&p);
}
