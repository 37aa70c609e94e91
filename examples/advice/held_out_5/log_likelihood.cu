// SPDX-License-Identifier: Apache-2.0
//
// Rule: block-increase
// Change: 1,056 CTAs share the observations instead of 96.
// Why: 96 CTAs of 256 threads leave SMs idle and the others with eight warps.
#include "../common.h"

enum { BLOCK = 256 };
#ifdef AFTER
enum { CTAS = 1056 };
#else
enum { CTAS = 96 };
#endif

// Sum of the logarithms of a mixture of two normal densities at the observations.
__global__ void log_likelihood(const float *seen, float *partial, float weight, float mean, int n) {
    float sum = 0;
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK) {
        float a = seen[i], b = a - mean;
        sum += __logf(weight * __expf(-0.5f * a * a) + (1 - weight) * __expf(-0.5f * b * b));
    }
    for (int d = 16; d; d /= 2)
        sum += __shfl_xor_sync(~0u, sum, d);
    if (threadIdx.x % 32 == 0)
        atomicAdd(partial, sum);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "log_likelihood");
    int n = p.small ? 1 << 17 : 1 << 23;
    std::vector<float> seen = random_floats(n, -2, 3, 1);
    float *d_seen = device_copy_of(seen.data(), n), *d_partial = device_array<float>(1);
    pair_time(&p, [&] { log_likelihood<<<CTAS, BLOCK>>>(d_seen, d_partial, 0.4f, 1.5f, n); });
    CUDA_CHECK(cudaMemset(d_partial, 0, sizeof(float)));
    log_likelihood<<<CTAS, BLOCK>>>(d_seen, d_partial, 0.4f, 1.5f, n);
    double sum = 0;
    for (float a : seen)
        sum += log(0.4f * exp(-0.5 * a * a) + 0.6f * exp(-0.5 * (a - 1.5) * (a - 1.5)));
    pair_near(&p, "sum", 0, sum, host_copy_of(d_partial, 1)[0], 1e-3);
    return pair_end(&p);
}
