// SPDX-License-Identifier: Apache-2.0
//
// Rule: block-increase
// Change: 528 blocks share the orders instead of 40.
// Why: 40 blocks leave most of the SMs without work.
#include "../common.h"

#ifdef AFTER
enum { BLOCKS = 528 };
#else
enum { BLOCKS = 40 };
#endif
enum { BLOCK = 256 };

// The money that is bound in all orders above a price.
__global__ void order_book(const float *prices, const float *amounts, double *sum, float least, int n) {
    float own = 0;
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += BLOCKS * BLOCK)
        if (prices[i] > least)
            own += prices[i] * amounts[i];
    for (int lane = 16; lane; lane /= 2)
        own += __shfl_xor_sync(~0u, own, lane);
    if (threadIdx.x % 32 == 0)
        atomicAdd(sum, (double)own);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "order_book");
    int n = p.small ? 1 << 17 : 1 << 23;
    std::vector<float> prices = random_floats(n, 90, 110, 1), amounts = random_floats(n, 0, 1, 2);
    float *d_prices = device_copy_of(prices.data(), n), *d_amounts = device_copy_of(amounts.data(), n);
    double *d_sum = device_array<double>(1), sum = 0;
    pair_time(&p, [&] {
        CUDA_CHECK(cudaMemsetAsync(d_sum, 0, sizeof *d_sum));
        order_book<<<BLOCKS, BLOCK>>>(d_prices, d_amounts, d_sum, 97.0f, n);
    });
    for (int i = 0; i < n; i++)
        if (prices[i] > 97.0f)
            sum += (double)prices[i] * amounts[i];
    pair_near(&p, "sum", 0, sum, host_copy_of(d_sum, 1)[0], 1e-4);
    return pair_end(&p);
}
