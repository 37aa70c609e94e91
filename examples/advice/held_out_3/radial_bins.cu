// SPDX-License-Identifier: Apache-2.0
//
// Rule: atomic-contention
// Change: a block counts in shared memory and adds its counts to the histogram at its end.
// Why: every pair of particles is an atomic addition in the L2, and near distances share a few words.
#include "../common.h"

enum { BLOCK = 128, BINS = 256, PARTNERS = 128 };

static __host__ __device__ int bin_of(float dx, float dy, float dz) {
    return min(BINS - 1, (int)(32 * (dx * dx + dy * dy + dz * dz)));
}

__global__ void radial_bins(const float *x, const float *y, const float *z, unsigned *bins, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
#ifdef AFTER
    __shared__ unsigned own[BINS];
    for (int b = threadIdx.x; b < BINS; b += BLOCK)
        own[b] = 0;
    __syncthreads();
#else
    unsigned *own = bins;
#endif
    float px = x[i], py = y[i], pz = z[i];
    for (int k = 1; k <= PARTNERS; k++) {
        int j = (i + k) & (n - 1);
        atomicAdd(&own[bin_of(px - x[j], py - y[j], pz - z[j])], 1u);
    }
#ifdef AFTER
    __syncthreads();
    for (int b = threadIdx.x; b < BINS; b += BLOCK)
        atomicAdd(&bins[b], own[b]);
#endif
}

// Radial distribution function: how many pairs of particles have which distance.
int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "radial_bins");
    int n = p.small ? 1 << 13 : 1 << 17;
    std::vector<float> x = random_floats(n, 0, 1, 1), y = random_floats(n, 0, 1, 2), z = random_floats(n, 0, 1, 3);
    float *d_x = device_copy_of(x.data(), n), *d_y = device_copy_of(y.data(), n), *d_z = device_copy_of(z.data(), n);
    unsigned *d_bins = device_array<unsigned>(BINS);
    CUDA_CHECK(cudaMemset(d_bins, 0, BINS * sizeof *d_bins));
    pair_time(&p, [&] { radial_bins<<<n / BLOCK, BLOCK>>>(d_x, d_y, d_z, d_bins, n); });
    std::vector<unsigned> bins = host_copy_of(d_bins, BINS);
    unsigned long long counted = 0;
    unsigned wanted = 0;
    for (unsigned count : bins)
        counted += count;
    for (int i = 0; i < n; i++)
        for (int k = 1; k <= PARTNERS; k++) {
            int j = (i + k) & (n - 1);
            wanted += bin_of(x[i] - x[j], y[i] - y[j], z[i] - z[j]) == 3;
        }
    // Counts go on over the launches and wrap round.
    pair_near(&p, "bin", 3, (unsigned)(wanted * (unsigned)p.launches), bins[3], 1e-4);
    pair_near(&p, "all", 0, (unsigned)((unsigned)n * PARTNERS * p.launches), (unsigned)counted, 0);
    return pair_end(&p);
}
