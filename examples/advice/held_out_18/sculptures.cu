// SPDX-License-Identifier: Apache-2.0
//
// Rule: atomic-contention
// Change: the sums are reduced within the block; one thread per sum adds them to the totals.
// Why: every thread of the grid adds to the same four numbers, one after the other in the L2 cache.
#include "../common.h"

enum { BLOCK = 256, SUMS = 4, AIR = 9000 };

__device__ float bronze(unsigned short density) {
    return density > AIR ? density * (1.0f / 65536) : 0;
}

// Mass and centre of mass of a cast sculpture from its tomogram, to place its plinth. A thread takes four columns of
// voxels, a block a row of columns.
__global__ void weigh(const ushort4 *voxels, float *sums, int depth) {
    int x = threadIdx.x, y = blockIdx.x;
    size_t slice = (size_t)gridDim.x * BLOCK;
    const ushort4 *column = voxels + (size_t)y * BLOCK + x;
    float mass = 0, along = 0, up = 0;
#pragma unroll 4
    for (int z = 0; z < depth; z++) {
        ushort4 d = column[z * slice];
        float a = bronze(d.x), b = bronze(d.y), c = bronze(d.z), e = bronze(d.w);
        float four = (a + b) + (c + e);
        mass += four;
        along += b + 2 * c + 3 * e;
        up += z * four;
    }
    along = (along + 4 * x * mass) / (4 * BLOCK);
    up /= depth;
    float across = mass * y / gridDim.x;
#ifdef AFTER
    __shared__ float parts[SUMS][BLOCK / 32];
    float mine[SUMS] = {mass, along, across, up};
    for (int k = 0; k < SUMS; k++) {
        for (int gap = 16; gap; gap >>= 1)
            mine[k] += __shfl_xor_sync(~0u, mine[k], gap);
        if (threadIdx.x % 32 == 0)
            parts[k][threadIdx.x / 32] = mine[k];
    }
    __syncthreads();
    if (threadIdx.x < SUMS) {
        float sum = 0;
        for (int w = 0; w < BLOCK / 32; w++)
            sum += parts[threadIdx.x][w];
        atomicAdd(&sums[threadIdx.x], sum);
    }
#else
    atomicAdd(&sums[0], mass);
    atomicAdd(&sums[1], along);
    atomicAdd(&sums[2], across);
    atomicAdd(&sums[3], up);
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "sculptures");
    int rows = p.small ? 2 : 264, depth = p.small ? 16 : 256, width = 4 * BLOCK;
    size_t n = (size_t)width * rows * depth;
    std::vector<unsigned short> voxels(n);
    unsigned seed = 1;
    for (size_t i = 0; i < n; i++)
        voxels[i] = (unsigned short)lcg_next(&seed, 1 << 16);
    ushort4 *d_voxels = (ushort4 *)device_copy_of(voxels.data(), n);
    float *d_sums = device_array<float>(SUMS);
    pair_time(&p, [&] {
        CUDA_CHECK(cudaMemsetAsync(d_sums, 0, SUMS * sizeof(float)));
        weigh<<<rows, BLOCK>>>(d_voxels, d_sums, depth);
    });
    std::vector<float> sums = host_copy_of(d_sums, SUMS);
    double expected[SUMS] = {0, 0, 0, 0};
    for (size_t i = 0; i < n; i++) {
        double mass = voxels[i] > AIR ? voxels[i] / 65536.0 : 0;
        expected[0] += mass;
        expected[1] += mass * (i % width) / width;
        expected[2] += mass * (i / width % rows) / rows;
        expected[3] += mass * (i / width / rows) / depth;
    }
    for (int k = 0; k < SUMS; k++)
        pair_near(&p, "sum", k, expected[k], sums[k], 1e-3);
    return pair_end(&p);
}
