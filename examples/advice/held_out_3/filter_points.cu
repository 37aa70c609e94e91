// SPDX-License-Identifier: Apache-2.0
//
// Rule: atomic-contention
// Change: a block asks once for as many places as it keeps points, instead of every thread for one.
// Why: all points are counted by one word.
#include "../common.h"

enum { BLOCK = 256 };

__global__ void filter_points(const float *in, float *out, int *kept, float least, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float value = in[i];
    bool keep = value > least;
#ifdef AFTER
    __shared__ int count, first;
    if (threadIdx.x == 0)
        count = 0;
    __syncthreads();
    int place = keep ? atomicAdd(&count, 1) : 0;
    __syncthreads();
    if (threadIdx.x == 0)
        first = atomicAdd(kept, count);
    __syncthreads();
    if (keep)
        out[(first + place) % n] = value;
#else
    if (keep)
        out[atomicAdd(kept, 1) % n] = value;
#endif
}

// Keeps the values above a threshold, in any order.
int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "filter_points");
    int n = p.small ? 1 << 17 : 1 << 24;
    std::vector<float> in = random_floats(n, 0, 1, 1);
    float *d_in = device_copy_of(in.data(), n), *d_out = device_array<float>(n);
    int *d_kept = device_array<int>(1);
    pair_time(&p, [&] {
        CUDA_CHECK(cudaMemsetAsync(d_kept, 0, sizeof *d_kept));
        filter_points<<<n / BLOCK, BLOCK>>>(d_in, d_out, d_kept, 0.6f, n);
    });
    int kept = host_copy_of(d_kept, 1)[0], wanted = 0;
    double sum = 0, wanted_sum = 0;
    for (float value : host_copy_of(d_out, kept))
        sum += value;
    for (float value : in)
        if (value > 0.6f)
            wanted++, wanted_sum += value;
    pair_near(&p, "kept", 0, wanted, kept, 0);
    pair_near(&p, "sum", 0, wanted_sum, sum, 1e-6);
    return pair_end(&p);
}
