// SPDX-License-Identifier: Apache-2.0
//
// Rule: loop-unrolling
// Change: the loop over the coordinates is unrolled sixteen times.
// Why: each turn waits for one load, and only the other warps hide it.
#include "../common.h"

enum { BLOCK = 128, DIMENSIONS = 96 };

__constant__ float c_query[DIMENSIONS];

// Squared distances of all points, which are stored by coordinate, from one query.
__global__ void knn(const float *points, float *distance, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0;
#ifdef AFTER
#pragma unroll 16
#else
#pragma unroll 1
#endif
    for (int d = 0; d < DIMENSIONS; d++) {
        float away = points[(size_t)d * n + i] - c_query[d];
        sum += away * away;
    }
    distance[i] = sum;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "knn");
    int n = p.small ? 1 << 14 : 150000;
    std::vector<float> points = random_floats((size_t)n * DIMENSIONS, -1, 1, 1),
                       query = random_floats(DIMENSIONS, -1, 1, 2);
    float *d_points = device_copy_of(points.data(), points.size()), *d_distance = device_array<float>(n);
    CUDA_CHECK(cudaMemcpyToSymbol(c_query, query.data(), sizeof c_query));
    pair_time(&p, [&] { knn<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_points, d_distance, n); });
    std::vector<float> distance = host_copy_of(d_distance, n);
    for (int i = 0; i < n; i += 17) {
        double sum = 0;
        for (int d = 0; d < DIMENSIONS; d++) {
            double away = points[(size_t)d * n + i] - query[d];
            sum += away * away;
        }
        pair_near(&p, "distance", i, sum, distance[i], 1e-4);
    }
    return pair_end(&p);
}
