// SPDX-License-Identifier: Apache-2.0
//
// Rule: async-copy
// Change: the next batch is copied asynchronously while one computes on this one.
// Why: all wait for the batch that they load.
// Post: Controlling Data Movement to Boost Performance on the NVIDIA Ampere Architecture
#include "../common.h"

#include <cuda_pipeline.h>

enum { THREADS = 256, TAPS = 32 };

__device__ float compute(const float *batch, float sum) {
    for (int k = 0; k < TAPS; k++)
        sum = sum * 0.5f + batch[(threadIdx.x + k) % THREADS];
    return sum;
}

__global__ void over_batches(const float *global_in, float *global_out, int batches) {
    const float *in = global_in + (size_t)blockIdx.x * batches * THREADS + threadIdx.x;
    float sum = 0;
#ifdef AFTER
    __shared__ float shared[2][THREADS];
    __pipeline_memcpy_async(&shared[0][threadIdx.x], in, sizeof(float));
    __pipeline_commit();
    for (int batch = 0; batch < batches; batch++) {
        if (batch + 1 < batches)
            __pipeline_memcpy_async(&shared[(batch + 1) % 2][threadIdx.x], in + (size_t)(batch + 1) * THREADS,
                                    sizeof(float));
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        sum = compute(shared[batch % 2], sum);
        __syncthreads();
    }
#else
    __shared__ float shared[THREADS];
    for (int batch = 0; batch < batches; batch++) {
        shared[threadIdx.x] = in[(size_t)batch * THREADS];
        __syncthreads();
        sum = compute(shared, sum);
        __syncthreads();
    }
#endif
    global_out[blockIdx.x * THREADS + threadIdx.x] = sum;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "async_batches");
    int ctas = p.small ? 64 : 528, batches = p.small ? 16 : 256;
    size_t n = (size_t)ctas * batches * THREADS;
    std::vector<float> in = random_floats(n, -1, 1, 1);
    float *d_in = device_copy_of(in.data(), n), *d_out = device_array<float>(ctas * THREADS);
    pair_time(&p, [&] { over_batches<<<ctas, THREADS>>>(d_in, d_out, batches); });
    std::vector<float> out = host_copy_of(d_out, ctas * THREADS);
    for (int t = 0; t < ctas * THREADS; t += 1009) {
        double sum = 0;
        for (int b = 0; b < batches; b++)
            for (int k = 0; k < TAPS; k++)
                sum = sum * 0.5 + in[((size_t)(t / THREADS) * batches + b) * THREADS + (t % THREADS + k) % THREADS];
        pair_near(&p, "out", t, sum, out[t], 1e-4);
    }
    return pair_end(&p);
}
