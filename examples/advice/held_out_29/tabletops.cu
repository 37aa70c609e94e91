// SPDX-License-Identifier: Apache-2.0
//
// Rule: atomic-contention
// Change: a warp adds up its sums by shuffles, and only its first lane adds them to the result.
// Why: all threads of the GPU add to the same five words, which happens one after the other.
#include "../common.h"

enum { BLOCK = 256, SUMS = 5 };

__device__ inline void add_to(float *total, float value) {
#ifdef AFTER
    for (int step = 16; step > 0; step /= 2)
        value += __shfl_down_sync(0xffffffff, value, step);
    if (threadIdx.x % 32 == 0)
        atomicAdd(total, value);
#else
    atomicAdd(total, value);
#endif
}

// The normal equations of the plane z = a x + b y through the points that a depth camera saw on a table.
__global__ void plane_sums(const float *x, const float *y, const float *z, float *sums, int points) {
    float xx = 0, xy = 0, yy = 0, xz = 0, yz = 0;
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < points; i += gridDim.x * BLOCK) {
        float px = x[i], py = y[i], pz = z[i];
        xx += px * px;
        xy += px * py;
        yy += py * py;
        xz += px * pz;
        yz += py * pz;
    }
    add_to(&sums[0], xx);
    add_to(&sums[1], xy);
    add_to(&sums[2], yy);
    add_to(&sums[3], xz);
    add_to(&sums[4], yz);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "tabletops");
    int points = p.small ? 20011 : 15000000, blocks = p.small ? 8 : 264;
    std::vector<float> x = random_floats(points, 0, 1.6f, 1), y = random_floats(points, 0, 0.9f, 2);
    std::vector<float> z = random_floats(points, 0.7f, 0.8f, 3);
    double expected[SUMS] = {0, 0, 0, 0, 0};
    for (int i = 0; i < points; i++) {
        expected[0] += x[i] * x[i];
        expected[1] += x[i] * y[i];
        expected[2] += y[i] * y[i];
        expected[3] += x[i] * z[i];
        expected[4] += y[i] * z[i];
    }
    float *d_x = device_copy_of(x.data(), points), *d_y = device_copy_of(y.data(), points);
    float *d_z = device_copy_of(z.data(), points), *d_sums = device_array<float>(SUMS);
    pair_time(&p, [&] {
        CUDA_CHECK(cudaMemsetAsync(d_sums, 0, SUMS * sizeof(float)));
        plane_sums<<<blocks, BLOCK>>>(d_x, d_y, d_z, d_sums, points);
    });
    std::vector<float> sums = host_copy_of(d_sums, SUMS);
    for (int s = 0; s < SUMS; s++)
        pair_near(&p, "sum", s, expected[s], sums[s], 1e-3);
    return pair_end(&p);
}
