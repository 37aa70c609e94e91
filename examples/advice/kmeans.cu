// SPDX-License-Identifier: Apache-2.0
//
// Rule: occupancy-up
// Change: shared memory is asked for as many clusters as there are, not for as many as the program could ever have.
// Why: 64 KiB per block leave three blocks of four warps to an SM, too few to hide the latency of memory.
#include "common.h"

enum { DIMENSIONS = 16, MOST_CLUSTERS = 1024, BLOCK = 128 };

// The nearest centre of each point, by dimension-major points and centres in shared memory.
__global__ void kmeans(const float *points, const float *centres, int *nearest, int n, int clusters) {
    extern __shared__ float c[];
    for (int i = threadIdx.x; i < clusters * DIMENSIONS; i += BLOCK)
        c[i] = centres[i];
    __syncthreads();
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n)
        return;
    float point[DIMENSIONS], best = 1e30f;
#pragma unroll
    for (int d = 0; d < DIMENSIONS; d++)
        point[d] = points[(size_t)d * n + i];
    int which = 0;
    for (int k = 0; k < clusters; k++) {
        float sum = 0;
#pragma unroll
        for (int d = 0; d < DIMENSIONS; d++)
            sum += (point[d] - c[k * DIMENSIONS + d]) * (point[d] - c[k * DIMENSIONS + d]);
        if (sum < best) {
            best = sum;
            which = k;
        }
    }
    nearest[i] = which;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "kmeans");
    int n = p.small ? 132 * 128 * 9 : 132 * 16384, clusters = p.small ? 16 : 64;
#ifdef AFTER
    size_t shared = clusters * DIMENSIONS * sizeof(float);
#else
    size_t shared = MOST_CLUSTERS * DIMENSIONS * sizeof(float);
#endif
    std::vector<float> points = random_floats((size_t)n * DIMENSIONS, -1, 1, 1),
                       centres = random_floats(clusters * DIMENSIONS, -1, 1, 2);
    float *d_points = device_copy_of(points.data(), points.size()),
          *d_centres = device_copy_of(centres.data(), centres.size());
    int *d_nearest = device_array<int>(n);
    CUDA_CHECK(cudaFuncSetAttribute(kmeans, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared));
    pair_time(&p,
              [&] { kmeans<<<(n + BLOCK - 1) / BLOCK, BLOCK, shared>>>(d_points, d_centres, d_nearest, n, clusters); });
    std::vector<int> nearest = host_copy_of(d_nearest, n);
    for (int i = 0; i < n; i += 101) {
        double distance[MOST_CLUSTERS], best = 1e30;
        for (int k = 0; k < clusters; k++) {
            distance[k] = 0;
            for (int d = 0; d < DIMENSIONS; d++)
                distance[k] += pow((double)points[(size_t)d * n + i] - centres[k * DIMENSIONS + d], 2);
            best = std::min(best, distance[k]);
        }
        pair_near(&p, "distance", i, best, distance[nearest[i]], 1e-5);
    }
    return pair_end(&p);
}
