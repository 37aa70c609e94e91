// SPDX-License-Identifier: Apache-2.0
//
// Rule: occupancy-up
// Change: the shared buffer holds just the samples that a block needs instead of 12000.
// Why: with 48 KB for each block of four warps only sixteen warps fit on an SM, too few to hide the loads.
#include "../common.h"

enum { BLOCK = 128, RADIUS = 6 };

#ifdef AFTER
enum { BUFFER = BLOCK + 2 * RADIUS };
#else
enum { BUFFER = 12000 };
#endif

// Salinity of an estuary by minute: what is left when a triangular window has smoothed it.
__global__ void anomaly(const float *salinity, float *left, int n) {
    __shared__ float near[BUFFER];
    int first = blockIdx.x * BLOCK, i = first + threadIdx.x;
    for (int k = threadIdx.x; k < BLOCK + 2 * RADIUS; k += BLOCK)
        near[k] = salinity[min(max(first + k - RADIUS, 0), n - 1)];
    __syncthreads();
    if (i >= n)
        return;
    float sum = 0;
    for (int k = -RADIUS; k <= RADIUS; k++)
        sum += (RADIUS + 1 - abs(k)) * near[threadIdx.x + RADIUS + k];
    left[i] = near[threadIdx.x + RADIUS] - sum * (1.0f / ((RADIUS + 1) * (RADIUS + 1)));
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "estuaries");
    int n = p.small ? 30011 : 14000011;
    std::vector<float> salinity = random_floats(n, 2, 33, 12);
    float *d_salinity = device_copy_of(salinity.data(), n), *d_left = device_array<float>(n);
    pair_time(&p, [&] { anomaly<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_salinity, d_left, n); });
    std::vector<float> left = host_copy_of(d_left, n);
    for (int i = 0; i < n; i += i < 200 || i >= n - 200 ? 1 : 499) {
        double sum = 0;
        for (int k = -RADIUS; k <= RADIUS; k++)
            sum += (RADIUS + 1 - abs(k)) * salinity[std::min(std::max(i + k, 0), n - 1)];
        pair_near(&p, "left", i, salinity[i] - sum / ((RADIUS + 1) * (RADIUS + 1)), left[i], 1e-4);
    }
    return pair_end(&p);
}
